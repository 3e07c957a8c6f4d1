// SPDX-License-Identifier: Apache-2.0
// Text of kernel sources: comments, words, and the normalized form that identifies built-in kernels.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "kernels/embedded_sources.h"

namespace attnscope::gpu {

/// Joins continued lines and replaces each comment by a blank.
[[nodiscard]] std::string strip_comments(std::string text);

/// Replaces each word (letters, digits and '_') by what `replacement` returns; copies everything else.
[[nodiscard]] std::string replace_words(std::string_view text,
                                        const std::function<std::string(std::string_view)>& replacement);

/// The source with includes expanded, comments removed and blanks collapsed. Equal texts are equal programs: comments,
/// line breaks and file names do not matter, but the order of the text does. (A test ensures that the sources use
/// neither __LINE__ nor raw strings.)
[[nodiscard]] std::string normalized_source(std::string_view file, std::span<const EmbeddedSource> sources);

/// UUID of the embedded source's normalized_source(). Thread-safe.
[[nodiscard]] std::string source_digest(std::string_view file);

}  // namespace attnscope::gpu
