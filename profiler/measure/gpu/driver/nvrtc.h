// SPDX-License-Identifier: Apache-2.0
// NVRTC, loaded at run time: compiles the embedded device sources to cubins. Needs neither a GPU nor CUDA headers on
// disk.
#pragma once

#include <nvrtc.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "profiler/measure/device.h"

#define ATTNSCOPE_NVRTC_FUNCTIONS(X) \
  X(nvrtcGetErrorString)             \
  X(nvrtcVersion)                    \
  X(nvrtcGetNumSupportedArchs)       \
  X(nvrtcGetSupportedArchs)          \
  X(nvrtcCreateProgram)              \
  X(nvrtcAddNameExpression)          \
  X(nvrtcGetLoweredName)             \
  X(nvrtcDestroyProgram)             \
  X(nvrtcCompileProgram)             \
  X(nvrtcGetCUBINSize)               \
  X(nvrtcGetCUBIN)                   \
  X(nvrtcGetProgramLogSize)          \
  X(nvrtcGetProgramLog)

namespace attnscope::gpu {

struct UserSourceText;

struct Compiled {
  std::string cubin;
  std::string symbol;  ///< Name of the entry in the cubin.
  std::string log;
  ResourceUsage figures;
};

class Nvrtc {
 public:
  [[nodiscard]] static Result<Nvrtc, Message> load();

  /// "13.0"
  [[nodiscard]] const std::string& version() const { return version_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Why NVRTC cannot compile for `arch` ("sm_90a"); empty if it can.
  [[nodiscard]] Message unsupported_reason(std::string_view arch) const;

  /// Folders of the CUDA headers that belong to this NVRTC, for user sources.
  [[nodiscard]] std::vector<std::filesystem::path> include_folders() const;
  /// `user`: a source that is not embedded. The error is the cause, then the compiler's log. Thread-safe.
  [[nodiscard]] Result<Compiled, Message> compile(const KernelSource&, const std::vector<std::string>& options,
                                                  const UserSourceText* user = nullptr) const;

 private:
  /// `implicit`: with the implicit header of user sources.
  [[nodiscard]] Result<Compiled, Message> compile(const KernelSource&, const std::vector<std::string>& options,
                                                  const UserSourceText* user, bool implicit) const;
  /// `instance`: the name expression of a template instance; empty for other entries.
  [[nodiscard]] Result<std::string, Message> entry_symbol(const KernelSource&, nvrtcProgram,
                                                          const std::string& instance, const std::string& cubin) const;
#define ATTNSCOPE_MEMBER(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses)
  struct Functions {
    ATTNSCOPE_NVRTC_FUNCTIONS(ATTNSCOPE_MEMBER)
  };
#undef ATTNSCOPE_MEMBER
  Functions api_;
  std::string version_;
  std::filesystem::path path_;
};

/// All compiler options for this source, including its defines; each option and macro once.
[[nodiscard]] std::vector<std::string> compile_options(const KernelSource&, std::string_view arch);

/// Extracts the ptxas figures of `entry` from a compile log.
[[nodiscard]] ResourceUsage parse_resource_usage(std::string_view log, std::string_view entry);

/// Target architecture: "sm_80", or with the suffix "a" from compute capability 9.0 on.
[[nodiscard]] std::string arch_for(int compute_major, int compute_minor);

}  // namespace attnscope::gpu
