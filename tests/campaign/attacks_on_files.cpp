// SPDX-License-Identifier: Apache-2.0
// Files that somebody else writes while they are collected into, files that are more than they look, and what is no
// file at all in a file's place.
#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "attacks.h"
#include "storage/run_store.h"
#include "tests/storage/samples.h"

namespace attnscope::testing {
namespace {

namespace fs = std::filesystem;

Words simulated(const fs::path& file) {
  return {"collect", "--device", "simulated", "-a", "N=[128,256]", "-a", "d=64", "-a", "heads=2", "-q", "-o", file};
}

void change(const fs::path& file, const std::string& sql) {
  SQLite::Database database(file.string(), SQLite::OPEN_READWRITE);
  database.exec("PRAGMA ignore_check_constraints = ON");
  database.exec(sql);
}

void write_bytes(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

void written_by_another(const Attack& attack, const Programs& programs, const TemporaryFolder& folder, Random& random) {
  const fs::path file = folder / "t.attnscope";
  const fs::path other = folder / "other.attnscope";
  require(bounded(attack, programs.command, folder, simulated(other)).exit_code == 0, "no other file");
  Process collector(folder,
                    {"collect", "--device", "simulated", "--preset", "tiles", "--jsonl", "-q", "-o", file.string()},
                    {.program = programs.command, .narrow_pipe = true});
  std::size_t announced = 0;
  const auto hear = [&](std::size_t enough) {
    while (announced < enough) {
      const auto line = collector.read_line();
      if (!line) return;
      if (line->find("\"event\":\"point\"") != std::string::npos) ++announced;
    }
  };
  hear(1 + below(random, 60));
  const std::size_t way = below(random, 6);
  if (way == 0 || way == 1) write_bytes(file, "");
  if (way == 1) write_bytes(file.string() + "-wal", "");
  if (way == 2) write_bytes(file, content(other));
  if (way == 3) fs::resize_file(file, fs::file_size(file) / 2);
  if (way == 4) {
    std::fstream page(file, std::ios::binary | std::ios::in | std::ios::out);
    page.seekp(static_cast<std::streamoff>(below(random, fs::file_size(file) / 512) * 512));
    page << std::string(512, 'x');
  }
  if (way == 5) {
    for (const char* suffix : {"", "-wal", "-shm", "-lock"}) write_bytes(file.string() + suffix, "");
  }
  const std::string left = content(file);
  hear(1'000'000);
  const Outcome outcome = collector.wait();
  require(outcome.exit_code == 1, fmt::format("way {}, exit code {}: {}", way, outcome.exit_code, outcome.err));
  require(outcome.err.find("-rescued.attnscope") != std::string::npos, outcome.err);
  require(content(file) == left, fmt::format("way {}: what the other wrote was changed", way));
  const fs::path rescued = folder / "t-rescued.attnscope";
  const Outcome check = bounded(attack, programs.command, folder, {"check", rescued});
  require(check.exit_code == 0, check.out);
  const std::size_t kept = RunStore::open(rescued, RunStore::Mode::read_only).points().size();
  require(kept >= announced, fmt::format("way {}: {} of {} announced points are there", way, kept, announced));
}

/// What the program shows on a terminal.
std::string shown(const Programs& programs, const TemporaryFolder& folder, const Words& words) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  std::array<char, 64> name{};
  const bool open = terminal >= 0 && ::grantpt(terminal) == 0 && ::unlockpt(terminal) == 0 &&
                    ::ptsname_r(terminal, name.data(), name.size()) == 0;
  require(open, "there is no terminal");
  // Without one that stays open, the first to close it would end it.
  const int held = ::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC);
  std::string seen;
  std::thread reader([&] {
    std::array<char, 4096> piece{};
    for (;;) {
      const ssize_t length = ::read(terminal, piece.data(), piece.size());
      if (length < 0 && errno == EINTR) continue;
      if (length <= 0) return;
      seen.append(piece.data(), static_cast<std::size_t>(length));
    }
  });
  (void)run(folder, words, {.program = programs.command, .stdout_file = name.data()});
  ::close(held);
  reader.join();
  ::close(terminal);
  return seen;
}

void escapes_on_a_terminal(const Attack& attack, const Programs& programs, const TemporaryFolder& folder,
                           Random& random) {
  const std::string hostile =
      "\x1b]0;title\x07\x1b[2J\xe2\x80\xae\xc2\x9b"
      "31m";
  const fs::path file = folder / "t.attnscope";
  {
    RunStore store = RunStore::open(file, RunStore::Mode::collect);
    RunHeader header = full_header();
    header.device.limits.name = "GPU x" + hostile;
    const std::int64_t run_id = store.begin_run(header);
    PointRecord record = simple_record(64);
    record.disposition = Disposition::crashed;
    record.reason = Message::verbatim("x" + hostile);
    store.add_point(run_id, 0, record);
    store.finish_run(run_id, StoredRunState::complete);
  }
  const Words ways[] = {{"export", file},        {"export", file, "--long"}, {"export", file, "--format", "json"},
                        {"info", file, "--csv"}, {"info", file, "--json"},   {"info", file}};
  const Words& words = ways[below(random, std::size(ways))];
  const std::string seen = shown(programs, folder, words);
  require(seen.find("title") != std::string::npos || words[0] == "info", "the text is not shown");
  for (const char* sequence : {"\x1b", "\x07", "\xe2\x80\xae", "\xc2\x9b"}) {
    require(seen.find(sequence) == std::string::npos, fmt::format("{} {} steers", words[0], words.back()));
  }
  const Outcome piped = bounded(attack, programs.command, folder, {"export", file});
  require(piped.out.find("x" + hostile) != std::string::npos, "a pipe does not get the bytes");
}

void many_samples(const Attack& attack, const Programs& programs, const TemporaryFolder& folder, Random& random) {
  const fs::path file = folder / "t.attnscope";
  require(bounded(attack, programs.command, folder, simulated(file)).exit_code == 0, "no file");
  change(file,
         "UPDATE timing_samples SET samples_ns = '[1' || replace(hex(zeroblob(19999999)), '00', ',1') || ']' WHERE "
         "kernel_id = (SELECT min(kernel_id) FROM timing_samples)");
  const Words ways[] = {
      {"info", file}, {"export", file}, {"check", file}, {"repair", file, "-o", folder / "r.attnscope"}};
  const Outcome outcome = bounded(attack, programs.command, folder, ways[below(random, std::size(ways))]);
  require(outcome.exit_code == 5, fmt::format("exit code {}: {}", outcome.exit_code, outcome.err));
  require((outcome.out + outcome.err).find("16 MiB") != std::string::npos, "it does not say what is wrong");
}

void many_runs(const Attack& attack, const Programs& programs, const TemporaryFolder& folder, Random& random) {
  const fs::path file = folder / "t.attnscope";
  require(bounded(attack, programs.command, folder, simulated(file)).exit_code == 0, "no file");
  change(file,
         "WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO runs (id, "
         "device_id, environment_id, preset, argv, plan_hash, planned_points, options, state, started_at, finished_at, "
         "provenance, uid) SELECT i, device_id, environment_id, preset, argv, plan_hash, planned_points, options, "
         "state, started_at, finished_at, provenance, printf('%032x', i) FROM runs, n WHERE id = 1; UPDATE totals SET "
         "runs = 20000");
  const Words ways[] = {{"info", file},
                        {"check", file},
                        {"export", file},
                        {"merge", "-o", folder / "m.attnscope", file},
                        {"report", file, "-o", folder / "r.html"}};
  (void)bounded(attack, programs.command, folder, ways[below(random, std::size(ways))]);
  if (!fs::exists(programs.window)) return;
  (void)bounded(attack, programs.window, folder, {file, "--screenshot", folder / "io.png", "--page", "io"},
                {.environment = {{"QT_QPA_PLATFORM", "offscreen"}}}, 3 << 10);
}

void changed_bit(const Attack& attack, const Programs& programs, const TemporaryFolder& folder, Random& random) {
  const fs::path file = folder / "t.attnscope";
  fs::copy_file(programs.sample, file);
  fs::permissions(file, fs::perms::owner_all);
  const char* const changes[] = {
      "UPDATE clocks SET sm_clock_hz = sm_clock_hz + 1 WHERE point_id = (SELECT min(point_id) FROM clocks)",
      "UPDATE metric_values SET value = value + 1 WHERE kernel_id = (SELECT min(kernel_id) FROM metric_values)",
      "UPDATE points SET wall_seconds = wall_seconds * 2 WHERE id = 7",
      "DELETE FROM points WHERE id = 7",
  };
  const char* const what = changes[below(random, std::size(changes))];
  change(file, what);
  for (const Words& words : {Words{"check", file}, Words{"export", file, "--format", "csv"}}) {
    const Outcome outcome = bounded(attack, programs.command, folder, words);
    require(outcome.exit_code == 5, fmt::format("{}: exit code {} after {}", words[0], outcome.exit_code, what));
  }
}

void key_twice(const Attack& attack, const Programs& programs, const TemporaryFolder& folder, Random&) {
  const fs::path file = folder / "t.json";
  write_bytes(file,
              R"({"schema_version":1,"points":[{"algorithm":"fa2","N":64,"heads":1,"d":64,"d":128,"time_ns":5}]})");
  require_refused(bounded(attack, programs.command, folder, {"import", file}), 1, {"t.json", "'d' is there twice"});
}

void gpus_that_are_no_file(const Attack& attack, const Programs& programs, const TemporaryFolder& folder,
                           Random& random) {
  const fs::path file = folder / "data/attnscope/gpus.json";
  fs::create_directories(file.parent_path());
  if (below(random, 2) == 0) {
    ::mkfifo(file.c_str(), 0600);
  } else {
    fs::create_symlink("/dev/zero", file);
  }
  Words words = simulated(folder / "t.attnscope");
  words[2] = "simulated:Mine";
  require_refused(bounded(attack, programs.command, folder, words), 2, {"gpus.json", "no regular file"});
}

void output_that_leads_nowhere(const Attack& attack, const Programs& programs, const TemporaryFolder& folder,
                               Random& random) {
  const fs::path link = folder / "link.attnscope";
  fs::create_symlink(folder / "gone/t.attnscope", link);
  const Words ways[] = {simulated(link),
                        {"export", programs.sample, "--format", "attnscope", "-o", link},
                        {"merge", "-o", link, programs.sample}};
  const Outcome outcome = bounded(attack, programs.command, folder, ways[below(random, std::size(ways))]);
  require_refused(outcome, 1, {"link.attnscope", "gone", "no such folder"});
  require(fs::is_symlink(fs::symlink_status(link)), "the link is gone");
}

void what_is_no_text(const Attack& attack, const Programs& programs, const TemporaryFolder& folder, Random& random) {
  const std::string table = "algorithm,N,heads,d,time_ns\nfa2,64,1,64,5\n";
  std::string wide = below(random, 2) == 0 ? std::string("\xff\xfe") : std::string();
  for (const char c : table) wide += std::string{c, '\0'};
  const fs::path file = folder / "wide.csv";
  write_bytes(file, wide);
  const fs::path ways[] = {file, "/dev/zero"};
  const fs::path& way = ways[below(random, std::size(ways))];
  require_refused(bounded(attack, programs.command, folder, {"import", way}), 1, {way.string(), "UTF-16"});
}

constexpr Attack file_attacks[] = {
    {"written-by-another", "a file that is emptied or written over while it is collected into loses nothing announced",
     30, written_by_another},
    {"terminal", "what a terminal is given as CSV, JSON or text does not steer it; a pipe gets the bytes", 10,
     escapes_on_a_terminal},
    {"many-samples", "20 million samples in a row cost their point, 10 s and 512 MiB at most", 10, many_samples},
    {"many-runs", "20,000 runs are read, and shown, in 10 s", 10, many_runs},
    {"changed-bit", "one changed value of the recorded sample is noticed", 10, changed_bit},
    {"key-twice", "JSON that says a key twice is refused in one line", 10, key_twice},
    {"gpus-no-file", "a pipe or a device as gpus.json is refused in one line", 10, gpus_that_are_no_file},
    {"link-nowhere", "an output that is a link into a folder which is not there is refused in one line", 10,
     output_that_leads_nowhere},
    {"no-text", "UTF-16 and what never ends is refused in one line when it is imported", 10, what_is_no_text},
};

}  // namespace

std::span<const Attack> attacks_on_files() {
  return file_attacks;
}

}  // namespace attnscope::testing
