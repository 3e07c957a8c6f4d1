// SPDX-License-Identifier: Apache-2.0
// JSON of the race and of the curves over N, d and M.
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
#include "profiler/lesson/hierarchy.h"
#include "profiler/lesson/lesson_page.h"
#include "profiler/lesson/pairs.h"
#include "profiler/plan/fields.h"

namespace attnscope::analysis::lesson {
namespace {

using nlohmann::json;

/// Maximum number of frames in a race.
constexpr std::int64_t max_race_frames = 4096;

/// Points of one run whose problems differ only in N: forward, unmasked, as many queries as keys.
struct LengthCurves {
  RunIndex run = 0;
  AttentionProblem like{};              ///< problem at the first N
  std::vector<std::int64_t> lengths{};  ///< ascending
  /// Per requested algorithm and N: the fastest tile that has the metrics.
  std::vector<std::vector<std::optional<Row>>> rows{};
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

/// Returns the curves of the run and problem with the most of these algorithms, then with the most points; nullopt with
/// fewer than two algorithms.
std::optional<LengthCurves> length_curves(const Evidence& evidence, std::span<const Algorithm* const> algorithms,
                                          std::int64_t d, std::string_view metric) {
  const auto all = fastest_of(evidence, algorithms, d, metric);
  const auto rank = [](const auto& each) { return std::pair(algorithms_in(each.second), each.second.size()); };
  const auto best = std::ranges::max_element(all, {}, rank);
  if (best == all.end() || algorithms_in(best->second) < 2) return std::nullopt;
  LengthCurves curves{.run = best->first.first};
  for (const auto& [at, row] : best->second) curves.lengths.push_back(at.second);
  std::ranges::sort(curves.lengths);
  curves.lengths.erase(std::unique(curves.lengths.begin(), curves.lengths.end()), curves.lengths.end());
  curves.like = evidence.points.problem(best->second.begin()->second);
  curves.rows.assign(algorithms.size(), std::vector<std::optional<Row>>(curves.lengths.size()));
  for (const auto& [at, row] : best->second) {
    const auto length = std::ranges::lower_bound(curves.lengths, at.second) - curves.lengths.begin();
    curves.rows[at.first][static_cast<std::size_t>(length)] = row;
  }
  return curves;
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

/// Adds the order in which a small problem computes the tiles of S, per round with its kernel.
void add_rounds(json& lane, const PlayerSettings& player_settings, const Evidence& evidence,
                const Algorithm& algorithm) {
  lane["pairs"] = {8, 8};
  lane["rounds"] = json::array();
  lane["kernels"] = json::array();
  const auto player = make_player(player_settings, evidence, algorithm, Mask::none, max_race_frames);
  if (!player) return;
  for (const KernelModel& kernel : player->kernels()) lane["kernels"].push_back(kernel.name);
  const PairRounds pairs = pair_rounds(*player);
  if (pairs.rows > 0) lane["pairs"] = {pairs.rows, pairs.cols};
  for (std::size_t i = 0; i < player->rounds().size(); ++i) {
    lane["rounds"].push_back({player->rounds()[i].launch, pairs.rounds[i]});
  }
}

}  // namespace

std::string race_json(const LessonTexts& texts, const PlayerSettings& player_settings, const Setting& setting,
                      const Evidence& evidence) {
  const std::vector<const Algorithm*>& algorithms = player_settings.algorithms;
  const auto curves = length_curves(evidence, algorithms, setting.d, metric_key::dram_settled_bytes);
  json all{{"lanes", json::array()}, {"slow", -1}, {"fast", -1}};
  if (!curves) return all.dump();
  const ValueColumn& times = evidence.points.values(metric_key::time_median_ns);
  const ValueColumn& dram = evidence.points.values(metric_key::dram_settled_bytes);
  std::pair weakest{Provenance::measured, Provenance::measured};  // provenance of times and of bytes
  for (std::size_t i = 0; i < algorithms.size(); ++i) {
    json rows = json::array();
    for (const std::optional<Row>& row : curves->rows[i]) {
      rows.push_back(row ? json{{"ns", times.value(*row)}, {"dram", dram.value(*row)}} : json());
      if (!row) continue;
      weakest = {std::max(weakest.first, times.provenance(*row)), std::max(weakest.second, dram.provenance(*row))};
    }
    if (std::ranges::all_of(rows, &json::is_null)) continue;
    const std::string name = algorithms[i]->name();
    if (name == setting.slow) all["slow"] = all["lanes"].size();
    if (name == setting.fast) all["fast"] = all["lanes"].size();
    const bool other = algorithms[i]->facts().reference != algorithms.front()->facts().reference;
    json lane{{"title", texts.title_of(*algorithms[i])}, {"other", other}, {"rows", rows}};
    add_rounds(lane, player_settings, evidence, *algorithms[i]);
    all["lanes"].push_back(std::move(lane));
  }
  json least = json::array();
  for (const std::int64_t n : curves->lengths) least.push_back(compulsory_traffic(at_length(curves->like, n)).total());
  const auto near = [&](std::int64_t n) { return std::abs(n - setting.n); };
  all["first"] = std::ranges::min(curves->lengths, {}, near);
  all["lengths"] = curves->lengths;
  all["times"] = to_string(weakest.first);
  all["bytes"] = origin_of(weakest.second);
  // Bandwidth is shown only if it is of the same GPU.
  const std::string& gpu = evidence.points.runs()[curves->run].device_name;
  const auto rate = hierarchy_of(evidence.gpu, evidence.ceilings).at(MemoryLevel::dram).bandwidth;
  if (rate && gpu == evidence.gpu.name) {
    all["rate"] = rate->value;
    all["rate_origin"] = to_string(rate->source);
  }
  all["played"] = player_settings.n;
  all["least"] = least;
  all["gpu"] = gpu;
  all["of"] = of_text(texts, evidence, *curves);
  return all.dump();
}

std::string law_json(const LessonTexts& texts, const std::string& name, const Evidence& evidence) {
  const auto all = law_slices(evidence, name);
  const Algorithm* algorithm = evidence.registry.find(name);
  if (!all || algorithm == nullptr) return "{}";
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
  return json{{"plots", plots},
              {"algorithm", texts.title_of(*algorithm)},
              {"of", texts.translated(problem_text(family)) + " · " +
                         evidence.points.run(family.points.front().row).device_name}}
      .dump();
}

}  // namespace attnscope::analysis::lesson
