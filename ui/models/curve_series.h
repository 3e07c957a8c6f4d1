// SPDX-License-Identifier: GPL-3.0-or-later
// Builds the curves of the page "IO and time vs N" from stored points and the closed forms. No widgets: values in,
// values out.
#pragma once

#include <QString>
#include <QStringList>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ui/models/problem_filter.h"
#include "ui/workspace.h"

namespace attnscope::ui {

/// What stands on the vertical axis.
enum class Ordinate { bytes, time, rate };
/// "io", "time", "tflops": the beginning of file names.
[[nodiscard]] QString to_string(Ordinate ordinate);

/// What a curve shows: two levels of bytes, nanoseconds, or TFLOP/s.
enum class Quantity { dram, sm_l2, time, rate };
[[nodiscard]] QString to_string(Quantity quantity);
/// Its line of the metrics table.
[[nodiscard]] std::string_view metric_of(Quantity quantity);
/// A curve's value with its unit.
[[nodiscard]] QString format_quantity(double value, Quantity quantity);

/// `measured`: points of a run, whatever their provenance (`derived`: the rates of measured ones). `asymptote`: c x the
/// law of the algorithm's growth, c fitted to the counted bytes; derived where those were measured, else of their own
/// provenance. It begins at the shortest N that took part: N d >= M, as the theorem has it.
enum class CurveKind { measured, model, asymptote, paper_count, compulsory };

/// Which tile stands for an algorithm when a sweep has several.
struct TileSelection {
  enum class Rule { widest, fastest, exact };
  Rule rule = Rule::widest;  ///< widest: the tile that covers the most N
  TileShape tile;            ///< for `exact`
  std::optional<int> splits =
      {};  ///< for `widest`: of an algorithm swept over splits, the points with that many (0: auto)
};

struct CurveRequest {
  std::set<std::string> algorithms;  ///< by name
  Ordinate ordinate = Ordinate::bytes;
  TileSelection tile;
  bool dram = true;
  bool sm_l2 = true;
  bool model = true;
  bool asymptote = true;
  bool paper_count = false;
  bool compulsory = true;
  bool l2_boundary = true;
  bool per_head = false;  ///< of bytes
};

struct CurvePoint {
  double n = 0;
  double value = 0;  ///< the median when a point was measured more than once
  double low = 0;    ///< bytes: smallest and largest; time and rate: the lowest and highest quartile of the samples
  double high = 0;
  int repeats = 1;
  bool throttled = false;  ///< the GPU slowed its clocks while one of them was measured
  PointPtr source;         ///< null on drawn theory
  RunPtr run;
};

struct Curve {
  std::string algorithm;  ///< empty for what belongs to the problem alone
  CurveKind kind = CurveKind::measured;
  Quantity quantity = Quantity::sm_l2;
  Provenance provenance = Provenance::measured;
  QString label;  ///< "FA2 · DRAM · measured"
  std::vector<CurvePoint> points;
};

/// Numbers of splits, ascending, where one problem of an algorithm was measured with several; else empty.
[[nodiscard]] std::vector<int> splits_of(const std::vector<ShownPoint>& points, const ProblemFilter& filter);

/// "could not run: out-of-memory", "ran, result incorrect": what a point's end without a value means.
[[nodiscard]] QString failure_words(Disposition disposition);

/// A point that gave no value: drawn at the plot's edge, with its reason on hover.
struct FailedPoint {
  std::string algorithm;
  double n = 0;
  Disposition disposition = Disposition::crashed;
  QString reason;
  PointPtr source;
  RunPtr run;
};

/// Where an algorithm's working set outgrows a device's L2.
struct L2Boundary {
  std::string algorithm;
  QString device;  ///< "H200"; empty while one device is shown
  double n = 0;
  double l2_bytes = 0;
};

/// One algorithm's kernels at one N, in launch order.
struct KernelShare {
  QString kernel;
  double dram_bytes = 0;
  double sm_l2_bytes = 0;
};
struct KernelStack {
  std::string algorithm;
  Provenance provenance = Provenance::measured;
  double n = 0;
  double reference_bytes = 0;  ///< standard attention's 4 N² + 4 N d, in bytes over all heads
  std::vector<KernelShare> kernels;
};

struct CurveSet {
  Ordinate ordinate = Ordinate::bytes;
  std::optional<std::int64_t> queries;  ///< n_q, where it is fixed and n is n_k; empty: n is N, of queries and keys
  Pass pass = Pass::fwd;
  std::vector<Curve> curves;
  std::vector<FailedPoint> failed;
  std::vector<L2Boundary> boundaries;
  std::vector<KernelStack> stacks;
  bool per_head = false;
  QString title;

  [[nodiscard]] bool empty() const { return curves.empty() && failed.empty(); }
};

/// `filter` has been updated with these points, and has a facet for n_q: a curve's points share n_q, or have n_q = n_k.
/// Theory is drawn with bytes alone.
[[nodiscard]] CurveSet build_curves(const std::vector<ShownPoint>& points, const ProblemFilter& filter,
                                    const CurveRequest& request);

/// Tiles that occur, as far as they are stated, among the filtered points, by how many N they cover, then by size.
[[nodiscard]] std::vector<TileShape> tiles_of(const std::vector<ShownPoint>& points, const ProblemFilter& filter);

/// Whether a point has something to show on that axis: a value, or an end that says why it has none.
[[nodiscard]] bool shows_on(const PointRecord& record, Ordinate ordinate);

/// "FA2", "Naive", "Split-KV": for legends; an algorithm that is not ours by the name that it came with.
[[nodiscard]] QString short_title(std::string_view algorithm);

/// Measured (or simulated) bytes of a kernel of a point; nothing when one of the two directions is missing.
[[nodiscard]] std::optional<double> traffic_bytes(const PointRecord& record, Quantity quantity,
                                                  std::string_view kernel = "all");

}  // namespace attnscope::ui
