// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/lesson_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "profiler/lesson/hierarchy.h"
#include "profiler/lesson/ledger.h"
#include "profiler/lesson/online_softmax.h"
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

std::string softmax_json() {
  nlohmann::json all = nlohmann::json::array();
  for (const SoftmaxExample& example : softmax_examples()) {
    all.push_back({{"name", example.name},
                   {"columns", example.columns},
                   {"d", example.d},
                   {"scores", example.scores},
                   {"values", example.values},
                   {"hidden", example.hidden},
                   {"blocks", example.blocks}});
  }
  return all.dump();
}

/// Drawn as a square with an area of `bytes`; `label` is displayed.
struct SizedSquare {
  std::string label{};
  double bytes = 0;
};
/// Returns two pictures with separate scales: one head's matrices with the on-chip memories and L2, and all heads'
/// scores with DRAM.
std::vector<std::vector<SizedSquare>> ledger_squares(const LessonTexts& texts, const Setting& setting,
                                                     const DeviceLimits& gpu) {
  const Ledger one = make_ledger(setting.single_head_problem());
  const Hierarchy memories = hierarchy_of(gpu);
  const auto size = [&](MemoryLevel memory_level) { return memories.at(memory_level).bytes->value; };
  const auto scores = static_cast<double>(one.find(Tensor::s)->matrix_bytes());
  const auto all = static_cast<double>(make_ledger(setting.all_heads_problem()).find(Tensor::s)->all());
  return {{{"S", scores},
           {"P", scores},
           {"Q + K + V + O", static_cast<double>(one.tensor_bytes())},
           {texts.label_text("registers"), size(MemoryLevel::registers)},
           {texts.label_text("shared"), size(MemoryLevel::shared)},
           {"L2", size(MemoryLevel::l2)}},
          {{texts.label_text("dram"), size(MemoryLevel::dram)},
           {fmt::format("S, {} × {}, N {}", setting.heads, setting.batch, setting.n), all},
           {fmt::format("S, N {}", 2 * setting.n), 4 * all},
           {"L2", size(MemoryLevel::l2)}}};
}

struct LedgerStep {
  std::int64_t n = 0;
  std::vector<std::vector<SizedSquare>> pictures{};
};
/// Returns pictures for several N in steps of two, including the setting's.
std::vector<LedgerStep> ledger_frames(const LessonTexts& texts, const Setting& setting, const DeviceLimits& gpu) {
  std::vector<LedgerStep> frames;
  for (const std::int64_t n : {setting.n / 8, setting.n / 4, setting.n / 2, setting.n, 2 * setting.n, 4 * setting.n}) {
    if (n < 16) continue;
    Setting other = setting;
    other.n = n;
    frames.push_back({n, ledger_squares(texts, other, gpu)});
  }
  return frames;
}

/// Returns P and the tensors that the backward pass stores instead.
std::vector<SizedSquare> backward_squares(const Setting& setting) {
  const Ledger one = make_ledger(setting.single_head_problem());
  const auto bytes = [&](Tensor tensor) { return static_cast<double>(one.find(tensor)->matrix_bytes()); };
  return {{"P", bytes(Tensor::p)},
          {"Q + K + V + O", static_cast<double>(one.tensor_bytes())},
          {"m + ℓ", bytes(Tensor::m) + bytes(Tensor::l)},
          {"LSE", bytes(Tensor::lse)}};
}

class Page {
 public:
  Page(const LessonTexts& texts, const Evidence& evidence, const WebOptions& options)
      : texts_(texts), evidence_(evidence), options_(options), start_(options.start) {}

  std::string all() {
    for (const Step& step : texts_.steps) add_step(step);
    add_claims();
    add_results();
    add_glossary();
    return head(label_text("lesson")) +
           fmt::format(
               "<noscript><style>section{{display:block}}</style></noscript></head>\n<body "
               "data-key=\"attnscope-lesson-{}\" data-start=\"{}\" "
               "data-theme=\"{}\">\n<header><h1>{}</h1><button "
               "id=\"menu\" aria-expanded=\"false\"></button><nav>{}</nav><div class=\"tools\">{}<button "
               "id=\"theme\">{}</button><button "
               "id=\"big\">{}</button></div></header>\n<main>\n{}</main>\n"
               "<footer>{}</footer>\n<noscript><p>{}</p></noscript>\n{}<script>{}</script>\n</body></html>\n",
               options_.seed, markup(start_), markup(options_.theme), label_text("lesson"), nav_, other_languages(),
               label_text("dark"), label_text("big_type"), sections_, footer(), label_text("no_script"),
               data_ + script_json("words", nlohmann::json(texts_.words).dump()), script());
  }

 private:
  /// Blocks network requests.
  std::string head(std::string_view title) const {
    return fmt::format(
        "<!DOCTYPE html>\n<!-- SPDX-License-Identifier: Apache-2.0 -->\n<html lang=\"{}\">\n<head><meta "
        "charset=\"utf-8\">\n<meta name=\"generator\" content=\"attnscope lesson\">\n<meta name=\"viewport\" "
        "content=\"width=device-width, initial-scale=1\">\n<meta "
        "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src "
        "'unsafe-inline'; img-src data:\">\n<link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n<style>:root{{{}}}"
        "[data-theme=dark]{{color-scheme:dark;{}}}{}</style>",
        markup(texts_.language), title, style::css_properties(false), style::css_properties(true),
        embedded_lesson("web/lesson.css"));
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

  /// Renders a glossary term; its definition follows the first use.
  std::string term_html(std::string_view term, std::string_view said) {
    const auto found = texts_.terms.find(term);
    if (found == texts_.terms.end()) return markup(said);
    if (explained_.insert(found->first).second) {
      new_terms_ += fmt::format("<p class=\"term\"><strong>{}</strong>: {}</p>\n", markup(term), markup(found->second));
    }
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

  void add_step(const Step& step) {
    begin(step.slug, step.title, step.order < 1 ? "0" : next_number());
    const Setting setting = vary_setting(step.setting, options_.seed);
    const MarkRenderer line = line_of(setting);
    for (const Block& block : step.blocks) {
      if (block.kind == Block::Kind::picture) {
        picture(block.text, step, setting);
      } else {
        sections_ += block.kind == Block::Kind::question ? question_html(block.question, setting, line)
                     : block.revealed
                         ? fmt::format("<div class=\"revealed\">{}</div>\n", markdown_html(block.text, line))
                         : markdown_html(block.text, line);
      }
      sections_ += std::exchange(new_terms_, {});
    }
    if (!step.explore.empty()) {
      sections_ +=
          fmt::format("<p class=\"explore\">{}: <code>attnscope model --algorithms {} -a N={} -a d={}</code></p>\n",
                      label_text("explorer"), markup(step.explore), setting.n, setting.d);
    }
    if (!step.next.empty() && &step != &texts_.steps.back()) {
      sections_ +=
          fmt::format("<p class=\"next\"><a href=\"#{}\">{}</a></p>\n", markup((&step + 1)->slug), markup(step.next));
    }
    sections_ += "</section>\n";
  }

  std::string value_html(std::string_view name, const Setting& setting) const {
    const ValueDefinition* known = find_value(name);
    const auto value = known == nullptr ? std::nullopt : known->of(setting, evidence_);
    if (!value) return fmt::format("<span class=\"v none\">({})</span>", label_text("no_data"));
    if (value->origin.empty()) return fmt::format("<span class=\"v\">{}</span>", markup(value->text));
    return fmt::format("<span class=\"v {0}\" title=\"{1}\">{2}<small>{1}</small></span>", markup(value->origin),
                       label_text(value->origin), markup(value->text));
  }

  std::string question_html(const Question& q, const Setting& setting, const MarkRenderer& value) const {
    if (!has_question_data(q, setting, evidence_))
      return fmt::format("<p class=\"none\">{}</p>\n", label_text("left_out"));
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

  void picture(const std::string& name, const Step& step, const Setting& setting) {
    if (name == "ledger") {
      sections_ += ledger_picture(setting);
    } else if (name == "hierarchy") {
      sections_ += hierarchy_table();
    } else if (name == "backward") {
      sections_ += backward_picture(setting);
    } else {
      add_animation(name, step.slug,
                    name == "tiles"     ? player_frames_json(texts_, step.player_settings, evidence_)
                    : name == "softmax" ? softmax_json()
                    : name == "race"    ? race_json(texts_, step.player_settings, setting, evidence_)
                                        : law_json(texts_, setting.first, evidence_));
    }
  }

  void add_animation(std::string_view kind, std::string_view slug, const std::string& frames) {
    const std::string id = fmt::format("data-{}-{}", slug, kind);
    sections_ +=
        fmt::format("<figure class=\"play\" data-kind=\"{}\" data-source=\"{}\"></figure>\n", markup(kind), markup(id));
    data_ += script_json(id, frames);
  }

  /// Draws squares at one scale on a common baseline.
  static std::string squares(std::span<const SizedSquare> sizes, double max_tile_side) {
    double most = 0;
    for (const auto& [label, bytes] : sizes) most = std::max(most, bytes);
    constexpr double gap = 24;
    constexpr double label_width = 150;
    double x = gap;
    std::string drawn;
    const double ground = max_tile_side + 12;
    for (const auto& [label, bytes] : sizes) {
      const double side = std::max(1.0, max_tile_side * std::sqrt(bytes / most));
      drawn += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/><text x=\"{:.1f}\" "
          "y=\"{:.1f}\">{}</text>"
          "<text class=\"size\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
          x, ground - side, side, side, x, ground + 22, markup(label), x, ground + 42,
          markup(format_figure(bytes, Unit::bytes)));
      x += std::max(side, label_width) + gap;
    }
    return fmt::format(
        "<svg class=\"squares\" style=\"max-width:{3:.1f}rem\" viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\">{2}</svg>",
        x, ground + 52, drawn, x / 18);
  }

  /// Renders all frames; the script shows one.
  std::string ledger_picture(const Setting& setting) const {
    std::string frames;
    std::size_t now = 0;
    const std::vector<LedgerStep> all = ledger_frames(texts_, setting, evidence_.gpu);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].n == setting.n) now = i;
      frames += fmt::format("<div class=\"frame\"><p><strong>N {}</strong></p>{}{}</div>", all[i].n,
                            squares(all[i].pictures.front(), 170), squares(all[i].pictures.back(), 230));
    }
    return fmt::format(
        "<figure class=\"frames\" data-now=\"{}\">{}<figcaption>{} {} ({}; {}: {})</figcaption></figure>\n", now,
        frames, label_text("doublings"), label_text("scale"), label_text("modeled"), markup(evidence_.gpu.name),
        label_text("datasheet"));
  }

  std::string figure_cell(const std::optional<HierarchyFigure>& figure, Unit unit) const {
    if (!figure) return fmt::format("<td class=\"none\"><small>{}</small></td>", label_text("no_data"));
    return fmt::format("<td>{}<small>{}</small></td>", markup(format_figure(figure->value, unit)),
                       label_text(to_string(figure->source)));
  }

  std::string hierarchy_table() const {
    const Hierarchy all = hierarchy_of(evidence_.gpu, evidence_.ceilings);
    double most = 0;
    for (const HierarchyLevel& memory_level : all.memory_levels_list)
      most = std::max(most, memory_level.bandwidth ? memory_level.bandwidth->value : 0);
    constexpr std::array words{"registers", "shared", "l2", "dram", "host"};
    std::string rows;
    for (const HierarchyLevel& memory_level : all.memory_levels_list) {
      const double share = memory_level.bandwidth ? 100 * memory_level.bandwidth->value / most : 0;
      rows += fmt::format("<tr><th>{}</th>{}{}<td class=\"bar\"><i style=\"width:{:.2f}%\"></i></td>{}{}{}</tr>",
                          label_text(words.at(static_cast<std::size_t>(memory_level.memory_level))),
                          figure_cell(memory_level.bytes, Unit::bytes),
                          figure_cell(memory_level.bandwidth, Unit::bytes_per_second), std::max(share, 0.1),
                          figure_cell(memory_level.latency_ns, Unit::nanoseconds),
                          figure_cell(memory_level.in_flight_bytes, Unit::bytes),
                          figure_cell(memory_level.flops_per_byte, Unit::plain));
    }
    return fmt::format(
        "<figure><table class=\"hierarchy\"><thead><tr><th></th><th>{}</th><th colspan=\"2\">{}</th><th>{}</th><th>{}"
        "</th><th>{}</th></tr></thead><tbody>{}</tbody></table></figure>\n",
        label_text("size"), label_text("bandwidth"), label_text("latency"), label_text("in_flight"),
        label_text("flops_per_byte"), rows);
  }

  std::string backward_picture(const Setting& setting) const {
    return fmt::format("<figure>{}<figcaption>{} ({})</figcaption></figure>\n", squares(backward_squares(setting), 210),
                       label_text("scale"), label_text("modeled"));
  }

  void add_claims() {
    begin("claims", texts_.label_text("claims"), next_number());
    sections_ += fmt::format("<h2>{}</h2>\n", label_text("claims"));
    const Setting setting;
    for (const Claim& card : texts_.claims) {
      sections_ +=
          claim_html(card, judge(card, evidence_), evidence_, texts_, line_of(setting)) + std::exchange(new_terms_, {});
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
  std::string data_;
  int number_ = 0;
  std::set<std::string_view> explained_;
  std::string new_terms_;  ///< definitions of terms first used in the current block
};

}  // namespace

std::string lesson_page(const LessonTexts& texts, const Evidence& evidence, const WebOptions& options) {
  return Page(texts, evidence, options).all();
}

}  // namespace attnscope::analysis::lesson
