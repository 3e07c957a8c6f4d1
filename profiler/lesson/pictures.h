// SPDX-License-Identifier: Apache-2.0
// What the lesson's pictures are of, beside tile programs: numbers for the online softmax, pairs of points that are
// predicted, and what is drawn to one scale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/lesson/claims.h"
#include "profiler/lesson/pairs.h"
#include "profiler/lesson/texts.h"
#include "profiler/lesson/values.h"

namespace attnscope::analysis::lesson {

/// All of the points, with the GPU of the newest run that was not imported; of no runs the first of the table of GPUs.
[[nodiscard]] Evidence evidence_of(const PointTable&);

/// Drawn as a square whose area is `bytes`; `label` is ready to be read.
struct Sized {
  std::string label{};
  double bytes = 0;
};
/// One head's matrices beside the memories of an SM and the L2, and all heads' beside DRAM: two pictures, a scale each.
[[nodiscard]] std::vector<std::vector<Sized>> ledger_squares(const LessonTexts&, const Setting&, const DeviceLimits&);
/// The same at some N, each twice the one before, the setting's own among them.
struct LedgerFrame {
  std::int64_t n = 0;
  std::vector<std::vector<Sized>> pictures{};
};
[[nodiscard]] std::vector<LedgerFrame> ledger_frames(const LessonTexts&, const Setting&, const DeviceLimits&);

/// P beside what the backward pass keeps in its place.
[[nodiscard]] std::vector<Sized> backward_squares(const Setting&);

}  // namespace attnscope::analysis::lesson
