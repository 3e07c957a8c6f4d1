// SPDX-License-Identifier: Apache-2.0
// The CUDA toolkit's nvcc, for user-defined sources with host code or templates of libraries that NVRTC rejects.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "profiler/measure/gpu/driver/nvrtc.h"
#include "profiler/plan/cancel_token.h"

namespace attnscope::gpu {

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
