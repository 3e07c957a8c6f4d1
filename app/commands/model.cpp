// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>

#include "app/chosen_rates.h"
#include "app/command.h"
#include "app/commands/model_against.h"
#include "app/devices.h"
#include "app/loaded_points.h"
#include "app/output.h"
#include "app/point_fields.h"
#include "app/sweep_options.h"
#include "kernels/model/io_model.h"
#include "kernels/model/pipeline_model.h"
#include "kernels/registry.h"
#include "profiler/files/gpu_file.h"
#include "profiler/predict/sharing.h"
#include "profiler/predict/speed_of_light.h"
#include "profiler/units/spelling.h"

namespace attnscope {
namespace {

struct ModelOptions {
  explicit ModelOptions(CLI::App& command) : sweep(command, "") {}
  SweepOptions sweep;
  std::string gpu = "H200";
  bool print_gpu = false;
  std::string ceilings;
  std::vector<std::string> against;
  bool launches = false;
  std::string filter;
  Output output;
};

/// Every number of a point's theory; absent ones empty. The table for people shows the same in SI units.
struct Theory {
  std::string kernel;
  std::string grid;
  std::string block;
  std::string reason;
  std::optional<std::int64_t> shared_bytes;
  bool feasible = false;
  std::optional<Traffic> traffic;
  std::optional<double> predicted_ns;
  std::optional<LaunchTime> time;  ///< of one measured kernel
  std::int64_t runs = 1;           ///< of several GPUs: how often it is launched by all of them
  std::optional<ScheduleTimes> sharing = {};
  std::int64_t link_bytes = 0;
};

std::vector<Theory> theory_of(const PointSpec& point, const DeviceLimits& limits, const DeviceRates& rates) {
  const AttentionModel model = known_algorithms().find(point.algorithm)->model(point.problem, point.config(), limits);
  if (model.refusal) {
    return {{.kernel = "all",
             .grid = {},
             .block = {},
             .reason = text(model.refusal->reason),
             .shared_bytes = {},
             .feasible = false,
             .traffic = {},
             .predicted_ns = {},
             .time = {}}};
  }
  const auto extent = [](const std::array<std::uint32_t, 3>& size) {
    return fmt::format("{}{}", size[0], size[1] * size[2] == 1 ? "" : fmt::format("x{}x{}", size[1], size[2]));
  };
  const std::vector<LaunchTime> times = predict_times(model, limits, rates);
  const auto of_bytes = [&](const Traffic& t) { return model.states_bytes ? std::optional(t) : std::nullopt; };
  const auto of_time = [&](double ns) { return model.predicts_time ? std::optional(ns) : std::nullopt; };
  std::vector<Theory> rows;
  const bool several = model.kernels.size() > 1 || several_launches(model.kernels);
  if (several) {
    rows.push_back({.kernel = "all",
                    .grid = {},
                    .block = {},
                    .reason = {},
                    .shared_bytes = {},
                    .feasible = true,
                    .traffic = of_bytes(model.traffic()),
                    .predicted_ns = of_time(point_ns(model.schedule, times, rates)),
                    .time = {}});
    if (!model.schedule.empty()) {
      rows.back().sharing = schedule_times(model.schedule, times, rates);
      rows.back().link_bytes = model.schedule.link_bytes();
    }
  }
  auto next = times.begin();
  for (const KernelModel& kernel : model.kernels) {
    rows.push_back({.kernel = several ? kernel.name : "all",
                    .grid = extent(kernel.grid),
                    .block = extent(kernel.block),
                    .reason = kernel.setup ? "Runs before what is measured, in no sum." : "",
                    .shared_bytes = kernel.dynamic_shared_bytes,
                    .feasible = true,
                    .traffic = of_bytes(kernel.traffic),
                    .predicted_ns = {},
                    .time = {}});
    rows.back().runs = kernel.runs;
    if (kernel.setup || !model.predicts_time) continue;
    rows.back().time = *next++;
    rows.back().predicted_ns = rows.back().time->ns;
  }
  return rows;
}

/// A time and what bounds it; for programs how busy each unit is, "L2 port" as "l2_port_pct".
std::vector<TableColumn> time_columns(bool people) {
  if (people) return {{"time", true}, {"bound"}};
  std::vector<TableColumn> columns{{"predicted_ns", true}, {"predicted_clock_hz", true}, {"bound"}};
  for (const GpuUnit unit : gpu_units) {
    std::string name(to_string(unit));
    std::ranges::transform(name, name.begin(), [](char c) {
      return c == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    });
    columns.push_back({name + "_pct", true});
  }
  append(columns, {{"launch_ns", true}, {"idle_ns", true}, {"empty_sms", true}});
  return columns;
}

std::vector<std::string> time_texts(const Theory& row, bool people) {
  const auto number = [](double value) { return fmt::format("{:.6g}", value); };
  if (!row.time) {
    std::vector<std::string> fields(time_columns(people).size());
    if (row.predicted_ns) fields[0] = people ? text(Nanoseconds(*row.predicted_ns)) : number(*row.predicted_ns);
    return fields;
  }
  const LaunchTime& time = *row.time;
  const analysis::SpeedOfLight light = analysis::speed_of_light({&time, 1});
  if (people) return {text(Nanoseconds(*row.predicted_ns)), text(analysis::bound_words(light))};
  const auto bound = light.bound();
  std::vector<std::string> fields{number(*row.predicted_ns), number(time.clock_hz),
                                  bound             ? std::string(to_string(*bound))
                                  : light.starved() ? "empty SMs"
                                                    : "latency and issue"};
  for (const GpuUnit unit : gpu_units) fields.push_back(number(100 * light.of(unit)));
  append(fields, {number(time.launch_ns), number(time.idle_ns), fmt::to_string(time.empty_sms)});
  return fields;
}

std::vector<std::string> sharing_texts(const Theory& row, bool people) {
  if (!row.sharing) return {fmt::to_string(row.runs), "", ""};
  const double exposed = row.sharing->exposed_ns;
  return {"", people ? text(Bytes(static_cast<double>(row.link_bytes))) : fmt::to_string(row.link_bytes),
          people ? text(Nanoseconds(exposed)) : fmt::format("{:.6g}", exposed)};
}

ExitCode model(ModelOptions& options) {
  const DeviceLimits limits = limits_of_known_gpu(options.gpu);
  if (options.print_gpu) {
    options.output.line(gpu_text(limits));
    return ExitCode::ok;
  }
  DeviceRates rates = device_rates(limits);
  Message whose_rates = make_message(
      "Times by rates of datasheet and architecture of {}; --ceilings FILE takes measured ones.", limits.name);
  if (!options.ceilings.empty()) {
    const StoredCeilings measured = rates_of_file(options.ceilings, limits);
    rates = device_rates(limits, measured.ceilings);
    whose_rates = rates_said(measured, limits);
  }
  const SweepPlan plan = options.sweep.plan(limits);
  Output& out = options.output;
  const bool people = out.for_people();
  const auto bytes = [&](double value) { return people ? text(Bytes(value)) : fmt::format("{:.0f}", value); };
  const auto integer = [&](std::int64_t value) { return bytes(static_cast<double>(value)); };

  Table table{{{"algorithm"}, {"kernel"}}, {}};
  append(table.columns, point_columns(known_algorithms()));
  append(table.columns, {{"feasible"},
                         {"grid"},
                         {"block"},
                         {"shared_bytes", true},
                         {"memory_bytes", true},
                         {"model_l2_to_sm_bytes", true},
                         {"model_sm_to_l2_bytes", true},
                         {"model_compulsory_bytes", true},
                         {"standard_attention_bytes", true},
                         {"flash_paper_bytes", true},
                         {"n2d2_over_m_bytes", true}});
  const bool shared = std::ranges::any_of(plan.points, [](const PointSpec& each) { return each.problem.gpus > 1; });
  if (shared) append(table.columns, {{"runs", true}, {"model_link_bytes", true}, {"exposed_ns", true}});
  append(table.columns, time_columns(people));
  append(table.columns, {{"reason"}});
  if (!people) append(table.columns, {{"dram_rate"}, {"l2_rate"}});
  if (!people && shared) append(table.columns, {{"link_rate"}});
  if (people) {  // byte counts carry their unit here
    constexpr std::string_view unit = "_bytes";
    for (TableColumn& column : table.columns) {
      if (column.name.ends_with(unit)) column.name.resize(column.name.size() - unit.size());
    }
  }
  for (const PointSpec& point : plan.points) {
    const AttentionProblem& problem = point.problem;
    const std::int64_t memory_need = memory_need_bytes(point, limits, known_algorithms());
    for (const Theory& row : theory_of(point, limits, rates)) {
      const bool all = row.kernel == "all";
      std::vector<std::string>& fields = table.rows.emplace_back();
      fields = {point.algorithm, row.kernel};
      append(fields, point_texts(point, known_algorithms()));
      append(fields,
             {row.feasible ? "yes" : "no", row.grid, row.block,
              row.shared_bytes ? people ? text(Capacity(*row.shared_bytes)) : fmt::to_string(*row.shared_bytes) : "",
              all && row.feasible ? people ? text(Capacity(memory_need)) : integer(memory_need) : "",
              row.traffic ? integer(row.traffic->l2_to_sm_bytes) : "",
              row.traffic ? integer(row.traffic->sm_to_l2_bytes) : "",
              all ? integer(compulsory_traffic(problem).total()) : "",
              all ? integer(standard_attention_bytes(problem)) : "",
              all ? integer(flash_paper_bytes(problem, point.tile.bc)) : "",
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
  out.line(text(whose_rates));
  if (shared) out.line(text(analysis::link_words(rates.link, rates.link_measured)));
  out.gap();
  out.table(people ? without_defaults(table, known_algorithms()) : table);
  return ExitCode::ok;
}

}  // namespace

Action add_model(CLI::App& command) {
  auto options = std::make_shared<ModelOptions>(command);
  command
      .add_option("--gpu", options->gpu,
                  "The GPU whose limits decide what fits, and M: a public one, or a file that ends in .json")
      ->type_name("NAME|FILE")
      ->capture_default_str();
  command.add_flag("--print-gpu", options->print_gpu, "Print that GPU as a file for --gpu, to be edited, and stop");
  CLI::Option* ceilings =
      command
          .add_option("--ceilings", options->ceilings,
                      "Times with the rates that `attnscope ceilings` measured of that GPU into FILE (with --against, "
                      "where this is left out: those of the very GPU in its files)")
          ->type_name("FILE");
  CLI::Option* against =
      command.add_option("--against", options->against, "Play every point that was measured into FILE: how far off?")
          ->type_name("FILE...");
  for (CLI::Option* other : command.get_options()) {
    const bool goes_with_it = other == against || other == command.get_help_ptr() || other == ceilings;
    if (!goes_with_it) against->excludes(other);
  }
  command.add_flag("--launches", options->launches, "Instead, every launch with what its time is predicted from")
      ->needs(against);
  add_filter_option(command, options->filter)->needs(against);
  options->output.add_to(command);
  return [options] {
    return options->output.run([&] {
      if (options->against.empty()) return model(*options);
      return model_against({.files = options->against,
                            .filter = options->filter,
                            .ceilings = options->ceilings,
                            .launches = options->launches},
                           options->output);
    });
  };
}

}  // namespace attnscope
