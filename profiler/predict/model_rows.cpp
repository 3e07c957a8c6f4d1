// SPDX-License-Identifier: Apache-2.0
#include "profiler/predict/model_rows.h"

#include <fmt/format.h>

#include <array>

#include "kernels/registry.h"

namespace attnscope::analysis {

std::vector<ModelRow> point_model_rows(const PointSpec& point, const DeviceLimits& limits, const DeviceRates& rates) {
  const AttentionModel model = known_algorithms().find(point.algorithm)->model(point.problem, point.config(), limits);
  if (model.refusal) {
    return {{.kernel = "all", .reason = text(model.refusal->reason)}};
  }
  const auto extent = [](const std::array<std::uint32_t, 3>& size) {
    return fmt::format("{}{}", size[0], size[1] * size[2] == 1 ? "" : fmt::format("x{}x{}", size[1], size[2]));
  };
  const std::vector<LaunchTime> times = predict_times(model, limits, rates);
  const auto of_bytes = [&](const Traffic& t) { return model.reports_traffic ? std::optional(t) : std::nullopt; };
  const bool timed = model.can_predict_time && !rates.validated_on.empty();
  const auto of_time = [&](double ns) { return timed ? std::optional(ns) : std::nullopt; };
  std::vector<ModelRow> rows;
  const bool several = model.kernels.size() > 1 || has_several_launches(model.kernels);
  if (several) {
    rows.push_back({.kernel = "all",
                    .feasible = true,
                    .traffic = of_bytes(model.traffic()),
                    .predicted_ns = of_time(point_ns(model.schedule, times, rates))});
    if (!model.schedule.empty() && timed) {
      rows.back().sharing = schedule_times(model.schedule, times, rates);
    }
    rows.back().link_bytes = model.schedule.link_bytes();
  }
  auto next = times.begin();
  for (const KernelModel& kernel : model.kernels) {
    rows.push_back({.kernel = several ? kernel.name : "all",
                    .grid = extent(kernel.grid),
                    .block = extent(kernel.block),
                    .reason = kernel.setup ? "Setup launch; not measured, not included in sums." : "",
                    .shared_bytes = kernel.dynamic_shared_bytes,
                    .feasible = true,
                    .traffic = of_bytes(kernel.traffic)});
    rows.back().runs = kernel.runs;
    if (kernel.setup || !timed) continue;
    rows.back().time = *next++;
    rows.back().predicted_ns = rows.back().time->ns;
  }
  return rows;
}

}  // namespace attnscope::analysis
