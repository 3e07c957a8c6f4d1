// SPDX-License-Identifier: Apache-2.0
#include "storage/recording.h"

#include <algorithm>
#include <utility>

#include "kernels/files/regular_file.h"
#include "kernels/registry.h"
#include "kernels/user/user_kernel.h"
#include "profiler/metrics/manifest.h"
#include "profiler/metrics/rounds.h"

namespace attnscope {
namespace {

/// Returns the manifest with the contents of its files that still match their digests, up to max_stored_source_bytes.
/// `algorithm`: name of its kernel in this process.
std::shared_ptr<const StoredManifest> read_contents(const std::shared_ptr<const StoredManifest>& manifest,
                                                    const std::string& algorithm) {
  const auto* const kernel = dynamic_cast<const user::UserKernel*>(known_algorithms().find(algorithm));
  if (kernel == nullptr) return manifest;
  auto whole = std::make_shared<StoredManifest>(*manifest);
  std::size_t room = max_stored_source_bytes;
  for (const ManifestSource& each : whole->sources) room -= each.content ? each.content->size() : 0;
  const auto take = [&](ManifestSource& source, const std::filesystem::path& file) {
    if (source.content) return;
    auto content = read_regular_file(file, room);
    if (!content || uuid_of(*content) != source.digest) return;
    room -= content->size();
    source.content = std::move(content).value();
  };
  for (ManifestSource& source : whole->sources) {
    for (const std::filesystem::path& file : kernel->source_files()) {
      take(source, file);
      take(source, file.parent_path() / source.name);  // included files
    }
  }
  return whole;
}

}  // namespace

std::optional<RunSummary> find_newest_run(const RunStore& store, const RunHeader& header,
                                          const std::vector<std::string>& devices) {
  const auto is_local = [&](const std::string& uuid) { return std::ranges::find(devices, uuid) != devices.end(); };
  // Several devices, or merged shards, share a run that may have begun on another device.
  const auto began_here = [&](const RunSummary& run) {
    if (is_local(run.device_uuid)) return true;
    if (devices.size() < 2 && run.shards.size() < 2) return false;
    const std::vector<MeasuredRounds> points = store.measured_rounds(run.id);
    return std::ranges::any_of(points, is_local, &MeasuredRounds::device_uuid);
  };
  const auto wanted = [&](const RunSummary& run) {
    if (!header.shard.whole()) return run.uid == header.uid && run.shards == std::vector{header.shard};
    return run.plan_hash == header.plan_hash && has_whole_plan(run) && began_here(run);
  };
  std::optional<RunSummary> newest;
  for (RunSummary& run : store.runs()) {
    if (wanted(run)) newest = std::move(run);
  }
  return newest;
}

Message shard_conflict(const RunStore& store, const RunHeader& header, bool resume) {
  if (header.shard.whole()) return {};
  const std::optional<RunSummary> newest = find_newest_run(store, header, {});
  if (newest && resume) return {};
  const std::string file = store.file().string();
  if (newest) {
    return make_message(
        "{} already has shard {} of this plan, run {} (--resume continues it; --recording NAME starts a new "
        "recording)",
        file, to_string(header.shard), newest->id);
  }
  const std::vector<RunSummary> runs = store.runs();
  const auto other = std::ranges::find(runs, header.uid, &RunSummary::uid);
  if (other == runs.end()) return {};
  return make_message("{} has another shard of this plan, run {} (use a separate file for shard {}, then merge)", file,
                      other->id, to_string(header.shard));
}

Recording::Recording(RunStore& store, PlannedRun planned, std::vector<DeviceInfo> workers, Options options)
    : store_(store),
      planned_(std::move(planned)),
      workers_(std::move(workers)),
      options_(std::move(options)),
      rounds_{.count = planned_.header.rounds, .seed = planned_.header.order_seed} {
  std::vector<std::string> uuids;
  for (const DeviceInfo& worker : workers_) uuids.push_back(worker.uuid);
  const std::optional<RunSummary> newest =
      options_.resume ? find_newest_run(store_, planned_.header, uuids) : std::optional<RunSummary>();
  resumed_ = newest.has_value();
  was_complete_ = newest && newest->state == StoredRunState::complete;
  run_ = newest ? newest->id : store_.begin_run(planned_.header);
  if (newest && !was_complete_) store_.reopen_run(run_);
  if (newest) rounds_.seed = newest->order_seed;
  load_progress();
}

bool Recording::is_local(const std::string& uuid) const {
  return std::ranges::find(workers_, uuid, &DeviceInfo::uuid) != workers_.end();
}

void Recording::load_progress() {
  const std::size_t points = plan().points.size();
  done_before_.assign(points, PointProgress{.rounds = {}, .ended = true});
  for (const std::size_t place : places()) done_before_[place] = {};
  bool one_device = workers_.size() == 1;
  for (const MeasuredRounds& point : store_.measured_rounds(run_)) {
    if (point.index >= points) {
      options_.warn(
          make_message("run {} has a point at plan index {}, but the plan has only {} points; the point is ignored",
                       run_, point.index, grouped(done_before_.size())));
      continue;
    }
    PointProgress& done = done_before_[point.index];
    kept_.insert(point.index);
    measuring_device_[point.index] = point.device_uuid;
    one_device = one_device && point.device_uuid == workers_.front().uuid;
    done.ended = done.ended || rounds_.count == 1 || !can_remeasure(point.disposition);
    for (const int round : point.rounds) {
      if (round < rounds_.count) done.rounds.insert(round);
    }
  }
  const auto open = [&](std::size_t place) {
    return !done_before_[place].ended && done_before_[place].rounds.size() < static_cast<std::size_t>(rounds_.count);
  };
  for (const PointIndices& group : one_device ? std::vector<PointIndices>() : comparison_groups(plan().points)) {
    if (std::ranges::none_of(group, open)) continue;
    const std::optional<std::string> begun = started_on(group);
    if (!begun || (!begun->empty() && !is_local(*begun))) restart_points(group);
  }
  for (const std::size_t place : places()) {
    skipped_ += done_before_[place].ended ? static_cast<std::size_t>(rounds_.count) : done_before_[place].rounds.size();
  }
}

std::vector<std::size_t> Recording::remaining_rounds() const {
  std::vector<std::size_t> times;
  for (const PointProgress& point : done_before_) {
    times.push_back(point.ended ? 0 : static_cast<std::size_t>(rounds_.count) - point.rounds.size());
  }
  return times;
}

std::optional<std::string> Recording::started_on(const PointIndices& group) const {
  std::string device;
  for (const std::size_t place : group) {
    const auto found = measuring_device_.find(place);
    if (found == measuring_device_.end() || found->second == device) continue;
    if (!device.empty()) return std::nullopt;
    device = found->second;
  }
  return device;
}

void Recording::restart_points(const PointIndices& places) {
  for (const std::size_t place : places) {
    done_before_[place] = {};
    kept_.erase(place);
    measuring_device_.erase(place);
  }
}

void Recording::keep(std::size_t worker, std::size_t place, int round, const PointRecord& measured) {
  PointRecord record = make_storable(measured);
  add_sources(record);
  const bool has_rounds = kept_.contains(place);
  // A round cancelled after others is dropped; the stored rounds stay.
  if (has_rounds && record.disposition == Disposition::cancelled) return;
  const std::int64_t id = has_rounds ? store_.add_round(run_, place, round, record)
                                     : store_.add_point(run_, place, record, &workers_.at(worker));
  if (record.disposition != Disposition::cancelled) kept_.insert(place);
  if (options_.on_stored) options_.on_stored(worker, place, round, id, record);
}

/// Adds source contents, which workers do not send. All points of a manifest share one object.
void Recording::add_sources(PointRecord& record) {
  if (!options_.keep_sources || !record.manifest) return;
  auto& kept = manifests_with_sources_[digest_of(*record.manifest)];
  const bool is_new = !kept;
  if (is_new) kept = read_contents(record.manifest, record.spec.algorithm);
  record.manifest = kept;
  const auto files =
      std::ranges::count(kept->sources, false, [](const ManifestSource& source) { return source.content.has_value(); });
  if (files == 0 || !is_new) return;
  options_.warn(
      make_message("--keep-sources: kernel {}: only the digests of {} files are stored (maximum: 16 MiB per kernel)",
                   record.spec.algorithm, files));
}

}  // namespace attnscope
