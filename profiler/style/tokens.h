// SPDX-License-Identifier: Apache-2.0
// Visual tokens of window, report and lesson: colors of both themes, and marker shapes. assets/docs/style.md describes
// their use.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/algorithm.h"

namespace attnscope::style {

/// 0xRRGGBB, sRGB.
using Rgb = std::uint32_t;

struct Color {
  Rgb light;
  Rgb dark;
  [[nodiscard]] constexpr Rgb in(bool dark_theme) const { return dark_theme ? dark : light; }
};

enum class Token {
  surface,  ///< background of plots, fields and pages of text
  window,
  ink,
  muted,      ///< secondary text
  grid,       ///< grid and separator lines
  reference,  ///< axes, roofs, minimum: what belongs to no algorithm
  accent,     ///< focus, links, controls
  faster,
  slower,
  same,
  error,  ///< incorrect or failed values
};
[[nodiscard]] Color color(Token token);

/// Identity of an algorithm in plots. Variants share hue and marker family, and differ in shade and shape.
struct PlotIdentity {
  PlotSlot slot = PlotSlot::star;
  int variant = 0;
  bool operator==(const PlotIdentity&) const = default;
};
inline constexpr std::size_t plot_slots = 8;
inline constexpr int slot_variants = 4;
/// Returns the registered identity. User-defined and imported algorithms get the star slot, with different variants
/// while enough are left. Thread-safe.
[[nodiscard]] PlotIdentity identity_of(std::string_view algorithm);
/// Returns the identity of the n-th category of a plot without algorithm colors; repeats after
/// plot_slots * slot_variants.
[[nodiscard]] PlotIdentity category_identity(std::size_t place);
/// At least 3:1 on the surface.
[[nodiscard]] Color color(PlotIdentity identity);

struct MarkerPoint {
  double x;  ///< right
  double y;  ///< down
};
/// Corners of a marker around the origin, for a diameter of about 2; empty for a disc of radius 1. Sizes are adjusted
/// for equal visual weight.
[[nodiscard]] std::vector<MarkerPoint> marker_outline(PlotIdentity identity);

/// Fills of the matrices Q, K, V, S, P and O; with an ink border and a letter.
[[nodiscard]] std::span<const Rgb, 6> matrix_colors();

/// Slowdown against the fastest, as a ratio.
inline constexpr std::array slowdown_limits{1.03, 1.10, 1.25, 1.50, 2.0};
inline constexpr std::size_t slowdown_bins = slowdown_limits.size() + 1;
/// Returns the bin of a slowdown (1: equal to the fastest); the last bin has no upper limit.
[[nodiscard]] std::size_t slowdown_bin(double slowdown);
[[nodiscard]] Color slowdown_color(std::size_t bin);
/// Returns the upper limit of a bin: "3%", "2×"; ">2×" for the last.
[[nodiscard]] std::string slowdown_label(std::size_t bin);

/// Continuous scales, linear between their stops; t in 0..1, clamped.
[[nodiscard]] Rgb viridis(double t);
/// From blue (better) over neutral (equal) to orange (worse).
[[nodiscard]] Rgb diverging(double t, bool dark);

/// Mixes in sRGB; `share` of b in 0..1.
[[nodiscard]] Rgb mix(Rgb a, Rgb b, double share);
/// WCAG contrast ratio, 1 to 21.
[[nodiscard]] double contrast_ratio(Rgb a, Rgb b);
/// Returns black or white, whichever has more contrast on `background`.
[[nodiscard]] Rgb readable_on(Rgb background);
/// "#e2622f"
[[nodiscard]] std::string hex(Rgb color);
/// Returns CSS custom properties of all tokens: "--surface:#ffffff;--ink:...;".
[[nodiscard]] std::string css_properties(bool dark);

}  // namespace attnscope::style
