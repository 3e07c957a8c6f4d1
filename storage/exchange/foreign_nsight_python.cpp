// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "profiler/metrics/metrics.h"
#include "storage/exchange/foreign_tables.h"
#include "storage/exchange/import_values.h"

namespace attnscope::exchange {
namespace {

/// Columns about the run, the spread and the machine; all others are the configuration.
constexpr std::array<std::string_view, 18> other_columns{
    "AvgValue",          "StdDev", "MinValue", "MaxValue", "NumRuns", "CI95_Lower", "CI95_Upper",   "RelativeStdDevPct",
    "StableMeasurement", "Metric", "Unit",     "Kernel",   "GPU",     "Host",       "ComputeClock", "MemoryClock",
    "Normalized",        ""};

}  // namespace

ForeignTable read_nsight_python(std::string_view text, const ImportRequest& request) {
  const ForeignTable source = read_csv(text);
  const std::vector<std::string>& names = source.header.fields;
  const auto text_of = [&](const CsvLine& line, std::string_view name) {
    const auto found = static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
    return found < names.size() ? line.fields[found] : std::string();
  };
  ForeignTable table{.header = {.number = source.header.number, .fields = {}}, .rows = {}};
  std::vector<std::size_t> configuration;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::ranges::find(other_columns, names[i]) == other_columns.end()) configuration.push_back(i);
  }
  for (const std::size_t i : configuration) table.header.fields.push_back(names[i]);
  for (const char* name : {"device", "kernel", "metric", "value", "unit", "q1", "q3", "samples"}) {
    table.header.fields.emplace_back(name);
  }
  std::size_t means = 0;
  for (const CsvLine& line : source.rows) {
    require_field_count(source.header, line);
    const std::string baseline = text_of(line, "Normalized");
    if (!is_missing(baseline) && baseline != "False") {
      fail(line_place(line.number),
           make_message("the values are ratios to {} (write the table without normalize_against)", baseline));
    }
    CsvLine& row = table.rows.emplace_back(CsvLine{.number = line.number, .fields = {}});
    for (const std::size_t i : configuration) row.fields.push_back(line.fields[i]);
    row.fields.push_back(text_of(line, "GPU"));
    row.fields.push_back(text_of(line, "Kernel"));
    std::string metric = text_of(line, "Metric");
    const bool is_time = metric == "gpu__time_duration.sum";
    if (is_time) metric = metric_key::time_median_ns;
    row.fields.push_back(metric);
    row.fields.push_back(text_of(line, "AvgValue"));
    row.fields.push_back(text_of(line, "Unit"));
    const auto mean = number(text_of(line, "AvgValue"));
    const auto deviation = number(text_of(line, "StdDev"));
    const bool spread = is_time && mean && deviation && *deviation > 0 && *deviation < *mean;
    constexpr double quartile = 0.67448975;  // third quartile of the standard normal distribution
    row.fields.push_back(spread ? fmt::format("{}", *mean - quartile * *deviation) : std::string());
    row.fields.push_back(spread ? fmt::format("{}", *mean + quartile * *deviation) : std::string());
    row.fields.push_back(is_time ? text_of(line, "NumRuns") : std::string());
    means += is_time ? 1 : 0;
    const std::string clock = is_time ? text_of(line, "ComputeClock") : "";
    if (is_missing(clock)) continue;
    CsvLine of_clock = row;
    const auto values = of_clock.fields.end() - 6;  // metric, value, unit, q1, q3, samples
    std::ranges::move(std::array<std::string, 6>{"sm_clock_hz", clock, "MHz", "", "", ""}, values);
    table.rows.push_back(std::move(of_clock));
  }
  if (means > 0) {
    table.notes.emplace_back("times are means; their quartiles follow from StdDev, assuming a normal distribution");
  }
  name_algorithm(table, "Annotation", request);
  return table;
}

}  // namespace attnscope::exchange
