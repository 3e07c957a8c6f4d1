// SPDX-License-Identifier: Apache-2.0
// Binding and reading columns in order. Internal to storage.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kernels/model/result.h"
#include "profiler/plan/fields.h"
#include "storage/run_store.h"

namespace attnscope {

/// A word of a column, as its enumeration; one that this program does not know is damage.
template <class T>
T word(Result<T, std::string> parsed) {
  if (!parsed) throw StorageError(StorageError::Kind::damaged, parsed.error());
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

  /// An error measure: SQLite stores a NaN as NULL, which would read as "not verified"; it is infinitely wrong instead.
  Binder& operator<<(const std::optional<double>& value) {
    ++place_;
    if (!value) {
      statement_.bind(place_);
    } else {
      statement_.bind(place_, std::isnan(*value) ? std::numeric_limits<double>::infinity() : *value);
    }
    return *this;
  }

 private:
  SQLite::Statement& statement_;
  int place_ = 0;
};

/// Reads columns from left to right.
class Reader {
 public:
  explicit Reader(SQLite::Statement& statement) : statement_(statement) {}

  std::string text() { return next().getString(); }
  std::int64_t integer() { return next().getInt64(); }
  int small() { return next().getInt(); }
  double real() { return next().getDouble(); }
  bool flag() { return next().getInt() != 0; }
  std::optional<double> optional_real() {
    const SQLite::Column column = next();
    return column.isNull() ? std::nullopt : std::optional(column.getDouble());
  }

 private:
  SQLite::Column next() { return statement_.getColumn(place_++); }

  SQLite::Statement& statement_;
  int place_ = 0;
};

inline constexpr const char* limit_columns =
    "name, compute_major, compute_minor, sm_count, max_threads_per_block, max_threads_per_sm, max_blocks_per_sm, "
    "registers_per_sm, shared_bytes_per_block, shared_bytes_per_sm, shared_bytes_reserved, l2_bytes, dram_bytes, "
    "dram_bytes_per_second, l2_bytes_per_second, tensor_flops";
inline constexpr const char* environment_columns =
    "app_version, driver_version, cuda_driver_api, nvrtc_version, cupti_version, nvml_version, operating_system";

/// PRAGMA user_version.
[[nodiscard]] int schema_of(SQLite::Database&);

/// "x = excluded.x, ..." for a list of columns.
[[nodiscard]] std::string assignments(std::string_view columns);

/// "d.name, d.sm_count, ..." for a list of columns.
[[nodiscard]] std::string qualified(std::string_view table, std::string_view columns);

/// "?, ?, ?"
[[nodiscard]] std::string placeholders(int count);

}  // namespace attnscope
