// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/block_pattern.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <mutex>
#include <utility>

#include "kernels/model/integer.h"

namespace attnscope {
namespace {

constexpr std::int64_t word_bits = 64;

}  // namespace

BlockPattern::Lines::Lines(std::int64_t lines, std::int64_t length)
    : words_(ceil_div(length, word_bits)), bits_(static_cast<std::size_t>(lines * words_)) {}

void BlockPattern::Lines::set(std::int64_t line, std::int64_t at) {
  bits_[static_cast<std::size_t>(line * words_ + at / word_bits)] |= std::uint64_t{1} << (at % word_bits);
}

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

BlockPattern::BlockPattern(const Mask& mask, std::int64_t rows, std::int64_t columns)
    : rows_(rows), columns_(columns), by_row_(rows, columns), by_column_(columns, rows) {
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      if (!mask.block_counts(i, j)) continue;
      by_row_.set(i, j);
      by_column_.set(j, i);
    }
  }
}

std::shared_ptr<const BlockPattern> BlockPattern::of(const Mask& mask, std::int64_t rows, std::int64_t columns) {
  struct Kept {
    Mask::Blocks blocks;
    std::int64_t parameter;
    std::shared_ptr<const BlockPattern> pattern;
  };
  constexpr std::size_t most = 4;  // of 16 MiB each at the largest
  static std::mutex mutex;
  static std::deque<Kept> kept;  // the last used first

  const std::lock_guard lock(mutex);
  const auto found = std::ranges::find_if(kept, [&](const Kept& k) {
    return k.blocks == mask.blocks && k.parameter == mask.block_parameter && k.pattern->rows_ >= rows &&
           k.pattern->columns_ >= columns;
  });
  if (found != kept.end()) {
    std::rotate(kept.begin(), found, found + 1);
  } else {
    kept.push_front({mask.blocks, mask.block_parameter, std::make_shared<const BlockPattern>(mask, rows, columns)});
    if (kept.size() > most) kept.pop_back();
  }
  return kept.front().pattern;
}

bool BlockPattern::counts(std::int64_t row, std::int64_t column) const {
  return by_row_.get(row, column);
}
std::int64_t BlockPattern::in_row(std::int64_t row, std::int64_t first, std::int64_t last) const {
  return by_row_.count(row, first, last);
}
std::int64_t BlockPattern::in_column(std::int64_t column, std::int64_t first, std::int64_t last) const {
  return by_column_.count(column, first, last);
}

}  // namespace attnscope
