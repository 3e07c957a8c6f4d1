// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/import_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "kernels/model/io_model.h"
#include "profiler/metrics/metrics.h"
#include "profiler/metrics/rounds.h"
#include "profiler/plan/fields.h"
#include "profiler/plan/text.h"
#include "profiler/units/spelling.h"
#include "storage/bounds.h"
#include "storage/exchange/column_names.h"
#include "storage/exchange/import_values.h"

namespace attnscope::exchange {
namespace {

/// A whole number of a point: what its column holds, or the one that stands for two; else the fallback, where a point
/// need not say it.
std::int64_t integer_of(const ImportRow& row, const Field& field, const PointSpec& so_far) {
  const WideField* wide = wide_field_of(field.name);
  auto value = row.integer(field.name);
  std::string_view named = field.name;
  if (!value && wide != nullptr) {
    value = row.integer(wide->name);
    named = wide->name;
  }
  if (field.role == FieldRole::tile) {
    constexpr std::int64_t largest = 1 << 20;
    if (value.value_or(0) < 0 || value.value_or(0) > largest) {
      fail(row.at(named), make_message("{} is absurd", *value));
    }
    return value.value_or(0);
  }
  if (!value && field.may_be_left_out) return std::get<std::int64_t>(find_field(field.follows)->get(so_far));
  if (!value && !field.fallback.empty()) return std::get<std::int64_t>(*parse_field(field, field.fallback));
  if (!value) {
    if (wide == nullptr) fail(row.place, make_message("there is no {}", field.name));
    fail(row.place, make_message("there is no {} (or {})", field.name, wide->name));
  }
  if (*value < field.smallest) {
    fail(row.at(named), make_message("{} must be at least {}, not {}", named, field.smallest, *value));
  }
  if (*value > field.largest) {
    fail(row.at(named), make_message("{} {} is absurd: at most {}", named, *value, field.largest));
  }
  return *value;
}

PointSpec spec_of(const ImportRow& row, const Registry& registry) {
  PointSpec spec;
  spec.algorithm = row.text("algorithm");
  if (spec.algorithm.empty()) fail(row.place, "there is no algorithm");
  check_word(row.place, "algorithm", spec.algorithm);
  for (const Field& field : point_fields()) {
    if (field.role == FieldRole::algorithm) continue;
    if (field.type == FieldType::integer) {
      if (const auto set = field.set(spec, integer_of(row, field, spec)); !set) fail(row.place, set.error());
    } else if (const std::string* text = row.find(field.name)) {
      if (const auto set = set_field(field, spec, *text); !set) fail(row.at(field.name), set.error());
    }
  }
  if (Message wrong = invalid_reason(spec.problem); !wrong.empty()) fail(row.place, std::move(wrong));
  for (const Knob& knob : registry.knobs()) {
    const std::string* text = row.find(knob.name);
    if (text == nullptr) continue;
    const auto value = parse_knob(knob, *text);
    if (!value) fail(row.at(knob.name), value.error());
    if (*value) spec.knobs.set(knob.name, **value);
  }
  return spec;
}

bool has(const KernelRecord& kernel, std::string_view name) {
  return kernel.metric(name).has_value();
}

/// What a time of a wide table is called, in nanoseconds.
constexpr std::array<std::string_view, 2> time_columns{"time_ns", "gpu__time_duration.sum"};

/// Of two times of one point only one can be kept.
void require_same_time(const Place& place, std::string_view key, double said, double follows) {
  constexpr double rounded = 1e-3;
  if (key != metric_key::time_median_ns || std::abs(said - follows) <= rounded * follows) return;
  fail(place, make_message("it says {}, where the row's other time gives {}: keep one of them", text(Nanoseconds(said)),
                           text(Nanoseconds(follows))));
}

/// The row's numbers. What follows from others among them (a median from samples, TFLOP/s from a time) is not kept.
void add_numbers(const ImportRow& row, PointRecord& point, KernelRecord& kernel, ColumnList& columns) {
  kernel.samples_ns = row.samples_ns;
  for (const std::string_view name : time_columns) {
    const auto time = checked(row.at(name), row.real(name));
    if (!time) continue;
    require_possible(row.at(name), metric_key::time_median_ns, *time);
    // Beside quartiles, or a median, it is no sample.
    const bool of_several = row.real(metric_key::time_q1_ns) || row.real(metric_key::time_q3_ns);
    if (of_several && !has(kernel, metric_key::time_median_ns)) {
      kernel.metrics.push_back({std::string(metric_key::time_median_ns), *time, "ns", Provenance::imported});
    } else if (kernel.samples_ns.empty()) {
      kernel.samples_ns = {*time};
    }
  }
  for (const MetricValue& metric : row.metrics) {
    if (!has(kernel, metric.name)) kernel.metrics.push_back(metric);
  }
  // A point of this kernel alone, to ask what is derived already.
  PointRecord alone;
  alone.spec = point.spec;
  alone.provenance = Provenance::imported;
  // In the table's order, in which what is derived comes after what it is derived from.
  for (const Metric& metric : metrics_table()) {
    for (const std::string_view name : {metric.key, metric.counter, metric.counter_cc12}) {
      if (name.empty()) continue;
      const auto value = checked(row.at(name), row.real(name), &metric);
      if (!value) continue;
      alone.kernels = {kernel};
      require_possible(row.at(name), metric.key, *value * (name == metric.key ? 1 : metric.scale));
      if (const auto follows = evaluate(metric.key, alone, kernel.kernel)) {
        require_same_time(row.at(name), metric.key, *value, follows->value);
        continue;
      }
      columns.keep(metric.key);
      kernel.metrics.push_back({std::string(metric.key), *value * (name == metric.key ? 1 : metric.scale),
                                std::string(metric.unit), Provenance::imported});
    }
  }
  for (const auto& [name, text] : row.fields) {
    const Metric* metric = metric_of(name);
    const bool in_table =
        metric != nullptr && (metric->key == name || metric->counter == name || metric->counter_cc12 == name);
    const bool time = std::ranges::find(time_columns, name) != time_columns.end();
    if (in_table || time || !is_counter_name(name)) continue;
    const auto value = checked(row.at(name), row.real(name));
    const std::string key(metric != nullptr ? metric->key : std::string_view(name));
    if (!value || has(kernel, key)) continue;
    if (metric != nullptr) columns.keep(metric->key);
    kernel.metrics.push_back({key, *value, std::string(metric != nullptr ? metric->unit : "1"), Provenance::imported});
  }
  kernel.occupancy_limiter = row.text("occupancy_limiter");
}

/// What a file says was simulated stays so; all else is somebody's word.
Provenance origin_of(const ImportRow& row) {
  const auto said = parse_provenance(row.text("provenance"));
  return said.ok() && is_simulated(*said) ? *said : Provenance::imported;
}

void label(KernelRecord& kernel, Provenance origin) {
  if (!is_simulated(origin)) return;
  if (origin == Provenance::extrapolated) kernel.complete = false;
  for (MetricValue& metric : kernel.metrics) metric.provenance = origin;
}

std::optional<int> round_of(const ImportRow& row) {
  const auto round = row.integer(round_column::round);
  if (!round) return std::nullopt;
  if (*round < 0 || *round >= most_rounds) {
    fail(row.at(round_column::round),
         make_message("'round' is not a whole number from 0, below {}", grouped(most_rounds)));
  }
  return static_cast<int>(*round);
}

bool is_of_times(std::string_view metric) {
  return metric == metric_key::time_median_ns || metric == metric_key::time_q1_ns || metric == metric_key::time_q3_ns;
}

/// What holds of the point as a whole; our own export says it in the first of its rows.
void add_point_facts(const ImportRow& row, PointRecord& point) {
  if (const std::string* word = row.find("disposition")) {
    const auto disposition = parse_disposition(*word);
    if (!disposition) fail(row.at("disposition"), disposition.error());
    point.disposition = *disposition;
  }
  point.reason = Message(row.text(reason_column::code), row.text(reason_column::words));
  const auto amount = [&](std::string_view name) { return checked(row.at(name), row.real(name)); };
  point.max_abs_error = row.real("max_abs_error");  // a wrong result's may be infinite
  point.error_bound = row.real("error_bound");
  point.rms_error = row.real("rms_error");
  if (const auto clock = amount("sm_clock_hz")) {
    point.clocks = ClockReading{.sm_clock_hz = *clock,
                                .memory_clock_hz = amount("memory_clock_hz").value_or(0),
                                .temperature_c = amount("temperature_c").value_or(0),
                                .power_w = amount("power_w").value_or(0),
                                .throttle_reasons = 0,
                                .throttled = row.flag("throttled").value_or(false)};
  }
}

/// Refuses what a file of ours cannot hold.
void require_storable(const Place& place, PointRecord point, const KernelRecord& kernel) {
  point.kernels = {kernel};
  if (Message wrong = out_of_bounds(point); !wrong.empty()) fail(place, std::move(wrong));
}

/// There is always "all": where the file has only its parts, their sum.
void complete_sum(std::vector<KernelRecord>& parts) {
  if (std::ranges::find(parts, "all", &KernelRecord::kernel) != parts.end()) return;
  KernelRecord all;
  const std::size_t samples = parts.front().samples_ns.size();
  const bool timed = samples > 0 && std::ranges::all_of(parts, [&](const KernelRecord& part) {
                       return part.samples_ns.size() == samples;
                     });
  if (timed) all.samples_ns.assign(samples, 0);
  std::vector<double> weights;
  for (const KernelRecord& part : parts) {
    const auto summary = summarize(part.samples_ns);
    weights.push_back(timed && summary && summary->median > 0 ? summary->median : 1);
    for (std::size_t i = 0; timed && i < samples; ++i) all.samples_ns[i] += part.samples_ns[i];
  }
  for (const MetricValue& metric : parts.front().metrics) {
    std::vector<double> values;
    for (const KernelRecord& part : parts) {
      if (const auto value = part.metric(metric.name)) values.push_back(*value);
    }
    if (values.size() != parts.size()) continue;  // a sum of some would pass for the whole
    all.metrics.push_back({metric.name, combine(combine_rule(metric.name, metric.unit), values, weights), metric.unit,
                           metric.provenance});
  }
  if (parts.size() == 1) all.occupancy_limiter = parts.front().occupancy_limiter;
  all.complete = parts.front().complete;
  parts.insert(parts.begin(), std::move(all));
}

void complete_kernels(PointRecord& point) {
  if (point.kernels.empty()) point.kernels.emplace_back();
  complete_sum(point.kernels);
  // Theory needs no kernel of ours for this one.
  KernelRecord& all = *std::ranges::find(point.kernels, "all", &KernelRecord::kernel);
  if (!has(all, metric_key::model_compulsory_bytes)) {
    all.metrics.push_back({std::string(metric_key::model_compulsory_bytes),
                           static_cast<double>(compulsory_traffic(point.spec.problem).total()), "byte",
                           Provenance::modelled});
  }
}

/// Rows of a kernel in a round, in whatever order, become rounds in theirs. The number of one whose kernel is there
/// twice.
std::optional<int> join_rounds(std::vector<RoundRecord>& rounds) {
  std::ranges::stable_sort(rounds, {}, &RoundRecord::round);
  std::vector<RoundRecord> joined;
  for (RoundRecord& given : rounds) {
    if (joined.empty() || joined.back().round != given.round) {
      joined.push_back(std::move(given));
      continue;
    }
    std::vector<KernelRecord>& kernels = joined.back().kernels;
    KernelRecord& kernel = given.kernels.front();
    if (std::ranges::count(kernels, kernel.kernel, &KernelRecord::kernel) > 0) return given.round;
    kernels.push_back(std::move(kernel));
  }
  rounds = std::move(joined);
  return std::nullopt;
}

bool has_time(const RoundRecord& round) {
  const auto found = std::ranges::find(round.kernels, "all", &KernelRecord::kernel);
  return found != round.kernels.end() && (!found->samples_ns.empty() || has(*found, metric_key::time_median_ns));
}

/// Rounds are what a point's values are made of: they stay where each has the times of the whole, else the values that
/// the file gives beside them stand alone. What those hold and no round does is the first round's.
void complete_rounds(PointRecord& point) {
  if (!std::ranges::all_of(point.rounds, has_time)) point.rounds.clear();
  if (point.rounds.empty()) return;
  std::vector<KernelRecord>& first = point.rounds.front().kernels;
  for (const KernelRecord& kernel : point.kernels) {
    auto of_first = std::ranges::find(first, kernel.kernel, &KernelRecord::kernel);
    if (of_first == first.end()) {
      of_first = first.insert(first.end(), KernelRecord());
      of_first->kernel = kernel.kernel;
    }
    for (const MetricValue& metric : kernel.metrics) {
      const bool in_rounds = std::ranges::any_of(point.rounds, [&](const RoundRecord& round) {
        const auto found = std::ranges::find(round.kernels, kernel.kernel, &KernelRecord::kernel);
        const bool timed = found != round.kernels.end() && !found->samples_ns.empty();
        return (timed && is_of_times(metric.name)) || (found != round.kernels.end() && has(*found, metric.name));
      });
      if (!in_rounds) of_first->metrics.push_back(metric);
    }
  }
  const auto has_clocks = [](const RoundRecord& round) { return round.clocks.has_value(); };
  if (std::ranges::none_of(point.rounds, has_clocks)) point.rounds.front().clocks = point.clocks;
  sum_up_rounds(point);
}

/// What a file may say beside the fields of a point, knobs, metrics and the numbers of a point.
constexpr std::array<std::string_view, 21> known_columns{"kernel",
                                                         "disposition",
                                                         reason_column::words,
                                                         reason_column::code,
                                                         "provenance",
                                                         "throttled",
                                                         "samples",
                                                         "device",
                                                         "run",
                                                         "point",
                                                         "time_ns",
                                                         "metrics",
                                                         round_column::round,
                                                         round_column::samples,
                                                         "uid",
                                                         "simulated",
                                                         "planned_points",
                                                         "occupancy_limiter",
                                                         long_column::run_uid,
                                                         long_column::plan_index};
}  // namespace

const std::string* ImportRow::find(std::string_view name) const {
  const auto found = fields.find(name);
  return found == fields.end() ? nullptr : &found->second;
}

std::string ImportRow::text(std::string_view name) const {
  const std::string* field = find(name);
  return field != nullptr ? *field : std::string();
}

std::optional<double> ImportRow::real(std::string_view name) const {
  const std::string* field = find(name);
  if (field == nullptr) return std::nullopt;
  const auto value = number(*field);
  if (!value && field->find(',') != std::string::npos)
    fail(at(name), make_message("'{}' is not a number here: write a point before its decimals and nothing between "
                                "thousands",
                                *field));
  if (!value) fail(at(name), make_message("'{}' is not a number", *field));
  return value;
}

std::optional<std::int64_t> ImportRow::integer(std::string_view name) const {
  const auto value = real(name);
  if (!value) return std::nullopt;
  constexpr double largest = 1e15;
  if (*value != std::trunc(*value) || std::abs(*value) > largest) {
    fail(at(name), make_message("'{}' is not a whole number", *find(name)));
  }
  return static_cast<std::int64_t>(*value);
}

std::optional<bool> ImportRow::flag(std::string_view name) const {
  const std::string* field = find(name);
  if (field == nullptr) return std::nullopt;
  for (const std::string_view yes : {"true", "True", "yes", "1"}) {
    if (*field == yes) return true;
  }
  for (const std::string_view no : {"false", "False", "no", "0"}) {
    if (*field == no) return false;
  }
  fail(at(name), make_message("'{}' is neither true nor false", *field));
}

Place ImportRow::at(std::string_view name) const {
  if (headings != nullptr) {
    if (const auto theirs = headings->find(name); theirs != headings->end()) name = theirs->second;
  }
  return place.at(place_part::column, name);
}

bool is_known_column(std::string_view name, const Registry& registry) {
  return std::ranges::find(known_columns, name) != known_columns.end() || find_field(name) != nullptr ||
         std::ranges::count(wide_fields(), name, &WideField::name) > 0 || registry.find_knob(name) != nullptr ||
         find_point_fact(name) != nullptr || metric_of(name) != nullptr || is_counter_name(name);
}

std::optional<ColumnInUnit> column_in_unit(std::string_view name, const Registry& registry) {
  const bool bracket = name.ends_with(']') || name.ends_with(')');
  const std::size_t at = name.find_last_of(bracket ? "[(" : "_");
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  std::string_view unit = name.substr(at + 1);
  if (bracket) unit.remove_suffix(1);
  std::string stem(name.substr(0, at));
  stem.erase(stem.find_last_not_of(' ') + 1);
  const auto [base, scale] = base_unit(unit);
  if (stem.ends_with("_" + base)) return std::nullopt;  // which of the two it would be
  const Metric* metric = metric_of(stem);
  if (metric != nullptr && metric->unit == base && metric->scale == 1)
    return ColumnInUnit{stem, std::string(unit), scale};
  if (base == "ns" && stem == time_columns.back()) return ColumnInUnit{stem, std::string(unit), scale};
  if (stem == "duration" || stem == "latency") stem = "time";
  stem += "_ns";
  if (base != "ns" || is_counter_name(stem) || !is_known_column(stem, registry)) return std::nullopt;
  return ColumnInUnit{std::move(stem), std::string(unit), scale};
}

std::string example_of(std::string_view text) {
  return printable(shortened(text));
}

ImportedColumn& ColumnList::operator[](std::string_view name) {
  constexpr std::size_t most = 4096;
  if (const auto known = place_.find(name); known != place_.end()) return columns_[known->second];
  if (columns_.size() == most) return beyond_ = {};
  place_.emplace(name, columns_.size());
  return columns_.emplace_back(ImportedColumn{.name = std::string(name)});
}

void ColumnList::read_as(std::string_view name, const ColumnInUnit& ours) {
  (*this)[name].unit = ours.unit;
  read_as_.emplace(name, ours.name);
}

void ColumnList::describe(ImportedColumn& column, const Registry& registry) const {
  const auto becomes = [&](std::string_view key, const Message& title, std::string_view unit = {}) {
    column.becomes = key;
    column.title = text(title);
    column.kept_in = unit;
  };
  const auto as = read_as_.find(column.name);
  const std::string_view name = as == read_as_.end() ? column.name : as->second;
  const auto wide = std::ranges::find(wide_fields(), name, &WideField::name);
  const bool time = name == round_column::samples || std::ranges::find(time_columns, name) != time_columns.end();
  const bool shared = name.starts_with("launch__shared_mem_per_block_");
  const Metric* metric = time     ? find_metric(metric_key::time_median_ns)
                         : shared ? find_metric(metric_key::shared_bytes)
                                  : metric_of(name);
  if (const Field* field = find_field(name)) {
    becomes(name, field->label ? field->label() : Message());
  } else if (wide != wide_fields().end()) {
    becomes(fmt::format("{}, {}", wide->first, wide->second), {});
    if (!kept_.contains(name)) column.left_out = make_message("{} and {} stand beside it", wide->first, wide->second);
  } else if (const PointFact* fact = find_point_fact(name)) {
    becomes(name, fact->label(), fact->unit);
  } else if (metric != nullptr) {
    becomes(metric->key, Message::verbatim(metric_title(metric->key)), metric->unit);
    if (!time && !shared && !kept_.contains(metric->key)) column.left_out = "follows from the others";
  } else if (is_counter_name(name)) {
    becomes(name, {}, column.unit.empty() ? "1" : base_unit(column.unit).first);
  } else if (is_known_column(name, registry)) {
    becomes(name, {});
  } else {
    column.left_out = "no field, knob, metric or counter is called so";
  }
}

std::vector<ImportedColumn> ColumnList::take(const Registry& registry) {
  for (ImportedColumn& column : columns_) {
    if (column.becomes.empty() && column.left_out.empty()) describe(column, registry);
    if (column.example.empty()) column.left_out = "no row has a value of it";
    if (!column.left_out.empty()) column.becomes = column.title = column.kept_in = {};
  }
  return std::move(columns_);
}

void PointBuilder::add(const ImportRow& row) {
  if (request_.proceed) request_.proceed();
  PointRecord point;
  point.spec = spec_of(row, registry());
  for (const WideField& wide : wide_fields()) {
    if (row.find(wide.first) == nullptr || row.find(wide.second) == nullptr) columns_.keep(wide.name);
  }
  const Provenance origin = origin_of(row);
  point.provenance = is_simulated(origin) ? Provenance::simulated : origin;
  KernelRecord kernel;
  if (const std::string* name = row.find("kernel")) kernel.kernel = *name;
  check_word(row.place, "kernel", kernel.kernel);
  add_point_facts(row, point);
  add_numbers(row, point, kernel, columns_);
  label(kernel, origin);
  require_storable(row.place, point, kernel);
  std::string device = request_.device_name.empty() ? row.text("device") : request_.device_name;
  if (device.empty()) device = "unnamed GPU";
  check_word(row.place, "device", device);

  const std::optional<int> round = round_of(row);
  const bool silent = kernel.metrics.empty() && kernel.samples_ns.empty();
  if (silent && (round || point.disposition == Disposition::ok)) {
    ++import_.empty_rows;
    return;
  }
  const std::string* uid = row.find(long_column::run_uid);
  ImportedDevice& of_device = device_of(device, uid != nullptr ? *uid : row.text("run"), is_simulated(origin));
  std::vector<PointRecord>& points = of_device.points;
  Identity identity{static_cast<std::size_t>(&of_device - import_.devices.data()), row.text("point"),
                    row.text(long_column::plan_index), identity_text(point.spec)};
  const auto [known, is_new] = latest_.try_emplace(std::move(identity), points.size());
  PointRecord* before = is_new ? nullptr : &points[known->second];
  if (round) {
    RoundRecord found{.round = *round, .kernels = {std::move(kernel)}, .clocks = point.clocks};
    if (before == nullptr) before = &points.emplace_back(std::move(point));
    before->rounds.push_back(std::move(found));
    return;
  }
  if (before != nullptr && before->kernel(kernel.kernel) != nullptr) {
    ++repeated_;
    known->second = points.size();
    before = nullptr;
  }
  if (before == nullptr) {
    before = &points.emplace_back(std::move(point));
  } else if (before->kernels.empty()) {  // its rounds stood above it
    point.rounds = std::move(before->rounds);
    *before = std::move(point);
  }
  for (RoundRecord given : row.rounds) {
    given.kernels.front().kernel = kernel.kernel;
    before->rounds.push_back(std::move(given));
  }
  before->kernels.push_back(std::move(kernel));
}

ImportedDevice& PointBuilder::device_of(const std::string& name, const std::string& run, bool simulated) {
  const auto [place, is_new] = devices_.try_emplace({name, run, simulated}, import_.devices.size());
  if (!is_new) return import_.devices[place->second];
  ImportedDevice& device = import_.devices.emplace_back();
  if (const DeviceLimits* known = find_gpu(name)) device.info.limits = *known;
  device.info.limits.name = name;
  device.info.simulated = simulated;
  // Not the device's own: its row stays what our measurements say.
  device.info.uuid = (simulated ? "IMPORTED-SIM-" : "IMPORTED-") + name;
  return device;
}

Import PointBuilder::take() {
  for (ImportedDevice& device : import_.devices) {
    for (PointRecord& point : device.points) {
      if (request_.proceed) request_.proceed();
      const auto refuse = [&](Message why) {
        fail(make_message("{} on {}: {}", describe(point.spec), device.info.limits.name, why));
      };
      if (const auto twice = join_rounds(point.rounds)) refuse(make_message("round {} is there twice", *twice));
      for (RoundRecord& round : point.rounds) complete_sum(round.kernels);
      if (point.kernels.empty()) sum_up_rounds(point);
      complete_kernels(point);
      complete_rounds(point);
      // Sums of what was in bounds may not be.
      if (Message wrong = out_of_bounds(point); !wrong.empty()) refuse(std::move(wrong));
    }
  }
  if (repeated_ > 0)
    import_.notes.emplace_back(
        make_message("Rows that say a point again and not of which round: {}. Each stays a point of its own, and "
                     "compare takes them for one round; a column 'round' (0, 1, ...) makes rounds of them.",
                     grouped(repeated_)));
  import_.columns = columns_.take(registry());
  for (const ImportedColumn& column : import_.columns) {
    const bool wide = std::ranges::count(wide_fields(), column.name, &WideField::name) > 0;
    if (wide && column.becomes.empty() && !column.example.empty()) ignore(column.name);
  }
  std::erase_if(import_.devices, [](const ImportedDevice& device) { return device.points.empty(); });
  if (import_.devices.empty()) {
    if (ignored_.empty()) fail("it holds no numbers: no row has a time, a metric or a counter");
    fail(
        make_message("it holds no numbers: no row has a time, a metric or a counter (columns not known: {}); a time's "
                     "column names its unit, as time_ns, time_ms or 'time [us]'",
                     fmt::join(ignored_, ", ")));
  }
  return std::move(import_);
}

void PointBuilder::ignore(std::string_view column) {
  if (ignored_.insert(std::string(column)).second) import_.ignored.emplace_back(column);
}

}  // namespace attnscope::exchange
