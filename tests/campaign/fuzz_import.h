// SPDX-License-Identifier: Apache-2.0
// What holds of an import, whatever file it came from.
#pragma once

#include <string_view>

#include "storage/exchange/import.h"

namespace attnscope::campaign {

/// Imports `text`. Points that come of it can be posed and hold amounts; an error is one line.
void import_and_check(std::string_view text, ImportFormat format, const ImportRequest& request);

}  // namespace attnscope::campaign
