// SPDX-License-Identifier: Apache-2.0
#include "profiler/predict/prediction_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "messages/prediction.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"
#include "profiler/plan/text.h"
#include "profiler/units/number_format.h"

namespace attnscope::analysis {

double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  return attnscope::quantile(std::span<const double>(values), share);
}
namespace {

PointSpec problem_only(const PointSpec& spec) {
  PointSpec problem = spec;
  problem.algorithm.clear();
  problem.tile = {};
  problem.knobs = {};
  return problem;
}

struct ValuePair {
  double measured = 0;
  double predicted = 0;
  [[nodiscard]] double error() const { return std::abs(predicted / measured - 1); }
};

std::optional<ValuePair> pair_of(std::string_view metric, const PredictedPoint& point, double least) {
  const auto measured = evaluate(metric, *point.measured);
  const auto predicted = evaluate(metric, *point.predicted);
  if (!measured || !predicted || measured->value <= least || predicted->value <= 0) return {};
  return ValuePair{measured->value, predicted->value};
}

struct PointErrors {
  const PredictedPoint* point = nullptr;
  std::string problem;  ///< device, algorithm and problem; equal for the points of a map
  std::string tile;     ///< identity of the whole point
  std::optional<ValuePair> dram;
  std::optional<ValuePair> time;
};
using Points = std::vector<const PointErrors*>;
using Problems = std::map<std::string_view, Points>;

PointErrors evaluate_point(const PredictedPoint& point) {
  const PointSpec& spec = point.measured->spec;
  return {.point = &point,
          .problem = point.device + " " + spec.algorithm + " " + canonical_text(problem_only(spec)),
          .tile = canonical_text(spec),
          .dram = pair_of(metric_key::dram_settled_bytes, point, least_dram_bytes),
          .time = pair_of(metric_key::time_median_ns, point, 0)};
}

Problems by_problem(const Points& points, std::optional<ValuePair> PointErrors::*value) {
  Problems problems;
  for (const PointErrors* point : points) {
    if (point->*value) problems[point->problem].push_back(point);
  }
  return problems;
}

std::optional<ErrorRow> errors_of(const Points& points, std::optional<ValuePair> PointErrors::*value) {
  ErrorRow row;
  std::vector<double> medians;
  for (const auto& [problem, of_problem] : by_problem(points, value)) {
    std::vector<double> errors;
    for (const PointErrors* point : of_problem) errors.push_back((point->*value)->error());
    row.points += errors.size();
    medians.push_back(quantile(std::move(errors), 0.5));
  }
  if (medians.empty()) return {};
  row.problems = medians.size();
  row.median = quantile(medians, 0.5);
  row.p95 = quantile(std::move(medians), 0.95);
  return row;
}

/// Returns each tile of a problem once. Takes the run with the most tiles and further runs that share no tile with it,
/// so that pairs measured in two runs are not counted twice.
Points distinct_tiles(const Points& points) {
  using Tiles = std::map<std::string_view, const PointErrors*>;
  std::map<std::string_view, Tiles> runs;
  for (const PointErrors* point : points) runs[point->point->run].emplace(point->tile, point);
  std::vector<const Tiles*> by_size;
  by_size.reserve(runs.size());
  for (const auto& [run, tiles] : runs) by_size.push_back(&tiles);
  std::ranges::stable_sort(by_size, std::ranges::greater(), [](const Tiles* tiles) { return tiles->size(); });
  Tiles taken;
  for (const Tiles* tiles : by_size) {
    if (std::ranges::any_of(*tiles, [&](const auto& each) { return taken.contains(each.first); })) continue;
    taken.insert(tiles->begin(), tiles->end());
  }
  Points distinct;
  for (const auto& [tile, point] : taken) distinct.push_back(point);
  return distinct;
}

std::optional<ErrorRow> tile_ratio_errors(const Points& points) {
  ErrorRow row;
  std::vector<double> medians;
  for (const auto& [problem, of_problem] : by_problem(points, &PointErrors::time)) {
    const Points tiles = distinct_tiles(of_problem);
    if (tiles.size() < least_tiles) continue;
    std::vector<double> errors;
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      for (std::size_t k = i + 1; k < tiles.size(); ++k) {
        const ValuePair& one = *tiles[i]->time;
        const ValuePair& other = *tiles[k]->time;
        const double off = one.predicted / other.predicted * other.measured / one.measured;
        errors.push_back(std::max(off, 1 / off) - 1);
      }
    }
    row.points += errors.size();
    row.p95 = std::max(row.p95, quantile(errors, 0.95));
    medians.push_back(quantile(std::move(errors), 0.5));
  }
  if (medians.empty()) return {};
  row.problems = medians.size();
  row.median = quantile(std::move(medians), 0.5);
  return row;
}

std::optional<ErrorRow> errors_of(const Points& points, std::string_view quantity) {
  if (quantity == "tile_ratio") return tile_ratio_errors(points);
  return errors_of(points, quantity == "time" ? &PointErrors::time : &PointErrors::dram);
}

Message title_of_quantity(std::string_view quantity) {
  if (quantity == "time") return msg::prediction::time{};
  if (quantity == "tile_ratio") return msg::prediction::tile_ratio{};
  return msg::prediction::dram{};
}

}  // namespace

std::string_view to_string(Half half) {
  return half == Half::fitted ? "fitted" : "held out";
}

Half data_half_of(const PointSpec& spec) {
  // The problem's identity, which new fields do not change.
  const std::uint64_t hash = fnv1a(canonical_text(problem_only(spec)));
  return ((hash >> 32U) & 1U) != 0 ? Half::held_out : Half::fitted;
}

std::string error_group(std::string_view algorithm, DType dtype) {
  return bytes_per_element(dtype) == 1 ? fmt::format("{} {}", algorithm, to_string(dtype)) : std::string(algorithm);
}

std::vector<ErrorRow> prediction_errors(std::span<const PredictedPoint> points) {
  std::vector<PointErrors> evaluated;
  evaluated.reserve(points.size());
  for (const PredictedPoint& point : points) evaluated.push_back(evaluate_point(point));
  std::map<std::tuple<std::string, Pass, Half>, Points> groups;
  std::map<std::optional<Half>, Points> sums;
  for (const PointErrors& point : evaluated) {
    const PointSpec& spec = point.point->measured->spec;
    const Half half = data_half_of(spec);
    groups[{error_group(spec.algorithm, spec.problem.dtype), spec.problem.pass, half}].push_back(&point);
    sums[half].push_back(&point);
    sums[std::nullopt].push_back(&point);
  }
  std::vector<ErrorRow> rows;
  for (const char* quantity : {"dram_bytes", "time", "tile_ratio"}) {
    const auto add = [&](std::string_view algorithm, std::string_view pass, std::string_view half, const Points& of) {
      std::optional<ErrorRow> row = errors_of(of, quantity);
      if (!row) return;
      row->algorithm = algorithm;
      row->pass = pass;
      row->half = half;
      row->quantity = quantity;
      rows.push_back(*std::move(row));
    };
    for (const auto& [key, of] : groups) {
      add(std::get<0>(key), to_string(std::get<Pass>(key)), to_string(std::get<Half>(key)), of);
    }
    for (const auto& [half, of] : sums) add("all", "all", half ? to_string(*half) : "both", of);
  }
  return rows;
}

Table error_table(std::vector<ErrorRow> rows, bool people) {
  TableBuilder<ErrorRow> table(std::move(rows));
  const auto error = [people](double value) {
    return Cell{.text = people ? text(Share(value)) : fmt::format("{:.6g}", value), .number = value};
  };
  table.add({.key = "algorithm", .title = text(msg::prediction::algorithm{})},
            [](const ErrorRow& row) { return row.algorithm; });
  table.add({.key = "pass", .title = text(msg::prediction::pass{})}, [](const ErrorRow& row) { return row.pass; });
  table.add({.key = "half", .title = text(msg::prediction::split{})}, [](const ErrorRow& row) { return row.half; });
  table.add({.key = "quantity", .title = text(msg::prediction::quantity{})},
            [people](const ErrorRow& row) { return people ? text(title_of_quantity(row.quantity)) : row.quantity; });
  table.add({.key = "points", .title = text(msg::prediction::points{})},
            [](const ErrorRow& row) { return static_cast<double>(row.points); });
  table.add({.key = "problems", .title = text(msg::prediction::problems{})},
            [](const ErrorRow& row) { return static_cast<double>(row.problems); });
  table.add({.key = "median_error", .title = text(msg::prediction::median{}), .kind = ColumnKind::number},
            [error](const ErrorRow& row) { return error(row.median); });
  table.add({.key = "p95_error", .title = text(msg::prediction::p95{}), .kind = ColumnKind::number},
            [error](const ErrorRow& row) { return error(row.p95); });
  return std::move(table).take();
}

}  // namespace attnscope::analysis
