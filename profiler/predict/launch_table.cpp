// SPDX-License-Identifier: Apache-2.0
#include "profiler/predict/launch_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/model/pipeline_model.h"
#include "kernels/registry.h"
#include "profiler/plan/parallel_for.h"
#include "profiler/predict/prediction_error.h"
#include "profiler/predict/unit_utilization.h"
#include "profiler/simulator/traffic_simulation.h"

namespace attnscope::analysis {
namespace {

using Numbers = std::vector<std::pair<std::string, double>>;

void append_costs(Numbers& to, const std::string& name, const UnitCosts& costs) {
  to.insert(to.end(), {{name + "_tensor", costs.tensor},
                       {name + "_exponential", costs.exponential},
                       {name + "_fp32", costs.fp32},
                       {name + "_shared", costs.shared},
                       {name + "_l2", costs.l2}});
}

Numbers numbers_of(const LaunchLoad& load, const DeviceRates& rates) {
  Numbers numbers{{"blocks", load.blocks},
                  {"warps", load.warps},
                  {"blocks_per_sm", load.blocks_per_sm},
                  {"l1_bytes", load.l1_bytes},
                  {"steps", load.work.steps},
                  {"concurrent_steps", load.work.concurrent_steps},
                  {"rounds", load.work.rounds},
                  {"mask_reads", load.work.mask_reads},
                  {"tensor_flops", load.work.tensor_flops},
                  {"relative_throughput", load.work.relative_throughput},
                  {"exponentials", load.work.exponentials},
                  {"fp32_values", load.work.fp32_values},
                  {"shared_bytes", load.work.shared_bytes},
                  {"register_bytes", load.work.register_bytes},
                  {"concurrent_load_bytes", load.work.concurrent_load_bytes},
                  {"l2_sm_bytes", load.l2_sm_bytes},
                  {"dram_bytes", load.dram_bytes},
                  {"distinct_bytes", load.work.distinct_bytes},
                  {"sm_count", rates.sm_count},
                  {"boost_hz", rates.boost_hz},
                  {"dram_rate", rates.dram_bytes_per_second},
                  {"l2_rate", rates.l2_bytes_per_second}};
  // Peak rates with the kernel's matrix instruction, of this GPU and of the GPU of the fit.
  append_costs(numbers, "peak", rates.peaks(load.timing.use.instruction));
  append_costs(numbers, "fitted_peak", rates.fitted_peaks(load.timing.use.instruction));
  numbers.insert(numbers.end(), {{"clock_fixed", rates.clock.fixed_hz},
                                 {"clock_load", rates.clock.load},
                                 {"clock_load_ns", rates.clock.load_ns},
                                 {"clock_tensor_slope", rates.clock.tensor_slope},
                                 {"clock_tensor_threshold", rates.clock.tensor_threshold},
                                 {"power_idle", rates.clock.idle},
                                 {"power_tensor", rates.clock.tensor},
                                 {"power_dram", rates.clock.dram},
                                 {"power_exponent", rates.clock.exponent},
                                 {"power_averaging_ns", rates.clock.averaging_ns},
                                 {"block_latency", load.timing.block_latency},
                                 {"step_latency", load.timing.step_latency},
                                 {"round_latency", load.timing.round_latency},
                                 {"mask_read_latency", load.timing.mask_read_latency},
                                 {"refill_latency", load.timing.refill_latency}});
  append_costs(numbers, "alone", load.timing.alone);
  append_costs(numbers, "busy", load.timing.busy);
  numbers.insert(numbers.end(),
                 {{"skew", load.timing.skew}, {"overlap", load.timing.overlap}, {"launch_ns", load.timing.launch_ns}});
  return numbers;
}

/// --utilization counters of the launch for tests/gpu/fit_use.py; 0 if not counted.
Numbers counter_values(const PointRecord& record, std::string_view kernel) {
  const bool of_kernel = is_relative_to_kernel(record, kernel);
  const auto of = [&](std::string_view metric) {
    const auto value = of_kernel ? evaluate(metric, record, kernel) : std::nullopt;
    return value ? value->value : 0;
  };
  return {{"counted_cycles", of(metric_key::sm_active_cycles)},
          {"counted_tensor_pct", of("tensor_utilization_pct")},
          {"counted_xu_pct", of("xu_utilization_pct")},
          {"counted_shared_pct", of("shared_utilization_pct")}};
}

/// "times*blocks:steps:rounds:squares,...;...": turns of block runs.
std::string order_text(const BlockOrder& order) {
  std::string words;
  for (const RepeatedRuns& turn : order) {
    words += fmt::format("{}{}*", words.empty() ? "" : ";", turn.times);
    for (const BlockRun& run : turn.runs) {
      words += fmt::format("{}{}:{:.12g}:{:.12g}:{:.12g}", words.ends_with('*') ? "" : ",", run.blocks, run.steps,
                           run.rounds, run.mask_reads);
    }
  }
  return words;
}

struct LaunchRow {
  std::vector<std::string> words;
  Numbers numbers;
};

std::vector<LaunchRow> launch_rows(std::size_t index, const MeasuredRecord& point, const CancelToken& cancel) {
  const PointSpec& spec = point.record->spec;
  const DeviceLimits& limits = *point.limits;
  const Algorithm* algorithm = known_algorithms().find(spec.algorithm);
  if (algorithm == nullptr || algorithm->facts().user_defined) return {};
  if (algorithm->refusal(spec.problem, spec.config(), limits)) return {};
  const AttentionPlan plan = algorithm->plan(spec.problem, spec.config(), limits);
  const auto simulation = simulate_traffic(plan, limits, {.cache = spec.cache}, cancel);
  if (!simulation) return {};
  std::vector<const KernelLaunch*> launches;
  std::vector<LaunchLoad> loads;
  for (const KernelLaunch& launch : plan.launches) {
    if (launch.setup) continue;
    const LaunchSimulation& traffic = (*simulation)[launches.size()];
    launches.push_back(&launch);
    loads.push_back(launch_load(launch, limits, traffic.dram_read_bytes + traffic.dram_write_bytes));
  }
  const std::vector<LaunchTime> times = launch_times(loads, point.rates);
  std::vector<LaunchRow> rows;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const KernelRecord* kernel = point.record->kernel(has_several_launches(plan.launches) ? launches[i]->name : "all");
    const auto summary = kernel != nullptr ? summarize(kernel->samples_ns) : std::nullopt;
    if (!summary) continue;
    const bool held_out = point.half.value_or(data_half_of(spec)) == Half::held_out;
    LaunchRow& row = rows.emplace_back();
    row.words = {fmt::to_string(index),
                 spec.algorithm,
                 std::string(to_string(spec.problem.pass)),
                 launches[i]->name,
                 launches[i]->source.entry,
                 held_out ? "held out" : "fitted",
                 describe(spec.problem),
                 spec.tile.br > 0 ? fmt::format("{}x{}", spec.tile.br, spec.tile.bc) : "",
                 order_text(loads[i].work.order)};
    row.numbers = {{"measured_ns", summary->median}, {"predicted_ns", times[i].ns}, {"clock_hz", times[i].clock_hz}};
    std::ranges::move(numbers_of(loads[i], point.rates), std::back_inserter(row.numbers));
    std::ranges::move(counter_values(*point.record, kernel->kernel), std::back_inserter(row.numbers));
  }
  return rows;
}

}  // namespace

Table launch_table(std::span<const MeasuredRecord> points, const CancelToken& cancel) {
  std::vector<std::vector<LaunchRow>> of_points(points.size());
  parallel_for(points.size(), cancel,
               [&] { return [&](std::size_t i) { of_points[i] = launch_rows(i, points[i], cancel); }; });
  std::vector<LaunchRow> rows;
  for (std::vector<LaunchRow>& each : of_points) std::ranges::move(each, std::back_inserter(rows));
  std::vector<std::string> names;
  if (!rows.empty()) {
    for (const auto& [name, value] : rows.front().numbers) names.push_back(name);
  }
  constexpr std::array<const char*, 9> words{"point", "algorithm", "pass", "launch", "entry",
                                             "half",  "problem",   "tile", "order"};
  TableBuilder<LaunchRow> table(std::move(rows));
  for (std::size_t i = 0; i < words.size(); ++i) {
    table.add({.key = words[i], .title = words[i]}, [i](const LaunchRow& row) { return row.words[i]; });
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    Column column{.key = names[i], .title = names[i], .kind = ColumnKind::number};
    table.add(std::move(column), [i](const LaunchRow& row) {
      return Cell{.text = fmt::format("{:.12g}", row.numbers[i].second), .number = row.numbers[i].second};
    });
  }
  return std::move(table).take();
}

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
