// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/front_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <sstream>
#include <string>
#include <utility>

#include "kernels/model/attention.h"
#include "kernels/model/ceilings.h"
#include "kernels/model/gpu_values.h"
#include "kernels/model/mask.h"
#include "kernels/model/tile_program.h"
#include "kernels/registry.h"
#include "profiler/curves/law_exponents.h"
#include "profiler/lesson/claim_tests.h"
#include "profiler/lesson/online_softmax.h"
#include "profiler/lesson/pairs.h"
#include "profiler/lesson/playing.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/text.h"
#include "profiler/points/point_query.h"
#include "profiler/points/point_table.h"

namespace attnscope::analysis::lesson {
namespace {

using Words = std::vector<std::string>;

/// What a value is judged by.
struct Asked {
  const Front& front;
  std::string_view value;
  const Registry& registry;
  std::int64_t low = 0;
  std::int64_t high = 0;
};

struct FrontKey {
  std::string_view key;
  /// What is allowed, where the value is not; empty where it is.
  Message (*refuse)(const Asked&) = nullptr;
  std::int64_t low = 0;
  std::int64_t high = 0;
};

std::optional<double> number_in(std::string_view value) {
  Front one;
  one.entries["x"].value = std::string(value);
  return one.number("x");
}

Words split(std::string_view value) {
  Front one;
  one.entries["x"].value = std::string(value);
  return one.words("x");
}

Message any_text(const Asked& asked) {
  constexpr std::size_t most = 400;
  if (asked.value.size() <= most) return {};
  return make_message("{} bytes at most", most);
}

Message finite_number(const Asked& asked) {
  return number_in(asked.value) ? Message() : "it takes a number";
}

/// A claim with less could never hold.
Message no_less_than_zero(const Asked& asked) {
  const std::optional<double> number = number_in(asked.value);
  return number && *number >= 0 ? Message() : "it takes a number of 0 or more";
}

/// Between `low` and less than that nothing lies.
Message no_less_than_low(const Asked& asked) {
  const std::optional<double> number = number_in(asked.value);
  if (!number) return "it takes a number";
  const std::optional<double> low = asked.front.number("low");
  if (!low || *number >= *low) return {};
  return make_message("it takes a number that is not below the card's 'low', {}",
                      clipped(asked.front.entries.at("low").value));
}

bool whole_within(std::string_view value, std::int64_t low, std::int64_t high) {
  const std::optional<double> number = number_in(value);
  return number && *number == std::floor(*number) && *number >= static_cast<double>(low) &&
         *number <= static_cast<double>(high);
}

Message whole_number(const Asked& asked) {
  if (whole_within(asked.value, asked.low, asked.high)) return {};
  return make_message("it takes a whole number from {} to {}", grouped(asked.low), grouped(asked.high));
}

Message whole_numbers(const Asked& asked) {
  const Words words = split(asked.value);
  const bool all =
      std::ranges::all_of(words, [&](const std::string& word) { return whole_within(word, asked.low, asked.high); });
  if (all && !words.empty()) return {};
  return make_message("it takes whole numbers from {} to {}, with blanks between them", grouped(asked.low),
                      grouped(asked.high));
}

Message finite_numbers(const Asked& asked) {
  const Words words = split(asked.value);
  const bool all = std::ranges::all_of(words, [](const std::string& word) { return number_in(word).has_value(); });
  const std::size_t lengths = asked.front.words("n").size();
  return all && words.size() == lengths
             ? Message()
             : make_message("it takes as many numbers as there are N, {}, with blanks between them", lengths);
}

Message one_of(std::string_view value, const Words& known) {
  if (std::ranges::count(known, value) > 0) return {};
  return make_message("it takes one of {}", fmt::join(known, ", "));
}

Message all_of(std::string_view value, const Words& known) {
  const Words words = split(value);
  const bool all =
      std::ranges::all_of(words, [&](const std::string& word) { return std::ranges::count(known, word) > 0; });
  if (all && !words.empty()) return {};
  return make_message("it takes some of {}, with blanks between them", fmt::join(known, ", "));
}

Words names_of_algorithms(const Registry& registry) {
  Words names;
  for (const Algorithm* algorithm : registry.algorithms()) names.emplace_back(algorithm->name());
  return names;
}

Message algorithm_name(const Asked& asked) {
  return one_of(asked.value, names_of_algorithms(asked.registry));
}

/// What is compared: also a series that another program's times were recorded as, which only the points know.
Message series_name(const Asked& asked) {
  if (!asked.value.starts_with(imported_series)) return algorithm_name(asked);
  const std::string_view name = asked.value.substr(imported_series.size());
  if (is_name(name) && asked.registry.find(name) == nullptr) return {};
  return "it takes the name of an algorithm, or of a series that was recorded of another program as imported:NAME";
}

Message algorithm_names(const Asked& asked) {
  return all_of(asked.value, names_of_algorithms(asked.registry));
}

Message picture_name(const Asked& asked) {
  return one_of(asked.value, picture_names());
}

Message pass_word(const Asked& asked) {
  return one_of(asked.value, {std::string(to_string(Pass::fwd)), std::string(to_string(Pass::bwd)),
                              std::string(to_string(Pass::fwd_bwd))});
}

Message mask_words(const Asked& asked) {
  for (const std::string& word : split(asked.value)) {
    const auto mask = parse_mask(word);
    if (!mask.ok()) return mask.error();
  }
  return {};
}

/// Of the algorithms that the step plays.
Message knob_names(const Asked& asked) {
  Words known;
  for (const Algorithm* algorithm : played_algorithms(asked.front, asked.registry)) {
    for (const Knob& knob : algorithm->facts().knobs) {
      if (std::ranges::count(known, knob.name) == 0) known.push_back(knob.name);
    }
  }
  if (all_of(asked.value, known).empty()) return {};
  return make_message("it takes knobs of the algorithms that 'play' names: {}", fmt::join(known, ", "));
}

Message also_words(const Asked& asked) {
  const Words unread = unread_also(asked.front, asked.registry);
  if (unread.empty()) return {};
  return make_message(
      "'{}' is no choice; one is n=, br=, bc=, m=, heads= or l2= (in KiB) with a number, or a knob of 'play_knobs' "
      "with one of its values, several with commas between them; {} choices at most",
      clipped(unread.front()), most_also_played);
}

Message metric_name(const Asked& asked) {
  if (find_metric(asked.value) != nullptr) return {};
  Words known;
  for (const Metric& metric : metrics_table()) known.emplace_back(metric.key);
  const Words near = near_matches(asked.value, known);
  return near.empty() ? "it takes the key of a metric"
                      : make_message("it takes the key of a metric; perhaps {}", join_or(near));
}

/// Words of every field that this version knows; which of them the points have is a matter of the points.
Message point_query(const Asked& asked) {
  static const PointTable none;
  const auto query = PointQuery::parse(asked.value, none);
  return query.ok() ? Message() : query.error();
}

Message gpu_name(const Asked& asked) {
  if (find_gpu(asked.value) != nullptr) return {};
  Words known;
  for (const DeviceLimits& gpu : known_gpus()) known.push_back(gpu.name);
  return one_of(asked.value, known);
}

template <class Kinds>
Message key_among(const Asked& asked, const Kinds& kinds) {
  Words known;
  for (const auto& kind : kinds) known.emplace_back(kind.key);
  return one_of(asked.value, known);
}

Message gpu_value_name(const Asked& asked) {
  return key_among(asked, gpu_values());
}

Message ceiling_name(const Asked& asked) {
  return key_among(asked, ceiling_kinds());
}

Message tensor_name(const Asked& asked) {
  Words known;
  for (std::size_t i = 0; i < tensor_count(); ++i) known.emplace_back(to_string(static_cast<Tensor>(i)));
  return one_of(asked.value, known);
}

Message fault_name(const Asked& asked) {
  Words known;
  for (int i = 0; i < softmax_faults; ++i) known.emplace_back(to_string(static_cast<SoftmaxFault>(i)));
  return one_of(asked.value, known);
}

Message doubled_name(const Asked& asked) {
  Words known;
  for (int i = 0; i < doubled_kinds; ++i) known.emplace_back(to_string(static_cast<Doubled>(i)));
  return one_of(asked.value, known);
}

Message law_variable(const Asked& asked) {
  Words known;
  for (const LawVariable each : {LawVariable::n, LawVariable::d, LawVariable::m}) known.emplace_back(to_string(each));
  return one_of(asked.value, known);
}

Message tile_side(const Asked& asked) {
  return one_of(asked.value, {std::string(to_string(Doubled::br)), std::string(to_string(Doubled::bc))});
}

Message law_level(const Asked& asked) {
  return one_of(asked.value, {attnscope::memory_levels.begin(), attnscope::memory_levels.end()});
}

Message left_open(const Asked& asked) {
  return all_of(asked.value, {"batch", "heads"});
}

Message published_kernel(const Asked& asked) {
  return one_of(asked.value, {"published"});
}

Message whose_bounds(const Asked& asked) {
  return one_of(asked.value, {"source", "ours"});
}

Message matrix_name(const Asked& asked) {
  return one_of(asked.value, {"S", "QKV", "moved", "ml"});
}

Message all_or_one(const Asked& asked) {
  return one_of(asked.value, {"one", "all"});
}

Message byte_unit(const Asked& asked) {
  return one_of(asked.value, {"MB", "MiB"});
}

constexpr std::int64_t longest_n = std::int64_t{1} << 20;
constexpr std::int64_t largest_d = 1024;
constexpr std::int64_t most_heads = 512;
constexpr std::int64_t most_batch = 256;  ///< bytes of the scores of so many are still a number
constexpr std::int64_t largest_side = 4096;
constexpr std::int64_t largest_l2 = std::int64_t{1} << 20;  ///< in KiB
constexpr std::int64_t most_sms = 1024;

constexpr std::array step_keys{
    FrontKey{"title", any_text},
    FrontKey{"slug", any_text},
    FrontKey{"order", finite_number},
    FrontKey{"n", whole_number, 16, longest_n},
    FrontKey{"d", whole_number, 1, largest_d},
    FrontKey{"heads", whole_number, 1, most_heads},
    FrontKey{"batch", whole_number, 1, most_batch},
    FrontKey{"slow", algorithm_name},
    FrontKey{"first", algorithm_name},
    FrontKey{"fast", algorithm_name},
    FrontKey{"split", algorithm_name},
    FrontKey{"explore", algorithm_name},
    FrontKey{"next", any_text},
    FrontKey{"picture", picture_name},
    FrontKey{"occupancy", algorithm_name},
    FrontKey{"occupancy_br", whole_number, 1, largest_side},
    FrontKey{"occupancy_bc", whole_number, 1, largest_side},
    FrontKey{"play", algorithm_names},
    FrontKey{"play_n", whole_number, 64, longest_played},
    FrontKey{"play_d", whole_number, 1, largest_d},
    FrontKey{"play_br", whole_number, 1, largest_side},
    FrontKey{"play_bc", whole_number, 1, largest_side},
    FrontKey{"play_heads", whole_number, 1, most_played_heads},
    FrontKey{"play_l2", whole_number, 1, largest_l2},
    FrontKey{"play_sms", whole_number, 1, most_sms},
    FrontKey{"play_pass", pass_word},
    FrontKey{"play_masks", mask_words},
    FrontKey{"play_knobs", knob_names},
    FrontKey{"play_also", also_words},
};

/// Of every claim.
constexpr std::array card_keys{FrontKey{"source", any_text}, FrontKey{"test", any_text}};

/// Of claims' tests, by word: what `takes` of claims.cpp names.
constexpr std::array claim_keys{
    FrontKey{"states", finite_number},
    FrontKey{"tolerance", no_less_than_zero},
    FrontKey{"low", finite_number},
    FrontKey{"high", no_less_than_low},
    FrontKey{"stated_by", whose_bounds},
    FrontKey{"from", algorithm_name},
    FrontKey{"to", algorithm_name},
    FrontKey{"algorithm", algorithm_name},
    FrontKey{"metric", metric_name},
    FrontKey{"points", point_query},
    FrontKey{"doubled", doubled_name},
    FrontKey{"level", law_level},
    FrontKey{"n", whole_number, 1, longest_n},
    FrontKey{"d", whole_number, 1, largest_d},
    FrontKey{"heads", whole_number, 1, most_heads},
    FrontKey{"batch", whole_number, 1, most_batch},
    FrontKey{"br", whole_number, 1, largest_side},
    FrontKey{"bc", whole_number, 1, largest_side},
    FrontKey{"matrix", matrix_name},
    FrontKey{"unit", byte_unit},
    FrontKey{"gpu", gpu_name},
    FrontKey{"value", gpu_value_name},
    FrontKey{"ceiling", ceiling_name},
    FrontKey{"tensor", tensor_name},
    FrontKey{"fault", fault_name},
    FrontKey{"m_kib", finite_number},
    FrontKey{"missing", any_text},
};

/// Where a test takes a key otherwise than the others.
struct OwnKey {
  std::string_view test;
  FrontKey key;
};
constexpr std::array own_keys{
    OwnKey{"exponent", {"of", law_variable}},
    OwnKey{"versus", {"from", series_name}},
    OwnKey{"versus", {"to", series_name}},
    OwnKey{"varies-with", {"of", tile_side}},
    OwnKey{"ceiling", {"over", ceiling_name}},
    OwnKey{"ledger", {"over", all_or_one}},
    OwnKey{"ledger-share", {"over", all_or_one}},
    OwnKey{"ledger", {"n", whole_numbers, 1, longest_n}},
    OwnKey{"ledger-share", {"n", whole_numbers, 1, longest_n}},
    OwnKey{"ledger", {"states", finite_numbers}},
    OwnKey{"ledger-share", {"states", finite_numbers}},
};

FrontKey key_of_test(std::string_view test, std::string_view key) {
  const auto own =
      std::ranges::find_if(own_keys, [&](const OwnKey& each) { return each.test == test && each.key.key == key; });
  if (own != own_keys.end()) return own->key;
  const auto found = std::ranges::find(claim_keys, key, &FrontKey::key);
  return found == claim_keys.end() ? FrontKey{key, any_text} : *found;
}

std::vector<TextProblem> wrong_keys(const Document& document, const Registry& registry,
                                    std::span<const FrontKey> keys) {
  std::vector<TextProblem> problems;
  for (const auto& [key, entry] : document.front.entries) {
    const auto known = std::ranges::find(keys, key, &FrontKey::key);
    if (known == keys.end()) {
      Words names;
      for (const FrontKey& each : keys) names.emplace_back(each.key);
      problems.push_back({document.file, entry.line,
                          make_message("nothing takes '{}'; keys here are {}", clipped(key), fmt::join(names, ", "))});
      continue;
    }
    const Message allowed = known->refuse({document.front, entry.value, registry, known->low, known->high});
    if (allowed.empty()) continue;
    problems.push_back(
        {document.file, entry.line, make_message("'{}: {}' is not taken: {}", key, clipped(entry.value), allowed)});
  }
  std::ranges::stable_sort(problems, {}, &TextProblem::line);
  constexpr std::size_t most = 10;
  if (problems.size() > most) {
    const std::size_t more = problems.size() - most;
    problems.resize(most);
    problems.push_back({document.file, 0, make_message("and {} more keys that are not taken", more)});
  }
  return problems;
}

}  // namespace

std::vector<TextProblem> wrong_keys_of_step(const Document& document, const Registry& registry) {
  return wrong_keys(document, registry, step_keys);
}

std::vector<TextProblem> wrong_keys_of_claim(const Document& document, const Registry& registry,
                                             const std::vector<std::string>& languages) {
  std::vector<FrontKey> keys(card_keys.begin(), card_keys.end());
  Words of_languages;
  for (const std::string& language : languages) {
    for (const std::string key : {"title.", "source.", "missing."}) of_languages.push_back(key + language);
  }
  for (const std::string& key : of_languages) keys.push_back({key, any_text});
  const std::string word = document.front.text("test");
  if (const ClaimTest* test = find_claim_test(word)) {
    // What the source speaks of decides nothing where the data are of nothing of that kind.
    const bool of_points = test->data == DataKind::points;
    if (of_points) keys.push_back({"source_leaves", left_open});
    if (of_points || test->data == DataKind::program) keys.push_back({"source_kernel", published_kernel});
    if (test->data != DataKind::arithmetic) keys.push_back({"source_gpu", gpu_name});
    if (!level_of_data(document.front, *test).empty()) keys.push_back({"source_level", law_level});
    for (const auto& names : {test->needs, test->takes}) {
      for (const std::string_view name : names) keys.push_back(key_of_test(word, name));
    }
  }
  return wrong_keys(document, registry, keys);
}

std::int64_t whole_of(const Front& front, std::string_view key, std::int64_t otherwise) {
  const auto known = std::ranges::find(step_keys, key, &FrontKey::key);
  const std::string* value = front.find(key);
  if (value == nullptr || known == step_keys.end() || !whole_within(*value, known->low, known->high)) return otherwise;
  return static_cast<std::int64_t>(*front.number(key));
}

bool is_name(std::string_view name) {
  constexpr std::size_t most = 60;
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= most && plain(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return plain(c) || c == '-'; });
}

const std::vector<std::string>& picture_names() {
  static const std::vector<std::string> names{"race", "ledger", "hierarchy", "tiles",    "softmax",
                                              "law",  "growth", "backward",  "occupancy"};
  return names;
}

std::string clipped(std::string_view text) {
  constexpr std::size_t most = 60;
  if (text.size() <= most) return std::string(text);
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace attnscope::analysis::lesson
