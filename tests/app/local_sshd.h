// SPDX-License-Identifier: Apache-2.0
// This machine as a host that ssh leads to, by an sshd on the loopback with keys, known hosts and configuration of the
// test's own.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace attnscope::hosts {

class LocalSshd {
 public:
  /// Its files are in `folder`. Where there is no sshd, or it does not run here, why_not() says so.
  explicit LocalSshd(std::filesystem::path folder);
  ~LocalSshd();
  LocalSshd(const LocalSshd&) = delete;
  LocalSshd& operator=(const LocalSshd&) = delete;

  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  /// What $ATTNSCOPE_SSH_CONFIG has to be; the host there is "gpubox".
  [[nodiscard]] std::string config() const { return path("config"); }
  /// Below the folder: "there" is the cache of what runs there, "bin" stands in its PATH, "there/pid" is the process
  /// number of the program that ran last.
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// Puts a program into its PATH, as "attnscope".
  void install(const std::string& program) const;
  void install_script(const std::string& script) const;
  /// Logs in with a key that is not let in.
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
