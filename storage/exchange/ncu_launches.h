// SPDX-License-Identifier: Apache-2.0
// The launches of Nsight Compute's tables, as the raw page and the page of details have them. Internal to
// storage/exchange.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/exchange/import.h"
#include "storage/exchange/import_values.h"

namespace attnscope::exchange {

/// A counter of a table, in one unit.
struct NcuColumn {
  std::string counter;   ///< "dram__bytes_read.sum"
  std::string unit;      ///< as the table has it: "Mbyte"
  std::size_t line = 0;  ///< where the unit stands
  Place::Part part = Place::Part::column;
  std::string example = {};  ///< the first launch's, as the table has it

  /// Of the unit: "line 2, column 'dram__bytes_read.sum'".
  [[nodiscard]] Place place() const { return line_place(line).at(part, counter); }
};

struct NcuValue {
  std::size_t column = 0;
  double value = 0;  ///< in the column's unit
  std::size_t line = 0;
};

struct NcuLaunch {
  std::size_t line = 0;  ///< its first
  std::int64_t id = 0;   ///< ncu's number of it
  std::string kernel;    ///< as the table has it, with template arguments and parameters
  std::string shape;     ///< grid and block, as the table has them; empty where it has none
  std::string device;    ///< ncu's number of it, of the process; empty where the table has none
  std::string compute_capability;
  std::string process;  ///< its number in the system; empty where the table has none
  std::string process_name;
  std::vector<NcuValue> values;
};

struct NcuTable {
  std::vector<NcuColumn> columns;
  std::vector<NcuLaunch> launches;  ///< in their order, those that the selection leaves
  std::size_t left_out = 0;         ///< by the selection
};

/// Throws Wrong.
[[nodiscard]] NcuTable read_ncu_launches(std::string_view text, const NcuSelection&);

/// "void at::<unnamed>::softmax_warp_forward<float, 4>(T1 *)" is "softmax_warp_forward".
[[nodiscard]] std::string short_kernel_name(std::string_view text);

/// A number as ncu writes it, in groups of three digits: "1,048,576.5". Nothing for words ("n/a", "(128, 1, 1)").
/// Throws for what looks like a number and is none, as "1.500,5".
[[nodiscard]] std::optional<double> ncu_number(const Place&, std::string_view text);

}  // namespace attnscope::exchange
