// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "profiler/lesson/claims.h"
#include "profiler/lesson/texts.h"
#include "profiler/plan/text.h"

namespace attnscope::analysis::lesson {
namespace {

/// Horizontal axis of a strip plot; logarithmic if the values span a factor of 8 or more.
class StripAxis {
 public:
  StripAxis(double low, double high) : log_(low > 0 && high / low >= 8), low_(scaled(low)), high_(scaled(high)) {}

  [[nodiscard]] double place(double value) const {
    return margin + (width - 2 * margin) * std::clamp((scaled(value) - low_) / (high_ - low_), -0.04, 1.04);
  }
  static constexpr double width = 640;
  static constexpr double margin = 40;

 private:
  [[nodiscard]] double scaled(double value) const { return log_ ? std::log2(value) : value; }
  bool log_;
  double low_;
  double high_;
};

/// Draws the cases of each GPU as dots above an axis, and the claimed range as a band.
std::string strip_plot(const Claim& claim, const Verdict& verdict) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  const auto include = [&](double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  };
  include(claim.claimed.low);
  include(claim.claimed.high);
  for (const GpuCases& group : verdict.found) {
    include(group.cases.front().value);
    include(group.cases.back().value);
  }
  const bool modeled = verdict.found.size() == 1 && verdict.found.front().cases.size() == 1;
  if (modeled || !(low < high)) return {};
  const StripAxis axis(low, high);
  constexpr double row_height = 34;
  const double base = 8 + row_height * static_cast<double>(verdict.found.size());
  const double from = std::isfinite(claim.claimed.low) ? axis.place(claim.claimed.low) : 0;
  const double to = std::isfinite(claim.claimed.high) ? axis.place(claim.claimed.high) : StripAxis::width;
  std::string drawn = fmt::format("<rect class=\"band\" x=\"{:.1f}\" y=\"4\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
                                  from, std::max(2.0, to - from), base - 4);
  double y = 8;
  for (const GpuCases& group : verdict.found) {
    drawn += fmt::format("<text x=\"0\" y=\"{:.1f}\">{}</text>", y + 10, markup(group.gpu));
    for (const ClaimCase& each : group.cases) {
      if (!std::isfinite(each.value)) continue;
      drawn += fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\"/>",
                           claim.claimed.contains(each.value) ? "inside" : "outside", axis.place(each.value), y + 20);
    }
    y += row_height;
  }
  drawn += fmt::format("<path d=\"M0 {0:.1f}H{1:.0f}\"/>", base, StripAxis::width);
  const auto tick = [&](double value) {
    drawn += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", axis.place(value), base + 18,
                         markup(format_figure(value, verdict.unit)));
  };
  tick(low);
  tick(high);
  const double claimed =
      claim.claimed.stated.value_or(std::isfinite(claim.claimed.low) ? claim.claimed.low : claim.claimed.high);
  constexpr double label_width = 90;
  if (std::min(axis.place(claimed) - axis.place(low), axis.place(high) - axis.place(claimed)) > label_width)
    tick(claimed);
  return fmt::format("<svg class=\"strip\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\">{}</svg>", StripAxis::width,
                     base + 24, drawn);
}

class Card {
 public:
  Card(const Claim& claim, const Verdict& verdict, const Evidence& evidence, const LessonTexts& texts)
      : claim_(claim), verdict_(verdict), evidence_(evidence), texts_(texts) {}

  std::string html(const MarkRenderer& line) const {
    std::string choices;
    for (const Outcome outcome : outcomes) {
      choices +=
          fmt::format("<label class=\"choice\"><input type=\"radio\" name=\"claim-{0}\" value=\"{1}\"> {2}</label>",
                      markup(claim_.id), to_string(outcome), label(to_string(outcome)));
    }
    return fmt::format(
        "<article class=\"claim\" data-id=\"claim-{}\" data-outcome=\"{}\"><h3>{}</h3><p class=\"source\">{}: {}</p>"
        "<div class=\"claim-text\">{}</div><fieldset><legend>{}</legend>{}</fieldset><div class=\"row\"><button "
        "class=\"lock\" disabled>{}</button><button class=\"reveal\" disabled>{}</button></div><div class=\"verdict\" "
        "hidden>{}</div></article>\n",
        markup(claim_.id), to_string(verdict_.outcome), markup(claim_.title), label("source"), markup(claim_.source),
        markdown_html(claim_.text, line), label("your_outcome"), choices, label("lock"), label("reveal"),
        verdict_html(line));
  }

 private:
  [[nodiscard]] std::string label(std::string_view key) const { return markup(texts_.label_text(key)); }

  std::string verdict_html(const MarkRenderer& line) const {
    std::string html = fmt::format("<p class=\"outcome {0}\">{1}</p><p class=\"prediction-result\"></p>",
                                   to_string(verdict_.outcome), label(to_string(verdict_.outcome)));
    if (!verdict_.explanation.empty()) {
      html += fmt::format("<p>{} {}</p>", label(verdict_.explanation), markup(texts_.translated(verdict_.detail)));
    }
    html += fmt::format("{}{}", strip_plot(claim_, verdict_), table());
    if (!claim_.published.empty()) {
      html += fmt::format("<div class=\"published\"><small>{}</small>{}</div>", label("published"),
                          markdown_html(claim_.published, line));
    }
    if (!claim_.changes.empty()) {
      html += fmt::format("<div class=\"changes\"><h4>{}</h4>{}</div>", label("what_changes"),
                          markdown_html(claim_.changes, line));
    }
    return html + points_html();
  }

  static std::string row(std::string_view name, const std::string& value, const std::string& more,
                         std::string_view origin) {
    return fmt::format("<tr><th>{}</th><td>{}</td><td>{}</td><td><small>{}</small></td></tr>", name, markup(value),
                       more, origin);
  }

  std::string table() const {
    std::string rows;
    for (const ClaimFigure& figure : verdict_.claimed)
      rows += row(label(figure.label), format_figure(figure.value, figure.unit), {}, label(figure.origin));
    for (const GpuCases& group : verdict_.found) {
      const auto text = [&](double value) { return format_figure(value, verdict_.unit); };
      const bool at_most = group.cases[group.cases.size() / 2].at_most;
      const std::string range = fmt::format("{} … {}", text(group.cases.front().value), text(group.cases.back().value));
      rows += row(group.gpu.empty() ? label("found") : markup(group.gpu), (at_most ? "≤ " : "") + text(group.median()),
                  group.cases.size() == 1 ? std::string()
                                          : fmt::format("{}: {} · {} / {} {}", label("median"), markup(range),
                                                        group.inside, group.cases.size(), label("cases_inside")),
                  label(to_string(group.provenance())));
    }
    for (const ClaimFigure& figure : verdict_.beside)
      rows +=
          row(label(figure.label), format_figure(figure.value, figure.unit), markup(figure.of), label(figure.origin));
    return rows.empty() ? rows : "<table>" + rows + "</table>";
  }

  /// "this program's FA1, FA2 · SM ↔ L2 · 24 points used", with a list of the points.
  std::string points_html() const {
    const std::vector<Row> points = verdict_.points();
    if (points.empty()) return {};
    std::vector<std::string> parts;
    if (!verdict_.own.empty())
      parts.push_back(fmt::format("{} {}", texts_.label_text("own_kernels"), fmt::join(verdict_.own, ", ")));
    if (!verdict_.others.empty())
      parts.push_back(fmt::format("{} {}", texts_.label_text("others_kernels"), fmt::join(verdict_.others, ", ")));
    if (!verdict_.level.empty()) parts.push_back(texts_.translated(verdict_.level));
    parts.push_back(fmt::format("{} {}", points.size(), texts_.label_text("points_used")));
    std::string list;
    constexpr std::size_t most_named = 12;
    for (std::size_t i = 0; i < std::min(points.size(), most_named); ++i)
      list += fmt::format("<li>{}</li>", markup(texts_.translated(describe(evidence_.points.spec(points[i])))));
    return fmt::format("<details><summary>{}</summary><ul>{}{}</ul></details>",
                       markup(fmt::format("{}", fmt::join(parts, " · "))), list,
                       points.size() > most_named ? "<li>…</li>" : "");
  }

  const Claim& claim_;
  const Verdict& verdict_;
  const Evidence& evidence_;
  const LessonTexts& texts_;
};

}  // namespace

std::string claim_html(const Claim& claim, const Verdict& verdict, const Evidence& evidence, const LessonTexts& texts,
                       const MarkRenderer& line) {
  return Card(claim, verdict, evidence, texts).html(line);
}

}  // namespace attnscope::analysis::lesson
