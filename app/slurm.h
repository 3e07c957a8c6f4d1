// SPDX-License-Identifier: Apache-2.0
// Slurm, by its own commands. Nothing here schedules.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "kernels/model/message.h"
#include "kernels/model/result.h"

namespace attnscope::slurm {

/// What a command said: its lines, and how it ended.
struct Said {
  std::vector<std::string> lines;
  int exit_code = -1;
  std::string last_words;  ///< on its standard error, the last line
};
/// Runs a command to its end. The error: it cannot be started.
[[nodiscard]] Result<Said, std::string> run_to_end(const std::vector<std::string>& words);

/// The number of the job that sbatch queued. Throws CommandError: sbatch is not there, or the queue refuses.
[[nodiscard]] std::string queue_job(const std::vector<std::string>& options, const std::filesystem::path& script);

/// What is known of a job, or of a task of its array.
struct JobState {
  std::string state;  ///< "pending", "running", "completed", "cancelled", "failed", "node_fail", "timeout", ...
  std::string node;
  std::string reason;  ///< why it waits

  /// It runs, or will.
  [[nodiscard]] bool alive() const;
};
/// As squeue has it, and beyond what it still knows as sacct has it; where there is no accounting, sacct's silence is
/// no news.
struct States {
  std::map<std::string, JobState> by_job;  ///< "JOB_TASK", or "JOB"
  Message silent;                          ///< why squeue does not answer; empty where it does
};
[[nodiscard]] States states(const std::vector<std::string>& jobs);

/// Throws CommandError.
void cancel(const std::vector<std::string>& jobs);

}  // namespace attnscope::slurm
