// SPDX-License-Identifier: Apache-2.0
// Damages measurement files at random (bytes, pages, rows) and runs all readers on them. A case fails if a reader
// crashes, takes longer than 10 s or more than 512 MiB, or returns different content without an error. The damaged file
// is then kept.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "cases.h"
#include "damages.h"
#include "storage/exchange/export.h"
#include "storage/merge.h"
#include "storage/run_store.h"
#include "tests/storage/samples.h"

namespace attnscope::testing {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr unsigned max_seconds = 10;
constexpr rlim_t most_bytes = rlim_t{512} << 20;

struct Options {
  std::uint64_t seed = 0;
  std::size_t first = 0;
  std::size_t count = 100;
  double hours = 0;
  unsigned jobs = 1;
  std::string file;
  std::string keep = "kept-cases";
};

/// All exports as text, without the creation time.
std::string exported(const RunStore& store) {
  std::ostringstream all;
  export_csv(store, {}, all);
  export_long_csv(store, {}, all);
  std::ostringstream json;
  export_json(store, {}, json);
  std::string text = std::move(json).str();
  if (const std::size_t at = text.find("\"created_at\""); at != std::string::npos)
    text.erase(at, text.find('\n', at) - at);
  return std::move(all).str() + text;
}

// Readers

enum Verdict : int { same = 0, reported = 10, wrong = 11, threw = 12 };

/// Returns `same` if the content equals the original, `reported` if damage was reported.
Verdict judge(const RunStore& store, const std::string& expected) {
  const bool equal = exported(store) == expected;
  const bool complained = !store.invalid_rows().empty() || !store.check_structure().empty();
  return complained ? reported : equal ? same : wrong;
}

Verdict read_all(const fs::path& file, const std::string& expected) {
  return judge(RunStore::open(file, RunStore::Mode::read_only), expected);
}

Verdict check_readable(const fs::path& file, const std::string& /*expected*/) {
  return check_file(file).ok() ? same : reported;
}

/// Copies have their own order of runs and metrics.
std::string exported_copy(const fs::path& file) {
  const fs::path copy = file.string() + ".copy.attnscope";
  fs::remove(copy);
  write_compact_copy({file}, copy);
  const RunStore store = RunStore::open(copy, RunStore::Mode::read_only);
  return store.invalid_rows().empty() ? exported(store) : std::string();
}

/// A compact copy does not report bad rows of its source.
Verdict copy_compact(const fs::path& file, const std::string& expected) {
  return exported_copy(file) == expected ? same : wrong;
}

/// Appends a run; must be the last reader.
Verdict collect_into(const fs::path& file, const std::string& expected) {
  RunStore store = RunStore::open(file, RunStore::Mode::collect);
  const Verdict before = judge(store, expected);
  const std::int64_t run = store.begin_run(full_header());
  store.add_point(run, 0, full_record());
  store.finish_run(run, StoredRunState::complete);
  return before;
}

struct FileReader {
  const char* name;
  Verdict (*read)(const fs::path&, const std::string&);
  bool copies = false;
};
constexpr FileReader readers[] = {
    {"read", read_all}, {"check", check_readable}, {"copy", copy_compact, true}, {"collect", collect_into}};
constexpr std::size_t reader_count = std::size(readers);

// Cases, run by processes with shared counters

/// Progress of one worker in its case.
struct Progress {
  std::size_t reader = 0;
  std::array<int, reader_count> verdicts{};
};

struct Counts {
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> done{0};
  std::atomic<std::size_t> unaffected{0};
  std::atomic<std::size_t> failed{0};
};

template <class T>
T* shared(std::size_t count = 1) {
  void* const memory = ::mmap(nullptr, sizeof(T) * count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  T* const objects = static_cast<T*>(memory);
  for (std::size_t i = 0; i < count; ++i) new (objects + i) T;
  return objects;
}

void limit_memory() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // sanitizer shadow memory alone exceeds the limit
  const rlimit limit{most_bytes, most_bytes};
  ::setrlimit(RLIMIT_AS, &limit);
#endif
}

struct Expected {
  std::string content;
  std::string copy;  ///< Content of a compact copy.

  [[nodiscard]] const std::string& of(const FileReader& reader) const { return reader.copies ? copy : content; }
};

/// Runs the readers from `progress.reader` on in this process.
[[noreturn]] void run_readers(const fs::path& file, const Expected& expected, Progress& progress) {
  limit_memory();
  for (; progress.reader < reader_count; ++progress.reader) {
    const FileReader& reader = readers[progress.reader];
    ::alarm(max_seconds);
    int verdict = threw;
    try {
      verdict = reader.read(file, expected.of(reader));
    } catch (const FileError&) {
      verdict = reported;
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}: {}\n", reader.name, error.what());
    }
    progress.verdicts[progress.reader] = verdict;
  }
  std::fflush(nullptr);
  ::_exit(0);
}

std::optional<std::string> process_failure(const FileReader& reader, int verdict) {
  switch (verdict) {
    case same:
    case reported:
      return std::nullopt;
    case wrong:
      return fmt::format("{} returns different content without an error", reader.name);
    default:
      return fmt::format("{} throws an unexpected exception", reader.name);
  }
}

/// Runs the readers on the file in a child process; after a crash, continues in another one.
std::vector<std::string> failures_of(const fs::path& file, const Expected& expected, Progress& progress) {
  progress = {};
  std::vector<std::string> failures;
  while (progress.reader < reader_count) {
    std::fflush(nullptr);  // avoid duplicate output from the child
    const std::size_t from = progress.reader;
    const pid_t child = ::fork();
    if (child < 0) throw std::runtime_error("fork failed");
    if (child == 0) run_readers(file, expected, progress);
    int status = 0;
    ::waitpid(child, &status, 0);
    for (std::size_t i = from; i < progress.reader; ++i) {
      if (auto failure = process_failure(readers[i], progress.verdicts[i])) failures.push_back(*failure);
    }
    if (progress.reader == reader_count) break;
    const FileReader& ended = readers[progress.reader];
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    failures.push_back(signal == SIGALRM ? fmt::format("{} takes longer than {} s", ended.name, max_seconds)
                                         : fmt::format("{} crashes (signal {})", ended.name, signal));
    progress.verdicts[progress.reader++] = threw;
  }
  return failures;
}

struct Campaign {
  const Options& options;
  std::string whole;
  Expected expected;
  Clock::time_point end;  ///< No case starts later, except for the first `count`.

  void run_case(const fs::path& folder, std::size_t index, Progress& progress, Counts& counts) const {
    Random random = random_of_case(options.seed, index);
    const fs::path file = folder / fmt::format("{}-{}.attnscope", options.seed, index);
    damage(file, whole, random);
    const std::string damaged = content(file);
    const std::vector<std::string> failures = failures_of(file, expected, progress);
    if (progress.verdicts[0] == same) ++counts.unaffected;
    if (!failures.empty()) {
      fs::create_directories(options.keep);
      const fs::path kept = fs::path(options.keep) / file.filename();
      write(kept, damaged);
      for (const std::string& what : failures) fmt::print("case {}: {}; kept as {}\n", index, what, kept.string());
      std::fflush(stdout);
    }
    counts.failed += failures.size();
    ++counts.done;
    for (const auto& entry : fs::directory_iterator(folder)) fs::remove(entry.path());
  }

  void work(Progress& progress, Counts& counts) const {
    const TemporaryFolder folder;
    for (;;) {
      const std::size_t n = counts.next++;
      if (n >= options.count && Clock::now() >= end) return;
      run_case(folder.path(), options.first + n, progress, counts);
    }
  }
};

Campaign prepared(const Options& options) {
  const TemporaryFolder folder;
  const fs::path whole = folder / "whole.attnscope";
  if (options.file.empty()) {
    write_whole(whole);
  } else {
    fs::copy_file(options.file, whole);
    fs::permissions(whole, fs::perms::owner_all);
  }
  const auto hours = std::chrono::duration<double, std::ratio<3600>>(options.hours);
  return {.options = options,
          .whole = content(whole),
          .expected = {exported(RunStore::open(whole, RunStore::Mode::read_only)), exported_copy(whole)},
          .end = Clock::now() + std::chrono::duration_cast<Clock::duration>(hours)};
}

int run(const Options& options) {
  const Campaign campaign = prepared(options);
  fmt::print("seed {}: {} files from case {}, {} bytes each, {} jobs\n", options.seed, options.count, options.first,
             campaign.whole.size(), options.jobs);
  std::fflush(nullptr);
  auto* const counts = shared<Counts>();
  auto* const progress = shared<Progress>(options.jobs);
  std::vector<pid_t> workers;
  for (unsigned job = 0; job < options.jobs; ++job) {
    const pid_t worker = ::fork();
    if (worker < 0) throw std::runtime_error("fork failed");
    if (worker > 0) {
      workers.push_back(worker);
      continue;
    }
    int code = 0;
    try {
      campaign.work(progress[job], *counts);
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}\n", error.what());
      code = 1;
    }
    std::fflush(nullptr);
    ::_exit(code);
  }
  bool all_completed = true;
  for (const pid_t worker : workers) {
    int status = 0;
    ::waitpid(worker, &status, 0);
    all_completed = all_completed && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  fmt::print("{} files, {} unaffected, {} failures\n", counts->done.load(), counts->unaffected.load(),
             counts->failed.load());
  if (!all_completed) fmt::print("a worker process failed: not all cases were run\n");
  return all_completed && counts->failed == 0 ? 0 : 1;
}

}  // namespace

int damage_files(int argc, char** argv) {
  Options options;
  options.seed = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) % 1'000'000;
  CLI::App app("Damages measurement files at random and runs all readers on them.");
  app.add_option("--seed", options.seed, "Seed of the cases (default: from the clock)");
  app.add_option("--first", options.first, "First case")->capture_default_str();
  app.add_option("--count", options.count, "Number of files")->capture_default_str();
  app.add_option("--hours", options.hours, "Minimum duration in hours");
  app.add_option("--jobs", options.jobs, "Concurrent cases; does not change them")
      ->check(CLI::Range(1U, 1024U))
      ->capture_default_str();
  app.add_option("--file", options.file, "File to damage copies of (default: a generated file)");
  app.add_option("--keep", options.keep, "Folder for damaged files of failed cases")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return run(options);
}

}  // namespace attnscope::testing
