// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/lesson_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "profiler/curves/law_exponents.h"
#include "profiler/lesson/claims.h"
#include "profiler/lesson/compared_algorithms.h"
#include "profiler/lesson/pairs.h"
#include "profiler/metrics/metrics.h"
#include "profiler/units/number_format.h"

namespace attnscope::analysis::lesson {
namespace {

using Value = std::optional<LessonValue>;
using E = const Evidence&;

Value capacity(E evidence, std::int64_t bytes) {
  const bool measured = std::ranges::any_of(
      evidence.rows, [&](Row row) { return evidence.points.run(row).provenance == Provenance::measured; });
  return LessonValue{text(Capacity(bytes)), measured ? "driver" : "datasheet"};
}

Value figure(const std::optional<GpuFigure>& figure, std::string_view unit) {
  if (!figure) return std::nullopt;
  return LessonValue{figure_text(figure->value, unit), to_string(figure->source)};
}

/// Returns the pair of standard attention and `other` with the longest N.
std::optional<Pair> find_timed_pair(E evidence, Pass pass, std::string_view other = compared::fast) {
  std::vector<Row> rows;
  for (const Row row : evidence.rows) {
    const AttentionProblem p = evidence.points.problem(row);
    if (p.pass == pass && p.mask == Mask::none && p.n_q == p.n_k && p.d == head_dimension) rows.push_back(row);
  }
  const auto pairs = pairs_of_algorithms(evidence.points, rows, compared::slow, other, metric_key::time_median_ns);
  return pairs.empty() ? std::nullopt : std::optional(pairs.back());
}

/// Returns the problem of that pair in the forward pass: "N 16384, d 64, B·H 264".
Value timed_pair_problem(E evidence) {
  const auto pair = find_timed_pair(evidence, Pass::fwd);
  if (!pair) return std::nullopt;
  const AttentionProblem like = evidence.points.problem(pair->to);
  return LessonValue{fmt::format("N {}, d {}, B·H {}", grouped(like.n_k), like.d, like.instances()), ""};
}

/// Returns the time of standard attention over that of `other`.
Value timed_pair_ratio(E evidence, Pass pass, std::string_view other) {
  const auto pair = find_timed_pair(evidence, pass, other);
  if (!pair) return std::nullopt;
  const bool measured = pair->provenance == Provenance::measured;
  return LessonValue{figure_text(1 / pair->ratio(), "×"), to_string(measured ? Provenance::derived : pair->provenance)};
}

/// Returns the occupancy of one algorithm of the timed pair.
Value timed_pair_occupancy(E evidence, bool of_fast) {
  const auto pair = find_timed_pair(evidence, Pass::fwd);
  const ValueColumn& occupancy = evidence.points.values(metric_key::achieved_occupancy_pct);
  const Row row = !pair ? Row() : of_fast ? pair->to : pair->from;
  if (!pair || !occupancy.has(row)) return std::nullopt;
  return LessonValue{figure_text(occupancy.value(row), "percent"), to_string(occupancy.provenance(row))};
}

/// Returns an exponent of FlashAttention's bytes between L2 and the SMs.
Value exponent(E evidence, LawVariable variable) {
  for (const LawFamily& family : fit_law_exponents(evidence.points, evidence.rows).families) {
    const PowerLawFit* fit = family.reported_fit();
    if (fit == nullptr || family.level != LawLevel::sm_l2 || family.algorithm != compared::first) continue;
    const double power = fit->exponents[static_cast<std::size_t>(variable)];
    return LessonValue{fmt::format("{}{:.2f}", power < 0 ? "−" : "", std::abs(power)), to_string(family.provenance)};
  }
  return std::nullopt;
}

std::vector<Row> decoding_rows(E evidence) {
  std::vector<Row> rows;
  for (const Row row : evidence.rows) {
    if (evidence.points.n_q(row) == 1 && evidence.points.n_k(row) > 1) rows.push_back(row);
  }
  return rows;
}

Value decoding_group_size(E evidence) {
  const std::vector<Row> rows = decoding_rows(evidence);
  if (rows.empty()) return std::nullopt;
  return LessonValue{fmt::to_string(group_size(evidence.points.problem(rows.front()))), "measured"};
}

/// Returns the blocks of FlashAttention-2 in the longest decoding problem that Split-KV ran, too.
Value decoding_blocks(E evidence) {
  const auto pairs = pairs_of_algorithms(evidence.points, decoding_rows(evidence), compared::fast, compared::split,
                                         metric_key::time_median_ns);
  if (pairs.empty()) return std::nullopt;
  return LessonValue{figure_text(largest_kernel_blocks(evidence, pairs.back().from), "1"), "modeled"};
}

// One value per line.
// clang-format off
const std::array value_table{
    ValueDefinition{"gpu", [](E e) { return Value({e.gpu.name, ""}); }},
    ValueDefinition{"shared_block", [](E e) { return capacity(e, e.gpu.shared_bytes_per_block); }},
    ValueDefinition{"l2", [](E e) { return capacity(e, e.gpu.l2_bytes); }},
    ValueDefinition{"dram_rate", [](E e) { return figure(gpu_figure(e.gpu, e.ceilings, {ceiling_key::dram_read}), "byte/s"); }},
    ValueDefinition{"dram_latency", [](E e) { return figure(gpu_figure(e.gpu, e.ceilings, {ceiling_key::latency_dram}), "ns"); }},
    ValueDefinition{"tensor_rate", [](E e) { return figure(tensor_rate(e.gpu, e.ceilings), "flop/s"); }},
    ValueDefinition{"ridge", [](E e) { return figure(ridge_point(e.gpu, e.ceilings, tensor_rate(e.gpu, e.ceilings)), "1"); }},
    ValueDefinition{"exponent_n", [](E e) { return exponent(e, LawVariable::n); }},
    ValueDefinition{"exponent_d", [](E e) { return exponent(e, LawVariable::d); }},
    ValueDefinition{"exponent_m", [](E e) { return exponent(e, LawVariable::m); }},
    ValueDefinition{"last_slow_fast", timed_pair_problem},
    ValueDefinition{"time_slow_over_fast", [](E e) { return timed_pair_ratio(e, Pass::fwd, compared::fast); }},
    ValueDefinition{"occupancy_slow", [](E e) { return timed_pair_occupancy(e, false); }},
    ValueDefinition{"occupancy_fast", [](E e) { return timed_pair_occupancy(e, true); }},
    ValueDefinition{"backward_slow_over_fast", [](E e) { return timed_pair_ratio(e, Pass::bwd, compared::fast); }},
    ValueDefinition{"backward_slow_over_first", [](E e) { return timed_pair_ratio(e, Pass::bwd, compared::first); }},
    ValueDefinition{"decode_group", decoding_group_size},
    ValueDefinition{"decode_blocks_fast", decoding_blocks},
};
// clang-format on

}  // namespace

double largest_kernel_blocks(const Evidence& evidence, Row row) {
  const PointSpec spec = evidence.points.spec(row);
  const Algorithm* algorithm = evidence.registry.find(spec.algorithm);
  if (algorithm == nullptr) return 0;
  const AttentionModel model = algorithm->model(spec.problem, spec.config(), evidence.points.run(row).limits);
  std::int64_t most = -1;
  double blocks = 0;
  for (const KernelModel& kernel : model.kernels) {
    if (kernel.setup || kernel.traffic.total() <= most) continue;
    most = kernel.traffic.total();
    blocks = static_cast<double>(kernel.blocks());
  }
  return blocks;
}

const ValueDefinition* find_value(std::string_view name) {
  const auto found = std::ranges::find(value_table, name, &ValueDefinition::name);
  return found == value_table.end() ? nullptr : &*found;
}

}  // namespace attnscope::analysis::lesson
