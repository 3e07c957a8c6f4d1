// SPDX-License-Identifier: Apache-2.0
// A run while it is collected, by one device or by several: what the file has of it, and what it gets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/commands/collect.h"
#include "profiler/measure/runner.h"
#include "profiler/plan/shards.h"
#include "profiler/plan/sweep.h"

namespace attnscope {

/// The newest run of the header's plan, or of its shard of it, which goes on wherever it is; else on one of `devices`
/// (UUIDs).
[[nodiscard]] std::optional<RunSummary> newest_run(const RunStore& store, const RunHeader& header,
                                                   const std::vector<std::string>& devices);

/// What is collected: a plan, or places of it.
struct Collected {
  const SweepPlan* plan = nullptr;
  Places places = {};  ///< all of them, where it is no shard
  RunHeader header = {};
};

/// Of the largest point, in bytes. A cancelled sweep ends here: what was counted so far would be a false word.
[[nodiscard]] std::int64_t max_memory(const Collected&, const DeviceLimits&, const CancelToken&, Reporter&);

/// What is said of it before it runs: no file, no run, no memory need yet.
[[nodiscard]] PlanEvent plan_event(const Collected&);

/// What of the plan --shard asks for. Throws CommandError (usage).
[[nodiscard]] Collected collected_of(const SweepPlan& plan, RunHeader header, const CollectOptions& options);

class Recording {
 public:
  /// Begins the run, or with --resume goes on with it: with what was measured on other devices than `devices` as far as
  /// whole groups were. Throws FileError and CommandError.
  Recording(RunStore& store, Collected collected, const std::vector<std::string>& devices,
            const CollectOptions& options, Reporter& reporter);

  [[nodiscard]] std::int64_t run() const { return run_; }
  [[nodiscard]] const SweepPlan& plan() const { return *collected_.plan; }
  [[nodiscard]] const Places& places() const { return collected_.places; }
  [[nodiscard]] const SweepRounds& rounds() const { return rounds_; }
  [[nodiscard]] bool complete_before() const { return complete_before_; }
  /// By place of the plan; those that are not collected have ended.
  [[nodiscard]] const std::vector<DoneBefore>& done_before() const { return done_before_; }
  /// How often each point of the plan is still measured.
  [[nodiscard]] std::vector<std::size_t> open_times() const;
  /// Points times rounds, and how many of these the file had.
  [[nodiscard]] std::size_t total() const { return places().size() * static_cast<std::size_t>(rounds_.count); }
  [[nodiscard]] std::size_t skipped() const { return skipped_; }
  [[nodiscard]] PlanEvent plan_event(std::int64_t max_memory, const std::string& counters) const;

  /// Commits what a round found, then reports it; `device` as PointEvent has it.
  void keep(std::size_t place, int round, const PointRecord& measured, const DeviceInfo& info,
            const std::string& device = {});
  /// On which device (UUID) the file's points of a group were measured; empty where it has none, nothing where on
  /// several.
  [[nodiscard]] std::optional<std::string> begun_on(const Places& group) const;
  /// What another device finds at these places replaces what is there.
  void begin_anew(const Places& places);

 private:
  void find_done(const std::vector<std::string>& devices);
  std::shared_ptr<const KernelStatement> with_sources(const PointRecord& record);
  void say_what_is_not_kept(const PointRecord& record);

  RunStore& store_;
  Collected collected_;
  const CollectOptions& options_;
  Reporter& reporter_;
  std::int64_t run_ = 0;
  bool complete_before_ = false;  ///< --resume found nothing left to do
  SweepRounds rounds_;
  std::vector<DoneBefore> done_before_;
  std::set<std::size_t> kept_;                      ///< places of the points that the file has
  std::map<std::size_t, std::string> measured_on_;  ///< by place, of points that it had before: the device's UUID
  std::size_t skipped_ = 0;                         ///< rounds of points
  std::map<std::string, std::shared_ptr<const KernelStatement>> with_sources_;  ///< by digest
  std::set<std::shared_ptr<const KernelStatement>> said_;                       ///< of which some sources are not kept
};

}  // namespace attnscope
