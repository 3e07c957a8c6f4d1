// SPDX-License-Identifier: Apache-2.0
// Claims: statements from articles or folklore, tested against the loaded data. A card is a front matter with the kind
// of test and its parameters; claim_tests() lists the kinds.
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
#include "profiler/lesson/front_matter_reader.h"
#include "profiler/points/point_table.h"

namespace attnscope::analysis::lesson {

/// Data that a lesson uses: points, the GPU it describes, and measured ceilings of that GPU.
struct Evidence {
  const PointTable& points;
  std::vector<Row> rows;
  DeviceLimits gpu;
  std::vector<Ceiling> ceilings{};  ///< measured on `gpu`; empty if none
  const Registry& registry;
};

enum class Unit { ratio, percent, bytes, nanoseconds, tflops, length, plain, bytes_per_second, flops };
/// Formats a value as profiler/units does: "128 MiB", "4.00 ×", "1.2 ms", "116,224"; SI for rates, IEC for sizes.
[[nodiscard]] std::string format_figure(double value, Unit);

/// `partly`: holds in some cases (problems, pairs, rows of a table) but not in others.
enum class Outcome { held, partly, refuted, not_testable };
inline constexpr std::array outcomes{Outcome::held, Outcome::partly, Outcome::refuted, Outcome::not_testable};
/// Returns "held", "partly", "refuted" or "not-testable", as used in files.
[[nodiscard]] std::string_view to_string(Outcome);

/// A number that the outcome is based on. `label`: key of the lesson's texts ("claimed", "measured").
struct ClaimFigure {
  std::string_view label;
  double value = 0;
  Unit unit = Unit::plain;
  Provenance provenance = Provenance::modeled;
  std::string of{};  ///< point or N, if there are several
  /// Key of the lesson's texts if the value is not computed: "datasheet", "stated" (by the source) or "ours".
  std::string_view origin_key = {};
};
[[nodiscard]] std::string_view origin(const ClaimFigure&);

/// Description of the data behind a verdict, shown next to the outcome.
struct DataSummary {
  std::vector<std::string> gpus{};
  std::vector<std::string> own{};     ///< algorithms measured with this program's kernels
  std::vector<std::string> others{};  ///< series imported from other programs
  std::string_view level{};           ///< "sm-l2" or "dram"; empty if the claim is not about bytes of one level
};

struct Verdict {
  Outcome outcome = Outcome::not_testable;
  std::vector<ClaimFigure> figures{};
  std::vector<Row> points{};
  std::string explanation{};  ///< if not testable: key of the lesson's texts
  std::string detail{};       ///< appended to `explanation`: what is missing
  DataSummary of{};
};

/// The claimed range: `states` ± `tolerance` (relative, 0.1 by default), or `low` to `high`. Tolerances, and bounds
/// without `stated_by: source`, are the card author's.
struct ClaimedRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  std::optional<double> stated{};
  double tolerance = 0;
  bool bounds_from_source = false;
  std::string open_conditions{};  ///< conditions that the source of a stated number does not give: "batch, heads"
};

struct ClaimTest;

struct Claim {
  std::string id{};  ///< file name without extension
  std::string title{};
  std::string source{};  ///< "000, section 1.2", translated if the card has a translation
  std::string order{};   ///< untranslated source, for sorting
  std::string text{};
  const ClaimTest* test = nullptr;
  std::string from{};  ///< an algorithm, or `imported:` and a series of another program
  std::string to{};
  std::string metric{};
  std::string points{};  ///< filter (point_query.h)
  std::string level{};
  LawVariable of = LawVariable::n;
  std::string ceiling{};
  std::string over{};
  std::string fault{};
  std::string missing{};
  AttentionProblem problem{};
  ClaimedRange claimed{};
};

struct ClaimTest {
  std::string_view word;                ///< name in the front matter: `test: versus`
  std::vector<std::string_view> needs;  ///< required keys
  std::vector<std::string_view> takes;  ///< optional keys
  bool has_bounds = true;               ///< the card claims a number or bounds
  Verdict (*run)(const Claim&, const Evidence&) = nullptr;
  bool of_gpu = false;  ///< tests the GPU itself and uses no points
};
[[nodiscard]] std::span<const ClaimTest> claim_tests();

/// Reads a card. If any part is not understood, adds problems and returns nullopt, because the rest could misstate the
/// claim. `languages`: languages with keys in the card.
[[nodiscard]] std::optional<Claim> read_claim(const Document&, std::string_view language,
                                              const std::vector<std::string>& languages, const Registry&,
                                              std::vector<TextProblem>& problems);

/// Tests a claim; unavailable data are noted in the verdict. Never throws.
[[nodiscard]] Verdict judge(const Claim&, const Evidence&);

}  // namespace attnscope::analysis::lesson
