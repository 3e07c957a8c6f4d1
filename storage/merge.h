// SPDX-License-Identifier: Apache-2.0
// Merges several files into one.
//
// Runs are identified by uid, and copies of a run are merged into one: for each point, a measured copy is preferred
// over a cancelled one, then the copy with more rounds. Two different measurements of one point are an error that names
// both files. Shards of one plan share a uid (RunHeader::uid); missing and incomplete shards are reported. Runs with
// the same plan but different uids stay separate. Of name, note, tags, hidden and deleted, the last edit is kept.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "kernels/messages/message.h"
#include "storage/run_store.h"

namespace attnscope {

struct MergeReport {
  std::size_t files = 0;
  std::size_t runs = 0;
  std::size_t points = 0;
  std::vector<Message> missing;     ///< shards of a plan that are missing or incomplete
  std::vector<Message> left_out;    ///< damaged files that were skipped
  std::vector<Message> not_copied;  ///< RunStore::warnings() of the merged files

  [[nodiscard]] bool whole() const { return missing.empty() && left_out.empty(); }
};

enum class DamagedFilePolicy {
  refuse,  ///< the first damaged file is an error
  skip     ///< damaged files are skipped and reported
};

/// Merges `sources` into the new file `target`, atomically, with runs ordered by start. Merging is idempotent. Throws
/// FileError: missing or unusable source, conflicting copies of a run, existing target.
[[nodiscard]] MergeReport merge_files(const std::vector<std::filesystem::path>& sources,
                                      const std::filesystem::path& target,
                                      DamagedFilePolicy damaged = DamagedFilePolicy::refuse);

/// Copies all runs of `sources` except deleted ones into a new compact file without a journal, in their order, merged
/// like merge_files(). Replaces, atomically, an empty or older attnscope file, or any regular file if `replace_any`.
MergeReport write_compact_copy(const std::vector<std::filesystem::path>& sources, const std::filesystem::path& target,
                               bool replace_any = false);

}  // namespace attnscope
