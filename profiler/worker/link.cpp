// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <utility>

#include "profiler/worker/link.h"
#include "profiler/worker/protocol.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): not everywhere in unistd.h

namespace attnscope::worker {
namespace {

constexpr std::size_t max_stderr_bytes = 4096;
constexpr std::chrono::milliseconds exit_timeout{2'000};

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }
  void close() {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool open() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

bool is_socket(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && S_ISSOCK(status.st_mode);
}

/// Link over descriptors, to a child process or to a peer that already runs.
class StreamLink : public Link {
 public:
  StreamLink(pid_t child, Descriptor input, Descriptor output, Descriptor errors)
      : child_(child), input_(std::move(input)), output_(std::move(output)), errors_(std::move(errors)) {}
  StreamLink(Descriptor input, Descriptor output) : StreamLink(-1, std::move(input), std::move(output), {}) {}
  StreamLink(const StreamLink&) = delete;
  StreamLink& operator=(const StreamLink&) = delete;

  ~StreamLink() override {
    input_.close();                                             // EOF tells the child to end
    if (!wait_for_end(exit_timeout)) ::kill(-child_, SIGKILL);  // including its children
    if (child_ > 0) ::waitpid(child_, nullptr, 0);
  }

  bool send(std::string_view line) override {
    unsent_.append(line).push_back('\n');
    return send_more();
  }

  ReceiveStatus receive(std::string& line, std::chrono::milliseconds patience) override {
    const auto until = std::chrono::steady_clock::now() + patience;
    for (;;) {
      if (!lines_.empty()) {
        line = std::move(lines_.front());
        lines_.pop_front();
        return ReceiveStatus::line;
      }
      if (!output_.open()) return ReceiveStatus::end;
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
      std::array<pollfd, 3> watched{{{output_.number(), POLLIN, 0},
                                     {errors_.number(), POLLIN, 0},
                                     {unsent_.empty() ? -1 : input_.number(), POLLOUT, 0}}};
      const int ready = ::poll(watched.data(), watched.size(), static_cast<int>(std::max<long>(0, left.count())));
      if (ready < 0 && errno != EINTR) return ReceiveStatus::end;
      if (ready > 0 && watched[1].revents != 0) read_stderr();
      if (ready > 0 && watched[2].revents != 0 && !send_more()) unsent_.clear();  // EOF on its output follows
      if (ready > 0 && watched[0].revents != 0) read_stdout();
      // Also checked while the child sends incomplete lines.
      if (lines_.empty() && output_.open() && left.count() <= 0) return ReceiveStatus::nothing;
    }
  }

  void kill_peer() override {
    if (child_ > 0) ::kill(-child_, SIGKILL);
    if (has_child_) return;
    input_.close();
    output_.close();
  }

  ExitStatus end() override {
    input_.close();
    while (errors_.open() && read_stderr()) {
    }
    ExitStatus end;
    const bool ended = has_child_ && wait_for_end(exit_timeout);
    if (ended && WIFEXITED(status_)) end.exit_code = WEXITSTATUS(status_);
    if (ended && WIFSIGNALED(status_)) end.signal = WTERMSIG(status_);
    end.stderr_tail = words_;
    return end;
  }

 private:
  /// Sends as much as the child accepts now; receive() sends the rest. Returns false if the child has closed its input.
  bool send_more() {
    while (!unsent_.empty()) {
      // Children have a socket instead of a pipe, so that a closed peer gives an error instead of SIGPIPE.
      const ssize_t sent = is_socket_
                               ? ::send(input_.number(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL | MSG_DONTWAIT)
                               : ::write(input_.number(), unsent_.data(), unsent_.size());
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) return errno == EAGAIN;
      unsent_.erase(0, static_cast<std::size_t>(sent));
    }
    return true;
  }

  void read_stdout() {
    std::array<char, 65'536> buffer{};
    const ssize_t length = ::read(output_.number(), buffer.data(), buffer.size());
    if (length < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (length <= 0) {
      // The last line of a file or a user may lack its newline; that of a child that ended is incomplete.
      if (!has_child_ && !partial_line_.empty()) lines_.push_back(std::move(partial_line_));
      return output_.close();
    }
    partial_line_.append(buffer.data(), static_cast<std::size_t>(length));
    std::size_t from = 0;
    for (std::size_t end = partial_line_.find('\n'); end != std::string::npos; end = partial_line_.find('\n', from)) {
      lines_.push_back(partial_line_.substr(from, end - from));
      from = end + 1;
    }
    partial_line_.erase(0, from);
    if (partial_line_.size() > max_line_length) output_.close();  // longer than any valid line
  }

  /// Returns false if nothing can be read now.
  bool read_stderr() {
    pollfd watched{errors_.number(), POLLIN, 0};
    if (::poll(&watched, 1, 0) <= 0) return false;
    std::array<char, 4096> buffer{};
    const ssize_t length = ::read(errors_.number(), buffer.data(), buffer.size());
    if (length <= 0) {
      errors_.close();
      return false;
    }
    words_.append(buffer.data(), static_cast<std::size_t>(length));
    if (words_.size() > max_stderr_bytes) words_.erase(0, words_.size() - max_stderr_bytes);
    return true;
  }

  bool wait_for_end(std::chrono::milliseconds patience) {
    const auto until = std::chrono::steady_clock::now() + patience;
    while (child_ > 0) {
      if (::waitpid(child_, &status_, WNOHANG) == child_) {
        child_ = -1;
        break;
      }
      if (std::chrono::steady_clock::now() >= until) return false;
      ::poll(nullptr, 0, 5);
    }
    return true;
  }

  pid_t child_;  ///< -1: none, or it has ended
  Descriptor input_;
  Descriptor output_;
  Descriptor errors_;
  bool has_child_ = child_ > 0;
  bool is_socket_ = is_socket(input_.number());
  std::string unsent_;
  std::string partial_line_;
  std::deque<std::string> lines_;
  std::string words_;
  int status_ = 0;
};

}  // namespace

std::string last_line(std::string_view words) {
  while (!words.empty() && (words.back() == '\n' || words.back() == '\r' || words.back() == ' ' || words.back() == '.'))
    words.remove_suffix(1);
  const std::size_t newline = words.rfind('\n');
  return std::string(newline == std::string_view::npos ? words : words.substr(newline + 1));
}

Result<std::unique_ptr<Link>, std::string> start_child(std::vector<std::string> words) {
  std::array<Descriptor, 3> ours;  // ends of the child's input (a socket), output and errors
  std::array<Descriptor, 3> theirs;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    std::array<int, 2> ends{-1, -1};
    if ((i == STDIN_FILENO ? ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data())
                           : ::pipe2(ends.data(), O_CLOEXEC)) != 0)
      return Failure<std::string>{std::strerror(errno)};
    ours.at(i) = Descriptor(ends[0]);
    theirs.at(i) = Descriptor(ends[1]);
  }
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  for (std::size_t i = 0; i < theirs.size(); ++i)
    ::posix_spawn_file_actions_adddup2(&files, theirs.at(i).number(), static_cast<int>(i));
  // Own process group: Ctrl-C reaches only the parent, which then ends the link.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  ::posix_spawnattr_setpgroup(&attributes, 0);

  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = -1;
  const int failed = ::posix_spawnp(&child, arguments.front(), &files, &attributes, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  if (failed != 0) return Failure<std::string>{std::strerror(failed)};
  return std::unique_ptr<Link>(
      std::make_unique<StreamLink>(child, std::move(ours[0]), std::move(ours[1]), std::move(ours[2])));
}

Result<std::unique_ptr<Link>, std::string> connect_descriptors(int in, int out) {
  for (const int each : {in, out}) {
    if (::fcntl(each, F_SETFD, FD_CLOEXEC) != 0) return Failure<std::string>{std::strerror(errno)};
  }
  Descriptor output(in);
  Descriptor input(in == out ? ::fcntl(out, F_DUPFD_CLOEXEC, 3) : out);
  if (::fcntl(input.number(), F_SETFL, ::fcntl(input.number(), F_GETFL) | O_NONBLOCK) != 0)
    return Failure<std::string>{std::strerror(errno)};
  return std::unique_ptr<Link>(std::make_unique<StreamLink>(std::move(input), std::move(output)));
}

}  // namespace attnscope::worker
