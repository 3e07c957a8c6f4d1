// SPDX-License-Identifier: Apache-2.0
// A thing that can run sweep points: a GPU, or the simulator that stands for one.
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
  std::string l2_from = {};  ///< simulated: the GPU whose L2 it plays, where its own was never measured; else empty
  /// Simulated: of which GPU and when the rates were measured that its times are predicted with; empty: by table.
  std::string rates_from = {};
};

/// The software that a measurement depends on; empty strings where a part is absent.
struct Environment {
  std::string app_version;
  std::string driver_version;
  std::string cuda_driver_api;  ///< "13.0"
  std::string nvrtc_version;
  std::string cupti_version;
  std::string nvml_version;
  std::string operating_system;
};

enum class CounterState { available, not_permitted, busy, unsupported, not_installed, not_asked };
struct CounterAvailability {
  CounterState state = CounterState::not_asked;
  Message reason;  ///< why not, one sentence
  Message fix;     ///< what to do on this machine, one sentence
};

struct MeasureOptions {
  bool counters = true;
  bool verify = true;
  std::vector<std::string> extra_metrics;  ///< counters by their Nsight Compute names
  int min_samples = 10;
  int max_samples = 200;
  double max_noise = 0.02;  ///< relative interquartile spread at which sampling stops
  bool bare = false;        ///< the launches run max_samples times as a whole and never besides, for who looks on
  std::chrono::milliseconds timeout{
      15'000};  ///< for one point; sampling ends at it, a launch that outlives it is a `timeout`
  std::uint64_t seed = 20220527;
  InputKind input_kind = InputKind::normal;
  std::chrono::nanoseconds spin{};  ///< added to each timed sample, for tests of verdicts; neither stored nor sent
  /// Another number, other addresses of all buffers; 0: wherever they are. Where they lie moves a time by half a
  /// percent. To an algorithm that is not built in, other inputs as well.
  std::uint64_t placement = 0;
  bool keep_sources =
      false;  ///< of a user's kernel the texts of its files go with its points: StatementSource::content
};

/// What compiling one kernel gave.
struct BuildReport {
  std::string kernel;  ///< "fa2 fwd d128 128x64 fp16"
  int registers = 0;
  std::int64_t static_shared_bytes = 0;
  std::int64_t dynamic_shared_bytes = 0;
  std::int64_t local_bytes = 0;
  std::int64_t spill_store_bytes = 0;
  std::int64_t spill_load_bytes = 0;
  bool compiled = false;  ///< else these figures are not known: it failed, or came compiled
  bool cached = false;
  std::string digest;  ///< of all that decides what the compiler makes: LaunchRecord::digest
  Message error;       ///< when it failed: what went wrong, and on the lines after it the compiler's log
};

struct CeilingOptions {
  int rounds = 9;  ///< each load is sampled so often, in another order each time
  std::uint64_t seed = 20220527;
};
/// A device's ceilings, and what a reader of them has to know: one sentence each.
struct CeilingSet {
  std::vector<Ceiling> ceilings;
  std::vector<Message> remarks;
};
struct CeilingFailure {
  bool cancelled = false;
  Message reason;
};
using CeilingProgress = std::function<void(std::size_t done, std::size_t total)>;

/// Points that are counted in one session: what a session costs by itself is then 2 ms a point on an H200.
inline constexpr std::size_t most_in_session = 16;

class Device {
 public:
  virtual ~Device() = default;

  [[nodiscard]] virtual const DeviceInfo& info() const = 0;
  /// What points name: the registry that the device was opened with.
  [[nodiscard]] virtual const Registry& algorithms() const = 0;
  [[nodiscard]] virtual Environment environment() const = 0;
  [[nodiscard]] virtual CounterAvailability counters() const = 0;

  /// The names in `names` that this device's counters do not know, each with up to three near matches: itself among
  /// them, where others of its architecture have it.
  struct UnknownMetric {
    std::string name;
    std::vector<std::string> near;
  };
  [[nodiscard]] virtual std::vector<UnknownMetric> unknown_metrics(std::span<const std::string> names) const = 0;

  /// Compiles what the points need, in parallel, into the cache. Optional: measure() compiles what is missing. Compile
  /// failures are kept for the point that needs the kernel. `progress` is called from one thread at a time.
  using BuildProgress = std::function<void(std::size_t done, std::size_t total, const BuildReport&)>;
  virtual void prepare(std::span<const PointSpec> points, const CancelToken&, const BuildProgress& progress) = 0;

  /// Device bytes free now (the simulator: the named GPU's memory).
  [[nodiscard]] virtual std::int64_t free_bytes() const = 0;

  /// Runs one point to a disposition. Never throws for what a point can do wrong. After a `crashed` or `timeout` that
  /// left the context unusable, usable() is false and the runner stops: the process must be restarted to go on.
  [[nodiscard]] virtual PointRecord measure(const PointSpec&, const MeasureOptions&, const CancelToken&) = 0;
  [[nodiscard]] virtual bool usable() const { return true; }

  /// What the device is capable of: measured in some seconds; of one that has nothing to measure, what its datasheet
  /// says. After a failure that left the context unusable, usable() is false.
  [[nodiscard]] virtual Result<CeilingSet, CeilingFailure> ceilings(const CeilingOptions&, const CancelToken&,
                                                                    const CeilingProgress& progress);

  /// A point as far as it came; one that `waits` is whole once count() has added its counters.
  struct Uncounted {
    PointRecord record;
    bool waits = false;
  };
  /// measure(), but for the counters where count() can add those of several points at once, for less.
  [[nodiscard]] virtual Uncounted measure_uncounted(const PointSpec& spec, const MeasureOptions& options,
                                                    const CancelToken& cancel) {
    return {measure(spec, options, cancel), false};
  }
  /// Whether `next` should be measured before the points that wait are counted: not where they are many already, or
  /// need much memory.
  [[nodiscard]] virtual bool counts_with([[maybe_unused]] std::span<const PointSpec> waiting,
                                         [[maybe_unused]] const PointSpec& next) const {
    return false;
  }
  /// The point that measure_uncounted() is called with after the next count(): a device in another process begins it
  /// while that count's records are on their way.
  virtual void announce(const PointSpec&, const MeasureOptions&) {}
  /// What became of points that waited.
  struct Counted {
    std::vector<bool> whole;  ///< of each; one that is not was left, when it was cancelled or the device was lost
    std::optional<std::size_t> lost_to = {};  ///< the one that cost the device, which is whole; usable() is false then
  };
  /// Adds the counters to records that wait, in the order in which they were measured, with the options of then. Those
  /// that are whole have the disposition that they would have had alone.
  [[nodiscard]] virtual Counted count(std::span<PointRecord* const> records, const MeasureOptions&,
                                      const CancelToken&) {
    return {.whole = std::vector<bool>(records.size(), true)};
  }
};

/// Whether a GPU counts the next point in one session with those that wait: no more than most_in_session, and in a
/// quarter of its memory.
[[nodiscard]] bool fit_in_session(std::span<const PointSpec> waiting, const PointSpec& next, const DeviceLimits&,
                                  const Registry&);

}  // namespace attnscope
