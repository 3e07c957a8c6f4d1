// SPDX-License-Identifier: Apache-2.0
#include "profiler/points/point_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <set>
#include <stdexcept>

#include "kernels/kernel_defines.h"
#include "kernels/model/attention.h"
#include "profiler/metrics/rounds.h"

namespace attnscope::analysis {
namespace {

constexpr std::uint8_t absent = std::numeric_limits<std::uint8_t>::max();
constexpr std::string_view sum_of_kernels = "all";

template <class T>
void append_rows(std::vector<T>& to, const std::vector<T>& from, std::span<const Row> rows) {
  to.reserve(to.size() + rows.size());
  for (const Row row : rows) to.push_back(from[row]);
}

std::string sources_of(const PointRecord& record) {
  std::set<std::string_view> digests;
  for (const KernelRecord& kernel : record.kernels) {
    if (kernel.launch && !kernel.launch->digest.empty()) digests.insert(kernel.launch->digest);
  }
  std::string words;
  for (const std::string_view digest : digests) words.append(words.empty() ? "" : " ").append(digest);
  return words;
}

std::map<std::string, std::string> launches_of(const PointRecord& record) {
  std::map<std::string, std::string> launches;
  for (const KernelRecord& kernel : record.kernels) {
    if (!kernel.launch || kernel.launch->digest.empty()) continue;
    const LaunchRecord& launch = *kernel.launch;
    launches.emplace(fmt::format("{} {} {}", launch.source_file, launch.entry, fmt::join(launch.defines, " ")),
                     launch.digest);
  }
  return launches;
}

}  // namespace

namespace dictionary_key {

std::pair<std::string, std::string> words(const Message& message) {
  return {message.id, english_text(message)};
}

std::vector<Knobs::Entry> entries(const Knobs& knobs) {
  return {knobs.begin(), knobs.end()};
}

}  // namespace dictionary_key

void KernelColumns::MetricColumn::push(std::uint32_t place, double value, std::uint8_t origin) {
  if (values.empty()) first = place;
  values.resize(place - first);
  origins.resize(place - first, absent);
  values.push_back(value);
  origins.push_back(origin);
}

bool KernelColumns::MetricColumn::has(std::uint32_t place) const {
  return place >= first && place - first < values.size() && origins[place - first] != absent;
}

std::optional<EvaluatedMetric> KernelColumns::MetricColumn::at(std::uint32_t place) const {
  if (!has(place)) return std::nullopt;
  return EvaluatedMetric{name, values[place - first], unit, static_cast<Provenance>(origins[place - first])};
}

void KernelColumns::add(const KernelRecord& kernel, Provenance origin) {
  const std::uint32_t place = size();
  names_.push(kernel.kernel);
  origins_.push_back(static_cast<std::uint8_t>(origin));
  times_.push_back(summarize(kernel.samples_ns).value_or(SampleSummary()));
  std::size_t nth = 0;
  for (const MetricValue& metric : kernel.metrics) {
    MetricColumn& column = metrics_[metric_column_index(metric.name, metric.unit, nth++)];
    // The first of duplicate metrics wins.
    if (!column.has(place)) column.push(place, metric.value, static_cast<std::uint8_t>(metric.provenance));
  }
}

std::uint32_t KernelColumns::metric_column_index(const std::string& name, const std::string& unit, std::size_t nth) {
  const auto is_it = [&](std::uint32_t place) { return metrics_[place].name == name && metrics_[place].unit == unit; };
  if (nth < last_metrics_.size() && is_it(last_metrics_[nth])) return last_metrics_[nth];
  std::vector<std::uint32_t>& known = metrics_by_name_[name];
  const auto found = std::ranges::find_if(known, is_it);
  const auto place = found != known.end() ? *found : static_cast<std::uint32_t>(metrics_.size());
  if (found == known.end()) {
    known.push_back(place);
    metrics_.push_back({name, unit, 0, {}, {}});
  }
  if (nth >= last_metrics_.size()) last_metrics_.resize(nth + 1);
  last_metrics_[nth] = place;
  return place;
}

void KernelColumns::append(const KernelColumns& from, std::span<const std::uint32_t> places) {
  const std::uint32_t first = size();
  names_.append(from.names_, places);
  append_rows(origins_, from.origins_, places);
  append_rows(times_, from.times_, places);
  for (std::size_t metric = 0; metric < from.metrics_.size(); ++metric) {
    const MetricColumn& theirs = from.metrics_[metric];
    MetricColumn* ours = nullptr;
    for (std::uint32_t i = 0; i < places.size(); ++i) {
      if (!theirs.has(places[i])) continue;
      if (ours == nullptr) ours = &metrics_[metric_column_index(theirs.name, theirs.unit, metric)];
      const std::uint32_t place = places[i] - theirs.first;
      ours->push(first + i, theirs.values[place], theirs.origins[place]);
    }
  }
}

std::optional<EvaluatedMetric> KernelColumns::stored(std::uint32_t place, std::string_view name) const {
  const auto found = metrics_by_name_.find(name);
  if (found == metrics_by_name_.end()) return std::nullopt;
  for (const std::uint32_t metric : found->second) {
    if (auto value = metrics_[metric].at(place)) return value;
  }
  return std::nullopt;
}

std::optional<SampleSummary> KernelColumns::times(std::uint32_t place) const {
  const SampleSummary& summary = times_[place];
  return summary.count == 0 ? std::nullopt : std::optional(summary);
}

const std::string& RowKernel::name() const {
  return columns_->kernels_.name(place_);
}

std::optional<EvaluatedMetric> RowKernel::stored(std::string_view name) const {
  auto value = columns_->kernels_.stored(place_, name);
  if (!round_kernel_) return value;
  if (auto own = columns_->round_kernels_.stored(*round_kernel_, name)) return own;
  return value && value->provenance == Provenance::modeled ? value : std::nullopt;
}

std::optional<SampleSummary> RowKernel::times() const {
  return round_kernel_ ? columns_->round_kernels_.times(*round_kernel_) : columns_->kernels_.times(place_);
}

Provenance RowKernel::origin() const {
  return columns_->kernels_.origin(place_);
}

std::size_t RowKernel::rounds() const {
  return round_kernel_ ? 0 : columns_->round_count(row_);
}

void RowKernel::for_each_round(const VisitRound& visit) const {
  for (std::size_t i = 0; i < rounds(); ++i) {
    const std::size_t round = columns_->rounds_begin_[row_] + i;
    const std::uint32_t end = columns_->round_kernels_begin_[round + 1];
    for (std::uint32_t at = columns_->round_kernels_begin_[round]; at < end; ++at) {
      if (columns_->round_kernels_.name(at) == name()) visit(i, RowKernel(*columns_, row_, place_, at));
    }
  }
}

bool RowKernel::is_sum() const {
  return name() == sum_of_kernels;
}

CacheState RowKernel::cache() const {
  constexpr std::array<std::string_view, 1> cache{"cache"};
  return columns_->spec(row_, cache).cache;
}

double RowKernel::nominal_flops() const {
  return pass_flops(columns_->spec(row_).problem);
}

int RowKernel::gpus() const {
  return static_cast<int>(columns_->field("gpus").number(row_));
}

void PointColumns::add(const PointRecord& record, std::size_t place, std::int64_t id) {
  for (FieldColumn& column : fields_) column.push(record.spec);
  knobs_.push(record.spec.knobs);
  const ClockReading clocks = record.clocks.value_or(ClockReading());
  rows_.push_back({.id = id,
                   .throttle_reasons = clocks.throttle_reasons,
                   .sm_clock_hz = clocks.sm_clock_hz,
                   .place = static_cast<std::uint32_t>(place),
                   .disposition = record.disposition,
                   .origin = record.origin(),
                   .throttled = clocks.throttled});
  reasons_.push(record.reason);
  sources_.push(sources_of(record));
  launches_.push(launches_of(record));
  for (const KernelRecord& kernel : record.kernels) kernels_.add(kernel, record.origin(kernel.kernel));
  kernels_begin_.push_back(kernels_.size());
  for (const RoundRecord& round : record.rounds) {
    rounds_.push_back({.round = round.round,
                       .sm_hz = round.clocks ? round.clocks->sm_clock_hz : 0,
                       .throttled = round.clocks && round.clocks->throttled});
    for (const KernelRecord& kernel : round.kernels) round_kernels_.add(kernel, record.origin(kernel.kernel));
    round_kernels_begin_.push_back(round_kernels_.size());
  }
  rounds_begin_.push_back(static_cast<std::uint32_t>(rounds_.size()));
}

std::size_t PointColumns::rounds(Row row) const {
  return std::max<std::size_t>(1, round_count(row));
}

std::vector<std::optional<double>> PointColumns::round_values(Row row, std::string_view metric,
                                                              std::string_view kernel) const {
  const std::vector<RowKernel> all = kernels(row);
  const auto found = std::ranges::find(all, kernel, &RowKernel::name);
  if (found == all.end()) return std::vector<std::optional<double>>(rounds(row));
  return attnscope::round_values(metric, *found);
}

std::vector<RoundClock> PointColumns::round_clocks(Row row) const {
  if (round_count(row) == 0) return {{.round = 0, .sm_hz = sm_clock_hz(row), .throttled = throttled(row)}};
  return {rounds_.begin() + rounds_begin_[row], rounds_.begin() + rounds_begin_[row + 1]};
}

void PointColumns::add(const PointColumns& from, std::span<const Row> rows) {
  for (std::size_t i = 0; i < fields_.size(); ++i) fields_[i].append(from.fields_[i], rows);
  knobs_.append(from.knobs_, rows);
  append_rows(rows_, from.rows_, rows);
  reasons_.append(from.reasons_, rows);
  sources_.append(from.sources_, rows);
  launches_.append(from.launches_, rows);

  // Appends the indices of one range of the kernels and the end of its copy.
  const auto take = [](const std::vector<std::uint32_t>& ends, std::size_t range, std::vector<std::uint32_t>& places,
                       std::vector<std::uint32_t>& new_ends) {
    for (std::uint32_t place = ends[range]; place < ends[range + 1]; ++place) places.push_back(place);
    new_ends.push_back(new_ends.back() + ends[range + 1] - ends[range]);
  };
  std::vector<std::uint32_t> places;
  std::vector<std::uint32_t> round_places;
  for (const Row row : rows) {
    take(from.kernels_begin_, row, places, kernels_begin_);
    for (std::uint32_t round = from.rounds_begin_[row]; round < from.rounds_begin_[row + 1]; ++round) {
      rounds_.push_back(from.rounds_[round]);
      take(from.round_kernels_begin_, round, round_places, round_kernels_begin_);
    }
    rounds_begin_.push_back(static_cast<std::uint32_t>(rounds_.size()));
  }
  kernels_.append(from.kernels_, places);
  round_kernels_.append(from.round_kernels_, round_places);
}

PointSpec PointColumns::spec(Row row) const {
  PointSpec spec;
  for (const FieldColumn& column : fields_) column.field().restore(spec, column.value(row));
  spec.knobs = knobs_[row];
  return spec;
}

PointSpec PointColumns::spec(Row row, std::span<const std::string_view> fields) const {
  PointSpec spec;
  for (const std::string_view name : fields) {
    const FieldColumn& column = field(name);
    column.field().restore(spec, column.value(row));
  }
  if (fields.empty()) spec.knobs = knobs_[row];
  return spec;
}

const FieldColumn& PointColumns::field(std::string_view name) const {
  const auto found = std::ranges::find(fields_, name, [](const FieldColumn& column) { return column.field().name; });
  if (found == fields_.end()) throw std::logic_error(fmt::format("no column for field {}", name));
  return *found;
}

std::vector<RowKernel> PointColumns::kernels(Row row) const {
  std::vector<RowKernel> all;
  for (std::uint32_t place = kernels_begin_[row]; place < kernels_begin_[row + 1]; ++place) {
    all.emplace_back(*this, row, place);
  }
  return all;
}

std::optional<RowKernel> PointColumns::sum(Row row) const {
  for (std::uint32_t place = kernels_begin_[row]; place < kernels_begin_[row + 1]; ++place) {
    if (kernels_.name(place) == sum_of_kernels) return RowKernel(*this, row, place);
  }
  return std::nullopt;
}

bool PointColumns::same(const PointColumns& a, Row row_of_a, const PointColumns& b, Row row_of_b) {
  const auto equal_fields = [&](const FieldColumn& x, const FieldColumn& y) {
    return x.value(row_of_a) == y.value(row_of_b);
  };
  const auto equal_times = [](const RowKernel& x, const RowKernel& y) {
    return x.name() == y.name() && x.times() == y.times();
  };
  return a.disposition(row_of_a) == b.disposition(row_of_b) && a.knobs_[row_of_a] == b.knobs_[row_of_b] &&
         std::ranges::equal(a.fields_, b.fields_, equal_fields) &&
         std::ranges::equal(a.kernels(row_of_a), b.kernels(row_of_b), equal_times);
}

}  // namespace attnscope::analysis
