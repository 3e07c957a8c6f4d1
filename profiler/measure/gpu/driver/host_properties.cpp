// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/driver/host_properties.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace attnscope::gpu {
namespace {

std::string read_text(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

bool contains(const std::string& text, const char* what) {
  return text.find(what) != std::string::npos;
}

}  // namespace

HostProperties host_properties(const std::filesystem::path& root) {
  HostProperties machine;
  const std::string version = read_text(root / "proc/version");
  machine.wsl = contains(version, "microsoft") || contains(version, "Microsoft");
  std::error_code ignored;
  const std::string cgroup = read_text(root / "proc/1/cgroup");
  machine.container = std::filesystem::exists(root / ".dockerenv", ignored) ||
                      std::filesystem::exists(root / "run/.containerenv", ignored) || contains(cgroup, "docker") ||
                      contains(cgroup, "kubepods") || contains(cgroup, "containerd") || contains(cgroup, "libpod");
  machine.mps = std::getenv("CUDA_MPS_PIPE_DIRECTORY") != nullptr;
  machine.counters_admin_only = contains(read_text(root / "proc/driver/nvidia/params"), "RmProfilingAdminOnly: 1");
  return machine;
}

Message counter_permission_fix(const HostProperties& machine) {
  if (machine.wsl)
    return "On Windows, open NVIDIA Control Panel > Desktop > Enable Developer Settings, then Developer > Manage GPU "
           "Performance Counters > Allow access to all users, and restart WSL.";
  if (machine.container)
    return "Start the container with --cap-add=SYS_ADMIN, or load the host's driver with "
           "NVreg_RestrictProfilingToAdminUsers=0; root in the container does not suffice.";
  return make_reason("counters.permission_fix",
                     "Run as root, or put 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' into "
                     "/etc/modprobe.d/nvidia-profiling.conf and reboot.");
}

}  // namespace attnscope::gpu
