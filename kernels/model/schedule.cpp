// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace attnscope {

std::string buffer_on_gpu(std::string_view buffer, int gpu) {
  return fmt::format("{}@{}", buffer, gpu);
}

std::int64_t Schedule::link_bytes() const {
  return std::accumulate(operations.begin(), operations.end(), std::int64_t{0},
                         [](std::int64_t sum, const Operation& each) { return sum + each.link_bytes(); });
}

ScheduleTimes total_schedule_times(const Schedule& schedule, const std::vector<OperationTime>& times, double ns) {
  struct GpuTotals {
    double attention = 0;
    double combine = 0;
    double copies = 0;
  };
  std::vector<GpuTotals> gpus(static_cast<std::size_t>(schedule.gpus));
  double first = std::numeric_limits<double>::infinity();
  double last = 0;
  for (std::size_t i = 0; i < schedule.operations.size(); ++i) {
    const Operation& each = schedule.operations[i];
    GpuTotals& gpu = gpus[static_cast<std::size_t>(each.gpu)];
    double& sum = each.is_transfer() ? gpu.copies : each.kind == Operation::Kind::combine ? gpu.combine : gpu.attention;
    sum += times[i].end_ns - times[i].begin_ns;
    first = std::min(first, times[i].begin_ns);
    last = std::max(last, times[i].end_ns);
  }
  ScheduleTimes sums;
  if (times.empty()) return sums;
  const GpuTotals& busiest = *std::ranges::max_element(gpus, {}, &GpuTotals::attention);
  const double all = std::accumulate(gpus.begin(), gpus.end(), 0.0,
                                     [](double sum, const GpuTotals& gpu) { return sum + gpu.attention; });
  sums.ns = ns > 0 ? ns : last - first;
  sums.attention_ns = busiest.attention;
  sums.combine_ns = busiest.combine;
  sums.exposed_ns = std::max(0.0, sums.ns - busiest.attention - busiest.combine);
  sums.copies_ns = busiest.copies;
  if (all > 0) sums.imbalance = busiest.attention * schedule.gpus / all;
  return sums;
}

std::vector<OperationTime> simulate_schedule(const Schedule& schedule,
                                             const std::function<double(const Operation&)>& ns_of) {
  std::vector<OperationTime> times;
  std::vector<double> launches_end(static_cast<std::size_t>(schedule.gpus));
  std::vector<double> copies_end(static_cast<std::size_t>(schedule.gpus));
  for (const Operation& each : schedule.operations) {
    double& stream_end = (each.is_transfer() ? copies_end : launches_end)[static_cast<std::size_t>(each.gpu)];
    double begin = stream_end;
    for (const std::size_t other : each.after) begin = std::max(begin, times[other].end_ns);
    stream_end = begin + ns_of(each);
    times.push_back({begin, stream_end});
  }
  return times;
}

}  // namespace attnscope
