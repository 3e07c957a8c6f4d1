// SPDX-License-Identifier: Apache-2.0
// What came of a sweep point: dispositions, numbers with their origin, clocks. Plain types, shared by collector,
// storage and views.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "profiler/plan/point_spec.h"

namespace attnscope {

/// Where a number comes from; the label goes with it from the collector to every view and export.
/// `extrapolated`: of a launch too long to simulate whole, which was played in part and continued from that.
/// `imported`: measured by another program, and told to us.
enum class Provenance { measured, derived, modelled, simulated, extrapolated, imported };
/// Played by the simulator, whole or in part.
[[nodiscard]] constexpr bool is_simulated(Provenance provenance) {
  return provenance == Provenance::simulated || provenance == Provenance::extrapolated;
}
/// The word in files, events and exports.
[[nodiscard]] std::string_view to_string(Provenance);
/// The same for people, who are told that what is extrapolated is a simulation: "simulated, extrapolated".
[[nodiscard]] Message title(Provenance);
[[nodiscard]] Result<Provenance, Message> parse_provenance(std::string_view);

/// How a point ended. Every point of a plan ends in exactly one; `to_string` gives the spelling used everywhere
/// ("ok", "infeasible", "out-of-memory", "incorrect", "compile-error", "timeout", "crashed", "no-counters",
/// "cancelled").
enum class Disposition {
  ok,
  infeasible,
  out_of_memory,
  incorrect,
  compile_error,
  timeout,
  crashed,
  no_counters,
  cancelled
};
[[nodiscard]] std::string_view to_string(Disposition);
[[nodiscard]] Message title(Disposition);
[[nodiscard]] Result<Disposition, Message> parse_disposition(std::string_view);

/// A number with its unit and origin. `name` is a key of the metrics table ("dram_read_bytes", "registers", ...) or,
/// for metrics asked for with --metrics, the counter's own Nsight Compute name. Units are base units: "byte", "ns",
/// "percent", "cycle", "register", "1".
struct MetricValue {
  std::string name;
  double value = 0;
  std::string unit;
  Provenance provenance = Provenance::measured;

  bool operator==(const MetricValue&) const = default;
};

/// What ran: one measured launch of a point, as it was compiled and launched on a GPU.
struct LaunchRecord {
  std::string kernel;                ///< the launch's name in its plan: "qk", "fwd"
  std::string source_file;           ///< below kernels/: "fa2/fa2_forward.cuh"
  std::string entry;                 ///< "attn_fa2_forward"
  std::vector<std::string> defines;  ///< "ATTN_BR=64"
  std::string digest;  ///< of the source with all that it includes, entry, options, architecture and compiler: a UUID
  int registers = 0;   ///< a thread
  std::int64_t local_bytes = 0;  ///< a thread: stack and spilled registers
  std::int64_t static_shared_bytes = 0;
  std::int64_t dynamic_shared_bytes = 0;
  int threads = 0;  ///< a block
  std::array<std::uint32_t, 3> grid{1, 1, 1};

  bool operator==(const LaunchRecord&) const = default;
};

/// Results of one kernel of a point, or of their sum (kernel "all"; every point has it, and a point of several kernels
/// has theirs beside it).
struct KernelRecord {
  std::string kernel = "all";
  std::vector<MetricValue> metrics;
  std::vector<double> samples_ns;  ///< every timing sample kept, in the order taken
  std::string occupancy_limiter;   ///< "registers", "shared memory", "threads", "blocks", "grid"; empty when unknown
  std::optional<LaunchRecord> launch = std::nullopt;  ///< of a sum of several kernels, of simulations, imports: none
  std::optional<bool> complete = std::nullopt;        ///< of a simulation: played whole, not continued from a part

  [[nodiscard]] std::optional<double> metric(std::string_view name) const;
};

/// The device's state beside a measurement, through NVML.
struct ClockReading {
  double sm_clock_hz = 0;  ///< mean while it was timed: cycles over time; of older recordings what NVML read once
  double memory_clock_hz = 0;
  double temperature_c = 0;
  double power_w = 0;
  std::uint64_t throttle_reasons = 0;  ///< NVML's bit mask (nvmlClocksEventReason*)
  bool throttled = false;              ///< a reason that slows the SMs: power cap, thermal, hardware slowdown
  [[nodiscard]] bool operator==(const ClockReading&) const = default;
};
/// "power cap, thermal slowdown"; empty for none.
[[nodiscard]] Message describe_throttle_reasons(std::uint64_t reasons);

/// What one of several rounds found of a point.
struct RoundRecord {
  int round = 0;                      ///< from 0; rounds that found nothing are not there
  std::vector<KernelRecord> kernels;  ///< name, metrics and samples alone; what is modelled stands with the first round
  std::optional<ClockReading> clocks = std::nullopt;
};

/// A file that a user's kernel was made of.
struct StatementSource {
  std::string name;                         ///< as the statement calls it, or as an #include does
  std::string digest;                       ///< a UUID of its content
  std::optional<std::string> content = {};  ///< where it was to be kept

  bool operator==(const StatementSource&) const = default;
};
/// What a user's kernel was stated by, as far as a file keeps it. Whoever reads it runs nothing of it.
struct KernelStatement {
  std::string text;
  bool host_code = false;  ///< a shared library: judged by outputs, canaries and counters alone
  std::vector<StatementSource> sources;

  bool operator==(const KernelStatement&) const = default;
};

struct PointRecord {
  PointSpec spec;
  Disposition disposition = Disposition::ok;
  Message reason;                                ///< one sentence; of one that is ok what it was judged without
  Provenance provenance = Provenance::measured;  ///< measured (a GPU), simulated or imported
  std::vector<KernelRecord> kernels;
  std::optional<ClockReading> clocks;
  std::optional<double> max_abs_error;  ///< against the reference; absent when not verified
  std::optional<double> error_bound;    ///< the largest error that passes (kernels/oracle/reference.h)
  std::optional<double> rms_error;
  double wall_seconds = 0;  ///< the whole point, host clock; of all its rounds
  /// Ascending; empty where there was one round, which the point's own values are. With several rounds `kernels` and
  /// `clocks` sum them up (profiler/metrics/rounds.h).
  std::vector<RoundRecord> rounds = {};
  std::shared_ptr<const KernelStatement> statement = nullptr;  ///< of a user's kernel
  std::vector<std::string> others = {};  ///< UUIDs of the GPUs beside its own that shared the problem, in their order

  [[nodiscard]] const KernelRecord* kernel(std::string_view name) const;
  /// Where the times of a kernel come from: `provenance`, or extrapolated where its simulation was not played whole.
  [[nodiscard]] Provenance origin(std::string_view kernel = "all") const;
};

/// Median and quartiles (linear interpolation between order statistics), and (q3 - q1) / median.
struct SampleSummary {
  double median = 0;
  double q1 = 0;
  double q3 = 0;
  double relative_spread = 0;
  std::size_t count = 0;

  bool operator==(const SampleSummary&) const = default;
};
/// Empty for no samples.
[[nodiscard]] std::optional<SampleSummary> summarize(const std::vector<double>& samples);

}  // namespace attnscope
