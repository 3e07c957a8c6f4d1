// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/driver/nvml.h"

#include <array>
#include <type_traits>

#include "profiler/measure/gpu/driver/dynamic_library.h"

namespace attnscope::gpu {
namespace {

constexpr int clock_sm = 1;
constexpr int clock_memory = 2;
constexpr int temperature_gpu = 0;

constexpr std::uint64_t software_power_cap = 0x4;
constexpr std::uint64_t hardware_slowdown = 0x8;
constexpr std::uint64_t software_thermal = 0x20;
constexpr std::uint64_t hardware_thermal = 0x40;
constexpr std::uint64_t power_brake = 0x80;

}  // namespace

struct Nvml::Functions {
#define ATTNSCOPE_MEMBER(member, function, signature) std::add_pointer_t<signature> member = nullptr;
  ATTNSCOPE_NVML_FUNCTIONS(ATTNSCOPE_MEMBER)
  ATTNSCOPE_NVML_OTHER_FUNCTIONS(ATTNSCOPE_MEMBER)
#undef ATTNSCOPE_MEMBER
};

bool indicates_throttling(std::uint64_t reasons) {
  return (reasons & (software_power_cap | hardware_slowdown | software_thermal | hardware_thermal | power_brake)) != 0;
}

Result<std::unique_ptr<Nvml>, Message> Nvml::open() {
  const auto library = DynamicLibrary::open({.title = "NVML",
                                             .override_variable = "ATTNSCOPE_NVML_LIBRARY",
                                             .names = {"libnvidia-ml.so.1"},
                                             .folders = {"/usr/lib/wsl/lib"}});
  if (!library) return Failure{library.error().what};
  auto api = std::make_unique<Functions>();
  bool complete = true;
#define ATTNSCOPE_BIND(member, function, signature) complete = complete && library->bind(api->member, #function);
  ATTNSCOPE_NVML_FUNCTIONS(ATTNSCOPE_BIND)
#undef ATTNSCOPE_BIND
#define ATTNSCOPE_BIND(member, function, signature) (void)library->bind(api->member, #function);
  ATTNSCOPE_NVML_OTHER_FUNCTIONS(ATTNSCOPE_BIND)
#undef ATTNSCOPE_BIND
  complete =
      complete && (api->reasons != nullptr || library->bind(api->reasons, "nvmlDeviceGetCurrentClocksThrottleReasons"));
  if (!complete) return Failure{make_message("NVML {}: required functions are missing.", library->path().string())};
  if (const int result = api->init(); result != 0) {
    return Failure{make_message("NVML failed to initialize: {}.", api->error_string(result))};
  }
  std::unique_ptr<Nvml> nvml(new Nvml);
  nvml->api_ = std::move(api);
  return nvml;
}

Nvml::~Nvml() {
  api_->shutdown();
}

std::string Nvml::nvml_version() const {
  std::array<char, 96> text{};
  return api_->nvml_version(text.data(), static_cast<unsigned>(text.size()) - 1) == 0 ? text.data() : "";
}

std::string Nvml::driver_version() const {
  std::array<char, 96> text{};
  return api_->driver_version(text.data(), static_cast<unsigned>(text.size()) - 1) == 0 ? text.data() : "";
}

bool Nvml::select(const std::string& uuid) {
  return api_->handle_by_uuid(uuid.c_str(), &device_) == 0;
}

std::optional<ClockReading> Nvml::read() const {
  if (device_ == nullptr) return std::nullopt;
  ClockReading reading;
  bool all = true;
  const auto ask = [&](double& target, double scale, auto function, auto... what) {
    unsigned value = 0;
    all = all && function(device_, what..., &value) == 0;
    target = scale * value;
  };
  ask(reading.sm_clock_hz, 1e6, api_->clock, clock_sm);
  ask(reading.memory_clock_hz, 1e6, api_->clock, clock_memory);
  ask(reading.temperature_c, 1, api_->temperature, temperature_gpu);
  ask(reading.power_w, 1e-3, api_->power);
  unsigned long long reasons = 0;
  all = all && api_->reasons(device_, &reasons) == 0;
  reading.throttle_reasons = reasons;
  reading.throttled = indicates_throttling(reasons);
  return all ? std::optional(reading) : std::nullopt;
}

std::optional<double> Nvml::utilization_pct() const {
  NvmlUtilization use;
  if (device_ == nullptr || api_->use == nullptr || api_->use(device_, &use) != 0) return std::nullopt;
  return use.gpu;
}

}  // namespace attnscope::gpu
