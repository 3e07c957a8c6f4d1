// SPDX-License-Identifier: Apache-2.0
// The metrics table: one line a metric. No metric name is written anywhere else.
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

/// Which end of a metric's values a tile is chosen for.
enum class Better { neither, less, more };

/// Between SMs and L2, and behind the L2.
inline constexpr std::array<std::string_view, 2> memory_levels{"sm-l2", "dram"};

/// What `collect --why` counts besides: how busy each unit was, in percent of its peak over the whole kernel (over the
/// counted range where `sm_active_cycles` is not there); what warps waited for, in warps a cycle that issues; and
/// counts that explain these.
enum class Why { none, use, stall, count };

struct Evaluated;
class Evaluation;

struct Metric {
  std::string_view key;                ///< our name: "dram_read_bytes"
  std::string_view counter = {};       ///< Nsight Compute's name, verbatim; empty for what is not a counter
  std::string_view counter_cc12 = {};  ///< the name on compute capability 12.x where it differs; else empty
  std::string_view unit = "1";         ///< "byte", "percent", "ns", "cycle", "register", "byte/s", "Tflop/s", ..., "1"
  double scale = 1;                    ///< counter value x scale = value in `unit`
  Saying label = nullptr;              ///< for axes and columns: "DRAM read"
  Saying help = nullptr;               ///< one sentence for tooltips
  bool collected_by_default = false;   ///< a counter that every counting pass asks for
  bool on_heatmap = false;             ///< offered as a heatmap's colour
  Better better = Better::neither;     ///< which end a heatmap outlines
  bool follows_clocks = false;         ///< throttled clocks change it: a time, or a rate over one
  bool may_be_negative = false;        ///< it is, or stands on, a difference of two counts that may come out below zero
  std::string_view level = {};         ///< of memory whose bytes it is of: one of memory_levels; empty: of none
  double count_spread = 0;  ///< of what is counted once: how far two counts of one launch differ, of the value
  Why why = Why::none;
  bool predicted_use = false;  ///< how busy the model has a unit
  /// From other values, where none of its own is stored: number and provenance. None: it is stored or not known.
  std::optional<Evaluated> (*computed)(const Evaluation&) = nullptr;
};

/// Of `count_spread`, for what holds DRAM's bytes: plain stores of known size come out within 0.5%, above or below
/// (tests/gpu/settled_bytes_test.cpp). Bytes between SM and L2 repeat exactly.
inline constexpr double dram_count_spread = 0.01;

[[nodiscard]] std::span<const Metric> metrics_table();
[[nodiscard]] const Metric* find_metric(std::string_view key);
/// What people call it: "SM↔L2 total"; of no metric of the table the key.
[[nodiscard]] std::string metric_title(std::string_view key);
/// With its unit; shared and local memory are capacities, all other bytes traffic.
[[nodiscard]] std::string metric_text(const MetricValue&);
/// By either of its counter's names; nullptr for a counter that the table does not have.
[[nodiscard]] const Metric* find_counter(std::string_view counter);

/// Key constants, so that code can refer to rows without spelling a name twice.
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
inline constexpr std::string_view memory_bytes = "memory_bytes";  // modelled: the sum of the plan's buffers
inline constexpr std::string_view model_l2_to_sm_bytes = "model_l2_to_sm_bytes";
inline constexpr std::string_view model_sm_to_l2_bytes = "model_sm_to_l2_bytes";
inline constexpr std::string_view model_compulsory_bytes = "model_compulsory_bytes";
inline constexpr std::string_view model_l2_sm_bytes = "model_l2_sm_bytes";
inline constexpr std::string_view model_flops = "model_flops";  // of what counts others than pass_flops()
// Of several GPUs.
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

/// A value without words of its own: `name` and `unit` are those of what it was read or computed of.
struct Evaluated {
  std::string_view name;
  double value = 0;
  std::string_view unit;
  Provenance provenance = Provenance::measured;

  bool operator==(const Evaluated&) const = default;
};

/// What metrics are computed from: one kernel of a point, or their sum. A record holds it, and so do analysis' columns.
class KernelValues {
 public:
  virtual ~KernelValues() = default;

  /// What was stored under that name, first of all.
  [[nodiscard]] virtual std::optional<Evaluated> stored(std::string_view name) const = 0;
  /// Of the timing samples; nothing without any.
  [[nodiscard]] virtual std::optional<SampleSummary> times() const = 0;
  /// PointRecord::origin() of the kernel.
  [[nodiscard]] virtual Provenance origin() const = 0;
  /// Whether it is "all".
  [[nodiscard]] virtual bool is_sum() const = 0;
  [[nodiscard]] virtual CacheState cache() const = 0;
  /// pass_flops() of the point's problem; `model_flops`, where it is stored, stands for it.
  [[nodiscard]] virtual double flops() const = 0;

  /// That share the point's problem: its rates are one GPU's.
  [[nodiscard]] virtual int gpus() const { return 1; }
  /// In how many rounds the point was measured; 0 for one, whose values these are.
  [[nodiscard]] virtual std::size_t rounds() const { return 0; }
  /// What each of several rounds found of the kernel, by the round's place among them; one that did not find it is left
  /// out.
  using VisitRound = std::function<void(std::size_t place, const KernelValues&)>;
  virtual void each_round([[maybe_unused]] const VisitRound& visit) const {}

 protected:
  KernelValues() = default;
  KernelValues(const KernelValues&) = default;
  KernelValues& operator=(const KernelValues&) = default;
};

/// A metric's value for one kernel of a point: a stored one, or one computed from stored ones (medians of the samples,
/// TFLOP/s, total DRAM bytes, bandwidth, measured over modelled). Empty when what it needs is not there. Medians keep
/// the point's own provenance, a sum that of its parts where they have one in common; what is computed across kinds is
/// derived, or imported, extrapolated or simulated as soon as a part is (in this order).
///
/// Of several rounds a metric is the median over them, one that is computed from counts as well; times are of all
/// samples.
///
/// `dram_settled_bytes` needs the write-back, which only cold starts on a GPU have. The simulator writes back what each
/// cold launch leaves dirty and counts it as written: there read and write are the settled bytes, of each kernel.
[[nodiscard]] std::optional<Evaluated> evaluate(std::string_view key, const KernelValues&);
[[nodiscard]] std::optional<MetricValue> evaluate(std::string_view key, const PointRecord&,
                                                  std::string_view kernel = "all");

/// A record's kernel, as long as the record is; nullptr where it has none of that name.
[[nodiscard]] std::unique_ptr<KernelValues> kernel_values(const PointRecord&, std::string_view kernel = "all");

/// The DRAM bytes that plots show and ratios divide by: `dram_settled_bytes` where it is known, else `dram_bytes` (warm
/// starts, imports, runs of versions that did not count the write-back). The value's name says which.
[[nodiscard]] std::optional<Evaluated> dram_traffic(const KernelValues&);
[[nodiscard]] std::optional<MetricValue> dram_traffic(const PointRecord&, std::string_view kernel = "all");

/// What half of a value's samples lie between: lowest and highest quartile.
struct Quartiles {
  double q1 = 0;
  double q3 = 0;
};
/// Of a time: its own. Of a rate over a time: what they make of it (the slowest quarter is the lowest). Of what was
/// counted in several rounds: those over the rounds. Nothing for what was counted once, for quartiles themselves and
/// closed forms.
[[nodiscard]] std::optional<Quartiles> quartiles(std::string_view key, const PointRecord&,
                                                 std::string_view kernel = "all");
/// The same, of the parts: a value of the metric, and median and quartiles of the time beside it.
[[nodiscard]] std::optional<Quartiles> quartiles(const Metric&, double value, double median_ns, Quartiles times_ns);
/// Over rounds, of what does not follow from a time and is no closed form.
[[nodiscard]] std::optional<Quartiles> quartiles_over_rounds(std::string_view key, const KernelValues&);
/// The same of dram_traffic().
[[nodiscard]] std::optional<Quartiles> traffic_over_rounds(const KernelValues&);

/// How the values of a point's kernels make one of their sum: one rule for what is collected and what is imported.
enum class Combine { sum, weighted_mean, maximum, minimum };

/// `name`: a key of the metrics table, or the counter's own Nsight Compute name. What counts something adds up, also as
/// an average over the SMs (`sm__cycles_active.avg`); percentages, ratios and rates are weighted by the kernels' time;
/// a thread's or block's resources are those of the kernel that needs most.
[[nodiscard]] Combine combine_rule(std::string_view name, std::string_view unit);

/// Pre: as many weights as values, at least one. Weights that sum to nothing count alike.
[[nodiscard]] double combine(Combine rule, std::span<const double> values, std::span<const double> weights);

/// What is known of a point as a whole beside its kernels' metrics: one line a number.
struct PointFact {
  enum class About { check, device };  ///< the outputs against the reference; the device beside the measurement

  std::string_view key;    ///< column of exports and name in files: "max_abs_error"
  Saying label = nullptr;  ///< for people: "Largest error"
  std::string_view unit;   ///< "1", "hertz", "celsius", "watt"
  About about = About::check;
  /// Nothing where it is not known.
  std::optional<double> (*get)(const PointRecord&) = nullptr;
  /// Computed from inputs and types, whatever ran; else the value comes from where the point does.
  bool modelled = false;
};

/// The check against the reference, then the device's state beside the measurement.
[[nodiscard]] std::span<const PointFact> point_facts();
/// nullptr for an unknown key.
[[nodiscard]] const PointFact* find_point_fact(std::string_view key);
/// The value with its unit and origin.
[[nodiscard]] std::optional<MetricValue> value_of(const PointFact&, const PointRecord&);

}  // namespace attnscope
