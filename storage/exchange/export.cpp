// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/export.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "kernels/common_knobs.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"

namespace attnscope {
namespace {

using Json = nlohmann::ordered_json;

/// What a field holds; monostate: there is no such value.
using Cell = std::variant<std::monostate, std::string, std::int64_t, double, bool>;

struct Row {
  const RunSummary& run;
  const StoredPoint& point;
  const KernelRecord& kernel;

  [[nodiscard]] const PointRecord& record() const { return point.record; }
  /// What is true of the point as a whole stands in its first row only, so that a sum over rows counts it once.
  [[nodiscard]] bool is_all() const { return kernel.kernel == "all"; }
};

Cell text(std::string_view value) {
  return value.empty() ? Cell() : Cell(std::string(value));
}
Cell number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Cell(*value) : Cell();
}
template <class Member>
Cell clock(const Row& row, Member member) {
  return row.record().clocks ? Cell((*row.record().clocks).*member) : Cell();
}
struct Column {
  std::string name;
  std::function<Cell(const Row&)> value = nullptr;  ///< none: the metric of that name, stored or derived
};

Column of_field(const Field& field) {
  return {std::string(field.name), [&field](const Row& row) {
            const FieldValue value = field.get(row.record().spec);
            const auto* word = std::get_if<std::string>(&value);
            return word != nullptr ? text(*word) : std::visit([](const auto& held) { return Cell(held); }, value);
          }};
}

/// What was given; else what the algorithm does of itself, where the program knows the knob.
Column of_knob(const std::string& name, const KnobValue& own_choice) {
  return {name, [name, own_choice](const Row& row) {
            const KnobValue* given = row.record().spec.knobs.find(name);
            return std::visit([](const auto& held) { return Cell(held); }, given != nullptr ? *given : own_choice);
          }};
}

/// What every export has, whatever knobs its points were given.
std::vector<Column> common_columns() {
  std::vector<Column> columns;
  for (const Field& field : point_fields()) {
    if (field.since > 1 || field.name == "cache") continue;
    columns.push_back(of_field(field));
    if (field.name == "algorithm") columns.push_back({"kernel", [](const Row& r) { return text(r.kernel.kernel); }});
  }
  columns.push_back(of_knob(raster_knob().name, raster_knob().words.front()));
  const std::vector<Column> outcome{
      {"disposition", [](const Row& r) { return text(to_string(r.record().disposition)); }},
      {"reason", [](const Row& r) { return text(r.record().reason); }},
      {"provenance", [](const Row& r) { return text(to_string(r.record().provenance)); }},
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
      {"occupancy_limiter", [](const Row& r) { return text(r.kernel.occupancy_limiter); }},
      {std::string(metric_key::registers)},
      {std::string(metric_key::shared_bytes)},
      {std::string(metric_key::local_bytes)},
      {std::string(metric_key::model_l2_to_sm_bytes)},
      {std::string(metric_key::model_sm_to_l2_bytes)},
      {std::string(metric_key::model_compulsory_bytes)},
      {"max_abs_error", [](const Row& r) { return r.is_all() ? number(r.record().max_abs_error) : Cell(); }},
      // The last fixed one is sm_clock_hz; what follows says where the row comes from.
      {"sm_clock_hz", [](const Row& r) { return clock(r, &ClockReading::sm_clock_hz); }},
      {"memory_clock_hz", [](const Row& r) { return clock(r, &ClockReading::memory_clock_hz); }},
      {"throttled", [](const Row& r) { return clock(r, &ClockReading::throttled); }},
      {"error_bound", [](const Row& r) { return r.is_all() ? number(r.record().error_bound) : Cell(); }},
      {"rms_error", [](const Row& r) { return r.is_all() ? number(r.record().rms_error) : Cell(); }},
      {"samples", [](const Row& r) { return Cell(static_cast<std::int64_t>(r.kernel.samples_ns.size())); }},
      of_field(*find_field("cache")),
      {"device", [](const Row& r) { return text(r.run.device_name); }},
      {"run", [](const Row& r) { return Cell(r.run.id); }},
      {"point", [](const Row& r) { return Cell(r.point.id); }},
  };
  columns.insert(columns.end(), outcome.begin(), outcome.end());
  // What later versions know of problem and tile: at the end, so that the columns before keep their places.
  const auto add_since = [&](auto wanted) {
    for (const Field& field : point_fields()) {
      if (wanted(field.since)) columns.push_back(of_field(field));
    }
  };
  add_since([](int since) { return since == 2; });
  for (const Knob* knob : {&splits_knob(), &warps_knob(), &stages_knob()}) {
    columns.push_back(of_knob(knob->name, std::int64_t{0}));
  }
  add_since([](int since) { return since > 2; });
  return columns;
}

Cell value_of(const Column& column, const Row& row) {
  if (column.value != nullptr) return column.value(row);
  const std::optional<MetricValue> metric = evaluate(column.name, row.record(), row.kernel.kernel);
  return metric ? number(metric->value) : Cell();
}

bool is_column(const std::vector<Column>& columns, std::string_view name) {
  return std::any_of(columns.begin(), columns.end(), [&](const Column& column) { return column.name == name; });
}

std::string plain(double value) {
  return value == std::trunc(value) && std::abs(value) < 9e15 ? fmt::format("{:.0f}", value) : fmt::format("{}", value);
}

std::string csv_field(const Cell& cell) {
  struct Writer {
    std::string operator()(std::monostate) const { return {}; }
    std::string operator()(const std::string& value) const {
      if (value.find_first_of(",\"\r\n") == std::string::npos) return value;
      std::string quoted = "\"";
      for (const char c : value) quoted += c == '"' ? "\"\"" : std::string(1, c);
      return quoted + "\"";
    }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const { return plain(value); }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
  };
  return std::visit(Writer{}, cell);
}

Json json_value(const Cell& cell) {
  struct Writer {
    Json operator()(std::monostate) const { return nullptr; }
    Json operator()(const std::string& value) const { return value; }
    Json operator()(std::int64_t value) const { return value; }
    Json operator()(double value) const {
      if (value == std::trunc(value) && std::abs(value) < 9e15) return static_cast<std::int64_t>(value);
      return value;
    }
    Json operator()(bool value) const { return value; }
  };
  return std::visit(Writer{}, cell);
}

struct Selection {
  std::vector<RunSummary> runs;
  std::vector<StoredPoint> points;
};

Selection select(const RunStore& store, std::span<const std::int64_t> wanted) {
  Selection selection{store.runs(), store.points(wanted)};
  for (const std::int64_t id : wanted) {
    const bool known =
        std::any_of(selection.runs.begin(), selection.runs.end(), [&](const RunSummary& run) { return run.id == id; });
    if (!known) {
      throw StorageError(StorageError::Kind::other,
                         fmt::format("{} has no run {}; `attnscope info` lists its runs", store.file().string(), id));
    }
  }
  if (!wanted.empty()) {
    std::erase_if(selection.runs, [&](const RunSummary& run) {
      return std::find(wanted.begin(), wanted.end(), run.id) == wanted.end();
    });
  }
  return selection;
}

template <class Visit>
void for_each_row(const Selection& selection, Visit&& visit) {
  std::map<std::int64_t, const RunSummary*> run_of;
  for (const RunSummary& run : selection.runs) run_of.emplace(run.id, &run);
  static const KernelRecord nothing;  // a point that never got as far as a kernel still has its row
  for (const StoredPoint& point : selection.points) {
    const auto run = run_of.find(point.run_id);
    if (run == run_of.end()) continue;  // begun after the list of runs was read
    if (point.record.kernels.empty()) visit(Row{*run->second, point, nothing});
    for (const KernelRecord& kernel : point.record.kernels) visit(Row{*run->second, point, kernel});
  }
}

/// The common columns, and one for each other knob that a point of the selections has.
std::vector<Column> columns_for(std::span<const Selection> selections) {
  std::vector<Column> columns = common_columns();
  for (const Selection& selection : selections) {
    for (const StoredPoint& point : selection.points) {
      for (const Knobs::Entry& knob : point.record.spec.knobs) {
        if (is_column(columns, knob.first)) continue;
        columns.push_back({knob.first, [name = knob.first](const Row& row) {
                             const KnobValue* given = row.record().spec.knobs.find(name);
                             return given != nullptr ? std::visit([](const auto& held) { return Cell(held); }, *given)
                                                     : Cell();
                           }});
      }
    }
  }
  return columns;
}

Json device_block(const RunSummary& run) {
  const DeviceLimits& limits = run.limits;
  return {{"uuid", run.device_uuid},
          {"name", limits.name},
          {"simulated", run.simulated},
          {"compute_capability", fmt::format("{}.{}", limits.compute_major, limits.compute_minor)},
          {"sm_count", limits.sm_count},
          {"max_threads_per_block", limits.max_threads_per_block},
          {"max_threads_per_sm", limits.max_threads_per_sm},
          {"max_blocks_per_sm", limits.max_blocks_per_sm},
          {"registers_per_sm", limits.registers_per_sm},
          {"shared_bytes_per_block", limits.shared_bytes_per_block},
          {"shared_bytes_per_sm", limits.shared_bytes_per_sm},
          {"shared_bytes_reserved", limits.shared_bytes_reserved},
          {"l2_bytes", limits.l2_bytes},
          {"dram_bytes", limits.dram_bytes},
          {"dram_bytes_per_second", json_value(Cell(limits.dram_bytes_per_second))},
          {"l2_bytes_per_second", json_value(Cell(limits.l2_bytes_per_second))},
          {"tensor_flops", json_value(Cell(limits.tensor_flops))}};
}

Json environment_block(const Environment& environment) {
  return {{"app_version", environment.app_version},          {"driver_version", environment.driver_version},
          {"cuda_driver_api", environment.cuda_driver_api},  {"nvrtc_version", environment.nvrtc_version},
          {"cupti_version", environment.cupti_version},      {"nvml_version", environment.nvml_version},
          {"operating_system", environment.operating_system}};
}

/// The place of `block` in `blocks`, where it is put if it is new.
std::size_t place_in(Json& blocks, const Json& block) {
  const auto found = std::find(blocks.begin(), blocks.end(), block);
  if (found != blocks.end()) return static_cast<std::size_t>(found - blocks.begin());
  blocks.push_back(block);
  return blocks.size() - 1;
}

}  // namespace

std::span<const std::string_view> export_columns() {
  static const std::vector<Column> columns = common_columns();
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> fixed;
    for (const Column& column : columns) {
      fixed.push_back(column.name);
      if (column.name == "sm_clock_hz") break;
    }
    return fixed;
  }();
  return names;
}

void export_csv(const RunStore& store, std::span<const std::int64_t> runs, std::ostream& out) {
  const ExportSource source{&store, {runs.begin(), runs.end()}};
  export_csv({&source, 1}, out);
}

void export_csv(std::span<const ExportSource> sources, std::ostream& out) {
  std::vector<Selection> selections;
  for (const ExportSource& source : sources) selections.push_back(select(*source.store, source.runs));
  const std::vector<Column> columns = columns_for(selections);
  std::set<std::string> extra;
  for (const Selection& selection : selections) {
    for_each_row(selection, [&](const Row& row) {
      for (const MetricValue& metric : row.kernel.metrics) {
        if (!is_column(columns, metric.name)) extra.insert(metric.name);
      }
    });
  }

  std::vector<std::string> fields;
  const auto write_line = [&] { out << fmt::format("{}\n", fmt::join(fields, ",")); };
  for (const Column& column : columns) fields.emplace_back(column.name);
  for (const std::string& name : extra) fields.push_back(csv_field(name));
  write_line();
  for (const Selection& selection : selections) {
    for_each_row(selection, [&](const Row& row) {
      fields.clear();
      for (const Column& column : columns) fields.push_back(csv_field(value_of(column, row)));
      for (const std::string& name : extra) fields.push_back(csv_field(number(row.kernel.metric(name))));
      write_line();
    });
  }
}

void export_json(const RunStore& store, std::span<const std::int64_t> runs, std::ostream& out) {
  const Selection selection = select(store, runs);
  const std::vector<Column> columns = columns_for({&selection, 1});
  Json document{
      {"schema_version", 1},      {"created_at", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
      {"devices", Json::array()}, {"environments", Json::array()},
      {"runs", Json::array()},    {"points", Json::array()}};
  for (const RunSummary& run : selection.runs) {
    place_in(document["devices"], device_block(run));
    const std::size_t environment = place_in(document["environments"], environment_block(run.environment));
    document["runs"].push_back({{"run", run.id},
                                {"uid", run.uid},
                                {"device_uuid", run.device_uuid},
                                {"environment", environment},
                                {"provenance", to_string(run.provenance)},
                                {"preset", run.preset},
                                {"argv", run.argv},
                                {"state", to_string(run.state)},
                                {"started_at", run.started_at},
                                {"finished_at", run.finished_at.empty() ? Json() : Json(run.finished_at)},
                                {"planned_points", run.planned_points},
                                {"points", run.points},
                                {"ok_points", run.ok_points}});
  }
  for_each_row(selection, [&](const Row& row) {
    Json point = Json::object();
    for (const Column& column : columns) point[column.name] = json_value(value_of(column, row));
    Json& metrics = point["metrics"] = Json::object();
    for (const MetricValue& metric : row.kernel.metrics) {
      metrics[metric.name] = {{"value", json_value(Cell(metric.value))},
                              {"unit", metric.unit},
                              {"provenance", to_string(metric.provenance)}};
    }
    point["samples_ns"] = row.kernel.samples_ns;
    document["points"].push_back(std::move(point));
  });
  out << document.dump(1) << '\n';
}

}  // namespace attnscope
