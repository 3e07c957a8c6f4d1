// SPDX-License-Identifier: Apache-2.0
// Files come from anywhere: nothing that one holds is run, and no question to one takes longer than its size allows.
// Internal to storage.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace attnscope {

/// For a connection that has read nothing yet: triggers are not run, and what a row may be has limits. A reader runs no
/// view either, cannot write, and the file's schema may call no function that does more than compute; a writer comes
/// after a reader that found the schema to be ours.
void harden(SQLite::Database&, bool reads_only);

/// From now on a statement that takes more steps than a file of `bytes` bytes can need is broken off
/// (SQLITE_INTERRUPT).
void limit_steps(SQLite::Database&, std::uint64_t bytes);

/// Holds what the file says of its tables, indexes and views against ours of schema `version`. Throws StorageError for
/// a trigger, and for a table, index or view of ours that is another's or missing (a view may be). Returns what is
/// there besides and is left alone: "table notes".
[[nodiscard]] std::vector<std::string> require_our_schema(SQLite::Database&, const std::filesystem::path&, int version);

/// Of the views of ours that the file has, by name: a test holds those of today, so that later versions know them.
[[nodiscard]] std::vector<std::uint64_t> digests_of_views(SQLite::Database&);

}  // namespace attnscope
