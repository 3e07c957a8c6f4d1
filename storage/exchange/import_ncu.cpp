// SPDX-License-Identifier: Apache-2.0
// Imports Nsight Compute tables, raw page and details page.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "profiler/metrics/metrics.h"
#include "profiler/plan/text.h"
#include "storage/bounds.h"
#include "storage/exchange/csv_reader.h"
#include "storage/exchange/import_rows.h"
#include "storage/exchange/import_values.h"

namespace attnscope::exchange {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> section_names{{
    {"Duration", "gpu__time_duration.sum"},
    {"Registers Per Thread", "launch__registers_per_thread"},
    {"Static Shared Memory Per Block", "launch__shared_mem_per_block_static"},
    {"Dynamic Shared Memory Per Block", "launch__shared_mem_per_block_dynamic"},
    {"Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"},
    {"Theoretical Occupancy", "sm__maximum_warps_per_active_cycle_pct"},
}};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Parses an id of ncu (launch, device or process); nullopt otherwise.
std::optional<std::int64_t> number_of(std::string_view text) {
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
  std::string compute_capability;
  std::string process;  ///< process id; empty if unknown
  std::string process_name;
  KernelRecord record = {};
};

bool chosen(const NcuSelection& selection, const NcuLaunch& launch) {
  const auto is = [](const std::string& number, const std::optional<std::int64_t>& wanted) {
    return !wanted || number_of(number) == wanted;
  };
  return launch.kernel.find(selection.kernel) != std::string::npos && launch.id >= selection.first_launch.value_or(0) &&
         (!selection.last_launch || launch.id <= *selection.last_launch) && is(launch.device, selection.device) &&
         is(launch.process, selection.process);
}

/// Parses a number as ncu writes it, "1,048,576.5". Returns nullopt for text ("n/a", "(128, 1, 1)"). Throws Wrong for
/// malformed numbers such as "1.500,5".
std::optional<double> ncu_number(const Place& place, std::string_view text) {
  const bool looks_numeric = text.find_first_not_of("0123456789.,+-eE") == std::string_view::npos &&
                             text.find_first_of("0123456789") != std::string_view::npos &&
                             text.find_first_of("eE") != 0;
  if (!looks_numeric) return std::nullopt;
  const auto wrong = [&] {
    fail(place, make_message("'{}' is not a number like 1,048,576.5 (run ncu with LC_ALL=C)", text));
  };
  std::string digits;
  const std::size_t point = std::min(text.find_first_of(".eE"), text.size());
  const std::string_view whole = text.substr(0, point);
  if (text.substr(point).find(',') != std::string_view::npos) wrong();
  const bool grouped = whole.find(',') != std::string_view::npos;
  std::size_t group = 0;  // digits since the last comma
  bool first_group = true;
  for (const char c : whole) {
    if (c != ',') {
      digits += c;
      group += is_digit(c) ? 1U : 0U;
      continue;
    }
    if (first_group ? group < 1 || group > 3 : group != 3) wrong();
    first_group = false;
    group = 0;
  }
  if (grouped && group != 3) wrong();
  digits += text.substr(point);
  if (digits.starts_with('+')) digits.erase(0, 1);
  const auto value = number(digits);
  if (!value) wrong();
  return value;
}

/// Columns that identify a launch; not imported as metrics.
constexpr std::array<std::string_view, 7> launch_columns{"ID", "Grid Size",  "Block Size",  "Device",
                                                         "CC", "Process ID", "Process Name"};

class LaunchReader {
 public:
  LaunchReader(std::string_view table, std::size_t line, const NcuSelection& selection, ColumnList& columns)
      : lines_(table, line), selection_(selection), columns_(columns), header_(*lines_.next()) {}

  std::vector<NcuLaunch> read() {
    if (!column("Kernel Name")) fail(line_place(header_.number), "missing column 'Kernel Name'");
    if (column("Metric Name")) {
      read_details();
    } else {
      read_raw();
    }
    finish();
    if (count_ == 0) fail(line_place(lines_.line() - 1), "no launch below the header and units");
    require_end_of_table();
    if (launches_.empty())
      fail(make_message("none of {} launches matches --kernel-name, --launches, --device and --process", count_));
    return std::move(launches_);
  }

 private:
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const {
    const auto found = std::ranges::find(header_.fields, name);
    if (found == header_.fields.end()) return std::nullopt;
    return static_cast<std::size_t>(found - header_.fields.begin());
  }
  [[nodiscard]] std::string field(const CsvLine& line, std::string_view name) const {
    const auto at = column(name);
    return at ? line.fields[*at] : std::string();
  }

  void note_column(const std::string& counter, const std::string& unit, const std::string& example) {
    ImportedColumn& column = columns_[counter];
    if (!column.example.empty()) return;
    column.unit = unit;
    column.example = shorten_example(example);
    if (counter == "Kernel Name") column.becomes = "kernel";
    if (std::ranges::find(launch_columns, counter) != launch_columns.end()) column.left_out = "identifies the launch";
    if (counter.starts_with("device__attribute")) column.left_out = "describes the GPU, not a launch";
    if (const Metric* metric = metric_of(counter)) columns_.keep(metric->key);
  }

  /// Returns the next line of a launch; nullopt at the end of the table, where other program output begins. A details
  /// page has many lines per launch, with equal id.
  std::optional<CsvLine> next(bool details) {
    std::optional<CsvLine> line = lines_.next();
    const auto id = line ? number_of(line->fields.front()) : std::nullopt;
    if (!id) return std::nullopt;
    require_field_count(header_, *line);
    if (launch_ && launch_->id == *id && details) return line;
    finish();
    ++count_;
    launch_ = NcuLaunch{.line = line->number,
                        .id = *id,
                        .kernel = field(*line, "Kernel Name"),
                        .shape = field(*line, "Grid Size") + " " + field(*line, "Block Size"),
                        .device = field(*line, "Device"),
                        .compute_capability = field(*line, "CC"),
                        .process = field(*line, "Process ID"),
                        .process_name = field(*line, "Process Name")};
    if (launch_->kernel.empty()) {
      fail(line_place(line->number).at(place_part::column, "Kernel Name"), "empty field");
    }
    return line;
  }

  void finish() {
    if (!launch_ || !chosen(selection_, *launch_)) return;
    KernelRecord& kernel = launch_->record;
    if (shared_) {
      kernel.metrics.push_back({std::string(metric_key::shared_bytes), *shared_, "byte", Provenance::imported});
    }
    if (kernel.metrics.empty() && kernel.samples_ns.empty()) {
      fail(line_place(launch_->line), "the launch has no counter values");
    }
    launches_.push_back(std::move(*launch_));
    launch_.reset();
    shared_.reset();
    counters_.clear();
  }

  /// Adds a counter of the current launch; repeated counters of other sections are ignored. `unit_place`: location of
  /// its unit.
  void take(const std::string& counter, double number, const std::string& stated, const Place& unit_place,
            std::size_t line) {
    if (!chosen(selection_, *launch_) || counter.starts_with("device__attribute")) return;
    if (!counters_.insert(counter).second) return;
    const Place place = line_place(line).at(place_part::counter, counter);
    const auto [unit, scale] = base_unit(stated);
    const auto value = checked(place, number * scale);
    if (!value) return;
    const auto require_unit = [&, &unit = unit](std::string_view wanted) {
      if (unit != wanted) fail(unit_place, make_message("the unit is '{}'; expected {}", stated, wanted));
    };
    KernelRecord& kernel = launch_->record;
    if (counter == "gpu__time_duration.sum") {
      require_unit("ns");
      require_plausible(place, metric_key::time_median_ns, *value);
      kernel.samples_ns = {*value};
    } else if (counter == "launch__shared_mem_per_block_static" || counter == "launch__shared_mem_per_block_dynamic") {
      require_unit("byte");
      shared_ = shared_.value_or(0) + *value;
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
        if (!is_counter_name(counters[i])) continue;
        const Place place = line_place(line->number).at(place_part::column, counters[i]);
        const auto value = ncu_number(place, line->fields[i]);
        const Place unit_place = line_place(units->number).at(place_part::column, counters[i]);
        if (value) take(counters[i], *value, units->fields[i], unit_place, line->number);
      }
    }
  }

  void read_details() {
    if (!column("Metric Value")) fail(line_place(header_.number), "missing column 'Metric Value'");
    while (const std::optional<CsvLine> line = next(true)) {
      std::string counter = field(*line, "Metric Name");
      const auto* named = std::ranges::find(section_names, counter, [](const auto& pair) { return pair.first; });
      if (named != section_names.end()) counter = named->second;
      if (counter.empty()) continue;  // text of a rule
      const std::string unit = field(*line, "Metric Unit");
      note_column(counter, unit, field(*line, "Metric Value"));
      if (!is_counter_name(counter)) continue;
      const Place place = line_place(line->number).at(place_part::metric, counter);
      const auto value = ncu_number(place, field(*line, "Metric Value"));
      if (value) take(counter, *value, unit, place, line->number);
    }
  }

  /// Throws if a launch follows other output below the table; it would be lost silently.
  void require_end_of_table() {
    std::size_t line = lines_.line();
    for (std::string_view rest = lines_.rest(); !rest.empty(); ++line) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view text = rest.substr(0, end);
      if (text.size() > 2 && text[0] == '"' && is_digit(text[1]) && text.find("\",\"") != std::string_view::npos) {
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
  std::optional<NcuLaunch> launch_;  ///< current
  std::set<std::string> counters_;   ///< counters of the current launch
  std::optional<double> shared_;     ///< shared memory per block of the current launch, static and dynamic
  std::vector<NcuLaunch> launches_;
};

/// Returns the position of the bracket that the last character closes; npos if there is none.
std::size_t opening(std::string_view text, char open, char close) {
  int depth = 0;
  for (std::size_t i = text.size(); i > 0; --i) {
    if (text[i - 1] == close) ++depth;
    if (text[i - 1] == open && --depth == 0) return i - 1;
  }
  return std::string_view::npos;
}

/// Returns the position after the last `separator` outside of brackets; 0 if there is none.
std::size_t after_last(std::string_view text, std::string_view separator) {
  int depth = 0;
  for (std::size_t i = text.size(); i > 0; --i) {
    const char c = text[i - 1];
    if (c == '>' || c == ')' || c == '}' || c == ']') ++depth;
    if (c == '<' || c == '(' || c == '{' || c == '[') --depth;
    if (depth == 0 && text.substr(i - 1).starts_with(separator)) return i - 1 + separator.size();
  }
  return 0;
}

/// Returns "softmax_warp_forward" for "void at::<unnamed>::softmax_warp_forward<float, 4>(T1 *)".
std::string short_kernel_name(std::string_view text) {
  std::string_view name = text;
  const auto trim = [&] {
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  };
  trim();
  // Removes parameters, then template arguments. If brackets do not match, the text is kept.
  for (const auto& [open, close] : {std::pair{'(', ')'}, std::pair{'<', '>'}}) {
    if (name.empty() || name.back() != close) continue;
    const std::size_t at = opening(name, open, close);
    // Keep "(anonymous namespace)" and "<unnamed>": they are part of a scope.
    if (at == std::string_view::npos || at == 0 || name[at - 1] == ':' || name[at - 1] == ' ') continue;
    name = name.substr(0, at);
    trim();
  }
  name.remove_prefix(after_last(name, "::"));
  name.remove_prefix(after_last(name, " "));
  if (name.empty()) name = text;
  name = name.substr(0, max_name_length);
  return std::string(name.substr(0, first_invalid_utf8(name)));  // drops an incomplete character at the end
}

bool alike(const NcuLaunch& one, const NcuLaunch& other) {
  return one.kernel == other.kernel && one.shape == other.shape;
}

/// Returns the length of the shortest sequence whose repetitions are all launches (prefix function of Knuth, Morris and
/// Pratt).
std::size_t shortest_period(std::span<const NcuLaunch> launches) {
  std::vector<std::size_t> border{0};
  for (std::size_t i = 1; i < launches.size(); ++i) {
    std::size_t length = border.back();
    while (length > 0 && !alike(launches[i], launches[length])) length = border.at(length - 1);
    border.push_back(alike(launches[i], launches[length]) ? length + 1 : 0);
  }
  const std::size_t period = launches.size() - border.back();
  return launches.size() % period == 0 ? period : launches.size();
}

std::size_t sequence_length(std::span<const NcuLaunch> launches, const NcuSelection& selection) {
  if (selection.repeats == 0) return shortest_period(launches);
  const auto repeats = static_cast<std::size_t>(selection.repeats);
  const std::size_t length = launches.size() / repeats;
  bool repeated = launches.size() % repeats == 0;
  for (std::size_t i = length; repeated && i < launches.size(); ++i) {
    repeated = alike(launches[i], launches[i - length]);
  }
  if (!repeated) fail(make_message("{} launches are not {} repetitions of one sequence", launches.size(), repeats));
  return length;
}

/// Returns the first distinct names of launches, "0 (CC 9.0), 1 (CC 8.0)"; nullopt if all are equal.
template <class Name>
std::optional<std::string> several(std::span<const NcuLaunch> launches, Name&& name) {
  constexpr std::size_t enough = 8;
  std::vector<std::string> names;
  for (const NcuLaunch& launch : launches) {
    if (names.size() == enough) break;
    std::string of_launch = name(launch);
    if (std::ranges::find(names, of_launch) == names.end()) names.push_back(std::move(of_launch));
  }
  if (names.size() < 2) return std::nullopt;
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Throws unless all launches are of one process on one GPU; others are not samples of each other.
void require_one_process_and_device(std::span<const NcuLaunch> launches) {
  const auto processes = several(launches, [](const NcuLaunch& launch) {
    return launch.process_name.empty() ? launch.process : fmt::format("{} ({})", launch.process, launch.process_name);
  });
  if (processes) fail(make_message("launches of several processes: {} (select one with --process)", *processes));
  const auto devices = several(launches, [](const NcuLaunch& launch) {
    return launch.compute_capability.empty() ? launch.device
                                             : fmt::format("{} (CC {})", launch.device, launch.compute_capability);
  });
  if (devices)
    fail(make_message("launches on several GPUs: {} in ncu's numbering (select one with --device)", *devices));
}

double median(const std::vector<double>& values) {
  return summarize(values)->median;
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
    kernel.metrics.push_back({metric.name, median(values), metric.unit, Provenance::imported});
  }
  return kernel;
}

std::vector<Message> notes_of(std::size_t launches, std::size_t length, const std::map<std::string, int>& times) {
  std::vector<Message> notes;
  const auto several = [](const auto& each) { return each.second > 1; };
  if (launches > length) {
    const std::size_t samples = launches / length;
    if (length == 1)
      notes.push_back(make_message("{} launches imported as {} samples of one launch", launches, samples));
    if (length > 1) {
      notes.push_back(
          make_message("{} launches imported as {} samples of a sequence of {} launches", launches, samples, length));
    }
  } else if (std::ranges::any_of(times, several)) {
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

}  // namespace

std::size_t find_ncu_table(std::string_view text) {
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
  const std::size_t start = find_ncu_table(text);
  if (start == std::string_view::npos) {
    fail("no ncu table found: no line begins with \"ID\" (use `ncu --csv --page raw`)");
  }
  const auto skipped = static_cast<std::size_t>(std::ranges::count(text.substr(0, start), '\n'));
  PointBuilder builder(request);
  const std::vector<NcuLaunch> launches =
      LaunchReader(text.substr(start), skipped + 1, request.ncu, builder.columns()).read();
  require_one_process_and_device(launches);
  const std::size_t length = sequence_length(launches, request.ncu);
  PointRecord point;
  const auto missing = request.spec ? std::vector<std::string>() : builder.missing_given();
  if (!missing.empty() && !request.columns_only)
    fail(make_message("an ncu table has no problem: {}", missing_fields_message(missing, false)));
  point.spec.algorithm = "?";  // placeholder; the caller needs only the columns
  if (missing.empty()) point.spec = request.spec ? *request.spec : builder.given_spec();
  point.provenance = Provenance::imported;
  std::map<std::string, int> times;
  for (std::size_t place = 0; place < length; ++place) {
    std::vector<KernelRecord> repetitions;
    for (std::size_t i = place; i < launches.size(); i += length) {
      if (request.cancellation_check) request.cancellation_check();
      repetitions.push_back(launches[i].record);
    }
    KernelRecord kernel = joined(repetitions);
    if (kernel.metrics.empty() && kernel.samples_ns.empty()) {
      fail(line_place(launches[place].line), "the repetitions have no common counter");
    }
    const std::string name = short_kernel_name(launches[place].kernel);
    require_valid_name(line_place(launches[place].line), "kernel", name);
    const int time = ++times[name];
    kernel.kernel = time == 1 ? name : fmt::format("{} {}", name, time);
    if (kernel.kernel == "all") kernel.kernel = "all 1";  // "all" is reserved for the sum
    point.kernels.push_back(std::move(kernel));
  }
  std::string device = request.device_name;
  const std::string& capability = launches.front().compute_capability;
  if (device.empty() && !capability.empty()) device = fmt::format("unnamed GPU of compute capability {}", capability);
  require_valid_name({.whole = "the table"}, "device", device);

  builder.device_of(device.empty() ? "unnamed GPU" : device).points.push_back(std::move(point));
  Import import = builder.take();
  import.notes = notes_of(launches.size(), length, times);
  import.missing = missing;
  return import;
}

}  // namespace attnscope::exchange
