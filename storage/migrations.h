// SPDX-License-Identifier: Apache-2.0
// The schema as a list of numbered steps: step i brings a file from version i to i + 1 (PRAGMA user_version). A step
// that was ever released is never edited.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "profiler/plan/fields.h"

namespace SQLite {
class Database;
}

namespace attnscope {

/// "Attn" in ASCII, in the file's header (PRAGMA application_id): how `file` and we tell our files from others'.
inline constexpr int application_id = 0x4174746E;

/// The steps that shipped, as they shipped.
[[nodiscard]] std::span<const char* const> frozen_steps();
/// The frozen steps, then one for each later schema, which adds the columns of its fields. A step that was made of
/// fields is frozen as it is before anything else is: its number is taken. Throws std::logic_error for a field whose
/// schema has a frozen step that knows no such column: no file would ever get it.
[[nodiscard]] std::vector<std::string> schema_steps(std::span<const char* const> frozen, std::span<const Field> fields);
/// schema_steps() of this build, then today's views.
[[nodiscard]] std::span<const std::string> migrations();
[[nodiscard]] inline int newest_schema() {
  return static_cast<int>(migrations().size());
}

/// Schema 5 has room for what this program does not write: what it reads of a file is the same.
inline constexpr int room_since = 5;
/// Runs may be marked as deleted.
inline constexpr int edits_since = 6;

/// What an older point has in a later field, as an SQL literal.
[[nodiscard]] std::string field_default(const Field&);

/// Runs the steps that the file lacks, all in one transaction: on an exception (SQLite::Exception) nothing changed.
void migrate(SQLite::Database&, std::span<const std::string> steps = migrations());

}  // namespace attnscope
