// SPDX-License-Identifier: Apache-2.0
// Reads the source files of a user-defined kernel and computes their digest, including all includes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/embedded_sources.h"
#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "profiler/metrics/point.h"

namespace attnscope::gpu {

struct UserSourceText {
  std::string text;
  std::string digest;  ///< Digest (UUID) of the manifest, the source and all files that its includes can refer to.
  /// These files with their contents, without toolkit headers: they are numerous and available everywhere, and the
  /// launch digest covers them.
  std::vector<ManifestSource> files;
};

/// Include folders of a user source in search order: the source's folder, the manifest's folders, the toolkit's.
[[nodiscard]] std::vector<std::filesystem::path> include_search_path(const UserSource&,
                                                                     const std::vector<std::filesystem::path>& toolkit);

/// Reads the source and follows all includes, even in inactive conditions. Ignores includes that are not found, which
/// the compiler reports. Names given by macros are expanded by text; fails if that is not possible.
/// Headers of nvcc's host compiler are not covered.
[[nodiscard]] Result<UserSourceText, Message> read_user_source(const UserSource&,
                                                               const std::vector<std::filesystem::path>& toolkit);

/// Ensures that all points of a process use the same version of each source. Thread-safe.
class UserSources {
 public:
  /// Fails if the source cannot be read or differs from the first read.
  [[nodiscard]] Result<UserSourceText, Message> read(const std::shared_ptr<const UserSource>&,
                                                     const std::vector<std::filesystem::path>& toolkit) const;
  /// Manifest of these sources; null if there are none or they are known only from a results file. The digest of a
  /// source that cannot be read is empty. Equal lists share one object. `keep`: with file contents, up to
  /// max_stored_source_bytes.
  [[nodiscard]] std::shared_ptr<const StoredManifest> statement_of(
      std::span<const std::shared_ptr<const UserSource>> sources, bool keep,
      const std::vector<std::filesystem::path>& toolkit) const;

 private:
  struct FirstRead {
    std::string digest;
    std::vector<ManifestSource> files;
  };
  using Sources = std::vector<std::shared_ptr<const UserSource>>;
  mutable std::mutex mutex_;
  mutable std::map<std::shared_ptr<const UserSource>, FirstRead> known_;
  mutable std::map<std::pair<Sources, bool>, std::shared_ptr<const StoredManifest>> statements_;
};

/// The log of NVRTC or nvcc with its errors first, in their order. Appends what to do to errors about missing headers
/// and host code.
[[nodiscard]] std::string errors_first(std::string_view log, UserSource::Compiler);

/// Name of the stand-in that is included before each user source: what nvcc provides without an #include.
inline constexpr std::string_view implicit_header = "attnscope_implicit.h";

/// All stand-ins. Some include headers of CCCL, which is part of the CUDA toolkit.
[[nodiscard]] std::span<const EmbeddedSource> host_headers();

}  // namespace attnscope::gpu
