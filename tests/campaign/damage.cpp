// SPDX-License-Identifier: Apache-2.0
// Damages a file of measurements at random, in its bytes, its pages and its rows, and has every reader look at it. A
// case fails where a reader crashes, takes longer than ten seconds, or gives another content than the whole file's
// without a word; the damaged file is then kept.
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "storage/check.h"
#include "storage/exchange/export.h"
#include "storage/merge.h"
#include "storage/run_store.h"
#include "tests/storage/samples.h"

namespace attnscope::testing {
namespace {

namespace fs = std::filesystem;
using Random = std::mt19937_64;

constexpr unsigned longest_seconds = 10;
constexpr std::size_t page_bytes = 4096;

struct Options {
  std::uint64_t seed = 0;
  std::size_t first = 0;
  std::size_t count = 100;
  std::string file;
  std::string keep = "kept-cases";
};

std::size_t below(Random& random, std::size_t bound) {
  return bound == 0 ? 0 : std::uniform_int_distribution<std::size_t>(0, bound - 1)(random);
}

std::string content(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return std::move(text).str();
}

void write(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

/// A file with three runs on two devices, of points with several kernels, knobs and clocks among them.
void write_whole(const fs::path& file) {
  RunStore store = RunStore::open(file, RunStore::Mode::collect);
  RunHeader header = full_header();
  for (const char* device : {"GPU-1", "GPU-2", "GPU-1"}) {
    header.device.uuid = device;
    const std::int64_t run = store.begin_run(header);
    for (std::size_t i = 0; i < 25; ++i) {
      PointRecord record = i % 3 == 0 ? full_record() : simple_record(64 + static_cast<std::int64_t>(i));
      record.wall_seconds = static_cast<double>(i) + 0.5;
      store.add_point(run, i, record);
    }
    store.finish_run(run, StoredRunState::complete);
  }
}

/// All that exports say, without the time at which they do.
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

// What is done to the bytes
// --------------------------------------------------------------------------------------------

void flip_bits(std::string& bytes, Random& random) {
  for (std::size_t i = 1 + below(random, 8); i > 0; --i) {
    char& byte = bytes[below(random, bytes.size())];
    byte = static_cast<char>(byte ^ (1 << below(random, 8)));
  }
}

void overwrite_a_stretch(std::string& bytes, Random& random) {
  const std::size_t at = below(random, bytes.size());
  const std::size_t length = std::min(bytes.size() - at, 1 + below(random, 600));
  const bool zero = below(random, 2) == 0;
  for (std::size_t i = 0; i < length; ++i) bytes[at + i] = zero ? '\0' : static_cast<char>(random());
}

/// A page that was never written, or is another one's, or an earlier state of it.
void misplace_a_page(std::string& bytes, Random& random) {
  const std::size_t pages = bytes.size() / page_bytes;
  const std::size_t to = below(random, pages) * page_bytes;
  if (below(random, 3) == 0) {
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(to), page_bytes, '\0');
  } else {
    const std::string page = bytes.substr(below(random, pages) * page_bytes, page_bytes);
    bytes.replace(to, page_bytes, page);
  }
}

void cut(std::string& bytes, Random& random) {
  bytes.resize(below(random, bytes.size()));
}

/// Headers of pages and cells, where lengths and pointers stand.
void change_a_pointer(std::string& bytes, Random& random) {
  const std::size_t page = below(random, bytes.size() / page_bytes) * page_bytes;
  for (std::size_t i = 1 + below(random, 3); i > 0; --i) bytes[page + below(random, 64)] = static_cast<char>(random());
}

// What is done to rows
// -------------------------------------------------------------------------------------------------

std::vector<std::string> texts(SQLite::Database& database, const std::string& sql) {
  std::vector<std::string> found;
  SQLite::Statement query(database, sql);
  while (query.executeStep()) found.push_back(query.getColumn(0).getString());
  return found;
}

const std::vector<std::string> hostile_values{"0",
                                              "-1",
                                              "-7",
                                              "1",
                                              "4294967360",
                                              "9223372036854775807",
                                              "-9223372036854775807 - 1",
                                              "9e999",
                                              "-9e999",
                                              "1e308",
                                              "4.9e-324",
                                              "''",
                                              "'all'",
                                              "'[1e308,1e308]'",
                                              "'[]'",
                                              "'{}'",
                                              "'{\"max_noise\":null}'",
                                              "'lengths:9999999'",
                                              "'blocks:16:random50'",
                                              "CAST(x'61ff62' AS TEXT)",
                                              "CAST(x'610062' AS TEXT)",
                                              "char(27) || '[2J'",
                                              "'=1+1'",
                                              "'<img src=\"file:///dev/zero\">'",
                                              "replace(hex(zeroblob(2000)), '00', 'x')"};

void change_rows(const fs::path& file, Random& random) {
  SQLite::Database database(file.string(), SQLite::OPEN_READWRITE);
  database.exec("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON");
  const std::vector<std::string> tables =
      texts(database, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name");
  for (std::size_t i = 1 + below(random, 3); i > 0; --i) {
    const std::string& table = tables[below(random, tables.size())];
    const std::vector<std::string> columns =
        texts(database, fmt::format("SELECT name FROM pragma_table_info('{}')", table));
    const std::string& column = columns[below(random, columns.size())];
    const std::string one =
        fmt::format("{0} IN (SELECT {0} FROM {1} ORDER BY {0} LIMIT 1 OFFSET {2})", column, table, below(random, 20));
    const std::string value = below(random, 3) == 0 ? fmt::format("{} + {}", column, 1 + below(random, 3))
                                                    : hostile_values[below(random, hostile_values.size())];
    const std::string sql = below(random, 8) == 0
                                ? fmt::format("DELETE FROM {} WHERE {}", table, one)
                                : fmt::format("UPDATE {} SET {} = {} WHERE {}", table, column, value, one);
    try {
      database.exec(sql);
    } catch (const SQLite::Exception&) {  // a type or a key that the table does not take
    }
  }
}

void damage(const fs::path& file, const std::string& whole, Random& random) {
  using Change = void (*)(std::string&, Random&);
  constexpr Change changes[] = {flip_bits, flip_bits, overwrite_a_stretch, misplace_a_page, change_a_pointer, cut};
  const std::size_t kind = below(random, std::size(changes) * 2);
  if (kind >= std::size(changes)) {
    write(file, whole);
    return change_rows(file, random);
  }
  std::string bytes = whole;
  changes[kind](bytes, random);
  write(file, bytes);
}

// Who reads
// ------------------------------------------------------------------------------------------------------------

enum Verdict : int { same = 0, said = 10, wrong = 11, threw = 12 };

/// The content is that of the whole file, or something is said of it.
Verdict judge(const RunStore& store, const std::string& expected) {
  const bool equal = exported(store) == expected;
  const bool complained = !store.bad_rows().empty() || !store.structural_damage().empty();
  return complained ? said : equal ? same : wrong;
}

Verdict read_all(const fs::path& file, const std::string& expected) {
  return judge(RunStore::open(file, RunStore::Mode::read_only), expected);
}

Verdict check_whole(const fs::path& file, const std::string& /*expected*/) {
  return check_file(file).ok() ? same : said;
}

/// What comes out is whole, and all that was there or less with a word.
Verdict repair_and_check(const fs::path& file, const std::string& expected) {
  const fs::path saved = file.string() + ".saved";
  fs::remove(saved);
  const Salvage salvage = repair_file(file, saved);
  const FileCheck check = check_file(saved);
  if (!check.ok()) return wrong;
  if (!salvage.left.empty()) return said;
  return exported(RunStore::open(saved, RunStore::Mode::read_only)) == expected ? same : wrong;
}

/// A copy numbers runs and metrics in an order of its own.
std::string exported_copy(const fs::path& file) {
  const fs::path copy = file.string() + ".copy.attnscope";
  fs::remove(copy);
  write_compact_copy({file}, copy);
  const RunStore store = RunStore::open(copy, RunStore::Mode::read_only);
  return store.bad_rows().empty() ? exported(store) : std::string();
}

/// Copies into one file, which says nothing of where its rows come from.
Verdict copy_whole(const fs::path& file, const std::string& expected) {
  return exported_copy(file) == expected ? same : wrong;
}

/// Goes on in the file, last of all.
Verdict collect_into(const fs::path& file, const std::string& expected) {
  RunStore store = RunStore::open(file, RunStore::Mode::collect);
  const Verdict before = judge(store, expected);
  const std::int64_t run = store.begin_run(full_header());
  store.add_point(run, 0, full_record());
  store.finish_run(run, StoredRunState::complete);
  return before;
}

struct ReaderOfFiles {
  const char* name;
  Verdict (*read)(const fs::path&, const std::string&);
  bool copies = false;
};
constexpr ReaderOfFiles readers[] = {{"read", read_all},
                                     {"check", check_whole},
                                     {"repair", repair_and_check},
                                     {"copy", copy_whole, true},
                                     {"collect", collect_into}};

/// In a process of its own, which may crash or hang: what became of it, empty where all is well.
std::string outcome_of(const ReaderOfFiles& reader, const fs::path& file, const std::string& expected, bool& silent) {
  std::fflush(nullptr);  // or the child says again what was said
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(longest_seconds);
    int code = threw;
    try {
      code = reader.read(file, expected);
    } catch (const StorageError&) {
      code = said;
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}: {}\n", reader.name, error.what());
    }
    std::fflush(nullptr);
    ::_exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  silent = WIFEXITED(status) && WEXITSTATUS(status) == same;
  if (WIFSIGNALED(status)) {
    return WTERMSIG(status) == SIGALRM ? fmt::format("{} takes over {} s", reader.name, longest_seconds)
                                       : fmt::format("{} crashes (signal {})", reader.name, WTERMSIG(status));
  }
  if (WEXITSTATUS(status) == wrong) return fmt::format("{} gives another content without a word", reader.name);
  if (WEXITSTATUS(status) != same && WEXITSTATUS(status) != said) {
    return fmt::format("{} throws what is no error of storage", reader.name);
  }
  return {};
}

int campaign(const Options& options) {
  const TemporaryFolder folder;
  const fs::path whole = folder / "whole.attnscope";
  if (options.file.empty()) {
    write_whole(whole);
  } else {
    fs::copy_file(options.file, whole);
    fs::permissions(whole, fs::perms::owner_all);
  }
  const std::string bytes = content(whole);
  const std::string expected = exported(RunStore::open(whole, RunStore::Mode::read_only));
  const std::string expected_copy = exported_copy(whole);
  fmt::print("seed {}, {} files from case {} on, each of {} bytes\n", options.seed, options.count, options.first,
             bytes.size());
  std::size_t failed = 0;
  std::size_t unharmed = 0;
  for (std::size_t i = options.first; i < options.first + options.count; ++i) {
    std::seed_seq seed{options.seed, static_cast<std::uint64_t>(i)};
    Random random(seed);
    const fs::path file = folder / fmt::format("{}-{}.attnscope", options.seed, i);
    damage(file, bytes, random);
    const std::string damaged = content(file);
    for (const ReaderOfFiles& reader : readers) {
      bool silent = false;
      const std::string what = outcome_of(reader, file, reader.copies ? expected_copy : expected, silent);
      if (reader.read == read_all && silent) ++unharmed;
      if (what.empty()) continue;
      ++failed;
      fs::create_directories(options.keep);
      const fs::path kept = fs::path(options.keep) / file.filename();
      write(kept, damaged);
      fmt::print("case {}: {}; kept as {}\n", i, what, kept.string());
    }
    for (const auto& entry : fs::directory_iterator(folder.path())) {
      if (entry.path() != whole) fs::remove(entry.path());
    }
  }
  fmt::print("{} files, of which {} read as before; {} failures\n", options.count, unharmed, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace attnscope::testing

int main(int argc, char** argv) {
  attnscope::testing::Options options;
  options.seed = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) % 1'000'000;
  CLI::App app("Damages files of measurements at random and has every reader look at them.");
  app.add_option("--seed", options.seed, "The same seed makes the same cases (default: by the clock)");
  app.add_option("--first", options.first, "The case to begin with")->capture_default_str();
  app.add_option("--count", options.count, "How many files")->capture_default_str();
  app.add_option("--file", options.file, "The file to damage copies of (default: one made for it)");
  app.add_option("--keep", options.keep, "Folder for damaged files that a reader fails on")->capture_default_str();
  try {
    app.parse(argc, argv);
    return attnscope::testing::campaign(options);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
