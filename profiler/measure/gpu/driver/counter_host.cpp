// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/driver/counter_host.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "profiler/measure/gpu/driver/dynamic_library.h"
#include "profiler/plan/text.h"

namespace attnscope::gpu {
namespace {

constexpr std::array metric_types{CUPTI_METRIC_TYPE_COUNTER, CUPTI_METRIC_TYPE_RATIO, CUPTI_METRIC_TYPE_THROUGHPUT};

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

}  // namespace attnscope::gpu
