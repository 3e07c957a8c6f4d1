// SPDX-License-Identifier: Apache-2.0
// What analysis says of the measurements that ship with the program.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "profiler/analysis/curves.h"
#include "profiler/analysis/plot_list.h"
#include "storage/run_store.h"

namespace attnscope {
namespace {

/// The shipped sample as a table; keeps what the table reads.
class Sample {
 public:
  Sample() {
    const RunStore store = RunStore::open(ATTNSCOPE_SAMPLE, RunStore::Mode::read_only);
    points_ = store.points();
    std::vector<analysis::Run> runs;
    std::vector<std::int64_t> ids;
    for (const RunSummary& summary : store.runs()) {
      analysis::Run run;
      run.device_id = summary.device_uuid;
      run.device_name = summary.device_name;
      run.title = run.label = summary.preset;
      run.started_at = summary.started_at;
      run.provenance = summary.provenance;
      run.limits = summary.limits;
      runs.push_back(run);
      ids.push_back(summary.id);
    }
    std::vector<analysis::PointRef> refs;
    for (const StoredPoint& point : points_) {
      const auto place = std::ranges::find(ids, point.run_id) - ids.begin();
      refs.push_back({static_cast<analysis::RunIndex>(place), &point.record});
    }
    table_ = analysis::PointTable(analysis::Algorithms::built_in(), runs, refs);
  }

  [[nodiscard]] const analysis::PointTable& table() const { return table_; }

  /// The curves of every problem that has some.
  [[nodiscard]] std::vector<analysis::CurveSet> all_curves(const analysis::CurveRequest& request) const {
    std::vector<analysis::CurveSet> sets;
    const auto plots = analysis::plan_plots(table_, {{analysis::PlotKind::bytes}, {}});
    for (const analysis::Plot& plot : *plots) {
      sets.push_back(analysis::build_curves(table_, plot.filter.rows(), request));
    }
    return sets;
  }

 private:
  std::vector<StoredPoint> points_;
  analysis::PointTable table_;
};

const Sample& sample() {
  static const Sample loaded;
  return loaded;
}

const analysis::Curve* find(const analysis::CurveSet& set, const std::string& algorithm, analysis::CurveKind kind,
                            analysis::Quantity quantity) {
  const auto found = std::ranges::find_if(set.curves, [&](const analysis::Curve& curve) {
    return curve.name.algorithm == algorithm && curve.kind == kind && curve.quantity == quantity;
  });
  return found == set.curves.end() ? nullptr : &*found;
}

/// Where DRAM has half of what it can have of the SM<->L2 bytes: from the compulsory minimum, while the L2 serves the
/// rest, up to all of them. Between two points by the logarithm of N; empty where no two points have it between them.
std::optional<double> half_way(const analysis::CurveSet& set) {
  const analysis::Curve* dram = find(set, "fa1", analysis::CurveKind::measured, analysis::Quantity::dram);
  const analysis::Curve* sm_l2 = find(set, "fa1", analysis::CurveKind::measured, analysis::Quantity::sm_l2);
  const analysis::Curve* least = find(set, "", analysis::CurveKind::compulsory, analysis::Quantity::sm_l2);
  if (dram == nullptr || sm_l2 == nullptr || least == nullptr) return {};
  const auto value_at = [](const analysis::Curve& curve, double n) {
    return std::ranges::find(curve.points, n, &analysis::CurvePoint::n)->value;
  };
  std::optional<std::pair<double, double>> before;
  for (const analysis::CurvePoint& point : dram->points) {
    const double floor = value_at(*least, point.n);
    const double risen = (point.value - floor) / (value_at(*sm_l2, point.n) - floor);
    if (before && before->second < 0.5 && risen >= 0.5) {
      const double part = (0.5 - before->second) / (risen - before->second);
      return before->first * std::pow(point.n / before->first, part);
    }
    before = {point.n, risen};
  }
  return {};
}

// The L2 serves FA1's working set at short N and no longer at long ones: the N half-way lies where the band is drawn.
TEST(SampleAnalysis, TheL2BandHoldsFa1sHalfWayPoint) {
  analysis::CurveRequest request;
  request.algorithms = {"fa1"};
  int bands = 0;
  for (const analysis::CurveSet& set : sample().all_curves(request)) {
    const auto half = half_way(set);
    if (!half) continue;
    ASSERT_EQ(set.boundaries.size(), 1U);
    const analysis::L2Boundary& band = set.boundaries.front().at;
    const analysis::Curve* any = find(set, "fa1", analysis::CurveKind::measured, analysis::Quantity::dram);
    const std::string problem = describe(sample().table().spec(*any->points.front().row));
    EXPECT_GE(*half, band.n_low) << problem << ", nominal " << band.n_nominal;
    EXPECT_LE(*half, band.n_high) << problem << ", nominal " << band.n_nominal;
    ++bands;
  }
  EXPECT_GE(bands, 3);
}

// Every fit that is drawn of the sample goes through its points, and the ones that the closed forms know have their
// constants.
TEST(SampleAnalysis, FitsAreWorthTheirIntervals) {
  analysis::CurveRequest request;
  request.algorithms = {"naive", "fa1", "fa2", "splitkv"};
  int fits = 0;
  for (const bool dram : {false, true}) {
    request.sm_l2 = !dram;
    for (const analysis::CurveSet& set : sample().all_curves(request)) {
      for (const analysis::Curve& curve : set.curves) {
        if (curve.kind != analysis::CurveKind::fit) continue;
        ++fits;
        const analysis::FittedLaw& law = *curve.law;
        EXPECT_GE(law.points, 4U);
        EXPECT_LE(law.fit->worst, std::max(law.fit->relative_half_width(), 0.01));
        EXPECT_GT(law.fit->scale_interval.low, 0);
        if (dram || law.law.text != "N²d/Br") continue;
        EXPECT_NEAR(law.fit->scale, 2, 0.05) << "K and V, once for each Q tile";
      }
      for (const analysis::WithheldFit& withheld : set.withheld) {
        EXPECT_TRUE(withheld.law.refusal);
      }
    }
  }
  EXPECT_GE(fits, 10);
}

}  // namespace
}  // namespace attnscope
