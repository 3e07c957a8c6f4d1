// SPDX-License-Identifier: Apache-2.0
// The lesson as one self-contained HTML page: texts, questions, claims, and frames of TilePlayer for a script to draw.
// The script computes no traffic, only the online softmax, because readers may enter their own scores.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "profiler/lesson/texts.h"

namespace attnscope::analysis::lesson {

struct WebOptions {
  std::uint64_t seed = 0;  ///< varies the questions' numbers and the order of their choices; 0: as in the texts
  std::string data{};      ///< title of the data: a file name
  std::string start{};     ///< slug or number of the first page; empty: the last one visited
  std::string theme{};     ///< "dark" or "light"; empty: the system's, or the reader's choice
  /// Other languages and their files: {"zh", "zh.html"}.
  std::vector<std::pair<std::string, std::string>> others{};
};

/// Returns the page. Pictures without data are replaced by a note.
[[nodiscard]] std::string lesson_page(const LessonTexts&, const Evidence&, const WebOptions& = {});

/// Returns the frames of every algorithm, mask and choice of a step as JSON.
[[nodiscard]] std::string player_frames_json(const LessonTexts&, const PlayerSettings&, const Evidence&);
/// Returns, for every algorithm of `play` and each measured N, time, DRAM bytes and the order of S tiles as JSON.
[[nodiscard]] std::string race_json(const LessonTexts&, const PlayerSettings&, const Setting&, const Evidence&);
/// Returns bytes over N, d and M with fitted and theoretical exponents as JSON.
[[nodiscard]] std::string law_json(const LessonTexts&, const std::string& algorithm, const Evidence&);

}  // namespace attnscope::analysis::lesson
