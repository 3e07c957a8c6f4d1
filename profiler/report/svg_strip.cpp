// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "profiler/compare/ratio_strip.h"
#include "profiler/report/svg.h"

namespace attnscope::report {
namespace {

constexpr double dot_spacing = 9;  ///< distance below which dots of one lane overlap
constexpr double lane_height = 5.5;
constexpr double low_lane_height = 3.5;  ///< with many rows
constexpr std::size_t many_rows = 10;
constexpr double least_row_height = 20;

/// Returns the largest factor by which a mark or its interval differs from 1, with some room.
double end_of(const StripChart& chart) {
  double end = std::log1p(1.6 * chart.margin);
  for (const StripRow& row : chart.rows) {
    for (const StripMark& mark : row.marks) {
      end = std::max(end, std::abs(std::log(mark.x)));
      if (mark.low < mark.high) end = std::max({end, std::abs(std::log(mark.low)), std::abs(std::log(mark.high))});
    }
  }
  return std::exp(1.08 * std::max(end, 0.002));
}

class StripPainter {
 public:
  StripPainter(const StripChart& chart, double top)
      : chart_(chart),
        lane_(chart.rows.size() > many_rows ? low_lane_height : lane_height),
        end_(end_of(chart)),
        top_(top + 18) {
    double widest = 60;
    for (const StripRow& row : chart.rows) widest = std::max(widest, width_of(row.label) + 14);
    left_ = std::min(widest, widest_label);
    double y = top_;
    for (const StripRow& row : chart.rows) {
      std::vector<double> x;
      x.reserve(row.marks.size());
      for (const StripMark& mark : row.marks) x.push_back(at(mark.x));
      lanes_.push_back(analysis::strip_lanes(x, dot_spacing));
      int most = 0;
      for (const int lane : lanes_.back()) most = std::max(most, std::abs(lane));
      const double height = std::max(least_row_height, lane_ * (2 * most + 1) + 8);
      middle_.push_back(y + height / 2);
      y += height;
    }
    bottom_ = y;
  }

  double draw_on(Svg& svg) const {
    if (chart_.margin > 0) {
      const double low = at(1 / (1 + chart_.margin));
      const double high = at(1 + chart_.margin);
      svg.rect(low, top_, high - low, bottom_ - top_, "band");
      svg.text((low + high) / 2, top_ - 6, chart_.margin_label, Svg::Anchor::middle);
    }
    for (const double tick : ratio_ticks(end_)) {
      svg.line(at(tick), top_, at(tick), bottom_, tick == 1 ? "a" : "g");
      svg.text(at(tick), bottom_ + 16, fmt::format("{:.6g}", tick), Svg::Anchor::middle);
    }
    svg.line(left_, bottom_, right, bottom_, "a");
    svg.text((left_ + right) / 2, bottom_ + 33, chart_.x_title, Svg::Anchor::middle);
    for (std::size_t i = 0; i < chart_.rows.size(); ++i) draw_row(svg, i);
    return bottom_ + 40;
  }

 private:
  static constexpr double right = picture_width - 16;
  static constexpr double widest_label = 240;

  [[nodiscard]] double at(double ratio) const {
    return (left_ + right) / 2 + std::log(ratio) / std::log(end_) * (right - left_) / 2;
  }

  void draw_row(Svg& svg, std::size_t i) const {
    const StripRow& row = chart_.rows[i];
    const std::string color = color_class(row.identity);
    svg.text(left_ - 8, middle_[i] + 4, fit_text(row.label, left_ - 10), Svg::Anchor::end);
    // Intervals are behind all dots.
    for (std::size_t k = 0; k < row.marks.size(); ++k) {
      const StripMark& mark = row.marks[k];
      const double y = middle_[i] + lane_ * lanes_[i][k];
      if (mark.low < mark.high) svg.line(at(mark.low), y, at(mark.high), y, "l b " + color);
    }
    for (std::size_t k = 0; k < row.marks.size(); ++k) {
      const StripMark& mark = row.marks[k];
      svg.open_mark(mark.read_out_text);
      svg.raw(marker(at(mark.x), middle_[i] + lane_ * lanes_[i][k], row.identity.value_or(style::PlotIdentity{}),
                     (mark.hollow ? "e " : "f ") + color));
      svg.close();
    }
  }

  const StripChart& chart_;
  double lane_;
  double end_;
  double top_;
  double left_ = 0;
  double bottom_ = 0;
  std::vector<std::vector<int>> lanes_;
  std::vector<double> middle_;
};

}  // namespace

std::vector<double> ratio_ticks(double end) {
  constexpr int most_ticks = 9;
  std::vector<double> ticks{1};
  if (end > 2) {
    for (double power = 1; power <= end; power *= 10) {
      for (const double factor : {2.0, 5.0, 10.0}) {
        if (end > 100 && factor < 10) continue;
        if (factor * power > end) continue;
        ticks.push_back(factor * power);
        ticks.push_back(1 / (factor * power));
      }
    }
    return ticks;
  }
  constexpr std::array steps{0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.25};
  const auto fits = [&](double step) { return (end - 1 / end) / step < most_ticks; };
  const auto found = std::ranges::find_if(steps, fits);
  const double step = found == steps.end() ? steps.back() : *found;
  for (int k = 1; 1 + k * step <= end; ++k) ticks.push_back(1 + k * step);
  for (int k = 1; 1 - k * step >= 1 / end; ++k) ticks.push_back(1 - k * step);
  return ticks;
}

double draw(Svg& svg, const StripChart& chart, double top) {
  return StripPainter(chart, top).draw_on(svg);
}

}  // namespace attnscope::report
