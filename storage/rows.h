// SPDX-License-Identifier: Apache-2.0
// Binding and reading columns in order. Internal to storage.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "profiler/plan/fields.h"
#include "profiler/plan/text.h"
#include "storage/run_store.h"

namespace attnscope {

/// What is wrong with the row at hand, as part of a sentence: the row is skipped and named, the others are given.
class RowError : public std::runtime_error {
 public:
  explicit RowError(Message message) : std::runtime_error(attnscope::text(message)), message_(std::move(message)) {}
  [[nodiscard]] const Message& message() const { return message_; }

 private:
  Message message_;
};

/// A word of a column, as its enumeration; one that this program does not know is damage.
template <class T>
T word(Result<T, Message> parsed) {
  if (!parsed) throw RowError(parsed.error());
  return parsed.value();
}

/// Binds values to ?1, ?2, ... in order.
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

  /// A field of a point, in the type of its column.
  Binder& operator<<(const FieldValue& value) {
    std::visit([&](const auto& held) { *this << held; }, value);
    return *this;
  }

  template <class T>
  Binder& operator<<(const std::optional<T>& value) {
    if (value) return *this << *value;
    statement_.bind(++place_);
    return *this;
  }

 private:
  SQLite::Statement& statement_;
  int place_ = 0;
};

/// Reads columns from left to right. Throws RowError for what is of another type: a damaged file may hold anything.
class Reader {
 public:
  explicit Reader(SQLite::Statement& statement) : statement_(statement) {}

  std::string text() {
    const SQLite::Column column = next();
    if (!column.isText()) wrong("no text");
    // What is made of a list takes many times its text.
    constexpr int longest = 16 << 20;
    if (column.getBytes() > longest) wrong("a text of more than 16 MiB");
    std::string read = column.getString();
    const bool whole = read.find('\0') == std::string::npos && first_invalid_utf8(read) == std::string::npos;
    if (!whole) wrong("no UTF-8 text");
    return read;
  }
  std::int64_t integer() {
    const SQLite::Column column = next();
    if (!column.isInteger()) wrong("no whole number");
    return column.getInt64();
  }
  int small() {
    const std::int64_t number = integer();
    if (!std::in_range<int>(number)) wrong("out of range");
    return static_cast<int>(number);
  }
  std::size_t count() {
    const std::int64_t number = integer();
    if (number < 0 || number > std::numeric_limits<std::int32_t>::max()) wrong("out of range");
    return static_cast<std::size_t>(number);
  }
  double real() {
    const SQLite::Column column = next();
    if (!column.isFloat() && !column.isInteger()) wrong("no number");
    return column.getDouble();
  }
  bool flag() {
    const std::int64_t number = integer();
    if (number != 0 && number != 1) wrong("neither 0 nor 1");
    return number != 0;
  }
  std::optional<std::string> optional_text() {
    if (is_null()) return std::nullopt;
    return text();
  }
  std::optional<double> optional_real() {
    if (is_null()) return std::nullopt;
    return real();
  }
  std::optional<std::int64_t> optional_integer() {
    if (is_null()) return std::nullopt;
    return integer();
  }
  std::optional<bool> optional_flag() {
    if (is_null()) return std::nullopt;
    return flag();
  }
  /// A whole number or a text.
  KnobValue knob() {
    if (statement_.getColumn(place_).isInteger()) return integer();
    return text();
  }

 private:
  SQLite::Column next() { return statement_.getColumn(place_++); }
  /// Whether the next column is NULL, which is then passed over.
  bool is_null() {
    if (!statement_.getColumn(place_).isNull()) return false;
    ++place_;
    return true;
  }
  /// Of the column that was read last.
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
inline constexpr const char* environment_columns =
    "app_version, driver_version, cuda_driver_api, nvrtc_version, cupti_version, nvml_version, operating_system";

/// "x = excluded.x, ..." for a list of columns.
[[nodiscard]] std::string assignments(std::string_view columns);

/// "d.name, d.sm_count, ..." for a list of columns.
[[nodiscard]] std::string qualified(std::string_view table, std::string_view columns);

/// "?, ?, ?"
[[nodiscard]] std::string placeholders(int count);

/// The columns `environment_columns`, in their order.
inline Environment read_environment(Reader& in) {
  Environment environment;
  for (std::string* part :
       {&environment.app_version, &environment.driver_version, &environment.cuda_driver_api, &environment.nvrtc_version,
        &environment.cupti_version, &environment.nvml_version, &environment.operating_system}) {
    *part = in.text();
  }
  return environment;
}

}  // namespace attnscope
