// SPDX-License-Identifier: Apache-2.0
// A file whose runs go into another one: looked at as a whole first, then read as one of the newest schema that nobody
// changes meanwhile. Internal to storage.
#pragma once

#include <deque>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "storage/database.h"
#include "storage/output_file.h"
#include "storage/run_digests.h"
#include "storage/run_store.h"

namespace attnscope {

struct JoinSource {
  struct Run {
    std::int64_t id = 0;
    std::string uid;
    std::string started_at;
    std::size_t points = 0;
    bool deleted = false;   ///< it says so to other copies of it, and nothing else
    std::string edited_at;  ///< empty: never
  };
  std::filesystem::path name;  ///< as it was given
  std::filesystem::path file;  ///< symlinks followed
  int version = 0;             ///< schema
  std::vector<Run> runs;
  std::vector<std::string> extras;  ///< tables and views that are not ours
  FileStamp stamp;
  std::size_t unchecked = 0;   ///< points without a digest
  UnsignedRows unsigned_rows;  ///< of runs and devices
  bool has_rows_beside_runs = false;
  bool as_it_is = false;  ///< of the newest schema, every point with its digest, and nobody writes it
};

/// Reads all of it. Throws StorageError where it is not what was written.
[[nodiscard]] JoinSource look_at_source(const std::filesystem::path&);

/// How to open it as it is.
[[nodiscard]] std::string uri_of(const JoinSource&);

/// Sources as files of the newest schema. An older file, or one that somebody writes, stays as it is: a copy of it is
/// migrated, and some such copies are kept at a time.
class CurrentSource {
 public:
  /// The copy stands beside `place`.
  explicit CurrentSource(std::filesystem::path place) : place_(std::move(place)) {}

  /// For ATTACH, until the next call. Throws StorageError, also where the file has changed since it
  /// was looked at.
  [[nodiscard]] std::string uri(const JoinSource&);

 private:
  std::filesystem::path place_;
  std::deque<std::pair<std::filesystem::path, TemporaryFile>> copies_;  ///< by the file that each is of
};

}  // namespace attnscope
