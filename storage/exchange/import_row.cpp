// SPDX-License-Identifier: Apache-2.0
// Texts of one record as fields of the program, and their numbers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <sstream>

#include "kernels/model/attention.h"
#include "profiler/plan/text.h"
#include "profiler/units/number_format.h"
#include "storage/exchange/column_names.h"
#include "storage/exchange/import_rows.h"

namespace attnscope::exchange {

const std::string* ImportRow::find(std::string_view name) const {
  const auto found = fields.find(name);
  return found == fields.end() ? nullptr : &found->second;
}

std::string ImportRow::text(std::string_view name) const {
  const std::string* field = find(name);
  return field != nullptr ? *field : std::string();
}

void ImportRow::set(const ColumnPlan& plan, std::size_t column, const std::string& text) {
  const ColumnUse& use = plan.uses[column];
  const std::string& name = plan.names[column];
  switch (use.kind) {
    case ColumnUse::Kind::read:
      if (use.is_number) return set_number(use.column, text);
      if (!is_missing(text)) fields[use.column.name] = text;
      return;
    case ColumnUse::Kind::unknown:
      unknown[name] = text;
      return;
    case ColumnUse::Kind::ignored:
      ignored[name] = text;
      return;
    case ColumnUse::Kind::algorithm:
      algorithm_suffix += fmt::format(" {}={}", name, text);
      return;
    case ColumnUse::Kind::skipped:
      return;
  }
}

void ImportRow::set_number(const ScaledColumn& ours, const std::string& text) {
  if (is_missing(text)) return;
  const FileLocation where = at(ours.name);
  const auto cell = parse_cell(text);
  const std::string_view base = base_of(ours.name);
  if (!cell) {
    if (spread_in(ours.name) != nullptr && lower_case(text).starts_with("inf")) return;  // deviation of one sample
    const bool failed = parse_disposition(normalized_value("disposition", text)).ok();
    const bool measured = base == "ns" || ours.name == metric_key::tflops;
    fields[failed && measured ? "disposition" : ours.name] = text;
    return;
  }
  if (ours.unit_in_cells && !cell->unit) {
    fail(where, make_message("'{}' has no unit (name it with --map '{}=time_ms')", text, column(ours.name)));
  }
  const double scale = cell->unit ? scale_to(base, cell->unit_text, where) : ours.scale;
  if (base == "1" && ours.of_time && ours.unit.empty() && !cell->unit && cell->values.front() > 1) {
    fail(where, make_message("'{}' is a fraction above 1 (if it is in percent, give --map '{}=stddev_pct')", text,
                             column(ours.name)));
  }
  std::vector<double> values = cell->values;
  for (double& value : values) value *= scale;
  const bool samples = values.size() > 1 && ours.name == time_column::time;
  const bool plain = scale == 1 && number(text).has_value();
  fields[samples ? std::string(round_column::samples) : ours.name] =
      plain ? text : fmt::format("{}", fmt::join(values, " "));
  if (cell->deviation && base == "ns") {
    fields.try_emplace(fmt::format("{}time_stddev_ns", cell->relative ? relative_spread : ""),
                       fmt::format("{}", *cell->deviation * (cell->relative ? 1 : scale)));
  }
}

std::vector<ImportRow> rows_of(const ColumnPlan& plan, const FileLocation& place, std::span<const std::string> texts) {
  std::vector<ImportRow> rows;
  rows.reserve(plan.groups.size());
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    const ColumnGroup& group = plan.groups[g];
    ImportRow& row = rows.emplace_back(ImportRow{.place = place, .file_columns = &group.file_columns});
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const bool here = plan.uses[i].group == 0 || plan.uses[i].group == g + 1;
      if (here && !texts[i].empty()) row.set(plan, i, texts[i]);
    }
    if (!group.provider.empty()) row.set_text(field_name::algorithm, group.provider);
    if (!group.pass.empty()) row.set_text("pass", group.pass);
    if (!group.dtype.empty()) row.set_text("dtype", group.dtype);
  }
  return rows;
}

bool ImportRow::is_own() const {
  return find(long_column::run_uid) != nullptr || find(long_column::plan_index) != nullptr;
}

std::optional<double> ImportRow::real(std::string_view name) const {
  const std::string* field = find(name);
  if (field == nullptr) return std::nullopt;
  const auto value = number(*field);
  if (!value) fail(at(name), make_message("'{}' is not a number", *field));
  return value;
}

std::optional<std::int64_t> ImportRow::integer(std::string_view name) const {
  const auto value = real(name);
  if (!value) return std::nullopt;
  constexpr double largest = 1e15;
  if (*value != std::trunc(*value) || std::abs(*value) > largest) {
    fail(at(name), make_message("'{}' is not an integer", *find(name)));
  }
  return static_cast<std::int64_t>(*value);
}

std::optional<bool> ImportRow::flag(std::string_view name) const {
  const std::string* field = find(name);
  if (field == nullptr) return std::nullopt;
  if (const auto flag = parse_flag(*field)) return flag;
  fail(at(name), make_message("'{}' is neither true nor false", *field));
}

void ImportRow::read_samples() {
  const auto field = fields.find(round_column::samples);
  if (field == fields.end()) return;
  const FileLocation where = at(round_column::samples);
  std::istringstream words(field->second);
  for (std::string word; words >> word;) {
    const auto time = checked(where, number(word));
    if (!time) fail(where, "a sample is not a number");
    require_plausible(where, metric_key::time_median_ns, *time);
    samples_ns.push_back(*time);
  }
  const auto count = integer("samples");
  if (count && *count != static_cast<std::int64_t>(samples_ns.size())) {
    fail(where,
         make_message("{} samples found, but column 'samples' has {}", grouped(samples_ns.size()), grouped(*count)));
  }
  fields.erase(field);
}

std::string_view ImportRow::column(std::string_view name) const {
  if (file_columns == nullptr) return name;
  const auto theirs = file_columns->find(name);
  return theirs == file_columns->end() ? name : theirs->second;
}

namespace {

constexpr std::string_view time_from_rate =
    "the time follows from the stated TFLOP/s and the FLOPs of the problem (a causal mask counts as half)";
constexpr std::string_view mean_time = "the time is a mean";
constexpr std::string_view normal_quartiles =
    "quartiles follow from the stated spread (standard deviation, quantiles or range), assuming a normal distribution";
constexpr std::string_view causal_counted_full =
    "the stated TFLOP/s counts the masked part, too; TFLOP/s here does not";
constexpr std::string_view rate_of_the_mean =
    "the stated TFLOP/s is that of the mean time; TFLOP/s here is that of the median";

/// Returns the expected range of normal samples in standard deviations (Blom). An unknown number of samples is taken
/// as two, which gives the widest quartiles.
double expected_extremes(double samples) {
  samples = std::max(samples, 2.0);
  return 2 * boost::math::quantile(boost::math::normal(), (samples - 0.375) / (samples + 0.25));
}

/// Returns the standard deviation of the row's times, each of about `time`, assuming a normal distribution; nullopt if
/// the row states no spread besides quartiles. Throws ImportError if the time is not between minimum and maximum.
std::optional<double> stated_deviation(const ImportRow& row, double time) {
  const double samples = std::max(1.0, row.amount("samples").value_or(1));
  for (const std::string_view form : {std::string_view(), relative_spread, rate_spread}) {
    const std::optional<double> center = form == relative_spread ? 1
                                         : form == rate_spread   ? row.amount(metric_key::tflops)
                                                                 : time;
    if (!center || !(*center > 0)) continue;
    for (const Statistic& each : statistics()) {
      const std::string column = std::string(form) + std::string(each.column);
      auto width = each.deviations != 0 ? row.amount(column) : std::nullopt;
      if (!width) continue;
      double deviations = each.deviations;
      if (!each.opposite.empty()) {
        const auto high = row.amount(std::string(form) + std::string(each.opposite));
        if (!high) continue;
        const bool within = *center >= *width * 0.999 && *center <= *high * 1.001;
        if (*width > *high || (!within && each.deviations == extremes)) {
          fail(row.at(column),
               make_message("{} to {} does not contain {} (correct the unit of one of them)", *width, *high, *center));
        }
        width = *high - *width;
        if (deviations == extremes) deviations = expected_extremes(samples);
      }
      if (*width > 0) return *width / deviations * time / *center * (each.is_of_mean ? std::sqrt(samples) : 1);
    }
  }
  return std::nullopt;
}

class RowNumbers {
 public:
  RowNumbers(const ImportRow& row, const PointSpec& spec, KernelRecord& kernel, NumberRemarks& remarks)
      : row_(row), kernel_(kernel), remarks_(remarks) {
    alone_.spec = spec;
    alone_.provenance = Provenance::imported;
  }

  void add() {
    kernel_.samples_ns = row_.samples_ns;
    for (const std::string_view name : time_columns) add_time(name);
    const bool timed = has_time() || row_.real(metric_key::time_median_ns);
    if (!timed && row_.real(time_column::mean)) {
      add_time(time_column::mean);
      ++remarks_[mean_time];
    }
    for (const MetricValue& metric : row_.metrics) {
      if (!kernel_.metric(metric.name)) kernel_.metrics.push_back(metric);
    }
    add_time_from_rate();
    // The table lists derived metrics after their inputs.
    for (const Metric& metric : metrics_table()) add_metric(metric);
    add_quartiles();
    // The stated number of samples determines what the quartiles mean for the median.
    const auto count = row_.integer("samples");
    if (kernel_.samples_ns.empty() && has_time() && count && *count >= 1 && !kernel_.metric(metric_key::time_samples))
      kernel_.metrics.push_back(
          {std::string(metric_key::time_samples), static_cast<double>(*count), "1", Provenance::imported});
    for (const auto& [name, text] : row_.fields) add_counter(name);
    kernel_.occupancy_limiter = row_.text("occupancy_limiter");
  }

 private:
  [[nodiscard]] bool has_time() const {
    return !kernel_.samples_ns.empty() || kernel_.metric(metric_key::time_median_ns);
  }
  void put(std::string_view key, double value) {
    kernel_.metrics.push_back({std::string(key), value, std::string(find_metric(key)->unit), Provenance::imported});
  }

  /// Adds a time. With a spread it is one of several, and therefore a median.
  void put_time(double time) {
    if (!kernel_.samples_ns.empty()) return;
    const bool quartiles = row_.real(metric_key::time_q1_ns) || row_.real(metric_key::time_q3_ns);
    if (!has_time() && (quartiles || stated_deviation(row_, time))) {
      put(metric_key::time_median_ns, time);
    } else {
      kernel_.samples_ns = {time};
    }
  }

  void add_time(std::string_view name) {
    const auto time = row_.amount(name);
    if (!time) return;
    require_plausible(row_.at(name), metric_key::time_median_ns, *time);
    put_time(*time);
  }

  /// Computes the time of a row that states only a FLOP rate.
  void add_time_from_rate() {
    const auto rate = row_.amount(metric_key::tflops);
    if (!rate || has_time() || row_.real(metric_key::time_median_ns) || row_.find("kernel") != nullptr) return;
    if (!(*rate > 0)) fail(row_.at(metric_key::tflops), "a rate of 0 is invalid (leave the field empty)");
    const double time = pass_flops(alone_.spec.problem) / *rate / 1e3;  // Tflop/s to flop/ns
    if (!std::isfinite(time)) fail(row_.at(metric_key::tflops), make_message("{} is out of range", *rate));
    put_time(time);
    ++remarks_[time_from_rate];
  }

  void add_metric(const Metric& metric) {
    for (const std::string_view name : {metric.key, metric.counter, metric.counter_cc12}) {
      const auto value = name.empty() ? std::nullopt : row_.amount(name, &metric);
      if (!value) continue;
      const double stated = *value * (name == metric.key ? 1 : metric.scale);
      require_plausible(row_.at(name), metric.key, stated);
      alone_.kernels = {kernel_};
      if (const auto follows = evaluate(metric.key, alone_, kernel_.kernel)) {
        require_equal(row_.at(name), metric.key, stated, follows->value);
      } else {
        put(metric.key, stated);
      }
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
    const auto mean = row_.amount(time_column::mean);
    const auto median = evaluate(metric_key::time_median_ns, alone_, kernel_.kernel);
    const bool masked = problem.mask != Mask::none && agrees(full_rate);
    if (masked || (mean && median && agrees(follows * median->value / *mean))) {
      ++remarks_[masked ? causal_counted_full : rate_of_the_mean];
      return;
    }
    const double steps = std::round(std::log10(stated / follows) / 3);
    const bool unit = std::isfinite(steps) && steps != 0 && agrees(follows * std::pow(1e3, steps));
    const char* cause = unit ? "; a unit off by 1,000 is likely" : "";
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
    const auto deviation = median && !q1 && !q3 ? stated_deviation(row_, *median) : std::nullopt;
    if (!deviation) return;
    constexpr double quartile = 0.67448975;  // third quartile of the standard normal distribution
    constexpr double least = 1e-3;           // quartiles are times > 0
    put(metric_key::time_q1_ns, std::max(*median - quartile * *deviation, least * *median));
    put(metric_key::time_q3_ns, *median + quartile * *deviation);
    ++remarks_[normal_quartiles];
  }

  /// Adds a counter that add_metric() does not know.
  void add_counter(const std::string& name) {
    const bool time = std::ranges::find(time_columns, name) != time_columns.end();
    if (time || !is_counter_name(name) || find_counter(name) != nullptr) return;
    const Metric* metric = metric_of(name);
    const auto value = row_.amount(name);
    const std::string key(metric != nullptr ? metric->key : std::string_view(name));
    if (!value || kernel_.metric(key)) return;
    kernel_.metrics.push_back({key, *value, std::string(metric != nullptr ? metric->unit : "1"), Provenance::imported});
  }

  const ImportRow& row_;
  KernelRecord& kernel_;
  NumberRemarks& remarks_;
  PointRecord alone_;  ///< the point with only this kernel, to evaluate derived metrics
};

}  // namespace

void add_numbers(const ImportRow& row, const PointSpec& spec, KernelRecord& kernel, NumberRemarks& remarks) {
  RowNumbers(row, spec, kernel, remarks).add();
}

}  // namespace attnscope::exchange
