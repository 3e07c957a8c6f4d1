// SPDX-License-Identifier: Apache-2.0
// The digests of devices and runs, and what a run knows of its points: how many were written, and the sum of their
// digests. Of files since schema 4. Internal to storage.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstddef>
#include <cstdint>
#include <optional>
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

/// All rows of a file of the newest schema that was put together from checked ones: points without a digest get theirs,
/// devices and runs a new one.
void sign_rows(SQLite::Database&);

}  // namespace attnscope
