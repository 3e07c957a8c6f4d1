// SPDX-License-Identifier: Apache-2.0
#include "kernels/growth_laws.h"

#include <functional>
#include <string>

#include "kernels/model/integer.h"

namespace attnscope {
namespace {

/// Tiles of N from which a ragged last one no longer bends the curve.
constexpr std::int64_t whole_tiles = 4;

/// Bytes of N rows of d elements, for each of `heads`.
std::function<double(std::int64_t)> rows_of(const AttentionProblem& like, std::int64_t heads) {
  const auto element = static_cast<double>(bytes_per_element(like.dtype));
  return [element, d = static_cast<double>(like.d), of = static_cast<double>(heads)](std::int64_t n) {
    return of * static_cast<double>(n) * d * element;
  };
}

/// Pairs of query and key over all heads; under the usual masks all of them, since those leave a constant share.
std::function<double(std::int64_t)> pairs_of(const AttentionProblem& like, bool counted) {
  if (counted) {
    return [like](std::int64_t n) { return static_cast<double>(unmasked_pairs(at_length(like, n))); };
  }
  const auto heads = static_cast<double>(like.instances());
  return [heads](std::int64_t n) { return heads * static_cast<double>(n) * static_cast<double>(n); };
}

/// Of pairs, each so many bytes; `divided`: what follows N² in its words.
Law law_of_pairs(const AttentionProblem& like, const std::string& divided, double bytes_each) {
  const bool counted = like.mask != Mask::none && like.mask != Mask::causal;
  Law law;
  law.text = (counted ? "P·" : "N²") + divided;
  law.bytes = [pairs = pairs_of(like, counted), bytes_each](std::int64_t n) { return pairs(n) * bytes_each; };
  law.lower = "N·d";
  law.lower_bytes = rows_of(like, like.instances());
  law.rereads = true;
  law.intensity_at_dram = Multiple::n;
  return law;
}

Multiple side_of(const Facts& facts, Pass pass) {
  const TileSide side = facts.traffic_side(pass);
  return side == TileSide::none ? Multiple::nothing : side == TileSide::br ? Multiple::br : Multiple::bc;
}

}  // namespace

Law no_law(const Facts& /*facts*/, const AttentionProblem& /*like*/, const Config& /*config*/,
           const DeviceLimits& /*limits*/) {
  Law law;
  law.bytes = [](std::int64_t) { return 0.0; };
  return law;
}

Law linear_law(const Facts& /*facts*/, const AttentionProblem& like, const Config& /*config*/,
               const DeviceLimits& /*limits*/) {
  Law law;
  law.text = fixed_queries(like) ? "n_k·d" : "N·d";
  law.bytes = rows_of(like, like.kv_instances());
  return law;
}

Law scores_law(const Facts& /*facts*/, const AttentionProblem& like, const Config& /*config*/,
               const DeviceLimits& /*limits*/) {
  Law law;
  law.text = "N²";
  const auto element = static_cast<double>(bytes_per_element(like.dtype));
  law.bytes = [pairs = pairs_of(like, false), element](std::int64_t n) { return pairs(n) * element; };
  law.lower = "N·d";
  law.lower_bytes = rows_of(like, like.instances());
  law.intensity_at_dram = Multiple::d;
  return law;
}

Law memory_law(const Facts& facts, const AttentionProblem& like, const Config& /*config*/, const DeviceLimits& limits) {
  const auto element = static_cast<double>(bytes_per_element(like.dtype));
  const auto d = static_cast<double>(like.d);
  const std::int64_t m = limits.sram_elements(bytes_per_element(like.dtype));
  Law law = law_of_pairs(like, "d²/M", m > 0 ? d * d / static_cast<double>(m) * element : 0);
  law.from = m > 0 ? ceil_div(m, like.d) : 1;
  law.from_words = "N·d ≥ M";
  law.intensity_at_l2 = side_of(facts, like.pass);
  return law;
}

Law tile_law(const Facts& facts, const AttentionProblem& like, const Config& config, const DeviceLimits& /*limits*/) {
  const bool by_rows = facts.traffic_side(like.pass) == TileSide::br;
  const int side = by_rows ? config.tile.br : config.tile.bc;
  const std::string name = by_rows ? "Br" : "Bc";
  const auto element = static_cast<double>(bytes_per_element(like.dtype));
  Law law = law_of_pairs(like, "d/" + name, side > 0 ? static_cast<double>(like.d) / side * element : 0);
  law.from = whole_tiles * side;
  law.from_words = "N ≥ " + std::to_string(whole_tiles) + name;
  law.intensity_at_l2 = side_of(facts, like.pass);
  return law;
}

const PowerLaw& theorem_2() {
  static const PowerLaw stated{.title = "Theorem 2", .text = "N²d²/M", .exponents = {2, 2, -1}};
  return stated;
}

}  // namespace attnscope
