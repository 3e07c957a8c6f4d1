// SPDX-License-Identifier: Apache-2.0
// ceilings: measures the rates and latencies of a GPU, or shows its datasheet.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/command.h"
#include "app/devices.h"
#include "app/interrupt.h"
#include "app/output.h"
#include "app/reporter.h"
#include "profiler/measure/device.h"
#include "profiler/plan/text.h"
#include "profiler/roofline/roofline.h"
#include "storage/run_store.h"

namespace attnscope {
namespace {

struct CeilingsOptions {
  std::string file;
  std::string device;
  std::string kept_in;
  bool rounds_given = false;
  bool jsonl = false;
  Output output;
  CeilingOptions measure;
};

void print_ceilings(std::span<const Ceiling> ceilings, Output& out) {
  const analysis::DatedCeilings all{"", "", {ceilings.begin(), ceilings.end()}};
  analysis::Table table =
      out.is_text_output() ? analysis::ceiling_table(ceiling_rows(ceilings)) : analysis::ceiling_data({&all, 1});
  if (out.is_text_output()) table.drop_empty_columns();
  for (const char* whose : {"device_uuid", "measured_at"}) table.drop(whose);
  out.table(table);
}

/// Prints remarks on the results; to stderr if stdout has CSV or JSON.
void print_remarks(const std::vector<Message>& remarks, Output& out, Reporter* reporter) {
  for (const Message& remark : remarks) {
    if (reporter != nullptr) {
      reporter->report(LogEvent{"warning", text(remark)});
    } else if (out.is_text_output()) {
      out.line(text(remark));
    } else {
      spdlog::warn("{}", text(remark));
    }
  }
}

/// Reports progress to a reporter (4 times a second and at the end), or on the status line.
CeilingProgress progress_to(Reporter* reporter, StatusLine& line) {
  if (reporter == nullptr) {
    return [&line](std::size_t done, std::size_t total) {
      line.show(format_text("Measuring ceilings: {}%", 100 * done / total));
    };
  }
  return [reporter, pace = ProgressThrottle()](std::size_t done, std::size_t total) mutable {
    if (pace.is_due(done >= total)) reporter->report(ProgressEvent{done, total, pace.elapsed_s(), -1});
  };
}

/// Returns whether a ceiling of this device could not be measured.
bool has_failed_ceiling(const CeilingSet& set) {
  return std::ranges::find(set.remarks, "ceiling.kernel_failed", &Message::id) != set.remarks.end();
}

/// `reporter`: receives all output; null: prints text.
ExitCode measured(CeilingsOptions& options, Reporter* reporter) {
  CancelToken& cancel = cancel_on_signals();
  if (reporter != nullptr) cancel_on_stdin(cancel);
  const OpenedDevice opened = open_device(options.device, true);
  Device& device = *opened.device;
  if (device.info().simulated && !options.kept_in.empty()) {
    throw CommandError(ExitCode::usage,
                       "{} is simulated and has no measured ceilings to store (set --device or omit -o)",
                       device.info().limits.name);
  }
  // Opens the file before measuring, in case it cannot be written.
  std::optional<RunStore> store;
  if (!options.kept_in.empty()) store = RunStore::open(options.kept_in, RunStore::Mode::collect);
  Output& out = options.output;
  if (reporter == nullptr) out.line(format_text("Device: {}", opened.announcement));
  StatusLine line;
  const auto set = device.ceilings(options.measure, cancel, progress_to(reporter, line));
  line.clear();
  if (!set) {
    if (!device.usable()) {
      if (reporter != nullptr) reporter->report(DoneEvent{"failed", set.error().reason, 0, 0, 1});
      fmt::print(stderr, "error: {}\n", one_line(text(set.error().reason)));
      leave(ExitCode::error);
    }
    throw CommandError(set.error().cancelled ? ExitCode::partial : ExitCode::error, set.error().reason);
  }
  if (reporter == nullptr) print_ceilings(set->ceilings, out);
  print_remarks(set->remarks, out, reporter);
  const ExitCode code = has_failed_ceiling(*set) ? ExitCode::partial : ExitCode::ok;
  if (!store) return code;
  Environment environment = device.environment();
  environment.app_version = program_version();
  const std::string uid = store->add_ceilings(device.info(), environment, set->ceilings);
  if (reporter == nullptr)
    out.line(
        format_text("{} ceilings stored in {} (set {})", set->ceilings.size(), printable(store->file().string()), uid));
  return code;
}

/// Shows every set in the file, and datasheet values for devices with runs but no measured ceilings.
ExitCode kept(CeilingsOptions& options) {
  const RunStore store = RunStore::open(options.file, RunStore::Mode::read_only);
  const std::vector<StoredCeilings> sets = store.ceilings();
  std::map<std::string, RunSummary> never_measured;  // one run per device
  for (const RunSummary& run : store.runs()) {
    if (std::ranges::find(sets, run.device_uuid, &StoredCeilings::device_uuid) == sets.end()) {
      never_measured.emplace(run.device_uuid, run);
    }
  }
  if (sets.empty() && never_measured.empty()) {
    throw CommandError(ExitCode::error, "{0} has neither ceilings nor runs (measure with `attnscope ceilings -o {0}`)",
                       options.file);
  }
  Output& out = options.output;
  if (!out.is_text_output()) {
    std::vector<analysis::DatedCeilings> all;
    all.reserve(sets.size() + never_measured.size());
    for (const StoredCeilings& set : sets) all.push_back({set.device_uuid, set.measured_at, set.ceilings});
    for (const auto& [uuid, run] : never_measured) all.push_back({uuid, "", datasheet_ceilings(run.limits)});
    out.table(analysis::ceiling_data(all));
    return log_skipped_rows(store, ExitCode::ok);
  }
  bool first = true;
  const auto part = [&](const Message& heading, std::span<const Ceiling> ceilings) {
    if (!std::exchange(first, false)) out.blank_line();
    out.line(printable(text(heading)));
    print_ceilings(ceilings, out);
  };
  for (const StoredCeilings& set : sets) {
    part(make_message("{} ({}), measured {}, set {}", set.device_name, set.device_uuid, set.measured_at, set.uid),
         set.ceilings);
  }
  for (const auto& [uuid, run] : never_measured) {
    const std::string& name = run.limits.name;
    part(run.provenance == Provenance::imported
             ? make_message("{} ({}), imported points: not measured, datasheet values", name, uuid)
             : make_message("{} ({}): not measured, datasheet values", name, uuid),
         datasheet_ceilings(run.limits));
  }
  return log_skipped_rows(store, ExitCode::ok);
}

ExitCode ceilings(CeilingsOptions& options) {
  if (options.file.empty()) {
    if (!options.jsonl) return measured(options, nullptr);
    return run_with_json_lines([&](Reporter& reporter) { return measured(options, &reporter); });
  }
  for (const auto& [given, name] : {std::pair(!options.device.empty(), "--device"),
                                    std::pair(options.rounds_given, "--rounds"), std::pair(options.jsonl, "--jsonl")}) {
    if (given)
      throw CommandError(ExitCode::usage, "FILE shows stored ceilings (omit FILE to measure, or omit {})", name);
  }
  return kept(options);
}

}  // namespace

Action add_ceilings(CLI::App& command) {
  auto options = std::make_shared<CeilingsOptions>();
  command.add_option("FILE", options->file, "Show the ceilings stored in this .attnscope file");
  command.add_option("-d,--device", options->device, device_help)->type_name("DEVICE");
  CLI::Option* output =
      command
          .add_option("-o,--output", options->kept_in,
                      "Add the measured ceilings to this .attnscope file; with FILE, output file of the result")
          ->type_name("FILE");
  CLI::Option* rounds = add_number_option(command, "--rounds", options->measure.rounds, 1, 1000, "Samples per ceiling");
  CLI::Option* jsonl =
      command
          .add_flag("--jsonl", options->jsonl,
                    "Print progress as JSON lines; \"cancel\" on stdin, or its end, stops after the current kernel")
          ->needs(output);
  options->output.add_to(command, Output::tables, Output::File::no);
  options->output.exclude_option(jsonl);
  return [options, rounds] {
    options->rounds_given = rounds->count() > 0;
    if (options->file.empty()) {
      require_measurement_name(options->kept_in);
    } else {
      options->output.set_file(options->kept_in);
    }
    return options->output.run([&] { return ceilings(*options); });
  };
}

}  // namespace attnscope
