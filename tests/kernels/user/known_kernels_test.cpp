// SPDX-License-Identifier: Apache-2.0
// Kernels that a process knows by what files of results say of them.
#include "kernels/user/known_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kernels/model/gpu_values.h"
#include "kernels/registry.h"
#include "kernels/user/new_kernel.h"
#include "statement_text.h"
#include "tests/temporary_folder.h"

namespace attnscope::user {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string named(const std::string& name) {
  std::string text = template_text();
  for (std::size_t at = 0; (at = text.find("my-kernel", at)) != std::string::npos; at += name.size()) {
    text.replace(at, 9, name);
  }
  return text;
}

const AttentionProblem problem{.batch = 1, .heads_q = 2, .heads_kv = 2, .n_q = 1024, .n_k = 1024, .d = 64};
const TileShape tile{.br = 64, .bc = 64};

TEST(KnownFromFile, IsModelledAndHasNothingThatCouldBeMeasured) {
  const Registry& before = known_algorithms();
  EXPECT_EQ(text(know_from_file(named("read-only"), "runs.attnscope")), "");
  EXPECT_EQ(before.find("read-only"), nullptr) << "whoever looks at the registry goes on to see what was there";
  const Algorithm* kernel = known_algorithms().find("read-only");
  ASSERT_NE(kernel, nullptr);
  EXPECT_TRUE(kernel->facts().for_reading);
  const DeviceLimits& gpu = *find_gpu("h100");
  const AttentionModel model = kernel->model(problem, tile, gpu);
  EXPECT_FALSE(model.refusal.has_value());
  EXPECT_EQ(model.traffic(), built_in_algorithms().find("fa2")->model(problem, tile, gpu).traffic());
  for (const KernelLaunch& launch : kernel->plan(problem, tile, gpu).launches) {
    ASSERT_NE(launch.source.own, nullptr);
    EXPECT_TRUE(launch.source.own->file.empty());
    EXPECT_TRUE(launch.source.own->include_folders.empty());
    EXPECT_EQ(launch.source.file, "read-only/read-only.cu") << "as people know it";
  }
  EXPECT_EQ(text(know_from_file(named("read-only"), "other.attnscope")), "") << "the same again";
  EXPECT_EQ(known_algorithms().find("read-only"), kernel);
}

TEST(KnownFromFile, OfTwoStatementsOfOneNameNeithersLawIsTakenAndOneLineSaysSo) {
  EXPECT_EQ(text(know_from_file(named("two-ways"), "a.attnscope")), "");
  const std::string other = named("two-ways") + " ";
  EXPECT_THAT(text(know_from_file(other, "b.attnscope")),
              AllOf(HasSubstr("two-ways"), HasSubstr("a.attnscope"), HasSubstr("b.attnscope"), HasSubstr("--kernel")));
  EXPECT_FALSE(known_algorithms().find("two-ways")->facts().states_bytes);
  EXPECT_EQ(text(know_from_file(other, "b.attnscope")), "") << "said once";
  EXPECT_EQ(text(know_from_file(named("two-ways"), "a.attnscope")), "");
  EXPECT_FALSE(known_algorithms().find("two-ways")->facts().states_bytes);
}

TEST(KnownFromFile, OneFileMayStateAKernelInTwoWays) {
  EXPECT_EQ(text(know_from_file(named("twice"), "a.attnscope")), "");
  EXPECT_THAT(text(know_from_file(named("twice") + " ", "a.attnscope")), HasSubstr("twice in two ways"));
  EXPECT_FALSE(known_algorithms().find("twice")->facts().states_bytes);
}

TEST(KnownFromFile, GivesWayToTheUsersOwn) {
  const attnscope::testing::TemporaryFolder folder;
  const auto statement = write_new_kernel("own-one", folder.path());
  ASSERT_TRUE(statement) << statement.error();
  EXPECT_EQ(text(know_from_file(named("own-one"), "a.attnscope")), "");
  EXPECT_EQ(text(load_known_kernel(*statement)), "");
  ASSERT_NE(known_algorithms().find("own-one"), nullptr);
  EXPECT_FALSE(known_algorithms().find("own-one")->facts().for_reading);
  const std::string own = named("own-one");
  EXPECT_EQ(text(know_from_file(own, "b.attnscope")), "") << "it is known anyway";
  EXPECT_THAT(text(know_from_file(own + " ", "b.attnscope")),
              AllOf(HasSubstr("b.attnscope"), HasSubstr("own-one"), HasSubstr("another statement")));
  EXPECT_EQ(text(know_from_file(own + "  ", "b.attnscope")), "") << "said once";
  EXPECT_FALSE(known_algorithms().find("own-one")->facts().for_reading);
}

TEST(KnownFromFile, WhatIsNoStatementIsNamedOnceAndNotTaken) {
  EXPECT_THAT(text(know_from_file("{}", "bad.attnscope")), AllOf(HasSubstr("bad.attnscope"), HasSubstr("missing")));
  EXPECT_EQ(text(know_from_file("{}", "bad.attnscope")), "");
  EXPECT_THAT(text(know_from_file(named("fa2"), "bad.attnscope")), HasSubstr("built-in algorithm 'fa2'"));
  EXPECT_FALSE(known_algorithms().find("fa2")->facts().foreign);
}

}  // namespace
}  // namespace attnscope::user
