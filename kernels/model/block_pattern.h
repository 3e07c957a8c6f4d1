// SPDX-License-Identifier: Apache-2.0
// Bitmap of a block mask with fast range counts.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/model/mask.h"

namespace attnscope {

/// Squares [0, rows) x [0, columns) by row and by column. Immutable, thread-safe.
class BlockPattern {
 public:
  BlockPattern(const Mask&, std::int64_t rows, std::int64_t columns);

  /// Returns a pattern of at least this size from a small cache, as the same pattern is needed repeatedly while a tile
  /// or a length changes. Pre: mask.has_block_mask(), rows x columns <= 2^26.
  [[nodiscard]] static std::shared_ptr<const BlockPattern> of(const Mask&, std::int64_t rows, std::int64_t columns);

  [[nodiscard]] bool counts(std::int64_t row, std::int64_t column) const;
  /// Number of visible squares among [first, last) of a row or a column.
  [[nodiscard]] std::int64_t count_in_row(std::int64_t row, std::int64_t first, std::int64_t last) const;
  [[nodiscard]] std::int64_t count_in_column(std::int64_t column, std::int64_t first, std::int64_t last) const;
  /// Index of the n-th visible square, from 0, at or after `first` in a row or a column. Pre: it exists.
  [[nodiscard]] std::int64_t nth_in_row(std::int64_t row, std::int64_t first, std::int64_t n) const;
  [[nodiscard]] std::int64_t nth_in_column(std::int64_t column, std::int64_t first, std::int64_t n) const;

 private:
  /// Bit vectors, each padded to whole 64-bit words.
  class Lines {
   public:
    Lines(std::int64_t lines, std::int64_t length);
    /// Sets the squares from 64 x `word` to 64 x `word` + 63.
    void set_word(std::int64_t line, std::int64_t word, std::uint64_t bits);
    [[nodiscard]] std::uint64_t word(std::int64_t line, std::int64_t word) const;
    [[nodiscard]] bool get(std::int64_t line, std::int64_t at) const;
    [[nodiscard]] std::int64_t count(std::int64_t line, std::int64_t first, std::int64_t last) const;
    [[nodiscard]] std::int64_t nth(std::int64_t line, std::int64_t first, std::int64_t n) const;

   private:
    std::int64_t words_;
    std::vector<std::uint64_t> bits_;
  };

  std::int64_t rows_;
  std::int64_t columns_;
  Lines by_row_;
  Lines by_column_;
};

}  // namespace attnscope
