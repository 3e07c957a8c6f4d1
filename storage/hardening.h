// SPDX-License-Identifier: Apache-2.0
// Files are untrusted: nothing in one is run. Internal to storage.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>
#include <string>
#include <vector>

namespace attnscope {

/// For a connection that has read nothing yet: no triggers, no extensions, limits on sizes. A reader also runs no
/// views, cannot write, and evaluates no function of the schema that could do harm. A writer opens a file only after a
/// reader has compared its schema.
void harden(SQLite::Database&, bool reads_only);

/// Compares tables, indexes and views with schema_text(). Throws FileError for a trigger, an index on a table of the
/// schema, and for anything that differs or is missing. Returns the tables and views beside the schema, which are
/// ignored: "table notes".
[[nodiscard]] std::vector<std::string> require_our_schema(SQLite::Database&, const std::filesystem::path&);

}  // namespace attnscope
