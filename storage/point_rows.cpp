// SPDX-License-Identifier: Apache-2.0
#include "storage/point_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string_view>

#include "kernels/common_knobs.h"
#include "kernels/legacy/fa2_rule.h"
#include "storage/migrations.h"

namespace attnscope {
namespace {

constexpr int knobs_in_a_table = 3;  // the schema since which they are

struct OutcomeColumn {
  std::string_view name;
  int since = 1;  ///< schema
};
constexpr std::array<OutcomeColumn, 9> outcome_columns{{{"disposition"},
                                                        {"reason"},
                                                        {"reason_id", 3},
                                                        {"reason_arguments", 3},
                                                        {"provenance"},
                                                        {"max_abs_error"},
                                                        {"error_bound"},
                                                        {"rms_error"},
                                                        {"wall_seconds"}}};

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

int schema_of(SQLite::Database& database) {
  return database.execAndGet("PRAGMA user_version").getInt();
}

std::string assignments(std::string_view columns) {
  std::string text;
  while (!columns.empty()) {
    const std::size_t comma = columns.find(", ");
    const std::string_view name = columns.substr(0, comma);
    text += fmt::format("{}{} = excluded.{}", text.empty() ? "" : ", ", name, name);
    columns.remove_prefix(comma == std::string_view::npos ? columns.size() : comma + 2);
  }
  return text;
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

std::string point_columns() {
  std::string text;
  for (const Field& field : point_fields()) text += fmt::format("{}, ", field.name);
  for (const OutcomeColumn& column : outcome_columns) {
    text += fmt::format("{}{}", &column == outcome_columns.data() ? "" : ", ", column.name);
  }
  return text;
}

int point_column_count() {
  return static_cast<int>(point_fields().size() + outcome_columns.size());
}

StoredReason stored_reason(const PointRecord& record) {
  const bool has_id = !record.reason.id.empty();
  return {.words = english_text(record.reason),
          .id = has_id ? std::optional(record.reason.id) : std::nullopt,
          .arguments = has_id ? std::optional(arguments_json(record.reason)) : std::nullopt};
}

void bind_point(Binder& out, const PointRecord& record) {
  for (const Field& field : point_fields()) out << field.get(record.spec);
  const StoredReason reason = stored_reason(record);
  out << to_string(record.disposition) << reason.words << reason.id << reason.arguments << to_string(record.provenance)
      << record.max_abs_error << record.error_bound << record.rms_error << record.wall_seconds;
}

std::string point_values(int version) {
  std::string text;
  for (const Field& field : point_fields()) {
    text += field.since <= version ? fmt::format("p.{}, ", field.name) : fmt::format("{}, ", field_default(field));
  }
  for (const OutcomeColumn& column : outcome_columns) {
    text += fmt::format("{}{}{}", &column == outcome_columns.data() ? "" : ", ",
                        column.since <= version ? "p." : "NULL AS ", column.name);
  }
  return text;
}

std::string old_knob_values(int version) {
  if (version >= knobs_in_a_table) return {};
  return version == 1 ? ", p.raster, 0, 0, 0" : ", p.raster, p.splits, p.warps, p.stages";
}

PointRecord read_point(Reader& in, StoredReason& stored) {
  PointRecord record;
  for (const Field& field : point_fields()) {
    const auto set = field.set(record.spec, read_value(in, field.type));
    if (!set) throw RowError(make_message("{}: {}", field.name, set.error()));
  }
  record.disposition = word(parse_disposition(in.text()));
  stored.words = in.text();
  stored.id = in.optional_text();
  stored.arguments = in.optional_text();
  record.reason = stored_message(stored.id.value_or(""), stored.arguments.value_or(""), stored.words);
  record.provenance = word(parse_provenance(in.text()));
  record.max_abs_error = in.optional_real();
  record.error_bound = in.optional_real();
  record.rms_error = in.optional_real();
  record.wall_seconds = in.real();
  return record;
}

void read_old_point(Reader& in, int version, const DeviceLimits& limits, PointRecord& record) {
  if (version >= knobs_in_a_table) return;
  PointSpec& spec = record.spec;
  spec.knobs.set(knob::raster, word(parse_knob(raster_knob(), in.text())).value_or(std::string()));
  for (const std::string_view name : {knob::splits, knob::warps, knob::stages}) spec.knobs.set(name, in.integer());
  if (record.provenance == Provenance::imported) return;  // another program's word
  const Config config = spec.config();
  spec.algorithm = legacy::shown_algorithm(spec.algorithm, spec.problem,
                                           {.br = config.tile.br,
                                            .bc = config.tile.bc,
                                            .warps = knob_of(config, knob::warps),
                                            .stages = knob_of(config, knob::stages),
                                            .q_fastest = raster_of(config) == Raster::q_fastest,
                                            .compute_major = limits.compute_major,
                                            .compute_minor = limits.compute_minor,
                                            .shared_bytes_per_block = limits.shared_bytes_per_block});
}

}  // namespace attnscope
