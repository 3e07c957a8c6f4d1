// SPDX-License-Identifier: Apache-2.0
// The schema as a list of numbered steps: step i brings a file from version i to i + 1 (PRAGMA user_version). A step
// that was ever released is never edited.
#pragma once

#include <span>

namespace SQLite {
class Database;
}

namespace attnscope {

/// "Attn" in ASCII, in the file's header (PRAGMA application_id): how `file` and we tell our files from others'.
inline constexpr int application_id = 0x4174746E;

[[nodiscard]] std::span<const char* const> migrations();
[[nodiscard]] inline int newest_schema() {
  return static_cast<int>(migrations().size());
}

/// Runs the steps that the file lacks, all in one transaction: on an exception (SQLite::Exception) nothing changed.
void migrate(SQLite::Database&, std::span<const char* const> steps = migrations());

}  // namespace attnscope
