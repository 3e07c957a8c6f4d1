// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <array>
#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "app/command.h"
#include "app/devices.h"
#include "app/interrupt.h"
#include "app/output.h"
#include "app/sweep_options.h"
#include "kernels/registry.h"
#include "kernels/user/new_kernel.h"
#include "profiler/measure/gpu/kernel_builder.h"
#include "profiler/plan/text.h"
#include "profiler/units/number_format.h"

namespace attnscope {
namespace {

ExitCode list(Output& out) {
  TableRows rows;
  for (const Algorithm* algorithm : known_algorithms().algorithms()) {
    rows.push_back({std::string(algorithm->name()), std::string(algorithm->facts().title),
                    fmt::format("{}", fmt::join(algorithm->facts().head_dims, " ")),
                    text(algorithm->facts().tile_meaning), std::string(algorithm->facts().source)});
  }
  if (!out.has_format("text")) {
    out.table(text_table({{"algorithm"}, {"title"}, {"head_dims"}, {"tile"}, {"source"}}, std::move(rows)));
    return ExitCode::ok;
  }
  for (const auto& row : rows) {
    std::cout << fmt::format("{}: {}\n  {}\n  d: {}\n  {}\n", row[0], row[1], row[4], row[2], row[3]);
  }
  return ExitCode::ok;
}

struct BuildOptions {
  explicit BuildOptions(CLI::App& command) : sweep(command, "quick") {}
  SweepOptions sweep;
  std::string arch = "sm_90a";
  std::string gpu;
  unsigned jobs = 0;
  Output output;
};

/// Returns a GPU of that architecture; its limits decide which configurations are compiled.
const DeviceLimits& limits_of(const std::string& arch) {
  std::set<std::string> known;
  for (const DeviceLimits& limits : known_gpus()) {
    const std::string own = fmt::format("sm_{}{}", limits.compute_major, limits.compute_minor);
    if (arch == own || arch == own + "a") return limits;
    known.insert(own + (limits.compute_major == 9 ? "a" : ""));
  }
  throw CommandError(ExitCode::usage, "--arch {}: no known GPU of this architecture; available: {} (or set --gpu)",
                     arch, fmt::join(known, ", "));
}

/// Compiler errors have several lines, which follow the table.
std::string error_cell(const Message& error, const Output& output) {
  if (output.is_text_output()) return error.empty() ? "" : "see below";
  return output.has_format("json") ? text(error) : one_line(text(error));
}

struct BuildCounts {
  std::size_t failed = 0;
  std::size_t cached = 0;
  std::size_t spilled = 0;
};

BuildCounts print_reports(const std::vector<BuildReport>& reports, Output& output) {
  TableRows rows;
  BuildCounts counts;
  for (const BuildReport& report : reports) {
    counts.failed += report.error.empty() ? 0U : 1U;
    counts.cached += report.cached ? 1U : 0U;
    counts.spilled += report.spill_store_bytes + report.spill_load_bytes > 0 ? 1U : 0U;
    const auto figure = [&](std::int64_t value) { return report.compiled ? fmt::to_string(value) : std::string(); };
    const auto size = [&](std::int64_t bytes) {
      return output.is_text_output() && report.compiled ? text(Capacity(bytes)) : figure(bytes);
    };
    rows.push_back({report.kernel, figure(report.registers), size(report.static_shared_bytes),
                    size(report.dynamic_shared_bytes), size(report.local_bytes), size(report.spill_store_bytes),
                    size(report.spill_load_bytes), report.cached ? "yes" : "no", error_cell(report.error, output)});
  }
  std::vector<analysis::Column> columns =
      columns_named({"kernel", "#registers", "#static_shared_bytes", "#dynamic_shared_bytes", "#local_bytes",
                     "#spill_store_bytes", "#spill_load_bytes", "cached", "error"});
  if (output.is_text_output()) strip_byte_suffixes(columns);
  output.table(text_table(std::move(columns), std::move(rows)));
  std::map<std::string, std::string> printed;  // errors and the first kernel that has each
  for (const BuildReport& report : reports) {
    if (report.error.empty()) continue;
    const std::string words = text(report.error);
    const auto [first, is_new] = printed.try_emplace(words, report.kernel);
    output.blank_line();
    output.line(report.kernel + ":" + (is_new ? "" : " same error as " + first->second));
    std::istringstream lines(is_new ? words : "");
    for (std::string line; std::getline(lines, line);) output.line(printable(line));
  }
  return counts;
}

ExitCode build(BuildOptions& options) {
  const DeviceLimits limits = options.gpu.empty() ? limits_of(options.arch) : load_gpu_limits(options.gpu);
  const SweepPlan plan = options.sweep.plan(limits);
  std::vector<KernelLaunch> launches;
  std::size_t infeasible = 0;
  Message first_reason;
  for (const PointSpec& point : plan.points) {
    const Algorithm& algorithm = *known_algorithms().find(point.algorithm);
    if (const auto refusal = algorithm.refusal(point.problem, point.config(), limits)) {
      if (infeasible++ == 0) first_reason = make_message("{}: {}", describe(point), refusal->reason);
      continue;
    }
    for (KernelLaunch& launch : algorithm.plan(point.problem, point.config(), limits).launches) {
      launches.push_back(std::move(launch));
    }
  }
  if (launches.empty())
    throw CommandError(ExitCode::usage, "no point of this sweep is feasible on {}; the first: {}", limits.name,
                       first_reason);
  if (infeasible > 0) {
    spdlog::warn("{}", format_text("{} of {} points are infeasible on {} and not built; the first: {}", infeasible,
                                   plan.points.size(), limits.name, text(first_reason)));
  }

  std::set<std::string> ignored;
  for (const KernelLaunch& launch : launches) {
    if (const auto& source = launch.source.user_source)
      ignored.insert(source->ignored_options.begin(), source->ignored_options.end());
  }
  if (!ignored.empty()) spdlog::info("ignored compiler options: {}", fmt::join(ignored, ", "));

  const auto start = std::chrono::steady_clock::now();
  const CancelToken& cancel = cancel_on_signals();
  const auto reports = build_kernels(options.arch, launches, options.jobs, cancel, {});
  if (!reports) throw CommandError(ExitCode::error, reports.error().message());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  const BuildCounts counts = print_reports(*reports, options.output);
  spdlog::info(
      "{}", format_text("kernels for {1}: {0} in {2:.1f} s, {3} from the cache {4}, {5} with spills, {6} failed",
                        reports->size(), options.arch, seconds.count(), counts.cached, default_cubin_cache().string(),
                        counts.spilled, counts.failed));
  if (cancel.cancelled()) return ExitCode::partial;
  return counts.failed > 0 ? ExitCode::error : ExitCode::ok;
}

struct NewOptions {
  std::string name;
  std::string folder = ".";
  user::NewKernelKind kind = user::NewKernelKind::cuda;
};

ExitCode create_kernel(const NewOptions& options) {
  using user::NewKernelKind;
  const auto manifest = user::write_new_kernel(options.name, options.folder, options.kind);
  if (!manifest) throw CommandError(ExitCode::usage, manifest.error());
  const std::string folder = manifest->parent_path().string();
  std::cout << format_text("Created {} with a kernel, its manifest and README.md.", folder) << '\n';
  if (options.kind == NewKernelKind::cuda || options.kind == NewKernelKind::nvcc) {
    std::cout << format_text("Try: attnscope kernels build --kernel {} --algorithms {} -a N=1024 -a d=64",
                             manifest->string(), options.name);
  } else {
    std::cout << format_text("Build its library first: {}/README.md has the command.", folder);
  }
  std::cout << '\n';
  return ExitCode::ok;
}

void add_kinds(CLI::App& command, const std::shared_ptr<NewOptions>& options) {
  struct Kind {
    const char* flag;
    user::NewKernelKind kind;
    const char* help;
  };
  using user::NewKernelKind;
  static constexpr std::array kinds{
      Kind{"--cuda", NewKernelKind::cuda, "CUDA source that NVRTC compiles (default)"},
      Kind{"--nvcc", NewKernelKind::nvcc, "CUDA source with host code that nvcc compiles"},
      Kind{"--torch-extension", NewKernelKind::torch_extension, "PyTorch extension whose kernel is measured"},
      Kind{"--library", NewKernelKind::library, "Shared library that launches the kernel"},
  };
  std::vector<CLI::Option*> earlier;
  for (const Kind& each : kinds) {
    CLI::Option* option = command.add_flag_callback(
        each.flag, [options, kind = each.kind] { options->kind = kind; }, each.help);
    for (CLI::Option* other : earlier) option->excludes(other);
    earlier.push_back(option);
  }
}

}  // namespace

Action add_kernels(CLI::App& command) {
  command.require_subcommand(0, 1);
  auto output = std::make_shared<Output>();
  output->add_to(command);

  CLI::App* below = command.add_subcommand("build");
  auto options = std::make_shared<BuildOptions>(*below);
  below->add_option("--arch", options->arch, "Target architecture, such as sm_80 or sm_90a")
      ->type_name("ARCH")
      ->capture_default_str();
  below->add_option("--gpu", options->gpu, "GPU that decides which tiles are feasible (default: one of --arch)")
      ->type_name("NAME|FILE");
  below->add_option("-j,--jobs", options->jobs, "Parallel compilations (default: number of cores)");
  options->output.add_to(*below);

  CLI::App* beginning = command.add_subcommand("new");
  auto place = std::make_shared<NewOptions>();
  beginning->add_option("NAME", place->name, "Name of the kernel and its folder")->required();
  add_kinds(*beginning, place);
  beginning->add_option("-o,--output", place->folder, "Parent folder")->type_name("FOLDER")->capture_default_str();
  return [=] {
    if (beginning->parsed()) return create_kernel(*place);
    if (below->parsed()) return options->output.run([&] { return build(*options); });
    return output->run([&] { return list(*output); });
  };
}

}  // namespace attnscope
