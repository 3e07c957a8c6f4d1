// SPDX-License-Identifier: Apache-2.0
// Views for people with sqlite3, made of the table of fields.
#pragma once

#include <string>

namespace attnscope {

/// Drops the views that are there and makes those of the newest schema.
[[nodiscard]] std::string view_statements();

}  // namespace attnscope
