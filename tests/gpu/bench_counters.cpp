// SPDX-License-Identifier: Apache-2.0
// Where the time of counting goes, part by part: with the configuration set anew for each point and kept, of points
// counted one by one and several in a session, and what each counter costs by itself:
//   bench_counters [ROUNDS]
// Needs a GPU with counters. The kernels' cubins are warm in every figure.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/bare_gpu.h"
#include "kernels/algorithm.h"
#include "kernels/registry.h"
#include "profiler/metrics/metrics.h"

namespace attnscope::gpu {
namespace {

using Clock = std::chrono::steady_clock;
using Reuse = RangeProfiler::Reuse;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

AttentionPlan plan_of(const BareGpu& gpu, const char* name) {
  const AttentionProblem problem{.batch = 1, .heads_q = 32, .heads_kv = 32, .n_q = 2048, .n_k = 2048, .d = 64};
  const Algorithm* algorithm = built_in_algorithms().find(name);
  return algorithm->plan(problem, algorithm->default_config(problem, gpu.limits()), gpu.limits());
}

struct Figure {
  double milliseconds = 0;  ///< a point
  CollectCost cost;         ///< of all rounds
  double l2_to_sm = 0;
  double settled = 0;
};

using Plans = std::vector<std::unique_ptr<PreparedPlan>>;

void add_bytes(Figure& figure, const PointCounts& counts) {
  for (const auto& [kernel, metrics] : counts.values) {
    for (const MetricValue& metric : metrics) {
      if (metric.name == metric_key::l2_to_sm_bytes) figure.l2_to_sm += metric.value;
      const bool dram = metric.name == metric_key::dram_read_bytes || metric.name == metric_key::dram_write_bytes ||
                        metric.name == metric_key::dram_writeback_bytes;
      if (dram) figure.settled += metric.value;
    }
  }
}

/// The points of each round in one session. The first round, which configures, is not in the figure.
Figure time_rounds(BareGpu& gpu, const Plans& plans, int rounds) {
  std::vector<std::span<PreparedLaunch>> points;
  for (const auto& plan : plans) points.push_back(plan->launches());
  (void)gpu.count_cold_together(points);
  gpu.counters().profiler().reset_cost();
  Figure figure;
  const auto begin = Clock::now();
  for (int round = 0; round < rounds; ++round) {
    const std::vector<PointCounts> counts = gpu.count_cold_together(points);
    figure.l2_to_sm = figure.settled = 0;
    for (const PointCounts& point : counts) add_bytes(figure, point);
  }
  const auto count = static_cast<double>(points.size());
  figure.milliseconds = milliseconds_since(begin) / rounds / count;
  figure.l2_to_sm /= count;
  figure.settled /= count;
  figure.cost = gpu.counters().profiler().cost();
  return figure;
}

/// `points`: counted in all.
void print_parts(const Figure& figure, int points) {
  fmt::print("    {:10} {:>12} {:>10} {:>12}\n", "part", "calls/point", "ms/call", "ms/point");
  for (std::size_t i = 0; i < collect_part_count; ++i) {
    const auto& part = figure.cost.parts[i];
    const auto calls = static_cast<double>(part.calls);
    fmt::print("    {:10} {:12.1f} {:10.3f} {:12.3f}\n", to_string(static_cast<CollectPart>(i)), calls / points,
               part.calls > 0 ? 1e3 * part.seconds / calls : 0, 1e3 * part.seconds / points);
  }
}

Plans plans_of(BareGpu& gpu, std::span<const char* const> algorithms, std::size_t points) {
  Plans plans;
  for (std::size_t i = 0; i < points; ++i) {
    plans.push_back(std::make_unique<PreparedPlan>(gpu, plan_of(gpu, algorithms[i % algorithms.size()])));
  }
  return plans;
}

/// Points by the session: what a session costs is shared by its points.
void print_batches(BareGpu& gpu, int rounds) {
  struct Mix {
    const char* title;
    std::vector<const char*> algorithms;
  };
  for (const Mix& mix :
       {Mix{"fa2", {"fa2"}}, Mix{"naive", {"naive"}}, Mix{"naive, fa1 and fa2 in turn", {"naive", "fa1", "fa2"}}}) {
    for (const std::size_t points : {1U, 4U, 8U, 16U}) {
      const Plans plans = plans_of(gpu, mix.algorithms, points);
      const Figure figure = time_rounds(gpu, plans, rounds);
      fmt::print("\n{}, {} points a session: {:.2f} ms a point; L2 to SM {:.0f}, DRAM settled {:.0f} bytes a point\n",
                 mix.title, points, figure.milliseconds, figure.l2_to_sm, figure.settled);
      print_parts(figure, rounds * static_cast<int>(points));
    }
  }
}

/// The kernels that counting itself launches, each timed on the host until the GPU is idle.
void print_services(BareGpu& gpu, int rounds) {
  DeviceMemory noise = allocate(gpu.cuda(), gpu.runner().noise_bytes());
  gpu.runner().enqueue_store_noise(noise.get(), gpu.runner().noise_bytes());
  const auto time = [&](const char* title, const auto& work) {
    gpu.runner().wait(std::chrono::seconds(10));
    const auto begin = Clock::now();
    for (int i = 0; i < rounds; ++i) {
      work();
      gpu.runner().wait(std::chrono::seconds(10));
    }
    fmt::print("{:34} {:8.3f} ms\n", title, milliseconds_since(begin) / rounds);
  };
  time("cold L2 (2 x L2 stored, discarded)", [&] { gpu.runner().enqueue_cold_cache(); });
  time("write-back (4 x L2 of noise read)", [&] { gpu.runner().enqueue_write_back(noise.get()); });
  time("an empty wait", [] {});
}

/// Passes over an empty range: what the counters themselves cost to begin and to end.
void print_sessions(BareGpu& gpu, int rounds) {
  std::vector<std::vector<std::string>> sets;
  std::vector<std::string> all;
  for (const CounterMetric& metric : default_counters(gpu.limits().compute_major)) {
    all.push_back(metric.counter);
    sets.push_back({metric.counter});
  }
  sets.push_back(all);
  fmt::print("\n{:72} {:>6} {:>12} {:>12}\n", "empty range", "passes", "start, ms", "stop, ms");
  for (const std::vector<std::string>& names : sets) {
    const BareGpu::SessionCost session = gpu.session_cost(names, rounds);
    const auto milliseconds = [&](CollectPart part) { return 1e3 * session.cost.of(part).seconds / rounds; };
    fmt::print("{:72} {:6} {:12.2f} {:12.2f}\n", names.size() == 1 ? names.front() : "all of them", session.passes,
               milliseconds(CollectPart::start), milliseconds(CollectPart::stop));
  }
}

void run(BareGpu& gpu, int rounds) {
  fmt::print("{}, {} rounds a row\n", gpu.limits().name, rounds);
  print_services(gpu, rounds);
  for (const auto& [reuse, reuse_word] : {std::pair(Reuse::nothing, "set anew"), std::pair(Reuse::config, "kept")}) {
    auto begin = Clock::now();
    gpu.count_anew(reuse);
    fmt::print("\nconfiguration {}: enabled in {:.1f} ms\n", reuse_word, milliseconds_since(begin));
    for (const char* algorithm : {"fa2", "naive"}) {
      const Plans plans = plans_of(gpu, {&algorithm, 1}, 1);
      const Figure figure = time_rounds(gpu, plans, rounds);
      fmt::print(
          "  {} ({} kernels, {} passes): {:.2f} ms a point; L2 to SM {:.0f}, DRAM settled {:.0f} bytes{}\n", algorithm,
          plans.front()->launches().size(), gpu.counters().passes(), figure.milliseconds, figure.l2_to_sm,
          figure.settled,
          reuse == Reuse::config && !gpu.counters().profiler().reuses_config() ? "; CUPTI refused to reuse" : "");
      print_parts(figure, rounds);
    }
  }
  print_batches(gpu, rounds);
  print_sessions(gpu, rounds);
}

}  // namespace
}  // namespace attnscope::gpu

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what was found stays found if a library fails later
  auto gpu = attnscope::gpu::BareGpu::open();
  if (!gpu) {
    fmt::print(stderr, "bench_counters: {}\n", attnscope::text(gpu.error()));
    return 1;
  }
  try {
    attnscope::gpu::run(**gpu, argc > 1 ? std::max(1, std::atoi(argv[1])) : 20);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_counters: {}\n", error.what());
    return 1;
  }
  return 0;
}
