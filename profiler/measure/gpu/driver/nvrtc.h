// SPDX-License-Identifier: Apache-2.0
// NVRTC, loaded at run time: turns the embedded device sources into a cubin. Needs no GPU and no CUDA headers on disk.
#pragma once

#include <nvrtc.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/messages/message.h"
#include "kernels/model/result.h"

#define ATTNSCOPE_NVRTC_FUNCTIONS(X) \
  X(nvrtcGetErrorString)             \
  X(nvrtcVersion)                    \
  X(nvrtcGetNumSupportedArchs)       \
  X(nvrtcGetSupportedArchs)          \
  X(nvrtcCreateProgram)              \
  X(nvrtcDestroyProgram)             \
  X(nvrtcCompileProgram)             \
  X(nvrtcGetCUBINSize)               \
  X(nvrtcGetCUBIN)                   \
  X(nvrtcGetProgramLogSize)          \
  X(nvrtcGetProgramLog)

namespace attnscope::gpu {

/// What the assembler says about one kernel.
struct KernelFigures {
  int registers = 0;
  std::int64_t static_shared_bytes = 0;
  std::int64_t local_bytes = 0;  ///< stack frame of a thread: also without spills this is local memory
  std::int64_t spill_store_bytes = 0;
  std::int64_t spill_load_bytes = 0;

  bool operator==(const KernelFigures&) const = default;
};

struct Compiled {
  std::string cubin;
  std::string log;
  KernelFigures figures;
};

class Nvrtc {
 public:
  [[nodiscard]] static Result<Nvrtc, Message> load();

  /// "13.0"
  [[nodiscard]] const std::string& version() const { return version_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Why `arch` ("sm_90a") cannot be compiled for; empty when it can.
  [[nodiscard]] Message refuses(std::string_view arch) const;

  /// Folders of CUDA's own headers that belong to this NVRTC, for sources of users.
  [[nodiscard]] std::vector<std::filesystem::path> include_folders() const;
  /// `own_text`: of a source that is not embedded. The error is what went wrong, and on the lines after it the
  /// compiler's log. Safe to call from several threads.
  [[nodiscard]] Result<Compiled, Message> compile(const KernelSource&, const std::vector<std::string>& options,
                                                  const std::string& own_text = {}) const;

 private:
#define ATTNSCOPE_MEMBER(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses)
  struct Functions {
    ATTNSCOPE_NVRTC_FUNCTIONS(ATTNSCOPE_MEMBER)
  };
#undef ATTNSCOPE_MEMBER
  Functions api_;
  std::string version_;
  std::filesystem::path path_;
};

/// All options of a compilation, the source's defines included, as NVRTC takes them.
[[nodiscard]] std::vector<std::string> compile_options(const KernelSource&, std::string_view arch);

/// Reads ptxas' report on `entry` out of a compile log.
[[nodiscard]] KernelFigures figures_from_log(std::string_view log, std::string_view entry);

/// The architecture to compile for: with the suffix of the architecture's own instructions where ours are used.
[[nodiscard]] std::string arch_for(int compute_major, int compute_minor);

}  // namespace attnscope::gpu
