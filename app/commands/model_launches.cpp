// SPDX-License-Identifier: Apache-2.0
// `attnscope model --against FILE --launches`: every measured launch with what its time is predicted from.
#include "app/commands/model_against.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "app/in_parallel.h"
#include "app/point_fields.h"
#include "kernels/model/pipeline_model.h"
#include "kernels/registry.h"
#include "profiler/plan/text.h"
#include "profiler/predict/prediction_error.h"
#include "profiler/predict/unit_use.h"
#include "profiler/simulator/traffic_simulation.h"

namespace attnscope {
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
                  {"steps_at_once", load.work.steps_at_once},
                  {"rounds", load.work.rounds},
                  {"squares_read", load.work.squares_read},
                  {"tensor_flops", load.work.tensor_flops},
                  {"products_at_once", load.work.products_at_once},
                  {"exponentials", load.work.exponentials},
                  {"fp32_values", load.work.fp32_values},
                  {"shared_bytes", load.work.shared_bytes},
                  {"register_bytes", load.work.register_bytes},
                  {"loaded_at_once", load.work.loaded_at_once},
                  {"l2_sm_bytes", load.l2_sm_bytes},
                  {"dram_bytes", load.dram_bytes},
                  {"distinct_bytes", load.work.distinct_bytes},
                  {"sm_count", rates.sm_count},
                  {"boost_hz", rates.boost_hz},
                  {"dram_rate", rates.dram_bytes_per_second},
                  {"l2_rate", rates.l2_bytes_per_second}};
  append_costs(numbers, "peak", rates.per_cycle);
  const bool mma_sync = load.timing.use.instruction == MatrixInstruction::mma_sync;
  numbers.insert(numbers.end(), {{"tensor_share", mma_sync ? rates.mma_sync_share : 1},
                                 {"clock_load", rates.clock.load},
                                 {"clock_load_ns", rates.clock.load_ns},
                                 {"clock_surge", rates.clock.surge},
                                 {"clock_surge_from", rates.clock.surge_from},
                                 {"power_idle", rates.clock.idle},
                                 {"power_tensor", rates.clock.tensor},
                                 {"power_dram", rates.clock.dram},
                                 {"power_exponent", rates.clock.exponent},
                                 {"power_lag_ns", rates.clock.lag_ns},
                                 {"block_latency", load.timing.block_latency},
                                 {"step_latency", load.timing.step_latency},
                                 {"round_latency", load.timing.round_latency},
                                 {"square_latency", load.timing.square_latency},
                                 {"refill_latency", load.timing.refill_latency}});
  append_costs(numbers, "alone", load.timing.alone);
  append_costs(numbers, "busy", load.timing.busy);
  numbers.insert(numbers.end(),
                 {{"skew", load.timing.skew}, {"overlap", load.timing.overlap}, {"launch_ns", load.timing.launch_ns}});
  return numbers;
}

/// What `--why` counted of the launch, for tests/gpu/fit_use.py; 0 where nobody did.
Numbers counted_of(const PointRecord& record, std::string_view kernel) {
  const bool of_kernel = analysis::uses_are_of_kernel(record, kernel);
  const auto of = [&](std::string_view metric) {
    const auto value = of_kernel ? evaluate(metric, record, kernel) : std::nullopt;
    return value ? value->value : 0;
  };
  return {{"counted_cycles", of(metric_key::sm_active_cycles)},
          {"counted_tensor_pct", of("tensor_utilization_pct")},
          {"counted_xu_pct", of("xu_utilization_pct")},
          {"counted_shared_pct", of("shared_utilization_pct")}};
}

/// "times*blocks:steps:rounds:squares,...;...": turns, each of runs of blocks.
std::string words_of(const BlockOrder& order) {
  std::string words;
  for (const BlockTurn& turn : order) {
    words += fmt::format("{}{}*", words.empty() ? "" : ";", turn.times);
    for (const BlockRun& run : turn.runs) {
      words += fmt::format("{}{}:{:.12g}:{:.12g}:{:.12g}", words.ends_with('*') ? "" : ",", run.blocks, run.steps,
                           run.rounds, run.squares_read);
    }
  }
  return words;
}

struct LaunchRow {
  std::vector<std::string> words;
  Numbers numbers;
};

std::vector<LaunchRow> launch_rows(std::size_t index, const MeasuredPoints::Point& point,
                                   const StoredCeilings* measured, const CancelToken& cancel) {
  const PointSpec& spec = point.record.spec;
  const DeviceLimits& limits = point.run->limits;
  const Algorithm* algorithm = known_algorithms().find(spec.algorithm);
  if (algorithm == nullptr || algorithm->facts().foreign) return {};
  if (algorithm->refusal(spec.problem, spec.config(), limits)) return {};
  const AttentionPlan plan = algorithm->plan(spec.problem, spec.config(), limits);
  const auto played = simulate_traffic(plan, limits, {.cache = spec.cache}, cancel);
  if (!played) return {};
  std::vector<const KernelLaunch*> launches;
  std::vector<LaunchLoad> loads;
  for (const KernelLaunch& launch : plan.launches) {
    if (launch.setup) continue;
    const LaunchSimulation& traffic = (*played)[launches.size()];
    launches.push_back(&launch);
    loads.push_back(launch_load(launch, limits, traffic.dram_read_bytes + traffic.dram_write_bytes));
  }
  const DeviceRates rates = measured != nullptr ? device_rates(limits, measured->ceilings) : device_rates(limits);
  const std::vector<LaunchTime> times = launch_times(loads, rates);
  std::vector<LaunchRow> rows;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const KernelRecord* kernel = point.record.kernel(several_launches(plan.launches) ? launches[i]->name : "all");
    const auto summary = kernel != nullptr ? summarize(kernel->samples_ns) : std::nullopt;
    if (!summary) continue;
    const bool held_out = analysis::half_of(spec) == analysis::Half::held_out;
    LaunchRow& row = rows.emplace_back();
    row.words = {fmt::to_string(index),
                 spec.algorithm,
                 std::string(to_string(spec.problem.pass)),
                 launches[i]->name,
                 launches[i]->source.entry,
                 held_out ? "held out" : "fitted",
                 describe(spec.problem),
                 fmt::format("{}x{}", spec.tile.br, spec.tile.bc),
                 words_of(loads[i].work.order)};
    row.numbers = {{"measured_ns", summary->median}, {"predicted_ns", times[i].ns}, {"clock_hz", times[i].clock_hz}};
    append(row.numbers, numbers_of(loads[i], rates));
    append(row.numbers, counted_of(point.record, kernel->kernel));
  }
  return rows;
}

}  // namespace

Table launch_table(const MeasuredPoints& points, const RatesOfRuns& rates, const CancelToken& cancel) {
  std::vector<std::vector<LaunchRow>> rows(points.points().size());
  in_parallel(rows.size(), cancel, [&] {
    return
        [&](std::size_t i) { rows[i] = launch_rows(i, points.points()[i], rates.at(points.points()[i].run), cancel); };
  });
  Table table{{{"point"}, {"algorithm"}, {"pass"}, {"launch"}, {"entry"}, {"half"}, {"problem"}, {"tile"}, {"order"}},
              {}};
  bool first = true;
  for (std::vector<LaunchRow>& of_point : rows) {
    for (LaunchRow& row : of_point) {
      for (const auto& [name, value] : row.numbers) {
        if (first) table.columns.push_back({name, true});
        row.words.push_back(fmt::format("{:.12g}", value));
      }
      first = false;
      table.rows.push_back(std::move(row.words));
    }
  }
  return table;
}

}  // namespace attnscope
