// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/doctor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <memory>

#include "app/command.h"
#include "app/commands/noise.h"
#include "app/loaded_points.h"
#include "app/output.h"
#include "app/reporter.h"
#include "app/run_files.h"
#include "kernels/model/device_limits.h"
#include "messages/doctor_item.h"
#include "messages/terminal.h"

namespace attnscope {
namespace {

using Status = DoctorFinding::Status;

struct DoctorOptions {
  explicit DoctorOptions(CLI::App& command) : measured(command) {}

  bool noise = false;
  NoiseOptions measured;
  int device = 0;
  bool strict = false;
  bool jsonl = false;
  Output output;
};

Message item_title(std::string_view item) {
  if (item == "driver") return say::doctor_item::driver{};
  if (item == "device") return say::doctor_item::device{};
  if (item == "counters") return say::doctor_item::counters{};
  if (item == "clocks") return say::doctor_item::clocks{};
  if (item == "cubin cache") return say::doctor_item::cubin_cache{};
  if (item == "runs") return say::doctor_item::runs{};
  if (item == "simulated device") return say::doctor_item::simulated_device{};
  return Message::verbatim(std::string(item));  // a library's name
}

DoctorFinding runs_finding() {
  std::filesystem::path folder;
  try {
    folder = runs_folder();
  } catch (const CommandError&) {
    return {.item = "runs",
            .status = Status::warning,
            .detail = say::terminal::no_home{},
            .fix = say::terminal::no_home_fix{},
            .still_works = say::terminal::works_with_o{}};
  }
  // The nearest folder that exists decides whether the rest can be made.
  std::filesystem::path existing = folder;
  while (!existing.empty() && !std::filesystem::exists(existing) && existing != existing.parent_path()) {
    existing = existing.parent_path();
  }
  if (!existing.empty() && ::access(existing.c_str(), W_OK) == 0) {
    return {.item = "runs",
            .status = Status::ok,
            .detail = Message::verbatim(folder.string()),
            .fix = {},
            .still_works = {}};
  }
  return {.item = "runs",
          .status = Status::warning,
          .detail = say::terminal::not_writable{.folder = folder.string()},
          .fix = say::terminal::not_writable_fix{},
          .still_works = say::terminal::works_with_o{}};
}

ExitCode doctor(DoctorOptions& options) {
  if (options.noise) {
    options.measured.device = fmt::to_string(options.device);
    if (!options.jsonl) return measure_noise(options.measured, nullptr);
    return report_to_programs([&](Reporter& reporter) { return measure_noise(options.measured, &reporter); });
  }
  std::vector<DoctorFinding> findings = diagnose_gpu(options.device);
  findings.push_back(runs_finding());
  findings.push_back(
      {.item = "simulated device",
       .status = Status::ok,
       .detail = say::terminal::simulated_device{.gpus = known_gpus().size(), .first = known_gpus().front().name},
       .fix = {},
       .still_works = {}});
  bool all_ok = true;
  Output& out = options.output;
  if (out.is("text")) {
    for (const DoctorFinding& finding : findings) {
      std::cout << fmt::format("{:<8} {:<17} {}\n", to_string(finding.status), text(item_title(finding.item)),
                               text(finding.detail));
      const auto add = [](const Message& line) { std::cout << fmt::format("{:26} {}\n", "", text(line)); };
      if (!finding.fix.empty()) add(say::terminal::fix{.fix = finding.fix});
      if (!finding.still_works.empty()) add(say::terminal::still_works{.what = finding.still_works});
    }
  }
  Table table{{{"item"}, {"title"}, {"status"}, {"detail"}, {"fix"}, {"still_works"}, {"command"}}, {}};
  for (const DoctorFinding& finding : findings) {
    all_ok = all_ok && finding.status == Status::ok;
    table.rows.push_back({finding.item, text(item_title(finding.item)), std::string(to_string(finding.status)),
                          text(finding.detail), text(finding.fix), text(finding.still_works), finding.command});
  }
  if (!out.is("text")) out.table(table);
  return options.strict && !all_ok ? ExitCode::error : ExitCode::ok;
}

}  // namespace

Action add_doctor(CLI::App& command) {
  auto options = std::make_shared<DoctorOptions>(command);
  command.add_option("-d,--device", options->device, "GPU number")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.add_flag("--strict", options->strict, "Exit with 1 unless all is well");
  options->output.add_to(command, Output::tables, Output::File::no);
  CLI::Option* noise = command.add_flag(
      "--noise", options->noise,
      "Measure what recordings of one build differ by, some minutes: repeated recordings, each a process of its own. "
      "`attnscope compare` holds recordings of this GPU, driver and day to it");
  NoiseOptions& measured = options->measured;
  CLI::Option* output =
      command
          .add_option(
              "-o,--output", measured.output,
              "Of --noise, keep it in this .attnscope file, beside what it has; otherwise write the result there")
          ->type_name("FILE");
  command
      .add_flag("--jsonl", options->jsonl,
                "Of --noise, progress as JSON lines on stdout; \"cancel\" or the end of stdin stops after the current "
                "launch")
      ->needs(output)
      ->needs(noise);
  command.add_option("--recordings", measured.recordings, "How many recordings")
      ->check(CLI::Range(4, 100))
      ->capture_default_str();
  command.add_option("--rounds", measured.rounds, "Rounds of each recording")
      ->check(CLI::Range(3, 1000))
      ->capture_default_str();
  command.add_option("--from", measured.from, "Of these files' recordings of one build, and measure nothing")
      ->type_name("FILE")
      ->needs(noise);
  for (const char* name : {"--preset", "--axis", "--algorithms", "--cache-control", "--recordings", "--rounds"}) {
    command.get_option(name)->needs(noise);
  }
  add_filter_option(command, measured.filter)->needs("--from");
  command.get_option("--strict")->excludes(noise);
  options->output.exclude(noise);
  return [options] {
    if (!options->noise) options->output.set_file(options->measured.output);
    return options->output.run([&] { return doctor(*options); });
  };
}

}  // namespace attnscope
