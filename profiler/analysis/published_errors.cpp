// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/published_errors.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "kernels/model/device_limits.h"
#include "messages/prediction.h"
#include "profiler/analysis/prediction_error.h"
#include "profiler/analysis/published_errors_text.h"
#include "profiler/analysis/verdicts.h"

namespace attnscope::analysis {
namespace {

enum ErrorField {
  algorithm_field,
  pass_field,
  half_field,
  quantity_field,
  problem_field,
  points_field,
  problems_field,
  median_field,
  p95_field,
  worst_field,
  ratio_field,
  spearman_field,
  chosen_field,
  devices_field,
  error_fields
};

std::vector<std::string_view> cut(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

std::optional<PublishedError> error_of(const std::vector<std::string_view>& fields) {
  PublishedError row;
  row.algorithm = fields[algorithm_field];
  row.pass = fields[pass_field];
  row.half = fields[half_field];
  row.quantity = fields[quantity_field];
  if (double ratio = 1; read_number(fields[ratio_field], ratio)) row.ratio = ratio;
  const bool whole = read_number(fields[points_field], row.points) &&
                     read_number(fields[problems_field], row.problems) &&
                     read_number(fields[median_field], row.median) && read_number(fields[p95_field], row.p95) &&
                     read_number(fields[worst_field], row.worst_factor);
  return whole ? std::optional(row) : std::nullopt;
}

std::optional<PublishedRanks> ranks_of(const std::vector<std::string_view>& fields) {
  PublishedRanks row;
  row.algorithm = fields[algorithm_field];
  row.pass = fields[pass_field];
  row.half = fields[half_field];
  row.problem = fields[problem_field];
  const bool whole = read_number(fields[points_field], row.tiles) &&
                     read_number(fields[spearman_field], row.spearman) &&
                     read_number(fields[chosen_field], row.chosen_over);
  return whole ? std::optional(row) : std::nullopt;
}

}  // namespace

const PublishedError* PublishedErrors::find(std::string_view algorithm, Pass pass, std::string_view quantity) const {
  for (const Half half : {Half::held_out, Half::fitted}) {
    const auto row = std::ranges::find_if(errors, [&](const PublishedError& each) {
      return each.algorithm == algorithm && each.pass == to_string(pass) && each.quantity == quantity &&
             each.half == to_string(half);
    });
    if (row != errors.end()) return &*row;
  }
  return nullptr;
}

PublishedErrors parse_published_errors(std::string_view csv) {
  PublishedErrors table;
  for (std::string_view line : cut(csv, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::vector<std::string_view> fields = cut(line, ',');
    if (fields.size() != error_fields) continue;
    if (std::optional<PublishedError> row = error_of(fields)) {
      table.errors.push_back(*std::move(row));
      table.device = fields[devices_field];
    } else if (std::optional<PublishedRanks> ranks = ranks_of(fields)) {
      table.ranks.push_back(*std::move(ranks));
    }
  }
  return table;
}

Message title_of_quantity(std::string_view quantity) {
  if (quantity == "time") return say::prediction::time{};
  if (quantity == "tile_ratio") return say::prediction::tile_ratio{};
  return say::prediction::dram{};
}

const PublishedErrors& published_errors(std::string_view gpu) {
  static const std::array tables{parse_published_errors(h200_errors_text()),
                                 parse_published_errors(h100_errors_text())};
  const auto* own =
      std::ranges::find_if(tables, [&](const PublishedErrors& table) { return same_gpu(table.device, gpu); });
  return own == tables.end() ? tables.front() : *own;
}

double published_time_error(const PublishedErrors& table, std::string_view algorithm, Pass pass) {
  constexpr std::size_t enough_points = 20;  // of fewer the 95th of 100 is not known
  double of_few = 0;
  double of_all = 0;
  for (const PublishedError& error : table.errors) {
    if (error.quantity != "time" || error.half != "held out") continue;
    if (error.algorithm == "all") of_all = std::max(of_all, error.p95);
    if (error.algorithm != algorithm || error.pass != to_string(pass)) continue;
    if (error.points >= enough_points) return error.p95;
    of_few = error.p95;
  }
  return std::max({of_few, of_all, unknown_spread_floor});
}

double published_tile_error(const PublishedErrors& table, std::string_view algorithm, Pass pass) {
  double own = 0;
  double worst = 0;
  for (const PublishedError& error : table.errors) {
    if (error.quantity != "tile_ratio") continue;
    worst = std::max(worst, error.p95);
    if (error.algorithm == algorithm && error.pass == to_string(pass)) own = std::max(own, error.p95);
  }
  return own > 0 ? own : worst;
}

double published_ratio_error(const SimulatedPoint& base, const SimulatedPoint& other, bool one_device) {
  const auto time_error = [](const SimulatedPoint& point) {
    return published_time_error(point.errors, judged_as(point.spec.algorithm, point.spec.problem.dtype),
                                point.spec.problem.pass);
  };
  const bool tiles = one_device && base.spec.algorithm == other.spec.algorithm &&
                     base.spec.problem == other.spec.problem && base.spec.cache == other.spec.cache;
  if (tiles) {
    return published_tile_error(base.errors, judged_as(base.spec.algorithm, base.spec.problem.dtype),
                                base.spec.problem.pass);
  }
  const double of_base = std::log1p(time_error(base));
  const double of_other = std::log1p(time_error(other));
  return std::expm1(std::sqrt(of_base * of_base + of_other * of_other));
}

}  // namespace attnscope::analysis
