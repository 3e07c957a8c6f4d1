// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/import_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "kernels/model/io_model.h"
#include "kernels/registry.h"
#include "profiler/metrics/rounds.h"
#include "profiler/plan/fields.h"
#include "profiler/plan/text.h"
#include "profiler/points/impossible_values.h"
#include "storage/bounds.h"
#include "storage/exchange/column_names.h"

namespace attnscope::exchange {
namespace {

/// Returns an integer field from its column or from one that sets two fields; otherwise its default, if it has one.
std::int64_t integer_of(const ImportRow& row, const Field& field, const PointSpec& so_far) {
  const FieldPair* pair = field_pair_of(field.name);
  const std::string_view named = row.find(field.name) == nullptr && pair != nullptr ? pair->name : field.name;
  const auto value = row.integer(named);
  const bool tile = field.role == FieldRole::tile;
  if (!value && tile) return 0;
  if (!value && field.optional_in_imports) return std::get<std::int64_t>(find_field(field.follows)->get(so_far));
  if (!value) return std::get<std::int64_t>(*parse_field(field, field.fallback));  // spec_of() requires the others
  const std::int64_t smallest = tile ? 0 : field.smallest;
  if (*value < smallest) fail(row.at(named), make_message("{} must be at least {}, not {}", named, smallest, *value));
  if (*value > field.largest) {
    fail(row.at(named), make_message("{} {} is out of range (maximum: {})", named, *value, field.largest));
  }
  return *value;
}

PointSpec spec_of(const ImportRow& row) {
  Message missing = missing_fields([&](std::string_view name) { return row.find(name) != nullptr; });
  if (!missing.empty()) fail(row.place, std::move(missing));
  PointSpec spec;
  spec.cache = CacheState::unknown;
  spec.algorithm = row.text(field_name::algorithm);
  require_valid_name(row.place, field_name::algorithm, spec.algorithm);
  // A registered name in a file of another program is another algorithm of that name.
  if (!row.is_own() && known_algorithms().find(spec.algorithm) != nullptr) spec.algorithm += " (imported)";
  for (const Field& field : point_fields()) {
    if (field.role == FieldRole::algorithm) continue;
    if (field.type == FieldType::integer) {
      if (const auto set = field.set(spec, integer_of(row, field, spec)); !set) fail(row.place, set.error());
    } else if (const std::string* text = row.find(field.name)) {
      if (const auto set = set_field(field, spec, *text); !set) fail(row.at(field.name), set.error());
    }
  }
  if (Message wrong = invalid_reason(spec.problem); !wrong.empty()) fail(row.place, std::move(wrong));
  if (const auto d_v = row.integer(partial_column::d_v); d_v && *d_v != spec.problem.d)
    fail(row.at(partial_column::d_v), make_message("{} differs from d {}", *d_v, spec.problem.d));
  for (const Knob& knob : known_algorithms().knobs()) {
    const std::string* text = row.find(knob.name);
    if (text == nullptr) continue;
    const auto value = parse_knob(knob, *text);
    if (!value) fail(row.at(knob.name), value.error());
    if (*value) spec.knobs.set(knob.name, **value);
  }
  return spec;
}

/// Throws for a window that is not unlimited; the field mask states windows.
void require_no_window(const ImportRow& row) {
  for (const std::string_view name :
       {partial_column::window, partial_column::window_left, partial_column::window_right}) {
    const std::string* text = row.find(name);
    if (text == nullptr || is_missing(*text)) continue;
    const auto cell = parse_cell(*text);
    if (cell && std::ranges::all_of(cell->values, [](double side) { return side < 0; })) continue;
    fail(row.at(name), make_message("'{}' is a window (add a column mask with window:LEFT:RIGHT, or give -a "
                                    "mask=window:LEFT:RIGHT, and ignore this column)",
                                    *text));
  }
}

/// Sets the K/V heads from the number of query heads of each.
void apply_group(ImportRow& row) {
  const auto group = row.integer(partial_column::group);
  const FieldPair& heads = *field_pair_of("heads_q");
  const auto count = row.integer(row.find(heads.first) != nullptr ? heads.first : heads.name);
  if (!group || !count || row.find(heads.second) != nullptr) return;
  if (*group < 1 || *count % *group != 0) {
    fail(row.at(partial_column::group), make_message("{} does not divide {} heads", *group, *count));
  }
  row.set_text(heads.second, std::to_string(*count / *group));
}

std::optional<int> round_of(const ImportRow& row) {
  const auto round = row.integer(round_column::round);
  if (!round) return std::nullopt;
  if (Message wrong = round_index_error(*round); !wrong.empty()) fail(row.at(round_column::round), std::move(wrong));
  return static_cast<int>(*round);
}

/// Adds values of the whole point; exports have them in the point's first row.
void add_point_facts(const ImportRow& row, PointRecord& point) {
  if (const std::string* word = row.find("disposition")) {
    const auto disposition = parse_disposition(*word);
    if (!disposition) fail(row.at("disposition"), disposition.error());
    point.disposition = *disposition;
  }
  point.reason = Message(row.text(reason_column::code), row.text(reason_column::words));
  point.max_abs_error = row.real("max_abs_error");  // infinite for an incorrect result
  point.error_bound = row.real("error_bound");
  point.rms_error = row.real("rms_error");
  if (const auto clock = row.amount("sm_clock_hz")) {
    point.clocks = ClockReading{.sm_clock_hz = *clock,
                                .memory_clock_hz = row.amount("memory_clock_hz").value_or(0),
                                .temperature_c = row.amount("temperature_c").value_or(0),
                                .power_w = row.amount("power_w").value_or(0),
                                .throttle_reasons = 0,
                                .throttled = row.flag("throttled").value_or(false)};
  }
}

template <class Kernels>
auto* kernel_named(Kernels& kernels, std::string_view name) {
  const auto found = std::ranges::find(kernels, name, &KernelRecord::kernel);
  return found == kernels.end() ? nullptr : &*found;
}

/// Adds kernel "all" as the sum of the others if it is missing.
void add_kernel_sum(std::vector<KernelRecord>& parts) {
  if (kernel_named(parts, "all") != nullptr) return;
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
    const bool is_shape = metric.name.starts_with("launch__") && find_metric(metric.name) == nullptr;
    if (is_shape && std::ranges::adjacent_find(values, std::not_equal_to<>()) != values.end()) continue;
    all.metrics.push_back({metric.name, combine(combine_rule(metric.name, metric.unit), values, weights), metric.unit,
                           metric.provenance});
  }
  if (parts.size() == 1) all.occupancy_limiter = parts.front().occupancy_limiter;
  all.complete = parts.front().complete;
  parts.insert(parts.begin(), std::move(all));
}

/// Joins the kernels of each round and sorts the rounds. Throws if a kernel occurs twice in a round.
void join_rounds(std::vector<RoundRecord>& rounds) {
  std::ranges::stable_sort(rounds, {}, &RoundRecord::round);
  std::vector<RoundRecord> joined;
  for (RoundRecord& given : rounds) {
    if (joined.empty() || joined.back().round != given.round) {
      joined.push_back(std::move(given));
      continue;
    }
    std::vector<KernelRecord>& kernels = joined.back().kernels;
    KernelRecord& kernel = given.kernels.front();
    if (kernel_named(kernels, kernel.kernel) != nullptr) fail(make_message("duplicate round {}", given.round));
    kernels.push_back(std::move(kernel));
  }
  rounds = std::move(joined);
  for (RoundRecord& round : rounds) add_kernel_sum(round.kernels);
}

/// Keeps rounds only if each has the time of the whole point; otherwise only the point's own values remain. Point
/// values that no round has are added to the first round.
void complete_rounds(PointRecord& point) {
  const auto has_time = [](const RoundRecord& round) {
    const KernelRecord& all = *kernel_named(round.kernels, "all");
    return !all.samples_ns.empty() || all.metric(metric_key::time_median_ns);
  };
  if (!std::ranges::all_of(point.rounds, has_time)) point.rounds.clear();
  if (point.rounds.empty()) return;
  std::vector<KernelRecord>& first = point.rounds.front().kernels;
  for (const KernelRecord& kernel : point.kernels) {
    if (kernel_named(first, kernel.kernel) == nullptr) first.emplace_back().kernel = kernel.kernel;
    for (const MetricValue& metric : kernel.metrics) {
      const bool is_time = has_word("time_median_ns time_q1_ns time_q3_ns time_samples", metric.name);
      const bool in_rounds = std::ranges::any_of(point.rounds, [&](const RoundRecord& round) {
        const KernelRecord* there = kernel_named(round.kernels, kernel.kernel);
        return there != nullptr && ((is_time && !there->samples_ns.empty()) || there->metric(metric.name));
      });
      if (!in_rounds) kernel_named(first, kernel.kernel)->metrics.push_back(metric);
    }
  }
  const auto has_clocks = [](const RoundRecord& round) { return round.clocks.has_value(); };
  if (std::ranges::none_of(point.rounds, has_clocks)) point.rounds.front().clocks = point.clocks;
  summarize_rounds(point);
}

}  // namespace

void PointBuilder::Remark::add(const PointSpec& spec, const Message& what) {
  if (points++ == 0) first = make_message("{}: {}", describe(spec), what);
}

Message PointBuilder::Remark::text(std::string_view several) const {
  return points == 1 ? first : make_message("{} {}, the first: {}", grouped(points), several, first);
}

void PointBuilder::apply_given(ImportRow& row) {
  for (const GivenField& given : request_.given) {
    if (const std::string* stated = row.find(given.field)) {
      if (normalized_value(given.field, *stated) != given.value) contradicted_.insert(given.field);
      continue;
    }
    row.fields[given.field] = given.value;
  }
  if (!row.algorithm_suffix.empty()) row.fields[std::string(field_name::algorithm)] += row.algorithm_suffix;
  for (const std::string_view name : {"mask", "dtype", "pass", "disposition"}) {
    const auto field = row.fields.find(name);
    if (field == row.fields.end()) continue;
    std::string ours = normalized_value(name, field->second);
    const bool failed = name == "disposition" && ours != field->second && ours != to_string(Disposition::ok);
    if (failed) row.fields.try_emplace(std::string(reason_column::words), field->second);
    field->second = std::move(ours);
  }
  require_no_window(row);
  apply_group(row);
  for (const FieldPair& pair : field_pairs()) {
    const std::string* both = row.find(pair.name);
    const std::string* first = row.find(pair.first);
    const std::string* second = row.find(pair.second);
    const bool replaced = both != nullptr && first != nullptr && second != nullptr;
    if (replaced && *both != *first && *both != *second) row.unknown[std::string(row.column(pair.name))] = *both;
  }
  // The text of a column "note" is the reason of a failed row, and unknown otherwise.
  const std::string column(row.column(reason_column::words));
  if (column == reason_column::words || row.find(reason_column::words) == nullptr) return;
  const std::string disposition = row.text("disposition");
  if (!disposition.empty() && disposition != to_string(Disposition::ok)) return;
  row.unknown[column] = row.text(reason_column::words);
  row.fields.erase(std::string(reason_column::words));
}

PointSpec PointBuilder::given_spec() {
  ImportRow row{.place = {.whole = "the options"}};
  apply_given(row);
  return spec_of(row);
}

void PointBuilder::note_unknown(const std::map<std::string, std::string>& texts) {
  for (const auto& [name, text] : texts) {
    UnknownColumn& column = unknown_[name];
    column.varies = column.varies || (column.rows > 0 && column.first != text);
    column.numeric = column.numeric && number(text).has_value();
    column.first = text;
    ++column.rows;
  }
  ++rows_;
}

void PointBuilder::require_equal_ignored(const LatestPoint& before, const ImportRow& row) const {
  for (const std::string& name : request_.ignore) {
    const auto text_in = [&](const std::map<std::string, std::string>& texts) {
      const auto found = texts.find(name);
      return found == texts.end() ? std::string() : found->second;
    };
    if (text_in(before.ignored) == text_in(row.ignored)) continue;
    fail(row.place.at(name),
         make_message("the row equals {} except for this ignored column (use --map '{}=FIELD' instead of --ignore)",
                      before.place.text(), name));
  }
}

/// Throws if the text of a constant column without a meaning is a pass, dtype or mask that a point does not have.
void PointBuilder::require_consistent_word(const std::string& column, const std::string& text) const {
  for (const std::string_view name : {"pass", "dtype", "mask"}) {
    const Field& field = *find_field(name);
    const std::string ours = normalized_value(name, text);
    const bool is_word = std::ranges::find(field.words, ours) != field.words.end() && !is_missing(text) &&
                         std::isalpha(static_cast<unsigned char>(text.front())) != 0 && !parse_flag(text);
    if (!is_word) continue;
    for (const ImportedDevice& device : import_.devices) {
      const auto differs = [&](const PointRecord& point) { return to_string(field.get(point.spec)) != ours; };
      if (std::ranges::none_of(device.points, differs)) continue;
      fail(make_message("column '{0}' is not recognized, but '{1}' is a {2} (give --map '{0}={2}' or --ignore '{0}')",
                        column, text, name));
    }
  }
}

/// Throws if a column without a meaning varies: its rows may be of different problems.
void PointBuilder::require_constant_unknown() {
  std::vector<std::string> varying;
  std::vector<std::string> options;
  for (const auto& [name, column] : unknown_) {
    const bool varies = column.varies || column.rows < rows_;
    if (varies && !(is_long_ && column.numeric)) {
      varying.push_back(name);
      options.push_back(fmt::format("--map '{0}=FIELD' or --ignore '{0}'", name));
    }
    if (!varies) require_consistent_word(name, column.first);
    import_.ignored.push_back(name);
  }
  import_.ignored.insert(import_.ignored.end(), request_.ignore.begin(), request_.ignore.end());
  if (varying.empty()) return;
  if (varying.size() == 1) {
    fail(make_message("column '{}' is not recognized and differs between rows (give {})", varying.front(),
                      options.front()));
  }
  fail(make_message("columns '{}' are not recognized and differ between rows (give {})", fmt::join(varying, "', '"),
                    fmt::join(options, ", ")));
}

void PointBuilder::add(ImportRow row) {
  if (request_.cancellation_check) request_.cancellation_check();
  apply_given(row);
  PointRecord point;
  point.spec = spec_of(row);
  // `simulated` or `extrapolated`, as the file states; everything else is imported.
  const auto stated = parse_provenance(row.text("provenance"));
  const bool simulated = stated.ok() && is_simulated(*stated);
  point.provenance = simulated ? Provenance::simulated : Provenance::imported;
  KernelRecord kernel;
  if (const std::string* name = row.find("kernel")) kernel.kernel = *name;
  require_valid_name(row.place, "kernel", kernel.kernel);
  add_point_facts(row, point);
  add_numbers(row, point.spec, kernel, remarks_);
  if (simulated) {
    if (*stated == Provenance::extrapolated) kernel.complete = false;
    for (MetricValue& metric : kernel.metrics) metric.provenance = *stated;
  }
  point.kernels = {kernel};
  if (Message wrong = bounds_error(point); !wrong.empty()) fail(row.place, std::move(wrong));
  point.kernels.clear();
  if (kernel.metrics.empty() && kernel.samples_ns.empty() && (round_of(row) || point.disposition == Disposition::ok)) {
    for (const auto& [name, text] : row.unknown) unknown_.try_emplace(name);
    ++import_.empty_rows;
    return;
  }
  if (!is_long_) note_unknown(row.unknown);
  place(row, std::move(point), std::move(kernel));
}

void PointBuilder::place(const ImportRow& row, PointRecord point, KernelRecord kernel) {
  std::string device = request_.device_name.empty() ? row.text("device") : request_.device_name;
  if (device.empty()) device = "unnamed GPU";
  require_valid_name(row.place, "device", device);
  const std::optional<int> round = round_of(row);
  const std::string* uid = row.find(long_column::run_uid);
  is_own_ = is_own_ || row.is_own();
  states_cache_ = states_cache_ || row.find("cache") != nullptr;
  const bool simulated = point.provenance == Provenance::simulated;
  ImportedDevice& of_device = device_of(device, uid != nullptr ? *uid : row.text("run"), simulated);
  std::vector<PointRecord>& points = of_device.points;
  Identity identity{static_cast<std::size_t>(&of_device - import_.devices.data()), row.text("point"),
                    row.text(long_column::plan_index), canonical_text(point.spec)};
  const auto [known, is_new] = latest_.try_emplace(
      std::move(identity), LatestPoint{.index = points.size(), .place = row.place, .ignored = row.ignored});
  PointRecord* before = is_new ? nullptr : &points[known->second.index];
  if (round) {
    RoundRecord found{.round = *round, .kernels = {std::move(kernel)}, .clocks = point.clocks};
    if (before == nullptr) before = &points.emplace_back(std::move(point));
    before->rounds.push_back(std::move(found));
    return;
  }
  if (before != nullptr && before->kernel(kernel.kernel) != nullptr) {
    require_equal_ignored(known->second, row);
    ++repeated_rows_;
    known->second.index = points.size();
    before = nullptr;
  }
  if (before == nullptr) {
    before = &points.emplace_back(std::move(point));
  } else if (before->kernels.empty()) {  // its rounds came first
    point.rounds = std::move(before->rounds);
    *before = std::move(point);
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

void PointBuilder::complete(PointRecord& point, const DeviceLimits& limits) {
  join_rounds(point.rounds);
  if (point.kernels.empty()) summarize_rounds(point);
  if (point.kernels.empty()) point.kernels.emplace_back();
  add_kernel_sum(point.kernels);
  // Compulsory bytes depend only on the problem.
  KernelRecord& all = *kernel_named(point.kernels, "all");
  if (!all.metric(metric_key::model_compulsory_bytes)) {
    all.metrics.push_back({std::string(metric_key::model_compulsory_bytes),
                           static_cast<double>(compulsory_traffic(point.spec.problem).total()), "byte",
                           Provenance::modeled});
  }
  complete_rounds(point);
  // Sums of values in bounds may be out of bounds.
  if (Message wrong = bounds_error(point); !wrong.empty()) fail(std::move(wrong));
  if (const auto impossible = analysis::impossible_value(point, limits)) {
    const Message reason = describe(*impossible, limits);
    impossible_.add(point.spec, reason);
    if (point.reason.empty()) point.reason = reason;
  }
  if (const auto found = analysis::half_filled_sectors(point)) half_filled_.add(point.spec, analysis::describe(*found));
}

void PointBuilder::add_notes() {
  std::vector<Message>& notes = import_.notes;
  if (impossible_.points > 0) notes.push_back(impossible_.text("impossible points"));
  if (repeated_rows_ > 0)
    notes.push_back(
        make_message("rows that repeat a point: {}, imported as separate points. Add a column 'round' (0, 1, ...) to "
                     "import rounds.",
                     grouped(repeated_rows_)));
  if (half_filled_.points > 0) notes.push_back(half_filled_.text("points with twice the expected stores"));
  if (!unknown_metrics_.empty()) {
    notes.push_back(make_message("metrics without a meaning, kept by name: {}", fmt::join(unknown_metrics_, ", ")));
  }
  for (const std::string& field : contradicted_) {
    notes.push_back(make_message("the file states {}; the value of the options is not used", field));
  }
  for (const auto& [remark, rows] : remarks_) {
    notes.push_back(make_message("{} {}: {}", grouped(rows), rows == 1 ? "row" : "rows", remark));
  }
}

Import PointBuilder::finish() {
  require_constant_unknown();
  std::set<std::string> stored;
  for (ImportedDevice& device : import_.devices) {
    for (PointRecord& point : device.points) {
      if (request_.cancellation_check) request_.cancellation_check();
      try {
        complete(point, device.info.limits);
      } catch (const ImportError& error) {
        fail(make_message("{} on {}: {}", describe(point.spec), device.info.limits.name, error.message()));
      }
      for (const KernelRecord& kernel : point.kernels) {
        for (const MetricValue& metric : kernel.metrics) stored.insert(metric.name);
      }
    }
  }
  add_notes();
  import_.l2_unknown = !is_own_ && !states_cache_ && !request_.gives("cache");
  import_.columns = columns_.take(stored);
  for (const ImportedColumn& column : import_.columns) {
    const bool replaced = find_field_pair(column.name) != nullptr && column.becomes.empty() && !column.example.empty();
    if (replaced && !unknown_.contains(column.name)) import_.ignored.push_back(column.name);
  }
  std::erase_if(import_.devices, [](const ImportedDevice& device) { return device.points.empty(); });
  if (import_.devices.empty()) {
    if (import_.ignored.empty()) fail("no row has a time, metric or counter");
    fail(
        make_message("no row has a time, metric or counter; unknown columns: {} (expected a time column such as "
                     "time_ns, time_ms or 'time [us]')",
                     fmt::join(import_.ignored, ", ")));
  }
  return std::move(import_);
}

}  // namespace attnscope::exchange
