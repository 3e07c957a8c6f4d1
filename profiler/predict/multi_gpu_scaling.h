// SPDX-License-Identifier: Apache-2.0
// Scaling of problems shared by several GPUs against one GPU: efficiency, hidden copy time, and the sequence length
// from which copies could be hidden.
#pragma once

#include <optional>
#include <vector>

#include "kernels/model/schedule.h"
#include "profiler/points/point_table.h"
#include "profiler/points/table.h"

namespace attnscope::analysis {

struct MultiGpuPoint {
  Row row = 0;
  std::optional<Row> alone{};  ///< the same problem on one GPU, in the same run
  PointSpec spec;
  double tokens = 0;                       ///< per GPU
  double ns = 0;                           ///< median
  std::optional<double> efficiency{};      ///< t1 / (P tP)
  std::optional<double> hidden{};          ///< share of copy time overlapped with computation on the busiest GPU
  std::optional<double> attention_rate{};  ///< F: attention FLOP/s per GPU, mean over GPUs
  std::optional<double> link_rate{};       ///< B: bytes per second that a GPU sends
  /// Tokens per GPU from which copies are hidden: (F/B) (h_kv/h_q) (element bytes)/2 (H. Liu et al., Ring Attention,
  /// arXiv 2310.01889, section 3, extended to GQA); doubled if a step computes only half of its pairs. Empty for
  /// algorithms that do not copy while computing.
  std::optional<double> hides_from{};
};

/// Points of several GPUs that ran, ordered by run, algorithm, problem, number of GPUs and N.
[[nodiscard]] std::vector<MultiGpuPoint> multi_gpu_points(const PointTable&);
/// Rate and latency of the link used in a prediction, and whether they were measured.
[[nodiscard]] Message link_text(const LinkRate&, bool measured);

/// `people` false: numbers in base units. `points` must outlive the table.
[[nodiscard]] Table sharing_table(const PointTable&, std::vector<MultiGpuPoint>, bool people = true);

}  // namespace attnscope::analysis
