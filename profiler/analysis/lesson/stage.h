// SPDX-License-Identifier: Apache-2.0
// What the lesson's pictures are of, for the window and the page for browsers alike: which tile programs are played, on
// which numbers the online softmax is shown, which pairs of points are predicted, and what is drawn to one scale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/analysis/lesson/claims.h"
#include "profiler/analysis/lesson/online_softmax.h"
#include "profiler/analysis/lesson/pairs.h"
#include "profiler/analysis/lesson/player.h"
#include "profiler/analysis/lesson/texts.h"
#include "profiler/analysis/lesson/values.h"

namespace attnscope::analysis::lesson {

/// The GPU of the newest run that was not imported; of no runs the first of the table of GPUs.
[[nodiscard]] DeviceLimits newest_gpu(const PointTable&);

inline constexpr std::int64_t longest_played = 65536;
inline constexpr std::int64_t most_played_heads = 64;

/// What somebody chooses otherwise than the text does: 0 leaves the text's.
struct StageChoice {
  std::int64_t n = 0;
  int br = 0;
  int bc = 0;
  std::int64_t l2_bytes = 0;
  int heads = 0;
  std::int64_t m_elements = 0;  ///< of fp16: the tile is the paper's rule's, of which br and bc change sides
  Knobs knobs{};                ///< each algorithm takes those that it states
};
/// The algorithm as the front matter's `play...` lines have it: with the tile that is asked for where it runs, else the
/// algorithm's own; of N halved until it has `most` frames at the most, or nothing.
[[nodiscard]] std::optional<TilePlayer> staged_player(const Front&, const Evidence&, const Algorithm&, const Mask&,
                                                      std::size_t most, const StageChoice& = {});
/// The algorithms that `play` names, and the masks of `play_masks`, or none; what there is not is left out.
[[nodiscard]] std::vector<const Algorithm*> staged_algorithms(const Front&, const Registry&);
[[nodiscard]] std::vector<Mask> staged_masks(const Front&);
/// `play_knobs`: those of its knobs that one of the algorithms states, in its order, with the values to choose from:
/// the words of one that takes words, else powers of two.
struct StagedKnob {
  const Knob* knob = nullptr;
  std::vector<KnobValue> values{};
};
[[nodiscard]] std::vector<StagedKnob> staged_knobs(const Front&, const Registry&);
/// What is played beside the text's own, each a word of `play_also` as "bc=128", "m=16384", "heads=4,raster=...": n,
/// br, bc, heads, m, or a knob of one of the algorithms. What cannot be read is left out.
struct AlsoPlayed {
  std::string said{};  ///< "Bc 128"
  StageChoice choice{};
};
[[nodiscard]] std::vector<AlsoPlayed> also_played(const Front&, const Registry&);
/// Each is played of every algorithm: what stands beyond these is left out, too.
inline constexpr std::size_t most_also_played = 8;
/// Words of `play_also` that also_played() leaves out.
[[nodiscard]] std::vector<std::string> unread_also(const Front&, const Registry&);
/// Whether the player has the tile that was asked for.
[[nodiscard]] bool plays_what_was_chosen(const TilePlayer&, const StageChoice&);
/// Whether its N is shorter than what was asked for, since that has too many frames.
[[nodiscard]] bool plays_a_shorter_n(const Front&, const TilePlayer&, const StageChoice&);
/// The counters of the algorithm's longest point under that pass and mask, beside its closed form: of as many queries
/// as keys where there is such a point.
[[nodiscard]] std::optional<Residual> longest_counted(const Evidence&, std::string_view algorithm, Pass, const Mask&);

/// Rows of scores to see the online softmax on: the seeds' articles' numbers.
struct SoftmaxExample {
  std::string_view name{};
  SoftmaxRows rows{};
  std::vector<std::size_t> blocks{};  ///< sizes to play it in
};
[[nodiscard]] std::vector<SoftmaxExample> softmax_examples();

/// A pair of points whose ratio is predicted before it is shown: forward, without a mask, of each algorithm one a kind,
/// by telling_pairs().
struct Prediction {
  Doubled doubled = Doubled::n;
  std::string algorithm{};  ///< its short title
  std::string name{};       ///< the algorithm's
  Row from = 0;
  double model = 1;  ///< the ratio by the closed form
  double found = 1;  ///< by the bytes between L2 and SM
  /// "derived", "simulated", ...: a key of the lesson's words.
  std::string_view origin{};
  bool within_theorem = true;  ///< both points
};
[[nodiscard]] std::vector<Prediction> predictions(const Evidence&);

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

/// Occupancy changed alone: shared memory is taken beside each block's own, by the least that each number of blocks on
/// an SM asks for. Of `occupancy: ALGORITHM`, `occupancy_br`, `occupancy_bc`, over the setting's heads; modelled.
struct PaddedOccupancy {
  struct Step {
    std::int64_t padding_bytes = 0;
    int blocks_per_sm = 0;
    double warps_pct = 0;
    std::int64_t sm_l2_bytes = 0;
    double ns = 0;
  };
  PointSpec spec{};
  std::vector<Step> steps{};
};
[[nodiscard]] std::optional<PaddedOccupancy> padded_occupancy(const Front&, const Setting&, const Evidence&);

/// P beside what the backward pass keeps in its place.
[[nodiscard]] std::vector<Sized> backward_squares(const Setting&);

}  // namespace attnscope::analysis::lesson
