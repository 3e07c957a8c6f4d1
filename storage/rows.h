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

inline constexpr const char* limit_columns =
    "name, compute_major, compute_minor, sm_count, max_threads_per_block, max_threads_per_sm, max_blocks_per_sm, "
    "registers_per_sm, shared_bytes_per_block, shared_bytes_per_sm, shared_bytes_reserved, l2_bytes, dram_bytes, "
    "dram_bytes_per_second, l2_bytes_per_second, tensor_flops";
/// Returns references to the values of limit_columns, in order. `Limits`: DeviceLimits or const DeviceLimits.
template <class Limits>
auto limit_values(Limits& gpu) {
  return std::tie(gpu.name, gpu.compute_major, gpu.compute_minor, gpu.sm_count, gpu.max_threads_per_block,
                  gpu.max_threads_per_sm, gpu.max_blocks_per_sm, gpu.registers_per_sm, gpu.shared_bytes_per_block,
                  gpu.shared_bytes_per_sm, gpu.shared_bytes_reserved, gpu.l2_bytes, gpu.dram_bytes,
                  gpu.dram_bytes_per_second, gpu.l2_bytes_per_second, gpu.tensor_flops);
}

inline constexpr const char* environment_columns =
    "app_version, driver_version, cuda_driver_api, nvrtc_version, cupti_version, nvml_version, operating_system";
/// Returns references to the values of environment_columns, in order. `Of`: Environment or const Environment.
template <class Of>
auto environment_values(Of& environment) {
  return std::tie(environment.app_version, environment.driver_version, environment.cuda_driver_api,
                  environment.nvrtc_version, environment.cupti_version, environment.nvml_version,
                  environment.operating_system);
}

inline constexpr const char* clock_columns =
    "sm_clock_hz, memory_clock_hz, temperature_c, power_w, throttle_reasons, throttled";
/// Returns references to the values of clock_columns, in order. `Clocks`: ClockReading or const ClockReading.
template <class Clocks>
auto clock_values(Clocks& clocks) {
  return std::tie(clocks.sm_clock_hz, clocks.memory_clock_hz, clocks.temperature_c, clocks.power_w,
                  clocks.throttle_reasons, clocks.throttled);
}

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
