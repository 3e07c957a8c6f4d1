// SPDX-License-Identifier: Apache-2.0
// Compiled kernels on disk: <key>.cubin, and beside each <key>.json with what the compiler said about it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/algorithm.h"
#include "profiler/measure/gpu/driver/nvrtc.h"

namespace attnscope::gpu {

/// Everything that decides what a cubin's bytes are.
struct CubinKey {
  KernelSource source;
  std::string arch;
  std::string nvrtc_version;
  std::vector<std::string> options;
  std::string own_digest = {};  ///< OwnText's, of a source that is not embedded

  /// 36 characters, equal for equal keys and sources that the compiler reads as equal (source_text.h).
  [[nodiscard]] std::string digest() const;
};

/// Safe to use from several threads and processes: a file appears under its name only when it is complete. A cache that
/// cannot be written, or has no folder, is no error: every lookup then misses.
class CubinCache {
 public:
  explicit CubinCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Nothing when it is not there, or is not what it says it is.
  [[nodiscard]] std::optional<Compiled> find(const CubinKey&) const;
  /// False when it could not be written.
  bool store(const CubinKey&, const Compiled&) const;
  void erase(const CubinKey&) const;

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

}  // namespace attnscope::gpu
