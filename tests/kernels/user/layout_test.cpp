// SPDX-License-Identifier: Apache-2.0
#include "kernels/user/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/model/gpu_values.h"
#include "kernels/user/user_kernel.h"
#include "tests/kernels/user/manifest_text.h"
#include "tests/message_matchers.h"

namespace attnscope::user {
namespace {

using test::HasWords;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string with_layout(const std::string& layout) {
  std::string text = template_text();
  const std::string before = R"("attnscope_kernel": 1,)";
  return text.replace(text.find(before), before.size(), before + " \"layout\": " + layout + ",");
}

Message refused(const std::string& layout) {
  const auto manifest = parse_manifest(with_layout(layout), "/somewhere");
  return manifest ? Message() : manifest.error();
}

class LayoutTest : public ::testing::Test {
 protected:
  void plan(const std::string& layout, const AttentionProblem& p) {
    auto manifest = parse_manifest(with_layout(layout), "/somewhere");
    ASSERT_TRUE(manifest) << manifest.error();
    const UserKernel kernel(std::move(manifest).value());
    const TileShape tile{.br = 32, .bc = 32};
    ASSERT_FALSE(kernel.refusal(p, tile, gpu_)) << kernel.refusal(p, tile, gpu_)->reason;
    plan_ = kernel.plan(p, tile, gpu_);
  }
  [[nodiscard]] const BufferSpec& buffer(const std::string& name) const {
    return *std::ranges::find(plan_.buffers, name, &BufferSpec::name);
  }
  [[nodiscard]] std::vector<std::int32_t> integers(const std::string& name) const {
    const std::vector<std::byte>& bytes = buffer(name).contents->bytes();
    std::vector<std::int32_t> values(bytes.size() / sizeof(std::int32_t));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  const DeviceLimits gpu_ = *find_gpu("h100");
  AttentionPlan plan_;
};

constexpr AttentionProblem square{.batch = 2, .heads_q = 4, .heads_kv = 4, .n_q = 100, .n_k = 100, .d = 64};

TEST_F(LayoutTest, HeadsOfARowAreAdjacent) {
  plan(R"("bnhd")", {.batch = 2, .heads_q = 4, .heads_kv = 2, .n_q = 10, .n_k = 7, .d = 64});
  const Strides q = *buffer("q").place.strides;
  const Strides k = *buffer("k").place.strides;
  EXPECT_EQ(q.at(1, 3, 9), ((1 * 10 + 9) * 4 + 3) * 64);
  EXPECT_EQ(k.at(1, 1, 6), ((1 * 7 + 6) * 2 + 1) * 64);
  EXPECT_EQ(buffer("k").bytes, 2 * 7 * 2 * 64 * 2);
  EXPECT_FALSE(buffer("lse").place.strides);
}

TEST_F(LayoutTest, PackedMatricesAreOneBuffer) {
  plan(R"("bn3hd")", square);
  std::vector<std::string> own;
  for (const BufferSpec& each : plan_.buffers) {
    if (each.place.within.empty()) own.push_back(each.name);
  }
  EXPECT_THAT(own, ElementsAre("qkv", "o", "lse"));
  EXPECT_EQ(buffer("qkv").bytes, 2 * 100 * 3 * 4 * 64 * 2);
  EXPECT_EQ(buffer("qkv").fill, BufferFill::inputs);
  std::int64_t which = 0;
  for (const char* name : {"q", "k", "v"}) {
    const Place& place = buffer(name).place;
    EXPECT_EQ(place.within, "qkv");
    EXPECT_EQ(place.offset / 2 + place.strides->at(1, 2, 42), (((1 * 100 + 42) * 3 + which) * 4 + 2) * 64) << name;
    ++which;
  }
  EXPECT_EQ(plan_.buffer_bytes(), buffer("qkv").bytes + buffer("o").bytes + buffer("lse").bytes);
}

TEST_F(LayoutTest, EntriesOfDifferentLengthsAreConcatenated) {
  std::string text = with_layout(R"("thd")");
  const std::string mask = R"("mask": ["full")";
  text.replace(text.find(mask), mask.size(), mask + R"(, "lengths")");
  auto manifest = parse_manifest(text, "/somewhere");
  ASSERT_TRUE(manifest) << manifest.error();
  AttentionProblem p{.batch = 3, .heads_q = 2, .heads_kv = 2, .n_q = 5, .n_k = 40, .d = 64};
  p.mask = parse_mask("lengths:40/7/12").value();
  plan_ = UserKernel(std::move(manifest).value()).plan(p, TileShape{.br = 32, .bc = 32}, gpu_);
  EXPECT_THAT(integers("k_starts"), ElementsAre(0, 40, 47, 59));
  EXPECT_THAT(integers("q_starts"), ElementsAre(0, 5, 10, 15));
  EXPECT_EQ(buffer("k").bytes, 59 * 2 * 64 * 2);
  const Strides k = *buffer("k").place.strides;
  EXPECT_EQ(k.at(2, 1, 3), ((47 + 3) * 2 + 1) * 64);
  EXPECT_EQ(k.rows(1, 40), 7);
}

TEST_F(LayoutTest, CustomStridesAndBuffers) {
  plan(R"json({ "k": { "in": "kv", "strides": ["2 * n_k * heads_kv * d", "n_k * d", "d"] },
            "v": { "in": "kv", "at": "n_k * heads_kv * d", "strides": ["2 * n_k * heads_kv * d", "n_k * d", "d"] },
            "o": { "strides": ["heads * n_q * (d + 8)", "n_q * (d + 8)", "d + 8"] } })json",
       square);
  EXPECT_EQ(buffer("v").place.offset, 100 * 4 * 64 * 2);
  EXPECT_EQ(buffer("kv").bytes, 2 * 2 * 100 * 4 * 64 * 2);
  EXPECT_EQ(buffer("o").bytes, (((7 * 100) + 99) * 72 + 64) * 2);
  EXPECT_FALSE(buffer("q").place.strides);
}

TEST_F(LayoutTest, RejectsInvalidLayouts) {
  EXPECT_THAT(text(refused(R"("nhd")")), HasWords("bnhd bn3hd thd"));
  EXPECT_THAT(text(refused(R"({ "dq": { "strides": [1, 1, 1] } })")), HasWords("dq q k v o"));
  EXPECT_THAT(text(refused(R"({ "q": { "strides": [1, 1] } })")), HasWords("strides"));
  EXPECT_THAT(text(refused(R"({ "q": { "at": 1, "strides": [1, 1, 1] } })")), HasWords("in"));
  EXPECT_THAT(text(refused(R"({ "q": { "in": "k", "strides": [1, 1, 1] } })")), HasWords("k"));
  const std::string both = R"({ "q": { "in": "all", "strides": [1, 1, 1] },
                                "o": { "in": "all", "strides": [1, 1, 1] } })";
  EXPECT_THAT(text(refused(both)), HasWords("all inputs outputs"));
}

TEST_F(LayoutTest, RejectsOverlappingRows) {
  const auto reason = [&](const std::string& layout, const AttentionProblem& p) {
    const UserKernel kernel(parse_manifest(with_layout(layout), "/somewhere").value());
    const auto refusal = kernel.refusal(p, TileShape{.br = 32, .bc = 32}, gpu_);
    return refusal ? text(refusal->reason) : std::string();
  };
  const std::string close = R"({ "q": { "strides": ["n_q * heads * d", "n_q * d", "d / 2"] } })";
  EXPECT_THAT(reason(close, square), HasWords("q d / 2 32 64"));
  const std::string heads = R"({ "q": { "strides": ["n_q * heads * d", "d", "heads * d - 8"] } })";
  EXPECT_THAT(reason(heads, square), HasWords("q 256"));
  AttentionProblem decode = square;
  decode.n_q = 1;
  EXPECT_EQ(reason(close, decode), "");  // a single row needs no stride
  AttentionProblem grouped = square;
  grouped.heads_kv = 2;
  EXPECT_THAT(reason(R"("bn3hd")", grouped), HasWords("bn3hd heads K/V"));
  const auto shared = [](const char* at, const char* batch) {
    return fmt::format(R"json({{ "k": {{ "in": "kv", "strides": ["{1}", "n_k * d", "d"] }},
                               "v": {{ "in": "kv", "at": "{0}", "strides": ["{1}", "n_k * d", "d"] }} }})json",
                       at, batch);
  };
  EXPECT_EQ(reason(shared("n_k * heads * d", "2 * n_k * heads * d"), square), "") << "in turn, by batch entry";
  EXPECT_EQ(reason(shared("batch * n_k * heads * d", "n_k * heads * d"), square), "") << "one behind the other";
  EXPECT_THAT(reason(shared("0", "2 * n_k * heads * d"), square), HasWords("k v kv"));
  EXPECT_THAT(reason(shared("n_k * heads * d - d", "2 * n_k * heads * d"), square), HasWords("k v kv"));
  EXPECT_THAT(reason(shared("n_k * heads * d", "2 * n_k * heads * d - d"), square), HasWords("k v kv"));
  // Each row has Q of four heads, K and V of two.
  const std::string rows = R"json({ "q": { "in": "qkv", "strides": ["n_q * 8 * d", "d", "8 * d"] },
                                   "k": { "in": "qkv", "at": "4 * d", "strides": ["n_q * 8 * d", "d", "8 * d"] },
                                   "v": { "in": "qkv", "at": "6 * d", "strides": ["n_q * 8 * d", "d", "8 * d"] } })json";
  EXPECT_EQ(reason(rows, grouped), "");
  EXPECT_THAT(reason(rows, square), HasWords("v qkv"));
  EXPECT_THAT(reason(R"json({ "q": { "strides": ["1 / (n_q - 100)", "d", "d"] } })json", square),
              HasSubstr("1 / (n_q - 100)"));
}

}  // namespace
}  // namespace attnscope::user
