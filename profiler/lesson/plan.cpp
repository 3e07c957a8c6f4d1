// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/plan.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "profiler/lesson/json_card.h"
#include "profiler/lesson/lesson_values.h"
#include "profiler/lesson/texts.h"
#include "profiler/plan/text.h"

namespace attnscope::analysis::lesson {

int LessonPlan::minutes() const {
  int sum = 0;
  for (const Row& row : rows) sum += row.minutes;
  return sum;
}

std::optional<LessonPlan> read_plan(const std::string& file, std::string_view text, std::string_view language,
                                    const KnownNames& known, std::vector<TextProblem>& problems) {
  JsonCard card(file, text, language);
  LessonPlan plan{.title = card.required_text("title"), .before = card.text("before")};
  plan.after = card.text("after");
  std::string all = plan.before + "\n\n" + plan.after;
  try {
    for (const nlohmann::json& each : card.object("screens")) {
      plan.rows.push_back({.screen = each.at("screen"),
                           .title = each.at("title"),
                           .minutes = each.at("minutes"),
                           .say = each.at("say"),
                           .ask = each.value("ask", ""),
                           .answer = each.value("answer", "")});
      all += fmt::format("\n\n{}\n\n{}\n\n{}", plan.rows.back().say, plan.rows.back().ask, plan.rows.back().answer);
    }
  } catch (const nlohmann::json::exception&) {
    card.report_invalid("screens", "expected objects with \"screen\", \"title\", \"minutes\" and \"say\"");
  }
  return card.finish({all}, known, problems) ? std::optional(std::move(plan)) : std::nullopt;
}

std::string plan_page(const LessonTexts& texts, const Evidence& evidence) {
  const Setting setting;
  const MarkRenderer line{.value =
                              [&](std::string_view name) {
                                const auto value = find_value(name)->of(setting, evidence);
                                return value ? markup(value->text) : markup(texts.label_text("no_data"));
                              },
                          .term = [](std::string_view, std::string_view shown) { return markup(shown); }};
  const LessonPlan& plan = texts.plan;
  std::string rows;
  int from = 0;
  for (const LessonPlan::Row& row : plan.rows) {
    const std::string asked =
        row.ask.empty() ? std::string()
                        : fmt::format("{} <em>{}</em>", line_html(row.ask, line), line_html(row.answer, line));
    rows += fmt::format("<tr><td>{}–{}</td><th><code>#{}</code><br>{}</th><td>{}</td><td>{}</td></tr>\n", from,
                        from + row.minutes, markup(row.screen), markup(row.title), line_html(row.say, line), asked);
    from += row.minutes;
  }
  const auto label = [&](std::string_view key) { return markup(texts.label_text(key)); };
  return fmt::format(
      "<!DOCTYPE html>\n<!-- SPDX-License-Identifier: Apache-2.0 -->\n<html lang=\"{}\">\n<head><meta "
      "charset=\"utf-8\"><meta name=\"generator\" content=\"attnscope plan\"><meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\"><link rel=\"icon\" href=\"data:,\"><title>{}</title>"
      "<style>body{{font:11pt/1.35 system-ui,sans-serif;max-width:60rem;margin:1rem auto;padding:0 1rem}}h1{{"
      "font-size:1.5em;margin:0}}p{{margin:.4em 0}}table{{border-collapse:collapse;width:100%}}td,th{{border-top:1px "
      "solid #999;padding:.3em .5em;text-align:left;vertical-align:top}}td:first-child,th{{white-space:nowrap}}"
      "code,small{{color:#555;font-size:.85em;font-weight:normal}}@media print{{@page{{size:A4;margin:12mm}}"
      "body{{font-size:8.5pt;margin:0;padding:0}}}}</style></head>\n<body><h1>{}</h1>{}\n<table><tr><th>{}</th><th>{}"
      "</th><th>{}</th><th>{}</th></tr>\n{}</table>{}<p><small>{}: {}</small></p></body></html>\n",
      markup(texts.language), markup(plan.title), markup(plan.title), markdown_html(plan.before, line),
      label("minutes"), label("screen"), label("say"), label("ask"), rows, markdown_html(plan.after, line),
      label("of_data"), markup(evidence.gpu.name));
}

}  // namespace attnscope::analysis::lesson
