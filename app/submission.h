// SPDX-License-Identifier: Apache-2.0
// A plan that was handed to a cluster in shards: a folder beside the result, with the scripts, what was asked for, and
// a file a shard.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "storage/run_store.h"

namespace attnscope {

struct Submission {
  /// What one call of sbatch queued: an array of shards, and the job that merges after it.
  struct Queued {
    std::string array;
    std::string merge;
  };
  std::filesystem::path output;  ///< of the merged run; absolute
  int shards = 0;                ///< 0: of hosts, whose collector writes `output` itself
  std::vector<std::string> hosts = {};
  std::vector<std::string> collect = {};  ///< options of collect
  std::vector<std::string> sbatch = {};   ///< options of sbatch
  std::string submitted_at = {};          ///< ISO 8601, UTC
  std::vector<Queued> queued = {};

  [[nodiscard]] std::filesystem::path folder() const { return folder_of(output); }
  [[nodiscard]] std::filesystem::path shard_file(int shard) const;
  [[nodiscard]] static std::filesystem::path folder_of(const std::filesystem::path& output);
};

/// What submit wrote; remembered for known_submissions(). Throws CommandError.
void save(const Submission&);
/// Of the file that `submit -o` was given, or of its folder. Throws CommandError.
[[nodiscard]] Submission load_submission(const std::filesystem::path&);
/// Those whose folder is still there, the newest first.
[[nodiscard]] std::vector<std::filesystem::path> known_submissions();

/// The scripts, with the program by its whole path. Nothing in them is secret: of the environment they name variables.
[[nodiscard]] std::string array_script(const Submission&, const std::string& program);
[[nodiscard]] std::string merge_script(const Submission&, const std::string& program);
[[nodiscard]] std::string hosts_script(const Submission&, const std::string& program);

/// This program, as other processes find it.
[[nodiscard]] std::string whole_path_of_program();
/// Throws CommandError.
void write_script(const std::filesystem::path& file, const std::string& text);

/// Queues these shards ("1-8", "2,5"; none) and the job that merges after them, and saves it. Throws CommandError.
Submission::Queued queue_shards(Submission&, const std::string& shards);

/// How far a shard's file, or the hosts', is; nothing where there is none that can be read.
[[nodiscard]] std::optional<RunSummary> run_in(const std::filesystem::path&);

}  // namespace attnscope
