// SPDX-License-Identifier: Apache-2.0
// Records a run into a file while it is collected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "profiler/plan/shards.h"
#include "profiler/plan/sweep.h"
#include "profiler/worker/supervisor.h"
#include "storage/run_store.h"

namespace attnscope {

/// A plan, or a shard of it, with the header of its run. The plan must outlive this object.
struct PlannedRun {
  const SweepPlan* plan = nullptr;
  PointIndices places = {};  ///< empty: not a shard, all places
  RunHeader header = {};
};

/// Returns the newest run of the header's shard, from any device, or of the header's plan if it is no shard, from one
/// of `devices` (UUIDs).
[[nodiscard]] std::optional<RunSummary> find_newest_run(const RunStore& store, const RunHeader& header,
                                                        const std::vector<std::string>& devices);

/// Returns why a shard cannot be recorded into the file without `resume`; empty if it can.
[[nodiscard]] Message shard_conflict(const RunStore&, const RunHeader&, bool resume);

class Recording final : public RecordSink {
 public:
  struct Options {
    bool resume = false;
    bool keep_sources = false;
    std::function<void(const Message&)> warn;
    /// Called after a record was committed as point `point_id`.
    std::function<void(std::size_t worker, std::size_t place, int round, std::int64_t point_id, const PointRecord&)>
        on_stored;
  };
  /// Begins or resumes the run. Points that other devices than `workers` measured are kept only if their whole group
  /// was finished. Throws FileError.
  Recording(RunStore& store, PlannedRun planned, std::vector<DeviceInfo> workers, Options options);

  [[nodiscard]] std::int64_t run() const { return run_; }
  [[nodiscard]] const SweepPlan& plan() const { return *planned_.plan; }
  [[nodiscard]] const PointIndices& places() const { return planned_.places; }
  [[nodiscard]] const SweepRounds& rounds() const { return rounds_; }
  [[nodiscard]] bool resumed() const { return resumed_; }
  [[nodiscard]] bool was_complete() const { return was_complete_; }
  /// Indexed by plan index; places outside of this shard are marked as ended.
  [[nodiscard]] const std::vector<PointProgress>& previous_progress() const { return done_before_; }
  /// Returns the remaining rounds of each point of the plan.
  [[nodiscard]] std::vector<std::size_t> remaining_rounds() const;
  [[nodiscard]] std::size_t total() const { return places().size() * static_cast<std::size_t>(rounds_.count); }
  [[nodiscard]] std::size_t skipped() const { return skipped_; }
  /// Returns the device (UUID) of a group's stored points; empty if there are none, nullopt if there are several
  /// devices.
  [[nodiscard]] std::optional<std::string> started_on(const PointIndices& group) const;

  void keep(std::size_t worker, std::size_t place, int round, const PointRecord& measured) override;
  void restart_points(const PointIndices& places) override;

 private:
  void load_progress();
  [[nodiscard]] bool is_local(const std::string& uuid) const;
  void add_sources(PointRecord& record);

  RunStore& store_;
  PlannedRun planned_;
  std::vector<DeviceInfo> workers_;
  Options options_;
  std::int64_t run_ = 0;
  bool resumed_ = false;
  bool was_complete_ = false;  ///< the run was complete before
  SweepRounds rounds_;
  std::vector<PointProgress> done_before_;
  std::set<std::size_t> kept_;                           ///< plan indices of stored points
  std::map<std::size_t, std::string> measuring_device_;  ///< device UUID by plan index, for points stored before
  std::size_t skipped_ = 0;                              ///< point rounds stored before
  std::map<std::string, std::shared_ptr<const StoredManifest>> manifests_with_sources_;
};

}  // namespace attnscope
