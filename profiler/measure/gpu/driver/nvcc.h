// SPDX-License-Identifier: Apache-2.0
// The CUDA toolkit's nvcc, for user-defined sources with host code or templates of libraries that NVRTC rejects.
#pragma once

#include <stdlib.h>  // mkdtemp

#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "profiler/measure/gpu/driver/nvrtc.h"
#include "profiler/plan/cancel_token.h"

namespace attnscope::gpu {

struct ChildOutput {
  int exit_code = -1;  ///< -1: not started or killed
  bool timed_out = false;
  bool cancelled = false;
  std::string text;  ///< stdout and stderr, at most 1 MiB; the system's error if the program did not start
};

/// Runs a program without a shell and without input, with `temporary`, a private folder, as its TMPDIR and without the
/// variables that add options or include folders to compilers. Kills it and its children after `limit` or if cancelled.
[[nodiscard]] ChildOutput run_child(const std::vector<std::string>& arguments, const std::filesystem::path& temporary,
                                    std::chrono::milliseconds limit, const CancelToken& cancel = {});

/// A private folder that is removed with the object; its path is empty if it could not be created.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code error;
    std::string name = (std::filesystem::temp_directory_path(error) / "attnscope-compile-XXXXXX").string();
    if (!error && ::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

[[nodiscard]] bool needs_nvcc(const KernelSource&);

class Nvcc {
 public:
  /// $ATTNSCOPE_NVCC, else nvcc of the toolkit (CUDA_PATH, CUDA_HOME, /usr/local/cuda, /opt/cuda), else of PATH.
  [[nodiscard]] static Result<Nvcc, Message> find();

  /// All that `nvcc --version` prints, as one line.
  [[nodiscard]] const std::string& version() const { return version_; }
  /// Pre: a user source of kind cuda. The error is the cause, then the compiler's log; "compile.cancelled" if
  /// cancelled. Thread-safe.
  [[nodiscard]] Result<Compiled, Message> compile(const KernelSource&, const std::vector<std::string>& options,
                                                  const CancelToken& cancel = {}) const;

 private:
  std::filesystem::path path_;
  std::string version_;
};

}  // namespace attnscope::gpu
