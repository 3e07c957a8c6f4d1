// SPDX-License-Identifier: Apache-2.0
// CSV files, read. Internal to storage/exchange.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope::exchange {

struct CsvLine {
  std::size_t number = 0;  ///< of its first line in the file
  std::vector<std::string> fields;
};

/// RFC 4180, lines ending in LF or CR LF; blank lines are left out. `text` begins at line `first`.
[[nodiscard]] std::vector<CsvLine> parse_csv(std::string_view text, std::size_t first);
/// Throws where the line has more or fewer fields than the header.
void require_width(const CsvLine& header, const CsvLine& line);

}  // namespace attnscope::exchange
