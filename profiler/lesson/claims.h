// SPDX-License-Identifier: Apache-2.0
// Claims: statements from papers, articles or folklore, tested against the loaded data. A card is a JSON file with the
// kind of test and its parameters; claim_tests() lists the kinds.
#pragma once

#include <array>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/lesson/evidence.h"
#include "profiler/lesson/json_card.h"

namespace attnscope::analysis::lesson {

/// Formats a value: "4.00 ×" for the unit "×", "N 1448" for "N", otherwise as value_text().
[[nodiscard]] std::string figure_text(double value, std::string_view unit);

/// `partly`: holds in some cases (problems, pairs, rows of a table) but not in others.
enum class Outcome { held, partly, refuted, not_testable };
inline constexpr std::array outcomes{Outcome::held, Outcome::partly, Outcome::refuted, Outcome::not_testable};
/// Returns "held", "partly", "refuted" or "not-testable", as used in files.
[[nodiscard]] std::string_view to_string(Outcome);

/// A number of the verdict. `label`: key of the lesson's texts ("claimed", "ridge").
struct ClaimFigure {
  std::string_view label;
  double value = 0;
  std::string_view unit = "1";
  /// Key of the lesson's texts: provenance, "datasheet", "stated" (by the source) or "ours".
  std::string_view origin;
  std::string of{};
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
};

struct Verdict {
  Outcome outcome = Outcome::not_testable;
  std::vector<ClaimFigure> claimed{};
  std::vector<GpuCases> found{};
  std::string_view unit = "×";
  std::vector<ClaimFigure> beside{};
  std::string explanation{};  ///< if not testable: key of the lesson's texts
  std::string detail{};       ///< appended to `explanation`

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
  std::map<std::string, std::string, std::less<>> parameters{};  ///< those of the test
  ClaimedRange claimed{};

  /// Empty if the test has no such parameter.
  [[nodiscard]] std::string_view parameter(std::string_view key) const;
};

/// Result of a test. Without cases, `none` is the reason: the data lack them.
struct ClaimFindings {
  std::vector<ClaimCase> cases{};
  std::string_view unit = "×";
  std::string none{};  ///< key of the lesson's texts
  std::string detail{};
  std::vector<ClaimFigure> beside{};
};

struct ClaimTest {
  std::string_view word;                     ///< name on the card: "versus"
  std::vector<std::string_view> parameters;  ///< required members
  ClaimFindings (*run)(const Claim&, const Evidence&) = nullptr;
};
[[nodiscard]] std::span<const ClaimTest> claim_tests();

/// Prefix of a card's `from` and `to` for series of other programs: "imported:torch-flash".
inline constexpr std::string_view imported_series = "imported:";
/// Returns the name of an algorithm or series without the prefix.
[[nodiscard]] std::string_view series_name(std::string_view side);

/// Reads a card. Check its problems: the rest of an invalid card could misstate the claim.
[[nodiscard]] Claim read_claim(JsonCard&, const Registry&);

/// Judges a claim by its cases: held if all are within the claimed range, refuted if none is, partly held otherwise.
/// Not testable if the source names a GPU that the data lack; or if it names none, states a number, and GPUs of the
/// data differ by more than the cases of each.
[[nodiscard]] Verdict judge_cases(const Claim&, ClaimFindings);

/// Tests a claim; unavailable data are noted in the verdict. Never throws.
[[nodiscard]] Verdict judge(const Claim&, const Evidence&);

/// Returns the card's HTML: claim and choices, then the verdict, hidden.
struct LessonTexts;
[[nodiscard]] std::string claim_html(const Claim&, const Verdict&, const Evidence&, const LessonTexts&,
                                     const MarkRenderer&);

}  // namespace attnscope::analysis::lesson
