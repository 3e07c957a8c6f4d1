// SPDX-License-Identifier: Apache-2.0
// What charts of a report are made of, and their pictures. A picture is an SVG that needs neither a script nor a style
// from elsewhere; where numbers come from is told apart without colour: measured and derived solid with filled marks,
// modelled thin and dashed without marks, simulated dotted with hollow marks, imported dash-dotted.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "profiler/metrics/point.h"

namespace attnscope::report {

/// What an axis counts: how its ticks are labelled.
enum class Quantity { number, length, bytes, nanoseconds };

struct Axis {
  std::string title;  ///< with its unit
  Quantity quantity = Quantity::number;
  bool log = false;
  bool from_zero = true;  ///< of one that is not logarithmic and stands upright
};

struct Mark {
  double x = 0;
  double y = 0;
  double low = 0;    ///< a bar from here
  double high = 0;   ///< to there, where they differ
  std::string said;  ///< the read-out; marks without one are not drawn, lines go on through them
};

/// Hues of the palette, of which each comes in two shades, with marks of other shapes.
inline constexpr int palette_hues = 6;
/// Of the palette: what belongs together has one hue, an older run of it the other shade.
[[nodiscard]] constexpr int palette_color(std::size_t hue, bool older) {
  return static_cast<int>(hue % palette_hues) + (older ? palette_hues : 0);
}

struct Line {
  std::string label;  ///< at its end
  int color = 0;      ///< of the palette
  Provenance provenance = Provenance::measured;
  std::vector<Mark> marks;  ///< by x
};

struct LineChart {
  Axis x;
  Axis y;
  std::vector<Line> lines;
};

struct MapCell {
  std::optional<double> value;
  std::string text;     ///< printed in it: a number, or in a word why there is none
  std::string said;     ///< the read-out; empty: nothing was collected here
  bool hollow = false;  ///< simulated: a dotted frame
  bool best = false;    ///< outlined
};

struct HeatMap {
  std::string x_title;
  std::string y_title;
  std::vector<std::string> columns;
  std::vector<std::string> rows;
  std::vector<std::vector<MapCell>> cells;  ///< [row][column]
  double low = 0;                           ///< where colours begin
  double high = 0;                          ///< and end
  bool less_is_better = true;               ///< bright is better
  std::string unit_said;                    ///< of the key: "ms"
  int digits = 3;                           ///< as many as tell `low` and `high` apart
};

struct Chart {
  std::string title;  ///< words between " · "
  std::string alt;    ///< what the picture shows, in a sentence or two
  std::variant<LineChart, HeatMap> picture;
};

/// Where a picture goes: into a page whose style has chart_style(), or into a file of its own.
enum class Placed { in_page, alone };
/// `id` names its parts: letters, digits and hyphens.
[[nodiscard]] std::string to_svg(const Chart&, const std::string& id, Placed);
/// Rules for all pictures of a page: light, dark, and print, which is light.
[[nodiscard]] std::string chart_style();

}  // namespace attnscope::report
