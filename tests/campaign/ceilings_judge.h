// SPDX-License-Identifier: Apache-2.0
// What becomes of `ceilings` when a call of a GPU's libraries fails: no figure that an undisturbed measurement does not
// give, a line that names the call where one is missing, and nothing kept of a measurement that failed.
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
  /// `earlier`: a file with one run of two points, which is copied.
  CeilingsJudge(const GpuOfTests& gpu, const std::filesystem::path& earlier);

  [[nodiscard]] const Calls& calls() const override { return calls_; }
  void judge(const Fault& fault, const TemporaryFolder& folder, const std::filesystem::path& file) const override;

 private:
  using Figures = std::map<std::pair<std::string, double>, Ceiling>;  ///< by name and argument

  [[nodiscard]] static Words words(const std::filesystem::path& file);
  /// Those of each set that the file keeps.
  [[nodiscard]] static std::vector<Figures> sets_in(const std::filesystem::path& file);
  /// Whether they are all that there are undisturbed. Throws Wrong where one says what is not so.
  [[nodiscard]] bool judge_figures(const Figures& figures) const;
  [[nodiscard]] bool agree(const Ceiling& figure, const Ceiling& wanted) const;

  const GpuOfTests& gpu_;
  Calls calls_;
  Figures wanted_;
};

}  // namespace attnscope::testing
