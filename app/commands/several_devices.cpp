// SPDX-License-Identifier: Apache-2.0
#include "app/commands/several_devices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "app/command.h"
#include "app/commands/collection.h"
#include "app/device_list.h"
#include "kernels/registry.h"
#include "profiler/measure/progress.h"
#include "profiler/measure/shared_sweep.h"
#include "profiler/metrics/rounds.h"

namespace attnscope {
namespace {

/// Those with open points: the longest bundle first, so that devices end together, and in it the longest group.
void add_open_groups(const Recording& recording, const std::vector<std::int64_t>& ms, SharedRun& run) {
  struct Weighed {
    std::int64_t bundle_ms = 0;
    std::size_t bundle = 0;
    std::int64_t ms = 0;
    Places places;
  };
  const std::vector<std::size_t> open = recording.open_times();
  std::vector<Places> groups = compared_groups(recording.plan().points);
  std::erase_if(groups, [&](const Places& group) {
    return std::ranges::none_of(group, [&](std::size_t place) { return open[place] > 0; });
  });
  const std::vector<std::size_t> bundles = bundles_of(recording.plan().points, groups);
  std::vector<Weighed> weighed;
  std::map<std::size_t, std::int64_t> bundle_ms;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    Weighed& group = weighed.emplace_back(Weighed{.bundle = bundles[g], .places = std::move(groups[g])});
    for (const std::size_t place : group.places) group.ms += open[place] > 0 ? ms[place] : 0;
    bundle_ms[group.bundle] += group.ms;
  }
  for (Weighed& group : weighed) group.bundle_ms = bundle_ms.at(group.bundle);
  std::ranges::stable_sort(weighed, std::greater(),
                           [](const Weighed& group) { return std::tuple(group.bundle_ms, group.bundle, group.ms); });
  for (Weighed& group : weighed) {
    run.groups.push_back(std::move(group.places));
    run.bundles.push_back(group.bundle);
  }
}

class Several {
 public:
  Several(CollectOptions& options, std::vector<NamedDevice> devices, const Planner& planner, Reporter& reporter,
          CancelToken& cancel)
      : options_(options), devices_(std::move(devices)), planner_(planner), reporter_(reporter), cancel_(cancel) {}

  ExitCode run(std::FILE* people);

 private:
  [[nodiscard]] const DeviceInfo& info(std::size_t d) const { return infos_[d]; }
  void settle();
  void require_one_kind() const;
  void plan();
  void open_recording(RunStore& store);
  void report_plan(std::FILE* people);
  ExitCode measure(RunStore& store);
  void keep(std::size_t d, std::size_t place, int round, const PointRecord& record);
  ExitCode finish(RunStore& store, const SharedOutcome& outcome);
  ExitCode done(RunStore& store, const std::string& state, const Message& reason, ExitCode code);

  CollectOptions& options_;
  std::vector<NamedDevice> devices_;
  const Planner& planner_;
  Reporter& reporter_;
  CancelToken& cancel_;
  std::vector<DeviceInfo> infos_;
  std::vector<std::string> uuids_;
  SweepPlan plan_;
  Collected collected_;
  std::vector<std::int64_t> ms_;  ///< by place of the plan
  std::optional<Recording> recording_;
  SharedRun shared_;
  std::optional<ProgressEstimator> estimator_;
  ProgressPace pace_;
  std::vector<std::size_t> by_device_;
  std::size_t lost_ = 0;
};

void Several::settle() {
  for (NamedDevice& device : devices_) {
    const DeviceInfo& its = device.opened.device->info();
    infos_.push_back(its);
    uuids_.push_back(its.uuid);
    settle_counters(options_, *device.opened.device, reporter_);
  }
  const bool simulated = std::ranges::all_of(infos_, &DeviceInfo::simulated);
  if (simulated && options_.rounds > 1) {
    reporter_.report(
        LogEvent{"warning", "a simulation gives the same in every round: it is played once, without --rounds"});
    options_.rounds = 1;
  }
  by_device_.assign(devices_.size(), 0);
}

void Several::require_one_kind() const {
  for (std::size_t d = 1; d < devices_.size(); ++d) {
    const bool alike = info(d).limits.name == info(0).limits.name && info(d).simulated == info(0).simulated &&
                       info(d).limits.sm_count == info(0).limits.sm_count;
    if (alike) continue;
    throw CommandError(ExitCode::usage,
                       "--device {} is the {} and --device {} the {}: only GPUs of one kind share a plan",
                       devices_[0].word, info(0).limits.name, devices_[d].word, info(d).limits.name);
  }
}

void Several::plan() {
  require_one_kind();
  plan_ = planner_.plan(info(0).limits);
  if (std::ranges::any_of(plan_.points, [](const PointSpec& point) { return point.problem.gpus > 1; })) {
    throw CommandError(ExitCode::usage,
                       "points of several GPUs are measured by one process, which finds the others itself: name one "
                       "device (--device 0, or simulated)");
  }
  RunHeader header = planner_.header(devices_.front().opened, plan_);
  header.rounds = options_.rounds;
  collected_ = collected_of(plan_, std::move(header), options_);
  ms_ = collection_ms(plan_.points, known_algorithms());
}

void Several::open_recording(RunStore& store) {
  const Recording& recording = recording_.emplace(store, collected_, uuids_, options_, reporter_);
  shared_.plan = &plan_;
  shared_.rounds = recording.rounds();
  shared_.done = recording.done_before();
  add_open_groups(recording, ms_, shared_);
  for (const Places& group : shared_.groups) {
    const auto begun = std::ranges::find(uuids_, recording.begun_on(group).value_or(std::string()));
    const bool here = begun != uuids_.end();
    shared_.begun_on.push_back(here ? std::optional<std::size_t>(begun - uuids_.begin()) : std::nullopt);
  }
  estimator_.emplace(plan_.points, known_algorithms(), recording.open_times(), [&] { return cancel_.cancelled(); });
}

void Several::report_plan(std::FILE* people) {
  const std::int64_t most = max_memory(collected_, collected_.header.device.limits, cancel_, reporter_);
  PlanEvent event = recording_->plan_event(most, counters_text(*devices_.front().opened.device, options_));
  for (const NamedDevice& device : devices_) {
    event.devices.push_back(device.word);
    if (people != nullptr) fmt::print(people, "{}\n", text(device.opened.announcement));
  }
  reporter_.report(event);
}

void Several::keep(std::size_t d, std::size_t place, int round, const PointRecord& record) {
  recording_->keep(place, round, record, info(d), devices_[d].word);
  estimator_->finished(place, record.wall_seconds, has_times(record), !measured_again(record.disposition));
  ++by_device_[d];
  const std::size_t total = recording_->total();
  std::size_t done = recording_->skipped();
  for (const std::size_t points : by_device_) done += points;
  done = std::min(done, total);  // what began anew elsewhere was done twice
  if (!reporter_.listened_to()) cancel_.cancel();
  if (!pace_.due(done >= total)) return;
  const std::optional<double> alone = estimator_->remaining_seconds();
  reporter_.report(ProgressEvent{.done = done,
                                 .total = total,
                                 .elapsed_s = pace_.elapsed_s(),
                                 .remaining_s = alone ? *alone / static_cast<double>(devices_.size() - lost_) : -1,
                                 .by_device = by_device_});
}

ExitCode Several::measure(RunStore& store) {
  const auto warn = [this](const Message& why) { reporter_.report(LogEvent{"warning", text(why)}); };
  std::vector<SharedDevice> shared;
  for (NamedDevice& device : devices_) {
    shared.push_back(shared_device({device.word, std::move(device.opened)}, options_.measure.counters, warn));
  }
  SharedObserver observer;
  observer.on_build = [this](std::size_t done, std::size_t total, const BuildReport& report) {
    reporter_.report(BuildEvent{done, total, report.kernel, report.cached, report.error});
  };
  observer.on_point_started = [this](std::size_t d, std::size_t place, int round) {
    reporter_.report(StartedEvent{
        .index = place, .point = describe(plan_.points[place]), .round = round, .device = devices_[d].word});
  };
  observer.on_point = [this](std::size_t d, std::size_t place, int round, const PointRecord& record) {
    keep(d, place, round, record);
  };
  observer.on_begun_anew = [this](const Places& places) { recording_->begin_anew(places); };
  observer.on_device_lost = [&](std::size_t d, const std::string& why, bool gone) {
    lost_ += gone ? 1 : 0;
    const std::string& device = devices_[d].word;
    warn(gone ? make_message("device {} ({}) is gone: {} Other devices take what it had begun.", device, uuids_[d],
                             as_sentence(why))
              : make_message("device {}: {} It goes on with the next point in a fresh process.", device,
                             as_sentence(why)));
  };
  return finish(store, run_shared(shared, shared_, options_.measure, observer, cancel_));
}

ExitCode Several::finish(RunStore& store, const SharedOutcome& outcome) {
  const StoredRunState state = outcome.complete    ? StoredRunState::complete
                               : outcome.cancelled ? StoredRunState::cancelled
                                                   : StoredRunState::failed;
  if (!recording_->complete_before()) store.finish_run(recording_->run(), state);
  if (!outcome.complete && outcome.cancelled)
    return done(store, "cancelled", "continue with --resume", ExitCode::partial);
  if (!outcome.complete)
    return done(store, "device-lost", "no device is left; continue with --resume", ExitCode::partial);
  const ExitCode code = lost_ > 0 ? ExitCode::partial : ExitCode::ok;
  return done(store, "complete", {}, code);
}

ExitCode Several::done(RunStore& store, const std::string& state, const Message& reason, ExitCode code) {
  const std::vector runs{recording_->run()};
  if (code == ExitCode::ok) code = exit_code_of_points(store, runs, options_);
  report_done(store, runs, state, reason, code, reporter_);
  if (state == "failed") return code;
  print_result(store, runs, options_.result);
  return with_skipped_rows(store, code);
}

ExitCode Several::run(std::FILE* people) {
  settle();
  plan();
  const std::filesystem::path file = file_to_write(options_, collected_.header, uuids_);
  RunStore store = RunStore::open(file, RunStore::Mode::collect, waiting_for_lock(file, reporter_, cancel_));
  open_recording(store);
  report_plan(people);
  if (recording_->complete_before()) {
    reporter_.report(LogEvent{"info", format_text("complete already: run {}", recording_->run())});
    return done(store, "complete", "nothing was left to do", ExitCode::ok);
  }
  try {
    return measure(store);
  } catch (const std::exception& error) {  // a full disk: what was kept stays, the rest can be resumed
    done(store, "failed", Message::verbatim(one_line(explain(error))), ExitCode::error);
    throw;
  }
}

}  // namespace

ExitCode collect_on_several(CollectOptions& options, const std::vector<std::string>& words, const Planner& planner,
                            Reporter& reporter, std::FILE* people, CancelToken& cancel) {
  if (options.serve) throw CommandError(ExitCode::usage, "--serve is for one device; name one with --device");
  if (!options.ceilings.empty())
    throw CommandError(ExitCode::usage, "--ceilings is for one device; name one with --device");
  // A device that is reopened says so from its own thread.
  const std::unique_ptr<Reporter> locked = make_locked_reporter(reporter);
  const auto warn = [&](const Message& why) { locked->report(LogEvent{"warning", text(why)}); };
  std::vector<NamedDevice> devices = open_several(words, options.device == "all", options.measure.counters, warn);
  return Several(options, std::move(devices), planner, *locked, cancel).run(people);
}

}  // namespace attnscope
