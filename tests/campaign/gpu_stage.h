// SPDX-License-Identifier: Apache-2.0
// Where calls of a GPU's libraries are let fail: the program, what is preloaded into it, and the library that stands
// for a GPU, or the GPU of this machine.
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

struct GpuOfTests {
  std::filesystem::path program = beside_us("attnscope", ATTNSCOPE_PROGRAM);
  std::filesystem::path between = beside_us("libattnscope_fail_gpu.so", ATTNSCOPE_FAIL_GPU_LIBRARY);
  std::filesystem::path fake = beside_us("libattnscope_fake_gpu.so", ATTNSCOPE_FAKE_GPU_LIBRARY);
  bool real = false;

  /// That names it to the program; `faults` are of the library that stands for a GPU (tests/gpu/fake).
  [[nodiscard]] Variables variables(const std::string& faults = {}) const;
  /// The same with `fault`. What it needs is kept in `folder`.
  [[nodiscard]] Variables disturbed(const Fault& fault, const TemporaryFolder& folder) const;
  /// Runs the program with nothing failing. Throws std::runtime_error where it does not succeed. Returns how often it
  /// calls each function.
  [[nodiscard]] Calls calls_of(const TemporaryFolder& home, const Words& words) const;
  [[nodiscard]] Outcome run(const TemporaryFolder& home, const Words& words, const Variables& variables) const;
};

/// Throws std::runtime_error with what it said.
void require_success(const Outcome& outcome);

/// Looks at what becomes of one thing that the program does.
class Judge {
 public:
  virtual ~Judge() = default;
  /// How often it calls each function when nobody disturbs it.
  [[nodiscard]] virtual const Calls& calls() const = 0;
  /// `file` holds one earlier run. Throws Wrong.
  virtual void judge(const Fault& fault, const TemporaryFolder& folder, const std::filesystem::path& file) const = 0;

 protected:
  Judge() = default;
  Judge(const Judge&) = default;
  Judge& operator=(const Judge&) = default;
};

/// What must hold of any command that was disturbed: it ended by itself, in time, and said no more than a line.
void judge_end(const Outcome& outcome, const std::filesystem::path& file);

/// Within `factor` of `wanted`, either way.
[[nodiscard]] bool is_near(double value, double wanted, double factor);

}  // namespace attnscope::testing
