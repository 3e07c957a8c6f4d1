// SPDX-License-Identifier: Apache-2.0
#include "app/point_filter.h"

#include "app/command.h"
#include "messages/command.h"
#include "profiler/analysis/point_query.h"

namespace attnscope {

CLI::Option* add_filter_option(CLI::App& command, std::string& words) {
  return command.add_option("--filter", words, "Only points that fit these words, as in the window: \"d:128 N>=4096\"")
      ->type_name("WORDS");
}

std::vector<analysis::Row> rows_that_fit(const std::string& words, const analysis::PointTable& table) {
  const auto query = analysis::PointQuery::parse(words, table);
  if (!query) throw CommandError(ExitCode::usage, query.error());
  std::vector<analysis::Row> rows = query->rows(table);
  if (rows.empty() && !words.empty()) throw CommandError(ExitCode::error, say::command::none_fits{.filter = words});
  return rows;
}

}  // namespace attnscope
