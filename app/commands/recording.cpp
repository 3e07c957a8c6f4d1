// SPDX-License-Identifier: Apache-2.0
#include "app/commands/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "app/own_kernels.h"
#include "kernels/registry.h"
#include "profiler/metrics/rounds.h"
#include "profiler/metrics/statement.h"

namespace attnscope {

std::optional<RunSummary> newest_run(const RunStore& store, const RunHeader& header,
                                     const std::vector<std::string>& devices) {
  const auto is_here = [&](const std::string& uuid) { return std::ranges::find(devices, uuid) != devices.end(); };
  // Several devices, or shards that were merged, share a run that may have begun on one that is not here.
  const auto begun_here = [&](const RunSummary& run) {
    if (is_here(run.device_uuid)) return true;
    if (devices.size() < 2 && run.shards.size() < 2) return false;
    const std::vector<MeasuredRounds> points = store.measured_rounds(run.id);
    return std::ranges::any_of(points, is_here, &MeasuredRounds::device_uuid);
  };
  const auto wanted = [&](const RunSummary& run) {
    if (!header.shard.whole()) return run.uid == header.uid && run.shards == std::vector{header.shard};
    return run.plan_hash == header.plan_hash && is_of_whole_plan(run) && begun_here(run);
  };
  std::optional<RunSummary> newest;
  for (RunSummary& run : store.runs()) {
    if (wanted(run)) newest = std::move(run);
  }
  return newest;
}

Collected collected_of(const SweepPlan& plan, RunHeader header, const CollectOptions& options) {
  Collected collected{.plan = &plan, .places = Places(plan.points.size()), .header = std::move(header)};
  std::iota(collected.places.begin(), collected.places.end(), std::size_t{0});
  if (options.shard.empty()) return collected;
  const auto shard = parse_shard(options.shard);
  if (!shard) throw CommandError(ExitCode::usage, "--shard: {}", shard.error());
  if (shard->whole()) return collected;
  const std::vector<Places> shards = cut(plan.points, collection_ms(plan.points, known_algorithms()), shard->count);
  // A simulation's parts and a measurement's are no parts of one run, nor are those of GPUs of two kinds.
  const DeviceInfo& device = collected.header.device;
  const std::string whose = fmt::format("{} {} {}{}", collected.header.plan_hash, device.limits.name,
                                        device.limits.sm_count, device.simulated ? " simulated" : "");
  collected.places = shards[static_cast<std::size_t>(shard->number - 1)];
  collected.header.shard = *shard;
  collected.header.uid = cut_uid(whose, shards, options.collection);
  return collected;
}

Recording::Recording(RunStore& store, Collected collected, const std::vector<std::string>& devices,
                     const CollectOptions& options, Reporter& reporter)
    : store_(store),
      collected_(std::move(collected)),
      options_(options),
      reporter_(reporter),
      rounds_{.count = collected_.header.rounds, .seed = collected_.header.order_seed} {
  const RunHeader& header = collected_.header;
  const std::optional<RunSummary> newest =
      options.resume || !header.shard.whole() ? newest_run(store_, header, devices) : std::nullopt;
  if (newest && !options.resume) {
    throw CommandError(ExitCode::usage,
                       "{} has shard {} of this plan already (run {}): --resume continues it, and --collection NAME "
                       "makes it another recording",
                       store_.file().string(), to_string(header.shard), newest->id);
  }
  for (const RunSummary& run : store_.runs()) {
    if (newest || header.shard.whole() || run.uid != header.uid) continue;
    throw CommandError(ExitCode::usage,
                       "{} has another shard of this plan (run {}): give shard {} a file of its own, and merge them",
                       store_.file().string(), run.id, to_string(header.shard));
  }
  complete_before_ = newest && newest->state == StoredRunState::complete;
  if (options.resume && !newest) {
    if (!options.continue_on.empty()) {
      throw CommandError(ExitCode::error, "{} has no run to go on with", store_.file().string());
    }
    reporter.report(LogEvent{"info", "nothing to resume here: a new run is begun"});
  }
  run_ = newest ? newest->id : store_.begin_run(header);
  if (newest && !complete_before_) store_.reopen_run(run_);
  if (newest) rounds_.seed = newest->order_seed;
  find_done(devices);
}

void Recording::find_done(const std::vector<std::string>& devices) {
  const std::size_t points = plan().points.size();
  done_before_.assign(points, DoneBefore{.rounds = {}, .ended = true});
  for (const std::size_t place : places()) done_before_[place] = {};
  bool one_device = devices.size() == 1;
  for (const MeasuredRounds& point : store_.measured_rounds(run_)) {
    if (point.index >= points) {
      const Message beyond = make_message(
          "run {} has a point at place {}, and the plan has {}, counted from 0: that point is left as it is and counts "
          "for nothing",
          run_, point.index, grouped(done_before_.size()));
      reporter_.report(LogEvent{"warning", text(beyond)});
      continue;
    }
    DoneBefore& done = done_before_[point.index];
    kept_.insert(point.index);
    measured_on_[point.index] = point.device_uuid;
    one_device = one_device && point.device_uuid == devices.front();
    done.ended = done.ended || rounds_.count == 1 || !measured_again(point.disposition);
    for (const int round : point.rounds) {
      if (round < rounds_.count) done.rounds.insert(round);
    }
  }
  const auto open = [&](std::size_t place) {
    return !done_before_[place].ended && done_before_[place].rounds.size() < static_cast<std::size_t>(rounds_.count);
  };
  for (const Places& group : one_device ? std::vector<Places>() : compared_groups(plan().points)) {
    if (std::ranges::none_of(group, open)) continue;
    const std::optional<std::string> begun = begun_on(group);
    if (!begun || (!begun->empty() && std::ranges::find(devices, *begun) == devices.end())) begin_anew(group);
  }
  for (const std::size_t place : places()) {
    skipped_ += done_before_[place].ended ? static_cast<std::size_t>(rounds_.count) : done_before_[place].rounds.size();
  }
}

std::vector<std::size_t> Recording::open_times() const {
  std::vector<std::size_t> times;
  for (const DoneBefore& point : done_before_) {
    times.push_back(point.ended ? 0 : static_cast<std::size_t>(rounds_.count) - point.rounds.size());
  }
  return times;
}

PlanEvent plan_event(const Collected& collected) {
  const DeviceInfo& info = collected.header.device;
  const Shard& shard = collected.header.shard;
  PlanEvent event;
  event.device_name = info.limits.name;
  event.device_uuid = info.uuid;
  event.simulated = info.simulated;
  event.preset = collected.plan->preset;
  event.total = collected.plan->points.size();
  event.rounds = collected.header.rounds;
  if (shard.whole()) return event;
  event.shard = to_string(shard);
  event.shard_points = collected.places.size();
  return event;
}

PlanEvent Recording::plan_event(std::int64_t max_memory, const std::string& counters) const {
  PlanEvent event = attnscope::plan_event(collected_);
  event.database = store_.file().string();
  event.run_id = run_;
  event.skipped = skipped_;
  event.max_memory_bytes = max_memory;
  event.counters = counters;
  return event;
}

std::optional<std::string> Recording::begun_on(const Places& group) const {
  std::string device;
  for (const std::size_t place : group) {
    const auto found = measured_on_.find(place);
    if (found == measured_on_.end() || found->second == device) continue;
    if (!device.empty()) return std::nullopt;
    device = found->second;
  }
  return device;
}

void Recording::begin_anew(const Places& places) {
  for (const std::size_t place : places) {
    done_before_[place] = {};
    kept_.erase(place);
    measured_on_.erase(place);
  }
}

void Recording::keep(std::size_t place, int round, const PointRecord& measured, const DeviceInfo& info,
                     const std::string& device) {
  PointRecord record = storable(measured);
  if (options_.measure.keep_sources && record.statement) record.statement = with_sources(record);
  const bool has_rounds = kept_.contains(place);
  // Cancelled in a later round: what the others found stays as it is, and the round is as if never begun.
  if (has_rounds && record.disposition == Disposition::cancelled) return;
  const std::int64_t id =
      has_rounds ? store_.add_round(run_, place, round, record) : store_.add_point(run_, place, record, info);
  if (record.disposition != Disposition::cancelled) kept_.insert(place);
  say_what_is_not_kept(record);
  PointEvent event = point_event(place, id, record);
  event.round = round;
  event.rounds = rounds_.count;
  event.device = device;
  reporter_.report(event);
}

/// One object for each statement. A process that measures libraries sends no contents: they are read here.
std::shared_ptr<const KernelStatement> Recording::with_sources(const PointRecord& record) {
  auto& kept = with_sources_[digest_of(*record.statement)];
  if (!kept) kept = with_contents(record.statement, record.spec.algorithm);
  return kept;
}

/// Of sources that were to be kept: once for each statement.
void Recording::say_what_is_not_kept(const PointRecord& record) {
  if (!options_.measure.keep_sources || !record.statement) return;
  const auto files = std::ranges::count(record.statement->sources, false,
                                        [](const StatementSource& source) { return source.content.has_value(); });
  if (files == 0 || !said_.insert(record.statement).second) return;
  reporter_.report(LogEvent{"warning", format_text("--keep-sources: of kernel {} {} files are kept by their digests "
                                                   "alone: more than 16 MiB of one statement are not kept",
                                                   record.spec.algorithm, files)});
}

}  // namespace attnscope
