// SPDX-License-Identifier: Apache-2.0
// Synthetic points without a GPU: traffic from the closed forms, times from a roofline.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "profiler/points/point_table.h"

namespace attnscope::fixtures {

inline constexpr std::int64_t kib = 1024;

[[nodiscard]] const DeviceLimits& h200();

[[nodiscard]] PointSpec spec(const std::string& algorithm, std::int64_t n, int br = 128, int bc = 64,
                             std::int64_t d = 128);

/// Ok point with SM<->L2 bytes of the model x 1.001, and DRAM bytes between compulsory and SM<->L2 bytes, depending on
/// L2.
[[nodiscard]] PointRecord ok_point(const PointSpec& spec, bool simulated = false);
[[nodiscard]] PointRecord failed_point(const PointSpec& spec, Disposition disposition, const Message& reason);

/// N 256 ... 16384 of naive, FA1 and FA2; naive is out of memory at the largest.
[[nodiscard]] std::vector<PointRecord> memory_wall(bool simulated = false);
/// Br x Bc of FA1 and FA2 at one N, with infeasible corners and other dispositions.
[[nodiscard]] std::vector<PointRecord> tile_sweep();

/// Imported time without counters and tile.
[[nodiscard]] PointRecord imported_point(const std::string& algorithm, const AttentionProblem& problem,
                                         double nanoseconds);
/// "torch-flash" and "torch-cudnn" for the problems of memory_wall().
[[nodiscard]] std::vector<PointRecord> peers();
[[nodiscard]] PointSpec decode_spec(const std::string& algorithm, std::int64_t n_k, std::int64_t n_q = 1);
/// One query against n_k 1024 ... 65536, naive and FA2.
[[nodiscard]] std::vector<PointRecord> decoding();
/// Naive and FA2 backward at N 512 ... 8192, full and causal; bytes given instead of computed from a plan.
[[nodiscard]] std::vector<PointRecord> backward();

[[nodiscard]] analysis::Run run(Provenance provenance = Provenance::measured, const std::string& title = "test",
                                const std::string& started_at = "2026-01-01T00:00:00Z");

class Points {
 public:
  Points() = default;
  explicit Points(const std::vector<PointRecord>& records) { add(records); }

  Points& add(const std::vector<PointRecord>& records, const analysis::Run& run);
  Points& add(const std::vector<PointRecord>& records);
  [[nodiscard]] analysis::PointTable table() const;
  [[nodiscard]] const std::vector<PointRecord>& records() const { return records_; }

 private:
  std::vector<PointRecord> records_;
  std::vector<analysis::RunIndex> run_of_;
  std::vector<analysis::Run> runs_;
};

}  // namespace attnscope::fixtures
