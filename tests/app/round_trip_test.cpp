// SPDX-License-Identifier: Apache-2.0
// Exported and imported points are compared like the original recordings.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "storage/run_store.h"
#include "sweeps.h"

namespace attnscope::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int rounds = 6;

/// Deterministic noise in [-1, 1].
double scatter(int point, int round, int sample, int recording) {
  return std::sin(1 + 12.9898 * point + 78.233 * round + 37.719 * sample + 4.581 * recording);
}

/// Two algorithms at six lengths; times at the places in `factors` are multiplied.
fs::path recorded(const fs::path& file, int recording, const std::map<int, double>& factors) {
  CompleteRun run;
  run.header.device = {.uuid = "GPU-1", .simulated = false, .ordinal = 0, .limits = {}};
  run.header.device.limits.name = "GPU X";
  run.header.preset = "custom";
  run.header.plan_hash = "1";
  run.header.rounds = rounds;
  run.header.order_seed = 7;
  for (int place = 0; place < 12; ++place) {
    PointRecord& point = run.points.emplace_back();
    point.spec.algorithm = place % 2 == 0 ? "fa1" : "fa2";
    const std::int64_t n = 512 << (place / 2);
    point.spec.problem.n_q = point.spec.problem.n_k = n;
    point.spec.problem.heads_q = point.spec.problem.heads_kv = 16;
    point.spec.problem.d = 64;
    point.spec.tile = {.br = 64, .bc = 64};
    const auto factor = factors.find(place);
    // Above 75 us, so that the assumed noise of short kernels does not matter.
    const double ns =
        (place % 2 == 0 ? 1.2 : 1.0) * static_cast<double>(n * n) * (factor == factors.end() ? 1 : factor->second);
    point.kernels.emplace_back();
    for (int round = 0; round < rounds; ++round) {
      RoundRecord& found = point.rounds.emplace_back(RoundRecord{.round = round, .kernels = {}});
      KernelRecord& kernel = found.kernels.emplace_back();
      kernel.metrics = {{"dram_read_bytes", 1e6 * static_cast<double>(round + place), "byte", Provenance::measured}};
      for (int sample = 0; sample < 4; ++sample) {
        const double slow = sample == 3 ? 1.01 : 1;  // makes the median of a round differ from that of all samples
        kernel.samples_ns.push_back(ns * slow * (1 + 0.002 * scatter(place, round, sample, recording)));
      }
      found.clocks.emplace().sm_clock_hz = 1.7e9 + 1e6 * scatter(place, round, 9, recording);
    }
  }
  run.header.planned_points = run.points.size();
  RunStore::open(file, RunStore::Mode::collect).add_complete_runs({&run, 1});
  return file;
}

class RoundTrip : public CommandTest {
 protected:
  /// Exports and imports the file in that format.
  fs::path again(const fs::path& file, const Words& form) {
    const fs::path table = folder_ / fmt::format("{}-{}-table", file.stem().string(), form.back());
    const fs::path import = folder_ / fmt::format("{}-{}.attnscope", file.stem().string(), form.back());
    EXPECT_EQ(run(folder_, Words{"export", file, "-o", table} + form).exit_code, 0);
    const Outcome outcome = expect_exit(0, run(folder_, {"import", table, "-o", import}));
    EXPECT_EQ(outcome.err, "") << "all columns are known";
    return import;
  }
  /// Imports a hand-written table.
  fs::path imported(const std::string& name, const std::string& text, const std::string& says = "") {
    std::ofstream(folder_ / (name + ".csv")) << text;
    const fs::path file = folder_ / (name + ".attnscope");
    EXPECT_THAT(expect_exit(0, run(folder_, {"import", folder_ / (name + ".csv"), "-o", file})).err, HasSubstr(says));
    return file;
  }
  nlohmann::json rows(const std::string& base, const std::string& other) {
    const Outcome outcome = expect_exit(0, run(folder_, {"compare", base, "--candidate", other, "--format", "json"}));
    return nlohmann::json::parse(outcome.out)["rows"];
  }
};

constexpr std::array<std::string_view, 12> of_a_verdict{"verdict",   "baseline_ns", "candidate_ns", "ratio",
                                                        "ratio_low", "ratio_high",  "rounds",       "spread_source",
                                                        "spread",    "p_same",      "p_change",     "baseline_cycles"};

TEST_F(RoundTrip, imported_recordings_give_equal_verdicts) {
  const fs::path before = recorded(folder_ / "before.attnscope", 1, {});
  const fs::path after = recorded(folder_ / "after.attnscope", 2, {{1, 1.05}, {4, 0.9}, {7, 1.012}});
  const nlohmann::json wanted = rows(before, after);
  ASSERT_EQ(wanted.size(), 12U);
  std::map<std::string, int> verdicts;
  for (const nlohmann::json& row : wanted) ++verdicts[row["verdict"].get<std::string>()];
  EXPECT_EQ(verdicts, (std::map<std::string, int>{{"UNDECIDED", 1}, {"FASTER", 1}, {"SAME", 9}, {"SLOWER", 1}}));
  EXPECT_EQ(wanted[0]["spread_source"], "rounds");
  const nlohmann::json in_turns = rows(before.string() + ":algo:fa1", before.string() + ":algo:fa2");
  for (const Words& form : {Words{"--format", "csv"}, {"--format", "csv", "--long"}, {"--format", "json"}}) {
    SCOPED_TRACE(form.back());
    const fs::path base = again(before, form);
    const nlohmann::json got = rows(base, again(after, form));
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      for (const std::string_view key : of_a_verdict) EXPECT_EQ(got[i][key], wanted[i][key]) << key << " of row " << i;
    }
    const nlohmann::json turns = rows(base.string() + ":algo:fa1", base.string() + ":algo:fa2");
    ASSERT_EQ(turns.size(), 6U);
    for (std::size_t i = 0; i < turns.size(); ++i) {
      EXPECT_EQ(turns[i]["interleaved"], "yes");
      EXPECT_EQ(turns[i]["verdict"], in_turns[i]["verdict"]);
      EXPECT_EQ(turns[i]["ratio"], in_turns[i]["ratio"]);
    }
    for (const nlohmann::json& row : rows(before, base)) {
      EXPECT_EQ(row["verdict"], "SAME");
      EXPECT_EQ(row["ratio"], 1);
      EXPECT_EQ(row["spread_source"], "rounds");
      EXPECT_EQ(row["baseline_ns"], row["candidate_ns"]);
    }
  }
}

TEST_F(RoundTrip, simulated_points_stay_simulated) {
  const fs::path file = folder_ / "simulated.attnscope";
  expect_exit(0, run(folder_, {"collect", "--device", "simulated", "--algorithms", "fa2", "-a", "N=1024", "-o", file}));
  for (const Words& form : {Words{"--format", "csv"}, {"--format", "csv", "--long"}, {"--format", "json"}}) {
    const nlohmann::json got = rows(file, again(file, form));
    ASSERT_EQ(got.size(), 1U);
    EXPECT_EQ(got[0]["candidate_provenance"], "simulated");
    EXPECT_EQ(got[0]["verdict"], "SAME");
  }
}

TEST_F(RoundTrip, interval_is_assumed_without_rounds) {
  const std::string header = "device,algorithm,N,heads,d,time_median_ns,time_q1_ns,time_q3_ns\n";
  const fs::path one = imported("one", header + "GPU X,mine,512,16,64,1000,990,1010\n");
  const fs::path two = imported("two", header + "GPU X,mine,512,16,64,1200,1190,1210\n");
  const auto compared = [&](const char* format) {
    return run(folder_, {"compare", one, "--candidate", two, "--format", format}).out;
  };
  EXPECT_THAT(compared("text"), HasSubstr(", assumed]"));
  EXPECT_THAT(compared("csv"), HasSubstr(",assumed,"));
  const nlohmann::json document = nlohmann::json::parse(compared("json"));
  EXPECT_EQ(document["rows"][0]["spread_source"], "assumed");
  // The stated quartiles only widen the assumed interval of 5%.
  EXPECT_LT(document["rows"][0]["ratio_low"].get<double>(), 1.2 / 1.05);
  EXPECT_GT(document["rows"][0]["ratio_high"].get<double>(), 1.2 * 1.05);
  EXPECT_EQ(document["answers"][0]["spread_source"], "assumed");
}

TEST_F(RoundTrip, repeated_rows_are_not_rounds) {
  const std::string header = "device,algorithm,N,heads,d,time_ns\n";
  std::string rows_of_one;
  std::string rows_of_two;
  std::string declared = "round,device,algorithm,N,heads,d,time_ns\n";
  std::string declared_other = declared;
  for (int round = 0; round < 6; ++round) {
    rows_of_one += fmt::format("GPU X,mine,512,16,64,{}\n", 1000 + round % 3);
    rows_of_two += fmt::format("GPU X,mine,512,16,64,{}\n", 1050 + round % 3);
    declared += fmt::format("{},GPU X,mine,512,16,64,{}\n", 5 - round, 1000 + round % 3);
    declared_other += fmt::format("{},GPU X,mine,512,16,64,{}\n", round, 1050 + round % 3);
  }
  const std::string says = "repeat a point: 5";
  const nlohmann::json undeclared =
      rows(imported("one", header + rows_of_one, says), imported("two", header + rows_of_two, says));
  ASSERT_EQ(undeclared.size(), 1U);
  EXPECT_EQ(undeclared[0]["rounds"], 1);
  EXPECT_EQ(undeclared[0]["spread_source"], "assumed");
  EXPECT_EQ(undeclared[0]["baseline_ns"], 1001);
  const nlohmann::json of_rounds = rows(imported("three", declared), imported("four", declared_other));
  ASSERT_EQ(of_rounds.size(), 1U);
  EXPECT_EQ(of_rounds[0]["rounds"], 6);
  EXPECT_EQ(of_rounds[0]["spread_source"], "rounds");
  EXPECT_EQ(of_rounds[0]["verdict"], "SLOWER");

  std::ofstream(folder_ / "twice.csv") << declared << "3,GPU X,mine,512,16,64,1003\n";
  const Outcome twice =
      expect_exit(1, run(folder_, {"import", folder_ / "twice.csv", "-o", folder_ / "twice.attnscope"}));
  EXPECT_THAT(twice.err, HasSubstr("mine fp16 batch 1 heads 16 N 512 d 64 L2 unknown on GPU X: duplicate round 3"));
  std::ofstream(folder_ / "cut.csv") << "algorithm,N,heads,d,samples,samples_ns\nmine,512,16,64,3,10 20\n";
  EXPECT_THAT(run(folder_, {"import", folder_ / "cut.csv", "-o", folder_ / "cut.attnscope"}).err,
              HasSubstr("line 2, column 'samples_ns': 2 samples"));
}

}  // namespace
}  // namespace attnscope::testing
