// SPDX-License-Identifier: Apache-2.0
// One call of the driver, NVRTC, CUPTI or NVML that fails: which, with what answer, in what that the program does.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace attnscope::testing {

enum class Disturbed {
  sweep,
  sweep_with_metrics,  ///< one that asks for one more counter by its name
  ceilings,
};

struct Fault {
  std::string call;
  long at = 1;
  int code = 0;
  Disturbed what = Disturbed::sweep;
  bool stays = false;       ///< all later calls of it fail as well
  bool at_restart = false;  ///< in the process that takes over after a point has cost the device

  [[nodiscard]] std::string name() const;
};

/// The fault of that name. Throws std::invalid_argument.
[[nodiscard]] Fault fault_named(const std::string& name);

/// How often each function is called.
using Calls = std::map<std::string, long>;

/// The first, the last and some calls between, once and from then on, with each code.
[[nodiscard]] std::vector<Fault> faults_of(Disturbed what, const Calls& calls, bool at_restart_too);

/// What the library answers a collector when its memory is used up, in the driver's words.
inline constexpr int out_of_memory = 2;

/// What a failure of does not touch any number: giving back, and the names of errors.
[[nodiscard]] bool is_silent(const std::string& call);

/// Whether the words name the call, or tell of the memory that it did not get.
[[nodiscard]] bool says_why(const std::string& words, const Fault& fault);

}  // namespace attnscope::testing
