// SPDX-License-Identifier: Apache-2.0
#include "profiler/roofline/peaks.h"

#include <algorithm>
#include <array>
#include <optional>

#include "messages/ceiling.h"
#include "profiler/metrics/metrics.h"

namespace attnscope::analysis {
namespace {

/// One line a ceiling that bounding a metric.
struct Bounds {
  std::string_view metric;
  std::string_view ceiling;
  double scale = 1;  ///< ceiling x scale = value in the metric's unit
  std::optional<DType> of = std::nullopt;
};
constexpr std::array bounding{
    Bounds{metric_key::tflops, ceiling_key::mma_fp16, 1e-12, DType::fp16},
    Bounds{metric_key::tflops, ceiling_key::mma_bf16, 1e-12, DType::bf16},
    Bounds{metric_key::tflops, ceiling_key::mma_fp16, 1e-12, DType::fp8},  // widened
    Bounds{metric_key::tflops, ceiling_key::wgmma_fp16, 1e-12, DType::fp16},
    Bounds{metric_key::tflops, ceiling_key::wgmma_bf16, 1e-12, DType::bf16},
    Bounds{metric_key::tflops, ceiling_key::wgmma_fp8, 1e-12, DType::fp8},
    Bounds{metric_key::dram_bandwidth, ceiling_key::dram_read},
    Bounds{metric_key::l2_sm_bandwidth, ceiling_key::l2_read},
};

}  // namespace

Message ceiling_label(const CeilingKind& kind, CeilingSource source) {
  const auto* const bounds = std::ranges::find_if(
      bounding, [&](const Bounds& each) { return each.ceiling == kind.key && each.metric == metric_key::tflops; });
  if (source != CeilingSource::datasheet || bounds == bounding.end()) return kind.label();
  return say::ceiling::tensor_peak{.dtype = to_string(*bounds->of)};
}

std::vector<Peak> peaks_of(std::string_view metric, DType dtype, std::span<const Ceiling> ceilings) {
  std::vector<Peak> peaks;
  for (const Bounds& each : bounding) {
    if (each.metric != metric || (each.of && *each.of != dtype)) continue;
    // Of a curve the largest value is the ceiling.
    const Ceiling* best = nullptr;
    for (const Ceiling& ceiling : ceilings) {
      if (ceiling.name == each.ceiling && (best == nullptr || ceiling.value > best->value)) best = &ceiling;
    }
    if (best == nullptr || best->value <= 0) continue;
    peaks.push_back({find_ceiling(best->name), best->value * each.scale, best->source});
  }
  return peaks;
}

}  // namespace attnscope::analysis
