// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/lesson_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "kernels/model/io_model.h"
#include "kernels/registry.h"
#include "profiler/curves/l2_boundary.h"
#include "profiler/curves/law_exponents.h"
#include "profiler/lesson/hierarchy.h"
#include "profiler/lesson/ledger.h"
#include "profiler/lesson/online_softmax.h"
#include "profiler/lesson/pairs.h"

namespace attnscope::analysis::lesson {
namespace {

using Value = std::optional<LessonValue>;

Value modeled(double value, Unit unit) {
  return LessonValue{format_figure(value, unit), "modeled"};
}
Value modeled(std::int64_t value, Unit unit) {
  return modeled(static_cast<double>(value), unit);
}
Value from_table(std::int64_t bytes) {
  return LessonValue{format_figure(static_cast<double>(bytes), Unit::bytes), "datasheet"};
}
Value level_value(const std::optional<HierarchyFigure>& figure, Unit unit) {
  if (!figure) return std::nullopt;
  return LessonValue{format_figure(figure->value, unit), to_string(figure->source)};
}

std::int64_t matrix_bytes(const Setting& setting, Tensor tensor) {
  return make_ledger(setting.single_head_problem()).find(tensor)->matrix_bytes();
}

/// Returns rows of full attention with as many queries as keys; `d` 0: any d.
std::vector<Row> square_problem_rows(const Evidence& evidence, Pass pass, std::int64_t d = 0) {
  std::vector<Row> rows;
  for (const Row row : evidence.rows) {
    const AttentionProblem p = evidence.points.problem(row);
    if (p.pass == pass && p.mask == Mask::none && p.n_q == p.n_k && (d == 0 || p.d == d)) rows.push_back(row);
  }
  return rows;
}

/// Returns the common parameters of a sweep over N: "d 64, B·H 264".
std::string sweep_text(const AttentionProblem& like) {
  return fmt::format("d {}, B·H {}", like.d, like.instances());
}

/// Returns the range of crossovers over all d and head counts with at least three measured N.
Value crossover_range(const Setting& setting, const Evidence& evidence, std::string_view fast) {
  constexpr std::size_t least_pairs = 3;
  std::map<std::pair<std::int64_t, std::int64_t>, const Crossover*> longest;
  const auto all = crossovers(evidence.points, square_problem_rows(evidence, Pass::fwd), setting.slow, fast);
  for (const Crossover& each : all) {
    if (each.pairs.size() < least_pairs) continue;
    const Crossover*& kept = longest[{each.like.d, -each.like.instances()}];
    if (kept == nullptr || each.pairs.size() > kept->pairs.size()) kept = &each;
  }
  std::vector<std::pair<double, std::string>> from;
  Provenance weakest = Provenance::measured;
  for (const auto& [key, each] : longest) {
    weakest = std::max(weakest, std::ranges::max(each->pairs, {}, &Pair::provenance).provenance);
    const Pair& end = each->never ? each->pairs.back() : each->pairs.front();
    const double n = each->n.value_or(static_cast<double>(evidence.points.n_k(end.to)));
    const std::string_view sign = each->never ? "> " : each->n ? "≈ " : "≤ ";
    from.emplace_back(n, fmt::format("{}{}", sign, format_figure(std::round(n), Unit::plain)));
  }
  if (from.empty()) return std::nullopt;
  const auto [least, most] = std::ranges::minmax(from);
  return LessonValue{least.second == most.second ? least.second : least.second + " … " + most.second,
                     origin_of(weakest)};
}

/// Removes rows without time or SM<->L2 bytes, so that both values of a sentence are of the same pair.
std::vector<Row> rows_with_counters(const Evidence& evidence, std::vector<Row> rows) {
  const ValueColumn& times = evidence.points.values(metric_key::time_median_ns);
  const ValueColumn& bytes = evidence.points.values(metric_key::l2_sm_bytes);
  std::erase_if(rows, [&](Row row) { return !times.has(row) || !bytes.has(row); });
  return rows;
}

/// Two algorithms: `from` / `to`.
struct AlgorithmPair {
  std::string_view from;
  std::string_view to;
};

/// Returns the pair that questions use: the one with the longest N, or an earlier one by `setting.pair`.
std::optional<Pair> find_timed_pair(const Setting& setting, const Evidence& evidence, std::span<const Row> rows,
                                    AlgorithmPair compared) {
  const auto pairs = pairs_of_algorithms(evidence.points, rows, compared.from, compared.to, metric_key::time_median_ns);
  if (pairs.empty()) return std::nullopt;
  return pairs[pairs.size() - 1 - std::min(setting.pair, (pairs.size() - 1) / 2)];
}

/// Returns the problem of timed_pair_ratio().
Value timed_pair_problem(const Setting& setting, const Evidence& evidence, std::span<const Row> rows,
                         AlgorithmPair compared) {
  const auto pair = find_timed_pair(setting, evidence, rows, compared);
  if (!pair) return std::nullopt;
  const AttentionProblem like = evidence.points.problem(pair->to);
  return LessonValue{fmt::format("N {}, {}", like.n_k, sweep_text(like)), ""};
}

/// Returns the metric's ratio for that pair; nullopt if the pair lacks the metric.
Value timed_pair_ratio(const Setting& setting, const Evidence& evidence, std::span<const Row> rows,
                       AlgorithmPair compared, std::string_view metric) {
  const auto timed = find_timed_pair(setting, evidence, rows, compared);
  if (!timed) return std::nullopt;
  for (const Pair& pair : pairs_of_algorithms(evidence.points, rows, compared.from, compared.to, metric)) {
    if (pair.from != timed->from || pair.to != timed->to) continue;
    return LessonValue{format_figure(1 / pair.ratio(), Unit::ratio), origin_of(pair.provenance)};
  }
  return std::nullopt;
}

/// Returns the ratio of the first pair of representative_pairs().
Value doubled_value(const Evidence& evidence, std::string_view algorithm, DoubledParameter doubled,
                    std::string_view metric) {
  std::vector<Row> rows;
  for (const Row row : square_problem_rows(evidence, Pass::fwd)) {
    if (evidence.points.algorithm(row) == algorithm) rows.push_back(row);
  }
  const std::vector<Pair> telling =
      representative_pairs(evidence.points, find_doubled_pairs(evidence.points, rows, doubled, metric));
  if (telling.empty()) return std::nullopt;
  const Pair& pair = telling.front();
  return LessonValue{format_figure(pair.ratio(), Unit::ratio), origin_of(pair.provenance)};
}

Value exponent_value(const Evidence& evidence, LawVariable variable, LawLevel level, std::string_view algorithm) {
  const LawReport report = fit_law_exponents(evidence.points, evidence.rows);
  for (const LawFamily& family : report.families) {
    const PowerLawFit* fit = family.reported_fit();
    if (fit == nullptr || family.level != level) continue;
    if (family.algorithm != algorithm) continue;
    return LessonValue{fmt::format("{:.2f}", fit->exponents[static_cast<std::size_t>(variable)]),
                       to_string(family.provenance)};
  }
  return std::nullopt;
}

/// Formats a share so that small deviations do not show as 0%.
std::string share_text(double share) {
  constexpr double least_shown = 1e-4;
  if (share > 0 && share < least_shown) return "< 0.01%";
  return fmt::format("{:.2g}%", 100 * share);
}

/// Returns the largest relative deviation of measured SM<->L2 bytes from the closed form, over all passes and masks;
/// `algorithm` empty: over all algorithms.
Value residual_value(const Evidence& evidence, std::string_view algorithm) {
  double worst = -1;
  for (const Residual& each : residuals(evidence.points, evidence.rows)) {
    if (!algorithm.empty() && evidence.points.algorithm(each.row) != algorithm) continue;
    if (evidence.points.values(metric_key::l2_sm_bytes).provenance(each.row) != Provenance::measured) continue;
    worst = std::max(worst, std::abs(each.relative()));
  }
  if (worst < 0) return std::nullopt;
  return LessonValue{share_text(worst), "derived"};
}

/// Returns the occupancy of one algorithm of the timed pair.
Value timed_pair_occupancy(const Setting& setting, const Evidence& evidence, bool of_fast) {
  const auto pair = find_timed_pair(setting, evidence, square_problem_rows(evidence, Pass::fwd, setting.d),
                                    {setting.slow, setting.fast});
  if (!pair) return std::nullopt;
  const Row row = of_fast ? pair->to : pair->from;
  const ValueColumn& occupancy = evidence.points.values(metric_key::achieved_occupancy_pct);
  if (!occupancy.has(row)) return std::nullopt;
  return LessonValue{format_figure(occupancy.value(row), Unit::percent), to_string(occupancy.provenance(row))};
}

/// Returns the range of N in which the working set of all heads exceeds L2.
Value l2_transition_text(const Setting& setting, const Evidence& evidence, std::string_view name) {
  const Algorithm* algorithm = evidence.registry.find(name);
  const AttentionProblem p = setting.all_heads_problem();
  if (algorithm == nullptr || !invalid_reason(p).empty()) return std::nullopt;
  const Config config = algorithm->default_config(p, evidence.gpu);
  if (algorithm->refusal(p, config, evidence.gpu)) return std::nullopt;
  const auto band = l2_boundary(*algorithm, p, config, evidence.gpu);
  if (!band) return std::nullopt;
  const auto hundreds = [](double n) { return format_figure(std::round(n / 100) * 100, Unit::plain); };
  return LessonValue{fmt::format("N {} – {}", hundreds(band->n_low), hundreds(band->n_high)), "modeled"};
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

std::optional<Pair> decode_pair(const Setting& setting, const Evidence& evidence) {
  const auto pairs = pairs_of_algorithms(evidence.points, decoding_rows(evidence), setting.fast, setting.split,
                                         metric_key::time_median_ns);
  return pairs.empty() ? std::nullopt : std::optional(pairs.back());
}

Value decode_gain(const Setting& setting, const Evidence& evidence) {
  const auto pair = decode_pair(setting, evidence);
  if (!pair) return std::nullopt;
  return LessonValue{format_figure(1 / pair->ratio(), Unit::ratio), origin_of(pair->provenance)};
}

Value decode_blocks(const Setting& setting, const Evidence& evidence, Row Pair::*side) {
  const auto pair = decode_pair(setting, evidence);
  return pair ? modeled(largest_kernel_blocks(evidence, (*pair).*side), Unit::plain) : std::nullopt;
}

Value paper_tile_side(const Setting& setting, const Evidence& evidence, bool of_keys) {
  const PaperTile tile = paper_tile(evidence.gpu.sram_elements(bytes_per_element(DType::fp16)), setting.d);
  return modeled(static_cast<double>(of_keys ? tile.bc : tile.br), Unit::plain);
}

const HierarchyLevel& memory_level(const Hierarchy& all, MemoryLevel which) {
  return all.at(which);
}
Hierarchy hierarchy(const Evidence& evidence) {
  return hierarchy_of(evidence.gpu, evidence.ceilings);
}

/// Returns the number of tiles per side of one head's S.
std::int64_t tiles_of(const Setting& setting) {
  return (setting.n + setting.tile - 1) / setting.tile;
}

using S = const Setting&;
using E = const Evidence&;

// One value per line.
// clang-format off
const std::array value_table{
    ValueDefinition{"n", [](S s, E) { return Value({fmt::to_string(s.n), ""}); }},
    ValueDefinition{"2n", [](S s, E) { return Value({fmt::to_string(2 * s.n), ""}); }},
    ValueDefinition{"d", [](S s, E) { return Value({fmt::to_string(s.d), ""}); }},
    ValueDefinition{"heads", [](S s, E) { return Value({fmt::to_string(s.heads), ""}); }},
    ValueDefinition{"batch", [](S s, E) { return Value({fmt::to_string(s.batch), ""}); }},
    ValueDefinition{"gpu", [](S, E e) { return Value({e.gpu.name, ""}); }},
    ValueDefinition{"tile", [](S s, E) { return Value({fmt::to_string(s.tile), ""}); }},
    ValueDefinition{"2tile", [](S s, E) { return Value({fmt::to_string(2 * s.tile), ""}); }},
    ValueDefinition{"row_blocks", [](S s, E) { return Value({fmt::to_string(tiles_of(s)), ""}); }},
    ValueDefinition{"tiles_all", [](S s, E) { return modeled(tiles_of(s) * tiles_of(s), Unit::plain); }},
    ValueDefinition{"tiles_seen", [](S s, E) { return modeled(tiles_of(s) * (tiles_of(s) + 1) / 2, Unit::plain); }},
    ValueDefinition{"qkv_passes", [](S s, E) { return modeled(3 * static_cast<double>(s.d) / static_cast<double>(s.tile), Unit::plain); }},
    ValueDefinition{"load_bytes", [](S s, E) { return Value({format_figure(static_cast<double>(s.load_bytes), Unit::bytes), ""}); }},
    ValueDefinition{"s_one", [](S s, E) { return modeled(matrix_bytes(s, Tensor::s), Unit::bytes); }},
    ValueDefinition{"s_moved", [](S s, E) { return modeled(make_ledger(s.single_head_problem()).score_traffic_bytes(), Unit::bytes); }},
    ValueDefinition{"s_all", [](S s, E) { return modeled(make_ledger(s.all_heads_problem()).find(Tensor::s)->all(), Unit::bytes); }},
    ValueDefinition{"s_all_doubled", [](S s, E) { return modeled(4 * make_ledger(s.all_heads_problem()).find(Tensor::s)->all(), Unit::bytes); }},
    ValueDefinition{"qkv_one", [](S s, E) { return modeled(matrix_bytes(s, Tensor::q) + matrix_bytes(s, Tensor::k) + matrix_bytes(s, Tensor::v), Unit::bytes); }},
    ValueDefinition{"ml_one", [](S s, E) { return modeled(matrix_bytes(s, Tensor::m) + matrix_bytes(s, Tensor::l), Unit::bytes); }},
    ValueDefinition{"lse_one", [](S s, E) { return modeled(matrix_bytes(s, Tensor::lse), Unit::bytes); }},
    ValueDefinition{"registers", [](S, E e) { return level_value(memory_level(hierarchy(e), MemoryLevel::registers).bytes, Unit::bytes); }},
    ValueDefinition{"shared", [](S, E e) { return level_value(memory_level(hierarchy(e), MemoryLevel::shared).bytes, Unit::bytes); }},
    ValueDefinition{"shared_block", [](S, E e) { return from_table(e.gpu.shared_bytes_per_block); }},
    ValueDefinition{"l2", [](S, E e) { return level_value(memory_level(hierarchy(e), MemoryLevel::l2).bytes, Unit::bytes); }},
    ValueDefinition{"longest_in_l2", [](S, E e) { return modeled(max_n_for_score_bytes(e.gpu.l2_bytes, DType::fp16), Unit::length); }},
    ValueDefinition{"crossover_fast", [](S s, E e) { return crossover_range(s, e, s.fast); }},
    ValueDefinition{"crossover_first", [](S s, E e) { return crossover_range(s, e, s.first); }},
    ValueDefinition{"dram_rate", [](S, E e) { return level_value(memory_level(hierarchy(e), MemoryLevel::dram).bandwidth, Unit::bytes_per_second); }},
    ValueDefinition{"l2_rate", [](S, E e) { return level_value(memory_level(hierarchy(e), MemoryLevel::l2).bandwidth, Unit::bytes_per_second); }},
    ValueDefinition{"shared_rate", [](S, E e) { return level_value(memory_level(hierarchy(e), MemoryLevel::shared).bandwidth, Unit::bytes_per_second); }},
    ValueDefinition{"host_rate", [](S, E e) { return level_value(memory_level(hierarchy(e), MemoryLevel::host).bandwidth, Unit::bytes_per_second); }},
    ValueDefinition{"dram_latency", [](S, E e) { return level_value(memory_level(hierarchy(e), MemoryLevel::dram).latency_ns, Unit::nanoseconds); }},
    ValueDefinition{"in_flight", [](S, E e) { return level_value(memory_level(hierarchy(e), MemoryLevel::dram).in_flight_bytes, Unit::bytes); }},
    ValueDefinition{"tensor_rate", [](S, E e) { return level_value(hierarchy(e).tensor_flops, Unit::flops); }},
    ValueDefinition{"ridge", [](S, E e) { return level_value(memory_level(hierarchy(e), MemoryLevel::dram).flops_per_byte, Unit::plain); }},
    ValueDefinition{"residual_slow", [](S s, E e) { return residual_value(e, s.slow); }},
    ValueDefinition{"residual_all", [](S, E e) { return residual_value(e, {}); }},
    ValueDefinition{"error_forget", [](S, E) { return modeled(online_softmax_error({0, 1, 4, 6}, {1, 2, 3, 4}, false), Unit::plain); }},
    ValueDefinition{"rule_br", [](S s, E e) { return paper_tile_side(s, e, false); }},
    ValueDefinition{"rule_bc", [](S s, E e) { return paper_tile_side(s, e, true); }},
    ValueDefinition{"m_elements", [](S, E e) { return modeled(static_cast<double>(e.gpu.sram_elements(2)), Unit::plain); }},
    ValueDefinition{"n_doubled_fast", [](S s, E e) { return doubled_value(e, s.fast, DoubledParameter::n, metric_key::l2_sm_bytes); }},
    ValueDefinition{"n_doubled_fast_dram", [](S s, E e) { return doubled_value(e, s.fast, DoubledParameter::n, metric_key::dram_settled_bytes); }},
    ValueDefinition{"bc_doubled_first", [](S s, E e) { return doubled_value(e, s.first, DoubledParameter::bc, metric_key::l2_sm_bytes); }},
    ValueDefinition{"bc_doubled_fast", [](S s, E e) { return doubled_value(e, s.fast, DoubledParameter::bc, metric_key::l2_sm_bytes); }},
    ValueDefinition{"exponent_n", [](S s, E e) { return exponent_value(e, LawVariable::n, LawLevel::sm_l2, s.first); }},
    ValueDefinition{"exponent_d", [](S s, E e) { return exponent_value(e, LawVariable::d, LawLevel::sm_l2, s.first); }},
    ValueDefinition{"exponent_m", [](S s, E e) { return exponent_value(e, LawVariable::m, LawLevel::sm_l2, s.first); }},
    ValueDefinition{"exponent_n_dram_fast", [](S s, E e) { return exponent_value(e, LawVariable::n, LawLevel::dram, s.fast); }},
    ValueDefinition{"bytes_first_over_fast", [](S s, E e) { return timed_pair_ratio(s, e, rows_with_counters(e, square_problem_rows(e, Pass::fwd, s.d)), {s.first, s.fast}, metric_key::l2_sm_bytes); }},
    ValueDefinition{"dram_first_over_fast", [](S s, E e) { return timed_pair_ratio(s, e, rows_with_counters(e, square_problem_rows(e, Pass::fwd, s.d)), {s.first, s.fast}, metric_key::dram_settled_bytes); }},
    ValueDefinition{"last_first_fast", [](S s, E e) { return timed_pair_problem(s, e, rows_with_counters(e, square_problem_rows(e, Pass::fwd, s.d)), {s.first, s.fast}); }},
    ValueDefinition{"last_slow_fast", [](S s, E e) { return timed_pair_problem(s, e, square_problem_rows(e, Pass::fwd, s.d), {s.slow, s.fast}); }},
    ValueDefinition{"time_first_over_fast", [](S s, E e) { return timed_pair_ratio(s, e, rows_with_counters(e, square_problem_rows(e, Pass::fwd, s.d)), {s.first, s.fast}, metric_key::time_median_ns); }},
    ValueDefinition{"time_slow_over_fast", [](S s, E e) { return timed_pair_ratio(s, e, square_problem_rows(e, Pass::fwd, s.d), {s.slow, s.fast}, metric_key::time_median_ns); }},
    ValueDefinition{"l2_gives_way", [](S s, E e) { return l2_transition_text(s, e, s.first); }},
    ValueDefinition{"occupancy_slow", [](S s, E e) { return timed_pair_occupancy(s, e, false); }},
    ValueDefinition{"occupancy_fast", [](S s, E e) { return timed_pair_occupancy(s, e, true); }},
    ValueDefinition{"backward_slow_over_fast", [](S s, E e) { return timed_pair_ratio(s, e, square_problem_rows(e, Pass::bwd, s.d), {s.slow, s.fast}, metric_key::time_median_ns); }},
    ValueDefinition{"backward_slow_over_first", [](S s, E e) { return timed_pair_ratio(s, e, square_problem_rows(e, Pass::bwd, s.d), {s.slow, s.first}, metric_key::time_median_ns); }},
    ValueDefinition{"decode_group", [](S s, E e) { return decoding_group_size(s, e); }},
    ValueDefinition{"decode_gain", [](S s, E e) { return decode_gain(s, e); }},
    ValueDefinition{"decode_blocks_fast", [](S s, E e) { return decode_blocks(s, e, &Pair::from); }},
    ValueDefinition{"decode_blocks_split", [](S s, E e) { return decode_blocks(s, e, &Pair::to); }},
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

AttentionProblem Setting::single_head_problem() const {
  AttentionProblem p;
  p.n_q = p.n_k = n;
  p.d = d;
  return p;
}

AttentionProblem Setting::all_heads_problem() const {
  AttentionProblem p = single_head_problem();
  p.batch = batch;
  p.heads_q = p.heads_kv = heads;
  return p;
}

Setting read_setting(FrontMatterReader& front) {
  const auto name = [&](std::string_view key) {
    const Algorithm* algorithm = front.algorithm(key);
    return algorithm == nullptr ? std::string() : std::string(algorithm->name());
  };
  return {.n = front.whole("n", 8192, 16, std::int64_t{1} << 20),
          .d = front.whole("d", 64, 1, 1024),
          .heads = front.whole("heads", 32, 1, 512),
          .batch = front.whole("batch", 8, 1, 256),
          .slow = name("slow"),
          .first = name("first"),
          .fast = name("fast"),
          .split = name("split")};
}

Setting vary_setting(Setting setting, std::uint64_t seed) {
  if (seed == 0) return setting;
  const std::uint64_t random = mixed(seed);
  constexpr std::array<std::int64_t, 2> dims{64, 128};
  setting.n = 1024 * (3 + static_cast<std::int64_t>(random % 14));
  setting.d = dims.at((random >> 32U) % dims.size());
  setting.heads = 8 * (1 + static_cast<std::int64_t>((random >> 8U) % 8));
  setting.batch = 1 + static_cast<std::int64_t>((random >> 16U) % 8);
  // tile >= d, so that Q, K and V per tile row (3 N^2 d / tile) stay below S and P (4 N^2 elements).
  setting.tile = setting.d * (2 + static_cast<std::int64_t>((random >> 40U) % 3)) / 2;
  setting.load_bytes = std::int64_t{128} << ((random >> 48U) % 3);
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
