// SPDX-License-Identifier: Apache-2.0
// jobs: how far what was submitted is, by the queue and by the files.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <iostream>
#include <memory>
#include <set>

#include "app/command.h"
#include "app/output.h"
#include "app/slurm.h"
#include "app/submission.h"
#include "messages/submit.h"
#include "profiler/plan/text.h"

namespace attnscope {
namespace {

struct JobsOptions {
  std::string file;
  bool cancel = false;
  bool resubmit = false;
  Output output;
};

/// A shard, the merge (shard 0), or what hosts do.
struct JobPart {
  int shard = 0;
  std::string state = "missing";
  std::string job = {};
  std::string node = {};
  std::string note = {};
  std::size_t points = 0;
  std::size_t ok = 0;
  std::filesystem::path file = {};
  bool alive = false;
  [[nodiscard]] bool complete() const { return state == "complete"; }
};

/// By how much a file's times of day are before it was submitted, or after now: the clock of where it was written.
std::string clock_note(const Submission& submission, const RunSummary& run) {
  const auto seconds = [](const std::string& time) {
    std::tm parts{};
    return ::strptime(time.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts) == nullptr ? 0.0
                                                                             : static_cast<double>(::timegm(&parts));
  };
  constexpr double allowed = 300;
  const double before = seconds(submission.submitted_at) - seconds(run.started_at);
  const double after =
      seconds(run.finished_at.empty() ? run.started_at : run.finished_at) - static_cast<double>(std::time(nullptr));
  if (std::max(before, after) < allowed) return {};
  const double off = after > before ? after : -before;
  return text(say::submit::clock_off{.hours = fmt::format("{:+.1f}", off / 3600)});
}

void look_at_file(const Submission& submission, JobPart& part) {
  const std::optional<RunSummary> run = run_in(part.file);
  std::error_code error;
  if (!run && !part.alive && std::filesystem::exists(part.file, error)) part.state = "damaged";
  if (!run) return;
  part.points = run->points;
  part.ok = run->ok_points;
  if (!part.alive) part.state = to_string(run->state);
  const std::string clock = clock_note(submission, *run);
  if (!clock.empty()) part.note += (part.note.empty() ? "" : "; ") + clock;
}

/// Of a part, what the queue says of the newest job that it was in.
void look_at_queue(const std::vector<Submission::Queued>& queued, const slurm::States& states, JobPart& part) {
  for (auto each = queued.rbegin(); each != queued.rend(); ++each) {
    const std::string job = part.shard > 0 ? fmt::format("{}_{}", each->array, part.shard) : each->merge;
    const auto found = states.by_job.find(job);
    if (found == states.by_job.end()) continue;
    part.job = job;
    part.node = found->second.node;
    part.note = found->second.reason;
    part.alive = found->second.alive();
    part.state = found->second.state;
    return;
  }
}

/// With `certain`, only where the queue answers: what it does not say would be queued again. Throws CommandError.
std::vector<JobPart> parts_of(const Submission& submission, bool certain = false) {
  std::vector<std::string> jobs;
  for (const Submission::Queued& each : submission.queued) {
    if (!each.array.empty()) jobs.push_back(each.array);
    if (!each.merge.empty()) jobs.push_back(each.merge);
  }
  const slurm::States states = jobs.empty() ? slurm::States() : slurm::states(jobs);
  if (!states.silent.empty() && certain) throw CommandError(ExitCode::error, states.silent);
  if (!states.silent.empty()) spdlog::warn("{}", one_line(text(states.silent)));
  std::vector<JobPart> parts;
  for (int shard = submission.hosts.empty() ? 1 : 0; shard <= submission.shards; ++shard) {
    JobPart part{.shard = shard};
    part.file = shard > 0 ? submission.shard_file(shard) : submission.output;
    look_at_queue(submission.queued, states, part);
    // It came to its end and its file is not there, or not whole: the queue's word for that is no news.
    if (part.state == "completed") part.state = "missing";
    look_at_file(submission, part);
    parts.push_back(std::move(part));
  }
  if (!submission.hosts.empty()) return parts;
  JobPart merge;
  merge.file = submission.output;
  look_at_queue(submission.queued, states, merge);
  if (merge.state == "completed") merge.state = "missing";
  look_at_file(submission, merge);
  parts.push_back(std::move(merge));
  return parts;
}

/// "2,5-7"
std::string ranges(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += text.empty() ? "" : ",";
    text += last == i ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[last]);
    i = last + 1;
  }
  return text;
}

ExitCode resubmit(Submission& submission, const std::vector<JobPart>& parts) {
  std::vector<int> missing;
  for (const JobPart& part : parts) {
    if (part.shard > 0 && !part.complete() && !part.alive) missing.push_back(part.shard);
  }
  if (!submission.hosts.empty()) {
    throw CommandError(ExitCode::usage,
                       say::submit::hosts_again{.script = (submission.folder() / "hosts.sh").string()});
  }
  if (missing.empty() && (parts.back().complete() || parts.back().alive)) {
    std::cout << text(say::submit::nothing_missing{}) << '\n';
    return ExitCode::ok;
  }
  const std::string shards = ranges(missing);
  const Submission::Queued queued = queue_shards(submission, shards);
  const Message said = missing.empty()
                           ? Message(say::submit::merge_again{.merge = queued.merge})
                           : say::submit::resubmitted{.shards = shards, .job = queued.array, .merge = queued.merge};
  std::cout << text(said) << '\n';
  return ExitCode::ok;
}

ExitCode cancel(const Submission& submission, const std::vector<JobPart>& parts) {
  std::set<std::string> jobs;
  for (const JobPart& part : parts) {
    if (part.alive) jobs.insert(part.job.substr(0, part.job.find('_')));
  }
  if (jobs.empty() || !submission.hosts.empty()) {
    std::cout << text(say::submit::nothing_queued{}) << '\n';
    return ExitCode::ok;
  }
  slurm::cancel({jobs.begin(), jobs.end()});
  std::cout << text(say::submit::cancelled{.jobs = fmt::format("{}", fmt::join(jobs, ", "))}) << '\n';
  return ExitCode::ok;
}

/// Every shard of one submission; of several a line each.
ExitCode list(const std::vector<Submission>& submissions, bool each_part, Output& out) {
  Table table{
      {{"file"}, {"shard"}, {"state"}, {"points", true}, {"ok", true}, {"job"}, {"node"}, {"note"}, {"submitted_at"}},
      {}};
  bool complete = true;
  for (const Submission& submission : submissions) {
    const std::vector<JobPart> parts = parts_of(submission);
    const auto whole = std::ranges::count_if(parts, [](const JobPart& part) { return part.complete(); });
    complete = complete && whole == std::ssize(parts);
    const auto row = [&](const std::string& shard, const JobPart& part) {
      table.rows.push_back({each_part ? part.file.string() : submission.output.string(), shard, part.state,
                            fmt::to_string(part.points), fmt::to_string(part.ok), part.job, part.node, part.note,
                            submission.submitted_at});
    };
    if (each_part) {
      for (const JobPart& part : parts) {
        row(part.shard > 0             ? fmt::format("{}/{}", part.shard, submission.shards)
            : submission.hosts.empty() ? text(say::submit::merged_shard{})
                                       : fmt::format("{}", fmt::join(submission.hosts, ",")),
            part);
      }
      continue;
    }
    std::size_t points = 0;
    std::size_t ok = 0;
    const bool runs = std::ranges::any_of(parts, [](const JobPart& part) { return part.alive; });
    for (const JobPart& part : parts) {
      if (part.shard == 0 && submission.hosts.empty()) continue;
      points += part.points;
      ok += part.ok;
    }
    const std::string state = whole == std::ssize(parts) ? "complete" : runs ? "queued" : parts.back().state;
    JobPart all{.state = state, .points = points, .ok = ok};
    row(fmt::format("{} / {}", whole, parts.size()), all);
  }
  out.table(table);
  return complete ? ExitCode::ok : ExitCode::partial;
}

ExitCode jobs(JobsOptions& options) {
  if (options.file.empty()) {
    if (options.cancel || options.resubmit) throw CommandError(ExitCode::usage, say::submit::one_submission{});
    std::vector<Submission> all;
    for (const std::filesystem::path& folder : known_submissions()) {
      try {
        all.push_back(load_submission(folder));
      } catch (const CommandError& error) {  // one that is damaged hides none of the others
        spdlog::warn("{}", one_line(error.what()));
      }
    }
    if (all.empty() && options.output.for_people()) {
      options.output.line(text(say::submit::none_known{}));
      return ExitCode::ok;
    }
    (void)list(all, false, options.output);
    return ExitCode::ok;
  }
  Submission submission = load_submission(options.file);
  if (options.cancel) return cancel(submission, parts_of(submission, true));
  if (options.resubmit) return resubmit(submission, parts_of(submission, true));
  return list({submission}, true, options.output);
}

}  // namespace

Action add_jobs(CLI::App& command) {
  auto options = std::make_shared<JobsOptions>();
  command.add_option("FILE", options->file,
                     "The file that `attnscope submit -o` was given (default: all that was submitted)");
  CLI::Option* cancel = command.add_flag("--cancel", options->cancel, "Cancel what is queued or runs; files stay");
  CLI::Option* resubmit =
      command
          .add_flag("--resubmit", options->resubmit,
                    "Queue what is missing again: shards that are neither complete nor queued, and the merge")
          ->excludes(cancel);
  options->output.add_to(command, Output::tables, Output::File::no);
  options->output.exclude(cancel);
  options->output.exclude(resubmit);
  return [options] { return options->output.run([&] { return jobs(*options); }); };
}

}  // namespace attnscope
