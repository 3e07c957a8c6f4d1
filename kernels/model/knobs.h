// SPDX-License-Identifier: Apache-2.0
// Knobs: what only some algorithms can be told beside the tile (raster, splits, warps, stages, ...). Each algorithm
// states its own; a point carries the ones that it was given.
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

/// A number, or one of a knob's words.
using KnobValue = std::variant<std::int64_t, std::string>;
[[nodiscard]] std::string to_string(const KnobValue&);

/// The knobs that a point was given, by name. A knob that is not here is the algorithm's choice: 0 of a number, the
/// first of the words; such a value is never stored, so that equal configurations compare equal.
class Knobs {
 public:
  using Entry = std::pair<std::string, KnobValue>;

  Knobs() = default;
  Knobs(std::initializer_list<std::pair<std::string_view, KnobValue>> given);

  /// 0, also where the knob holds a word.
  [[nodiscard]] std::int64_t number(std::string_view name) const;
  /// Empty, also where the knob holds a number.
  [[nodiscard]] std::string_view word(std::string_view name) const;
  [[nodiscard]] const KnobValue* find(std::string_view name) const;
  /// A number 0 and an empty word take the knob away.
  void set(std::string_view name, KnobValue value);

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] std::vector<Entry>::const_iterator begin() const { return entries_.begin(); }  ///< by name
  [[nodiscard]] std::vector<Entry>::const_iterator end() const { return entries_.end(); }

  bool operator==(const Knobs&) const = default;

 private:
  std::vector<Entry> entries_;  ///< sorted by name
};

/// The on-chip block shape. For FlashAttention Br x Bc is the paper's; for the naive kernels it is the GEMM tile of S =
/// QK^T.
struct TileShape {
  int br = 64;  ///< query rows of a tile
  int bc = 64;  ///< key rows of a tile

  bool operator==(const TileShape&) const = default;
};

/// The side of the tile that the paper's rule makes of M; where tiles decide the traffic of long sequences, it is
/// divided by it: N^2 d / Br or N^2 d / Bc.
enum class TileSide { none, br, bc };

/// One knob, as an algorithm states it.
struct Knob {
  std::string name;  ///< axis, column and facet: "splits"
  Message label;     ///< for people: "Splits"
  Message meaning;   ///< one sentence for help and tooltips
  /// Of a number: 0 (the algorithm's choice) to this. 0 where the knob takes words.
  std::int64_t largest = 0;
  /// Of a number: those that there are besides 0, in any order, where they are no range; refusal() names them.
  std::vector<std::int64_t> values = {};
  /// The first is what the algorithm does of itself.
  std::vector<std::string> words = {};
  /// A choice made for one tile: another tile leaves it to the algorithm again.
  bool with_tile = false;
  /// Of a number: where a sweep has several of its values at one N, each of them makes a curve over N of its own.
  bool beside_n = false;

  bool operator==(const Knob&) const = default;
};

/// What `text` stands for; no value for the algorithm's own choice. The error is a sentence that says what is accepted.
[[nodiscard]] Result<std::optional<KnobValue>, Message> parse_knob(const Knob&, std::string_view text);
/// The value as parse_knob() reads it, of what a point was given; the algorithm's choice ("0", the first word) where it
/// was not.
[[nodiscard]] std::string knob_text(const Knob&, const Knobs&);

/// How a problem is run: the tile, and what else the algorithm was told.
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
/// " splits 4 warps 8", " heads_fastest": what follows a tile; empty without knobs.
[[nodiscard]] std::string describe(const Knobs&);
/// "128x64 splits 4"
[[nodiscard]] std::string describe(const Config&);

}  // namespace attnscope
