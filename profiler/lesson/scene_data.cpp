// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/scene_data.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "profiler/curves/paper_table.h"
#include "profiler/lesson/compared_algorithms.h"
#include "profiler/lesson/hierarchy.h"
#include "profiler/lesson/lesson_values.h"
#include "profiler/lesson/online_softmax.h"
#include "profiler/lesson/pairs.h"

namespace attnscope::analysis::lesson {
namespace {

using nlohmann::json;

/// Head dimension of the race, the roofline and the backward pass.
constexpr std::int64_t head_dimension = 64;

json figure_json(const std::optional<HierarchyFigure>& figure) {
  return figure ? json{{"value", figure->value}, {"origin", to_string(figure->source)}} : json();
}

json hardware_json(const Evidence& evidence) {
  const DeviceLimits& gpu = evidence.gpu;
  const Hierarchy all = hierarchy_of(gpu, evidence.ceilings);
  const auto tensor = [&](std::string_view key) {
    return figure_json(hierarchy_of(gpu, evidence.ceilings, key).tensor_flops);
  };
  return {{"name", gpu.name},
          {"sms", gpu.sm_count},
          {"registers", gpu.registers_per_sm * 4},
          {"shared", gpu.shared_bytes_per_sm},
          {"block", gpu.shared_bytes_per_block},
          {"l2", gpu.l2_bytes},
          {"dram", gpu.dram_bytes},
          {"dram_rate", figure_json(all.at(MemoryLevel::dram).bandwidth)},
          {"l2_rate", figure_json(all.at(MemoryLevel::l2).bandwidth)},
          {"in_flight", figure_json(all.at(MemoryLevel::dram).in_flight_bytes)},
          {"mma", tensor(ceiling_key::mma_fp16)},
          {"wgmma", tensor(ceiling_key::wgmma_fp16)}};
}

json softmax_json() {
  json all = json::array();
  for (const SoftmaxExample& example : softmax_examples()) {
    all.push_back({{"name", example.name},
                   {"columns", example.columns},
                   {"d", example.d},
                   {"scores", example.scores},
                   {"values", example.values},
                   {"hidden", example.hidden},
                   {"blocks", example.blocks}});
  }
  return all;
}

/// Fastest point of each algorithm by N, for problems that differ from `like` only in N.
using FastestByLength = std::map<std::int64_t, std::map<std::string, Row>>;

/// Selects the problem, without N, that has the most algorithms among the rows that `matches` accepts.
template <typename Predicate>
std::pair<AttentionProblem, FastestByLength> fastest_points(const Evidence& evidence, Predicate matches) {
  const ValueColumn& times = evidence.points.values(metric_key::time_median_ns);
  std::vector<std::pair<AttentionProblem, FastestByLength>> groups;
  for (const Row row : evidence.rows) {
    const AttentionProblem p = evidence.points.problem(row);
    if (!times.has(row) || !matches(p) || evidence.points.run(row).device_name != evidence.gpu.name) continue;
    const AttentionProblem like = p.n_q == 1 ? p : at_length(p, 1);
    const auto same = [&](const auto& group) {
      AttentionProblem other = like;
      other.n_k = group.first.n_k;
      return other == group.first;
    };
    auto group = std::ranges::find_if(groups, same);
    if (group == groups.end()) group = groups.insert(groups.end(), {like, {}});
    const auto [kept, fresh] = group->second[p.n_k].emplace(evidence.points.algorithm(row), row);
    if (!fresh && times.value(row) < times.value(kept->second)) kept->second = row;
  }
  const auto count = [](const auto& group) {
    std::size_t most = 0;
    for (const auto& [n, rows] : group.second) most = std::max(most, rows.size());
    return most;
  };
  const auto best = std::ranges::max_element(groups, {}, count);
  return best == groups.end() ? std::pair<AttentionProblem, FastestByLength>() : *best;
}

json point_json(const Evidence& evidence, Row row) {
  const auto value = [&](std::string_view metric) {
    const auto known = evidence.points.values(metric).at(row);
    return known ? json(*known) : json();
  };
  const bool imported = evidence.points.run(row).provenance == Provenance::imported;
  return {{"ns", value(metric_key::time_median_ns)},
          {"dram", value(metric_key::dram_settled_bytes)},
          {"sm", value(metric_key::l2_sm_bytes)},
          {"blocks", largest_kernel_blocks(evidence, row)},
          {"imported", imported}};
}

json lengths_json(const Evidence& evidence, const FastestByLength& points) {
  json all = json::array();
  for (const auto& [n, rows] : points) {
    json each{{"n", n}};
    for (const auto& [algorithm, row] : rows) each["of"][algorithm] = point_json(evidence, row);
    all.push_back(std::move(each));
  }
  return all;
}

json decode_json(const Evidence& evidence) {
  const auto [like, points] = fastest_points(
      evidence, [](const AttentionProblem& p) { return p.n_q == 1 && p.n_k > 1 && p.dtype == DType::fp16; });
  if (points.empty()) return json::object();
  return {{"d", like.d},
          {"heads_q", like.heads_q},
          {"heads_kv", like.heads_kv},
          {"batch", like.batch},
          {"lengths", lengths_json(evidence, points)}};
}

json backward_json(const Evidence& evidence) {
  const auto [like, points] = fastest_points(evidence, [](const AttentionProblem& p) {
    return p.pass == Pass::bwd && p.mask == Mask::none && p.n_q == p.n_k && p.d == head_dimension;
  });
  if (points.empty()) return json::object();
  return {{"d", like.d}, {"heads", like.heads_q}, {"batch", like.batch}, {"lengths", lengths_json(evidence, points)}};
}

/// Returns the values of figure 2 (left) of the FlashAttention paper and ours for the same workload: bytes in GB, time
/// in ms.
json paper_json(const Evidence& evidence) {
  json all = json::object();
  for (const PaperRow& row : build_paper_table(evidence.points, evidence.rows).left) {
    if (!row.paper || (row.quantity != "DRAM" && row.quantity != "time")) continue;
    json& each = all[evidence.points.algorithm(row.row)][row.quantity == "DRAM" ? "dram" : "time"];
    each = {{"paper", *row.paper}, {"unit", row.unit}};
    if (row.ours) each["ours"] = *row.ours;
  }
  return all;
}

}  // namespace

std::string scene_json(const LessonTexts& texts, const Evidence& evidence) {
  return json{{"hardware", hardware_json(evidence)},
              {"curves", curves_json(texts, evidence, head_dimension)},
              {"law", law_json(texts, std::string(compared::first), evidence)},
              {"decode", decode_json(evidence)},
              {"backward", backward_json(evidence)},
              {"paper", paper_json(evidence)},
              {"softmax", softmax_json()}}
      .dump();
}

}  // namespace attnscope::analysis::lesson
