// SPDX-License-Identifier: Apache-2.0
// Imports Nsight Compute tables, raw page and details page.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "profiler/plan/text.h"
#include "profiler/units/number_format.h"
#include "storage/bounds.h"
#include "storage/exchange/import_rows.h"

namespace attnscope::exchange {
namespace {

/// Sectors of 32 bytes, and the metric of their bytes.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> sector_counters{{
    {"dram__sectors_read.sum", metric_key::dram_read_bytes},
    {"dram__sectors_write.sum", metric_key::dram_write_bytes},
    {"l1tex__m_xbar2l1tex_read_sectors.sum", metric_key::l2_to_sm_bytes},
    {"l1tex__m_l1tex2xbar_write_sectors.sum", metric_key::sm_to_l2_bytes},
}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 8> section_names{{
    {"Duration", "gpu__time_duration.sum"},
    {"SM Frequency", "smsp__cycles_elapsed.avg.per_second"},
    {"Elapsed Cycles", "sm__cycles_elapsed.max"},
    {"Registers Per Thread", "launch__registers_per_thread"},
    {"Static Shared Memory Per Block", "launch__shared_mem_per_block_static"},
    {"Dynamic Shared Memory Per Block", "launch__shared_mem_per_block_dynamic"},
    {"Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"},
    {"Theoretical Occupancy", "sm__maximum_warps_per_active_cycle_pct"},
}};

/// Counters of the SM clock and of its cycles; those of the last unit are within 1% of it.
constexpr std::string_view clock_counters =
    "smsp__cycles_elapsed.avg.per_second sm__cycles_elapsed.avg.per_second gpc__cycles_elapsed.avg.per_second";
constexpr std::string_view cycle_counters =
    "smsp__cycles_elapsed.max smsp__cycles_elapsed.avg sm__cycles_elapsed.max sm__cycles_elapsed.avg "
    "gpc__cycles_elapsed.max gpc__cycles_elapsed.avg";

/// Sets compute_major and compute_minor of "9.0"; keeps them for other texts.
void set_compute_capability(DeviceLimits& limits, const std::string& text) {
  constexpr int most = 1000;
  int major = 0;
  int minor = 0;
  if (std::sscanf(text.c_str(), "%4d.%4d", &major, &minor) != 2) return;  // NOLINT(cert-err34-c)
  if (major < 0 || major > most || minor < 0 || minor > most) return;
  limits.compute_major = major;
  limits.compute_minor = minor;
}

/// Parses the id of a launch; nullopt otherwise.
std::optional<std::int64_t> id_of(std::string_view text) {
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size() || id < 0) return std::nullopt;
  return id;
}

struct NcuLaunch {
  std::size_t line = 0;
  std::int64_t id = 0;
  std::string kernel;  ///< with template arguments and parameters
  std::string shape;   ///< grid and block size; empty if unknown
  std::string device;  ///< ncu's device number within the process
  std::string process;
  std::string compute_capability;
  KernelRecord record = {};
  std::set<std::string> counters = {};              ///< those that were read
  std::optional<double> clock_hz = {};              ///< SM clock
  double cycles = 0;                                ///< SM cycles; 0: unknown
  std::optional<double> shared_bytes = {};          ///< per block, static and dynamic
  std::optional<double> dram_rate = {};             ///< byte/s, section "Memory Workload Analysis"
  std::map<std::string_view, double> sectors = {};  ///< bytes by metric, from sector counts

  [[nodiscard]] bool is_like(const NcuLaunch& other) const { return kernel == other.kernel && shape == other.shape; }
  [[nodiscard]] bool is_in(const NcuSelection& selection) const {
    return kernel.find(selection.kernel) != std::string::npos && id >= selection.first_launch.value_or(0) &&
           (!selection.last_launch || id <= *selection.last_launch);
  }
};

/// Parses a number as ncu writes it, "1,048,576.5". Returns nullopt for text ("n/a", "(128, 1, 1)"). Throws ImportError
/// for malformed numbers such as "1.500,5".
std::optional<double> ncu_number(const FileLocation& place, std::string_view text) {
  // "5 (1; 4)" is a sum with its instances.
  if (const std::size_t list = text.find(" ("); list != std::string_view::npos && text.ends_with(')')) {
    text = text.substr(0, list);
  }
  const bool looks_numeric = text.find_first_not_of("0123456789.,+-eE") == std::string_view::npos &&
                             text.find_first_of("0123456789") != std::string_view::npos &&
                             text.find_first_of("eE") != 0;
  if (!looks_numeric) return std::nullopt;
  const auto value = parse_amount(text);
  if (!value) fail(place, make_message("'{}' is not a number like 1,048,576.5 (run ncu with LC_ALL=C)", text));
  return value;
}

/// Returns true for "n/a", "(!) n/a", NaN and a list of instances without a sum.
bool has_no_value(std::string_view text) {
  const std::string low = lower_case(text);
  const bool list = low.starts_with('(') && low.find(';') != std::string::npos;
  return !low.empty() &&
         (is_missing(low) || list || low.find("n/a") != std::string::npos || low.find("nan") != std::string::npos);
}

/// Returns "softmax_warp_forward" for "void at::<unnamed>::softmax_warp_forward<float, 4>(T1 *)".
std::string short_kernel_name(std::string_view text) {
  std::string name(text);
  for (const std::string_view scope : {"(anonymous namespace)::", "<unnamed>::"}) {
    for (std::size_t at = 0; (at = name.find(scope)) != std::string::npos;) name.erase(at, scope.size());
  }
  name.resize(std::min(name.find_first_of("(<"), name.size()));
  name.erase(name.find_last_not_of(' ') + 1);
  name.erase(0, name.find_last_of(" :") + 1);
  if (name.empty()) name = text;
  name.resize(std::min(name.size(), max_name_length));
  name.resize(std::min(first_invalid_utf8(name), name.size()));  // drops an incomplete character at the end
  return name;
}

class LaunchReader {
 public:
  LaunchReader(std::string_view table, std::size_t line, const NcuSelection& selection, ColumnList& columns)
      : lines_(table, line), selection_(selection), columns_(columns), header_(*lines_.next()) {}

  std::vector<NcuLaunch> read() {
    require_column("Kernel Name");
    if (column("Metric Name")) {
      read_details();
    } else {
      read_raw();
    }
    finish();
    if (count_ == 0) fail(line_place(lines_.line() - 1), "no launch below the header and units");
    require_end_of_table();
    if (launches_.empty()) fail(make_message("none of {} launches matches --kernel-name and --launches", count_));
    return std::move(launches_);
  }
  /// Returns the counters without a value in some launch.
  [[nodiscard]] const std::set<std::string>& absent() const { return absent_; }

 private:
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const {
    const auto found = std::ranges::find(header_.fields, name);
    if (found == header_.fields.end()) return std::nullopt;
    return static_cast<std::size_t>(found - header_.fields.begin());
  }
  void require_column(std::string_view name) const {
    if (!column(name)) fail(line_place(header_.number), make_message("missing column '{}'", name));
  }
  [[nodiscard]] std::string field(const CsvLine& line, std::string_view name) const {
    const auto at = column(name);
    return at && *at < line.fields.size() ? line.fields[*at] : std::string();
  }

  void note_column(const std::string& counter, const std::string& unit, const std::string& example) {
    if (is_counter_name(counter) && has_no_value(example)) absent_.insert(counter);
    ImportedColumn& column = columns_[counter];
    if (!column.example.empty()) return;
    column.unit = unit;
    columns_.add_example(counter, example);
    constexpr std::array<std::string_view, 7> launch_columns{"ID", "Grid Size",  "Block Size",  "Device",
                                                             "CC", "Process ID", "Process Name"};
    if (counter == "Kernel Name") column.becomes = "kernel";
    if (std::ranges::find(launch_columns, counter) != launch_columns.end()) column.left_out = "identifies the launch";
    if (counter.starts_with("device__attribute")) column.left_out = "describes the GPU, not a launch";
  }

  /// Returns the next line of a launch; nullopt at the end of the table, where other program output begins. A details
  /// page has many lines per launch, with equal id.
  std::optional<CsvLine> next(bool details) {
    std::optional<CsvLine> line = lines_.next();
    const auto id = line ? id_of(line->fields.front()) : std::nullopt;
    if (!id) return std::nullopt;
    // On a details page, rows of metrics end early and rows of rules may be longer.
    const bool complete = details && line->fields.size() > column("Metric Value").value_or(0);
    if (!complete) require_field_count(header_, *line);
    if (launch_ && launch_->id == *id && details) return line;
    finish();
    ++count_;
    launch_ = NcuLaunch{.line = line->number,
                        .id = *id,
                        .kernel = field(*line, "Kernel Name"),
                        .shape = field(*line, "Grid Size") + " " + field(*line, "Block Size"),
                        .device = field(*line, "Device"),
                        .process = field(*line, "Process ID"),
                        .compute_capability = field(*line, "CC")};
    if (launch_->kernel.empty()) fail(line_place(line->number).at("Kernel Name"), "empty field");
    return line;
  }

  /// Adds what follows from several counters of the launch.
  void finish() {
    if (!launch_ || !launch_->is_in(selection_)) return;
    KernelRecord& kernel = launch_->record;
    const auto put = [&](std::string_view key, double bytes) {
      if (!kernel.metric(key)) kernel.metrics.push_back({std::string(key), bytes, "byte", Provenance::imported});
    };
    for (const auto& [key, bytes] : launch_->sectors) put(key, bytes);
    const bool timed = !kernel.samples_ns.empty();
    const bool counted = kernel.metric(metric_key::dram_read_bytes) || kernel.metric(metric_key::dram_write_bytes);
    if (launch_->dram_rate && !counted && timed)
      put(metric_key::dram_bytes, *launch_->dram_rate * kernel.samples_ns.front() / 1e9);
    if (!launch_->clock_hz && launch_->cycles > 0 && timed)
      launch_->clock_hz = launch_->cycles / kernel.samples_ns.front() * 1e9;
    if (launch_->shared_bytes) put(metric_key::shared_bytes, *launch_->shared_bytes);
    if (kernel.metrics.empty() && !timed) fail(line_place(launch_->line), "the launch has no counter values");
    launches_.push_back(std::move(*launch_));
    launch_.reset();
  }

  /// Adds a counter of the current launch; repeated counters of other sections are ignored. `unit_place`: location of
  /// its unit.
  void take(const std::string& counter, const std::string& text, const std::string& stated,
            const FileLocation& unit_place, std::size_t line) {
    const FileLocation place = line_place(line).at(counter);
    const auto number = is_counter_name(counter) ? ncu_number(place, text) : std::nullopt;
    if (!number || !launch_->is_in(selection_) || counter.starts_with("device__attribute")) return;
    if (!launch_->counters.insert(counter).second) return;
    const auto [unit, scale] = base_unit(stated);
    const auto value = checked(place, *number * scale);
    if (!value) return;
    const auto require_unit = [&, &unit = unit](std::string_view wanted) {
      if (unit != wanted) fail(unit_place, make_message("the unit is '{}'; expected {}", stated, wanted));
    };
    KernelRecord& kernel = launch_->record;
    const auto* const sectors =
        std::ranges::find(sector_counters, counter, [](const auto& pair) { return pair.first; });
    constexpr double sector_bytes = 32;
    if (sectors != sector_counters.end()) launch_->sectors[sectors->second] = *value * sector_bytes;
    if (has_word(cycle_counters, counter) && unit == "cycle") launch_->cycles = std::max(launch_->cycles, *value);
    if (has_word(clock_counters, counter)) {
      const bool preferred = !launch_->clock_hz || !counter.starts_with("gpc");
      if (preferred && (unit == "hertz" || unit == "cycle/s")) launch_->clock_hz = *value;
    } else if (counter == "gpu__time_duration.sum") {
      require_unit("ns");
      require_plausible(place, metric_key::time_median_ns, *value);
      kernel.samples_ns = {*value};
    } else if (counter == "launch__shared_mem_per_block_static" || counter == "launch__shared_mem_per_block_dynamic") {
      require_unit("byte");
      launch_->shared_bytes = launch_->shared_bytes.value_or(0) + *value;
    } else if (const Metric* metric = metric_of(counter)) {
      require_unit(metric->unit);
      require_plausible(place, metric->key, *value * metric->scale);
      kernel.metrics.push_back(
          {std::string(metric->key), *value * metric->scale, std::string(metric->unit), Provenance::imported});
    } else {
      kernel.metrics.push_back({counter, *value, unit, Provenance::imported});
    }
  }

  void read_raw() {
    const std::optional<CsvLine> units = lines_.next();
    if (!units) fail(line_place(header_.number), "no launch below the header and units");
    require_field_count(header_, *units);
    if (!units->fields.front().empty()) fail(line_place(units->number), "missing row of units");
    const std::vector<std::string>& counters = header_.fields;
    while (const std::optional<CsvLine> line = next(false)) {
      for (std::size_t i = 0; i < counters.size(); ++i) {
        note_column(counters[i], units->fields[i], line->fields[i]);
        take(counters[i], line->fields[i], units->fields[i], line_place(units->number).at(counters[i]), line->number);
      }
    }
  }

  void read_details() {
    require_column("Metric Value");
    while (const std::optional<CsvLine> line = next(true)) {
      std::string counter = field(*line, "Metric Name");
      const auto* const named = std::ranges::find(section_names, counter, [](const auto& pair) { return pair.first; });
      if (named != section_names.end()) counter = named->second;
      if (counter.empty()) continue;  // text of a rule
      const std::string unit = field(*line, "Metric Unit");
      const std::string value = field(*line, "Metric Value");
      const FileLocation place = line_place(line->number).at(counter);
      note_column(counter, unit, value);
      if (counter == "Memory Throughput" && base_unit(unit).first == "byte/s") {  // also stated in percent
        const auto rate = ncu_number(place, value);
        if (rate) launch_->dram_rate = *rate * base_unit(unit).second;
      }
      take(counter, value, unit, place, line->number);
    }
  }

  /// Throws if a launch follows other output below the table; it would be lost silently.
  void require_end_of_table() {
    std::size_t line = lines_.line();
    for (std::string_view rest = lines_.rest(); !rest.empty(); ++line) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view text = rest.substr(0, end);
      const bool launch = text.size() > 2 && text[0] == '"' && text[1] >= '0' && text[1] <= '9';
      if (launch && text.find("\",\"") != std::string_view::npos) {
        fail(line_place(line), "a second table follows the first (import each table separately)");
      }
      rest.remove_prefix(std::min(rest.size(), end + 1));
    }
  }

  CsvReader lines_;
  const NcuSelection& selection_;
  ColumnList& columns_;
  CsvLine header_;
  std::size_t count_ = 0;            ///< launches, selected or not
  std::set<std::string> absent_;     ///< counters without a value in a launch
  std::optional<NcuLaunch> launch_;  ///< current
  std::vector<NcuLaunch> launches_;
};

/// Returns the length of the shortest sequence whose repetitions are all launches, or of the stated number of them.
std::size_t sequence_length(std::span<const NcuLaunch> launches, const NcuSelection& selection) {
  const std::size_t count = launches.size();
  const auto repeats = static_cast<std::size_t>(selection.repeats);
  for (std::size_t length = repeats > 0 ? count / repeats : 1; length > 0 && length <= count; ++length) {
    bool repeated = count % length == 0 && (repeats == 0 || length * repeats == count);
    for (std::size_t i = length; repeated && i < count; ++i) repeated = launches[i].is_like(launches[i - length]);
    if (repeated) return length;
    if (repeats > 0) break;
  }
  fail(make_message("{} launches are not {} repetitions of one sequence", count, repeats));
}

/// Throws if the launches differ in a column.
void require_one(std::span<const NcuLaunch> launches, std::string_view column, std::string NcuLaunch::*member) {
  std::set<std::string> found;
  for (const NcuLaunch& launch : launches) found.insert(launch.*member);
  if (found.size() < 2) return;
  fail(make_message("the launches have several values of '{}': {} (import the rows of each separately)", column,
                    fmt::join(found, ", ")));
}

/// Throws if launches that would be samples of one problem, or parts of one sequence, may be of several problems: their
/// durations differ beyond noise, or one kernel was launched with several grids. The user may confirm them by selecting
/// launches or repetitions.
void require_one_problem(std::span<const NcuLaunch> launches, std::size_t length, const NcuSelection& selection) {
  if (selection.repeats > 0 || selection.first_launch || selection.last_launch) return;
  constexpr double noise = 1.2;
  const std::string named = fmt::format("launches {} to {} of {}", launches.front().id, launches.back().id,
                                        short_kernel_name(launches.front().kernel));
  const auto is_same_kernel = [&](const NcuLaunch& launch) { return launch.kernel == launches.front().kernel; };
  if (length > 1 && std::ranges::all_of(launches, is_same_kernel)) {
    fail(
        make_message("{} have different grids and may be of different problems (select those of one problem with "
                     "--launches, or give --repeats 1 if all belong to it)",
                     named));
  }
  for (std::size_t place = 0; place < length; ++place) {
    std::vector<double> times;
    for (std::size_t i = place; i < launches.size(); i += length) {
      const std::vector<double>& samples = launches[i].record.samples_ns;
      times.insert(times.end(), samples.begin(), samples.end());
    }
    if (times.empty()) continue;
    const auto [least, most] = std::ranges::minmax(times);
    if (most <= noise * least) continue;
    fail(make_message(
        "{} take {} to {} and may be of different problems (select those of one problem with --launches, "
        "or give --repeats {} if they are its samples)",
        length == 1 ? named : fmt::format("repetitions of {}", short_kernel_name(launches[place].kernel)),
        attnscope::text(Nanoseconds(least)), attnscope::text(Nanoseconds(most)), launches.size() / length));
  }
}

/// Combines one launch of all repetitions: times become samples, counters their median. Counters that a repetition
/// lacks are dropped.
KernelRecord joined(const std::vector<KernelRecord>& repetitions) {
  KernelRecord kernel;
  const bool timed = std::ranges::none_of(repetitions, [](const auto& each) { return each.samples_ns.empty(); });
  for (const KernelRecord& each : repetitions) {
    if (timed) kernel.samples_ns.push_back(each.samples_ns.front());
  }
  for (const MetricValue& metric : repetitions.front().metrics) {
    std::vector<double> values;
    for (const KernelRecord& each : repetitions) {
      if (const auto value = each.metric(metric.name)) values.push_back(*value);
    }
    if (values.size() != repetitions.size()) continue;
    kernel.metrics.push_back({metric.name, summarize(values)->median, metric.unit, Provenance::imported});
  }
  return kernel;
}

/// `times`: launches per sample by kernel.
std::vector<Message> notes_of(std::size_t launches, std::size_t length, const std::map<std::string, int>& times) {
  std::vector<Message> notes;
  const std::size_t samples = launches / length;
  if (samples > 1) {
    notes.push_back(make_message("{} launches imported as {} samples of {}", launches, samples,
                                 length == 1 ? "one launch" : fmt::format("a sequence of {} launches", length)));
  } else if (std::ranges::any_of(times, [](const auto& each) { return each.second > 1; })) {
    notes.push_back(
        make_message("{} launches without a repeating sequence imported as one sample (--kernel-name, --launches and "
                     "--repeats select others)",
                     launches));
  }
  for (const auto& [name, count] : times) {
    if (count > 1)
      notes.push_back(make_message("{} is launched {} times per sample; its launches are added up", name, count));
  }
  return notes;
}

/// Returns the point of the launches, a sequence of `length` repeated. `times`: receives launches per sample by kernel.
PointRecord point_of(std::span<const NcuLaunch> launches, std::size_t length, const ImportRequest& request,
                     std::map<std::string, int>& times) {
  PointRecord point;
  point.provenance = Provenance::imported;
  std::vector<double> clocks;
  for (const NcuLaunch& launch : launches) {
    if (launch.clock_hz) clocks.push_back(*launch.clock_hz);
  }
  if (const auto clock = summarize(clocks)) point.clocks = ClockReading{.sm_clock_hz = clock->median};
  for (std::size_t place = 0; place < length; ++place) {
    std::vector<KernelRecord> repetitions;
    for (std::size_t i = place; i < launches.size(); i += length) {
      if (request.cancellation_check) request.cancellation_check();
      repetitions.push_back(launches[i].record);
    }
    KernelRecord kernel = joined(repetitions);
    const FileLocation here = line_place(launches[place].line);
    if (kernel.metrics.empty() && kernel.samples_ns.empty()) fail(here, "the repetitions have no common counter");
    const std::string name = short_kernel_name(launches[place].kernel);
    require_valid_name(here, "kernel", name);
    const int time = ++times[name];
    // "all" is reserved for the sum.
    kernel.kernel = time == 1 && name != "all" ? name : fmt::format("{} {}", name, time);
    point.kernels.push_back(std::move(kernel));
  }
  return point;
}

}  // namespace

bool is_ncu_text_report(std::string_view text) {
  return text.find("==PROF==") != std::string_view::npos || text.find("\n    Section: ") != std::string_view::npos;
}

std::size_t find_ncu_table(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    for (const std::string_view header : {"\"ID\",", "ID,", "\"ID\";", "ID;", "ID\t"}) {
      if (rest.starts_with(header)) return at;
    }
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) break;
    at += end + 1;
  }
  return std::string_view::npos;
}

Import import_ncu(std::string_view text, const ImportRequest& request) {
  const std::size_t start = find_ncu_table(text);
  if (start == std::string_view::npos && is_ncu_text_report(text)) {
    fail(
        "a text report of ncu, not a table (run ncu with --csv, or convert its report: ncu --import FILE.ncu-rep "
        "--csv)");
  }
  if (start == std::string_view::npos) {
    fail("no ncu table found: no line begins with \"ID\" (use `ncu --csv --page raw`)");
  }
  if (detect_separator(text.substr(start)) != ',') {
    fail("the table was saved by a spreadsheet, which changes its numbers (import the output of ncu --csv itself)");
  }
  const auto skipped = static_cast<std::size_t>(std::ranges::count(text.substr(0, start), '\n'));
  PointBuilder builder(request);
  LaunchReader reader(text.substr(start), skipped + 1, request.ncu, builder.columns());
  const std::vector<NcuLaunch> launches = reader.read();
  require_one(launches, "Process ID", &NcuLaunch::process);
  require_one(launches, "Device", &NcuLaunch::device);
  const std::size_t length = sequence_length(launches, request.ncu);
  if (!request.columns_only) require_one_problem(launches, length, request.ncu);
  const Message missing = missing_fields([&](std::string_view name) { return request.gives(name); }, false);
  if (!missing.empty() && !request.columns_only) fail(make_message("an ncu table has no problem: {}", missing));
  std::map<std::string, int> times;
  PointRecord point = point_of(launches, length, request, times);
  point.spec.algorithm = "?";  // any name: the caller needs only the columns
  if (missing.empty()) point.spec = builder.given_spec();
  std::string device = request.device_name.empty() ? "unnamed GPU" : request.device_name;
  const std::string& capability = launches.front().compute_capability;
  if (request.device_name.empty() && !capability.empty()) device += " of compute capability " + capability;
  require_valid_name({.whole = "the table"}, "device", device);
  ImportedDevice& on = builder.device_of(device);
  if (on.info.limits.sm_count == 0) set_compute_capability(on.info.limits, capability);
  on.points.push_back(std::move(point));
  Import import = builder.finish();
  for (Message& note : notes_of(launches.size(), length, times)) import.notes.push_back(std::move(note));
  if (!reader.absent().empty()) {
    import.notes.push_back(
        make_message("no value of these counters (n/a, or only instances): {}", fmt::join(reader.absent(), ", ")));
  }
  import.missing = missing;
  return import;
}

}  // namespace attnscope::exchange
