// SPDX-License-Identifier: Apache-2.0
// Text of imported files: lines of CSV, numbers, units, names, and errors with their location. Internal to
// storage/exchange.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/messages/message.h"
#include "profiler/metrics/metrics.h"

namespace attnscope::exchange {

/// Import error; import_points() returns its message.
class ImportError : public std::runtime_error {
 public:
  explicit ImportError(Message message) : std::runtime_error(text(message)), message_(std::move(message)) {}
  [[nodiscard]] const Message& message() const { return message_; }

 private:
  Message message_;
};

/// Location in a file for error messages, formatted only if needed. Refers to `name`.
struct FileLocation {
  const char* whole = "line {}";  ///< format: "line {}" or "points[{}]"
  std::size_t number = 0;
  std::string_view name = {};  ///< column, counter or JSON member; empty: the whole line

  [[nodiscard]] FileLocation at(std::string_view column) const { return {whole, number, column}; }
  /// Returns "line 3, column 'd'".
  [[nodiscard]] std::string text() const;
};
[[nodiscard]] inline FileLocation line_place(std::size_t number) {
  return {.number = number};
}
[[noreturn]] void fail(Message why);
[[noreturn]] void fail(const FileLocation&, Message why);

struct CsvLine {
  std::size_t number = 0;  ///< Line number of its first line in the file.
  std::vector<std::string> fields;
};

/// Returns the column separator: the comma, semicolon or tab that occurs most often in the first line that is no
/// comment.
[[nodiscard]] char detect_separator(std::string_view text);

/// Reads RFC 4180 with LF or CR LF line ends; skips blank lines and lines that begin with '#'. Throws ImportError for
/// an unterminated quoted field, text after a closing quote, more than 4096 fields, a field of more than 1 MiB, and,
/// unless commas separate fields, a number with a comma.
class CsvReader {
 public:
  /// `text` must outlive the reader. `first`: line number of its first line.
  CsvReader(std::string_view text, std::size_t first, char separator = ',')
      : text_(text), line_(first), separator_(separator) {}
  /// Reads a table with its separator, below a line "sep=;" of a spreadsheet.
  [[nodiscard]] static CsvReader of_table(std::string_view text);

  /// Returns the next line; nullopt at the end.
  [[nodiscard]] std::optional<CsvLine> next();
  /// Returns the unread text; line() is the number of its first line.
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  [[nodiscard]] std::size_t line() const { return line_; }

 private:
  [[nodiscard]] std::string quoted();
  [[nodiscard]] std::string plain();
  [[nodiscard]] bool ended() const { return at_ >= text_.size(); }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_;
  char separator_;
};

/// Throws ImportError if the line's number of fields differs from the header's.
void require_field_count(const CsvLine& header, const CsvLine& line);

struct Unit {
  std::string base;  ///< "ns", "byte", "byte/s", "hertz", "Tflop/s", "percent", or a counted noun such as "sector"
  double scale = 1;  ///< factor to the base unit
};
/// Parses units of ncu ("Mbyte/second", "Minst"), of CUDA and Python programs ("µs", "msec", "MiB", "TFLOPs/s") in any
/// case. A prefix K, M, G, T or P is 1,000; Ki, Mi, ... is 1,024. Per block or thread is ignored. Nullopt if unknown.
[[nodiscard]] std::optional<Unit> parse_unit(std::string_view text);
/// Returns the base unit and the factor to it; an unknown unit is returned unchanged. An empty text is "1".
[[nodiscard]] std::pair<std::string, double> base_unit(std::string_view text);
/// Returns the factor from a unit to `base`; an empty text is the base unit. Throws ImportError for other units.
[[nodiscard]] double scale_to(std::string_view base, std::string_view unit, const FileLocation&);

/// Returns nullopt unless the whole text is a number.
[[nodiscard]] std::optional<double> number(std::string_view text);
/// Parses a number with or without groups of three digits: "1,048,576.5".
[[nodiscard]] std::optional<double> parse_amount(std::string_view text);
/// Content of a field of numbers: "1.5", "1.2 ms", "1.20 ± 0.03", "[1, 2]", "8k".
struct NumberCell {
  std::vector<double> values;
  std::optional<Unit> unit = {};
  std::string unit_text = {};
  std::optional<double> deviation = {};
  bool relative = false;  ///< the deviation is a fraction of the value
};
/// Returns nullopt unless the whole text is numbers with at most one unit.
[[nodiscard]] std::optional<NumberCell> parse_cell(std::string_view text);

[[nodiscard]] std::optional<bool> parse_flag(std::string_view text);
/// Returns true if one of `words`, separated by spaces, is `word`.
[[nodiscard]] bool has_word(std::string_view words, std::string_view word);
/// Returns true for "-", "n/a" and similar marks of an absent value.
[[nodiscard]] bool is_missing(std::string_view text);
/// Returns nullopt for NaN. Throws ImportError if the value is infinite, or negative for a metric that cannot be.
[[nodiscard]] std::optional<double> checked(const FileLocation&, std::optional<double> value,
                                            const Metric* metric = nullptr);
/// Throws ImportError if the metric cannot have the value: an occupancy over 100%, a time below min_time_ns.
void require_plausible(const FileLocation&, std::string_view metric, double value);
/// Returns the metric with this key or counter name; null if none.
[[nodiscard]] const Metric* metric_of(std::string_view name);
[[nodiscard]] bool is_counter_name(std::string_view name);
/// Throws ImportError unless `text` is a valid name of `what`.
void require_valid_name(const FileLocation&, std::string_view what, std::string_view text);
/// Returns a metric's or counter's value. `unit` empty: base unit.
[[nodiscard]] MetricValue imported_value(const FileLocation&, const std::string& name, double value,
                                         const std::string& unit);

}  // namespace attnscope::exchange
