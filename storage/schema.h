// SPDX-License-Identifier: Apache-2.0
// Schema of an .attnscope file. Files of any other version are rejected.
#pragma once

#include <string>

namespace SQLite {
class Database;
}

namespace attnscope {

/// PRAGMA user_version. Increment with every change of schema_text(), including fields of a point.
inline constexpr int schema_version = 7;

/// Returns tables, indexes and views as SQL. A point's columns come from the table of fields (profiler/plan/fields.h).
[[nodiscard]] const std::string& schema_text();

/// Creates the schema in an empty database. Throws SQLite::Exception.
void create_schema(SQLite::Database&);

}  // namespace attnscope
