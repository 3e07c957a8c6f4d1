// SPDX-License-Identifier: Apache-2.0
#include "gpu_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace attnscope::testing {
namespace {

/// Limit after which a command counts as hung.
constexpr int max_seconds = 180;

}  // namespace

Variables GpuSetup::variables(const std::string& faults) const {
  Variables all;
  if (real) return all;
  for (const char* library : {"CUDA", "NVRTC", "CUPTI", "NVML"}) {
    all[fmt::format("ATTNSCOPE_{}_LIBRARY", library)] = fake;
  }
  // Twice the least memory for ceilings. Throttling and other use are set, so that a missing NVML reading differs from
  // the default.
  all["ATTNSCOPE_FAKE_GPU"] = "compute-output,free=80000000,throttle=4,use=3" + (faults.empty() ? "" : "," + faults);
  return all;
}

Variables GpuSetup::disturbed(const Fault& fault, const TemporaryFolder& folder) const {
  // The device is lost once: a kernel faults in the first process.
  const std::string mark = folder / "mark";
  Variables all = variables(fault.at_restart ? "crash=splitkv,mark=" + mark : "");
  all["LD_PRELOAD"] = between;
  all["ATTNSCOPE_FAIL_CALL"] = fault.call;
  all["ATTNSCOPE_FAIL_AT"] = std::to_string(fault.at);
  all["ATTNSCOPE_FAIL_CODE"] = std::to_string(fault.code);
  all["ATTNSCOPE_FAIL_SECONDS"] = std::to_string(max_seconds);
  if (fault.stays) all["ATTNSCOPE_FAIL_STAYS"] = "1";
  if (!fault.stays) all["ATTNSCOPE_FAIL_ONCE"] = folder / "failed";
  if (fault.at_restart) all["ATTNSCOPE_FAIL_WHEN"] = mark;
  return all;
}

Calls GpuSetup::calls_of(const TemporaryFolder& home, const Words& words) const {
  Variables logging = variables();
  logging["ATTNSCOPE_FAIL_LOG"] = home / "calls.txt";
  logging["LD_PRELOAD"] = between;
  require_success(run(home, words, logging));
  Calls calls;
  std::ifstream lines(home / "calls.txt");
  std::string name;
  for (long count = 0; lines >> name >> count;) calls[name] = count;
  if (calls.size() < 20) throw std::runtime_error("no calls recorded (is the library preloaded?)");
  return calls;
}

Outcome GpuSetup::run(const TemporaryFolder& home, const Words& words, const Variables& variables) const {
  return testing::run(home, words, {.environment = variables, .program = program});
}

void require_success(const Outcome& outcome) {
  if (outcome.exit_code != 0) throw std::runtime_error("undisturbed: " + outcome.err + outcome.out);
}

void judge_end(const Outcome& outcome, const std::filesystem::path& file) {
  std::ofstream(file.parent_path() / "said.txt") << outcome.out << outcome.err;
  require(outcome.exit_code >= 0, fmt::format("the program was killed by signal {}", -outcome.exit_code));
  require(std::count(outcome.err.begin(), outcome.err.end(), '\n') <= 1,
          "more than one line on stderr: " + outcome.err);
}

bool is_near(double value, double wanted, double factor) {
  return value * factor >= wanted && value <= wanted * factor;
}

}  // namespace attnscope::testing
