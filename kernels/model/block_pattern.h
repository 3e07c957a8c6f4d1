// SPDX-License-Identifier: Apache-2.0
// The squares of a block mask as bits, so that how many of a stretch of them count is a matter of a few words.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/model/mask.h"

namespace attnscope {

/// Of the squares [0, rows) x [0, columns), by row and by column. Immutable, safe to share between threads.
class BlockPattern {
 public:
  BlockPattern(const Mask&, std::int64_t rows, std::int64_t columns);

  /// The pattern of the mask, at least so large: the last few are kept, for a pattern is asked for again and again
  /// while a tile or a length changes. Pre: mask.sparse(), rows x columns <= 2^26.
  [[nodiscard]] static std::shared_ptr<const BlockPattern> of(const Mask&, std::int64_t rows, std::int64_t columns);

  [[nodiscard]] bool counts(std::int64_t row, std::int64_t column) const;
  /// How many of the squares [first, last) of a row count; or of a column.
  [[nodiscard]] std::int64_t in_row(std::int64_t row, std::int64_t first, std::int64_t last) const;
  [[nodiscard]] std::int64_t in_column(std::int64_t column, std::int64_t first, std::int64_t last) const;
  /// The n-th square, from 0, that counts of those from `first` on in a row; or in a column. Pre: there are so many.
  [[nodiscard]] std::int64_t nth_in_row(std::int64_t row, std::int64_t first, std::int64_t n) const;
  [[nodiscard]] std::int64_t nth_in_column(std::int64_t column, std::int64_t first, std::int64_t n) const;

 private:
  /// Lines of bits, each of whole words.
  class Lines {
   public:
    Lines(std::int64_t lines, std::int64_t length);
    /// 64 squares from 64 x `word` on.
    void set_word(std::int64_t line, std::int64_t word, std::uint64_t bits);
    [[nodiscard]] std::uint64_t word(std::int64_t line, std::int64_t word) const;
    [[nodiscard]] bool get(std::int64_t line, std::int64_t at) const;
    [[nodiscard]] std::int64_t count(std::int64_t line, std::int64_t first, std::int64_t last) const;
    [[nodiscard]] std::int64_t nth(std::int64_t line, std::int64_t first, std::int64_t n) const;

   private:
    std::int64_t words_;  ///< of a line
    std::vector<std::uint64_t> bits_;
  };

  std::int64_t rows_;
  std::int64_t columns_;
  Lines by_row_;
  Lines by_column_;
};

}  // namespace attnscope
