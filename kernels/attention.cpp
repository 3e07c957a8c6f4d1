// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace attnscope {
namespace {

template <class E>
struct Word {
  E value;
  std::string_view word;
};

constexpr std::array dtype_words{Word<DType>{DType::fp16, "fp16"}, Word<DType>{DType::bf16, "bf16"}};
constexpr std::array mask_words{Word<Mask>{Mask::none, "none"}, Word<Mask>{Mask::causal, "causal"}};
constexpr std::array pass_words{Word<Pass>{Pass::fwd, "fwd"}};
constexpr std::array raster_words{Word<Raster>{Raster::q_fastest, "q_fastest"},
                                  Word<Raster>{Raster::heads_fastest, "heads_fastest"}};

template <class E>
std::string_view word_of(std::span<const Word<E>> words, E value) {
  const auto found = std::ranges::find(words, value, &Word<E>::value);
  return found == words.end() ? std::string_view{"?"} : found->word;
}

template <class E>
Result<E, std::string> parse_word(std::span<const Word<E>> words, std::string_view what, std::string_view text) {
  const auto found = std::ranges::find(words, text, &Word<E>::word);
  if (found != words.end()) return found->value;
  std::string accepted;
  for (const auto& word : words) accepted += fmt::format("{}{}", accepted.empty() ? "" : ", ", word.word);
  return Failure{fmt::format("unknown {} '{}'; accepted: {}.", what, text, accepted)};
}

/// a * b, and whether it still fits; for non-negative factors.
bool multiply(std::int64_t& a, std::int64_t b) {
  return !__builtin_mul_overflow(a, b, &a);
}

/// Pairs of one instance that the causal mask leaves: sum over rows i of clamp(i + 1 + n_k - n_q, 0, n_k).
std::int64_t causal_pairs(std::int64_t n_q, std::int64_t n_k) {
  const std::int64_t visible_rows = std::min(n_q, n_k);  // the other n_q - n_k rows, if any, see no key
  const std::int64_t first = n_k - visible_rows + 1;     // keys that the first visible row sees
  return visible_rows * (first + n_k) / 2;
}

}  // namespace

std::string_view to_string(DType value) {
  return word_of<DType>(dtype_words, value);
}
std::string_view to_string(Mask value) {
  return word_of<Mask>(mask_words, value);
}
std::string_view to_string(Pass value) {
  return word_of<Pass>(pass_words, value);
}
std::string_view to_string(Raster value) {
  return word_of<Raster>(raster_words, value);
}

Result<DType, std::string> parse_dtype(std::string_view text) {
  return parse_word<DType>(dtype_words, "dtype", text);
}
Result<Mask, std::string> parse_mask(std::string_view text) {
  return parse_word<Mask>(mask_words, "mask", text);
}
Result<Pass, std::string> parse_pass(std::string_view text) {
  return parse_word<Pass>(pass_words, "pass", text);
}
Result<Raster, std::string> parse_raster(std::string_view text) {
  return parse_word<Raster>(raster_words, "raster", text);
}

std::int64_t unmasked_pairs(const AttentionProblem& p) {
  return p.instances() * (p.mask == Mask::causal ? causal_pairs(p.n_q, p.n_k) : p.n_q * p.n_k);
}

double forward_flops(const AttentionProblem& p) {
  return 4.0 * static_cast<double>(p.d) * static_cast<double>(unmasked_pairs(p));
}

std::string describe(const AttentionProblem& p) {
  const std::string heads =
      p.heads_q == p.heads_kv ? fmt::format("{}", p.heads_q) : fmt::format("{}/{}", p.heads_q, p.heads_kv);
  const std::string n = p.n_q == p.n_k ? fmt::format("{}", p.n_q) : fmt::format("{}x{}", p.n_q, p.n_k);
  return fmt::format("{}{} batch {} heads {} N {} d {}", to_string(p.dtype), p.mask == Mask::causal ? " causal" : "",
                     p.batch, heads, n, p.d);
}

std::string describe(const TileShape& tile) {
  return fmt::format("{}x{}{}", tile.br, tile.bc, tile.raster == Raster::heads_fastest ? " heads_fastest" : "");
}

std::string invalid_reason(const AttentionProblem& p) {
  struct Extent {
    std::string_view name;
    std::int64_t value;
  };
  const std::array extents{Extent{"batch", p.batch}, Extent{"heads_q", p.heads_q}, Extent{"heads_kv", p.heads_kv},
                           Extent{"n_q", p.n_q},     Extent{"n_k", p.n_k},         Extent{"d", p.d}};
  for (const auto& [name, value] : extents) {
    if (value <= 0) return fmt::format("{} must be at least 1, not {}.", name, value);
  }
  if (p.heads_q % p.heads_kv != 0) {
    return fmt::format("heads_q ({}) must be a multiple of heads_kv ({}).", p.heads_q, p.heads_kv);
  }
  // Every count of the program (bytes of fp32 scores, floating-point operations, traffic of the smallest tile) stays
  // below 16 n_q n_k d or 16 (n_q + n_k) d bytes an instance, so bounding those bounds them all.
  std::int64_t size = 16;
  const bool fits = multiply(size, p.batch) && multiply(size, p.heads_q) && multiply(size, p.n_q) &&
                    multiply(size, p.n_k) && multiply(size, p.d);
  if (!fits) return fmt::format("{} is too large: its byte counts do not fit in 63 bits.", describe(p));
  return {};
}

}  // namespace attnscope
