// SPDX-License-Identifier: Apache-2.0
// Runs the program under test as a child process.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"

namespace attnscope::testing {

struct Outcome {
  int exit_code = -1;  ///< negative: ended by this signal
  std::string out;     ///< output not yet read by read_line()
  std::string err;
  std::string command = {};  ///< arguments
};

class Process {
 public:
  struct Options {
    std::map<std::string, std::string> environment = {};  ///< added to the test's environment
    std::optional<rlim_t> file_size_limit = {};           ///< bytes; simulates a full disk
    std::filesystem::path program = ATTNSCOPE_PROGRAM;
    std::optional<std::filesystem::path> stdout_file = {};  ///< instead of a pipe
    bool narrow_pipe = false;  ///< stdout holds 4 KiB: the child cannot run far ahead of its reader
  };

  /// `folder`: HOME, XDG folders and cache of the child.
  Process(const TemporaryFolder& folder, const std::vector<std::string>& arguments, const Options& options);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Returns the next line of stdout; nullopt at its end.
  std::optional<std::string> read_line();
  void write(const std::string& text);
  void close_stdin();
  void close_stdout();
  void send(int signal) const;
  [[nodiscard]] pid_t id() const { return pid_; }
  /// Reads the rest of stdout, then waits. Closes stdin after stdout has ended.
  Outcome wait();

 private:
  pid_t pid_ = -1;
  int stdin_ = -1;
  int stdout_ = -1;
  std::string buffer_;
  std::filesystem::path errors_;
  std::string command_;
};

/// Runs `attnscope arguments...` to its end with empty stdin.
Outcome run(const TemporaryFolder& folder, const std::vector<std::string>& arguments,
            const Process::Options& options = {});

}  // namespace attnscope::testing
