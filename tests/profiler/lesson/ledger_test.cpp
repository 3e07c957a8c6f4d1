// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/ledger.h"

#include <gtest/gtest.h>

#include "kernels/model/io_model.h"
#include "profiler/lesson/hierarchy.h"

namespace attnscope::analysis::lesson {
namespace {

constexpr std::int64_t mib = 1 << 20;

AttentionProblem square(std::int64_t n, std::int64_t heads = 1, std::int64_t batch = 1) {
  return {.batch = batch, .heads_q = heads, .heads_kv = heads, .n_q = n, .n_k = n, .d = 64};
}

TEST(Ledger, OneHeadAtEightThousand) {
  const Ledger ledger = ledger_of(square(8192));
  EXPECT_EQ(ledger.find(Tensor::s)->one(), 128 * mib);
  EXPECT_EQ(ledger.find(Tensor::p)->one(), 128 * mib);
  EXPECT_EQ(ledger.scores_moved(), 512 * mib);
  EXPECT_EQ(ledger.find(Tensor::q)->one(), mib);
  EXPECT_EQ(ledger.find(Tensor::m)->one() + ledger.find(Tensor::l)->one(), 64 * 1024);
  EXPECT_EQ(ledger.find(Tensor::lse)->one(), 32 * 1024);
  EXPECT_EQ(ledger.find(Tensor::dq), nullptr);
}

TEST(Ledger, HeadsAndGroups) {
  // Article 003: 32 heads x batch 8 at N 4096 are 8 GB of scores.
  EXPECT_EQ(ledger_of(square(4096, 32, 8)).find(Tensor::s)->all(), std::int64_t{8} << 30);
  AttentionProblem grouped = square(2048, 8);
  grouped.heads_kv = 2;
  EXPECT_EQ(ledger_of(grouped).kept(), (8 + 2 + 2 + 8) * (mib / 4));
}

TEST(Ledger, TheStandardCountIsTheScoresMovedAndWhatIsKeptTwice) {
  // 4 N^2 + 4 N d: the ledger's own sum against the papers' count.
  const Ledger ledger = ledger_of(square(1000, 3));
  EXPECT_EQ(ledger.scores_moved() + ledger.kept(), standard_attention_bytes(ledger.problem));
}

TEST(Ledger, BesideTheMemoriesOfAGpu) {
  const DeviceLimits& h200 = *find_gpu("H200");
  const auto levels = level_sizes(ledger_of(square(8192)), h200);
  ASSERT_EQ(levels.size(), 4U);
  EXPECT_EQ(levels[0].bytes, 132 * 65536 * 4);
  EXPECT_EQ(levels[2].bytes, 60 * mib);
  EXPECT_DOUBLE_EQ(levels[2].scores_over_it, 128.0 / 60);
  EXPECT_EQ(levels[2].heads_fit, 0);
  EXPECT_GT(levels[3].heads_fit, 1000);
  // 5608^2 x 2 bytes are 62,899,328 of 62,914,560; 5609^2 are 62,921,762.
  EXPECT_EQ(longest_within(60 * mib, DType::fp16), 5608);
  EXPECT_EQ(longest_within(1, DType::fp16), 0);
}

TEST(Hierarchy, DatasheetWhereNothingWasMeasured) {
  const DeviceLimits& h200 = *find_gpu("H200");
  const Hierarchy all = hierarchy_of(h200);
  EXPECT_FALSE(all.measured);
  EXPECT_FALSE(all.at(Rung::l2).latency_ns);
  EXPECT_FALSE(all.at(Rung::l2).in_flight_bytes);
  EXPECT_NEAR(all.ridge(), 989.4e12 / 4.8e12, 1);
  EXPECT_EQ(all.at(Rung::dram).bandwidth->source, CeilingSource::datasheet);
  EXPECT_NEAR(all.at(Rung::host).bandwidth->value, 63e9, 1e8);
  EXPECT_NEAR(hierarchy_of(*find_gpu("A100")).at(Rung::host).bandwidth->value, 31.5e9, 1e8);
}

TEST(Hierarchy, MeasuredFirst) {
  namespace key = ceiling_key;
  const auto ceiling = [](std::string_view name, double value) {
    return Ceiling{.name = std::string(name), .value = value, .unit = std::string(find_ceiling(name)->unit)};
  };
  const std::vector<Ceiling> measured{ceiling(key::dram_read, 4.64e12), ceiling(key::latency_dram, 337),
                                      ceiling(key::wgmma_fp16, 885.6e12), ceiling(key::shared_memory_read, 33.19e12)};
  const Hierarchy all = hierarchy_of(*find_gpu("H200"), measured);
  EXPECT_EQ(all.tensor_flops.source, CeilingSource::measured);
  EXPECT_EQ(all.at(Rung::dram).bandwidth->source, CeilingSource::measured);
  ASSERT_TRUE(all.at(Rung::dram).in_flight_bytes);
  EXPECT_NEAR(all.at(Rung::dram).in_flight_bytes->value, 4.64e12 * 337e-9, 1);
  EXPECT_EQ(all.at(Rung::dram).in_flight_bytes->source, CeilingSource::derived);
  EXPECT_NEAR(all.ridge(), 885.6 / 4.64, 1e-9);
  EXPECT_FALSE(all.at(Rung::shared).latency_ns);
}

}  // namespace
}  // namespace attnscope::analysis::lesson
