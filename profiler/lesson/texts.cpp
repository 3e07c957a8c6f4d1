// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/texts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "kernels/registry.h"
#include "profiler/lesson/claims.h"
#include "profiler/lesson/front_keys.h"
#include "profiler/lesson/values.h"

namespace attnscope::analysis::lesson {
namespace {

struct Source {
  std::string path;
  std::string text;
  Message trouble{};
  bool own = false;  ///< a teacher's
};

/// Whether a file says sentences by key: a teacher's then stands over ours key by key.
bool is_by_key(std::string_view path) {
  return path.ends_with("/words.md") || path.ends_with("/glossary.md");
}

/// Ours, then what replaces or adds to it: of two that want the same name, ours has it.
std::vector<Source> sources_of(std::span<const TextFile> more) {
  std::map<std::string, Source> all;
  for (const EmbeddedText& each : embedded_lesson()) {
    all.emplace(each.path, Source{.path = std::string(each.path), .text = std::string(each.text)});
  }
  std::vector<Source> unread;
  for (const TextFile& each : more) {
    Source source{.path = each.path, .text = each.text, .trouble = each.trouble, .own = true};
    if (each.trouble.empty() && !is_by_key(each.path)) {
      all.insert_or_assign(each.path, std::move(source));
    } else {
      unread.push_back(std::move(source));
    }
  }
  std::vector<Source> sources;
  sources.reserve(all.size() + unread.size());
  for (auto& [path, source] : all) sources.push_back(std::move(source));
  std::ranges::move(unread, std::back_inserter(sources));
  std::stable_partition(sources.begin(), sources.end(), [](const Source& source) { return !source.own; });
  return sources;
}

enum class TextPlace { nowhere, words, glossary, step, claim };

/// Of which language's or of no language's, empty, the file is.
std::pair<TextPlace, std::string_view> text_place_of(std::string_view path) {
  if (!path.ends_with(".md")) return {TextPlace::nowhere, {}};
  const std::size_t slash = path.find('/');
  if (slash == std::string_view::npos || path.find('/', slash + 1) != std::string_view::npos)
    return {TextPlace::nowhere, {}};
  const std::string_view folder = path.substr(0, slash);
  const std::string_view file = path.substr(slash + 1);
  if (folder == "claims") return {TextPlace::claim, {}};
  if (file == "words.md") return {TextPlace::words, folder};
  if (file == "glossary.md") return {TextPlace::glossary, folder};
  return {file.starts_with("step-") ? TextPlace::step : TextPlace::nowhere, folder};
}

bool known_value(std::string_view name) {
  return find_value(name) != nullptr;
}

/// What stands below `## LANG`.
std::vector<Block> section_of(const std::vector<Block>& blocks, std::string_view language) {
  std::vector<Block> section;
  bool inside = false;
  for (const Block& block : blocks) {
    if (block.kind == Block::Kind::heading && block.level == 2) {
      inside = block.text == language;
    } else if (inside) {
      section.push_back(block);
    }
  }
  return section;
}

/// The programs ask for the words that the built-in English has.
bool is_word(std::string_view key) {
  static const auto english = parse_document({}, embedded_lesson("en/words.md"), known_value);
  return english.document.front.find(key) != nullptr;
}

/// Ids of the page that are no step's.
bool is_of_page(std::string_view slug) {
  constexpr std::array<std::string_view, 12> ids{"claims", "results", "glossary", "words", "menu",   "theme",
                                                 "big",    "print",   "forget",   "brief", "result", "data"};
  return std::ranges::count(ids, slug) > 0 || slug.starts_with("data-") || slug.starts_with("claim-") ||
         slug.starts_with("result-");
}

class Loader {
 public:
  Loader(std::string_view language, const Registry& registry) : registry_(registry) { texts_.language = language; }

  void read(const Source& source) {
    const auto [place, language] = text_place_of(source.path);
    if (source.own && !source.trouble.empty()) return wrong(source.path, 0, source.trouble);
    if (source.own && !belongs(source.path, place, language)) return;
    if (place == TextPlace::step) {
      const std::string file = source.path.substr(language.size());
      if (language != texts_.language) {
        foreign_.emplace(file, source);
        return;
      }
      own_steps_.insert(file);
    }
    if (place == TextPlace::nowhere || (place != TextPlace::claim && language != texts_.language)) return;
    auto parsed = parse_document(source.path, source.text, known_value);
    std::ranges::copy(parsed.problems, std::back_inserter(texts_.problems));
    Document& document = parsed.document;
    if (document.front.entries.empty()) return;
    if (place == TextPlace::glossary) {
      for (const auto& [term, entry] : document.front.entries) texts_.terms[term] = entry.value;
    } else if (place == TextPlace::words) {
      add_words(document);
    } else if (place == TextPlace::step) {
      read_.push_back(document);
      add_step(std::move(document), parsed.ok());
    } else {
      add_claim(std::move(document), parsed.ok());
    }
  }

  LessonTexts finish() && {
    for (const auto& [file, source] : foreign_) {
      if (!own_steps_.contains(file) && !texts_.words.empty()) borrow(source);
    }
    for (const Document& document : read_) look_at_terms(document);
    shorten_problems();
    std::ranges::stable_sort(texts_.steps, {}, &Step::order);
    std::ranges::stable_sort(texts_.claims, {}, &ClaimCard::order);
    return std::move(texts_);
  }

 private:
  /// Of a file that is all wrong the first of its problems are enough.
  void shorten_problems() {
    constexpr std::size_t most = 20;
    std::map<std::string, std::size_t> count;
    std::vector<TextProblem> kept;
    for (TextProblem& problem : texts_.problems) {
      if (++count[problem.file] <= most) kept.push_back(std::move(problem));
    }
    for (const auto& [file, all] : count) {
      if (all > most) kept.push_back({file, 0, make_message("and {} more that is wrong", all - most)});
    }
    texts_.problems = std::move(kept);
  }

  void wrong(const std::string& file, int line, Message why) {
    texts_.problems.push_back({file, line, std::move(why)});
  }

  /// A step that nobody wrote in this language, as it is in another one, whose loader says what is wrong with it.
  void borrow(const Source& source) {
    auto parsed = parse_document(source.path, source.text, known_value);
    const std::size_t told = texts_.problems.size();
    const std::size_t steps = texts_.steps.size();
    if (parsed.ok()) add_step(std::move(parsed.document), true);
    texts_.problems.resize(told);
    if (texts_.steps.size() > steps) texts_.steps.back().language = text_place_of(source.path).second;
  }

  void look_at_terms(const Document& document) {
    for (const Block& block : document.blocks) {
      std::vector<std::string> lines = block.items;
      const Question& q = block.question;
      lines.insert(lines.end(), {block.kind == Block::Kind::code ? "" : block.text, q.prompt, q.hint});
      for (const Choice& choice : q.choices) lines.insert(lines.end(), {choice.text, choice.because});
      for (const std::string& line : lines) {
        for (const Span& span : spans_of(line)) {
          const std::string_view term = term_of(span.text).first;
          if (span.kind != Span::Kind::term || texts_.terms.contains(term)) continue;
          wrong(document.file, block.line, make_message("the glossary has no term '{}'", clipped(term)));
        }
      }
    }
  }

  /// Says of a file that is none of the lesson's that it is none.
  bool belongs(const std::string& path, TextPlace place, std::string_view language) {
    if (path == "README.md") return false;  // ours lies there, too, and is for people
    const std::vector<std::string> languages = lesson_languages();
    const bool ours = place == TextPlace::claim || std::ranges::count(languages, language) > 0;
    if (place != TextPlace::nowhere && ours) return true;
    wrong(path, 0,
          make_message(
              "none of LANG/words.md, LANG/glossary.md, LANG/step-*.md (LANG: {}) and claims/*.md: it is not read",
              fmt::join(languages, ", ")));
    return false;
  }

  /// Says which keys are missing.
  bool has(const Document& document, std::span<const std::string_view> keys) {
    bool all = true;
    for (const std::string_view key : keys) {
      if (const std::string* value = document.front.find(key); value != nullptr && !value->empty()) continue;
      wrong(document.file, 1, make_message("the front matter lacks '{}'", key));
      all = false;
    }
    return all;
  }

  /// What programs say by a message's id, words of points and masks, titles of algorithms.
  [[nodiscard]] bool says_message(std::string_view key) const {
    constexpr std::string_view title = "title.";
    if (key.starts_with(title)) return registry_.find(key.substr(title.size())) != nullptr;
    return key.starts_with("term.") || std::ranges::count(Catalogue::english().ids(), key) > 0;
  }

  void add_words(const Document& document) {
    for (const auto& [key, entry] : document.front.entries) {
      const bool message = key.find('.') != std::string::npos;
      const bool asked = message ? says_message(key) : is_word(key);
      if (!asked) {
        wrong(document.file, entry.line, make_message("the lesson asks for no word '{}'", clipped(key)));
      } else {
        (message ? texts_.messages : texts_.words)[key] = entry.value;
      }
    }
  }

  /// Whether nobody has the step's address yet.
  bool takes_slug(const Document& document) {
    const std::string slug = document.front.text("slug");
    const int line = document.front.line_of("slug");
    if (!is_name(slug)) {
      wrong(document.file, line,
            make_message("'{}' is no name: letters a to z, digits and hyphens, 60 at most, a letter or digit first",
                         clipped(slug)));
      return false;
    }
    // Names that the page itself has.
    if (const auto [taken, fresh] = slugs_.emplace(slug, document.file); !fresh || is_of_page(slug)) {
      wrong(document.file, line,
            make_message("the slug '{}' is taken already, by {}: another one, please", slug,
                         fresh ? slug : taken->second));
      return false;
    }
    return true;
  }

  /// All that is wrong is told; a step without which the page would not be right is left out.
  void add_step(Document document, bool whole) {
    constexpr std::array<std::string_view, 3> needs{"title", "slug", "order"};
    whole = has(document, needs) && whole;
    const std::optional<double> order = document.front.number("order");
    if (document.front.find("order") != nullptr && !order) {
      wrong(document.file, document.front.line_of("order"), "'order' is no number");
    }
    whole = document.front.find("slug") != nullptr && takes_slug(document) && whole && order;
    for (const Block& block : document.blocks) {
      if (block.kind == Block::Kind::picture && std::ranges::count(picture_names(), block.text) == 0) {
        wrong(document.file, block.line,
              make_message("there is no picture '{}'; there are {}", clipped(block.text),
                           fmt::join(picture_names(), ", ")));
      }
      if (block.kind != Block::Kind::question) continue;
      if (!questions_.insert(block.question.id).second) {
        wrong(document.file, block.line, make_message("there is another question '{}'", block.question.id));
        whole = false;
      }
    }
    std::ranges::move(wrong_keys_of_step(document, registry_), std::back_inserter(texts_.problems));
    if (!whole) return;
    Step step{.slug = document.front.text("slug"),
              .title = document.front.text("title"),
              .order = *order,
              .language = texts_.language};
    step.document = std::move(document);
    texts_.steps.push_back(std::move(step));
  }

  /// A card of which something is not understood would say something else than its author meant: it is left out.
  bool can_judge(const Document& document) {
    const Front& front = document.front;
    const ClaimTest* test = find_claim_test(front.text("test"));
    if (test == nullptr) {
      std::vector<std::string_view> known;
      for (const ClaimTest& each : claim_tests()) known.push_back(each.word);
      wrong(document.file, front.line_of("test"),
            make_message("'{}' is no kind of test; there are {}", clipped(front.text("test")), fmt::join(known, ", ")));
      return false;
    }
    if (!has(document, test->needs)) return false;
    const bool bounded = std::ranges::count(test->takes, "low") > 0;
    if (bounded && !front.find("states") && !front.find("low") && !front.find("high")) {
      wrong(document.file, 1, "the front matter lacks what is claimed: 'states', or 'low' or 'high' or both");
      return false;
    }
    std::vector<TextProblem> problems = wrong_keys_of_claim(document, registry_, lesson_languages());
    std::ranges::move(problems, std::back_inserter(texts_.problems));
    return problems.empty();
  }

  void add_claim(Document document, bool whole) {
    const std::string title = "title." + texts_.language;
    if (!has(document, std::array<std::string_view, 3>{"source", "test", title})) return;
    const std::string order = document.front.text("source");
    // What a language says otherwise stands for the key itself.
    for (const std::string key : {"source", "missing"}) {
      if (const std::string* own = document.front.find(key + '.' + texts_.language))
        document.front.entries[key].value = *own;
    }
    ClaimCard card{.title = document.front.text(title), .source = document.front.text("source"), .order = order};
    card.id = document.file.substr(7, document.file.size() - 10);
    if (!is_name(card.id))
      return wrong(
          document.file, 0,
          make_message("'{}' is no name: letters a to z, digits and hyphens, 60 at most, a letter or digit first",
                       clipped(card.id)));
    if (!can_judge(document) || !whole) return;
    document.blocks = section_of(document.blocks, texts_.language);
    read_.push_back(document);
    if (document.blocks.empty())
      return wrong(document.file, 0, make_message("nothing of it is in the language '{}'", texts_.language));
    card.document = std::move(document);
    texts_.claims.push_back(std::move(card));
  }

  const Registry& registry_;
  std::map<std::string, std::string> slugs_;  ///< and whose they are
  LessonTexts texts_;
  std::set<std::string> questions_;
  std::map<std::string, Source> foreign_;  ///< steps of other languages, by their file's name
  std::vector<Document> read_;             ///< whose terms are looked up in the glossary, once it is known
  std::set<std::string> own_steps_;        ///< the names of this language's, read or not
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

std::string LessonTexts::word(std::string_view key) const {
  const auto found = words.find(key);
  return found == words.end() ? "[" + std::string(key) + "]" : found->second;
}

std::string LessonTexts::sentence(const Message& message) const {
  const auto found = messages.find(message.id);
  if (found == messages.end()) return text(message);
  const std::size_t dot = message.id.find('.');
  const nlohmann::json file{{message.id.substr(0, dot), {{message.id.substr(dot + 1), found->second}}}};
  const auto catalogue = Catalogue::parse(file.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return catalogue ? catalogue->text(message) : text(message);
}

LessonTexts load_lesson(std::string_view language, std::span<const TextFile> more) {
  return load_lesson(language, more, built_in_algorithms());
}

LessonTexts load_lesson(std::string_view language, std::span<const TextFile> more, const Registry& registry) {
  Loader loader(language, registry);
  for (const Source& source : sources_of(more)) loader.read(source);
  return std::move(loader).finish();
}

}  // namespace attnscope::analysis::lesson
