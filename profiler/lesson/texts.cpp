// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/texts.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace attnscope::analysis::lesson {
namespace {

/// Folder of a path, or the file name of words and glossary. Other texts use words and glossary.
std::string_view kind_of(std::string_view path) {
  return path.substr(0, path.find('/'));
}

std::vector<Choice> read_choices(JsonCard& step) {
  std::vector<Choice> choices;
  for (JsonCard& each : step.objects("choices")) {
    choices.push_back(
        {.text = each.required_text("text"), .right = each.value("right") == true, .why = each.required_text("why")});
    each.finish();
  }
  // The keys A to F select choices.
  const bool fits =
      choices.size() >= 2 && choices.size() <= 6 && std::ranges::count(choices, true, &Choice::right) == 1;
  if (!fits) step.report_invalid("choices", "expected two to six choices, exactly one with \"right\": true");
  return choices;
}

Step read_step(JsonCard& card) {
  Step step{.picture = card.keyword("picture", {picture_names().begin(), picture_names().end()}),
            .text = card.text("text"),
            .question = card.text("question"),
            .hint = card.text("hint")};
  if (!step.question.empty()) step.choices = read_choices(card);
  if (step.question.empty() == step.text.empty()) card.report_invalid("text", "expected a text or a question");
  card.finish();
  return step;
}

Screen read_screen(JsonCard& card) {
  Screen screen{.id = card.id(),
                .title = card.required_text("title"),
                .order = card.number("order", 100),
                .minutes = card.number("minutes", 0),
                .say = card.text("say"),
                .ask = card.text("ask"),
                .answer = card.text("answer")};
  for (JsonCard& each : card.objects("steps")) screen.steps.push_back(read_step(each));
  if (screen.steps.empty()) card.report_invalid("steps", "expected a list of steps");
  constexpr std::array<std::string_view, 3> pages{"claims", "results", "glossary"};
  if (std::ranges::count(pages, screen.id) > 0) card.report_invalid("title", "the page has this name; rename the file");
  return screen;
}

/// Adds what a file describes, unless it has problems.
void read_text(const TextFile& file, const Registry& registry, LessonTexts& texts) {
  JsonCard card(file.path, file.text, texts.language, texts.terms);
  const auto add = [&](auto& list, auto read) {
    card.finish();
    if (card.problems().empty()) list.push_back(std::move(read));
  };
  const std::string_view kind = kind_of(file.path);
  if (kind == "words.json") {
    for (const std::string& key : card.keys()) texts.words[key] = card.text(key);
  } else if (kind == "glossary.json") {
    for (JsonCard& each : card.objects("terms")) texts.terms[each.required_text("term")] = each.required_text("text");
  } else if (kind == "screens") {
    add(texts.screens, read_screen(card));
  } else if (kind == "claims") {
    add(texts.claims, read_claim(card, registry));
  } else {
    add(texts.homework, read_homework(card));
  }
  std::ranges::copy(card.problems(), std::back_inserter(texts.problems));
}

}  // namespace

std::string_view embedded_lesson(std::string_view path) {
  const auto found = std::ranges::find(embedded_lesson(), path, &EmbeddedText::path);
  return found == embedded_lesson().end() ? std::string_view() : found->text;
}

bool is_text_path(std::string_view path) {
  const std::string_view kind = kind_of(path);
  if (path == "words.json" || path == "glossary.json") return true;
  return path.ends_with(".json") && std::ranges::count(path, '/') == 1 &&
         (kind == "screens" || kind == "claims" || kind == "homework");
}

std::string LessonTexts::label_text(std::string_view key) const {
  const auto found = words.find(key);
  return found == words.end() ? "[" + std::string(key) + "]" : found->second;
}

std::span<const std::string> picture_names() {
  static const std::vector<std::string> names{
      "race",          "race-end",     "attention",     "attention-scores", "attention-softmax",  "attention-mix",
      "size",          "size-zoom",    "softmax",       "softmax-block",    "softmax-rescale",    "tiling",
      "tiling-orders", "theorem",      "theorem-count", "theorem-powers",   "roofline",           "roofline-roofs",
      "decode",        "decode-split", "decode-l2",     "backward",         "backward-recompute", "backward-paper"};
  return names;
}

LessonTexts load_lesson(std::string_view language, std::span<const TextFile> more, const Registry& registry) {
  LessonTexts texts{.language = std::string(language)};
  std::map<std::string, TextFile> files;
  for (const EmbeddedText& each : embedded_lesson()) {
    const std::string path(each.path);
    if (is_text_path(path)) files.emplace(path, TextFile{path, std::string(each.text)});
  }
  for (const TextFile& each : more) {
    if (!each.read_error.empty()) {
      texts.problems.push_back(make_message("{}: {}", each.path, each.read_error));
    } else if (is_text_path(each.path)) {
      files.insert_or_assign(each.path, each);
    } else {
      texts.problems.push_back(make_message(
          "{}: ignored: expected words.json, glossary.json, screens/*.json, claims/*.json or homework/*.json",
          each.path));
    }
  }
  // The glossary first: other texts are checked against it.
  if (const auto glossary = files.extract("glossary.json")) read_text(glossary.mapped(), registry, texts);
  for (const auto& [path, file] : files) read_text(file, registry, texts);
  std::ranges::stable_sort(texts.screens, {}, &Screen::order);
  std::ranges::stable_sort(texts.claims, {}, &Claim::order);
  std::ranges::stable_sort(texts.homework, {}, &HomeworkQuestion::order);
  return texts;
}

}  // namespace attnscope::analysis::lesson
