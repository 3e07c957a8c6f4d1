// SPDX-License-Identifier: Apache-2.0
#include "profiler/metrics/model_metrics.h"

#include <algorithm>

#include "kernels/model/io_model.h"
#include "profiler/metrics/metrics.h"

namespace attnscope {
namespace {

void add(KernelRecord& kernel, std::string_view key, double value) {
  kernel.metrics.push_back({.name = std::string(key),
                            .value = value,
                            .unit = std::string(find_metric(key)->unit),
                            .provenance = Provenance::modelled});
}

void add(KernelRecord& kernel, const Traffic& traffic) {
  add(kernel, metric_key::model_l2_to_sm_bytes, static_cast<double>(traffic.l2_to_sm_bytes));
  add(kernel, metric_key::model_sm_to_l2_bytes, static_cast<double>(traffic.sm_to_l2_bytes));
}

}  // namespace

KernelRecord& kernel_record(PointRecord& record, std::string_view name) {
  const auto found = std::ranges::find(record.kernels, name, &KernelRecord::kernel);
  if (found != record.kernels.end()) return *found;
  record.kernels.push_back({.kernel = std::string(name), .metrics = {}, .samples_ns = {}, .occupancy_limiter = {}});
  return record.kernels.back();
}

void add_model_metrics(const Algorithm& algorithm, const AttentionPlan& plan, const AttentionProblem& problem,
                       PointRecord& record) {
  KernelRecord& all = kernel_record(record, "all");
  add(all, plan.traffic());
  add(all, metric_key::model_compulsory_bytes, static_cast<double>(compulsory_traffic(problem).total()));
  if (algorithm.facts().flops != pass_flops) add(all, metric_key::model_flops, algorithm.flops(problem));
  const auto is_measured = [](const KernelLaunch& launch) { return !launch.setup; };
  if (std::ranges::count_if(plan.launches, is_measured) < 2) return;
  for (const KernelLaunch& launch : plan.launches) {
    if (is_measured(launch)) add(kernel_record(record, launch.name), launch.traffic);
  }
}

const Metric& metric_of(TimeTerm term) {
  // The table has them in the terms' order.
  const auto first = std::ranges::find_if(metrics_table(), &Metric::time_term);
  return first[static_cast<std::ptrdiff_t>(term)];
}

void add_time_terms(KernelRecord& kernel, std::span<const LaunchTime> times, Provenance provenance) {
  for (std::size_t term = 0; term < time_term_count; ++term) {
    const Metric& metric = metric_of(static_cast<TimeTerm>(term));
    double ns = 0;
    for (const LaunchTime& time : times) ns += time.terms.at(term);
    kernel.metrics.push_back({std::string(metric.key), ns, std::string(metric.unit), provenance});
  }
}

}  // namespace attnscope
