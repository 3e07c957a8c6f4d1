// SPDX-License-Identifier: Apache-2.0
// submit against a real Slurm of two nodes on this machine, with the simulated device.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <tuple>

#include "findings.h"
#include "subprocess.h"
#include "sweeps.h"
#include "tests/app/local_slurm.h"
#include "tests/app/local_sshd.h"

namespace attnscope::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

/// Eight curves of eight points.
const Words collected{"--device", "simulated", "-a", "N=[64:512:64]",    "-a",           "heads=2",
                      "-a",       "d=32,64",   "-a", "mask=full,causal", "--algorithms", "fa1,fa2"};

class Submit : public ::testing::Test {
 protected:
  Words submitting(const Words& more = {}) const {
    return Words{"submit", "--shards", "8", "-o", file_} + collected + more;
  }

  TemporaryFolder folder_;
  fs::path file_ = folder_ / "run.attnscope";
  fs::path shards_ = folder_ / "run.attnscope.shards";
};

TEST_F(Submit, MergesAfterAFailedShardWasRequeuedAsPrinted) {
  const hosts::LocalSlurm slurm(folder_ / "slurm");
  if (!slurm.why_not().empty()) GTEST_SKIP() << slurm.why_not();
  const auto eventually = [&](const std::string& job, const std::string& states) {
    const auto given_up_at = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    const std::string command = "squeue --noheader --states=all --array --format=%T --jobs=" + job + " | sort -u";
    std::string now;
    while (now != states && std::chrono::steady_clock::now() < given_up_at) now = slurm.say(command);
    EXPECT_EQ(now, states) << job;
  };
  // Read by bash before the script: the first collector of shard 4 is killed.
  std::ofstream(folder_ / "kill.sh") << fmt::format(
      "[ -e '{}' ] || [ \"${{SLURM_ARRAY_TASK_ID:-}}\" != 4 ] || "
      "wait() {{ kill -KILL \"$1\"; builtin wait \"$1\"; }}\n",
      (folder_ / "again").string());
  auto environment = slurm.environment();
  environment["BASH_ENV"] = folder_ / "kill.sh";
  const Outcome submitted = run(folder_, submitting({"--", "--mem=10M"}), {.environment = environment});
  ASSERT_EQ(submitted.exit_code, 0) << submitted.err;
  EXPECT_THAT(submitted.out, AllOf(HasSubstr("squeue --jobs=1,2\n"), HasSubstr("scancel 1 2\n")));
  eventually("1", "COMPLETED\nFAILED\n");
  eventually("2", "CANCELLED\n");
  EXPECT_FALSE(fs::exists(file_));

  std::ofstream(folder_ / "again") << "";
  std::string requeue = submitted.out.substr(submitted.out.find("requeue: ") + 9);
  for (std::size_t at = 0; (at = requeue.find("_K", at)) != std::string::npos;) requeue.replace(at, 2, "_4");
  requeue.pop_back();
  (void)slurm.say("export SLURM_CONF; " + requeue);
  (void)slurm.say("scontrol update JobId=1_4 StartTime=now");  // else Slurm waits for two minutes
  eventually("1", "COMPLETED\n");
  while (!slurm.say("squeue --noheader --name=run-merge").empty()) {
  }
  EXPECT_EQ(run(folder_, {"check", file_}).exit_code, 0) << hosts::read_file(shards_ / "merge.log");
  ASSERT_EQ(run(folder_, Words{"collect", "--quiet", "-o", folder_ / "whole.attnscope"} + collected).exit_code, 0);
  EXPECT_EQ(findings(file_), findings(folder_ / "whole.attnscope"));
}

TEST_F(Submit, DryRunPrintsBothScriptsAndWritesNothing) {
  const Outcome outcome = run(folder_, submitting({"--dry-run", "--", "-p", "gpu", "--gres=gpu:1", "--comment=a b"}),
                              {.environment = {{"MY_SECRET_TOKEN", "hunter2"}}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("#SBATCH -p gpu --gres=gpu:1 '--comment=a b'\n"),
                                 HasSubstr("--shard \"$SLURM_ARRAY_TASK_ID/8\""), HasSubstr("'N=[64:512:64]'"),
                                 HasSubstr(" merge "), Not(HasSubstr("hunter2"))));
  EXPECT_FALSE(fs::exists(shards_));
}

TEST_F(Submit, WrongWordsAreOneLineAndWriteNothing) {
  const std::vector<std::tuple<Words, int, std::string>> wrong{
      {{"submit", "--shards", "2"}, 2, "--output"},
      {{"submit", "-o", file_}, 2, "--shards"},
      {{"submit", "--shards", "0", "-o", file_}, 2, "--shards"},
      {{"submit", "--shards", "2", "-o", file_, "--preset", "none"}, 2, "none"},
      {{"submit", "--shards", "2", "-o", file_, "--nonsense"}, 2, "--nonsense"},
      {{"submit", "--shards", "2", "-o", file_, "--shard", "1/2"}, 2, "--shard"},
      {{"submit", "--shards", "2", "-o", file_, "--", "-a1-9"}, 2, "-a1-9"},
      {{"submit", "--shards", "2", "-o", file_, "--", "a\nb"}, 2, "line break"},
      {{"submit", "--shards", "2", "-o", folder_.path()}, 2, "already exists"},
  };
  for (const auto& [words, code, says] : wrong) {
    const Outcome outcome = run(folder_, words);
    EXPECT_EQ(outcome.exit_code, code) << fmt::format("{}: {}", words.back(), outcome.err);
    EXPECT_THAT(outcome.err, HasSubstr(says));
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_FALSE(fs::exists(shards_));
  }
}

TEST_F(Submit, FailureOfSbatchNamesItsReasonAndTheScripts) {
  const Outcome outcome = run(folder_, submitting(), {.environment = {{"PATH", "/nowhere"}}});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("cannot start sbatch"));
  EXPECT_TRUE(fs::exists(shards_ / "shard.sh"));
}

}  // namespace
}  // namespace attnscope::testing
