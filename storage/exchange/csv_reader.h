// SPDX-License-Identifier: Apache-2.0
// CSV files, read a line at a time. Internal to storage/exchange.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope::exchange {

struct CsvLine {
  std::size_t number = 0;  ///< of its first line in the file
  std::vector<std::string> fields;
};

/// What stands between the columns of a table: the comma, the semicolon or the tab that its first line has most of.
[[nodiscard]] char separator_of(std::string_view text);

/// RFC 4180, lines ending in LF or CR LF; blank lines are left out. Throws Wrong for a quoted field that does not end
/// or that something follows, for more than 4096 fields, and for a field of more than 1 MiB: no line takes more memory.
class CsvReader {
 public:
  /// `text`, which must outlive the reader, begins at line `first` of its file.
  CsvReader(std::string_view text, std::size_t first, char separator = ',')
      : text_(text), line_(first), separator_(separator) {}

  /// The next line; nothing at the end.
  [[nodiscard]] std::optional<CsvLine> next();
  /// What was not read yet, and the number of its first line.
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  [[nodiscard]] std::size_t line() const { return line_; }

 private:
  [[nodiscard]] std::string quoted(std::size_t place);
  [[nodiscard]] std::string plain(std::size_t place);
  [[nodiscard]] bool ended() const { return at_ >= text_.size(); }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_;
  char separator_;
};

/// Throws where the line has more or fewer fields than the header.
void require_width(const CsvLine& header, const CsvLine& line);

}  // namespace attnscope::exchange
