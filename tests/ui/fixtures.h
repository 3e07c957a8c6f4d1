// SPDX-License-Identifier: GPL-3.0-or-later
// Databases that look like a GPU's, made without one: traffic from the closed forms, times from a roofline.
#pragma once

#include <QString>
#include <vector>

#include "storage/run_store.h"
#include "ui/workspace.h"

namespace attnscope::ui::fixtures {

/// An H200 under the name "NVIDIA H200", measured or simulated.
[[nodiscard]] DeviceInfo device(bool simulated = false);

[[nodiscard]] PointSpec spec(const std::string& algorithm, std::int64_t n, int br = 128, int bc = 64,
                             std::int64_t d = 128);

/// An ok point whose SM<->L2 bytes are the model's x 1.001, and whose DRAM bytes lie between the compulsory minimum and
/// that, depending on the L2.
[[nodiscard]] PointRecord ok_point(const PointSpec& spec, bool simulated = false);
[[nodiscard]] PointRecord failed_point(const PointSpec& spec, Disposition disposition, const std::string& reason);

/// N 256 ... 16384 for all algorithms that take so many queries, naive out of memory at the end.
[[nodiscard]] std::vector<PointRecord> memory_wall(bool simulated = false);
/// Br x Bc of FA1 and FA2 at one N, with infeasible corners and some other ends.
[[nodiscard]] std::vector<PointRecord> tile_sweep();

/// A time of another program: no counters, no tile.
[[nodiscard]] PointRecord imported_point(const std::string& algorithm, const AttentionProblem& problem,
                                         double nanoseconds);
/// "torch-flash" and "torch-cudnn" at the memory wall's problems.
[[nodiscard]] std::vector<PointRecord> peers();
[[nodiscard]] PointSpec decode_spec(const std::string& algorithm, std::int64_t n_k, std::int64_t n_q = 1);
/// One query against n_k 1024 ... 65536, naive and FA2.
[[nodiscard]] std::vector<PointRecord> decoding();
/// Naive and FA2 backward at N 512 ... 8192, full and causal, with bytes from counts rather than from kernels.
[[nodiscard]] std::vector<PointRecord> backward();

/// The same points as the workspace gives them, without a file; the run has the first one's provenance.
[[nodiscard]] std::vector<ShownPoint> shown(const std::vector<PointRecord>& records, bool simulated = false,
                                            std::int64_t run = 1);

/// Writes runs into a new file.
struct RunOf {
  std::string preset;
  std::vector<PointRecord> points;
  bool simulated = false;
  bool imported = false;
};
void write_file(const QString& path, const std::vector<RunOf>& runs);

}  // namespace attnscope::ui::fixtures
