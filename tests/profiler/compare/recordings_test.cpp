// SPDX-License-Identifier: Apache-2.0
#include "profiler/compare/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

using ::testing::ElementsAre;

/// Two runs of one plan, each with these lengths; `change` alters the second.
struct TwoRecordings {
  explicit TwoRecordings(const std::function<void(Run&)>& change,
                         const std::vector<std::int64_t>& lengths = {512, 1024}, const std::string& sources = {}) {
    Run run = fixtures::run(Provenance::measured, "a");
    run.plan = "plan";
    run.program = "1.0";
    run.options = "10 to 200";
    fixtures::Points points;
    points.add(records({512, 1024}, "kernel"), run);
    change(run);
    points.add(records(lengths, sources), run);
    table = points.table();
    for (const Row row : table.rows()) rows[table.run_index(row)].push_back(row);
  }

  static std::vector<PointRecord> records(const std::vector<std::int64_t>& lengths, const std::string& sources) {
    std::vector<PointRecord> made;
    for (const std::int64_t n : lengths) {
      PointRecord record = fixtures::ok_point(fixtures::spec("fa2", n));
      if (!sources.empty()) record.kernels[0].launch.emplace().digest = sources;
      made.push_back(record);
    }
    return made;
  }

  /// Groups of two arguments.
  [[nodiscard]] std::vector<RecordingGroup> apart() const { return group_recordings(table, rows); }
  /// Groups of one argument.
  [[nodiscard]] std::vector<RecordingGroup> together() const {
    std::vector<Row> all = rows[0];
    all.insert(all.end(), rows[1].begin(), rows[1].end());
    return group_recordings(table, std::array{all});
  }

  PointTable table;
  std::vector<std::vector<Row>> rows = std::vector<std::vector<Row>>(2);
};

TEST(Recordings, RepeatsArePooled) {
  const TwoRecordings repeated([](analysis::Run&) {});
  for (const auto& groups : {repeated.apart(), repeated.together()}) {
    ASSERT_EQ(groups.size(), 1U);
    EXPECT_EQ(groups[0].pooled, 2U);
    EXPECT_THAT(groups[0].rows, ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(groups[0].runs, ElementsAre(0, 1));
  }
}

TEST(Recordings, OtherConditionsAreNotPooled) {
  const std::vector<std::function<void(analysis::Run&)>> changes{
      [](analysis::Run& run) { run.device_id = "GPU-of-the-same-name"; },
      [](analysis::Run& run) { run.program = "1.1"; }, [](analysis::Run& run) { run.options = "5 to 200"; },
      [](analysis::Run& run) { run.provenance = Provenance::imported; },
      [](analysis::Run& run) { run.l2_source = "another GPU"; }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const TwoRecordings two(changes[i]);
    for (const auto& groups : {two.apart(), two.together()}) {
      ASSERT_EQ(groups.size(), 2U) << i;
      EXPECT_EQ(groups[1].differences.size(), 1U) << i;
      EXPECT_EQ(groups[0].pooled, 1U) << i;
    }
  }
  EXPECT_EQ(TwoRecordings([](analysis::Run&) {}, {512, 1024}, "other kernel").together().size(), 2U);
  EXPECT_EQ(TwoRecordings([](analysis::Run&) {}, {512, 1024}, "kernel").together().size(), 1U);
}

TEST(Recordings, FilesNeedOnePlanAndCommonPoints) {
  const auto same = [](analysis::Run&) {};
  EXPECT_EQ(TwoRecordings(same, {2048}).apart().size(), 2U) << "no common points";
  EXPECT_EQ(TwoRecordings(same, {2048}).together().size(), 1U);
  EXPECT_EQ(TwoRecordings([](analysis::Run& run) { run.device_name = run.device_id = "NVIDIA H100"; }, {2048})
                .together()
                .size(),
            2U)
      << "of another GPU model";
  const TwoRecordings repeated(same);
  EXPECT_EQ(group_recordings(repeated.table, std::array{repeated.rows[0], repeated.rows[0]}).size(), 2U)
      << "one run is not two recordings";
  EXPECT_EQ(repeated.apart()[0].title("a").find("a"), 0U);
  EXPECT_NE(repeated.apart()[0].title("a"), "a") << "names the number of recordings";
  EXPECT_EQ(TwoRecordings(same, {2048}).apart()[0].title("a"), "a");
}

TEST(Recordings, ImportsAreNotPooled) {
  fixtures::Points points;
  for (int i = 0; i < 2; ++i)
    points.add(TwoRecordings::records({512}, "kernel"), fixtures::run(Provenance::imported, "a"));
  EXPECT_EQ(group_recordings(points.table(), std::array<std::vector<Row>, 2>{{{0}, {1}}}).size(), 2U);
}

TEST(Recordings, RunsOfOneFileMayCompleteEachOther) {
  const auto other_plan = [](analysis::Run& run) {
    run.plan = "other";
    run.program = "1.1";
  };
  const TwoRecordings complementary(other_plan, {2048});
  ASSERT_EQ(complementary.together().size(), 1U);
  EXPECT_EQ(complementary.together()[0].pooled, 1U);
  EXPECT_EQ(complementary.apart().size(), 2U);
  EXPECT_EQ(TwoRecordings([](analysis::Run& run) { run.plan = "other"; }, {1024, 2048}).together()[0].pooled, 2U);
  EXPECT_EQ(TwoRecordings([](analysis::Run& run) { run.plan = "other"; }, {1024, 2048}).apart().size(), 2U);
}

}  // namespace
}  // namespace attnscope::analysis
