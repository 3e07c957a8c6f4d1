// SPDX-License-Identifier: Apache-2.0
// Random bytes for dropout: Philox4x32-10 (Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, SC11), for host
// and device. No includes, so that NVRTC can compile it.
#pragma once

namespace attnscope {

struct Philox4 {
  unsigned word[4];
};

constexpr Philox4 philox(Philox4 counter, unsigned key0, unsigned key1) {
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = 0xD2511F53ull * counter.word[0];
    const unsigned long long b = 0xCD9E8D57ull * counter.word[2];
    counter = Philox4{{static_cast<unsigned>(b >> 32) ^ counter.word[1] ^ key0, static_cast<unsigned>(b),
                       static_cast<unsigned>(a >> 32) ^ counter.word[3] ^ key1, static_cast<unsigned>(a)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

/// Returns the 16 bytes for the 16 entries of P that one thread holds of an m16 x n32 accumulator: rows g and g + 8 (g
/// = row % 8) of row block row / 16, and columns 8 n + 2 t and 8 n + 2 t + 1 (t = column % 8 / 2, n = 0 .. 3) of column
/// block column / 32.
constexpr Philox4 dropout_bytes(unsigned seed, unsigned instance, unsigned row, unsigned column) {
  return philox(Philox4{{row / 16, column / 32, row % 8 * 4 + column % 8 / 2, 0u}}, seed, instance);
}

/// Index of entry (row, column) among the 16 bytes.
constexpr unsigned dropout_byte_index(unsigned row, unsigned column) {
  return row % 16 / 8 * 8 + column % 32 / 8 * 2 + column % 2;
}

/// Random byte of entry (row, column). The entry is kept if the byte is below `keep` (of 256).
constexpr unsigned dropout_byte(unsigned seed, unsigned instance, unsigned row, unsigned column) {
  const unsigned index = dropout_byte_index(row, column);
  return dropout_bytes(seed, instance, row, column).word[index / 4] >> (index % 4 * 8) & 0xFFu;
}

}  // namespace attnscope
