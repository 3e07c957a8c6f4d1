// SPDX-License-Identifier: Apache-2.0
#include "app/ceiling_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/analysis/peaks.h"
#include "profiler/units/spelling.h"

namespace attnscope {
namespace {

/// Bytes of ceilings are room, not traffic.
std::string in_unit(double value, std::string_view unit) {
  return value_text(value, unit == "byte" ? "capacity" : unit);
}

/// "±0.4%"
std::string spread_of(const Ceiling& ceiling) {
  const auto spread = relative_spread(ceiling);
  return spread ? "±" + text(Share(*spread)) : "";
}

void print_for_people(std::span<const Ceiling> ceilings, TableFormat format, std::ostream& out) {
  Table table{{{"ceiling"}, {"value", true}, {"spread", true}, {"SM clock", true}, {"provenance"}}, {}};
  const std::vector<CeilingLine> lines = ceiling_lines(ceilings);
  for (const CeilingLine& line : lines) {
    if (line.kind->curve) continue;
    table.rows.push_back({text(analysis::ceiling_label(*line.kind, line.ceiling.source)),
                          in_unit(line.ceiling.value, line.ceiling.unit), spread_of(line.ceiling),
                          line.clock_hz ? text(Hertz(*line.clock_hz)) : "",
                          std::string(to_string(line.ceiling.source))});
  }
  print(table, format, out);

  std::vector<const CeilingKind*> curves;
  for (const CeilingLine& line : lines) {
    if (line.kind->curve && std::ranges::find(curves, line.kind) == curves.end()) curves.push_back(line.kind);
  }
  if (curves.empty()) return;
  Table sizes{{{"data", true}}, {}};
  for (const CeilingKind* kind : curves) sizes.columns.push_back({std::string(kind->key), true});
  std::map<double, std::vector<std::string>> rows;
  for (const CeilingLine& line : lines) {
    if (!line.kind->curve) continue;
    std::vector<std::string>& row = rows[line.ceiling.argument];
    row.resize(curves.size());
    row[static_cast<std::size_t>(std::ranges::find(curves, line.kind) - curves.begin())] =
        in_unit(line.ceiling.value, line.ceiling.unit);
  }
  for (auto& [bytes, row] : rows) {
    row.insert(row.begin(), text(Capacity(bytes)));
    sizes.rows.push_back(std::move(row));
  }
  out << '\n';
  print(sizes, format, out);
}

std::vector<TableColumn> raw_columns() {
  return {{"ceiling"}, {"argument", true}, {"value", true}, {"q1", true}, {"q3", true}, {"unit"}, {"provenance"}};
}

std::vector<std::string> raw_row(const Ceiling& each) {
  const auto number = [](std::optional<double> value) { return value ? fmt::format("{}", *value) : std::string(); };
  return {each.name,
          number(each.argument),
          number(each.value),
          number(each.q1),
          number(each.q3),
          each.unit,
          std::string(to_string(each.source))};
}

}  // namespace

void print_ceilings(std::span<const Ceiling> ceilings, TableFormat format, std::ostream& out) {
  if (format == TableFormat::text || format == TableFormat::markdown) {
    print_for_people(ceilings, format, out);
    return;
  }
  Table table{raw_columns(), {}};
  for (const Ceiling& each : ceilings) table.rows.push_back(raw_row(each));
  print(table, format, out);
}

void print_ceilings_of(std::span<const CeilingsOf> sets, TableFormat format, std::ostream& out) {
  Table table{{{"device_uuid"}, {"measured_at"}}, {}};
  std::ranges::move(raw_columns(), std::back_inserter(table.columns));
  for (const CeilingsOf& set : sets) {
    for (const Ceiling& each : set.ceilings) {
      std::vector<std::string>& row = table.rows.emplace_back(std::vector{set.device_uuid, set.measured_at});
      std::ranges::move(raw_row(each), std::back_inserter(row));
    }
  }
  print(table, format, out);
}

}  // namespace attnscope
