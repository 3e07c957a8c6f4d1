// SPDX-License-Identifier: Apache-2.0
// A failing call of the driver, NVRTC, CUPTI or NVML: function, error code and the command during which it fails.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace attnscope::testing {

enum class FaultTarget {
  sweep,
  sweep_with_metrics,  ///< Sweep with an additional counter (--metrics).
  ceilings,
};

struct Fault {
  std::string call;
  long at = 1;
  int code = 0;
  FaultTarget what = FaultTarget::sweep;
  bool stays = false;       ///< All later calls fail, too.
  bool at_restart = false;  ///< Fails in the process that takes over after a point has lost the device.

  [[nodiscard]] std::string name() const;
};

/// Parses a fault's name. Throws std::invalid_argument.
[[nodiscard]] Fault parse_fault(const std::string& name);

using Calls = std::map<std::string, long>;

/// Faults for the first, last and some other calls of each function, once and permanently, with each code.
[[nodiscard]] std::vector<Fault> make_faults(FaultTarget what, const Calls& calls, bool at_restart_too);

/// CUDA_ERROR_OUT_OF_MEMORY
inline constexpr int out_of_memory = 2;

/// Functions whose failure affects no result: releasing resources and error names.
[[nodiscard]] bool is_ignorable(const std::string& call);

/// Returns true if the text names the call or reports the failed allocation.
[[nodiscard]] bool names_cause(const std::string& words, const Fault& fault);

}  // namespace attnscope::testing
