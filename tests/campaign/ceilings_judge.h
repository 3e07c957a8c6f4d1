// SPDX-License-Identifier: Apache-2.0
// Checks `ceilings` with a failing call of the driver, NVRTC, CUPTI or NVML: every value agrees with an undisturbed
// measurement, an error names the call if a value is missing, and a failed measurement stores nothing.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gpu_stage.h"
#include "kernels/model/ceilings.h"

namespace attnscope::testing {

class CeilingsJudge final : public Judge {
 public:
  /// `earlier`: file with one run of two points; it is copied.
  CeilingsJudge(const GpuSetup& gpu, const std::filesystem::path& earlier);

  [[nodiscard]] const Calls& calls() const override { return calls_; }
  void judge(const Fault& fault, const TemporaryFolder& folder, const std::filesystem::path& file) const override;

 private:
  using Figures = std::map<std::pair<std::string, double>, Ceiling>;  ///< Keyed by name and argument.

  [[nodiscard]] static Words words(const std::filesystem::path& file);
  [[nodiscard]] static std::vector<Figures> read_ceiling_sets(const std::filesystem::path& file);
  /// Returns true if no ceiling is missing. Throws Wrong for a value that disagrees.
  [[nodiscard]] bool judge_figures(const Figures& figures) const;
  [[nodiscard]] bool agree(const Ceiling& figure, const Ceiling& wanted) const;

  const GpuSetup& gpu_;
  Calls calls_;
  Figures wanted_;
};

}  // namespace attnscope::testing
