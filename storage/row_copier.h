// SPDX-License-Identifier: Apache-2.0
// Copies rows between files of the same schema and translates ids. Internal to storage.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <string>

namespace attnscope {

/// Copies runs of an attached file, "source", into "main". All members throw SQLite::Exception.
class RowCopier {
 public:
  explicit RowCopier(SQLite::Database& target);

  /// Attaches the source and copies rows that belong to no run: devices, environments, metrics, user-defined kernels
  /// and their sources, ceiling sets and noise sets. Existing rows are kept.
  void attach(const std::string& uri);
  void detach();
  /// Copies the run's row and all rows that refer to it, except points.
  void copy_run(std::int64_t source, std::int64_t target);
  /// Adds points and their rows to the run, except those at the plan indices in temp.skipped (place).
  void copy_points(std::int64_t source, std::int64_t target);

 private:
  SQLite::Database& target_;
  // SQL, generated from the target's tables.
  std::string names_;
  std::string run_;
  std::string points_;
};

}  // namespace attnscope
