// SPDX-License-Identifier: Apache-2.0
// Measured SM-L2 bytes of random shapes against the closed forms, on a real GPU; skipped without one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "kernels/model/integer.h"
#include "kernels/registry.h"
#include "profiler/measure/gpu/gpu_device.h"
#include "profiler/metrics/metrics.h"

namespace attnscope {
namespace {

constexpr std::size_t shapes = 200;
constexpr double tolerance = 0.001;

/// Deviation of a launch's bytes that the closed form does not model.
struct TrafficTolerance {
  double more = 0;  ///< upper bound
  double fewer = 0;
};

/// Key lengths and block masks that are not operands are read through L1, once per SM. Two requests of a block that
/// store adjacent row values to one sector may be merged on the way to L2; observed where a block stores little else in
/// between: for D, and for l and m when a block's first step clears them.
TrafficTolerance traffic_tolerance(const KernelLaunch& launch, const AttentionProblem& p, const DeviceLimits& limits) {
  const auto sms = static_cast<double>(std::min<std::int64_t>(launch.blocks(), limits.sm_count));
  const auto sectors = [](std::int64_t bytes) { return static_cast<double>(ceil_div(bytes, sector_bytes)); };
  const bool said =
      std::ranges::find(launch.operands, Tensor::key_lengths, &OperandTraffic::tensor) != launch.operands.end();
  double metadata = p.mask.padded() && !said ? sectors(4 * p.batch) : 0;
  if (p.mask.has_block_mask())
    metadata += sectors(ceil_div(p.n_q, p.mask.block_size) * ceil_div(p.n_k, p.mask.block_size));
  TrafficTolerance unsaid{.more = sms * metadata * static_cast<double>(sector_bytes)};
  std::vector<TileAccess> accesses;
  for (std::int64_t block = 0; block < launch.program->blocks(); ++block) {
    const std::int64_t steps = launch.name == "dot" ? launch.program->steps(block) : 1;
    for (std::int64_t step = 0; step < steps; ++step) launch.program->visit(block, step, accesses);
  }
  for (const TileAccess& access : accesses) {
    const bool row_values = access.tensor == Tensor::delta || access.tensor == Tensor::l || access.tensor == Tensor::m;
    if (!row_values || access.access != Access::store) continue;
    unsaid.fewer += static_cast<double>(access.moved_bytes()) -
                    sectors((access.place + access.rows) * 4) * static_cast<double>(sector_bytes);
  }
  return unsaid;
}

/// Small, odd shapes. Uses own draws, since standard distributions differ between libraries.
class PointGenerator {
 public:
  [[nodiscard]] std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most - least + 1));
  }
  template <class T>
  [[nodiscard]] const T& one_of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(between(0, std::ssize(values) - 1))];
  }

  /// Draws a point that may be infeasible for the algorithm.
  [[nodiscard]] PointSpec point(const Algorithm& algorithm, const DeviceLimits& limits) {
    PointSpec spec{.algorithm = algorithm.name(), .problem = problem(algorithm.facts())};
    spec.set_config(algorithm.default_config(spec.problem, limits));
    if (between(0, 2) == 0) {
      spec.tile = {.br = 16 * static_cast<int>(between(1, 8)), .bc = 16 * static_cast<int>(between(1, 8))};
    }
    return spec;
  }

 private:
  [[nodiscard]] AttentionProblem problem(const Facts& facts) {
    AttentionProblem p{.pass = one_of<Pass>({Pass::fwd, Pass::bwd}),
                       .batch = between(1, 5),
                       .heads_kv = between(1, 5),
                       .n_q = between(1, 700),
                       .n_k = between(1, 1200),
                       .d = one_of(facts.head_dims)};
    const std::int64_t group = between(1, 3);
    p.heads_q = p.heads_kv * group;
    if (facts.for_decoding) {
      p.pass = Pass::fwd;
      p.n_q = between(1, 64 / group);
      p.n_k = between(1, 20'000);
      p.page = one_of<std::int64_t>({0, 16, 128});
    }
    const std::string side = std::to_string(between(0, p.n_k));
    p.mask = parse_mask(one_of<std::string>({"full", "causal", "window:" + side + ":0", "window:70:" + side,
                                             "lengths:ramp", "causal+lengths:ramp", "blocks:128:butterfly"}))
                 .value();
    return p;
  }

  std::mt19937_64 random_{20261126};
};

std::vector<PointSpec> drawn(const Registry& registry, const DeviceLimits& limits) {
  PointGenerator draw;
  std::vector<const Algorithm*> algorithms;
  for (const Algorithm* algorithm : registry.algorithms()) {
    if (!algorithm->facts().is_multi_gpu()) algorithms.push_back(algorithm);  // the others need several GPUs
  }
  std::vector<PointSpec> points;
  for (int tried = 0; points.size() < shapes && tried < 10'000; ++tried) {
    const Algorithm& algorithm = *algorithms[points.size() % algorithms.size()];
    const PointSpec spec = draw.point(algorithm, limits);
    if (invalid_reason(spec.problem).empty() && !algorithm.refusal(spec.problem, spec.config(), limits)) {
      points.push_back(spec);
    }
  }
  return points;
}

std::vector<PointRecord> counted(Device& device, const std::vector<PointSpec>& points) {
  MeasureOptions options;
  options.verify = false;
  options.min_samples = 1;
  options.max_samples = 1;
  device.prepare(points, {}, {});
  std::vector<PointRecord> records(points.size());
  std::vector<PointSpec> waiting;
  std::vector<PointRecord*> uncounted;
  const auto count = [&] {
    if (!uncounted.empty()) (void)device.count(uncounted, options, {});
    waiting.clear();
    uncounted.clear();
  };
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!waiting.empty() && !device.can_share_session(waiting, points[i])) count();
    Device::MeasurementResult point = device.measure_deferred(points[i], options, {});
    records[i] = std::move(point.record);
    if (!point.counters_pending) continue;
    waiting.push_back(points[i]);
    uncounted.push_back(&records[i]);
  }
  count();
  return records;
}

/// Deviation of the closed forms of an algorithm's kernel over all shapes.
struct Deviation {
  int kernels = 0;
  int beyond = 0;
  double most = 0;
};

TEST(RandomShapes, CountersMatchClosedForms) {
  auto opened = open_gpu_device();
  if (!opened) GTEST_SKIP() << text(opened.error().message());
  Device& device = **opened;
  if (device.counters().state != CounterState::available) GTEST_SKIP() << device.counters().reason;

  const std::vector<PointSpec> points = drawn(device.algorithms(), device.info().limits);
  ASSERT_EQ(points.size(), shapes);
  std::map<std::string, Deviation> all;
  for (const PointRecord& record : counted(device, points)) {
    ASSERT_EQ(record.disposition, Disposition::ok) << describe(record.spec) << ": " << record.reason;
    const AttentionProblem& p = record.spec.problem;
    const AttentionPlan plan =
        device.algorithms().find(record.spec.algorithm)->plan(p, record.spec.config(), device.info().limits);
    for (const KernelRecord& kernel : record.kernels) {
      if (record.kernels.size() > 1 && kernel.kernel == "all") continue;
      if (kernel.launch && kernel.launch->local_bytes > 0) continue;  // local-memory traffic depends on the compiler
      const auto value = [&](std::string_view key) {
        const auto found = kernel.metric(key);
        EXPECT_TRUE(found) << describe(record.spec) << ' ' << kernel.kernel << ' ' << key;
        return found.value_or(0);
      };
      const double loads = value(metric_key::l2_to_sm_bytes);
      const double stores = value(metric_key::sm_to_l2_bytes);
      const double model_loads = value(metric_key::model_l2_to_sm_bytes);
      const double model_stores = value(metric_key::model_sm_to_l2_bytes);
      const double model = model_loads + model_stores;
      const auto launch = std::ranges::find_if(plan.launches, [&](const KernelLaunch& each) {
        return !each.setup && (kernel.kernel == "all" || each.name == kernel.kernel);
      });
      ASSERT_NE(launch, plan.launches.end()) << kernel.kernel;
      const TrafficTolerance unsaid = traffic_tolerance(*launch, p, device.info().limits);
      const double more = std::max(0.0, loads + stores - model - unsaid.more);
      const double fewer = std::max(0.0, model - loads - stores - unsaid.fewer);
      const double off = (more - fewer) / model;
      Deviation& of = all[record.spec.algorithm + " " + kernel.kernel];
      ++of.kernels;
      if (std::abs(off) > std::abs(of.most)) of.most = off;
      if (std::abs(off) <= tolerance) continue;
      ++of.beyond;
      ADD_FAILURE() << describe(record.spec) << ", kernel " << kernel.kernel
                    << fmt::format(
                           ": loads {:.0f}, by the closed form {:.0f} ({:+.0f}); stores {:.0f}, {:.0f} ({:+.0f})",
                           loads, model_loads, loads - model_loads, stores, model_stores, stores - model_stores);
    }
  }
  for (const auto& [kernel, off] : all) {
    fmt::print("{:20} {:4} kernels, {:3} beyond, at most {:+.4f}%\n", kernel, off.kernels, off.beyond, 100 * off.most);
  }
}

}  // namespace
}  // namespace attnscope
