// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/lesson_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "profiler/lesson/scene_data.h"
#include "profiler/plan/text.h"
#include "profiler/style/tokens.h"

namespace attnscope::analysis::lesson {
namespace {

/// Embeds JSON in a script element; escapes "<" so that the element cannot end early.
std::string script_json(std::string_view id, const std::string& text) {
  std::string safe;
  for (const char c : text) safe += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return fmt::format("<script type=\"application/json\" id=\"{}\">{}</script>\n", markup(id), safe);
}

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

class Page {
 public:
  Page(const LessonTexts& texts, const Evidence& evidence, const WebOptions& options)
      : texts_(texts), evidence_(evidence), options_(options), start_(options.start) {}

  std::string all() {
    for (const Step& step : texts_.steps) add_screen(step);
    const std::string steps = std::exchange(sections_, {});
    add_claims();
    add_results();
    add_glossary();
    return head(label_text("lesson")) +
           fmt::format(
               "</head>\n<body data-key=\"attnscope-lesson-{}\" data-start=\"{}\" data-theme=\"{}\">\n"
               "<header><h1>{}</h1><nav>{}</nav><div class=\"tools\">{}<button id=\"theme\">{}</button>"
               "<button id=\"big\">{}</button></div></header>\n<main>\n<div id=\"lesson\"><figure id=\"drawing\">"
               "<div id=\"stage\"></div><div id=\"asked\">{}</div><div id=\"controls\"></div>"
               "<div id=\"foot\"><figcaption id=\"caption\"></figcaption></div></figure>\n<div "
               "id=\"steps\">{}</div></div>\n{}</main>\n"
               "<footer>{}</footer>\n<noscript><p>{}</p></noscript>\n{}{}<script>{}</script>\n</body></html>\n",
               options_.seed, markup(start_), markup(options_.theme), label_text("lesson"), nav_, other_languages(),
               label_text("dark"), label_text("big_type"), asked_, steps, sections_, footer(), label_text("no_script"),
               script_json("words", nlohmann::json(texts_.words).dump()),
               script_json("scene", scene_json(texts_, evidence_)), script());
  }

 private:
  /// Blocks network requests.
  std::string head(std::string_view title) const {
    return fmt::format(
        "<!DOCTYPE html>\n<!-- SPDX-License-Identifier: Apache-2.0 -->\n<html lang=\"{}\">\n<head><meta "
        "charset=\"utf-8\">\n<meta name=\"generator\" content=\"attnscope lesson\">\n<meta name=\"viewport\" "
        "content=\"width=device-width, initial-scale=1\">\n<meta "
        "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src "
        "'unsafe-inline'; img-src data: blob:; font-src data:; media-src blob:\">\n<link rel=\"icon\" "
        "href=\"data:,\">\n<title>{}</title>\n<style>:root{{{}}}"
        "[data-theme=dark]{{color-scheme:dark;{}}}@font-face{{font-family:LessonMath;src:url(data:font/"
        "woff2;base64,{}) "
        "format('woff2')}}{}</style>",
        markup(texts_.language), title, style::css_properties(false), style::css_properties(true),
        base64(embedded_lesson("font/math.woff2")), embedded_lesson("web/lesson.css"));
  }

  /// Concatenates the scripts into one function: page.js first, start.js last.
  static std::string script() {
    constexpr std::string_view first = "web/page.js";
    constexpr std::string_view last = "web/start.js";
    std::string all = "'use strict';\n(() => {\n" + std::string(embedded_lesson(first));
    for (const EmbeddedText& each : embedded_lesson()) {
      if (each.path.starts_with("web/") && each.path.ends_with(".js") && each.path != first && each.path != last)
        all += each.text;
    }
    return all + std::string(embedded_lesson(last)) + "})();\n";
  }

  static char letter(std::size_t choice) { return static_cast<char>('A' + choice); }

  MarkRenderer line_of(const Setting& setting) {
    return {.value = [this, &setting](std::string_view name) { return value_html(name, setting); },
            .term = [this](std::string_view term, std::string_view said) { return term_html(term, said); }};
  }

  /// Renders a glossary term with its definition as tooltip.
  std::string term_html(std::string_view term, std::string_view said) {
    const auto found = texts_.terms.find(term);
    if (found == texts_.terms.end()) return markup(said);
    return fmt::format("<dfn tabindex=\"0\" title=\"{}\">{}</dfn>", markup(found->second), markup(said));
  }

  [[nodiscard]] std::string label_text(std::string_view key) const { return markup(texts_.label_text(key)); }

  std::string other_languages() const {
    std::string links;
    for (const auto& [language, file] : options_.others) {
      links += fmt::format("<a class=\"language\" lang=\"{0}\" href=\"{1}\">{0}</a>", markup(language), markup(file));
    }
    return links;
  }

  std::string data_note() const {
    const std::string text =
        fmt::format("{}: {} · {}", label_text("of_data"), markup(options_.data), markup(evidence_.gpu.name));
    return options_.seed == 0 ? text : fmt::format("{} · {} {}", text, label_text("seed"), options_.seed);
  }

  std::string footer() const {
    std::string text = data_note() + fmt::format("<br>{}", label_text("keyboard"));
    for (const TextProblem& problem : texts_.problems) {
      text += fmt::format("<br>{}: {}", label_text("problems"), markup(attnscope::text(display_text(problem))));
    }
    return text;
  }

  /// Starts a page. Numbered pages can be opened with digit keys.
  void begin(std::string_view id, std::string_view title, std::string_view number = {}) {
    nav_ += fmt::format("<a href=\"#{}\">{}{}{}</a>", markup(id), number == "0" ? "" : number,
                        number.empty() || number == "0" ? "" : " ", markup(title));
    if (!number.empty() && number == start_) start_ = id;
    sections_ += fmt::format("<section id=\"{}\" data-number=\"{}\" tabindex=\"-1\" lang=\"{}\">\n", markup(id), number,
                             markup(texts_.language));
  }
  std::string next_number() { return fmt::to_string(++number_); }

  /// Adds a screen: each text is a step with a state of the drawing; questions are shown inside the drawing.
  void add_screen(const Step& step) {
    begin(step.slug, step.title, next_number());
    const Setting setting = vary_setting(step.setting, options_.seed);
    const MarkRenderer line = line_of(setting);
    std::string state = "none";
    int count = 0;
    for (const Block& block : step.blocks) {
      const bool asks = block.kind == Block::Kind::question;
      if (block.kind == Block::Kind::picture) state = block.text;
      if (block.kind == Block::Kind::picture || (asks && !has_question_data(block.question, setting, evidence_)))
        continue;
      const std::string id = ++count == 1 ? step.slug : fmt::format("{}-{}", step.slug, count);
      const std::string title = count == 1 ? fmt::format("<h2>{}</h2>\n", markup(step.title)) : std::string();
      sections_ += fmt::format(
          "<article class=\"step\" data-step=\"{}\" data-state=\"{}\"{}>{}{}</article>\n", markup(id), markup(state),
          asks ? fmt::format(" data-question=\"{}\"", markup(block.question.id)) : "", title,
          asks ? fmt::format("<p class=\"lead\">{}</p>", label_text("predict")) : markdown_html(block.text, line));
      if (asks) asked_ += question_html(block.question, line);
    }
    sections_ += "</section>\n";
  }

  std::string value_html(std::string_view name, const Setting& setting) const {
    const ValueDefinition* known = find_value(name);
    const auto value = known == nullptr ? std::nullopt : known->of(setting, evidence_);
    if (!value) return fmt::format("<span class=\"v none\">({})</span>", label_text("no_data"));
    if (value->origin.empty()) return fmt::format("<span class=\"v\">{}</span>", markup(value->text));
    return fmt::format("<span class=\"v {0}\" title=\"{1}\">{2}</span>", markup(value->origin),
                       label_text(value->origin), markup(value->text));
  }

  std::string question_html(const Question& q, const MarkRenderer& value) const {
    std::string choices;
    const std::vector<std::size_t> order = shuffled_choices(q, options_.seed);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Choice& choice = q.choices[order[i]];
      choices += fmt::format(
          "<div class=\"choice\" data-right=\"{}\"><label><input type=\"radio\" name=\"{}\" value=\"{}\"><b "
          "class=\"letter\">{}</b> <span>{}</span></label><input type=\"number\" min=\"0\" class=\"vote-count\" "
          "aria-label=\"{}\"><span class=\"explanation\" hidden>{}</span></div>",
          choice.right ? 1 : 0, markup(q.id), order[i], letter(i), line_html(choice.text, value), label_text("hands"),
          line_html(choice.explanation, value));
    }
    const std::string hint = q.hint.empty() ? std::string()
                                            : fmt::format("<details><summary>{}</summary>{}</details>",
                                                          label_text("hint"), line_html(q.hint, value));
    return fmt::format(
        "<fieldset class=\"question\" data-id=\"{}\"><legend>{}</legend><p>{}</p>{}{}<div class=\"row\"><button "
        "class=\"lock\" disabled>{}</button><button class=\"reveal\" disabled>{}</button><button "
        "class=\"full-screen-button\">{} (Q)"
        "</button> <output></output></div><p class=\"vote-summary\"></p></fieldset>\n",
        markup(q.id), label_text("predict"), line_html(q.prompt, value), choices, hint, label_text("lock"),
        label_text("reveal"), label_text("alone"));
  }

  void add_claims() {
    begin("claims", texts_.label_text("claims"), next_number());
    sections_ += fmt::format("<h2>{}</h2>\n", label_text("claims"));
    const Setting setting;
    for (const Claim& card : texts_.claims) {
      sections_ += claim_html(card, judge(card, evidence_), evidence_, texts_, line_of(setting));
    }
    sections_ += "</section>\n";
  }

  void add_results() {
    begin("results", texts_.label_text("results"), next_number());
    sections_ += fmt::format(
        "<h2>{0}</h2><table id=\"result-table\"></table><p><button id=\"print\">{1}</button> <button id=\"forget\">{2}"
        "</button> <label><input type=\"checkbox\" id=\"brief\"> {3}</label></p></section>\n",
        label_text("results"), label_text("print"), label_text("start_again"), label_text("brief"));
  }

  void add_glossary() {
    begin("glossary", texts_.label_text("glossary"));
    std::string terms;
    for (const auto& [term, line] : texts_.terms) {
      terms += fmt::format("<dt>{}</dt><dd>{}</dd>", markup(term), markup(line));
    }
    sections_ += fmt::format("<h2>{}</h2><dl class=\"glossary\">{}</dl></section>\n", label_text("glossary"), terms);
  }

  const LessonTexts& texts_;
  const Evidence& evidence_;
  const WebOptions& options_;
  std::string start_;  ///< slug; resolved from a number by begin()
  std::string nav_;
  std::string sections_;
  std::string asked_;  ///< questions, which the drawing shows
  int number_ = 0;
};

}  // namespace

std::string lesson_page(const LessonTexts& texts, const Evidence& evidence, const WebOptions& options) {
  return Page(texts, evidence, options).all();
}

}  // namespace attnscope::analysis::lesson
