// SPDX-License-Identifier: Apache-2.0
// The race and the curves over N, d and M, as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "profiler/lesson/curves.h"
#include "profiler/lesson/hierarchy.h"
#include "profiler/lesson/ledger.h"
#include "profiler/lesson/web.h"

namespace attnscope::analysis::lesson {
namespace {

using nlohmann::json;

/// A race's picture has so many tiles at the most: more would be no picture.
constexpr std::int64_t most_raced = 4096;

/// "d 64, batch 2, heads 132, fp16 · NVIDIA H200"
std::string of_text(const LessonTexts& texts, const Evidence& evidence, const LengthCurves& curves) {
  const AttentionProblem& p = curves.like;
  const std::string shape = fmt::format("d {}, batch {}, heads {}, {}", p.d, p.batch, p.heads_q, to_string(p.dtype));
  return texts.translated(shape) + " · " + evidence.points.runs()[curves.run].device_name;
}

/// How the program of a small problem comes by its tiles of S, round by round, with the kernel that is at work.
void add_rounds(json& lane, const Playing& playing, const Evidence& evidence, const Algorithm& algorithm) {
  lane["pairs"] = {8, 8};
  lane["rounds"] = json::array();
  lane["kernels"] = json::array();
  const auto player = player_of(playing, evidence, algorithm, Mask::none, most_raced);
  if (!player) return;
  for (const KernelModel& kernel : player->kernels()) lane["kernels"].push_back(kernel.name);
  const PairRounds pairs = pair_rounds(*player);
  if (pairs.rows > 0) lane["pairs"] = {pairs.rows, pairs.cols};
  for (std::size_t i = 0; i < player->rounds().size(); ++i) {
    lane["rounds"].push_back({player->rounds()[i].launch, pairs.rounds[i]});
  }
}

}  // namespace

std::string race_json(const LessonTexts& texts, const Playing& playing, const Setting& setting,
                      const Evidence& evidence) {
  const std::vector<const Algorithm*>& algorithms = playing.algorithms;
  const auto curves = length_curves(evidence, algorithms, setting.d, metric_key::dram_settled_bytes);
  json all{{"lanes", json::array()}, {"slow", -1}, {"fast", -1}};
  if (!curves) return all.dump();
  const ValueColumn& times = evidence.points.values(metric_key::time_median_ns);
  const ValueColumn& dram = evidence.points.values(metric_key::dram_settled_bytes);
  std::pair weakest{Provenance::measured, Provenance::measured};  // of times, of bytes
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
    add_rounds(lane, playing, evidence, *algorithms[i]);
    all["lanes"].push_back(std::move(lane));
  }
  json least = json::array();
  for (const std::int64_t n : curves->lengths) least.push_back(ledger_of(at_length(curves->like, n)).kept());
  const auto near = [&](std::int64_t n) { return std::abs(n - setting.n); };
  all["first"] = std::ranges::min(curves->lengths, {}, near);
  all["lengths"] = curves->lengths;
  all["times"] = to_string(weakest.first);
  all["bytes"] = origin_of(weakest.second);
  // Of another GPU than the rates it would be said of the wrong one.
  const std::string& gpu = evidence.points.runs()[curves->run].device_name;
  const auto rate = hierarchy_of(evidence.gpu, evidence.ceilings).at(Rung::dram).bandwidth;
  if (rate && gpu == evidence.gpu.name) {
    all["rate"] = rate->value;
    all["rate_origin"] = to_string(rate->source);
  }
  all["played"] = playing.n;
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
  for (std::size_t i = 0; i < law_variables; ++i) {
    const LawSlice& slice = all->slices.at(i);
    std::string fixed;
    for (std::size_t other = 0; other < law_variables; ++other) {
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
                     {"found", family.fit->exponents.at(i)},
                     {"origin", origin_of(family.provenance)}});
  }
  return json{{"plots", plots},
              {"algorithm", texts.title_of(*algorithm)},
              {"of", texts.translated(problem_text(family)) + " · " +
                         evidence.points.run(family.points.front().row).device_name}}
      .dump();
}

std::string growth_json(const LessonTexts& texts, const Playing& playing, const Setting& setting,
                        const Evidence& evidence) {
  const std::vector<const Algorithm*>& algorithms = playing.algorithms;
  const auto curves = length_curves(evidence, algorithms, setting.d, metric_key::l2_sm_bytes);
  json all{{"lines", json::array()}};
  if (!curves) return all.dump();
  const ValueColumn& bytes = evidence.points.values(metric_key::l2_sm_bytes);
  Provenance weakest = Provenance::measured;
  for (std::size_t i = 0; i < algorithms.size(); ++i) {
    json points = json::array();
    for (const std::optional<Row>& row : curves->rows[i]) {
      if (!row) continue;
      const PointSpec spec = evidence.points.spec(*row);
      const AttentionModel model = algorithms[i]->model(spec.problem, spec.config(), evidence.points.run(*row).limits);
      weakest = std::max(weakest, bytes.provenance(*row));
      points.push_back({spec.problem.n_k, bytes.value(*row), model.matrix_flops()});
    }
    if (points.size() < 2) continue;
    all["lines"].push_back({{"short", algorithms[i]->facts().short_title}, {"points", points}});
  }
  all["origin"] = origin_of(weakest);
  all["of"] = of_text(texts, evidence, *curves);
  return all.dump();
}

}  // namespace attnscope::analysis::lesson
