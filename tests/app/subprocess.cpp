// SPDX-License-Identifier: Apache-2.0
#include "subprocess.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

namespace attnscope::testing {
namespace {

/// Returns true if the process runs and has not yet received the signal.
bool is_pending(pid_t pid, int signal) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string key, value; status >> key && std::getline(status, value);) {
    if (key == "State:" && value.find_first_of("ZXT") != std::string::npos) return false;
    if (key == "ShdPnd:") return (std::stoull(value, nullptr, 16) >> (static_cast<unsigned>(signal) - 1U) & 1U) != 0;
  }
  return false;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  result.reserve(words.size() + 1);
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

/// Limits the file size of children started in its scope.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(std::optional<rlim_t> bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    if (!bytes) return;
    const rlimit limit{*bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
};

}  // namespace

Process::Process(const TemporaryFolder& folder, const std::vector<std::string>& arguments, const Options& options)
    : errors_(folder / "stderr.txt") {
  std::signal(SIGPIPE, SIG_IGN);  // a child that ended early is detected by its exit code
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  if (options.narrow_pipe) ::fcntl(out[1], F_SETPIPE_SZ, 4096);

  posix_spawn_file_actions_t actions{};
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  if (options.stdout_file) {
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, options.stdout_file->c_str(), O_WRONLY, 0600);
  } else {
    ::posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  }
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);

  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    variables[text.substr(0, equals)] = text.substr(equals + 1);
  }
  variables["LC_ALL"] = "C.UTF-8";  // messages in English in every locale
  variables["HOME"] = folder.path().string();
  variables["XDG_DATA_HOME"] = (folder / "data").string();
  variables["XDG_CACHE_HOME"] = (folder / "cache").string();
  for (const auto& [name, value] : options.environment) variables[name] = value;
  std::vector<std::string> environment;
  environment.reserve(variables.size());
  for (const auto& [name, value] : variables) environment.push_back(std::string(name).append("=").append(value));

  std::vector<std::string> words{"attnscope"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  for (const std::string& word : words) command_ += (command_.empty() ? "" : " ") + word;
  int error = 0;
  {
    const FileSizeLimit limit(options.file_size_limit);
    error = ::posix_spawn(&pid_, options.program.c_str(), &actions, nullptr, pointers(words).data(),
                          pointers(environment).data());
  }
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(in[0]);
  ::close(out[1]);
  stdin_ = in[1];
  stdout_ = out[0];
  if (error != 0) throw std::runtime_error("cannot start " + options.program.string());
}

Process::~Process() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  close_stdin();
  close_stdout();
}

std::optional<std::string> Process::read_line() {
  for (;;) {
    if (const std::size_t end = buffer_.find('\n'); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    std::array<char, 512> piece{};
    const ssize_t length = ::read(stdout_, piece.data(), piece.size());
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) return std::nullopt;
    buffer_.append(piece.data(), static_cast<std::size_t>(length));
  }
}

void Process::write(const std::string& text) {
  if (::write(stdin_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    throw std::runtime_error("the child does not read");
  }
}

void Process::close_stdin() {
  if (stdin_ >= 0) ::close(stdin_);
  stdin_ = -1;
}

void Process::close_stdout() {
  if (stdout_ >= 0) ::close(stdout_);
  stdout_ = -1;
}

void Process::send(int signal) const {
  ::kill(pid_, signal);
  // Output that is read from here on was written after the delivery.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (is_pending(pid_, signal) && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
}

Outcome Process::wait() {
  Outcome outcome;
  while (const std::optional<std::string> line = read_line()) outcome.out += *line + "\n";
  outcome.out += buffer_;
  close_stdin();
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  std::ostringstream text;
  text << std::ifstream(errors_).rdbuf();
  outcome.err = text.str();
  outcome.command = command_;
  return outcome;
}

Outcome run(const TemporaryFolder& folder, const std::vector<std::string>& arguments, const Process::Options& options) {
  Process process(folder, arguments, options);
  return process.wait();
}

}  // namespace attnscope::testing
