// SPDX-License-Identifier: Apache-2.0
#include "profiler/points/kernel_kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "kernels/kernel_defines.h"
#include "messages/series.h"

namespace attnscope::analysis {
namespace {

/// "ATTN_WARPS=4" is "warps 4".
std::string words_of(std::string_view define) {
  std::string words = macro_word(macro_of(define));
  if (const std::string_view value = macro_value(define); !value.empty()) words += fmt::format(" {}", value);
  return words;
}

std::string code_of(const LaunchKind& launch) {
  return fmt::format("{} ({})", launch.entry, launch.source_file);
}

/// What is said of one launch of a kind.
struct Telling {
  bool code = false;              ///< which function of which file
  std::set<std::string> options;  ///< macros whose values differ, or that not all have
};

/// Launches are alike in what need not be said.
Telling differences(std::span<const KernelKind> kinds, std::size_t place) {
  Telling said;
  const LaunchKind* first = nullptr;
  for (const KernelKind& kind : kinds) {
    if (!kind.recorded()) continue;
    if (place >= kind.launches.size()) {
      said.code = true;
      continue;
    }
    const LaunchKind& launch = kind.launches[place];
    if (first == nullptr) first = &launch;
    said.code = said.code || launch.source_file != first->source_file || launch.entry != first->entry;
    std::vector<std::string> uncommon;
    std::ranges::set_symmetric_difference(launch.options, first->options, std::back_inserter(uncommon));
    for (const std::string& define : uncommon) said.options.emplace(macro_of(define));
  }
  return said;
}

std::string words_of(const LaunchKind& launch, const Telling& said) {
  std::vector<std::string> parts;
  if (said.code) parts.push_back(code_of(launch));
  for (const std::string& macro : said.options) {
    const auto has =
        std::ranges::find(launch.options, macro, [](const std::string& define) { return macro_of(define); });
    if (has != launch.options.end()) {
      parts.push_back(words_of(*has));
    } else if (!said.code) {
      parts.push_back(text(say::series::without{.option = macro_word(macro)}));
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// One launch needs no name.
std::string named(const KernelKind& kind, const LaunchKind& launch, const std::string& words) {
  return kind.launches.size() < 2 ? words : fmt::format("{}: {}", launch.launch, words);
}

std::string not_recorded(const KernelKind& kind) {
  if (kind.algorithm.empty()) return text(say::series::not_recorded{});
  return text(say::series::not_recorded_of{.algorithm = kind.algorithm});
}

}  // namespace

KernelKind kernel_kind(const PointRecord& point) {
  KernelKind kind;
  for (const KernelRecord& kernel : point.kernels) {
    if (!kernel.launch) continue;
    LaunchKind launch{kernel.launch->kernel, kernel.launch->source_file, kernel.launch->entry, {}};
    for (const std::string& define : kernel.launch->defines) {
      // Every point of a map has a tile of its own; all other macros are choices.
      if (!is_of_the_tile(macro_of(define))) launch.options.push_back(define);
    }
    std::ranges::sort(launch.options);
    kind.launches.push_back(std::move(launch));
  }
  if (!kind.recorded()) kind.algorithm = point.spec.algorithm;
  return kind;
}

std::string describe(const KernelKind& kind) {
  if (!kind.recorded()) return not_recorded(kind);
  std::vector<std::string> launches;
  for (const LaunchKind& launch : kind.launches) {
    std::string words = code_of(launch);
    for (const std::string& define : launch.options) words += fmt::format(", {}", words_of(define));
    launches.push_back(named(kind, launch, words));
  }
  return fmt::format("{}", fmt::join(launches, "; "));
}

std::vector<std::string> distinguishing_words(std::span<const KernelKind> kinds) {
  std::size_t longest = 0;
  for (const KernelKind& kind : kinds) longest = std::max(longest, kind.launches.size());
  std::vector<Telling> said;
  for (std::size_t place = 0; place < longest; ++place) said.push_back(differences(kinds, place));
  std::vector<std::string> words;
  for (const KernelKind& kind : kinds) {
    if (!kind.recorded()) {
      words.push_back(not_recorded(kind));
      continue;
    }
    std::vector<std::string> parts;
    for (std::size_t place = 0; place < kind.launches.size(); ++place) {
      const std::string part = words_of(kind.launches[place], said[place]);
      if (!part.empty()) parts.push_back(named(kind, kind.launches[place], part));
    }
    // The only one that was recorded.
    words.push_back(parts.empty() ? describe(kind) : fmt::format("{}", fmt::join(parts, "; ")));
  }
  return words;
}

}  // namespace attnscope::analysis
