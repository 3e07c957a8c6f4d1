// SPDX-License-Identifier: Apache-2.0
#include "app/commands/unfinished_run.h"

#include <algorithm>
#include <map>
#include <utility>

#include "app/command.h"
#include "app/workers.h"

namespace attnscope {
namespace {

std::optional<RunSummary> newest_run_of_plan(const std::vector<RunSummary>& runs, const PlanHasher& plan_hasher) {
  std::map<std::string, std::optional<std::string>> hashes;  // cached by device: planning is slow
  for (auto newest = runs.rbegin(); newest != runs.rend(); ++newest) {
    const RunSummary& run = *newest;
    if (run.provenance == Provenance::imported || !has_whole_plan(run)) continue;
    auto [hash, is_new] = hashes.try_emplace(run.device_uuid);
    if (is_new) hash->second = plan_hasher(run.limits);
    if (hash->second == run.plan_hash) return run;
  }
  return std::nullopt;
}

}  // namespace

std::optional<UnfinishedRun> find_unfinished_run(const std::vector<std::filesystem::path>& files,
                                                 const PlanHasher& plan_hasher) {
  for (const std::filesystem::path& file : files) {
    try {
      const RunStore store = RunStore::open(file, RunStore::Mode::read_only);
      std::optional<RunSummary> run = newest_run_of_plan(store.runs(), plan_hasher);
      if (run && run->state != StoredRunState::running) return UnfinishedRun{store.file(), std::move(*run)};
    } catch (const FileError&) {  // reported when the file is opened for writing
    }
  }
  return std::nullopt;
}

OpenedDevice open_run_device(const UnfinishedRun& stopped, bool counters, Reporter& reporter,
                             std::function<bool(int)> on_locked) {
  const RunSummary& run = stopped.run;
  Result<OpenedDevice, std::string> opened = [&]() -> Result<OpenedDevice, std::string> {
    if (find_gpu(run.device_name) == nullptr) {
      if (auto simulated = reopen_simulated(run.device_uuid, run.limits)) return std::move(*simulated);
    }
    return open_worker_on(run.device_uuid, counters);
  }();
  if (opened) {
    opened->simulation_reason = run.simulation_reason;
    return std::move(opened).value();
  }
  {
    // Opening for writing marks abandoned runs as interrupted.
    const RunStore store = RunStore::open(stopped.file, RunStore::Mode::collect, std::move(on_locked));
  }
  fail_interrupted(stopped, opened.error(), reporter);
}

void fail_interrupted(const UnfinishedRun& stopped, const std::string& why, Reporter& reporter) {
  const RunSummary& run = stopped.run;
  const Message reason =
      make_message("{} ({}) of run {} cannot be used: {} Then continue the run with --resume -o {}", run.device_name,
                   run.device_uuid, run.id, as_sentence(why), stopped.file.string());
  reporter.report(
      DoneEvent{"interrupted", reason, run.ok_points, run.points - run.ok_points, static_cast<int>(ExitCode::partial)});
  throw CommandError(ExitCode::partial, reason);
}

}  // namespace attnscope
