// SPDX-License-Identifier: Apache-2.0
// The digests of devices and runs, and what a run knows of its points: how many were written, and the sum of their
// digests. Of files since schema 4. Internal to storage.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "storage/digest.h"

namespace attnscope {

inline constexpr int digests_since = 4;  // schema

enum class DigestState { equal, absent, differs };

/// Of the rows of devices and of runs, by id.
[[nodiscard]] std::unordered_map<std::int64_t, DigestState> device_digests(SQLite::Database&);
[[nodiscard]] std::unordered_map<std::int64_t, DigestState> run_digests(SQLite::Database&);

/// Writes the row's digest anew.
void sign_device(SQLite::Database&, std::int64_t device);
void sign_run(SQLite::Database&, std::int64_t run);
/// Whether the run's row is what its digest says.
[[nodiscard]] DigestState run_digest(SQLite::Database&, std::int64_t run);

/// The points that a run was given.
struct WrittenPoints {
  std::int64_t count = 0;
  Digest sum;
};
[[nodiscard]] std::optional<WrittenPoints> written_points(SQLite::Database&, std::int64_t run);
void set_written_points(SQLite::Database&, std::int64_t run, const WrittenPoints&);
/// From the points that are there, of all runs.
void count_points_anew(SQLite::Database&);

/// Rows whose digest was taken away, because they are not what was written, or that are from before there were any.
struct UnsignedRows {
  std::set<std::string> runs;     ///< by uid
  std::set<std::string> devices;  ///< by uuid

  [[nodiscard]] std::size_t count() const { return runs.size() + devices.size(); }
  void add(const UnsignedRows& other);
};
/// Of a file of any schema; of one that has no digests at all, nothing.
[[nodiscard]] UnsignedRows unsigned_rows(SQLite::Database&);

/// All rows of a file of the newest schema that was put together from checked ones: points without a digest get theirs,
/// devices and runs a new one, but for those of `left_out`: what nobody can vouch for does not begin to look as if
/// somebody did.
void sign_rows(SQLite::Database&, const UnsignedRows& left_out = {});

}  // namespace attnscope
