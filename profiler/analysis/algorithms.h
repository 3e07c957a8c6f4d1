// SPDX-License-Identifier: Apache-2.0
// What analysis asks of algorithms. It is handed the set that a program works with and knows none by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/algorithm.h"

namespace attnscope::analysis {

/// The algorithms that a program works with, in the order in which views list them.
class Algorithms {
 public:
  using Find = std::function<const Algorithm*(std::string_view)>;

  Algorithms() = default;
  Algorithms(Find find, std::vector<std::string> names) : find_(std::move(find)), names_(std::move(names)) {}
  [[nodiscard]] static Algorithms built_in();

  /// nullptr for a name that is not among them.
  [[nodiscard]] const Algorithm* find(std::string_view name) const { return find_ ? find_(name) : nullptr; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// Place in names(); their number for a name that is not among them.
  [[nodiscard]] std::size_t place(std::string_view name) const;

 private:
  Find find_;
  std::vector<std::string> names_;
};

// What follows are facts that an algorithm is to state itself; until then they are found here and nowhere else.

/// The extent of the tile that the bytes of long sequences are divided by.
enum class TileSide { none, br, bc };
/// Asked of the closed form, for a head dimension and a pass on a device: the side whose doubling halves the bytes.
/// `none` where neither does.
[[nodiscard]] TileSide traffic_side(const Algorithm&, std::int64_t d, Pass, const DeviceLimits&);

/// A column of Fig. 2 left of the FlashAttention paper (arXiv 2205.14135v2).
enum class PaperColumn { standard, flash };
/// The column that an algorithm stands in; none for what the paper does not measure.
[[nodiscard]] std::optional<PaperColumn> paper_column(const Algorithm&);
/// Whether it is the algorithm whose block size Fig. 2 middle varies: the paper's own.
[[nodiscard]] bool in_paper_blocks(const Algorithm&);

/// "FA2", "Naive", "Split-KV": for legends; an algorithm that is not ours by the name that it came with.
[[nodiscard]] std::string short_title(const Algorithms&, std::string_view name);

}  // namespace attnscope::analysis
