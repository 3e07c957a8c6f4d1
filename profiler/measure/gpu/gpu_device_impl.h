// SPDX-License-Identifier: Apache-2.0
// The GPU as a Device, from inside: what opening (gpu_device.cpp), one point (point_measurement.cpp) and the counters
// of several (shared_counting.cpp) share.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "profiler/measure/gpu/counting.h"
#include "profiler/measure/gpu/driver/cuda_driver.h"
#include "profiler/measure/gpu/driver/nvml.h"
#include "profiler/measure/gpu/gpu_device.h"
#include "profiler/measure/gpu/gpu_group.h"
#include "profiler/measure/gpu/guarded_buffer.h"
#include "profiler/measure/gpu/kernel_builder.h"
#include "profiler/measure/gpu/kernel_runner.h"
#include "profiler/measure/gpu/launch_values.h"
#include "profiler/measure/gpu/oracle.h"
#include "profiler/measure/gpu/plan_memory.h"
#include "profiler/measure/gpu/timing.h"

namespace attnscope::gpu {

/// Everything that lives in the device's context. Members are in the order in which they are made; a device that was
/// lost is never torn down, since every call into its context would wait for the launch that does not end.
struct Session {
  Session(const CudaApi& cuda_api, CUdevice of_device, std::unique_ptr<KernelBuilder> kernel_builder,
          const std::string& arch, const DeviceLimits& limits)
      : cuda(cuda_api),
        device(of_device),
        builder(std::move(kernel_builder)),
        context(cuda, device),
        stream(make_stream(cuda)),
        runner(cuda, *builder, arch, stream.get(), limits),
        workspace(cuda, runner),
        oracle(cuda, runner),
        begin(make_event(cuda)),
        end(make_event(cuda)) {}

  const CudaApi& cuda;
  CUdevice device;
  std::unique_ptr<KernelBuilder> builder;
  Context context;
  Stream stream;
  KernelRunner runner;
  PlanMemory workspace;
  Oracle oracle;
  Event begin;
  Event end;
  /// By name; here, since those that a launch hangs on must not be given back.
  std::map<std::string, GuardedBuffer> guarded;
  std::vector<PreparedLaunch> guarded_launches;
  std::optional<CounterCollector> counters;
  std::optional<GpuGroup> group;  ///< once a point of several GPUs was measured
};

class GpuDevice final : public Device {
 public:
  GpuDevice(CudaApi cuda, CUdevice device, DeviceInfo info, std::string arch, std::unique_ptr<KernelBuilder> builder,
            const Registry& registry);
  GpuDevice(const GpuDevice&) = delete;
  GpuDevice& operator=(const GpuDevice&) = delete;
  ~GpuDevice() override;

  void prepare_counters(CUdevice device);

  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  [[nodiscard]] const Registry& algorithms() const override { return registry_; }
  [[nodiscard]] CounterAvailability counters() const override { return counter_state_; }
  [[nodiscard]] bool usable() const override { return usable_; }
  [[nodiscard]] Environment environment() const override;
  [[nodiscard]] std::vector<UnknownMetric> unknown_metrics(std::span<const std::string> names) const override;
  void prepare(std::span<const PointSpec> points, const CancelToken& cancel, const BuildProgress& progress) override;
  [[nodiscard]] std::int64_t free_bytes() const override;
  [[nodiscard]] Result<CeilingSet, CeilingFailure> ceilings(const CeilingOptions& options, const CancelToken& cancel,
                                                            const CeilingProgress& progress) override;

  [[nodiscard]] PointRecord measure(const PointSpec& spec, const MeasureOptions& options,
                                    const CancelToken& cancel) override;
  [[nodiscard]] Uncounted measure_uncounted(const PointSpec& spec, const MeasureOptions& options,
                                            const CancelToken& cancel) override;
  [[nodiscard]] bool counts_with(std::span<const PointSpec> waiting, const PointSpec& next) const override;
  [[nodiscard]] Counted count(std::span<PointRecord* const> records, const MeasureOptions& options,
                              const CancelToken& cancel) override;

 private:
  /// A point whose buffers are in a slot of the workspace, ready to run again.
  struct PreparedPoint {
    PointSpec spec;
    AttentionPlan plan;                ///< its buffers are those of this GPU
    std::vector<BufferSpec> others{};  ///< buffers of others that share the problem
    PlanMemory::Inputs inputs;
    std::vector<PreparedLaunch> setup;
    std::vector<PreparedLaunch> launches;
    std::vector<Oracle::Digest> uploaded;  ///< its inputs before the first launch, where a foreign point is verified
    std::int64_t prepared_bytes = 0;       ///< of device memory that libraries took, with their workspaces
  };

  /// Points that wait for their counters; the slot of each is its place.
  struct Batch {
    std::span<PointRecord* const> records;
    const MeasureOptions& options;
    const CancelToken& cancel;
    std::vector<bool> whole;
    bool alone = false;                       ///< each in a session of its own, after one of them all failed
    std::optional<CuptiError> first = {};     ///< of a session of several, after which they are counted alone
    std::optional<std::size_t> lost_to = {};  ///< the point that cost the device
    bool cancelled = false;

    [[nodiscard]] bool goes_on() const;
  };

  // One point.
  void measure_phases(PointRecord& record, const MeasureOptions& options, const CancelToken& cancel);
  /// Ends a point as the exception says that is being handled.
  void end_by_exception(PointRecord& record);
  void end_after(const DriverError& error, PointRecord& record);
  /// Made when it is first asked for.
  [[nodiscard]] GpuGroup& group();
  /// To another GPU of the machine, where there is one of the kind.
  void add_links(CeilingSet& set, const CeilingOptions& options);
  /// Opens the GPUs that share the point's problem, and has them compute it once: this one then holds O and LSE.
  void share(PointRecord& record, std::size_t slot, const PreparedPoint& point, const MeasureOptions& options);
  /// All of them together, again and again; the launches were timed by themselves before.
  void time_shared(PointRecord& record, const PreparedPoint& point, const MeasureOptions& options,
                   const CancelToken& cancel);
  PreparedPoint& plan_in(std::size_t slot, const Algorithm& algorithm, const PointSpec& spec,
                         const MeasureOptions& options);
  [[nodiscard]] std::vector<LoadedLaunch> load(const PreparedPoint& point);
  [[nodiscard]] PreparedLaunch prepared(const AttentionPlan& plan, const LoadedLaunch& loaded,
                                        const PreparedLaunch::Resolve& address_of, const MeasureOptions& options);
  /// Fills the reserved slot, and makes the launches ready.
  void fill(std::size_t slot, PreparedPoint& point, const std::vector<LoadedLaunch>& loaded,
            const MeasureOptions& options);
  /// A warm start finds what the run before left dirty: there what is written back is nobody's alone.
  [[nodiscard]] bool counts_write_back(const PointRecord& record, const MeasureOptions& options) const;
  /// Runs launches once, one by one, so that a fault has a name. Returns their device time, roughly.
  double run_once(std::vector<PreparedLaunch>& launches, std::chrono::milliseconds timeout);
  /// Runs launches once, one behind the other as when they are timed: those that may start early do.
  void run_together(std::vector<PreparedLaunch>& launches, std::chrono::milliseconds timeout);
  void verify(PointRecord& record, std::size_t slot, PreparedPoint& point, const MeasureOptions& options);
  /// Of outputs that come of these inputs; the record keeps the errors of the run nearest to its bound.
  CheckResult judge(PointRecord& record, std::size_t slot, const PreparedPoint& point, const PlanMemory::Inputs& inputs,
                    const MeasureOptions& options);

  // What kernels that are not built in have to show besides.
  [[nodiscard]] bool is_foreign(const PointSpec& spec) const;
  /// What the point runs on: of a foreign one inputs of the round's own.
  [[nodiscard]] PlanMemory::Inputs inputs_of(const PointSpec& spec, const MeasureOptions& options,
                                             const AttentionPlan& plan) const;
  [[nodiscard]] PlanMemory::Besides besides(const PointRecord& record, const MeasureOptions& options) const;
  [[nodiscard]] std::vector<Oracle::Digest> digest(Oracle::Part part, std::size_t slot, const PreparedPoint& point,
                                                   const MeasureOptions& options);
  /// Ends a foreign point where a launch wrote to an input.
  void check_inputs(std::size_t slot, const PreparedPoint& point, const MeasureOptions& options);
  /// Runs a plan once between guard pages, flush with those behind its buffers and then with those in front: a stray
  /// access, a read too, ends the point as crashed, and this process's use of the device. Why it is not, else empty.
  [[nodiscard]] Message run_guarded(std::size_t slot, const PreparedPoint& point,
                                    const std::vector<LoadedLaunch>& loaded, GuardedBuffer::Flush flush,
                                    const MeasureOptions& options);
  /// Poisons the outputs once more, so that after timing they are those of timed launches.
  void poison_again(std::size_t slot, PreparedPoint& point, const MeasureOptions& options);
  /// Ends a point whose launches take longer where their outputs are still to be written: timed were those that had
  /// nothing left to do.
  void check_fresh(const PointRecord& record, std::size_t slot, PreparedPoint& point, const MeasureOptions& options);
  /// Ends a point whose launches keep device memory.
  void check_leak(const PointRecord& record, PreparedPoint& point, const MeasureOptions& options);
  /// Looks beside the buffers and, where outputs are verified, judges the last timed launch and one on other inputs.
  void check_after_timing(PointRecord& record, std::size_t slot, PreparedPoint& point, const MeasureOptions& options);
  /// Why what was counted of a foreign point cannot be: empty where it can.
  [[nodiscard]] Message too_few_bytes(const PointRecord& record) const;

  void time(PointRecord& record, std::vector<PreparedLaunch>& launches, const MeasureOptions& options,
            const CancelToken& cancel, double first_ns);

  // The counters of several.
  /// One session of ranges over the points of the batch that are open: ends them, or one of them, or none where they
  /// have to be counted apart.
  void count_session(Batch& batch);
  /// The points that take part in the next session: those that are open and have their buffers side by side. Ends
  /// those that cannot be counted at all.
  [[nodiscard]] std::vector<std::size_t> members_of_session(Batch& batch);
  [[nodiscard]] bool is_ready(std::size_t slot, const PointRecord& record, const MeasureOptions& options) const;
  /// Lays a point out again as it was when it was timed: its slot had to make room.
  void make_ready(std::size_t slot, const PointRecord& record, const MeasureOptions& options);
  void finish(Batch& batch, std::size_t which, Disposition disposition, Message reason);
  /// Ends a point by the exception that is being handled; `kernel`, unless empty, is what was counted.
  void end_counted(Batch& batch, std::size_t which, const std::string& kernel);
  [[nodiscard]] Message no_counters_reason() const;

  const Registry& registry_;
  CudaApi cuda_;
  DeviceInfo info_;
  std::string arch_;
  std::unique_ptr<Nvml> nvml_;
  std::optional<CuptiApi> cupti_;
  CounterAvailability counter_state_;
  std::unique_ptr<Session> session_;
  std::map<std::size_t, std::unique_ptr<PreparedPoint>> prepared_;  ///< by slot of the workspace
  std::size_t waiting_ = 0;  ///< points that wait for their counters, in the slots before this one
  Message current_work_;     ///< what a fault would have interrupted
  bool usable_ = true;
};

}  // namespace attnscope::gpu
