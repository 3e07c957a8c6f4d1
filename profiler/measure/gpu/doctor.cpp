// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/gpu_device.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "profiler/measure/gpu/driver/cuda_driver.h"
#include "profiler/measure/gpu/driver/cupti.h"
#include "profiler/measure/gpu/driver/nvml.h"
#include "profiler/measure/gpu/driver/nvrtc.h"
#include "profiler/measure/gpu/driver/range_profiler.h"
#include "profiler/metrics/point.h"
#include "profiler/units/number_format.h"

namespace attnscope {
namespace {

using namespace gpu;  // NOLINT(google-build-using-namespace)
using Checks = std::vector<DoctorCheck>;

/// Result of starting the driver; `device` is set if the GPU is usable.
struct StartedDriver {
  std::string driver_version;
  std::optional<CUdevice> device;
  std::string uuid;
};

std::string format_version(std::string_view name, const std::string& version, const std::filesystem::path& file) {
  return fmt::format("{} {} ({})", name, version, file.string());
}

void check_device(const CudaApi& cuda, int ordinal, StartedDriver& started, Checks& checks) {
  CUdevice device = 0;
  if (cuda.cuDeviceGet(&device, ordinal) != CUDA_SUCCESS) {
    checks.push_back(
        {"device", false, fmt::format("GPU {} does not exist", ordinal), "Select a GPU that `nvidia-smi -L` lists."});
    return;
  }
  try {
    const DeviceLimits limits = device_limits(cuda, device);
    started.uuid = device_uuid(cuda, device);
    const bool supported = limits.compute_major >= 8;
    if (supported) started.device = device;
    checks.push_back({"device", supported,
                      fmt::format("{}, compute capability {}.{}, {}, {}", limits.name, limits.compute_major,
                                  limits.compute_minor, text(Capacity(limits.dram_bytes)), started.uuid),
                      supported ? "" : "Use a GPU of compute capability 8.0 or higher."});
  } catch (const DriverError& error) {
    checks.push_back({"device", false, fmt::format("GPU {} does not respond: {}", ordinal, error.what()),
                      "Run `nvidia-smi`; if it also fails, reboot."});
  }
}

void check_nvrtc(const std::string& driver_version, Checks& checks) {
  const auto nvrtc = Nvrtc::load();
  if (!nvrtc) {
    checks.push_back({"NVRTC", false, text(nvrtc.error()),
                      "Install NVRTC of CUDA 13 (cuda-nvrtc-13-0), or set ATTNSCOPE_NVRTC_LIBRARY to its path."});
    return;
  }
  const bool is_newer = !driver_version.empty() && std::stoi(nvrtc->version()) > std::stoi(driver_version);
  const std::string detail = format_version("NVRTC", nvrtc->version(), nvrtc->path());
  checks.push_back({"NVRTC", !is_newer,
                    is_newer ? fmt::format("{} is newer than the driver (CUDA {}), which may reject its kernels",
                                           detail, driver_version)
                             : detail,
                    is_newer ? "Update the driver, or install NVRTC of the driver's CUDA version." : ""});
}

void check_counters(const CudaApi* cuda, const StartedDriver& started, Checks& checks) {
  const auto cupti = CuptiApi::load();
  if (!cupti) {
    checks.push_back({"CUPTI", false, text(cupti.error()),
                      "Install CUPTI of CUDA 13 (cuda-cupti-13-0), or set ATTNSCOPE_CUPTI_LIBRARY to its path."});
    return;
  }
  checks.push_back({"CUPTI", true, format_version("CUPTI", cupti->version, cupti->path), ""});
  if (!started.device) return;
  try {
    const Context context(*cuda, *started.device);
    const RangeProfiler profiler(*cupti, context.get(), *started.device);
    checks.push_back({"counters", true, fmt::format("available (chip {})", profiler.host().chip()), ""});
  } catch (const CuptiError& error) {
    const CounterAvailability why = explain(error, *cupti, started.driver_version);
    checks.push_back({"counters", false, text(why.reason), text(why.fix)});
  } catch (const DriverError& error) {
    checks.push_back({"counters", false, fmt::format("no CUDA context: {}", error.what()),
                      "Check `nvidia-smi` for other processes on the GPU."});
  }
}

void check_clocks(const StartedDriver& started, Checks& checks) {
  auto nvml = Nvml::open();
  if (!nvml) {
    checks.push_back({"NVML", false, text(nvml.error()),
                      "Install the driver's libnvidia-ml.so.1, or set ATTNSCOPE_NVML_LIBRARY to its path."});
    return;
  }
  checks.push_back(
      {"NVML", true, fmt::format("NVML {}, driver {}", (*nvml)->nvml_version(), (*nvml)->driver_version()), ""});
  const auto reading = !started.uuid.empty() && (*nvml)->select(started.uuid) ? (*nvml)->read() : std::nullopt;
  if (!reading) return;
  const std::string detail =
      fmt::format("SM {:.0f} MHz, memory {:.0f} MHz, {:.0f} °C, {:.0f} W", reading->sm_clock_hz / 1e6,
                  reading->memory_clock_hz / 1e6, reading->temperature_c, reading->power_w);
  if (!reading->throttled) {
    checks.push_back({"clocks", true, detail, ""});
  } else {
    checks.push_back(
        {"clocks", false,
         fmt::format("{}; throttled: {}", detail, text(describe_throttle_reasons(reading->throttle_reasons))),
         "Let the GPU cool down, or wait for its other work to end."});
  }
}

void check_cache(Checks& checks) {
  const std::filesystem::path folder = default_cubin_cache();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  const bool writable = !folder.empty() && !error && access(folder.c_str(), W_OK) == 0;
  checks.push_back({"cubin cache", writable,
                    writable ? folder.string() : fmt::format("'{}' is not writable", folder.string()),
                    writable ? "" : "Set ATTNSCOPE_CACHE_DIR to a writable folder."});
}

}  // namespace

std::vector<DoctorCheck> check_gpu(int ordinal) {
  Checks checks;
  StartedDriver started;
  const auto cuda = start_driver();
  if (cuda) {
    started.driver_version = driver_api_version(*cuda);
    checks.push_back({"driver", true, format_version("CUDA", started.driver_version, cuda->path), ""});
    check_device(*cuda, ordinal, started, checks);
  } else {
    const GpuError& error = cuda.error();
    const bool driver_works = error.what.id == "gpu.hidden" || error.what.id == "gpu.not_seen";
    checks.push_back({driver_works ? "device" : "driver", false, text(error.what), text(error.fix)});
  }
  check_nvrtc(started.driver_version, checks);
  check_counters(cuda ? &*cuda : nullptr, started, checks);
  check_clocks(started, checks);
  check_cache(checks);
  return checks;
}

}  // namespace attnscope
