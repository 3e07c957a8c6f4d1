// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/launch_values.h"

#include <algorithm>
#include <iterator>

#include "kernels/model/device_limits.h"
#include "profiler/metrics/metrics.h"
#include "profiler/metrics/model_metrics.h"

namespace attnscope::gpu {
namespace {

LaunchRecord record_of(const KernelLaunch& launch, const LoadedKernel& kernel) {
  return {.kernel = launch.name,
          .source_file = launch.source.file,
          .entry = launch.source.entry,
          .defines = launch.source.defines,
          .digest = kernel.digest,
          .registers = kernel.registers,
          .local_bytes = kernel.local_bytes,
          .static_shared_bytes = kernel.static_shared_bytes,
          .dynamic_shared_bytes = launch.dynamic_shared_bytes,
          .threads = launch.threads_per_block(),
          .grid = launch.launched_grid()};
}

/// Resources per thread (registers, local memory) or block (shared memory).
struct Resources {
  double registers = 0;
  double shared_bytes = 0;
  double local_bytes = 0;

  void add_to(KernelRecord& kernel) const {
    add_value(kernel, metric_key::registers, registers);
    add_value(kernel, metric_key::shared_bytes, shared_bytes);
    add_value(kernel, metric_key::local_bytes, local_bytes);
  }
  void cover(const Resources& other) {
    registers = std::max(registers, other.registers);
    shared_bytes = std::max(shared_bytes, other.shared_bytes);
    local_bytes = std::max(local_bytes, other.local_bytes);
  }
};

void add_occupancy(const CudaApi& cuda, const DeviceLimits& limits, const LoadedLaunch& loaded, KernelRecord& target) {
  const KernelLaunch& launch = *loaded.launch;
  const int threads = launch.threads_per_block();
  int blocks = 0;
  cuda.check(cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, loaded.kernel->function, threads,
                                                              static_cast<std::size_t>(launch.dynamic_shared_bytes)),
             "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  const Occupancy computed =
      theoretical_occupancy(limits, {.blocks = launch.launched_blocks(),
                                     .threads_per_block = threads,
                                     .registers_per_thread = loaded.kernel->registers,
                                     .shared_bytes = loaded.kernel->static_shared_bytes + launch.dynamic_shared_bytes});
  // The driver's block count includes limits that the model may not have; warps are allocated as a whole.
  const int warps = (threads + 31) / 32;
  add_value(target, metric_key::theoretical_occupancy_pct, 100.0 * 32 * warps * blocks / limits.max_threads_per_sm,
            Provenance::derived);
  target.occupancy_limiter = computed.limiter;
}

/// `several`: the point has records per kernel.
void add_attributes(const CudaApi& cuda, const DeviceLimits& limits, std::span<const LoadedLaunch> loaded, bool several,
                    PointRecord& record) {
  bool any_known = false;
  Resources largest;
  for (const LoadedLaunch& each : loaded) {
    const auto& [launch, kernel] = each;
    if (launch->setup) continue;
    const Resources own{.registers = static_cast<double>(kernel->registers),
                        .shared_bytes = static_cast<double>(kernel->static_shared_bytes + launch->dynamic_shared_bytes),
                        .local_bytes = static_cast<double>(kernel->local_bytes)};
    KernelRecord& target = kernel_record(record, several ? launch->name : "all");
    target.launch = record_of(*launch, *kernel);
    if (kernel->host_code) continue;  // its launches are unknown
    any_known = true;
    largest.cover(own);
    if (several) own.add_to(target);
    add_occupancy(cuda, limits, each, target);
  }
  if (any_known) largest.add_to(kernel_record(record, "all"));
}

const MetricValue* find_value(std::span<const MetricValue> values, std::string_view key) {
  const auto found = std::ranges::find(values, key, &MetricValue::name);
  return found == values.end() ? nullptr : &*found;
}

/// Rescales utilizations from the counted range to the kernel. The range includes launch latency and host time, and
/// CUPTI divides by all of it. For units in the SM clock domain the factor is elapsed SM cycles over active SM cycles;
/// for L2 and DRAM, whose clocks are constant, range time over kernel time.
std::vector<MetricValue> scale_to_kernel(std::vector<MetricValue> values, double kernel_ns) {
  const MetricValue* range_cycles = find_value(values, metric_key::sm_cycles);
  const MetricValue* active_cycles = find_value(values, metric_key::sm_active_cycles);
  const MetricValue* range_ns = find_value(values, metric_key::counted_range_ns);
  if (range_cycles == nullptr || active_cycles == nullptr || range_ns == nullptr) return values;
  if (!(active_cycles->value > 0) || !(kernel_ns > 0)) return values;
  const double sm_scale = range_cycles->value / active_cycles->value;
  const double memory_scale = range_ns->value / kernel_ns;
  for (MetricValue& value : values) {
    const Metric* metric = find_metric(value.name);
    if (metric == nullptr || metric->why != CounterGroup::use) continue;
    value.value *= metric->is_share_of_cycles() ? sm_scale : memory_scale;
    value.provenance = Provenance::derived;
  }
  return values;
}

}  // namespace

void add_value(KernelRecord& kernel, std::string_view key, double value, Provenance provenance) {
  kernel.metrics.push_back({std::string(key), value, std::string(find_metric(key)->unit), provenance});
}

void add_launch_attributes(const CudaApi& cuda, const DeviceLimits& limits, std::span<const LoadedLaunch> loaded,
                           PointRecord& record) {
  std::int64_t runs = 0;
  for (const LoadedLaunch& each : loaded) runs += each.launch->setup ? 0 : each.launch->runs;
  add_attributes(cuda, limits, loaded, runs > 1, record);
}

void add_graph_attributes(const CudaApi& cuda, const DeviceLimits& limits, std::span<const GraphKernel> kernels,
                          PointRecord& record) {
  std::vector<KernelLaunch> launches(kernels.size());
  std::vector<LoadedKernel> functions(kernels.size());
  std::vector<LoadedLaunch> loaded;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const GraphKernel& kernel = kernels[i];
    if (kernel.function == nullptr) continue;
    launches[i].name = kernel.name;
    launches[i].source.entry = kernel.symbol;
    launches[i].grid = kernel.grid;
    launches[i].block = kernel.block;
    launches[i].dynamic_shared_bytes = kernel.dynamic_shared_bytes;
    functions[i].function = kernel.function;
    functions[i].registers = cuda.attribute(CU_FUNC_ATTRIBUTE_NUM_REGS, kernel.function);
    functions[i].static_shared_bytes = cuda.attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel.function);
    functions[i].local_bytes = cuda.attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, kernel.function);
    loaded.push_back({&launches[i], &functions[i]});
  }
  add_attributes(cuda, limits, loaded, kernels.size() > 1, record);
}

void add_part_counts(std::span<const PreparedLaunch> parts,
                     const std::map<std::string, std::vector<MetricValue>>& values, PointRecord& record) {
  for (const PreparedLaunch& part : parts) {
    KernelRecord& target = kernel_record(record, part.name());
    const auto summary = summarize(target.samples_ns);
    std::ranges::copy(scale_to_kernel(values.at(part.name()), summary ? summary->median : 0),
                      std::back_inserter(target.metrics));
  }
}

void add_counts(std::span<const CounterMetric> metrics, std::span<const PreparedLaunch> launches,
                const std::map<std::string, std::vector<MetricValue>>& values, PointRecord& record) {
  const bool repeated = std::ranges::any_of(launches, [](const PreparedLaunch& launch) { return launch.runs() > 1; });
  const bool several = launches.size() > 1 || repeated;
  std::vector<double> weights;
  std::vector<std::vector<MetricValue>> counts;
  for (const PreparedLaunch& launch : launches) {
    const auto summary = summarize(kernel_record(record, several ? launch.name() : "all").samples_ns);
    weights.push_back(static_cast<double>(launch.runs()) * (summary ? summary->median : 1));
    counts.push_back(scale_to_kernel(values.at(launch.name()), summary ? summary->median : 0));
  }
  const auto add = [&](const std::vector<MetricValue>& from, std::string_view kernel) {
    std::ranges::copy(from, std::back_inserter(kernel_record(record, kernel).metrics));
  };
  if (!several) {
    add(counts.front(), "all");
    return;
  }
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    std::vector<double> each;
    each.reserve(launches.size());
    const Combine rule = combine_rule(metrics[m].name, metrics[m].unit);
    for (std::size_t i = 0; i < launches.size(); ++i) {
      each.push_back(counts[i][m].value * (rule == Combine::sum ? static_cast<double>(launches[i].runs()) : 1));
    }
    const bool derived = repeated || rule == Combine::weighted_mean;
    const auto provenance = derived ? Provenance::derived : Provenance::measured;
    kernel_record(record, "all")
        .metrics.push_back({metrics[m].name, combine(rule, each, weights), metrics[m].unit, provenance});
  }
  for (std::size_t i = 0; i < launches.size(); ++i) add(counts[i], launches[i].name());
}

void add_sequence_counts(const std::map<std::string, std::vector<MetricValue>>& values, PointRecord& record) {
  for (const auto& [kernel, metrics] : values) {
    KernelRecord& target = kernel_record(record, values.size() > 1 ? kernel : "all");
    std::ranges::copy(metrics, std::back_inserter(target.metrics));
  }
}

}  // namespace attnscope::gpu
