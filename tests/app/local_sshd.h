// SPDX-License-Identifier: Apache-2.0
// This machine as an ssh host: an sshd on the loopback interface with its own keys, known hosts and configuration.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace attnscope::hosts {

class LocalSshd {
 public:
  /// Files are created in `folder`. If sshd is missing or does not start, why_not() returns the reason.
  explicit LocalSshd(std::filesystem::path folder);
  ~LocalSshd();
  LocalSshd(const LocalSshd&) = delete;
  LocalSshd& operator=(const LocalSshd&) = delete;

  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  /// Value for $ATTNSCOPE_SSH_CONFIG; the host is "gpubox".
  [[nodiscard]] std::string config() const { return path("config"); }
  /// Folders for the remote side: "there" (cache), "bin" (in PATH), "there/pid" (process number of the last program).
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// Installs a program as "attnscope" in the remote PATH.
  void install(const std::string& program) const;
  void install_script(const std::string& script) const;
  /// Uses a key that is rejected.
  void use_wrong_key() const { write_config("other_key"); }
  void forget_host_key() const;

 private:
  void start();
  void write_config(const std::string& key) const;

  std::filesystem::path folder_;
  int port_ = 0;
  pid_t sshd_ = -1;
  std::string why_not_;
};

[[nodiscard]] std::string read_file(const std::string& file);

}  // namespace attnscope::hosts
