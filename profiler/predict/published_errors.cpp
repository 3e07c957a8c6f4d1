// SPDX-License-Identifier: Apache-2.0
#include "profiler/predict/published_errors.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <tuple>

#include "kernels/model/device_rates.h"
#include "profiler/predict/published_rates.h"
#include "profiler/stats/verdicts.h"

namespace attnscope::analysis {
namespace {

std::vector<std::string_view> split(std::string_view text, char at) {
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

/// Errors of predicted times against published rates, by algorithm, pass and half; nullptr without published
/// rates of the GPU.
const PublishedErrors* errors_of_published_rates(const DeviceLimits* gpu) {
  static const std::map<const DeviceLimits*, PublishedErrors> tables = [] {
    std::map<const DeviceLimits*, PublishedErrors> by_gpu;
    std::map<std::tuple<const DeviceLimits*, std::string, Pass, Half>, std::vector<PublishedRate>> groups;
    for (const PublishedRate& rate : published_rates()) {
      groups[{rate.gpu, rate.spec.algorithm, rate.spec.problem.pass, rate.half}].push_back(rate);
    }
    for (const auto& [key, rates] : groups) {
      const auto& [of, algorithm, pass, half] = key;
      const RateErrors errors = rate_errors(rates).back();
      PublishedErrors& table = by_gpu[of];
      table.device = of->name;
      table.rows.push_back({algorithm, std::string(to_string(pass)), errors.half, "time", errors.rates, errors.rates,
                            errors.median, errors.p95});
      for (const PublishedRate& rate : rates) {
        const std::int64_t n_q = rate.spec.problem.n_q;
        table.min_rate_n_q = table.min_rate_n_q == 0 ? n_q : std::min(table.min_rate_n_q, n_q);
      }
    }
    return by_gpu;
  }();
  const auto found = tables.find(gpu);
  return found == tables.end() ? nullptr : &found->second;
}

}  // namespace

const ErrorRow* PublishedErrors::find(std::string_view algorithm, Pass pass, std::string_view quantity) const {
  for (const Half half : {Half::held_out, Half::fitted}) {
    const auto row = std::ranges::find_if(rows, [&](const ErrorRow& each) {
      return each.algorithm == algorithm && each.pass == to_string(pass) && each.quantity == quantity &&
             each.half == to_string(half);
    });
    if (row != rows.end()) return &*row;
  }
  return nullptr;
}

PublishedErrors parse_published_errors(std::string_view csv) {
  PublishedErrors table;
  for (std::string_view line : split(csv, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::vector<std::string_view> fields = split(line, ',');
    if (fields.size() != 9) continue;
    ErrorRow row{std::string(fields[0]), std::string(fields[1]), std::string(fields[2]), std::string(fields[3])};
    if (!read_number(fields[4], row.points) || !read_number(fields[5], row.problems) ||
        !read_number(fields[6], row.median) || !read_number(fields[7], row.p95)) {
      continue;
    }
    table.rows.push_back(std::move(row));
    table.device = fields[8];
  }
  return table;
}

const PublishedErrors* validated_errors(const DeviceLimits& limits) {
  if (find_gpu(limits.name) == nullptr) return nullptr;  // hypothetical
  const std::string_view gpu = device_rates(limits).validated_on;
  static const std::array tables{parse_published_errors(h200_errors_text()),
                                 parse_published_errors(h100_errors_text())};
  const auto* found =
      std::ranges::find_if(tables, [&](const PublishedErrors& table) { return same_gpu(table.device, gpu); });
  return found == tables.end() ? errors_of_published_rates(find_gpu(gpu)) : found;
}

std::optional<double> published_time_error(const PublishedErrors& table, std::string_view algorithm, Pass pass) {
  constexpr std::size_t enough_points = 20;  // fewer points do not determine the 95th percentile
  std::optional<double> p95_of_few;
  double of_all = 0;
  for (const ErrorRow& error : table.rows) {
    if (error.quantity != "time" || error.half != "held out") continue;
    if (error.algorithm == "all") of_all = std::max(of_all, error.p95);
    if (error.algorithm != algorithm || error.pass != to_string(pass)) continue;
    if (error.points >= enough_points) return error.p95;
    p95_of_few = error.p95;
  }
  if (!p95_of_few) return std::nullopt;
  return std::max({*p95_of_few, of_all, assumed_spread});
}

std::optional<double> published_tile_error(const PublishedErrors& table, std::string_view algorithm, Pass pass) {
  std::optional<double> found;
  for (const ErrorRow& error : table.rows) {
    if (error.quantity != "tile_ratio" || error.algorithm != algorithm || error.pass != to_string(pass)) continue;
    found = std::max(found.value_or(0), error.p95);
  }
  return found;
}

std::optional<double> published_time_error(const SimulatedPoint& point) {
  const AttentionProblem& problem = point.spec.problem;
  if (point.errors == nullptr || problem.n_q < point.errors->min_rate_n_q) return std::nullopt;
  return published_time_error(*point.errors, error_group(point.spec.algorithm, problem.dtype), problem.pass);
}

std::optional<double> published_ratio_error(const SimulatedPoint& base, const SimulatedPoint& other, bool one_device) {
  const AttentionProblem& problem = base.spec.problem;
  const bool tiles = one_device && base.spec.algorithm == other.spec.algorithm && problem == other.spec.problem &&
                     base.spec.cache == other.spec.cache;
  if (tiles && base.errors != nullptr) {
    const auto error =
        published_tile_error(*base.errors, error_group(base.spec.algorithm, problem.dtype), problem.pass);
    if (error || base.errors->min_rate_n_q > 0) return error;
  }
  const std::optional<double> of_base = published_time_error(base);
  const std::optional<double> of_other = published_time_error(other);
  if (!of_base || !of_other) return std::nullopt;
  const double base_log = std::log1p(*of_base);
  const double other_log = std::log1p(*of_other);
  return std::expm1(std::sqrt(base_log * base_log + other_log * other_log));  // std::hypot would require glibc 2.35
}

}  // namespace attnscope::analysis
