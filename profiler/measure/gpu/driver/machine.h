// SPDX-License-Identifier: Apache-2.0
// What kind of machine this is, where it decides how a missing permission is given.
#pragma once

#include <filesystem>

#include "kernels/messages/message.h"

namespace attnscope::gpu {

struct Machine {
  bool wsl = false;                      ///< Windows Subsystem for Linux
  bool container = false;                ///< Docker, Podman, Kubernetes, ...
  bool mps = false;                      ///< CUDA's Multi-Process Service is asked for
  bool counters_for_admin_only = false;  ///< the driver's RmProfilingAdminOnly
};
/// Reads /proc below `root` ("/" but for tests) and the environment.
[[nodiscard]] Machine this_machine(const std::filesystem::path& root = "/");

/// How to be allowed the performance counters on this machine, one sentence.
[[nodiscard]] Message counter_permission_fix(const Machine&);

}  // namespace attnscope::gpu
