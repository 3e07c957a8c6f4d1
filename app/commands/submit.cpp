// SPDX-License-Identifier: Apache-2.0
// submit: a plan in shards for a cluster's queue, or for hosts that ssh leads to.
#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <iostream>
#include <memory>

#include "app/command.h"
#include "app/slurm.h"
#include "app/submission.h"
#include "messages/file.h"
#include "messages/submit.h"
#include "profiler/measure/host_environment.h"
#include "profiler/plan/shards.h"
#include "profiler/plan/text.h"
#include "storage/database.h"

namespace attnscope {
namespace {

struct SubmitOptions {
  int shards = 0;
  std::string output;
  std::vector<std::string> hosts;
  bool dry_run = false;
  std::vector<std::string> collect;
  std::vector<std::string> sbatch;
};

/// The words without a device: the plan is cut alike for all.
std::vector<std::string> without_device(const std::vector<std::string>& words) {
  std::vector<std::string> rest;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool alone = words[i] == "--device" || words[i] == "-d";
    const bool joined = words[i].starts_with("--device=") || (words[i].starts_with("-d") && !alone);
    if (alone) ++i;
    if (!alone && !joined) rest.push_back(words[i]);
  }
  return rest;
}

/// Plans it here, so that what is misspelt is said before anything is queued. What the plan has.
std::string planned_points(const Submission& submission) {
  std::vector<std::string> words{own_program, "collect"};
  const std::vector<std::string> given = without_device(submission.collect);
  words.insert(words.end(), given.begin(), given.end());
  const std::vector<std::string> more{"--device", "simulated", "--dry-run", "--quiet", "--format", "csv"};
  words.insert(words.end(), more.begin(), more.end());
  const auto said = slurm::run_to_end(words);
  if (!said) throw CommandError(ExitCode::error, say::submit::wrong_collect{.why = said.error()});
  if (said->exit_code != 0) {
    std::string why = said->last_words;
    if (why.starts_with("attnscope: ")) why.erase(0, 11);
    throw CommandError(ExitCode::usage, say::submit::wrong_collect{.why = why});
  }
  const auto rows = static_cast<std::int64_t>(said->lines.size()) - 1;  // below a heading
  return text(say::submit::shard_points{.points = std::max<std::int64_t>(rows, 0)});
}

/// In a session of its own: it goes on when this one ends.
void start_detached(const std::filesystem::path& script) {
  const pid_t child = ::fork();
  if (child < 0) {
    throw CommandError(ExitCode::error, say::submit::not_started{.program = "bash", .error = std::strerror(errno)});
  }
  if (child > 0) return;
  ::setsid();
  const int nothing = ::open("/dev/null", O_RDWR);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, stream);
  ::execl("/bin/bash", "bash", script.c_str(), nullptr);
  ::_exit(127);
}

/// What the scripts say themselves.
void refuse_reserved(const SubmitOptions& options) {
  const auto refuse = [](const std::vector<std::string>& words, std::initializer_list<std::string_view> reserved) {
    for (const std::string& word : words) {
      const bool joined = word.size() > 2 && word[0] == '-' && word[1] != '-';  // -a1-8
      const std::string_view name = std::string_view(word).substr(0, joined ? 2 : word.find('='));
      if (std::ranges::find(reserved, name) == reserved.end()) continue;
      throw CommandError(ExitCode::usage, say::submit::reserved{.word = name});
    }
  };
  refuse(options.collect, {"--shard", "--collection", "--resume", "--jsonl", "--serve", "--each"});
  refuse(options.sbatch, {"--array", "-a", "--dependency", "-d", "--output", "-o", "--job-name", "-J"});
  if (!options.hosts.empty()) refuse(options.collect, {"--device", "-d"});
}

ExitCode submit(const SubmitOptions& options) {
  if (options.output.empty()) throw CommandError(ExitCode::usage, say::submit::needs_output{});
  if (options.shards < 1 && options.hosts.empty()) throw CommandError(ExitCode::usage, say::submit::needs_shards{});
  const std::vector<std::string> output{options.output};
  for (const auto* words : {&options.collect, &options.sbatch, &output}) {
    if (std::ranges::any_of(*words, [](const std::string& word) { return word.find('\n') != std::string::npos; })) {
      throw CommandError(ExitCode::usage, say::submit::wrong_word{});
    }
  }
  refuse_reserved(options);
  Submission submission{.output = std::filesystem::absolute(options.output),
                        .shards = options.hosts.empty() ? options.shards : 0,
                        .hosts = options.hosts,
                        .collect = options.collect,
                        .sbatch = options.sbatch,
                        .submitted_at = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))};
  if (std::filesystem::exists(submission.output)) {
    throw CommandError(ExitCode::usage, say::submit::output_there{.file = submission.output.string()});
  }
  if (std::filesystem::exists(submission.folder())) {
    throw CommandError(ExitCode::usage, say::submit::folder_there{.folder = submission.folder().string(),
                                                                  .file = submission.output.string()});
  }
  const std::string points = planned_points(submission);
  const std::string program = whole_path_of_program();
  const std::string main_script =
      submission.hosts.empty() ? array_script(submission, program) : hosts_script(submission, program);
  if (options.dry_run) {
    std::cout << main_script;
    if (submission.hosts.empty()) std::cout << '\n' << merge_script(submission, program);
    return ExitCode::ok;
  }
  if (const std::string_view network = network_file_system(submission.output);
      !submission.hosts.empty() && !network.empty()) {
    throw CommandError(ExitCode::error, say::file::on_network{.file = submission.output.string(), .system = network});
  }
  save(submission);
  if (!submission.hosts.empty()) {
    const std::filesystem::path script = submission.folder() / "hosts.sh";
    write_script(script, main_script);
    start_detached(script);
    std::cout << text(say::submit::hosts_started{.hosts = fmt::format("{}", fmt::join(submission.hosts, ", ")),
                                                 .file = submission.output.string()})
              << '\n';
    return ExitCode::ok;
  }
  const Submission::Queued queued = queue_shards(submission, fmt::format("1-{}", submission.shards));
  std::cout << text(say::submit::submitted{.shards = submission.shards,
                                           .points = points,
                                           .job = queued.array,
                                           .merge = queued.merge,
                                           .file = submission.output.string()})
            << '\n';
  return ExitCode::ok;
}

}  // namespace

Action add_submit(CLI::App& command, Arguments arguments) {
  auto options = std::make_shared<SubmitOptions>();
  command.add_option("--shards", options->shards, "Into how many parts the plan is cut: one job of the array each")
      ->check(CLI::Range(1, most_shards));
  command.add_option("-o,--output", options->output, "The file of the merged run, in a folder that all nodes see")
      ->type_name("FILE");
  command
      .add_option("--hosts", options->hosts,
                  "Without a queue: hosts that ssh leads to share the plan, as with collect --device ssh:a,ssh:b")
      ->delimiter(',')
      ->type_name("HOSTS");
  command.add_flag("--dry-run", options->dry_run, "Print the scripts, and queue nothing");
  command.allow_extras();
  // What stands behind "--" was not read with the others.
  const auto dashes =
      std::ranges::find(arguments, std::string_view("--"), [](const char* word) { return std::string_view(word); });
  if (dashes != arguments.end()) options->sbatch.assign(dashes + 1, arguments.end());
  return [options, &command] {
    options->collect = command.remaining();
    return submit(*options);
  };
}

}  // namespace attnscope
