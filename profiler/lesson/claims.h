// SPDX-License-Identifier: Apache-2.0
// Claims on trial: what an article or folklore says, held to the data in hand. A card is a front matter that names the
// kind of test and its parameters; a kind of test is one line in the table of claim_tests().
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/ceilings.h"
#include "kernels/model/law.h"
#include "profiler/lesson/front_reader.h"
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

enum class Unit { ratio, percent, bytes, nanoseconds, tflops, length, plain, bytes_per_second, flops };
/// "128 MiB", "4.00 ×", "1.2 ms", "116,224", as profiler/units has them: SI for rates, IEC for sizes.
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

struct Verdict {
  Outcome outcome = Outcome::not_testable;
  std::vector<ClaimFigure> figures{};
  std::vector<Row> points{};  ///< that it was computed from
  std::string because{};      ///< of not testable: a key of the lesson's words
  std::string detail{};       ///< behind it: what exactly is missing
  DataOf of{};
};

/// `states` give or take `tolerance` (relative, 0.1), or from `low` to `high`. A tolerance is the card's own, and so
/// are bounds but those that are `stated_by: source`.
struct Claimed {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  std::optional<double> stated{};
  double tolerance = 0;
  bool bounds_of_source = false;
  std::string left_open{};  ///< of a stated number: "batch, heads", of which its source does not say it
};

struct ClaimTest;

/// A card in one language.
struct Claim {
  std::string id{};  ///< the file's name
  std::string title{};
  std::string source{};  ///< "000, section 1.2", in the language where the card has it
  std::string order{};   ///< the source as every language sorts by it
  std::string text{};
  const ClaimTest* test = nullptr;
  // What its test takes.
  std::string from{};  ///< an algorithm, or `imported:` and another program's series
  std::string to{};
  std::string metric{};
  std::string points{};  ///< a query (point_query.h)
  std::string level{};
  LawVariable of = LawVariable::n;
  std::string ceiling{};
  std::string over{};
  std::string fault{};
  std::string missing{};
  AttentionProblem problem{};
  Claimed claimed{};
};

struct ClaimTest {
  std::string_view word;                ///< in front matters: `test: versus`
  std::vector<std::string_view> needs;  ///< keys without which a card is broken
  std::vector<std::string_view> takes;  ///< keys that it may have beside them
  bool of_bounds = true;                ///< it claims a number or bounds
  Verdict (*run)(const Claim&, const Evidence&) = nullptr;
  bool of_gpu = false;  ///< on the GPU at hand, without points
};
[[nodiscard]] std::span<const ClaimTest> claim_tests();

/// A card of which something is not understood would say something else than its author meant: the problems say so, and
/// there is no claim. `languages`: of which a card may have keys.
[[nodiscard]] std::optional<Claim> read_claim(const Document&, std::string_view language,
                                              const std::vector<std::string>& languages, const Registry&,
                                              std::vector<TextProblem>& problems);

/// What a card leaves open stands in Verdict::of. Never throws.
[[nodiscard]] Verdict judge(const Claim&, const Evidence&);

}  // namespace attnscope::analysis::lesson
