// SPDX-License-Identifier: Apache-2.0
// What a person says of a run, and how that is changed. Outside the checksum of the run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/messages/message.h"

namespace attnscope {

inline constexpr std::size_t longest_run_name = 200;  ///< bytes
inline constexpr std::size_t longest_run_tag = 64;
inline constexpr std::size_t longest_run_note = 16'384;
inline constexpr std::size_t most_run_tags = 64;

struct RunWords {
  std::string name;               ///< empty: none
  std::string note;               ///< of several lines
  std::vector<std::string> tags;  ///< sorted, each once
  bool hidden = false;            ///< a window does not draw it until it is asked to
  bool deleted = false;           ///< not read any more; merging keeps it, a compact copy leaves it out

  bool operator==(const RunWords&) const = default;
};

/// What is to be other; what is not named stays.
struct RunEdit {
  std::optional<std::string> name;  ///< empty: none from now on
  std::optional<std::string> note;
  std::vector<std::string> tag;
  std::vector<std::string> untag;
  std::optional<bool> hidden;
  std::optional<bool> deleted;

  bool operator==(const RunEdit&) const = default;
};

/// What is wrong with the words of an edit; empty when nothing is.
[[nodiscard]] Message out_of_bounds(const RunEdit&);
[[nodiscard]] RunWords edited(RunWords, const RunEdit&);

/// A run whose words were changed.
struct EditedRun {
  std::int64_t run = 0;
  std::string uid;
  RunWords words;  ///< after the edit
};

}  // namespace attnscope
