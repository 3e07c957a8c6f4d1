// SPDX-License-Identifier: Apache-2.0
// Sources as a preprocessor sees them: what identifies a kernel that is built in.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "kernels/embedded_sources.h"

namespace attnscope::gpu {

/// Joins continued lines and replaces each comment by a blank.
[[nodiscard]] std::string without_comments(std::string text);

/// The source as the compiler reads it: includes in their place, without comments, blanks as one. Equal texts are equal
/// programs; a comment, a line break, the name of a file or the header that holds a text change nothing, as long as the
/// order of what is read stays. (Sources ask for no line number and have no raw strings; a test looks.)
[[nodiscard]] std::string compiled_text(std::string_view file, std::span<const EmbeddedSource> sources);

/// A UUID of the embedded source's compiled_text(). Thread-safe.
[[nodiscard]] std::string source_digest(std::string_view file);

}  // namespace attnscope::gpu
