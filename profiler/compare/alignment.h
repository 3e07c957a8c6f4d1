// SPDX-License-Identifier: Apache-2.0
// By what points of two sides of a comparison are partners: fields, knobs and the device.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "profiler/points/point_table.h"

namespace attnscope::analysis {

/// By what points of two sides are partners.
struct Alignment {
  std::vector<std::string> fields;  ///< of the table of fields
  std::vector<std::string> knobs;
  bool all_knobs = false;
  bool device = false;  ///< by name

  /// "problem, tile, knobs, device" and what else it is made of.
  [[nodiscard]] std::vector<std::string> words() const;
};

/// `words`: names of fields and knobs, "N", "problem" (every field but algorithm and tile), "tile", "knobs", "device".
/// Where none of them is of the problem, all of the problem is meant. Empty: the problem, and of algorithm, tile, knobs
/// and device whatever both sides have a value of in common. The error names the word that is none.
[[nodiscard]] Result<Alignment, Message> alignment_of(std::span<const std::string> words, const PointTable&,
                                                      std::span<const Row> base, std::span<const Row> other);

/// What sides have in common that are two halves of something: every field and knob, and the device, that has the same
/// values on both.
[[nodiscard]] Alignment alignment_of_halves(const PointTable&, std::span<const Row> base, std::span<const Row> other);

}  // namespace attnscope::analysis
