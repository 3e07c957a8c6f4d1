// SPDX-License-Identifier: Apache-2.0
// The schema of an .attnscope file. There is one: files of any other version are rejected.
#pragma once

#include <string>

namespace SQLite {
class Database;
}

namespace attnscope {

/// PRAGMA user_version. Raise it with every change of schema_text(), fields of a point included.
inline constexpr int schema_version = 7;

/// Tables, indexes and views as SQL. The columns of a point come from the table of fields (profiler/plan/fields.h).
[[nodiscard]] const std::string& schema_text();

/// Creates the schema in an empty database. Throws SQLite::Exception.
void create_schema(SQLite::Database&);

}  // namespace attnscope
