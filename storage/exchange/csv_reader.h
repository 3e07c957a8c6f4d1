// SPDX-License-Identifier: Apache-2.0
// Reads CSV files line by line. Internal to storage/exchange.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope::exchange {

struct CsvLine {
  std::size_t number = 0;  ///< Line number of its first line in the file.
  std::vector<std::string> fields;
};

/// Returns the column separator: the comma, semicolon or tab that occurs most often in the first line that is no
/// comment.
[[nodiscard]] char detect_separator(std::string_view text);

/// Reads RFC 4180 with LF or CR LF line ends; skips blank lines and lines that begin with '#'. Throws ImportError for
/// an unterminated quoted field, text after a closing quote, more than 4096 fields, or a field of more than 1 MiB.
class CsvReader {
 public:
  /// `text` must outlive the reader. `first`: line number of its first line.
  CsvReader(std::string_view text, std::size_t first, char separator = ',')
      : text_(text), line_(first), separator_(separator) {}

  /// Returns the next line; nullopt at the end.
  [[nodiscard]] std::optional<CsvLine> next();
  /// Returns the unread text; line() is the number of its first line.
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  [[nodiscard]] std::size_t line() const { return line_; }
  [[nodiscard]] char separator() const { return separator_; }

 private:
  [[nodiscard]] std::string quoted(std::size_t place);
  [[nodiscard]] std::string plain(std::size_t place);
  [[nodiscard]] bool ended() const { return at_ >= text_.size(); }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_;
  char separator_;
};

/// Returns a reader of a table with its separator, below a line "sep=;" of a spreadsheet.
[[nodiscard]] CsvReader table_reader(std::string_view text);

/// Returns true if numbers have a decimal comma: "0,15" or "1.234,5". Throws ImportError if some have a decimal point.
[[nodiscard]] bool has_decimal_comma(std::string_view text, char separator);

/// Throws ImportError if the line's number of fields differs from the header's.
void require_field_count(const CsvLine& header, const CsvLine& line);

}  // namespace attnscope::exchange
