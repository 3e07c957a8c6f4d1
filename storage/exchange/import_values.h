// SPDX-License-Identifier: Apache-2.0
// Names, numbers and units in imported files. Internal to storage/exchange.
#pragma once

#include <cstddef>
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
  const char* whole = "line {}";  ///< format: "line {}", "points[{}]" or "devices[{}]"
  std::size_t number = 0;
  const char* part = "";  ///< one of place_part
  std::string_view name = {};

  [[nodiscard]] FileLocation at(const char* which, std::string_view called) const {
    return {whole, number, which, called};
  }
  /// Returns "line 3, column 'd'".
  [[nodiscard]] std::string text() const;
};
namespace place_part {
inline constexpr const char* column = ", column '{}'";
inline constexpr const char* counter = ", {}";
inline constexpr const char* metric = ", metric '{}'";
inline constexpr const char* member = ", '{}'";
}  // namespace place_part
[[nodiscard]] inline FileLocation line_place(std::size_t number) {
  return {.number = number};
}

[[noreturn]] void fail(Message why);
[[noreturn]] void fail(const FileLocation&, Message why);

struct Unit {
  std::string base;  ///< "ns", "byte", "byte/s", "hertz", "Tflop/s", "percent", or a counted noun such as "sector"
  double scale = 1;  ///< factor to the base unit
};

/// Parses units of ncu ("Mbyte/second", "Minst"), of CUDA and Python programs ("µs", "msec", "MiB", "TFLOPs/s") in any
/// case. A prefix K, M, G, T or P is 1,000; Ki, Mi, ... is 1,024. Per block or thread is ignored. Nullopt if unknown.
[[nodiscard]] std::optional<Unit> parse_unit(std::string_view text);

/// Returns the base unit and the factor to it; an unknown unit is returned unchanged. An empty text is "1".
[[nodiscard]] std::pair<std::string, double> base_unit(std::string_view text);

/// Returns nullopt unless the whole text is a number.
[[nodiscard]] std::optional<double> number(std::string_view text);
/// Parses a number with or without groups of three digits: "1,048,576.5", with `decimal_comma` "1.048.576,5".
[[nodiscard]] std::optional<double> parse_amount(std::string_view text, bool decimal_comma);

/// Content of a field of numbers: "1.5", "1.2 ms", "1.20 ± 0.03", "[1, 2]", "8k".
struct NumberCell {
  std::vector<double> values;
  std::optional<Unit> unit = {};
  std::string unit_text = {};
  std::optional<double> deviation = {};
  bool relative = false;  ///< the deviation is a fraction of the value
};
/// Returns nullopt unless the whole text is numbers with at most one unit.
[[nodiscard]] std::optional<NumberCell> parse_cell(std::string_view text, bool decimal_comma);
[[nodiscard]] std::optional<bool> parse_flag(std::string_view text);
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

/// Returns "softmax_warp_forward" for "void at::<unnamed>::softmax_warp_forward<float, 4>(T1 *)".
[[nodiscard]] std::string short_kernel_name(std::string_view text);

}  // namespace attnscope::exchange
