// SPDX-License-Identifier: Apache-2.0
// A cluster of two nodes on this machine: Slurm's own daemons on the loopback, with configuration, keys and state of
// the test's own.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace attnscope::hosts {

class LocalSlurm {
 public:
  /// Its files are in `folder`. Where Slurm or munge is missing, or does not run here, why_not() says so.
  explicit LocalSlurm(std::filesystem::path folder);
  ~LocalSlurm();
  LocalSlurm(const LocalSlurm&) = delete;
  LocalSlurm& operator=(const LocalSlurm&) = delete;

  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  /// What Slurm's commands have to find in their environment.
  [[nodiscard]] std::map<std::string, std::string> environment() const;
  /// The lines that a command of Slurm's says.
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
