// SPDX-License-Identifier: Apache-2.0
#include "profiler/predict/modeled_values.h"

#include <algorithm>
#include <array>
#include <utility>

#include "profiler/metrics/metrics.h"

namespace attnscope::analysis {
namespace {

/// Modeled value of a metric. Pre: the configuration is feasible.
struct MetricModel {
  std::string_view metric;
  double (*value)(const Exploration&) = nullptr;
};

const ExploredKernel& longest(const Exploration& e) {
  return e.kernels[e.longest()];
}

double per_second(double amount, double ns) {
  return ns > 0 ? amount / ns * 1e9 : 0;
}

/// Returns 0 if the kernel's registers are unknown.
double occupancy(const Exploration& e) {
  return longest(e).registers_per_thread > 0 ? longest(e).occupancy.warps_pct : 0;
}

constexpr std::array models{
    MetricModel{metric_key::time_median_ns, [](const Exploration& e) { return e.ns; }},
    MetricModel{metric_key::tflops, [](const Exploration& e) { return e.flops_per_second() / 1e12; }},
    MetricModel{metric_key::l2_sm_bytes, [](const Exploration& e) { return static_cast<double>(e.traffic.total()); }},
    MetricModel{metric_key::l2_to_sm_bytes,
                [](const Exploration& e) { return static_cast<double>(e.traffic.l2_to_sm_bytes); }},
    MetricModel{metric_key::sm_to_l2_bytes,
                [](const Exploration& e) { return static_cast<double>(e.traffic.sm_to_l2_bytes); }},
    MetricModel{metric_key::dram_bytes, [](const Exploration& e) { return e.dram_bytes; }},
    MetricModel{metric_key::dram_settled_bytes, [](const Exploration& e) { return e.dram_bytes; }},
    MetricModel{metric_key::dram_bandwidth,
                [](const Exploration& e) { return per_second(e.dram_bytes / e.point.spec.problem.gpus, e.ns); }},
    MetricModel{metric_key::l2_sm_bandwidth,
                [](const Exploration& e) {
                  return per_second(static_cast<double>(e.traffic.total()) / e.point.spec.problem.gpus, e.ns);
                }},
    MetricModel{metric_key::arithmetic_intensity, [](const Exploration& e) { return e.dram_intensity(); }},
    MetricModel{metric_key::theoretical_occupancy_pct, occupancy},
    MetricModel{metric_key::achieved_occupancy_pct, occupancy},
    MetricModel{metric_key::registers,
                [](const Exploration& e) { return static_cast<double>(longest(e).registers_per_thread); }},
    MetricModel{metric_key::shared_bytes,
                [](const Exploration& e) { return static_cast<double>(longest(e).shared_bytes); }},
};

const MetricModel* model_of(std::string_view metric) {
  const auto* found = std::ranges::find(models, metric, &MetricModel::metric);
  return found == models.end() ? nullptr : found;
}

}  // namespace

bool has_model(std::string_view metric) {
  return model_of(metric) != nullptr;
}

std::optional<double> ModeledValues::at(Row row, std::string_view metric) {
  const MetricModel* model = model_of(metric);
  if (model == nullptr) return std::nullopt;
  const Exploration* exploration = exploration_of(row);
  if (exploration == nullptr) return std::nullopt;
  const double value = model->value(*exploration);
  return value > 0 ? std::optional(value) : std::nullopt;
}

const Exploration* ModeledValues::exploration_of(Row row) {
  const auto [known, fresh] = known_.try_emplace(row);
  if (!fresh) return known->second.get();
  PointSpec spec = table_.spec(row);
  const Algorithm* algorithm = table_.algorithms().find(spec.algorithm);
  if (algorithm == nullptr || (algorithm->facts().has_tile && !has_tile(spec.tile)) ||
      !is_fast_to_model(spec.problem) || !invalid_reason(spec.problem).empty()) {
    return nullptr;
  }
  Exploration explored = explore({.spec = std::move(spec)}, table_.run(row).limits, table_.algorithms());
  if (!explored.refusal && !explored.kernels.empty()) {
    known->second = std::make_unique<const Exploration>(std::move(explored));
  }
  return known->second.get();
}

}  // namespace attnscope::analysis
