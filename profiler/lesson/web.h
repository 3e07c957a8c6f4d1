// SPDX-License-Identifier: Apache-2.0
// The lesson as one page for any browser, without a request: texts, questions, claims, and the frames and tallies of
// TilePlayer, which a small script shows. No traffic is computed in the browser; the online softmax is, since its
// scores may be a reader's own.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "profiler/lesson/texts.h"

namespace attnscope::analysis::lesson {

struct WebOptions {
  std::uint64_t seed = 0;  ///< varies the questions' numbers and the order of their choices; 0: the texts' own
  std::string data{};      ///< what the points are called: a file's name
  std::string start{};     ///< slug or number of the page that is shown first; empty: where the reader was
  std::string theme{};     ///< "dark", "light"; empty: the system's, or what the reader chose
  /// The same lesson in other languages: "zh", and the file beside this one.
  std::vector<std::pair<std::string, std::string>> others{};
};

/// The whole page. A picture whose points or algorithm are missing says so in its place.
[[nodiscard]] std::string lesson_page(const LessonTexts&, const Evidence&, const WebOptions& = {});

/// What is right of each question, with its letter, as a page for who teaches: of the same seed.
[[nodiscard]] std::string answers_page(const LessonTexts&, const Evidence&, const WebOptions& = {});

/// What a browser plays: the frames of every algorithm, mask and choice of a step, as JSON.
[[nodiscard]] std::string played_json(const LessonTexts&, const Playing&, const Evidence&);
/// Every algorithm of `play` at each N that was measured: its time, its bytes of DRAM, and how its program comes by the
/// tiles of S, as JSON.
[[nodiscard]] std::string race_json(const LessonTexts&, const Playing&, const Setting&, const Evidence&);
/// Bytes of an algorithm over N, d and M, with the exponents that are fitted and those of its law, as JSON.
[[nodiscard]] std::string law_json(const LessonTexts&, const std::string& algorithm, const Evidence&);

}  // namespace attnscope::analysis::lesson
