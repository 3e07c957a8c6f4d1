// SPDX-License-Identifier: Apache-2.0
#include "profiler/compare/compared_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <variant>

#include "profiler/plan/fields.h"
#include "profiler/points/facets.h"
#include "profiler/points/row_keys.h"

namespace attnscope::analysis {
namespace {

std::vector<std::string_view> parts_of(const Field& setting) {
  return setting.parts.empty() ? std::vector{setting.name} : setting.parts;
}

/// Returns a point with only the setting's fields, and the knobs if they are part of it.
PointSpec spec_of(const PointTable& table, const Field& setting, Row row) {
  PointSpec spec = table.points().spec(row, parts_of(setting));
  if (setting.name == tile_setting) spec.knobs = table.points().knobs()[row];
  return spec;
}

/// Points of a line; equal if it has one point.
struct LinePoints {
  Row base = 0;
  Row other = 0;
  bool both = true;  ///< false: one side has no point
};

LinePoints points_of(const ComparisonLine& line) {
  if (line.pair == nullptr) return {line.example(), line.example(), false};
  return {line.pair->base.front(), line.pair->other.front()};
}

std::string setting_of(const PointTable& table, const Field& setting, const LinePoints& line) {
  std::string other = setting_text(table, setting, line.other);
  const std::string base = line.base == line.other ? other : setting_text(table, setting, line.base);
  if (base == other) return other;
  return fmt::format("{} → {}", base.empty() ? "–" : base, other.empty() ? "–" : other);
}

/// Returns whether a setting that all lines share is worth naming: it has no usual value, or another one.
bool is_named(const PointTable& table, const Field& setting, Row row) {
  if (setting.shown == FieldVisibility::always || setting.shown == FieldVisibility::in_tables) return true;
  return !is_fallback(setting, spec_of(table, setting, row));
}

SplitSettings split(const PointTable& table, const std::vector<LinePoints>& lines) {
  SplitSettings split;
  if (lines.empty()) return split;
  std::vector<std::string> common;
  const auto pair = std::ranges::find_if(lines, &LinePoints::both);
  const LinePoints& first = pair == lines.end() ? lines.front() : *pair;
  for (Field& setting : compared_settings()) {
    const std::vector<RowKey> keys = keys_of_setting(table, setting);
    const auto same = [&](const LinePoints& line) {
      return std::ranges::all_of(keys, [&](const RowKey& key) {
        const std::uint64_t base = key(first.base);
        const std::uint64_t other = key(first.other);
        const std::uint64_t of_line = key(line.other);
        return line.both ? of_line == other && key(line.base) == base : of_line == base || of_line == other;
      });
    };
    if (!std::ranges::all_of(lines, same)) {
      split.varying.push_back(std::move(setting));
      continue;
    }
    if (!is_named(table, setting, first.base) && !is_named(table, setting, first.other)) continue;
    const std::string value = setting_of(table, setting, first);
    if (!value.empty()) common.push_back(titled_setting(setting, value));
  }
  split.common = fmt::format("{}", fmt::join(common, ", "));
  return split;
}

}  // namespace

std::vector<Field> compared_settings() {
  const auto groups = field_groups();
  std::vector<Field> settings(groups.begin(), groups.end());
  std::ranges::copy_if(point_fields(), std::back_inserter(settings),
                       [](const Field& field) { return group_of(field.name) == nullptr; });
  constexpr std::array first{"algorithm", "pass", "n", "d", "tile", "mask", "dtype", "heads"};
  std::ranges::stable_sort(settings, {}, [&](const Field& setting) { return std::ranges::find(first, setting.name); });
  return settings;
}

std::vector<RowKey> keys_of_setting(const PointTable& table, const Field& setting) {
  std::vector<RowKey> keys;
  for (const std::string_view name : parts_of(setting)) keys.push_back(key_of_field(table, name));
  if (setting.name == tile_setting) keys.push_back(key_of_knobs(table));
  return keys;
}

std::string setting_text(const PointTable& table, const Field& setting, Row row) {
  const PointSpec spec = spec_of(table, setting, row);
  if (setting.name == tile_setting) {
    return (has_tile(spec.tile) ? describe(spec.tile) : std::string()) + describe(spec.knobs);
  }
  if (setting.shown == FieldVisibility::if_set && is_fallback(setting, spec)) return {};
  return short_text(setting, spec);
}

std::optional<double> setting_number(const PointTable& table, const Field& setting, Row row) {
  const PointSpec spec = spec_of(table, setting, row);
  if (setting.order != nullptr && !setting.parts.empty()) return setting.order(spec);
  const FieldValue value = setting.get(spec);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

Column settings_column(const PointTable& table, const Field& setting, Row example) {
  const bool number = setting_number(table, setting, example) && setting.name != tile_setting;
  return {.key = std::string(setting.heading.empty() ? setting.name : setting.heading),
          .title = text(setting.label()),
          .kind = number ? ColumnKind::number : ColumnKind::text};
}

std::string titled_setting(const Field& setting, const std::string& value) {
  if (setting.in_title != nullptr) return text(setting.in_title(value));
  std::string label = lower_label(text(setting.label()));
  if (setting.type == FieldType::flag) return label;
  const bool word = setting.type == FieldType::word && setting.parts.empty();
  return word && setting.shown == FieldVisibility::always ? value : fmt::format("{} {}", label, value);
}

std::string setting_of_line(const PointTable& table, const Field& setting, const ComparisonLine& line) {
  return setting_of(table, setting, points_of(line));
}

SplitSettings split_settings(const PointTable& table, const std::vector<ComparisonLine>& lines) {
  std::vector<LinePoints> points;
  points.reserve(lines.size());
  std::ranges::transform(lines, std::back_inserter(points), points_of);
  return split(table, points);
}

SplitSettings split_settings(const PointTable& table, std::span<const Row> rows) {
  std::vector<LinePoints> points;
  points.reserve(rows.size());
  for (const Row row : rows) points.push_back({row, row});
  return split(table, points);
}

}  // namespace attnscope::analysis
