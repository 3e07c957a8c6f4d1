// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/algorithms.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace attnscope::analysis {
namespace {

struct PaperPlace {
  std::string_view algorithm;
  PaperColumn column;
  bool blocks;
};
// The paper measures standard attention and FlashAttention; the second version of the latter is compared with the
// first.
constexpr std::array paper_places{
    PaperPlace{"naive", PaperColumn::standard, false}, PaperPlace{"fa1", PaperColumn::flash, true},
    PaperPlace{"fa2", PaperColumn::flash, false}, PaperPlace{"fa3", PaperColumn::flash, false}};

const PaperPlace* paper_place(const Algorithm& algorithm) {
  const auto* found = std::ranges::find(paper_places, algorithm.name(), &PaperPlace::algorithm);
  return found == paper_places.end() ? nullptr : found;
}

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}
char upper(char c) {
  return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
}

}  // namespace

Algorithms Algorithms::built_in() {
  std::vector<std::string> names;
  for (const Algorithm* algorithm : algorithms()) names.emplace_back(algorithm->name());
  return {find_algorithm, std::move(names)};
}

std::size_t Algorithms::place(std::string_view name) const {
  return static_cast<std::size_t>(std::ranges::find(names_, name) - names_.begin());
}

TileSide traffic_side(const Algorithm& algorithm, std::int64_t d, Pass pass, const DeviceLimits& limits) {
  if (algorithm.growth() != Growth::n2d2_over_m) return TileSide::none;
  const AttentionProblem problem{.pass = pass, .n_q = 8192, .n_k = 8192, .d = d};
  const auto bytes = [&](const TileShape& tile) -> std::optional<double> {
    if (algorithm.refusal(problem, tile, limits)) return {};
    return static_cast<double>(algorithm.plan(problem, tile, limits).traffic().total());
  };
  // Lower orders keep a halving from being exact.
  constexpr double halved = 0.75;
  constexpr std::array sides{64, 32, 16, 128};
  for (const int br : sides) {
    for (const int bc : sides) {
      const auto square = bytes({.br = br, .bc = bc});
      if (!square) continue;
      if (const auto taller = bytes({.br = 2 * br, .bc = bc}); taller && *taller < halved * *square)
        return TileSide::br;
      if (const auto wider = bytes({.br = br, .bc = 2 * bc}); wider && *wider < halved * *square) return TileSide::bc;
    }
  }
  return TileSide::none;
}

std::optional<PaperColumn> paper_column(const Algorithm& algorithm) {
  const PaperPlace* place = paper_place(algorithm);
  return place == nullptr ? std::nullopt : std::optional(place->column);
}

bool in_paper_blocks(const Algorithm& algorithm) {
  const PaperPlace* place = paper_place(algorithm);
  return place != nullptr && place->blocks;
}

std::string short_title(const Algorithms& algorithms, std::string_view name) {
  const Algorithm* ours = algorithms.find(name);
  if (ours == nullptr || name.empty()) return std::string(name);
  // As the title writes it, where the name is part of it: "splitkv" of "Flash-Decoding (split-KV)".
  const std::string_view title = ours->title();
  for (std::size_t first = 0; first < title.size(); ++first) {
    std::size_t matched = 0;
    for (std::size_t i = first; i < title.size(); ++i) {
      if (lower(title[i]) == name[matched]) {
        if (++matched == name.size()) return upper(title[first]) + std::string(title.substr(first + 1, i - first));
      } else if (std::isalnum(static_cast<unsigned char>(title[i])) != 0 || matched == 0) {
        break;
      }
    }
  }
  std::string text(name);
  constexpr std::size_t longest_abbreviation = 4;
  if (text.size() <= longest_abbreviation) {
    std::ranges::transform(text, text.begin(), upper);
  } else {
    text[0] = upper(text[0]);
  }
  return text;
}

}  // namespace attnscope::analysis
