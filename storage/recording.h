// SPDX-License-Identifier: Apache-2.0
// A run while it is collected: what its file has of it, and what it gets.
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

/// A plan, or places of it, and the header of its run. The plan has to live as long.
struct PlannedRun {
  const SweepPlan* plan = nullptr;
  Places places = {};  ///< all of them, where it is no shard
  RunHeader header = {};
};

/// The newest run of the header's plan, or of its shard of it, which continues on any device; else on one of `devices`
/// (UUIDs).
[[nodiscard]] std::optional<RunSummary> newest_run(const RunStore& store, const RunHeader& header,
                                                   const std::vector<std::string>& devices);

/// Why a shard cannot be recorded into the file without `resume`; empty where it can.
[[nodiscard]] Message shard_conflict(const RunStore&, const RunHeader&, bool resume);

class Recording final : public RecordSink {
 public:
  struct Options {
    bool resume = false;
    bool keep_sources = false;  ///< as MeasureOptions::keep_sources
    std::function<void(const Message&)> warn;
    /// A record is committed as the point of that id.
    std::function<void(std::size_t worker, std::size_t place, int round, std::int64_t point_id, const PointRecord&)>
        on_kept;
  };
  /// Begins the run, or resumes it: with what was measured on other devices than `workers` as far as whole groups were.
  /// Throws FileError.
  Recording(RunStore& store, PlannedRun planned, std::vector<DeviceInfo> workers, Options options);

  [[nodiscard]] std::int64_t run() const { return run_; }
  [[nodiscard]] const SweepPlan& plan() const { return *planned_.plan; }
  [[nodiscard]] const Places& places() const { return planned_.places; }
  [[nodiscard]] const SweepRounds& rounds() const { return rounds_; }
  [[nodiscard]] bool resumed() const { return resumed_; }
  [[nodiscard]] bool complete_before() const { return complete_before_; }
  /// By place of the plan; those that are not collected have ended.
  [[nodiscard]] const std::vector<DoneBefore>& done_before() const { return done_before_; }
  /// How often each point of the plan is still measured.
  [[nodiscard]] std::vector<std::size_t> open_times() const;
  /// Points times rounds, and how many of these the file had.
  [[nodiscard]] std::size_t total() const { return places().size() * static_cast<std::size_t>(rounds_.count); }
  [[nodiscard]] std::size_t skipped() const { return skipped_; }
  /// On which device (UUID) the file's points of a group were measured; empty where it has none, nothing where on
  /// several.
  [[nodiscard]] std::optional<std::string> begun_on(const Places& group) const;

  void keep(std::size_t worker, std::size_t place, int round, const PointRecord& measured) override;
  void begin_anew(const Places& places) override;

 private:
  void find_done();
  [[nodiscard]] bool is_here(const std::string& uuid) const;
  void add_sources(PointRecord& record);

  RunStore& store_;
  PlannedRun planned_;
  std::vector<DeviceInfo> workers_;
  Options options_;
  std::int64_t run_ = 0;
  bool resumed_ = false;
  bool complete_before_ = false;  ///< nothing was left to do
  SweepRounds rounds_;
  std::vector<DoneBefore> done_before_;
  std::set<std::size_t> kept_;                      ///< places of the points that the file has
  std::map<std::size_t, std::string> measured_on_;  ///< by place, of points that it had before: the device's UUID
  std::size_t skipped_ = 0;                         ///< rounds of points
  std::map<std::string, std::shared_ptr<const KernelStatement>> with_sources_;  ///< by digest
};

}  // namespace attnscope
