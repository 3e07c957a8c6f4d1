// SPDX-License-Identifier: Apache-2.0
// submit and jobs against a real Slurm of two nodes on this machine, with the simulated device.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "findings.h"
#include "storage/run_store.h"
#include "subprocess.h"
#include "sweeps.h"
#include "tests/app/local_slurm.h"
#include "tests/app/local_sshd.h"

namespace attnscope::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Mode = RunStore::Mode;
namespace fs = std::filesystem;

/// Eight curves of eight points.
const Words collected{"--device", "simulated", "-a", "N=[64:512:64]",    "-a",           "heads=2",
                      "-a",       "d=32,64",   "-a", "mask=none,causal", "--algorithms", "fa1,fa2"};

class Submit : public ::testing::Test {
 protected:
  Outcome attnscope(const Words& words, std::map<std::string, std::string> environment = {}) {
    environment.merge(slurm_ ? slurm_->environment() : std::map<std::string, std::string>());
    return run(folder_, words, {.environment = environment});
  }
  Words submitting(const Words& more = {}) const {
    return Words{"submit", "--shards", "8", "-o", file_} + collected + more;
  }
  /// By shard ("3/8", "merge"), its state.
  std::map<std::string, std::string> states() {
    const Outcome outcome = attnscope({"jobs", file_, "--format", "json"});
    std::map<std::string, std::string> found;
    const auto document = nlohmann::json::parse(outcome.out);
    for (const auto& row : document.at("rows")) found[row.at("shard")] = row.at("state");
    return found;
  }
  template <class Predicate>
  bool eventually(Predicate&& holds) {
    const auto given_up_at = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < given_up_at) {
      if (holds(states())) return true;
    }
    return false;
  }
  std::string logs() const {
    std::string text;
    for (const auto& entry : fs::directory_iterator(shards_)) {
      if (entry.path().extension() == ".log") text += hosts::read_file(entry.path());
    }
    return text;
  }
  std::vector<std::string> undisturbed() {
    const fs::path file = folder_ / "whole.attnscope";
    EXPECT_EQ(run(folder_, Words{"collect", "--quiet", "-o", file} + collected).exit_code, 0);
    return findings(file);
  }
  /// Whether there is a cluster; else the reason is said.
  bool has_slurm() {
    slurm_.emplace(folder_ / "slurm");
    return slurm_->why_not().empty();
  }

  TemporaryFolder folder_;
  fs::path file_ = folder_ / "run.attnscope";
  fs::path shards_ = folder_ / "run.attnscope.shards";
  std::optional<hosts::LocalSlurm> slurm_;
};

TEST_F(Submit, an_array_that_loses_a_task_a_collector_and_a_node_is_whole_after_it_is_queued_again) {
  if (!has_slurm()) GTEST_SKIP() << slurm_->why_not();
  // What bash reads first: task 3 waits to be killed, and the collector of task 4 is, as soon as it was started.
  const fs::path gate = folder_ / "gate.sh";
  const fs::path fifo = folder_ / "never";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  std::ofstream(gate) << fmt::format(
      "[ -e '{0}/again' ] && return\n"
      "[ \"${{SLURM_ARRAY_TASK_ID:-}}\" = 3 ] && read -r < '{1}'\n"
      "[ \"${{SLURM_ARRAY_TASK_ID:-}}\" = 4 ] && wait() {{ kill -KILL \"$1\"; builtin "
      "wait \"$1\"; }}\n",
      folder_.path().string(), fifo.string());
  const Outcome submitted = attnscope(submitting({"--", "--mem=10M"}), {{"BASH_ENV", gate.string()}});
  ASSERT_EQ(submitted.exit_code, 0) << submitted.err;
  EXPECT_THAT(submitted.out, AllOf(HasSubstr("8 shards of 64 points"), HasSubstr("job 1"), HasSubstr("job 2")));
  (void)slurm_->say("scontrol update NodeName=n2 State=DRAIN Reason=test");
  EXPECT_TRUE(eventually([](auto states) { return states["3/8"] == "running" && states["8/8"] == "complete"; }));
  (void)slurm_->say("scancel 1_3");
  EXPECT_TRUE(eventually([](auto states) {
    return states["3/8"] == "cancelled" && states["merge"] != "pending" && states["merge"] != "running";
  }));
  auto lost = states();
  EXPECT_NE(lost["4/8"], "complete");
  EXPECT_NE(lost["merge"], "complete");
  EXPECT_THAT(hosts::read_file(shards_ / "merge.log"), HasSubstr("8 shards"));

  (void)slurm_->say("scontrol update NodeName=n2 State=RESUME");
  std::ofstream(folder_ / "again") << "";
  const Outcome again = attnscope({"jobs", file_, "--resubmit"}, {{"BASH_ENV", gate.string()}});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("shards 3-4"));
  EXPECT_TRUE(eventually([](auto states) { return states["merge"] == "complete"; })) << logs();
  EXPECT_EQ(attnscope({"jobs", file_}).exit_code, 0);
  EXPECT_EQ(findings(file_), undisturbed());
  EXPECT_EQ(run(folder_, {"check", file_}).exit_code, 0);
  EXPECT_THAT(attnscope({"jobs"}).out, AllOf(HasSubstr("9 / 9"), HasSubstr("complete")));
  EXPECT_THAT(attnscope({"jobs", file_, "--resubmit"}).out, HasSubstr("no shard is missing"));
  EXPECT_THAT(attnscope({"jobs", file_, "--cancel"}).out, HasSubstr("nothing of it is queued"));
}

TEST_F(Submit, what_waits_can_be_cancelled_and_queued_again) {
  if (!has_slurm()) GTEST_SKIP() << slurm_->why_not();
  ASSERT_EQ(attnscope(submitting({"--", "--hold"})).exit_code, 0);
  EXPECT_EQ(states()["5/8"], "pending");
  EXPECT_THAT(attnscope({"jobs", file_, "--resubmit"}).out, HasSubstr("no shard is missing")) << "they are queued";
  const Outcome cancelled = attnscope({"jobs", file_, "--cancel"});
  EXPECT_EQ(cancelled.exit_code, 0) << cancelled.err;
  EXPECT_EQ(states()["5/8"], "cancelled");
  EXPECT_THAT(attnscope({"jobs", file_, "--resubmit"}).out, HasSubstr("shards 1-8"));
}

TEST_F(Submit, a_queue_that_refuses_is_one_clear_line_and_the_scripts_stay) {
  if (!has_slurm()) GTEST_SKIP() << slurm_->why_not();
  const Outcome outcome = attnscope(submitting({"--", "--partition=nowhere"}));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("sbatch refuses"), HasSubstr("partition")));
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
  EXPECT_TRUE(fs::exists(shards_ / "shard.sh"));
}

TEST_F(Submit, says_what_it_would_do_and_holds_no_secret) {
  const Outcome outcome =
      attnscope(submitting({"--dry-run", "--", "-p", "gpu", "--gres=gpu:1"}), {{"MY_SECRET_TOKEN", "hunter2"}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("#SBATCH -p gpu\n"), HasSubstr("#SBATCH --gres=gpu:1\n"),
                                 HasSubstr("--shard \"$shard/8\""), HasSubstr("'N=[64:512:64]'"), HasSubstr("merge"),
                                 Not(HasSubstr("hunter2"))));
  EXPECT_FALSE(fs::exists(shards_));
}

TEST_F(Submit, bad_words_are_one_clear_line) {
  const std::vector<std::tuple<Words, int, std::string>> wrong{
      {{"submit", "--shards", "2"}, 2, "-o FILE"},
      {{"submit", "-o", file_}, 2, "--shards"},
      {{"submit", "--shards", "0", "-o", file_}, 2, "--shards"},
      {{"submit", "--shards", "2", "-o", file_, "--preset", "none"}, 2, "none"},
      {{"submit", "--shards", "2", "-o", file_, "--nonsense"}, 2, "--nonsense"},
      {{"submit", "--shards", "2", "-o", file_, "--", "a\nb"}, 2, "line break"},
      {{"submit", "--shards", "2", "-o", file_, "--shard", "1/2"}, 2, "--shard"},
      {{"submit", "--shards", "2", "-o", file_, "--", "-a1-9"}, 2, "-a is what"},
      {{"jobs", file_}, 1, "no submission"},
      {{"jobs", "--cancel"}, 2, "one submission"},
  };
  for (const auto& [words, code, says] : wrong) {
    const Outcome outcome = attnscope(words);
    EXPECT_EQ(outcome.exit_code, code) << fmt::format("{}: {}", words.back(), outcome.err);
    EXPECT_THAT(outcome.err, HasSubstr(says));
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_FALSE(fs::exists(shards_));
  }
  std::ofstream(file_) << "";
  EXPECT_THAT(attnscope(submitting()).err, HasSubstr("is there already"));
}

TEST_F(Submit, without_sbatch_says_so) {
  const Outcome outcome = attnscope(submitting(), {{"PATH", "/nowhere"}});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("sbatch"), HasSubstr("--hosts")));
}

TEST_F(Submit, a_clock_that_is_hours_off_is_said_and_nothing_is_lost) {
  const Outcome outcome = attnscope(submitting(), {{"PATH", "/nowhere"}});
  ASSERT_EQ(outcome.exit_code, 1);
  ASSERT_TRUE(fs::exists(shards_ / "submission.json"));
  // As if it had been submitted three hours later than what its shard says.
  std::string state = hosts::read_file(shards_ / "submission.json");
  ASSERT_EQ(
      run(folder_, Words{"collect", "--quiet", "--shard", "1/8", "-o", shards_ / "1.attnscope"} + collected).exit_code,
      0);
  const std::size_t at = state.find("\"submitted_at\": \"") + 17;
  state.replace(at, 4, "2099");
  std::ofstream(shards_ / "submission.json") << state;
  EXPECT_THAT(attnscope({"jobs", file_}, {{"PATH", "/nowhere"}}).out, HasSubstr("clock differs by -"));
  EXPECT_EQ(states()["1/8"], "complete");
}

TEST_F(Submit, hosts_share_a_plan_without_a_queue) {
  const hosts::LocalSshd host(folder_ / "ssh");
  if (!host.why_not().empty()) GTEST_SKIP() << host.why_not();
  host.install(ATTNSCOPE_PROGRAM);
  Words words{"submit", "--hosts", "gpubox/simulated#1,gpubox/simulated#2", "-o", file_};
  words = words + Words(collected.begin() + 2, collected.end());
  const Outcome outcome = attnscope(words, {{"ATTNSCOPE_SSH_CONFIG", host.config()}});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(eventually([](auto states) { return !states.empty() && states.begin()->second == "complete"; }))
      << logs();
  EXPECT_EQ(findings(file_, 1), undisturbed());
}

}  // namespace
}  // namespace attnscope::testing
