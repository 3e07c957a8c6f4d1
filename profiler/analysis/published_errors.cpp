// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/published_errors.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "messages/prediction.h"
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

std::optional<PublishedError> error_of(std::string_view line) {
  const std::vector<std::string_view> fields = cut(line, ',');
  if (fields.size() != error_fields) return std::nullopt;
  PublishedError row;
  row.algorithm = fields[algorithm_field];
  row.pass = fields[pass_field];
  row.half = fields[half_field];
  row.quantity = fields[quantity_field];
  row.devices = fields[devices_field];
  const bool whole = read_number(fields[points_field], row.points) &&
                     read_number(fields[problems_field], row.problems) &&
                     read_number(fields[median_field], row.median) && read_number(fields[p95_field], row.p95) &&
                     read_number(fields[worst_field], row.worst_factor) && read_number(fields[ratio_field], row.ratio);
  return whole ? std::optional(row) : std::nullopt;
}

}  // namespace

std::vector<PublishedError> parse_published_errors(std::string_view csv) {
  std::vector<PublishedError> rows;
  for (std::string_view line : cut(csv, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (std::optional<PublishedError> row = error_of(line)) rows.push_back(*std::move(row));
  }
  return rows;
}

Message title_of_quantity(std::string_view quantity) {
  if (quantity == "time") return say::prediction::time{};
  if (quantity == "tile_ratio") return say::prediction::tile_ratio{};
  return say::prediction::dram{};
}

std::span<const PublishedError> published_errors() {
  static const std::vector<PublishedError> rows = parse_published_errors(published_errors_text());
  return rows;
}

double published_time_error(std::string_view algorithm, Pass pass) {
  constexpr std::size_t enough_points = 20;  // of fewer the 95th of 100 is not known
  double of_few = 0;
  double of_all = 0;
  for (const PublishedError& error : published_errors()) {
    if (error.quantity != "time" || error.half != "held out") continue;
    if (error.algorithm == "all") of_all = std::max(of_all, error.p95);
    if (error.algorithm != algorithm || error.pass != to_string(pass)) continue;
    if (error.points >= enough_points) return error.p95;
    of_few = error.p95;
  }
  return std::max({of_few, of_all, unknown_spread_floor});
}

double published_tile_error(std::string_view algorithm, Pass pass) {
  double own = 0;
  double worst = 0;
  for (const PublishedError& error : published_errors()) {
    if (error.quantity != "tile_ratio") continue;
    worst = std::max(worst, error.p95);
    if (error.algorithm == algorithm && error.pass == to_string(pass)) own = std::max(own, error.p95);
  }
  return own > 0 ? own : worst;
}

double published_ratio_error(const PointSpec& base, const PointSpec& other, bool one_device) {
  const bool tiles =
      one_device && base.algorithm == other.algorithm && base.problem == other.problem && base.cache == other.cache;
  if (tiles) return published_tile_error(base.algorithm, base.problem.pass);
  const double of_base = std::log1p(published_time_error(base.algorithm, base.problem.pass));
  const double of_other = std::log1p(published_time_error(other.algorithm, other.problem.pass));
  return std::expm1(std::sqrt(of_base * of_base + of_other * of_other));
}

}  // namespace attnscope::analysis
