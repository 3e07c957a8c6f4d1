// SPDX-License-Identifier: Apache-2.0
// A user's source as it lies in files: its text, and what identifies it with all that it includes.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/model/message.h"
#include "kernels/model/result.h"

namespace attnscope::gpu {

struct OwnText {
  std::string text;
  std::string digest;  ///< of the statement, the source, and each file that an #include of these can mean: a UUID
};

/// Folders in which a user's source looks for what it includes: its own, the statement's, then the toolkit's.
[[nodiscard]] std::vector<std::filesystem::path> include_folders_of(const OwnSource&,
                                                                    const std::vector<std::filesystem::path>& toolkit);

/// Reads it. Includes are followed wherever they stand, also where a condition leaves them out; one that is found in no
/// folder, or whose name is a macro, is the compiler's business.
[[nodiscard]] Result<OwnText, Message> read_own_source(const OwnSource&,
                                                       const std::vector<std::filesystem::path>& toolkit);

/// What was read of each source first is what all points of a process are of: thread-safe.
class OwnSources {
 public:
  /// The error says that it cannot be read, or that it is another than it was.
  [[nodiscard]] Result<OwnText, Message> read(const std::shared_ptr<const OwnSource>&,
                                              const std::vector<std::filesystem::path>& toolkit) const;

 private:
  mutable std::mutex mutex_;
  mutable std::map<std::shared_ptr<const OwnSource>, std::string> digests_;
};

}  // namespace attnscope::gpu
