// SPDX-License-Identifier: Apache-2.0
// Files as a whole: whether one still is what was written, and what can be saved of one that is not.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "kernels/model/message.h"
#include "storage/run_store.h"

namespace attnscope {

struct FileCheck {
  std::size_t runs = 0;             ///< deleted ones as well, for an edit brings them back
  std::size_t points = 0;           ///< that are as they should be
  std::size_t unchecked = 0;        ///< of these, without a digest: written before there were any
  std::size_t unchecked_rows = 0;   ///< of runs and devices: from before digests, or kept by repair_file()
  std::vector<BadRow> bad_rows;     ///< what the rows say
  std::vector<Message> damage;      ///< of the file's structure, a sentence each
  std::vector<std::string> extras;  ///< tables and views that are not ours: "table notes"

  [[nodiscard]] bool ok() const { return bad_rows.empty() && damage.empty(); }
};

/// Reads all of the file. Throws StorageError where it cannot be opened.
[[nodiscard]] FileCheck check_file(const std::filesystem::path& file);

struct Salvage {
  std::size_t runs = 0;
  std::size_t points = 0;
  std::vector<Message> left;  ///< what could not be saved, or is kept and not what was written; a sentence each
};

/// Copies what can be read of a damaged or refused file, and is as it was written, into a new one; `file` stays as it
/// is. A run that lost points is then one to be resumed. The row of a run or a device that is not what was written is
/// kept, without a digest, where points of it are and say that it is theirs. Throws StorageError where nothing can be
/// read or `target` exists.
[[nodiscard]] Salvage repair_file(const std::filesystem::path& file, const std::filesystem::path& target);

}  // namespace attnscope
