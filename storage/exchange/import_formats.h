// SPDX-License-Identifier: Apache-2.0
// A reader for each form of file. All throw Wrong. Internal to storage/exchange.
#pragma once

#include <cstddef>
#include <string_view>

#include "storage/exchange/import.h"

namespace attnscope::exchange {

[[nodiscard]] Import import_json(std::string_view text, const ImportRequest&);
/// One row a point and kernel, or one a value.
[[nodiscard]] Import import_csv(std::string_view text, const ImportRequest&);
/// Pre: the request says what was computed, or only looks.
[[nodiscard]] Import import_ncu(std::string_view text, const ImportRequest&);
/// The place of the table in ncu's output: its header begins with "ID". npos: none.
[[nodiscard]] std::size_t ncu_table(std::string_view text);

}  // namespace attnscope::exchange
