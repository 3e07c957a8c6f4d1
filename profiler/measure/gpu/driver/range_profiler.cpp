// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/driver/range_profiler.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "profiler/measure/gpu/driver/dynamic_library.h"
#include "profiler/measure/gpu/point_abort.h"
#include "profiler/plan/text.h"

namespace attnscope::gpu {
namespace {

constexpr std::array metric_types{CUPTI_METRIC_TYPE_COUNTER, CUPTI_METRIC_TYPE_RATIO, CUPTI_METRIC_TYPE_THROUGHPUT};

void initialize(const CuptiApi& cupti) {
  ATTNSCOPE_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, params);
  cupti.check(cupti.cuptiProfilerInitialize(&params), "cuptiProfilerInitialize");
}

/// Throws the error that names the cause if the device cannot be profiled.
void check_supported(const CuptiApi& cupti, int device) {
  ATTNSCOPE_CUPTI_PARAMS(CUpti_Profiler_DeviceSupported_Params, params);
  params.cuDevice = device;
  params.api = CUPTI_PROFILER_RANGE_PROFILING;
  cupti.check(cupti.cuptiProfilerDeviceSupported(&params), "cuptiProfilerDeviceSupported");
  if (params.isSupported == CUPTI_PROFILER_CONFIGURATION_SUPPORTED) return;
  const auto refuse = [&](CUpti_Profiler_Support_Level level, CUptiResult code, const char* what) {
    if (level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED || level == CUPTI_PROFILER_CONFIGURATION_DISABLED) {
      throw CuptiError(code, Message::verbatim(fmt::format("cuptiProfilerDeviceSupported: {}", what)));
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

/// The first call that fails if permission is missing.
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

/// Ratios may have no value if nothing was counted.
bool is_always_defined(std::string_view metric) {
  return std::ranges::any_of(std::array{".sum", ".avg", ".min", ".max"},
                             [&](const char* rollup) { return metric.ends_with(rollup); });
}

/// Returns `values`. Throws CuptiError if a counter without a value shows that its pass did not run.
std::vector<double> whole(std::vector<double> values, const CounterConfig& config, const char* range) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string& metric = config.metrics()[i];
    if (std::isfinite(values[i]) || !is_always_defined(metric)) continue;
    throw CuptiError(CUPTI_ERROR_UNKNOWN,
                     make_reason("counters.no_value", "CUPTI returned no value of {} for range '{}'", metric, range));
  }
  return values;
}

}  // namespace

CounterConfig::CounterConfig(CounterConfig&& other) noexcept
    : cupti_(other.cupti_),
      object_(std::exchange(other.object_, nullptr)),
      metrics_(std::move(other.metrics_)),
      image_(std::move(other.image_)),
      passes_(other.passes_) {}

CounterConfig::~CounterConfig() {
  if (object_ == nullptr) return;
  ATTNSCOPE_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params, params);
  params.pHostObject = object_;
  cupti_->cuptiProfilerHostDeinitialize(&params);
}

std::vector<double> CounterConfig::evaluate(std::span<const std::uint8_t> counter_data, std::size_t range) const {
  auto names = c_strings(metrics_);
  std::vector<double> values(names.size());
  ATTNSCOPE_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, params);
  params.pHostObject = object_;
  params.pCounterDataImage = counter_data.data();
  params.counterDataImageSize = counter_data.size();
  params.rangeIndex = range;
  params.ppMetricNames = names.data();
  params.numMetrics = names.size();
  params.pMetricValues = values.data();
  cupti_->check(cupti_->cuptiProfilerHostEvaluateToGpuValues(&params), "cuptiProfilerHostEvaluateToGpuValues");
  return values;
}

CounterHost::CounterHost(const CuptiApi& cupti, std::string chip, std::vector<std::uint8_t> availability)
    : cupti_(cupti), chip_(std::move(chip)), availability_(std::move(availability)) {}

CounterConfig CounterHost::make_host_object() const {
  ATTNSCOPE_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params, params);
  params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  params.pChipName = chip_.c_str();
  params.pCounterAvailabilityImage = availability_.empty() ? nullptr : availability_.data();
  cupti_.check(cupti_.cuptiProfilerHostInitialize(&params), "cuptiProfilerHostInitialize");
  return {cupti_, params.pHostObject};
}

CounterConfig CounterHost::configure(std::vector<std::string> metrics) const {
  CounterConfig config = make_host_object();
  config.metrics_ = std::move(metrics);
  auto names = c_strings(config.metrics_);
  ATTNSCOPE_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, add);
  add.pHostObject = config.object_;
  add.ppMetricNames = names.data();
  add.numMetrics = names.size();
  cupti_.check(cupti_.cuptiProfilerHostConfigAddMetrics(&add), "cuptiProfilerHostConfigAddMetrics");

  ATTNSCOPE_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
  size.pHostObject = config.object_;
  cupti_.check(cupti_.cuptiProfilerHostGetConfigImageSize(&size), "cuptiProfilerHostGetConfigImageSize");
  config.image_.resize(size.configImageSize);

  ATTNSCOPE_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, image);
  image.pHostObject = config.object_;
  image.configImageSize = config.image_.size();
  image.pConfigImage = config.image_.data();
  cupti_.check(cupti_.cuptiProfilerHostGetConfigImage(&image), "cuptiProfilerHostGetConfigImage");

  ATTNSCOPE_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params, passes);
  passes.configImageSize = config.image_.size();
  passes.pConfigImage = config.image_.data();
  cupti_.check(cupti_.cuptiProfilerHostGetNumOfPasses(&passes), "cuptiProfilerHostGetNumOfPasses");
  config.passes_ = passes.numOfPasses;
  return config;
}

bool CounterHost::has_metric(const std::string& metric) const {
  // CUPTI can validate a full name only by adding it, and a failed add invalidates the object.
  const CounterConfig object = make_host_object();
  const char* name = metric.c_str();
  ATTNSCOPE_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, add);
  add.pHostObject = object.object_;
  add.ppMetricNames = &name;
  add.numMetrics = 1;
  return cupti_.cuptiProfilerHostConfigAddMetrics(&add) == CUPTI_SUCCESS;
}

std::vector<std::string> CounterHost::similar_names(std::string_view metric) const {
  const CounterConfig object = make_host_object();
  std::map<std::string, CUpti_MetricType, std::less<>> types;
  std::vector<std::string> names;
  for (const CUpti_MetricType type : metric_types) {
    ATTNSCOPE_CUPTI_PARAMS(CUpti_Profiler_Host_GetBaseMetrics_Params, list);
    list.pHostObject = object.object_;
    list.metricType = type;
    if (cupti_.cuptiProfilerHostGetBaseMetrics(&list) != CUPTI_SUCCESS) continue;
    for (std::size_t i = 0; i < list.numMetrics; ++i) {
      types.emplace(list.ppMetricNames[i], type);
      names.emplace_back(list.ppMetricNames[i]);
    }
  }
  const std::string base(metric.substr(0, metric.find('.')));
  const bool is_known = types.contains(base);
  std::vector<std::string> full_names;
  for (const std::string& name : is_known ? std::vector{base} : closest_matches(base, names)) {
    ATTNSCOPE_CUPTI_PARAMS(CUpti_Profiler_Host_GetSubMetrics_Params, sub);
    sub.pHostObject = object.object_;
    sub.metricType = types.at(name);
    sub.pMetricName = name.c_str();
    if (cupti_.cuptiProfilerHostGetSubMetrics(&sub) != CUPTI_SUCCESS) continue;
    for (std::size_t i = 0; i < sub.numOfSubmetrics; ++i) full_names.push_back(name + sub.ppSubMetrics[i]);
  }
  const bool has_rollup = base.size() < metric.size();
  if (has_rollup) return closest_matches(metric, full_names);
  full_names.resize(std::min<std::size_t>(full_names.size(), 3));
  return full_names;
}

std::string CounterHost::unit(const std::string& metric) const {
  const CounterConfig object = make_host_object();
  ATTNSCOPE_CUPTI_PARAMS(CUpti_Profiler_Host_GetMetricProperties_Params, properties);
  properties.pHostObject = object.object_;
  properties.pMetricName = metric.c_str();
  if (cupti_.cuptiProfilerHostGetMetricProperties(&properties) != CUPTI_SUCCESS || properties.pDimUnit == nullptr) {
    return "1";
  }
  const std::string unit = properties.pDimUnit;
  if (unit.ends_with("cycle")) return "cycle";  // "gpc_cycle", "lts_cycle", ...
  if (unit == "nanosecond" || unit == "ns") return "ns";
  return unit.empty() ? "1" : unit;
}

RangeProfiler::RangeProfiler(const CuptiApi& cupti, CUcontext context, int device)
    : cupti_(cupti), context_(context), host_(open_host(cupti, context, device)) {
  enable();
}

RangeProfiler::~RangeProfiler() {
  disable();
}

void RangeProfiler::enable() {
  ATTNSCOPE_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params, params);
  params.ctx = context_;
  cupti_.check(cupti_.cuptiRangeProfilerEnable(&params), "cuptiRangeProfilerEnable");
  object_ = params.pRangeProfilerObject;
}

void RangeProfiler::disable() noexcept {
  if (object_ == nullptr) return;
  ATTNSCOPE_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params, params);
  params.pRangeProfilerObject = object_;
  cupti_.cuptiRangeProfilerDisable(&params);
  object_ = nullptr;
  configured_ = false;
  active_.reset();
}

void RangeProfiler::start() {
  ATTNSCOPE_CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params, params);
  params.pRangeProfilerObject = object_;
  cupti_.check(cupti_.cuptiRangeProfilerStart(&params), "cuptiRangeProfilerStart");
}

CUptiResult RangeProfiler::stop(bool& complete) {
  ATTNSCOPE_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params, params);
  params.pRangeProfilerObject = object_;
  const CUptiResult result = cupti_.cuptiRangeProfilerStop(&params);
  complete = params.isAllPassSubmitted != 0;
  return result;
}

void RangeProfiler::push(const std::string& name) {
  ATTNSCOPE_CUPTI_PARAMS(CUpti_RangeProfiler_PushRange_Params, params);
  params.pRangeProfilerObject = object_;
  params.pRangeName = name.c_str();
  cupti_.check(cupti_.cuptiRangeProfilerPushRange(&params), "cuptiRangeProfilerPushRange");
}

CUptiResult RangeProfiler::pop() {
  ATTNSCOPE_CUPTI_PARAMS(CUpti_RangeProfiler_PopRange_Params, params);
  params.pRangeProfilerObject = object_;
  return cupti_.cuptiRangeProfilerPopRange(&params);
}

RangeProfiler::Values RangeProfiler::collect(const CounterConfig& config, std::span<const Range> ranges) {
  const bool again = can_reuse_ && matches_active(config, ranges.size()) && active_->passes > 0;
  std::optional<CuptiError> first;
  if (again) {
    try {
      clear_counter_data();
      return round(config, ranges);
    } catch (const CuptiError& error) {
      // CUPTI does not document when a configuration can be reused: retry once with a new one.
      first = error;
    }
  }
  try {
    configure(config, ranges.size());
  } catch (const CuptiError&) {
    if (first) throw CuptiError(*first);  // report the original error
    throw;
  }
  Values values = round(config, ranges);
  if (again) can_reuse_ = false;
  return values;
}

bool RangeProfiler::matches_active(const CounterConfig& config, std::size_t ranges) const {
  return configured_ && ranges <= active_->max_ranges && std::ranges::equal(active_->config_image, config.image());
}

RangeProfiler::ActiveConfig RangeProfiler::allocate_config(const CounterConfig& config, std::size_t ranges) {
  std::vector<const char*> names = c_strings(config.metrics());
  const std::size_t max_ranges = std::max(min_allocated_ranges, std::bit_ceil(ranges));
  ATTNSCOPE_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
  size.pRangeProfilerObject = object_;
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxNumOfRanges = max_ranges;
  size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(max_ranges);
  cupti_.check(cupti_.cuptiRangeProfilerGetCounterDataSize(&size), "cuptiRangeProfilerGetCounterDataSize");
  return {.config_image = {config.image().begin(), config.image().end()},
          .max_ranges = max_ranges,
          .passes = 0,
          .counter_data = std::vector<std::uint8_t>(size.counterDataSize)};
}

void RangeProfiler::configure(const CounterConfig& config, std::size_t ranges) {
  // After an aborted session, CUPTI continues with its next pass and ignores passIndex, so that earlier passes would be
  // lost.
  if (active_ && !matches_active(config, ranges)) disable();
  if (object_ == nullptr) enable();
  if (!active_) active_ = allocate_config(config, ranges);
  active_->passes = 0;
  clear_counter_data();

  ATTNSCOPE_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params, set);
  set.pRangeProfilerObject = object_;
  set.configSize = active_->config_image.size();
  set.pConfig = active_->config_image.data();
  set.counterDataImageSize = active_->counter_data.size();
  set.pCounterDataImage = active_->counter_data.data();
  set.range = CUPTI_UserRange;
  set.replayMode = CUPTI_UserReplay;
  set.maxRangesPerPass = active_->max_ranges;
  set.numNestingLevels = 1;
  set.minNestingLevel = 1;
  set.passIndex = 0;
  set.targetNestingLevel = 1;
  cupti_.check(cupti_.cuptiRangeProfilerSetConfig(&set), "cuptiRangeProfilerSetConfig");
  configured_ = true;
}

void RangeProfiler::clear_counter_data() {
  ATTNSCOPE_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, init);
  init.pRangeProfilerObject = object_;
  init.counterDataSize = active_->counter_data.size();
  init.pCounterData = active_->counter_data.data();
  cupti_.check(cupti_.cuptiRangeProfilerCounterDataImageInitialize(&init),
               "cuptiRangeProfilerCounterDataImageInitialize");
}

RangeProfiler::Values RangeProfiler::round(const CounterConfig& config, std::span<const Range> ranges) {
  try {
    run_passes(config, ranges);
    return decode(config, ranges);
  } catch (...) {
    configured_ = false;  // state unknown
    throw;
  }
}

bool RangeProfiler::run_pass(std::span<const Range> ranges) {
  bool complete = false;
  bool pushed = false;
  start();
  try {
    for (const Range& range : ranges) {
      if (range.before) range.before();
      push(range.name);
      pushed = true;
      range.work();
      cupti_.check(pop(), "cuptiRangeProfilerPopRange");
      pushed = false;
    }
    cupti_.check(stop(complete), "cuptiRangeProfilerStop");
  } catch (const LaunchTimeout&) {
    throw;  // other calls would also wait forever
  } catch (...) {
    // End the session so that the next one can start; retry a call that failed to end it.
    if (pushed) (void)pop();
    (void)stop(complete);
    throw;
  }
  return complete;
}

void RangeProfiler::run_passes(const CounterConfig& config, std::span<const Range> ranges) {
  bool complete = false;
  std::size_t passes = 0;
  const std::size_t max_passes = 2 * config.passes() + 1;  // bound in case CUPTI never reports completion
  while (passes < max_passes && !complete) {
    complete = run_pass(ranges);
    ++passes;
  }
  if (!complete)
    throw CuptiError(CUPTI_ERROR_UNKNOWN,
                     make_reason("counters.more_passes", "CUPTI requested more passes than it had announced"));
  // A missing pass would leave its metrics without values and without an error.
  const std::size_t announced = active_->passes != 0 ? active_->passes : config.passes();
  if (passes < announced || (active_->passes != 0 && passes != announced)) {
    throw CuptiError(
        CUPTI_ERROR_UNKNOWN,
        make_reason("counters.other_passes", "CUPTI finished after {} passes instead of {}", passes, announced));
  }
  active_->passes = passes;
}

RangeProfiler::Values RangeProfiler::decode(const CounterConfig& config, std::span<const Range> ranges) {
  const std::vector<std::uint8_t>& counter_data = active_->counter_data;
  {
    ATTNSCOPE_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params, params);
    params.pRangeProfilerObject = object_;
    cupti_.check(cupti_.cuptiRangeProfilerDecodeData(&params), "cuptiRangeProfilerDecodeData");
    if (params.numOfRangeDropped != 0) {
      throw CuptiError(CUPTI_ERROR_MAX_LIMIT_REACHED,
                       make_reason("counters.ranges_dropped", "CUPTI dropped {} ranges", params.numOfRangeDropped));
    }
  }
  ATTNSCOPE_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
  info.pCounterDataImage = counter_data.data();
  info.counterDataImageSize = counter_data.size();
  cupti_.check(cupti_.cuptiRangeProfilerGetCounterDataInfo(&info), "cuptiRangeProfilerGetCounterDataInfo");
  Values values;
  // The image may have room for more ranges.
  for (std::size_t i = 0; i < info.numTotalRanges && values.size() < ranges.size(); ++i) {
    ATTNSCOPE_CUPTI_PARAMS(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, range);
    range.pCounterDataImage = counter_data.data();
    range.counterDataImageSize = counter_data.size();
    range.rangeIndex = i;
    range.rangeDelimiter = "/";
    cupti_.check(cupti_.cuptiRangeProfilerCounterDataGetRangeInfo(&range), "cuptiRangeProfilerCounterDataGetRangeInfo");
    values.emplace(range.rangeName, whole(config.evaluate(counter_data, i), config, range.rangeName));
  }
  for (const Range& range : ranges) {
    if (values.contains(range.name)) continue;
    throw CuptiError(
        CUPTI_ERROR_UNKNOWN,
        make_reason("counters.range_missing", "CUPTI returned {} ranges, but not '{}'", values.size(), range.name));
  }
  return values;
}

}  // namespace attnscope::gpu
