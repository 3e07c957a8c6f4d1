// SPDX-License-Identifier: Apache-2.0
// Interface of a device that runs sweep points: a GPU or the simulator.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/model/ceilings.h"
#include "kernels/model/device_limits.h"
#include "kernels/model/result.h"
#include "kernels/oracle/inputs.h"
#include "kernels/registry.h"
#include "profiler/metrics/point.h"
#include "profiler/plan/cancel_token.h"

namespace attnscope {

struct DeviceInfo {
  std::string uuid;  ///< "GPU-xxxxxxxx-...", or "SIM-<name>" for the simulator
  bool simulated = false;
  int ordinal = 0;
  DeviceLimits limits;
  std::string l2_source = {};  ///< Simulated GPU without measured L2 data: the GPU whose L2 model is used; else empty.
  /// Simulated: GPU and date of the ceilings that its times are predicted from; empty if datasheet rates are used.
  std::string rates_source = {};
};

/// Version as printed by `--version`: "0.1.0".
[[nodiscard]] const char* program_version();

/// Versions of the software that a measurement depends on; empty if a component is absent.
struct Environment {
  std::string app_version;
  std::string driver_version;
  std::string cuda_driver_api;  ///< "13.0"
  std::string nvrtc_version;
  std::string cupti_version;
  std::string nvml_version;
  std::string operating_system;
};

/// The fields of Environment that need no GPU: program version and operating system.
[[nodiscard]] Environment host_environment();

enum class CounterState { available, not_permitted, busy, unsupported, not_installed, not_requested };
struct CounterAvailability {
  CounterState state = CounterState::not_requested;
  Message reason;  ///< Why counters are unavailable; one sentence.
  Message fix;     ///< How to enable them on this machine; one sentence.
};

struct MeasureOptions {
  bool counters = true;
  bool verify = true;
  std::vector<std::string> extra_metrics;  ///< Extra counters, by their Nsight Compute names.
  int min_samples = 10;
  int max_samples = 200;
  double max_noise = 0.02;  ///< Relative interquartile range at which sampling stops.
  /// Runs the launches exactly max_samples times and no others, so that an external profiler sees only these.
  bool bare = false;
  std::chrono::milliseconds timeout{
      /// Limit per point: sampling stops when it is reached; a launch that exceeds it ends the point as `timeout`.
      15'000};
  std::uint64_t seed = 20220527;
  InputKind input_kind = InputKind::normal;
  /// Delay added to each timed sample, to test verdicts. Neither stored nor sent to workers.
  std::chrono::nanoseconds spin{};
  /// Each nonzero value gives all buffers different addresses, which can change a time by 0.5%; 0: no control over
  /// addresses. For user-defined kernels it also selects other inputs.
  std::uint64_t placement = 0;
  bool keep_sources =
      false;  ///< Store the source files of user-defined kernels with their points (ManifestSource::content).
};

/// Resource usage of a kernel as reported by ptxas.
struct ResourceUsage {
  int registers = 0;
  std::int64_t static_shared_bytes = 0;
  std::int64_t local_bytes = 0;  ///< Stack frame per thread; it is local memory even without spills.
  std::int64_t spill_store_bytes = 0;
  std::int64_t spill_load_bytes = 0;

  bool operator==(const ResourceUsage&) const = default;
};

struct BuildReport : ResourceUsage {
  std::string kernel;  ///< "fa2 fwd d128 128x64 fp16"
  std::int64_t dynamic_shared_bytes = 0;
  /// False if compilation failed or the kernel came as a binary; its resource usage is then unknown.
  bool compiled = false;
  bool cached = false;
  std::string digest;  ///< Digest of all compiler inputs; see LaunchRecord::digest.
  Message error;       ///< If compilation failed: the cause, then the compiler's log on the following lines.
};

struct CeilingOptions {
  int rounds = 9;  ///< Samples per load; each round shuffles the order.
  std::uint64_t seed = 20220527;
};
/// Ceilings of a device, and remarks about their conditions; one sentence each.
struct CeilingSet {
  std::vector<Ceiling> ceilings;
  std::vector<Message> remarks;
};
struct CeilingFailure {
  bool cancelled = false;
  Message reason;
};
using CeilingProgress = std::function<void(std::size_t done, std::size_t total)>;

/// Maximum number of points counted in one profiling session. The session's fixed cost is then 2 ms per point on an
/// H200.
inline constexpr std::size_t max_session_points = 16;

class Device {
 public:
  virtual ~Device() = default;

  [[nodiscard]] virtual const DeviceInfo& info() const = 0;
  /// The registry that the device was opened with; points refer to its algorithms.
  [[nodiscard]] virtual const Registry& algorithms() const = 0;
  [[nodiscard]] virtual Environment environment() const = 0;
  [[nodiscard]] virtual CounterAvailability counters() const = 0;

  /// A name that this device's counters do not include, with up to three near matches. The matches include the name
  /// itself if other chips of its architecture have it.
  struct UnknownMetric {
    std::string name;
    std::vector<std::string> near;
  };
  [[nodiscard]] virtual std::vector<UnknownMetric> unknown_metrics(std::span<const std::string> names) const = 0;

  /// Compiles the kernels of these points into the cache, in parallel. Optional: measure() compiles missing kernels. A
  /// compile failure is reported with the point that needs the kernel. Calls of `progress` are serialized.
  using BuildProgress = std::function<void(std::size_t done, std::size_t total, const BuildReport&)>;
  virtual void prepare(std::span<const PointSpec> points, const CancelToken&, const BuildProgress& progress) = 0;

  /// Free device memory in bytes; for the simulator, the memory of the simulated GPU.
  [[nodiscard]] virtual std::int64_t free_bytes() const = 0;

  /// Measures one point; its failures are dispositions, not exceptions. If a `crashed` or `timeout` point left the
  /// context unusable, usable() returns false and the process must be restarted.
  [[nodiscard]] virtual PointRecord measure(const PointSpec&, const MeasureOptions&, const CancelToken&) = 0;
  [[nodiscard]] virtual bool usable() const { return true; }

  /// Measures the device's ceilings in a few seconds. A device that cannot measure returns datasheet figures. If a
  /// failure left the context unusable, usable() returns false.
  [[nodiscard]] virtual Result<CeilingSet, CeilingFailure> ceilings(const CeilingOptions&, const CancelToken&,
                                                                    const CeilingProgress& progress);

  /// A measured point. If `counters_pending`, count() still has to add its counters.
  struct MeasurementResult {
    PointRecord record;
    bool counters_pending = false;
  };
  /// Like measure(), but may leave the counters to count(), which collects those of several points at a lower cost.
  [[nodiscard]] virtual MeasurementResult measure_deferred(const PointSpec& spec, const MeasureOptions& options,
                                                           const CancelToken& cancel) {
    return {measure(spec, options, cancel), false};
  }
  /// Returns true if `next` should be measured before the waiting points are counted; false if too many points wait or
  /// their buffers need too much memory.
  [[nodiscard]] virtual bool can_share_session([[maybe_unused]] std::span<const PointSpec> waiting,
                                               [[maybe_unused]] const PointSpec& next) const {
    return false;
  }
  /// Announces the point of the first measure_deferred() call after the next count(). A remote device starts it before
  /// the records of that count() have arrived.
  virtual void announce(const PointSpec&, const MeasureOptions&) {}
  struct CountResult {
    /// One flag per record: true if complete. A record is incomplete if counting was cancelled or the device was lost.
    std::vector<bool> whole;
    /// Index of the point that made the device unusable. That record is complete.
    std::optional<std::size_t> fatal_point = {};
  };
  /// Adds counters to waiting records, in measurement order. `options` must be those of the measurement. A complete
  /// record has the same disposition as if it had been counted alone.
  [[nodiscard]] virtual CountResult count(std::span<PointRecord* const> records, const MeasureOptions&,
                                          const CancelToken&) {
    return {.whole = std::vector<bool>(records.size(), true)};
  }
};

/// Returns true if `next` fits in one profiling session with `waiting`: at most max_session_points points that use at
/// most a quarter of the device memory.
[[nodiscard]] bool fits_in_session(std::span<const PointSpec> waiting, const PointSpec& next, const DeviceLimits&,
                                   const Registry&);

}  // namespace attnscope
