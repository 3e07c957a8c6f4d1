// SPDX-License-Identifier: Apache-2.0
// Curves of bytes, time and rate over N with their models, or of any metric over any axis.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "profiler/points/facets.h"
#include "profiler/points/point_table.h"
#include "profiler/style/tokens.h"
#include "profiler/tilemap/plot_list.h"

namespace attnscope::analysis {

/// Working set, as a share of the nominal L2 capacity, at which 10% and 90% of the transition from L2 to DRAM are
/// complete. Default: measured on an H200 with private data. Each half of its L2 caches what its own SMs access, so the
/// transition is near half the nominal capacity; address hashing and non-LRU replacement spread it over a factor of two
/// to three.
struct L2Transition {
  double low = 0.3;
  double high = 0.75;
};

struct L2Boundary {
  double n_low = 0;  ///< N at the start of the transition
  double n_high = 0;
  double n_nominal = 0;  ///< N at which the working set equals the nominal capacity
  double l2_bytes = 0;
};

/// Plotted quantity: bytes at two levels, nanoseconds, TFLOP/s, or any metric (Curve::metric).
enum class Quantity { dram, sm_l2, time, rate, metric };
/// Returns the key of the metrics table; empty for Quantity::metric.
[[nodiscard]] std::string_view metric_of(Quantity);

/// `measured`: points of a run of any provenance (`derived` for rates of measured points).
enum class CurveKind { measured, model, compulsory };

struct CurveRequest {
  std::optional<PointAxis> axis = std::nullopt;  ///< x axis; default: N, for one problem
  std::string metric = {};                       ///< with an axis only: key of the metrics table
  FacetPtr group = nullptr;                      ///< with an axis only: one curve per value of this facet
  std::set<std::string> algorithms = {};
  Ordinate ordinate = Ordinate::bytes;  ///< over N only
  /// With an axis only the rule is used: if neither axis nor group sets the tile, choose the tile with most points on
  /// the axis, or the fastest at each position.
  TileSelection tile = {};
  bool model = true;  ///< with an axis: also draw the modeled metric, if any
  // Options for curves over N.
  bool dram = true;
  bool sm_l2 = true;
  bool compulsory = true;
  bool l2_boundary = true;
  bool residuals = false;  ///< sets CurvePoint::over_modeled, and draws models of DRAM bytes
};

struct CurvePoint {
  double n = 0;
  double value = 0;
  double low = 0;  ///< quartiles of the samples for time and rate; with repeats, the range over all of them
  double high = 0;
  int repeats = 1;                              ///< points of one run and configuration; the median one is plotted
  bool throttled = false;                       ///< the GPU lowered its clock during the measurement
  Provenance provenance = Provenance::modeled;  ///< of this value; a simulated curve may have extrapolated points
  std::optional<Row> row = std::nullopt;        ///< empty for model curves
  bool settled = false;                         ///< DRAM bytes include write-back bytes
  /// Value over the modeled value of this point: for SM↔L2 bytes the closed form, otherwise (only if `residuals` is
  /// set) an estimate or predicted time.
  std::optional<double> over_modeled = std::nullopt;
};

/// Name of a series. Parts other than the algorithm are empty if they are the same for all series.
struct SeriesName {
  std::string algorithm;   ///< empty for curves of the problem itself
  std::string label = {};  ///< label of an imported run
  std::string device = {};
  std::string runs = {};  ///< titles of the runs
  /// 0 for the leading run. Runs that repeat its points form separate series, newest first.
  int age = 0;
  std::string group = {};  ///< value of the grouping facet

  bool operator==(const SeriesName&) const = default;
};

/// Label and place of a curve in the plot, set by arrange_curves().
struct CurvePlace {
  std::string label = {};                ///< "FA2 · DRAM · measured"
  style::PlotIdentity identity = {};     ///< of the algorithm, or of the group
  std::vector<std::size_t> panels = {};  ///< indices in CurveSet::panels; one for a measured curve
  bool dashed = false;                   ///< older run in its panel
  bool merged = false;                   ///< not drawn: coincides with a curve of another panel, merged into one
};

struct Curve : CurvePlace {
  SeriesName name;
  RunIndex run = 0;  ///< newest run of a measured series
  CurveKind kind = CurveKind::measured;
  Quantity quantity = Quantity::sm_l2;
  std::string metric = {};  ///< metric key, for Quantity::metric
  Provenance provenance = Provenance::measured;
  std::optional<Config> tile = std::nullopt;  ///< set if the algorithm's model curves differ in tile
  std::vector<CurvePoint> points = {};
};

struct FailedPoint {
  std::string algorithm;
  std::string device;  ///< empty if only one device is shown
  double n = 0;
  Row row = 0;
  std::vector<std::size_t> panels = {};
};

struct Boundary {
  std::string algorithm;
  std::string device;  ///< empty if only one device is shown
  L2Boundary at;
  std::vector<std::size_t> panels = {};
};

struct CurveSet {
  Ordinate ordinate = Ordinate::bytes;
  std::optional<std::int64_t> queries;  ///< n_q if it is fixed and n is n_k; empty if n is N (queries and keys)
  std::vector<Curve> curves;
  std::vector<FailedPoint> failed;
  std::vector<Boundary> boundaries;
  std::string metric = {};                       ///< with an axis: the plotted metric
  std::optional<PointAxis> axis = std::nullopt;  ///< x axis of CurvePoint::n (number or position); empty for N
  std::vector<std::string> places = {};          ///< values of an axis without numbers; positions start at 1
  std::vector<std::string> panels = {};          ///< titles, set by arrange_curves(); "" for a single panel
  std::size_t undrawn_panels = 0;

  [[nodiscard]] bool empty() const { return curves.empty() && failed.empty(); }
};
[[nodiscard]] std::string_view metric_of(const Curve&);

/// Builds the curves. `rows`: of one problem (curve_facets()), or of one plot of the axis (fixed_curve_facets()).
/// Values of different runs are never merged into one marker: runs without common positions form one series, other runs
/// separate ones; the newest run with two or more positions leads. Models over N are drawn for bytes only.
[[nodiscard]] CurveSet build_curves(const PointTable&, std::span<const Row> rows, const CurveRequest&);

/// Returns nullopt if the working set does not grow with N, or if a value is outside 16 to 2^24. Pre: the configuration
/// is feasible on the device.
[[nodiscard]] std::optional<L2Boundary> l2_boundary(const Algorithm&, const AttentionProblem& like, const Config&,
                                                    const DeviceLimits&, const L2Transition& = {});

struct Reading {
  double value = 0;
  double low = 0;
  double high = 0;
  Provenance provenance = Provenance::measured;
};
/// Returns nullopt if the point has no value or the value is not positive.
[[nodiscard]] std::optional<Reading> read_value(const PointTable&, Row, Quantity);

/// Returns whether `better` is significantly better than `worse`; both points have a row. Bytes: by more than the count
/// spread. Time and rate: verdict FASTER (verdicts.h).
[[nodiscard]] bool differs_significantly(const PointTable&, const CurvePoint& worse, const CurvePoint& better,
                                         Quantity);

/// Returns the facets that must be fixed to get the points of one plot: all fields except axis, group, algorithm and
/// device (which have separate curves). Knobs are included only if axis or group is a knob or a tile dimension;
/// otherwise one tile with its knobs is chosen per algorithm.
[[nodiscard]] std::vector<FacetPtr> fixed_curve_facets(const PointAxis& axis, const FacetPtr& group);
/// Returns the union of all results of fixed_curve_facets().
[[nodiscard]] std::vector<FacetPtr> all_curve_facets();
[[nodiscard]] std::vector<PointAxis> varying_curve_axes(const PointTable&, std::span<const Row> rows);

[[nodiscard]] PointAxis axis_of_facet(const FacetPtr&);
[[nodiscard]] bool sets_tile_dimension(const PointAxis&);

}  // namespace attnscope::analysis
