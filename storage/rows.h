// SPDX-License-Identifier: Apache-2.0
// Binds and reads columns in order; column lists of devices, environments and points. Internal to storage.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "profiler/measure/device.h"
#include "profiler/metrics/point.h"
#include "profiler/plan/fields.h"
#include "profiler/plan/text.h"

namespace attnscope {

/// Error in the current row, as part of a sentence. The row is skipped and reported; reading continues.
class RowError : public std::runtime_error {
 public:
  explicit RowError(Message message) : std::runtime_error(attnscope::text(message)), message_(std::move(message)) {}
  [[nodiscard]] const Message& message() const { return message_; }

 private:
  Message message_;
};

inline void require_valid_row(const Message& wrong) {
  if (!wrong.empty()) throw RowError(wrong);
}

/// Returns the parsed enumerator; throws RowError for an unknown keyword.
template <class T>
T require_keyword(Result<T, Message> parsed) {
  if (!parsed) throw RowError(parsed.error());
  return parsed.value();
}

/// Calls visit(name, member) for the columns of a device's limits besides name and compute capability, in order.
template <class Limits, class Visit>
void for_each_limit(Limits& limits, const Visit& visit) {
  visit("sm_count", limits.sm_count);
  visit("max_threads_per_block", limits.max_threads_per_block);
  visit("max_threads_per_sm", limits.max_threads_per_sm);
  visit("max_blocks_per_sm", limits.max_blocks_per_sm);
  visit("registers_per_sm", limits.registers_per_sm);
  visit("shared_bytes_per_block", limits.shared_bytes_per_block);
  visit("shared_bytes_per_sm", limits.shared_bytes_per_sm);
  visit("shared_bytes_reserved", limits.shared_bytes_reserved);
  visit("l2_bytes", limits.l2_bytes);
  visit("dram_bytes", limits.dram_bytes);
  visit("dram_bytes_per_second", limits.dram_bytes_per_second);
  visit("l2_bytes_per_second", limits.l2_bytes_per_second);
  visit("tensor_flops", limits.tensor_flops);
}
/// Calls visit(name, member) for the columns of an environment, in order.
template <class Of, class Visit>
void for_each_version(Of& environment, const Visit& visit) {
  visit("app_version", environment.app_version);
  visit("driver_version", environment.driver_version);
  visit("cuda_driver_api", environment.cuda_driver_api);
  visit("nvrtc_version", environment.nvrtc_version);
  visit("cupti_version", environment.cupti_version);
  visit("nvml_version", environment.nvml_version);
  visit("operating_system", environment.operating_system);
}

class Binder {
 public:
  explicit Binder(SQLite::Statement& statement) : statement_(statement) {}

  template <class T>
  Binder& operator<<(const T& value) {
    ++place_;
    if constexpr (std::is_same_v<T, std::string_view>) {
      statement_.bind(place_, std::string(value));
    } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, int>) {
      statement_.bind(place_, static_cast<int>(value));
    } else if constexpr (std::is_integral_v<T>) {
      statement_.bind(place_, static_cast<std::int64_t>(value));
    } else {
      statement_.bind(place_, value);
    }
    return *this;
  }

  /// Binds a field of a point or a knob's value with the type of its column.
  template <class... T>
  Binder& operator<<(const std::variant<T...>& value) {
    std::visit([&](const auto& held) { *this << held; }, value);
    return *this;
  }

  template <class T>
  Binder& operator<<(const std::optional<T>& value) {
    if (value) return *this << *value;
    statement_.bind(++place_);
    return *this;
  }

  /// Binds limit_columns().
  Binder& operator<<(const DeviceLimits& limits) {
    *this << limits.name << limits.compute_major << limits.compute_minor;
    for_each_limit(limits, [this](const char*, const auto& value) { *this << value; });
    return *this;
  }
  /// Binds environment_columns().
  Binder& operator<<(const Environment& environment) {
    for_each_version(environment, [this](const char*, const auto& value) { *this << value; });
    return *this;
  }
  template <class... T>
  Binder& operator<<(const std::tuple<T...>& values) {
    std::apply([this](const auto&... each) { (*this << ... << each); }, values);
    return *this;
  }

 private:
  SQLite::Statement& statement_;
  int place_ = 0;
};

/// Reads columns from left to right. Throws RowError if a column has another type, as in a damaged file.
class Reader {
 public:
  explicit Reader(SQLite::Statement& statement) : statement_(statement) {}

  std::string text() {
    const SQLite::Column column = next();
    if (!column.isText()) wrong("not text");
    // A parsed list takes many times the memory of its text.
    constexpr int longest = 16 << 20;
    if (column.getBytes() > longest) wrong("longer than 16 MiB");
    std::string read = column.getString();
    const bool whole = read.find('\0') == std::string::npos && first_invalid_utf8(read) == std::string::npos;
    if (!whole) wrong("not valid UTF-8");
    return read;
  }
  std::int64_t integer() {
    const SQLite::Column column = next();
    if (!column.isInteger()) wrong("not an integer");
    return column.getInt64();
  }
  std::size_t count() {
    const std::int64_t number = integer();
    if (number < 0 || number > std::numeric_limits<std::int32_t>::max()) wrong("out of range");
    return static_cast<std::size_t>(number);
  }
  double real() {
    const SQLite::Column column = next();
    if (!column.isFloat() && !column.isInteger()) wrong("not a number");
    return column.getDouble();
  }
  bool flag() {
    const std::int64_t number = integer();
    if (number != 0 && number != 1) wrong("neither 0 nor 1");
    return number != 0;
  }
  /// Returns nullopt for NULL.
  template <class T>
  std::optional<T> optional() {
    if (statement_.getColumn(place_).isNull()) {
      ++place_;
      return std::nullopt;
    }
    T value{};
    *this >> value;
    return value;
  }
  KnobValue knob() {
    if (statement_.getColumn(place_).isInteger()) return integer();
    return text();
  }

  Reader& operator>>(std::string& value) { return value = text(), *this; }
  Reader& operator>>(std::int64_t& value) { return value = integer(), *this; }
  /// Reads all 64 bits, as Binder writes them.
  Reader& operator>>(std::uint64_t& value) { return value = std::bit_cast<std::uint64_t>(integer()), *this; }
  Reader& operator>>(double& value) { return value = real(), *this; }
  Reader& operator>>(bool& value) { return value = flag(), *this; }
  Reader& operator>>(int& value) {
    const std::int64_t number = integer();
    if (!std::in_range<int>(number)) wrong("out of range");
    value = static_cast<int>(number);
    return *this;
  }
  Reader& operator>>(DeviceLimits& limits) {
    *this >> limits.name >> limits.compute_major >> limits.compute_minor;
    for_each_limit(limits, [this](const char*, auto& value) { *this >> value; });
    return *this;
  }
  Reader& operator>>(Environment& environment) {
    for_each_version(environment, [this](const char*, auto& value) { *this >> value; });
    return *this;
  }
  template <class T>
  Reader& operator>>(std::optional<T>& value) {
    return value = optional<T>(), *this;
  }
  template <class... T>
  Reader& operator>>(const std::tuple<T&...>& values) {
    std::apply([this](auto&... each) { (*this >> ... >> each); }, values);
    return *this;
  }

 private:
  SQLite::Column next() { return statement_.getColumn(place_++); }
  /// Reports the column that was read last.
  [[noreturn]] void wrong(std::string_view what) {
    throw RowError(make_message("{} is {}", statement_.getColumnName(place_ - 1), what));
  }

  SQLite::Statement& statement_;
  int place_ = 0;
};

inline constexpr const char* launch_columns =
    "launch, source_file, entry, defines, digest, registers, local_bytes, static_shared_bytes, dynamic_shared_bytes, "
    "threads, grid";

inline constexpr const char* clock_columns =
    "sm_clock_hz, memory_clock_hz, temperature_c, power_w, throttle_reasons, throttled";
/// Returns references to the values of clock_columns, in order. `Clocks`: ClockReading or const ClockReading.
template <class Clocks>
auto clock_values(Clocks& clocks) {
  return std::tie(clocks.sm_clock_hz, clocks.memory_clock_hz, clocks.temperature_c, clocks.power_w,
                  clocks.throttle_reasons, clocks.throttled);
}

/// Returns "name, compute_major, compute_minor, sm_count, ...".
[[nodiscard]] const std::string& limit_columns();
/// Returns "app_version, driver_version, ...".
[[nodiscard]] const std::string& environment_columns();

/// Returns "d.name, d.sm_count, ..." for a list of columns.
[[nodiscard]] std::string qualified(std::string_view table, std::string_view columns);
/// Returns "?, ?, ?".
[[nodiscard]] std::string placeholders(int count);

/// Returns the columns of `points` from "algorithm" to "wall_seconds", each with a prefix.
[[nodiscard]] std::string point_columns(std::string_view prefix = {});
[[nodiscard]] int point_column_count();
void bind_point(Binder&, const PointRecord&);
/// Reads point_columns().
[[nodiscard]] PointRecord read_point(Reader&);

}  // namespace attnscope
