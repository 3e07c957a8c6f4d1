// SPDX-License-Identifier: Apache-2.0
// Rows of one file into another of the same schema, with ids of that. Internal to storage.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <string>

namespace attnscope {

/// Copies runs of an attached file, "source", into "main". All members throw SQLite::Exception.
class RowCopier {
 public:
  explicit RowCopier(SQLite::Database& target);

  /// Attaches the source and copies what belongs to no run: devices, environments, metrics, user-defined kernels
  /// and their sources, sets of ceilings and of noise. A row that is there already stays.
  void attach(const std::string& uri);
  void detach();
  /// The run's row and what belongs to it beside points.
  void copy_run(std::int64_t source, std::int64_t target);
  /// Adds points to the run, with all that belongs to them, but for those at the places of temp.skipped (place).
  void copy_points(std::int64_t source, std::int64_t target);

 private:
  SQLite::Database& target_;
  // Statements, made of the target's tables.
  std::string names_;
  std::string run_;
  std::string points_;
};

}  // namespace attnscope
