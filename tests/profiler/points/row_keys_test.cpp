// SPDX-License-Identifier: Apache-2.0
#include "profiler/points/row_keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profiler/plan/fields.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

class RowKeys : public ::testing::Test {
 protected:
  /// Two runs of the same configurations; the second lacks some.
  RowKeys() {
    std::vector<PointRecord> all;
    for (const std::int64_t n : {512, 1024}) {
      for (const char* algorithm : {"fa1", "fa2"}) {
        for (const double dropout : {0.0, 0.1}) {
          for (const Knobs& knobs : {Knobs{}, Knobs{{"raster", "snake"}}, Knobs{{"splits", 4}}}) {
            PointSpec spec = fixtures::spec(algorithm, n);
            spec.problem.dropout = dropout;
            spec.knobs = knobs;
            all.push_back(fixtures::ok_point(spec));
          }
        }
      }
    }
    points.add(all);
    all.erase(all.begin() + 3);
    all.push_back(all.front());
    points.add(all);
    table.emplace(points.table());
    for (const Row row : table->rows()) (table->run_index(row) == 0 ? base : other).push_back(row);
  }
  fixtures::Points points;
  std::optional<PointTable> table;
  std::vector<Row> base;
  std::vector<Row> other;
};

TEST_F(RowKeys, GroupsMatchTextComparison) {
  std::vector<RowKey> keys{key_of_knobs(*table)};
  for (const FieldColumn& column : table->points().fields()) keys.push_back(key_of_field(*table, column.field().name));
  const RowGroups groups(keys, base, other);
  std::map<std::string, std::array<std::vector<Row>, 2>> by_text;
  for (const Row row : base) by_text[describe(table->spec(row))].at(0).push_back(row);
  for (const Row row : other) by_text[describe(table->spec(row))].at(1).push_back(row);
  ASSERT_EQ(groups.size(), by_text.size());
  Row before = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const RowGroups::Sides sides = groups[i];
    const Row first = sides[0].empty() ? sides[1].front() : sides[0].front();
    const auto& wanted = by_text.at(describe(table->spec(first)));
    EXPECT_TRUE(std::ranges::equal(sides[0], wanted[0]));
    EXPECT_TRUE(std::ranges::equal(sides[1], wanted[1]));
    EXPECT_GE(first, before) << "in order of first occurrence";
    before = first;
  }
  EXPECT_EQ(groups[0][1].size(), 2U) << "repeated point";
  EXPECT_TRUE(groups[3][1].empty());
  EXPECT_EQ(RowGroups(keys, {}, {}).size(), 0U);
}

TEST_F(RowKeys, KeyOfOneKnobIgnoresOthers) {
  const std::vector<RowKey> keys{key_of_knob(*table, "splits")};
  const RowGroups groups(keys, base, other);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0][0].size(), 16U) << "a missing knob equals an empty text";
  EXPECT_EQ(groups[1][0].size(), 8U);
}

TEST_F(RowKeys, CommonAndEqualKeys) {
  EXPECT_TRUE(have_equal_keys(key_of_field(*table, "algorithm"), base, other));
  const std::vector<Row> fa1(base.begin(), base.begin() + 6);
  const std::vector<Row> fa2(base.begin() + 6, base.begin() + 12);
  EXPECT_FALSE(have_common_key(key_of_field(*table, "algorithm"), fa1, fa2));
  EXPECT_TRUE(have_common_key(key_of_field(*table, "algorithm"), fa1, base));
  EXPECT_FALSE(have_equal_keys(key_of_field(*table, "algorithm"), fa1, base));
  EXPECT_TRUE(have_common_key(key_of_extents(*table), fa1, fa2));
}

TEST_F(RowKeys, EqualSpecsComparesFields) {
  for (const Row a : base) {
    for (const Row b : other) EXPECT_EQ(equal_specs(*table, a, b), table->spec(a) == table->spec(b)) << a << " " << b;
  }
}

}  // namespace
}  // namespace attnscope::analysis
