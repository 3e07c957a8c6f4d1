// SPDX-License-Identifier: Apache-2.0
// The keys that front matters of steps and claims may have, and what each of them takes: a key is a line in a table of
// front_keys.cpp. What a teacher wrote and nothing takes is told, so that no word of theirs goes without a trace.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "profiler/lesson/lesson_text.h"

namespace attnscope {
class Registry;
}

namespace attnscope::analysis::lesson {

/// Keys of a step that nothing takes, and values that are not what their key takes, by line: the first ten and how many
/// more. What it names counts as not written.
[[nodiscard]] std::vector<TextProblem> wrong_keys_of_step(const Document&, const Registry&);
/// The same of a claim, whose `test` is known. `languages`: of its `title.LANG`.
[[nodiscard]] std::vector<TextProblem> wrong_keys_of_claim(const Document&, const Registry&,
                                                           const std::vector<std::string>& languages);

/// A step's whole number, within what its key takes; `otherwise` where it is not there, or refused.
[[nodiscard]] std::int64_t whole_of(const Front&, std::string_view key, std::int64_t otherwise);

/// Of slugs, and the names of questions and claims, which are addresses and keys of answers: letters, digits and
/// hyphens, 60 at most, a letter or digit first.
[[nodiscard]] bool is_name(std::string_view);

/// Names of what ::picture takes.
[[nodiscard]] const std::vector<std::string>& picture_names();

/// Shortened to what a line has room for.
[[nodiscard]] std::string clipped(std::string_view text);

}  // namespace attnscope::analysis::lesson
