// SPDX-License-Identifier: Apache-2.0
// Internal class of the GPU device, shared by gpu_device.cpp (opening), point_measurement.cpp (one point) and
// shared_counting.cpp (counters of several points).
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
#include "profiler/measure/gpu/user/python_call.h"

namespace attnscope::gpu {

/// Objects in the device's context, in order of creation. After a device loss they are leaked, since any call into the
/// context would wait for the hung launch.
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
  /// Guarded buffers by name. Kept here so that they outlive a hung launch that uses them.
  std::map<std::string, GuardedBuffer> guarded;
  std::vector<PreparedLaunch> guarded_launches;
  std::optional<CounterCollector> counters;
  std::optional<GpuGroup> group;  ///< Created for the first point on several GPUs.
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
  [[nodiscard]] MeasurementResult measure_deferred(const PointSpec& spec, const MeasureOptions& options,
                                                   const CancelToken& cancel) override;
  [[nodiscard]] bool can_share_session(std::span<const PointSpec> waiting, const PointSpec& next) const override;
  [[nodiscard]] CountResult count(std::span<PointRecord* const> records, const MeasureOptions& options,
                                  const CancelToken& cancel) override;

 private:
  /// A point whose buffers are in a workspace slot, ready to run again.
  struct PreparedPoint {
    std::size_t slot = 0;  ///< Workspace slot.
    PointSpec spec;
    AttentionPlan plan;                ///< Buffers on this GPU only.
    std::vector<BufferSpec> others{};  ///< Buffers on the other GPUs of the point.
    PlanMemory::Inputs inputs;
    std::vector<PreparedLaunch> setup{};
    std::vector<PreparedLaunch> before{};  ///< Repeated setup launches that precede the measured ones.
    std::vector<PreparedLaunch> launches{};
    std::vector<PreparedLaunch> after{};               ///< Repeated setup launches that follow them.
    std::vector<std::shared_ptr<PythonCall>> calls{};  ///< The measured launches if they are Python functions.
    // Of a single call:
    std::vector<PreparedLaunch> sequence{};  ///< Its launches in sequence, to count them.
    std::vector<PreparedLaunch> parts{};     ///< Its kernels, if it launches several.

    [[nodiscard]] std::array<std::vector<PreparedLaunch>*, 4> all() { return {&setup, &before, &launches, &after}; }
    /// Digests of the inputs before the first launch; only if a user-defined kernel is verified.
    std::vector<Oracle::Digest> uploaded{};
    std::int64_t prepared_bytes = 0;  ///< Device memory that libraries allocated, including workspaces.
  };

  /// Points to be counted. Record i uses workspace slot i.
  struct Batch {
    std::span<PointRecord* const> records;
    const MeasureOptions& options;
    const CancelToken& cancel;
    std::vector<bool> whole;
    bool alone = false;                    ///< Count each point in its own session, after a shared session failed.
    std::optional<CuptiError> first = {};  ///< Error of the shared session, after which points are counted separately.
    std::optional<std::size_t> fatal_point = {};  ///< Index of the point that made the device unusable.
    bool cancelled = false;
  };

  void measure_phases(PointRecord& record, const MeasureOptions& options, const CancelToken& cancel);
  /// Sets the point's disposition from the current exception.
  void set_result_from_exception(PointRecord& record);
  void set_result_from_driver_error(const DriverError& error, PointRecord& record);
  /// Created on first use.
  [[nodiscard]] GpuGroup& group();
  /// Measures the link to another GPU of the same kind, if there is one.
  void add_link_ceilings(CeilingSet& set, const CeilingOptions& options);
  /// Opens the other GPUs of the point and runs the schedule once; afterwards this GPU holds O and LSE.
  void share(PointRecord& record, const PreparedPoint& point, const MeasureOptions& options);
  /// Times the whole schedule on all GPUs. The launches have been timed individually before.
  void time_schedule(PointRecord& record, const PreparedPoint& point, const MeasureOptions& options,
                     const CancelToken& cancel);
  PreparedPoint& prepare_plan(std::size_t slot, const Algorithm& algorithm, const PointSpec& spec,
                              const MeasureOptions& options);
  [[nodiscard]] std::vector<LoadedLaunch> load(const PreparedPoint& point);
  [[nodiscard]] PreparedLaunch prepared(const AttentionPlan& plan, const LoadedLaunch& loaded,
                                        const BufferResolver& address_of, const MeasureOptions& options);
  [[nodiscard]] HostPlace host_place() const;
  [[nodiscard]] std::shared_ptr<PythonCall> prepare_call(const AttentionPlan& plan, const KernelLaunch& launch,
                                                         const BufferResolver& address_of,
                                                         const MeasureOptions& options);
  /// Prepares a Python function and adds its launches to the point.
  void add_call(PreparedPoint& point, const KernelLaunch& launch, const BufferResolver& address_of,
                const MeasureOptions& options);
  /// Adds values that are known once calls are prepared: launch attributes, host time, tile and its law.
  void add_call_values(PointRecord& record, const PreparedPoint& point) const;
  void add_tuned_tile(PointRecord& record, const TileShape& tile) const;
  /// Returns a more specific reason if the function's own result is right; else `reason`.
  [[nodiscard]] Message explain_wrong_result(PointRecord& record, PreparedPoint& point, const MeasureOptions& options,
                                             const Message& reason);
  /// Fills the buffers of the reserved slot and prepares the launches.
  void fill(PreparedPoint& point, const std::vector<LoadedLaunch>& loaded, const MeasureOptions& options);
  /// Returns true if write-back bytes are counted: cold starts only. With a warm L2, dirty lines of earlier launches
  /// would be included.
  [[nodiscard]] bool counts_write_back(const PointRecord& record, const MeasureOptions& options) const;
  /// Runs the launches one by one, so that a fault can be attributed. Returns their approximate device time in ns.
  double run_once(std::vector<PreparedLaunch>& launches, std::chrono::milliseconds timeout);
  void enqueue(std::vector<PreparedLaunch>& launches);
  /// Enqueues an execution at once, as for timing, so that programmatic dependent launches overlap.
  void run_back_to_back(PreparedPoint& point, std::chrono::milliseconds timeout);
  void verify(PointRecord& record, PreparedPoint& point, const MeasureOptions& options);
  [[nodiscard]] Oracle::Run run_of(const PreparedPoint& point, const PlanMemory::Inputs& inputs,
                                   const MeasureOptions& options) const {
    return {point.plan, point.spec.problem, inputs.kind, inputs.seed, session_->workspace, point.slot, options.timeout};
  }
  /// Checks the outputs for these inputs. The record keeps the errors of the run nearest to its bound.
  CheckResult judge(PointRecord& record, const PreparedPoint& point, const PlanMemory::Inputs& inputs,
                    const MeasureOptions& options);

  // Additional checks of user-defined kernels.
  [[nodiscard]] bool is_user_defined(const PointSpec& spec) const;
  /// Inputs of the point. For a user-defined kernel they differ in each round.
  [[nodiscard]] PlanMemory::Inputs inputs_of(const PointSpec& spec, const MeasureOptions& options,
                                             const AttentionPlan& plan) const;
  [[nodiscard]] PlanMemory::BufferOptions buffer_options(const PointRecord& record,
                                                         const MeasureOptions& options) const;
  [[nodiscard]] std::vector<Oracle::Digest> digest(Oracle::Part part, const PreparedPoint& point,
                                                   const MeasureOptions& options);
  /// Throws PointAbort if a launch changed an input.
  void check_inputs(const PreparedPoint& point, const MeasureOptions& options);
  /// Runs the plan once with guard pages around its buffers, aligned to one end (`flush`). A stray access, including a
  /// read, crashes the point and makes the device unusable. Returns why the check was skipped; else empty.
  [[nodiscard]] Message run_guarded(const PreparedPoint& point, const std::vector<LoadedLaunch>& loaded,
                                    GuardedBuffer::GuardSide flush, const MeasureOptions& options);
  /// Poisons the outputs, so that after timing they come from timed launches.
  void repoison_outputs(PreparedPoint& point, const MeasureOptions& options);
  /// Throws PointAbort if launches take longer with poisoned outputs, so that the timed launches skipped work, or if
  /// unmeasured launches take longer than conversions.
  void check_skipped_work(const PointRecord& record, PreparedPoint& point, const MeasureOptions& options);
  /// Throws PointAbort if the device works on after a library's launches. Pre: at least one launch runs a library;
  /// kernels without host code cannot reach another stream.
  void check_late_work(const PointRecord& record, PreparedPoint& point, const MeasureOptions& options);
  /// Throws PointAbort if launches leak device memory.
  void check_leak(const PointRecord& record, PreparedPoint& point, const MeasureOptions& options);
  /// Checks for stray writes. If outputs are verified, also checks the last timed launch and one launch with other
  /// inputs.
  void check_after_timing(PointRecord& record, PreparedPoint& point, const MeasureOptions& options);
  /// Why the counted bytes of a user-defined kernel are implausible; empty if they are plausible.
  [[nodiscard]] Message implausible_bytes_reason(const PointRecord& record) const;

  void time(PointRecord& record, PreparedPoint& point, const MeasureOptions& options, const CancelToken& cancel,
            double first_ns);

  // Counters of several points.
  /// Counts the unfinished points of the batch in one session. Finishes all or one of them, or none if they must be
  /// counted separately.
  void count_session(Batch& batch);
  /// Points of the next session: unfinished, with all their buffers in memory at once. Finishes points that cannot be
  /// counted.
  [[nodiscard]] std::vector<std::size_t> session_members(Batch& batch);
  [[nodiscard]] bool is_ready(std::size_t slot, const PointRecord& record, const MeasureOptions& options) const;
  /// Restores a point's buffers after its slot was evicted.
  void make_ready(std::size_t slot, const PointRecord& record, const MeasureOptions& options);
  void finish(Batch& batch, std::size_t which, Disposition disposition, Message reason);
  /// Sets the disposition from the current exception; `kernel`: the kernel being counted, or empty.
  void finish_from_exception(Batch& batch, std::size_t which, const std::string& kernel);
  [[nodiscard]] Message no_counters_reason() const;

  const Registry& registry_;
  CudaApi cuda_;
  DeviceInfo info_;
  std::string arch_;
  std::unique_ptr<Nvml> nvml_;
  std::optional<CuptiApi> cupti_;
  CounterAvailability counter_state_;
  std::unique_ptr<Session> session_;
  std::map<std::size_t, std::unique_ptr<PreparedPoint>> prepared_;  ///< Keyed by workspace slot.
  std::size_t waiting_ = 0;  ///< Number of points that wait for counters; they occupy the first slots.
  Message step_failure_;     ///< Message if the current step fails.
  bool usable_ = true;
};

}  // namespace attnscope::gpu
