// SPDX-License-Identifier: Apache-2.0
// Shards of a plan: collected into separate files and merged.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <tuple>

#include "findings.h"
#include "storage/run_store.h"
#include "sweeps.h"
#include "tests/app/local_slurm.h"
#include "tests/app/local_sshd.h"

namespace attnscope::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Mode = RunStore::Mode;

const Words curves{"collect", "--device", "simulated", "-a", "N=[64:512:64]",    "-a",
                   "heads=2", "-a",       "d=32,64",   "-a", "mask=full,causal", "--algorithms",
                   "fa1,fa2", "--quiet"};
constexpr std::size_t plan_points = 64;

class Shards : public CommandTest {
 protected:
  std::filesystem::path shard_file(int number) const { return folder_ / fmt::format("{}.attnscope", number); }
  Outcome collect(int number, int count, const Words& more = {}) {
    return run(folder_,
               curves + Words{"--shard", fmt::format("{}/{}", number, count), "-o", shard_file(number)} + more);
  }
  Outcome merge(std::initializer_list<int> numbers) {
    Words words{"merge"};
    for (const int number : numbers) words.push_back(shard_file(number));
    std::filesystem::remove(merged_);
    return run(folder_, words + Words{"-o", merged_});
  }
  std::vector<std::string> undisturbed() {
    const auto file = folder_ / "whole.attnscope";
    EXPECT_EQ(run(folder_, curves + Words{"-o", file}).exit_code, 0);
    return findings(file);
  }

  std::filesystem::path merged_ = folder_ / "merged.attnscope";
};

TEST_F(Shards, merge_into_one_run) {
  std::size_t points = 0;
  for (int number = 1; number <= 3; ++number) {
    expect_exit(0, collect(number, 3));
    const RunSummary shard = RunStore::open(shard_file(number), Mode::read_only).runs().at(0);
    EXPECT_THAT(shard.shards, ElementsAre(Shard{number, 3}));
    EXPECT_EQ(shard.planned_points, plan_points) << "all points of the plan";
    EXPECT_EQ(shard.state, StoredRunState::complete);
    EXPECT_EQ(shard.points % 8, 0U) << "curves are not split";
    points += shard.points;
  }
  EXPECT_EQ(points, plan_points);
  const Outcome outcome = expect_exit(0, merge({3, 1, 2}));
  EXPECT_EQ(outcome.err, "");
  const auto runs = RunStore::open(merged_, Mode::read_only).runs();
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].state, StoredRunState::complete);
  EXPECT_EQ(findings(merged_), undisturbed());
}

TEST_F(Shards, missing_shards_are_named) {
  for (const int number : {1, 2, 3}) ASSERT_EQ(collect(number, 4).exit_code, 0);
  EXPECT_THAT(expect_exit(5, merge({1, 3})).err, AllOf(HasSubstr("4 shards"), HasSubstr("missing: 2, 4\n")));
  EXPECT_NE(RunStore::open(merged_, Mode::read_only).runs().at(0).state, StoredRunState::complete);
  const Outcome three =
      expect_exit(5, run(folder_, {"merge", merged_, shard_file(2), "-o", folder_ / "three.attnscope"}));
  EXPECT_THAT(three.err, AllOf(HasSubstr("missing: 4\n"), Not(HasSubstr("--resume")))) << "a merged file is no shard";
  ASSERT_EQ(collect(4, 4).exit_code, 0);
  const auto all = folder_ / "all.attnscope";
  expect_exit(0, run(folder_, {"merge", merged_, shard_file(2), shard_file(4), "-o", all}));
  EXPECT_EQ(findings(all), undisturbed());
}

TEST_F(Shards, single_shard_is_not_the_plan) {
  ASSERT_EQ(collect(1, 2).exit_code, 0);
  EXPECT_EQ(merge({1}).exit_code, 5);
  EXPECT_EQ(RunStore::open(merged_, Mode::read_only).runs().at(0).state, StoredRunState::interrupted);
}

TEST_F(Shards, unfinished_shard_resumes) {
  ASSERT_EQ(collect(1, 2).exit_code, 0);
  {
    Process process(folder_, curves + Words{"--shard", "2/2", "--jsonl", "-o", shard_file(2)}, slow_reader);
    await_points(process, 3);
    process.send(SIGINT);
    EXPECT_EQ(process.wait().exit_code, 5);
  }
  EXPECT_THAT(expect_exit(5, merge({1, 2})).err,
              AllOf(HasSubstr("2.attnscope"), HasSubstr("cancelled"), HasSubstr("--resume")));
  expect_exit(0, collect(2, 2, {"--resume"}));
  EXPECT_EQ(merge({1, 2}).exit_code, 0);
  EXPECT_EQ(findings(merged_), undisturbed());
}

TEST_F(Shards, shards_of_changed_plans_stay_separate) {
  ASSERT_EQ(collect(1, 2).exit_code, 0);
  ASSERT_EQ(collect(2, 2, {"--no-verify"}).exit_code, 0);
  EXPECT_THAT(expect_exit(5, merge({1, 2})).err, AllOf(HasSubstr("missing: 1\n"), HasSubstr("missing: 2\n")));
  EXPECT_EQ(RunStore::open(merged_, Mode::read_only).runs().size(), 2U);
}

TEST_F(Shards, repeated_shards_need_a_recording_name) {
  ASSERT_EQ(collect(1, 2).exit_code, 0);
  EXPECT_THAT(expect_exit(2, collect(1, 2)).err, AllOf(HasSubstr("--resume"), HasSubstr("--recording")));
  EXPECT_THAT(expect_exit(2, run(folder_, curves + Words{"--shard", "2/2", "-o", shard_file(1)})).err,
              HasSubstr("shard 2/2"));
  EXPECT_EQ(collect(1, 2, {"--resume"}).exit_code, 0);
  expect_exit(0, collect(1, 2, {"--recording", "second"}));
  EXPECT_EQ(RunStore::open(shard_file(1), Mode::read_only).runs().size(), 2U);
  EXPECT_EQ(run(folder_, curves + Words{"--resume", "-o", shard_file(1)}).exit_code, 0);
  const auto runs = RunStore::open(shard_file(1), Mode::read_only).runs();
  ASSERT_EQ(runs.size(), 3U) << "an incomplete plan";
  EXPECT_EQ(runs[2].points, plan_points);
}

TEST_F(Shards, shards_resume_on_equal_gpus) {
  const auto stopped_on = [&](const std::string& device, std::size_t points, const Words& more) {
    Words words = curves + Words{"--shard", "1/2", "--jsonl", "-o", shard_file(1)} + more;
    words[2] = device;
    std::erase(words, "--quiet");
    Process process(folder_, words, slow_reader);
    await_points(process, points);
    process.send(SIGINT);
    EXPECT_EQ(process.wait().exit_code, 5);
  };
  stopped_on("simulated#1", 4, {});
  stopped_on("simulated#2", 1, {"--resume"});
  Words words = curves + Words{"--shard", "1/2", "--resume", "-o", shard_file(1)};
  words[2] = "simulated#2";
  expect_exit(0, run(folder_, words));
  EXPECT_EQ(run(folder_, {"check", shard_file(1)}).exit_code, 0);
  ASSERT_EQ(collect(2, 2).exit_code, 0);
  EXPECT_EQ(merge({1, 2}).exit_code, 0);
  EXPECT_EQ(findings(merged_), undisturbed());
  const Outcome whole = run(folder_, curves + Words{"--resume", "-o", merged_});
  EXPECT_THAT(whole.err, HasSubstr("already complete")) << "the shards cover the plan";
}

TEST_F(Shards, shards_of_different_gpus_stay_separate) {
  ASSERT_EQ(collect(1, 2).exit_code, 0);
  Words words = curves + Words{"--shard", "2/2", "-o", shard_file(2)};
  words[2] = "simulated:H100";
  ASSERT_EQ(run(folder_, words).exit_code, 0);
  expect_exit(5, merge({1, 2}));
  EXPECT_EQ(RunStore::open(merged_, Mode::read_only).runs().size(), 2U);
}

TEST_F(Shards, surplus_shards_are_empty) {
  std::size_t empty = 0;
  for (int number = 1; number <= 9; ++number) {
    expect_exit(0, collect(number, 9));
    empty += RunStore::open(shard_file(number), Mode::read_only).runs().at(0).points == 0 ? 1U : 0U;
  }
  EXPECT_EQ(empty, 1U);
  EXPECT_EQ(merge({1, 2, 3, 4, 5, 6, 7, 8, 9}).exit_code, 0);
}

TEST_F(Shards, invalid_arguments_print_one_line) {
  for (const char* word : {"3", "0/2", "3/2", "1/x"}) {
    EXPECT_THAT(expect_exit(2, run(folder_, curves + Words{"--shard", word, "-o", shard_file(1)})).err,
                AllOf(HasSubstr("--shard"), HasSubstr("K/N")))
        << word;
    EXPECT_FALSE(std::filesystem::exists(shard_file(1)));
  }
}

const Words collected{"--device", "simulated", "-a", "N=[64:512:64]",    "-a",           "heads=2",
                      "-a",       "d=32,64",   "-a", "mask=full,causal", "--algorithms", "fa1,fa2"};

class Submit : public CommandTest {
 protected:
  Words submitting(const Words& more = {}) const {
    return Words{"submit", "--shards", "8", "-o", file_} + collected + more;
  }

  fs::path shards_ = folder_ / "run.attnscope.shards";
};

TEST_F(Submit, MergesAfterRequeuedShard) {
  const hosts::LocalSlurm slurm(folder_ / "slurm");
  if (!slurm.why_not().empty()) GTEST_SKIP() << slurm.why_not();
  const auto eventually = [&](const std::string& job, const std::string& states) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    const std::string command = "squeue --noheader --states=all --array --format=%T --jobs=" + job + " | sort -u";
    std::string now;
    while (now != states && std::chrono::steady_clock::now() < deadline) now = slurm.say(command);
    EXPECT_EQ(now, states) << job;
  };
  // BASH_ENV script: kills the first collector of shard 4.
  std::ofstream(folder_ / "kill.sh") << fmt::format(
      "[ -e '{}' ] || [ \"${{SLURM_ARRAY_TASK_ID:-}}\" != 4 ] || "
      "wait() {{ kill -KILL \"$1\"; builtin wait \"$1\"; }}\n",
      (folder_ / "again").string());
  auto environment = slurm.environment();
  environment["BASH_ENV"] = folder_ / "kill.sh";
  const Outcome submitted = expect_exit(0, run(folder_, submitting({"--", "--mem=10M"}), {.environment = environment}));
  EXPECT_THAT(submitted.out, AllOf(HasSubstr("squeue --jobs=1,2\n"), HasSubstr("scancel 1 2\n")));
  eventually("1", "COMPLETED\nFAILED\n");
  eventually("2", "CANCELLED\n");
  EXPECT_FALSE(fs::exists(file_));

  std::ofstream(folder_ / "again") << "";
  std::string requeue = submitted.out.substr(submitted.out.find("requeue: ") + 9);
  for (std::size_t at = 0; (at = requeue.find("_K", at)) != std::string::npos;) requeue.replace(at, 2, "_4");
  requeue.pop_back();
  (void)slurm.say("export SLURM_CONF; " + requeue);
  (void)slurm.say("scontrol update JobId=1_4 StartTime=now");  // otherwise Slurm waits for two minutes
  eventually("1", "COMPLETED\n");
  while (!slurm.say("squeue --noheader --name=run-merge").empty()) {
  }
  EXPECT_EQ(run(folder_, {"check", file_}).exit_code, 0) << hosts::read_file(shards_ / "merge.log");
  ASSERT_EQ(run(folder_, Words{"collect", "--quiet", "-o", folder_ / "whole.attnscope"} + collected).exit_code, 0);
  EXPECT_EQ(findings(file_), findings(folder_ / "whole.attnscope"));
}

TEST_F(Submit, DryRunPrintsBothScriptsAndWritesNothing) {
  const Outcome outcome =
      expect_exit(0, run(folder_, submitting({"--dry-run", "--", "-p", "gpu", "--gres=gpu:1", "--comment=a b"}),
                         {.environment = {{"MY_SECRET_TOKEN", "hunter2"}}}));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("#SBATCH -p gpu --gres=gpu:1 '--comment=a b'\n"),
                                 HasSubstr("--shard \"$SLURM_ARRAY_TASK_ID/8\""), HasSubstr("'N=[64:512:64]'"),
                                 HasSubstr(" merge "), Not(HasSubstr("hunter2"))));
  EXPECT_FALSE(fs::exists(shards_));
}

TEST_F(Submit, InvalidOptionsWriteNothing) {
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

/// sbatch that queues the array if `queues_array`, and else never answers. It and its child hold `alive` open.
void write_hanging_sbatch(const fs::path& file, const fs::path& alive, bool queues_array) {
  std::ofstream(file) << fmt::format(
      "#!/bin/sh\n{}exec 9>'{}'\necho started >&9\n/bin/sleep 1000 &\nwait\n",
      queues_array ? "case \"$*\" in *--array=*) echo '17;cluster'; exit 0;; esac\n" : "", alive.string());
  fs::permissions(file, fs::perms::owner_all);
}

TEST_F(Submit, HangingSbatchIsKilledWithItsChildren) {
  const fs::path alive = folder_ / "alive";
  fs::create_directory(folder_ / "bin");
  ASSERT_EQ(::mkfifo(alive.c_str(), 0600), 0);
  for (const bool queues_array : {false, true}) {
    write_hanging_sbatch(folder_ / "bin/sbatch", alive, queues_array);
    const int reader = ::open(alive.c_str(), O_RDONLY | O_NONBLOCK);
    const Outcome outcome = expect_exit(1, run(folder_, submitting({"--sbatch-timeout", "2"}),
                                               {.environment = {{"PATH", (folder_ / "bin").string()}}}));
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("sbatch"), HasSubstr("2 s"), HasSubstr(shards_.string())));
    EXPECT_EQ(outcome.err.find("scancel 17") != std::string::npos, queues_array);
    EXPECT_EQ(outcome.err.find("--dependency=afterok:17 ") != std::string::npos, queues_array);
    // Reads to the end of file: every process that held the pipe is gone.
    ::fcntl(reader, F_SETFL, 0);
    std::array<char, 64> text{};
    EXPECT_EQ(::read(reader, text.data(), text.size()), 8) << "started";
    EXPECT_EQ(::read(reader, text.data(), text.size()), 0);
    ::close(reader);
    fs::remove_all(shards_);
  }
}

TEST_F(Submit, SbatchOutputThatIsNoJobIsRejected) {
  fs::create_directory(folder_ / "bin");
  std::ofstream(folder_ / "bin/sbatch") << "#!/bin/sh\necho 'try later; $(reboot)'\n";
  fs::permissions(folder_ / "bin/sbatch", fs::perms::owner_all);
  EXPECT_THAT(expect_exit(1, run(folder_, submitting(), {.environment = {{"PATH", (folder_ / "bin").string()}}})).err,
              AllOf(HasSubstr("sbatch"), HasSubstr("try later")));
}

TEST_F(Submit, SbatchFailurePrintsReasonAndScripts) {
  EXPECT_THAT(expect_exit(1, run(folder_, submitting(), {.environment = {{"PATH", "/nowhere"}}})).err,
              HasSubstr("cannot start sbatch"));
  EXPECT_TRUE(fs::exists(shards_ / "shard.sh"));
}

}  // namespace
}  // namespace attnscope::testing
