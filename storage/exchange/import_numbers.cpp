// SPDX-License-Identifier: Apache-2.0
// Numbers of one row of an imported file.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/model/attention.h"
#include "profiler/metrics/metrics.h"
#include "profiler/units/number_format.h"
#include "storage/exchange/column_names.h"
#include "storage/exchange/import_rows.h"
#include "storage/exchange/import_spread.h"

namespace attnscope::exchange {
namespace {

class RowNumbers {
 public:
  RowNumbers(const ImportRow& row, const PointRecord& point, KernelRecord& kernel, ColumnList& columns,
             NumberRemarks& remarks)
      : row_(row), kernel_(kernel), columns_(columns), remarks_(remarks) {
    alone_.spec = point.spec;
    alone_.provenance = Provenance::imported;
  }

  void add() {
    kernel_.samples_ns = row_.samples_ns;
    for (const std::string_view name : time_columns) add_time(name);
    if (kernel_.samples_ns.empty() && !has_median() && !row_.real(metric_key::time_median_ns)) add_mean();
    for (const MetricValue& metric : row_.metrics) {
      if (!has(kernel_, metric.name)) kernel_.metrics.push_back(metric);
    }
    add_time_from_rate();
    // The table lists derived metrics after their inputs.
    for (const Metric& metric : metrics_table()) add_metric(metric);
    add_quartiles();
    add_sample_count();
    for (const auto& [name, text] : row_.fields) add_counter(name);
    kernel_.occupancy_limiter = row_.text("occupancy_limiter");
  }

 private:
  [[nodiscard]] bool has_median() const { return has(kernel_, metric_key::time_median_ns); }

  [[nodiscard]] std::optional<double> amount(std::string_view name, const Metric* metric = nullptr) const {
    return checked(row_.at(name), row_.real(name), metric);
  }

  void put(std::string_view key, double value) {
    kernel_.metrics.push_back({std::string(key), value, std::string(find_metric(key)->unit), Provenance::imported});
  }

  /// Adds a time. With a spread it is one of several, and therefore a median.
  void put_time(double time) {
    if (!kernel_.samples_ns.empty()) return;
    const bool quartiles = row_.real(metric_key::time_q1_ns) || row_.real(metric_key::time_q3_ns);
    if (!has_median() && (quartiles || stated_deviation(row_, time))) {
      put(metric_key::time_median_ns, time);
    } else {
      kernel_.samples_ns = {time};
    }
  }

  void add_time(std::string_view name) {
    const auto time = amount(name);
    if (!time) return;
    require_plausible(row_.at(name), metric_key::time_median_ns, *time);
    put_time(*time);
  }

  void add_mean() {
    if (!row_.real(time_column::mean)) return;
    add_time(time_column::mean);
    ++remarks_.mean_times;
  }

  /// Computes the time of a row that states only a FLOP rate.
  void add_time_from_rate() {
    const bool timed = !kernel_.samples_ns.empty() || has_median() || row_.real(metric_key::time_median_ns);
    const auto rate = amount(metric_key::tflops);
    if (timed || !rate || row_.find("kernel") != nullptr) return;
    if (!(*rate > 0)) fail(row_.at(metric_key::tflops), "a rate of 0 is invalid (leave the field empty)");
    const double time = pass_flops(alone_.spec.problem) / *rate / 1e3;  // Tflop/s to flop/ns
    if (!std::isfinite(time)) fail(row_.at(metric_key::tflops), make_message("{} is out of range", *rate));
    put_time(time);
    ++remarks_.times_from_rates;
  }

  void add_metric(const Metric& metric) {
    for (const std::string_view name : {metric.key, metric.counter, metric.counter_cc12}) {
      if (name.empty()) continue;
      const auto value = amount(name, &metric);
      if (!value) continue;
      const double stated = *value * (name == metric.key ? 1 : metric.scale);
      require_plausible(row_.at(name), metric.key, stated);
      alone_.kernels = {kernel_};
      if (const auto follows = evaluate(metric.key, alone_, kernel_.kernel)) {
        require_equal(row_.at(name), metric.key, stated, follows->value);
        continue;
      }
      columns_.keep(metric.key);
      put(metric.key, stated);
    }
  }

  /// Throws if a row has two different times, or a rate that does not follow from its time.
  void require_equal(const FileLocation& place, std::string_view key, double stated, double follows) {
    constexpr double rounded = 1e-3;
    if (key == metric_key::time_median_ns && std::abs(stated - follows) > rounded * follows) {
      fail(place, make_message("time {} contradicts the row's other time, {} (remove one of them)",
                               text(Nanoseconds(stated)), text(Nanoseconds(follows))));
    }
    // A rate in our exports is the median of rounds.
    if (key == metric_key::tflops && !row_.is_own()) require_equal_rate(place, stated, follows);
  }

  void require_equal_rate(const FileLocation& place, double stated, double follows) {
    constexpr double tolerance = 0.02;
    const auto agrees = [&](double rate) { return std::abs(stated - rate) <= tolerance * rate; };
    if (agrees(follows)) return;
    const AttentionProblem& problem = alone_.spec.problem;
    AttentionProblem full = problem;
    full.mask = Mask::none;
    const double full_rate = follows * pass_flops(full) / pass_flops(problem);
    const auto mean = amount(time_column::mean);
    const auto median = evaluate(metric_key::time_median_ns, alone_, kernel_.kernel);
    const double passes = problem.pass == Pass::bwd ? 2 / 2.5 : problem.pass == Pass::fwd_bwd ? 3 / 3.5 : 1;
    for (const double backward : {1.0, passes}) {
      std::size_t* convention = nullptr;
      if (agrees(follows * backward)) convention = &remarks_.backward_counted_twice;
      if (problem.mask != Mask::none && agrees(full_rate * backward)) convention = &remarks_.causal_counted_full;
      if (problem.mask == Mask::causal && agrees(full_rate * backward / 2)) convention = &remarks_.causal_counted_half;
      if (mean && median && agrees(follows * backward * median->value / *mean))
        convention = &remarks_.rates_of_the_mean;
      if (convention == nullptr) continue;
      ++*convention;
      if (backward != 1 && convention != &remarks_.backward_counted_twice) ++remarks_.backward_counted_twice;
      return;
    }
    const double steps = std::round(std::log10(stated / follows) / 3);
    const bool unit = std::isfinite(steps) && steps != 0 && agrees(follows * std::pow(1e3, steps));
    const char* cause = unit                  ? "; a unit off by 1,000 is likely"
                        : agrees(follows / 2) ? "; a multiply-add may be counted as one operation"
                        : agrees(follows * 2) ? "; the masked part or multiply-adds may be counted twice"
                                              : "";
    fail(place,
         make_message("{:.4g} TFLOP/s contradicts {:.4g} TFLOP/s, which follows from time and problem{} (correct "
                      "the problem, or ignore the column)",
                      stated, follows, cause));
  }

  /// Replaces a stated spread by the quartiles of a normal distribution.
  void add_quartiles() {
    const auto median = kernel_.metric(metric_key::time_median_ns);
    const auto q1 = kernel_.metric(metric_key::time_q1_ns);
    const auto q3 = kernel_.metric(metric_key::time_q3_ns);
    if (q1 && q3 && *q1 > *q3) fail(row_.at(metric_key::time_q1_ns), "the first quartile exceeds the third");
    if (!median || q1 || q3) return;
    const auto deviation = stated_deviation(row_, *median);
    if (!deviation) return;
    constexpr double quartile = 0.67448975;  // third quartile of the standard normal distribution
    constexpr double least = 1e-3;           // quartiles are times > 0
    put(metric_key::time_q1_ns, std::max(*median - quartile * *deviation, least * *median));
    put(metric_key::time_q3_ns, *median + quartile * *deviation);
    ++remarks_.normal_quartiles;
  }

  /// Keeps the stated number of samples, which determines what the quartiles mean for the median.
  void add_sample_count() {
    const auto count = row_.integer("samples");
    if (!kernel_.samples_ns.empty() || !has_median() || !count || *count < 1 || has(kernel_, metric_key::time_samples))
      return;
    kernel_.metrics.push_back(
        {std::string(metric_key::time_samples), static_cast<double>(*count), "1", Provenance::imported});
  }

  void add_counter(const std::string& name) {
    const Metric* metric = metric_of(name);
    const bool in_table =
        metric != nullptr && (metric->key == name || metric->counter == name || metric->counter_cc12 == name);
    const bool time = std::ranges::find(time_columns, name) != time_columns.end();
    if (in_table || time || !is_counter_name(name)) return;
    const auto value = amount(name);
    const std::string key(metric != nullptr ? metric->key : std::string_view(name));
    if (!value || has(kernel_, key)) return;
    if (metric != nullptr) columns_.keep(metric->key);
    kernel_.metrics.push_back({key, *value, std::string(metric != nullptr ? metric->unit : "1"), Provenance::imported});
  }

  const ImportRow& row_;
  KernelRecord& kernel_;
  ColumnList& columns_;
  NumberRemarks& remarks_;
  PointRecord alone_;  ///< the point with only this kernel, to evaluate derived metrics
};

}  // namespace

std::vector<Message> NumberRemarks::notes() const {
  std::vector<Message> notes;
  const auto add = [&](std::size_t rows, std::string_view what) {
    if (rows > 0) notes.push_back(make_message("{} {}: {}", grouped(rows), rows == 1 ? "row" : "rows", what));
  };
  add(times_from_rates,
      "the time follows from the stated TFLOP/s and the FLOPs of the problem (a causal mask counts as half)");
  add(mean_times, "the time is a mean");
  add(normal_quartiles,
      "quartiles follow from the stated spread (standard deviation, quantiles or range), assuming a normal "
      "distribution");
  add(causal_counted_full, "the stated TFLOP/s counts the masked part, too; TFLOP/s here does not");
  add(causal_counted_half,
      "the stated TFLOP/s counts half of all pairs; TFLOP/s here counts those that the mask shows");
  add(backward_counted_twice, "the stated TFLOP/s counts the backward pass as 2 forward passes; TFLOP/s here as 2.5");
  add(rates_of_the_mean, "the stated TFLOP/s is that of the mean time; TFLOP/s here is that of the median");
  return notes;
}

void add_numbers(const ImportRow& row, const PointRecord& point, KernelRecord& kernel, ColumnList& columns,
                 NumberRemarks& remarks) {
  RowNumbers(row, point, kernel, columns, remarks).add();
}

}  // namespace attnscope::exchange
