// SPDX-License-Identifier: Apache-2.0
// Problems, tiles and knobs that each algorithm rejects per GPU, with their messages.
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

namespace attnscope {
namespace {

using test::h200;
using ::testing::StartsWith;

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

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
  const char* refusal;  ///< cause and start of the reason; empty: feasible
  const char* gpu = "h200";
};

const std::vector<RefusalCase>& refusal_cases() {
  static const std::vector<RefusalCase> all{
      {"fa2", "d=72", "64x64", "shape: d 72 is not supported; supported: 16, 32, 48, 64, 80,"},
      {"fa2", "d=64", "24x64", "shape: Br must be a positive multiple of 16, not 24."},
      {"fa1", "d=64", "64x0", "shape: Bc must be a positive multiple of 16, not 0."},
      {"fa1", "d=64", "64x-16", "shape: Bc must be a positive multiple of 16, not -16."},
      {"fa2", "d=256", "1024x64", "threads: fa2 fwd needs 2,048 threads per block; NVIDIA H200 allows 1,024."},
      {"fa2", "d=256", "512x16", "registers: fa2 fwd needs about"},
      {"fa2", "", "128x512",
       "shared memory: fa2 fwd needs 294,912 bytes of shared memory per block; NVIDIA H200 has 232,448."},
      {"fa2", "", "64x64", "architecture: the kernels need compute capability 8.0 or higher; V100 has 7.0.", "volta"},
      {"fa1", "n_q=0", "64x64", "shape: n_q must be at least 1, not 0."},
      {"fa2", "batch=1048576 n_q=1048576 n_k=16 d=64", "16x16",
       "shape: fa2 fwd grid size is 68,719,476,736, over 2,147,483,647"},
      {"fa2", "n_q=2048 n_k=2048 d=64 mask=blocks:128:butterfly", "192x128",
       "shape: Br 192 does not divide the mask's block size 128."},
      {"fa2", "gpus=4", "64x64", "shape: fa2 does not support multi-GPU"},
      {"splitkv", "n_q=8 d=64", "16x32 raster=heads_fastest",
       "shape: splitkv has no knob 'raster'; available: splits, stages."},
      {"fa1", "n_q=8 d=64", "16x32 raster=heads_fastest", "shape: fa1 has no knob 'raster' (it has no knobs)."},
      {"fa1", "n_q=8 d=64 pass=bwd", "16x32 raster=heads_fastest",
       "shape: fa1 has no knob 'raster' (it has no knobs)."},
      {"fa2", "n_q=8 d=64", "16x32 raster=heads_fastest", ""},
      {"fa2", "n_q=8 d=64 pass=bwd", "16x32 raster=heads_fastest", ""},
      {"naive", "n_q=8 d=64", "16x32 raster=heads_fastest", ""},
      {"naive", "n_q=8 d=64 pass=bwd", "16x32 raster=heads_fastest", ""},
      {"naive", "d=256", "128x512",
       "shared memory: naive qk needs 327,680 bytes of shared memory per block; NVIDIA H200 has 232,448."},
      {"naive",
       "pass=fwd+bwd mask=window:9:4+lengths:ramp+blocks:48:butterfly batch=2 n_q=113 n_k=203 d=64 dropout=0.5",
       "128x64", ""},
      {"naive", "page=16", "64x64", "shape: naive does not support paged K/V."},
      {"naive", "", "64x64 splits=2", "shape: naive has no knob 'splits'; available: raster."},
      {"naive", "n_q=1 n_k=1048576", "64x64", ""},
      {"naive", "n=256", "16x384", ""},
      {"naive", "n=256 pass=bwd", "16x384", "registers: naive tn needs about"},
      {"fa2", "pass=bwd", "64x128", ""},
      {"fa2", "pass=bwd", "64x256", "registers: fa2 bwd needs about"},
      {"fa1", "pass=bwd", "64x256", "registers: fa1 bwd needs about"},
      {"fa2", "pass=bwd", "256x128", "registers: fa2 bwd needs about 312 registers per thread"},
      {"fa2", "pass=bwd", "64x128 warps=4", "shape: fa2 bwd has no knob 'warps'."},
      {"fa2", "pass=fwd+bwd", "64x128", ""},
      {"fa1", "pass=fwd+bwd", "64x224", "registers: fa1 bwd needs about"},
      {"fa1", "", "64x224", ""},
      {"fa2", "d=64", "128x64 warps=3", "shape: fa2 fwd: Br 128 cannot be split over 3 warps"},
      {"fa2", "d=64", "128x64 stages=2", "shape: fa2 has no knob 'stages'; available: raster, warps."},
      {"fa1", "d=64", "128x64 warps=4", "shape: fa1 has no knob 'warps' (it has no knobs)."},
      {"fa3", "", "128x128", ""},
      {"fa3", "", "48x64", "shape: fa3 fwd does not support Br 48"},
      {"fa3", "", "64x272", "shape: Bc is 272, over 256"},
      {"fa3", "", "128x64 stages=4", "shape: stages is 4, over 3"},
      {"fa3", "", "128x64 warps=8", "shape: fa3 has no knob 'warps'; available: raster, stages, rotation, quantising."},
      {"fa3", "", "192x96", "registers: fa3 fwd needs about 164 registers"},
      {"fa3", "", "128x144 stages=3",
       "shared memory: fa3 fwd needs 254,112 bytes of shared memory per block; NVIDIA H200 has 232,448."},
      {"fa3", "", "128x128", "architecture: fa3 needs compute capability 9.0 (wgmma); NVIDIA A100 80GB has 8.0.",
       "a100"},
      {"fa3", "", "128x128", "architecture: fa3 needs compute capability 9.0 (wgmma); NVIDIA B200 has 10.0.", "b200"},
      {"fa3", "pass=bwd", "64x128", ""},
      {"fa3", "pass=bwd", "128x128", "shape: fa3 bwd supports only tile 64x128 at d 128"},
      {"fa3", "pass=bwd", "64x128 raster=heads_fastest", "shape: fa3 bwd has no knob 'raster'."},
      {"fa3", "pass=bwd", "64x128", "architecture: fa3 needs compute capability 9.0 (wgmma); NVIDIA A100 80GB has 8.0.",
       "a100"},
      {"fa3", "pass=bwd dropout=0.1", "64x128", "shape: fa3 bwd does not support dropout."},
      {"fa3", "pass=bwd mask=blocks:128:butterfly", "64x128", "shape: fa3 bwd does not support block mask."},
      {"fa3", "pass=bwd d=80", "64x128", "shape: fa3 bwd does not support d 80"},
      {"fa3", "dtype=fp8", "128x128", ""},
      {"fa2", "dtype=fp8", "128x128", "shape: fa2 does not support dtype fp8; supported: fp16, bf16."},
      {"fa3", "dtype=fp8", "64x128", "shape: fa3 fp8 supports only tile 128x128"},
      {"fa3", "dtype=fp8 d=96", "128x128", "shape: fa3 fp8 does not support d 96"},
      {"fa3", "dtype=fp8 dropout=0.1", "128x128", "shape: fa3 fp8 does not support dropout."},
      {"fa3", "dtype=fp8 pass=bwd", "128x128", "shape: fa3 fp8 does not support backward pass."},
      {"fa3", "", "128x128 rotation=hadamard", "shape: The knob rotation requires dtype fp8"},
      {"splitkv", "heads_q=8 n_q=1 n_k=1000", "16x64", ""},
      {"splitkv", "heads_q=8 n_q=9 n_k=1000", "64x64", "shape: heads_q / heads_kv x n_q is 72, over 64"},
      {"splitkv", "heads_q=8 n_q=4 n_k=1000", "16x64", "shape: Br 16 is less than the 32 query rows"},
      {"splitkv", "heads_q=8 n_q=1 n_k=1000", "80x64", "shape: Br is 80, over 64"},
      {"splitkv", "heads_q=8 n_q=1 n_k=1000", "16x528", "shape: Bc is 528, over 512"},
      {"splitkv", "heads_q=8 n_q=1 n_k=1000", "16x64 stages=9", "shape: stages is 9, over 8"},
      {"splitkv", "heads_q=8 n_q=1 n_k=1000", "16x64 splits=-1",
       "shape: splits must be an integer from 0 (the algorithm's choice) to 4096, not '-1'"},
      {"splitkv", "heads_q=8 n_q=1 n_k=1000", "16x64 warps=4",
       "shape: splitkv has no knob 'warps'; available: splits, stages."},
      {"splitkv", "heads_q=8 n_q=1 n_k=1000", "16x512", "shared memory: splitkv partial needs 26"},
      {"splitkv", "heads_q=8 n_q=1 n_k=1000", "16x64 splits=4096", ""},
      {"splitkv", "heads=1048576 n_q=1 n_k=1000", "16x64 splits=4096",
       "shape: splitkv partial grid size is 4,294,967,296"},
      {"splitkv", "heads_q=8 n_q=1 n_k=1000 pass=bwd", "16x64", "shape: splitkv does not support backward pass."},
      {"splitkv", "heads_q=8 n_q=1 n_k=1000 dropout=0.1", "16x64", "shape: splitkv does not support dropout."},
      {"splitkv", "heads_q=8 n_q=1 n_k=1000 mask=window:10:inf", "16x64",
       "shape: splitkv does not support sliding window."},
      {"splitkv", "heads_q=8 n_q=1 n_k=1000 mask=blocks:64:butterfly", "16x64",
       "shape: splitkv does not support block mask."},
      {"splitkv", "dtype=fp8 heads_q=8 n_q=1 n_k=65536", "16x128", ""},
      {"splitkv", "dtype=fp8 heads_q=8 n_q=1 n_k=65536", "16x128",
       "architecture: splitkv fp8 needs compute capability 8.9", "a100"},
      {"splitkv", "dtype=fp8 heads_q=8 n_q=1 n_k=65536", "16x64", "", "rtx-4090"},
      {"splitkv", "dtype=fp8 heads_q=8 n_q=1 n_k=4194305", "16x128", "shape: n_k is 4,194,305, over 4,194,304"},
      {"splitkv", "dtype=fp8 heads_q=8 n_q=1 n_k=1000 pass=bwd", "16x128",
       "shape: splitkv does not support backward pass."},
      {"splitkv", "dtype=fp8 heads_q=8 n_q=1 n_k=1000 d=80", "16x128", "shape: splitkv fp8 does not support d 80"},
      {"linattn", "d=64", "64x64", ""},
      {"linattn", "d=64 pass=bwd", "64x64", "shape: linattn does not support backward pass."},
      {"linattn", "d=64 mask=window:64:0", "64x64", "shape: linattn does not support sliding window."},
      {"linattn", "d=64 mask=lengths:ramp", "64x64", "shape: linattn does not support key lengths."},
      {"linattn", "d=64 dropout=0.5", "64x64", "shape: linattn does not support dropout."},
      {"linattn", "d=256", "64x64", "shape: d 256 is not supported"},
      {"linattn", "d=64", "1024x64", "threads: linattn outputs needs"},
      {"ring", "n=1024 heads=2 d=64 gpus=4", "128x128", ""},
      {"ulysses", "n=1024 heads=2 d=64 gpus=4", "128x128", "shape: ulysses on 4 GPUs cannot divide 2 K/V heads"},
      {"allgather", "n=1024 heads=2 d=64 gpus=4 gpu_order=striped", "128x128",
       "shape: allgather does not support striped"},
      {"ring", "n=1023 heads=2 d=64 gpus=4 gpu_order=striped", "128x128", "shape: N 1023 cannot be divided into 4"},
      {"ring", "n_q=1024 n_k=2048 d=64 gpus=4", "128x128", "shape: ring requires n_q = n_k"},
      {"ring", "n=1024 d=64 gpus=65", "128x128", "shape: gpus must be 1 to 64, not 65."},
  };
  return all;
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
    const std::string told = refused ? std::string(to_string(refused->cause)) + ": " + text(refused->reason) : "";
    if (*each.refusal == '\0') {
      EXPECT_EQ(told, "");
    } else {
      EXPECT_THAT(told, StartsWith(each.refusal));
    }
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
