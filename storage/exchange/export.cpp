// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/export.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "kernels/common_knobs.h"
#include "kernels/registry.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"
#include "profiler/units/csv.h"
#include "storage/exchange/column_names.h"
#include "storage/rows.h"

namespace attnscope {

using namespace exchange;  // NOLINT(google-build-using-namespace): this file is part of it

namespace {

/// Content of a field: null, a text, a number or a truth value.
using Cell = nlohmann::ordered_json;

/// Returns null for an empty text.
Cell text_cell(std::string_view text) {
  return text.empty() ? Cell() : Cell(text);
}

/// Returns null for nullopt and for numbers that are not finite; a whole number is an integer.
Cell number_cell(const std::optional<double>& number) {
  if (!number || !std::isfinite(*number)) return nullptr;
  const bool whole = *number == std::trunc(*number) && std::abs(*number) < 9e15;
  return whole ? Cell(static_cast<std::int64_t>(*number)) : Cell(*number);
}

Cell field_cell(const Field& field, const PointSpec& spec) {
  const FieldValue value = field.get(spec);
  const auto* word = std::get_if<std::string>(&value);
  const auto* real = std::get_if<double>(&value);
  if (word != nullptr) return text_cell(*word);
  return real != nullptr ? number_cell(*real) : std::visit([](const auto& held) { return Cell(held); }, value);
}

Cell knob_cell(const KnobValue& value) {
  return std::visit([](const auto& held) { return Cell(held); }, value);
}

/// Returns samples in the order taken, separated by spaces; empty if the point has several rounds, which have their own
/// rows.
Cell samples_cell(const PointRecord& record, const KernelRecord& kernel) {
  return record.rounds.empty() ? text_cell(fmt::format("{}", fmt::join(kernel.samples_ns, " "))) : Cell();
}

/// Quotes a text with quote_csv_field(); formats a number as short as possible.
std::string csv_field(const Cell& cell) {
  if (cell.is_null()) return {};
  if (cell.is_string()) return quote_csv_field(cell.get_ref<const std::string&>());
  return cell.is_number_float() ? fmt::format("{}", cell.get<double>()) : cell.dump();
}

struct Selection {
  std::vector<RunSummary> runs;
  std::vector<StoredPoint> points;
};

Selection select(const RunStore& store, std::span<const std::int64_t> wanted, const ExportedPoints& points) {
  Selection selection{store.runs(), store.points(wanted)};
  for (const std::int64_t id : wanted) {
    if (std::ranges::count(selection.runs, id, &RunSummary::id) > 0) continue;
    throw FileError(FileError::Kind::other, "{} has no run {} (`attnscope info` lists its runs)", store.file().string(),
                    id);
  }
  if (!wanted.empty())
    std::erase_if(selection.runs, [&](const RunSummary& run) { return std::ranges::count(wanted, run.id) == 0; });
  if (points) {
    const std::set<std::int64_t> kept(points->begin(), points->end());
    std::erase_if(selection.points, [&](const StoredPoint& point) { return !kept.contains(point.id); });
  }
  return selection;
}

void for_each_point(const Selection& selection,
                    const std::function<void(const RunSummary&, const StoredPoint&)>& visit) {
  std::map<std::int64_t, const RunSummary*> run_of;
  for (const RunSummary& run : selection.runs) run_of.emplace(run.id, &run);
  for (const StoredPoint& point : selection.points) {
    const auto run = run_of.find(point.run_id);
    if (run != run_of.end()) visit(*run->second, point);  // otherwise the run began after the list was read
  }
}

struct Row {
  const RunSummary& run;
  const StoredPoint& point;
  const KernelRecord& kernel;
  std::optional<int> round = std::nullopt;  ///< nullopt: all rounds together

  [[nodiscard]] const PointRecord& record() const { return point.record; }
};

/// Returns the values of one round as a point. Modeled values belong to the point and are removed.
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

/// Visits one row per point and kernel; a point without kernels has one row. `rounds`: followed by the rows of each
/// round if a point has several.
void for_each_row(const Selection& selection, bool rounds, const std::function<void(const Row&)>& visit) {
  for_each_point(selection, [&](const RunSummary& run, const StoredPoint& point) {
    static const KernelRecord nothing;
    if (point.record.kernels.empty()) visit(Row{run, point, nothing});
    for (const KernelRecord& kernel : point.record.kernels) visit(Row{run, point, kernel});
    for (const RoundRecord& round : rounds ? std::span(point.record.rounds) : std::span<const RoundRecord>()) {
      const StoredPoint alone = in_round(point, round);
      for (const KernelRecord& kernel : alone.record.kernels) visit(Row{run, alone, kernel, round.round});
    }
  });
}

struct Column {
  std::string name;
  std::function<Cell(const Row&)> value = nullptr;  ///< null: the metric of that name, stored or derived

  [[nodiscard]] Cell cell(const Row& row) const;
};

Cell disposition_cell(const Row& row) {
  return text_cell(to_string(row.record().disposition));
}
Cell reason_cell(const Row& row) {
  return text_cell(english_text(row.record().reason));
}
Cell reason_code_cell(const Row& row) {
  return text_cell(row.record().reason.id);
}
Cell throttled_cell(const Row& row) {
  return row.record().clocks ? Cell(row.record().clocks->throttled) : Cell();
}

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

/// Errors appear only in the row of the whole point, so that sums over rows count them once; clocks appear in every
/// row.
Column fact_column(std::string_view key) {
  const PointFact& fact = *find_point_fact(key);
  return {std::string(key), [&fact](const Row& row) {
            const bool here = fact.about == PointFact::FactSubject::device || row.kernel.kernel == "all";
            return here ? number_cell(fact.get(row.record())) : Cell();
          }};
}

std::vector<Column> common_columns() {
  std::vector<Column> columns;
  const auto add_metrics = [&](std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) columns.push_back({std::string(key)});
  };
  for (const Field& field : point_fields()) {
    if (field.shown == FieldVisibility::if_set || field.role == FieldRole::device_state) continue;
    columns.push_back(of_field(field));
    if (field.role == FieldRole::algorithm)
      columns.push_back({"kernel", [](const Row& r) { return text_cell(r.kernel.kernel); }});
  }
  columns.push_back(knob_column(raster_knob()));
  columns.push_back({"disposition", disposition_cell});
  columns.push_back({"reason", reason_cell});
  columns.push_back(
      {"provenance", [](const Row& r) { return text_cell(to_string(r.record().origin(r.kernel.kernel))); }});
  add_metrics({metric_key::time_median_ns, metric_key::time_q1_ns, metric_key::time_q3_ns, metric_key::tflops,
               metric_key::dram_read_bytes, metric_key::dram_write_bytes, metric_key::l2_to_sm_bytes,
               metric_key::sm_to_l2_bytes, metric_key::achieved_occupancy_pct, metric_key::theoretical_occupancy_pct});
  columns.push_back({"occupancy_limiter", [](const Row& r) { return text_cell(r.kernel.occupancy_limiter); }});
  add_metrics({metric_key::registers, metric_key::shared_bytes, metric_key::local_bytes,
               metric_key::model_l2_to_sm_bytes, metric_key::model_sm_to_l2_bytes, metric_key::model_compulsory_bytes});
  columns.push_back(fact_column("max_abs_error"));
  columns.push_back(fact_column("sm_clock_hz"));
  // Columns of later versions, appended to keep the order of the earlier ones.
  columns.push_back(fact_column("memory_clock_hz"));
  columns.push_back({"throttled", throttled_cell});
  columns.push_back(fact_column("error_bound"));
  columns.push_back(fact_column("rms_error"));
  columns.push_back({"samples", [](const Row& r) {
                       const std::optional<double> stated = r.kernel.metric(metric_key::time_samples);
                       if (stated && r.kernel.samples_ns.empty()) return number_cell(*stated);
                       return Cell(r.kernel.samples_ns.size());
                     }});
  columns.push_back(of_field(*find_field("cache")));
  columns.push_back({"device", [](const Row& r) { return text_cell(r.run.device_name); }});
  columns.push_back({"run", [](const Row& r) { return Cell(r.run.id); }});
  columns.push_back({"point", [](const Row& r) { return Cell(r.point.id); }});
  for (const Field& field : point_fields()) {
    if (field.shown == FieldVisibility::if_set) columns.push_back(of_field(field));
  }
  for (const Knob* knob : {&splits_knob(), &warps_knob(), &stages_knob()}) columns.push_back(knob_column(*knob));
  columns.push_back({std::string(reason_column::code), reason_code_cell});
  columns.push_back({std::string(long_column::run_uid), [](const Row& r) { return text_cell(r.run.uid); }});
  columns.push_back({std::string(long_column::plan_index), [](const Row& r) { return Cell(r.point.index); }});
  return columns;
}

Cell Column::cell(const Row& row) const {
  if (value != nullptr) return value(row);
  const std::optional<MetricValue> metric = evaluate(name, row.record(), row.kernel.kernel);
  return metric ? number_cell(metric->value) : Cell();
}

/// Returns the common columns, then one for each other knob that a point has.
std::vector<Column> columns_for(const Selection& selection) {
  std::vector<Column> columns = common_columns();
  for (const StoredPoint& point : selection.points) {
    for (const Knobs::Entry& knob : point.record.spec.knobs) {
      if (std::ranges::count(columns, knob.first, &Column::name) > 0) continue;
      columns.push_back({knob.first, [name = knob.first](const Row& row) {
                           const KnobValue* given = row.record().spec.knobs.find(name);
                           return given != nullptr ? knob_cell(*given) : Cell();
                         }});
    }
  }
  return columns;
}

}  // namespace

void export_csv(const RunStore& store, std::span<const std::int64_t> runs, std::ostream& out,
                const ExportedPoints& points) {
  const Selection selection = select(store, runs, points);
  std::vector<Column> columns = columns_for(selection);
  columns.push_back({std::string(round_column::round), [](const Row& r) { return r.round ? Cell(*r.round) : Cell(); }});
  columns.push_back(
      {std::string(round_column::samples), [](const Row& r) { return samples_cell(r.record(), r.kernel); }});
  std::set<std::string> names;
  for (const Column& column : columns) names.insert(column.name);
  std::set<std::string> extra;
  for_each_row(selection, false, [&](const Row& row) {
    for (const MetricValue& metric : row.kernel.metrics) {
      if (!names.contains(metric.name)) extra.insert(metric.name);
    }
  });
  for (const std::string& name : extra)
    columns.push_back({name, [name](const Row& r) { return number_cell(r.kernel.metric(name)); }});
  std::vector<std::string> fields;
  fields.reserve(columns.size());
  for (const Column& column : columns) fields.push_back(csv_field(column.name));
  out << fmt::format("{}\n", fmt::join(fields, ","));
  for_each_row(selection, true, [&](const Row& row) {
    std::ranges::transform(columns, fields.begin(), [&](const Column& column) { return csv_field(column.cell(row)); });
    out << fmt::format("{}\n", fmt::join(fields, ","));
  });
}

namespace {

std::span<const Knob> knobs_of(std::string_view algorithm) {
  const Algorithm* found = known_algorithms().find(algorithm);
  return found != nullptr ? std::span<const Knob>(found->facts().knobs) : std::span<const Knob>();
}

class LongTableWriter {
 public:
  LongTableWriter(const Selection& selection, std::ostream& out) : columns_(point_columns(selection)), out_(out) {}

  void write_header() {
    std::vector<std::string> names;
    for (const Column& column : columns_) names.push_back(csv_field(column.name));
    for (const std::string_view name : long_column::value_columns) names.push_back(csv_field(name));
    out_ << fmt::format("{}\n", fmt::join(names, ","));
  }

  void write_point(const RunSummary& run, const StoredPoint& stored) {
    const PointRecord& point = stored.record;
    begin_.clear();
    for (const Column& column : columns_) begin_ += csv_field(column.value(Row{run, stored, KernelRecord()})) + ',';
    begin_.pop_back();
    const bool silent = !write_values(point);
    for (const RoundRecord& round : point.rounds) {
      round_ = round.round;
      write_values(in_round(stored, round).record);
    }
    round_ = {};
    if (silent) out_ << fmt::format("{}{}\n", begin_, std::string(long_column::value_columns.size(), ','));
  }

 private:
  /// Returns the knobs of the points and their algorithms in the registry's order, then unknown ones by name.
  [[nodiscard]] static std::vector<std::string> knob_names(const Selection& selection) {
    std::set<std::string> wanted;
    std::set<std::string_view> asked;  // algorithms
    for (const StoredPoint& point : selection.points) {
      const PointSpec& spec = point.record.spec;
      for (const auto& [name, value] : spec.knobs) wanted.insert(name);
      if (!asked.insert(spec.algorithm).second) continue;
      for (const Knob& knob : knobs_of(spec.algorithm)) wanted.insert(knob.name);
    }
    std::vector<std::string> names;
    for (const Knob& knob : known_algorithms().knobs()) {
      if (wanted.erase(knob.name) > 0) names.push_back(knob.name);
    }
    names.insert(names.end(), wanted.begin(), wanted.end());
    return names;
  }

  /// Returns the given value, else the algorithm's default; empty if the algorithm has no such knob.
  [[nodiscard]] static Cell knob_value(const PointSpec& spec, std::string_view name) {
    if (const KnobValue* given = spec.knobs.find(name)) return knob_cell(*given);
    const auto knobs = knobs_of(spec.algorithm);
    const auto stated = std::ranges::find(knobs, name, &Knob::name);
    return stated != knobs.end() ? text_cell(knob_text(*stated, spec.knobs)) : Cell();
  }

  /// Returns the columns that all rows of a point share.
  [[nodiscard]] static std::vector<Column> point_columns(const Selection& selection) {
    std::vector<Column> columns{
        {std::string(long_column::run_uid), [](const Row& r) { return text_cell(r.run.uid); }},
        {std::string(long_column::plan_index), [](const Row& r) { return Cell(r.point.index); }},
        {std::string(long_column::device), [](const Row& r) { return text_cell(r.run.device_name); }}};
    for (const Field& field : point_fields()) columns.push_back(of_field(field));
    for (const std::string& knob : knob_names(selection))
      columns.push_back({knob, [knob](const Row& r) { return knob_value(r.record().spec, knob); }});
    columns.push_back({std::string(long_column::disposition), disposition_cell});
    columns.push_back({std::string(reason_column::words), reason_cell});
    columns.push_back({std::string(reason_column::code), reason_code_cell});
    columns.push_back({std::string(long_column::throttled), throttled_cell});
    return columns;
  }

  /// Returns false if the point has no value.
  bool write_values(const PointRecord& point) {
    bool any = false;
    for (const KernelRecord& kernel : point.kernels) any = write_kernel(point, kernel) || any;
    for (const PointFact& fact : point_facts()) {
      const auto value = value_of(fact, point);
      if (value) write_value({}, *value);
      any = any || value;
    }
    return any;
  }

  bool write_kernel(const PointRecord& point, const KernelRecord& kernel) {
    const std::string name = kernel.kernel == "all" ? std::string() : kernel.kernel;
    bool any = false;
    for (const Metric& metric : metrics_table()) {
      const auto value = evaluate(metric.key, point, kernel.kernel);
      if (!value) continue;
      const auto spread = quartiles(metric.key, point, kernel.kernel);
      Cell samples;
      if (metric.depends_on_clock && !kernel.samples_ns.empty()) samples = kernel.samples_ns.size();
      if (spread && !metric.depends_on_clock) samples = point.rounds.size();
      write_value(name, *value, spread, samples,
                  metric.key == metric_key::time_median_ns ? samples_cell(point, kernel) : Cell());
      any = true;
    }
    for (const MetricValue& value : kernel.metrics) {
      if (find_metric(value.name) != nullptr) continue;
      write_value(name, value);
      any = true;
    }
    return any;
  }

  void write_value(std::string_view kernel, const MetricValue& value, const std::optional<Quartiles>& spread = {},
                   const Cell& samples = {}, const Cell& samples_ns = {}) {
    const std::array cells{text_cell(kernel),
                           text_cell(value.name),
                           number_cell(value.value),
                           text_cell(value.unit),
                           text_cell(to_string(value.provenance)),
                           spread ? number_cell(spread->q1) : Cell(),
                           spread ? number_cell(spread->q3) : Cell(),
                           samples,
                           round_,
                           samples_ns};
    static_assert(cells.size() == long_column::value_columns.size());
    out_ << begin_;
    for (const Cell& cell : cells) out_ << ',' << csv_field(cell);
    out_ << '\n';
  }

  std::vector<Column> columns_;
  std::ostream& out_;
  std::string begin_;
  Cell round_;  ///< round of the current rows; null: all rounds together
};

}  // namespace

void export_long_csv(const RunStore& store, std::span<const std::int64_t> runs, std::ostream& out,
                     const ExportedPoints& points) {
  const Selection selection = select(store, runs, points);
  LongTableWriter table(selection, out);
  table.write_header();
  for_each_point(selection, [&](const RunSummary& run, const StoredPoint& point) { table.write_point(run, point); });
}

namespace {

Cell device_block(const RunSummary& run) {
  const DeviceLimits& limits = run.limits;
  Cell block{{"uuid", run.device_uuid},
             {"name", limits.name},
             {"simulated", run.simulated},
             {"compute_capability", fmt::format("{}.{}", limits.compute_major, limits.compute_minor)}};
  for_each_limit(limits, [&](const char* name, auto value) { block[name] = number_cell(static_cast<double>(value)); });
  return block;
}

Cell environment_block(const Environment& environment) {
  Cell block;
  for_each_version(environment, [&](const char* name, const std::string& value) { block[name] = value; });
  return block;
}

std::size_t find_or_append(Cell& blocks, const Cell& block) {
  const auto found = std::find(blocks.begin(), blocks.end(), block);
  if (found != blocks.end()) return static_cast<std::size_t>(found - blocks.begin());
  blocks.push_back(block);
  return blocks.size() - 1;
}

Cell metrics_block(const KernelRecord& kernel) {
  Cell metrics = Cell::object();
  for (const MetricValue& metric : kernel.metrics) {
    metrics[metric.name] = {
        {"value", number_cell(metric.value)}, {"unit", metric.unit}, {"provenance", to_string(metric.provenance)}};
  }
  return metrics;
}

Cell rounds_block(const PointRecord& record, std::string_view kernel) {
  Cell rounds = Cell::array();
  for (const RoundRecord& round : record.rounds) {
    const auto found = std::ranges::find(round.kernels, kernel, &KernelRecord::kernel);
    if (found == round.kernels.end()) continue;
    Cell block{{"round", round.round}, {"metrics", metrics_block(*found)}, {"samples_ns", found->samples_ns}};
    if (round.clocks) {
      block["sm_clock_hz"] = number_cell(round.clocks->sm_clock_hz);
      block["throttled"] = round.clocks->throttled;
    }
    rounds.push_back(std::move(block));
  }
  return rounds;
}

Cell ceilings_block(const StoredCeilings& set) {
  Cell rows = Cell::array();
  for (const Ceiling& each : set.ceilings) {
    rows.push_back({{"ceiling", each.name},
                    {"argument", number_cell(each.argument)},
                    {"value", number_cell(each.value)},
                    {"q1", number_cell(each.q1)},
                    {"q3", number_cell(each.q3)},
                    {"unit", each.unit},
                    {"provenance", to_string(each.source)}});
  }
  return {{"uid", set.uid},
          {"device_uuid", set.device_uuid},
          {"device_name", set.device_name},
          {"measured_at", set.measured_at},
          {"environment", environment_block(set.environment)},
          {"ceilings", std::move(rows)}};
}

Cell run_block(const RunSummary& run, std::size_t environment) {
  Cell block{{"run", run.id},
             {"uid", run.uid},
             {"device_uuid", run.device_uuid},
             {"environment", environment},
             {"provenance", to_string(run.provenance)},
             {"preset", run.preset},
             {"argv", run.argv},
             {"state", to_string(run.state)},
             {"started_at", run.started_at},
             {"finished_at", text_cell(run.finished_at)},
             {"planned_points", run.planned_points},
             {"points", run.points},
             {"ok_points", run.ok_points}};
  if (run.rounds > 1) block["rounds"] = run.rounds;
  if (!run.simulation_reason.empty()) block["simulated_because"] = run.simulation_reason;
  if (!run.l2_source.empty()) block["l2_from"] = run.l2_source;
  if (!run.rates_source.empty()) block["rates_from"] = run.rates_source;
  return block;
}

}  // namespace

void export_json(const RunStore& store, std::span<const std::int64_t> runs, std::ostream& out,
                 const ExportedPoints& points) {
  const Selection selection = select(store, runs, points);
  const std::vector<Column> columns = columns_for(selection);
  Cell document{{"format", export_format}, {"version", json_version}};
  document["created_at"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  for (const char* list : {"devices", "environments", "runs", "points"}) document[list] = Cell::array();
  for (const RunSummary& run : selection.runs) {
    find_or_append(document["devices"], device_block(run));
    document["runs"].push_back(
        run_block(run, find_or_append(document["environments"], environment_block(run.environment))));
  }
  for_each_row(selection, false, [&](const Row& row) {
    Cell point = Cell::object();
    for (const Column& column : columns) point[column.name] = column.cell(row);
    point["metrics"] = metrics_block(row.kernel);
    point["samples_ns"] = row.kernel.samples_ns;
    if (!row.record().rounds.empty()) point["rounds"] = rounds_block(row.record(), row.kernel.kernel);
    document["points"].push_back(std::move(point));
  });
  for (const StoredCeilings& set : runs.empty() ? store.ceilings() : std::vector<StoredCeilings>())
    document["ceilings"].push_back(ceilings_block(set));
  out << document.dump(1, ' ', false, Cell::error_handler_t::replace) << '\n';
}

}  // namespace attnscope
