// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/hierarchy.h"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace attnscope::analysis::lesson {
namespace {

using Figure = std::optional<HierarchyFigure>;

CeilingSource less_reliable(CeilingSource a, CeilingSource b) {
  if (a == CeilingSource::datasheet || b == CeilingSource::datasheet) return CeilingSource::datasheet;
  return CeilingSource::derived;
}

Figure product(const Figure& a, const Figure& b, double scale) {
  if (!a || !b) return std::nullopt;
  return HierarchyFigure{a->value * b->value * scale, less_reliable(a->source, b->source)};
}

/// Returns the first of the keys that was measured, else the first with a datasheet value.
Figure ceiling(std::span<const Ceiling> measured, std::span<const Ceiling> datasheet,
               std::initializer_list<std::string_view> keys) {
  for (const auto& set : {measured, datasheet}) {
    for (const std::string_view key : keys) {
      const auto found = std::ranges::find(set, key, &Ceiling::name);
      if (found != set.end() && found->value > 0) return HierarchyFigure{found->value, found->source};
    }
  }
  return std::nullopt;
}

/// Bytes per second of 16 PCI Express lanes in one direction, without packet overhead: 16 GT/s per lane for 4.0
/// (compute capability 8.x), 32 GT/s for 5.0 (9.0 and later), both with 128b/130b encoding (PCI-SIG).
double host_link(const DeviceLimits& gpu) {
  const double transfers = gpu.compute_major >= 9 ? 32e9 : 16e9;
  return 16 * transfers * 128 / 130 / 8;
}

}  // namespace

Hierarchy hierarchy_of(const DeviceLimits& gpu, std::span<const Ceiling> measured, std::string_view tensor) {
  namespace key = ceiling_key;
  const std::vector<Ceiling> datasheet = datasheet_ceilings(gpu);
  const auto of = [&](std::initializer_list<std::string_view> keys) { return ceiling(measured, datasheet, keys); };
  const auto size = [](std::int64_t bytes) {
    return Figure(HierarchyFigure{static_cast<double>(bytes), CeilingSource::datasheet});
  };
  Hierarchy all;
  const Figure flops = tensor.empty() ? of({key::wgmma_fp16, key::mma_fp16}) : of({tensor});
  all.tensor_flops = flops.value_or(HierarchyFigure{tensor.empty() ? gpu.tensor_flops : 0, CeilingSource::datasheet});

  // A fused multiply-add (2 FLOPs) reads three operands of 4 bytes: 6 bytes per FLOP.
  Figure registers = of({key::fma_fp32});
  if (registers)
    registers = HierarchyFigure{registers->value * 6, less_reliable(registers->source, CeilingSource::derived)};
  Figure l2 = of({key::l2_read});
  if (!l2 && gpu.l2_bytes_per_second > 0) l2 = HierarchyFigure{gpu.l2_bytes_per_second, CeilingSource::datasheet};

  all.memory_levels_list = {
      {.memory_level = MemoryLevel::registers,
       .bytes = size(gpu.registers_per_sm * 4 * gpu.sm_count),
       .bandwidth = registers},
      {.memory_level = MemoryLevel::shared,
       .bytes = size(gpu.shared_bytes_per_sm * gpu.sm_count),
       .bandwidth = of({key::shared_memory_read}),
       .latency_ns = of({key::latency_shared_memory})},
      {.memory_level = MemoryLevel::l2,
       .bytes = size(gpu.l2_bytes),
       .bandwidth = l2,
       .latency_ns = of({key::latency_l2})},
      {.memory_level = MemoryLevel::dram,
       .bytes = size(gpu.dram_bytes),
       .bandwidth = of({key::dram_read}),
       .latency_ns = of({key::latency_dram})},
      {.memory_level = MemoryLevel::host, .bandwidth = HierarchyFigure{host_link(gpu), CeilingSource::datasheet}}};
  for (HierarchyLevel& memory_level : all.memory_levels_list) {
    memory_level.in_flight_bytes = product(memory_level.bandwidth, memory_level.latency_ns, 1e-9);
    if (memory_level.bandwidth && memory_level.bandwidth->value > 0) {
      memory_level.flops_per_byte =
          HierarchyFigure{all.tensor_flops.value / memory_level.bandwidth->value,
                          less_reliable(all.tensor_flops.source, memory_level.bandwidth->source)};
    }
  }
  return all;
}

}  // namespace attnscope::analysis::lesson
