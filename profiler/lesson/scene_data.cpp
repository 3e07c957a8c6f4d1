// SPDX-License-Identifier: Apache-2.0
// Data of the lesson's drawing.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/model/io_model.h"
#include "profiler/curves/law_exponents.h"
#include "profiler/curves/paper_table.h"
#include "profiler/lesson/compared_algorithms.h"
#include "profiler/lesson/lesson_page.h"
#include "profiler/lesson/lesson_values.h"
#include "profiler/metrics/metrics.h"

namespace attnscope::analysis::lesson {
namespace {

using nlohmann::json;

/// Imported series of PyTorch's eager attention.
constexpr std::string_view eager_series = "torch-eager";

json figure_json(const std::optional<GpuFigure>& figure) {
  return figure ? json{{"value", figure->value}, {"origin", to_string(figure->source)}} : json();
}

json hardware_json(const Evidence& evidence) {
  const DeviceLimits& gpu = evidence.gpu;
  const auto figure = [&](std::string_view key) { return figure_json(gpu_figure(gpu, evidence.ceilings, {key})); };
  return {{"name", gpu.name},
          {"sms", gpu.sm_count},
          {"registers", gpu.registers_per_sm * 4},
          {"shared", gpu.shared_bytes_per_sm},
          {"block", gpu.shared_bytes_per_block},
          {"l2", gpu.l2_bytes},
          {"dram", gpu.dram_bytes},
          {"dram_rate", figure(ceiling_key::dram_read)},
          {"l2_rate", figure(ceiling_key::l2_read)},
          {"in_flight", figure_json(bytes_in_flight(gpu, evidence.ceilings))},
          {"mma", figure(ceiling_key::mma_fp16)},
          {"wgmma", figure(ceiling_key::wgmma_fp16)}};
}

/// Points of one run that differ only in algorithm, N and tile; with imported ones of the same GPU and problem.
struct LengthGroup {
  AttentionProblem like{};  ///< at N 1
  /// The fastest points by N and algorithm.
  std::map<std::int64_t, std::map<std::string, Row, std::less<>>> rows{};

  [[nodiscard]] std::optional<Row> find(std::int64_t n, std::string_view algorithm) const {
    const auto found = rows.at(n).find(algorithm);
    return found == rows.at(n).end() ? std::nullopt : std::optional(found->second);
  }
  /// Largest number of algorithms at one N, then the number of points.
  [[nodiscard]] std::pair<std::size_t, std::size_t> rank() const {
    std::pair<std::size_t, std::size_t> rank;
    for (const auto& [n, by_algorithm] : rows) {
      rank.first = std::max(rank.first, by_algorithm.size());
      rank.second += by_algorithm.size();
    }
    return rank;
  }
  void add(const PointTable& table, Row row) {
    const ValueColumn& times = table.values(metric_key::time_median_ns);
    const auto [kept, fresh] = rows[table.n_k(row)].emplace(table.algorithm(row), row);
    if (!fresh && times.value(row) < times.value(kept->second)) kept->second = row;
  }
};

/// Returns the group with the highest rank among the rows of the lesson's GPU that `accepts`.
LengthGroup best_group(const Evidence& evidence, const std::function<bool(Row, const AttentionProblem&)>& accepts) {
  const PointTable& table = evidence.points;
  std::map<std::pair<RunIndex, std::string>, LengthGroup> groups;
  std::vector<Row> imported;
  for (const Row row : evidence.rows) {
    const PointSpec spec = table.spec(row);
    if (table.run(row).device_name != evidence.gpu.name || !has_valid_times(table, row)) continue;
    if (!table.values(metric_key::time_median_ns).has(row) || !accepts(row, spec.problem)) continue;
    if (table.run(row).provenance == Provenance::imported) {
      imported.push_back(row);
      continue;
    }
    const AttentionProblem like = at_length(spec.problem, 1);
    LengthGroup& group = groups[{table.run_index(row), describe(like) + std::string(to_string(spec.cache))}];
    group.like = like;
    group.add(table, row);
  }
  LengthGroup best;
  for (auto& [key, group] : groups) {
    for (const Row row : imported) {
      if (at_length(table.problem(row), 1) == group.like) group.add(table, row);
    }
    if (group.rank() > best.rank()) best = std::move(group);
  }
  return best;
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

/// Returns time, DRAM bytes and FLOPs of each algorithm over N, and the times of PyTorch's eager attention.
json curves_json(const Evidence& evidence) {
  const PointTable& table = evidence.points;
  const ValueColumn& times = table.values(metric_key::time_median_ns);
  const ValueColumn& dram = table.values(metric_key::dram_settled_bytes);
  const LengthGroup group = best_group(evidence, [&](Row row, const AttentionProblem& p) {
    const std::string& algorithm = table.algorithm(row);
    const bool shown = algorithm == eager_series || (std::ranges::count(compared::all, algorithm) > 0 && dram.has(row));
    return shown && p.pass == Pass::fwd && p.mask == Mask::none && p.n_q == p.n_k && p.d == head_dimension;
  });
  const AttentionProblem& like = group.like;
  json all{{"lanes", json::array()}};
  if (group.rank().first < 2) return all;
  all["of"] = {{"d", like.d},
               {"batch", like.batch},
               {"heads", like.heads_q},
               {"dtype", to_string(like.dtype)},
               {"gpu", evidence.gpu.name}};
  for (const auto& [n, rows] : group.rows) {
    all["lengths"].push_back(n);
    all["least"].push_back(compulsory_traffic(at_length(like, n)).total());
    const auto eager = group.find(n, eager_series);
    all["eager"].push_back(eager ? json(times.value(*eager)) : json());
  }
  for (const std::string_view name : compared::all) {
    json rows = json::array();
    for (const auto& [n, ignored] : group.rows) {
      const auto row = group.find(n, name);
      rows.push_back(!row ? json()
                          : json{{"ns", times.value(*row)},
                                 {"dram", dram.value(*row)},
                                 {"flops", pass_flops(at_length(like, n))},
                                 {"kernels", kernels_json(evidence, *row)}});
    }
    if (!std::ranges::all_of(rows, &json::is_null)) all["lanes"].push_back({{"name", name}, {"rows", rows}});
  }
  return all;
}

/// Returns times and bytes of all algorithms over N.
json lengths_json(const Evidence& evidence, const LengthGroup& group) {
  if (group.rows.empty()) return json::object();
  json lengths = json::array();
  for (const auto& [n, rows] : group.rows) {
    json each{{"n", n}};
    for (const auto& [algorithm, row] : rows) {
      const auto value = [&, row = row](std::string_view metric) {
        const auto known = evidence.points.values(metric).at(row);
        return known ? json(*known) : json();
      };
      each["of"][algorithm] = {{"ns", value(metric_key::time_median_ns)},
                               {"dram", value(metric_key::dram_settled_bytes)},
                               {"sm", value(metric_key::l2_sm_bytes)},
                               {"blocks", largest_kernel_blocks(evidence, row)},
                               {"imported", evidence.points.run(row).provenance == Provenance::imported}};
    }
    lengths.push_back(std::move(each));
  }
  return {{"d", group.like.d},
          {"batch", group.like.batch},
          {"heads_q", group.like.heads_q},
          {"heads_kv", group.like.heads_kv},
          {"lengths", std::move(lengths)}};
}

bool is_decoding(Row /*row*/, const AttentionProblem& p) {
  return p.n_q == 1 && p.n_k > 1 && p.dtype == DType::fp16;
}

bool is_backward(Row /*row*/, const AttentionProblem& p) {
  return p.pass == Pass::bwd && p.mask == Mask::none && p.n_q == p.n_k && p.d == head_dimension;
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

/// Returns the largest set of points that differ only in `variable`, sorted by it.
std::vector<LawPoint> law_slice(const LawFamily& family, std::size_t variable) {
  std::map<std::array<double, law_variable_count>, std::vector<LawPoint>> groups;
  for (const LawPoint& point : family.points) {
    std::array<double, law_variable_count> others = point.at;
    others.at(variable) = 0;
    groups[others].push_back(point);
  }
  std::vector<LawPoint> largest;
  for (auto& [others, points] : groups) {
    if (points.size() >= largest.size()) largest = std::move(points);
  }
  std::ranges::sort(largest, {}, [&](const LawPoint& point) { return point.at.at(variable); });
  return largest;
}

}  // namespace

json law_json(const Evidence& evidence, std::string_view algorithm) {
  // The family with the most points and fitted exponents.
  LawFamily family;
  for (LawFamily& each : fit_law_exponents(evidence.points, evidence.rows).families) {
    const bool fits = each.algorithm == algorithm && each.level == LawLevel::sm_l2 && each.reported_fit() != nullptr;
    if (fits && each.points.size() > family.points.size()) family = std::move(each);
  }
  if (family.points.empty()) return json::object();
  json plots = json::array();
  for (std::size_t i = 0; i < law_variable_count; ++i) {
    const auto variable = static_cast<LawVariable>(i);
    const std::vector<LawPoint> slice = law_slice(family, i);
    std::string fixed;
    for (const LawVariable other : {LawVariable::n, LawVariable::d, LawVariable::m}) {
      if (other == variable) continue;
      fixed += fmt::format("{}{} {}", fixed.empty() ? "" : ", ", to_string(other),
                           grouped(static_cast<std::int64_t>(slice.front().value(other))));
    }
    json points = json::array();
    for (const LawPoint& point : slice) points.push_back({point.value(variable), point.bytes});
    plots.push_back({{"variable", to_string(variable)},
                     {"fixed", fixed},
                     {"points", points},
                     {"theorem", family.law.exponent(variable)},
                     {"found", family.reported_fit()->exponents.at(i)}});
  }
  return {{"plots", plots},
          {"name", algorithm},
          {"batch", family.like.batch},
          {"heads", family.like.heads_q},
          {"dtype", to_string(family.like.dtype)},
          {"gpu", evidence.points.run(family.points.front().row).device_name}};
}

json scene_json(const Evidence& evidence) {
  return {{"hardware", hardware_json(evidence)},
          {"curves", curves_json(evidence)},
          {"law", law_json(evidence, compared::first)},
          {"decode", lengths_json(evidence, best_group(evidence, is_decoding))},
          {"backward", lengths_json(evidence, best_group(evidence, is_backward))},
          {"paper", paper_json(evidence)},
          {"softmax", json::parse(embedded_lesson("web/softmax.json"))}};
}

}  // namespace attnscope::analysis::lesson
