// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "storage/exchange/export_rows.h"

namespace attnscope {

using namespace exchange;  // NOLINT(google-build-using-namespace): this file is part of it

void export_csv(const RunStore& store, std::span<const std::int64_t> runs, std::ostream& out) {
  const ExportSource source{&store, {runs.begin(), runs.end()}};
  export_csv({&source, 1}, out);
}

ExportCount export_csv(std::span<const ExportSource> sources, std::ostream& out) {
  ExportCount count;
  std::vector<Selection> selections;
  for (const ExportSource& source : sources) {
    selections.push_back(select(*source.store, source.runs));
    if (source.points) keep_points(selections.back(), *source.points);
    count.points += selections.back().points.size();
  }
  std::vector<Column> columns = columns_for(selections);
  std::ranges::move(round_columns(), std::back_inserter(columns));
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
  for (const Column& column : columns) fields.push_back(csv_field(column.name));
  for (const std::string& name : extra) fields.push_back(csv_field(name));
  write_line();
  for (const Selection& selection : selections) {
    for_each_row_and_round(selection, [&](const Row& row) {
      fields.clear();
      for (const Column& column : columns) fields.push_back(csv_field(column.cell(row)));
      for (const std::string& name : extra) fields.push_back(csv_field(number_cell(row.kernel.metric(name))));
      write_line();
      ++count.rows;
    });
  }
  return count;
}

}  // namespace attnscope
