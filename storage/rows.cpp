// SPDX-License-Identifier: Apache-2.0
#include "storage/rows.h"

#include <fmt/format.h>

#include <array>

namespace attnscope {
namespace {

constexpr std::array<std::string_view, 8> outcome_columns{
    "disposition", "reason", "reason_code", "provenance", "max_abs_error", "error_bound", "rms_error", "wall_seconds"};

FieldValue read_value(Reader& in, FieldType type) {
  switch (type) {
    case FieldType::integer:
      return in.integer();
    case FieldType::real:
      return in.real();
    case FieldType::flag:
      return in.flag();
    case FieldType::word:
      return in.text();
  }
  return std::string();
}

}  // namespace

const std::string& limit_columns() {
  static const std::string columns = [] {
    std::string list = "name, compute_major, compute_minor";
    const DeviceLimits limits;
    for_each_limit(limits, [&](const char* name, const auto&) { list += fmt::format(", {}", name); });
    return list;
  }();
  return columns;
}

const std::string& environment_columns() {
  static const std::string columns = [] {
    std::string list;
    const Environment environment;
    for_each_version(environment,
                     [&](const char* name, const auto&) { list += (list.empty() ? "" : ", ") + std::string(name); });
    return list;
  }();
  return columns;
}

std::string qualified(std::string_view table, std::string_view columns) {
  std::string text = fmt::format("{}.", table);
  for (const char c : columns) {
    text += c;
    if (c == ' ') text += fmt::format("{}.", table);
  }
  return text;
}

std::string placeholders(int count) {
  std::string text = "?";
  for (int i = 1; i < count; ++i) text += ", ?";
  return text;
}

std::string point_columns(std::string_view prefix) {
  std::string text;
  const auto add = [&](std::string_view column) {
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", prefix, column);
  };
  for (const Field& field : point_fields()) add(field.name);
  for (const std::string_view column : outcome_columns) add(column);
  return text;
}

int point_column_count() {
  return static_cast<int>(point_fields().size() + outcome_columns.size());
}

void bind_point(Binder& out, const PointRecord& record) {
  for (const Field& field : point_fields()) out << field.get(record.spec);
  out << to_string(record.disposition) << english_text(record.reason)
      << (record.reason.id.empty() ? std::nullopt : std::optional(record.reason.id)) << to_string(record.provenance)
      << record.max_abs_error << record.error_bound << record.rms_error << record.wall_seconds;
}

PointRecord read_point(Reader& in) {
  PointRecord record;
  for (const Field& field : point_fields()) {
    const auto set = field.set(record.spec, read_value(in, field.type));
    if (!set) throw RowError(make_message("{}: {}", field.name, set.error()));
  }
  record.disposition = require_keyword(parse_disposition(in.text()));
  record.reason.words = in.text();
  record.reason.id = in.optional<std::string>().value_or("");
  record.provenance = require_keyword(parse_provenance(in.text()));
  in >> record.max_abs_error >> record.error_bound >> record.rms_error >> record.wall_seconds;
  return record;
}

}  // namespace attnscope
