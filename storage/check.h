// SPDX-License-Identifier: Apache-2.0
// Files as a whole: whether one still is what was written.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "kernels/messages/message.h"
#include "storage/run_store.h"

namespace attnscope {

struct FileCheck {
  std::size_t runs = 0;             ///< deleted ones as well, for an edit brings them back
  std::size_t points = 0;           ///< that are as they should be
  std::size_t unverified = 0;       ///< runs without a checksum
  std::vector<BadRow> bad_rows;     ///< what the rows say
  std::vector<Message> damage;      ///< of the file's structure, a sentence each
  std::vector<std::string> extras;  ///< tables and views that are not ours: "table notes"

  [[nodiscard]] bool ok() const { return bad_rows.empty() && damage.empty(); }
};

/// Reads all of the file. Throws FileError where it cannot be opened.
[[nodiscard]] FileCheck check_file(const std::filesystem::path& file);

}  // namespace attnscope
