// SPDX-License-Identifier: Apache-2.0
#include "profiler/predict/speed_of_light.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "messages/bound.h"

namespace attnscope::analysis {

GpuUnit SpeedOfLight::busiest() const {
  return static_cast<GpuUnit>(std::ranges::max_element(busy) - busy.begin());
}

std::optional<GpuUnit> SpeedOfLight::bound() const {
  const GpuUnit most = busiest();
  return of(most) >= bottleneck_threshold && !is_wait_bound() ? std::optional(most) : std::nullopt;
}

void SpeedOfLight::wait(double share) {
  for (double& unit : busy) unit *= 1 - share;
  for (double* part : {&launch, &idle, &rest}) *part *= 1 - share;
  waiting = share;
}

SpeedOfLight speed_of_light(std::span<const LaunchTime> times) {
  SpeedOfLight result;
  const double ns = point_ns(times);
  for (const LaunchTime& time : times) {
    for (const GpuUnit unit : gpu_units) result.busy[static_cast<std::size_t>(unit)] += time.busy(unit) / ns;
    result.launch += (time.launch_ns - time.hidden_ns) / ns;
    result.idle += time.idle_ns / ns;
  }
  const auto longest = std::ranges::max_element(times, {}, &LaunchTime::ns);
  result.empty_sms = longest->empty_sms;
  result.sms = longest->sms;
  result.rest = std::max(0.0, 1 - result.of(result.busiest()) - result.launch - result.idle);
  return result;
}

Message title_of(GpuUnit unit) {
  constexpr std::array<MessageFunction, gpu_units.size()> titles{
      message_of<msg::bound::tensor>, message_of<msg::bound::exponential>, message_of<msg::bound::shared_memory>,
      message_of<msg::bound::l2_port>, message_of<msg::bound::dram>};
  return titles.at(static_cast<std::size_t>(unit))();
}

Message bound_text(const SpeedOfLight& light) {
  const auto percent = [](double share) { return fmt::format("{:.0f}", 100 * share); };
  if (const auto bound = light.bound()) {
    return msg::bound::busy{.percent = percent(light.of(*bound)), .unit = title_of(*bound)};
  }
  if (light.is_wait_bound()) return msg::bound::other_gpus{.percent = percent(light.waiting)};
  if (light.is_grid_limited()) return msg::bound::empty_sms{.empty = light.empty_sms, .sms = light.sms};
  const GpuUnit most = light.busiest();
  return msg::bound::no_unit{
      .least = percent(bottleneck_threshold), .percent = percent(light.of(most)), .unit = title_of(most)};
}

}  // namespace attnscope::analysis
