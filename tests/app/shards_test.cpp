// SPDX-License-Identifier: Apache-2.0
// A plan in parts by the real program: each in its own file, joined again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <algorithm>
#include <csignal>
#include <filesystem>

#include "findings.h"
#include "storage/run_store.h"
#include "subprocess.h"
#include "sweeps.h"

namespace attnscope::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Mode = RunStore::Mode;

/// Eight curves of eight points.
const Words curves{"collect", "--device", "simulated", "-a", "N=[64:512:64]",    "-a",
                   "heads=2", "-a",       "d=32,64",   "-a", "mask=full,causal", "--algorithms",
                   "fa1,fa2", "--quiet"};
constexpr std::size_t plan_points = 64;

class Shards : public ::testing::Test {
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

  TemporaryFolder folder_;
  std::filesystem::path merged_ = folder_ / "merged.attnscope";
};

TEST_F(Shards, of_a_plan_come_together_as_the_one_run_that_it_is) {
  std::size_t points = 0;
  for (int number = 1; number <= 3; ++number) {
    const Outcome outcome = collect(number, 3);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const RunSummary shard = RunStore::open(shard_file(number), Mode::read_only).runs().at(0);
    EXPECT_THAT(shard.shards, ElementsAre(Shard{number, 3}));
    EXPECT_EQ(shard.planned_points, plan_points) << "the plan's, whole";
    EXPECT_EQ(shard.state, StoredRunState::complete);
    EXPECT_EQ(shard.points % 8, 0U) << "curves are whole";
    points += shard.points;
  }
  EXPECT_EQ(points, plan_points);
  const Outcome outcome = merge({3, 1, 2});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const auto runs = RunStore::open(merged_, Mode::read_only).runs();
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].state, StoredRunState::complete);
  EXPECT_EQ(findings(merged_), undisturbed());
}

TEST_F(Shards, that_are_missing_are_named_and_can_be_added_later) {
  for (const int number : {1, 2, 3}) ASSERT_EQ(collect(number, 4).exit_code, 0);
  const Outcome two = merge({1, 3});
  EXPECT_EQ(two.exit_code, 5);
  EXPECT_THAT(two.err, AllOf(HasSubstr("4 shards"), HasSubstr("shards 2, 4")));
  EXPECT_NE(RunStore::open(merged_, Mode::read_only).runs().at(0).state, StoredRunState::complete);
  const Outcome three = run(folder_, {"merge", merged_, shard_file(2), "-o", folder_ / "three.attnscope"});
  EXPECT_EQ(three.exit_code, 5);
  EXPECT_THAT(three.err, AllOf(HasSubstr("shards 4"), Not(HasSubstr("--resume")))) << "a merged file is no shard";
  ASSERT_EQ(collect(4, 4).exit_code, 0);
  const auto all = folder_ / "all.attnscope";
  const Outcome rest = run(folder_, {"merge", merged_, shard_file(2), shard_file(4), "-o", all});
  EXPECT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_EQ(findings(all), undisturbed());
}

TEST_F(Shards, alone_are_not_the_plan) {
  ASSERT_EQ(collect(1, 2).exit_code, 0);
  EXPECT_EQ(merge({1}).exit_code, 5);
  EXPECT_EQ(RunStore::open(merged_, Mode::read_only).runs().at(0).state, StoredRunState::interrupted);
}

TEST_F(Shards, an_unfinished_one_is_named_and_resumes) {
  ASSERT_EQ(collect(1, 2).exit_code, 0);
  {
    Process process(folder_, curves + Words{"--shard", "2/2", "--jsonl", "-o", shard_file(2)}, slow_reader);
    for (int points = 0; points < 3;) {
      const auto line = process.read_line();
      ASSERT_TRUE(line);
      points += line->starts_with("{\"event\":\"point\"") ? 1 : 0;
    }
    process.send(SIGINT);
    EXPECT_EQ(process.wait().exit_code, 5);
  }
  const Outcome early = merge({1, 2});
  EXPECT_EQ(early.exit_code, 5);
  EXPECT_THAT(early.err, AllOf(HasSubstr("2.attnscope"), HasSubstr("cancelled"), HasSubstr("--resume")));
  const Outcome resumed = collect(2, 2, {"--resume"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(merge({1, 2}).exit_code, 0);
  EXPECT_EQ(findings(merged_), undisturbed());
}

TEST_F(Shards, of_plans_that_changed_between_them_stay_apart_and_are_missed) {
  ASSERT_EQ(collect(1, 2).exit_code, 0);
  ASSERT_EQ(collect(2, 2, {"--no-verify"}).exit_code, 0);
  const Outcome outcome = merge({1, 2});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("shards 1"), HasSubstr("shards 2")));
  EXPECT_EQ(RunStore::open(merged_, Mode::read_only).runs().size(), 2U);
}

TEST_F(Shards, recorded_again_are_another_recording_or_refused) {
  ASSERT_EQ(collect(1, 2).exit_code, 0);
  const Outcome again = collect(1, 2);
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, AllOf(HasSubstr("--resume"), HasSubstr("--collection")));
  const Outcome second = run(folder_, curves + Words{"--shard", "2/2", "-o", shard_file(1)});
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_THAT(second.err, HasSubstr("a file of its own"));
  EXPECT_EQ(collect(1, 2, {"--resume"}).exit_code, 0);
  const Outcome other = collect(1, 2, {"--collection", "second"});
  EXPECT_EQ(other.exit_code, 0) << other.err;
  EXPECT_EQ(RunStore::open(shard_file(1), Mode::read_only).runs().size(), 2U);
  EXPECT_EQ(run(folder_, curves + Words{"--resume", "-o", shard_file(1)}).exit_code, 0);
  const auto runs = RunStore::open(shard_file(1), Mode::read_only).runs();
  ASSERT_EQ(runs.size(), 3U) << "a part of the plan is not the plan";
  EXPECT_EQ(runs[2].points, plan_points);
}

TEST_F(Shards, go_on_on_another_gpu_of_the_kind_as_often_as_they_are_stopped) {
  const auto stopped_on = [&](const std::string& device, int points, const Words& more) {
    Words words = curves + Words{"--shard", "1/2", "--jsonl", "-o", shard_file(1)} + more;
    words[2] = device;
    std::erase(words, "--quiet");
    Process process(folder_, words, slow_reader);
    for (int seen = 0; seen < points;) {
      const auto line = process.read_line();
      ASSERT_TRUE(line);
      seen += line->starts_with("{\"event\":\"point\"") ? 1 : 0;
    }
    process.send(SIGINT);
    EXPECT_EQ(process.wait().exit_code, 5);
  };
  stopped_on("simulated#1", 4, {});
  stopped_on("simulated#2", 1, {"--resume"});
  Words words = curves + Words{"--shard", "1/2", "--resume", "-o", shard_file(1)};
  words[2] = "simulated#2";
  const Outcome outcome = run(folder_, words);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(run(folder_, {"check", shard_file(1)}).exit_code, 0);
  ASSERT_EQ(collect(2, 2).exit_code, 0);
  EXPECT_EQ(merge({1, 2}).exit_code, 0);
  EXPECT_EQ(findings(merged_), undisturbed());
  const Outcome whole = run(folder_, curves + Words{"--resume", "-o", merged_});
  EXPECT_THAT(whole.err, HasSubstr("complete already")) << "all shards are the plan";
}

TEST_F(Shards, of_gpus_of_two_kinds_are_no_parts_of_one_run) {
  ASSERT_EQ(collect(1, 2).exit_code, 0);
  Words words = curves + Words{"--shard", "2/2", "-o", shard_file(2)};
  words[2] = "simulated:H100";
  ASSERT_EQ(run(folder_, words).exit_code, 0);
  const Outcome outcome = merge({1, 2});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_EQ(RunStore::open(merged_, Mode::read_only).runs().size(), 2U);
}

TEST_F(Shards, more_than_there_are_groups_leave_some_without_points) {
  std::size_t empty = 0;
  for (int number = 1; number <= 9; ++number) {
    const Outcome outcome = collect(number, 9);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    empty += RunStore::open(shard_file(number), Mode::read_only).runs().at(0).points == 0 ? 1U : 0U;
  }
  EXPECT_EQ(empty, 1U);
  EXPECT_EQ(merge({1, 2, 3, 4, 5, 6, 7, 8, 9}).exit_code, 0);
}

TEST_F(Shards, bad_words_are_one_clear_line) {
  for (const char* word : {"3", "0/2", "3/2", "1/x"}) {
    const Outcome outcome = run(folder_, curves + Words{"--shard", word, "-o", shard_file(1)});
    EXPECT_EQ(outcome.exit_code, 2) << word;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("--shard"), HasSubstr("K/N"))) << word;
    EXPECT_FALSE(std::filesystem::exists(shard_file(1)));
  }
}

}  // namespace
}  // namespace attnscope::testing
