// SPDX-License-Identifier: Apache-2.0
// Invariants of imports, for all file formats.
#pragma once

#include <string_view>

#include "storage/exchange/import.h"

namespace attnscope::campaign {

/// Imports `text`. Checks that imported points are valid and their values finite and nonnegative, and that an error is
/// one line.
void import_and_check(std::string_view text, ImportFormat format, const ImportRequest& request);

}  // namespace attnscope::campaign
