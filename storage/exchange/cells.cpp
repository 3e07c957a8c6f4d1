// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/cells.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "profiler/units/csv.h"

namespace attnscope::exchange {
namespace {

bool is_whole(double value) {
  return value == std::trunc(value) && std::abs(value) < 9e15;
}

}  // namespace

Cell text_cell(std::string_view text) {
  return text.empty() ? Cell() : Cell(std::string(text));
}

Cell number_cell(const std::optional<double>& number) {
  return number && std::isfinite(*number) ? Cell(*number) : Cell();
}

Cell field_cell(const Field& field, const PointSpec& spec) {
  const FieldValue value = field.get(spec);
  const auto* word = std::get_if<std::string>(&value);
  return word != nullptr ? text_cell(*word) : std::visit([](const auto& held) { return Cell(held); }, value);
}

Cell knob_cell(const KnobValue& value) {
  return std::visit([](const auto& held) { return Cell(held); }, value);
}

Cell samples_cell(const PointRecord& record, const KernelRecord& kernel) {
  return record.rounds.empty() ? text_cell(fmt::format("{}", fmt::join(kernel.samples_ns, " "))) : Cell();
}

std::string csv_field(const Cell& cell) {
  struct Writer {
    std::string operator()(std::monostate) const { return {}; }
    std::string operator()(const std::string& text) const { return csv_text(text); }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const {
      return is_whole(value) ? fmt::format("{:.0f}", value) : fmt::format("{}", value);
    }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
  };
  return std::visit(Writer{}, cell);
}

nlohmann::ordered_json json_value(const Cell& cell) {
  using Json = nlohmann::ordered_json;
  struct Writer {
    Json operator()(std::monostate) const { return nullptr; }
    Json operator()(const std::string& value) const { return value; }
    Json operator()(std::int64_t value) const { return value; }
    Json operator()(double value) const {
      return is_whole(value) ? Json(static_cast<std::int64_t>(value)) : Json(value);
    }
    Json operator()(bool value) const { return value; }
  };
  return std::visit(Writer{}, cell);
}

}  // namespace attnscope::exchange
