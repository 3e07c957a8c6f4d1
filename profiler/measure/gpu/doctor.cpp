// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/doctor.h"

#include <unistd.h>

#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "messages/counters.h"
#include "messages/finding.h"
#include "messages/gpu.h"
#include "profiler/measure/gpu/cuda_driver.h"
#include "profiler/measure/gpu/cupti.h"
#include "profiler/measure/gpu/driver_start.h"
#include "profiler/measure/gpu/kernel_builder.h"
#include "profiler/measure/gpu/nvml.h"
#include "profiler/measure/gpu/nvrtc.h"
#include "profiler/measure/gpu/range_profiler.h"
#include "profiler/metrics/point.h"
#include "profiler/units/spelling.h"

namespace attnscope {
namespace {

using namespace gpu;  // NOLINT(google-build-using-namespace)
using Status = DoctorFinding::Status;

const auto simulator_works = say::finding::simulator_works{};
const auto timing_works = say::finding::timing_works{};

DoctorFinding check_nvrtc(const std::optional<std::string>& driver_version) {
  const auto nvrtc = Nvrtc::load();
  if (!nvrtc) {
    return {"NVRTC", Status::missing, nvrtc.error(), say::gpu::install_nvrtc{}, simulator_works};
  }
  Message detail =
      say::finding::version_in{.name = "NVRTC", .version = nvrtc->version(), .file = nvrtc->path().string()};
  if (driver_version && std::stoi(nvrtc->version()) > std::stoi(*driver_version)) {
    return {"NVRTC", Status::warning, say::finding::newer_nvrtc{.nvrtc = std::move(detail), .driver = *driver_version},
            say::finding::newer_nvrtc_fix{}, say::finding::newer_nvrtc_works{}};
  }
  return {"NVRTC", Status::ok, detail, {}, {}};
}

DoctorFinding check_cache() {
  namespace fs = std::filesystem;
  const fs::path folder = default_cubin_cache();
  if (folder.empty()) {
    return {"cubin cache", Status::warning, say::finding::no_cache{}, say::finding::no_cache_fix{},
            say::finding::cache_works{}};
  }
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || access(folder.c_str(), W_OK) != 0) {
    return {"cubin cache", Status::warning, say::finding::cache_not_written{.folder = folder.string()},
            say::finding::cache_not_written_fix{}, say::finding::cache_works{}};
  }
  std::size_t count = 0;
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".cubin") continue;
    ++count;
    const auto size = entry.file_size(error);
    if (!error) bytes += size;
  }
  return {"cubin cache",
          Status::ok,
          say::finding::cache{.folder = folder.string(), .kernels = count, .size = text(Capacity(bytes))},
          {},
          {}};
}

/// CUPTI, then the counters, which need CUPTI, a driver and a device.
void check_counters(const CudaApi* cuda, std::optional<CUdevice> device, std::vector<DoctorFinding>& findings) {
  const auto cupti = CuptiApi::load();
  if (!cupti) {
    findings.push_back({"CUPTI", Status::missing, cupti.error(), say::finding::install_cupti{}, timing_works});
  } else {
    findings.push_back(
        {"CUPTI",
         Status::ok,
         say::finding::version_in{.name = "CUPTI", .version = cupti->version, .file = cupti->path.string()},
         {},
         {}});
  }
  if (!cupti || cuda == nullptr || !device) {
    findings.push_back({"counters",
                        Status::skipped,
                        cupti ? Message(say::finding::no_gpu_to_count{}) : say::finding::counters_through_cupti{},
                        {},
                        cuda != nullptr && device ? Message(timing_works) : simulator_works});
    return;
  }
  try {
    const Context context(*cuda, *device);
    const RangeProfiler profiler(*cupti, context.get(), *device);
    findings.push_back({"counters", Status::ok, say::finding::counters{.chip = profiler.host().chip()}, {}, {}});
  } catch (const CuptiError& error) {
    const CounterAvailability why = explain(error, *cupti, driver_api_version(*cuda));
    findings.push_back({"counters", Status::missing, why.reason, why.fix, timing_works});
  } catch (const DriverError& error) {
    findings.push_back({"counters", Status::missing, say::finding::no_context{.error = error.what()},
                        say::finding::no_context_fix{}, simulator_works});
  }
}

void check_clocks(const std::optional<std::string>& uuid, std::vector<DoctorFinding>& findings) {
  const auto works = say::finding::clocks_work{};
  auto nvml = Nvml::open();
  if (!nvml) {
    findings.push_back({"NVML", Status::missing, nvml.error(), say::finding::nvml_fix{}, works});
    findings.push_back({"clocks", Status::skipped, say::finding::clocks_through_nvml{}, {}, works});
    return;
  }
  findings.push_back({"NVML",
                      Status::ok,
                      say::finding::nvml{.version = (*nvml)->nvml_version(), .driver = (*nvml)->driver_version()},
                      {},
                      {}});
  const auto reading = uuid && (*nvml)->select(*uuid) ? (*nvml)->read() : std::nullopt;
  if (!reading) {
    findings.push_back({"clocks", Status::missing, say::finding::no_clocks{}, {}, works});
    return;
  }
  const auto rounded = [](double value) { return fmt::format("{:.0f}", value); };
  Message detail = say::finding::clocks{.sm = rounded(reading->sm_clock_hz / 1e6),
                                        .memory = rounded(reading->memory_clock_hz / 1e6),
                                        .temperature = rounded(reading->temperature_c),
                                        .power = rounded(reading->power_w)};
  if (reading->throttled) {
    findings.push_back({"clocks", Status::warning,
                        say::finding::slowed{.clocks = std::move(detail),
                                             .reasons = describe_throttle_reasons(reading->throttle_reasons)},
                        say::finding::slowed_fix{}, say::finding::slowed_works{}});
    return;
  }
  findings.push_back({"clocks", Status::ok, detail, {}, {}});
}

/// Only what does the same on every machine.
std::string command_of(const Message& fix) {
  const auto is = [&fix](const Message& other) { return fix.id == other.id; };
  if (is(say::counters::permission_fix{})) {
    return "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | "
           "sudo tee /etc/modprobe.d/nvidia-profiling.conf";
  }
  if (is(say::finding::no_gpu_fix{})) return "nvidia-smi -L";
  const bool ask = is(say::gpu::check_nvidia_smi{}) || is(say::gpu::not_seen_fix{}) ||
                   is(say::gpu::not_seen_with_node_fix{}) || is(say::finding::no_context_fix{});
  return ask ? "nvidia-smi" : "";
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
    case Status::skipped:
      return "skipped";
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
        {"driver",
         Status::ok,
         say::finding::version_in{.name = "CUDA", .version = *driver_version, .file = cuda->path.string()},
         {},
         {}});
    CUdevice found = 0;
    if (cuda->cuDeviceGet(&found, ordinal) != CUDA_SUCCESS) {
      findings.push_back({"device", Status::missing, say::finding::no_gpu{.ordinal = ordinal},
                          say::finding::no_gpu_fix{}, simulator_works});
    } else {
      try {
        const DeviceLimits limits = device_limits(*cuda, found);
        uuid = device_uuid(*cuda, found);
        Message detail =
            say::finding::device{.device = limits.name,
                                 .capability = fmt::format("{}.{}", limits.compute_major, limits.compute_minor),
                                 .memory = text(Capacity(limits.dram_bytes)),
                                 .uuid = *uuid};
        if (limits.compute_major < 8) {
          findings.push_back(
              {"device", Status::missing, std::move(detail), say::finding::capability_fix{}, simulator_works});
        } else {
          device = found;
          findings.push_back({"device", Status::ok, std::move(detail), {}, {}});
        }
      } catch (const DriverError& error) {
        findings.push_back({"device", Status::missing,
                            say::finding::device_no_answer{.ordinal = ordinal, .error = error.what()},
                            say::gpu::check_nvidia_smi{}, simulator_works});
      }
    }
  } else {
    const bool driver_works =
        cuda.error().kind == GpuError::Kind::hidden || cuda.error().kind == GpuError::Kind::no_device;
    const GpuError& error = cuda.error();
    if (driver_works) {
      findings.push_back({"driver", Status::ok, say::finding::driver_installed{}, {}, {}});
      findings.push_back({"device", Status::missing, error.what, error.fix, simulator_works});
    } else {
      findings.push_back({"driver", Status::missing, error.what, error.fix, simulator_works});
      findings.push_back({"device", Status::skipped, say::finding::no_driver{}, {}, simulator_works});
    }
  }
  findings.push_back(check_nvrtc(driver_version));
  check_counters(cuda ? &*cuda : nullptr, device, findings);
  check_clocks(uuid, findings);
  findings.push_back(check_cache());
  for (DoctorFinding& finding : findings) finding.command = command_of(finding.fix);
  return findings;
}

}  // namespace attnscope
