// SPDX-License-Identifier: Apache-2.0
// Compiles the real kernels with the real NVRTC, which needs no GPU.
#include "profiler/measure/gpu/kernel_builder.h"
#include "kernels/registry.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "kernels/model/ceilings.h"
#include "profiler/measure/gpu/ceilings/ceiling_loads.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class KernelBuilderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    cache_ = fs::path(::testing::TempDir()) / (std::string("builder-") + info->name());
    fs::remove_all(cache_);
    auto builder = KernelBuilder::open(cache_);
    if (!builder) GTEST_SKIP() << builder.error().message();
    builder_ = std::move(builder).value();
  }
  void TearDown() override { fs::remove_all(cache_); }

  static std::vector<KernelLaunch> launches(const char* algorithm, const AttentionProblem& problem,
                                            const TileShape& tile) {
    return built_in_algorithms().find(algorithm)->plan(problem, tile, known_gpus().front()).launches;
  }
  static KernelLaunch one() {
    const AttentionProblem problem{.n_q = 64, .n_k = 64, .d = 64};
    return launches("fa2", problem, {.br = 64, .bc = 64}).front();
  }

  fs::path cache_;
  std::unique_ptr<KernelBuilder> builder_;
  CancelToken cancel_;
};

TEST_F(KernelBuilderTest, EveryAlgorithmCompilesForAmpereAndHopper) {
  for (const auto& [arch, gpu] : {std::pair{"sm_80", "a100"}, std::pair{"sm_90a", "h200"}}) {
    const DeviceLimits& limits = *find_gpu(gpu);
    std::vector<KernelLaunch> all;
    for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
      for (const DType dtype : {DType::fp16, DType::bf16}) {
        const Mask mask = dtype == DType::fp16 ? Mask::none : Mask::causal;
        const std::int64_t d = dtype == DType::fp16 ? 64 : 128;
        AttentionProblem problem{.dtype = dtype, .mask = mask, .n_q = 256, .n_k = 256, .d = d};
        if (algorithm->facts().is_multi_gpu()) problem.gpus = 2;
        const TileShape tile{.br = 64, .bc = 64};
        if (algorithm->refusal(problem, tile, limits)) continue;  // for another architecture, or for decoding
        for (KernelLaunch& launch : algorithm->plan(problem, tile, limits).launches) {
          // Multi-GPU algorithms reuse another algorithm's kernel.
          const auto same = [&](const KernelLaunch& other) { return other.source == launch.source; };
          if (std::ranges::none_of(all, same)) all.push_back(std::move(launch));
        }
      }
    }
    const auto reports = builder_->build_all(arch, all, 0, cancel_, {});
    EXPECT_EQ(reports.size(), all.size());
    for (const BuildReport& report : reports) {
      EXPECT_EQ(text(report.error), "") << report.kernel;
      EXPECT_GT(report.registers, 15) << report.kernel;
      EXPECT_LE(report.registers, 255) << report.kernel;
      EXPECT_FALSE(report.cached);
    }
  }
}

TEST_F(KernelBuilderTest, CeilingKernelsCompileWithoutLocalMemory) {
  for (const auto& [arch, name] :
       {std::pair{"sm_80", "a100"}, std::pair{"sm_90a", "h200"}, std::pair{"sm_120a", "rtx-5090"}}) {
    if (!builder_->unsupported_reason(arch).empty()) continue;  // an older NVRTC
    const DeviceLimits& limits = *find_gpu(name);
    const auto loads = gpu::ceiling_loads(limits, gpu::ceiling_buffers(limits, limits.dram_bytes));
    std::vector<KernelLaunch> launches{gpu::ring_launch("ring_dram", 1 << 20)};
    std::set<std::string_view> found_out;
    for (const gpu::CeilingLoad& load : loads) {
      launches.push_back(load.launch);
      found_out.insert(load.key);
      EXPECT_NE(find_ceiling(load.key), nullptr) << load.key;
    }
    EXPECT_EQ(found_out.contains(ceiling_key::wgmma_fp16), limits.compute_major == 9);
    for (const BuildReport& report : builder_->build_all(arch, launches, 0, cancel_, {})) {
      EXPECT_TRUE(report.error.empty()) << arch << ' ' << report.kernel << ": " << report.error;
      EXPECT_EQ(report.local_bytes, 0) << arch << ' ' << report.kernel;
    }
  }
}

TEST_F(KernelBuilderTest, TracedKernelsCompile) {
  const AttentionProblem problem{.n_q = 4, .n_k = 256, .d = 64};
  for (const auto& [algorithm, launch] : {std::pair("naive", "qk"), std::pair("fa1", "fwd"), std::pair("fa2", "fwd"),
                                          std::pair("fa3", "fwd"), std::pair("splitkv", "partial")}) {
    std::vector<KernelLaunch> all = launches(algorithm, problem, {.br = 64, .bc = 64});
    const auto found = std::ranges::find(all, launch, &KernelLaunch::name);
    ASSERT_NE(found, all.end()) << algorithm;
    const BuiltKernel plain = builder_->build("sm_90a", *found);
    found->source.defines.push_back("ATTN_TRACE=" + std::to_string(found->block[0] / 32));
    const BuiltKernel traced = builder_->build("sm_90a", *found);
    ASSERT_EQ(text(traced.report.error), "") << algorithm;
    EXPECT_THAT(traced.cubin, HasSubstr("attn_trace_into")) << algorithm;
    EXPECT_THAT(plain.cubin, Not(HasSubstr("attn_trace_into"))) << algorithm;
  }
}

/// Contents of a section of a cubin (an ELF file); empty if there is no such section.
std::string section(const std::string& cubin, const std::string& name) {
  const auto at = [&](auto value, std::size_t offset) {
    std::memcpy(&value, cubin.substr(offset, sizeof value).data(), sizeof value);
    return value;
  };
  const auto header = at(Elf64_Ehdr{}, 0);
  const auto nth = [&](std::size_t i) { return at(Elf64_Shdr{}, header.e_shoff + i * header.e_shentsize); };
  const Elf64_Shdr names = nth(header.e_shstrndx);
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr found = nth(i);
    if (name == cubin.c_str() + names.sh_offset + found.sh_name) return cubin.substr(found.sh_offset, found.sh_size);
  }
  return {};
}

TEST_F(KernelBuilderTest, NoiseReadIsNotOptimizedAway) {
  KernelLaunch launch;
  launch.name = "service";
  launch.source = {.file = "device/measurement.cuh", .entry = "attn_read_noise", .defines = {}};
  const BuiltKernel built = builder_->build("sm_90a", launch);
  ASSERT_EQ(text(built.report.error), "");
  // Instructions have 16 bytes; the lowest twelve bits are the opcode, 0x981 for a load from global memory.
  const std::string code = section(built.cubin, ".text.attn_read_noise");
  ASSERT_FALSE(code.empty());
  int loads = 0;
  for (std::size_t at = 0; at + 16 <= code.size(); at += 16) {
    const int low = static_cast<unsigned char>(code[at]);
    const int high = static_cast<unsigned char>(code[at + 1]) & 0xF;
    loads += (high << 8 | low) == 0x981 ? 1 : 0;
  }
  EXPECT_GT(loads, 0);
}

TEST_F(KernelBuilderTest, DefaultTilesFitWithStaticSharedMemory) {
  const DeviceLimits& limits = *find_gpu("h200");
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    const AttentionProblem problem{
        .mask = parse_mask("lengths:ramp").value(), .batch = 2, .n_q = 7, .n_k = 301, .d = 64};
    const Config tile = algorithm->default_config(problem, limits);
    if (algorithm->refusal(problem, tile, limits)) continue;
    for (const KernelLaunch& launch : algorithm->plan(problem, tile, limits).launches) {
      const BuildReport report = builder_->build("sm_90a", launch).report;
      ASSERT_EQ(text(report.error), "") << report.kernel;
      EXPECT_LE(report.static_shared_bytes + launch.dynamic_shared_bytes, limits.shared_bytes_per_block)
          << report.kernel;
    }
  }
}

TEST_F(KernelBuilderTest, SecondBuildComesFromTheCache) {
  const BuiltKernel first = builder_->build("sm_80", one());
  ASSERT_EQ(text(first.report.error), "");
  const BuiltKernel second = builder_->build("sm_80", one());
  EXPECT_FALSE(first.report.cached);
  EXPECT_TRUE(second.report.cached);
  EXPECT_EQ(second.cubin, first.cubin);
  EXPECT_EQ(second.report.registers, first.report.registers);
  EXPECT_EQ(second.report.digest, first.report.digest);
  EXPECT_EQ(first.report.digest.size(), 36U);
  EXPECT_FALSE(builder_->build("sm_90a", one()).report.cached) << "each architecture has its own cubin";
}

TEST_F(KernelBuilderTest, FiguresAreStoredWithTheCubin) {
  const BuiltKernel built = builder_->build("sm_80", one());
  ASSERT_EQ(text(built.report.error), "");
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(cache_)) {
    ++files;
    if (entry.path().extension() != ".json") continue;
    std::ifstream in(entry.path());
    const auto json = nlohmann::json::parse(in);
    EXPECT_EQ(json["arch"], "sm_80");
    EXPECT_EQ(json["entry"], one().source.entry);
    EXPECT_EQ(json["registers"], built.report.registers);
    EXPECT_EQ(json["cubin_bytes"], built.cubin.size());
    EXPECT_THAT(json["log"].get<std::string>(), HasSubstr("ptxas info"));
  }
  EXPECT_EQ(files, 2U) << "temporary files are removed";
}

TEST_F(KernelBuilderTest, TruncatedCacheEntryIsRecompiled) {
  const BuiltKernel first = builder_->build("sm_80", one());
  ASSERT_EQ(text(first.report.error), "");
  for (const auto& entry : fs::directory_iterator(cache_)) {
    if (entry.path().extension() == ".cubin") fs::resize_file(entry.path(), 100);
  }
  const BuiltKernel again = builder_->build("sm_80", one());
  EXPECT_FALSE(again.report.cached);
  EXPECT_EQ(again.cubin, first.cubin);
}

TEST_F(KernelBuilderTest, WorksWithoutAWritableCache) {
  std::ofstream(cache_.string()) << "a file where the folder should be";
  EXPECT_EQ(text(builder_->build("sm_80", one()).report.error), "");
}

TEST_F(KernelBuilderTest, ReturnsCompilerErrors) {
  KernelLaunch broken = one();

  broken.source.defines = {"ATTN_D=not_a_number"};
  const BuiltKernel built = builder_->build("sm_80", broken);
  EXPECT_THAT(text(built.report.error), HasSubstr("error"));
  EXPECT_TRUE(built.cubin.empty());
  KernelLaunch absent = one();
  absent.source.file = "fa2/absent.cuh";
  EXPECT_THAT(text(builder_->build("sm_80", absent).report.error), HasSubstr("fa2/absent.cuh"));
}

TEST_F(KernelBuilderTest, EqualSourcesAreBuiltOnce) {
  const AttentionProblem shorter{.n_q = 64, .n_k = 64, .d = 64};
  AttentionProblem longer = shorter;
  longer.n_q = longer.n_k = 4096;
  std::vector<KernelLaunch> both = launches("fa2", shorter, {});
  std::ranges::move(launches("fa2", longer, {}), std::back_inserter(both));
  std::size_t calls = 0;
  const auto reports =
      builder_->build_all("sm_80", both, 4, cancel_, [&](std::size_t, std::size_t total, const BuildReport&) {
        ++calls;
        EXPECT_EQ(total, 1U);
      });
  EXPECT_EQ(reports.size(), 1U);
  EXPECT_EQ(calls, 1U);
}

TEST_F(KernelBuilderTest, CancelStopsBetweenKernels) {
  cancel_.cancel();
  const std::vector<KernelLaunch> launch{one()};
  EXPECT_TRUE(builder_->build_all("sm_80", launch, 2, cancel_, {}).empty());
}

TEST_F(KernelBuilderTest, RejectsUnknownArchitectures) {
  EXPECT_EQ(text(builder_->unsupported_reason("sm_80")), "");
  EXPECT_EQ(text(builder_->unsupported_reason("sm_90a")), "");
  EXPECT_THAT(text(builder_->unsupported_reason("sm_75")), HasSubstr("sm_80"));
  EXPECT_THAT(text(builder_->unsupported_reason("hopper")), HasSubstr("'hopper'"));
  EXPECT_THAT(text(builder_->unsupported_reason("sm_90x")), HasSubstr("'sm_90x'"));
  const auto result = build_kernels("sm_11", {}, 1, cancel_, {});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().what.id, "compile.other_arch");
}

TEST(KernelNames, FolderLaunchAndDefines) {
  KernelLaunch launch;
  launch.name = "fwd";
  launch.source = {
      .file = "fa2/fa2_forward.cuh",
      .entry = "attn_fa2_forward",
      .defines = {"ATTN_BF16=1", "ATTN_D=128", "ATTN_BR=128", "ATTN_BC=64", "ATTN_MASK=1", "ATTN_HEADS_FASTEST=0"}};
  EXPECT_EQ(describe(launch), "fa2 fwd d128 128x64 bf16 causal");
}

TEST(CubinKeys, DependOnAllCompilerInputs) {
  const gpu::CubinKey key{.source = {.file = "a.cuh", .entry = "f", .defines = {}},
                          .arch = "sm_80",
                          .compiler_version = "13.0",
                          .options = {"-DX=1"}};
  EXPECT_EQ(key.digest().size(), 36U);
  const auto differs = [&](auto change) {
    gpu::CubinKey other = key;
    change(other);
    return other.digest() != key.digest();
  };
  EXPECT_FALSE(differs([](gpu::CubinKey&) {}));
  EXPECT_TRUE(differs([](gpu::CubinKey& k) { k.source.file = "b.cuh"; }));
  EXPECT_TRUE(differs([](gpu::CubinKey& k) { k.source.entry = "g"; }));
  EXPECT_TRUE(differs([](gpu::CubinKey& k) { k.arch = "sm_90a"; }));
  EXPECT_TRUE(differs([](gpu::CubinKey& k) { k.compiler_version = "13.1"; }));
  EXPECT_TRUE(differs([](gpu::CubinKey& k) { k.options = {"-DX=2"}; }));
}

TEST(CubinKeys, ChangeWithTheSourcesOfThisProgram) {
  const DeviceLimits& h200 = *find_gpu("h200");
  gpu::CubinKey key{.source = {.file = "fa2/fa2_forward.cuh", .entry = "attn_fa2_forward", .defines = {"ATTN_D=64"}},
                    .arch = "sm_90a",
                    .compiler_version = "13.0",
                    .options = {}};
  key.options = gpu::compile_options(key.source, key.arch);
  LaunchRecord launch;
  launch.source_file = key.source.file;
  launch.entry = key.source.entry;
  launch.defines = key.source.defines;
  EXPECT_FALSE(has_changed(launch, h200, "13.0")) << "no digest";
  launch.digest = key.digest();
  EXPECT_FALSE(has_changed(launch, h200, "13.0"));
  launch.source_file = "fa1/fa1_forward.cuh";  // another source than that of the digest
  EXPECT_TRUE(has_changed(launch, h200, "13.0"));
  EXPECT_FALSE(has_changed(launch, h200, "")) << "the compiler is unknown";
}

}  // namespace
}  // namespace attnscope
