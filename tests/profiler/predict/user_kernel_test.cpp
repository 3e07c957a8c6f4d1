// SPDX-License-Identifier: Apache-2.0
// Model values of a user-defined kernel: only those that its statement provides.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "kernels/user/new_kernel.h"
#include "kernels/user/user_kernel.h"
#include "messages/explorer.h"
#include "profiler/predict/exploration.h"
#include "profiler/predict/explored_tables.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

Registry with_kernel(bool law) {
  std::string text;
  for (const user::NewKernelFile& each : user::new_kernel_files()) {
    if (each.path.ends_with(".json")) text = each.text;
  }
  for (std::size_t at = text.find("@NAME@"); at != std::string::npos; at = text.find("@NAME@"))
    text.replace(at, 6, "own");
  const std::string stated = "\"law\": { \"like\": \"fa2\" }";
  if (!law) text.replace(text.find(stated), stated.size(), "\"layout\": \"bhnd\"");
  Registry registry;
  registry.add(std::make_unique<user::UserKernel>(user::parse_manifest(text, ".").value()));
  return registry;
}

Exploration explored(bool law) {
  return explore({.spec = fixtures::spec("own", 4096, 64, 32)}, fixtures::h200(), with_kernel(law));
}

TEST(UserKernelTest, HasNoTimeAndTheBytesOfItsLaw) {
  const Exploration e = explored(true);
  ASSERT_FALSE(e.refusal);
  EXPECT_EQ(e.ns, 0);
  EXPECT_FALSE(e.can_predict_time);
  const Exploration fa2 =
      explore({.spec = fixtures::spec("fa2", 4096, 64, 32)}, fixtures::h200(), built_in_algorithms());
  EXPECT_EQ(e.traffic, fa2.traffic);
  EXPECT_EQ(e.kernels.at(0).occupancy.blocks_per_sm, 8) << "256 threads per block";
}

TEST(UserKernelTest, UnknownValuesAreEmpty) {
  const Exploration law = explored(true);
  const Exploration none = explored(false);
  const Table table = exploration_table({.exploration = &law}, ExploredColumn{.exploration = &none}, with_kernel(true));
  const std::map<std::string, std::pair<bool, bool>> expected{
      {text(msg::explorer::time{}), {false, false}},       {text(msg::explorer::rate{}), {false, false}},
      {text(msg::explorer::dram_bytes{}), {false, false}}, {text(msg::explorer::l2_bytes{}), {true, false}},
      {text(msg::explorer::occupancy{}), {false, false}},  {text(msg::explorer::blocks_per_sm{}), {false, false}},
      {text(msg::explorer::threads{}), {true, true}}};
  std::size_t met = 0;
  for (std::size_t row = 0; row < table.rows; ++row) {
    const auto found = expected.find(table.columns[0].cell(row).text);
    if (found == expected.end()) continue;
    ++met;
    EXPECT_EQ(table.columns[1].cell(row).number.has_value(), found->second.first) << found->first;
    EXPECT_EQ(table.columns[2].cell(row).number.has_value(), found->second.second) << found->first;
  }
  EXPECT_EQ(met, expected.size());
}

}  // namespace
}  // namespace attnscope::analysis
