// SPDX-License-Identifier: Apache-2.0
// Runs the loads that find out a device's ceilings, in rounds whose order is shuffled, and makes ceilings of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "kernels/model/ceilings.h"
#include "profiler/measure/device.h"
#include "profiler/measure/gpu/ceilings/ceiling_loads.h"
#include "profiler/measure/gpu/counting.h"
#include "profiler/measure/gpu/driver/nvml.h"
#include "profiler/measure/gpu/kernel_builder.h"
#include "profiler/measure/gpu/kernel_runner.h"

namespace attnscope::gpu {

class CeilingBench {
 public:
  /// Where it runs; what is a nullptr is not there. References and pointers are kept.
  struct Place {
    KernelRunner& runner;
    const KernelBuilder& builder;
    const DeviceLimits& limits;
    const std::string& arch;
    const Nvml* nvml = nullptr;
    CounterCollector* counters = nullptr;
    Message no_counters;  ///< why not
  };
  /// Throws PointEnd (out_of_memory).
  explicit CeilingBench(Place place);

  /// Throws DriverError and LaunchTimeout for what loses the device; PointEnd when it is cancelled.
  [[nodiscard]] CeilingSet measure(const CeilingOptions& options, const CancelToken& cancel,
                                   const CeilingProgress& progress);
  /// What it was at, where it threw; nullptr: at nothing that one load alone needs.
  [[nodiscard]] const CeilingKind* load() const { return at_; }

 private:
  /// A load, and what its samples came to.
  struct Sampled {
    CeilingLoad load;
    std::vector<PreparedLaunch> prepared;  ///< one
    std::vector<double> values;
    std::vector<double> clocks_hz;
    std::optional<std::uint64_t> throttle_reasons;  ///< absent until NVML has said any
  };
  struct Sample {
    double milliseconds = 0;  ///< by events
    double nanoseconds = 0;   ///< of the first block, by its own clock; 0 where the load has no kernel of ours
    double cycles = 0;
  };

  void stop_if_cancelled() const;
  /// A step is done, of about steps_.
  void advance(std::size_t steps = 1);
  void prepare(Sampled& sampled);
  /// As many iterations as take as long as they should.
  void calibrate(Sampled& sampled);
  void enqueue(Sampled& sampled);
  [[nodiscard]] Sample take(Sampled& sampled);
  void take_value(Sampled& sampled);
  /// Compiles, and fills the buffers.
  void begin(const std::vector<CeilingLoad>& loads);
  /// Loads and calibrates them; those that fail at it go, with a remark.
  void choose(std::vector<CeilingLoad> loads, CeilingSet& set);
  /// Of loads that find out the same.
  void keep_fastest();
  void add_ceilings(const Sampled& sampled, CeilingSet& set) const;
  /// Shares of misses along both curves, and the sizes at which half of the reads miss.
  void add_capacities(CeilingSet& set);
  [[nodiscard]] std::vector<Ceiling> counted_misses(std::string_view read, std::string_view miss);
  [[nodiscard]] static std::vector<Ceiling> timed_misses(const CeilingSet& set, std::string_view read,
                                                         std::string_view miss);
  void add_conditions(CeilingSet& set) const;

  Place place_;
  const CudaApi& cuda_;
  CeilingBuffers sizes_;
  std::map<std::string, DeviceMemory> buffers_;
  Event begin_;
  Event end_;
  std::optional<double> others_use_;
  std::vector<Sampled> loads_;
  const CancelToken* cancel_ = nullptr;
  const CeilingKind* at_ = nullptr;
  CeilingProgress progress_;
  std::size_t done_ = 0;
  std::size_t steps_ = 0;
};

}  // namespace attnscope::gpu
