// SPDX-License-Identifier: Apache-2.0
// What merging and compact copies share: the runs of several files into one new file. Internal to storage.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>
#include <vector>

#include "storage/merge.h"

namespace attnscope {

enum class RunOrder {
  by_start,  ///< then by uid: the same from whatever order of the sources
  as_given   ///< as the sources have them, and with their ids where there is one source
};

/// Writes all runs of `sources` into `database`, a file without anything at `building` that nobody else sees yet; what
/// has to stand beside it for a while gets names of `place`. Throws StorageError and SQLite::Exception.
JoinReport join_files(SQLite::Database& database, const std::vector<std::filesystem::path>& sources,
                      const std::filesystem::path& place, RunOrder order, Damaged damaged);

}  // namespace attnscope
