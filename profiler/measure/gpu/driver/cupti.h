// SPDX-License-Identifier: Apache-2.0
// CUPTI, loaded at run time, and explanations of its errors.
#pragma once

#include <cuda.h>
// cupti_result.h comes first: the headers below use it without CUPTI's own callback types.
#include <cupti_result.h>

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <cupti_version.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "profiler/measure/device.h"

#define ATTNSCOPE_CUPTI_FUNCTIONS(X)              \
  X(cuptiGetVersion)                              \
  X(cuptiGetResultString)                         \
  X(cuptiDeviceGetChipName)                       \
  X(cuptiProfilerInitialize)                      \
  X(cuptiProfilerDeviceSupported)                 \
  X(cuptiProfilerGetCounterAvailability)          \
  X(cuptiProfilerHostInitialize)                  \
  X(cuptiProfilerHostDeinitialize)                \
  X(cuptiProfilerHostGetSupportedChips)           \
  X(cuptiProfilerHostGetBaseMetrics)              \
  X(cuptiProfilerHostGetSubMetrics)               \
  X(cuptiProfilerHostGetMetricProperties)         \
  X(cuptiProfilerHostConfigAddMetrics)            \
  X(cuptiProfilerHostGetConfigImageSize)          \
  X(cuptiProfilerHostGetConfigImage)              \
  X(cuptiProfilerHostGetNumOfPasses)              \
  X(cuptiProfilerHostEvaluateToGpuValues)         \
  X(cuptiRangeProfilerEnable)                     \
  X(cuptiRangeProfilerDisable)                    \
  X(cuptiRangeProfilerGetCounterDataSize)         \
  X(cuptiRangeProfilerCounterDataImageInitialize) \
  X(cuptiRangeProfilerSetConfig)                  \
  X(cuptiRangeProfilerStart)                      \
  X(cuptiRangeProfilerStop)                       \
  X(cuptiRangeProfilerPushRange)                  \
  X(cuptiRangeProfilerPopRange)                   \
  X(cuptiRangeProfilerDecodeData)                 \
  X(cuptiRangeProfilerGetCounterDataInfo)         \
  X(cuptiRangeProfilerCounterDataGetRangeInfo)

namespace attnscope::gpu {

/// Function pointers of CUPTI. Copyable: the library stays loaded.
struct CuptiApi {
#define ATTNSCOPE_MEMBER(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses)
  ATTNSCOPE_CUPTI_FUNCTIONS(ATTNSCOPE_MEMBER)
#undef ATTNSCOPE_MEMBER
  std::filesystem::path path;
  std::string version;  ///< "13.0"

  /// Fails if CUPTI is absent or older than the headers of this build; the error is one sentence.
  [[nodiscard]] static Result<CuptiApi, Message> load();

  /// "CUPTI_ERROR_HARDWARE_BUSY (26)"
  [[nodiscard]] std::string describe(CUptiResult result) const;
  /// Throws CuptiError unless `result` is success.
  void check(CUptiResult result, const char* call) const;
};

class CuptiError : public std::runtime_error {
 public:
  CuptiError(CUptiResult code, Message message)
      : std::runtime_error(text(message)), code_(code), message_(std::move(message)) {}
  [[nodiscard]] CUptiResult code() const { return code_; }
  [[nodiscard]] const Message& message() const { return message_; }

 private:
  CUptiResult code_;
  Message message_;
};

/// Defines a zeroed CUPTI parameter struct with structSize set.
#define ATTNSCOPE_CUPTI_PARAMS(type, name) \
  type name{};                             \
  (name).structSize = type##_STRUCT_SIZE

/// Explains a CUPTI error and how to fix it on this machine. `driver_version` ("13.0") is for messages.
[[nodiscard]] CounterAvailability explain(const CuptiError& error, const CuptiApi& cupti,
                                          const std::string& driver_version);

/// How to get permission for performance counters on this host: Linux, a container or WSL. Tests pass another `root`.
[[nodiscard]] Message counter_permission_fix(const std::filesystem::path& root = "/");

}  // namespace attnscope::gpu
