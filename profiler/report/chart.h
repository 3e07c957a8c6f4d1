// SPDX-License-Identifier: Apache-2.0
// Charts of a report and their SVG pictures. Pictures need no script or external style. Hue and marker shape show the
// algorithm. Measured, derived and imported: solid with filled markers; modeled: thin without markers; simulated:
// dotted with hollow markers.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "profiler/metrics/point.h"
#include "profiler/style/tokens.h"

namespace attnscope::report {

/// Quantity of an axis; determines the tick labels.
enum class Quantity { number, length, bytes, nanoseconds };

struct Axis {
  std::string title;  ///< including the unit
  Quantity quantity = Quantity::number;
  bool log = false;
  bool from_zero = true;  ///< for linear y axes
  double low = 0;         ///< range that panels share; if empty, it follows from the marks
  double high = 0;
};

struct Mark {
  double x = 0;
  double y = 0;
  double low = 0;             ///< lower end of the error bar
  double high = 0;            ///< upper end; no bar if equal
  std::string read_out_text;  ///< read-out text; if empty, the point has no marker but the line passes through it
};

struct Line {
  std::string label;                                           ///< shown at the end of the line
  std::optional<style::PlotIdentity> identity = std::nullopt;  ///< empty: gray, belongs to no algorithm
  bool dashed = false;                                         ///< second run or device of an identity
  Provenance provenance = Provenance::measured;
  std::vector<Mark> marks = {};  ///< sorted by x
};

struct LineChart {
  Axis x;
  Axis y;
  std::vector<Line> lines = {};
  double height = 240;      ///< height of the plot without axes, in pixels; more if the labels need it
  double band = 0;          ///< half width of the shaded band around 1; 0 for none
  bool has_legend = false;  ///< only algorithms have labels at the line ends
};
/// Sets the same axis ranges in all charts, so that panels can be compared.
void share_ranges(std::vector<LineChart>&);

struct StripMark {
  double x = 0;    ///< ratio; positive
  double low = 0;  ///< interval; not drawn if empty
  double high = 0;
  bool hollow = false;  ///< simulated
  std::string read_out_text;
};
struct StripRow {
  std::string label;
  std::optional<style::PlotIdentity> identity = std::nullopt;  ///< empty: gray, belongs to no algorithm
  std::vector<StripMark> marks = {};
};
/// Ratios on a logarithmic axis around 1, one row per group; marks that coincide are stacked.
struct StripChart {
  std::string x_title;
  double margin = 0;  ///< half width of the shaded band; 0 for none
  std::string margin_label = {};
  std::vector<StripRow> rows = {};
};

struct MapCell {
  std::optional<double> value;
  std::string text;           ///< text in the cell: the value, or why there is none
  std::string read_out_text;  ///< read-out text; empty if nothing was collected
  bool hollow = false;        ///< simulated: dotted frame
  bool best = false;
};

struct HeatMap {
  std::vector<std::string> columns;         ///< values of Bc
  std::vector<std::string> rows;            ///< values of Br
  std::vector<std::vector<MapCell>> cells;  ///< [row][column]
  double low = 0;                           ///< lower end of the color scale
  double high = 0;
  bool less_is_better = true;  ///< bright colors are better
  bool slowdowns = false;      ///< color by bins of the ratio to `low` instead
  std::string unit_text;       ///< unit in the legend: "ms"
  int digits = 3;              ///< significant digits that distinguish `low` and `high`
};

struct Chart {
  std::string panel = {};  ///< drawn above a chart that is one of several panels: "H200"
  std::string alt;         ///< alternative text, one or two sentences
  std::variant<LineChart, HeatMap, StripChart> picture;
};

/// Values of one series.
struct LegendRow {
  Line look;  ///< without marks
  std::vector<std::string> cells;
};
/// Table below the panels, with a sample of each line.
struct Legend {
  std::string corner = {};  ///< position of the values: "N 8k"
  std::vector<std::string> columns = {};
  std::vector<LegendRow> rows = {};
};

struct Figure {
  std::string id;            ///< letters, digits and hyphens, unique in the document: "io"
  std::string title;         ///< parts separated by " · "
  std::string caption = {};  ///< key of the marks, and what is not drawn
  std::vector<Chart> panels = {};
  std::optional<LineChart> ratios = std::nullopt;  ///< ratios of later panels to the first
  Legend legend = {};
};

/// Placement of a picture: in a page with chart_style(), or in a separate file.
enum class Placement { embedded, alone };
/// A picture in a separate file contains the figure's title.
[[nodiscard]] std::string to_svg(const Figure&, Placement);
/// Returns the CSS of all pictures of a page: light, dark, and print (light).
[[nodiscard]] std::string chart_style();

}  // namespace attnscope::report
