// SPDX-License-Identifier: Apache-2.0
#include "kernels/oracle/dropout.h"

#include <array>

#include "kernels/model/attention.h"

namespace attnscope {
namespace {

using Words = std::array<std::uint32_t, 4>;

/// The paper's round function, ten times: two products, whose halves change places; the key grows by Weyl constants.
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

int dropout_draw(std::int64_t instance, std::int64_t row, std::int64_t key) {
  const auto i = static_cast<std::uint32_t>(row);
  const auto j = static_cast<std::uint32_t>(key);
  // One call serves 16 rows by 32 keys in the layout of a matrix instruction's accumulator: of each eight rows and
  // eight keys a lane has one row and two neighbouring keys.
  const std::uint32_t lane = i % 8 * 4 + j % 8 / 2;
  const Words words =
      philox({i / 16, j / 32, lane, 0}, static_cast<std::uint32_t>(dropout_seed), static_cast<std::uint32_t>(instance));
  const std::uint32_t byte = 8 * (i / 8 % 2) + 2 * (j / 8 % 4) + j % 2;
  return static_cast<int>(words.at(byte / 4) >> (8 * (byte % 4)) & 0xFFU);
}

}  // namespace attnscope
