// SPDX-License-Identifier: Apache-2.0
#include "profiler/predict/exploration.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "kernels/model/device_rates.h"
#include "kernels/model/integer.h"
#include "kernels/model/io_model.h"
#include "messages/explorer.h"
#include "profiler/predict/tile_rule.h"

namespace attnscope::analysis {
namespace {

void append(MemoryMap& map, MemorySpan span) {
  if (span.bytes <= 0) return;
  span.offset = map.block.empty() ? 0 : map.block.back().offset + map.block.back().bytes;
  map.block.push_back(std::move(span));
}

std::int64_t used_bytes(const MemoryMap& map) {
  return map.block.empty() ? 0 : map.block.back().offset + map.block.back().bytes;
}

MemoryMap named_parts(const KernelModel& kernel, OnChipMemory place, int blocks) {
  MemoryMap map;
  map.place = place;
  map.blocks = blocks;
  for (const OnChipPart& part : kernel.on_chip) {
    if (part.place == place) append(map, {.name = part.name, .bytes = part.bytes, .stages = part.stages});
  }
  return map;
}

/// `limits` has the padding added to the reserved shared memory.
MemoryMap shared_map(const KernelModel& kernel, const DeviceLimits& limits, std::int64_t padding, int blocks) {
  MemoryMap map = named_parts(kernel, OnChipMemory::shared, blocks);
  map.sm_bytes = limits.shared_bytes_per_sm;
  map.block_limit = limits.shared_bytes_per_block + limits.shared_bytes_reserved - padding;
  map.block_bytes = allocated_shared_bytes(limits, kernel.footprint());
  map.reserved = limits.shared_bytes_reserved - padding;
  // Static shared memory is not part of dynamic_shared_bytes.
  append(map, {.kind = SpanKind::unnamed, .bytes = kernel.dynamic_shared_bytes - used_bytes(map)});
  append(map, {.kind = SpanKind::padding, .bytes = padding});
  append(map, {.kind = SpanKind::reserved, .bytes = map.block_bytes - used_bytes(map)});
  return map;
}

MemoryMap register_map(const KernelModel& kernel, const DeviceLimits& limits, int blocks) {
  constexpr std::int64_t register_bytes = 4;
  MemoryMap map = named_parts(kernel, OnChipMemory::registers, blocks);
  map.sm_bytes = limits.registers_per_sm * register_bytes;
  map.block_limit = map.sm_bytes;
  map.block_bytes = std::max(allocated_register_bytes(kernel.footprint()), used_bytes(map));
  append(map, {.kind = SpanKind::unnamed, .bytes = map.block_bytes - used_bytes(map)});
  return map;
}

ExploredKernel explored(const KernelModel& kernel, const DeviceLimits& limits, std::int64_t padding) {
  ExploredKernel result;
  result.name = kernel.name;
  result.blocks = kernel.blocks();
  result.launched_blocks = kernel.launched_blocks();
  result.threads_per_block = kernel.threads_per_block();
  result.registers_per_thread = kernel.registers_per_thread;
  result.shared_bytes = kernel.dynamic_shared_bytes;
  result.occupancy = theoretical_occupancy(limits, kernel.footprint());
  const std::int64_t on_each = ceil_div(result.blocks, std::max(1, limits.sm_count));
  // A block that exceeds its on-chip memory is shown once.
  const int at_once = static_cast<int>(std::clamp<std::int64_t>(result.occupancy.blocks_per_sm, 1, on_each));
  result.shared = shared_map(kernel, limits, padding, at_once);
  result.registers = register_map(kernel, limits, at_once);
  result.operands = kernel.operands;
  result.executed_flops = kernel.work.tensor_flops;
  return result;
}

void add(std::vector<OperandTraffic>& sums, const OperandTraffic& operand) {
  if (operand.traffic.total() == 0) return;
  const auto known = std::ranges::find(sums, operand.tensor, &OperandTraffic::tensor);
  if (known == sums.end()) {
    sums.push_back(operand);
  } else {
    known->traffic += operand.traffic;
  }
}

/// Returns a refusal if a padded block exceeds the shared memory limit per block.
std::optional<Refusal> padding_refusal(const AttentionModel& model, const DeviceLimits& limits, std::int64_t padding) {
  for (const KernelModel& kernel : model.kernels) {
    const std::int64_t needed = kernel.dynamic_shared_bytes + padding;
    if (padding == 0 || kernel.setup || needed <= limits.shared_bytes_per_block) continue;
    return Refusal{Refusal::Cause::shared_memory,
                   msg::explorer::padding_refused{.available = limits.shared_bytes_per_block,
                                                  .device = limits.name,
                                                  .kernel = kernel.name,
                                                  .needed = needed,
                                                  .padding = padding}};
  }
  return std::nullopt;
}

/// Returns one block per kernel if only on-chip memory is too small. Models the smallest sufficient shared memory
/// (binary search), because with more a kernel may choose a larger configuration.
std::vector<ExploredKernel> overrun_kernels(const Algorithm& algorithm, const PointSpec& spec,
                                            const DeviceLimits& limits, std::int64_t padding) {
  constexpr std::int64_t times = 64;
  constexpr std::int64_t step = 1024;
  const auto model_with = [&](std::int64_t more) {
    DeviceLimits roomy = limits;
    roomy.shared_bytes_per_block += more * step;
    roomy.shared_bytes_per_sm += more * step;
    roomy.registers_per_sm *= times;
    return algorithm.model(spec.problem, spec.config(), roomy);
  };
  std::int64_t too_little = -1;
  std::int64_t enough = times * limits.shared_bytes_per_block / step;
  while (enough - too_little > 1) {
    const std::int64_t middle = (too_little + enough) / 2;
    (model_with(middle).refusal ? too_little : enough) = middle;
  }
  const AttentionModel model = model_with(enough);
  std::vector<ExploredKernel> kernels;
  for (const KernelModel& kernel : model.kernels) {
    if (!kernel.setup) kernels.push_back(explored(kernel, limits, padding));
  }
  return kernels;
}

/// Returns the feasible tile with the shortest predicted time among usual_tiles(); empty if times are not predicted.
std::optional<Config> fastest_tile(const Algorithm& algorithm, const PointSpec& spec, const DeviceLimits& limits,
                                   const DeviceRates& rates) {
  std::optional<Config> fastest;
  double least = std::numeric_limits<double>::infinity();
  if (rates.validated_on.empty() || !is_fast_to_model(spec.problem)) return fastest;
  for (const Config& tried : usual_tiles(algorithm, spec.config())) {
    const AttentionModel model = algorithm.model(spec.problem, tried, limits);
    if (model.refusal || !model.can_predict_time) continue;
    const double ns = point_ns(model.schedule, launch_times(predict_loads(model, limits), rates), rates);
    if (!(ns < least)) continue;
    least = ns;
    fastest = tried;
  }
  return fastest;
}

}  // namespace

std::size_t Exploration::longest() const {
  const auto longest = std::ranges::max_element(kernels, {}, [](const ExploredKernel& k) { return k.time.ns; });
  return static_cast<std::size_t>(longest - kernels.begin());
}

double Exploration::l2_intensity() const {
  return traffic.total() > 0 ? nominal_flops / static_cast<double>(traffic.total()) : 0;
}

double Exploration::dram_intensity() const {
  return dram_bytes > 0 ? nominal_flops / dram_bytes : 0;
}

double Exploration::flops_per_second() const {
  return ns > 0 ? nominal_flops / point.spec.problem.gpus / ns * 1e9 : 0;
}

Exploration explore(const ExploredPoint& point, const DeviceLimits& device, const Registry& registry,
                    std::span<const Ceiling> measured_ceilings) {
  const PointSpec& spec = point.spec;
  const Algorithm& algorithm = *registry.find(spec.algorithm);
  Exploration result;
  result.point = point;
  result.device = device.name;
  // Reserved shared memory affects only residency, so the padding is added there.
  DeviceLimits limits = device;
  limits.shared_bytes_reserved += point.padding_bytes;
  const AttentionModel model = algorithm.model(spec.problem, spec.config(), limits);
  result.refusal = model.refusal ? model.refusal : padding_refusal(model, limits, point.padding_bytes);
  if (result.refusal) {
    if (model.refusal) {
      result.nearest = nearest_tile(algorithm, spec.problem, spec.config(), device);
      result.fastest = fastest_tile(algorithm, spec, device, device_rates(device, measured_ceilings));
    }
    result.overrun = overrun_kernels(algorithm, spec, limits, point.padding_bytes);
    return result;
  }
  result.nominal_flops = algorithm.nominal_flops(spec.problem);
  result.compulsory_bytes = compulsory_traffic(spec.problem).total();
  const DeviceRates rates = device_rates(limits, measured_ceilings);
  result.rates_measured_on = rates.measured_on;
  result.dram_rate_measured = rates.dram_measured;
  result.l2_rate_measured = rates.l2_measured;
  result.link = rates.link;
  result.link_rate_measured = rates.link_measured;
  result.rates_inherited = rates.inherited;
  const std::vector<LaunchLoad> loads = predict_loads(model, limits);
  const std::vector<LaunchTime> times = launch_times(loads, rates);
  result.times_validated = !rates.validated_on.empty();
  result.can_predict_time = model.can_predict_time && result.times_validated;
  if (result.can_predict_time) {
    result.ns = point_ns(model.schedule, times, rates);
    result.light = speed_of_light(busiest_gpu_launches(model.schedule, times));
    if (!model.schedule.empty()) {
      result.sharing = schedule_times(model.schedule, times, rates);
      result.light.wait(result.sharing->exposed_ns / result.ns);
    }
  }
  result.executed_flops = model.executed_flops().value_or(0);
  result.link_bytes = model.schedule.link_bytes();
  std::size_t measured = 0;
  for (const KernelModel& kernel : model.kernels) {
    if (kernel.setup) continue;
    ExploredKernel& added = result.kernels.emplace_back(explored(kernel, limits, point.padding_bytes));
    if (model.can_predict_time) {
      added.dram_bytes = loads[measured].dram_bytes;
      added.waves = times[measured].waves;
    }
    if (result.can_predict_time) added.time = times[measured];
    ++measured;
    for (OperandTraffic operand : kernel.operands) {
      operand.traffic = kernel.runs * operand.traffic;
      add(result.operands, operand);
    }
    const auto runs = static_cast<double>(kernel.runs);
    result.traffic += kernel.runs * kernel.traffic;
    result.dram_bytes += runs * added.dram_bytes;
  }
  return result;
}

bool is_fast_to_model(const AttentionProblem& problem) {
  constexpr std::int64_t few_entries = 8;
  constexpr int few_gpus = 8;  // schedules grow quadratically with the number of GPUs
  if (problem.gpus > few_gpus) return false;
  return !problem.mask.has_block_mask() && (!problem.mask.padded() || problem.batch <= few_entries);
}

}  // namespace attnscope::analysis
