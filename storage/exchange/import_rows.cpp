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
#include "profiler/units/number_format.h"
#include "storage/bounds.h"
#include "storage/exchange/column_names.h"
#include "storage/exchange/import_values.h"

namespace attnscope::exchange {
namespace {

/// Returns an integer field from its column or from one that sets two fields; otherwise its default, if it has one.
std::int64_t integer_of(const ImportRow& row, const Field& field, const PointSpec& so_far) {
  const FieldPair* wide = field_pair_of(field.name);
  auto value = row.integer(field.name);
  std::string_view named = field.name;
  if (!value && wide != nullptr) {
    value = row.integer(wide->name);
    named = wide->name;
  }
  if (field.role == FieldRole::tile) {
    constexpr std::int64_t largest = 1 << 20;
    if (value.value_or(0) < 0 || value.value_or(0) > largest) {
      fail(row.at(named), make_message("{} is out of range", *value));
    }
    return value.value_or(0);
  }
  if (!value && field.optional_in_imports) return std::get<std::int64_t>(find_field(field.follows)->get(so_far));
  if (!value && !field.fallback.empty()) return std::get<std::int64_t>(*parse_field(field, field.fallback));
  if (!value) {
    if (wide == nullptr) fail(row.place, make_message("missing {}", field.name));
    fail(row.place, make_message("missing {} (or {})", field.name, wide->name));
  }
  if (*value < field.smallest) {
    fail(row.at(named), make_message("{} must be at least {}, not {}", named, field.smallest, *value));
  }
  if (*value > field.largest) {
    fail(row.at(named), make_message("{} {} is out of range (maximum: {})", named, *value, field.largest));
  }
  return *value;
}

PointSpec spec_of(const ImportRow& row, const Registry& registry) {
  PointSpec spec;
  spec.algorithm = row.text("algorithm");
  if (spec.algorithm.empty()) fail(row.place, "missing algorithm");
  require_valid_name(row.place, "algorithm", spec.algorithm);
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

constexpr std::array<std::string_view, 2> time_columns{"time_ns", "gpu__time_duration.sum"};

/// Throws if a row has two different times.
void require_equal_times(const Place& place, std::string_view key, double said, double follows) {
  constexpr double rounded = 1e-3;
  if (key != metric_key::time_median_ns || std::abs(said - follows) <= rounded * follows) return;
  fail(place, make_message("time {} contradicts the row's other time, {} (remove one of them)", text(Nanoseconds(said)),
                           text(Nanoseconds(follows))));
}

/// Adds the row's numbers, except those derived from others (a median from samples, TFLOP/s from a time).
void add_numbers(const ImportRow& row, PointRecord& point, KernelRecord& kernel, ColumnList& columns) {
  kernel.samples_ns = row.samples_ns;
  for (const std::string_view name : time_columns) {
    const auto time = checked(row.at(name), row.real(name));
    if (!time) continue;
    require_plausible(row.at(name), metric_key::time_median_ns, *time);
    // A time with quartiles is a median, not a sample.
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
  // Point with only this kernel, to evaluate derived metrics.
  PointRecord alone;
  alone.spec = point.spec;
  alone.provenance = Provenance::imported;
  // The table lists derived metrics after their inputs.
  for (const Metric& metric : metrics_table()) {
    for (const std::string_view name : {metric.key, metric.counter, metric.counter_cc12}) {
      if (name.empty()) continue;
      const auto value = checked(row.at(name), row.real(name), &metric);
      if (!value) continue;
      alone.kernels = {kernel};
      require_plausible(row.at(name), metric.key, *value * (name == metric.key ? 1 : metric.scale));
      if (const auto follows = evaluate(metric.key, alone, kernel.kernel)) {
        require_equal_times(row.at(name), metric.key, *value, follows->value);
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

/// Returns the file's provenance if it is `simulated` or `extrapolated`, otherwise `imported`.
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
  if (*round < 0 || *round >= max_rounds) {
    fail(row.at(round_column::round), make_message("'round' must be an integer >= 0 and < {}", grouped(max_rounds)));
  }
  return static_cast<int>(*round);
}

bool is_time_metric(std::string_view metric) {
  return metric == metric_key::time_median_ns || metric == metric_key::time_q1_ns || metric == metric_key::time_q3_ns;
}

/// Adds values of the whole point; exports have them in the point's first row.
void add_point_facts(const ImportRow& row, PointRecord& point) {
  if (const std::string* word = row.find("disposition")) {
    const auto disposition = parse_disposition(*word);
    if (!disposition) fail(row.at("disposition"), disposition.error());
    point.disposition = *disposition;
  }
  point.reason = Message(row.text(reason_column::code), row.text(reason_column::words));
  const auto amount = [&](std::string_view name) { return checked(row.at(name), row.real(name)); };
  point.max_abs_error = row.real("max_abs_error");  // infinite for an incorrect result
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

/// Throws if a value is out of the file format's bounds.
void require_storable(const Place& place, PointRecord point, const KernelRecord& kernel) {
  point.kernels = {kernel};
  if (Message wrong = bounds_error(point); !wrong.empty()) fail(place, std::move(wrong));
}

/// Adds kernel "all" as the sum of the others if it is missing.
void add_kernel_sum(std::vector<KernelRecord>& parts) {
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
    if (values.size() != parts.size()) continue;  // a partial sum would look complete
    all.metrics.push_back({metric.name, combine(combine_rule(metric.name, metric.unit), values, weights), metric.unit,
                           metric.provenance});
  }
  if (parts.size() == 1) all.occupancy_limiter = parts.front().occupancy_limiter;
  all.complete = parts.front().complete;
  parts.insert(parts.begin(), std::move(all));
}

void complete_kernels(PointRecord& point) {
  if (point.kernels.empty()) point.kernels.emplace_back();
  add_kernel_sum(point.kernels);
  // Compulsory bytes depend only on the problem.
  KernelRecord& all = *std::ranges::find(point.kernels, "all", &KernelRecord::kernel);
  if (!has(all, metric_key::model_compulsory_bytes)) {
    all.metrics.push_back({std::string(metric_key::model_compulsory_bytes),
                           static_cast<double>(compulsory_traffic(point.spec.problem).total()), "byte",
                           Provenance::modeled});
  }
}

/// Joins the kernels of each round and sorts the rounds. Returns a round in which a kernel occurs twice.
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

/// Keeps rounds only if each has the time of the whole point; otherwise only the point's own values remain. Point
/// values that no round has are added to the first round.
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
        return (timed && is_time_metric(metric.name)) || (found != round.kernels.end() && has(*found, metric.name));
      });
      if (!in_rounds) of_first->metrics.push_back(metric);
    }
  }
  const auto has_clocks = [](const RoundRecord& round) { return round.clocks.has_value(); };
  if (std::ranges::none_of(point.rounds, has_clocks)) point.rounds.front().clocks = point.clocks;
  summarize_rounds(point);
}

/// Columns that can be imported, besides fields, knobs, metrics and point facts.
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
    fail(at(name), make_message("'{}' is not a number (use a decimal point and no thousands separators)", *field));
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
  for (const std::string_view yes : {"true", "True", "yes", "1"}) {
    if (*field == yes) return true;
  }
  for (const std::string_view no : {"false", "False", "no", "0"}) {
    if (*field == no) return false;
  }
  fail(at(name), make_message("'{}' is neither true nor false", *field));
}

Place ImportRow::at(std::string_view name) const {
  if (file_columns != nullptr) {
    if (const auto theirs = file_columns->find(name); theirs != file_columns->end()) name = theirs->second;
  }
  return place.at(place_part::column, name);
}

bool is_known_column(std::string_view name, const Registry& registry) {
  return std::ranges::find(known_columns, name) != known_columns.end() || find_field(name) != nullptr ||
         std::ranges::count(field_pairs(), name, &FieldPair::name) > 0 || registry.find_knob(name) != nullptr ||
         find_point_fact(name) != nullptr || metric_of(name) != nullptr || is_counter_name(name);
}

std::optional<ScaledColumn> parse_scaled_column(std::string_view name, const Registry& registry) {
  const bool bracket = name.ends_with(']') || name.ends_with(')');
  const std::size_t at = name.find_last_of(bracket ? "[(" : "_");
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  std::string_view unit = name.substr(at + 1);
  if (bracket) unit.remove_suffix(1);
  std::string stem(name.substr(0, at));
  stem.erase(stem.find_last_not_of(' ') + 1);
  const auto [base, scale] = base_unit(unit);
  if (stem.ends_with("_" + base)) return std::nullopt;  // ambiguous: the name ends in the base unit, too
  const Metric* metric = metric_of(stem);
  if (metric != nullptr && metric->unit == base && metric->scale == 1)
    return ScaledColumn{stem, std::string(unit), scale};
  if (base == "ns" && stem == time_columns.back()) return ScaledColumn{stem, std::string(unit), scale};
  if (stem == "duration" || stem == "latency") stem = "time";
  stem += "_ns";
  if (base != "ns" || is_counter_name(stem) || !is_known_column(stem, registry)) return std::nullopt;
  return ScaledColumn{std::move(stem), std::string(unit), scale};
}

std::string shorten_example(std::string_view text) {
  return printable(shortened(text));
}

ImportedColumn& ColumnList::operator[](std::string_view name) {
  constexpr std::size_t most = 4096;
  if (const auto known = place_.find(name); known != place_.end()) return columns_[known->second];
  if (columns_.size() == most) return overflow_ = {};
  place_.emplace(name, columns_.size());
  return columns_.emplace_back(ImportedColumn{.name = std::string(name)});
}

void ColumnList::read_as(std::string_view name, const ScaledColumn& ours) {
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
  const auto wide = std::ranges::find(field_pairs(), name, &FieldPair::name);
  const bool time = name == round_column::samples || std::ranges::find(time_columns, name) != time_columns.end();
  const bool shared = name.starts_with("launch__shared_mem_per_block_");
  const Metric* metric = time     ? find_metric(metric_key::time_median_ns)
                         : shared ? find_metric(metric_key::shared_bytes)
                                  : metric_of(name);
  if (const Field* field = find_field(name)) {
    becomes(name, field->label ? field->label() : Message());
  } else if (wide != field_pairs().end()) {
    becomes(fmt::format("{}, {}", wide->first, wide->second), {});
    if (!kept_.contains(name))
      column.left_out = make_message("replaced by columns {} and {}", wide->first, wide->second);
  } else if (const PointFact* fact = find_point_fact(name)) {
    becomes(name, fact->label(), fact->unit);
  } else if (metric != nullptr) {
    becomes(metric->key, Message::verbatim(metric_title(metric->key)), metric->unit);
    if (!time && !shared && !kept_.contains(metric->key)) column.left_out = "derived from other columns";
  } else if (is_counter_name(name)) {
    becomes(name, {}, column.unit.empty() ? "1" : base_unit(column.unit).first);
  } else if (is_known_column(name, registry)) {
    becomes(name, {});
  } else {
    column.left_out = "not a field, knob, metric or counter";
  }
}

std::vector<ImportedColumn> ColumnList::take(const Registry& registry) {
  for (ImportedColumn& column : columns_) {
    if (column.becomes.empty() && column.left_out.empty()) describe(column, registry);
    if (column.example.empty()) column.left_out = "no values";
    if (!column.left_out.empty()) column.becomes = column.title = column.kept_in = {};
  }
  return std::move(columns_);
}

void PointBuilder::add(const ImportRow& row) {
  if (request_.cancellation_check) request_.cancellation_check();
  PointRecord point;
  point.spec = spec_of(row, registry());
  for (const FieldPair& wide : field_pairs()) {
    if (row.find(wide.first) == nullptr || row.find(wide.second) == nullptr) columns_.keep(wide.name);
  }
  const Provenance origin = origin_of(row);
  point.provenance = is_simulated(origin) ? Provenance::simulated : origin;
  KernelRecord kernel;
  if (const std::string* name = row.find("kernel")) kernel.kernel = *name;
  require_valid_name(row.place, "kernel", kernel.kernel);
  add_point_facts(row, point);
  add_numbers(row, point, kernel, columns_);
  label(kernel, origin);
  require_storable(row.place, point, kernel);
  std::string device = request_.device_name.empty() ? row.text("device") : request_.device_name;
  if (device.empty()) device = "unnamed GPU";
  require_valid_name(row.place, "device", device);

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
                    row.text(long_column::plan_index), canonical_text(point.spec)};
  const auto [known, is_new] = latest_.try_emplace(std::move(identity), points.size());
  PointRecord* before = is_new ? nullptr : &points[known->second];
  if (round) {
    RoundRecord found{.round = *round, .kernels = {std::move(kernel)}, .clocks = point.clocks};
    if (before == nullptr) before = &points.emplace_back(std::move(point));
    before->rounds.push_back(std::move(found));
    return;
  }
  if (before != nullptr && before->kernel(kernel.kernel) != nullptr) {
    ++repeated_rows_;
    known->second = points.size();
    before = nullptr;
  }
  if (before == nullptr) {
    before = &points.emplace_back(std::move(point));
  } else if (before->kernels.empty()) {  // its rounds came first
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
  // The uuid differs from the device's own, so that imports do not change its row.
  device.info.uuid = (simulated ? "IMPORTED-SIM-" : "IMPORTED-") + name;
  return device;
}

Import PointBuilder::take() {
  for (ImportedDevice& device : import_.devices) {
    for (PointRecord& point : device.points) {
      if (request_.cancellation_check) request_.cancellation_check();
      const auto refuse = [&](Message why) {
        fail(make_message("{} on {}: {}", describe(point.spec), device.info.limits.name, why));
      };
      if (const auto twice = join_rounds(point.rounds)) refuse(make_message("duplicate round {}", *twice));
      for (RoundRecord& round : point.rounds) add_kernel_sum(round.kernels);
      if (point.kernels.empty()) summarize_rounds(point);
      complete_kernels(point);
      complete_rounds(point);
      // Sums of values in bounds may be out of bounds.
      if (Message wrong = bounds_error(point); !wrong.empty()) refuse(std::move(wrong));
    }
  }
  if (repeated_rows_ > 0)
    import_.notes.emplace_back(
        make_message("{} rows repeat a point and are imported as separate points. Add a column 'round' (0, 1, ...) to "
                     "import rounds.",
                     grouped(repeated_rows_)));
  import_.columns = columns_.take(registry());
  for (const ImportedColumn& column : import_.columns) {
    const bool wide = std::ranges::count(field_pairs(), column.name, &FieldPair::name) > 0;
    if (wide && column.becomes.empty() && !column.example.empty()) ignore(column.name);
  }
  std::erase_if(import_.devices, [](const ImportedDevice& device) { return device.points.empty(); });
  if (import_.devices.empty()) {
    if (ignored_.empty()) fail("no row has a time, metric or counter");
    fail(
        make_message("no row has a time, metric or counter; unknown columns: {} (expected a time column such as "
                     "time_ns, time_ms or 'time [us]')",
                     fmt::join(ignored_, ", ")));
  }
  return std::move(import_);
}

void PointBuilder::ignore(std::string_view column) {
  if (ignored_.insert(std::string(column)).second) import_.ignored.emplace_back(column);
}

}  // namespace attnscope::exchange
