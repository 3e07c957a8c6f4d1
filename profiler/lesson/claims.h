// SPDX-License-Identifier: Apache-2.0
// Claims on trial: what an article or folklore says, held to the data in hand. A card is a file (document.h) whose
// front matter names the kind of test and its parameters; a kind of test is one line in the table of claim_tests().
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/ceilings.h"
#include "kernels/registry.h"
#include "profiler/lesson/lesson_text.h"
#include "profiler/points/point_table.h"

namespace attnscope::analysis::lesson {

/// What a lesson has in hand: points, the GPU that it speaks of, and what was measured of that GPU.
struct Evidence {
  const PointTable& points;
  std::vector<Row> rows;
  DeviceLimits gpu;
  std::vector<Ceiling> ceilings{};  ///< of that very GPU; empty: none were measured
  const Registry& registry;
};

enum class Unit {
  ratio,
  percent,
  bytes,
  bytes_si,
  nanoseconds,
  picoseconds,
  tflops,
  length,
  plain,
  bytes_per_second,
  flops
};
/// "128 MiB", "4.00 ×", "1.2 ms", "116,224", as profiler/units has them: SI for rates and bytes_si, IEC for sizes.
[[nodiscard]] std::string format_figure(double value, Unit);

/// `partly`: in some of several cases (problems, pairs, rows of a table) and not in the others.
enum class Outcome { held, partly, refuted, not_testable };
inline constexpr std::array outcomes{Outcome::held, Outcome::partly, Outcome::refuted, Outcome::not_testable};
/// "held", "partly", "refuted", "not-testable": the word in files.
[[nodiscard]] std::string_view to_string(Outcome);

/// A number that the outcome stands on. `label` is a key of the lesson's words ("claimed", "measured").
struct ClaimFigure {
  std::string_view label;
  double value = 0;
  Unit unit = Unit::plain;
  Provenance provenance = Provenance::modelled;
  std::string of{};               ///< which point or N, where there are several
  std::string_view said_by = {};  ///< a key of the lesson's words, where it is neither computed nor the source's:
                                  ///< "datasheet" of a table of GPUs, "stated" by the source, "ours"
};
/// A key of the lesson's words: where the figure comes from.
[[nodiscard]] std::string_view origin(const ClaimFigure&);

/// What the data of a verdict are of. So much of it stands beside the outcome.
struct DataOf {
  std::vector<std::string> gpus{};
  std::vector<std::string> own{};     ///< algorithms, by this program's kernels of them
  std::vector<std::string> others{};  ///< series that other programs' times were recorded as
  std::string_view level{};           ///< "sm-l2", "dram"; empty: no bytes of one level decide
};

/// Where the source speaks of something else than the data.
struct Mismatch {
  std::string_view word;  ///< a key of the lesson's words: "other_gpu", "other_kernel", "other_level"
  std::string source{};   ///< what the source speaks of, behind the words: a GPU's name, a level
};

struct Verdict {
  Outcome outcome = Outcome::not_testable;
  std::vector<ClaimFigure> figures{};
  std::vector<Row> points{};  ///< that it was computed from
  std::string because{};      ///< of not testable: a key of the lesson's words
  std::string detail{};       ///< behind it: what exactly is missing
  DataOf of{};
  std::vector<Mismatch> mismatches{};  ///< with one, it is not testable, and the figures stand beside the claim
};

/// What a kind of test looks at.
enum class DataKind : std::uint8_t {
  arithmetic,  ///< the same on every GPU and with every kernel
  gpu,         ///< the GPU at hand
  program,     ///< this program's kernels as they are written, on the GPU at hand
  points       ///< recorded points
};

struct ClaimTest {
  std::string_view word;                ///< in front matters: `test: versus`
  std::vector<std::string_view> needs;  ///< keys without which a card is broken
  std::vector<std::string_view> takes;  ///< keys that it may have beside them
  Verdict (*run)(const Front&, const Evidence&) = nullptr;
  DataKind data = DataKind::points;
  std::string_view level{};  ///< of memory, where no key of the card says it
};
[[nodiscard]] std::span<const ClaimTest> claim_tests();
[[nodiscard]] const ClaimTest* find_claim_test(std::string_view word);

/// What a source speaks of, a card says by `source_gpu`, `source_kernel: published` and `source_level`: it is held to
/// data of that alone, and is not testable where there are none. What the source does not say, and cases differ in, the
/// card names by `source_leaves`. What a card leaves open stands in Verdict::of.
/// Never throws: a card whose parameters cannot be read is not testable, and says why.
[[nodiscard]] Verdict judge(const Front&, const Evidence&);

}  // namespace attnscope::analysis::lesson
