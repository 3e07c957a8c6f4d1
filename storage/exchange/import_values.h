// SPDX-License-Identifier: Apache-2.0
// Names, numbers and units of other programs' files. Internal to storage/exchange.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/messages/message.h"
#include "profiler/metrics/metrics.h"

namespace attnscope::exchange {

/// What is wrong with the file; import_points() hands it on as its error.
class Wrong : public std::runtime_error {
 public:
  explicit Wrong(Message message) : std::runtime_error(text(message)), message_(std::move(message)) {}
  [[nodiscard]] const Message& message() const { return message_; }

 private:
  Message message_;
};

/// Where in a file, for messages; words are made of it only when something is wrong there. Refers to `name`.
struct Place {
  const char* whole = "line {}";  ///< or "points[{}]", "devices[{}]"
  std::size_t number = 0;
  const char* part = "";  ///< one of place_part
  std::string_view name = {};

  [[nodiscard]] Place at(const char* which, std::string_view called) const { return {whole, number, which, called}; }
  /// "line 3, column 'd'".
  [[nodiscard]] std::string text() const;
};
namespace place_part {
inline constexpr const char* column = ", column '{}'";
inline constexpr const char* counter = ", {}";
inline constexpr const char* metric = ", metric '{}'";
inline constexpr const char* member = ", '{}'";
}  // namespace place_part
[[nodiscard]] inline Place line_place(std::size_t number) {
  return {.number = number};
}

[[noreturn]] void fail(Message why);
[[noreturn]] void fail(const Place&, Message why);

/// Nothing where the text is anything else.
[[nodiscard]] std::optional<double> number(std::string_view text);
/// A value: NaN is none, infinity is a mistake, and so is an amount below zero, unless `metric` may have one.
[[nodiscard]] std::optional<double> checked(const Place&, std::optional<double> value, const Metric* metric = nullptr);
/// Throws where a metric cannot have the value: an occupancy over 100%, a time of nothing.
void require_possible(const Place&, std::string_view metric, double value);
/// "Mbyte/second" as bytes a second, "Kbyte/block" as bytes: the base unit, and what a value is multiplied with to be
/// one in it. A unit that we do not know is left as it is.
[[nodiscard]] std::pair<std::string, double> base_unit(std::string_view text);

/// The metric that a column of this name holds, by our name or the counter's.
[[nodiscard]] const Metric* metric_of(std::string_view name);
[[nodiscard]] bool is_counter_name(std::string_view name);
/// Throws where `text` cannot be the name of what it is said to be.
void check_word(const Place&, std::string_view what, std::string_view text);
/// A metric's or a counter's value, whose unit the file says or, empty, leaves to the base unit.
[[nodiscard]] MetricValue imported_value(const Place&, const std::string& name, double value, const std::string& unit);

}  // namespace attnscope::exchange
