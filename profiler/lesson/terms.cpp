// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace attnscope::analysis::lesson {
namespace {

std::string term(const LessonTexts& texts, std::string_view word) {
  std::size_t end = word.size();
  while (end > 0 && (word[end - 1] == ',' || word[end - 1] == '.')) --end;
  const std::size_t name = std::min(word.find(':'), end);
  const auto found = texts.messages.find(fmt::format("term.{}", word.substr(0, name)));
  if (found == texts.messages.end()) return std::string(word);
  return fmt::format("{}{}", found->second, word.substr(name));
}

std::string load_order(const LessonTexts& texts, const LoadOrder& order) {
  if (order.steps_ahead == 0) return texts.word("in_order");
  return fmt::format("{} {}. {}", texts.word("runs_ahead"), order.steps_ahead, texts.sentence(order.why));
}

}  // namespace

std::string translated(const LessonTexts& texts, std::string_view line) {
  std::string all;
  for (std::size_t from = 0; from <= line.size();) {
    const std::size_t to = std::min(line.find(' ', from), line.size());
    if (from > 0) all += ' ';
    all += term(texts, line.substr(from, to - from));
    from = to + 1;
  }
  return all;
}

std::string title_of(const LessonTexts& texts, const Algorithm& algorithm) {
  const auto found = texts.messages.find(fmt::format("title.{}", algorithm.name()));
  return found == texts.messages.end() ? std::string(algorithm.facts().title) : found->second;
}

std::vector<std::string> load_orders(const LessonTexts& texts, const TilePlayer& player) {
  std::vector<std::pair<std::string, std::string>> orders;  // sentence, kernels
  for (const KernelModel& kernel : player.kernels()) {
    std::string sentence = load_order(texts, kernel.load_order);
    const auto same = std::ranges::find(orders, sentence, &std::pair<std::string, std::string>::first);
    if (same == orders.end()) {
      orders.emplace_back(std::move(sentence), kernel.name);
    } else {
      same->second += fmt::format(", {}", kernel.name);
    }
  }
  std::vector<std::string> all;
  all.reserve(orders.size());
  for (const auto& [sentence, kernels] : orders) {
    all.push_back(orders.size() == 1 ? sentence : fmt::format("{}: {}", kernels, sentence));
  }
  return all;
}

}  // namespace attnscope::analysis::lesson
