// SPDX-License-Identifier: Apache-2.0
// Cluster of two nodes on this machine: Slurm daemons on the loopback interface with their own configuration, keys and
// state.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace attnscope::hosts {

class LocalSlurm {
 public:
  /// Files are created in `folder`. If Slurm or munge is missing or does not start, why_not() returns the reason.
  explicit LocalSlurm(std::filesystem::path folder);
  ~LocalSlurm();
  LocalSlurm(const LocalSlurm&) = delete;
  LocalSlurm& operator=(const LocalSlurm&) = delete;

  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  /// Environment for Slurm commands.
  [[nodiscard]] std::map<std::string, std::string> environment() const;
  /// Returns the output lines of a Slurm command.
  [[nodiscard]] std::string say(const std::string& command) const;

 private:
  void start(const std::vector<std::string>& words, const std::string& log);
  void write_configuration(const std::string& host) const;
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
  std::vector<pid_t> daemons_;
  std::string why_not_;
};

}  // namespace attnscope::hosts
