// SPDX-License-Identifier: Apache-2.0
// model: prints the model of points; with --against, the errors of the simulated device.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <span>
#include <vector>

#include "app/command.h"
#include "app/devices.h"
#include "app/interrupt.h"
#include "app/loaded_points.h"
#include "app/output.h"
#include "app/sweep_options.h"
#include "kernels/registry.h"
#include "messages/terminal.h"
#include "profiler/files/gpu_file.h"
#include "profiler/measure/gpu/gpu_device.h"
#include "profiler/measure/simulated_device.h"
#include "profiler/plan/parallel_for.h"
#include "profiler/plan/text.h"
#include "profiler/predict/launch_table.h"
#include "profiler/predict/multi_gpu_scaling.h"
#include "profiler/predict/prediction_error.h"
#include "profiler/predict/published_errors.h"
#include "profiler/predict/speed_of_light.h"
#include "profiler/units/number_format.h"

namespace attnscope {
namespace {

struct ModelOptions {
  explicit ModelOptions(CLI::App& command) : sweep(command, "") {}
  SweepOptions sweep;
  std::string gpu = "H200";
  bool print_gpu = false;
  std::string ceilings;  ///< measured rates; empty: those in the files of `against`, else the architecture's
  std::vector<std::string> against;  ///< files with measured points
  bool published = false;            ///< against published rates instead
  bool launches = false;             ///< one row per launch with the inputs of its predicted time
  std::string filter;                ///< applied to the points of `against`
  Output output;
};

/// Columns of predicted time and bottleneck; for programs also the utilization of each unit ("l2_port_pct").
std::vector<analysis::Column> time_columns(bool people) {
  if (people) return columns_named({"#time", "bound"});
  std::vector<analysis::Column> columns = columns_named({"#predicted_ns", "#predicted_clock_hz", "bound"});
  for (const GpuUnit unit : gpu_units) {
    std::string name(to_string(unit));
    std::ranges::transform(name, name.begin(), [](char c) {
      return c == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    });
    columns.push_back(number_column(name + "_pct"));
  }
  append(columns, columns_named({"#launch_ns", "#idle_ns", "#empty_sms"}));
  return columns;
}

std::vector<std::string> time_texts(const analysis::ModelRow& row, bool people) {
  const auto number = [](double value) { return fmt::format("{:.6g}", value); };
  if (!row.time) {
    std::vector<std::string> fields(time_columns(people).size());
    if (row.predicted_ns) fields[0] = people ? text(Nanoseconds(*row.predicted_ns)) : number(*row.predicted_ns);
    return fields;
  }
  const LaunchTime& time = *row.time;
  const analysis::SpeedOfLight light = analysis::speed_of_light({&time, 1});
  if (people) return {text(Nanoseconds(*row.predicted_ns)), text(analysis::bound_text(light))};
  const auto bound = light.bound();
  std::vector<std::string> fields{number(*row.predicted_ns), number(time.clock_hz),
                                  bound                     ? std::string(to_string(*bound))
                                  : light.is_grid_limited() ? "empty SMs"
                                                            : "latency and issue"};
  for (const GpuUnit unit : gpu_units) fields.push_back(number(100 * light.of(unit)));
  append(fields, {number(time.launch_ns), number(time.idle_ns), fmt::to_string(time.empty_sms)});
  return fields;
}

std::vector<std::string> sharing_texts(const analysis::ModelRow& row, bool people) {
  if (!row.sharing) return {fmt::to_string(row.runs), "", ""};
  const double exposed = row.sharing->exposed_ns;
  return {"", people ? text(Bytes(static_cast<double>(row.link_bytes))) : fmt::to_string(row.link_bytes),
          people ? text(Nanoseconds(exposed)) : fmt::format("{:.6g}", exposed)};
}

ExitCode model(ModelOptions& options) {
  const DeviceLimits limits = load_gpu_limits(options.gpu);
  if (options.print_gpu) {
    options.output.line(gpu_text(limits));
    return ExitCode::ok;
  }
  DeviceRates rates = device_rates(limits);
  Message rates_source =
      make_message("Predicted with datasheet rates of {}; use --ceilings FILE for measured rates.", limits.name);
  if (!options.ceilings.empty()) {
    const StoredCeilings measured = load_rates(options.ceilings, limits);
    rates = device_rates(limits, measured.ceilings);
    rates_source = describe_rates(measured, limits);
  }
  const SweepPlan plan = options.sweep.plan(limits);
  Output& out = options.output;
  const bool people = out.is_text_output();
  const auto bytes = [&](double value) { return people ? text(Bytes(value)) : fmt::format("{:.0f}", value); };
  const auto integer = [&](std::int64_t value) { return bytes(static_cast<double>(value)); };

  std::vector<analysis::Column> columns = columns_named({"algorithm", "kernel"});
  append(columns, point_columns(known_algorithms()));
  append(columns, columns_named({"feasible", "grid", "block", "#shared_bytes", "#memory_bytes", "#model_l2_to_sm_bytes",
                                 "#model_sm_to_l2_bytes", "#model_compulsory_bytes", "#standard_attention_bytes",
                                 "#flash_paper_bytes", "#n2d2_over_m_bytes"}));
  const bool shared = std::ranges::any_of(plan.points, [](const PointSpec& each) { return each.problem.gpus > 1; });
  if (shared) append(columns, columns_named({"#runs", "#model_link_bytes", "#exposed_ns"}));
  append(columns, time_columns(people));
  append(columns, {{"reason"}});
  if (!people) append(columns, {{"dram_rate"}, {"l2_rate"}});
  if (!people && shared) append(columns, {{"link_rate"}});
  if (people) strip_byte_suffixes(columns);
  TableRows rows;
  for (const PointSpec& point : plan.points) {
    const AttentionProblem& problem = point.problem;
    const std::int64_t memory_need = required_memory_bytes(point, limits, known_algorithms());
    for (const analysis::ModelRow& row : analysis::point_model_rows(point, limits, rates)) {
      const bool all = row.kernel == "all";
      std::vector<std::string>& fields = rows.emplace_back();
      fields = {point.algorithm, row.kernel};
      append(fields, point_cells(point, known_algorithms()));
      append(fields,
             {row.feasible ? "yes" : "no", row.grid, row.block,
              row.shared_bytes ? people ? text(Capacity(*row.shared_bytes)) : fmt::to_string(*row.shared_bytes) : "",
              all && row.feasible ? people ? text(Capacity(memory_need)) : integer(memory_need) : "",
              row.traffic ? integer(row.traffic->l2_to_sm_bytes) : "",
              row.traffic ? integer(row.traffic->sm_to_l2_bytes) : "",
              all ? integer(compulsory_traffic(problem).total()) : "",
              all ? integer(standard_attention_bytes(problem)) : "",
              all && point.tile.bc > 0 ? integer(flash_paper_bytes(problem, point.tile.bc)) : "",
              all ? bytes(n2d2_over_m_bytes(problem, limits.sram_elements(bytes_per_element(problem.dtype)))) : ""});
      if (shared) append(fields, sharing_texts(row, people));
      append(fields, time_texts(row, people));
      fields.push_back(row.reason);
      if (people) continue;
      for (const bool measured : {rates.dram_measured, rates.l2_measured}) {
        fields.emplace_back(measured ? "measured" : "table");
      }
      if (shared) fields.emplace_back(rates.link_measured ? "measured" : "assumed");
    }
  }
  out.line(text(rates_source));
  if (const Message note = times_note(limits); !note.empty()) out.line(text(note));
  if (shared) out.line(text(analysis::link_text(rates.link, rates.link_measured)));
  out.blank_line();
  analysis::Table table = text_table(std::move(columns), std::move(rows));
  if (people) drop_default_columns(table, known_algorithms());
  out.table(table);
  return ExitCode::ok;
}

/// A point measured on a GPU; predictions are compared with it.
struct MeasuredPoint {
  const PointRecord& record;
  const RunSummary* run = nullptr;  ///< unique by uid
  const std::string& device_uuid;   ///< UUID of the measuring device
};
struct MeasuredPoints {
  LoadedPoints loaded;
  std::vector<MeasuredPoint> points;
};

/// Loads the ok points of measured runs that match `filter` (point_query.h), each once. Throws CommandError if a file
/// has no measured point at all.
MeasuredPoints load_measured_points(const std::vector<std::string>& files, const std::string& filter) {
  MeasuredPoints all{.loaded = load_points(files, {}, true), .points = {}};
  LoadedPoints& loaded = all.loaded;
  std::vector<bool> has_measured(loaded.runs.size());
  std::vector<analysis::Row> measured;
  for (const analysis::Row row : loaded.table.rows()) {
    const analysis::RunIndex run = loaded.table.run_index(row);
    if (loaded.runs[run].provenance != Provenance::measured || loaded.table.disposition(row) != Disposition::ok)
      continue;
    has_measured[run] = true;
    measured.push_back(row);
  }
  for (const std::string& file : files) {
    const bool any = std::ranges::any_of(
        loaded.places, [&](const auto& place) { return place.first.first == file && has_measured[place.second]; });
    if (any) continue;
    throw CommandError(ExitCode::error,
                       "{} has no point measured on a GPU (predictions are compared with measured points)", file);
  }
  loaded.keep(measured);
  if (!filter.empty()) loaded.keep(matching_rows(filter, loaded.table));
  for (const analysis::Row row : loaded.table.rows()) {
    const StoredPoint& point = loaded.points[row];
    all.points.push_back({point.record, &loaded.runs[loaded.table.run_index(row)], point.device_uuid});
  }
  return all;
}

/// Measured rates by run; nullptr: rates of the architecture.
using RunRates = std::map<const RunSummary*, const StoredCeilings*>;

/// Returns the measured rates by run. `of_file` owns those read from `file`.
RunRates load_run_rates(const MeasuredPoints& measured, const std::string& file, std::vector<StoredCeilings>& of_file) {
  std::map<std::string, const StoredCeilings*> by_name;
  RunRates rates;
  of_file.reserve(measured.points.size());  // pointers to the elements stay valid
  for (const MeasuredPoint& point : measured.points) {
    if (rates.contains(point.run)) continue;
    const DeviceLimits& limits = point.run->limits;
    if (file.empty()) {
      rates[point.run] = newest_rates(measured.loaded.ceilings, limits, point.device_uuid);
    } else {
      const auto [found, first] = by_name.try_emplace(limits.name, nullptr);
      if (first) found->second = &of_file.emplace_back(load_rates(file, limits));
      rates[point.run] = found->second;
    }
  }
  return rates;
}

/// One sentence per GPU with measured rates, and one per other GPU.
std::vector<Message> words_of(const RunRates& rates) {
  std::map<std::string, Message> measured;
  std::map<std::string, Message> by_table;
  for (const auto& [run, set] : rates) {
    if (set != nullptr) {
      measured[set->uid] = describe_rates(*set, run->limits);
    } else {
      by_table[run->device_name] = make_message(
          "Predicted with datasheet rates of {}; use --ceilings FILE for measured rates.", printable(run->device_name));
    }
  }
  std::vector<Message> words;
  for (const auto* said : {&measured, &by_table}) {
    for (const auto& [key, message] : *said) words.push_back(message);
  }
  return words;
}

/// Simulates a point. Exceptions become a disposition with its reason.
PointRecord play(const PointSpec& spec, Device& device, const CancelToken& cancel) {
  PointRecord failed;
  failed.spec = spec;
  try {
    return device.measure(spec, MeasureOptions{}, cancel);
  } catch (const std::bad_alloc&) {
    failed.disposition = Disposition::out_of_memory;
    failed.reason = make_reason("point.host_memory", "Out of host memory.");
  } catch (const std::exception& error) {
    failed.disposition = Disposition::crashed;
    failed.reason = Message::verbatim(one_line(error.what()));
  }
  return failed;
}

/// Simulates each point on the GPU that measured it. Points not simulated because of a cancel have no kernels.
std::vector<PointRecord> play(std::span<const MeasuredPoint> points, const RunRates& rates, const CancelToken& cancel) {
  std::vector<PointRecord> predicted(points.size());
  parallel_for(points.size(), cancel, [&] {
    return [&, devices = std::map<const RunSummary*, std::unique_ptr<Device>>()](std::size_t i) mutable {
      std::unique_ptr<Device>& device = devices[points[i].run];
      if (!device) {
        const StoredCeilings* measured = rates.at(points[i].run);
        device = make_simulated_device(points[i].run->limits, known_algorithms(),
                                       measured != nullptr ? measured_ceilings(*measured) : MeasuredCeilings{});
      }
      predicted[i] = play(points[i].record.spec, *device, cancel);
    };
  });
  return predicted;
}

/// Names of the algorithms that were measured with other kernels than this program has, separated by commas.
std::string changed_kernels(std::span<const MeasuredPoint* const> points) {
  std::set<std::string> names;
  for (const MeasuredPoint* point : points) {
    if (point->record.manifest) continue;  // user-defined
    for (const KernelRecord& kernel : point->record.kernels) {
      if (kernel.launch && has_changed(*kernel.launch, point->run->limits, point->run->environment.nvrtc_version))
        names.insert(printable(point->record.spec.algorithm));
    }
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string names_of(std::span<const MeasuredPoint* const> points) {
  std::set<std::string> names;
  for (const MeasuredPoint* point : points) names.insert(printable(point->run->device_name));
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Prints predictions compared with published rates (`--published`).
ExitCode model_published(ModelOptions& options) {
  Output& out = options.output;
  const std::vector<analysis::PublishedRate>& published = analysis::published_rates();
  if (options.launches) {
    std::vector<PointRecord> records;
    records.reserve(published.size());
    std::vector<analysis::MeasuredRecord> measured;
    measured.reserve(published.size());
    for (const analysis::PublishedRate& rate : published) {
      measured.push_back({&records.emplace_back(rate.record()), rate.gpu, rate.rates(), rate.half});
    }
    out.table(analysis::launch_table(measured, cancel_on_signals()), "attnscope-model-launches");
    return ExitCode::ok;
  }
  out.table(analysis::rate_error_table(analysis::rate_errors(published), out.is_text_output()),
            "attnscope-model-published");
  return ExitCode::ok;
}

/// Prints predictions compared with measured values (`--against`).
ExitCode model_against(ModelOptions& options) {
  Output& out = options.output;
  const MeasuredPoints measured = load_measured_points(options.against, options.filter);
  const std::vector<MeasuredPoint>& points = measured.points;
  const CancelToken& cancel = cancel_on_signals();
  std::vector<StoredCeilings> of_file;
  const RunRates rates = load_run_rates(measured, options.ceilings, of_file);
  if (options.launches) {
    std::vector<analysis::MeasuredRecord> launched;
    for (const MeasuredPoint& point : points) {
      const StoredCeilings* set = rates.at(point.run);
      const DeviceLimits& limits = point.run->limits;
      launched.push_back(
          {&point.record, &limits, set != nullptr ? device_rates(limits, set->ceilings) : device_rates(limits)});
    }
    out.table(analysis::launch_table(launched, cancel), "attnscope-model-launches");
    return cancel.cancelled() ? ExitCode::partial : measured.loaded.code;
  }
  const std::vector<PointRecord> predicted = play(points, rates, cancel);
  std::vector<analysis::PredictedPoint> pairs;
  std::vector<const MeasuredPoint*> played;
  std::vector<const PointRecord*> failed;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const PointRecord& record = predicted[i];
    if (record.disposition == Disposition::ok && !record.kernels.empty()) {
      pairs.push_back({&points[i].record, &record, points[i].device_uuid, points[i].run->uid});
      played.push_back(&points[i]);
    } else if (record.disposition != Disposition::ok && record.disposition != Disposition::cancelled) {
      failed.push_back(&record);
    }
  }
  const std::string devices = names_of(played);
  if (!failed.empty()) {
    spdlog::warn("{}", format_text("{} could not be simulated, the first is {}: {}", points_text(failed.size()),
                                   printable(describe(failed.front()->spec)), printable(text(failed.front()->reason))));
  }
  analysis::Table table = analysis::error_table(analysis::prediction_errors(pairs), out.is_text_output());
  if (out.is_text_output()) {
    out.line(format_text("{} of {}, simulated on {}", points_text(pairs.size()),
                         printable(fmt::format("{}", fmt::join(options.against, ", "))), devices));
    out.line(text(msg::terminal::error_definition{}));
    for (const Message& said : words_of(rates)) out.line(text(said));
    if (const std::string changed = changed_kernels(played); !changed.empty())
      out.line(format_text("Measured with kernel sources that differ from this program's: {}.", changed));
    out.blank_line();
    out.table(table);
  } else {
    // Tables in assets/samples list the GPUs in every row.
    table.columns.push_back(
        {.key = "devices", .cell = [devices](std::size_t) { return analysis::Cell{.text = devices}; }});
    out.table(table, "attnscope-model-against");
  }
  if (cancel.cancelled()) {
    fmt::print(stderr, "{}\n",
               format_text("cancelled: {} of {} were simulated", pairs.size(), points_text(points.size())));
    return ExitCode::partial;
  }
  return measured.loaded.code;
}
}  // namespace

Action add_model(CLI::App& command) {
  auto options = std::make_shared<ModelOptions>(command);
  command.add_option("--gpu", options->gpu, "GPU to model: a public GPU or a .json file")
      ->type_name("NAME|FILE")
      ->capture_default_str();
  command.add_flag("--print-gpu", options->print_gpu, "Print the GPU as a JSON file for --gpu and exit");
  CLI::Option* ceilings =
      command
          .add_option("--ceilings", options->ceilings,
                      "Predict times with the rates in FILE, from `attnscope ceilings` (default with --against: rates "
                      "stored in its files)")
          ->type_name("FILE");
  CLI::Option* against =
      command.add_option("--against", options->against, "Compare predictions with the measured points of these files")
          ->type_name("FILE");
  CLI::Option* published =
      command.add_flag("--published", options->published,
                       "Compare predictions with published FlashAttention-2 rates, by GPU and source");
  for (CLI::Option* other : command.get_options()) {
    if (other == command.get_help_ptr() || other == published) continue;
    published->excludes(other);
    if (other != against && other != ceilings) against->excludes(other);
  }
  command.add_flag("--per-launch", options->launches,
                   "With --against or --published: one row per launch with the inputs of its predicted time");
  add_filter_option(command, options->filter)->needs(against);
  options->output.add_to(command);
  return [options] {
    return options->output.run([&] {
      if (options->published) return model_published(*options);
      return options->against.empty() ? model(*options) : model_against(*options);
    });
  };
}

}  // namespace attnscope
