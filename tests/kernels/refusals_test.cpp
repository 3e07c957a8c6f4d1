// SPDX-License-Identifier: Apache-2.0
// Problems, tiles and knobs that each algorithm rejects per GPU, with the reason's code and values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/fa2/fa2_shape.h"
#include "kernels/registry.h"
#include "tests/kernels/programs.h"
#include "tests/message_matchers.h"

namespace attnscope {
namespace {

using test::h200;
using test::IsReason;
using test::words_of;

std::int64_t whole_number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// One head with 512 queries and keys and d 128, modified as in "d=64 mask=causal".
AttentionProblem parse_problem(const std::string& changes) {
  AttentionProblem p{.n_q = 512, .n_k = 512, .d = 128};
  for (const std::string& word : words_of(changes)) {
    const std::string name = word.substr(0, word.find('='));
    const std::string value = word.substr(name.size() + 1);
    if (name == "n") p.n_q = p.n_k = whole_number(value);
    if (name == "n_q") p.n_q = whole_number(value);
    if (name == "n_k") p.n_k = whole_number(value);
    if (name == "d") p.d = whole_number(value);
    if (name == "batch") p.batch = whole_number(value);
    if (name == "heads") p.heads_q = p.heads_kv = whole_number(value);
    if (name == "heads_q") p.heads_q = whole_number(value);
    if (name == "page") p.page = whole_number(value);
    if (name == "gpus") p.gpus = static_cast<int>(whole_number(value));
    if (name == "gpu_order") p.gpu_order = parse_gpu_order(value).value();
    if (name == "dtype") p.dtype = parse_dtype(value).value();
    if (name == "pass") p.pass = parse_pass(value).value();
    if (name == "mask") p.mask = test::mask_of(value);
    if (name == "dropout") p.dropout = std::stod(value);
  }
  return p;
}

Config parse_config(const std::string& text) {
  std::vector<std::string> words = words_of(text);
  const std::size_t cross = words.front().find('x');
  Config config(TileShape{.br = static_cast<int>(whole_number(words.front().substr(0, cross))),
                          .bc = static_cast<int>(whole_number(words.front().substr(cross + 1)))});
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    const std::string value = words[i].substr(equals + 1);
    const bool is_number = value.find_first_not_of("-0123456789") == std::string::npos;
    config.knobs.set(words[i].substr(0, equals), is_number ? KnobValue(whole_number(value)) : KnobValue(value));
  }
  return config;
}

struct RefusalCase {
  const char* algorithm;
  const char* problem;
  const char* config;
  const char* refusal;  ///< code of the reason (default group: "refusal.") and words in its text; empty: feasible
  const char* gpu = "h200";
};

const std::vector<RefusalCase>& refusal_cases() {
  static const std::vector<RefusalCase> all{
      {"fa2", "d=72", "64x64", "head_dim 72"},
      {"fa2", "d=64", "24x64", "tile_side Br 24"},
      {"fa1", "d=64", "64x0", "tile_side Bc 0"},
      {"fa1", "d=64", "64x-16", "tile_side Bc -16"},
      {"fa2", "d=256", "1024x64", "threads fa2 fwd 2,048 H200 1,024"},
      {"fa2", "d=256", "512x16", "registers fa2 fwd"},
      {"fa2", "", "128x512", "shared_memory fa2 fwd 294,912 H200 232,448"},
      {"fa2", "", "64x64", "capability 8.0 V100 7.0", "volta"},
      {"fa1", "n_q=0", "64x64", "problem.at_least_one n_q 0"},
      {"fa2", "batch=1048576 n_q=1048576 n_k=16 d=64", "16x16", "over fa2 fwd 68,719,476,736 2,147,483,647"},
      {"fa2", "n_q=2048 n_k=2048 d=64 mask=blocks:128:butterfly", "192x128", "mask_blocks Br 192 128"},
      {"fa2", "gpus=4", "64x64", "feature fa2 feature.several_gpus"},
      {"splitkv", "n_q=8 d=64", "16x32 raster=heads_fastest", "no_such_knob splitkv raster splits stages"},
      {"fa1", "n_q=8 d=64", "16x32 raster=heads_fastest", "no_knobs fa1 raster"},
      {"fa1", "n_q=8 d=64 pass=bwd", "16x32 raster=heads_fastest", "no_knobs fa1 raster"},
      {"fa2", "n_q=8 d=64", "16x32 raster=heads_fastest", ""},
      {"fa2", "n_q=8 d=64 pass=bwd", "16x32 raster=heads_fastest", ""},
      {"naive", "n_q=8 d=64", "16x32 raster=heads_fastest", ""},
      {"naive", "n_q=8 d=64 pass=bwd", "16x32 raster=heads_fastest", ""},
      {"naive", "d=256", "128x512", "shared_memory naive qk 327,680 H200 232,448"},
      {"naive",
       "pass=fwd+bwd mask=window:9:4+lengths:ramp+blocks:48:butterfly batch=2 n_q=113 n_k=203 d=64 dropout=0.5",
       "128x64", ""},
      {"naive", "page=16", "64x64", "feature naive feature.paged_kv"},
      {"naive", "", "64x64 splits=2", "no_such_knob naive splits raster"},
      {"naive", "n_q=1 n_k=1048576", "64x64", ""},
      {"naive", "n=256", "16x384", ""},
      {"naive", "n=256 pass=bwd", "16x384", "registers naive tn"},
      {"fa2", "pass=bwd", "64x128", ""},
      {"fa2", "pass=bwd", "64x256", "registers fa2 bwd"},
      {"fa1", "pass=bwd", "64x256", "registers fa1 bwd"},
      {"fa2", "pass=bwd", "256x128", "registers fa2 bwd 312"},
      {"fa2", "pass=bwd", "64x128 warps=4", "kernel_knob fa2 bwd warps"},
      {"fa2", "pass=fwd+bwd", "64x128", ""},
      {"fa1", "pass=fwd+bwd", "64x224", "registers fa1 bwd"},
      {"fa1", "", "64x224", ""},
      {"fa2", "d=64", "128x64 warps=3", "warps fa2 fwd 128 3"},
      {"fa2", "d=64", "128x64 stages=2", "no_such_knob fa2 stages raster warps"},
      {"fa1", "d=64", "128x64 warps=4", "no_knobs fa1 warps"},
      {"fa3", "", "128x128", ""},
      {"fa3", "", "48x64", "warpgroup_rows fa3 fwd 48"},
      {"fa3", "", "64x272", "over Bc 272 256"},
      {"fa3", "", "128x64 stages=4", "over stages 4 3"},
      {"fa3", "", "128x64 warps=8", "no_such_knob fa3 warps raster stages rotation quantising"},
      {"fa3", "", "192x96", "multiplying_registers fa3 fwd 164"},
      {"fa3", "", "128x144 stages=3", "shared_memory fa3 fwd 254,112 H200 232,448"},
      {"fa3", "", "128x128", "instruction fa3 9.0 A100 8.0", "a100"},
      {"fa3", "", "128x128", "instruction fa3 9.0 B200 10.0", "b200"},
      {"fa3", "pass=bwd", "64x128", ""},
      {"fa3", "pass=bwd", "128x128", "kernel_tile fa3 bwd 64x128 128x128"},
      {"fa3", "pass=bwd", "64x128 raster=heads_fastest", "kernel_knob fa3 bwd raster"},
      {"fa3", "pass=bwd", "64x128", "instruction fa3 9.0 A100 8.0", "a100"},
      {"fa3", "pass=bwd dropout=0.1", "64x128", "feature fa3 bwd feature.dropout"},
      {"fa3", "pass=bwd mask=blocks:128:butterfly", "64x128", "feature fa3 bwd feature.block_mask"},
      {"fa3", "pass=bwd d=80", "64x128", "kernel_head_dim fa3 bwd 80"},
      {"fa3", "dtype=fp8", "128x128", ""},
      {"fa2", "dtype=fp8", "128x128", "dtype fa2 fp8 fp16 bf16"},
      {"fa2", "dtype=fp32", "128x128", "dtype fa2 fp32 fp16 bf16"},
      {"fa3", "dtype=fp32", "128x128", "dtype fa3 fp32 fp16 bf16 fp8"},
      {"fa3", "dtype=fp8", "64x128", "only_tile fa3 fp8 128x128 64x128"},
      {"fa3", "dtype=fp8 d=96", "128x128", "kernel_head_dim fa3 fp8 96"},
      {"fa3", "dtype=fp8 dropout=0.1", "128x128", "feature fa3 fp8 feature.dropout"},
      {"fa3", "dtype=fp8 pass=bwd", "128x128", "feature fa3 fp8 feature.backward_pass"},
      {"fa3", "", "128x128 rotation=hadamard", "only_8_bit rotation fp8"},
      {"splitkv", "heads_q=8 n_q=1 n_k=1000", "16x64", ""},
      {"splitkv", "heads_q=8 n_q=9 n_k=1000", "64x64", "over heads_q heads_kv n_q 72 64"},
      {"splitkv", "heads_q=8 n_q=4 n_k=1000", "16x64", "too_few_rows Br 16 32"},
      {"splitkv", "heads_q=8 n_q=1 n_k=1000", "80x64", "over Br 80 64"},
      {"splitkv", "heads_q=8 n_q=1 n_k=1000", "16x528", "over Bc 528 512"},
      {"splitkv", "heads_q=8 n_q=1 n_k=1000", "16x64 stages=9", "over stages 9 8"},
      {"splitkv", "heads_q=8 n_q=1 n_k=1000", "16x64 splits=-1", "refusal.knob_value splits 0 4096 -1"},
      {"splitkv", "heads_q=8 n_q=1 n_k=1000", "16x64 warps=4", "no_such_knob splitkv warps splits stages"},
      {"splitkv", "heads_q=8 n_q=1 n_k=1000", "16x512", "shared_memory splitkv partial"},
      {"splitkv", "heads_q=8 n_q=1 n_k=1000", "16x64 splits=4096", ""},
      {"splitkv", "heads=1048576 n_q=1 n_k=1000", "16x64 splits=4096",
       "over splitkv partial 4,294,967,296 2,147,483,647"},
      {"splitkv", "heads_q=8 n_q=1 n_k=1000 pass=bwd", "16x64", "feature splitkv feature.backward_pass"},
      {"splitkv", "heads_q=8 n_q=1 n_k=1000 dropout=0.1", "16x64", "feature splitkv feature.dropout"},
      {"splitkv", "heads_q=8 n_q=1 n_k=1000 mask=window:10:inf", "16x64", "feature splitkv feature.sliding_window"},
      {"splitkv", "heads_q=8 n_q=1 n_k=1000 mask=blocks:64:butterfly", "16x64", "feature splitkv feature.block_mask"},
      {"splitkv", "dtype=fp8 heads_q=8 n_q=1 n_k=65536", "16x128", ""},
      {"splitkv", "dtype=fp8 heads_q=8 n_q=1 n_k=65536", "16x128", "instruction splitkv fp8 8.9 A100 8.0", "a100"},
      {"splitkv", "dtype=fp8 heads_q=8 n_q=1 n_k=65536", "16x64", "", "rtx-4090"},
      {"splitkv", "dtype=fp8 heads_q=8 n_q=1 n_k=4194305", "16x128", "over n_k 4,194,305 4,194,304"},
      {"splitkv", "dtype=fp8 heads_q=8 n_q=1 n_k=1000 pass=bwd", "16x128", "feature splitkv feature.backward_pass"},
      {"splitkv", "dtype=fp8 heads_q=8 n_q=1 n_k=1000 d=80", "16x128", "kernel_head_dim splitkv fp8 80"},
      {"linattn", "d=64", "64x64", ""},
      {"linattn", "d=64 pass=bwd", "64x64", "feature linattn feature.backward_pass"},
      {"linattn", "d=64 mask=window:64:0", "64x64", "feature linattn feature.sliding_window"},
      {"linattn", "d=64 mask=lengths:ramp", "64x64", "feature linattn feature.key_lengths"},
      {"linattn", "d=64 dropout=0.5", "64x64", "feature linattn feature.dropout"},
      {"linattn", "d=256", "64x64", "head_dim 256"},
      {"linattn", "d=64", "1024x64", "threads linattn outputs"},
      {"ring", "n=1024 heads=2 d=64 gpus=4", "128x128", ""},
      {"ulysses", "n=1024 heads=2 d=64 gpus=4", "128x128", "heads_of_gpus ulysses 4 2"},
      {"allgather", "n=1024 heads=2 d=64 gpus=4 gpu_order=striped", "128x128", "token_order allgather striped"},
      {"ring", "n=1023 heads=2 d=64 gpus=4 gpu_order=striped", "128x128", "unequal_pieces 1023"},
      {"ring", "n_q=1024 n_k=2048 d=64 gpus=4", "128x128", "as_many_queries ring 1024 2048"},
      {"ring", "n=1024 d=64 gpus=65", "128x128", "problem.gpus 64 65"},
  };
  return all;
}

Refusal::Cause cause_of(std::string_view code) {
  using Cause = Refusal::Cause;
  if (code == "refusal.threads") return Cause::threads;
  if (code == "refusal.shared_memory") return Cause::shared_memory;
  if (code == "refusal.registers" || code == "refusal.multiplying_registers") return Cause::registers;
  if (code == "refusal.capability" || code == "refusal.instruction") return Cause::architecture;
  return Cause::shape;
}

/// "feature.dropout" as the text of that message.
std::string expand(const std::string& word) {
  return word.starts_with("feature.") ? text(catalog_message(word, {})) : word;
}

TEST(Refusal, EachCauseHasItsReason) {
  for (const RefusalCase& each : refusal_cases()) {
    SCOPED_TRACE(std::string(each.algorithm) + " " + each.problem + " " + each.config + " " + each.gpu);
    DeviceLimits gpu = *find_gpu(each.gpu == std::string_view("volta") ? "h200" : each.gpu);
    if (each.gpu == std::string_view("volta")) {
      gpu.name = "V100";
      gpu.compute_major = 7;
    }
    const auto refused = built_in_algorithms()
                             .find(each.algorithm)
                             ->refusal(parse_problem(each.problem), parse_config(each.config), gpu);
    std::vector<std::string> expected = words_of(each.refusal);
    ASSERT_EQ(refused.has_value(), !expected.empty()) << (refused ? text(refused->reason) : "feasible");
    if (!refused) continue;
    const std::string code =
        expected.front().find('.') == std::string::npos ? "refusal." + expected.front() : expected.front();
    std::string words;
    for (std::size_t i = 1; i < expected.size(); ++i) words += expand(expected[i]) + " ";
    EXPECT_EQ(refused->cause, cause_of(code));
    EXPECT_THAT(refused->reason, IsReason(code, words));
  }
}

/// The kernels derive chunk widths from the same limit, so both must agree.
TEST(Refusal, RegisterLimitMatchesKernelShapes) {
  for (const int d : {64, 128, 256}) {
    for (int br = 16; br <= 1024; br += 16) {
      const auto refused = built_in_algorithms().find("fa2")->refusal({.d = d}, TileShape{.br = br, .bc = 16}, h200());
      if (refused && refused->cause == Refusal::Cause::threads) continue;
      const bool by_registers = refused && refused->cause == Refusal::Cause::registers;
      EXPECT_EQ(by_registers, fa2::register_estimate(br, 16, d) > fa2::register_limit(br, d))
          << "Br " << br << " d " << d;
    }
  }
}

}  // namespace
}  // namespace attnscope
