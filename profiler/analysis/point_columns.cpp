// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/point_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <stdexcept>

#include "kernels/model/attention.h"

namespace attnscope::analysis {
namespace {

constexpr std::uint8_t absent = std::numeric_limits<std::uint8_t>::max();
constexpr std::string_view sum_of_kernels = "all";

template <class T>
void append_rows(std::vector<T>& to, const std::vector<T>& from, std::span<const Row> rows) {
  to.reserve(to.size() + rows.size());
  for (const Row row : rows) to.push_back(from[row]);
}

}  // namespace

namespace coded_by {

std::tuple<std::string, std::string, std::string> words(const Message& message) {
  return {message.id, message.words, message.arguments.empty() ? std::string() : arguments_json(message)};
}

std::vector<Knobs::Entry> entries(const Knobs& knobs) {
  return {knobs.begin(), knobs.end()};
}

}  // namespace coded_by

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

void FieldColumn::shrink() {
  std::visit(
      [](auto& column) {
        if constexpr (requires { column.shrink(); }) {
          column.shrink();
        } else {
          column.shrink_to_fit();
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
  throw std::logic_error("no such type of field");
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
  throw std::logic_error("no such type of field");
}

const std::string& KernelOfRow::name() const {
  return columns_->kernel_names_[place_];
}

std::optional<Evaluated> KernelOfRow::stored(std::string_view name) const {
  const auto found = columns_->metrics_by_name_.find(name);
  if (found == columns_->metrics_by_name_.end()) return std::nullopt;
  for (const std::uint32_t metric : found->second) {
    if (auto value = columns_->metrics_[metric].at(place_)) return value;
  }
  return std::nullopt;
}

std::optional<SampleSummary> KernelOfRow::times() const {
  const SampleSummary& summary = columns_->times_[place_];
  return summary.count == 0 ? std::nullopt : std::optional(summary);
}

Provenance KernelOfRow::origin() const {
  return static_cast<Provenance>(columns_->kernel_origins_[place_]);
}

bool KernelOfRow::is_sum() const {
  return name() == sum_of_kernels;
}

CacheState KernelOfRow::cache() const {
  constexpr std::array<std::string_view, 1> cache{"cache"};
  return columns_->spec(row_, cache).cache;
}

double KernelOfRow::flops() const {
  return pass_flops(columns_->spec(row_).problem);
}

void PointColumns::MetricColumn::push(std::uint32_t place, double value, std::uint8_t origin) {
  if (values.empty()) first = place;
  values.resize(place - first);
  origins.resize(place - first, absent);
  values.push_back(value);
  origins.push_back(origin);
}

bool PointColumns::MetricColumn::has(std::uint32_t place) const {
  return place >= first && place - first < values.size() && origins[place - first] != absent;
}

std::optional<Evaluated> PointColumns::MetricColumn::at(std::uint32_t place) const {
  if (!has(place)) return std::nullopt;
  return Evaluated{name, values[place - first], unit, static_cast<Provenance>(origins[place - first])};
}

PointColumns::PointColumns(std::span<const Field> fields) : fields_(fields.begin(), fields.end()) {}

void PointColumns::add(const PointRecord& record) {
  for (FieldColumn& column : fields_) column.push(record.spec);
  knobs_.push(record.spec.knobs);
  dispositions_.push_back(static_cast<std::uint8_t>(record.disposition));
  reasons_.push(record.reason);
  origins_.push_back(static_cast<std::uint8_t>(record.origin()));
  throttled_.push_back(record.clocks && record.clocks->throttled);
  throttle_reasons_.push_back(record.clocks ? record.clocks->throttle_reasons : 0);
  kinds_.push(analysis::kernel_kind(record));
  for (const KernelRecord& kernel : record.kernels) add_kernel(record, kernel);
  kernels_begin_.push_back(static_cast<std::uint32_t>(times_.size()));
}

void PointColumns::add_kernel(const PointRecord& record, const KernelRecord& kernel) {
  const auto place = static_cast<std::uint32_t>(times_.size());
  kernel_names_.push(kernel.kernel);
  kernel_origins_.push_back(static_cast<std::uint8_t>(record.origin(kernel.kernel)));
  times_.push_back(summarize(kernel.samples_ns).value_or(SampleSummary()));
  std::size_t nth = 0;
  for (const MetricValue& metric : kernel.metrics) {
    MetricColumn& column = metrics_[metric_place(metric.name, metric.unit, nth++)];
    // Of two of one name the first is the one that is known.
    if (!column.has(place)) column.push(place, metric.value, static_cast<std::uint8_t>(metric.provenance));
  }
}

std::uint32_t PointColumns::metric_place(const std::string& name, const std::string& unit, std::size_t nth) {
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

void PointColumns::add(const PointColumns& from, std::span<const Row> rows) {
  for (std::size_t i = 0; i < fields_.size(); ++i) fields_[i].append(from.fields_[i], rows);
  knobs_.append(from.knobs_, rows);
  append_rows(dispositions_, from.dispositions_, rows);
  reasons_.append(from.reasons_, rows);
  append_rows(origins_, from.origins_, rows);
  append_rows(throttled_, from.throttled_, rows);
  append_rows(throttle_reasons_, from.throttle_reasons_, rows);
  kinds_.append(from.kinds_, rows);

  std::vector<std::uint32_t> places;  // of the kernels of these rows
  for (const Row row : rows) {
    const std::uint32_t begin = from.kernels_begin_[row];
    const std::uint32_t count = from.kernels_begin_[row + 1] - begin;
    for (std::uint32_t i = 0; i < count; ++i) places.push_back(begin + i);
    kernels_begin_.push_back(kernels_begin_.back() + count);
  }
  const auto first = static_cast<std::uint32_t>(times_.size());
  kernel_names_.append(from.kernel_names_, places);
  append_rows(kernel_origins_, from.kernel_origins_, places);
  append_rows(times_, from.times_, places);
  for (std::size_t metric = 0; metric < from.metrics_.size(); ++metric) {
    const MetricColumn& theirs = from.metrics_[metric];
    MetricColumn* ours = nullptr;
    for (std::uint32_t i = 0; i < places.size(); ++i) {
      if (!theirs.has(places[i])) continue;
      if (ours == nullptr) ours = &metrics_[metric_place(theirs.name, theirs.unit, metric)];
      const std::uint32_t place = places[i] - theirs.first;
      ours->push(first + i, theirs.values[place], theirs.origins[place]);
    }
  }
}

void PointColumns::shrink() {
  for (FieldColumn& column : fields_) column.shrink();
  knobs_.shrink();
  dispositions_.shrink_to_fit();
  reasons_.shrink();
  origins_.shrink_to_fit();
  throttled_.shrink_to_fit();
  throttle_reasons_.shrink_to_fit();
  kinds_.shrink();
  kernels_begin_.shrink_to_fit();
  kernel_names_.shrink();
  kernel_origins_.shrink_to_fit();
  times_.shrink_to_fit();
  for (MetricColumn& metric : metrics_) {
    metric.values.shrink_to_fit();
    metric.origins.shrink_to_fit();
  }
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
  throw std::logic_error(fmt::format("no column of the field {}", name));
}

std::vector<KernelOfRow> PointColumns::kernels(Row row) const {
  std::vector<KernelOfRow> all;
  for (std::uint32_t place = kernels_begin_[row]; place < kernels_begin_[row + 1]; ++place) {
    all.emplace_back(*this, row, place);
  }
  return all;
}

std::optional<KernelOfRow> PointColumns::sum(Row row) const {
  for (std::uint32_t place = kernels_begin_[row]; place < kernels_begin_[row + 1]; ++place) {
    if (kernel_names_[place] == sum_of_kernels) return KernelOfRow(*this, row, place);
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
  if (a.disposition(row_of_a) != b.disposition(row_of_b)) return false;
  if (a.knobs_[row_of_a] != b.knobs_[row_of_b] || !std::ranges::equal(a.fields_, b.fields_, equal_fields)) return false;
  for (std::uint32_t i = 0; i < kernels; ++i) {
    if (!a.same_kernel(begin_of_a + i, b, begin_of_b + i)) return false;
  }
  return true;
}

bool PointColumns::same_kernel(std::uint32_t place, const PointColumns& other, std::uint32_t other_place) const {
  if (kernel_names_[place] != other.kernel_names_[other_place] || times_[place] != other.times_[other_place]) {
    return false;
  }
  const auto count = [](const std::vector<MetricColumn>& metrics, std::uint32_t at) {
    return std::ranges::count_if(metrics, [at](const MetricColumn& metric) { return metric.has(at); });
  };
  if (count(metrics_, place) != count(other.metrics_, other_place)) return false;
  return std::ranges::all_of(metrics_, [&](const MetricColumn& metric) {
    const auto value = metric.at(place);
    if (!value) return true;
    const auto theirs = other.metrics_by_name_.find(metric.name);
    return theirs != other.metrics_by_name_.end() && std::ranges::any_of(theirs->second, [&](std::uint32_t i) {
             return other.metrics_[i].at(other_place) == value;
           });
  });
}

}  // namespace attnscope::analysis
