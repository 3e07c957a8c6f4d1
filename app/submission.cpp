// SPDX-License-Identifier: Apache-2.0
#include "app/submission.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/command.h"
#include "app/run_files.h"
#include "app/slurm.h"
#include "messages/submit.h"
#include "profiler/measure/host_environment.h"

namespace attnscope {
namespace {

using nlohmann::json;

constexpr const char* state_name = "submission.json";

/// A line a submission: its folder.
std::filesystem::path list_of_submissions() {
  return runs_folder().parent_path() / "submissions";
}

/// As a shell takes it, whatever is in it.
std::string for_shell(const std::string& word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=/:.,@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string for_shell(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + for_shell(word);
  return text;
}

/// As Slurm takes a file name, in which % begins a word of its own.
std::string pattern(const std::filesystem::path& folder) {
  std::string text;
  for (const char c : folder.string()) text += c == '%' ? std::string("%%") : std::string(1, c);
  return for_shell(text);
}

std::string directives(const Submission& submission) {
  std::string text;
  for (std::size_t i = 0; i < submission.sbatch.size(); ++i) {
    text += "#SBATCH " + for_shell(submission.sbatch[i]);
    // An option and its value stand on one line.
    const bool takes_next = submission.sbatch[i].starts_with("-") && i + 1 < submission.sbatch.size() &&
                            !submission.sbatch[i + 1].starts_with("-");
    if (takes_next) text += " " + for_shell(submission.sbatch[++i]);
    text += "\n";
  }
  return text;
}

void write_whole(const std::filesystem::path& file, const std::string& text) {
  const std::filesystem::path beside = file.string() + ".new";
  std::ofstream out(beside, std::ios::trunc);
  out << text;
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(beside, file, error);
  if (!out || error) {
    throw CommandError(ExitCode::error, say::submit::no_folder{.folder = file.parent_path().string(),
                                                               .error = error ? error.message() : "not written"});
  }
}

}  // namespace

std::filesystem::path Submission::folder_of(const std::filesystem::path& output) {
  return output.string() + ".shards";
}

std::filesystem::path Submission::shard_file(int shard) const {
  return folder() / fmt::format("{}.attnscope", shard);
}

void save(const Submission& submission) {
  std::error_code error;
  const bool is_new = std::filesystem::create_directories(submission.folder(), error);
  if (error) {
    throw CommandError(ExitCode::error,
                       say::submit::no_folder{.folder = submission.folder().string(), .error = error.message()});
  }
  json queued = json::array();
  for (const Submission::Queued& each : submission.queued)
    queued.push_back({{"array", each.array}, {"merge", each.merge}});
  const json state{{"version", 1},
                   {"output", submission.output.string()},
                   {"shards", submission.shards},
                   {"hosts", submission.hosts},
                   {"collect", submission.collect},
                   {"sbatch", submission.sbatch},
                   {"submitted_at", submission.submitted_at},
                   {"queued", queued}};
  write_whole(submission.folder() / state_name, state.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
  if (!is_new) return;
  std::filesystem::create_directories(list_of_submissions().parent_path(), error);
  std::ofstream(list_of_submissions(), std::ios::app) << submission.folder().string() << '\n';
}

Submission load_submission(const std::filesystem::path& name) {
  std::filesystem::path file = name / state_name;
  if (!std::filesystem::exists(file)) file = Submission::folder_of(name) / state_name;
  std::ifstream in(file);
  if (!in) throw CommandError(ExitCode::error, say::submit::no_submission{.folder = name.string()});
  std::ostringstream text;
  text << in.rdbuf();
  const auto wrong = [&](const std::string& why) {
    return CommandError(ExitCode::error, say::submit::unreadable{.file = file.string(), .why = one_line(why)});
  };
  try {
    const json state = json::parse(text.str());
    Submission submission{.output = state.at("output").get<std::string>(),
                          .shards = state.at("shards").get<int>(),
                          .hosts = state.at("hosts").get<std::vector<std::string>>(),
                          .collect = state.at("collect").get<std::vector<std::string>>(),
                          .sbatch = state.at("sbatch").get<std::vector<std::string>>(),
                          .submitted_at = state.at("submitted_at").get<std::string>()};
    for (const json& each : state.at("queued")) {
      submission.queued.push_back({each.at("array").get<std::string>(), each.at("merge").get<std::string>()});
    }
    if (submission.shards < 0 || submission.shards > most_shards) throw wrong("shards");
    for (const Submission::Queued& each : submission.queued) {  // they go to scancel
      if ((each.array + each.merge).find_first_not_of("0123456789") != std::string::npos) throw wrong("queued");
    }
    // Of a folder that was moved, its new place.
    submission.output = std::filesystem::absolute(file).parent_path().replace_extension();
    return submission;
  } catch (const json::exception& error) {
    throw wrong(error.what());
  }
}

std::vector<std::filesystem::path> known_submissions() {
  std::vector<std::filesystem::path> folders;
  std::ifstream list(list_of_submissions());
  for (std::string line; std::getline(list, line);) {
    std::error_code error;
    if (!std::filesystem::exists(std::filesystem::path(line) / state_name, error)) continue;
    std::erase(folders, std::filesystem::path(line));
    folders.emplace_back(line);
  }
  std::ranges::reverse(folders);
  return folders;
}

std::string array_script(const Submission& submission, const std::string& program) {
  return fmt::format(
      R"sh(#!/bin/bash
# One shard of {shards}: collected on the node's own disk, then moved into place whole. Queue it with
# sbatch --array=1-{shards} FILE; `attnscope jobs` says how far it is.
#SBATCH --job-name={name}
#SBATCH --output={pattern}/%a.log
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@60
{directives}
set -u
shard=$SLURM_ARRAY_TASK_ID
result={folder}/$shard.attnscope
scratch=$(mktemp -d "${{SLURM_TMPDIR:-${{TMPDIR:-/tmp}}}}/attnscope-XXXXXX") || exit 1
part=$scratch/$shard.attnscope
# What an earlier try of this shard left is gone on with.
resume=()
if [ -e "$result" ] && ! {program} check "$result" >/dev/null 2>&1; then mv "$result" "$result.damaged"; fi
if [ -e "$result" ]; then cp "$result" "$part" && resume=(--resume); fi
echo "shard $shard on $(hostname), $(date -u +%FT%TZ), in $scratch"
{program} collect {collect} \
  --shard "$shard/{shards}" --collection {collection} --quiet -o "$part" "${{resume[@]}}" &
child=$!
trap 'kill -TERM "$child"' TERM INT
wait "$child"
code=$?
while kill -0 "$child" 2>/dev/null; do wait "$child"; code=$?; done
# By the program, which knows what a collector that was killed left in its log.
if [ -e "$part" ]; then
  if ! {{ {program} export --format attnscope --force -o "$result.new" "$part" && mv "$result.new" "$result"; }}; then
    echo "not moved into place: what was collected stays in $scratch on $(hostname)"
    exit 1
  fi
fi
rm -rf "$scratch"
exit "$code"
)sh",
      fmt::arg("shards", submission.shards), fmt::arg("name", for_shell(submission.output.stem().string())),
      fmt::arg("folder", for_shell(submission.folder().string())), fmt::arg("pattern", pattern(submission.folder())),
      fmt::arg("directives", directives(submission)), fmt::arg("program", for_shell(program)),
      fmt::arg("collect", for_shell(submission.collect)), fmt::arg("collection", for_shell(submission.submitted_at)));
}

std::string merge_script(const Submission& submission, const std::string& program) {
  return fmt::format(R"sh(#!/bin/bash
# Joins what the shards found; of those that are missing it says so, and merges again when they are there.
#SBATCH --job-name={name}-merge
#SBATCH --output={pattern}/merge.log
#SBATCH --open-mode=append
{directives}
set -u
shopt -s nullglob
result={output}
merged={folder}/merged.${{SLURM_JOB_ID:-$$}}.new
trap 'rm -f "$merged"' EXIT
# What a person said of the merged run stays.
earlier=()
if [ -e "$result" ]; then earlier=("$result"); fi
{program} merge --skip-damaged {folder}/*.attnscope "${{earlier[@]}}" -o "$merged"
code=$?
if [ -e "$merged" ]; then mv "$merged" "$result" || code=1; fi
exit "$code"
)sh",
                     fmt::arg("name", for_shell(submission.output.stem().string())),
                     fmt::arg("folder", for_shell(submission.folder().string())),
                     fmt::arg("pattern", pattern(submission.folder())), fmt::arg("directives", directives(submission)),
                     fmt::arg("program", for_shell(program)),
                     fmt::arg("output", for_shell(submission.output.string())));
}

std::string hosts_script(const Submission& submission, const std::string& program) {
  std::vector<std::string> devices;
  for (const std::string& host : submission.hosts) devices.push_back("ssh:" + host);
  return fmt::format(R"sh(#!/bin/bash
# The hosts share one plan over ssh; what was stopped goes on when this is run again.
exec {program} collect {collect} \
  --device {devices} --resume --quiet -o {output} >>{folder}/hosts.log 2>&1 </dev/null
)sh",
                     fmt::arg("program", for_shell(program)), fmt::arg("collect", for_shell(submission.collect)),
                     fmt::arg("devices", for_shell(fmt::format("{}", fmt::join(devices, ",")))),
                     fmt::arg("output", for_shell(submission.output.string())),
                     fmt::arg("folder", for_shell(submission.folder().string())));
}

std::string whole_path_of_program() {
  return std::filesystem::read_symlink(own_program).string();
}

void write_script(const std::filesystem::path& file, const std::string& text) {
  std::ofstream out(file);
  out << text;
  out.close();
  if (!out) {
    throw CommandError(ExitCode::error,
                       say::submit::no_folder{.folder = file.parent_path().string(), .error = "not written"});
  }
  std::filesystem::permissions(file, std::filesystem::perms::owner_exec, std::filesystem::perm_options::add);
}

Submission::Queued queue_shards(Submission& submission, const std::string& shards) {
  // Anew, for the folder may have been moved, and the program too.
  write_script(submission.folder() / "shard.sh", array_script(submission, whole_path_of_program()));
  write_script(submission.folder() / "merge.sh", merge_script(submission, whole_path_of_program()));
  Submission::Queued queued;
  if (!shards.empty()) {
    queued.array = slurm::queue_job({"--array=" + shards}, submission.folder() / "shard.sh");
    submission.queued.push_back(queued);
    save(submission);  // known, whatever becomes of the next
  } else {
    submission.queued.push_back(queued);
  }
  // One merge at a time, whoever queued it.
  const std::string after = queued.array.empty() ? "singleton" : "afterany:" + queued.array + ",singleton";
  queued.merge = slurm::queue_job({"--dependency=" + after}, submission.folder() / "merge.sh");
  submission.queued.back() = queued;
  save(submission);
  return queued;
}

std::optional<RunSummary> run_in(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return std::nullopt;
  try {
    std::vector<RunSummary> runs = RunStore::open(file, RunStore::Mode::read_only).runs();
    if (!runs.empty()) return std::move(runs.front());
  } catch (const StorageError&) {  // one that is being moved into place, or damaged: no result
  }
  return std::nullopt;
}

}  // namespace attnscope
