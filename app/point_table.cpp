// SPDX-License-Identifier: Apache-2.0
#include "app/point_table.h"

#include <fmt/format.h>

namespace attnscope {

std::vector<TableColumn> point_columns() {
  return {{"dtype"},     {"mask"},    {"batch", true}, {"heads_q", true}, {"heads_kv", true}, {"n_q", true},
          {"n_k", true}, {"d", true}, {"br", true},    {"bc", true},      {"raster"}};
}

std::vector<std::string> point_fields(const PointSpec& point) {
  const AttentionProblem& p = point.problem;
  return {std::string(to_string(p.dtype)),
          std::string(to_string(p.mask)),
          fmt::to_string(p.batch),
          fmt::to_string(p.heads_q),
          fmt::to_string(p.heads_kv),
          fmt::to_string(p.n_q),
          fmt::to_string(p.n_k),
          fmt::to_string(p.d),
          fmt::to_string(point.tile.br),
          fmt::to_string(point.tile.bc),
          std::string(to_string(point.tile.raster))};
}

}  // namespace attnscope
