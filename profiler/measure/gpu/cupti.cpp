// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/cupti.h"

#include <dlfcn.h>

#include <cstdlib>

#include <fmt/format.h>

#include "messages/counters.h"
#include "messages/library.h"
#include "profiler/measure/gpu/dynamic_library.h"
#include "profiler/measure/gpu/machine.h"

namespace attnscope::gpu {
namespace {

constexpr const char* override_variable = "ATTNSCOPE_CUPTI_LIBRARY";

/// "13.0" for 130001: two digits a part (CUPTI 13.0.1).
std::string version_text(std::uint32_t version) {
  return fmt::format("{}.{}", version / 10000, version / 100 % 100);
}

}  // namespace

Result<CuptiApi, Message> CuptiApi::load() {
#ifdef __SANITIZE_ADDRESS__
  if (std::getenv(override_variable) == nullptr) {
    return Failure<Message>{say::library::cupti_sanitizer{}};
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
  if (library->bind(api.cuptiGetVersion, "cuptiGetVersion")) {
    if (const CUptiResult result = api.cuptiGetVersion(&version); result != CUPTI_SUCCESS) {
      return Failure<Message>{say::library::cupti_version{
          .file = api.path.string(),
          .error = fmt::format("cuptiGetVersion: CUPTI error {}", static_cast<int>(result))}};
    }
  }
  api.version = version_text(version);
  // Its parameter blocks grow from version to version, and an older library refuses a newer block.
  if (version / 10000 < CUPTI_API_VERSION / 10000) {
    return Failure<Message>{say::library::cupti_old{
        .version = api.version, .file = api.path.string(), .needed = version_text(CUPTI_API_VERSION)}};
  }
  std::string missing;
  const auto bind = [&](auto& function, const char* name) {
    if (!library->bind(function, name) && missing.empty()) missing = name;
  };
#define ATTNSCOPE_BIND(name) bind(api.name, #name);
  ATTNSCOPE_CUPTI_FUNCTIONS(ATTNSCOPE_BIND)
#undef ATTNSCOPE_BIND
  if (!missing.empty()) {
    return Failure<Message>{
        say::library::cupti_lacks{.version = api.version, .file = api.path.string(), .function = missing}};
  }
  // CUPTI opens this by its bare name, which the loader's path need not lead to; once loaded, the name is known.
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

CounterAvailability explain(const CuptiError& error, const CuptiApi& cupti, const std::string& driver_version) {
  const Machine machine = this_machine();
  const auto answer = [&](CounterState state, Message meaning, Message fix) {
    // By pieces: GCC 12 takes the end of a half-made one for a use of what was never begun.
    CounterAvailability why{state, {}, std::move(fix)};
    const MessageValue code(error.message());
    why.reason = say::counters::answer{.meaning = std::move(meaning), .error = code};
    return why;
  };
  switch (error.code()) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
      if (machine.counters_for_admin_only) {
        return answer(CounterState::not_permitted, say::counters::admin_only{}, counter_permission_fix(machine));
      }
      return answer(CounterState::not_permitted, say::counters::no_permission{}, counter_permission_fix(machine));
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return answer(CounterState::not_permitted, say::counters::hypervisor{}, say::counters::hypervisor_fix{});
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
      return answer(CounterState::unsupported, say::counters::virtual_gpu{}, say::counters::virtual_gpu_fix{});
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
      return answer(CounterState::unsupported, say::counters::mig{}, say::counters::mig_fix{});
    case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED:
      return answer(CounterState::unsupported, say::counters::wsl{}, say::counters::wsl_fix{});
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
      return answer(CounterState::unsupported, say::counters::confidential{}, say::counters::confidential_fix{});
    case CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_NOT_SUPPORTED:
      return answer(CounterState::unsupported, say::counters::not_offered{}, {});
    case CUPTI_ERROR_HARDWARE_BUSY:
      if (machine.mps) return answer(CounterState::busy, say::counters::busy{}, say::counters::busy_mps_fix{});
      return answer(CounterState::busy, say::counters::busy{}, say::counters::busy_fix{});
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
    case CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED:
      return answer(CounterState::busy, say::counters::another_tool{}, say::counters::another_tool_fix{});
    case CUPTI_ERROR_INVALID_PARAMETER:
    case CUPTI_ERROR_NOT_COMPATIBLE:
    case CUPTI_ERROR_CUDA_COMPILER_NOT_COMPATIBLE:
    case CUPTI_ERROR_API_NOT_IMPLEMENTED:
      return answer(CounterState::unsupported,
                    say::counters::mismatch{.cupti = cupti.version, .driver = driver_version},
                    say::counters::mismatch_fix{});
    default: {
      const Message meaning = say::counters::not_started{.cupti = cupti.version, .driver = driver_version};
      if (machine.mps) return answer(CounterState::unsupported, meaning, say::counters::not_started_mps_fix{});
      return answer(CounterState::unsupported, meaning, say::counters::not_started_fix{});
    }
  }
}

}  // namespace attnscope::gpu
