// SPDX-License-Identifier: Apache-2.0
#include "tests/app/local_sshd.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "tests/app/loopback.h"

namespace attnscope::hosts {
namespace {

namespace fs = std::filesystem;
constexpr const char* sshd = "/usr/sbin/sshd";

/// Returns the exit code of a command; -1 if it cannot be run.
int ended(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += fmt::format("'{}' ", word);
  const int status = std::system((line + ">/dev/null 2>&1").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void write_file(const fs::path& file, const std::string& text, int mode = 0600) {
  std::ofstream(file) << text;
  ::chmod(file.c_str(), static_cast<mode_t>(mode));
}

std::string user() {
  const passwd* entry = ::getpwuid(::geteuid());
  return entry == nullptr ? "root" : entry->pw_name;
}

}  // namespace

std::string read_file(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

LocalSshd::LocalSshd(fs::path folder) : folder_(std::move(folder)) {
  if (!fs::exists(sshd) || ended({"ssh", "-V"}) != 0) {
    why_not_ = "there is no sshd (openssh-server)";
    return;
  }
  fs::create_directories(folder_);
  for (const char* key : {"host_key", "key", "other_key"}) {
    if (ended({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path(key)}) == 0) continue;
    why_not_ = "ssh-keygen makes no key here";
    return;
  }
  start();
}

LocalSshd::~LocalSshd() {
  if (sshd_ <= 0) return;
  ::kill(sshd_, SIGTERM);
  ::waitpid(sshd_, nullptr, 0);
}

void LocalSshd::start() {
  port_ = find_free_port();
  fs::copy_file(path("key.pub"), path("authorized_keys"));
  write_file(path("known_hosts"), fmt::format("[127.0.0.1]:{} {}", port_, read_file(path("host_key.pub"))));
  write_file(
      path("sshd_config"),
      fmt::format("ListenAddress 127.0.0.1:{}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile {}\nStrictModes no\n"
                  "PasswordAuthentication no\nKbdInteractiveAuthentication no\nUsePAM no\nPermitRootLogin yes\n"
                  // Separate folders for programs started over ssh.
                  "SetEnv XDG_CACHE_HOME={} PATH={}:/usr/bin:/bin\n",
                  port_, path("host_key"), path("authorized_keys"), path("sshd.pid"), path("there"), path("bin")));
  fs::create_directories(path("there"));
  fs::create_directories(path("bin"));
  write_config("key");
  // sshd requires this folder when run as root.
  if (::geteuid() == 0) fs::create_directories("/run/sshd");
  sshd_ = ::fork();
  if (sshd_ == 0) {
    ::execl(sshd, sshd, "-D", "-f", path("sshd_config").c_str(), "-E", path("sshd.log").c_str(), nullptr);
    ::_exit(127);
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!is_port_open(port_) && ::waitpid(sshd_, nullptr, WNOHANG) == 0 &&
         std::chrono::steady_clock::now() < deadline) {
  }
  if (!is_port_open(port_)) why_not_ = "sshd does not run here: " + read_file(path("sshd.log"));
}

void LocalSshd::write_config(const std::string& key) const {
  write_file(path("config"), fmt::format("Host gpubox\n HostName 127.0.0.1\n Port {}\n User {}\n IdentityFile {}\n"
                                         " IdentitiesOnly yes\n UserKnownHostsFile {}\n StrictHostKeyChecking yes\n",
                                         port_, user(), path(key), path("known_hosts")));
}

void LocalSshd::install(const std::string& program) const {
  install_script(fmt::format("echo $$ >'{}'\nexec '{}' \"$@\"\n", path("there/pid"), program));
}

void LocalSshd::install_script(const std::string& script) const {
  write_file(path("bin/attnscope"), "#!/bin/sh\n" + script, 0755);
}

void LocalSshd::forget_host_key() const {
  write_file(path("known_hosts"), "");
}

}  // namespace attnscope::hosts
