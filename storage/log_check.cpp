// SPDX-License-Identifier: Apache-2.0
// Detects a log that belongs to another file: SQLite would replay it into a file that was copied over its own.
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "storage/checksum.h"
#include "storage/database.h"

namespace attnscope {
namespace {

using Kind = FileError::Kind;

std::vector<std::string> log_names(const std::filesystem::path& file) {
  std::vector<std::string> names;
  for (const char* suffix : {"-wal", "-journal"}) {
    std::string name = file.string() + suffix;
    if (file_stamp(name).size > 0) names.push_back(std::move(name));
  }
  return names;
}

/// Returns true if SQLite would ignore the whole file. Zeros are a log whose begin was lost in a power failure.
bool has_other_content(const std::filesystem::path& log) {
  if (!log.string().ends_with("-wal")) return false;
  constexpr std::array<std::string_view, 2> headers{std::string_view("\x37\x7f\x06\x82"),
                                                    std::string_view("\x37\x7f\x06\x83")};
  std::string begin(4, '\0');
  std::ifstream(log, std::ios::binary).read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return std::ranges::count(headers, begin) == 0 && begin != std::string(4, '\0');
}

/// Amounts that only grow while a file is written.
struct Progress {
  std::map<std::int64_t, std::string> runs;  ///< uid by run id
  std::int64_t last_run = 0;
  std::int64_t last_point = 0;
  std::int64_t values = 0;
  std::int64_t sets = 0;  ///< sets of ceilings and noise
  std::string last_edit;

  [[nodiscard]] bool continues(const Progress& earlier) const {
    const bool has_runs = std::ranges::includes(runs, earlier.runs);
    const bool grows = last_run >= earlier.last_run && last_point >= earlier.last_point && sets >= earlier.sets &&
                       last_edit >= earlier.last_edit;
    // Points of a group that is measured again lose their values, and get new ids.
    return has_runs && grows && (last_point > earlier.last_point || values >= earlier.values);
  }
};

Progress read_progress(SQLite::Database& database) {
  Progress progress;
  SQLite::Statement runs(database, "SELECT id, uid FROM runs");
  while (runs.executeStep()) progress.runs[runs.getColumn(0).getInt64()] = runs.getColumn(1).getString();
  SQLite::Statement amounts(
      database,
      "SELECT coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = 'runs'), 0), coalesce((SELECT max(seq) FROM "
      "sqlite_sequence WHERE name = 'points'), 0), (SELECT count(*) FROM timing_samples) + (SELECT count(*) FROM "
      "metric_values), (SELECT count(*) FROM ceiling_sets) + (SELECT count(*) FROM noise_sets), coalesce((SELECT "
      "max(edited_at) FROM runs), '')");
  if (!amounts.executeStep()) return progress;
  progress.last_run = amounts.getColumn(0).getInt64();
  progress.last_point = amounts.getColumn(1).getInt64();
  progress.values = amounts.getColumn(2).getInt64();
  progress.sets = amounts.getColumn(3).getInt64();
  progress.last_edit = amounts.getColumn(4).getString();
  return progress;
}

/// Checks indexes, references and checksums, which the check at open does not.
bool is_consistent(SQLite::Database& database) {
  if (database.execAndGet("PRAGMA integrity_check(1)").getString() != "ok") return false;
  if (SQLite::Statement(database, "PRAGMA foreign_key_check").executeStep()) return false;
  SQLite::Statement runs(database, "SELECT id, checksum FROM runs WHERE checksum IS NOT NULL");
  while (runs.executeStep()) {
    if (parse_digest(runs.getColumn(1).getString()) != checksum_of_run(database, runs.getColumn(0).getInt64()))
      return false;
  }
  return true;
}

/// Returns nullopt if the file is damaged, read that way. Throws SQLite::Exception and FileError for other errors.
std::optional<Progress> read_intact(const std::filesystem::path& file, DatabaseAccess access, bool thorough) {
  try {
    const auto database = open_database(file, access);
    (void)require_attnscope_database(*database, file, file_stamp(file));
    if (thorough && !is_consistent(*database)) return std::nullopt;
    return read_progress(*database);
  } catch (const SQLite::Exception& error) {
    const int code = error.getErrorCode() & 0xFF;
    // A rollback journal that must be replayed makes the file unreadable without write access.
    const bool needs_rollback = error.getExtendedErrorCode() == SQLITE_READONLY_ROLLBACK;
    if (code != SQLITE_CORRUPT && code != SQLITE_NOTADB && code != SQLITE_ERROR && !needs_rollback) throw;
  } catch (const FileError& error) {
    if (error.kind() != Kind::damaged && error.kind() != Kind::foreign && error.kind() != Kind::other_schema &&
        error.kind() != Kind::not_a_database) {
      throw;
    }
  }
  return std::nullopt;
}

bool is_foreign(const std::filesystem::path& file, const std::vector<std::string>& logs) {
  // Read the file first: a program that writes it now only adds to it.
  const std::optional<Progress> alone = read_intact(file, DatabaseAccess::immutable, false);
  if (!alone) return false;  // killed while the log was written back
  if (std::ranges::any_of(logs, has_other_content)) return true;
  if (const std::optional<Progress> replayed = read_intact(file, DatabaseAccess::read_only, true))
    return !replayed->continues(*alone);
  return read_intact(file, DatabaseAccess::immutable, true).has_value();
}

}  // namespace

std::string foreign_log(const std::filesystem::path& file) {
  const std::vector<std::string> logs = log_names(file);
  if (logs.empty()) return {};
  std::string version = to_string(file_stamp(file));
  for (const std::string& log : logs) version += ", " + to_string(file_stamp(log));
  if (passed_checks().has("log", file, version)) return {};
  std::string names = fmt::format("{}", fmt::join(logs, ", "));
  if (passed_checks().has("foreign log", file, version)) return names;
  const bool foreign = is_foreign(file, logs);
  passed_checks().add(foreign ? "foreign log" : "log", file, version);
  return foreign ? names : std::string();
}

void require_no_foreign_log(const std::filesystem::path& file) {
  const std::string log = foreign_log(file);
  if (log.empty()) return;
  throw FileError(Kind::other,
                  "cannot write {}: {} is the log of another file (rename it, or remove it if that file is not needed)",
                  file.string(), log);
}

void require_no_orphaned_log(const std::filesystem::path& file) {
  const std::vector<std::string> logs = log_names(file);
  if (file_stamp(file).size > 0 || logs.empty()) return;
  throw FileError(
      Kind::other,
      "{} belongs to a file that was moved or removed (restore that file, delete the log, or use another name)",
      fmt::join(logs, ", "));
}

}  // namespace attnscope
