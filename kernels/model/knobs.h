// SPDX-License-Identifier: Apache-2.0
// Knobs: parameters besides the tile that only some algorithms have (raster, splits, warps, stages, ...). Each
// algorithm declares its knobs; a point stores the values that were set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"

namespace attnscope {

/// A number or a named value.
using KnobValue = std::variant<std::int64_t, std::string>;
[[nodiscard]] std::string to_string(const KnobValue&);

/// Knob values of a point, by name. A missing knob is the algorithm's choice: 0, or the first named value. That value
/// is never stored, so that equal configurations compare equal.
class Knobs {
 public:
  using Entry = std::pair<std::string, KnobValue>;

  Knobs() = default;
  Knobs(std::initializer_list<std::pair<std::string_view, KnobValue>> given);

  /// Returns 0 if the knob is missing or has a named value.
  [[nodiscard]] std::int64_t number(std::string_view name) const;
  /// Returns an empty text if the knob is missing or numeric.
  [[nodiscard]] std::string_view named_value(std::string_view name) const;
  [[nodiscard]] const KnobValue* find(std::string_view name) const;
  /// Sets a value; 0 or an empty name removes the knob.
  void set(std::string_view name, KnobValue value);

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] std::vector<Entry>::const_iterator begin() const { return entries_.begin(); }
  [[nodiscard]] std::vector<Entry>::const_iterator end() const { return entries_.end(); }

  bool operator==(const Knobs&) const = default;

 private:
  std::vector<Entry> entries_;  ///< sorted by name
};

/// On-chip tile of a block. For FlashAttention, Br x Bc of the paper; for the naive kernels, the GEMM tile of S = QK^T.
struct TileShape {
  int br = 64;  ///< query rows of a tile
  int bc = 64;  ///< key rows of a tile

  bool operator==(const TileShape&) const = default;
};

/// Tile side that the paper's rule derives from M. If tiles determine the traffic of long sequences, this side divides
/// it: N^2 d / Br or N^2 d / Bc.
enum class TileSide { none, br, bc };

struct Knob {
  std::string name;  ///< name of axis, column and facet: "splits"
  Message label;     ///< displayed name: "Splits"
  Message meaning;   ///< one sentence for help and tooltips
  /// Numeric knobs: maximum of the range, which begins at 0 (the algorithm's choice). 0 for knobs with named values.
  std::int64_t largest = 0;
  /// Numeric knobs: allowed values besides 0, in any order, if they are not a range; refusal() lists them.
  std::vector<std::int64_t> values = {};
  /// Named values; the first is the default.
  std::vector<std::string> words = {};
  /// Chosen per tile: reset to the algorithm's choice when the tile changes.
  bool depends_on_tile = false;
  /// Numeric knobs: values that a sweep combines with one N are separate curves over N.
  bool separate_curves = false;

  bool operator==(const Knob&) const = default;
};

/// Parses a value; returns no value for the algorithm's choice. The error lists the accepted values.
[[nodiscard]] Result<std::optional<KnobValue>, Message> parse_knob(const Knob&, std::string_view text);
/// Text of the knob's value as parse_knob() accepts it; "0" or the first named value if not set.
[[nodiscard]] std::string knob_text(const Knob&, const Knobs&);

struct Config {
  TileShape tile;
  Knobs knobs;

  Config() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): most callers have a tile and no knobs.
  Config(TileShape shape, Knobs given = {}) : tile(shape), knobs(std::move(given)) {}

  bool operator==(const Config&) const = default;
};

/// "128x64"
[[nodiscard]] std::string describe(const TileShape&);
/// " splits 4 warps 8", " heads_fastest": suffix of a tile; empty without knobs.
[[nodiscard]] std::string describe(const Knobs&);
/// "128x64 splits 4"
[[nodiscard]] std::string describe(const Config&);

}  // namespace attnscope
