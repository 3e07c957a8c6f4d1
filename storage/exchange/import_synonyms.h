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
};

/// Columns of a row that hold a mean and a standard deviation of its times.
namespace time_column {
inline constexpr std::string_view time = "time_ns";
inline constexpr std::string_view mean = "time_mean_ns";
inline constexpr std::string_view deviation = "time_stddev_ns";
}  // namespace time_column

/// Returns the column that `name` is another name of, in any case and with any separators: "batch_size" is batch,
/// "N_CTX" is N, "GPU Time (sec)" is time_ns with factor 1e9, "TFLOPS" is tflops. Returns nullopt for unknown names.
[[nodiscard]] std::optional<ScaledColumn> parse_synonym(std::string_view name, const Registry& registry);

/// Converts the notation of other programs for the values of a field: "torch.float16" is fp16, mask "True" is causal.
/// Other texts are returned unchanged.
[[nodiscard]] std::string normalized_value(std::string_view field, std::string_view text);

}  // namespace attnscope::exchange
