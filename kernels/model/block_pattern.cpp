// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/block_pattern.h"

#include <algorithm>
#include <array>
#include <bit>
#include <deque>
#include <mutex>
#include <utility>

#include "kernels/model/integer.h"

namespace attnscope {
namespace {

constexpr std::int64_t word_bits = 64;

/// Transposes a 64 x 64 bit matrix by swapping halves recursively (Hacker's Delight, 7-3).
void transpose(std::array<std::uint64_t, word_bits>& square) {
  std::uint64_t low = 0x00000000FFFFFFFFU;
  for (std::size_t side = word_bits / 2; side > 0; side /= 2, low ^= low << side) {
    for (std::size_t r = 0; r < word_bits; r = (r + side + 1) & ~side) {
      const std::uint64_t swapped = ((square[r] >> side) ^ square[r + side]) & low;
      square[r + side] ^= swapped;
      square[r] ^= swapped << side;
    }
  }
}

}  // namespace

BlockPattern::Lines::Lines(std::int64_t lines, std::int64_t length)
    : words_(ceil_div(length, word_bits)), bits_(static_cast<std::size_t>(lines * words_)) {}

bool BlockPattern::Lines::get(std::int64_t line, std::int64_t at) const {
  return (bits_[static_cast<std::size_t>(line * words_ + at / word_bits)] >> (at % word_bits) & 1U) != 0;
}

std::int64_t BlockPattern::Lines::count(std::int64_t line, std::int64_t first, std::int64_t last) const {
  std::int64_t count = 0;
  for (std::int64_t at = first; at < last;) {
    const std::int64_t bit = at % word_bits;
    const std::int64_t taken = std::min(word_bits - bit, last - at);
    const std::uint64_t mask = (taken == word_bits ? ~std::uint64_t{0} : (std::uint64_t{1} << taken) - 1) << bit;
    count += std::popcount(bits_[static_cast<std::size_t>(line * words_ + at / word_bits)] & mask);
    at += taken;
  }
  return count;
}

void BlockPattern::Lines::set_word(std::int64_t line, std::int64_t word, std::uint64_t bits) {
  bits_[static_cast<std::size_t>(line * words_ + word)] = bits;
}

std::uint64_t BlockPattern::Lines::word(std::int64_t line, std::int64_t word) const {
  return bits_[static_cast<std::size_t>(line * words_ + word)];
}

std::int64_t BlockPattern::Lines::nth(std::int64_t line, std::int64_t first, std::int64_t n) const {
  std::int64_t at = first / word_bits;
  std::uint64_t bits = word(line, at) >> (first % word_bits) << (first % word_bits);
  while (n >= std::popcount(bits)) {
    n -= std::popcount(bits);
    bits = word(line, ++at);
  }
  for (; n > 0; --n) bits &= bits - 1;
  return at * word_bits + std::countr_zero(bits);
}

BlockPattern::BlockPattern(const Mask& mask, std::int64_t rows, std::int64_t columns)
    : rows_(rows), columns_(columns), by_row_(rows, columns), by_column_(columns, rows) {
  // Sets whole words: setting 2^26 squares one by one would take a second.
  for (std::int64_t i = 0; i < rows_; ++i) {
    for (std::int64_t j = 0; j < columns_; j += word_bits) {
      std::uint64_t bits = 0;
      for (std::int64_t k = 0; k < std::min(word_bits, columns_ - j); ++k) {
        bits |= std::uint64_t{mask.block_counts(i, j + k) ? 1U : 0U} << k;
      }
      by_row_.set_word(i, j / word_bits, bits);
    }
  }
  // Columns by blocks of 64 x 64 bits: single bits would touch a different cache line each.
  for (std::int64_t i = 0; i < rows_; i += word_bits) {
    for (std::int64_t j = 0; j < columns_; j += word_bits) {
      std::array<std::uint64_t, word_bits> square{};
      for (std::int64_t k = 0; k < std::min(word_bits, rows_ - i); ++k) {
        square.at(static_cast<std::size_t>(k)) = by_row_.word(i + k, j / word_bits);
      }
      transpose(square);
      for (std::int64_t k = 0; k < std::min(word_bits, columns_ - j); ++k) {
        by_column_.set_word(j + k, i / word_bits, square.at(static_cast<std::size_t>(k)));
      }
    }
  }
}

std::shared_ptr<const BlockPattern> BlockPattern::of(const Mask& mask, std::int64_t rows, std::int64_t columns) {
  struct CacheEntry {
    Mask::Blocks blocks;
    std::int64_t parameter;
    std::shared_ptr<const BlockPattern> pattern;
  };
  constexpr std::size_t most = 4;
  static std::mutex mutex;
  static std::deque<CacheEntry> cache;  // most recently used first

  const std::lock_guard lock(mutex);
  const auto found = std::ranges::find_if(cache, [&](const CacheEntry& k) {
    return k.blocks == mask.blocks && k.parameter == mask.block_parameter && k.pattern->rows_ >= rows &&
           k.pattern->columns_ >= columns;
  });
  if (found != cache.end()) {
    std::rotate(cache.begin(), found, found + 1);
  } else {
    cache.push_front({mask.blocks, mask.block_parameter, std::make_shared<const BlockPattern>(mask, rows, columns)});
    if (cache.size() > most) cache.pop_back();
  }
  return cache.front().pattern;
}

bool BlockPattern::counts(std::int64_t row, std::int64_t column) const {
  return by_row_.get(row, column);
}
std::int64_t BlockPattern::count_in_row(std::int64_t row, std::int64_t first, std::int64_t last) const {
  return by_row_.count(row, first, last);
}
std::int64_t BlockPattern::count_in_column(std::int64_t column, std::int64_t first, std::int64_t last) const {
  return by_column_.count(column, first, last);
}

std::int64_t BlockPattern::nth_in_row(std::int64_t row, std::int64_t first, std::int64_t n) const {
  return by_row_.nth(row, first, n);
}
std::int64_t BlockPattern::nth_in_column(std::int64_t column, std::int64_t first, std::int64_t n) const {
  return by_column_.nth(column, first, n);
}

}  // namespace attnscope
