// SPDX-License-Identifier: Apache-2.0
// Runs a plan on workers, one per GPU: distributes points, stores records and restarts lost workers. Points that are
// compared with each other (a group) stay on one worker; an idle worker takes the next group. The groups of a worker
// that cannot be restarted are measured again on the others.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/measure/device.h"
#include "profiler/plan/shards.h"
#include "profiler/worker/runner.h"

namespace attnscope {

struct Worker {
  std::unique_ptr<Device> device;
  /// Opens the same device in a new process. The error says why that failed.
  std::function<Result<std::unique_ptr<Device>, std::string>()> restart;
  std::string host = {};  ///< Workers of one host share compiled kernels.
};

/// A plan, or some groups of it.
struct SupervisedPlan {
  const SweepPlan* plan = nullptr;
  SweepRounds rounds = {};
  std::vector<PointProgress> done = {};   ///< Per place.
  std::vector<PointIndices> groups = {};  ///< In the order in which they are taken.
  /// Per group: the worker that started it and continues it; empty: none.
  std::vector<std::optional<std::size_t>> started_on = {};
  std::vector<std::size_t> bundles = {};  ///< Per group, from input_bundles(); empty: each group is a bundle.
};

/// Destination of records. Calls are serialized; an exception ends the run. `worker`: index of the worker.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void keep(std::size_t worker, std::size_t place, int round, const PointRecord&) = 0;
  /// Discards the records of these places; another worker measures them again.
  virtual void restart_points(const PointIndices&) = 0;
};

/// Calls are serialized, also with those of the sink.
struct SupervisorObserver {
  std::function<void(std::size_t done, std::size_t total, const BuildReport&)> on_build = {};
  std::function<void(std::size_t worker, std::size_t place, int round)> on_point_started = {};
  /// A worker was restarted because of `why`.
  std::function<void(std::size_t worker, const std::string& why)> on_restart = {};
  /// A worker was given up; `why`: the restart's error or the last loss.
  std::function<void(std::size_t worker, const std::string& why)> on_removed = {};
};

struct SupervisorOutcome {
  bool cancelled = false;
  bool complete = false;
  /// Consecutive losses after which the last worker was given up; 0 if none was or its restart failed.
  int losses = 0;
  std::string give_up_reason = {};  ///< Reason of the last worker given up.
};

/// Maximum consecutive points that may cost a worker before it is given up.
inline constexpr int max_consecutive_losses = 5;

/// Exceptions of the sink or an observer are rethrown after all workers have stopped.
[[nodiscard]] SupervisorOutcome supervise(std::vector<Worker>& workers, const SupervisedPlan&, const MeasureOptions&,
                                          RecordSink&, const SupervisorObserver&, const CancelToken&);

}  // namespace attnscope
