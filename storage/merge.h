// SPDX-License-Identifier: Apache-2.0
// Several files joined into one, their runs being what they were.
//
// A run is known by its uid, wherever it was copied to. Copies of it become one run: of each place the point that was
// measured, before one that was cancelled, and the one with more rounds. Two different measurements of one place are an
// error that names both files. Parts of one plan that were measured apart, on several devices, are runs of one uid
// (RunHeader::uid), and of its shards those are named that no file has or that are not whole; runs with the same plan
// and uids of their own stay apart. Of name, note, tags, hidden and deleted the last edit holds.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "kernels/messages/message.h"
#include "storage/run_store.h"

namespace attnscope {

struct JoinReport {
  std::size_t files = 0;  ///< that were joined
  std::size_t runs = 0;
  std::size_t points = 0;
  std::vector<Message> missing;     ///< shards of a plan that are in no file, or not whole
  std::vector<Message> left_out;    ///< damaged files
  std::vector<Message> not_copied;  ///< what is not ours in files that were joined

  [[nodiscard]] bool whole() const { return missing.empty() && left_out.empty(); }
};

/// A file that is not what was written, or no file of ours.
[[nodiscard]] bool is_damage(FileError::Kind);

enum class Damaged {
  refuse,    ///< the first one ends it
  leave_out  ///< and is named
};

/// Joins `sources` into the new file `target`, which appears whole or not at all, with runs in the order in which they
/// began. Joining again what was joined adds nothing. Throws FileError: a source that is not there or cannot be
/// used, different copies of a run, a target that exists.
[[nodiscard]] JoinReport merge_files(const std::vector<std::filesystem::path>& sources,
                                     const std::filesystem::path& target, Damaged damaged = Damaged::refuse);

/// Copies all runs of `sources` but deleted ones into a new file, compact and without a journal, fit for shipping; in
/// their order, joined as above. It appears whole, in place of an empty file or of an older one of ours; `over_any`: of
/// any regular file. To a device or pipe it is written.
JoinReport write_compact_copy(const std::vector<std::filesystem::path>& sources, const std::filesystem::path& target,
                              bool over_any = false);

}  // namespace attnscope
