// SPDX-License-Identifier: Apache-2.0
// The metrics table, one row per metric. It is the only place where metric names are written.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "profiler/metrics/point.h"

namespace attnscope {

/// Direction in which a metric improves; selects the best tile.
enum class BetterDirection { neither, less, more };

/// SM<->L2 and L2<->DRAM.
inline constexpr std::array<std::string_view, 2> memory_levels{"sm-l2", "dram"};

/// Counter groups of `collect --utilization`. use: utilization of a unit, percent of peak over the whole kernel (over
/// the counted range without `sm_active_cycles`). stall: warps stalled for a reason per issue cycle. count: supporting
/// counts.
enum class CounterGroup { none, use, stall, count };

struct EvaluatedMetric;
class MetricEvaluator;

struct Metric {
  std::string_view key;                ///< metric name in files and options: "dram_read_bytes"
  std::string_view counter = {};       ///< Nsight Compute name; empty if not a counter
  std::string_view counter_cc12 = {};  ///< name on compute capability 12.x if it differs
  std::string_view unit = "1";
  double scale = 1;                 ///< value in `unit` = counter value x scale
  MessageFunction label = nullptr;  ///< for axes and columns: "DRAM read"
  MessageFunction help = nullptr;
  bool collected_by_default = false;                  ///< counted in every counter pass
  bool on_heatmap = false;                            ///< can be the color of a heatmap
  BetterDirection better = BetterDirection::neither;  ///< the best end of a heatmap
  bool depends_on_clock = false;                      ///< throttling changes it: a time, or a rate over one
  bool may_be_negative = false;                       ///< a difference of two counts, or computed from one
  std::string_view level = {};  ///< memory level whose bytes it counts, one of memory_levels; empty if none
  double count_spread = 0;      ///< counters: relative difference between two counts of one launch
  CounterGroup why = CounterGroup::none;
  bool predicted_utilization = false;  ///< predicted utilization of a unit
  /// Computes the value from other metrics if it is not stored; none: stored only.
  std::optional<EvaluatedMetric> (*computed)(const MetricEvaluator&) = nullptr;

  /// Utilization as a share of the kernel's cycles; those of L2 and DRAM are shares of its time.
  [[nodiscard]] constexpr bool is_share_of_cycles() const {
    return why == CounterGroup::use && !counter.starts_with("lts__") && !counter.starts_with("dram__");
  }
};

/// `count_spread` of DRAM bytes: stores of known size are counted within 0.5%
/// (tests/gpu/device/settled_bytes_test.cpp). SM<->L2 bytes repeat exactly.
inline constexpr double dram_count_spread = 0.01;

[[nodiscard]] std::span<const Metric> metrics_table();
[[nodiscard]] const Metric* find_metric(std::string_view key);
/// Display name: "SM↔L2 total", "Tensor cores (of cycles)"; the key itself for an unknown metric.
[[nodiscard]] std::string metric_title(std::string_view key);
/// Value with its unit. Shared and local memory print as capacities, other bytes as traffic.
[[nodiscard]] std::string metric_text(const MetricValue&);
/// Finds by `counter` or `counter_cc12`; nullptr for an unknown counter.
[[nodiscard]] const Metric* find_counter(std::string_view counter);

namespace metric_key {
inline constexpr std::string_view dram_read_bytes = "dram_read_bytes";
inline constexpr std::string_view dram_write_bytes = "dram_write_bytes";
inline constexpr std::string_view dram_writeback_bytes = "dram_writeback_bytes";
inline constexpr std::string_view l2_to_sm_bytes = "l2_to_sm_bytes";
inline constexpr std::string_view sm_to_l2_bytes = "sm_to_l2_bytes";
inline constexpr std::string_view achieved_occupancy_pct = "achieved_occupancy_pct";
inline constexpr std::string_view tensor_pipe_pct = "tensor_pipe_pct";
inline constexpr std::string_view sm_cycles = "sm_cycles";
inline constexpr std::string_view theoretical_occupancy_pct = "theoretical_occupancy_pct";
inline constexpr std::string_view registers = "registers";
inline constexpr std::string_view shared_bytes = "shared_bytes";
inline constexpr std::string_view local_bytes = "local_bytes";
inline constexpr std::string_view memory_bytes = "memory_bytes";  // modeled: sum of the plan's buffers
inline constexpr std::string_view dram_read_in_sequence = "dram_read_in_sequence";
inline constexpr std::string_view dram_write_in_sequence = "dram_write_in_sequence";
inline constexpr std::string_view host_call_ns = "host_call_ns";
inline constexpr std::string_view saved_bytes = "saved_bytes";
inline constexpr std::string_view tuned_br = "tuned_br";
inline constexpr std::string_view tuned_bc = "tuned_bc";
inline constexpr std::string_view model_l2_to_sm_bytes = "model_l2_to_sm_bytes";
inline constexpr std::string_view model_sm_to_l2_bytes = "model_sm_to_l2_bytes";
inline constexpr std::string_view model_compulsory_bytes = "model_compulsory_bytes";
inline constexpr std::string_view model_l2_sm_bytes = "model_l2_sm_bytes";
inline constexpr std::string_view model_flops = "model_flops";  // set if the algorithm's FLOPs differ from pass_flops()
inline constexpr std::string_view link_bytes = "link_bytes";
inline constexpr std::string_view model_link_bytes = "model_link_bytes";
inline constexpr std::string_view gpu_attention_ns = "gpu_attention_ns";
inline constexpr std::string_view gpu_combine_ns = "gpu_combine_ns";
inline constexpr std::string_view gpu_exposed_ns = "gpu_exposed_ns";
inline constexpr std::string_view gpu_copies_ns = "gpu_copies_ns";
inline constexpr std::string_view gpu_imbalance = "gpu_imbalance";
inline constexpr std::string_view time_median_ns = "time_median_ns";
inline constexpr std::string_view time_q1_ns = "time_q1_ns";
inline constexpr std::string_view time_q3_ns = "time_q3_ns";
inline constexpr std::string_view time_spread = "time_spread";
inline constexpr std::string_view time_samples = "time_samples";  // imported: samples behind stated quartiles
inline constexpr std::string_view tflops = "tflops";
inline constexpr std::string_view dram_bytes = "dram_bytes";
inline constexpr std::string_view dram_settled_bytes = "dram_settled_bytes";
inline constexpr std::string_view l2_sm_bytes = "l2_sm_bytes";
inline constexpr std::string_view dram_bandwidth = "dram_bandwidth";
inline constexpr std::string_view l2_sm_bandwidth = "l2_sm_bandwidth";
inline constexpr std::string_view l2_sm_over_model = "l2_sm_over_model";
inline constexpr std::string_view dram_over_compulsory = "dram_over_compulsory";
inline constexpr std::string_view arithmetic_intensity = "arithmetic_intensity";
inline constexpr std::string_view shared_wavefronts = "shared_wavefronts";
inline constexpr std::string_view shared_bank_conflicts = "shared_bank_conflicts";
inline constexpr std::string_view shared_conflict_share = "shared_conflict_share";
inline constexpr std::string_view sm_active_cycles = "sm_active_cycles";
inline constexpr std::string_view counted_range_ns = "counted_range_ns";
}  // namespace metric_key

/// Metric value with static name and unit.
struct EvaluatedMetric {
  std::string_view name;
  double value = 0;
  std::string_view unit;
  Provenance provenance = Provenance::measured;

  bool operator==(const EvaluatedMetric&) const = default;
};

/// Input of metric evaluation: one kernel of a point, or the sum of its kernels. Implemented by records and by point
/// columns.
class KernelValues {
 public:
  virtual ~KernelValues() = default;

  /// Stored value of that name; takes precedence over a computed one.
  [[nodiscard]] virtual std::optional<EvaluatedMetric> stored(std::string_view name) const = 0;
  [[nodiscard]] virtual std::optional<SampleSummary> times() const = 0;
  [[nodiscard]] virtual Provenance origin() const = 0;
  /// True for kernel "all".
  [[nodiscard]] virtual bool is_sum() const = 0;
  [[nodiscard]] virtual CacheState cache() const = 0;
  /// pass_flops() of the point's problem. A stored `model_flops` takes precedence.
  [[nodiscard]] virtual double nominal_flops() const = 0;

  /// Number of GPUs that share the problem; rates are per GPU.
  [[nodiscard]] virtual int gpus() const { return 1; }
  /// Number of rounds; 0 if the point was measured once.
  [[nodiscard]] virtual std::size_t rounds() const { return 0; }
  /// Calls `visit` for each round that has this kernel, with the index of the round.
  using VisitRound = std::function<void(std::size_t place, const KernelValues&)>;
  virtual void for_each_round([[maybe_unused]] const VisitRound& visit) const {}

 protected:
  KernelValues() = default;
  KernelValues(const KernelValues&) = default;
  KernelValues& operator=(const KernelValues&) = default;
};

/// Evaluates a metric for one kernel: the stored value, else computed from stored ones (medians, TFLOP/s, total DRAM
/// bytes, bandwidth, measured over modeled). Empty if an input is missing.
/// Provenance: medians have the point's; sums that of their parts if equal. Otherwise derived, unless an input is
/// imported, extrapolated or simulated (in this order).
///
/// With several rounds, a metric is the median over rounds, also if computed from counts; times are over all samples.
///
/// `dram_settled_bytes` needs the write-back bytes, which only cold starts on a GPU have. The simulator flushes L2
/// after each cold launch and counts that as writes, so simulated read and write bytes are already settled.
[[nodiscard]] std::optional<EvaluatedMetric> evaluate(std::string_view key, const KernelValues&);
[[nodiscard]] std::optional<MetricValue> evaluate(std::string_view key, const PointRecord&,
                                                  std::string_view kernel = "all");

/// View of a record's kernel, valid while the record exists; nullptr if there is no such kernel.
[[nodiscard]] std::unique_ptr<KernelValues> kernel_values(const PointRecord&, std::string_view kernel = "all");

/// DRAM bytes for plots and ratios: `dram_settled_bytes` if known, else `dram_bytes` (warm starts, imports, old runs
/// without write-back counts). The result's name tells which.
[[nodiscard]] std::optional<EvaluatedMetric> dram_traffic(const KernelValues&);
[[nodiscard]] std::optional<MetricValue> dram_traffic(const PointRecord&, std::string_view kernel = "all");

/// First and third quartile of a value.
struct Quartiles {
  double q1 = 0;
  double q3 = 0;
};
/// Times: quartiles of the samples. Rates over a time: from the time's quartiles (the longest times give the lowest
/// rates). Counts of several rounds: over the rounds. Empty for counts of one round, for quartile metrics and for
/// closed forms.
[[nodiscard]] std::optional<Quartiles> quartiles(std::string_view key, const PointRecord&,
                                                 std::string_view kernel = "all");
/// The same from a metric's value and the median and quartiles of the time.
[[nodiscard]] std::optional<Quartiles> quartiles(const Metric&, double value, double median_ns, Quartiles times_ns);
/// Quartiles over rounds. Empty for metrics that follow from a time and for closed forms.
[[nodiscard]] std::optional<Quartiles> quartiles_over_rounds(std::string_view key, const KernelValues&);
[[nodiscard]] std::optional<Quartiles> traffic_over_rounds(const KernelValues&);

/// How the values of a point's kernels combine into one for their sum.
enum class Combine { sum, weighted_mean, maximum, minimum };

/// Returns the rule for a metric key or an Nsight Compute counter name. Counts are summed, also per-SM averages
/// (`sm__cycles_active.avg`); percentages, ratios and rates are averaged, weighted by kernel time; registers, shared
/// and local memory take the maximum.
[[nodiscard]] Combine combine_rule(std::string_view name, std::string_view unit);

/// Pre: as many weights as values, at least one. If all weights are 0, values count equally.
[[nodiscard]] double combine(Combine rule, std::span<const double> values, std::span<const double> weights);

/// Value of a whole point, independent of its kernels: verification error or device state.
struct PointFact {
  enum class FactSubject { check, device };  ///< result verification; device state during the measurement

  std::string_view key;  ///< column in exports, name in files: "max_abs_error"
  MessageFunction label = nullptr;
  std::string_view unit;  ///< "1", "hertz", "celsius", "watt"
  FactSubject about = FactSubject::check;
  /// Empty if unknown.
  std::optional<double> (*get)(const PointRecord&) = nullptr;
  /// computed from inputs and types alone; else the provenance is the point's
  bool modeled = false;
};

[[nodiscard]] std::span<const PointFact> point_facts();
/// Returns nullptr for an unknown key.
[[nodiscard]] const PointFact* find_point_fact(std::string_view key);
[[nodiscard]] std::optional<MetricValue> value_of(const PointFact&, const PointRecord&);

}  // namespace attnscope
