// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/texts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <utility>

namespace attnscope::analysis::lesson {
namespace {

struct Source {
  std::string path;
  std::string text;
  bool own = false;  ///< custom text
};

enum class TextKind { nowhere, words, glossary, step, claim, homework, plan };

/// Returns the kind of a file and its language; the language is empty for claims and homework.
std::pair<TextKind, std::string_view> text_kind_of(std::string_view path) {
  const std::size_t slash = path.find('/');
  if (slash == std::string_view::npos) return {TextKind::nowhere, {}};
  const std::string_view folder = path.substr(0, slash);
  const std::string_view file = path.substr(slash + 1);
  if (file.find('/') != std::string_view::npos) return {TextKind::nowhere, {}};
  if (folder == "claims" || folder == "homework") {
    if (!file.ends_with(".json")) return {TextKind::nowhere, {}};
    return {folder == "claims" ? TextKind::claim : TextKind::homework, {}};
  }
  const auto languages = lesson_languages();
  if (std::ranges::count(languages, folder) == 0) return {TextKind::nowhere, {}};
  if (file == "plan.json") return {TextKind::plan, folder};
  if (!file.ends_with(".md")) return {TextKind::nowhere, {}};
  if (file == "words.md") return {TextKind::words, folder};
  if (file == "glossary.md") return {TextKind::glossary, folder};
  return {file.starts_with("screen-") ? TextKind::step : TextKind::nowhere, folder};
}

bool is_page_id(std::string_view slug) {
  constexpr std::array<std::string_view, 12> ids{"claims", "results", "glossary", "words", "menu",   "theme",
                                                 "big",    "print",   "forget",   "brief", "result", "data"};
  return std::ranges::count(ids, slug) > 0 || slug.starts_with("data-") || slug.starts_with("claim-") ||
         slug.starts_with("result-");
}

class Loader {
 public:
  Loader(std::string_view language, const Registry& registry) : registry_(registry) { texts_.language = language; }

  /// Loads texts and glossary before the files that use them, and built-in files before custom ones, so that built-in
  /// names take precedence.
  LessonTexts load(std::span<const TextFile> more) && {
    std::map<std::string, Source> all;
    for (const EmbeddedText& each : embedded_lesson()) {
      all.emplace(each.path, Source{.path = std::string(each.path), .text = std::string(each.text)});
    }
    for (const TextFile& each : more) {
      const TextKind place = text_kind_of(each.path).first;
      if (!each.read_error.empty()) {
        wrong(each.path, 0, each.read_error);
      } else if (place == TextKind::nowhere) {
        if (each.path == "README.md") continue;  // the built-in folder has a README for authors
        wrong(each.path, 0,
              make_message(
                  "ignored: expected LANG/words.md, LANG/glossary.md, LANG/screen-*.md, LANG/plan.json (LANG: {}), "
                  "claims/*.json or homework/*.json",
                  fmt::join(lesson_languages(), ", ")));
      } else {
        all.insert_or_assign(each.path, Source{.path = each.path, .text = each.text, .own = true});
      }
    }
    // Words and glossary first: the other texts use them.
    for (const bool first : {true, false}) {
      for (const bool own : {false, true}) {
        for (const auto& [path, source] : all) {
          const auto [place, language] = text_kind_of(path);
          if (place == TextKind::nowhere || source.own != own) continue;
          if ((place == TextKind::words || place == TextKind::glossary) != first) continue;
          if (language.empty() || language == texts_.language) read(source, place);
        }
      }
    }
    std::ranges::stable_sort(texts_.steps, {}, &Step::order);
    std::ranges::stable_sort(texts_.claims, {}, &Claim::order);
    std::ranges::stable_sort(texts_.homework, {}, &HomeworkQuestion::order);
    return std::move(texts_);
  }

 private:
  void read(const Source& source, TextKind place) {
    if (place == TextKind::claim) {
      auto claim = read_claim(source.path, source.text, texts_.language, known_, registry_, texts_.problems);
      if (claim) texts_.claims.push_back(*std::move(claim));
      return;
    }
    if (place == TextKind::homework) {
      auto question = read_homework(source.path, source.text, texts_.language, known_, texts_.problems);
      if (question) texts_.homework.push_back(*std::move(question));
      return;
    }
    if (place == TextKind::plan) {
      auto plan = read_plan(source.path, source.text, texts_.language, known_, texts_.problems);
      if (plan) texts_.plan = *std::move(plan);
      return;
    }
    auto [document, problems] = parse_document(source.path, source.text, known_);
    const bool whole = problems.empty();
    // Limit the problems reported per file.
    constexpr std::size_t most = 20;
    if (problems.size() > most) {
      wrong(source.path, 0, make_message("{} problems; only the first ones are listed", problems.size()));
      problems.resize(most);
    }
    std::ranges::move(problems, std::back_inserter(texts_.problems));
    if (place == TextKind::glossary || place == TextKind::words) {
      auto& lines = place == TextKind::words ? texts_.words : texts_.terms;
      for (const auto& [key, entry] : document.front.entries) lines[key] = entry.value;
    } else {
      add_step(std::move(document), whole);
    }
  }

  void wrong(const std::string& file, int line, Message why) {
    texts_.problems.push_back({file, line, std::move(why)});
  }

  bool claim_slug(const std::string& slug, const std::string& file, int line) {
    if (!is_name(slug)) {
      wrong(file, line, no_name(slug));
      return false;
    }
    const auto [taken, fresh] = slugs_.emplace(slug, file);
    if (fresh && !is_page_id(slug)) return true;
    wrong(file, line,
          make_message("slug '{}' is already used by {} (choose another)", slug, fresh ? "the page" : taken->second));
    return false;
  }

  /// Adds a step and reports all its problems; invalid steps are skipped.
  void add_step(Document document, bool whole) {
    FrontMatterReader front(document);
    Step step{.slug = front.required_text("slug"), .title = front.required_text("title")};
    (void)front.required_text("order");
    const auto order = front.number("order");
    step.order = order.value_or(0);
    step.setting = read_setting(front);
    std::ranges::move(front.finish(), std::back_inserter(texts_.problems));
    whole = !step.slug.empty() && claim_slug(step.slug, document.file, document.front.line_of("slug")) && whole &&
            !step.title.empty() && order;
    for (const Block& block : document.blocks) {
      const auto& pictures = picture_names();
      if (block.kind == Block::Kind::picture && std::ranges::count(pictures, block.text) == 0) {
        wrong(
            document.file, block.line,
            make_message("unknown picture '{}' (available: {})", truncate_text(block.text), fmt::join(pictures, ", ")));
        whole = false;
      }
      if (block.kind == Block::Kind::question && !questions_.insert(block.question.id).second) {
        wrong(document.file, block.line, make_message("duplicate question ID '{}'", block.question.id));
        whole = false;
      }
    }
    step.blocks = std::move(document.blocks);
    if (whole) texts_.steps.push_back(std::move(step));
  }

  const Registry& registry_;
  LessonTexts texts_;
  std::map<std::string, std::string> slugs_;  ///< file by slug
  std::set<std::string> questions_;
  KnownNames known_{[](std::string_view name) { return find_value(name) != nullptr; },
                    [this](std::string_view term) { return texts_.terms.contains(term); }};
};

}  // namespace

std::string_view embedded_lesson(std::string_view path) {
  const auto found = std::ranges::find(embedded_lesson(), path, &EmbeddedText::path);
  return found == embedded_lesson().end() ? std::string_view() : found->text;
}

std::vector<std::string> lesson_languages() {
  std::vector<std::string> languages;
  for (const EmbeddedText& each : embedded_lesson()) {
    if (each.path.ends_with("/words.md")) languages.emplace_back(each.path.substr(0, each.path.find('/')));
  }
  return languages;
}

std::string LessonTexts::label_text(std::string_view key) const {
  const auto found = words.find(key);
  return found == words.end() ? "[" + std::string(key) + "]" : found->second;
}

std::string LessonTexts::translated(std::string_view line) const {
  std::string all;
  for (std::size_t from = 0; from <= line.size();) {
    const std::size_t to = std::min(line.find(' ', from), line.size());
    const std::string_view word = line.substr(from, to - from);
    const std::size_t end = std::min(word.find_first_of(":,."), word.size());
    const auto found = words.find(fmt::format("term.{}", word.substr(0, end)));
    all += fmt::format("{}{}{}", from > 0 ? " " : "", found == words.end() ? word.substr(0, end) : found->second,
                       word.substr(end));
    from = to + 1;
  }
  return all;
}

std::string LessonTexts::title_of(const Algorithm& algorithm) const {
  const auto found = words.find(fmt::format("title.{}", algorithm.name()));
  return found == words.end() ? std::string(algorithm.facts().title) : found->second;
}

const std::vector<std::string>& picture_names() {
  static const std::vector<std::string> names{
      "race",          "race-end",  "attention",     "attention-scores",   "attention-softmax", "attention-mix",
      "size",          "size-zoom", "softmax",       "softmax-block",      "softmax-rescale",   "tiling",
      "tiling-orders", "theorem",   "theorem-count", "theorem-powers",     "roofline",          "decode",
      "decode-split",  "decode-l2", "backward",      "backward-recompute", "backward-paper"};
  return names;
}

LessonTexts load_lesson(std::string_view language, std::span<const TextFile> more) {
  return load_lesson(language, more, built_in_algorithms());
}

LessonTexts load_lesson(std::string_view language, std::span<const TextFile> more, const Registry& registry) {
  return Loader(language, registry).load(more);
}

}  // namespace attnscope::analysis::lesson
