// SPDX-License-Identifier: Apache-2.0
// Numbers as a report prints them: the same bytes on every machine and in every locale.
#pragma once

#include <string>
#include <string_view>

namespace attnscope::report {

/// Three significant digits: "0.0123", "4.31", "85.3", "12300".
[[nodiscard]] std::string three_digits(double value);
/// Likewise, of so many digits: of 5 "138.61".
[[nodiscard]] std::string some_digits(double value, int digits);
/// As many, from 3 to 6, as tell two numbers apart; 3 of equal ones.
[[nodiscard]] int digits_between(double low, double high);
/// As many digits as it takes to read the very value back, as exports have it: "123456789", "0.1".
[[nodiscard]] std::string exact(double value);
/// In SI units, three digits: of "byte" "2.15 GB", of "ns" "1.53 ms"; of other units the number and the unit, and of
/// "1" the number.
[[nodiscard]] std::string with_unit(double value, std::string_view unit);
/// Of an axis: "0", "512", "1k", "64k" of lengths.
[[nodiscard]] std::string length_text(double n);
/// A coordinate of a picture: at most two decimals, never "-0".
[[nodiscard]] std::string coordinate(double value);

}  // namespace attnscope::report
