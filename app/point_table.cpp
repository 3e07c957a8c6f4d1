// SPDX-License-Identifier: Apache-2.0
#include "app/point_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace attnscope {

std::vector<TableColumn> point_columns() {
  return {{"dtype"},     {"pass"},      {"mask"},    {"batch", true},   {"heads_q", true}, {"heads_kv", true},
          {"n_q", true}, {"n_k", true}, {"d", true}, {"dropout", true}, {"page", true},    {"deterministic"},
          {"br", true},  {"bc", true},  {"raster"},  {"splits", true},  {"warps", true},   {"stages", true}};
}

std::vector<std::string> point_fields(const PointSpec& point, bool people) {
  const AttentionProblem& p = point.problem;
  return {std::string(to_string(p.dtype)),
          std::string(to_string(p.pass)),
          people ? mask_title(p.mask) : to_string(p.mask),
          fmt::to_string(p.batch),
          fmt::to_string(p.heads_q),
          fmt::to_string(p.heads_kv),
          fmt::to_string(p.n_q),
          fmt::to_string(p.n_k),
          fmt::to_string(p.d),
          fmt::format("{}", p.dropout),
          fmt::to_string(p.page),
          p.deterministic ? "yes" : "no",
          fmt::to_string(point.tile.br),
          fmt::to_string(point.tile.bc),
          std::string(to_string(point.tile.raster)),
          fmt::to_string(point.tile.splits),
          fmt::to_string(point.tile.warps),
          fmt::to_string(point.tile.stages)};
}

Table without_defaults(const Table& table) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> defaults{{{"pass", "fwd"},
                                                                                   {"dropout", "0"},
                                                                                   {"page", "0"},
                                                                                   {"deterministic", "no"},
                                                                                   {"splits", "0"},
                                                                                   {"warps", "0"},
                                                                                   {"stages", "0"}}};
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const auto* known =
        std::ranges::find(defaults, table.columns[i].name, &std::pair<std::string_view, std::string_view>::first);
    const bool silent = known != defaults.end() &&
                        std::ranges::all_of(table.rows, [&](const auto& row) { return row[i] == known->second; });
    if (!silent) kept.push_back(i);
  }
  Table result;
  for (const std::size_t i : kept) result.columns.push_back(table.columns[i]);
  for (const auto& row : table.rows) {
    auto& fields = result.rows.emplace_back();
    for (const std::size_t i : kept) fields.push_back(row[i]);
  }
  return result;
}

}  // namespace attnscope
