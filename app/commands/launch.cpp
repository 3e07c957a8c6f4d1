// SPDX-License-Identifier: Apache-2.0
// launch: runs one point's kernels on the GPU and nothing else, for external profilers.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/devices.h"
#include "app/interrupt.h"
#include "app/sweep_options.h"
#include "app/user_kernels.h"
#include "kernels/registry.h"
#include "profiler/plan/sweep.h"
#include "profiler/units/number_format.h"

namespace attnscope {
namespace {

struct LaunchOptions {
  std::vector<std::string> axes;
  std::string device;
  std::string cache_control = "all";
  int repeat = 10;
  double timeout_seconds = 60;
};

SweepRequest request_of(const LaunchOptions& options) {
  SweepRequest request;
  request.axes = parse_axes(options.axes);
  request.cache = options.cache_control == "none" ? CacheState::warm : CacheState::cold;
  return request;
}

PointSpec one_point(const SweepRequest& request, const DeviceLimits& limits) {
  Result<SweepPlan, Message> plan = make_plan(request, limits, known_algorithms());
  if (!plan) throw CommandError(ExitCode::usage, plan.error());
  const std::vector<PointSpec>& points = plan->points;
  if (points.empty())
    throw CommandError(ExitCode::usage, "these axes select no point (give algorithm=NAME and values that it supports)");
  if (points.size() > 1) {
    throw CommandError(ExitCode::usage, "these axes select {} points (give one value per axis)", points.size());
  }
  return points.front();
}

[[noreturn]] void fail(const PointRecord& record, const Device& device) {
  const Message why = make_message("{}: {}: {}", describe(record.spec), to_string(record.disposition), record.reason);
  const ExitCode code = record.disposition == Disposition::cancelled ? ExitCode::partial : ExitCode::error;
  if (device.usable()) throw CommandError(code, why);
  fmt::print(stderr, "error: {}\n", one_line(text(why)));
  leave(code);
}

ExitCode launch(const LaunchOptions& options) {
  const SweepRequest request = request_of(options);
  CancelToken& cancel = cancel_on_signals();
  const OpenedDevice opened = open_device(options.device, false);
  Device& device = *opened.device;
  const DeviceLimits& limits = device.info().limits;
  if (device.info().simulated) {
    const std::string& why = opened.simulation_reason;
    if (!why.empty()) throw CommandError(ExitCode::error, "launch requires a GPU: {}", as_sentence(why));
    throw CommandError(ExitCode::usage, "launch requires a GPU, and {} is simulated (set --device to a GPU number)",
                       limits.name);
  }
  const PointSpec point = one_point(request, limits);
  MeasureOptions measure;
  measure.counters = false;
  measure.verify = false;
  measure.bare = true;
  measure.min_samples = measure.max_samples = options.repeat;
  measure.timeout = std::chrono::milliseconds(std::llround(options.timeout_seconds * 1000));
  const PointRecord record = device.measure(point, measure, cancel);
  if (record.disposition != Disposition::ok) fail(record, device);

  fmt::print("{}\n{}\n", format_text("Device: {}", opened.announcement), describe(point));
  const auto time = summarize(record.kernel("all")->samples_ns);
  if (!time) return ExitCode::ok;
  const std::string cache(to_string(point.cache));
  fmt::print("{}\n", format_text("{}: median of {} runs, {} L2 (quartiles {}, {})", text(Nanoseconds(time->median)),
                                 time->count, cache, text(Nanoseconds(time->q1)), text(Nanoseconds(time->q3))));
  return ExitCode::ok;
}

}  // namespace

Action add_launch(CLI::App& command) {
  auto options = std::make_shared<LaunchOptions>();
  add_kernel_option(command);
  command
      .add_option("AXES", options->axes,
                  "Axes with one value each: algorithm=NAME N=4096 d=128; see `attnscope help axes`")
      ->required();
  command.add_option("-d,--device", options->device, "GPU number, or gpu (the first; default)")->type_name("DEVICE");
  add_number_option(command, "--repeat", options->repeat, 1, 1'000'000, "Number of launches; there is no warm-up");
  add_cache_option(command, options->cache_control);
  add_number_option(command, "--timeout", options->timeout_seconds, 0.001, 86'400, "Time limit per launch in seconds");
  return [options] { return launch(*options); };
}

}  // namespace attnscope
