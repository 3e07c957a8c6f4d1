// SPDX-License-Identifier: Apache-2.0
// Start-up of both programs: standard streams, and the language of labels and results.
#pragma once

#include <string>
#include <string_view>

namespace attnscope {

/// Opens placeholders for standard streams that are closed, so that no file gets descriptor 0, 1 or 2 and receives
/// messages. Reading from or writing to a placeholder fails. Call before opening any file.
void reserve_standard_descriptors();

/// Selects a language, e.g. "zh"; returns false if it is not built in. Call before starting threads.
bool use_language(std::string_view language);
/// Returns "en or zh".
[[nodiscard]] std::string language_list();

}  // namespace attnscope
