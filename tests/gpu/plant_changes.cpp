// SPDX-License-Identifier: Apache-2.0
// Records a plan twice in the same rounds; in the second run, one point in EVERY is slower by PERCENT:
//
//   plant_changes FILE DEVICE PERCENT EVERY ROUNDS AXIS...
//
// DEVICE is "gpu" or "simulated". Runs 1 and 2 of FILE are baseline and candidate for `attnscope compare`. Each sample
// ends with a spin on the device (MeasureOptions::spin) of 1 us; in changed points it is longer by PERCENT of the
// point's time including the spin.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/registry.h"
#include "profiler/measure/gpu/gpu_device.h"
#include "profiler/measure/simulated_device.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/axes.h"
#include "profiler/plan/round_order.h"
#include "profiler/plan/sweep.h"
#include "storage/compared_runs.h"
#include "storage/run_store.h"

namespace attnscope {
namespace {

struct Request {
  std::string file;
  std::string device;
  double share = 0;
  std::size_t every = 1;
  int rounds = 1;
  std::vector<std::string_view> axes;
};

std::unique_ptr<Device> opened(const std::string& device) {
  if (device == "simulated") return make_simulated_device(known_gpus().front(), built_in_algorithms());
  GpuOptions options;
  options.counters = false;
  auto gpu = open_gpu_device(options, built_in_algorithms());
  if (!gpu) throw std::runtime_error(text(gpu.error().message()));
  return std::move(*gpu);
}

std::vector<PointSpec> plan_of(const std::vector<std::string_view>& axes, const DeviceLimits& limits) {
  SweepRequest sweep;
  for (const std::string_view axis : axes) sweep.axes.push_back(parse_axis(axis, built_in_algorithms()).value());
  return make_plan(sweep, limits, built_in_algorithms()).value().points;
}

PointRecord measured(Device& device, const PointSpec& spec, MeasureOptions options, double share) {
  options.spin = std::chrono::microseconds(1);
  const PointRecord least = device.measure(spec, options, {});
  const auto ns = evaluate(metric_key::time_median_ns, least);
  if (!ns) throw std::runtime_error(fmt::format("{}: {}", describe(spec), text(least.reason)));
  options.spin += std::chrono::nanoseconds(std::llround(share * ns->value));
  return device.measure(spec, options, {});
}

void plant(const Request& request) {
  const std::unique_ptr<Device> device = opened(request.device);
  const std::vector<PointSpec> points = plan_of(request.axes, device->info().limits);
  const SweepRounds rounds{.count = request.rounds, .seed = 1};
  MeasureOptions options;
  options.counters = false;
  options.verify = false;
  options.min_samples = 10;
  options.max_samples = 10;
  RunStore store = RunStore::open(request.file, RunStore::Mode::collect);
  std::array<std::int64_t, 2> runs{};
  for (const std::size_t side : {0U, 1U}) {
    RunHeader header;
    header.device = device->info();
    header.preset = side == 0 ? base_program_preset : other_program_preset;
    header.plan_hash = header.preset;
    header.planned_points = points.size();
    header.options = options;
    header.rounds = rounds.count;
    header.order_seed = rounds.seed;
    runs.at(side) = store.begin_run(header);
  }
  for (int round = 0; round < rounds.count; ++round) {
    options.placement = static_cast<std::uint64_t>(round) + 1;
    for (const std::size_t place : round_order(2 * points.size(), round, rounds)) {
      const std::size_t side = place / points.size();
      const std::size_t point = place % points.size();
      const double share = side == 1 && point % request.every == 0 ? request.share : 0;
      const PointRecord record = make_storable(measured(*device, points[point], options, share));
      if (round == 0) {
        store.add_point(runs.at(side), point, record);
      } else {
        store.add_round(runs.at(side), point, round, record);
      }
    }
  }
  for (const std::int64_t run : runs) store.finish_run(run, StoredRunState::complete);
}

}  // namespace
}  // namespace attnscope

int main(int argc, char** argv) {
  const std::span<char*> words(argv, static_cast<std::size_t>(argc));
  if (words.size() < 7) {
    fmt::print(stderr, "plant_changes FILE DEVICE PERCENT EVERY ROUNDS AXIS...\n");
    return 2;
  }
  attnscope::Request request{.file = words[1],
                             .device = words[2],
                             .share = std::strtod(words[3], nullptr) / 100,
                             .every = std::strtoul(words[4], nullptr, 10),
                             .rounds = static_cast<int>(std::strtol(words[5], nullptr, 10)),
                             .axes = {words.begin() + 6, words.end()}};
  try {
    attnscope::plant(request);
  } catch (const std::exception& error) {
    fmt::print(stderr, "plant_changes: {}\n", error.what());
    return 1;
  }
}
