// SPDX-License-Identifier: Apache-2.0
// doctor --noise: what recordings of one build differ by, on this GPU, today.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/reporter.h"
#include "app/sweep_options.h"

namespace attnscope {

struct NoiseOptions {
  explicit NoiseOptions(CLI::App& command) : sweep(command, "quick") {}

  SweepOptions sweep;
  std::string device;
  std::string output;
  std::vector<std::string> from;  ///< files with recordings to be taken, instead of measuring
  std::string filter;             ///< of those files only the points that fit these words
  int recordings = 6;
  int rounds = 10;
};

/// Where it is cancelled, what whole recordings say is kept, if there are two: CommandError (partial). `reporter`: what
/// happens is said to it, and nothing to people; null for people.
ExitCode measure_noise(const NoiseOptions&, Reporter* reporter);

}  // namespace attnscope
