// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/export_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "kernels/common_knobs.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"
#include "profiler/units/csv.h"
#include "storage/exchange/column_names.h"

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
    std::string operator()(const std::string& text) const { return quote_csv_field(text); }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const {
      if (!std::isfinite(value)) return {};
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
      if (!std::isfinite(value)) return nullptr;
      return is_whole(value) ? Json(static_cast<std::int64_t>(value)) : Json(value);
    }
    Json operator()(bool value) const { return value; }
  };
  return std::visit(Writer{}, cell);
}

Selection select(const RunStore& store, std::span<const std::int64_t> wanted) {
  Selection selection{store.runs(), store.points(wanted)};
  for (const std::int64_t id : wanted) {
    const bool known =
        std::any_of(selection.runs.begin(), selection.runs.end(), [&](const RunSummary& run) { return run.id == id; });
    if (!known) {
      throw FileError(FileError::Kind::other, "{} has no run {} (`attnscope info` lists its runs)",
                      store.file().string(), id);
    }
  }
  if (!wanted.empty()) {
    std::erase_if(selection.runs, [&](const RunSummary& run) {
      return std::find(wanted.begin(), wanted.end(), run.id) == wanted.end();
    });
  }
  return selection;
}

void keep_points(Selection& selection, std::span<const std::int64_t> ids) {
  const std::unordered_set<std::int64_t> kept(ids.begin(), ids.end());
  std::erase_if(selection.points, [&](const StoredPoint& point) { return !kept.contains(point.id); });
}

namespace {

Column of_field(const Field& field) {
  return {std::string(field.name), [&field](const Row& row) { return field_cell(field, row.record().spec); }};
}

/// An algorithm of another program has no defaults.
Column knob_column(const Knob& knob) {
  return {knob.name, [field = knob_field(knob)](const Row& row) {
            const PointSpec& spec = row.record().spec;
            const bool known =
                spec.knobs.find(field.name) != nullptr || known_algorithms().find(spec.algorithm) != nullptr;
            return known ? field_cell(field, spec) : Cell();
          }};
}

/// Errors appear only in the first row of a point; clocks appear in every row.
Column fact_column(std::string_view key) {
  const PointFact& fact = *find_point_fact(key);
  return {std::string(key), [&fact](const Row& row) {
            return fact.about == PointFact::FactSubject::device || row.is_whole_point()
                       ? number_cell(fact.get(row.record()))
                       : Cell();
          }};
}

void visit_rows(const RunSummary& run, const StoredPoint& point, const std::function<void(const Row&)>& visit) {
  static const KernelRecord nothing;
  if (point.record.kernels.empty()) visit(Row{run, point, nothing});
  for (const KernelRecord& kernel : point.record.kernels) visit(Row{run, point, kernel});
}

}  // namespace

Cell Column::cell(const Row& row) const {
  if (value != nullptr) return value(row);
  const std::optional<MetricValue> metric = evaluate(name, row.record(), row.kernel.kernel);
  return metric ? number_cell(metric->value) : Cell();
}

std::vector<Column> common_columns() {
  std::vector<Column> columns;
  for (const Field& field : point_fields()) {
    if (field.shown == FieldVisibility::if_set || field.role == FieldRole::device_state) continue;
    columns.push_back(of_field(field));
    if (field.role == FieldRole::algorithm)
      columns.push_back({"kernel", [](const Row& r) { return text_cell(r.kernel.kernel); }});
  }
  columns.push_back(knob_column(raster_knob()));
  const std::vector<Column> outcome{
      {"disposition", [](const Row& r) { return text_cell(to_string(r.record().disposition)); }},
      {"reason", [](const Row& r) { return text_cell(english_text(r.record().reason)); }},
      {"provenance", [](const Row& r) { return text_cell(to_string(r.record().origin(r.kernel.kernel))); }},
      {std::string(metric_key::time_median_ns)},
      {std::string(metric_key::time_q1_ns)},
      {std::string(metric_key::time_q3_ns)},
      {std::string(metric_key::tflops)},
      {std::string(metric_key::dram_read_bytes)},
      {std::string(metric_key::dram_write_bytes)},
      {std::string(metric_key::l2_to_sm_bytes)},
      {std::string(metric_key::sm_to_l2_bytes)},
      {std::string(metric_key::achieved_occupancy_pct)},
      {std::string(metric_key::theoretical_occupancy_pct)},
      {"occupancy_limiter", [](const Row& r) { return text_cell(r.kernel.occupancy_limiter); }},
      {std::string(metric_key::registers)},
      {std::string(metric_key::shared_bytes)},
      {std::string(metric_key::local_bytes)},
      {std::string(metric_key::model_l2_to_sm_bytes)},
      {std::string(metric_key::model_sm_to_l2_bytes)},
      {std::string(metric_key::model_compulsory_bytes)},
      fact_column("max_abs_error"),
      fact_column("sm_clock_hz"),
      // Columns of later versions, appended to keep the order of the earlier ones.
      fact_column("memory_clock_hz"),
      {"throttled", [](const Row& r) { return r.record().clocks ? Cell(r.record().clocks->throttled) : Cell(); }},
      fact_column("error_bound"),
      fact_column("rms_error"),
      {"samples",
       [](const Row& r) {
         const std::optional<double> stated = r.kernel.metric(metric_key::time_samples);
         if (stated && r.kernel.samples_ns.empty()) return number_cell(*stated);
         return Cell(static_cast<std::int64_t>(r.kernel.samples_ns.size()));
       }},
      of_field(*find_field("cache")),
      {"device", [](const Row& r) { return text_cell(r.run.device_name); }},
      {"run", [](const Row& r) { return Cell(r.run.id); }},
      {"point", [](const Row& r) { return Cell(r.point.id); }},
  };
  columns.insert(columns.end(), outcome.begin(), outcome.end());
  for (const Field& field : point_fields()) {
    if (field.shown == FieldVisibility::if_set) columns.push_back(of_field(field));
  }
  for (const Knob* knob : {&splits_knob(), &warps_knob(), &stages_knob()}) columns.push_back(knob_column(*knob));
  columns.push_back({std::string(reason_column::code), [](const Row& r) { return text_cell(r.record().reason.id); }});
  columns.push_back({std::string(long_column::run_uid), [](const Row& r) { return text_cell(r.run.uid); }});
  columns.push_back({std::string(long_column::plan_index),
                     [](const Row& r) { return Cell(static_cast<std::int64_t>(r.point.index)); }});
  return columns;
}

std::vector<Column> round_columns() {
  return {
      {std::string(round_column::round),
       [](const Row& r) { return r.round ? Cell(static_cast<std::int64_t>(*r.round)) : Cell(); }},
      {std::string(round_column::samples), [](const Row& r) { return samples_cell(r.record(), r.kernel); }},
  };
}

bool is_column(const std::vector<Column>& columns, std::string_view name) {
  return std::any_of(columns.begin(), columns.end(), [&](const Column& column) { return column.name == name; });
}

std::vector<Column> columns_for(std::span<const Selection> selections) {
  std::vector<Column> columns = common_columns();
  for (const Selection& selection : selections) {
    for (const StoredPoint& point : selection.points) {
      for (const Knobs::Entry& knob : point.record.spec.knobs) {
        if (is_column(columns, knob.first)) continue;
        columns.push_back({knob.first, [name = knob.first](const Row& row) {
                             const KnobValue* given = row.record().spec.knobs.find(name);
                             return given != nullptr ? knob_cell(*given) : Cell();
                           }});
      }
    }
  }
  return columns;
}

StoredPoint in_round(const StoredPoint& point, const RoundRecord& round) {
  StoredPoint alone;
  alone.id = point.id;
  alone.index = point.index;
  alone.record.spec = point.record.spec;
  alone.record.disposition = point.record.disposition;
  alone.record.provenance = point.record.provenance;
  alone.record.kernels = round.kernels;
  alone.record.clocks = round.clocks;
  for (KernelRecord& kernel : alone.record.kernels) {
    std::erase_if(kernel.metrics, [](const MetricValue& metric) { return metric.provenance == Provenance::modeled; });
  }
  return alone;
}

void for_each_row(const Selection& selection, const std::function<void(const Row&)>& visit) {
  for_each_point(selection, [&](const RunSummary& run, const StoredPoint& point) { visit_rows(run, point, visit); });
}

void for_each_row_and_round(const Selection& selection, const std::function<void(const Row&)>& visit) {
  for_each_point(selection, [&](const RunSummary& run, const StoredPoint& point) {
    visit_rows(run, point, visit);
    for (const RoundRecord& round : point.record.rounds) {
      const StoredPoint alone = in_round(point, round);
      for (const KernelRecord& kernel : alone.record.kernels) visit(Row{run, alone, kernel, round.round});
    }
  });
}

}  // namespace attnscope::exchange
