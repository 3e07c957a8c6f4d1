// SPDX-License-Identifier: Apache-2.0
// Names, numbers and units of other programs' files. Internal to storage/exchange.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "profiler/metrics/metrics.h"

namespace attnscope::exchange {

/// What is wrong with the file; import_points() hands it on as its error.
class Wrong : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class... Parts>
[[noreturn]] void fail(fmt::format_string<Parts...> format, Parts&&... parts) {
  throw Wrong(fmt::format(format, std::forward<Parts>(parts)...));
}

/// Nothing where the text is anything else.
[[nodiscard]] std::optional<double> number(std::string_view text);
/// A value of a metric: NaN is no value, infinity and negative amounts are mistakes.
[[nodiscard]] std::optional<double> checked(const std::string& place, std::optional<double> value);
/// Throws where a metric cannot have the value: an occupancy over 100%.
void require_possible(std::string_view place, std::string_view metric, double value);
/// "Mbyte/second" as bytes a second, "Kbyte/block" as bytes: the base unit, and what a value is multiplied with to be
/// one in it. A unit that we do not know is left as it is.
[[nodiscard]] std::pair<std::string, double> base_unit(std::string_view text);

/// The metric that a column of this name holds, by our name or the counter's.
[[nodiscard]] const Metric* metric_of(std::string_view name);
[[nodiscard]] bool is_counter_name(std::string_view name);
/// Throws where `text` cannot be a name.
void check_word(std::string_view place, std::string_view what, std::string_view text);
/// A metric's or a counter's value, whose unit the file says or, empty, leaves to the base unit.
[[nodiscard]] MetricValue imported_value(const std::string& place, const std::string& name, double value,
                                         const std::string& unit);

}  // namespace attnscope::exchange
