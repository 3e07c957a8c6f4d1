// SPDX-License-Identifier: Apache-2.0
// Measured curves of the lesson: the race, the roofline, and bytes over N, d and M.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "kernels/model/io_model.h"
#include "profiler/curves/law_exponents.h"
#include "profiler/lesson/compared_algorithms.h"
#include "profiler/lesson/pairs.h"
#include "profiler/lesson/scene_data.h"
#include "profiler/plan/fields.h"

namespace attnscope::analysis::lesson {
namespace {

using nlohmann::json;

/// Imported series of PyTorch's eager attention.
constexpr std::string_view eager_series = "torch-eager";

/// Points of one run whose problems differ only in N: forward, unmasked, as many queries as keys.
struct LengthCurves {
  RunIndex run = 0;
  AttentionProblem like{};              ///< problem at the first N
  std::vector<std::int64_t> lengths{};  ///< ascending
  /// Per requested algorithm and N: the fastest tile that has the metrics.
  std::vector<std::vector<std::optional<Row>>> rows{};
  std::vector<std::optional<double>> eager{};  ///< nanoseconds of PyTorch's eager attention by N
};
/// Key of one set of curves: the run, and the spec without algorithm, N and tile.
using CurveKey = std::pair<RunIndex, std::string>;

CurveKey key_of(RunIndex run, PointSpec spec) {
  spec.algorithm.clear();
  spec.problem.n_q = spec.problem.n_k = 0;
  spec.set_config({});
  return {run, canonical_text(spec)};
}

using Fastest = std::map<std::pair<std::size_t, std::int64_t>, Row>;

std::map<CurveKey, Fastest> fastest_of(const Evidence& evidence, std::span<const Algorithm* const> algorithms,
                                       std::int64_t d, std::string_view metric) {
  const PointTable& table = evidence.points;
  const ValueColumn& times = table.values(metric_key::time_median_ns);
  const ValueColumn& values = table.values(metric);
  std::map<CurveKey, Fastest> all;
  for (const Row row : evidence.rows) {
    const auto algorithm = std::ranges::find(algorithms, table.algorithm(row), &Algorithm::name);
    if (algorithm == algorithms.end() || !has_valid_times(table, row)) continue;
    if (!times.has(row) || !values.has(row)) continue;
    const PointSpec spec = table.spec(row);
    const AttentionProblem& p = spec.problem;
    if (p.pass != Pass::fwd || p.mask != Mask::none || p.n_q != p.n_k || p.d != d) continue;
    Fastest& fastest = all[key_of(table.run_index(row), spec)];
    const auto [place, fresh] =
        fastest.emplace(std::pair(static_cast<std::size_t>(algorithm - algorithms.begin()), p.n_k), row);
    if (!fresh && times.value(row) < times.value(place->second)) place->second = row;
  }
  return all;
}

std::size_t algorithms_in(const Fastest& fastest) {
  std::size_t count = 0;
  for (auto at = fastest.begin(); at != fastest.end(); at = fastest.lower_bound({at->first.first + 1, 0})) ++count;
  return count;
}

/// Returns times of PyTorch's eager attention for problems that differ from `like` only in N; null where unknown.
std::vector<std::optional<double>> eager_times(const Evidence& evidence, const AttentionProblem& like,
                                               std::span<const std::int64_t> lengths, const std::string& device) {
  std::vector<std::optional<double>> all(lengths.size());
  const ValueColumn& times = evidence.points.values(metric_key::time_median_ns);
  for (const Row row : evidence.rows) {
    if (evidence.points.algorithm(row) != eager_series || !times.has(row)) continue;
    if (evidence.points.run(row).device_name != device) continue;
    const AttentionProblem p = evidence.points.problem(row);
    const auto length = std::ranges::find(lengths, p.n_k);
    if (length != lengths.end() && p == at_length(like, p.n_k))
      all[static_cast<std::size_t>(length - lengths.begin())] = times.value(row);
  }
  return all;
}

LengthCurves curves_of(const Evidence& evidence, RunIndex run, const Fastest& fastest, std::size_t algorithms) {
  LengthCurves curves{.run = run};
  for (const auto& [at, row] : fastest) curves.lengths.push_back(at.second);
  std::ranges::sort(curves.lengths);
  curves.lengths.erase(std::unique(curves.lengths.begin(), curves.lengths.end()), curves.lengths.end());
  curves.like = evidence.points.problem(fastest.begin()->second);
  curves.rows.assign(algorithms, std::vector<std::optional<Row>>(curves.lengths.size()));
  for (const auto& [at, row] : fastest) {
    const auto length = std::ranges::lower_bound(curves.lengths, at.second) - curves.lengths.begin();
    curves.rows[at.first][static_cast<std::size_t>(length)] = row;
  }
  curves.eager = eager_times(evidence, curves.like, curves.lengths, evidence.points.runs()[run].device_name);
  return curves;
}

/// Returns the curves of the run and problem with the most of these algorithms, then with the most of PyTorch's times,
/// then with the most points; nullopt with fewer than two algorithms.
std::optional<LengthCurves> length_curves(const Evidence& evidence, std::span<const Algorithm* const> algorithms,
                                          std::int64_t d) {
  std::optional<LengthCurves> best;
  std::array<std::size_t, 3> most{};
  for (const auto& [key, fastest] : fastest_of(evidence, algorithms, d, metric_key::dram_settled_bytes)) {
    LengthCurves curves = curves_of(evidence, key.first, fastest, algorithms.size());
    const auto known = std::ranges::count_if(curves.eager, [](const auto& each) { return each.has_value(); });
    const std::array rank{algorithms_in(fastest), static_cast<std::size_t>(known), fastest.size()};
    if (rank <= most) continue;
    most = rank;
    best = std::move(curves);
  }
  return most.front() < 2 ? std::nullopt : best;
}

/// Points of a family that differ only in one of N, d and M.
struct LawSlice {
  LawVariable variable = LawVariable::n;
  std::vector<LawPoint> points{};  ///< sorted by the variable
};
/// The family with the most points and fitted exponents, and a slice for each of N, d and M.
struct LawSlices {
  LawFamily family{};
  std::array<LawSlice, law_variable_count> slices{};
};
std::optional<LawSlices> law_slices(const Evidence& evidence, std::string_view algorithm) {
  LawSlices best;
  for (LawFamily& family : fit_law_exponents(evidence.points, evidence.rows).families) {
    const bool fits =
        family.algorithm == algorithm && family.level == LawLevel::sm_l2 && family.reported_fit() != nullptr;
    if (fits && family.points.size() > best.family.points.size()) best.family = std::move(family);
  }
  if (best.family.points.empty()) return std::nullopt;
  for (std::size_t i = 0; i < law_variable_count; ++i) {
    std::map<std::array<double, law_variable_count>, std::vector<LawPoint>> groups;
    for (const LawPoint& point : best.family.points) {
      std::array<double, law_variable_count> others = point.at;
      others.at(i) = 0;
      groups[others].push_back(point);
    }
    LawSlice& slice = best.slices.at(i);
    slice.variable = static_cast<LawVariable>(i);
    for (auto& [others, points] : groups) {
      if (points.size() >= slice.points.size()) slice.points = std::move(points);
    }
    std::ranges::sort(slice.points, {}, [i](const LawPoint& point) { return point.at.at(i); });
  }
  return best;
}

/// Returns "d 64, batch 2, heads 132, fp16 · NVIDIA H200".
std::string of_text(const LessonTexts& texts, const Evidence& evidence, const LengthCurves& curves) {
  const AttentionProblem& p = curves.like;
  const std::string shape = fmt::format("d {}, batch {}, heads {}, {}", p.d, p.batch, p.heads_q, to_string(p.dtype));
  return texts.translated(shape) + " · " + evidence.points.runs()[curves.run].device_name;
}

/// Returns time and DRAM bytes of each kernel of a point.
json kernels_json(const Evidence& evidence, Row row) {
  json all = json::array();
  for (const RowKernel& kernel : evidence.points.points().kernels(row)) {
    const auto times = kernel.times();
    const auto read = kernel.stored(metric_key::dram_read_bytes);
    const auto written = kernel.stored(metric_key::dram_write_bytes);
    if (kernel.is_sum() || !times || !read || !written) continue;
    all.push_back({{"name", kernel.name()}, {"ns", times->median}, {"dram", read->value + written->value}});
  }
  return all;
}

}  // namespace

nlohmann::json curves_json(const LessonTexts& texts, const Evidence& evidence, std::int64_t d) {
  std::vector<const Algorithm*> algorithms;
  for (const std::string_view name : compared::all) {
    if (const Algorithm* algorithm = evidence.registry.find(name)) algorithms.push_back(algorithm);
  }
  json all{{"lanes", json::array()}};
  const auto curves = length_curves(evidence, algorithms, d);
  if (!curves) return all;
  const ValueColumn& times = evidence.points.values(metric_key::time_median_ns);
  const ValueColumn& dram = evidence.points.values(metric_key::dram_settled_bytes);
  for (std::size_t i = 0; i < algorithms.size(); ++i) {
    json rows = json::array();
    for (std::size_t k = 0; k < curves->rows[i].size(); ++k) {
      const std::optional<Row>& row = curves->rows[i][k];
      rows.push_back(!row ? json()
                          : json{{"ns", times.value(*row)},
                                 {"dram", dram.value(*row)},
                                 {"flops", pass_flops(at_length(curves->like, curves->lengths[k]))},
                                 {"kernels", kernels_json(evidence, *row)}});
    }
    if (std::ranges::all_of(rows, &json::is_null)) continue;
    all["lanes"].push_back(
        {{"name", algorithms[i]->name()}, {"title", texts.title_of(*algorithms[i])}, {"rows", rows}});
  }
  json eager = json::array();
  for (const auto& each : curves->eager) eager.push_back(each ? json(*each) : json());
  all["eager"] = eager;
  all["lengths"] = curves->lengths;
  all["least"] = json::array();
  for (const std::int64_t n : curves->lengths)
    all["least"].push_back(compulsory_traffic(at_length(curves->like, n)).total());
  all["of"] = of_text(texts, evidence, *curves);
  return all;
}

nlohmann::json law_json(const LessonTexts& texts, const std::string& name, const Evidence& evidence) {
  const auto all = law_slices(evidence, name);
  const Algorithm* algorithm = evidence.registry.find(name);
  if (!all || algorithm == nullptr) return json::object();
  const LawFamily& family = all->family;
  json plots = json::array();
  for (std::size_t i = 0; i < law_variable_count; ++i) {
    const LawSlice& slice = all->slices.at(i);
    std::string fixed;
    for (std::size_t other = 0; other < law_variable_count; ++other) {
      if (other == i) continue;
      fixed += fmt::format("{}{} {:.0f}", fixed.empty() ? "" : ", ", to_string(static_cast<LawVariable>(other)),
                           slice.points.front().at.at(other));
    }
    json points = json::array();
    for (const LawPoint& point : slice.points) {
      points.push_back({point.at.at(i), point.bytes, point.model_bytes.value_or(point.bytes)});
    }
    plots.push_back({{"variable", to_string(slice.variable)},
                     {"fixed", fixed},
                     {"points", points},
                     {"theorem", family.law.exponent(slice.variable)},
                     {"found", family.reported_fit()->exponents.at(i)},
                     {"origin", origin_of(family.provenance)}});
  }
  return {{"plots", plots},
          {"algorithm", texts.title_of(*algorithm)},
          {"of", texts.translated(problem_text(family)) + " · " +
                     evidence.points.run(family.points.front().row).device_name}};
}

}  // namespace attnscope::analysis::lesson
