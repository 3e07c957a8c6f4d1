// SPDX-License-Identifier: Apache-2.0
// SVG primitives of charts. Internal to profiler/report.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/report/chart.h"

namespace attnscope::report {

inline constexpr double picture_width = 760;
inline constexpr double letter_width = 6.9;  ///< of a typical letter of chart_style()'s font
inline constexpr double plot_left = 78;

/// An SVG under construction. CSS classes are those of chart_style().
class Svg {
 public:
  void rect(double x, double y, double width, double height, std::string_view classes, std::string_view more = {});
  void line(double x1, double y1, double x2, double y2, std::string_view classes);
  enum class Anchor { start, middle, end };
  void text(double x, double y, std::string_view words, Anchor, std::string_view classes = "t");
  /// Draws the chart's title, smaller and truncated if too long; the caption has the full title.
  void title(double x, const std::string& words);
  /// Text rotated by 90°, from bottom to top.
  void vertical_text(double x, double y, std::string_view words);
  /// Appends raw elements; user text must be escaped.
  void raw(std::string_view elements) { elements_ += elements; }
  /// Starts a marker, until close(): its read-out is the title, and it can be focused.
  void open_mark(std::string_view read_out_text);
  void close() { elements_ += "</g>"; }

  /// `id`: prefix for element IDs.
  [[nodiscard]] std::string finish(const std::string& title, const std::string& alt, const std::string& id,
                                   double height, Placement) const;

 private:
  std::string elements_;
};

/// Maps axis values to pixels.
class Scale {
 public:
  Scale() = default;
  /// Maps [least, most] to the pixels [from, to]. Values of a logarithmic axis must be positive.
  Scale(const Axis&, double least, double most, double from, double to);
  [[nodiscard]] double at(double value) const;
  struct Tick {
    double at = 0;
    std::string label;
  };
  [[nodiscard]] const std::vector<Tick>& ticks() const { return ticks_; }

 private:
  void make_linear_ticks(const Axis&);
  void make_log_ticks(const Axis&);
  void add_tick(const Axis&, double value);

  bool log_ = false;
  double low_ = 0;
  double high_ = 1;
  double from_ = 0;
  double to_ = 1;
  std::vector<Tick> ticks_;
};

/// Formats a coordinate with at most two decimals; never "-0".
[[nodiscard]] std::string coordinate(double value);
/// Truncates text to a width in pixels, with an ellipsis.
[[nodiscard]] std::string fit_text(const std::string& words, double width, double letter = letter_width);
/// Returns an upper estimate of the text's width in pixels.
[[nodiscard]] double width_of(std::string_view words);

/// CSS class that sets `color`; empty identity: the reference gray.
[[nodiscard]] std::string color_class(const std::optional<style::PlotIdentity>& identity);
/// Returns a marker; `classes` has color_class().
[[nodiscard]] std::string marker(double x, double y, style::PlotIdentity identity, std::string_view classes);
/// Returns ticks for ratios within [1 / end, end].
[[nodiscard]] std::vector<double> ratio_ticks(double end);

/// Place of a line chart: the area of its axes, and the width for labels to the right of it.
struct PlotBox {
  double left = plot_left;
  double right = picture_width;
  double top = 0;
  double bottom = 0;
  double room = 0;     ///< 0: no labels
  bool y_axis = true;  ///< labels of the y axis
};
void draw_lines(Svg&, const LineChart&, const PlotBox&);
/// Returns the width of the labels at the line ends.
[[nodiscard]] double label_room(const LineChart&);
/// Draws a short piece of a line with its marker.
void draw_sample(Svg&, const Line&, double x, double y);

/// Draw a picture below `top` and return the y of its lower end.
double draw(Svg&, const LineChart&, double top);
double draw(Svg&, const HeatMap&, double top);
double draw(Svg&, const StripChart&, double top);

}  // namespace attnscope::report
