// SPDX-License-Identifier: Apache-2.0
// Shared by the campaign's programs: parallel cases and a report of failures.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>

#include "tests/temporary_folder.h"

namespace attnscope::testing {

struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void require(bool condition, const std::string& otherwise);

/// Path of a file in the program's own folder if it exists there (so that the campaign can be copied to another
/// machine), else `built`.
[[nodiscard]] std::filesystem::path sibling_file(const std::string& name, const std::filesystem::path& built);

/// Runs cases 0, 1, ... while `more` returns true, `jobs` at a time. An exception from a case stops all and is
/// rethrown.
void for_each_case(unsigned jobs, const std::function<bool(long)>& more, const std::function<void(long)>& one);

/// Counts cases and failures, prints each failure and keeps its files.
class CaseReport {
 public:
  explicit CaseReport(std::filesystem::path keep) : keep_(std::move(keep)) {}

  void tried() { ++tried_; }
  /// Prints a line and copies `files` (a folder) unless empty.
  void failed(const std::string& name, const std::string& what, const std::filesystem::path& files = {});
  void say(const std::string& line);

  /// Adds points that a process printed before it was disturbed, and how many of them its file lacks.
  void add_announced(std::size_t points, std::size_t lost) {
    announced_ += points;
    lost_ += lost;
  }

  [[nodiscard]] std::size_t announced() const { return announced_; }
  [[nodiscard]] std::size_t lost() const { return lost_; }
  [[nodiscard]] std::size_t cases() const { return tried_; }
  [[nodiscard]] std::size_t failures() const { return failed_; }

 private:
  std::filesystem::path keep_;
  std::mutex saying_;
  std::atomic<std::size_t> tried_ = 0;
  std::atomic<std::size_t> failed_ = 0;
  std::atomic<std::size_t> announced_ = 0;
  std::atomic<std::size_t> lost_ = 0;
};

/// Parts of the campaign; each parses its own options and returns an exit code.
int kills(int argc, char** argv);
int damage_files(int argc, char** argv);
int run_hostile(int argc, char** argv);

}  // namespace attnscope::testing
