// SPDX-License-Identifier: Apache-2.0
#include "app/commands/several_devices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "app/command.h"
#include "app/commands/collection.h"
#include "app/device_list.h"
#include "app/unit_times.h"
#include "kernels/registry.h"
#include "messages/collect.h"
#include "messages/command.h"
#include "messages/terminal.h"
#include "messages/units.h"
#include "profiler/measure/progress.h"
#include "profiler/measure/shared_sweep.h"
#include "profiler/metrics/rounds.h"
#include "storage/compared_runs.h"

namespace attnscope {
namespace {

/// Rounds of the anchor points of GPUs: their median is what units are told apart by.
constexpr int anchor_rounds = 3;

/// Of each algorithm of the plan the point that takes neither long nor short: measured by every device.
SweepPlan anchors_of(const Collected& collected, const std::vector<std::int64_t>& ms) {
  std::map<std::string, std::vector<std::pair<std::int64_t, std::size_t>>> by_algorithm;
  for (const std::size_t place : collected.places) {
    if (ms[place] > 0) by_algorithm[collected.plan->points[place].algorithm].emplace_back(ms[place], place);
  }
  SweepPlan anchors{.preset = std::string(anchors_preset), .description = {}, .points = {}};
  for (auto& [algorithm, points] : by_algorithm) {
    const auto middle = points.begin() + static_cast<std::ptrdiff_t>(points.size() / 2);
    std::ranges::nth_element(points, middle);
    anchors.points.push_back(collected.plan->points[middle->second]);
  }
  return anchors;
}

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
  struct Planned {
    SweepPlan plan;
    Collected collected;
    std::vector<std::int64_t> ms;
    bool counters = true;
  };

  [[nodiscard]] const DeviceInfo& info(std::size_t d) const { return infos_[d]; }
  void settle();
  void require_one_kind() const;
  void plan_all();
  Planned& add_plan(SweepPlan plan, std::size_t device, int rounds);
  void open_recordings(RunStore& store);
  void report_plan(std::FILE* people);
  ExitCode measure(RunStore& store);
  void keep(std::size_t d, std::size_t r, std::size_t place, int round, const PointRecord& record);
  ExitCode finish(RunStore& store, const SharedOutcome& outcome);
  void say_units(const RunStore& store);
  ExitCode done(RunStore& store, const std::string& state, const Message& reason, ExitCode code);

  CollectOptions& options_;
  std::vector<NamedDevice> devices_;
  const Planner& planner_;
  Reporter& reporter_;
  CancelToken& cancel_;
  std::vector<DeviceInfo> infos_;
  std::vector<std::string> uuids_;
  std::deque<Planned> planned_;       ///< what is collected, then the anchors
  std::vector<std::size_t> owner_;    ///< by plan, the device that has all of it
  std::size_t results_ = 1;           ///< of the plans, those that were asked for: the others are anchors
  std::deque<Recording> recordings_;  ///< one a plan
  std::vector<SharedRun> shared_;     ///< the same
  std::vector<std::size_t> offsets_;  ///< by plan, of its points among those of all
  std::optional<ProgressEstimator> estimator_;
  ProgressPace pace_;
  std::vector<std::size_t> by_device_;
  std::size_t lost_ = 0;
};

constexpr std::size_t nobody = ~std::size_t{0};

void Several::settle() {
  for (NamedDevice& device : devices_) {
    const DeviceInfo& its = device.opened.device->info();
    infos_.push_back(its);
    uuids_.push_back(its.uuid);
    settle_counters(options_, *device.opened.device, reporter_);
  }
  const bool simulated = std::ranges::all_of(infos_, &DeviceInfo::simulated);
  if (simulated && options_.rounds > 1) {
    reporter_.report(LogEvent{"warning", text(say::command::one_round_simulated{})});
    options_.rounds = 1;
  }
  by_device_.assign(devices_.size(), 0);
}

void Several::require_one_kind() const {
  for (std::size_t d = 1; d < devices_.size(); ++d) {
    const bool alike = info(d).limits.name == info(0).limits.name && info(d).simulated == info(0).simulated &&
                       info(d).limits.sm_count == info(0).limits.sm_count;
    if (alike) continue;
    throw CommandError(ExitCode::usage, say::collect::devices_differ{.first = devices_[0].word,
                                                                     .gpu = info(0).limits.name,
                                                                     .second = devices_[d].word,
                                                                     .other = info(d).limits.name});
  }
}

Several::Planned& Several::add_plan(SweepPlan plan, std::size_t device, int rounds) {
  if (std::ranges::any_of(plan.points, [](const PointSpec& point) { return point.problem.gpus > 1; })) {
    throw CommandError(ExitCode::usage, say::collect::gpus_share_already{});
  }
  Planned& added = planned_.emplace_back();
  added.plan = std::move(plan);
  const OpenedDevice& opened = devices_[device == nobody ? 0 : device].opened;
  RunHeader header = planner_.header(opened, added.plan);
  header.rounds = rounds;
  added.collected = collected_of(added.plan, std::move(header), options_);
  added.counters = options_.measure.counters;
  added.ms = collection_ms(added.plan.points, known_algorithms());
  owner_.push_back(device);
  return added;
}

void Several::plan_all() {
  if (options_.each) {
    for (std::size_t d = 0; d < devices_.size(); ++d) add_plan(planner_.plan(info(d).limits), d, options_.rounds);
    results_ = devices_.size();
    return;
  }
  require_one_kind();
  const Planned& main = add_plan(planner_.plan(info(0).limits), nobody, options_.rounds);
  const SweepPlan anchors = anchors_of(main.collected, main.ms);
  if (anchors.points.empty() || options_.dry_run) return;
  const std::string shard = std::exchange(options_.shard, {});  // of anchors each shard has its own
  // Units are compared by times: with counters they took 0.6 s instead of 0.2.
  const bool counters = std::exchange(options_.measure.counters, false);
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    add_plan(anchors, d, info(d).simulated ? 1 : std::max(options_.rounds, anchor_rounds));
  }
  options_.shard = shard;
  options_.measure.counters = counters;
}

void Several::open_recordings(RunStore& store) {
  std::vector<PointSpec> points;
  std::vector<std::size_t> times;
  const bool resumes = options_.resume;
  for (std::size_t r = 0; r < planned_.size(); ++r) {
    const Planned& planned = planned_[r];
    if (r == results_) {
      // Nothing is left to do: there is nothing that anchors would be of.
      const bool open = std::ranges::any_of(recordings_, [](const Recording& each) { return !each.complete_before(); });
      if (!open) break;
      options_.resume = false;  // units are compared as they are now
    }
    const auto devices = owner_[r] == nobody ? uuids_ : std::vector{uuids_[owner_[r]]};
    const Recording& recording = recordings_.emplace_back(store, planned.collected, devices, options_, reporter_);
    if (r >= results_) {  // for `info`, not for pages
      RunEdit hides;
      hides.hidden = true;
      (void)store.edit(std::vector{recording.run()}, hides);
    }
    SharedRun& run = shared_.emplace_back();
    run.plan = &planned.plan;
    run.rounds = recording.rounds();
    run.done = recording.done_before();
    if (owner_[r] != nobody) run.device = owner_[r];
    run.counters = planned.counters;
    if (owner_[r] == nobody) {
      add_open_groups(recording, planned.ms, run);
    } else {
      run.groups = {recording.places()};
    }
    for (const Places& group : run.groups) {
      const auto begun = std::ranges::find(uuids_, recording.begun_on(group).value_or(std::string()));
      const bool here = begun != uuids_.end();
      run.begun_on.push_back(here ? std::optional<std::size_t>(begun - uuids_.begin()) : std::nullopt);
    }
    offsets_.push_back(points.size());
    points.insert(points.end(), planned.plan.points.begin(), planned.plan.points.end());
    const std::vector<std::size_t> open = recording.open_times();
    times.insert(times.end(), open.begin(), open.end());
  }
  options_.resume = resumes;
  estimator_.emplace(points, known_algorithms(), std::move(times), [&] { return cancel_.cancelled(); });
}

void Several::report_plan(std::FILE* people) {
  std::int64_t most = 0;
  for (const Planned& planned : planned_) {
    most = std::max(most, max_memory(planned.collected, planned.collected.header.device.limits, cancel_, reporter_));
  }
  PlanEvent event = recordings_.front().plan_event(most, counters_text(*devices_.front().opened.device, options_));
  for (const NamedDevice& device : devices_) {
    event.devices.push_back(device.word);
    if (people != nullptr) fmt::print(people, "{}\n", text(device.opened.announcement));
  }
  if (options_.each) {
    event.skipped = 0;
    for (const Recording& recording : recordings_) event.skipped += recording.skipped();
  }
  reporter_.report(event);
}

void Several::keep(std::size_t d, std::size_t r, std::size_t place, int round, const PointRecord& record) {
  recordings_[r].keep(place, round, record, info(d), devices_[d].word);
  estimator_->finished(offsets_[r] + place, record.wall_seconds, has_times(record),
                       !measured_again(record.disposition));
  ++by_device_[d];
  std::size_t total = 0;
  std::size_t done = 0;
  for (const Recording& recording : recordings_) {
    total += recording.total();
    done += recording.skipped();
  }
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
  observer.on_point_started = [this](std::size_t d, std::size_t r, std::size_t place, int round) {
    reporter_.report(StartedEvent{
        .index = place, .point = describe(planned_[r].plan.points[place]), .round = round, .device = devices_[d].word});
  };
  observer.on_point = [this](std::size_t d, std::size_t r, std::size_t place, int round, const PointRecord& record) {
    keep(d, r, place, round, record);
  };
  observer.on_begun_anew = [this](std::size_t r, const Places& places) { recordings_[r].begin_anew(places); };
  observer.on_device_lost = [&](std::size_t d, const std::string& why, bool gone) {
    lost_ += gone ? 1 : 0;
    const std::string& device = devices_[d].word;
    warn(gone ? Message(say::collect::device_gone{.device = device, .uuid = uuids_[d], .why = as_sentence(why)})
              : Message(say::collect::device_goes_on{.device = device, .why = as_sentence(why)}));
  };
  return finish(store, run_shared(shared, shared_, options_.measure, observer, cancel_));
}

ExitCode Several::finish(RunStore& store, const SharedOutcome& outcome) {
  bool complete = true;
  for (std::size_t r = 0; r < recordings_.size(); ++r) {
    const StoredRunState state = outcome.complete[r] ? StoredRunState::complete
                                 : outcome.cancelled ? StoredRunState::cancelled
                                                     : StoredRunState::failed;
    if (r < results_) complete = complete && outcome.complete[r];
    if (!recordings_[r].complete_before()) store.finish_run(recordings_[r].run(), state);
  }
  if (!complete && outcome.cancelled)
    return done(store, "cancelled", say::collect::continue_with_resume{}, ExitCode::partial);
  if (!complete) return done(store, "device-lost", say::collect::all_devices_gone{}, ExitCode::partial);
  const ExitCode code = lost_ > 0 ? ExitCode::partial : ExitCode::ok;
  return done(store, "complete", {}, code);
}

ExitCode Several::done(RunStore& store, const std::string& state, const Message& reason, ExitCode code) {
  std::vector<std::int64_t> runs;
  for (std::size_t r = 0; r < results_; ++r) runs.push_back(recordings_[r].run());
  if (code == ExitCode::ok) code = exit_code_of_points(store, runs, options_);
  if (!info(0).simulated && state == "complete") say_units(store);
  report_done(store, runs, state, reason, code, reporter_);
  if (state == "failed") return code;
  print_result(store, runs, options_.result);
  return with_skipped_rows(store, code);
}

void Several::say_units(const RunStore& store) {
  for (const auto& [gpu, units] : units_in(store)) {
    for (const analysis::UnitSpread& unit : units) {
      const Message said = say::units::said{.unit = unit.device_uuid,
                                            .ratio = fmt::format("{:.4f}", unit.ratio),
                                            .q1 = fmt::format("{:.4f}", unit.q1),
                                            .q3 = fmt::format("{:.4f}", unit.q3),
                                            .points = unit.points};
      reporter_.report(LogEvent{"info", text(said)});
    }
  }
}

ExitCode Several::run(std::FILE* people) {
  settle();
  plan_all();
  const RunHeader& header = planned_.front().collected.header;
  const std::filesystem::path file = file_to_write(options_, header, uuids_);
  RunStore store = RunStore::open(file, RunStore::Mode::collect, waiting_for_lock(file, reporter_, cancel_));
  open_recordings(store);
  report_plan(people);
  if (recordings_.size() == results_ &&
      std::ranges::all_of(recordings_, [](const Recording& each) { return each.complete_before(); })) {
    reporter_.report(LogEvent{"info", text(say::command::complete_already{.run = recordings_.front().run()})});
    return done(store, "complete", say::collect::nothing_left{}, ExitCode::ok);
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
  if (words.empty()) throw CommandError(ExitCode::usage, say::collect::each_of_one{});
  if (options.serve) throw CommandError(ExitCode::usage, say::collect::one_device_only{.option = "--serve"});
  if (!options.ceilings.empty())
    throw CommandError(ExitCode::usage, say::collect::one_device_only{.option = "--ceilings"});
  // A device that is reopened says so from its own thread.
  const std::unique_ptr<Reporter> locked = make_locked_reporter(reporter);
  const auto warn = [&](const Message& why) { locked->report(LogEvent{"warning", text(why)}); };
  std::vector<NamedDevice> devices = open_several(words, options.device == "all", options.measure.counters, warn);
  return Several(options, std::move(devices), planner, *locked, cancel).run(people);
}

}  // namespace attnscope
