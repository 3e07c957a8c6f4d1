// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/ssh.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

namespace attnscope::worker {
namespace {

constexpr std::size_t max_target_bytes = 512;
/// ssh's own exit code; the other two are those of a shell that cannot run a command.
constexpr int ssh_failed = 255;
constexpr int not_executable = 126;
constexpr int not_found = 127;

/// Characters that are safe inside double quotes in any shell.
bool is_plain(std::string_view text, std::string_view also) {
  return std::ranges::all_of(text, [also](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           also.find(c) != std::string_view::npos;
  });
}

/// ssh command line. `script` is run by sh regardless of the login shell; it must not contain single quotes.
std::vector<std::string> ssh_command(const SshTarget& target, const std::string& script) {
  std::vector<std::string> words{"ssh", "-T"};
  if (const char* config = std::getenv("ATTNSCOPE_SSH_CONFIG"); config != nullptr && *config != '\0') {
    words.insert(words.end(), {"-F", config});
  }
  // BatchMode: the window has no terminal for prompts. The keep-alive detects a dead connection within a minute.
  for (const char* option : {"BatchMode=yes", "ConnectTimeout=15", "ServerAliveInterval=15", "ServerAliveCountMax=4"}) {
    words.insert(words.end(), {"-o", option});
  }
  words.insert(words.end(), {"--", target.host, fmt::format("exec sh -c '{}'", script)});
  return words;
}

Message explain_ssh(const SshTarget& target, const Link::ExitStatus& end) {
  const std::string words = last_line(end.stderr_tail);
  const auto says = [&](std::string_view text) { return end.stderr_tail.find(text) != std::string::npos; };
  if (says("Host key verification failed") || says("REMOTE HOST IDENTIFICATION HAS CHANGED")) {
    return make_message("{0}: unknown or changed host key (run 'ssh {0}' once and check the key): {1}", target.host,
                        words);
  }
  if (says("Permission denied") || says("Too many authentication failures")) {
    return make_message(
        "{0}: login needs a key (run 'ssh-copy-id {0}', and 'ssh-add' if the key has a passphrase): {1}", target.host,
        words);
  }
  if (words.empty()) return make_message("cannot connect to {} with ssh (no error message)", target.host);
  return make_message("cannot connect to {} with ssh: {}", target.host, words);
}

}  // namespace

Result<SshTarget, Message> parse_ssh_target(std::string_view word) {
  std::string_view rest = word;
  if (rest.starts_with(ssh_prefix)) rest.remove_prefix(ssh_prefix.size());
  const std::size_t slash = rest.find('/');
  const SshTarget target{.host = std::string(rest.substr(0, slash)),
                         .device = std::string(slash == std::string_view::npos ? "" : rest.substr(slash + 1))};
  const bool is_host_valid = !target.host.empty() && target.host.front() != '-' && is_plain(target.host, "@._-:[]%");
  const bool is_device_valid =
      slash == std::string_view::npos || (!target.device.empty() && target.device.front() != '-' &&
                                          !target.device.starts_with(ssh_prefix) && is_plain(target.device, " :._-#"));
  if (!is_host_valid || !is_device_valid || word.size() > max_target_bytes) {
    return Failure{make_message("'{}' is not a remote device (use ssh:HOST, ssh:USER@HOST or ssh:HOST/DEVICE)", word)};
  }
  return target;
}

Result<std::unique_ptr<Link>, Message> connect(const SshTarget& target, bool counters) {
  // A remote target means its GPU; never simulate instead.
  std::string script =
      fmt::format("exec attnscope worker --device \"{}\"", target.device.empty() ? "gpu" : target.device);
  if (!counters) script += " --no-counters";
  auto link = start_child(ssh_command(target, script));
  if (!link) return Failure{make_message("cannot start ssh: {} (install the OpenSSH client)", link.error())};
  return std::move(link).value();
}

Message explain(const SshTarget& target, const OpenFailure& failure, std::string_view app_version) {
  switch (failure.kind) {
    case OpenFailure::Kind::no_device:
      return make_message("{}: {}", target.host, failure.reason);
    case OpenFailure::Kind::other_version:
      return make_reason("remote.other_version",
                         "attnscope on {} has version {}, this one has {} (install the same version there)",
                         target.host, failure.words, app_version);
    case OpenFailure::Kind::no_answer:
      break;
  }
  const Link::ExitStatus& end = failure.end;
  const std::string words = last_line(end.stderr_tail);
  // A dynamic loader uses the same exit codes for a missing library or another CPU architecture; copying the program
  // would not help.
  const bool cannot_run = words.find("shared librar") != std::string::npos ||
                          words.find("ormat") != std::string::npos || words.find("GLIBC") != std::string::npos;
  if ((end.exit_code == not_found || end.exit_code == not_executable || end.exit_code == 1) && cannot_run) {
    return make_message("{} cannot run attnscope (requires x86-64 Linux with glibc 2.34 or newer): {}", target.host,
                        words);
  }
  if (end.exit_code == not_found || end.exit_code == not_executable) {
    return make_reason("remote.no_program",
                       "attnscope is not in PATH of {} (copy it there: scp \"$(command -v attnscope)\" {}:bin/)",
                       target.host, target.host);
  }
  if (failure.silent) return make_message("{} did not respond within 90 s", target.host);
  if (end.exit_code == ssh_failed || end.exit_code < 0) return explain_ssh(target, end);
  return make_message("attnscope on {} exited with code {}: {}", target.host, end.exit_code, words);
}

}  // namespace attnscope::worker
