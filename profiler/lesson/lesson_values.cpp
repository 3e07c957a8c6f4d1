// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/lesson_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/registry.h"
#include "profiler/curves/law_exponents.h"
#include "profiler/lesson/compared_algorithms.h"
#include "profiler/lesson/hierarchy.h"
#include "profiler/lesson/pairs.h"

namespace attnscope::analysis::lesson {
namespace {

using Value = std::optional<LessonValue>;

Value modeled(double value, Unit unit) {
  return LessonValue{format_figure(value, unit), "modeled"};
}
Value from_table(std::int64_t bytes) {
  return LessonValue{format_figure(static_cast<double>(bytes), Unit::bytes), "datasheet"};
}
Value level_value(const std::optional<HierarchyFigure>& figure, Unit unit) {
  if (!figure) return std::nullopt;
  return LessonValue{format_figure(figure->value, unit), to_string(figure->source)};
}

/// Returns rows of full attention of width `d` with as many queries as keys.
std::vector<Row> square_problem_rows(const Evidence& evidence, Pass pass, std::int64_t d) {
  std::vector<Row> rows;
  for (const Row row : evidence.rows) {
    const AttentionProblem p = evidence.points.problem(row);
    if (p.pass == pass && p.mask == Mask::none && p.n_q == p.n_k && p.d == d) rows.push_back(row);
  }
  return rows;
}

/// Returns the pair of standard attention and `other` that questions use: the one with the longest N, or an earlier one
/// by `setting.pair`.
std::optional<Pair> find_timed_pair(const Setting& setting, const Evidence& evidence, Pass pass,
                                    std::string_view other = compared::fast) {
  const auto pairs = pairs_of_algorithms(evidence.points, square_problem_rows(evidence, pass, setting.d),
                                         compared::slow, other, metric_key::time_median_ns);
  if (pairs.empty()) return std::nullopt;
  return pairs[pairs.size() - 1 - std::min(setting.pair, (pairs.size() - 1) / 2)];
}

/// Returns the problem of that pair in the forward pass: "N 16384, d 64, B·H 264".
Value timed_pair_problem(const Setting& setting, const Evidence& evidence) {
  const auto pair = find_timed_pair(setting, evidence, Pass::fwd);
  if (!pair) return std::nullopt;
  const AttentionProblem like = evidence.points.problem(pair->to);
  return LessonValue{fmt::format("N {}, d {}, B·H {}", like.n_k, like.d, like.instances()), ""};
}

/// Returns the time of standard attention over that of `other`.
Value timed_pair_ratio(const Setting& setting, const Evidence& evidence, Pass pass, std::string_view other) {
  const auto pair = find_timed_pair(setting, evidence, pass, other);
  if (!pair) return std::nullopt;
  return LessonValue{format_figure(1 / pair->ratio(), Unit::ratio), origin_of(pair->provenance)};
}

/// Returns an exponent of FlashAttention's bytes between L2 and the SMs.
Value exponent_value(const Evidence& evidence, LawVariable variable) {
  const LawReport report = fit_law_exponents(evidence.points, evidence.rows);
  for (const LawFamily& family : report.families) {
    const PowerLawFit* fit = family.reported_fit();
    if (fit == nullptr || family.level != LawLevel::sm_l2 || family.algorithm != compared::first) continue;
    return LessonValue{fmt::format("{:.2f}", fit->exponents[static_cast<std::size_t>(variable)]),
                       to_string(family.provenance)};
  }
  return std::nullopt;
}

/// Returns the occupancy of one algorithm of the timed pair.
Value timed_pair_occupancy(const Setting& setting, const Evidence& evidence, bool of_fast) {
  const auto pair = find_timed_pair(setting, evidence, Pass::fwd);
  if (!pair) return std::nullopt;
  const Row row = of_fast ? pair->to : pair->from;
  const ValueColumn& occupancy = evidence.points.values(metric_key::achieved_occupancy_pct);
  if (!occupancy.has(row)) return std::nullopt;
  return LessonValue{format_figure(occupancy.value(row), Unit::percent), to_string(occupancy.provenance(row))};
}

std::vector<Row> decoding_rows(const Evidence& evidence) {
  std::vector<Row> rows;
  for (const Row row : evidence.rows) {
    if (evidence.points.n_q(row) == 1 && evidence.points.n_k(row) > 1) rows.push_back(row);
  }
  return rows;
}

Value decoding_group_size(const Setting& /*setting*/, const Evidence& evidence) {
  const std::vector<Row> rows = decoding_rows(evidence);
  if (rows.empty()) return std::nullopt;
  return LessonValue{fmt::to_string(group_size(evidence.points.problem(rows.front()))), "measured"};
}

/// Returns the blocks of FlashAttention-2 in the longest decoding problem that Split-KV ran, too.
Value decoding_blocks(const Setting& /*setting*/, const Evidence& evidence) {
  const auto pairs = pairs_of_algorithms(evidence.points, decoding_rows(evidence), compared::fast, compared::split,
                                         metric_key::time_median_ns);
  if (pairs.empty()) return std::nullopt;
  return modeled(largest_kernel_blocks(evidence, pairs.back().from), Unit::plain);
}

HierarchyLevel level_of(const Evidence& evidence, MemoryLevel level) {
  return hierarchy_of(evidence.gpu, evidence.ceilings).at(level);
}

using S = const Setting&;
using E = const Evidence&;

// One value per line.
// clang-format off
const std::array value_table{
    ValueDefinition{"n", [](S s, E) { return Value({fmt::to_string(s.n), ""}); }},
    ValueDefinition{"2n", [](S s, E) { return Value({fmt::to_string(2 * s.n), ""}); }},
    ValueDefinition{"d", [](S s, E) { return Value({fmt::to_string(s.d), ""}); }},
    ValueDefinition{"gpu", [](S, E e) { return Value({e.gpu.name, ""}); }},
    ValueDefinition{"tile", [](S s, E) { return Value({fmt::to_string(s.tile), ""}); }},
    ValueDefinition{"2tile", [](S s, E) { return Value({fmt::to_string(2 * s.tile), ""}); }},
    ValueDefinition{"s_one", [](S s, E) { return modeled(static_cast<double>(s.n * s.n * bytes_per_element(DType::fp16)), Unit::bytes); }},
    ValueDefinition{"shared_block", [](S, E e) { return from_table(e.gpu.shared_bytes_per_block); }},
    ValueDefinition{"l2", [](S, E e) { return from_table(e.gpu.l2_bytes); }},
    ValueDefinition{"dram_rate", [](S, E e) { return level_value(level_of(e, MemoryLevel::dram).bandwidth, Unit::bytes_per_second); }},
    ValueDefinition{"dram_latency", [](S, E e) { return level_value(level_of(e, MemoryLevel::dram).latency_ns, Unit::nanoseconds); }},
    ValueDefinition{"tensor_rate", [](S, E e) { return level_value(hierarchy_of(e.gpu, e.ceilings).tensor_flops, Unit::flops); }},
    ValueDefinition{"ridge", [](S, E e) { return level_value(level_of(e, MemoryLevel::dram).flops_per_byte, Unit::plain); }},
    ValueDefinition{"exponent_n", [](S, E e) { return exponent_value(e, LawVariable::n); }},
    ValueDefinition{"exponent_d", [](S, E e) { return exponent_value(e, LawVariable::d); }},
    ValueDefinition{"exponent_m", [](S, E e) { return exponent_value(e, LawVariable::m); }},
    ValueDefinition{"last_slow_fast", timed_pair_problem},
    ValueDefinition{"time_slow_over_fast", [](S s, E e) { return timed_pair_ratio(s, e, Pass::fwd, compared::fast); }},
    ValueDefinition{"occupancy_slow", [](S s, E e) { return timed_pair_occupancy(s, e, false); }},
    ValueDefinition{"occupancy_fast", [](S s, E e) { return timed_pair_occupancy(s, e, true); }},
    ValueDefinition{"backward_slow_over_fast", [](S s, E e) { return timed_pair_ratio(s, e, Pass::bwd, compared::fast); }},
    ValueDefinition{"backward_slow_over_first", [](S s, E e) { return timed_pair_ratio(s, e, Pass::bwd, compared::first); }},
    ValueDefinition{"decode_group", decoding_group_size},
    ValueDefinition{"decode_blocks_fast", decoding_blocks},
};
// clang-format on

/// splitmix64 mixing: decorrelates the seeds 1, 2, 3.
std::uint64_t mixed(std::uint64_t seed) {
  seed += 0x9E3779B97F4A7C15U;
  seed = (seed ^ (seed >> 30U)) * 0xBF58476D1CE4E5B9U;
  seed = (seed ^ (seed >> 27U)) * 0x94D049BB133111EBU;
  return seed ^ (seed >> 31U);
}

}  // namespace

std::string_view origin_of(Provenance provenance) {
  return to_string(provenance == Provenance::measured ? Provenance::derived : provenance);
}

Setting read_setting(FrontMatterReader& front) {
  const Setting usual;
  return {.n = front.whole("n", usual.n, 16, std::int64_t{1} << 20), .d = front.whole("d", usual.d, 1, 1024)};
}

Setting vary_setting(Setting setting, std::uint64_t seed) {
  if (seed == 0) return setting;
  const std::uint64_t random = mixed(seed);
  constexpr std::array<std::int64_t, 2> dims{64, 128};
  setting.n = 1024 * (3 + static_cast<std::int64_t>(random % 14));
  setting.d = dims.at((random >> 32U) % dims.size());
  // tile >= d, so that Q, K and V per tile row (3 N^2 d / tile) stay below S and P (4 N^2 elements).
  setting.tile = setting.d * (2 + static_cast<std::int64_t>((random >> 40U) % 3)) / 2;
  setting.pair = (random >> 56U) % 3;
  return setting;
}

std::vector<std::size_t> shuffled_choices(const Question& question, std::uint64_t seed) {
  std::vector<std::size_t> order(question.choices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (const char c : question.id) seed = mixed(seed ^ static_cast<unsigned char>(c));
  for (std::size_t left = order.size(); left > 1; --left) {
    seed = mixed(seed);
    std::swap(order[left - 1], order[seed % left]);
  }
  return order;
}

bool has_question_data(const Question& question, const Setting& setting, const Evidence& evidence) {
  return std::ranges::all_of(values_in(question.prompt), [&](std::string_view name) {
    return find_value(name)->of(setting, evidence).has_value();
  });
}

double largest_kernel_blocks(const Evidence& evidence, Row row) {
  const PointSpec spec = evidence.points.spec(row);
  const Algorithm* algorithm = evidence.registry.find(spec.algorithm);
  if (algorithm == nullptr) return 0;
  const AttentionModel model = algorithm->model(spec.problem, spec.config(), evidence.points.run(row).limits);
  const KernelModel* largest = nullptr;
  for (const KernelModel& kernel : model.kernels) {
    if (kernel.setup) continue;
    if (largest == nullptr || kernel.traffic.total() > largest->traffic.total()) largest = &kernel;
  }
  return largest == nullptr ? 0 : static_cast<double>(largest->blocks());
}

const ValueDefinition* find_value(std::string_view name) {
  const auto found = std::ranges::find(value_table, name, &ValueDefinition::name);
  return found == value_table.end() ? nullptr : &*found;
}

}  // namespace attnscope::analysis::lesson
