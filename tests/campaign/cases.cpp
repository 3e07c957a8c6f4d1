// SPDX-License-Identifier: Apache-2.0
#include "cases.h"

#include <fmt/format.h>

#include <exception>
#include <iostream>
#include <thread>
#include <vector>

namespace attnscope::testing {

namespace fs = std::filesystem;

void require(bool condition, const std::string& otherwise) {
  if (!condition) throw Wrong(otherwise);
}

fs::path sibling_file(const std::string& name, const fs::path& built) {
  const fs::path beside = fs::read_symlink("/proc/self/exe").parent_path() / name;
  return fs::exists(beside) ? beside : built;
}

void for_each_case(unsigned jobs, const std::function<bool(long)>& more, const std::function<void(long)>& one) {
  std::atomic<long> next = 0;
  std::mutex storing;
  std::exception_ptr error;
  const auto work = [&] {
    try {
      for (long n = next++; more(n); n = next++) one(n);
    } catch (...) {
      const std::lock_guard lock(storing);
      error = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (unsigned job = 1; job < jobs; ++job) others.emplace_back(work);
    work();
  }
  if (error) std::rethrow_exception(error);
}

void CaseReport::failed(const std::string& name, const std::string& what, const fs::path& files) {
  ++failed_;
  std::string kept;
  if (!files.empty()) {
    const std::lock_guard lock(saying_);
    fs::create_directories(keep_);
    fs::remove_all(keep_ / name);
    fs::copy(files, keep_ / name, fs::copy_options::recursive);
    kept = fmt::format(" (kept as {})", (keep_ / name).string());
  }
  say(fmt::format("{}: {}{}\n", name, what, kept));
}

void CaseReport::say(const std::string& line) {
  const std::lock_guard lock(saying_);
  std::cout << line << std::flush;
}

}  // namespace attnscope::testing
