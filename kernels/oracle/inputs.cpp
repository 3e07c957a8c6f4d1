// SPDX-License-Identifier: Apache-2.0
#include "kernels/oracle/inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "kernels/model/integer.h"
#include "kernels/oracle/float16.h"

namespace attnscope {
namespace {

struct KindName {
  InputKind kind;
  std::string_view word;
};
constexpr std::array kinds{InputKind::normal,    InputKind::all_equal,  InputKind::dominant_last_key,
                           InputKind::ascending, InputKind::descending, InputKind::large,
                           InputKind::one_hot_v};
constexpr std::array<std::string_view, kinds.size()> words{"normal",     "all-equal", "dominant-last-key", "ascending",
                                                           "descending", "large",     "one-hot-v"};

/// Finalizer of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014): hashes a
/// counter to 64 bits.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9E37'79B9'7F4A'7C15U;
  x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9U;
  x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EBU;
  return x ^ (x >> 31);
}

/// Uniform in (0, 1], so that its logarithm is finite.
double uniform(std::uint64_t bits) {
  return static_cast<double>((bits >> 11) + 1) * 0x1p-53;
}

double normal(std::uint64_t key, std::uint64_t counter) {
  const std::uint64_t a = mix(key ^ mix(2 * counter));
  const std::uint64_t b = mix(key ^ mix(2 * counter + 1));
  return std::sqrt(-2.0 * std::log(uniform(a))) * std::cos(2.0 * std::numbers::pi * uniform(b));
}

/// Substreams of a tensor's key for outliers and for the instances' shifts.
constexpr std::uint64_t outlier_stream = 0x6F75'746C;
constexpr std::uint64_t shift_stream = 0x7368'6966;

double normal_with_outliers(std::uint64_t key, std::uint64_t counter) {
  double value = normal(key, counter);
  const std::uint64_t outlier_key = mix(key ^ outlier_stream);
  if (uniform(mix(outlier_key ^ counter)) <= 0.001) value += 10.0 * normal(outlier_key, counter);
  return value;
}

double random_plus_minus_8(std::uint64_t key, std::uint64_t counter) {
  return (mix(key ^ mix(counter)) & 1U) != 0 ? 8.0 : -8.0;
}

std::size_t index_of(Tensor tensor) {
  switch (tensor) {
    case Tensor::q:
      return 0;
    case Tensor::k:
      return 1;
    case Tensor::v:
      return 2;
    case Tensor::dout:
      return 3;
    default:
      throw std::invalid_argument("not an input; inputs are Q, K, V and dO");
  }
}

std::uint64_t stream_key(std::uint64_t seed, Tensor tensor) {
  return mix(mix(seed) + index_of(tensor));
}

/// Score range of the ascending and descending kinds: weights grow by e^20 from the first to the last key.
constexpr double ramp_span = 20.0;

using Words = std::array<std::uint32_t, 4>;

/// Philox4x32-10: ten rounds of two products with swapped halves; the key grows by Weyl constants.
Words philox(Words counter, std::uint32_t key_0, std::uint32_t key_1) {
  constexpr int rounds = 10;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::uint64_t first = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t second = std::uint64_t{0xCD9E8D57} * counter[2];
    const std::uint32_t weyl_0 = key_0 + round * 0x9E3779B9U;
    const std::uint32_t weyl_1 = key_1 + round * 0xBB67AE85U;
    counter = {static_cast<std::uint32_t>(second >> 32U) ^ counter[1] ^ weyl_0, static_cast<std::uint32_t>(second),
               static_cast<std::uint32_t>(first >> 32U) ^ counter[3] ^ weyl_1, static_cast<std::uint32_t>(first)};
  }
  return counter;
}

}  // namespace

std::span<const InputKind> input_kinds() {
  return kinds;
}

std::string_view to_string(InputKind kind) {
  return words.at(static_cast<std::size_t>(std::ranges::find(kinds, kind) - kinds.begin()));
}

Result<InputKind, Message> parse_input_kind(std::string_view text) {
  const auto found = std::ranges::find(words, text);
  if (found != words.end()) return kinds.at(static_cast<std::size_t>(found - words.begin()));
  return Failure{make_message("unknown input '{}'; accepted: {}.", text, fmt::join(words, ", "))};
}

InputGenerator::InputGenerator(const AttentionProblem& problem, InputKind kind, std::uint64_t seed)
    : problem_(problem), kind_(kind), seed_(seed) {
  for (const Tensor tensor : {Tensor::q, Tensor::k, Tensor::v, Tensor::dout}) {
    if (!uses_pool(tensor) || (tensor == Tensor::dout && problem.pass == Pass::fwd)) continue;
    const std::uint64_t key = stream_key(seed, tensor);
    auto& pool = pools_[index_of(tensor)];
    pool.resize(static_cast<std::size_t>(pool_size));
    for (std::size_t e = 0; e < pool.size(); ++e) {
      const bool large = kind == InputKind::large && tensor != Tensor::dout;
      const double value = large ? random_plus_minus_8(key, e) : normal_with_outliers(key, e);
      pool[e] = round_to(problem.dtype, static_cast<float>(value));
    }
  }
}

bool InputGenerator::uses_pool(Tensor tensor) const {
  if (tensor == Tensor::dout) return true;
  switch (kind_) {
    case InputKind::normal:
    case InputKind::large:
      return true;
    case InputKind::all_equal:
    case InputKind::dominant_last_key:
    case InputKind::ascending:
    case InputKind::descending:
      return tensor == Tensor::v;
    case InputKind::one_hot_v:
      return tensor != Tensor::v;
  }
  return true;
}

std::span<const float> InputGenerator::pool(Tensor tensor) const {
  return pools_[index_of(tensor)];
}

std::int64_t InputGenerator::pool_offset(Tensor tensor, std::int64_t instance) const {
  const std::uint64_t key = stream_key(seed_, tensor) ^ shift_stream;
  return static_cast<std::int64_t>(mix(key ^ mix(static_cast<std::uint64_t>(instance))) %
                                   static_cast<std::uint64_t>(pool_size));
}

float InputGenerator::structured_value(Tensor tensor, std::int64_t row, std::int64_t col) const {
  if (tensor == Tensor::v) return row % problem_.d == col ? 1.0F : 0.0F;  // V has a structure only for one_hot_v
  if (tensor == Tensor::q) return 1.0F;
  // Q is all ones, so a key with all elements x has the score x d / sqrt(d) = x sqrt(d).
  const double unit_score = 1.0 / std::sqrt(static_cast<double>(problem_.d));
  const double place = static_cast<double>(row) / static_cast<double>(problem_.n_k);
  switch (kind_) {
    case InputKind::dominant_last_key:
      return row == problem_.n_k - 1 ? static_cast<float>(ramp_span * unit_score) : 0.0F;
    case InputKind::ascending:
      return static_cast<float>(ramp_span * place * unit_score);
    case InputKind::descending:
      return static_cast<float>(ramp_span * (1.0 - place) * unit_score);
    default:
      return 1.0F;
  }
}

void InputGenerator::fill(Tensor tensor, std::int64_t instance, std::span<float> out) const {
  if (!uses_pool(tensor)) {
    const std::int64_t rows = static_cast<std::int64_t>(out.size()) / problem_.d;
    std::size_t e = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t col = 0; col < problem_.d; ++col) {
        out[e++] = round_to(problem_.dtype, structured_value(tensor, row, col));
      }
    }
    return;
  }
  const auto& values = pools_[index_of(tensor)];
  std::span<const float> source = std::span(values).subspan(static_cast<std::size_t>(pool_offset(tensor, instance)));
  while (!out.empty()) {
    const std::size_t count = std::min(out.size(), source.size());
    std::ranges::copy(source.first(count), out.begin());
    out = out.subspan(count);
    source = values;
  }
}

std::vector<std::int32_t> block_table(const AttentionProblem& p) {
  std::vector<std::int32_t> table(static_cast<std::size_t>(p.batch * ceil_div(p.n_k, p.page)));
  std::iota(table.begin(), table.end(), 0);
  for (std::size_t i = table.size(); i > 1; --i) std::swap(table[i - 1], table[mix(i) % i]);
  return table;
}

int dropout_draw(std::int64_t instance, std::int64_t row, std::int64_t key) {
  const auto i = static_cast<std::uint32_t>(row);
  const auto j = static_cast<std::uint32_t>(key);
  // One Philox call covers 16 rows x 32 keys in the accumulator layout of a matrix instruction: a lane holds one row
  // and two adjacent keys of each 8 x 8 block.
  const std::uint32_t lane = i % 8 * 4 + j % 8 / 2;
  const Words words =
      philox({i / 16, j / 32, lane, 0}, static_cast<std::uint32_t>(dropout_seed), static_cast<std::uint32_t>(instance));
  const std::uint32_t byte = 8 * (i / 8 % 2) + 2 * (j / 8 % 4) + j % 2;
  return static_cast<int>(words.at(byte / 4) >> (8 * (byte % 4)) & 0xFFU);
}

}  // namespace attnscope
