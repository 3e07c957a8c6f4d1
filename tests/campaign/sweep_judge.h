// SPDX-License-Identifier: Apache-2.0
// Checks a sweep with a failing call of the driver, NVRTC, CUPTI or NVML: every value agrees with an undisturbed sweep,
// an error names the call if something is missing, the GPU is not replaced by a simulation, earlier data are kept, and
// `--resume` completes the run.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gpu_stage.h"
#include "storage/run_store.h"

namespace attnscope::testing {

/// Result of a point without timestamps.
struct Finding {
  Disposition disposition = Disposition::ok;
  std::string reason;
  std::map<std::string, double> metrics;               ///< Keyed by kernel and name.
  std::map<std::string, std::vector<double>> samples;  ///< Keyed by kernel.
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
  /// `what`: FaultTarget::sweep or sweep_with_metrics. `earlier`: file with one run of two points; it is copied.
  SweepJudge(const GpuSetup& gpu, FaultTarget what, const std::filesystem::path& earlier);

  [[nodiscard]] const Calls& calls() const override { return calls_; }
  void judge(const Fault& fault, const TemporaryFolder& folder, const std::filesystem::path& file) const override;

  /// Command for a sweep over these lengths, with events on stdout.
  [[nodiscard]] static Words sweep(const std::string& lengths, const std::filesystem::path& file);

 private:
  [[nodiscard]] Words words(const std::filesystem::path& file) const;
  /// Returns true if the sweep equals an undisturbed one. Throws Wrong for a value that disagrees.
  [[nodiscard]] bool judge_points(const Sweep& sweep, const Fault& fault) const;
  void judge_point(std::size_t index, const Finding& point, const Finding& wanted) const;

  const GpuSetup& gpu_;
  FaultTarget what_;
  Calls calls_;
  Sweep wanted_;
};

}  // namespace attnscope::testing
