// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/import.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "app/command.h"
#include "app/interrupt.h"
#include "app/output.h"
#include "app/run_files.h"
#include "app/sweep_options.h"
#include "kernels/registry.h"
#include "profiler/measure/device.h"
#include "profiler/plan/sweep.h"
#include "profiler/plan/text.h"
#include "profiler/units/number_format.h"
#include "storage/run_store.h"

namespace attnscope {
namespace {

struct ImportOptions {
  explicit ImportOptions(Arguments given) : arguments(given) {}

  Arguments arguments;
  std::string file;
  std::string into;
  std::string label;
  std::string format;
  std::string device_name;
  std::string algorithm;
  std::vector<std::string> axes;
  std::vector<std::string> map;
  std::vector<std::string> ignore;
  NcuSelection ncu;
  std::string launches;
  bool preview = false;
  Output output;
};

/// Parses "3:7", "3:", ":7" or "3": launch IDs of ncu.
void set_launches(NcuSelection& selection, const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string first = text.substr(0, colon);
  const std::string last = colon == std::string::npos ? first : text.substr(colon + 1);
  const auto is_bound = [](const std::string& word) {
    return word.size() < 19 && word.find_first_not_of("0123456789") == std::string::npos;
  };
  const bool valid = is_bound(first) && is_bound(last) && !(first.empty() && last.empty());
  if (valid && !first.empty()) selection.first_launch = std::stoll(first);
  if (valid && !last.empty()) selection.last_launch = std::stoll(last);
  if (!valid || (!first.empty() && !last.empty() && *selection.first_launch > *selection.last_launch)) {
    throw CommandError(ExitCode::usage, "--launches '{}': not a range (write 3:7, 3: or :7)", text);
  }
}

/// Reads a file, a pipe or standard input as UTF-8.
std::string read(const std::string& file) {
  constexpr std::size_t largest_mib = 256;  // protects against endless devices such as /dev/zero
  constexpr std::size_t largest = largest_mib << 20U;
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    throw CommandError(ExitCode::error, "{} is a folder (name a file)", file);
  }
  std::ifstream in(file, std::ios::binary);
  std::string text;
  std::array<char, std::size_t{1} << 16> piece{};
  while (in && text.size() <= largest) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    text.append(piece.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (!in.eof() && text.size() <= largest) {
    throw CommandError(ExitCode::error, "cannot read {}: {} (check path and permissions)", file, std::strerror(errno));
  }
  if (const std::size_t zero = text.find('\0'); zero != std::string::npos) {
    if (file.ends_with(".ncu-rep") || text.starts_with("NVR")) {
      throw CommandError(ExitCode::error,
                         "{} is a report of Nsight Compute (convert it: ncu --import {} --csv --page raw > FILE.csv)",
                         file, file);
    }
    throw CommandError(ExitCode::error, "{} is binary: byte {} is zero (save it as UTF-8)", file, zero + 1);
  }
  if (text.size() > largest) {
    throw CommandError(ExitCode::error, "{} is larger than {} MiB (import it in parts)", file, largest_mib);
  }
  return text;
}

/// Fields of the problem that the file lacks, from --algorithm and -a.
std::vector<GivenField> given_fields(const ImportOptions& options) {
  std::vector<GivenField> given;
  if (!options.algorithm.empty()) given.push_back({std::string(field_name::algorithm), options.algorithm});
  const std::vector<Axis> axes = parse_axes(options.axes);
  if (Message wrong = axis_overlap(axes); !wrong.empty()) throw CommandError(ExitCode::usage, wrong);
  const std::vector<AxisDef> kinds = axis_definitions(known_algorithms());
  for (const Axis& axis : axes) {
    if (axis.values.size() != 1) {
      throw CommandError(ExitCode::usage, "axis {} has {} values; a point takes one", axis.name, axis.values.size());
    }
    const std::string& value = axis.values.front();
    const std::size_t by = value.find('x');
    const auto kind = std::ranges::find(kinds, axis.name, &AxisDef::name);
    const bool is_tile = kind != kinds.end() && kind->sets == AxisDef::AxisTarget::tile;
    if (is_tile && by != std::string::npos) {
      given.push_back({"br", value.substr(0, by)});
      given.push_back({"bc", value.substr(by + 1)});
    } else if (find_field(axis.name) != nullptr || known_algorithms().find_knob(axis.name) != nullptr ||
               std::ranges::count(field_pairs(), axis.name, &FieldPair::name) > 0) {
      if (axis.name == field_name::algorithm && !options.algorithm.empty()) continue;
      given.push_back({axis.name, value});
    } else {
      throw CommandError(ExitCode::usage, "-a {}={}: not a field of a measured point (give fields such as N=4096)",
                         axis.name, value);
    }
  }
  return given;
}

/// Parses "COLUMN=FIELD"; the column's name may contain "=".
std::vector<ColumnMapping> column_mappings(const std::vector<std::string>& texts) {
  std::vector<ColumnMapping> map;
  for (const std::string& text : texts) {
    const std::size_t at = text.rfind('=');
    if (at == std::string::npos || at == 0 || at + 1 == text.size()) {
      throw CommandError(ExitCode::usage,
                         "--map '{}': not of the form COLUMN=FIELD (such as 'T=N' or 't (ms)=time_ms')", text);
    }
    map.push_back({text.substr(0, at), text.substr(at + 1)});
  }
  return map;
}

ImportFormat format_of(const ImportOptions& options, std::string_view text) {
  if (options.format.empty()) return detect_import_format(text);
  return static_cast<ImportFormat>(std::ranges::find(import_format_names, options.format) -
                                   import_format_names.begin());
}

/// Stores all runs or none; a new file appears only when complete.
std::vector<std::int64_t> store(const std::filesystem::path& file, const std::vector<CompleteRun>& runs,
                                const std::function<void()>& cancellation_check) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  if (!error && size > 0)
    return RunStore::open(file, RunStore::Mode::collect).add_complete_runs(runs, cancellation_check);
  if (std::filesystem::is_directory(file, error)) {
    throw CommandError(ExitCode::error, "{} is a folder (name a file with -o)", file.string());
  }
  std::vector<std::int64_t> ids;
  RunStore::create(file, [&](RunStore& created) { ids = created.add_complete_runs(runs, cancellation_check); });
  return ids;
}

constexpr const char* l2_unknown_note = "the state of the L2 is unknown (state it with -a cache=cold or -a cache=warm)";

Message skipped_rows_text(const Import& import) {
  if (import.empty_rows == 1) return "1 row without a number skipped";
  return make_message("{} rows without a number skipped", import.empty_rows);
}

ExitCode preview(ImportOptions& options, ImportFormat format, const Import& import) {
  std::vector<std::string> lines;
  const auto add_line = [&](const Message& line) { lines.push_back(attnscope::text(line)); };
  std::size_t points = 0;
  std::map<std::string, std::pair<std::size_t, std::size_t>> by_device;  // number of points and runs
  for (const ImportedDevice& device : import.devices) {
    points += device.points.size();
    auto& [its_points, its_runs] = by_device[device.info.limits.name];
    its_points += device.points.size();
    ++its_runs;
  }
  for (const auto& [name, counted] : by_device) {
    add_line(make_message("{} on {} ({})", points_text(counted.first), name, runs_text(counted.second)));
  }
  if (import.empty_rows > 0) add_line(skipped_rows_text(import));
  for (const Message& note : import.notes) add_line(note);
  if (import.l2_unknown) add_line(l2_unknown_note);
  if (!import.missing.empty()) add_line(import.missing);
  const analysis::Table table = imported_column_table(import.columns);
  if (options.output.has_format("json")) {
    options.output.object({{"detected_format", to_string(format)},
                           {"points", points},
                           {"skipped_rows", import.empty_rows},
                           {"needs_problem", !import.missing.empty()},
                           {"lines", lines},
                           {"default_output", new_run_file("imported").string()},
                           {"rows", rows_of(table)}},
                          "attnscope-import-preview");
    return ExitCode::ok;
  }
  options.output.line(format_text("{}: read as {}", printable(options.file), to_string(format)));
  for (const std::string& line : lines) options.output.line(line);
  options.output.table(table);
  return ExitCode::ok;
}

ExitCode run_import(ImportOptions& options) {
  ImportRequest request{.device_name = options.device_name,
                        .ncu = options.ncu,
                        .given = given_fields(options),
                        .map = column_mappings(options.map),
                        .ignore = options.ignore,
                        .columns_only = options.preview};
  if (!options.launches.empty()) set_launches(request.ncu, options.launches);
  const std::string text = read(options.file);
  const ImportFormat format = format_of(options, text);
  // Until the import is complete, cancelling leaves no trace of it.
  request.cancellation_check = [&cancel = cancel_on_signals()] {
    if (cancel.cancelled()) throw CommandError(ExitCode::partial, "cancelled: nothing was imported");
  };
  const NcuSelection& ncu = options.ncu;
  const bool chooses = !ncu.kernel.empty() || !options.launches.empty() || ncu.repeats > 0;
  if (chooses && format != ImportFormat::ncu) {
    throw CommandError(ExitCode::usage,
                       "--kernel-name, --launches and --repeats apply to ncu tables, not {} (omit them)", options.file);
  }
  Result<Import, Message> import = import_points(text, format, request);
  if (!import && options.preview && options.output.has_format("json")) {
    options.output.object({{"detected_format", to_string(format)}}, "attnscope-import-preview");
  }
  if (!import) throw CommandError(ExitCode::error, "{}: {}", options.file, import.error());
  const std::string label = options.label.empty() ? std::filesystem::path(options.file).stem().string() : options.label;
  const std::string preset = "import:" + label;  // the prefix distinguishes imports from presets
  if (options.preview) return preview(options, format, *import);
  if (!import->ignored.empty()) {
    spdlog::warn("{}", format_text("ignored columns: {}", fmt::join(import->ignored, ", ")));
  }
  if (import->l2_unknown) import->notes.emplace_back(l2_unknown_note);
  for (const Message& note : import->notes) spdlog::info("{}", attnscope::text(note));
  if (import->empty_rows > 0) spdlog::warn("{}", attnscope::text(skipped_rows_text(*import)));

  std::vector<CompleteRun> runs;
  for (ImportedDevice& device : import->devices) {
    CompleteRun& run = runs.emplace_back();
    run.header.device = device.info;
    run.header.environment.app_version = program_version();
    run.header.preset = preset;
    run.header.argv = {options.arguments.begin(), options.arguments.end()};
    run.header.plan_hash = "imported";
    run.header.planned_points = device.points.size();
    run.header.imported = !device.info.simulated;
    for (const PointRecord& point : device.points) {
      if (!point.rounds.empty()) run.header.rounds = std::max(run.header.rounds, point.rounds.back().round + 1);
    }
    run.points = std::move(device.points);
  }
  std::filesystem::path into = options.into;
  if (into.empty()) {
    std::error_code error;
    std::filesystem::create_directories(runs_folder(), error);
    if (error) {
      throw CommandError(ExitCode::error, "cannot create {}: {} (name a file with -o)", runs_folder().string(),
                         error.message());
    }
    into = new_run_file("imported");
  }
  const std::vector<std::int64_t> ids = store(into, runs, request.cancellation_check);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::cout << make_message("{} of {} imported into {} (run {})", points_text(runs[i].points.size()),
                              runs[i].header.device.limits.name, into.string(), ids[i])
              << '\n';
  }
  return ExitCode::ok;
}

}  // namespace

Action add_import(CLI::App& command, Arguments arguments) {
  auto options = std::make_shared<ImportOptions>(arguments);
  command
      .add_option("FILE", options->file,
                  "JSON or CSV with the columns of `attnscope export` (required: algorithm, N, heads, d, and a time or "
                  "metric), the output of `ncu --csv`, or a table of another benchmark")
      ->required();
  CLI::Option* into =
      command.add_option("-o,--output", options->into, ".attnscope file to create or extend (default: a new file)")
          ->type_name("FILE");
  command.add_option("--label", options->label, "Name of the run (default: name of the file)")->type_name("NAME");
  command.add_option("--format", options->format, "Format of the input file (default: detected)")
      ->check(CLI::IsMember(std::vector<std::string>(import_format_names.begin(), import_format_names.end())));
  command.add_option("--device-name", options->device_name, "GPU of the measurements (default: as in the file)")
      ->type_name("NAME");
  command.add_option("--algorithm", options->algorithm, "Name of the measured algorithm, if the file has none")
      ->type_name("NAME");
  command
      .add_option("-a,--axis", options->axes,
                  "Field of the problem that the file lacks, such as N=4096 or pass=bwd; repeatable")
      ->type_name("AXIS")
      ->expected(1, CLI::detail::expected_max_vector_size)
      ->allow_extra_args(false);
  const auto repeatable = [](CLI::Option* option, const char* type) {
    option->type_name(type)->expected(1, CLI::detail::expected_max_vector_size)->allow_extra_args(false);
  };
  repeatable(command.add_option("--map", options->map,
                                "Read a column as a field, knob, metric or counter, such as 'T=N' or "
                                "'t=time_ms'; several columns mapped to algorithm form its name; repeatable"),
             "COLUMN=FIELD");
  repeatable(command.add_option("--ignore", options->ignore, "Ignore a column; repeatable"), "COLUMN");
  command.add_option("--kernel-name", options->ncu.kernel, "ncu tables: only launches whose kernel name contains this")
      ->type_name("TEXT");
  command
      .add_option("--launches", options->launches, "ncu tables: only launches with these IDs, such as 3:7, 3: or :7")
      ->type_name("RANGE");
  command
      .add_option("--repeats", options->ncu.repeats,
                  "ncu tables: number of times the launch sequence ran (default: detected)")
      ->check(CLI::Range(1, 1'000'000));
  CLI::Option* preview = command
                             .add_flag("--preview", options->preview,
                                       "Show how each column is imported, or why it is ignored, without importing")
                             ->excludes(into);
  options->output.add_to(command, {"text", "json"}, Output::File::no);
  command.get_option("--json")->needs(preview);
  return [options] {
    require_measurement_name(options->into);
    return run_import(*options);
  };
}

}  // namespace attnscope
