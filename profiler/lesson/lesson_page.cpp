// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/lesson_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "profiler/lesson/lesson_values.h"
#include "profiler/plan/text.h"
#include "profiler/style/tokens.h"

namespace attnscope::analysis::lesson {
namespace {

/// Returns a file as base64, for a data: address.
std::string base64(std::string_view data) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string all;
  for (std::size_t at = 0; at < data.size(); at += 3) {
    const std::size_t bytes = std::min<std::size_t>(3, data.size() - at);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8U | (k < bytes ? static_cast<unsigned char>(data[at + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) all += k <= bytes ? digits[group >> (18U - 6U * k) & 63U] : '=';
  }
  return all;
}

/// Concatenates the scripts into one function: page.js first, start.js last.
std::string script() {
  constexpr std::string_view first = "web/page.js";
  constexpr std::string_view last = "web/start.js";
  std::string all = "'use strict';\n(() => {\n" + std::string(embedded_lesson(first));
  for (const EmbeddedText& each : embedded_lesson()) {
    if (each.path.starts_with("web/") && each.path.ends_with(".js") && each.path != first && each.path != last)
      all += each.text;
  }
  return all + std::string(embedded_lesson(last)) + "})();\n";
}

/// Renders values as plain text, without terms.
MarkRenderer plain_renderer(const LessonTexts& texts, const Evidence& evidence) {
  return {.value = [&](std::string_view name) {
    const auto value = find_value(name)->of(evidence);
    return markup(value ? value->text : texts.label_text("no_data"));
  }};
}

class Page {
 public:
  Page(const LessonTexts& texts, const Evidence& evidence, const WebOptions& options)
      : texts_(texts), evidence_(evidence), options_(options), start_(options.start) {}

  std::string all() {
    for (const Screen& screen : texts_.screens) add_screen(screen);
    const std::string steps = std::exchange(sections_, {});
    add_claims();
    add_results();
    add_glossary();
    return page_head("lesson", texts_.language, label("lesson"), embedded_lesson("web/lesson.css")) +
           fmt::format(
               "<body data-start=\"{}\" data-theme=\"{}\">\n"
               "<header><h1>{}</h1><nav>{}</nav><div class=\"tools\">{}<button id=\"theme\">{}</button>"
               "<button id=\"big\">{}</button></div></header>\n<main>\n<div id=\"lesson\"><figure id=\"drawing\">"
               "<div id=\"stage\"></div><div id=\"asked\">{}</div><div id=\"controls\"></div>"
               "<div id=\"foot\"><figcaption id=\"caption\"></figcaption></div></figure>\n<div "
               "id=\"steps\">{}</div></div>\n{}</main>\n<aside id=\"notes\" hidden></aside>\n"
               "<footer>{}</footer>\n<noscript><p>{}</p></noscript>\n{}{}{}<script>{}</script>\n</body></html>\n",
               markup(start_), markup(options_.theme), label("lesson"), nav_, other_languages(), label("dark"),
               label("big_type"), asked_, steps, sections_, footer(), label("no_script"),
               script_json("words", texts_.words), script_json("scene", scene_json(evidence_)),
               script_json("speaker-notes", notes_), script());
  }

 private:
  [[nodiscard]] std::string label(std::string_view key) const { return markup(texts_.label_text(key)); }

  std::string other_languages() const {
    std::string links;
    for (const auto& [language, file] : options_.others) {
      links += fmt::format("<a class=\"language\" lang=\"{0}\" href=\"{1}\">{0}</a>", markup(language), markup(file));
    }
    return links;
  }

  std::string footer() const {
    std::string text = fmt::format("{}: {} · {}<br>{}", label("of_data"), markup(options_.data),
                                   markup(evidence_.gpu.name), label("keyboard"));
    for (const Message& problem : texts_.problems)
      text += fmt::format("<br>{}: {}", label("problems"), markup(attnscope::text(problem)));
    return text;
  }

  /// Starts a page. Numbered pages can be opened with digit keys.
  void begin(std::string_view id, std::string_view title, bool numbered = true) {
    const std::string number = numbered ? fmt::to_string(++number_) : std::string();
    nav_ += fmt::format("<a href=\"#{}\">{} {}</a>", markup(id), number, markup(title));
    if (numbered && number == start_) start_ = id;
    sections_ += fmt::format("<section id=\"{}\" data-number=\"{}\" tabindex=\"-1\">\n", markup(id), number);
  }

  /// A value with its origin as tooltip.
  std::string value_html(std::string_view name) const {
    const auto value = find_value(name)->of(evidence_);
    if (!value) return fmt::format("<span class=\"v none\">({})</span>", label("no_data"));
    if (value->origin.empty()) return fmt::format("<em>{}</em>", markup(value->text));
    return fmt::format("<span class=\"v\" title=\"{}\">{}</span>", label(value->origin), markup(value->text));
  }

  /// Adds a screen: each text is a step with a state of the drawing; questions are shown inside the drawing.
  void add_screen(const Screen& screen) {
    begin(screen.id, screen.title);
    const MarkRenderer plain = plain_renderer(texts_, evidence_);
    if (!screen.say.empty()) {
      notes_[screen.id] = {line_html(screen.say, plain), line_html(screen.ask, plain), line_html(screen.answer, plain),
                           fmt::format("{:.0f}–{:.0f} {}", from_, from_ + screen.minutes, label("minutes"))};
    }
    from_ += screen.minutes;
    std::string state = "none";
    std::string title = fmt::format("<h2>{}</h2>\n", markup(screen.title));
    int count = 0;
    for (const Step& step : screen.steps) {
      if (!step.picture.empty()) state = step.picture;
      const bool known = std::ranges::all_of(
          values_in(step.question), [&](std::string_view name) { return find_value(name)->of(evidence_).has_value(); });
      if (!known) continue;
      const std::string id = ++count == 1 ? screen.id : fmt::format("{}-{}", screen.id, count);
      const bool asks = !step.question.empty();
      sections_ +=
          fmt::format("<article class=\"step\" data-step=\"{0}\" data-state=\"{1}\"{2}>{3}{4}</article>\n", markup(id),
                      markup(state), asks ? " data-question=\"" + markup(id) + "\"" : "", std::exchange(title, {}),
                      asks ? "<p class=\"lead\">" + label("predict") + "</p>" : markdown_html(step.text, line_));
      if (asks) asked_ += question_html(step, id);
    }
    sections_ += "</section>\n";
  }

  std::string question_html(const Step& step, const std::string& id) const {
    std::string choices;
    char letter = 'A';
    for (const Choice& choice : step.choices) {
      choices += fmt::format(
          "<div class=\"choice\" data-right=\"{}\"><label><input type=\"radio\" name=\"{}\" value=\"{}\"><b "
          "class=\"letter\">{}</b> <span>{}</span></label><input type=\"number\" min=\"0\" class=\"vote-count\" "
          "aria-label=\"{}\" placeholder=\"{}\"><span class=\"explanation\" hidden>{}</span></div>",
          choice.right ? 1 : 0, markup(id), letter, letter, line_html(choice.text, line_), label("hands"),
          label("hands_short"), line_html(choice.why, line_));
      ++letter;
    }
    const std::string hint = step.hint.empty() ? std::string()
                                               : fmt::format("<details><summary>{}</summary>{}</details>",
                                                             label("hint"), line_html(step.hint, line_));
    return fmt::format(
        "<fieldset class=\"question\" data-id=\"{}\"><legend>{}</legend><p>{}</p>{}{}<div class=\"row\"><button "
        "class=\"lock\" disabled>{}</button><button class=\"reveal\" disabled>{}</button><button "
        "class=\"full-screen-button\">{} (Q)"
        "</button> <output></output></div><p class=\"vote-summary\"></p></fieldset>\n",
        markup(id), label("predict"), line_html(step.question, line_), choices, hint, label("lock"), label("reveal"),
        label("alone"));
  }

  void add_claims() {
    begin("claims", texts_.label_text("claims"));
    notes_["claims"] = {label("claims_note"), "", "", ""};
    sections_ += fmt::format("<h2>{}</h2>\n", label("claims"));
    for (const Claim& card : texts_.claims)
      sections_ += claim_html(card, judge(card, evidence_), evidence_, texts_, line_);
    sections_ += "</section>\n";
  }

  void add_results() {
    begin("results", texts_.label_text("results"));
    sections_ += fmt::format(
        "<h2>{0}</h2><table id=\"result-table\"></table><p><button id=\"print\">{1}</button> <button id=\"forget\">{2}"
        "</button> <label><input type=\"checkbox\" id=\"brief\"> {3}</label></p></section>\n",
        label("results"), label("print"), label("start_again"), label("brief"));
  }

  void add_glossary() {
    begin("glossary", texts_.label_text("glossary"), false);
    std::string terms;
    for (const auto& [term, line] : texts_.terms)
      terms += fmt::format("<dt>{}</dt><dd>{}</dd>", markup(term), markup(line));
    sections_ += fmt::format("<h2>{}</h2><dl class=\"glossary\">{}</dl></section>\n", label("glossary"), terms);
  }

  const LessonTexts& texts_;
  const Evidence& evidence_;
  const WebOptions& options_;
  MarkRenderer line_{.value = [this](std::string_view name) { return value_html(name); }, .terms = &texts_.terms};
  std::string start_;  ///< id; resolved from a number by begin()
  std::string nav_;
  std::string sections_;
  std::string asked_;                                ///< questions, which the drawing shows
  nlohmann::json notes_ = nlohmann::json::object();  ///< HTML of [say, ask, answer] by screen
  int number_ = 0;
  double from_ = 0;  ///< minutes before the next screen
};

}  // namespace

std::string page_head(std::string_view kind, std::string_view language, std::string_view title,
                      std::string_view style) {
  // The policy blocks network requests.
  return fmt::format(
      "<!DOCTYPE html>\n<!-- SPDX-License-Identifier: Apache-2.0 -->\n<html lang=\"{}\">\n<head><meta "
      "charset=\"utf-8\">\n<meta name=\"generator\" content=\"attnscope {}\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<meta "
      "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src "
      "'unsafe-inline'; img-src data: blob:; font-src data:; media-src blob:\">\n<link rel=\"icon\" "
      "href=\"data:,\">\n<title>{}</title>\n<style>:root{{{}}}[data-theme=dark]{{color-scheme:dark;{}}}"
      "@font-face{{font-family:LessonMath;src:url(data:font/woff2;base64,{}) format('woff2')}}"
      "math,.formula{{font-family:LessonMath,math}}{}</style></head>\n",
      markup(language), kind, title, style::css_properties(false), style::css_properties(true),
      base64(embedded_lesson("font/math.woff2")), style);
}

std::string script_json(std::string_view id, const nlohmann::json& value) {
  std::string text = value.dump();
  // An escaped "<" cannot end the element.
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at))
    text.replace(at, 1, "\\u003c");
  return fmt::format("<script type=\"application/json\" id=\"{}\">{}</script>\n", id, text);
}

int minutes_of(const LessonTexts& texts) {
  double sum = 0;
  for (const Screen& screen : texts.screens) sum += screen.minutes;
  return static_cast<int>(sum);
}

std::string plan_page(const LessonTexts& texts, const Evidence& evidence) {
  const MarkRenderer line = plain_renderer(texts, evidence);
  const auto label = [&](std::string_view key) { return markup(texts.label_text(key)); };
  std::string rows;
  double from = 0;
  for (const Screen& screen : texts.screens) {
    if (screen.minutes <= 0) continue;
    rows += fmt::format(
        "<tr><td>{:.0f}–{:.0f}</td><th><code>#{}</code><br>{}</th><td>{}</td><td>{} <em>{}</em></td></tr>\n", from,
        from + screen.minutes, markup(screen.id), markup(screen.title), line_html(screen.say, line),
        line_html(screen.ask, line), line_html(screen.answer, line));
    from += screen.minutes;
  }
  constexpr std::string_view style =
      "body{font:11pt/1.35 system-ui,sans-serif;max-width:60rem;margin:1rem auto;padding:0 1rem}h1{font-size:1.5em;"
      "margin:0}p{margin:.4em 0}table{border-collapse:collapse;width:100%}td,th{border-top:1px solid #999;padding:.3em "
      ".5em;text-align:left;vertical-align:top}td:first-child,th{white-space:nowrap}code,small{color:#555;font-size:"
      ".85em;font-weight:normal}@media print{@page{size:A4;margin:12mm}body{font-size:8.5pt;margin:0;padding:0}}";
  return page_head("plan", texts.language, label("plan_title"), style) +
         fmt::format(
             "<body><h1>{}</h1>{}\n<table><tr><th>{}</th><th>{}</th><th>{}</th><th>{}</th></tr>\n{}</table>{}"
             "<p><small>{}: {}</small></p></body></html>\n",
             label("plan_title"), markdown_html(texts.label_text("plan_before"), line), label("minutes"),
             label("screen"), label("say"), label("ask"), rows, markdown_html(texts.label_text("plan_after"), line),
             label("of_data"), markup(evidence.gpu.name));
}

std::string lesson_page(const LessonTexts& texts, const Evidence& evidence, const WebOptions& options) {
  return Page(texts, evidence, options).all();
}

}  // namespace attnscope::analysis::lesson
