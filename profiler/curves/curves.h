// SPDX-License-Identifier: Apache-2.0
// The curves of a problem over N: what was measured, what was simulated or imported, and what theory says.
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
#include "profiler/curves/fitted_law.h"
#include "profiler/curves/l2_boundary.h"
#include "profiler/points/facets.h"
#include "profiler/points/point_table.h"
#include "profiler/tilemap/tile_choice.h"

namespace attnscope::analysis {

/// What a curve shows: two levels of bytes, nanoseconds, TFLOP/s, or any metric (Curve::metric).
enum class Quantity { dram, sm_l2, time, rate, metric };
/// Its line of the metrics table; of any metric none.
[[nodiscard]] std::string_view metric_of(Quantity);

/// `measured`: points of a run, whatever their provenance (`derived`: the rates of measured ones). `fit`: the law of
/// the algorithm's growth laid through the counted bytes; derived where those were measured, else of their own
/// provenance.
enum class CurveKind { measured, model, fit, paper_count, compulsory };

struct CurveRequest {
  std::set<std::string> algorithms;  ///< by name
  Ordinate ordinate = Ordinate::bytes;
  TileSelection tile;
  bool dram = true;
  bool sm_l2 = true;
  bool model = true;
  bool fit = true;
  bool paper_count = false;
  bool compulsory = true;
  bool l2_boundary = true;
  bool per_head = false;   ///< of bytes
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
  /// Of SM<->L2 bytes: over the closed form of that very point.
  std::optional<double> over_model = std::nullopt;
  /// Over what theory says of that very point: its closed form, estimate or predicted time. Where it was asked for.
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

struct Curve {
  SeriesName name;
  CurveKind kind = CurveKind::measured;
  Quantity quantity = Quantity::sm_l2;
  std::string metric = {};  ///< of Quantity::metric: its key
  Provenance provenance = Provenance::measured;
  std::optional<Config> tile = std::nullopt;    ///< of a model, where another of the algorithm has another tile
  std::string formula = {};                     ///< of a paper's count: "(3Tc+1)Nd"
  std::optional<FittedLaw> law = std::nullopt;  ///< of a fit
  std::vector<CurvePoint> points = {};
};

/// A law that its points do not carry: what is said in a fit's place.
struct WithheldFit {
  SeriesName name;
  Quantity quantity = Quantity::sm_l2;
  Provenance provenance = Provenance::measured;
  FittedLaw law;
};

/// What a run measured besides: a sweep over tiles at an N that a curve has already is left to the map.
struct HiddenSweep {
  RunIndex run = 0;
  std::int64_t n = 0;

  bool operator==(const HiddenSweep&) const = default;
  bool operator<(const HiddenSweep& other) const { return std::pair(run, n) < std::pair(other.run, other.n); }
};

/// A point that gave no value.
struct FailedPoint {
  std::string algorithm;
  double n = 0;
  Row row = 0;
  std::size_t ended = 0;  ///< of build_axis_curves(): points of that algorithm that ended so, at any place,
  std::size_t asked = 0;  ///< and all of it that its lines are of
};

struct Boundary {
  std::string algorithm;
  std::string device;  ///< empty while one device is shown
  L2Boundary at;
};

/// One algorithm's kernels at one N, in launch order.
struct KernelShare {
  std::string kernel;
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
  bool per_head = false;
  std::vector<Curve> curves;
  std::vector<WithheldFit> withheld;
  std::set<HiddenSweep> hidden;
  std::vector<FailedPoint> failed;
  std::vector<Boundary> boundaries;
  std::vector<KernelStack> stacks;
  std::string metric = {};  ///< of build_axis_curves(): what all curves show
  std::optional<PointAxis> axis =
      std::nullopt;                      ///< of build_axis_curves(): what CurvePoint::n is a number or a place of
  std::vector<std::string> places = {};  ///< of build_axis_curves() over words: by place, from 1 on

  [[nodiscard]] bool empty() const { return curves.empty() && failed.empty(); }
};
/// The key of what a curve shows.
[[nodiscard]] std::string_view metric_of(const Curve&);

/// `rows` are of one problem (curve_facets()). Values of two runs are never one mark: runs that have no N in common
/// make one series, others one each; the newest that is a curve, of two N or more, leads. Theory is drawn with bytes
/// alone.
[[nodiscard]] CurveSet build_curves(const PointTable&, std::span<const Row> rows, const CurveRequest&);

/// "could not run: out-of-memory", "ran, result incorrect": what a point's end without a value means.
[[nodiscard]] Message failure_words(Disposition);
/// The same of a mark; "3 of 8 could not run: infeasible" where others of its algorithm did.
[[nodiscard]] Message failure_words(const PointTable&, const FailedPoint&);

}  // namespace attnscope::analysis
