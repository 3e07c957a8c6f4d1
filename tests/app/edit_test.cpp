// SPDX-License-Identifier: Apache-2.0
// The command `edit`, and its effect on other commands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "storage/run_store.h"
#include "sweeps.h"

namespace attnscope::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Edit : public CommandTest {
 protected:
  void SetUp() override {
    for (const char* length : {"N=128", "N=256"}) {
      expect_exit(0, run(folder_, {"collect", "--device", "simulated", "-q", "-a", length, "--algorithms", "fa2", "-o",
                                   file_.string()}));
    }
  }
  Outcome edit(const Words& words) { return run(folder_, Words{"edit", file_.string()} + words); }
  static RunHeader header() {
    RunHeader header;
    header.device.uuid = "GPU-1";
    header.device.limits = *find_gpu("H200");
    return header;
  }
  json list() { return json::parse(edit({"--list", "--json"}).out)["rows"]; }
  std::string refused(int code, const Words& words) {
    const Outcome outcome = expect_error(code, edit(words));
    return outcome.err;
  }
};

TEST_F(Edit, selects_run_by_number_uid_or_name) {
  const Outcome named =
      expect_exit(0, edit({"--run", "1", "--name", "before the fix", "--tag", "base", "--tag", "h100", "--json"}));
  const json changed = json::parse(named.out)["rows"];
  ASSERT_EQ(changed.size(), 1U);
  EXPECT_EQ(changed[0]["run"], 1);
  EXPECT_EQ(changed[0]["tags"], "base h100");
  const std::string uid = changed[0]["uid"];

  EXPECT_EQ(edit({"--run", uid, "--note=-why", "--hide"}).exit_code, 0);
  EXPECT_EQ(edit({"--run", "before the fix", "--untag", "h100"}).exit_code, 0);
  EXPECT_EQ(list()[0], (json{{"run", 1},
                             {"name", "before the fix"},
                             {"tags", "base"},
                             {"hidden", "yes"},
                             {"deleted", "no"},
                             {"note", "-why"},
                             {"uid", uid}}));
  const Outcome info = run(folder_, {"info", file_, "--json"});
  EXPECT_THAT(info.out, AllOf(HasSubstr("\"name\": \"before the fix\""), HasSubstr("\"tags\": \"base\"")));
  for (const std::string filter : {"run:\"before the fix\"", "tag:base", "-tag:h100 N:128"}) {
    EXPECT_THAT(run(folder_, {"export", file_, "--filter", filter}).out,
                AllOf(HasSubstr(",128,"), Not(HasSubstr(",256,"))))
        << filter;
  }
}

TEST_F(Edit, deletes_and_restores) {
  EXPECT_EQ(edit({"--run", "2", "--delete"}).exit_code, 0);
  EXPECT_THAT(run(folder_, {"export", file_}).out, AllOf(HasSubstr(",128,"), Not(HasSubstr(",256,"))));
  EXPECT_EQ(run(folder_, {"check", file_}).exit_code, 0);
  EXPECT_EQ(list()[1]["deleted"], "yes");
  EXPECT_EQ(edit({"--run", "2", "--restore"}).exit_code, 0);
  EXPECT_THAT(run(folder_, {"export", file_}).out, HasSubstr(",256,"));
}

TEST_F(Edit, changes_the_second_run) {
  EXPECT_EQ(edit({"--run", "1", "--name", "2"}).exit_code, 0);
  EXPECT_EQ(edit({"--run", "2", "--name", "new", "--note", "why", "--hide"}).exit_code, 0) << "not the run named 2";
  EXPECT_EQ(list()[0]["name"], "2");
  EXPECT_EQ(list()[0]["hidden"], "no");
  EXPECT_EQ(list()[1]["name"], "new");
  EXPECT_EQ(list()[1]["hidden"], "yes");
  EXPECT_EQ(edit({"--run", "new", "--no-name", "--show"}).exit_code, 0);
  EXPECT_TRUE(list()[1]["name"].is_null());
  EXPECT_EQ(list()[1]["hidden"], "no");
  EXPECT_EQ(list()[1]["note"], "why");
  EXPECT_EQ(edit({"--run", "2", "--no-note"}).exit_code, 0);
  EXPECT_TRUE(list()[1]["note"].is_null());
  const json unchanged = json::parse(edit({"--run", "1", "--run", "2", "--tag", "a", "--json"}).out)["rows"];
  EXPECT_EQ(unchanged.size(), 2U);
  EXPECT_THAT(edit({"--run", "2", "--tag", "a"}).out, HasSubstr("nothing to change"));
}

TEST_F(Edit, names_up_to_twelve_runs) {
  for (const auto& [more, all] : {std::pair(10, true), {1, false}}) {
    RunStore::open(file_, RunStore::Mode::collect)
        .add_complete_runs(
            std::vector<CompleteRun>(static_cast<std::size_t>(more), CompleteRun{.header = header(), .points = {}}));
    const std::string said = refused(2, {"--run", "99", "--hide"});
    EXPECT_THAT(said, HasSubstr("11, 12"));
    EXPECT_EQ(said.find("12, ...") == std::string::npos, all) << said;
  }
}

TEST_F(Edit, rejects_invalid_arguments) {
  EXPECT_THAT(refused(2, {"--run", "7", "--hide"}), AllOf(HasSubstr("run 7"), HasSubstr("1, 2"), HasSubstr("--list")));
  EXPECT_THAT(refused(2, {"--run", "1"}), HasSubstr("--name"));
  EXPECT_THAT(refused(2, {"--hide"}), HasSubstr("--run"));
  EXPECT_THAT(refused(2, {"--list", "--run", "1"}), HasSubstr("--list"));
  EXPECT_THAT(refused(2, {"--run", "1", "--tag", "two words"}), HasSubstr("\"two words\""));
  EXPECT_EQ(edit({"--run", "1", "--run", "2", "--name", "same"}).exit_code, 0);
  EXPECT_THAT(refused(2, {"--run", "same", "--hide"}), HasSubstr("runs 1, 2"));
  {
    const RunStore held = RunStore::open(file_, RunStore::Mode::collect);
    EXPECT_THAT(refused(1, {"--run", "1", "--hide"}), HasSubstr("is in use by another"));
  }
  fs::remove(file_);
  EXPECT_THAT(refused(1, {"--run", "1", "--hide"}), HasSubstr("does not exist"));
  EXPECT_FALSE(fs::exists(file_)) << "edit creates no file";
}

}  // namespace
}  // namespace attnscope::testing
