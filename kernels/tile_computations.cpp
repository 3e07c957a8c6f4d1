// SPDX-License-Identifier: Apache-2.0
#include "kernels/tile_computations.h"

#include "kernels/algorithm_parts.h"

namespace attnscope {

OnChipParts parts_of(std::initializer_list<std::uint8_t> parts) {
  OnChipParts set;
  for (const std::uint8_t part : parts) {
    if (part != no_part) set.set(part);
  }
  return set;
}

ForwardParts::ForwardParts(std::span<const OnChipPart> parts)
    : q(part_index(parts, "Q")),
      k(part_index(parts, "K")),
      v(part_index(parts, "V")),
      s(part_index(parts, "S")),
      p(part_index(parts, "P")),
      o(part_index(parts, "O")),
      o_out(part_index(parts, "O out")),
      statistics(part_index(parts, "m, l")) {
  if (o_out == no_part) o_out = o;
}

void append_cleared(std::vector<Computation>& out, const ForwardParts& parts, const AttentionProblem& problem,
                    std::int64_t rows) {
  out.push_back({Phase::clear_o, parts.o, {}, {}, rows, problem.d, accumulator_bytes(problem.dtype)});
  out.push_back({Phase::clear_statistics, parts.statistics, {}, {}, rows, 2, fp32_bytes});
}

void append_attention(std::vector<Computation>& out, const ForwardParts& parts, const AttentionProblem& problem,
                      int weight_bytes, std::int64_t rows, std::int64_t keys, std::int64_t o_rows, OnChipParts last) {
  const int accumulator = accumulator_bytes(problem.dtype);
  const OnChipParts of_scores = parts_of({parts.q, parts.k});
  const OnChipParts s = parts_of({parts.s});
  const OnChipParts p = parts_of({parts.p});
  const OnChipParts statistics = parts_of({parts.statistics});
  out.push_back({Phase::scores, parts.s, of_scores, last & of_scores, rows, keys, accumulator});
  out.push_back({Phase::row_maximum, parts.statistics, s, {}, rows, 2, fp32_bytes});
  out.push_back({Phase::exponentials, parts.p, s | statistics, s, rows, keys, weight_bytes});
  out.push_back({Phase::rescale, parts.o, p | statistics, {}, o_rows, problem.d, accumulator});
  out.push_back(
      {Phase::values, parts.o, p | parts_of({parts.v}), p | (last & ~of_scores), o_rows, problem.d, accumulator});
}

void append_normalized(std::vector<Computation>& out, const ForwardParts& parts, const AttentionProblem& problem,
                       std::int64_t rows, OnChipParts frees) {
  const bool apart = parts.o_out != parts.o;
  if (apart) frees |= parts_of({parts.o});
  out.push_back({Phase::normalize, parts.o_out, frees | parts_of({parts.statistics}), frees, rows, problem.d,
                 apart ? output_bytes(problem.dtype) : accumulator_bytes(problem.dtype)});
}

BackwardParts::BackwardParts(std::span<const OnChipPart> parts)
    : q(part_index(parts, "Q")),
      k(part_index(parts, "K")),
      v(part_index(parts, "V")),
      o(part_index(parts, "O")),
      dout(part_index(parts, "dO")),
      statistics(part_index(parts, "LSE, D")),
      s(part_index(parts, "S")),
      p(part_index(parts, "P")),
      dp(part_index(parts, "dP")),
      ds(part_index(parts, "dS")),
      dq(part_index(parts, "dQ")),
      dk(part_index(parts, "dK")),
      dv(part_index(parts, "dV")) {
  if (statistics == no_part) statistics = part_index(parts, "m, l");
  if (p == no_part) p = s;
}

void append_cleared(std::vector<Computation>& out, const BackwardParts& parts, const AttentionProblem& problem,
                    std::int64_t keys) {
  const int accumulator = accumulator_bytes(problem.dtype);
  out.push_back({Phase::clear_dk, parts.dk, {}, {}, keys, problem.d, accumulator});
  out.push_back({Phase::clear_dv, parts.dv, {}, {}, keys, problem.d, accumulator});
}

void append_gradients(std::vector<Computation>& out, const BackwardParts& parts, const AttentionProblem& problem,
                      std::int64_t rows, std::int64_t keys, std::int64_t dq_rows, bool from_o, bool last) {
  const int element = bytes_per_element(problem.dtype);
  const int accumulator = accumulator_bytes(problem.dtype);
  const OnChipParts q = parts_of({parts.q});
  const OnChipParts k = parts_of({parts.k});
  const OnChipParts v = parts_of({parts.v});
  const OnChipParts dout = parts_of({parts.dout});
  const OnChipParts o = parts_of({parts.o});
  const OnChipParts statistics = parts_of({parts.statistics});
  const OnChipParts s = parts_of({parts.s});
  const OnChipParts p = parts_of({parts.p});
  const OnChipParts dp = parts_of({parts.dp});
  const OnChipParts ds = parts_of({parts.ds});
  const OnChipParts none;
  out.push_back({Phase::scores, parts.s, q | k, none, rows, keys, accumulator});
  out.push_back({Phase::probabilities, parts.p, s | statistics, s & ~p, rows, keys, s == p ? accumulator : element});
  out.push_back({Phase::value_gradients, parts.dv, p | dout, none, keys, problem.d, accumulator});
  out.push_back({Phase::probability_gradients, parts.dp, dout | v, (from_o ? none : dout) | (last ? v : none), rows,
                 keys, accumulator});
  if (from_o) {
    out.push_back({Phase::row_products, parts.statistics, dout | o, dout | o, rows, 2, fp32_bytes});
  }
  out.push_back({Phase::score_gradients, parts.ds, p | dp | statistics, p | dp | statistics, rows, keys, element});
  out.push_back({Phase::query_gradients, parts.dq, ds | k, last ? k : none, dq_rows, problem.d, accumulator});
  out.push_back({Phase::key_gradients, parts.dk, ds | q, ds | q, keys, problem.d, accumulator});
}

}  // namespace attnscope
