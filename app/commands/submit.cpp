// SPDX-License-Identifier: Apache-2.0
// submit: queues a Slurm job array with one task per shard, and a dependent job that merges them.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <utility>

#include "app/command.h"
#include "app/interrupt.h"
#include "app/python/python_kernels.h"
#include "profiler/files/file_system.h"
#include "profiler/plan/command_text.h"
#include "profiler/plan/shards.h"
#include "profiler/plan/text.h"
#include "profiler/worker/link.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

struct SubmitOptions {
  int shards = 0;
  std::string output;
  bool dry_run = false;
  double timeout_seconds = 60;  ///< for each sbatch
  std::vector<std::string> collect;
  std::vector<std::string> sbatch;
};

struct JobScripts {
  fs::path folder;  ///< contains scripts, logs and one file per shard
  std::string array;
  std::string merge;
};

std::string quoted_arguments(const std::vector<std::string>& words) {
  std::vector<std::string> each;
  each.reserve(words.size());
  for (const std::string& word : words) each.push_back(shell_quoted(word));
  return fmt::format("{}", fmt::join(each, " "));
}

/// Escapes a folder for a file name pattern of sbatch, in which "%%" is a percent sign.
std::string shell_pattern(const fs::path& folder) {
  std::string text;
  for (const char c : folder.string()) text += c == '%' ? std::string("%%") : std::string(1, c);
  return shell_quoted(text);
}

CommandOutput run_limited(const std::vector<std::string>& words, double limit_seconds) {
  const auto limit = std::chrono::milliseconds(std::llround(1000 * limit_seconds));
  return run_to_end(words, limit, cancel_on_signals());
}

std::vector<std::string> collect_arguments(const SubmitOptions& options) {
  std::vector<std::string> words{"collect"};
  words.insert(words.end(), options.collect.begin(), options.collect.end());
  const std::string now = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  words.insert(words.end(), {"--recording", now, "--quiet", "--resume"});
  return words;
}

/// Plans the first shard, so that an invalid option is reported before a job is queued.
void check_plan(std::vector<std::string> words, const SubmitOptions& options) {
  words.insert(words.begin(), executable_path);
  words.insert(words.end(), {"--shard", fmt::format("1/{}", options.shards), "--device", "simulated", "--dry-run"});
  auto [text, error, killed, started] = run_limited(words, options.timeout_seconds);
  if (error.empty()) return;
  if (killed) throw CommandError(ExitCode::error, "cannot check the options of collect: {}", error);
  if (error.starts_with("error: ")) error.erase(0, 7);
  throw CommandError(ExitCode::usage, "invalid option of collect: {}", error);
}

JobScripts job_scripts(const SubmitOptions& options, const fs::path& output, const std::vector<std::string>& collect) {
  const fs::path folder = output.string() + ".shards";
  const std::string program = shell_quoted(fs::read_symlink(executable_path).string());
  const std::string logs = shell_pattern(folder);
  const std::string shard_files = shell_quoted(folder.string());
  const std::string name = shell_quoted(output.stem().string());
  const std::string sbatch = options.sbatch.empty() ? "" : "#SBATCH " + quoted_arguments(options.sbatch) + "\n";
  // SQLite's WAL mode does not work on network file systems, so a task writes to its node's own disk.
  std::string array = fmt::format(
      R"sh(#!/bin/bash
#SBATCH --job-name={name}
#SBATCH --output={logs}/%a.log
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@60
{sbatch}set -u
result={folder}/$SLURM_ARRAY_TASK_ID.attnscope
scratch=$(mktemp -d -p "${{SLURM_TMPDIR:-${{TMPDIR:-/tmp}}}}") || exit 1
part=$scratch/part.attnscope
if [ -e "$result" ]; then cp "$result" "$part" || exit 1; fi
echo "shard $SLURM_ARRAY_TASK_ID on $(hostname), $(date -u +%FT%TZ)"
{program} {collect} --shard "$SLURM_ARRAY_TASK_ID/{shards}" -o "$part" &
child=$!
stopped=
trap 'stopped=1; kill -TERM "$child"' TERM INT
wait "$child"
code=$?
while kill -0 "$child" 2>/dev/null; do wait "$child"; code=$?; done
if [ -e "$part" ]; then
  {program} export --format attnscope --force -o "$result.new" "$part" && mv "$result.new" "$result" ||
    {{ echo "$part on $(hostname) was not moved to $result"; exit 1; }}
fi
rm -rf "$scratch"
# 5: some points failed, each with its reason in the file. Only a shard that was stopped has to be requeued.
if [ "$code" = 5 ] && [ -z "$stopped" ]; then code=0; fi
exit "$code"
)sh",
      fmt::arg("name", name), fmt::arg("logs", logs), fmt::arg("sbatch", sbatch), fmt::arg("folder", shard_files),
      fmt::arg("program", program), fmt::arg("collect", quoted_arguments(collect)), fmt::arg("shards", options.shards));
  std::string merge = fmt::format(R"sh(#!/bin/bash
#SBATCH --job-name={name}-merge
#SBATCH --kill-on-invalid-dep=yes
#SBATCH --output={logs}/merge.log
#SBATCH --open-mode=append
{sbatch}exec {program} merge {folder}/*.attnscope -o {output}
)sh",
                                  fmt::arg("name", name), fmt::arg("logs", logs), fmt::arg("sbatch", sbatch),
                                  fmt::arg("folder", shard_files), fmt::arg("program", program),
                                  fmt::arg("output", shell_quoted(output.string())));
  return {folder, std::move(array), std::move(merge)};
}

void write(const fs::path& file, const std::string& text) {
  std::ofstream out(file);
  out << text << std::flush;
  if (!out) throw CommandError(ExitCode::error, "cannot write {}", file.string());
}

/// Queues a script and returns its job ID. `consequence`: end of the error message.
std::string queue(const std::string& option, const fs::path& script, double limit, const std::string& consequence) {
  CommandOutput output = run_limited({"sbatch", "--parsable", option, script.string()}, limit);
  std::string job = worker::last_line(output.text);
  job.resize(std::min(job.size(), job.find(';')));
  const bool is_job = !job.empty() && job.find_first_not_of("0123456789") == std::string::npos;
  if (output.error.empty() && !is_job) output.error = fmt::format("'{}' is not a job ID", printable(job));
  if (output.error.empty()) return job;
  throw CommandError(ExitCode::error,
                     "sbatch failed: {} (check Slurm with `scontrol ping`, and `squeue --me` for a queued job); {}",
                     printable(output.error), consequence);
}

ExitCode submit(const SubmitOptions& options) {
  const auto is_reserved = [](const std::string& word) {
    return word.starts_with("--array") || word.starts_with("-a") || word.starts_with("--dependency") ||
           word.starts_with("-d");
  };
  if (const auto word = std::ranges::find_if(options.sbatch, is_reserved); word != options.sbatch.end())
    throw CommandError(ExitCode::usage, "sbatch option {} is set by submit (omit it)", *word);
  const auto has_line_break = [](const std::string& word) { return word.find('\n') != std::string::npos; };
  if (has_line_break(options.output) || std::ranges::any_of(options.sbatch, has_line_break))
    throw CommandError(ExitCode::usage,
                       "line break in an argument: job scripts do not support it (rename the file or omit the option)");
  const fs::path output = fs::absolute(options.output);
  const std::vector<std::string> collect = collect_arguments(options);
  const JobScripts scripts = job_scripts(options, output, collect);
  for (const fs::path& place : {output, scripts.folder}) {
    if (fs::exists(place))
      throw CommandError(ExitCode::usage, "{} already exists (choose another name with -o)", place.string());
  }
  check_plan(collect, options);
  if (options.dry_run) {
    std::cout << scripts.array << '\n' << scripts.merge;
    return ExitCode::ok;
  }
  fs::create_directories(scripts.folder);
  const fs::path array_file = scripts.folder / "shard.sh";
  const fs::path merge_file = scripts.folder / "merge.sh";
  write(array_file, scripts.array);
  write(merge_file, scripts.merge);
  const std::string array = queue(fmt::format("--array=1-{}", options.shards), array_file, options.timeout_seconds,
                                  fmt::format("the scripts are in {}", printable(scripts.folder.string())));
  const std::string merge =
      queue(fmt::format("--dependency=afterok:{}", array), merge_file, options.timeout_seconds,
            fmt::format("the shards are queued as job {} (cancel them with `scancel {}`, or queue "
                        "the merge with `sbatch --dependency=afterok:{} {}`)",
                        array, array, array, shell_quoted(merge_file.string())));
  fmt::print(
      "{shards} shards: job {array}. Merge into {output}: job {merge}. Logs: {folder}/*.log\n"
      "watch:   squeue --jobs={array},{merge}\n"
      "cancel:  scancel {array} {merge}\n"
      "requeue: scontrol requeue {array}_K && sbatch --dependency=afterok:{array}_K {folder}/merge.sh\n",
      fmt::arg("array", array), fmt::arg("merge", merge), fmt::arg("shards", options.shards),
      fmt::arg("output", printable(output.string())), fmt::arg("folder", printable(scripts.folder.string())));
  return ExitCode::ok;
}

}  // namespace

Action add_submit(CLI::App& command, Arguments arguments) {
  auto options = std::make_shared<SubmitOptions>();
  command.add_option("--shards", options->shards, "Number of shards; each is one array task")
      ->required()
      ->check(number_in_range(1, max_shards));
  command.add_option("-o,--output", options->output, "File of the merged run, in a folder shared by all nodes")
      ->type_name("FILE")
      ->required();
  add_number_option(command, "--sbatch-timeout", options->timeout_seconds, 0.001, 86'400,
                    "Time limit for each call of sbatch in seconds");
  command.add_flag("--dry-run", options->dry_run, "Print the job scripts without queuing them");
  command.allow_extras();
  const auto dashes =
      std::ranges::find(arguments, std::string_view("--"), [](const char* word) { return std::string_view(word); });
  if (dashes != arguments.end()) options->sbatch.assign(dashes + 1, arguments.end());
  return [options, &command] {
    require_measurement_name(options->output);
    options->collect = command.remaining();
    return submit(*options);
  };
}

}  // namespace attnscope
