// SPDX-License-Identifier: Apache-2.0
// Files with invalid content: every command reports it, shows the rest, and prints no control characters.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "storage/run_store.h"
#include "sweeps.h"

namespace attnscope::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

class HostileFile : public ::testing::Test {
 protected:
  void SetUp() override {
    expect_exit(0, run(folder_, {"collect", "--preset", "paper", "--algorithms", "naive,fa1,fa2", "--device",
                                 "simulated", "-a", "N=1024", "-q", "-o", file_}));
    points_ = RunStore::open(file_, RunStore::Mode::read_only).points().size();
    ASSERT_GT(points_, 1U);
  }

  void damage(const std::string& sql) const {
    SQLite::Database database(file_, SQLite::OPEN_READWRITE);
    database.exec("PRAGMA ignore_check_constraints = ON");
    ASSERT_GE(database.exec(sql), 1);
  }

  TemporaryFolder folder_;
  std::string file_ = (folder_ / "a.attnscope").string();
  std::size_t points_ = 0;
};

TEST_F(HostileFile, run_without_checksum_is_unverified) {
  EXPECT_THAT(run(folder_, {"check", file_}).out, HasSubstr(": ok\n"));
  const std::string report = folder_ / "a.html";
  ASSERT_EQ(run(folder_, {"report", file_, "-o", report}).exit_code, 0);
  EXPECT_THAT(content(report), Not(AnyOf(HasSubstr("checksum"), HasSubstr("Damaged"))));
  damage("UPDATE runs SET state = 'interrupted', checksum = NULL");
  EXPECT_THAT(expect_exit(0, run(folder_, {"check", file_})).out,
              AllOf(AllOf(HasSubstr("1 run "), HasSubstr("checksum")), Not(HasSubstr(": ok\n"))));
  ASSERT_EQ(run(folder_, {"report", file_, "-o", report}).exit_code, 0);
  EXPECT_THAT(content(report), HasSubstr("checksum"));
}

TEST_F(HostileFile, every_command_warns_of_changed_values) {
  damage("UPDATE metric_values SET value = value + 1 WHERE kernel_id = 1");
  EXPECT_EQ(run(folder_, {"check", file_}).exit_code, 5);
  for (const char* command : {"export", "info", "paper"}) {
    EXPECT_THAT(expect_exit(5, run(folder_, {command, file_})).err, AllOf(HasSubstr("run 1"), HasSubstr("checksum")))
        << command;
  }
}

TEST_F(HostileFile, damaged_row_is_skipped) {
  damage("UPDATE points SET bc = 0 WHERE id = 1");
  const Outcome csv = expect_exit(5, run(folder_, {"export", file_}));
  EXPECT_THAT(csv.err, AllOf(HasSubstr(" 2 "), HasSubstr("point 1 (run 1, plan index 0): bc 0")));
  std::size_t whole_points = 0;
  for (std::size_t at = csv.out.find(",all,"); at != std::string::npos; at = csv.out.find(",all,", at + 1)) {
    ++whole_points;
  }
  EXPECT_EQ(whole_points, points_ - 1);

  EXPECT_THAT(expect_exit(5, run(folder_, {"info", file_})).out,
              AllOf(HasSubstr("paper"), HasSubstr("\npoint 1 (run 1, plan index 0): bc 0")));
  const std::string report = folder_ / "a.html";
  EXPECT_EQ(run(folder_, {"report", file_, "-o", report}).exit_code, 5);
  EXPECT_THAT(content(report), HasSubstr("a.attnscope, point 1 (run 1, plan index 0): bc 0"));
  EXPECT_THAT(expect_exit(5, run(folder_, {"paper", file_})).err, HasSubstr(" 2 "));
}

TEST_F(HostileFile, merge_skips_damaged_file_if_requested) {
  const std::string good = (folder_ / "good.attnscope").string();
  const std::string all = (folder_ / "all.attnscope").string();
  ASSERT_EQ(run(folder_, {"export", file_, "--format", "attnscope", "-o", good}).exit_code, 0);
  damage("UPDATE points SET bc = 0 WHERE id = 1");
  EXPECT_THAT(expect_error(1, run(folder_, {"merge", "-o", all, good, file_})).err,
              AllOf(HasSubstr(file_), HasSubstr("bc 0"), HasSubstr("--skip-damaged")));
  EXPECT_FALSE(std::filesystem::exists(all));
  const Outcome merged = expect_exit(5, run(folder_, {"merge", "-o", all, good, file_, "--skip-damaged"}));
  EXPECT_THAT(merged.err, AllOf(HasSubstr("skipped: " + file_), HasSubstr("bc 0")));
  EXPECT_THAT(merged.out, HasSubstr(std::to_string(points_) + " points"));
  EXPECT_THAT(expect_exit(1, run(folder_, {"merge", "-o", all, good})).err, HasSubstr("all.attnscope"));
}

TEST_F(HostileFile, log_of_another_file_is_named_and_not_read) {
  const std::string log = file_ + "-wal";
  const std::string other = (folder_ / "other.attnscope").string();
  expect_exit(0, run(folder_, {"collect", "--preset", "quick", "--device", "simulated", "-q", "-o", other}));
  {
    SQLite::Database database(other, SQLite::OPEN_READWRITE);
    database.exec("UPDATE runs SET preset = 'of-the-log'");
    std::filesystem::copy_file(other + "-wal", log);
  }
  const std::string before = content(file_) + content(log);
  for (const Words& reading :
       {Words{"info", file_}, Words{"export", file_}, Words{"check", file_}, Words{"paper", file_}}) {
    const Outcome outcome = expect_exit(0, run(folder_, reading));
    EXPECT_THAT(outcome.err, HasSubstr(log)) << reading[0];
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_THAT(outcome.out, Not(HasSubstr("of-the-log"))) << reading[0];
  }
  for (const Words& writing : {Words{"collect", "--preset", "quick", "--device", "simulated", "-q", "-o", file_},
                               Words{"edit", file_, "--run", "1", "--hide"}}) {
    EXPECT_THAT(expect_error(1, run(folder_, writing)).err, HasSubstr(log)) << writing[0];
  }
  EXPECT_TRUE(content(file_) + content(log) == before);
}

TEST_F(HostileFile, hidden_and_deleted_runs_are_counted) {
  for (const char* preset : {"quick", "paper"}) {
    expect_exit(0, run(folder_, {"collect", "--preset", preset, "--algorithms", "fa2", "--device", "simulated", "-a",
                                 "N=1024", "-q", "-o", file_}));
  }
  expect_exit(0, run(folder_, {"edit", file_, "--run", "2", "--hide"}));
  expect_exit(0, run(folder_, {"edit", file_, "--run", "3", "--delete"}));
  for (const char* command : {"info", "check"}) {
    EXPECT_THAT(expect_exit(0, run(folder_, {command, file_})).out,
                AllOf(HasSubstr("3 runs"), HasSubstr("1 hidden"), HasSubstr("1 deleted")));
    const auto document = nlohmann::json::parse(run(folder_, {command, file_, "--json"}).out);
    const auto& counts = command == std::string("info") ? document : document["rows"][0];
    EXPECT_EQ(counts["runs"], 3) << command;
    EXPECT_EQ(counts["hidden"], 1) << command;
    EXPECT_EQ(counts["deleted"], 1) << command;
  }
  damage("UPDATE points SET bc = 0 WHERE run_id = 3");
  EXPECT_THAT(expect_exit(5, run(folder_, {"check", file_})).out, HasSubstr("run 3"));
}

TEST_F(HostileFile, run_with_invalid_options_is_skipped) {
  damage("UPDATE runs SET options = json_set(options, '$.max_noise', null)");
  EXPECT_THAT(expect_exit(5, run(folder_, {"info", file_})).out, HasSubstr("run 1 "));
  const Outcome more =
      run(folder_, {"collect", "--preset", "quick", "--algorithms", "fa2", "--device", "simulated", "-q", "-o", file_});
  EXPECT_EQ(more.exit_code, 5) << "the new run is complete, the damaged one is named: " << more.err;
  EXPECT_THAT(run(folder_, {"info", file_}).out, HasSubstr("quick"));
}

TEST(Options, reject_nan_and_infinity) {
  const TemporaryFolder folder;
  for (const char* option : {"--max-noise", "--timeout"}) {
    for (const char* value : {"nan", "-nan", "inf", "1e999", "0x7p99999"}) {
      const Outcome outcome = expect_exit(
          2, run(folder, {"collect", "--device", "simulated", "-o", (folder / "a.attnscope").string(), option, value}));
      EXPECT_THAT(outcome.err, HasSubstr(option));
      EXPECT_FALSE(std::filesystem::exists(folder / "a.attnscope"));
    }
  }
}

}  // namespace
}  // namespace attnscope::testing
