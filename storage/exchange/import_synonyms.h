// SPDX-License-Identifier: Apache-2.0
// Names that other programs give to fields and values, and their columns' units. Internal to storage/exchange.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kernels/registry.h"
#include "storage/exchange/import.h"

namespace attnscope::exchange {

/// Column of the program with the factor that converts values of the file to its unit.
struct ScaledColumn {
  std::string name;
  std::string unit = {};
  double scale = 1;
  Message skipped = Message();  ///< reason why the values are recognized but not imported; empty if imported
  bool unit_in_cells = false;   ///< a time or rate whose heading has no unit
  std::string provider = {};    ///< "flash" in "flash_fwd_ms": the algorithm of the values
  std::string pass = {};        ///< "fwd" in "flash_fwd_ms"
  bool of_time = false;         ///< a spread; without a unit it has that of the time
};

/// Columns of a row that hold its time.
namespace time_column {
inline constexpr std::string_view time = "time_ns";
inline constexpr std::string_view mean = "time_mean_ns";
}  // namespace time_column

/// Columns that no field has: they give a part of one, or state what follows from fields (PointBuilder).
namespace partial_column {
inline constexpr std::string_view window = "window";
inline constexpr std::string_view window_left = "window_left";
inline constexpr std::string_view window_right = "window_right";
inline constexpr std::string_view group = "gqa_group";
inline constexpr std::string_view tokens = "total_tokens";
inline constexpr std::string_view hidden = "hidden_size";
inline constexpr std::string_view d_v = "head_dim_v";
}  // namespace partial_column

/// Returns the column that `name` is another name of, in any case and with any separators: "batch_size" is batch,
/// "N_CTX" is N, "GPU Time (sec)" is time_ns with factor 1e9, "TFLOPS" is tflops, "DRAM read (MiB)" is dram_read_bytes.
/// Returns nullopt for unknown names.
[[nodiscard]] std::optional<ScaledColumn> parse_synonym(std::string_view name, const Registry& registry);

/// Parses a metric, counter or time with a unit suffix: "dram__bytes_read.sum [Mbyte]", "samples_us".
[[nodiscard]] std::optional<ScaledColumn> parse_scaled_column(std::string_view name);

/// Returns true if one of `words`, separated by spaces, is `word`.
[[nodiscard]] bool has_word(std::string_view words, std::string_view word);

/// Returns the dtype that a word of the name states; empty if none or several.
[[nodiscard]] std::string dtype_in(std::string_view name);

/// Converts the notation of other programs for the values of a field: "torch.float16" is fp16, mask "True" is causal.
/// Other texts are returned unchanged.
[[nodiscard]] std::string normalized_value(std::string_view field, std::string_view text);

}  // namespace attnscope::exchange
