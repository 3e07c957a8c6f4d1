// SPDX-License-Identifier: Apache-2.0
// A user's source as it lies in files: its text, and what identifies it with all that it includes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "profiler/metrics/point.h"

namespace attnscope::gpu {

struct OwnText {
  std::string text;
  std::string digest;  ///< of the statement, the source, and each file that an #include of these can mean: a UUID
  /// Those files, with their contents. Of the toolkit's headers none: they are hundreds, everybody has them, and the
  /// digest of the launch is of them as well.
  std::vector<StatementSource> files;
};

/// Folders in which a user's source looks for what it includes: its own, the statement's, then the toolkit's.
[[nodiscard]] std::vector<std::filesystem::path> include_folders_of(const OwnSource&,
                                                                    const std::vector<std::filesystem::path>& toolkit);

/// Reads it. Includes are followed wherever they stand, also where a condition leaves them out; one that is found in no
/// folder, is the compiler's business; one of the user's that a macro names is refused.
[[nodiscard]] Result<OwnText, Message> read_own_source(const OwnSource&,
                                                       const std::vector<std::filesystem::path>& toolkit);

/// What was read of each source first is what all points of a process are of: thread-safe.
class OwnSources {
 public:
  /// The error says that it cannot be read, or that it is another than it was.
  [[nodiscard]] Result<OwnText, Message> read(const std::shared_ptr<const OwnSource>&,
                                              const std::vector<std::filesystem::path>& toolkit) const;
  /// What the launches of a plan are stated by; null where none is of a user's, or a source cannot be read. One object
  /// for all plans of the same sources. `keep`: with contents, as far as most_kept_source_bytes go.
  [[nodiscard]] std::shared_ptr<const KernelStatement> statement_of(
      std::span<const KernelLaunch> launches, bool keep, const std::vector<std::filesystem::path>& toolkit) const;

 private:
  struct Known {
    std::string digest;
    std::vector<StatementSource> files;
  };
  using Sources = std::vector<std::shared_ptr<const OwnSource>>;
  mutable std::mutex mutex_;
  mutable std::map<std::shared_ptr<const OwnSource>, Known> known_;
  mutable std::map<std::pair<Sources, bool>, std::shared_ptr<const KernelStatement>> statements_;
};

// Parameters of a compiled kernel: a statement's arguments are compared with them before a launch.

/// Bytes of each parameter of an entry in a cubin (its section .nv.info.ENTRY) or in PTX. Returns nothing for another
/// image, or without that information. Images are untrusted.
[[nodiscard]] std::optional<std::vector<std::size_t>> parameter_bytes(std::string_view image, std::string_view entry);

/// Error for arguments that differ from the kernel's parameters; empty if they match or the parameters are unknown.
[[nodiscard]] Message wrong_arguments(const KernelLaunch& launch, std::string_view image);

}  // namespace attnscope::gpu
