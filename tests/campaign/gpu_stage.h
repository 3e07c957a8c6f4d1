// SPDX-License-Identifier: Apache-2.0
// Environment for failing GPU calls: the program, the preload library, and the fake GPU library or the real GPU.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "cases.h"
#include "gpu_fault.h"
#include "tests/app/subprocess.h"

namespace attnscope::testing {

using Words = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

struct GpuSetup {
  std::filesystem::path program = sibling_file("attnscope", ATTNSCOPE_PROGRAM);
  std::filesystem::path between = sibling_file("libattnscope_fail_gpu.so", ATTNSCOPE_FAIL_GPU_LIBRARY);
  std::filesystem::path fake = sibling_file("libattnscope_fake_gpu.so", ATTNSCOPE_FAKE_GPU_LIBRARY);
  bool real = false;

  /// Environment that selects the GPU; `faults`: options of the fake library (tests/gpu/fake).
  [[nodiscard]] Variables variables(const std::string& faults = {}) const;
  /// Like variables(), with `fault`; state is kept in `folder`.
  [[nodiscard]] Variables disturbed(const Fault& fault, const TemporaryFolder& folder) const;
  /// Runs the program without failures and returns the number of calls per function. Throws std::runtime_error if the
  /// run fails.
  [[nodiscard]] Calls calls_of(const TemporaryFolder& home, const Words& words) const;
  [[nodiscard]] Outcome run(const TemporaryFolder& home, const Words& words, const Variables& variables) const;
};

/// Throws std::runtime_error with the program's output if it failed.
void require_success(const Outcome& outcome);

class Judge {
 public:
  virtual ~Judge() = default;
  /// Calls per function in an undisturbed run.
  [[nodiscard]] virtual const Calls& calls() const = 0;
  /// `file` contains one earlier run. Throws Wrong.
  virtual void judge(const Fault& fault, const TemporaryFolder& folder, const std::filesystem::path& file) const = 0;

 protected:
  Judge() = default;
  Judge(const Judge&) = default;
  Judge& operator=(const Judge&) = default;
};

/// Checks common to all disturbed commands: the program exited within the limit, without a signal, and printed at most
/// one line to stderr.
void judge_end(const Outcome& outcome, const std::filesystem::path& file);

/// Returns true if the ratio of the values is at most `factor`.
[[nodiscard]] bool is_near(double value, double wanted, double factor);

}  // namespace attnscope::testing
