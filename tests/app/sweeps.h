// SPDX-License-Identifier: Apache-2.0
// A sweep that the tests of the command line run, whole and disturbed.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "subprocess.h"

namespace attnscope::testing {

using Words = std::vector<std::string>;

inline Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// 64 points that take next to no time.
inline const Words sweep{"collect", "--device", "simulated",    "-a",     "N=[16:512:16]",
                         "-a",      "heads=2",  "--algorithms", "fa1,fa2"};
inline constexpr std::size_t sweep_points = 64;

inline const Process::Options slow_reader{.narrow_pipe = true};

}  // namespace attnscope::testing
