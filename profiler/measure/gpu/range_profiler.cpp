// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/range_profiler.h"

#include <fmt/format.h>

#include "profiler/measure/gpu/point_end.h"

namespace attnscope::gpu {
namespace {

void initialize(const CuptiApi& cupti) {
  ATTNSCOPE_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, params);
  cupti.check(cupti.cuptiProfilerInitialize(&params), "cuptiProfilerInitialize");
}

/// Turns the flags of a device that cannot be profiled into the error that names the cause.
void check_supported(const CuptiApi& cupti, int device) {
  ATTNSCOPE_CUPTI_PARAMS(CUpti_Profiler_DeviceSupported_Params, params);
  params.cuDevice = device;
  params.api = CUPTI_PROFILER_RANGE_PROFILING;
  cupti.check(cupti.cuptiProfilerDeviceSupported(&params), "cuptiProfilerDeviceSupported");
  if (params.isSupported == CUPTI_PROFILER_CONFIGURATION_SUPPORTED) return;
  const auto refuse = [&](CUpti_Profiler_Support_Level level, CUptiResult code, const char* what) {
    if (level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED || level == CUPTI_PROFILER_CONFIGURATION_DISABLED) {
      throw CuptiError(code, fmt::format("cuptiProfilerDeviceSupported: {}", what));
    }
  };
  refuse(params.vGpu,
         params.vGpu == CUPTI_PROFILER_CONFIGURATION_DISABLED ? CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES
                                                              : CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED,
         "virtual GPU");
  refuse(params.wsl, CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED, "WSL2");
  refuse(params.confidentialCompute, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED, "confidential computing");
  refuse(params.cmp, CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED, "mining GPU");
  refuse(params.sli, CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED, "SLI");
  refuse(params.architecture, CUPTI_ERROR_NOT_SUPPORTED, "architecture");
}

std::string chip_name(const CuptiApi& cupti, int device) {
  ATTNSCOPE_CUPTI_PARAMS(CUpti_Device_GetChipName_Params, params);
  params.deviceIndex = static_cast<std::size_t>(device);
  cupti.check(cupti.cuptiDeviceGetChipName(&params), "cuptiDeviceGetChipName");
  return params.pChipName;
}

/// The first call that fails without permission.
std::vector<std::uint8_t> counter_availability(const CuptiApi& cupti, CUcontext context) {
  ATTNSCOPE_CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability_Params, params);
  params.ctx = context;
  cupti.check(cupti.cuptiProfilerGetCounterAvailability(&params), "cuptiProfilerGetCounterAvailability");
  std::vector<std::uint8_t> image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  cupti.check(cupti.cuptiProfilerGetCounterAvailability(&params), "cuptiProfilerGetCounterAvailability");
  return image;
}

CounterHost open_host(const CuptiApi& cupti, CUcontext context, int device) {
  initialize(cupti);
  check_supported(cupti, device);
  std::string chip = chip_name(cupti, device);
  return {cupti, std::move(chip), counter_availability(cupti, context)};
}

}  // namespace

RangeProfiler::RangeProfiler(const CuptiApi& cupti, CUcontext context, int device)
    : cupti_(cupti), host_(open_host(cupti, context, device)) {
  ATTNSCOPE_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params, params);
  params.ctx = context;
  cupti_.check(cupti_.cuptiRangeProfilerEnable(&params), "cuptiRangeProfilerEnable");
  object_ = params.pRangeProfilerObject;
}

RangeProfiler::~RangeProfiler() {
  ATTNSCOPE_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params, params);
  params.pRangeProfilerObject = object_;
  cupti_.cuptiRangeProfilerDisable(&params);
}

/// Between start and stop.
class RangeProfiler::Session {
 public:
  Session(const CuptiApi& cupti, CUpti_RangeProfiler_Object* object) : cupti_(cupti), object_(object) {
    ATTNSCOPE_CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params, params);
    params.pRangeProfilerObject = object_;
    cupti_.check(cupti_.cuptiRangeProfilerStart(&params), "cuptiRangeProfilerStart");
    started_ = true;
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() = default;

  /// Ends a session that went wrong, so that the next one can begin.
  void abort() noexcept {
    if (pushed_) {
      ATTNSCOPE_CUPTI_PARAMS(CUpti_RangeProfiler_PopRange_Params, params);
      params.pRangeProfilerObject = object_;
      cupti_.cuptiRangeProfilerPopRange(&params);
    }
    if (started_) {
      ATTNSCOPE_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params, params);
      params.pRangeProfilerObject = object_;
      cupti_.cuptiRangeProfilerStop(&params);
    }
  }

  void run(const Range& range) {
    if (range.before) range.before();
    ATTNSCOPE_CUPTI_PARAMS(CUpti_RangeProfiler_PushRange_Params, push);
    push.pRangeProfilerObject = object_;
    push.pRangeName = range.name.c_str();
    cupti_.check(cupti_.cuptiRangeProfilerPushRange(&push), "cuptiRangeProfilerPushRange");
    pushed_ = true;
    range.work();
    pushed_ = false;
    ATTNSCOPE_CUPTI_PARAMS(CUpti_RangeProfiler_PopRange_Params, pop);
    pop.pRangeProfilerObject = object_;
    cupti_.check(cupti_.cuptiRangeProfilerPopRange(&pop), "cuptiRangeProfilerPopRange");
  }

  /// True when this was the last pass.
  [[nodiscard]] bool stop() {
    started_ = false;
    ATTNSCOPE_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params, params);
    params.pRangeProfilerObject = object_;
    cupti_.check(cupti_.cuptiRangeProfilerStop(&params), "cuptiRangeProfilerStop");
    return params.isAllPassSubmitted != 0;
  }

 private:
  const CuptiApi& cupti_;
  CUpti_RangeProfiler_Object* object_;
  bool started_ = false;
  bool pushed_ = false;
};

std::map<std::string, std::vector<double>> RangeProfiler::collect(const CounterConfig& config,
                                                                  std::span<const Range> ranges) {
  std::vector<const char*> names;
  for (const std::string& metric : config.metrics()) names.push_back(metric.c_str());
  ATTNSCOPE_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
  size.pRangeProfilerObject = object_;
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxNumOfRanges = ranges.size();
  size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(ranges.size());
  cupti_.check(cupti_.cuptiRangeProfilerGetCounterDataSize(&size), "cuptiRangeProfilerGetCounterDataSize");
  std::vector<std::uint8_t> counter_data(size.counterDataSize);

  ATTNSCOPE_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, init);
  init.pRangeProfilerObject = object_;
  init.counterDataSize = counter_data.size();
  init.pCounterData = counter_data.data();
  cupti_.check(cupti_.cuptiRangeProfilerCounterDataImageInitialize(&init),
               "cuptiRangeProfilerCounterDataImageInitialize");

  ATTNSCOPE_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params, set);
  set.pRangeProfilerObject = object_;
  set.configSize = config.image().size();
  set.pConfig = config.image().data();
  set.counterDataImageSize = counter_data.size();
  set.pCounterDataImage = counter_data.data();
  set.range = CUPTI_UserRange;
  set.replayMode = CUPTI_UserReplay;
  set.maxRangesPerPass = ranges.size();
  set.numNestingLevels = 1;
  set.minNestingLevel = 1;
  set.passIndex = 0;
  set.targetNestingLevel = 1;
  cupti_.check(cupti_.cuptiRangeProfilerSetConfig(&set), "cuptiRangeProfilerSetConfig");

  bool complete = false;
  const std::size_t most_passes = 2 * config.passes() + 1;  // a bound against a library that never says it is done
  for (std::size_t pass = 0; pass < most_passes && !complete; ++pass) {
    Session session(cupti_, object_);
    try {
      for (const Range& range : ranges) session.run(range);
      complete = session.stop();
    } catch (const LaunchTimeout&) {
      throw;  // any call that waits for the GPU would wait for ever
    } catch (...) {
      session.abort();
      throw;
    }
  }
  if (!complete) throw CuptiError(CUPTI_ERROR_UNKNOWN, "CUPTI asked for more passes than it had announced");

  ATTNSCOPE_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params, decode);
  decode.pRangeProfilerObject = object_;
  cupti_.check(cupti_.cuptiRangeProfilerDecodeData(&decode), "cuptiRangeProfilerDecodeData");
  if (decode.numOfRangeDropped != 0) {
    throw CuptiError(CUPTI_ERROR_MAX_LIMIT_REACHED, fmt::format("CUPTI dropped {} ranges", decode.numOfRangeDropped));
  }

  ATTNSCOPE_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
  info.pCounterDataImage = counter_data.data();
  info.counterDataImageSize = counter_data.size();
  cupti_.check(cupti_.cuptiRangeProfilerGetCounterDataInfo(&info), "cuptiRangeProfilerGetCounterDataInfo");
  std::map<std::string, std::vector<double>> values;
  for (std::size_t i = 0; i < info.numTotalRanges; ++i) {
    ATTNSCOPE_CUPTI_PARAMS(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, range);
    range.pCounterDataImage = counter_data.data();
    range.counterDataImageSize = counter_data.size();
    range.rangeIndex = i;
    range.rangeDelimiter = "/";
    cupti_.check(cupti_.cuptiRangeProfilerCounterDataGetRangeInfo(&range), "cuptiRangeProfilerCounterDataGetRangeInfo");
    values.emplace(range.rangeName, config.evaluate(counter_data, i));
  }
  return values;
}

}  // namespace attnscope::gpu
