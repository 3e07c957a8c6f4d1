// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/lesson/texts.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "messages/lesson.h"
#include "profiler/analysis/lesson/claims.h"
#include "profiler/analysis/lesson/values.h"

namespace attnscope::analysis::lesson {
namespace {

constexpr auto asked_words = std::to_array<std::string_view>({"lesson",
                                                              "step",
                                                              "claims",
                                                              "results",
                                                              "contents",
                                                              "predict",
                                                              "lock",
                                                              "reveal",
                                                              "locked",
                                                              "right",
                                                              "wrong",
                                                              "hint",
                                                              "show_hint",
                                                              "play",
                                                              "pause",
                                                              "back",
                                                              "forward",
                                                              "first",
                                                              "last",
                                                              "speed",
                                                              "scrub",
                                                              "block",
                                                              "frame_of",
                                                              "kernel",
                                                              "sm_l2",
                                                              "dram",
                                                              "l2_hit",
                                                              "l2_miss",
                                                              "read",
                                                              "written",
                                                              "on_chip",
                                                              "tally",
                                                              "closed_form",
                                                              "counter",
                                                              "residual",
                                                              "measured",
                                                              "derived",
                                                              "modelled",
                                                              "simulated",
                                                              "extrapolated",
                                                              "imported",
                                                              "datasheet",
                                                              "no_data",
                                                              "held",
                                                              "partly",
                                                              "refuted",
                                                              "not-testable",
                                                              "source",
                                                              "claimed",
                                                              "claimed_low",
                                                              "claimed_high",
                                                              "found",
                                                              "cases_inside",
                                                              "median",
                                                              "each",
                                                              "each_at_most",
                                                              "largest_error",
                                                              "tile_rows",
                                                              "tile_keys",
                                                              "elements",
                                                              "beside_from",
                                                              "beside_to",
                                                              "no_pairs",
                                                              "no_points",
                                                              "no_peak",
                                                              "no_law",
                                                              "no_tile",
                                                              "no_gpu",
                                                              "no_ceilings",
                                                              "no_algorithm",
                                                              "refused",
                                                              "elsewhere",
                                                              "broken_card",
                                                              "points_used",
                                                              "light",
                                                              "dark",
                                                              "big_type",
                                                              "print",
                                                              "answered",
                                                              "of",
                                                              "correct",
                                                              "start_again",
                                                              "explorer",
                                                              "runs_ahead",
                                                              "in_order",
                                                              "keyboard",
                                                              "rewrite_line",
                                                              "merge",
                                                              "score",
                                                              "forget",
                                                              "mask-after-maximum",
                                                              "mask-after-sum",
                                                              "half",
                                                              "inner",
                                                              "outer",
                                                              "exact",
                                                              "output",
                                                              "error",
                                                              "row",
                                                              "rescaled",
                                                              "registers",
                                                              "shared",
                                                              "l2",
                                                              "host",
                                                              "size",
                                                              "bandwidth",
                                                              "latency",
                                                              "in_flight",
                                                              "flops_per_byte",
                                                              "scale",
                                                              "mended",
                                                              "still_wrong",
                                                              "model",
                                                              "before_after",
                                                              "seed",
                                                              "no_script",
                                                              "numbers_from",
                                                              "of_data",
                                                              "not_to_scale",
                                                              "your_outcome",
                                                              "agreed",
                                                              "disagreed",
                                                              "problems",
                                                              "correct_answers",
                                                              "verdicts_foreseen",
                                                              "side_by_side",
                                                              "own_scores",
                                                              "no_numbers",
                                                              "block_size",
                                                              "before",
                                                              "after",
                                                              "divisions",
                                                              "through_memory",
                                                              "merge_halves",
                                                              "present",
                                                              "no_mask",
                                                              "heads",
                                                              "own_tile",
                                                              "added",
                                                              "occupancy",
                                                              "padding",
                                                              "blocks_per_sm",
                                                              "warps_busy",
                                                              "predicted_time",
                                                              "not_changed",
                                                              "doublings",
                                                              "knob_order",
                                                              "window_keys"});

struct Source {
  std::string path;
  std::string text;
};

/// Ours, then what replaces or adds to it; by path.
std::vector<Source> sources_of(std::span<const TextFile> more) {
  std::map<std::string, std::string> all;
  for (const EmbeddedText& each : embedded_lesson()) all.emplace(each.path, each.text);
  for (const TextFile& each : more) all.insert_or_assign(each.path, each.text);
  std::vector<Source> sources;
  sources.reserve(all.size());
  for (auto& [path, text] : all) sources.push_back({path, std::move(text)});
  return sources;
}

bool is_step(std::string_view path, std::string_view language) {
  const std::string folder = std::string(language) + "/step-";
  return path.starts_with(folder) && path.ends_with(".md");
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

class Loader {
 public:
  explicit Loader(std::string_view language) { texts_.language = language; }

  void read(const Source& source) {
    const std::string_view path = source.path;
    const bool words = path == texts_.language + "/words.md";
    const bool step = is_step(path, texts_.language);
    const bool claim = path.starts_with("claims/") && path.ends_with(".md");
    if (!words && !step && !claim) return;
    auto parsed = parse_document(source.path, source.text, known_value);
    if (!parsed.ok()) {
      texts_.problems.push_back(parsed.error());
    } else if (words) {
      for (const auto& [key, entry] : parsed->front.entries) {
        (key.find('.') == std::string::npos ? texts_.words : texts_.messages)[key] = entry.value;
      }
    } else if (step) {
      add_step(std::move(parsed).value());
    } else {
      add_claim(std::move(parsed).value());
    }
  }

  LessonTexts finish() && {
    std::ranges::stable_sort(texts_.steps, {}, &Step::order);
    std::ranges::stable_sort(texts_.claims, {}, &ClaimCard::order);
    return std::move(texts_);
  }

 private:
  void wrong(const Document& document, int line, Message why) {
    texts_.problems.push_back({document.file, line, std::move(why)});
  }

  /// Says which key is missing.
  bool has(const Document& document, std::string_view key) {
    if (const std::string* value = document.front.find(key); value != nullptr && !value->empty()) return true;
    wrong(document, 1, say::lesson::lacks_key{.key = key});
    return false;
  }

  void add_step(Document document) {
    for (const std::string_view key : {"title", "slug", "order"}) {
      if (!has(document, key)) return;
    }
    const std::optional<double> order = document.front.number("order");
    if (!order) return wrong(document, document.front.line_of("order"), say::lesson::no_number{.key = "order"});
    for (const Block& block : document.blocks) {
      if (block.kind != Block::Kind::question) continue;
      if (!questions_.insert(block.question.id).second) {
        return wrong(document, block.line, say::lesson::question_twice{.name = block.question.id});
      }
    }
    Step step{.slug = document.front.text("slug"), .title = document.front.text("title"), .order = *order};
    step.document = std::move(document);
    texts_.steps.push_back(std::move(step));
  }

  void add_claim(Document document) {
    const std::string title = "title." + texts_.language;
    for (const std::string_view key : {std::string_view("source"), std::string_view("test"), std::string_view(title)}) {
      if (!has(document, key)) return;
    }
    const std::string order = document.front.text("source");
    // What a language says otherwise stands for the key itself.
    for (const std::string key : {"source", "missing"}) {
      if (const std::string* own = document.front.find(key + '.' + texts_.language))
        document.front.entries[key].value = *own;
    }
    const ClaimTest* test = find_claim_test(document.front.text("test"));
    if (test == nullptr) {
      return wrong(document, document.front.line_of("test"), say::lesson::no_test{.word = document.front.text("test")});
    }
    for (const std::string_view key : test->needs) {
      if (!has(document, key)) return;
    }
    document.blocks = section_of(document.blocks, texts_.language);
    if (document.blocks.empty()) return wrong(document, 0, say::lesson::no_language{.language = texts_.language});
    ClaimCard card{.title = document.front.text(title), .source = document.front.text("source"), .order = order};
    card.id = document.file.substr(7, document.file.size() - 10);
    card.document = std::move(document);
    texts_.claims.push_back(std::move(card));
  }

  LessonTexts texts_;
  std::set<std::string> questions_;
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

std::string LessonTexts::said(const Message& message) const {
  const auto found = messages.find(message.id);
  if (found == messages.end()) return text(message);
  const std::size_t dot = message.id.find('.');
  const nlohmann::json file{{message.id.substr(0, dot), {{message.id.substr(dot + 1), found->second}}}};
  const auto catalogue = Catalogue::parse(file.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return catalogue.ok() ? catalogue->text(message) : text(message);
}

LessonTexts load_lesson(std::string_view language, std::span<const TextFile> more) {
  Loader loader(language);
  for (const Source& source : sources_of(more)) loader.read(source);
  return std::move(loader).finish();
}

std::span<const std::string_view> word_keys() {
  return asked_words;
}

}  // namespace attnscope::analysis::lesson
