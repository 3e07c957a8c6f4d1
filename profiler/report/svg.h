// SPDX-License-Identifier: Apache-2.0
// What the pictures of charts are drawn with. Internal to profiler/report.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/report/chart.h"

namespace attnscope::report {

inline constexpr double picture_width = 760;
inline constexpr int palette_size = 2 * palette_hues;

/// A picture in the making. Classes are those of chart_style().
class Svg {
 public:
  void rect(double x, double y, double width, double height, std::string_view classes, std::string_view more = {});
  void line(double x1, double y1, double x2, double y2, std::string_view classes);
  enum class Anchor { start, middle, end };
  void text(double x, double y, std::string_view words, Anchor, std::string_view classes = "t");
  /// The chart's title, in two lines where one is too short for it; what two have no room for has the caption.
  void title(double x, const std::string& words);
  /// Reads from below to above.
  void upright_text(double x, double y, std::string_view words);
  /// Elements as they are; what people wrote has to be escaped.
  void raw(std::string_view elements) { elements_ += elements; }
  /// What follows, until close(), is one mark: it has a read-out, which is its title, and can be reached.
  void open_mark(std::string_view said);
  void close() { elements_ += "</g>"; }

  [[nodiscard]] std::string finish(const Chart&, const std::string& id, double height, Placed) const;

 private:
  std::string elements_;
};

/// Where the values of an axis lie.
class Scale {
 public:
  Scale() = default;
  /// From `from` to `to` pixels. Values of a logarithmic axis are positive.
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

/// A coordinate of a picture: at most two decimals, never "-0".
[[nodiscard]] std::string coordinate(double value);
/// Words that fit into so many pixels: cut, with an ellipsis, where they are longer.
[[nodiscard]] std::string fitted(const std::string& words, double width, double letter = 6.3);
/// Pixels that words take, about: no less than they do.
[[nodiscard]] double width_of(std::string_view words);

std::string draw(const Chart&, const LineChart&, const std::string& id, Placed);
std::string draw(const Chart&, const HeatMap&, const std::string& id, Placed);

}  // namespace attnscope::report
