// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/import_spread.h"

#include <algorithm>
#include <array>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "profiler/metrics/metrics.h"
#include "storage/exchange/import_values.h"

namespace attnscope::exchange {
namespace {

/// A width in one column.
struct Width {
  std::string_view column;
  std::string_view words;   ///< in lower case, separated by spaces
  double deviations = 1;    ///< in standard deviations
  bool is_of_mean = false;  ///< it shrinks with the square root of the number of samples
  std::string_view unit = "ns";
};

constexpr std::array widths{
    Width{.column = spread_column::deviation, .words = "std stddev stdev sd sigma"},
    Width{.column = spread_column::relative_deviation, .words = "cv cov rsd noise relstd relstddev", .unit = "1"},
    Width{.column = "time_iqr_ns", .words = "iqr", .deviations = 1.349},
    Width{.column = metric_key::time_spread, .words = "spread", .deviations = 1.349, .unit = "1"},
    Width{.column = "time_mad_ns", .words = "mad", .deviations = 0.67449},
    Width{.column = "time_stderr_ns", .words = "stderr sem", .is_of_mean = true},
    Width{.column = "time_ci95_ns", .words = "ci95 ci", .deviations = 1.96, .is_of_mean = true},
    Width{.column = spread_column::rate_deviation, .words = "", .unit = "Tflop/s"},
};

constexpr double extremes = 0;

/// Two quantiles.
struct Range {
  std::string_view low;
  std::string_view low_words;
  std::string_view high;
  std::string_view high_words;
  double deviations = 1;  ///< from low to high; `extremes`: of all samples
  bool is_of_mean = false;
};

constexpr std::string_view rate_min = "tflops_min";
constexpr std::string_view rate_max = "tflops_max";

constexpr std::array ranges{
    Range{"time_p20_ns", "p20 q20", "time_p80_ns", "p80 q80", 1.6832},
    Range{"time_p10_ns", "p10 q10", "time_p90_ns", "p90 q90", 2.5631},
    Range{"time_p5_ns", "p5 p05 q5 q05", "time_p95_ns", "p95 q95", 3.2897},
    Range{"time_p1_ns", "p1 p01", "time_p99_ns", "p99 q99", 4.6527},
    Range{"time_ci95_low_ns", "ci95_low", "time_ci95_high_ns", "ci95_high", 3.92, true},
    Range{"time_min_ns", "min minimum best", "time_max_ns", "max maximum worst", extremes},
    Range{rate_min, "", rate_max, "", extremes},
};

/// Returns the expected range of normal samples in standard deviations (Blom). An unknown number of samples is taken
/// as two, which gives the widest quartiles.
double expected_extremes(double samples) {
  samples = std::max(samples, 2.0);
  return 2 * boost::math::quantile(boost::math::normal(), (samples - 0.375) / (samples + 0.25));
}

}  // namespace

std::string_view spread_unit(std::string_view column) {
  const auto* const width = std::ranges::find(widths, column, &Width::column);
  if (width != widths.end()) return width->unit;
  if (column == rate_min || column == rate_max) return "Tflop/s";
  return opposite_bound(column).empty() ? "" : "ns";
}

std::string_view spread_column_named(std::string_view word, bool relative) {
  for (const Width& width : widths) {
    if (!has_word(width.words, word)) continue;
    if (relative == (width.unit == "1")) return width.column;
    if (width.column == spread_column::deviation) return spread_column::relative_deviation;
    if (width.column == spread_column::relative_deviation) return spread_column::deviation;
    if (width.column == "time_iqr_ns") return metric_key::time_spread;
    return width.column == metric_key::time_spread ? "time_iqr_ns" : "";
  }
  for (const Range& range : ranges) {
    if (!relative && has_word(range.low_words, word)) return range.low;
    if (!relative && has_word(range.high_words, word)) return range.high;
  }
  return "";
}

bool is_relative_width(std::string_view word) {
  return std::ranges::any_of(widths,
                             [&](const Width& width) { return width.unit == "1" && has_word(width.words, word); });
}

std::string_view spread_of_rate(std::string_view column) {
  if (column == spread_column::deviation) return spread_column::rate_deviation;
  return column == "time_min_ns" ? rate_min : column == "time_max_ns" ? rate_max : "";
}

std::string_view opposite_bound(std::string_view column) {
  for (const Range& range : ranges) {
    if (column == range.low) return range.high;
    if (column == range.high) return range.low;
  }
  return "";
}

std::optional<double> stated_deviation(const ImportRow& row, double time) {
  const auto amount = [&](std::string_view name) { return checked(row.at(name), row.real(name)); };
  const double samples = std::max(1.0, amount("samples").value_or(1));
  for (const Width& width : widths) {
    const auto value = amount(width.column);
    if (!value || !(*value > 0)) continue;
    const double per_time = width.unit == "1" ? time : 1;
    const double found = *value * per_time / width.deviations * (width.is_of_mean ? std::sqrt(samples) : 1);
    if (width.unit != "Tflop/s") return found;
    if (const auto rate = amount(metric_key::tflops); rate && *rate > 0) return time * found / *rate;
  }
  for (const Range& range : ranges) {
    const auto low = amount(range.low);
    const auto high = amount(range.high);
    const bool is_rate = range.low == rate_min;
    const std::optional<double> center = is_rate ? amount(metric_key::tflops) : time;
    if (!low || !high || !center || !(*center > 0)) continue;
    constexpr double rounded = 1e-3;
    const bool outside = *center < *low * (1 - rounded) || *center > *high * (1 + rounded);
    if (*low > *high || (outside && (is_rate || range.low == "time_min_ns"))) {
      fail(row.at(range.low),
           make_message("{} to {} does not contain {} (correct the unit of one of them)", *low, *high, *center));
    }
    if (*high == *low) continue;
    const double deviations = range.deviations == extremes ? expected_extremes(samples) : range.deviations;
    return (*high - *low) / deviations * time / *center * (range.is_of_mean ? std::sqrt(samples) : 1);
  }
  return std::nullopt;
}

}  // namespace attnscope::exchange
