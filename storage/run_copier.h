// SPDX-License-Identifier: Apache-2.0
// Rows of files of the newest schema into a new file of it, with ids of that. Internal to storage.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace attnscope {

/// An id in the source and one in the target.
struct IdPair {
  std::int64_t source = 0;
  std::int64_t target = 0;
};

/// Fills one new file from one source after another. First every source is met(), which tells what all of them name;
/// then come the names, then runs and points, by whose order the ids are given. All members throw SQLite::Exception.
class RunCopier {
 public:
  /// `target`: of the newest schema, and empty. Nobody else sees it yet: nothing of it is journalled or waited for.
  explicit RunCopier(SQLite::Database& target);

  /// Devices, environments, metrics and statements of the source, which is of schema `version`. Of a device that
  /// several sources describe, the description stands beside which it was seen last. Whether there are rows beside
  /// runs.
  bool meet(const std::string& uri, int version);
  /// Writes what was met, in an order that is not that of the sources, but for kernels of these runs (uids) alone.
  void write_names(const std::set<std::string>& left_out);

  /// The source of all that follows, of the newest schema.
  void attach(const std::string& uri);
  void detach();
  /// The rows of these runs, and what belongs to them beside points.
  void copy_runs(std::span<const IdPair> runs);
  /// The points of these runs, by run and place, with all that belongs to them.
  void copy_points_of_runs(std::span<const IdPair> runs);
  /// These points, into the run `target_run`.
  void copy_points(std::span<const IdPair> points, std::int64_t target_run);
  /// What belongs to a run beside points, alone: its tags, the shards of its plan.
  void copy_words_of_run(const IdPair& run);
  /// Ceilings, noise, the sources of statements.
  void copy_rows_beside_runs();

  /// The id that the next point gets.
  [[nodiscard]] std::int64_t next_point() const;

 private:
  void want(std::span<const IdPair> runs);

  SQLite::Database& target_;
  // Statements, made of the target's tables.
  std::string run_rows_;
  std::string run_child_rows_;
  std::string point_rows_;
};

}  // namespace attnscope
