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

/// Tables, views and triggers that are there and not ours of schema `version`, whatever those of ours are: "table
/// notes".
[[nodiscard]] std::vector<std::string> foreign_objects(SQLite::Database&, int version);

/// Whether SQLite reads the tables of schema `version` as ours: not where a byte of their definitions is damaged, nor
/// of a file that is shorter than it says, of which it reads nothing.
[[nodiscard]] bool tables_are_ours(SQLite::Database&, int version);

/// Makes SQLite read what it can of a copy of a file of ours that is damaged so: the tables get our definitions, the
/// header the file's length. Throws SQLite::Exception where it cannot be opened.
void mend_definitions(const std::filesystem::path& copy);

/// For a connection that has read nothing yet: what cannot be read of the definitions stands in nobody's way.
void read_past_definitions(SQLite::Database&);

/// Of the views of ours that the file has, by name: a test holds those of today, so that later versions know them.
[[nodiscard]] std::vector<std::uint64_t> digests_of_views(SQLite::Database&);

}  // namespace attnscope
