// SPDX-License-Identifier: Apache-2.0
// New files made of the runs of others: compact copies for shipping, and merged files.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "messages/file.h"
#include "storage/collector_lock.h"
#include "storage/database.h"
#include "storage/join_files.h"
#include "storage/merge.h"
#include "storage/new_database.h"
#include "storage/output_file.h"
#include "storage/run_store.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

void send(const std::filesystem::path& file, OutputFile& out) {
  std::ifstream in(file, std::ios::binary);
  std::vector<char> piece(std::size_t{1} << 20U);
  while (in) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    out.write({piece.data(), static_cast<std::size_t>(in.gcount())});
  }
}

/// A log that a killed collector left beside `file` would be played into the file that replaces it.
void remove_log(const fs::path& file) {
  if (!has_journal(file)) return;
  try {  // the last connection takes the log into the file
    open_database(file, DatabaseAccess::read_write)->execAndGet("SELECT count(*) FROM sqlite_schema");
  } catch (const SQLite::Exception&) {  // no database, or a damaged one
  }
  for (const char* suffix : {"-wal", "-shm", "-journal"}) fs::remove(file.string() + suffix);
}

}  // namespace

JoinReport write_compact_copy(const std::vector<std::filesystem::path>& sources, const std::filesystem::path& target,
                              bool over_any) {
  OutputFile out(target, file_kind::measurements,
                 over_any ? OutputFile::Existing::any : OutputFile::Existing::of_its_kind);
  const auto build = [&](const fs::path& building, const fs::path& place) {
    return with_storage_errors(target, [&] {
      return join_files(*open_database(building, DatabaseAccess::read_write), sources, place, RunOrder::as_given,
                        Damaged::refuse);
    });
  };
  if (out.building().empty()) {
    const TemporaryFile building(fs::temp_directory_path() / "copy.attnscope");
    JoinReport report = build(building.path(), building.path());
    send(building.path(), out);
    out.commit();
    return report;
  }
  const fs::path place = out.place();
  const CollectorLock lock = CollectorLock::acquire(place);
  JoinReport report = build(out.building(), place);
  remove_log(place);
  out.commit();
  return report;
}

JoinReport merge_files(const std::vector<std::filesystem::path>& sources, const std::filesystem::path& target,
                       Damaged damaged) {
  const fs::path place = behind_links(target);
  std::error_code error;
  const auto refuse_existing = [&] {
    if (fs::exists(fs::symlink_status(place, error))) {
      throw StorageError(StorageError::Kind::not_writable, say::file::there_already{.file = target.string()});
    }
  };
  refuse_existing();
  const CollectorLock lock = CollectorLock::acquire(place);
  require_no_stray_log(place);
  refuse_existing();
  TemporaryFile building(place);
  JoinReport report = with_storage_errors(target, [&] {
    return join_files(*open_database(building.path(), DatabaseAccess::read_write), sources, place, RunOrder::by_start,
                      damaged);
  });
  building.publish(TemporaryFile::Over::nothing);
  return report;
}

}  // namespace attnscope
