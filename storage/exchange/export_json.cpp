// SPDX-License-Identifier: Apache-2.0
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "storage/exchange/column_names.h"
#include "storage/exchange/export.h"
#include "storage/exchange/export_rows.h"

namespace attnscope {
namespace {

using namespace exchange;  // NOLINT(google-build-using-namespace): this file is part of it
using OrderedJson = nlohmann::ordered_json;

OrderedJson device_block(const RunSummary& run) {
  const DeviceLimits& limits = run.limits;
  OrderedJson block{{"uuid", run.device_uuid},
                    {"name", limits.name},
                    {"simulated", run.simulated},
                    {"compute_capability", fmt::format("{}.{}", limits.compute_major, limits.compute_minor)}};
  for_each_limit(limits, [&](const char* name, auto value) {
    if constexpr (std::is_integral_v<decltype(value)>) {
      block[name] = value;
    } else {
      block[name] = json_value(Cell(value));
    }
  });
  return block;
}

OrderedJson environment_block(const Environment& environment) {
  return {{"app_version", environment.app_version},          {"driver_version", environment.driver_version},
          {"cuda_driver_api", environment.cuda_driver_api},  {"nvrtc_version", environment.nvrtc_version},
          {"cupti_version", environment.cupti_version},      {"nvml_version", environment.nvml_version},
          {"operating_system", environment.operating_system}};
}

std::size_t find_or_append(OrderedJson& blocks, const OrderedJson& block) {
  const auto found = std::find(blocks.begin(), blocks.end(), block);
  if (found != blocks.end()) return static_cast<std::size_t>(found - blocks.begin());
  blocks.push_back(block);
  return blocks.size() - 1;
}

OrderedJson metrics_block(const KernelRecord& kernel) {
  OrderedJson metrics = OrderedJson::object();
  for (const MetricValue& metric : kernel.metrics) {
    metrics[metric.name] = {
        {"value", json_value(Cell(metric.value))}, {"unit", metric.unit}, {"provenance", to_string(metric.provenance)}};
  }
  return metrics;
}

OrderedJson rounds_block(const PointRecord& record, std::string_view kernel) {
  OrderedJson rounds = OrderedJson::array();
  for (const RoundRecord& round : record.rounds) {
    const auto found = std::ranges::find(round.kernels, kernel, &KernelRecord::kernel);
    if (found == round.kernels.end()) continue;
    OrderedJson block{{"round", round.round}, {"metrics", metrics_block(*found)}, {"samples_ns", found->samples_ns}};
    if (round.clocks) {
      block["sm_clock_hz"] = json_value(Cell(round.clocks->sm_clock_hz));
      block["throttled"] = round.clocks->throttled;
    }
    rounds.push_back(std::move(block));
  }
  return rounds;
}

OrderedJson ceilings_block(const StoredCeilings& set) {
  OrderedJson rows = OrderedJson::array();
  const auto optional = [](const std::optional<double>& value) {
    return value ? json_value(Cell(*value)) : OrderedJson();
  };
  for (const Ceiling& each : set.ceilings) {
    rows.push_back({{"ceiling", each.name},
                    {"argument", json_value(Cell(each.argument))},
                    {"value", json_value(Cell(each.value))},
                    {"q1", optional(each.q1)},
                    {"q3", optional(each.q3)},
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

}  // namespace

void export_json(const RunStore& store, std::span<const std::int64_t> runs, std::ostream& out) {
  export_json({.store = &store, .runs = {runs.begin(), runs.end()}}, out);
}

void export_json(const ExportSource& source, std::ostream& out) {
  Selection selection = select(*source.store, source.runs);
  if (source.points) keep_points(selection, *source.points);
  const std::vector<Column> columns = columns_for({&selection, 1});
  OrderedJson document{{"format", export_format}, {"version", json_version}};
  document["created_at"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  for (const char* list : {"devices", "environments", "runs", "points"}) document[list] = OrderedJson::array();
  for (const RunSummary& run : selection.runs) {
    find_or_append(document["devices"], device_block(run));
    const std::size_t environment = find_or_append(document["environments"], environment_block(run.environment));
    document["runs"].push_back({{"run", run.id},
                                {"uid", run.uid},
                                {"device_uuid", run.device_uuid},
                                {"environment", environment},
                                {"provenance", to_string(run.provenance)},
                                {"preset", run.preset},
                                {"argv", run.argv},
                                {"state", to_string(run.state)},
                                {"started_at", run.started_at},
                                {"finished_at", run.finished_at.empty() ? OrderedJson() : OrderedJson(run.finished_at)},
                                {"planned_points", run.planned_points},
                                {"points", run.points},
                                {"ok_points", run.ok_points}});
    if (run.rounds > 1) document["runs"].back()["rounds"] = run.rounds;
    if (!run.simulation_reason.empty()) document["runs"].back()["simulated_because"] = run.simulation_reason;
    if (!run.l2_source.empty()) document["runs"].back()["l2_from"] = run.l2_source;
    if (!run.rates_source.empty()) document["runs"].back()["rates_from"] = run.rates_source;
  }
  for_each_row(selection, [&](const Row& row) {
    OrderedJson point = OrderedJson::object();
    for (const Column& column : columns) point[column.name] = json_value(column.cell(row));
    point["metrics"] = metrics_block(row.kernel);
    point["samples_ns"] = row.kernel.samples_ns;
    if (!row.record().rounds.empty()) point["rounds"] = rounds_block(row.record(), row.kernel.kernel);
    document["points"].push_back(std::move(point));
  });
  if (source.runs.empty()) {
    const std::vector<StoredCeilings> sets = source.store->ceilings();
    if (!sets.empty()) document["ceilings"] = OrderedJson::array();
    for (const StoredCeilings& set : sets) document["ceilings"].push_back(ceilings_block(set));
  }
  out << document.dump(1, ' ', false, OrderedJson::error_handler_t::replace) << '\n';
}

}  // namespace attnscope
