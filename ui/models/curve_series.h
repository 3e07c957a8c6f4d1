// SPDX-License-Identifier: GPL-3.0-or-later
// The curves of the page "Curves" as the window names them. What they are is analysis' work.
#pragma once

#include <QString>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/curves/axis_curves.h"
#include "profiler/curves/curves.h"
#include "ui/runs/point_set.h"

namespace attnscope::ui {

struct ShownCeilings;

using analysis::AxisCurveRequest;
using analysis::Boundary;
using analysis::CurveKind;
using analysis::CurvePoint;
using analysis::CurveRequest;
using analysis::FailedPoint;
using analysis::KernelShare;
using analysis::KernelStack;
using analysis::Ordinate;
using analysis::Quantity;
using analysis::TileSelection;

/// Whose a colour is. `automatic`: an algorithm's, which a few devices have shades of; of more devices, a device's.
enum class ColorOf { automatic, algorithm, device, run };

inline constexpr int of_algorithm = -1;
inline constexpr int no_hue = -2;  ///< theory, where colours are devices' or runs'

struct Curve : analysis::Curve {
  QString label;  ///< "FA2 · DRAM · measured"
  int shade = 0;  ///< the place of its device among those shown: devices share an algorithm's colour
  /// The place of its device or run among all that are visible, where colours are theirs.
  int hue = of_algorithm;
  QString hue_words = {};  ///< whose the hue is
  bool paler = false;      ///< of an older run, which has no colour of its own
  int look = 0;            ///< its place among those of one colour and origin: each has marks of its own
  bool beside = false;     ///< simulated, of what was measured too: of a shade of its own
};

/// A law that its points do not carry.
struct WithheldNote {
  std::string algorithm;
  QString text;  ///< what stands in the legend in the fit's place
};

/// A ceiling of a device, drawn as a level line.
struct PeakLine {
  QString text;
  double value = 0;       ///< in the unit of the curves
  bool measured = false;  ///< else of the datasheet
};

struct CurveSet {
  Ordinate ordinate = Ordinate::bytes;
  std::optional<std::int64_t> queries;  ///< n_q, where it is fixed and n is n_k; empty: n is N, of queries and keys
  Pass pass = Pass::fwd;
  bool per_head = false;
  std::vector<Curve> curves;
  std::vector<WithheldNote> withheld;
  QString hidden;  ///< runs that swept tiles at an N of the curves, in words; empty for none
  std::vector<FailedPoint> failed;
  std::vector<Boundary> boundaries;
  std::vector<KernelStack> stacks;
  QString title;
  ColorOf color = ColorOf::algorithm;                      ///< never automatic
  std::size_t hues = 0;                                    ///< of visible devices or runs, where colours are theirs
  std::string metric = {};                                 ///< of a plot over another axis, or of another metric
  std::optional<analysis::PointAxis> axis = std::nullopt;  ///< of a plot over another axis
  std::vector<std::string> places = {};                    ///< of a plot over another axis whose values are words
  std::vector<PeakLine> peaks = {};
  std::shared_ptr<const PointSet> points;  ///< what rows refer to

  [[nodiscard]] bool empty() const { return curves.empty() && failed.empty(); }
  [[nodiscard]] ShownPoint at(Row row) const { return (*points)[row]; }
  [[nodiscard]] const analysis::PointTable& table() const { return points->table(); }
};

/// `filter` stands on the problem.
[[nodiscard]] CurveSet build_curves(std::shared_ptr<const PointSet> points, const ProblemFilter& filter,
                                    const CurveRequest& request, ColorOf color = ColorOf::automatic);

/// The same over any axis; `title`: the filter stands on what all points have in common.
[[nodiscard]] CurveSet build_axis_curves(std::shared_ptr<const PointSet> points, const ProblemFilter& filter,
                                         const AxisCurveRequest& request, ColorOf color = ColorOf::automatic);
/// "DRAM", "time", "Achieved occupancy": what a curve shows.
[[nodiscard]] QString quantity_words(const analysis::Curve& curve);
/// "N 4096", "Br 64", "Mask causal": a place of the abscissa.
[[nodiscard]] QString place_words(const CurveSet& set, double n);
/// The value there of an axis whose values are words (CurveSet::places).
[[nodiscard]] QString word_at(const CurveSet& set, double n);
/// The ceilings of the devices shown that bound this metric, the measured ones first: datasheet values stand in.
[[nodiscard]] std::vector<PeakLine> peak_lines(const PointSet& points, std::span<const Row> rows,
                                               std::string_view metric, const std::vector<ShownCeilings>& ceilings);

/// Of the points on the curves.
[[nodiscard]] std::vector<Row> drawn_rows(const CurveSet& set);
/// The runs of what is drawn: of the curves' points, and of those that gave no value.
[[nodiscard]] std::vector<RunPtr> drawn_runs(const CurveSet& set);

[[nodiscard]] QString to_string(Quantity quantity);
/// The first line of the curve's label, with what its point is instead of what most are: "FA2 · DRAM · simulated,
/// extrapolated".
[[nodiscard]] QString label_of(const Curve& curve, const CurvePoint& point);
/// A curve's value with its unit.
[[nodiscard]] QString format_quantity(double value, const analysis::Curve& curve);
[[nodiscard]] QString format_quantity(double value, Quantity quantity);
/// "FA2 (torch 2.8) on H200": whose curve it is, as far as that has to be said.
[[nodiscard]] QString owner_words(const analysis::SeriesName& name);
/// "FA2", "Naive", "Split-KV": for legends; an algorithm that is not ours by the name that it came with.
[[nodiscard]] QString short_title(std::string_view algorithm);
/// What a fit says: "fit 2.00·N²d/Br + 2.02·N·d", its interval where that is a percent or more, and the slope.
[[nodiscard]] QString fit_words(const analysis::FittedLaw& law);
/// Why there is none: "no fit of N²d/Br: 3 points with N ≥ 4Br, four are needed".
[[nodiscard]] QString withheld_words(const analysis::FittedLaw& law);

}  // namespace attnscope::ui
