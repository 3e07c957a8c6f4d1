// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "kernels/model/io_model.h"
#include "profiler/metrics/combine.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"
#include "profiler/plan/text.h"

namespace attnscope {
namespace {

using Json = nlohmann::json;

/// What is wrong with the file; import_points() hands it on as its error.
class Wrong : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class... Parts>
[[noreturn]] void fail(fmt::format_string<Parts...> format, Parts&&... parts) {
  throw Wrong(fmt::format(format, std::forward<Parts>(parts)...));
}

// -- Numbers and units ------------------------------------------------------------------------------------------------

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// What a value in this unit is multiplied with to be one in the base unit.
struct Unit {
  std::string_view base;
  double scale = 1;
};

constexpr std::array<std::pair<std::string_view, Unit>, 22> units{{
    {"byte", {"byte", 1}},    {"Kbyte", {"byte", 1e3}},  {"Mbyte", {"byte", 1e6}},
    {"Gbyte", {"byte", 1e9}}, {"Tbyte", {"byte", 1e12}}, {"nsecond", {"ns", 1}},
    {"usecond", {"ns", 1e3}}, {"msecond", {"ns", 1e6}},  {"second", {"ns", 1e9}},
    {"ns", {"ns", 1}},        {"us", {"ns", 1e3}},       {"ms", {"ns", 1e6}},
    {"s", {"ns", 1e9}},       {"%", {"percent", 1}},     {"percent", {"percent", 1}},
    {"cycle", {"cycle", 1}},  {"hz", {"hertz", 1}},      {"Khz", {"hertz", 1e3}},
    {"Mhz", {"hertz", 1e6}},  {"Ghz", {"hertz", 1e9}},   {"register", {"register", 1}},
    {"", {"1", 1}},
}};

/// "Mbyte/second" as bytes a second, "Kbyte/block" as bytes; a unit that we do not know is left as it is.
std::pair<std::string, double> base_unit(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view above = text.substr(0, slash);
  const std::string_view below = slash == std::string_view::npos ? std::string_view() : text.substr(slash + 1);
  const auto find = [](std::string_view word) {
    return std::ranges::find(units, word, &std::pair<std::string_view, Unit>::first);
  };
  const auto* unit = find(above);
  if (unit == units.end()) return {std::string(text), 1};
  if (below.empty() || below == "block" || below == "thread")
    return {std::string(unit->second.base), unit->second.scale};
  const auto* time = find(below);
  if (time == units.end() || time->second.base != "ns" || unit->second.base == "ns") return {std::string(text), 1};
  return {fmt::format("{}/s", unit->second.base), unit->second.scale / (time->second.scale / 1e9)};
}

// -- Names ------------------------------------------------------------------------------------------------------------

/// The metric that a column of this name holds, by our name or the counter's.
const Metric* metric_of(std::string_view name) {
  for (const Metric& metric : metrics_table()) {
    const bool counter = !metric.counter.empty() && (metric.counter == name || metric.counter_cc12 == name);
    if (metric.key == name || counter) return &metric;
  }
  // What ncu says of a launch and we ask the driver for.
  if (name == "launch__registers_per_thread") return find_metric(metric_key::registers);
  if (name == "sm__maximum_warps_per_active_cycle_pct") return find_metric(metric_key::theoretical_occupancy_pct);
  return nullptr;
}

bool is_counter_name(std::string_view name) {
  return name.find("__") != std::string_view::npos;
}

void check_word(std::string_view place, std::string_view what, std::string_view text) {
  const bool control = std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7F; });
  constexpr std::size_t longest = 200;
  if (control || text.size() > longest) fail("{}: the {} is no name", place, what);
}

/// A name's first byte that is no UTF-8, or npos.
std::size_t invalid_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned char first = byte(i);
    const std::size_t length = first < 0x80   ? 1
                               : first < 0xC2 ? 0
                               : first < 0xE0 ? 2
                               : first < 0xF0 ? 3
                               : first < 0xF5 ? 4
                                              : 0;
    if (length == 0 || i + length > text.size()) return i;
    for (std::size_t k = 1; k < length; ++k) {
      if ((byte(i + k) & 0xC0U) != 0x80U) return i;
    }
    if (length > 2) {  // overlong forms, surrogates, beyond Unicode
      const unsigned char second = byte(i + 1);
      if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) || (first == 0xF0 && second < 0x90) ||
          (first == 0xF4 && second > 0x8F)) {
        return i;
      }
    }
    i += length;
  }
  return std::string_view::npos;
}

// -- Rows -------------------------------------------------------------------------------------------------------------

/// One record of a file, whatever its form: fields by name, as text.
struct Row {
  std::string place;                                       ///< "line 3", "points[2]"
  std::map<std::string, std::string, std::less<>> fields;  ///< absent ones left out
  std::vector<MetricValue> metrics;                        ///< with units: of JSON's "metrics"
  std::vector<double> samples_ns;

  [[nodiscard]] const std::string* find(std::string_view name) const {
    const auto found = fields.find(name);
    return found == fields.end() ? nullptr : &found->second;
  }
  [[nodiscard]] std::string text(std::string_view name) const {
    const std::string* field = find(name);
    return field != nullptr ? *field : std::string();
  }
  [[nodiscard]] std::string at(std::string_view name) const { return fmt::format("{}, column '{}'", place, name); }

  [[nodiscard]] std::optional<double> real(std::string_view name) const {
    const std::string* field = find(name);
    if (field == nullptr) return std::nullopt;
    const auto value = number(*field);
    if (!value) fail("{}: '{}' is not a number", at(name), *field);
    return value;
  }
  /// A whole number; also one that is written as a real one ("1024.0").
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name) const {
    const auto value = real(name);
    if (!value) return std::nullopt;
    constexpr double largest = 1e15;
    if (*value != std::trunc(*value) || std::abs(*value) > largest) {
      fail("{}: '{}' is not a whole number", at(name), *find(name));
    }
    return static_cast<std::int64_t>(*value);
  }
  [[nodiscard]] std::optional<bool> flag(std::string_view name) const {
    const std::string* field = find(name);
    if (field == nullptr) return std::nullopt;
    for (const std::string_view yes : {"true", "True", "yes", "1"}) {
      if (*field == yes) return true;
    }
    for (const std::string_view no : {"false", "False", "no", "0"}) {
      if (*field == no) return false;
    }
    fail("{}: '{}' is neither true nor false", at(name), *field);
  }
  template <class T, class Parse>
  void word(std::string_view name, T& target, Parse parse) const {
    const std::string* field = find(name);
    if (field == nullptr) return;
    auto parsed = parse(*field);
    if (!parsed) fail("{}: {}", at(name), parsed.error());
    target = std::move(parsed).value();
  }
};

/// What a file may say beside the fields of a point, knobs and metrics.
constexpr std::array<std::string_view, 23> known_columns{
    "heads",          "N",         "kernel",      "disposition",     "reason",    "provenance",        "max_abs_error",
    "error_bound",    "rms_error", "sm_clock_hz", "memory_clock_hz", "throttled", "occupancy_limiter", "samples",
    "device",         "run",       "point",       "time_ns",         "metrics",   "samples_ns",        "simulated",
    "planned_points", "uid"};

bool is_known_column(std::string_view name, const Registry& registry) {
  return std::ranges::find(known_columns, name) != known_columns.end() || find_field(name) != nullptr ||
         registry.find_knob(name) != nullptr || metric_of(name) != nullptr || is_counter_name(name);
}

/// The column that stands for a field and another one.
std::string_view wide_name(std::string_view field) {
  if (field == "n_q" || field == "n_k") return "N";
  return field == "heads_q" || field == "heads_kv" ? "heads" : "";
}

/// A whole number of a point: what its column holds, or the one that stands for two; else the fallback, where a point
/// need not say it.
std::int64_t integer_of(const Row& row, const Field& field, const PointSpec& so_far) {
  const std::string_view wide = wide_name(field.name);
  auto value = row.integer(field.name);
  std::string_view named = field.name;
  if (!value && !wide.empty()) {
    value = row.integer(wide);
    named = wide;
  }
  const bool of_tile = field.name == "br" || field.name == "bc";
  if (of_tile) {
    constexpr std::int64_t largest = 1 << 20;
    if (value.value_or(0) < 0 || value.value_or(0) > largest) fail("{}: {} is absurd", row.at(named), *value);
    return value.value_or(0);
  }
  if (!value && field.name == "heads_kv") return so_far.problem.heads_q;
  if (!value && !field.fallback.empty()) return std::get<std::int64_t>(*parse_field(field, field.fallback));
  if (!value) {
    fail("{}: there is no {}{}", row.place, field.name, wide.empty() ? std::string() : fmt::format(" (or {})", wide));
  }
  if (*value < field.smallest) {
    fail("{}: {} must be at least {}, not {}", row.at(named), named, field.smallest, *value);
  }
  return *value;
}

/// A value of a metric: NaN is no value, infinity and negative amounts are mistakes.
std::optional<double> checked(const std::string& place, std::optional<double> value) {
  if (!value || std::isnan(*value)) return std::nullopt;
  if (std::isinf(*value)) fail("{}: the value is infinite", place);
  if (*value < 0) fail("{}: {} is below zero", place, *value);
  return value;
}

PointSpec spec_of(const Row& row, const Registry& registry) {
  PointSpec spec;
  spec.algorithm = row.text("algorithm");
  if (spec.algorithm.empty()) fail("{}: there is no algorithm", row.place);
  check_word(row.place, "algorithm", spec.algorithm);
  for (const Field& field : point_fields()) {
    if (field.name == "algorithm") continue;
    if (field.type == FieldType::integer) {
      if (const auto set = field.set(spec, integer_of(row, field, spec)); !set) fail("{}: {}", row.place, set.error());
    } else if (const std::string* text = row.find(field.name)) {
      if (const auto set = set_field(field, spec, *text); !set) fail("{}: {}", row.at(field.name), set.error());
    }
  }
  if (const std::string wrong = invalid_reason(spec.problem); !wrong.empty()) fail("{}: {}", row.place, wrong);
  for (const Knob& knob : registry.knobs()) {
    const std::string* text = row.find(knob.name);
    if (text == nullptr) continue;
    const auto value = parse_knob(knob, *text);
    if (!value) fail("{}: {}", row.at(knob.name), value.error());
    if (*value) spec.knobs.set(knob.name, **value);
  }
  return spec;
}

bool has(const KernelRecord& kernel, std::string_view name) {
  return kernel.metric(name).has_value();
}

/// The row's numbers. What follows from others among them (a median from samples, TFLOP/s from a time) is not kept.
void add_numbers(const Row& row, PointRecord& point, KernelRecord& kernel) {
  kernel.samples_ns = row.samples_ns;
  if (const auto time = checked(row.at("time_ns"), row.real("time_ns")); time && kernel.samples_ns.empty()) {
    kernel.samples_ns = {*time};
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
      const auto value = checked(row.at(name), row.real(name));
      if (!value) continue;
      alone.kernels = {kernel};
      if (evaluate(metric.key, alone, kernel.kernel)) continue;
      kernel.metrics.push_back({std::string(metric.key), *value * (name == metric.key ? 1 : metric.scale),
                                std::string(metric.unit), Provenance::imported});
    }
  }
  for (const auto& [name, text] : row.fields) {
    const Metric* metric = metric_of(name);
    const bool in_table =
        metric != nullptr && (metric->key == name || metric->counter == name || metric->counter_cc12 == name);
    if (in_table || !is_counter_name(name)) continue;
    const auto value = checked(row.at(name), row.real(name));
    const std::string key(metric != nullptr ? metric->key : std::string_view(name));
    if (!value || has(kernel, key)) continue;
    kernel.metrics.push_back({key, *value, std::string(metric != nullptr ? metric->unit : "1"), Provenance::imported});
  }
  kernel.occupancy_limiter = row.text("occupancy_limiter");
}

/// What holds of the point as a whole; our own export says it in the first of its rows.
void add_point_facts(const Row& row, PointRecord& point) {
  row.word("disposition", point.disposition, parse_disposition);
  point.reason = row.text("reason");
  const auto amount = [&](std::string_view name) { return checked(row.at(name), row.real(name)); };
  point.max_abs_error = row.real("max_abs_error");  // a wrong result's may be infinite
  point.error_bound = row.real("error_bound");
  point.rms_error = row.real("rms_error");
  if (const auto clock = amount("sm_clock_hz")) {
    point.clocks = ClockReading{.sm_clock_hz = *clock,
                                .memory_clock_hz = amount("memory_clock_hz").value_or(0),
                                .temperature_c = 0,
                                .power_w = 0,
                                .throttle_reasons = 0,
                                .throttled = row.flag("throttled").value_or(false)};
  }
}

/// Every point has "all": where the file has only its parts, their sum.
void complete_kernels(PointRecord& point) {
  if (point.kernels.empty()) point.kernels.emplace_back();
  if (point.kernel("all") == nullptr) {
    KernelRecord all;
    const std::vector<KernelRecord>& parts = point.kernels;
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
                             Provenance::imported});
    }
    if (parts.size() == 1) all.occupancy_limiter = parts.front().occupancy_limiter;
    point.kernels.insert(point.kernels.begin(), std::move(all));
  }
  // Theory needs no kernel of ours for this one.
  KernelRecord& all = *std::ranges::find(point.kernels, "all", &KernelRecord::kernel);
  if (!has(all, metric_key::model_compulsory_bytes)) {
    all.metrics.push_back({std::string(metric_key::model_compulsory_bytes),
                           static_cast<double>(compulsory_traffic(point.spec.problem).total()), "byte",
                           Provenance::modelled});
  }
}

/// Rows become points, points go to their devices.
class Builder {
 public:
  Builder(std::string device_name, const Registry& registry)
      : device_name_(std::move(device_name)), registry_(registry) {}

  [[nodiscard]] const Registry& registry() const { return registry_; }

  void add(const Row& row) {
    PointRecord point;
    point.spec = spec_of(row, registry_);
    point.provenance = Provenance::imported;
    KernelRecord kernel;
    if (const std::string* name = row.find("kernel")) kernel.kernel = *name;
    check_word(row.place, "kernel", kernel.kernel);
    add_point_facts(row, point);
    add_numbers(row, point, kernel);
    std::string device = device_name_.empty() ? row.text("device") : device_name_;
    if (device.empty()) device = "unnamed GPU";
    check_word(row.place, "device", device);

    const bool silent = kernel.metrics.empty() && kernel.samples_ns.empty();
    if (silent && point.disposition == Disposition::ok) {
      ++import_.empty_rows;
      return;
    }
    const auto identity = std::tuple(device, row.text("run"), row.text("point"));
    std::vector<PointRecord>& points = device_of(device).points;
    const bool same = !points.empty() && identity == identity_ && points.back().spec == point.spec &&
                      points.back().kernel(kernel.kernel) == nullptr;
    if (!same) points.push_back(std::move(point));
    points.back().kernels.push_back(std::move(kernel));
    identity_ = identity;
  }

  ImportedDevice& device_of(const std::string& name) {
    const auto found =
        std::ranges::find(import_.devices, name, [](const ImportedDevice& device) { return device.info.limits.name; });
    if (found != import_.devices.end()) return *found;
    ImportedDevice& device = import_.devices.emplace_back();
    if (const DeviceLimits* known = find_gpu(name)) device.info.limits = *known;
    device.info.limits.name = name;
    device.info.uuid = "IMPORTED-" + name;  // not the device's own: its row stays what our measurements say
    return device;
  }

  Import take() {
    for (ImportedDevice& device : import_.devices) {
      for (PointRecord& point : device.points) complete_kernels(point);
    }
    std::erase_if(import_.devices, [](const ImportedDevice& device) { return device.points.empty(); });
    if (import_.devices.empty()) {
      fail("it holds no numbers: no row has a time, a metric or a counter{}",
           ignored_.empty() ? "" : fmt::format(" (columns not known: {})", fmt::join(ignored_, ", ")));
    }
    return std::move(import_);
  }

  void ignore(std::string_view column) {
    if (ignored_.insert(std::string(column)).second) import_.ignored.emplace_back(column);
  }

 private:
  std::string device_name_;
  const Registry& registry_;
  Import import_;
  std::set<std::string> ignored_;
  std::tuple<std::string, std::string, std::string> identity_;
};

// -- CSV --------------------------------------------------------------------------------------------------------------

struct CsvLine {
  std::size_t number = 0;  ///< of its first line in the file
  std::vector<std::string> fields;
};

/// RFC 4180, lines ending in LF or CR LF. `text` begins at line `first`.
std::vector<CsvLine> parse_csv(std::string_view text, std::size_t first) {
  std::vector<CsvLine> lines;
  std::size_t line = first;
  std::size_t i = 0;
  while (i < text.size()) {
    CsvLine& record = lines.emplace_back();
    record.number = line;
    for (;;) {
      std::string& field = record.fields.emplace_back();
      if (i < text.size() && text[i] == '"') {
        const std::size_t opened = line;
        for (++i;; ++i) {
          if (i >= text.size()) fail("line {}: a quoted field does not end", opened);
          if (text[i] == '\n') ++line;
          if (text[i] != '"') {
            field += text[i];
          } else if (i + 1 < text.size() && text[i + 1] == '"') {
            field += text[i++];
          } else {
            break;
          }
        }
        ++i;
        if (i < text.size() && text[i] != ',' && text[i] != '\n' && text[i] != '\r') {
          fail("line {}, column {}: something follows the closing quote", line, record.fields.size());
        }
      } else {
        while (i < text.size() && text[i] != ',' && text[i] != '\n') field += text[i++];
        while (!field.empty() && (field.back() == '\r' || field.back() == ' ')) field.pop_back();
        field.erase(0, field.find_first_not_of(' '));
      }
      if (i < text.size() && text[i] == '\r') ++i;
      if (i >= text.size() || text[i] == '\n') break;
      ++i;  // the comma
    }
    if (i < text.size()) ++i;  // the newline
    ++line;
    if (record.fields.size() == 1 && record.fields[0].empty()) lines.pop_back();
  }
  return lines;
}

void require_columns(const CsvLine& header,
                     std::initializer_list<std::pair<std::string_view, std::string_view>> needed) {
  for (const auto& [name, wide] : needed) {
    const auto is_there = [&](std::string_view wanted) {
      return !wanted.empty() && std::ranges::find(header.fields, wanted) != header.fields.end();
    };
    if (is_there(name) || is_there(wide)) continue;
    const auto near = near_matches(name, header.fields, 1);
    fail("line {}: there is no column '{}'{}{}", header.number, name,
         wide.empty() ? std::string() : fmt::format(" (or '{}')", wide),
         near.empty() ? std::string() : fmt::format("; did you mean it by '{}'?", near.front()));
  }
}

void require_width(const CsvLine& header, const CsvLine& line) {
  if (line.fields.size() == header.fields.size()) return;
  fail("line {}: {} fields below a header of {}", line.number, line.fields.size(), header.fields.size());
}

void require_distinct(const CsvLine& header) {
  std::set<std::string_view> seen;
  for (const std::string& name : header.fields) {
    if (!name.empty() && !seen.insert(name).second) fail("line {}: column '{}' is there twice", header.number, name);
  }
}

Import import_csv(std::string_view text, const ImportRequest& request) {
  const std::vector<CsvLine> lines = parse_csv(text, 1);
  if (lines.empty()) fail("it is empty");
  const CsvLine& header = lines.front();
  require_distinct(header);
  require_columns(header, {{"algorithm", ""}, {"n_q", "N"}, {"n_k", "N"}, {"heads_q", "heads"}, {"d", ""}});
  Builder builder(request.device_name, *request.registry);
  for (const std::string& name : header.fields) {
    if (!is_known_column(name, *request.registry)) builder.ignore(name);
  }
  for (const CsvLine& line : std::span(lines).subspan(1)) {
    require_width(header, line);
    Row row{.place = fmt::format("line {}", line.number), .fields = {}, .metrics = {}, .samples_ns = {}};
    for (std::size_t i = 0; i < line.fields.size(); ++i) {
      if (!line.fields[i].empty()) row.fields[header.fields[i]] = line.fields[i];
    }
    builder.add(row);
  }
  return builder.take();
}

// -- JSON -------------------------------------------------------------------------------------------------------------

std::string scalar(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

MetricValue metric_from(const std::string& place, const std::string& name, const Json& value) {
  const Json* amount = &value;
  std::string unit;
  if (value.is_object()) {
    const auto found = value.find("value");
    if (found == value.end()) fail("{}: there is no value", place);
    amount = &*found;
    const auto named = value.find("unit");
    if (named != value.end() && !named->is_string()) fail("{}: the unit is no word", place);
    if (named != value.end()) unit = named->get<std::string>();
  }
  if (!amount->is_number()) fail("{}: the value is not a number", place);
  const Metric* metric = metric_of(name);
  const auto [base, scale] = base_unit(unit);
  const bool in_base_unit = metric != nullptr && unit == metric->unit;
  const auto number = checked(place, amount->get<double>() * (in_base_unit ? 1 : scale));
  if (!number) fail("{}: the value is not a number", place);
  if (metric == nullptr) return {name, *number, unit.empty() ? "1" : base, Provenance::imported};
  if (!unit.empty() && !in_base_unit && base != metric->unit) {
    fail("{}: the unit is '{}', not {}", place, unit, metric->unit);
  }
  return {std::string(metric->key), *number, std::string(metric->unit), Provenance::imported};
}

Row row_from(const Json& point, std::string place, Builder& builder) {
  if (!point.is_object()) fail("{}: it is no object", place);
  Row row{.place = std::move(place), .fields = {}, .metrics = {}, .samples_ns = {}};
  for (const auto& [name, value] : point.items()) {
    if (value.is_null()) continue;
    if (name == "metrics") {
      if (!value.is_object()) fail("{}: it is no object", row.at(name));
      for (const auto& [key, metric] : value.items()) {
        row.metrics.push_back(metric_from(row.at(key), key, metric));
      }
    } else if (name == "samples_ns") {
      if (!value.is_array()) fail("{}: it is no array", row.at(name));
      for (const Json& sample : value) {
        const auto time = sample.is_number() ? checked(row.at(name), sample.get<double>()) : std::nullopt;
        if (!time) fail("{}: a sample is not a number", row.at(name));
        row.samples_ns.push_back(*time);
      }
    } else if (!is_known_column(name, builder.registry())) {
      builder.ignore(name);
    } else if (value.is_structured()) {
      fail("{}: it is no single value", row.at(name));
    } else {
      row.fields[name] = scalar(value);
    }
  }
  return row;
}

DeviceLimits limits_from(const Json& block, const std::string& place, DeviceLimits limits) {
  const auto read = [&]<class T>(const char* key, T& member) {
    const auto found = block.find(key);
    if (found == block.end() || !found->is_number()) return;
    const double value = found->get<double>();
    constexpr double most = std::is_same_v<T, int> ? 1 << 30 : std::is_same_v<T, double> ? 1e30 : 1e15;
    const bool whole = std::is_floating_point_v<T> || value == std::trunc(value);
    if (!whole || !(value >= 0 && value <= most)) fail("{}, '{}': {} is absurd", place, key, found->dump());
    member = static_cast<T>(value);
  };
  if (const auto found = block.find("compute_capability"); found != block.end() && found->is_string()) {
    const auto text = found->get<std::string>();
    const char* const end = text.data() + text.size();
    unsigned major = 0;
    unsigned minor = 0;
    constexpr unsigned most = 1000;
    const auto first = std::from_chars(text.data(), end, major);
    const bool dot = first.ec == std::errc() && first.ptr != end && *first.ptr == '.';
    const auto second = dot ? std::from_chars(first.ptr + 1, end, minor) : first;
    if (!dot || second.ec != std::errc() || second.ptr != end || major > most || minor > most) {
      fail("{}, 'compute_capability': '{}' is not two numbers as in 9.0", place, text);
    }
    limits.compute_major = static_cast<int>(major);
    limits.compute_minor = static_cast<int>(minor);
  }
  read("sm_count", limits.sm_count);
  read("max_threads_per_block", limits.max_threads_per_block);
  read("max_threads_per_sm", limits.max_threads_per_sm);
  read("max_blocks_per_sm", limits.max_blocks_per_sm);
  read("registers_per_sm", limits.registers_per_sm);
  read("shared_bytes_per_block", limits.shared_bytes_per_block);
  read("shared_bytes_per_sm", limits.shared_bytes_per_sm);
  read("shared_bytes_reserved", limits.shared_bytes_reserved);
  read("l2_bytes", limits.l2_bytes);
  read("dram_bytes", limits.dram_bytes);
  read("dram_bytes_per_second", limits.dram_bytes_per_second);
  read("l2_bytes_per_second", limits.l2_bytes_per_second);
  read("tensor_flops", limits.tensor_flops);
  return limits;
}

Import import_json(std::string_view text, const ImportRequest& request) {
  Json document;
  try {
    document = Json::parse(text);
  } catch (const Json::exception& error) {  // also out_of_range, for 1e999
    std::string why = error.what();         // "[json.exception.parse_error.101] parse error at line 3, column 5: ..."
    if (const std::size_t at = why.find("] "); at != std::string::npos) why.erase(0, at + 2);
    throw Wrong(why);
  }
  const Json* points = &document;
  if (document.is_object()) {
    const auto version = document.find("schema_version");
    if (version != document.end() && *version != 1) {
      fail("its schema version is {}, and this attnscope knows 1", version->dump());
    }
    const auto found = document.find("points");
    if (found == document.end()) fail("there is no \"points\"");
    points = &*found;
  }
  if (!points->is_array()) fail("\"points\" is no array");
  Builder builder(request.device_name, *request.registry);
  std::size_t index = 0;
  for (const Json& point : *points) builder.add(row_from(point, fmt::format("points[{}]", index++), builder));

  Import import = builder.take();
  if (!document.is_object() || !document.contains("devices") || !document["devices"].is_array()) return import;
  std::size_t place = 0;
  for (const Json& block : document["devices"]) {
    const std::string here = fmt::format("devices[{}]", place++);
    if (!block.is_object() || !block.contains("name") || !block["name"].is_string()) continue;
    for (ImportedDevice& device : import.devices) {
      if (device.info.limits.name == block["name"].get<std::string>()) {
        device.info.limits = limits_from(block, here, device.info.limits);
      }
    }
  }
  return import;
}

// -- ncu --------------------------------------------------------------------------------------------------------------

/// "void flash::fwd_kernel<Traits<128>, false>(Params)" is "fwd_kernel".
std::string short_kernel_name(std::string_view text) {
  std::string_view name = text;
  if (const std::size_t at = name.find_first_of("<("); at != std::string_view::npos && at > 0)
    name = name.substr(0, at);
  if (const std::size_t at = name.rfind("::"); at != std::string_view::npos) name.remove_prefix(at + 2);
  if (const std::size_t at = name.rfind(' '); at != std::string_view::npos) name.remove_prefix(at + 1);
  return std::string(name.empty() ? text : name);
}

/// ncu groups digits in threes: "1,048,576.5". Nothing for "n/a" and for text.
std::optional<double> ncu_number(std::string text) {
  std::erase(text, ',');
  const auto value = number(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

/// The place of the table in ncu's output: its header begins with "ID". npos: none.
std::size_t ncu_table(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("\"ID\",") || rest.starts_with("ID,")) return at;
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) break;
    at += end + 1;
  }
  return std::string_view::npos;
}

Import import_ncu(std::string_view text, const ImportRequest& request) {
  const std::size_t start = ncu_table(text);
  if (start == std::string_view::npos) {
    fail("there is no table of ncu's: no line begins with \"ID\"; write it with `ncu --csv --page raw`");
  }
  const auto skipped = static_cast<std::size_t>(std::ranges::count(text.substr(0, start), '\n'));
  const std::vector<CsvLine> lines = parse_csv(text.substr(start), skipped + 1);
  const CsvLine& header = lines.front();
  const auto column = [&](std::string_view name) {
    return static_cast<std::size_t>(std::ranges::find(header.fields, name) - header.fields.begin());
  };
  if (column("Metric Name") < header.fields.size()) {
    fail("line {}: this is ncu's page of details; write the table with `ncu --csv --page raw`", header.number);
  }
  const std::size_t kernel_name = column("Kernel Name");
  if (kernel_name == header.fields.size()) fail("line {}: there is no column 'Kernel Name'", header.number);
  if (lines.size() < 3) fail("line {}: no launch stands below the header and the units", lines.back().number);
  const CsvLine& unit_line = lines[1];
  require_width(header, unit_line);
  if (!unit_line.fields.front().empty()) fail("line {}: the row of units is missing", unit_line.number);

  PointRecord point;
  point.spec = *request.spec;
  point.provenance = Provenance::imported;
  std::string device = request.device_name;
  std::map<std::string, int> launches_of;
  for (const CsvLine& line : std::span(lines).subspan(2)) {
    if (line.fields.size() == 1) break;  // what the program printed after the table
    require_width(header, line);
    const std::string name = short_kernel_name(line.fields[kernel_name]);
    if (name.empty()) fail("line {}, column 'Kernel Name': it is empty", line.number);
    check_word(fmt::format("line {}", line.number), "kernel", name);
    const int launch = ++launches_of[name];
    KernelRecord kernel;
    kernel.kernel = launch == 1 ? name : fmt::format("{} {}", name, launch);
    if (kernel.kernel == "all") kernel.kernel = "all 1";  // means their sum here
    if (device.empty() && column("CC") < header.fields.size()) {
      device = fmt::format("unnamed GPU of compute capability {}", line.fields[column("CC")]);
    }
    double shared = 0;
    bool shared_known = false;
    for (std::size_t i = 0; i < header.fields.size(); ++i) {
      const std::string& counter = header.fields[i];
      if (!is_counter_name(counter)) continue;
      const auto value = ncu_number(line.fields[i]);
      if (!value) continue;
      const auto base = base_unit(unit_line.fields[i]);
      const auto& unit = base.first;
      const double scale = base.second;
      const std::string place = fmt::format("line {}, column '{}'", unit_line.number, counter);
      if (!std::isfinite(*value * scale)) fail("line {}, column '{}': the value is infinite", line.number, counter);
      const auto require_unit = [&](std::string_view wanted) {
        if (unit != wanted) fail("{}: the unit is '{}', not one of {}", place, unit_line.fields[i], wanted);
      };
      if (counter == "gpu__time_duration.sum") {
        require_unit("ns");
        kernel.samples_ns = {*value * scale};
      } else if (counter == "launch__shared_mem_per_block_static" ||
                 counter == "launch__shared_mem_per_block_dynamic") {
        require_unit("byte");
        shared += *value * scale;
        shared_known = true;
      } else if (const Metric* metric = metric_of(counter)) {
        require_unit(metric->unit);
        kernel.metrics.push_back({std::string(metric->key), *value * scale * metric->scale, std::string(metric->unit),
                                  Provenance::imported});
      } else {
        kernel.metrics.push_back({counter, *value * scale, unit, Provenance::imported});
      }
    }
    if (shared_known) {
      kernel.metrics.push_back({std::string(metric_key::shared_bytes), shared, "byte", Provenance::imported});
    }
    if (kernel.metrics.empty() && kernel.samples_ns.empty()) fail("line {}: no counter has a value", line.number);
    point.kernels.push_back(std::move(kernel));
  }
  if (point.kernels.empty()) fail("line {}: no launch stands below the header and the units", lines.back().number);
  Builder builder({}, *request.registry);
  builder.device_of(device.empty() ? "unnamed GPU" : device).points.push_back(std::move(point));
  return builder.take();
}

}  // namespace

Result<ImportFormat, std::string> parse_import_format(std::string_view text) {
  if (text == "json") return ImportFormat::json;
  if (text == "csv") return ImportFormat::csv;
  if (text == "ncu") return ImportFormat::ncu;
  return Failure{fmt::format("unknown format '{}': json, csv or ncu expected", text)};
}

ImportFormat detect_import_format(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && (text[first] == '{' || text[first] == '[')) return ImportFormat::json;
  return ncu_table(text) != std::string_view::npos ? ImportFormat::ncu : ImportFormat::csv;
}

Result<Import, std::string> import_points(std::string_view text, ImportFormat format, const ImportRequest& request) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  try {
    if (const std::size_t at = invalid_utf8(text); at != std::string_view::npos) {
      const auto line = std::ranges::count(text.substr(0, at), '\n') + 1;
      fail("line {}: byte {} is no UTF-8 text", line, at - (text.rfind('\n', at) + 1) + 1);
    }
    switch (format) {
      case ImportFormat::json:
        return import_json(text, request);
      case ImportFormat::csv:
        return import_csv(text, request);
      case ImportFormat::ncu:
        if (!request.spec)
          fail("ncu's table does not say what was computed: give --algorithm, and -a N=... as for collect");
        return import_ncu(text, request);
    }
    fail("unknown format");
  } catch (const Wrong& wrong) {
    return Failure{std::string(wrong.what())};
  } catch (const Json::exception& error) {
    return Failure{std::string(error.what())};
  }
}

}  // namespace attnscope
