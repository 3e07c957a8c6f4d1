// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/evidence.h"

#include <algorithm>

#include "profiler/metrics/metrics.h"

namespace attnscope::analysis::lesson {
namespace {

/// Source of a value computed from both.
CeilingSource less_reliable(const GpuFigure& a, const GpuFigure& b) {
  const bool datasheet = a.source == CeilingSource::datasheet || b.source == CeilingSource::datasheet;
  return datasheet ? CeilingSource::datasheet : CeilingSource::derived;
}

}  // namespace

Evidence make_evidence(const PointTable& points) {
  Evidence evidence{.points = points, .rows = {}, .gpu = known_gpus().front(), .registry = built_in_algorithms()};
  std::string newest;
  for (const Run& run : points.runs()) {
    if (run.provenance == Provenance::imported || run.started_at < newest) continue;
    newest = run.started_at;
    evidence.gpu = run.limits;
  }
  for (const Row row : points.rows()) {
    if (newest.empty() || same_gpu(points.run(row).limits.name, evidence.gpu.name)) evidence.rows.push_back(row);
  }
  return evidence;
}

bool has_valid_times(const PointTable& table, Row row) {
  const Disposition disposition = table.disposition(row);
  return disposition == Disposition::ok || disposition == Disposition::no_counters;
}

const ValueColumn& column_of(const PointTable& table, std::string_view metric) {
  return metric == metric_key::dram_settled_bytes ? table.dram_traffic() : table.values(metric);
}

std::optional<GpuFigure> gpu_figure(const DeviceLimits& gpu, std::span<const Ceiling> measured,
                                    std::initializer_list<std::string_view> keys) {
  const std::vector<Ceiling> datasheet = datasheet_ceilings(gpu);
  for (const std::span<const Ceiling> set : {measured, std::span<const Ceiling>(datasheet)}) {
    for (const std::string_view key : keys) {
      const auto found = std::ranges::find(set, key, &Ceiling::name);
      if (found != set.end() && found->value > 0) return GpuFigure{found->value, found->source};
    }
  }
  return std::nullopt;
}

std::optional<GpuFigure> tensor_rate(const DeviceLimits& gpu, std::span<const Ceiling> measured) {
  return gpu_figure(gpu, measured, {ceiling_key::wgmma_fp16, ceiling_key::mma_fp16});
}

std::optional<GpuFigure> ridge_point(const DeviceLimits& gpu, std::span<const Ceiling> measured,
                                     const std::optional<GpuFigure>& tensor_rate) {
  const auto bandwidth = gpu_figure(gpu, measured, {ceiling_key::dram_read});
  if (!bandwidth || !tensor_rate) return std::nullopt;
  return GpuFigure{tensor_rate->value / bandwidth->value, less_reliable(*tensor_rate, *bandwidth)};
}

std::optional<GpuFigure> bytes_in_flight(const DeviceLimits& gpu, std::span<const Ceiling> measured) {
  const auto bandwidth = gpu_figure(gpu, measured, {ceiling_key::dram_read});
  const auto latency_ns = gpu_figure(gpu, measured, {ceiling_key::latency_dram});
  if (!bandwidth || !latency_ns) return std::nullopt;
  return GpuFigure{bandwidth->value * latency_ns->value * 1e-9, less_reliable(*bandwidth, *latency_ns)};
}

}  // namespace attnscope::analysis::lesson
