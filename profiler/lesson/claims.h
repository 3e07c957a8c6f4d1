// SPDX-License-Identifier: Apache-2.0
// Claims: statements from papers, articles or folklore, tested against the loaded data. A card is a JSON file with the
// kind of test and its parameters; claim_tests() lists the kinds.
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
#include "kernels/registry.h"
#include "profiler/lesson/lesson_text.h"
#include "profiler/points/point_table.h"

namespace attnscope::analysis::lesson {

/// Measured ceilings of one device.
struct DeviceCeilings {
  std::string gpu;
  std::vector<Ceiling> ceilings;
};

/// Data that a lesson uses: points, the GPU it describes, and measured ceilings. Claims use the points of all GPUs.
struct Evidence {
  const PointTable& points;
  std::vector<Row> rows;  ///< points of `gpu`
  DeviceLimits gpu;
  std::vector<Ceiling> ceilings{};             ///< measured on `gpu`; empty if none
  std::vector<DeviceCeilings> all_ceilings{};  ///< of all devices
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

/// A number of the verdict. `label`: key of the lesson's texts ("claimed", "ridge").
struct ClaimFigure {
  std::string_view label;
  double value = 0;
  Unit unit = Unit::plain;
  std::string of{};
  /// Key of the lesson's texts: provenance, "datasheet", "stated" (by the source) or "ours".
  std::string_view origin;
};

/// A problem, pair of points or device for which the claim is tested.
struct ClaimCase {
  double value = 0;
  Provenance provenance = Provenance::measured;
  std::string gpu{};  ///< empty if the value is the same on every GPU
  std::vector<Row> points{};
  bool at_most = false;  ///< the value is an upper bound
};

/// Cases of one GPU.
struct GpuCases {
  std::string gpu{};
  std::vector<ClaimCase> cases{};  ///< sorted by value; not empty
  std::size_t inside = 0;          ///< cases within the claimed range

  [[nodiscard]] double median() const;
  [[nodiscard]] double spread() const { return cases.back().value - cases.front().value; }
  [[nodiscard]] Provenance provenance() const;  ///< the weakest one
};

struct Verdict {
  Outcome outcome = Outcome::not_testable;
  std::vector<ClaimFigure> claimed{};
  std::vector<GpuCases> found{};
  Unit unit = Unit::ratio;
  std::vector<ClaimFigure> beside{};
  std::string explanation{};          ///< if not testable: key of the lesson's texts
  std::string detail{};               ///< appended to `explanation`
  std::vector<std::string> own{};     ///< algorithms measured with this program's kernels
  std::vector<std::string> others{};  ///< series imported from other programs
  std::string_view level{};           ///< "sm-l2" or "dram"; empty if the claim is not about bytes of one level

  [[nodiscard]] std::vector<Row> points() const;
};

/// The claimed range: `states` ± `tolerance` (relative, 0.1 by default), or `low` to `high`. Tolerances, and bounds
/// without `stated_by: source`, are the card author's.
struct ClaimedRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  std::optional<double> stated{};
  double tolerance = 0;
  bool bounds_from_source = false;

  [[nodiscard]] bool contains(double value) const { return low <= value && value <= high; }
};

struct ClaimTest;

struct Claim {
  std::string id{};  ///< file name without extension
  double order = 0;
  std::string title{};
  std::string source{};
  std::string gpu{};  ///< GPU that the source names
  std::string text{};
  std::string published{};  ///< numbers of the source, shown as imported
  std::string changes{};    ///< what would change the verdict
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
  AttentionProblem problem{};
  ClaimedRange claimed{};
};

/// Result of a test. Without cases, `none` is the reason: the data lack them.
struct ClaimFindings {
  std::vector<ClaimCase> cases{};
  Unit unit = Unit::ratio;
  std::string none{};  ///< key of the lesson's texts
  std::string detail{};
  std::vector<ClaimFigure> beside{};
};

struct ClaimTest {
  std::string_view word;                ///< name on the card: "versus"
  std::vector<std::string_view> needs;  ///< required members
  ClaimFindings (*run)(const Claim&, const Evidence&) = nullptr;
};
[[nodiscard]] std::span<const ClaimTest> claim_tests();

/// Prefix of a card's `from` and `to` for series of other programs: "imported:torch-flash".
inline constexpr std::string_view imported_series = "imported:";

/// Reads a card (JSON). If any part is not understood, adds problems and returns nullopt, because the rest could
/// misstate the claim.
[[nodiscard]] std::optional<Claim> read_claim(const std::string& file, std::string_view text, std::string_view language,
                                              const KnownNames&, const Registry&, std::vector<TextProblem>& problems);

/// Judges a claim by its cases: held if all are within the claimed range, refuted if none is, partly held otherwise.
/// Not testable if the source names a GPU that the data lack; or if it names none, states a number, and GPUs of the
/// data differ by more than the cases of each.
[[nodiscard]] Verdict judge_cases(const Claim&, ClaimFindings);

/// Tests a claim; unavailable data are noted in the verdict. Never throws.
[[nodiscard]] Verdict judge(const Claim&, const Evidence&);

/// Returns the card's HTML: claim and choices, then the verdict, hidden. `text`: renders the card's Markdown.
struct LessonTexts;
[[nodiscard]] std::string claim_html(const Claim&, const Verdict&, const Evidence&, const LessonTexts&,
                                     const MarkRenderer&);

}  // namespace attnscope::analysis::lesson
