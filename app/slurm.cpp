// SPDX-License-Identifier: Apache-2.0
#include "app/slurm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <functional>
#include <sstream>
#include <utility>

#include "app/command.h"
#include "messages/submit.h"
#include "profiler/measure/remote/link.h"

namespace attnscope::slurm {
namespace {

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> all;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, '|');) all.push_back(cell);
  return all;
}

/// "CANCELLED by 0" is cancelled.
std::string state_word(const std::string& cell) {
  return lower(cell.substr(0, cell.find(' ')));
}

}  // namespace

Result<Said, std::string> run_to_end(const std::vector<std::string>& words) {
  constexpr std::chrono::milliseconds between_looks{50};
  auto link = remote::start_child(words);
  if (!link) return Failure{link.error()};
  (*link)->end_input();
  Said said;
  std::string line;
  for (;;) {
    const auto got = (*link)->receive(line, between_looks);
    if (got == remote::Link::Got::end) break;
    if (got == remote::Link::Got::line) said.lines.push_back(line);
  }
  const remote::Link::End end = (*link)->end();
  said.exit_code = end.signal != 0 ? -end.signal : end.exit_code;
  said.last_words = remote::last_line(end.last_words);
  return said;
}

std::string queue_job(const std::vector<std::string>& options, const std::filesystem::path& script) {
  std::vector<std::string> words{"sbatch", "--parsable"};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(script.string());
  const auto said = run_to_end(words);
  if (!said) throw CommandError(ExitCode::error, say::submit::not_started{.program = "sbatch", .error = said.error()});
  std::string id = said->lines.empty() ? std::string() : said->lines.back().substr(0, said->lines.back().find(';'));
  if (said->exit_code == 0 && !id.empty() && id.find_first_not_of("0123456789") == std::string::npos) return id;
  throw CommandError(ExitCode::error,
                     say::submit::queue_refuses{
                         .program = "sbatch",
                         .why = said->last_words.empty() ? fmt::format("exit {}", said->exit_code) : said->last_words,
                         .folder = script.parent_path().string()});
}

bool JobState::alive() const {
  constexpr std::array ended{"completed",     "cancelled", "failed",    "timeout",  "node_fail",
                             "out_of_memory", "preempted", "boot_fail", "deadline", "revoked"};
  return !state.empty() && std::ranges::find(ended, state) == ended.end();
}

States states(const std::vector<std::string>& jobs) {
  States all;
  std::map<std::string, JobState>& found = all.by_job;
  const std::string list = fmt::format("{}", fmt::join(jobs, ","));
  const auto history = run_to_end({"sacct", "--noheader", "--parsable2", "--allocations", "--array", "--format",
                                   "JobID,State,NodeList", "--jobs", list});
  for (const std::string& line : history && history->exit_code == 0 ? history->lines : std::vector<std::string>()) {
    const std::vector<std::string> row = cells(line);
    if (row.size() >= 2) found[row[0]] = {state_word(row[1]), row.size() > 2 ? row[2] : "", {}};
  }
  // squeue refuses a list of which it knows a number no more: it is asked for all of the user's.
  const auto queue =
      run_to_end({"squeue", "--me", "--noheader", "--array", "--states=all", "--format", "%F|%K|%T|%N|%r"});
  if (!queue || queue->exit_code != 0) {
    all.silent = say::submit::no_answer{.program = "squeue", .why = queue ? queue->last_words : queue.error()};
  }
  for (const std::string& line : queue && queue->exit_code == 0 ? queue->lines : std::vector<std::string>()) {
    const std::vector<std::string> row = cells(line);
    if (row.size() < 3 || std::ranges::find(jobs, row[0]) == jobs.end()) continue;
    const bool task = !row[1].empty() && row[1].find_first_not_of("0123456789") == std::string::npos;
    found[task ? row[0] + "_" + row[1] : row[0]] = {state_word(row[2]), row.size() > 3 ? row[3] : "",
                                                    row.size() > 4 && row[4] != "None" ? row[4] : ""};
  }
  return all;
}

void cancel(const std::vector<std::string>& jobs) {
  std::vector<std::string> words{"scancel"};
  words.insert(words.end(), jobs.begin(), jobs.end());
  const auto said = run_to_end(words);
  if (!said) throw CommandError(ExitCode::error, say::submit::not_started{.program = "scancel", .error = said.error()});
  if (said->exit_code == 0) return;
  throw CommandError(ExitCode::error,
                     say::submit::queue_refuses{.program = "scancel", .why = said->last_words, .folder = "."});
}

}  // namespace attnscope::slurm
