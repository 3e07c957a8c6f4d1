// SPDX-License-Identifier: Apache-2.0
// Curves of points: of one problem over N, with what theory says of its bytes, times and rates; or of any metric over
// any axis.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/messages/message.h"
#include "profiler/curves/l2_boundary.h"
#include "profiler/points/facets.h"
#include "profiler/points/point_table.h"
#include "profiler/tilemap/tile_choice.h"

namespace attnscope::analysis {

/// What a curve shows: two levels of bytes, nanoseconds, TFLOP/s, or any metric (Curve::metric).
enum class Quantity { dram, sm_l2, time, rate, metric };
/// Its line of the metrics table; of any metric none.
[[nodiscard]] std::string_view metric_of(Quantity);

/// `measured`: points of a run, whatever their provenance (`derived`: the rates of measured ones).
enum class CurveKind { measured, model, compulsory };

struct CurveRequest {
  std::optional<PointAxis> axis = std::nullopt;  ///< of the abscissa; empty: N, of one problem
  std::string metric = {};                       ///< with an axis: key of the metrics table
  FacetPtr group = nullptr;                      ///< with an axis: a curve for each of its values; null: none
  std::set<std::string> algorithms = {};         ///< by name
  Ordinate ordinate = Ordinate::bytes;           ///< over N
  /// With an axis only the rule: where neither axis nor group gives the tile, the one that covers the most of the axis,
  /// or at each place its fastest.
  TileSelection tile = {};
  bool model = true;  ///< with an axis: beside each curve, where theory has the metric
  // Over N.
  bool dram = true;
  bool sm_l2 = true;
  bool compulsory = true;
  bool l2_boundary = true;
  bool residuals = false;  ///< CurvePoint::over_theory is wanted
};

struct CurvePoint {
  double n = 0;
  double value = 0;
  double low = 0;  ///< time and rate: the lowest and highest quartile of the samples; with repeats, over all of them
  double high = 0;
  int repeats = 1;         ///< points of one run and one configuration; the one with the median value stands for them
  bool throttled = false;  ///< the GPU slowed its clocks while it was measured
  Provenance provenance = Provenance::modelled;  ///< of this value: of a simulated curve some may be extrapolated
  std::optional<Row> row = std::nullopt;         ///< empty on drawn theory
  bool settled = false;                          ///< of DRAM bytes: with what was written back after the kernel's end
  /// Over what theory says of that very point: of SM<->L2 bytes its closed form; of others, where it was asked for, an
  /// estimate or a predicted time.
  std::optional<double> over_theory = std::nullopt;
};

/// What a curve is called by. All but the algorithm is empty where it tells nothing apart.
struct SeriesName {
  std::string algorithm;    ///< empty for what belongs to the problem alone
  std::string label = {};   ///< what an imported one was imported under
  std::string device = {};  ///< "H200"
  std::string runs = {};    ///< titles of its runs
  /// 0 leads. Other runs of the same points have series of their own, the newest first.
  int age = 0;
  std::string group = {};  ///< of curves that are grouped by a facet: its value

  bool operator==(const SeriesName&) const = default;
};

inline constexpr int of_algorithm = -1;

/// How a curve is told from the others of its picture: name_curves().
struct CurveLook {
  std::string label = {};      ///< "FA2 · DRAM · measured"
  int shade = 0;               ///< the place of its device among those shown: devices share an algorithm's colour
  int hue = of_algorithm;      ///< the place of its device or owner, where colours are theirs
  std::string hue_words = {};  ///< whose the hue is
  bool paler = false;          ///< of an older run, which has no colour of its own
  int look = 0;                ///< its place among those of one colour and origin: each has marks of its own
};

struct Curve : CurveLook {
  SeriesName name;
  CurveKind kind = CurveKind::measured;
  Quantity quantity = Quantity::sm_l2;
  std::string metric = {};  ///< of Quantity::metric: its key
  Provenance provenance = Provenance::measured;
  std::optional<Config> tile = std::nullopt;  ///< of a model, where another of the algorithm has another tile
  std::vector<CurvePoint> points = {};
};

/// A point that gave no value.
struct FailedPoint {
  std::string algorithm;
  double n = 0;
  Row row = 0;
};

struct Boundary {
  std::string algorithm;
  std::string device;  ///< empty while one device is shown
  L2Boundary at;
};

struct CurveSet {
  Ordinate ordinate = Ordinate::bytes;
  std::optional<std::int64_t> queries;  ///< n_q, where it is fixed and n is n_k; empty: n is N, of queries and keys
  std::vector<Curve> curves;
  std::vector<FailedPoint> failed;
  std::vector<Boundary> boundaries;
  std::string metric = {};                       ///< with an axis: what all curves show
  std::optional<PointAxis> axis = std::nullopt;  ///< what CurvePoint::n is a number or a place of; empty: N
  std::vector<std::string> places = {};          ///< of an axis of words: by place, from 1 on
  std::size_t hues = 0;                          ///< of devices or owners, where colours are theirs

  [[nodiscard]] bool empty() const { return curves.empty() && failed.empty(); }
};
/// The key of what a curve shows.
[[nodiscard]] std::string_view metric_of(const Curve&);

/// `rows` are of one problem (curve_facets()), or of one plot of the axis (facets_beside_curves()). Values of two runs
/// are never one mark: runs that have no place in common make one series, others one each; the newest that is a curve,
/// of two places or more, leads. Theory is drawn over N with bytes alone.
[[nodiscard]] CurveSet build_curves(const PointTable&, std::span<const Row> rows, const CurveRequest&);

/// "could not run: out-of-memory", "ran, result incorrect": what a point's end without a value means.
[[nodiscard]] Message failure_words(Disposition);

}  // namespace attnscope::analysis
