// SPDX-License-Identifier: Apache-2.0
// Alignment of two sides of a comparison: the fields, knobs and device by which points are matched.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "profiler/points/point_table.h"

namespace attnscope::analysis {

struct Alignment {
  std::vector<std::string> fields;  ///< names of point fields
  std::vector<std::string> knobs;
  bool all_knobs = false;
  bool device = false;  ///< matched by device name

  /// Returns the alignment as keywords: "problem", "tile", "knobs", "device", and names of single fields and knobs.
  [[nodiscard]] std::vector<std::string> keywords() const;
};

/// Parses an alignment. `words`: names of fields and knobs, or "N", "problem" (all fields except algorithm and tile;
/// without the L2's state if exactly one side does not state it), "tile", "knobs", "device". All problem fields are
/// used if none is named. If `words` is empty: the problem, and each of algorithm, tile, knobs and device for which
/// both sides share a value. The error names the unknown keyword.
[[nodiscard]] Result<Alignment, Message> parse_alignment(std::span<const std::string> words, const PointTable&,
                                                         std::span<const Row> base, std::span<const Row> other);

/// Returns the alignment of two halves of one set of points: the fields, knobs and device that take the same set of
/// values on both sides.
[[nodiscard]] Alignment infer_alignment(const PointTable&, std::span<const Row> base, std::span<const Row> other);

}  // namespace attnscope::analysis
