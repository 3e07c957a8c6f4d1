// SPDX-License-Identifier: Apache-2.0
// ab --base-program: two builds of this program, point by point in turns.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/output.h"
#include "profiler/measure/device.h"

namespace attnscope {

struct ProgramsOptions {
  std::array<std::string, 2> programs;  ///< base, other
  std::string preset;                   ///< empty: of the axes alone
  std::vector<std::string> axes;        ///< as collect's --axis takes them
  CacheState cache = CacheState::cold;
  std::string device;
  std::string output;
  int rounds = 0;  ///< the most
  double timeout_seconds = 0;
  double margin_percent = 0;
  MeasureOptions measure;
};

/// The fewest rounds: what a process does to a point is known of several only.
inline constexpr int fewest_starts = 5;

/// A round starts both programs anew and measures every point by each, all of them shuffled, so that a process is the
/// unit of the verdicts. The rounds are kept as two runs, one of each program; `arguments` are what the user called.
/// Ends once no row is UNDECIDED, at one of rounds_to_look_at(), or where rounds or seconds are used up. Throws
/// CommandError.
ExitCode ab_programs(const ProgramsOptions&, Arguments arguments, Output&);

}  // namespace attnscope
