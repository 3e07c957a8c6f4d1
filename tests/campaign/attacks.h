// SPDX-License-Identifier: Apache-2.0
// What people who meant harm, and people who made a mistake, have done to Attnscope: each with what holds since.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "cases.h"
#include "damages.h"
#include "tests/app/subprocess.h"

namespace attnscope::testing {

using Words = std::vector<std::string>;

struct Programs {
  std::filesystem::path command = beside_us("attnscope", ATTNSCOPE_PROGRAM);
  std::filesystem::path window = beside_us("attnscope-gui", ATTNSCOPE_WINDOW);
  std::filesystem::path sample = beside_us("h200.attnscope", ATTNSCOPE_SAMPLE);
};

struct Attack {
  const char* name;
  const char* claim;  ///< what holds
  int seconds;        ///< of the processor, beyond which one of its programs is stopped; ten times as much by the clock
  /// In an empty folder. Throws Wrong.
  void (*judge)(const Attack&, const Programs&, const TemporaryFolder&, Random&);
};

/// On files that are collected into, files that are read, and what is read beside them.
[[nodiscard]] std::span<const Attack> attacks_on_files();
/// By the other side of a remote device.
[[nodiscard]] std::span<const Attack> attacks_by_remotes();

/// The program under the attack's bounds, of time and of `mib` memory, with nothing on stdin. Throws Wrong where it
/// comes to a bound or crashes.
[[nodiscard]] Outcome bounded(const Attack&, const std::filesystem::path& program, const TemporaryFolder&,
                              const Words& words, Process::Options options = {}, long mib = 640);
/// What was refused in one line that holds all of `parts`, with that exit code. Throws Wrong.
void require_refused(const Outcome&, int exit_code, const std::vector<std::string>& parts);

}  // namespace attnscope::testing
