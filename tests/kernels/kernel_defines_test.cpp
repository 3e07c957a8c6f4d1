// SPDX-License-Identifier: Apache-2.0
#include "kernels/kernel_defines.h"
#include "tests/kernels/tiling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attnscope {
namespace {

using testing::ElementsAre;

TEST(KernelDefines, DescribeProblemAndTile) {
  const AttentionProblem p{.dtype = DType::bf16,
                           .mask = Mask::causal,
                           .n_q = 64,
                           .n_k = 64,
                           .d = 128,
                           .dropout = 0.5,
                           .page = 16,
                           .deterministic = true};
  const Config tile = Tiling{.br = 64, .bc = 32, .raster = Raster::heads_fastest};
  EXPECT_THAT(kernel_defines({"ATTN_BC", "ATTN_BF16", "ATTN_D", "ATTN_BR", "ATTN_MASK"}, p, tile),
              ElementsAre("ATTN_BF16=1", "ATTN_D=128", "ATTN_BR=64", "ATTN_BC=32", "ATTN_MASK=1"));
  EXPECT_THAT(kernel_defines({"ATTN_DROPOUT", "ATTN_DETERMINISTIC", "ATTN_PAGED", "ATTN_HEADS_FASTEST"}, p, tile),
              ElementsAre("ATTN_DROPOUT=1", "ATTN_DETERMINISTIC=1", "ATTN_PAGED=1", "ATTN_HEADS_FASTEST=1"));
  EXPECT_THAT(kernel_defines({"ATTN_DROPOUT", "ATTN_PAGED"}, {}, Config()),
              ElementsAre("ATTN_DROPOUT=0", "ATTN_PAGED=0"));
}

std::string short_description(std::vector<std::string> defines) {
  return describe_defines(defines);
}

TEST(KernelDefines, HaveShortDescriptions) {
  EXPECT_EQ(
      short_description({"ATTN_BF16=0", "ATTN_D=64", "ATTN_BR=128", "ATTN_BC=64", "ATTN_MASK=0", "ATTN_DROPOUT=0"}),
      " d64 128x64 fp16");
  EXPECT_EQ(short_description({"ATTN_BF16=1", "ATTN_D=64", "ATTN_BR=128", "ATTN_MASK=5", "ATTN_DROPOUT=1",
                               "ATTN_DETERMINISTIC=1", "ATTN_PAGED=1", "ATTN_HEADS_FASTEST=1", "ATTN_STAGES=2"}),
            " d64 128 bf16 mask5 dropout deterministic paged heads-fastest ATTN_STAGES=2");
  EXPECT_EQ(short_description({"ATTN_MASK=1"}), " causal");
}

TEST(KernelDefines, SplitIntoNameAndValue) {
  EXPECT_EQ(macro_name("ATTN_WARPS=4"), "ATTN_WARPS");
  EXPECT_EQ(macro_value("ATTN_WARPS=4"), "4");
  EXPECT_EQ(macro_name("ATTN_TRACE"), "ATTN_TRACE");
  EXPECT_EQ(macro_value("ATTN_TRACE"), "");
  EXPECT_EQ(macro_label("ATTN_HEADS_FASTEST"), "heads fastest");
}

}  // namespace
}  // namespace attnscope
