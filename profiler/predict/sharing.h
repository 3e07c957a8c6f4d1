// SPDX-License-Identifier: Apache-2.0
// Points of sequences that several GPUs share, each beside the point of one GPU that solves the same problem: how much
// of P times the speed they reach, what of the links' time is hidden, and from which length it could be.
#pragma once

#include <optional>
#include <vector>

#include "kernels/model/schedule.h"
#include "profiler/points/point_table.h"
#include "profiler/points/table.h"

namespace attnscope::analysis {

struct SharedPoint {
  Row row = 0;
  std::optional<Row> alone{};  ///< of one GPU, in the same run
  PointSpec spec;
  double tokens = 0;                       ///< of each GPU
  double ns = 0;                           ///< the median
  std::optional<double> efficiency{};      ///< t1 / (P tP)
  std::optional<double> hidden{};          ///< share of its copies' time that the busiest GPU does not wait
  std::optional<double> attention_rate{};  ///< F: FLOP/s of a GPU's attention, the mean of all
  std::optional<double> link_rate{};       ///< B: bytes a second that a GPU sends
  /// Tokens of a GPU from which its copies hide: (F/B) (h_kv/h_q) elements' bytes/2, of this very point (H. Liu et al.,
  /// Ring Attention, arXiv 2310.01889, section 3; there of as many K/V heads as query heads); twice that where a step
  /// computes half of its pairs. Nothing of what does not copy while it computes.
  std::optional<double> hides_from{};
};

/// Those of more than one GPU that ran, by problem, number of GPUs and N.
[[nodiscard]] std::vector<SharedPoint> shared_points(const PointTable&);
/// By which rate a prediction's copies go, and whether that was measured.
[[nodiscard]] Message link_words(const LinkRate&, bool measured);

/// Programs read numbers in base units. The points' table has to outlive it.
[[nodiscard]] Table sharing_table(const PointTable&, std::vector<SharedPoint>, bool people = true);

}  // namespace attnscope::analysis
