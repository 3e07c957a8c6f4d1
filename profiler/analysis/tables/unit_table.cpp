// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/tables/unit_table.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "messages/units.h"
#include "profiler/analysis/prediction_error.h"

namespace attnscope::analysis {

std::vector<UnitSpread> unit_spread(std::span<const UnitTime> times) {
  std::map<std::string, std::map<std::string, std::vector<double>>> by_point;
  for (const UnitTime& time : times) by_point[time.point][time.device_uuid].push_back(time.ns);
  std::map<std::string, std::vector<double>> ratios;
  for (const auto& [point, units] : by_point) {
    if (units.size() < 2) continue;
    std::vector<double> all;
    for (const auto& [unit, ns] : units) all.push_back(quantile(ns, 0.5));
    const double middle = quantile(all, 0.5);
    if (!(middle > 0)) continue;
    for (const auto& [unit, ns] : units) ratios[unit].push_back(quantile(ns, 0.5) / middle);
  }
  std::vector<UnitSpread> spread;
  spread.reserve(ratios.size());
  for (const auto& [unit, values] : ratios) {
    spread.push_back({.device_uuid = unit,
                      .points = values.size(),
                      .ratio = quantile(values, 0.5),
                      .q1 = quantile(values, 0.25),
                      .q3 = quantile(values, 0.75)});
  }
  return spread;
}

Table unit_table(std::vector<UnitSpread> spread) {
  TableOf<UnitSpread> table(std::move(spread));
  const auto factor = [](double value) { return Cell{.text = fmt::format("{:.4f}", value), .number = value}; };
  table.add({.key = "unit", .title = text(say::units::unit{})}, [](const UnitSpread& of) { return of.device_uuid; });
  table.add({.key = "points", .title = text(say::units::points{})},
            [](const UnitSpread& of) { return static_cast<double>(of.points); });
  Column& ratio = table.add({.key = "ratio", .title = text(say::units::ratio{}), .kind = ColumnKind::number},
                            [factor](const UnitSpread& of) { return factor(of.ratio); });
  ratio.help = text(say::units::ratio_help{});
  table.add({.key = "q1", .title = text(say::units::q1{}), .kind = ColumnKind::number},
            [factor](const UnitSpread& of) { return factor(of.q1); });
  table.add({.key = "q3", .title = text(say::units::q3{}), .kind = ColumnKind::number},
            [factor](const UnitSpread& of) { return factor(of.q3); });
  return std::move(table).take();
}

}  // namespace attnscope::analysis
