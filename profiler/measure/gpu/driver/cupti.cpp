// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/driver/cupti.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <system_error>

#include <fmt/format.h>
#include <boost/algorithm/string/predicate.hpp>
#include <fstream>
#include <sstream>

#include "profiler/measure/gpu/driver/dynamic_library.h"

namespace attnscope::gpu {
namespace {

constexpr const char* override_variable = "ATTNSCOPE_CUPTI_LIBRARY";

/// "13.0" for 130001 (CUPTI 13.0.1).
std::string version_text(std::uint32_t version) {
  return fmt::format("{}.{}", version / 10000, version / 100 % 100);
}

/// Returns an error if another CUPTI than the one to load is in this process: both would claim the GPU's counters.
Message second_cupti_error() {
  constexpr const char* soname = "libcupti.so.13";
  const char* const replacement = std::getenv(override_variable);
  const auto loaded = DynamicLibrary::find_loaded(soname);
  std::error_code ignored;
  const std::filesystem::path wanted = replacement != nullptr ? std::filesystem::weakly_canonical(replacement, ignored)
                                       : loaded               ? loaded->path()
                                                              : std::filesystem::path(soname);
  for (const std::string& other : loaded_library_files("libcupti.so")) {
    if (other == wanted) continue;
    return make_message("This process has loaded {}, so that {} cannot be used (use libraries for one CUDA version).",
                        other, wanted.string());
  }
  return {};
}

std::string read_text(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

}  // namespace

Result<CuptiApi, Message> CuptiApi::load() {
  if (Message second = second_cupti_error(); !second.empty()) return Failure{std::move(second)};
#ifdef __SANITIZE_ADDRESS__
  if (std::getenv(override_variable) == nullptr) {
    return Failure{"CUPTI cannot be loaded under AddressSanitizer: it uses RTLD_DEEPBIND."};
  }
#endif
  const auto library = DynamicLibrary::open({.title = "CUPTI",
                                             .override_variable = override_variable,
                                             .names = {"libcupti.so.13", "libcupti.so.12"},
                                             .folders = toolkit_library_folders()});
  if (!library) return Failure{library.error().what};
  CuptiApi api;
  api.path = library->path();
  std::uint32_t version = 0;
  if (library->bind(api.cuptiGetVersion, "cuptiGetVersion") && api.cuptiGetVersion(&version) != CUPTI_SUCCESS)
    return Failure{make_message("CUPTI in {}: cuptiGetVersion failed.", api.path.string())};
  api.version = version_text(version);
  // Parameter structs grow with each version, and an older library rejects a larger struct.
  if (version / 10000 < CUPTI_API_VERSION / 10000) {
    return Failure{make_message("CUPTI {} in {} is too old; this program requires {} or newer.", api.version,
                                api.path.string(), version_text(CUPTI_API_VERSION))};
  }
  std::string missing;
  const auto bind = [&](auto& function, const char* name) {
    if (!library->bind(function, name) && missing.empty()) missing = name;
  };
#define ATTNSCOPE_BIND(name) bind(api.name, #name);
  ATTNSCOPE_CUPTI_FUNCTIONS(ATTNSCOPE_BIND)
#undef ATTNSCOPE_BIND
  if (!missing.empty()) {
    return Failure{make_message("CUPTI {} in {}: missing function {}.", api.version, api.path.string(), missing)};
  }
  // CUPTI opens these by soname, which may not be in the loader's search path. Once loaded, the soname resolves.
  for (const char* part : {"libnvperf_host.so", "libnvperf_target.so"}) {
    dlopen((api.path.parent_path() / part).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  return api;
}

std::string CuptiApi::describe(CUptiResult result) const {
  const char* text = nullptr;
  if (cuptiGetResultString(result, &text) != CUPTI_SUCCESS || text == nullptr) {
    return fmt::format("CUPTI error {}", static_cast<int>(result));
  }
  return fmt::format("{} ({})", text, static_cast<int>(result));
}

void CuptiApi::check(CUptiResult result, const char* call) const {
  if (result != CUPTI_SUCCESS)
    throw CuptiError(result, Message::verbatim(fmt::format("{}: {}", call, describe(result))));
}

Message counter_permission_fix(const std::filesystem::path& root) {
  if (boost::icontains(read_text(root / "proc/version"), "microsoft"))  // WSL
    return "On Windows, open NVIDIA Control Panel > Desktop > Enable Developer Settings, then Developer > Manage GPU "
           "Performance Counters > Allow access to all users, and restart WSL.";
  std::error_code ignored;
  const std::string cgroup = read_text(root / "proc/1/cgroup");
  const bool container = std::filesystem::exists(root / ".dockerenv", ignored) ||
                         std::filesystem::exists(root / "run/.containerenv", ignored) ||
                         std::ranges::any_of(std::array{"docker", "kubepods", "containerd", "libpod"},
                                             [&](const char* name) { return cgroup.find(name) != std::string::npos; });
  if (container)
    return "Start the container with --cap-add=SYS_ADMIN, or load the host's driver with "
           "NVreg_RestrictProfilingToAdminUsers=0; root in the container does not suffice.";
  return make_reason("counters.permission_fix",
                     "Run as root, or put 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' into "
                     "/etc/modprobe.d/nvidia-profiling.conf and reboot.");
}

CounterAvailability explain(const CuptiError& error, const CuptiApi& cupti, const std::string& driver_version) {
  const auto answer = [&](CounterState state, std::string_view id, std::string_view meaning, Message fix) {
    return CounterAvailability{state, make_reason(id, "{} [{}]", meaning, error.message()), std::move(fix)};
  };
  using enum CounterState;
  switch (error.code()) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
      return answer(not_permitted, "counters.no_permission", "No permission to read GPU performance counters.",
                    counter_permission_fix());
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return answer(
          not_permitted, "counters.hypervisor",
          "The hypervisor does not allow this virtual GPU to read performance counters.",
          "Ask the host's administrator to enable profiling for this vGPU (plugin parameter enable_profiling=1).");
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
      return answer(unsupported, "counters.virtual_gpu", "This type of virtual GPU has no performance counters.",
                    "Use GPU passthrough or a vGPU type with profiling.");
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
      return answer(unsupported, "counters.mig", "This MIG instance has no access to performance counters.",
                    "Use a MIG instance that spans the GPU, or turn MIG off (nvidia-smi -mig 0, as root).");
    case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED:
      return answer(unsupported, "counters.wsl", "This GPU's counters cannot be read under WSL2.",
                    "Update the Windows driver, or measure on Linux.");
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
      return answer(unsupported, "counters.confidential", "Confidential computing disables performance counters.",
                    "Turn confidential computing off, or set the GPU to its developer-tools mode.");
    case CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_NOT_SUPPORTED:
      return answer(unsupported, "counters.not_offered",
                    "This GPU or its configuration does not support performance counters.", {});
    case CUPTI_ERROR_HARDWARE_BUSY:
      return answer(busy, "counters.busy", "Another process is using the GPU's performance counters.",
                    "Stop other profilers on this GPU (ncu, Nsight, DCGM: dcgmi profile --pause), and measure outside "
                    "MPS.");
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
    case CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED:
      return answer(busy, "counters.another_tool", "Another tool in this process is using CUPTI (only one is allowed).",
                    "Run without ncu, nsys, compute-sanitizer or an injected profiler (CUDA_INJECTION64_PATH).");
    case CUPTI_ERROR_INVALID_PARAMETER:
    case CUPTI_ERROR_NOT_COMPATIBLE:
    case CUPTI_ERROR_CUDA_COMPILER_NOT_COMPATIBLE:
    case CUPTI_ERROR_API_NOT_IMPLEMENTED:
      return answer(
          unsupported, "counters.mismatch",
          fmt::format("CUPTI {} is incompatible with the installed driver (CUDA {}).", cupti.version, driver_version),
          "Install CUPTI from a CUDA toolkit that is not newer than the driver.");
    default:
      return answer(
          unsupported, "counters.not_started",
          fmt::format("CUPTI {} failed to initialize with this driver (CUDA {}).", cupti.version, driver_version),
          "Check that the versions of CUPTI and the driver match, and measure outside MPS.");
  }
}

}  // namespace attnscope::gpu
