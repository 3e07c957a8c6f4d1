// SPDX-License-Identifier: Apache-2.0
#include "profiler/metrics/metrics.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <initializer_list>
#include <numeric>
#include <unordered_map>

#include "messages/fact.h"
#include "messages/metric.h"
#include "messages/metric_help.h"
#include "profiler/units/number_format.h"

namespace attnscope {

namespace {

namespace key = metric_key;

// Provenance of a value computed from inputs of different provenance.
Provenance combined_provenance(std::initializer_list<Provenance> parts) {
  for (const Provenance source : {Provenance::imported, Provenance::extrapolated, Provenance::simulated}) {
    if (std::ranges::find(parts, source) != parts.end()) return source;
  }
  return Provenance::derived;
}

// The sum of two counters is measured, the sum of two closed forms is modeled.
Provenance sum_provenance(Provenance a, Provenance b) {
  return a == b ? a : combined_provenance({a, b});
}

using Value = std::optional<EvaluatedMetric>;

/// Value without name and unit; the caller adds those of the metric.
Value plain(double value, Provenance provenance) {
  return EvaluatedMetric{.name = {}, .value = value, .unit = {}, .provenance = provenance};
}

Value sum(const Value& a, const Value& b) {
  if (!a || !b) return std::nullopt;
  return plain(a->value + b->value, sum_provenance(a->provenance, b->provenance));
}

Value ratio(const Value& above, const Value& below, double scale = 1) {
  if (!above || !below || !(below->value > 0)) return std::nullopt;
  return plain(above->value / below->value * scale, combined_provenance({above->provenance, below->provenance}));
}

}  // namespace

/// Evaluates computed metrics of one kernel. Results are empty if an input is missing or a divisor is zero.
class MetricEvaluator {
 public:
  explicit MetricEvaluator(const KernelValues& kernel) : kernel_(kernel) {}

  [[nodiscard]] Value operator()(std::string_view name) const {
    if (auto stored = kernel_.stored(name)) return stored;
    const Metric* metric = find_metric(name);
    return metric != nullptr && metric->computed != nullptr ? of(*metric, metric->computed(*this)) : std::nullopt;
  }

  [[nodiscard]] Value traffic() const {
    const Value value = settled();
    return value ? of(*find_metric(key::dram_settled_bytes), value) : (*this)(key::dram_bytes);
  }

  [[nodiscard]] Value time(double SampleSummary::*part) const {
    const auto summary = kernel_.times();
    return summary ? plain((*summary).*part, kernel_.origin()) : std::nullopt;
  }

  /// Imported points may have quartiles without samples.
  [[nodiscard]] Value spread() const {
    if (auto of_samples = time(&SampleSummary::relative_spread)) return of_samples;
    const auto median = (*this)(key::time_median_ns);
    const auto q1 = (*this)(key::time_q1_ns);
    const auto q3 = (*this)(key::time_q3_ns);
    if (!median || !q1 || !q3 || !(median->value > 0)) return std::nullopt;
    return plain((q3->value - q1->value) / median->value,
                 combined_provenance({median->provenance, q1->provenance, q3->provenance}));
  }

  [[nodiscard]] Value settled() const {
    const auto counted = (*this)(key::dram_bytes);
    if (const auto write_back = (*this)(key::dram_writeback_bytes)) return sum(counted, write_back);
    // The simulator flushes L2 after each cold launch and counts that as the launch's writes.
    if (kernel_.cache() != CacheState::cold || !counted) return std::nullopt;
    if (!is_simulated(counted->provenance)) return {};
    return plain(counted->value, counted->provenance);
  }

  /// GPUs that a rate is divided by: a single launch runs on one.
  [[nodiscard]] int gpus() const { return kernel_.is_sum() ? kernel_.gpus() : 1; }

  // They are those of the whole pass, so they apply only to the sum of the kernels.
  [[nodiscard]] Value nominal_flops() const {
    if (!kernel_.is_sum()) return std::nullopt;
    if (Value own = (*this)(key::model_flops)) return own;
    return plain(kernel_.nominal_flops(), Provenance::modeled);
  }

 private:
  static Value of(const Metric& metric, Value value) {
    if (value) value->name = metric.key;
    if (value) value->unit = metric.unit;
    return value;
  }

  const KernelValues& kernel_;
};

namespace {

constexpr Metric use(std::string_view name, std::string_view counter, MessageFunction label, MessageFunction help) {
  return {.key = name, .counter = counter, .unit = "percent", .label = label, .help = help, .why = CounterGroup::use};
}
constexpr Metric stall(std::string_view name, std::string_view counter, MessageFunction label, MessageFunction help) {
  return {.key = name, .counter = counter, .label = label, .help = help, .why = CounterGroup::stall};
}
constexpr Metric count(std::string_view name, std::string_view counter, MessageFunction label, MessageFunction help,
                       std::string_view unit = "1") {
  return {.key = name, .counter = counter, .unit = unit, .label = label, .help = help, .why = CounterGroup::count};
}
constexpr Metric predicted_utilization(std::string_view name, MessageFunction label, MessageFunction help) {
  return {.key = name, .unit = "percent", .label = label, .help = help, .predicted_utilization = true};
}

// One row per metric; clang-format would split each row into five lines.
// clang-format off
constexpr auto metric_table = std::to_array<Metric>({
    // Counters of every counter pass.
    {.key = key::dram_read_bytes, .counter = "dram__bytes_read.sum", .counter_cc12 = "dram__bytes_op_read.sum", .unit = "byte", .label = message_of<msg::metric::dram_read_bytes>, .help = message_of<msg::metric_help::dram_read_bytes>, .collected_by_default = true, .on_heatmap = true, .better = BetterDirection::less, .level = "dram", .count_spread = dram_count_spread},
    {.key = key::dram_write_bytes, .counter = "dram__bytes_write.sum", .counter_cc12 = "dram__bytes_op_write.sum", .unit = "byte", .label = message_of<msg::metric::dram_write_bytes>, .help = message_of<msg::metric_help::dram_write_bytes>, .collected_by_default = true, .on_heatmap = true, .better = BetterDirection::less, .level = "dram", .count_spread = dram_count_spread},
    {.key = key::l2_to_sm_bytes, .counter = "l1tex__m_xbar2l1tex_read_bytes.sum", .unit = "byte", .label = message_of<msg::metric::l2_to_sm_bytes>, .help = message_of<msg::metric_help::l2_to_sm_bytes>, .collected_by_default = true, .on_heatmap = true, .better = BetterDirection::less, .level = "sm-l2"},
    {.key = key::sm_to_l2_bytes, .counter = "l1tex__m_l1tex2xbar_write_bytes.sum", .unit = "byte", .label = message_of<msg::metric::sm_to_l2_bytes>, .help = message_of<msg::metric_help::sm_to_l2_bytes>, .collected_by_default = true, .on_heatmap = true, .better = BetterDirection::less, .level = "sm-l2"},
    {.key = key::achieved_occupancy_pct, .counter = "sm__warps_active.avg.pct_of_peak_sustained_active", .unit = "percent", .label = message_of<msg::metric::achieved_occupancy_pct>, .help = message_of<msg::metric_help::achieved_occupancy_pct>, .collected_by_default = true, .on_heatmap = true, .better = BetterDirection::more},
    {.key = key::tensor_pipe_pct, .counter = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", .unit = "percent", .label = message_of<msg::metric::tensor_pipe_pct>, .help = message_of<msg::metric_help::tensor_pipe_pct>, .collected_by_default = true, .on_heatmap = true, .better = BetterDirection::more},
    {.key = key::sm_cycles, .counter = "sm__cycles_elapsed.max", .unit = "cycle", .label = message_of<msg::metric::sm_cycles>, .help = message_of<msg::metric_help::sm_cycles>, .collected_by_default = true},
    // Counted over the launch plus a forced L2 write-back, minus the launch's own writes; cold starts only.
    {.key = key::dram_writeback_bytes, .unit = "byte", .label = message_of<msg::metric::dram_writeback_bytes>, .help = message_of<msg::metric_help::dram_writeback_bytes>, .on_heatmap = true, .better = BetterDirection::less, .may_be_negative = true, .level = "dram", .count_spread = dram_count_spread},
    // Launch attributes from the driver.
    {.key = key::theoretical_occupancy_pct, .unit = "percent", .label = message_of<msg::metric::theoretical_occupancy_pct>, .help = message_of<msg::metric_help::theoretical_occupancy_pct>, .on_heatmap = true, .better = BetterDirection::more},
    {.key = key::registers, .unit = "register", .label = message_of<msg::metric::registers>, .help = message_of<msg::metric_help::registers>, .on_heatmap = true},
    {.key = key::shared_bytes, .unit = "byte", .label = message_of<msg::metric::shared_bytes>, .help = message_of<msg::metric_help::shared_bytes>, .on_heatmap = true},
    {.key = key::local_bytes, .unit = "byte", .label = message_of<msg::metric::local_bytes>, .help = message_of<msg::metric_help::local_bytes>},
    {.key = key::memory_bytes, .unit = "byte", .label = message_of<msg::metric::memory_bytes>, .help = message_of<msg::metric_help::memory_bytes>, .on_heatmap = true, .better = BetterDirection::less},
    // Python functions.
    {.key = key::dram_read_in_sequence, .unit = "byte", .label = message_of<msg::metric::dram_read_in_sequence>, .help = message_of<msg::metric_help::dram_read_in_sequence>, .better = BetterDirection::less, .level = "dram", .count_spread = dram_count_spread},
    {.key = key::dram_write_in_sequence, .unit = "byte", .label = message_of<msg::metric::dram_write_in_sequence>, .help = message_of<msg::metric_help::dram_write_in_sequence>, .better = BetterDirection::less, .level = "dram", .count_spread = dram_count_spread},
    {.key = key::host_call_ns, .unit = "ns", .label = message_of<msg::metric::host_call_ns>, .help = message_of<msg::metric_help::host_call_ns>, .better = BetterDirection::less},
    {.key = key::saved_bytes, .unit = "byte", .label = message_of<msg::metric::saved_bytes>, .help = message_of<msg::metric_help::saved_bytes>, .better = BetterDirection::less},
    {.key = key::tuned_br, .unit = "1", .label = message_of<msg::metric::tuned_br>, .help = message_of<msg::metric_help::tuned_br>},
    {.key = key::tuned_bc, .unit = "1", .label = message_of<msg::metric::tuned_bc>, .help = message_of<msg::metric_help::tuned_bc>},
    // Closed forms.
    {.key = key::model_l2_to_sm_bytes, .unit = "byte", .label = message_of<msg::metric::model_l2_to_sm_bytes>, .help = message_of<msg::metric_help::model_l2_to_sm_bytes>, .better = BetterDirection::less, .level = "sm-l2"},
    {.key = key::model_sm_to_l2_bytes, .unit = "byte", .label = message_of<msg::metric::model_sm_to_l2_bytes>, .help = message_of<msg::metric_help::model_sm_to_l2_bytes>, .better = BetterDirection::less, .level = "sm-l2"},
    {.key = key::model_l2_sm_bytes, .unit = "byte", .label = message_of<msg::metric::model_l2_sm_bytes>, .help = message_of<msg::metric_help::model_l2_sm_bytes>, .on_heatmap = true, .better = BetterDirection::less, .level = "sm-l2",
        .computed = [](const MetricEvaluator& e) { return sum(e(key::model_l2_to_sm_bytes), e(key::model_sm_to_l2_bytes)); }},
    {.key = key::model_compulsory_bytes, .unit = "byte", .label = message_of<msg::metric::model_compulsory_bytes>, .help = message_of<msg::metric_help::model_compulsory_bytes>},
    {.key = key::model_flops, .unit = "flop", .label = message_of<msg::metric::model_flops>, .help = message_of<msg::metric_help::model_flops>},
    // Several GPUs that share a problem: one sample per round, the one with the median total time.
    {.key = key::link_bytes, .unit = "byte", .label = message_of<msg::metric::link_bytes>, .help = message_of<msg::metric_help::link_bytes>},
    {.key = key::model_link_bytes, .unit = "byte", .label = message_of<msg::metric::model_link_bytes>, .help = message_of<msg::metric_help::model_link_bytes>},
    {.key = key::gpu_attention_ns, .unit = "ns", .label = message_of<msg::metric::gpu_attention_ns>, .help = message_of<msg::metric_help::gpu_attention_ns>},
    {.key = key::gpu_combine_ns, .unit = "ns", .label = message_of<msg::metric::gpu_combine_ns>, .help = message_of<msg::metric_help::gpu_combine_ns>},
    {.key = key::gpu_exposed_ns, .unit = "ns", .label = message_of<msg::metric::gpu_exposed_ns>, .help = message_of<msg::metric_help::gpu_exposed_ns>},
    {.key = key::gpu_copies_ns, .unit = "ns", .label = message_of<msg::metric::gpu_copies_ns>, .help = message_of<msg::metric_help::gpu_copies_ns>},
    {.key = key::gpu_imbalance, .unit = "1", .label = message_of<msg::metric::gpu_imbalance>, .help = message_of<msg::metric_help::gpu_imbalance>},
    // Counters of --utilization: utilization of units, shared-memory details, stall reasons.
    use("tensor_utilization_pct", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", message_of<msg::metric::tensor_utilization_pct>, message_of<msg::metric_help::tensor_utilization_pct>),
    use("xu_utilization_pct", "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed", message_of<msg::metric::xu_utilization_pct>, message_of<msg::metric_help::xu_utilization_pct>),
    use("fma_utilization_pct", "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed", message_of<msg::metric::fma_utilization_pct>, message_of<msg::metric_help::fma_utilization_pct>),
    use("alu_utilization_pct", "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_elapsed", message_of<msg::metric::alu_utilization_pct>, message_of<msg::metric_help::alu_utilization_pct>),
    use("issue_utilization_pct", "sm__issue_active.avg.pct_of_peak_sustained_elapsed", message_of<msg::metric::issue_utilization_pct>, message_of<msg::metric_help::issue_utilization_pct>),
    use("shared_utilization_pct", "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed", message_of<msg::metric::shared_utilization_pct>, message_of<msg::metric_help::shared_utilization_pct>),
    // The nominal peak of the port is 128 bytes per cycle, but no SM was measured above 64.
    {.key = "l2_port_utilization_pct", .counter = "l1tex__m_xbar2l1tex_read_bytes.sum.pct_of_peak_sustained_elapsed", .unit = "percent", .scale = 2, .label = message_of<msg::metric::l2_port_utilization_pct>, .help = message_of<msg::metric_help::l2_port_utilization_pct>, .why = CounterGroup::use},
    use("l2_utilization_pct", "lts__t_sectors.avg.pct_of_peak_sustained_elapsed", message_of<msg::metric::l2_utilization_pct>, message_of<msg::metric_help::l2_utilization_pct>),
    use("l2_to_sm_utilization_pct", "lts__lts2xbar_cycles_active.avg.pct_of_peak_sustained_elapsed", message_of<msg::metric::l2_to_sm_utilization_pct>, message_of<msg::metric_help::l2_to_sm_utilization_pct>),
    use("dram_utilization_pct", "dram__throughput.avg.pct_of_peak_sustained_elapsed", message_of<msg::metric::dram_utilization_pct>, message_of<msg::metric_help::dram_utilization_pct>),
    count(key::shared_wavefronts, "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", message_of<msg::metric::shared_wavefronts>, message_of<msg::metric_help::shared_wavefronts>),
    count(key::shared_bank_conflicts, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", message_of<msg::metric::shared_bank_conflicts>, message_of<msg::metric_help::shared_bank_conflicts>),
    count(key::sm_active_cycles, "sm__cycles_active.max", message_of<msg::metric::sm_active_cycles>, message_of<msg::metric_help::sm_active_cycles>, "cycle"),
    count(key::counted_range_ns, "gpu__time_active.sum", message_of<msg::metric::counted_range_ns>, message_of<msg::metric_help::counted_range_ns>, "ns"),
    stall("stall_barrier", "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", message_of<msg::metric::stall_barrier>, message_of<msg::metric_help::stall_barrier>),
    stall("stall_branch_resolving", "smsp__average_warps_issue_stalled_branch_resolving_per_issue_active.ratio", message_of<msg::metric::stall_branch_resolving>, message_of<msg::metric_help::stall_branch_resolving>),
    stall("stall_dispatch_stall", "smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio", message_of<msg::metric::stall_dispatch_stall>, message_of<msg::metric_help::stall_dispatch_stall>),
    stall("stall_drain", "smsp__average_warps_issue_stalled_drain_per_issue_active.ratio", message_of<msg::metric::stall_drain>, message_of<msg::metric_help::stall_drain>),
    stall("stall_gmma", "smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio", message_of<msg::metric::stall_gmma>, message_of<msg::metric_help::stall_gmma>),
    stall("stall_imc_miss", "smsp__average_warps_issue_stalled_imc_miss_per_issue_active.ratio", message_of<msg::metric::stall_imc_miss>, message_of<msg::metric_help::stall_imc_miss>),
    stall("stall_lg_throttle", "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio", message_of<msg::metric::stall_lg_throttle>, message_of<msg::metric_help::stall_lg_throttle>),
    stall("stall_long_scoreboard", "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", message_of<msg::metric::stall_long_scoreboard>, message_of<msg::metric_help::stall_long_scoreboard>),
    stall("stall_math_pipe_throttle", "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio", message_of<msg::metric::stall_math_pipe_throttle>, message_of<msg::metric_help::stall_math_pipe_throttle>),
    stall("stall_membar", "smsp__average_warps_issue_stalled_membar_per_issue_active.ratio", message_of<msg::metric::stall_membar>, message_of<msg::metric_help::stall_membar>),
    stall("stall_mio_throttle", "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio", message_of<msg::metric::stall_mio_throttle>, message_of<msg::metric_help::stall_mio_throttle>),
    stall("stall_misc", "smsp__average_warps_issue_stalled_misc_per_issue_active.ratio", message_of<msg::metric::stall_misc>, message_of<msg::metric_help::stall_misc>),
    stall("stall_no_instruction", "smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio", message_of<msg::metric::stall_no_instruction>, message_of<msg::metric_help::stall_no_instruction>),
    stall("stall_not_selected", "smsp__average_warps_issue_stalled_not_selected_per_issue_active.ratio", message_of<msg::metric::stall_not_selected>, message_of<msg::metric_help::stall_not_selected>),
    stall("stall_short_scoreboard", "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio", message_of<msg::metric::stall_short_scoreboard>, message_of<msg::metric_help::stall_short_scoreboard>),
    stall("stall_sleeping", "smsp__average_warps_issue_stalled_sleeping_per_issue_active.ratio", message_of<msg::metric::stall_sleeping>, message_of<msg::metric_help::stall_sleeping>),
    stall("stall_tex_throttle", "smsp__average_warps_issue_stalled_tex_throttle_per_issue_active.ratio", message_of<msg::metric::stall_tex_throttle>, message_of<msg::metric_help::stall_tex_throttle>),
    stall("stall_wait", "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio", message_of<msg::metric::stall_wait>, message_of<msg::metric_help::stall_wait>),
    // Predicted utilization of each unit (kernels/model/pipeline_model.h), in the order of GpuUnit.
    predicted_utilization("model_tensor_utilization_pct", message_of<msg::metric::model_tensor_utilization_pct>, message_of<msg::metric_help::model_unit_pct>),
    predicted_utilization("model_xu_utilization_pct", message_of<msg::metric::model_xu_utilization_pct>, message_of<msg::metric_help::model_unit_pct>),
    predicted_utilization("model_shared_utilization_pct", message_of<msg::metric::model_shared_utilization_pct>, message_of<msg::metric_help::model_unit_pct>),
    predicted_utilization("model_l2_port_utilization_pct", message_of<msg::metric::model_l2_port_utilization_pct>, message_of<msg::metric_help::model_unit_pct>),
    predicted_utilization("model_dram_utilization_pct", message_of<msg::metric::model_dram_utilization_pct>, message_of<msg::metric_help::model_unit_pct>),
    // Computed on request, never stored.
    {.key = key::shared_conflict_share, .unit = "1", .label = message_of<msg::metric::shared_conflict_share>, .help = message_of<msg::metric_help::shared_conflict_share>,
        .computed = [](const MetricEvaluator& e) { return ratio(e(key::shared_bank_conflicts), e(key::shared_wavefronts)); }},
    {.key = key::time_median_ns, .unit = "ns", .label = message_of<msg::metric::time_median_ns>, .help = message_of<msg::metric_help::time_median_ns>, .on_heatmap = true, .better = BetterDirection::less, .depends_on_clock = true,
        .computed = [](const MetricEvaluator& e) { return e.time(&SampleSummary::median); }},
    {.key = key::time_q1_ns, .unit = "ns", .label = message_of<msg::metric::time_q1_ns>, .help = message_of<msg::metric_help::time_q1_ns>, .better = BetterDirection::less, .depends_on_clock = true,
        .computed = [](const MetricEvaluator& e) { return e.time(&SampleSummary::q1); }},
    {.key = key::time_q3_ns, .unit = "ns", .label = message_of<msg::metric::time_q3_ns>, .help = message_of<msg::metric_help::time_q3_ns>, .better = BetterDirection::less, .depends_on_clock = true,
        .computed = [](const MetricEvaluator& e) { return e.time(&SampleSummary::q3); }},
    {.key = key::time_spread, .unit = "1", .label = message_of<msg::metric::time_spread>, .help = message_of<msg::metric_help::time_spread>,
        .computed = [](const MetricEvaluator& e) { return e.spread(); }},
    {.key = key::tflops, .unit = "Tflop/s", .label = message_of<msg::metric::tflops>, .help = message_of<msg::metric_help::tflops>, .on_heatmap = true, .better = BetterDirection::more, .depends_on_clock = true,
        .computed = [](const MetricEvaluator& e) { return ratio(e.nominal_flops(), e(key::time_median_ns), 1e9 / 1e12 / e.gpus()); }},
    {.key = key::dram_bytes, .unit = "byte", .label = message_of<msg::metric::dram_bytes>, .help = message_of<msg::metric_help::dram_bytes>, .on_heatmap = true, .better = BetterDirection::less, .level = "dram", .count_spread = dram_count_spread,
        .computed = [](const MetricEvaluator& e) { return sum(e(key::dram_read_bytes), e(key::dram_write_bytes)); }},
    {.key = key::dram_settled_bytes, .unit = "byte", .label = message_of<msg::metric::dram_settled_bytes>, .help = message_of<msg::metric_help::dram_settled_bytes>, .on_heatmap = true, .better = BetterDirection::less, .may_be_negative = true, .level = "dram", .count_spread = dram_count_spread,
        .computed = [](const MetricEvaluator& e) { return e.settled(); }},
    {.key = key::l2_sm_bytes, .unit = "byte", .label = message_of<msg::metric::l2_sm_bytes>, .help = message_of<msg::metric_help::l2_sm_bytes>, .on_heatmap = true, .better = BetterDirection::less, .level = "sm-l2",
        .computed = [](const MetricEvaluator& e) { return sum(e(key::l2_to_sm_bytes), e(key::sm_to_l2_bytes)); }},
    {.key = key::dram_bandwidth, .unit = "byte/s", .label = message_of<msg::metric::dram_bandwidth>, .help = message_of<msg::metric_help::dram_bandwidth>, .on_heatmap = true, .depends_on_clock = true, .level = "dram",
        .computed = [](const MetricEvaluator& e) { return ratio(e(key::dram_bytes), e(key::time_median_ns), 1e9 / e.gpus()); }},
    {.key = key::l2_sm_bandwidth, .unit = "byte/s", .label = message_of<msg::metric::l2_sm_bandwidth>, .help = message_of<msg::metric_help::l2_sm_bandwidth>, .on_heatmap = true, .depends_on_clock = true, .level = "sm-l2",
        .computed = [](const MetricEvaluator& e) { return ratio(e(key::l2_sm_bytes), e(key::time_median_ns), 1e9 / e.gpus()); }},
    {.key = key::l2_sm_over_model, .unit = "1", .label = message_of<msg::metric::l2_sm_over_model>, .help = message_of<msg::metric_help::l2_sm_over_model>, .on_heatmap = true, .level = "sm-l2",
        .computed = [](const MetricEvaluator& e) { return ratio(e(key::l2_sm_bytes), e(key::model_l2_sm_bytes)); }},
    {.key = key::dram_over_compulsory, .unit = "1", .label = message_of<msg::metric::dram_over_compulsory>, .help = message_of<msg::metric_help::dram_over_compulsory>, .on_heatmap = true, .may_be_negative = true, .level = "dram", .count_spread = dram_count_spread,
        .computed = [](const MetricEvaluator& e) { return ratio(e.traffic(), e(key::model_compulsory_bytes)); }},
    {.key = key::arithmetic_intensity, .unit = "flop/byte", .label = message_of<msg::metric::arithmetic_intensity>, .help = message_of<msg::metric_help::arithmetic_intensity>, .on_heatmap = true, .level = "dram", .count_spread = dram_count_spread,
        .computed = [](const MetricEvaluator& e) { return ratio(e.nominal_flops(), e.traffic()); }},
});
// clang-format on

/// A kernel of a record, or of one round of it.
class RecordValues final : public KernelValues {
 public:
  RecordValues(const PointRecord& point, const KernelRecord& kernel, const KernelRecord* whole = nullptr)
      : point_(point), kernel_(kernel), whole_(whole) {}

  [[nodiscard]] std::optional<EvaluatedMetric> stored(std::string_view name) const override {
    if (auto own = stored_in(kernel_, name)) return own;
    auto closed = whole_ != nullptr ? stored_in(*whole_, name) : std::nullopt;
    return closed && closed->provenance == Provenance::modeled ? closed : std::nullopt;
  }
  [[nodiscard]] std::optional<SampleSummary> times() const override { return summarize(kernel_.samples_ns); }
  [[nodiscard]] Provenance origin() const override { return point_.origin(kernel_.kernel); }
  [[nodiscard]] bool is_sum() const override { return kernel_.kernel == "all"; }
  [[nodiscard]] CacheState cache() const override { return point_.spec.cache; }
  [[nodiscard]] double nominal_flops() const override { return pass_flops(point_.spec.problem); }
  [[nodiscard]] int gpus() const override { return point_.spec.problem.gpus; }
  [[nodiscard]] std::size_t rounds() const override { return whole_ != nullptr ? 0 : point_.rounds.size(); }
  void for_each_round(const VisitRound& visit) const override {
    for (std::size_t place = 0; place < rounds(); ++place) {
      const std::vector<KernelRecord>& kernels = point_.rounds[place].kernels;
      const auto found = std::ranges::find(kernels, kernel_.kernel, &KernelRecord::kernel);
      if (found != kernels.end()) visit(place, RecordValues(point_, *found, &kernel_));
    }
  }

 private:
  static std::optional<EvaluatedMetric> stored_in(const KernelRecord& kernel, std::string_view name) {
    const auto found = std::ranges::find(kernel.metrics, name, &MetricValue::name);
    if (found == kernel.metrics.end()) return std::nullopt;
    return EvaluatedMetric{found->name, found->value, found->unit, found->provenance};
  }

  const PointRecord& point_;
  const KernelRecord& kernel_;
  const KernelRecord* whole_;  ///< for a round: the kernel record over all rounds
};

/// Returns true for metrics computed from counts and not from times; with several rounds these are the median over
/// rounds.
bool is_count_based(std::string_view name) {
  const Metric* row = find_metric(name);
  return row != nullptr && row->counter.empty() && !row->depends_on_clock && name != key::time_spread;
}

/// Median of `value_of` over the rounds; its value if there are no rounds.
template <class ValueOf>
std::optional<EvaluatedMetric> median_over_rounds(const KernelValues& kernel, ValueOf&& value_of) {
  std::optional<EvaluatedMetric> value;
  std::vector<double> values;
  kernel.for_each_round([&](std::size_t, const KernelValues& round_kernel) {
    const std::optional<EvaluatedMetric> found = value_of(round_kernel);
    if (!found) return;
    if (!value) value = found;
    values.push_back(found->value);
  });
  if (!value) return value_of(kernel);
  value->value = summarize(values)->median;
  return value;
}

std::optional<EvaluatedMetric> traffic_of(const KernelValues& kernel) {
  return MetricEvaluator(kernel).traffic();
}

template <class ValueOf>
std::optional<Quartiles> quartiles_of_rounds(const KernelValues& kernel, ValueOf&& value_of) {
  std::vector<double> values;
  kernel.for_each_round([&](std::size_t, const KernelValues& round_kernel) {
    const std::optional<EvaluatedMetric> value = value_of(round_kernel);
    if (value && value->provenance != Provenance::modeled) values.push_back(value->value);
  });
  if (values.size() < 2) return std::nullopt;
  const std::optional<SampleSummary> summary = summarize(values);
  return Quartiles{summary->q1, summary->q3};
}

std::optional<MetricValue> to_metric_value(const std::optional<EvaluatedMetric>& value) {
  if (!value) return std::nullopt;
  return MetricValue{std::string(value->name), value->value, std::string(value->unit), value->provenance};
}

}  // namespace

std::span<const Metric> metrics_table() {
  return metric_table;
}

const Metric* find_metric(std::string_view name) {
  static const std::unordered_map<std::string_view, const Metric*> by_key = [] {
    std::unordered_map<std::string_view, const Metric*> all;
    for (const Metric& metric : metric_table) all.emplace(metric.key, &metric);
    return all;
  }();
  const auto found = by_key.find(name);
  return found == by_key.end() ? nullptr : found->second;
}

const Metric* find_counter(std::string_view counter) {
  if (counter.empty()) return nullptr;
  const auto* found = std::ranges::find_if(
      metric_table, [&](const Metric& metric) { return metric.counter == counter || metric.counter_cc12 == counter; });
  return found == metric_table.end() ? nullptr : found;
}

std::string metric_title(std::string_view key) {
  const Metric* metric = find_metric(key);
  std::string title = metric == nullptr ? std::string(key) : text(metric->label());
  if (metric != nullptr && metric->is_share_of_cycles()) title = text(msg::metric::of_cycles{.metric = title});
  constexpr std::string_view arrow = "<->";
  for (std::size_t at = title.find(arrow); at != std::string::npos; at = title.find(arrow)) {
    title.replace(at, arrow.size(), "↔");
  }
  return title;
}

std::string metric_text(const MetricValue& metric) {
  // One more digit: the closed form typically matches to below 1%.
  if (metric.name == key::l2_sm_over_model) return fmt::format("{:.4f}", metric.value);
  const bool capacity = metric.name == key::shared_bytes || metric.name == key::local_bytes;
  return value_text(metric.value, capacity ? "capacity" : metric.unit);
}

std::optional<EvaluatedMetric> evaluate(std::string_view name, const KernelValues& kernel) {
  if (kernel.rounds() == 0 || !is_count_based(name) || kernel.stored(name)) return MetricEvaluator(kernel)(name);
  return median_over_rounds(kernel,
                            [name](const KernelValues& round_kernel) { return MetricEvaluator(round_kernel)(name); });
}

std::optional<MetricValue> evaluate(std::string_view name, const PointRecord& point, std::string_view kernel) {
  const KernelRecord* record = point.kernel(kernel);
  if (record == nullptr) return std::nullopt;
  return to_metric_value(evaluate(name, RecordValues(point, *record)));
}

std::unique_ptr<KernelValues> kernel_values(const PointRecord& point, std::string_view kernel) {
  const KernelRecord* record = point.kernel(kernel);
  return record == nullptr ? nullptr : std::make_unique<RecordValues>(point, *record);
}

std::optional<EvaluatedMetric> dram_traffic(const KernelValues& kernel) {
  return kernel.rounds() == 0 ? traffic_of(kernel) : median_over_rounds(kernel, traffic_of);
}

std::optional<MetricValue> dram_traffic(const PointRecord& point, std::string_view kernel) {
  const KernelRecord* record = point.kernel(kernel);
  if (record == nullptr) return std::nullopt;
  return to_metric_value(dram_traffic(RecordValues(point, *record)));
}

std::optional<Quartiles> quartiles(const Metric& metric, double value, double median_ns, Quartiles times_ns) {
  if (!metric.depends_on_clock) return std::nullopt;
  if (metric.key == key::time_median_ns) return times_ns;
  if (metric.unit == "ns" || !(times_ns.q1 > 0) || !(times_ns.q3 > 0)) return std::nullopt;
  return Quartiles{value * median_ns / times_ns.q3, value * median_ns / times_ns.q1};
}

std::optional<Quartiles> quartiles(std::string_view name, const PointRecord& point, std::string_view kernel) {
  const Metric* metric = find_metric(name);
  const KernelRecord* record = point.kernel(kernel);
  if (record == nullptr) return std::nullopt;
  if (metric == nullptr || !metric->depends_on_clock) return quartiles_over_rounds(name, RecordValues(point, *record));
  const auto value = evaluate(name, point, kernel);
  const auto median = evaluate(key::time_median_ns, point, kernel);
  const auto q1 = evaluate(key::time_q1_ns, point, kernel);
  const auto q3 = evaluate(key::time_q3_ns, point, kernel);
  if (!value || !median || !q1 || !q3) return std::nullopt;
  return quartiles(*metric, value->value, median->value, {q1->value, q3->value});
}

std::optional<Quartiles> quartiles_over_rounds(std::string_view name, const KernelValues& kernel) {
  const Metric* metric = find_metric(name);
  if (name == key::time_spread || (metric != nullptr && metric->depends_on_clock && metric->counter.empty())) return {};
  return quartiles_of_rounds(kernel,
                             [name](const KernelValues& round_kernel) { return MetricEvaluator(round_kernel)(name); });
}

std::optional<Quartiles> traffic_over_rounds(const KernelValues& kernel) {
  return quartiles_of_rounds(kernel, traffic_of);
}

Combine combine_rule(std::string_view name, std::string_view unit) {
  if (const Metric* row = find_metric(name); row != nullptr && !row->counter.empty()) name = row->counter;
  const auto has_any = [&](std::initializer_list<std::string_view> parts) {
    return std::ranges::any_of(parts, [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
  };
  constexpr std::array resources{metric_key::registers, metric_key::shared_bytes, metric_key::local_bytes};
  if (std::ranges::find(resources, name) != resources.end()) return Combine::maximum;
  const bool rate = unit == "percent" || unit.find('/') != std::string_view::npos;
  if (rate || has_any({".pct", ".ratio", ".max_rate", ".per_", ".peak_"})) return Combine::weighted_mean;
  if (unit == "byte" || unit == "cycle" || unit == "ns" || has_any({".sum"})) return Combine::sum;
  if (has_any({".max"})) return Combine::maximum;
  if (has_any({".min"})) return Combine::minimum;
  // Per-SM averages of counts add up over launches. A number without a unit may be anything, so it is averaged.
  const bool counted = has_any({"__cycles_"}) || (unit != "1" && !unit.empty());
  return has_any({".avg"}) && counted ? Combine::sum : Combine::weighted_mean;
}

double combine(Combine rule, std::span<const double> values, std::span<const double> weights) {
  switch (rule) {
    case Combine::sum:
      return std::accumulate(values.begin(), values.end(), 0.0);
    case Combine::maximum:
      return *std::ranges::max_element(values);
    case Combine::minimum:
      return *std::ranges::min_element(values);
    case Combine::weighted_mean:
      break;
  }
  const double weight = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (!(weight > 0)) return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  return std::inner_product(values.begin(), values.end(), weights.begin(), 0.0) / weight;
}

namespace {

template <double ClockReading::*member>
std::optional<double> reading(const PointRecord& point) {
  if (!point.clocks || !((*point.clocks).*member > 0)) return std::nullopt;
  return (*point.clocks).*member;
}

using FactSubject = PointFact::FactSubject;

// clang-format off
constexpr std::array fact_table{
    PointFact{"max_abs_error", message_of<msg::fact::max_abs_error>, "1", FactSubject::check, [](const PointRecord& p) { return p.max_abs_error; }},
    PointFact{"error_bound", message_of<msg::fact::error_bound>, "1", FactSubject::check, [](const PointRecord& p) { return p.error_bound; }, true},
    PointFact{"rms_error", message_of<msg::fact::rms_error>, "1", FactSubject::check, [](const PointRecord& p) { return p.rms_error; }},
    PointFact{"sm_clock_hz", message_of<msg::fact::sm_clock_hz>, "hertz", FactSubject::device, reading<&ClockReading::sm_clock_hz>},
    PointFact{"memory_clock_hz", message_of<msg::fact::memory_clock_hz>, "hertz", FactSubject::device, reading<&ClockReading::memory_clock_hz>},
    PointFact{"temperature_c", message_of<msg::fact::temperature_c>, "celsius", FactSubject::device, reading<&ClockReading::temperature_c>},
    PointFact{"power_w", message_of<msg::fact::power_w>, "watt", FactSubject::device, reading<&ClockReading::power_w>},
};
// clang-format on

}  // namespace

std::span<const PointFact> point_facts() {
  return fact_table;
}

const PointFact* find_point_fact(std::string_view key) {
  const auto* found = std::ranges::find(fact_table, key, &PointFact::key);
  return found == fact_table.end() ? nullptr : found;
}

std::optional<MetricValue> value_of(const PointFact& fact, const PointRecord& point) {
  const std::optional<double> value = fact.get(point);
  if (!value) return std::nullopt;
  return MetricValue{std::string(fact.key), *value, std::string(fact.unit),
                     fact.modeled ? Provenance::modeled : point.provenance};
}

}  // namespace attnscope
