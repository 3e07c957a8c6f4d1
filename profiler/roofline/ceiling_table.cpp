// SPDX-License-Identifier: Apache-2.0
#include "profiler/roofline/ceiling_table.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "messages/ceiling.h"
#include "profiler/metrics/metrics.h"
#include "profiler/metrics/point.h"
#include "profiler/units/number_format.h"

namespace attnscope::analysis {
namespace {

/// Byte ceilings are capacities, not traffic.
std::string ceiling_value_text(double value, std::string_view unit) {
  return value_text(value, unit == "byte" ? "capacity" : unit);
}

std::string words_of(const Ceiling& ceiling) {
  // NVML bit mask stored as a number; 0 means no reason.
  constexpr double beyond_mask = 9e15;
  if (ceiling.name == ceiling_key::throttle_reasons && ceiling.value > 0 && ceiling.value < beyond_mask) {
    const Message reasons = describe_throttle_reasons(static_cast<std::uint64_t>(ceiling.value));
    if (!reasons.empty()) return text(reasons);
  }
  return ceiling_value_text(ceiling.value, ceiling.unit);
}

Cell spread_cell(const Ceiling& ceiling) {
  const auto spread = relative_spread(ceiling);
  if (!spread) return {};
  // Near zero a percentage is meaningless.
  const bool in_percent = *spread <= 1;
  return {.text = "±" + (in_percent ? text(Share(*spread))
                                    : ceiling_value_text((*ceiling.q3 - *ceiling.q1) / 2, ceiling.unit)),
          .number = spread};
}

}  // namespace

Table ceiling_table(std::vector<CeilingRow> lines) {
  using Line = CeilingRow;
  TableBuilder<Line> table(std::move(lines));
  // Values that were not measured are muted.
  table.table().tone = table.of(
      [](const Line& line) { return line.ceiling.source == CeilingSource::datasheet ? Tone::muted : Tone::plain; });
  constexpr ColumnKind number = ColumnKind::number;
  table.add({.key = "ceiling", .title = text(msg::ceiling::ceiling{})},
            [](const Line& line) { return ceiling_label(*line.kind, line.ceiling.source); });
  table.add({.key = "data", .title = text(msg::ceiling::data{}), .kind = number}, [](const Line& line) {
    if (!line.kind->curve) return Cell{};
    return Cell{.text = text(Capacity(line.ceiling.argument)), .number = line.ceiling.argument};
  });
  table.add({.key = "value", .title = text(msg::ceiling::value{}), .kind = number},
            [](const Line& line) { return Cell{.text = words_of(line.ceiling), .number = line.ceiling.value}; });
  table.add({.key = "spread", .title = text(msg::ceiling::spread{}), .kind = number},
            [](const Line& line) { return spread_cell(line.ceiling); });
  table.add({.key = "clock", .title = text(msg::ceiling::clock{}), .kind = number}, [](const Line& line) {
    return line.clock_hz ? Cell{.text = text(Hertz(*line.clock_hz)), .number = line.clock_hz} : Cell{};
  });
  table.add({.key = "provenance", .title = text(msg::ceiling::provenance{})},
            [](const Line& line) { return text(title(line.ceiling.source)); });
  return std::move(table).take();
}

Table ceiling_data(std::span<const DatedCeilings> sets) {
  struct Line {
    const DatedCeilings* set;
    const Ceiling* ceiling;
  };
  std::vector<Line> lines;
  for (const DatedCeilings& set : sets) {
    for (const Ceiling& each : set.ceilings) lines.push_back({&set, &each});
  }
  TableBuilder<Line> table(std::move(lines));
  table.add({.key = "device_uuid"}, [](const Line& line) { return line.set->device_uuid; });
  table.add({.key = "measured_at"}, [](const Line& line) { return line.set->measured_at; });
  table.add({.key = "ceiling"}, [](const Line& line) { return line.ceiling->name; });
  table.add({.key = "argument"}, [](const Line& line) { return line.ceiling->argument; });
  table.add({.key = "value"}, [](const Line& line) { return line.ceiling->value; });
  table.add({.key = "q1"}, [](const Line& line) { return line.ceiling->q1; });
  table.add({.key = "q3"}, [](const Line& line) { return line.ceiling->q3; });
  table.add({.key = "unit"}, [](const Line& line) { return line.ceiling->unit; });
  table.add({.key = "provenance"}, [](const Line& line) { return to_string(line.ceiling->source); });
  return std::move(table).take();
}

namespace {

/// Operand types of the tensor ceilings; mma.sync converts 8-bit operands to 16 bits.
constexpr std::array tensor_ceilings{
    std::pair{ceiling_key::mma_fp16, DType::fp16}, std::pair{ceiling_key::mma_bf16, DType::bf16},
    std::pair{ceiling_key::wgmma_fp16, DType::fp16}, std::pair{ceiling_key::wgmma_bf16, DType::bf16},
    std::pair{ceiling_key::wgmma_fp8, DType::fp8}};

}  // namespace

Message ceiling_label(const CeilingKind& kind, CeilingSource source) {
  const auto* const of =
      std::ranges::find_if(tensor_ceilings, [&](const auto& each) { return each.first == kind.key; });
  if (source != CeilingSource::datasheet || of == tensor_ceilings.end()) return kind.label();
  return msg::ceiling::tensor_peak{.dtype = to_string(of->second)};
}

}  // namespace attnscope::analysis
