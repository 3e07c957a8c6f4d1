// SPDX-License-Identifier: Apache-2.0
// Properties of the host that determine how to grant permission for performance counters.
#pragma once

#include <filesystem>

#include "kernels/messages/message.h"

namespace attnscope::gpu {

struct HostProperties {
  bool wsl = false;                  ///< Windows Subsystem for Linux
  bool container = false;            ///< Docker, Podman, Kubernetes, ...
  bool mps = false;                  ///< CUDA_MPS_PIPE_DIRECTORY is set (Multi-Process Service).
  bool counters_admin_only = false;  ///< The driver's RmProfilingAdminOnly is 1.
};
/// Reads /proc and the environment; tests pass another `root`.
[[nodiscard]] HostProperties host_properties(const std::filesystem::path& root = "/");

/// How to get permission for performance counters on this host; one sentence.
[[nodiscard]] Message counter_permission_fix(const HostProperties&);

}  // namespace attnscope::gpu
