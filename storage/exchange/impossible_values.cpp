// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/impossible_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/model/attention.h"
#include "kernels/model/io_model.h"
#include "profiler/metrics/metrics.h"

namespace attnscope::exchange {
namespace {

constexpr double dram_tolerance = 1.05;
constexpr double unit_step = 1000;

/// Hint for a value that is `ratio` times its bound.
std::string unit_hint(double ratio) {
  return ratio > unit_step / 10 ? "; a unit off by 1,000 is likely" : "";
}

}  // namespace

Message impossible_reason(const PointRecord& point, const DeviceLimits& limits) {
  const auto value = [&](std::string_view key) -> double {
    const auto metric = evaluate(key, point);
    return metric ? metric->value : 0;
  };
  const int gpus = point.spec.problem.gpus;
  const double time = value(metric_key::time_median_ns);
  const double read_rate = time > 0 ? value(metric_key::dram_read_bytes) / time * 1e9 : 0;
  const double rate = std::max(value(metric_key::dram_bandwidth), read_rate);  // writes may be unknown
  const double roof = limits.dram_bytes_per_second * gpus;
  if (roof > 0 && rate > dram_tolerance * roof) {
    return make_message("impossible: {:.0f}% of the DRAM rate of {}{}", rate / roof * 100, limits.name,
                        unit_hint(rate / roof));
  }
  const double tflops = value(metric_key::tflops);
  const double peak = limits.tensor_flops * relative_throughput(point.spec.problem.dtype) / 1e12;
  if (peak > 0 && tflops > peak) {
    return make_message("impossible: {:.0f}% of the FLOP rate of {}{}", tflops / peak * 100, limits.name,
                        unit_hint(tflops / peak));
  }
  const double bytes = value(metric_key::dram_bytes);
  const double least =
      static_cast<double>(compulsory_traffic(point.spec.problem).total()) - static_cast<double>(limits.l2_bytes) * gpus;
  if (bytes > 0 && limits.l2_bytes > 0 && bytes < least) {
    return make_message("impossible: {:.3g} MB of DRAM traffic; at least {:.3g} MB must pass even if the L2 is warm{}",
                        bytes / 1e6, least / 1e6, unit_hint(least / bytes));
  }
  return {};
}

}  // namespace attnscope::exchange
