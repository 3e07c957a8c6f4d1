// SPDX-License-Identifier: Apache-2.0
#include "storage/hardening.h"

#include <fmt/format.h>
#include <sqlite3.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "profiler/plan/text.h"
#include "storage/migrations.h"
#include "storage/run_store.h"
#include "storage/views.h"

namespace attnscope {
namespace {

using Kind = StorageError::Kind;

/// Steps of SQLite's machine since a statement began, which are counted in thousands.
struct StepBudget {
  std::uint64_t spent = 0;
  std::uint64_t most = 0;
};
constexpr int steps_a_call = 1000;

void count_steps(SQLite::Database& database, StepBudget* budget) {
  sqlite3* const handle = database.getHandle();
  sqlite3_trace_v2(
      handle, SQLITE_TRACE_STMT,
      [](unsigned, void* context, void*, void*) {
        static_cast<StepBudget*>(context)->spent = 0;
        return 0;
      },
      budget);
  sqlite3_progress_handler(
      handle, steps_a_call,
      [](void* context) {
        auto* const running = static_cast<StepBudget*>(context);
        running->spent += steps_a_call;
        return running->spent > running->most ? 1 : 0;
      },
      budget);
}

/// What sqlite_schema says of one thing.
struct Definition {
  std::string type;
  std::string table;
  std::string sql;

  bool operator==(const Definition&) const = default;
};
using Definitions = std::map<std::string, Definition>;  // by name

/// Where the comment or the quoted text ends that begins at `at`, one behind; `at` itself where neither does.
std::size_t end_of_token(std::string_view sql, std::size_t at) {
  const auto behind = [&](std::string_view closing, std::size_t from) {
    const std::size_t end = sql.find(closing, from);
    return end == std::string_view::npos ? sql.size() : end + closing.size();
  };
  if (sql.substr(at).starts_with("--")) return behind("\n", at);
  if (sql.substr(at).starts_with("/*")) return behind("*/", at + 2);
  switch (sql[at]) {
    case '\'':
    case '"':
    case '`':
      return behind(sql.substr(at, 1), at + 1);  // a doubled quote begins a next text
    case '[':
      return behind("]", at + 1);
    default:
      return at;
  }
}

/// Without comments: with the line's end behind it folded, one would hide what it stood before.
std::string without_comments(std::string_view sql) {
  std::string text;
  for (std::size_t at = 0; at < sql.size();) {
    const std::size_t end = std::max(end_of_token(sql, at), at + 1);
    const std::string_view token = sql.substr(at, end - at);
    const bool comment = token.starts_with("--") || token.starts_with("/*");
    text += comment ? std::string_view(" ") : token;
    at = end;
  }
  return text;
}

/// SQLite writes names with and without quotes when it renames a table, depending on its version.
std::string normalized(std::string_view sql) {
  std::string text;
  bool blank = false;
  for (const char c : without_comments(sql)) {
    if (c == '"') continue;
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      blank = true;
      continue;
    }
    if (blank && !text.empty()) text += ' ';
    blank = false;
    text += c;
  }
  return text;
}

Definitions definitions_of(SQLite::Database& database) {
  Definitions found;
  SQLite::Statement query(database, "SELECT name, type, tbl_name, coalesce(sql, '') FROM sqlite_schema");
  while (query.executeStep()) {
    found[query.getColumn(0).getString()] = {query.getColumn(1).getString(), query.getColumn(2).getString(),
                                             normalized(query.getColumn(3).getString())};
  }
  return found;
}

std::uint64_t digest_of(std::string_view name, const Definition& view) {
  const std::string text = fmt::format("{} {}", name, view.sql);
  return XXH3_64bits(text.data(), text.size());
}

/// Of views that were written by earlier builds and are in no frozen step. A file with one that is taken away here is
/// no longer opened.
constexpr std::array<std::uint64_t, 1> earlier_views{11537995878625027129ULL};

/// What files of each schema have, as this program makes them.
struct Ours {
  std::vector<Definitions> definitions;  ///< by version, from 1 on; views left out
  std::set<std::uint64_t> views;         ///< digests of those of any version
};

const Ours& ours() {
  static const Ours made = [] {
    Ours all;
    all.views.insert(earlier_views.begin(), earlier_views.end());
    SQLite::Database fresh(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    for (std::size_t version = 1; version <= migrations().size(); ++version) {
      migrate(fresh, migrations().first(version));
      // A build whose newest schema this was gave its files these.
      if (const int schema = static_cast<int>(version); schema >= made_views_since) {
        fresh.exec(view_statements(schema));
      }
      Definitions& definitions = all.definitions.emplace_back(definitions_of(fresh));
      std::erase_if(definitions, [&](const auto& entry) {
        if (entry.second.type != "view") return false;
        all.views.insert(digest_of(entry.first, entry.second));
        return true;
      });
    }
    return all;
  }();
  return made;
}

[[noreturn]] void refuse(const std::filesystem::path& file, Message what) {
  throw StorageError(Kind::foreign,
                     "{} {}; no program of ours wrote that, so it is not opened: ask for an untouched copy",
                     file.string(), what);
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
  if (reads_only) set(SQLITE_DBCONFIG_ENABLE_VIEW, 0);  // migrations rename tables that views name

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

void limit_steps(SQLite::Database& database, std::uint64_t bytes) {
  // A byte costs one to two steps where rows are read one by one; sorting and joining cost a few more.
  constexpr std::uint64_t base = 20'000'000;
  constexpr std::uint64_t steps_a_byte = 20;
  auto budget = std::make_unique<StepBudget>(StepBudget{.spent = 0, .most = base + steps_a_byte * bytes});
  StepBudget* const counted = budget.get();
  // A function that nobody calls owns the budget, so that it goes with the connection.
  const int made = sqlite3_create_function_v2(
      database.getHandle(), "attnscope_step_budget", 0, SQLITE_UTF8 | SQLITE_DIRECTONLY, budget.release(),
      [](sqlite3_context*, int, sqlite3_value**) {}, nullptr, nullptr,
      [](void* context) { delete static_cast<StepBudget*>(context); });  // NOLINT(cppcoreguidelines-owning-memory)
  if (made != SQLITE_OK) throw SQLite::Exception(database.getHandle(), made);
  count_steps(database, counted);
}

std::vector<std::string> require_our_schema(SQLite::Database& database, const std::filesystem::path& file,
                                            int version) {
  const Definitions found = definitions_of(database);
  const Definitions& wanted = ours().definitions.at(static_cast<std::size_t>(version) - 1);
  std::vector<std::string> extras;
  for (const auto& [name, definition] : found) {
    const std::string described = fmt::format("{} {}", definition.type, printable(name));
    const auto known = wanted.find(name);
    const bool ours_by_name = known != wanted.end() || is_our_view(name);
    const bool same = known != wanted.end()
                          ? known->second == definition
                          : definition.type == "view" && ours().views.contains(digest_of(name, definition));
    if (definition.type == "trigger") refuse(file, make_message("holds a {}", described));
    if (ours_by_name && !same) refuse(file, make_message("has a {} that is not ours", described));
    if (ours_by_name) continue;
    if (definition.type == "index") {
      // One on a table that is left alone is left alone, too.
      if (wanted.contains(definition.table)) {
        refuse(file, make_message("has an {} of its own on our table {}", described, definition.table));
      }
    } else if (!name.starts_with("sqlite_")) {
      extras.push_back(described);
    }
  }
  for (const auto& [name, definition] : wanted) {
    if (!found.contains(name)) refuse(file, make_message("lacks our {} {}", definition.type, name));
  }
  return extras;
}

std::vector<std::uint64_t> digests_of_views(SQLite::Database& database) {
  std::vector<std::uint64_t> digests;
  for (const auto& [name, definition] : definitions_of(database)) {
    if (is_our_view(name)) digests.push_back(digest_of(name, definition));
  }
  return digests;
}

}  // namespace attnscope
