// SPDX-License-Identifier: Apache-2.0
// What the campaign's programs have in common: cases that run several at a time, and an account of those that fail.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>

#include "tests/temporary_folder.h"

namespace attnscope::testing {

/// What is wrong with a case.
struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void require(bool condition, const std::string& otherwise);

/// A file that lies in this program's own folder, so that the campaign can be carried to another machine; otherwise
/// `built`, where the build has put it.
[[nodiscard]] std::filesystem::path beside_us(const std::string& name, const std::filesystem::path& built);

/// Cases 0, 1, ... as long as there are more, `jobs` at a time. What a case throws ends them all, and is thrown.
void for_each_case(unsigned jobs, const std::function<bool(long)>& more, const std::function<void(long)>& one);

/// How many cases were tried and how many failed, what each failure was, and the files that it left.
class Account {
 public:
  explicit Account(std::filesystem::path keep) : keep_(std::move(keep)) {}

  void tried() { ++tried_; }
  /// Prints a line; keeps a copy of `files`, a folder, where there is one.
  void failed(const std::string& name, const std::string& what, const std::filesystem::path& files = {});
  void say(const std::string& line);

  /// Points that a process printed before it was disturbed, and those of them that its file lacks.
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

/// The parts of the campaign, each with options of its own; their exit codes.
int kills(int argc, char** argv);
int damage_files(int argc, char** argv);
int show_hostile_files(int argc, char** argv);

}  // namespace attnscope::testing
