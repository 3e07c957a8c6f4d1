// SPDX-License-Identifier: Apache-2.0
// What becomes of a sweep in which a call of a GPU's libraries fails: no value that an undisturbed one does not give, a
// line that names the call where anything is missing, no simulation in the GPU's place, what was collected before is
// there, and `--resume` completes the run.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gpu_stage.h"
#include "storage/run_store.h"

namespace attnscope::testing {

/// What a point says of the GPU, without when and for how long.
struct Finding {
  Disposition disposition = Disposition::ok;
  std::string reason;
  std::map<std::string, double> metrics;               ///< by kernel and name
  std::map<std::string, std::vector<double>> samples;  ///< by kernel
  std::vector<LaunchRecord> launches;
  std::optional<ClockReading> clocks;
  std::optional<double> error;
};

struct Sweep {
  StoredRunState state = StoredRunState::complete;
  std::map<std::size_t, Finding> points;
};

class SweepJudge final : public Judge {
 public:
  /// `what`: Disturbed::sweep or sweep_with_metrics. `earlier`: a file with one run of two points, which is copied.
  SweepJudge(const GpuOfTests& gpu, Disturbed what, const std::filesystem::path& earlier);

  [[nodiscard]] const Calls& calls() const override { return calls_; }
  void judge(const Fault& fault, const TemporaryFolder& folder, const std::filesystem::path& file) const override;

  /// A sweep over these lengths into the file; its events go to stdout.
  [[nodiscard]] static Words sweep(const std::string& lengths, const std::filesystem::path& file);

 private:
  [[nodiscard]] Words words(const std::filesystem::path& file) const;
  /// Whether the sweep is what an undisturbed one is; throws Wrong where it says what that does not.
  [[nodiscard]] bool judge_points(const Sweep& sweep, const Fault& fault) const;
  void judge_point(std::size_t index, const Finding& point, const Finding& wanted) const;

  const GpuOfTests& gpu_;
  Disturbed what_;
  Calls calls_;
  Sweep wanted_;
};

}  // namespace attnscope::testing
