// SPDX-License-Identifier: Apache-2.0
// Result of a sweep point: disposition, metrics with provenance, clocks. Plain types for collector, storage and views.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "profiler/plan/point_spec.h"

namespace attnscope {

/// Origin of a number; it stays with the number from the collector to every view and export.
/// `extrapolated`: simulated in part and continued, because the launch is too long. `imported`: measured by another
/// program.
enum class Provenance { measured, derived, modeled, simulated, extrapolated, imported };
[[nodiscard]] constexpr bool is_simulated(Provenance provenance) {
  return provenance == Provenance::simulated || provenance == Provenance::extrapolated;
}
/// Name in files, events and exports.
[[nodiscard]] std::string_view to_string(Provenance);
/// Display name; for extrapolated values "simulated, extrapolated".
[[nodiscard]] Message title(Provenance);
[[nodiscard]] Result<Provenance, Message> parse_provenance(std::string_view);

/// Outcome of a point. Every point of a plan ends in exactly one; to_string() gives the name used everywhere ("ok",
/// "infeasible", "out-of-memory", "incorrect", "compile-error", "timeout", "crashed", "no-counters", "cancelled").
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

/// A number with its unit and provenance. `name` is a key of the metrics table ("dram_read_bytes", "registers", ...)
/// or, for --metrics, an Nsight Compute counter name. Base units: "byte", "ns", "percent", "cycle", "register", "1".
struct MetricValue {
  std::string name;
  double value = 0;
  std::string unit;
  Provenance provenance = Provenance::measured;

  bool operator==(const MetricValue&) const = default;
};

/// One measured launch of a point as compiled and launched on a GPU.
struct LaunchRecord {
  std::string kernel;                ///< launch name in its plan: "qk", "fwd"
  std::string source_file;           ///< path below kernels/: "fa2/fa2_forward.cuh"
  std::string entry;                 ///< __global__ function: "attn_fa2_forward"
  std::vector<std::string> defines;  ///< preprocessor definitions: "ATTN_BR=64"
  std::string digest;                ///< UUID of preprocessed source, entry, options, architecture and compiler
  int registers = 0;                 ///< per thread
  std::int64_t local_bytes = 0;      ///< per thread: stack and spilled registers
  std::int64_t static_shared_bytes = 0;
  std::int64_t dynamic_shared_bytes = 0;
  int threads = 0;  ///< per block
  std::array<std::uint32_t, 3> grid{1, 1, 1};

  bool operator==(const LaunchRecord&) const = default;
};

/// Results of one kernel of a point, or of the sum of its kernels ("all"). Every point has "all"; points with several
/// kernels also have one record per kernel.
struct KernelRecord {
  std::string kernel = "all";
  std::vector<MetricValue> metrics;
  std::vector<double> samples_ns;  ///< timing samples in the order taken
  std::string occupancy_limiter;   ///< "registers", "shared memory", "threads", "blocks", "grid"; empty if unknown
  std::optional<LaunchRecord> launch = std::nullopt;  ///< empty for sums of several kernels, simulations and imports
  std::optional<bool> complete = std::nullopt;        ///< simulations: false if extrapolated from a part

  [[nodiscard]] std::optional<double> metric(std::string_view name) const;
};

/// Device state during a measurement, from NVML.
struct ClockReading {
  double sm_clock_hz = 0;  ///< mean during timing (cycles / time); a single NVML reading in old recordings
  double memory_clock_hz = 0;
  double temperature_c = 0;
  double power_w = 0;
  std::uint64_t throttle_reasons = 0;  ///< NVML's bit mask (nvmlClocksEventReason*)
  bool throttled = false;              ///< true for power cap, thermal or hardware slowdown
  [[nodiscard]] bool operator==(const ClockReading&) const = default;
};
/// "power cap, thermal slowdown"; empty for none.
[[nodiscard]] Message describe_throttle_reasons(std::uint64_t reasons);

struct RoundRecord {
  int round = 0;                      ///< from 0; rounds without results are absent
  std::vector<KernelRecord> kernels;  ///< names, metrics and samples only; modeled metrics only in the first round
  std::optional<ClockReading> clocks = std::nullopt;
};

struct ManifestSource {
  std::string name;                         ///< name in the manifest or in an #include
  std::string digest;                       ///< UUID of the content
  std::optional<std::string> content = {};  ///< empty if the file is not archived

  bool operator==(const ManifestSource&) const = default;
};
/// Archived description of a user-defined kernel. Reading it executes nothing.
struct StoredManifest {
  std::string text;
  bool host_code = false;  ///< a shared library; checked only by outputs, canaries and counters
  std::vector<ManifestSource> sources;

  bool operator==(const StoredManifest&) const = default;
};

struct PointRecord {
  PointSpec spec;
  Disposition disposition = Disposition::ok;
  Message reason;                                ///< one sentence; if ok, which checks were skipped
  Provenance provenance = Provenance::measured;  ///< measured, simulated or imported
  std::vector<KernelRecord> kernels;
  std::optional<ClockReading> clocks;
  std::optional<double> max_abs_error;  ///< against the reference; empty if not verified
  std::optional<double> error_bound;    ///< largest accepted error (kernels/oracle/reference.h)
  std::optional<double> rms_error;
  double wall_seconds = 0;  ///< host time of the whole point, all rounds
  /// Ascending by round; empty if there is one round, which `kernels` and `clocks` hold. With several rounds `kernels`
  /// and `clocks` summarize them (profiler/metrics/rounds.h).
  std::vector<RoundRecord> rounds = {};
  std::shared_ptr<const StoredManifest> manifest = nullptr;  ///< user-defined kernels only
  std::vector<std::string> others = {};  ///< UUIDs of the other GPUs that shared the problem, in order

  [[nodiscard]] const KernelRecord* kernel(std::string_view name) const;
  /// Provenance of a kernel's times: `provenance`, or extrapolated if its simulation was not complete.
  [[nodiscard]] Provenance origin(std::string_view kernel = "all") const;
};

/// Linear interpolation between order statistics (type 7 of Hyndman and Fan 1996). Pre: ascending, not empty.
[[nodiscard]] double quantile(std::span<const double> sorted, double share);

/// Median and quartiles; relative_spread is (q3 - q1) / median.
struct SampleSummary {
  double median = 0;
  double q1 = 0;
  double q3 = 0;
  double relative_spread = 0;
  std::size_t count = 0;

  bool operator==(const SampleSummary&) const = default;
};
/// Returns an empty optional for no samples.
[[nodiscard]] std::optional<SampleSummary> summarize(const std::vector<double>& samples);

}  // namespace attnscope
