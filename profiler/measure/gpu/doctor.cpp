// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/doctor.h"

#include <unistd.h>

#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "profiler/measure/gpu/cuda_driver.h"
#include "profiler/measure/gpu/cupti.h"
#include "profiler/measure/gpu/driver_start.h"
#include "profiler/measure/gpu/kernel_builder.h"
#include "profiler/measure/gpu/nvml.h"
#include "profiler/measure/gpu/nvrtc.h"
#include "profiler/measure/gpu/range_profiler.h"
#include "profiler/metrics/point.h"
#include "profiler/plan/text.h"

namespace attnscope {
namespace {

using namespace gpu;  // NOLINT(google-build-using-namespace)
using Status = DoctorFinding::Status;

constexpr const char* simulator_works = "The simulated device, the models, and every recorded run.";
constexpr const char* timing_works = "Timing, occupancy, verification and the models; points are marked no-counters.";

DoctorFinding check_nvrtc(const std::optional<std::string>& driver_version) {
  const auto nvrtc = Nvrtc::load();
  if (!nvrtc) {
    return {"NVRTC", Status::missing, nvrtc.error(),
            "Install the CUDA toolkit's NVRTC (libnvrtc.so.13), or name the file in ATTNSCOPE_NVRTC_LIBRARY.",
            simulator_works};
  }
  const std::string detail = fmt::format("NVRTC {} ({})", nvrtc->version(), nvrtc->path().string());
  if (driver_version && std::stoi(nvrtc->version()) > std::stoi(*driver_version)) {
    return {
        "NVRTC", Status::warning,
        fmt::format("{} is newer than the driver (CUDA {}), which may refuse its kernels.", detail, *driver_version),
        "Update the driver, or install the NVRTC of its own CUDA release.", "What the driver accepts."};
  }
  return {"NVRTC", Status::ok, detail, {}, {}};
}

DoctorFinding check_cache() {
  namespace fs = std::filesystem;
  const fs::path folder = default_cubin_cache();
  if (folder.empty()) {
    return {"cubin cache", Status::warning, "There is no folder that is this user's alone.",
            "Set HOME or ATTNSCOPE_CACHE_DIR.", "Everything; kernels are compiled anew in every run."};
  }
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || access(folder.c_str(), W_OK) != 0) {
    return {"cubin cache", Status::warning, fmt::format("{} cannot be written.", folder.string()),
            "Set ATTNSCOPE_CACHE_DIR to a folder that can.", "Everything; kernels are compiled anew in every run."};
  }
  std::size_t count = 0;
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".cubin") continue;
    ++count;
    const auto size = entry.file_size(error);
    if (!error) bytes += size;
  }
  return {
      "cubin cache",
      Status::ok,
      fmt::format("{} ({} kernels, {})", folder.string(), count, format_iec_bytes(static_cast<std::int64_t>(bytes))),
      {},
      {}};
}

/// CUPTI, then the counters, which need CUPTI, a driver and a device.
void check_counters(const CudaApi* cuda, std::optional<CUdevice> device, std::vector<DoctorFinding>& findings) {
  const auto cupti = CuptiApi::load();
  if (!cupti) {
    findings.push_back({"CUPTI", Status::missing, cupti.error(),
                        "Install the CUPTI of CUDA 13 (cuda-cupti-13-0), or name the file in ATTNSCOPE_CUPTI_LIBRARY.",
                        timing_works});
  } else {
    findings.push_back(
        {"CUPTI", Status::ok, fmt::format("CUPTI {} ({})", cupti->version, cupti->path.string()), {}, {}});
  }
  if (!cupti || cuda == nullptr || !device) {
    findings.push_back({"counters",
                        Status::missing,
                        cupti ? "There is no GPU to read counters from." : "Counters are read through CUPTI.",
                        {},
                        cuda != nullptr && device ? timing_works : simulator_works});
    return;
  }
  try {
    const Context context(*cuda, *device);
    const RangeProfiler profiler(*cupti, context.get(), *device);
    findings.push_back({"counters", Status::ok, fmt::format("available (chip {})", profiler.host().chip()), {}, {}});
  } catch (const CuptiError& error) {
    const CounterAvailability why = explain(error, *cupti, driver_api_version(*cuda));
    findings.push_back({"counters", Status::missing, text(why.reason), text(why.fix), timing_works});
  } catch (const DriverError& error) {
    findings.push_back({"counters", Status::missing, fmt::format("The GPU gives no context: {}.", error.what()),
                        "Check nvidia-smi for processes that hold the GPU.", simulator_works});
  }
}

void check_clocks(const std::optional<std::string>& uuid, std::vector<DoctorFinding>& findings) {
  constexpr const char* works = "Everything but clocks, temperature, power and throttle marks beside each point.";
  auto nvml = Nvml::open();
  if (!nvml) {
    findings.push_back({"NVML", Status::missing, nvml.error(),
                        "It comes with the driver (libnvidia-ml.so.1); ATTNSCOPE_NVML_LIBRARY can name the file.",
                        works});
    findings.push_back({"clocks", Status::missing, "Clocks are read through NVML.", {}, works});
    return;
  }
  findings.push_back({"NVML",
                      Status::ok,
                      fmt::format("NVML {}, driver {}", (*nvml)->nvml_version(), (*nvml)->driver_version()),
                      {},
                      {}});
  const auto reading = uuid && (*nvml)->select(*uuid) ? (*nvml)->read() : std::nullopt;
  if (!reading) {
    findings.push_back({"clocks", Status::missing, "This device reports no clocks.", {}, works});
    return;
  }
  const std::string detail =
      fmt::format("SM {:.0f} MHz, memory {:.0f} MHz, {:.0f} C, {:.0f} W", reading->sm_clock_hz / 1e6,
                  reading->memory_clock_hz / 1e6, reading->temperature_c, reading->power_w);
  if (reading->throttled) {
    findings.push_back(
        {"clocks", Status::warning,
         fmt::format("{}; slowed down: {}", detail, describe_throttle_reasons(reading->throttle_reasons)),
         "Let the GPU cool down, or wait for other work on it to end.",
         "Everything; points measured now are marked throttled."});
    return;
  }
  findings.push_back({"clocks", Status::ok, detail, {}, {}});
}

}  // namespace

std::string_view to_string(DoctorFinding::Status status) {
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::warning:
      return "warning";
    case Status::missing:
      return "missing";
  }
  return "missing";
}

std::vector<DoctorFinding> diagnose_gpu(int ordinal) {
  std::vector<DoctorFinding> findings;
  const auto cuda = start_driver();
  std::optional<CUdevice> device;
  std::optional<std::string> uuid;
  std::optional<std::string> driver_version;
  if (cuda) {
    driver_version = driver_api_version(*cuda);
    findings.push_back(
        {"driver", Status::ok, fmt::format("CUDA {} ({})", *driver_version, cuda->path.string()), {}, {}});
    CUdevice found = 0;
    if (cuda->cuDeviceGet(&found, ordinal) != CUDA_SUCCESS) {
      findings.push_back({"device", Status::missing, fmt::format("There is no GPU {}.", ordinal),
                          "Choose one of those that 'nvidia-smi -L' lists, counted from 0.", simulator_works});
    } else {
      try {
        const DeviceLimits limits = device_limits(*cuda, found);
        uuid = device_uuid(*cuda, found);
        const std::string detail =
            fmt::format("{}, compute capability {}.{}, {}, {}", limits.name, limits.compute_major, limits.compute_minor,
                        format_iec_bytes(limits.dram_bytes), *uuid);
        if (limits.compute_major < 8) {
          findings.push_back({"device", Status::missing, detail, "The kernels need compute capability 8.0 or newer.",
                              simulator_works});
        } else {
          device = found;
          findings.push_back({"device", Status::ok, detail, {}, {}});
        }
      } catch (const DriverError& error) {
        findings.push_back({"device", Status::missing,
                            fmt::format("GPU {} does not answer: {}.", ordinal, error.what()), "Check nvidia-smi.",
                            simulator_works});
      }
    }
  } else {
    const bool driver_works =
        cuda.error().kind == GpuError::Kind::hidden || cuda.error().kind == GpuError::Kind::no_device;
    findings.push_back({"driver", driver_works ? Status::ok : Status::missing,
                        driver_works ? "The NVIDIA driver is installed." : cuda.error().what,
                        driver_works ? "" : cuda.error().fix, driver_works ? "" : simulator_works});
    findings.push_back({"device", Status::missing, driver_works ? cuda.error().what : "No GPU without a driver.",
                        driver_works ? cuda.error().fix : "", simulator_works});
  }
  findings.push_back(check_nvrtc(driver_version));
  check_counters(cuda ? &*cuda : nullptr, device, findings);
  check_clocks(uuid, findings);
  findings.push_back(check_cache());
  return findings;
}

}  // namespace attnscope
