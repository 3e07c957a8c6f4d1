// SPDX-License-Identifier: Apache-2.0
// Start-up of both programs: standard streams, and the language of labels and sentences about results.
#pragma once

#include <string>
#include <string_view>

namespace attnscope {

/// Standard input, output and error may have been closed by whoever started the program. Takes the places of those that
/// are, so that no file gets one of them: a line for people would be written over the measurements in it. Reading from
/// and writing to such a place fails as on a closed one. Called before any file is opened.
void occupy_standard_descriptors();

/// Uses the catalogue of a language, "zh"; returns false where there is none. Before any thread.
bool use_language(std::string_view language);
/// "en or zh"
[[nodiscard]] std::string languages_in_words();

}  // namespace attnscope
