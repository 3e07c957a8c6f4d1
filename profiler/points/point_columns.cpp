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

FieldColumn::FieldColumn(const Field& field) : field_(&field) {
  switch (field.type) {
    case FieldType::integer:
      held_ = Numbers();
      break;
    case FieldType::real:
      held_ = Reals();
      break;
    case FieldType::flag:
      held_ = Flags();
      break;
    case FieldType::word:
      held_ = Words();
      break;
  }
}

void FieldColumn::push(const PointSpec& spec) {
  const FieldValue value = field_->get(spec);
  switch (field_->type) {
    case FieldType::integer:
      return std::get<Numbers>(held_).push_back(std::get<std::int64_t>(value));
    case FieldType::real:
      return std::get<Reals>(held_).push_back(std::get<double>(value));
    case FieldType::flag:
      return std::get<Flags>(held_).push_back(std::get<bool>(value));
    case FieldType::word:
      return std::get<Words>(held_).push(std::get<std::string>(value));
  }
}

void FieldColumn::append(const FieldColumn& from, std::span<const Row> rows) {
  std::visit(
      [&]<class Column>(Column& column) {
        const Column& other = std::get<Column>(from.held_);
        if constexpr (std::is_same_v<Column, Words>) {
          column.append(other, rows);
        } else {
          append_rows(column, other, rows);
        }
      },
      held_);
}

FieldValue FieldColumn::value(Row row) const {
  switch (field_->type) {
    case FieldType::integer:
      return std::get<Numbers>(held_)[row];
    case FieldType::real:
      return std::get<Reals>(held_)[row];
    case FieldType::flag:
      return bool{std::get<Flags>(held_)[row]};
    case FieldType::word:
      return std::get<Words>(held_)[row];
  }
  throw std::logic_error("unknown field type");
}

std::uint64_t FieldColumn::key(Row row) const {
  switch (field_->type) {
    case FieldType::integer:
      return std::bit_cast<std::uint64_t>(std::get<Numbers>(held_)[row]);
    case FieldType::real:
      return std::bit_cast<std::uint64_t>(std::get<Reals>(held_)[row]);
    case FieldType::flag:
      return std::get<Flags>(held_)[row] ? 1 : 0;
    case FieldType::word:
      return std::get<Words>(held_).code(row);
  }
  throw std::logic_error("unknown field type");
}

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

bool KernelColumns::same(const KernelColumns& a, std::uint32_t place_in_a, const KernelColumns& b,
                         std::uint32_t place_in_b) {
  if (a.names_[place_in_a] != b.names_[place_in_b] || a.times_[place_in_a] != b.times_[place_in_b]) return false;
  const auto count = [](const std::vector<MetricColumn>& metrics, std::uint32_t at) {
    return std::ranges::count_if(metrics, [at](const MetricColumn& metric) { return metric.has(at); });
  };
  if (count(a.metrics_, place_in_a) != count(b.metrics_, place_in_b)) return false;
  return std::ranges::all_of(a.metrics_, [&](const MetricColumn& metric) {
    const auto value = metric.at(place_in_a);
    if (!value) return true;
    const auto theirs = b.metrics_by_name_.find(metric.name);
    return theirs != b.metrics_by_name_.end() &&
           std::ranges::any_of(theirs->second, [&](std::uint32_t i) { return b.metrics_[i].at(place_in_b) == value; });
  });
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
  const PointColumns::RowRounds* rounds = round_kernel_ ? nullptr : columns_->rounds_of(row_);
  return rounds == nullptr ? 0 : rounds->count;
}

void RowKernel::for_each_round(const VisitRound& visit) const {
  const PointColumns::RowRounds* rounds = round_kernel_ ? nullptr : columns_->rounds_of(row_);
  if (rounds == nullptr) return;
  for (std::uint32_t i = 0; i < rounds->count; ++i) {
    const std::uint32_t round = rounds->begin + i;
    for (std::uint32_t at = columns_->round_kernels_begin_[round]; at < columns_->round_kernels_begin_[round + 1];
         ++at) {
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
  const FieldColumn* const gpus = columns_->find_field("gpus");
  return gpus == nullptr ? 1 : static_cast<int>(gpus->number(row_));
}

PointColumns::PointColumns(std::span<const Field> fields)
    : field_table_(fields), fields_(fields.begin(), fields.end()) {}

void PointColumns::add(const PointRecord& record, std::size_t place, std::int64_t id) {
  for (FieldColumn& column : fields_) column.push(record.spec);
  knobs_.push(record.spec.knobs);
  dispositions_.push_back(static_cast<std::uint8_t>(record.disposition));
  reasons_.push(record.reason);
  origins_.push_back(static_cast<std::uint8_t>(record.origin()));
  throttled_.push_back(record.clocks && record.clocks->throttled);
  throttle_reasons_.push_back(record.clocks ? record.clocks->throttle_reasons : 0);
  sm_clocks_.push_back(record.clocks ? record.clocks->sm_clock_hz : 0);
  sources_.push(sources_of(record));
  launches_.push(launches_of(record));
  places_.push_back(static_cast<std::uint32_t>(place));
  ids_.push_back(id);
  for (const KernelRecord& kernel : record.kernels) kernels_.add(kernel, record.origin(kernel.kernel));
  kernels_begin_.push_back(kernels_.size());
  if (!record.rounds.empty()) add_rounds(record);
}

void PointColumns::add_rounds(const PointRecord& record) {
  rows_with_rounds_.push_back({.row = size() - 1,
                               .begin = static_cast<std::uint32_t>(rounds_.size()),
                               .count = static_cast<std::uint32_t>(record.rounds.size())});
  for (const RoundRecord& round : record.rounds) {
    rounds_.push_back({.round = round.round,
                       .sm_hz = round.clocks ? round.clocks->sm_clock_hz : 0,
                       .throttled = round.clocks && round.clocks->throttled});
    for (const KernelRecord& kernel : round.kernels) round_kernels_.add(kernel, record.origin(kernel.kernel));
    round_kernels_begin_.push_back(round_kernels_.size());
  }
}

void PointColumns::add_rounds(const PointColumns& from, Row row_of_from) {
  const RowRounds* theirs = from.rounds_of(row_of_from);
  if (theirs == nullptr) return;
  rows_with_rounds_.push_back({.row = static_cast<Row>(kernels_begin_.size() - 2),
                               .begin = static_cast<std::uint32_t>(rounds_.size()),
                               .count = theirs->count});
  std::vector<std::uint32_t> places;
  for (std::uint32_t round = theirs->begin; round < theirs->begin + theirs->count; ++round) {
    rounds_.push_back(from.rounds_[round]);
    const std::uint32_t begin = from.round_kernels_begin_[round];
    const std::uint32_t end = from.round_kernels_begin_[round + 1];
    for (std::uint32_t place = begin; place < end; ++place) places.push_back(place);
    round_kernels_begin_.push_back(round_kernels_begin_.back() + end - begin);
  }
  round_kernels_.append(from.round_kernels_, places);
}

const PointColumns::RowRounds* PointColumns::rounds_of(Row row) const {
  const auto found = std::ranges::lower_bound(rows_with_rounds_, row, {}, &RowRounds::row);
  return found != rows_with_rounds_.end() && found->row == row ? &*found : nullptr;
}

std::size_t PointColumns::rounds(Row row) const {
  const RowRounds* rounds = rounds_of(row);
  return rounds == nullptr ? 1 : rounds->count;
}

std::optional<std::uint32_t> PointColumns::kernel_index(Row row, std::string_view name) const {
  for (std::uint32_t place = kernels_begin_[row]; place < kernels_begin_[row + 1]; ++place) {
    if (kernels_.name(place) == name) return place;
  }
  return std::nullopt;
}

std::vector<std::optional<double>> PointColumns::round_values(Row row, std::string_view metric,
                                                              std::string_view kernel) const {
  const std::optional<std::uint32_t> place = kernel_index(row, kernel);
  if (!place) return std::vector<std::optional<double>>(rounds(row));
  return attnscope::round_values(metric, RowKernel(*this, row, *place));
}

std::vector<RoundClock> PointColumns::round_clocks(Row row) const {
  const RowRounds* rounds = rounds_of(row);
  if (rounds == nullptr) return {{.round = 0, .sm_hz = sm_clock_hz(row), .throttled = throttled(row)}};
  return {rounds_.begin() + rounds->begin, rounds_.begin() + rounds->begin + rounds->count};
}

void PointColumns::add(const PointColumns& from, std::span<const Row> rows) {
  for (std::size_t i = 0; i < fields_.size(); ++i) fields_[i].append(from.fields_[i], rows);
  knobs_.append(from.knobs_, rows);
  append_rows(dispositions_, from.dispositions_, rows);
  reasons_.append(from.reasons_, rows);
  append_rows(origins_, from.origins_, rows);
  append_rows(throttled_, from.throttled_, rows);
  append_rows(throttle_reasons_, from.throttle_reasons_, rows);
  append_rows(sm_clocks_, from.sm_clocks_, rows);
  sources_.append(from.sources_, rows);
  launches_.append(from.launches_, rows);
  append_rows(places_, from.places_, rows);
  append_rows(ids_, from.ids_, rows);

  std::vector<std::uint32_t> places;
  for (const Row row : rows) {
    const std::uint32_t begin = from.kernels_begin_[row];
    const std::uint32_t count = from.kernels_begin_[row + 1] - begin;
    for (std::uint32_t i = 0; i < count; ++i) places.push_back(begin + i);
    kernels_begin_.push_back(kernels_begin_.back() + count);
    if (!from.rows_with_rounds_.empty()) add_rounds(from, row);
  }
  kernels_.append(from.kernels_, places);
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

const FieldColumn* PointColumns::find_field(std::string_view name) const {
  const auto found = std::ranges::find(fields_, name, [](const FieldColumn& column) { return column.field().name; });
  return found == fields_.end() ? nullptr : &*found;
}

const FieldColumn& PointColumns::field(std::string_view name) const {
  if (const FieldColumn* column = find_field(name)) return *column;
  throw std::logic_error(fmt::format("no column for field {}", name));
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
    return x.field().name == y.field().name && x.value(row_of_a) == y.value(row_of_b);
  };
  const std::uint32_t begin_of_a = a.kernels_begin_[row_of_a];
  const std::uint32_t begin_of_b = b.kernels_begin_[row_of_b];
  const std::uint32_t kernels = a.kernels_begin_[row_of_a + 1] - begin_of_a;
  if (b.kernels_begin_[row_of_b + 1] - begin_of_b != kernels) return false;
  if (a.disposition(row_of_a) != b.disposition(row_of_b) || a.sources(row_of_a) != b.sources(row_of_b)) return false;
  if (a.knobs_[row_of_a] != b.knobs_[row_of_b] || !std::ranges::equal(a.fields_, b.fields_, equal_fields)) return false;
  for (std::uint32_t i = 0; i < kernels; ++i) {
    if (!KernelColumns::same(a.kernels_, begin_of_a + i, b.kernels_, begin_of_b + i)) return false;
  }
  return equal_rounds(a, row_of_a, b, row_of_b);
}

bool PointColumns::equal_rounds(const PointColumns& a, Row row_of_a, const PointColumns& b, Row row_of_b) {
  const RowRounds* in_a = a.rounds_of(row_of_a);
  const RowRounds* in_b = b.rounds_of(row_of_b);
  if (in_a == nullptr || in_b == nullptr) return in_a == in_b;
  if (in_a->count != in_b->count || a.round_clocks(row_of_a) != b.round_clocks(row_of_b)) return false;
  for (std::uint32_t i = 0; i < in_a->count; ++i) {
    const std::uint32_t at_a = a.round_kernels_begin_[in_a->begin + i];
    const std::uint32_t at_b = b.round_kernels_begin_[in_b->begin + i];
    const std::uint32_t count = a.round_kernels_begin_[in_a->begin + i + 1] - at_a;
    if (b.round_kernels_begin_[in_b->begin + i + 1] - at_b != count) return false;
    for (std::uint32_t k = 0; k < count; ++k) {
      if (!KernelColumns::same(a.round_kernels_, at_a + k, b.round_kernels_, at_b + k)) return false;
    }
  }
  return true;
}

}  // namespace attnscope::analysis
