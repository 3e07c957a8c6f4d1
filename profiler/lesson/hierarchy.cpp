// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/hierarchy.h"

#include <algorithm>
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

}  // namespace

Hierarchy hierarchy_of(const DeviceLimits& gpu, std::span<const Ceiling> measured, std::string_view tensor) {
  namespace key = ceiling_key;
  const std::vector<Ceiling> datasheet = datasheet_ceilings(gpu);
  const auto of = [&](std::initializer_list<std::string_view> keys) { return ceiling(measured, datasheet, keys); };
  Hierarchy all;
  const Figure flops = tensor.empty() ? of({key::wgmma_fp16, key::mma_fp16}) : of({tensor});
  all.tensor_flops = flops.value_or(HierarchyFigure{tensor.empty() ? gpu.tensor_flops : 0, CeilingSource::datasheet});

  Figure l2 = of({key::l2_read});
  if (!l2 && gpu.l2_bytes_per_second > 0) l2 = HierarchyFigure{gpu.l2_bytes_per_second, CeilingSource::datasheet};

  all.levels = {HierarchyLevel{.bandwidth = l2, .latency_ns = of({key::latency_l2})},
                HierarchyLevel{.bandwidth = of({key::dram_read}), .latency_ns = of({key::latency_dram})}};
  for (HierarchyLevel& level : all.levels) {
    level.in_flight_bytes = product(level.bandwidth, level.latency_ns, 1e-9);
    if (!level.bandwidth || level.bandwidth->value <= 0) continue;
    level.flops_per_byte = HierarchyFigure{all.tensor_flops.value / level.bandwidth->value,
                                           less_reliable(all.tensor_flops.source, level.bandwidth->source)};
  }
  return all;
}

}  // namespace attnscope::analysis::lesson
