// SPDX-License-Identifier: Apache-2.0
// The schema as a list of numbered steps: step i brings a file from version i to i + 1 (PRAGMA user_version). A step
// that was ever released is never edited.
#pragma once

#include <span>
#include <string>

#include "profiler/plan/fields.h"

namespace SQLite {
class Database;
}

namespace attnscope {

/// "Attn" in ASCII, in the file's header (PRAGMA application_id): how `file` and we tell our files from others'.
inline constexpr int application_id = 0x4174746E;

/// The steps that shipped, as they shipped.
[[nodiscard]] std::span<const char* const> frozen_steps();
/// All of them: the frozen ones, then a step for each later schema, which adds the columns of its fields.
[[nodiscard]] std::span<const std::string> migrations();
[[nodiscard]] inline int newest_schema() {
  return static_cast<int>(migrations().size());
}

/// What an older point has in a later field, as an SQL literal.
[[nodiscard]] std::string field_default(const Field&);

/// Runs the steps that the file lacks, all in one transaction: on an exception (SQLite::Exception) nothing changed.
void migrate(SQLite::Database&, std::span<const std::string> steps = migrations());

}  // namespace attnscope
