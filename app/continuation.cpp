// SPDX-License-Identifier: Apache-2.0
#include "app/continuation.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <utility>

namespace attnscope {
namespace {

std::optional<RunSummary> newest_of_plan(const std::vector<RunSummary>& runs, const HashOfPlan& hash_of_plan) {
  std::map<std::string, std::optional<std::string>> hashes;  // by device: planning takes its time
  for (auto newest = runs.rbegin(); newest != runs.rend(); ++newest) {
    const RunSummary& run = *newest;
    if (run.provenance == Provenance::imported || !is_of_whole_plan(run)) continue;
    auto [hash, is_new] = hashes.try_emplace(run.device_uuid);
    if (is_new) hash->second = hash_of_plan(run.limits);
    if (hash->second == run.plan_hash) return run;
  }
  return std::nullopt;
}

}  // namespace

std::optional<StoppedRun> find_stopped_run(const std::vector<std::filesystem::path>& files,
                                           const HashOfPlan& hash_of_plan) {
  for (const std::filesystem::path& file : files) {
    try {
      const RunStore store = RunStore::open(file, RunStore::Mode::read_only);
      std::optional<RunSummary> run = newest_of_plan(store.runs(), hash_of_plan);
      if (run && run->state != StoredRunState::running) return StoppedRun{store.file(), std::move(*run)};
    } catch (const FileError&) {  // said where the file is opened to be written, or passed over
    }
  }
  return std::nullopt;
}

StoppedRun stopped_run_on(const std::filesystem::path& file, const std::string& device_uuid) {
  const RunStore store = RunStore::open(file, RunStore::Mode::read_only);
  const std::vector<RunSummary> runs = store.runs();
  const auto found = std::ranges::find(runs.rbegin(), runs.rend(), device_uuid, &RunSummary::device_uuid);
  if (found == runs.rend()) {
    throw CommandError(ExitCode::error, "{} has no run on {}", file.string(), device_uuid);
  }
  return {store.file(), *found};
}

OpenedDevice open_device_of(const StoppedRun& stopped, const std::string& word, bool counters, Reporter& reporter,
                            std::function<bool(int)> while_locked) {
  const RunSummary& run = stopped.run;
  const auto waits = [&](const Message& why) { reporter.report(LogEvent{"warning", text(why)}); };
  Result<OpenedDevice, std::string> opened = [&]() -> Result<OpenedDevice, std::string> {
    if (is_elsewhere(word)) return reopen_elsewhere(word, run.device_uuid, counters, waits);
    if (find_gpu(run.device_name) == nullptr) {
      if (auto simulated = reopen_simulated(run.device_uuid, run.limits)) return std::move(*simulated);
    }
    return open_pinned_device(run.device_uuid, counters);
  }();
  if (opened) {
    opened->simulated_because = run.simulated_because;  // as true as when it began
    return std::move(opened).value();
  }
  {
    // To open it to write says of every run that nobody is at any more that it is interrupted.
    const RunStore store = RunStore::open(stopped.file, RunStore::Mode::collect, std::move(while_locked));
  }
  const Message why =
      make_message("{} ({}), on which run {} began, cannot be used: {} Then continue the run with --resume -o {}",
                   run.device_name, run.device_uuid, run.id, as_sentence(opened.error()), stopped.file.string());
  reporter.report(
      DoneEvent{"interrupted", why, run.ok_points, run.points - run.ok_points, static_cast<int>(ExitCode::partial)});
  throw CommandError(ExitCode::partial, why);
}

std::vector<std::string> restart_arguments(Arguments given, const Restart& restart) {
  std::vector<std::string> words(given.begin(), given.end());
  std::vector<std::string> added{fmt::format("--continue-after={}", restart.losses),
                                 fmt::format("--continue-on={}", restart.device_uuid)};
  added.insert(added.end(), restart.more.begin(), restart.more.end());
  if (!restart.resumes) added.emplace_back("--resume");
  if (!restart.names_file) added.push_back(fmt::format("--output={}", restart.file.string()));
  // What an earlier restart added is added anew; it stood in the same place.
  const auto command = std::ranges::find(words, "collect");
  auto at = command == words.end() ? words.end() : command + 1;
  while (at != words.end() && at->starts_with("--continue-")) at = words.erase(at);
  words.insert(at, added.begin(), added.end());
  return words;
}

void restart(Arguments given, const Restart& restart) {
  std::vector<std::string> words = restart_arguments(given, restart);
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::cout.flush();
  std::fflush(nullptr);
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);  // the driver's files, the database and its lock
  if (restart.keeps_open >= 0) ::fcntl(restart.keeps_open, F_SETFD, 0);
  ::execv("/proc/self/exe", argv.data());
}

}  // namespace attnscope
