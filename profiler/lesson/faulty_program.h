// SPDX-License-Identifier: Apache-2.0
// A short attention program that is wrong, line by line, as one of the seeds' articles (002) has it: every block is
// normalised by the sum so far, and what earlier blocks left in o keeps their own. Each line can be written otherwise;
// one of those other lines mends it.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/lesson/online_softmax.h"

namespace attnscope::analysis::lesson {

struct ProgramLine {
  std::string_view id{};      ///< "o"
  std::string_view code{};    ///< as it stands
  std::string_view other{};   ///< as it could be written instead
  std::string_view result{};  ///< the variable that it sets
};
/// In the order in which they run, once for every block of keys.
[[nodiscard]] std::span<const ProgramLine> faulty_program();

/// After one line ran.
struct ProgramMoment {
  std::size_t row = 0;
  std::size_t block = 0;
  std::size_t line = 0;
  std::vector<double> value{};  ///< of the line's result: one, or as many as keys of the block, or d
};

struct ProgramRun {
  std::vector<ProgramMoment> moments{};  ///< row by row, block by block, line by line
  std::vector<double> output{};          ///< rows x d
  double largest_error = 0;              ///< against two passes in double
};

/// With the lines named in `rewritten` as they could be written instead. Throws std::invalid_argument for a line that
/// is not there.
[[nodiscard]] ProgramRun run_program(const SoftmaxRows&, std::size_t block,
                                     const std::set<std::string_view>& rewritten = {});

}  // namespace attnscope::analysis::lesson
