// SPDX-License-Identifier: Apache-2.0
// Preload library: intercepts the functions that the program looks up in the driver, NVRTC, CUPTI and NVML and makes
// one call fail without executing it. Works with the fake libraries and with a real GPU. Environment variables:
//   ATTNSCOPE_FAIL_CALL  the function; nothing fails if unset
//   ATTNSCOPE_FAIL_AT    number of the failing call, from 1
//   ATTNSCOPE_FAIL_CODE  error code to return
//   ATTNSCOPE_FAIL_STAYS all later calls fail, too
//   ATTNSCOPE_FAIL_ONCE  file that the failure creates; nothing fails if it exists, so that a restarted process
//                        meets one failure in total
//   ATTNSCOPE_FAIL_WHEN  nothing fails until this file exists
//   ATTNSCOPE_FAIL_LOG   output file with one line per function: name and number of calls
//   ATTNSCOPE_FAIL_SECONDS  limit after which the process ends by SIGALRM
#include <cuda.h>
#include <cupti_result.h>

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <cupti_version.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <nvrtc.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <type_traits>

#include "profiler/measure/gpu/driver/cuda_driver.h"
#include "profiler/measure/gpu/driver/cupti.h"
#include "profiler/measure/gpu/driver/nvml.h"
#include "profiler/measure/gpu/driver/nvrtc.h"

namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

struct FaultSettings {
  std::string_view call = variable("ATTNSCOPE_FAIL_CALL");
  std::string_view once = variable("ATTNSCOPE_FAIL_ONCE");
  std::string_view when = variable("ATTNSCOPE_FAIL_WHEN");
  std::string_view log = variable("ATTNSCOPE_FAIL_LOG");
  bool stays = !variable("ATTNSCOPE_FAIL_STAYS").empty();
  long at = std::atol(std::getenv("ATTNSCOPE_FAIL_AT") != nullptr ? std::getenv("ATTNSCOPE_FAIL_AT") : "1");
  int code = std::atoi(std::getenv("ATTNSCOPE_FAIL_CODE") != nullptr ? std::getenv("ATTNSCOPE_FAIL_CODE") : "1");
};

const FaultSettings& orders() {
  static const FaultSettings given;
  return given;
}

/// Returns true in exactly one process and call: the one that creates the file.
bool create_exclusively(std::string_view file) {
  const int made = ::open(file.data(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made >= 0) ::close(made);
  return made >= 0;
}

bool fails(std::string_view call, long n) {
  const FaultSettings& given = orders();
  if (given.call != call || n < given.at || (n > given.at && !given.stays)) return false;
  if (!given.when.empty() && ::access(given.when.data(), F_OK) != 0) return false;
  return given.once.empty() || create_exclusively(given.once);
}

template <std::size_t Size>
struct Name {
  std::array<char, Size> text{};
  constexpr Name(const char (&literal)[Size]) { std::copy_n(literal, Size, text.begin()); }  // NOLINT: as a literal
  [[nodiscard]] constexpr std::string_view view() const { return {text.data(), Size - 1}; }
};

template <Name name, class Function>
struct Interceptor;

template <Name name, class Answer, class... Arguments>
struct Interceptor<name, Answer (*)(Arguments...)> {
  static inline Answer (*real)(Arguments...) = nullptr;
  static inline std::atomic<long> calls{0};

  static Answer call(Arguments... arguments) {
    const long n = ++calls;
    if constexpr (!std::is_pointer_v<Answer>) {
      if (fails(name.view(), n)) return static_cast<Answer>(orders().code);
    }
    return real(arguments...);
  }
  static void* install(void* found) {
    real = reinterpret_cast<Answer (*)(Arguments...)>(found);
    return reinterpret_cast<void*>(&call);
  }
  static long count() { return calls; }
};

struct InterceptedFunction {
  std::string_view name;
  void* (*install)(void*);
  long (*count)();
};

#define ATTNSCOPE_INTERCEPT_NAMED(function, type) \
  InterceptedFunction{#function, &Interceptor<#function, type>::install, &Interceptor<#function, type>::count},
#define ATTNSCOPE_INTERCEPT_AS(function) ATTNSCOPE_INTERCEPT_NAMED(function, decltype(&::function))
#define ATTNSCOPE_INTERCEPT(function) ATTNSCOPE_INTERCEPT_AS(function)
using attnscope::gpu::NvmlUtilization;
#define ATTNSCOPE_INTERCEPT_NVML(member, function, signature) \
  ATTNSCOPE_INTERCEPT_NAMED(function, std::add_pointer_t<signature>)
constexpr InterceptedFunction intercepted_functions[] = {
    ATTNSCOPE_CUDA_FUNCTIONS(ATTNSCOPE_INTERCEPT)       //
    ATTNSCOPE_NVRTC_FUNCTIONS(ATTNSCOPE_INTERCEPT)      //
    ATTNSCOPE_CUPTI_FUNCTIONS(ATTNSCOPE_INTERCEPT)      //
    ATTNSCOPE_NVML_FUNCTIONS(ATTNSCOPE_INTERCEPT_NVML)  //
    ATTNSCOPE_NVML_OTHER_FUNCTIONS(ATTNSCOPE_INTERCEPT_NVML)
#undef cuEventElapsedTime
        ATTNSCOPE_INTERCEPT_NAMED(cuEventElapsedTime, CUresult (*)(float*, CUevent, CUevent))};

/// Base address of the loaded file that contains an address.
void* file_of(const void* address) {
  Dl_info info{};
  return ::dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

using Lookup = void* (*)(void*, const char*);

Lookup real_dlsym() {
  static const auto found = [] {
    for (const char* version : {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"}) {
      if (void* const symbol = ::dlvsym(RTLD_NEXT, "dlsym", version)) return reinterpret_cast<Lookup>(symbol);
    }
    std::fputs("fail_gpu: no dlsym in this C library\n", stderr);
    std::abort();
  }();
  return found;
}

[[gnu::constructor]] void limit_time() {
  if (const char* seconds = std::getenv("ATTNSCOPE_FAIL_SECONDS")) ::alarm(static_cast<unsigned>(std::atoi(seconds)));
}

[[gnu::destructor]] void write_log() {
  const bool called = std::ranges::any_of(
      intercepted_functions, [](const InterceptedFunction& intercepted) { return intercepted.count() > 0; });
  if (orders().log.empty() || !called) return;  // the supervisor process calls no GPU
  std::FILE* const file = std::fopen(orders().log.data(), "w");
  if (file == nullptr) return;
  for (const InterceptedFunction& intercepted : intercepted_functions) {
    if (intercepted.count() > 0) std::fprintf(file, "%s %ld\n", intercepted.name.data(), intercepted.count());
  }
  std::fclose(file);
}

}  // namespace

extern "C" void* dlsym(void* library, const char* name) {
  void* const found = real_dlsym()(library, name);
  // Do not intercept CUPTI's own lookups of driver functions.
  static void* const program = file_of(reinterpret_cast<const void*>(::getauxval(AT_ENTRY)));
  if (found == nullptr || file_of(__builtin_return_address(0)) != program) return found;
  const auto* const intercepted =
      std::ranges::find(intercepted_functions, std::string_view(name), &InterceptedFunction::name);
  return intercepted == std::end(intercepted_functions) ? found : intercepted->install(found);
}
