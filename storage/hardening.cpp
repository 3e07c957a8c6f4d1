// SPDX-License-Identifier: Apache-2.0
#include "storage/hardening.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <map>

#include "profiler/files/file_error.h"
#include "profiler/plan/text.h"
#include "storage/schema.h"

namespace attnscope {
namespace {

/// A row of sqlite_schema.
struct Definition {
  std::string type;
  std::string table;
  std::string sql;

  bool operator==(const Definition&) const = default;
};
using Definitions = std::map<std::string, Definition>;  // by name

Definitions definitions_of(SQLite::Database& database) {
  Definitions found;
  SQLite::Statement query(database, "SELECT name, type, tbl_name, coalesce(sql, '') FROM sqlite_schema");
  while (query.executeStep()) {
    found[query.getColumn(0).getString()] = {query.getColumn(1).getString(), query.getColumn(2).getString(),
                                             query.getColumn(3).getString()};
  }
  return found;
}

const Definitions& ours() {
  static const Definitions made = [] {
    SQLite::Database fresh(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    create_schema(fresh);
    return definitions_of(fresh);
  }();
  return made;
}

[[noreturn]] void refuse(const std::filesystem::path& file, Message what) {
  throw FileError(FileError::Kind::foreign,
                  "{} {}; no program of ours wrote that, so it is not opened: ask for an untouched copy", file.string(),
                  what);
}

}  // namespace

void harden(SQLite::Database& database, bool reads_only) {
  sqlite3* const handle = database.getHandle();
  const auto set = [&](int option, int value) { sqlite3_db_config(handle, option, value, nullptr); };
  set(SQLITE_DBCONFIG_DEFENSIVE, 1);
  // Our own CHECKs call json_type(), which SQLite does not hold for harmless: a writer's schema is ours, as a reader
  // found.
  set(SQLITE_DBCONFIG_TRUSTED_SCHEMA, reads_only ? 0 : 1);
  set(SQLITE_DBCONFIG_ENABLE_TRIGGER, 0);
  set(SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0);
  set(SQLITE_DBCONFIG_DQS_DDL, 0);
  set(SQLITE_DBCONFIG_DQS_DML, 0);
  if (reads_only) set(SQLITE_DBCONFIG_ENABLE_VIEW, 0);

  // A kernel's samples are the longest thing in a row; 64 MiB are some three million of them.
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, 64 << 20);
  sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
  sqlite3_limit(handle, SQLITE_LIMIT_COLUMN, 500);
  sqlite3_limit(handle, SQLITE_LIMIT_EXPR_DEPTH, 200);
  sqlite3_limit(handle, SQLITE_LIMIT_COMPOUND_SELECT, 10);
  sqlite3_limit(handle, SQLITE_LIMIT_VDBE_OP, 1 << 20);
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 1);
  sqlite3_limit(handle, SQLITE_LIMIT_TRIGGER_DEPTH, 10);  // what a run takes with it counts as triggers
  sqlite3_limit(handle, SQLITE_LIMIT_WORKER_THREADS, 0);
  database.exec("PRAGMA cell_size_check = ON");
  if (reads_only) database.exec("PRAGMA query_only = ON");
}

std::vector<std::string> require_our_schema(SQLite::Database& database, const std::filesystem::path& file) {
  const Definitions found = definitions_of(database);
  std::vector<std::string> extras;
  for (const auto& [name, definition] : found) {
    const std::string described = fmt::format("{} {}", definition.type, printable(name));
    const auto known = ours().find(name);
    if (definition.type == "trigger") refuse(file, make_message("holds a {}", described));
    if (known != ours().end()) {
      if (known->second != definition) refuse(file, make_message("has a {} that is not ours", described));
    } else if (definition.type == "index") {
      if (ours().contains(definition.table)) {
        refuse(file, make_message("has an {} of its own on our table {}", described, definition.table));
      }
    } else if (!name.starts_with("sqlite_")) {
      extras.push_back(described);
    }
  }
  for (const auto& [name, definition] : ours()) {
    if (!found.contains(name)) refuse(file, make_message("lacks our {} {}", definition.type, name));
  }
  return extras;
}

}  // namespace attnscope
