// SPDX-License-Identifier: Apache-2.0
// Runs a plan on workers, one for each GPU: hands out the points, keeps the records, and restarts a worker whose GPU or
// process is lost. Points that are compared with one another, a group, stay on one worker; an idle worker takes the
// next group. The groups of a worker that cannot be restarted begin anew on the others.
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
  /// The same device in a new process, after what it ran made it unusable. The error says why there is none.
  std::function<Result<std::unique_ptr<Device>, std::string>()> restart;
  std::string host = {};  ///< workers of one host share what the first of them compiles
};

/// A plan that is measured, all of it or some groups of it.
struct SupervisedPlan {
  const SweepPlan* plan = nullptr;
  SweepRounds rounds = {};
  std::vector<DoneBefore> done = {};  ///< of each place
  std::vector<Places> groups = {};    ///< in the order in which they are taken
  /// By group, the worker that has begun it and continues it; empty: none has.
  std::vector<std::optional<std::size_t>> begun_on = {};
  std::vector<std::size_t> bundles = {};  ///< by group, as bundles_of() gives it; empty: each is a bundle
};

/// Where records are kept. Calls are serialized; what one throws ends the run. `worker`: its place among the workers.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void keep(std::size_t worker, std::size_t place, int round, const PointRecord&) = 0;
  /// What was kept of these places is replaced by what another worker finds.
  virtual void begin_anew(const Places&) = 0;
};

/// Calls are serialized, also with those of the sink.
struct SupervisorObserver {
  std::function<void(std::size_t done, std::size_t total, const BuildReport&)> on_build = {};
  std::function<void(std::size_t worker, std::size_t place, int round)> on_point_started = {};
  /// A worker is restarted after `why`.
  std::function<void(std::size_t worker, const std::string& why)> on_restart = {};
  /// It is given up: `why` it could not be restarted, or its last loss.
  std::function<void(std::size_t worker, const std::string& why)> on_gone = {};
};

struct SupervisorOutcome {
  bool cancelled = false;
  bool complete = false;
  /// Losses in a row after which the last worker was given up; 0 where none was or it could not be restarted.
  int losses = 0;
  std::string gone_because = {};  ///< of the worker that was given up last
};

/// Points in a row that may cost a worker before it is given up.
inline constexpr int most_losses_in_a_row = 5;

/// What the sink or an observer throws passes through once all workers have stopped.
[[nodiscard]] SupervisorOutcome supervise(std::vector<Worker>& workers, const SupervisedPlan&, const MeasureOptions&,
                                          RecordSink&, const SupervisorObserver&, const CancelToken&);

}  // namespace attnscope
