// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "profiler/lesson/claims.h"
#include "profiler/lesson/texts.h"
#include "profiler/plan/text.h"

namespace attnscope::analysis::lesson {
namespace {

/// Draws the cases of each GPU as dots above an axis, and the claimed range as a band. The axis is logarithmic if the
/// values span a factor of 8 or more.
std::string strip_plot(const Claim& claim, const Verdict& verdict) {
  const ClaimedRange& claimed = claim.claimed;
  std::vector<double> values{claimed.low, claimed.high};
  for (const GpuCases& group : verdict.found) {
    for (const ClaimCase& each : group.cases) values.push_back(each.value);
  }
  const bool single = values.size() < 4;
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  const auto [low, high] = std::ranges::minmax(values);
  if (single || !(low < high)) return {};
  const bool log = low > 0 && high / low >= 8;
  const auto x = [&, low = low, high = high](double value) {
    return 40 + 560 * (log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low));
  };
  constexpr double width = 640;
  const double base = 8 + 34 * static_cast<double>(verdict.found.size());
  const double from = std::isfinite(claimed.low) ? x(claimed.low) : 0;
  const double to = std::isfinite(claimed.high) ? x(claimed.high) : width;
  std::string drawn = fmt::format(R"(<rect class="band" x="{:.1f}" y="4" width="{:.1f}" height="{:.1f}"/>)", from,
                                  std::max(2.0, to - from), base - 4);
  double y = 8;
  for (const GpuCases& group : verdict.found) {
    drawn += fmt::format(R"(<text x="0" y="{:.1f}">{}</text>)", y + 10, markup(group.gpu));
    for (const ClaimCase& each : group.cases) {
      if (std::isfinite(each.value))
        drawn += fmt::format(R"(<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="5"/>)",
                             claimed.contains(each.value) ? "inside" : "outside", x(each.value), y + 20);
    }
    y += 34;
  }
  drawn += fmt::format(R"(<path d="M0 {0:.1f}H{1:.0f}"/>)", base, width);
  const auto tick = [&](double value) {
    drawn += fmt::format(R"(<text class="tick" x="{:.1f}" y="{:.1f}">{}</text>)", x(value), base + 18,
                         markup(figure_text(value, verdict.unit)));
  };
  tick(low);
  tick(high);
  const double stated = claimed.stated.value_or(std::isfinite(claimed.low) ? claimed.low : claimed.high);
  constexpr double label_width = 90;
  if (std::min(x(stated) - x(low), x(high) - x(stated)) > label_width) tick(stated);
  return fmt::format(R"(<svg class="strip" viewBox="0 0 {:.0f} {:.0f}" role="img">{}</svg>)", width, base + 24, drawn);
}

class Card {
 public:
  Card(const Claim& claim, const Verdict& verdict, const Evidence& evidence, const LessonTexts& texts,
       const MarkRenderer& line)
      : claim_(claim), verdict_(verdict), evidence_(evidence), texts_(texts), line_(line) {}

  std::string html() const {
    std::string choices;
    char letter = 'A';
    for (const Outcome outcome : outcomes) {
      choices +=
          fmt::format(R"(<label class="choice"><input type="radio" name="claim-{0}" value="{1}"> {2} · {3}</label>)",
                      markup(claim_.id), to_string(outcome), letter++, label(to_string(outcome)));
    }
    return fmt::format(
        R"(<article class="claim" data-id="claim-{id}" data-outcome="{outcome}"><h3>{title}</h3><p class="source">)"
        R"({source_label}: {source}</p><div class="claim-text">{text}</div><fieldset><legend>{legend}</legend>)"
        R"({choices}</fieldset><div class="row"><button class="lock" disabled>{lock}</button><button class="reveal" )"
        "disabled>{reveal}</button></div><div class=\"verdict\" hidden>{verdict}</div></article>\n",
        fmt::arg("id", markup(claim_.id)), fmt::arg("outcome", to_string(verdict_.outcome)),
        fmt::arg("title", markup(claim_.title)), fmt::arg("source_label", label("source")),
        fmt::arg("source", markup(claim_.source)), fmt::arg("text", markdown_html(claim_.text, line_)),
        fmt::arg("legend", label("your_outcome")), fmt::arg("choices", choices), fmt::arg("lock", label("lock")),
        fmt::arg("reveal", label("reveal")), fmt::arg("verdict", verdict_html()));
  }

 private:
  [[nodiscard]] std::string label(std::string_view key) const { return markup(texts_.label_text(key)); }

  std::string verdict_html() const {
    std::string html = fmt::format(R"(<p class="outcome {0}">{1}</p><p class="prediction-result"></p>)",
                                   to_string(verdict_.outcome), label(to_string(verdict_.outcome)));
    if (!verdict_.explanation.empty())
      html += fmt::format("<p>{} {}</p>", label(verdict_.explanation), markup(verdict_.detail));
    html += strip_plot(claim_, verdict_) + table();
    if (!claim_.published.empty()) {
      html += fmt::format(R"(<div class="published"><small>{}</small>{}</div>)", label("published"),
                          markdown_html(claim_.published, line_));
    }
    if (!claim_.changes.empty()) {
      html += fmt::format(R"(<div class="changes"><h4>{}</h4>{}</div>)", label("what_changes"),
                          markdown_html(claim_.changes, line_));
    }
    return html + points_html();
  }

  static std::string row(std::string_view name, const std::string& value, const std::string& more,
                         std::string_view origin) {
    return fmt::format("<tr><th>{}</th><td>{}</td><td>{}</td><td><small>{}</small></td></tr>", name, markup(value),
                       more, origin);
  }

  std::string figure_rows(const std::vector<ClaimFigure>& figures) const {
    std::string rows;
    for (const ClaimFigure& each : figures)
      rows += row(label(each.label), figure_text(each.value, each.unit), markup(each.of), label(each.origin));
    return rows;
  }

  std::string table() const {
    std::string rows = figure_rows(verdict_.claimed);
    for (const GpuCases& group : verdict_.found) {
      const auto text = [&](double value) { return figure_text(value, verdict_.unit); };
      const ClaimCase& middle = group.cases[group.cases.size() / 2];
      const Provenance weakest = std::ranges::max(group.cases, {}, &ClaimCase::provenance).provenance;
      std::string range;
      if (group.cases.size() > 1) {
        range = fmt::format("{}: {} … {} · {} / {} {}", label("median"), markup(text(group.cases.front().value)),
                            markup(text(group.cases.back().value)), group.inside, group.cases.size(),
                            label("cases_inside"));
      }
      rows += row(group.gpu.empty() ? label("found") : markup(group.gpu),
                  (middle.at_most ? "≤ " : "") + text(group.median()), range, label(to_string(weakest)));
    }
    rows += figure_rows(verdict_.beside);
    return rows.empty() ? rows : "<table>" + rows + "</table>";
  }

  /// Returns "this program's FA1, FA2 · 24 points used: pass:fwd N>=4096".
  std::string points_html() const {
    const std::vector<Row> points = verdict_.points();
    if (points.empty()) return {};
    std::set<std::string> own;
    std::set<std::string> others;
    for (const Row row : points) {
      const std::string& algorithm = evidence_.points.algorithm(row);
      // Points that were exported here and imported again have a known algorithm.
      const bool imported =
          evidence_.points.run(row).provenance == Provenance::imported && evidence_.registry.find(algorithm) == nullptr;
      (imported ? others : own).insert(short_title(evidence_.points.algorithms(), algorithm));
    }
    std::string text;
    if (!own.empty()) text += fmt::format("{} {} · ", texts_.label_text("own_kernels"), fmt::join(own, ", "));
    if (!others.empty()) text += fmt::format("{} {} · ", texts_.label_text("others_kernels"), fmt::join(others, ", "));
    return fmt::format(R"(<p class="source">{}{} {}: <code>{}</code></p>)", markup(text), points.size(),
                       label("points_used"), markup(claim_.parameter("points")));
  }

  const Claim& claim_;
  const Verdict& verdict_;
  const Evidence& evidence_;
  const LessonTexts& texts_;
  const MarkRenderer& line_;
};

}  // namespace

std::string claim_html(const Claim& claim, const Verdict& verdict, const Evidence& evidence, const LessonTexts& texts,
                       const MarkRenderer& line) {
  return Card(claim, verdict, evidence, texts, line).html();
}

}  // namespace attnscope::analysis::lesson
