// SPDX-License-Identifier: Apache-2.0
// The lesson as one page for any browser, without a request: texts, questions, claims, and the frames and tallies that
// TilePlayer played, which a small script shows. No traffic is computed in the browser; the online softmax is, since
// its scores may be a reader's own.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "profiler/analysis/lesson/claims.h"
#include "profiler/analysis/lesson/texts.h"

namespace attnscope::analysis::lesson {

struct WebOptions {
  std::uint64_t seed = 0;  ///< varies N and d of the sheets; 0: the texts' own
  std::string data{};      ///< what the points are called: a file's name
  std::string start{};     ///< slug of the page that is shown first; empty: where the reader was
  /// The same lesson in other languages: "zh", and the file beside this one.
  std::vector<std::pair<std::string, std::string>> others{};
};

/// The whole page. A picture whose points or algorithm are missing says so in its place.
[[nodiscard]] std::string lesson_page(const LessonTexts&, const Evidence&, const WebOptions& = {});

/// What a browser plays: the frames of every algorithm and mask that the front matter's `play...` lines name, and of
/// `play_also`, as JSON.
[[nodiscard]] std::string played_json(const LessonTexts&, const Front&, const Evidence&);
/// Loads on their ways through the memory hierarchy, as JSON: hierarchy_flow()'s frames, with the sentences beside
/// them.
[[nodiscard]] std::string flow_json(const LessonTexts&, const Evidence&);
/// Rows of scores that the online softmax is shown on, as JSON.
[[nodiscard]] std::string softmax_json();
/// The faulty program, as it stands and with each of its lines rewritten, as JSON.
[[nodiscard]] std::string program_json();
/// Pairs of points with N, d, M or Bc twice as large: what model and counters say, as JSON.
[[nodiscard]] std::string doubled_json(const LessonTexts&, const Evidence&);

}  // namespace attnscope::analysis::lesson
