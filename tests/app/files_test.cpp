// SPDX-License-Identifier: Apache-2.0
// Files that are removed, locked, full, oddly named or of another kind while the program runs.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>

#include "findings.h"
#include "profiler/worker/protocol.h"
#include "storage/run_store.h"
#include "sweeps.h"

namespace attnscope::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Mode = RunStore::Mode;

const Words small_sweep{"collect", "--device", "simulated", "-a", "N=128", "--algorithms", "fa2"};

template <class E>
std::optional<E> read_until(Process& process) {
  while (const std::optional<std::string> line = process.read_line()) {
    const Result<Event, Message> event = parse_event(*line);
    if (event.ok() && std::holds_alternative<E>(*event)) return std::get<E>(*event);
  }
  return std::nullopt;
}

class Files : public CommandTest {
 protected:
};

TEST_F(Files, removed_file_ends_the_sweep) {
  Process process(folder_, sweep + Words{"--jsonl", "-o", file_}, slow_reader);
  ASSERT_TRUE(read_until<PointEvent>(process));
  fs::remove(file_);
  EXPECT_THAT(expect_error(1, process.wait()).err, HasSubstr("run.attnscope"));
}

TEST_F(Files, sighup_cancels) {
  Process process(folder_, sweep + Words{"--jsonl", "-o", file_}, slow_reader);
  ASSERT_TRUE(read_until<PointEvent>(process));
  process.send(SIGHUP);
  EXPECT_EQ(process.wait().exit_code, 5);
  EXPECT_EQ(RunStore::open(file_, Mode::read_only).runs().at(0).state, StoredRunState::cancelled);
}

TEST_F(Files, nohup_ignores_sighup) {
  std::signal(SIGHUP, SIG_IGN);  // inherited by the child
  Process process(folder_, sweep + Words{"--jsonl", "-o", file_}, slow_reader);
  std::signal(SIGHUP, SIG_DFL);
  ASSERT_TRUE(read_until<PointEvent>(process));
  process.send(SIGHUP);
  EXPECT_EQ(process.wait().exit_code, 0);
}

TEST_F(Files, unwritten_output_is_an_error) {
  const Process::Options full{.stdout_file = "/dev/full"};
  for (const Words& words : {small_sweep + Words{"-o", file_}, Words{"info", file_}, Words{"export", file_},
                             Words{"kernels"}, Words{"--help"}, Words{"--version"}}) {
    EXPECT_THAT(expect_error(1, run(folder_, words, full)).err, HasSubstr("stdout")) << words.front();
  }
  EXPECT_EQ(findings(file_).size(), 1U) << "measured points are kept";
}

// Without standard descriptors, a data file would get descriptor 1 and be overwritten by messages.
TEST_F(Files, closed_standard_descriptors_are_reserved) {
  ASSERT_EQ(run(folder_, small_sweep + Words{"-q", "-o", file_}).exit_code, 0);
  // With an open reader, new data stays in the WAL and the first page is not rewritten.
  SQLite::Database reader(file_.string(), SQLite::OPEN_READWRITE);
  SQLite::Transaction transaction(reader);
  ASSERT_EQ(reader.execAndGet("SELECT count(*) FROM points").getInt(), 1);
  // Read in another process: closing the file here would release the reader's lock.
  const auto first_page = [&] {
    return run(folder_, {"-c", "4096", file_.string()}, {.program = "/usr/bin/head"}).out;
  };
  const std::string page = first_page();
  ASSERT_EQ(page.size(), 4096U);
  Words words{"-c", "exec \"$0\" \"$@\" <&- >&- 2>&-", ATTNSCOPE_PROGRAM};
  const Outcome outcome = run(folder_, words + small_sweep + Words{"-o", file_}, {.program = "/bin/sh"});
  EXPECT_EQ(outcome.exit_code, 1) << "the reader is gone";
  EXPECT_EQ(first_page(), page);
  EXPECT_EQ(findings(file_).size(), 2U);
}

TEST_F(Files, accepts_names_that_are_not_utf8) {
  const fs::path file = folder_ / "caf\xe9.attnscope";
  const fs::path table = folder_ / "t\xfc.csv";
  expect_exit(0, run(folder_, small_sweep + Words{"--jsonl", "-o", file}));
  EXPECT_EQ(findings(file).size(), 1U);
  std::ofstream(table) << "algorithm,N,heads,d,time_ns\na,64,1,64,5\n";
  expect_exit(0, run(folder_, {"import", table, "-o", file}));
  expect_exit(0, run(folder_, {"info", file}));
  const Outcome exported = expect_exit(0, run(folder_, {"export", file, "--format", "json"}));
  const auto document = nlohmann::json::parse(exported.out);  // throws on invalid UTF-8
  ASSERT_EQ(document["runs"].size(), 2U);
  EXPECT_EQ(document["runs"][0]["argv"].back(), (folder_ / "caf\xEF\xBF\xBD.attnscope").string());
  EXPECT_EQ(document["runs"][1]["preset"], "import:t\xEF\xBF\xBD");
  EXPECT_EQ(run(folder_, small_sweep + Words{"-q", "--resume", "-o", file}).exit_code, 0);
}

TEST_F(Files, exports_write_to_special_files) {
  ASSERT_EQ(run(folder_, small_sweep + Words{"-q", "-o", file_}).exit_code, 0);
  const std::string csv = run(folder_, {"export", file_}).out;
  EXPECT_EQ(run(folder_, {"export", file_, "-o", "/dev/stdout"}).out, csv);
  const Outcome full = expect_exit(1, run(folder_, {"export", file_, "-o", "/dev/full"}));
  EXPECT_THAT(full.err, HasSubstr("/dev/full"));

  const fs::path notes = folder_ / "notes";
  std::ofstream(notes) << "my notes\n";
  for (const char* format : {"csv", "json", "attnscope"}) {
    EXPECT_THAT(expect_exit(1, run(folder_, {"export", file_, "--format", format, "-o", notes})).err,
                AllOf(HasSubstr("notes"), HasSubstr("--force")));
    EXPECT_EQ(content(notes), "my notes\n");
  }
  EXPECT_EQ(run(folder_, {"export", file_, "--force", "-o", notes}).exit_code, 0);
  EXPECT_EQ(content(notes), csv);
}

TEST_F(Files, rejects_pipes_and_circular_links) {
  const fs::path pipe = folder_ / "pipe.attnscope";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const fs::path circle = folder_ / "circle.attnscope";
  fs::create_symlink(circle, circle);
  for (const Words& reading : {Words{"info"}, Words{"export"}, Words{"ceilings"}, Words{"paper"}, Words{"merge"}}) {
    const Words before = reading[0] == "merge" ? Words{"-o", folder_ / "all.attnscope"} : Words{};
    EXPECT_THAT(expect_exit(1, run(folder_, reading + before + Words{pipe})).err, HasSubstr("pipe.attnscope"));
    EXPECT_THAT(expect_error(1, run(folder_, reading + before + Words{circle})).err,
                HasSubstr("symlink loop: " + circle.string()));
  }
  EXPECT_THAT(expect_exit(1, run(folder_, small_sweep + Words{"-q", "-o", circle})).err,
              HasSubstr("symlink loop: " + circle.string()));
  EXPECT_TRUE(fs::is_symlink(circle));
}

}  // namespace
}  // namespace attnscope::testing
