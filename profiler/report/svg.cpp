// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "profiler/compare/comparison_view.h"
#include "profiler/plan/text.h"
#include "profiler/units/number_format.h"

namespace attnscope::report {

namespace {

/// Returns the width of the character that starts with this byte in units of a letter; 0 for continuation bytes. CJK
/// characters are nearly twice as wide.
double columns_of(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte & 0xC0U) == 0x80U ? 0 : byte >= 0xE3U ? 1.8 : 1;
}

/// CSS rules of the colors of one theme.
std::string colors(bool dark) {
  using style::Token;
  const auto token = [dark](Token each) { return style::hex(style::color(each).in(dark)); };
  std::string rules = fmt::format(
      ".bg,.e{{fill:{0}}}.t,.h{{fill:{1}}}.u{{fill:{4}}}.a,.best{{stroke:{1}}}.g{{stroke:{2}}}.n{{fill:{2}}}.c{{color:{"
      "3}}}",
      token(Token::surface), token(Token::ink), token(Token::grid), token(Token::reference), token(Token::muted));
  for (std::size_t place = 0; place < style::plot_slots * style::slot_variants; ++place) {
    const style::PlotIdentity identity = style::category_identity(place);
    rules += fmt::format(".{}{{color:{}}}", color_class(identity), style::hex(style::color(identity).in(dark)));
  }
  for (std::size_t bin = 0; bin < style::slowdown_bins; ++bin) {
    const style::Rgb fill = style::slowdown_color(bin).in(dark);
    rules += fmt::format(".b{0}{{fill:{1}}}.b{0} text,.u{0}{{fill:{2}}}", bin, style::hex(fill),
                         style::hex(style::readable_on(fill)));
  }
  return rules;
}

/// Returns the smallest 1, 2 or 5 times a power of ten that is not below `value`.
double nice_step(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= value * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

std::string tick_label(const Axis& axis, double value) {
  if (axis.quantity == Quantity::length) return length_text(value);
  if (axis.quantity == Quantity::bytes) return text(Bytes(value));
  if (axis.quantity == Quantity::nanoseconds) return text(Nanoseconds(value));
  return axis.from_zero ? coordinate(value) : fmt::format("{:.4g}", value);
}

/// Returns brightness in [0, 1]; 1 is the best value.
double brightness(const HeatMap& map, double value) {
  if (!(map.high > map.low)) return 0.6;
  const bool log = map.low > 0;
  const double share =
      log ? std::log(value / map.low) / std::log(map.high / map.low) : (value - map.low) / (map.high - map.low);
  return map.less_is_better ? 1 - share : share;
}

void draw_cell(Svg& svg, const HeatMap& map, const MapCell& cell, double x, double y, double width, double height) {
  if (cell.read_out_text.empty()) return;
  svg.open_mark(cell.read_out_text);
  if (cell.value) {
    std::string ink;
    if (map.slowdowns) {
      const std::size_t bin = style::slowdown_bin(*cell.value / map.low);
      svg.rect(x, y, width, height, fmt::format("p b{}", bin));
      ink = fmt::format("u{}", bin);
    } else {
      const style::Rgb fill = style::viridis(brightness(map, *cell.value));
      svg.rect(x, y, width, height, "p", fmt::format(R"(fill="{}")", style::hex(fill)));
      ink = style::readable_on(fill) == 0xffffff ? "dark" : "light";
    }
    if (width_of(cell.text) <= width - 2 && height >= 12) {
      svg.text(x + width / 2, y + height / 2 + 4, cell.text, Svg::Anchor::middle, ink);
    }
    if (cell.hollow) svg.rect(x + 1.5, y + 1.5, width - 3, height - 3, "sim");
    if (cell.best) svg.rect(x + 1, y + 1, width - 2, height - 2, "best");
  } else {
    svg.rect(x, y, width, height, "n");
    svg.line(x, y + height, x + width, y, "hatch");
    if (width_of(cell.text) <= width - 2 && height >= 12)
      svg.text(x + width / 2, y + height / 2 + 4, cell.text, Svg::Anchor::middle);
  }
  svg.close();
}

/// Key of the bins: upper limits of the slowdown, and the fastest time.
void draw_bins(Svg& svg, const HeatMap& map, double y) {
  constexpr double left = plot_left;
  constexpr double width = 64;
  for (std::size_t bin = 0; bin < style::slowdown_bins; ++bin) {
    const double x = left + static_cast<double>(bin) * width;
    svg.rect(x, y - 2, width - 2, 16, fmt::format("b{}", bin));
    svg.text(x + width / 2 - 1, y + 10, style::slowdown_label(bin), Svg::Anchor::middle, fmt::format("u{}", bin));
  }
  svg.text(left + style::slowdown_bins * width + 8, y + 10,
           fmt::format("0% = {} {}", number_text(map.low, map.digits), map.unit_text), Svg::Anchor::start);
}

void draw_key(Svg& svg, const HeatMap& map, double y) {
  constexpr int steps = 24;
  constexpr double left = plot_left;
  constexpr double width = 9;
  for (int k = 0; k < steps; ++k) {
    svg.rect(left + k * width, y, width + 0.5, 10, "",
             fmt::format(R"(fill="{}")", style::hex(style::viridis((k + 0.5) / steps))));
  }
  const double dark = map.less_is_better ? map.high : map.low;
  const double bright = map.less_is_better ? map.low : map.high;
  svg.text(left - 6, y + 9, number_text(dark, map.digits), Svg::Anchor::end);
  svg.text(left + steps * width + 6, y + 9, number_text(bright, map.digits) + " " + map.unit_text, Svg::Anchor::start);
}

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

}  // namespace

std::string color_class(const std::optional<style::PlotIdentity>& identity) {
  return identity ? fmt::format("c{}{}", static_cast<int>(identity->slot), identity->variant) : "c";
}

std::string coordinate(double value) {
  const double rounded = std::round(value * 100) / 100;
  return fmt::format("{}", rounded == 0 ? 0.0 : rounded);
}

void Svg::rect(double x, double y, double width, double height, std::string_view classes, std::string_view more) {
  elements_ += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" class="{}"{}{}/>)", coordinate(x),
                           coordinate(y), coordinate(std::max(width, 0.0)), coordinate(std::max(height, 0.0)), classes,
                           more.empty() ? "" : " ", more);
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view classes) {
  elements_ += fmt::format(R"(<path d="M{} {}L{} {}" class="{}"/>)", coordinate(x1), coordinate(y1), coordinate(x2),
                           coordinate(y2), classes);
}

void Svg::text(double x, double y, std::string_view words, Anchor anchor, std::string_view classes) {
  constexpr std::array<std::string_view, 3> names{"start", "middle", "end"};
  elements_ += fmt::format(R"(<text x="{}" y="{}" class="{}" text-anchor="{}">{}</text>)", coordinate(x), coordinate(y),
                           classes, names.at(static_cast<std::size_t>(anchor)), markup(words));
}

void Svg::title(double x, const std::string& words) {
  constexpr double letter = 7.8;
  const double room = picture_width - x - 4;
  const bool fits = fit_text(words, room, letter) == words;
  text(x, 18, fits ? words : fit_text(words, room), Anchor::start, fits ? "h" : "h hs");
}

void Svg::vertical_text(double x, double y, std::string_view words) {
  elements_ +=
      fmt::format(R"x(<text transform="translate({} {}) rotate(-90)" class="t" text-anchor="middle">{}</text>)x",
                  coordinate(x), coordinate(y), markup(words));
}

void Svg::open_mark(std::string_view read_out_text) {
  elements_ += fmt::format(R"(<g class="m"><title>{}</title>)", markup(read_out_text));
}

std::string Svg::finish(const std::string& title, const std::string& alt, const std::string& id, double height,
                        Placement placed) const {
  std::string picture = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" {2}role="img" aria-labelledby="{3}-t {3}-d" id="{3}">)",
      coordinate(picture_width), coordinate(height),
      placed == Placement::alone
          ? fmt::format(R"(width="{}" height="{}" )", coordinate(picture_width), coordinate(height))
          : std::string(),
      id);
  picture += fmt::format(R"(<title id="{0}-t">{1}</title><desc id="{0}-d">{2}</desc>)", id, markup(title), markup(alt));
  if (placed == Placement::alone) picture += "<style>" + chart_style() + "</style>";
  picture += fmt::format(R"(<rect width="{}" height="{}" class="bg"/>)", coordinate(picture_width), coordinate(height));
  return picture + elements_ + "</svg>";
}

std::string chart_style() {
  return "svg text{font:12px system-ui,'Segoe UI','DejaVu Sans',sans-serif;stroke:none}svg .h{"
         "font-weight:600}svg "
         ".hs{font-size:11px}.a,.g{fill:none;stroke-width:1}.l{stroke:currentColor;fill:none}.s{stroke-width:2}"
         ".i,.b{stroke-width:1}.d{stroke-width:2;stroke-dasharray:.1 4;stroke-linecap:round}.q{stroke-dasharray:7 4}"
         ".f{fill:currentColor}.f,.e{stroke:currentColor;stroke-width:1.5}.lead{stroke:currentColor;fill:none;"
         "stroke-width:.6;stroke-opacity:.6}.best{fill:none;stroke-width:2.5}"
         ".hatch{stroke:#888;stroke-width:1;fill:none}.sim{fill:none;stroke:#fff;stroke-width:1.5;stroke-dasharray:2 "
         "2}.p{stroke-width:.75;stroke:#fff}.band{fill:#888;fill-opacity:.18}.dark{fill:#fff}.light{fill:#000}.m:hover "
         ".s,.m.on{stroke-width:3}" +
         colors(false) + "@media screen and (prefers-color-scheme:dark){" + colors(true) + "}";
}

Scale::Scale(const Axis& axis, double least, double most, double from, double to)
    : log_(axis.log), low_(least), high_(most), from_(from), to_(to) {
  if (log_) {
    if (high_ <= low_) high_ = low_ * 2, low_ = low_ / 2;
    if (axis.quantity == Quantity::length) {
      low_ /= 1.15;
      high_ *= 1.15;
    } else {
      const double margin = std::pow(high_ / low_, 0.06);
      low_ /= margin;
      high_ *= margin;
    }
    make_log_ticks(axis);
  } else {
    if (high_ <= low_) high_ = low_ + 1;
    const double margin = (high_ - low_) * 0.06;
    high_ += margin;
    if (!axis.from_zero) low_ -= margin;
    make_linear_ticks(axis);
  }
}

double Scale::at(double value) const {
  const double share = log_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
  return from_ + share * (to_ - from_);
}

void Scale::add_tick(const Axis& axis, double value) {
  if (value < low_ * (1 - 1e-9) || value > high_ * (1 + 1e-9)) return;
  ticks_.push_back({value, tick_label(axis, value)});
}

void Scale::make_linear_ticks(const Axis& axis) {
  const double step = nice_step((high_ - low_) / 6);
  for (double k = std::ceil(low_ / step); k * step <= high_; ++k) add_tick(axis, k * step);
}

void Scale::make_log_ticks(const Axis& axis) {
  if (axis.quantity == Quantity::length) {
    const double first = std::ceil(std::log2(low_));
    const double last = std::floor(std::log2(high_));
    const double step = std::max(1.0, std::ceil((last - first + 1) / 10));
    for (double k = first; k <= last; k += step) add_tick(axis, std::exp2(k));
  }
  if (ticks_.size() >= 2) return;
  ticks_.clear();
  const double decades = std::log10(high_ / low_);
  if (decades < 1) return make_linear_ticks(axis);  // less than a decade may contain one or no tick at 1, 2 or 5
  const double step = std::max(1.0, std::ceil(decades / 8));
  for (double k = std::floor(std::log10(low_)); k <= std::log10(high_); k += step) {
    const double power = std::pow(10.0, k);
    add_tick(axis, power);
    if (decades < 3.2) add_tick(axis, 2 * power);
    if (decades < 3.2) add_tick(axis, 5 * power);
  }
}

double width_of(std::string_view words) {
  double width = 0;
  for (const char c : words) {
    const double columns = columns_of(c);
    if (columns > 0)
      width += std::string_view("mwMW%@").find(c) == std::string_view::npos ? letter_width * columns : 11;
  }
  return width;
}

std::string fit_text(const std::string& words, double width, double letter) {
  const double most = std::floor(std::max(1.0, width / letter));
  double letters = 0;
  std::size_t cut = 0;  // end of the last letter that leaves space for the ellipsis
  for (std::size_t k = 0; k < words.size(); ++k) {
    const double columns = columns_of(words[k]);
    if (columns == 0) continue;
    if (letters <= most - 1) cut = k;
    letters += columns;
    if (letters > most) return words.substr(0, cut) + "…";
  }
  return words;
}

double draw(Svg& svg, const HeatMap& map, double top) {
  constexpr double left = plot_left;
  const double columns = std::max<double>(1, static_cast<double>(map.columns.size()));
  const double rows = std::max<double>(1, static_cast<double>(map.rows.size()));
  const double width = std::min(80.0, (picture_width - left - 10) / columns);
  const double height = std::clamp(300 / rows, 16.0, 26.0);
  for (std::size_t row = 0; row < map.cells.size(); ++row) {
    // Smallest value at the bottom, as on an axis.
    const double y = top + (rows - 1 - static_cast<double>(row)) * height;
    svg.text(left - 6, y + height / 2 + 4, map.rows[row], Svg::Anchor::end);
    for (std::size_t column = 0; column < map.cells[row].size(); ++column) {
      draw_cell(svg, map, map.cells[row][column], left + static_cast<double>(column) * width, y, width, height);
    }
  }
  const double bottom = top + rows * height;
  for (std::size_t column = 0; column < map.columns.size(); ++column) {
    svg.text(left + (static_cast<double>(column) + 0.5) * width, bottom + 15, map.columns[column], Svg::Anchor::middle);
  }
  svg.text(left + columns * width / 2, bottom + 32, "Bc", Svg::Anchor::middle);
  svg.vertical_text(14, top + rows * height / 2, "Br");
  if (map.slowdowns) {
    draw_bins(svg, map, bottom + 46);
  } else if (map.high > map.low) {
    draw_key(svg, map, bottom + 46);
  }
  return bottom + 66;
}

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
  constexpr double right = picture_width - 16;
  constexpr double widest_label = 240;
  const double lane_size = chart.rows.size() > many_rows ? low_lane_height : lane_height;
  const double end = end_of(chart);
  top += 18;
  double widest = 60;
  for (const StripRow& row : chart.rows) widest = std::max(widest, width_of(row.label) + 14);
  const double left = std::min(widest, widest_label);
  const auto at = [&](double ratio) {
    return (left + right) / 2 + std::log(ratio) / std::log(end) * (right - left) / 2;
  };
  // Height of each mark, by row.
  std::vector<std::vector<double>> heights;
  std::vector<double> middles;
  double bottom = top;
  for (const StripRow& row : chart.rows) {
    std::vector<double> x;
    x.reserve(row.marks.size());
    for (const StripMark& mark : row.marks) x.push_back(at(mark.x));
    const std::vector<int> lanes = analysis::strip_lanes(x, dot_spacing);
    int most = 0;
    for (const int lane : lanes) most = std::max(most, std::abs(lane));
    const double height = std::max(least_row_height, lane_size * (2 * most + 1) + 8);
    middles.push_back(bottom + height / 2);
    std::vector<double>& of_row = heights.emplace_back();
    for (const int lane : lanes) of_row.push_back(middles.back() + lane_size * lane);
    bottom += height;
  }
  if (chart.margin > 0) {
    const double low = at(1 / (1 + chart.margin));
    const double high = at(1 + chart.margin);
    svg.rect(low, top, high - low, bottom - top, "band");
    svg.text((low + high) / 2, top - 6, chart.margin_label, Svg::Anchor::middle);
  }
  for (const double tick : ratio_ticks(end)) {
    svg.line(at(tick), top, at(tick), bottom, tick == 1 ? "a" : "g");
    svg.text(at(tick), bottom + 16, fmt::format("{:.6g}", tick), Svg::Anchor::middle);
  }
  svg.line(left, bottom, right, bottom, "a");
  svg.text((left + right) / 2, bottom + 33, chart.x_title, Svg::Anchor::middle);
  for (std::size_t i = 0; i < chart.rows.size(); ++i) {
    const StripRow& row = chart.rows[i];
    const std::string color = color_class(row.identity);
    svg.text(left - 8, middles[i] + 4, fit_text(row.label, left - 10), Svg::Anchor::end);
    // Intervals are behind all dots.
    for (std::size_t k = 0; k < row.marks.size(); ++k) {
      const StripMark& mark = row.marks[k];
      if (mark.low < mark.high) svg.line(at(mark.low), heights[i][k], at(mark.high), heights[i][k], "l b " + color);
    }
    for (std::size_t k = 0; k < row.marks.size(); ++k) {
      const StripMark& mark = row.marks[k];
      svg.open_mark(mark.read_out_text);
      svg.raw(marker(at(mark.x), heights[i][k], row.identity.value_or(style::PlotIdentity{}),
                     (mark.hollow ? "e " : "f ") + color));
      svg.close();
    }
  }
  return bottom + 40;
}

}  // namespace attnscope::report
