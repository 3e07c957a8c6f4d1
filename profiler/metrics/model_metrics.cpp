// SPDX-License-Identifier: Apache-2.0
#include "profiler/metrics/model_metrics.h"

#include <algorithm>
#include <utility>

#include "kernels/model/io_model.h"
#include "profiler/metrics/metrics.h"

namespace attnscope {
namespace {

void add(KernelRecord& kernel, std::string_view key, double value, Provenance provenance = Provenance::modeled) {
  kernel.metrics.push_back({.name = std::string(key),
                            .value = value,
                            .unit = std::string(find_metric(key)->unit),
                            .provenance = provenance});
}

}  // namespace

void add_model_traffic(KernelRecord& kernel, const Traffic& traffic) {
  add(kernel, metric_key::model_l2_to_sm_bytes, static_cast<double>(traffic.l2_to_sm_bytes));
  add(kernel, metric_key::model_sm_to_l2_bytes, static_cast<double>(traffic.sm_to_l2_bytes));
}

KernelRecord& kernel_record(PointRecord& record, std::string_view name) {
  const auto found = std::ranges::find(record.kernels, name, &KernelRecord::kernel);
  if (found != record.kernels.end()) return *found;
  record.kernels.push_back({.kernel = std::string(name), .metrics = {}, .samples_ns = {}, .occupancy_limiter = {}});
  return record.kernels.back();
}

void add_model_metrics(const Algorithm& algorithm, const AttentionPlan& plan, const AttentionProblem& problem,
                       PointRecord& record) {
  KernelRecord& all = kernel_record(record, "all");
  const bool reports_traffic = algorithm.facts().reports_traffic;
  if (reports_traffic) add_model_traffic(all, plan.traffic());
  add(all, metric_key::model_compulsory_bytes, static_cast<double>(compulsory_traffic(problem).total()));
  if (problem.gpus > 1) {
    add(all, metric_key::model_link_bytes, static_cast<double>(algorithm.facts().link_bytes(problem)));
  }
  if (algorithm.facts().nominal_flops != pass_flops) {
    add(all, metric_key::model_flops, algorithm.nominal_flops(problem));
  }
  if (!has_several_launches(plan.launches)) return;
  for (const KernelLaunch& launch : plan.launches) {
    if (!launch.setup && reports_traffic) add_model_traffic(kernel_record(record, launch.name), launch.traffic);
  }
}

void add_link_bytes(KernelRecord& all, std::int64_t bytes, Provenance provenance) {
  add(all, metric_key::link_bytes, static_cast<double>(bytes), provenance);
}

void add_multi_gpu_times(KernelRecord& all, const ScheduleTimes& times, Provenance provenance) {
  namespace key = metric_key;
  for (const auto& [name, value] :
       {std::pair{key::gpu_attention_ns, times.attention_ns}, std::pair{key::gpu_combine_ns, times.combine_ns},
        std::pair{key::gpu_copies_ns, times.copies_ns}}) {
    add(all, name, value, provenance);
  }
  // exposed_ns and imbalance are computed from times.
  const Provenance computed = provenance == Provenance::measured ? Provenance::derived : provenance;
  add(all, key::gpu_exposed_ns, times.exposed_ns, computed);
  add(all, key::gpu_imbalance, times.imbalance, computed);
}

const Metric& metric_of(GpuUnit unit) {
  // Table rows are in the order of GpuUnit.
  const auto first = std::ranges::find_if(metrics_table(), &Metric::predicted_utilization);
  return first[static_cast<std::ptrdiff_t>(unit)];
}

void add_predicted_utilization(KernelRecord& kernel, std::span<const LaunchTime> times, Provenance provenance) {
  const double ns = point_ns(times);
  for (const GpuUnit unit : gpu_units) {
    const Metric& metric = metric_of(unit);
    double busy_ns = 0;
    for (const LaunchTime& time : times) busy_ns += time.busy(unit);
    kernel.metrics.push_back({std::string(metric.key), 100 * busy_ns / ns, std::string(metric.unit), provenance});
  }
}

}  // namespace attnscope
