// SPDX-License-Identifier: Apache-2.0
// Disk cache of compiled kernels: <key>.cubin, and <key>.json with the compiler's figures.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/algorithm.h"
#include "profiler/measure/gpu/driver/nvrtc.h"

namespace attnscope::gpu {

/// All inputs that determine a cubin.
struct CubinKey {
  KernelSource source;
  std::string arch;
  std::string compiler_version;  ///< Nvrtc::version() or Nvcc::version().
  std::vector<std::string> options;
  std::string user_digest = {};  ///< UserSourceText::digest of a source file that is not embedded.

  /// 36 characters. Equal for equal keys and for sources that differ only in ways the compiler ignores (source_text.h).
  [[nodiscard]] std::string digest() const;
};

/// Safe to use from several threads and processes; files appear atomically. If the folder is empty or not writable,
/// every lookup misses.
class CubinCache {
 public:
  explicit CubinCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Empty if absent or if the digest of the cubin does not match.
  [[nodiscard]] std::optional<Compiled> find(const CubinKey&) const;
  /// Returns false on a write error.
  bool store(const CubinKey&, const Compiled&) const;

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

}  // namespace attnscope::gpu
