// SPDX-License-Identifier: Apache-2.0
// What analysis says of a user's kernel: what its statement says, and nothing that it does not.
#include <gtest/gtest.h>

#include <string>

#include "kernels/user/new_kernel_files.h"
#include "kernels/user/user_kernel.h"
#include "profiler/predict/exploration.h"
#include "profiler/predict/explored_figures.h"
#include "profiler/tilemap/tile_picture.h"
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
  registry.add(std::make_unique<user::UserKernel>(user::parse_statement(text, ".").value()));
  return registry;
}

Exploration explored(bool law) {
  return explore({.spec = fixtures::spec("own", 4096, 64, 32)}, fixtures::h200(), with_kernel(law));
}

TEST(OwnKernel, HasNoTimeAndWhatBytesItsLawHas) {
  const Exploration e = explored(true);
  ASSERT_FALSE(e.refusal);
  EXPECT_EQ(e.ns, 0);
  EXPECT_FALSE(e.predicts_time);
  const Exploration fa2 =
      explore({.spec = fixtures::spec("fa2", 4096, 64, 32)}, fixtures::h200(), built_in_algorithms());
  EXPECT_EQ(e.traffic, fa2.traffic);
  EXPECT_EQ(e.kernels.at(0).occupancy.blocks_per_sm, 8) << "256 threads a block";
}

TEST(OwnKernel, FiguresThatNothingStatesAreEmpty) {
  const Exploration law = explored(true);
  const Exploration none = explored(false);
  const std::vector<const Exploration*> both{&law, &none};
  for (const ComparedFigure& row : compare(both)) {
    if (row.figure->key == "time" || row.figure->key == "rate" || row.figure->key == "dram_bytes") {
      EXPECT_FALSE(row.values[0].value) << row.figure->key;
      EXPECT_FALSE(row.values[1].value) << row.figure->key;
    }
    if (row.figure->key == "l2_bytes") {
      EXPECT_TRUE(row.values[0].value);
      EXPECT_FALSE(row.values[1].value) << "it states no bytes";
    }
    if (row.figure->key == "blocks_per_sm" || row.figure->key == "occupancy") {
      EXPECT_FALSE(row.values[1].value) << "it depends on registers, which nobody stated";
    }
    if (row.figure->key == "threads") {
      EXPECT_TRUE(row.values[1].value);
    }
  }
}

TEST(OwnKernel, APictureOfItsTilesHasNoOrder) {
  const Registry registry = with_kernel(true);
  const PointSpec spec = fixtures::spec("own", 256, 64, 32);
  const auto picture = tile_picture(*registry.find("own"), spec.problem, spec.config(), fixtures::h200(), 0, {});
  ASSERT_TRUE(picture);
  EXPECT_TRUE(picture->kernel.empty());
  EXPECT_EQ(picture->q_tiles, 4);
}

}  // namespace
}  // namespace attnscope::analysis
