// SPDX-License-Identifier: Apache-2.0
// Measures the ceilings of a device: runs each load once per round in shuffled order and summarizes the samples.
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
  /// Resources that the benchmark uses; it keeps references. Null pointers mark unavailable resources.
  struct Resources {
    KernelRunner& runner;
    const KernelBuilder& builder;
    const DeviceLimits& limits;
    const std::string& arch;
    const Nvml* nvml = nullptr;
    CounterCollector* counters = nullptr;
    Message no_counters;  ///< Why `counters` is null.
  };
  /// Throws PointAbort (out_of_memory).
  explicit CeilingBench(Resources place);

  /// Throws DriverError or LaunchTimeout if the device is lost, PointAbort if cancelled.
  [[nodiscard]] CeilingSet measure(const CeilingOptions& options, const CancelToken& cancel,
                                   const CeilingProgress& progress);
  /// The ceiling that was being measured when an exception was thrown; nullptr if none.
  [[nodiscard]] const CeilingKind* load() const { return at_; }

 private:
  struct SampledLoad {
    CeilingLoad load;
    std::vector<PreparedLaunch> prepared;  ///< One element after prepare().
    std::vector<double> values;
    std::vector<double> clocks_hz;
    std::optional<std::uint64_t> throttle_reasons;  ///< Empty until NVML has been read.
  };
  struct Sample {
    double milliseconds = 0;  ///< From CUDA events.
    double nanoseconds = 0;   ///< From the global timer of the first block; 0 for driver copies and empty launches.
    double cycles = 0;
  };

  void throw_if_cancelled() const;
  /// Advances the progress by `steps` of approximately steps_.
  void advance(std::size_t steps = 1);
  void prepare(SampledLoad& sampled);
  /// Raises the iterations until a sample takes the load's `milliseconds`.
  void calibrate(SampledLoad& sampled);
  void enqueue(SampledLoad& sampled);
  [[nodiscard]] Sample measure_sample(SampledLoad& sampled);
  void record_sample(SampledLoad& sampled);
  /// Compiles the kernels and initializes the buffers.
  void begin(const std::vector<CeilingLoad>& loads);
  /// Loads and calibrates all loads. Drops a failed load with a remark.
  void calibrate_loads(std::vector<CeilingLoad> loads, CeilingSet& set);
  /// Keeps the fastest of the loads that measure the same ceiling.
  void keep_fastest();
  void add_ceilings(const SampledLoad& sampled, CeilingSet& set) const;
  /// Adds the miss rates of both curves, and the sizes at which half of the reads miss.
  void add_capacities(CeilingSet& set);
  [[nodiscard]] std::vector<Ceiling> measured_miss_rates(std::string_view read, std::string_view miss);
  [[nodiscard]] static std::vector<Ceiling> estimated_miss_rates(const CeilingSet& set, std::string_view read,
                                                                 std::string_view miss);
  void add_conditions(CeilingSet& set) const;

  Resources place_;
  const CudaApi& cuda_;
  CeilingBuffers sizes_;
  std::map<std::string, DeviceMemory> buffers_;
  Event begin_;
  Event end_;
  std::optional<double> other_utilization_;
  std::vector<SampledLoad> loads_;
  const CancelToken* cancel_ = nullptr;
  const CeilingKind* at_ = nullptr;
  CeilingProgress progress_;
  std::size_t done_ = 0;
  std::size_t steps_ = 0;
};

}  // namespace attnscope::gpu
