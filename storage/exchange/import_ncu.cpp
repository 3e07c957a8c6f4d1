// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>

#include "storage/exchange/import_formats.h"
#include "storage/exchange/import_rows.h"
#include "storage/exchange/import_values.h"
#include "storage/exchange/ncu_launches.h"

namespace attnscope::exchange {
namespace {

bool alike(const NcuLaunch& one, const NcuLaunch& other) {
  return one.kernel == other.kernel && one.shape == other.shape;
}

/// The shortest sequence that all launches are whole repetitions of (the prefix function of Knuth, Morris and Pratt).
std::size_t shortest_sequence(std::span<const NcuLaunch> launches) {
  std::vector<std::size_t> border{0};
  for (std::size_t i = 1; i < launches.size(); ++i) {
    std::size_t length = border.back();
    while (length > 0 && !alike(launches[i], launches[length])) length = border.at(length - 1);
    border.push_back(alike(launches[i], launches[length]) ? length + 1 : 0);
  }
  const std::size_t period = launches.size() - border.back();
  return launches.size() % period == 0 ? period : launches.size();
}

std::size_t sequence_of(std::span<const NcuLaunch> launches, const NcuSelection& selection) {
  if (selection.repeats == 0) return shortest_sequence(launches);
  const auto repeats = static_cast<std::size_t>(selection.repeats);
  const std::size_t length = launches.size() / repeats;
  bool repeated = launches.size() % repeats == 0;
  for (std::size_t i = length; repeated && i < launches.size(); ++i) {
    repeated = alike(launches[i], launches[i - length]);
  }
  if (!repeated) fail(make_message("{} launches are not {} repetitions of one sequence", launches.size(), repeats));
  return length;
}

/// What launches are told apart by, the first of them, each once, in the table's order: "0 (CC 9.0), 1 (CC 8.0)".
/// Nothing where all are one.
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

/// Launches of two processes or on two GPUs are no samples of one another, whatever they are called.
void require_one_place(std::span<const NcuLaunch> launches) {
  const auto processes = several(launches, [](const NcuLaunch& launch) {
    return launch.process_name.empty() ? launch.process : fmt::format("{} ({})", launch.process, launch.process_name);
  });
  if (processes)
    fail(make_message(
        "its launches are of several processes: {}; they are no samples of one another, choose one with --process",
        *processes));
  const auto devices = several(launches, [](const NcuLaunch& launch) {
    return launch.compute_capability.empty() ? launch.device
                                             : fmt::format("{} (CC {})", launch.device, launch.compute_capability);
  });
  if (devices)
    fail(
        make_message("its launches ran on several GPUs: {}, as ncu numbers them; they are no samples of one another, "
                     "choose one with --device",
                     *devices));
}

/// One launch's numbers, as we keep them.
KernelRecord record_of(const NcuLaunch& launch, const std::vector<NcuColumn>& columns) {
  KernelRecord kernel;
  std::optional<double> shared;
  for (const NcuValue& cell : launch.values) {
    const NcuColumn& column = columns[cell.column];
    if (column.counter.starts_with("device__attribute")) continue;  // of the GPU, not of the launch
    const Place place = line_place(cell.line).at(Place::Part::counter, column.counter);
    const auto [unit, scale] = base_unit(column.unit);
    const auto value = checked(place, cell.value * scale);
    if (!value) continue;
    const auto require_unit = [&, &unit = unit](std::string_view wanted) {
      if (unit != wanted) fail(column.place(), make_message("the unit is '{}', not one of {}", column.unit, wanted));
    };
    if (column.counter == "gpu__time_duration.sum") {
      require_unit("ns");
      require_possible(place, metric_key::time_median_ns, *value);
      kernel.samples_ns = {*value};
    } else if (column.counter == "launch__shared_mem_per_block_static" ||
               column.counter == "launch__shared_mem_per_block_dynamic") {
      require_unit("byte");
      shared = shared.value_or(0) + *value;
    } else if (const Metric* metric = metric_of(column.counter)) {
      require_unit(metric->unit);
      require_possible(place, metric->key, *value * metric->scale);
      kernel.metrics.push_back(
          {std::string(metric->key), *value * metric->scale, std::string(metric->unit), Provenance::imported});
    } else {
      kernel.metrics.push_back({column.counter, *value, unit, Provenance::imported});
    }
  }
  if (shared) kernel.metrics.push_back({std::string(metric_key::shared_bytes), *shared, "byte", Provenance::imported});
  if (kernel.metrics.empty() && kernel.samples_ns.empty()) fail(line_place(launch.line), "no counter has a value");
  return kernel;
}

/// What launches are told apart by, which becomes no number.
constexpr std::array<std::string_view, 7> of_a_launch{"ID", "Grid Size",  "Block Size",  "Device",
                                                      "CC", "Process ID", "Process Name"};

void note_columns(const NcuTable& table, ColumnList& columns) {
  for (const NcuColumn& each : table.columns) {
    ImportedColumn& column = columns[each.counter];
    if (!column.example.empty()) continue;
    column.unit = each.unit;
    column.example = example_of(each.example);
    if (each.counter == "Kernel Name") column.becomes = "kernel";
    if (std::ranges::find(of_a_launch, each.counter) != of_a_launch.end()) column.left_out = "tells launches apart";
    if (each.counter.starts_with("device__attribute")) column.left_out = "says something of the GPU, not of a launch";
    if (const Metric* metric = metric_of(each.counter)) columns.keep(metric->key);
  }
}

double median(const std::vector<double>& values) {
  return summarize(values)->median;
}

/// The same launch of every repetition: times are samples, of counters the median stands. What one repetition lacks is
/// not known of all.
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

/// What a reader would not expect of how launches became numbers.
std::vector<Message> notes_of(std::size_t launches, std::size_t length, const std::map<std::string, int>& times) {
  std::vector<Message> notes;
  const auto several = [](const auto& each) { return each.second > 1; };
  if (launches > length) {
    const std::size_t samples = launches / length;
    if (length == 1) notes.push_back(make_message("{} launches are {} samples of one", launches, samples));
    if (length > 1) {
      notes.push_back(make_message("{} launches are {} samples of a sequence of {}", launches, samples, length));
    }
  } else if (std::ranges::any_of(times, several)) {
    notes.push_back(
        make_message("{} launches, which do not repeat as a whole, are one sample and add; --kernel, --launches and "
                     "--repeats choose others",
                     launches));
  }
  for (const auto& [name, count] : times) {
    if (count > 1) notes.push_back(make_message("{} is launched {} times in each sample, which add", name, count));
  }
  return notes;
}

}  // namespace

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
  const NcuTable table = read_ncu_launches(text, request.ncu);
  const std::vector<NcuLaunch>& launches = table.launches;
  if (launches.empty())
    fail(make_message("none of its {} launches is chosen by --kernel, --launches, --device and --process",
                      table.left_out));
  require_one_place(launches);
  const std::size_t length = sequence_of(launches, request.ncu);

  PointRecord point;
  point.spec.algorithm = "?";  // until somebody says it
  if (request.spec) point.spec = *request.spec;
  point.provenance = Provenance::imported;
  std::map<std::string, int> times;
  for (std::size_t place = 0; place < length; ++place) {
    std::vector<KernelRecord> repetitions;
    for (std::size_t i = place; i < launches.size(); i += length) {
      if (request.proceed) request.proceed();
      repetitions.push_back(record_of(launches[i], table.columns));
    }
    KernelRecord kernel = joined(repetitions);
    if (kernel.metrics.empty() && kernel.samples_ns.empty()) {
      fail(line_place(launches[place].line), "its repetitions have no counter in common");
    }
    const std::string name = short_kernel_name(launches[place].kernel);
    check_word(line_place(launches[place].line), "kernel", name);
    const int time = ++times[name];
    kernel.kernel = time == 1 ? name : fmt::format("{} {}", name, time);
    if (kernel.kernel == "all") kernel.kernel = "all 1";  // means their sum here
    point.kernels.push_back(std::move(kernel));
  }
  std::string device = request.device_name;
  const std::string& capability = launches.front().compute_capability;
  if (device.empty() && !capability.empty()) device = fmt::format("unnamed GPU of compute capability {}", capability);
  check_word({.of = Place::Of::table}, "device", device);

  PointBuilder builder(request);
  note_columns(table, builder.columns());
  builder.device_of(device.empty() ? "unnamed GPU" : device).points.push_back(std::move(point));
  Import import = builder.take();
  import.notes = notes_of(launches.size(), length, times);
  return import;
}

}  // namespace attnscope::exchange
