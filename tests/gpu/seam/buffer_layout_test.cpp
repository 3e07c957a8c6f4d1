// SPDX-License-Identifier: Apache-2.0
// Inputs placed by strides, in the fake GPU's device memory (host memory).
#include <gtest/gtest.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/algorithm_parts.h"
#include "kernels/model/gpu_values.h"
#include "kernels/oracle/float16.h"
#include "profiler/measure/gpu/driver/cuda_driver.h"
#include "profiler/measure/gpu/gpu_device.h"
#include "profiler/measure/gpu/oracle.h"
#include "profiler/measure/gpu/plan_memory.h"
#include "tests/message_matchers.h"
#include "tests/temporary_folder.h"

namespace attnscope::gpu {
namespace {

class BufferLayoutTest : public ::testing::TestWithParam<InputKind> {
 protected:
  void SetUp() override {
    for (const char* variable : {"ATTNSCOPE_CUDA_LIBRARY", "ATTNSCOPE_NVRTC_LIBRARY"}) {
      setenv(variable, ATTNSCOPE_FAKE_GPU_LIBRARY, 1);
    }
    setenv("ATTNSCOPE_FAKE_GPU", "", 1);
    gpu_ = std::make_unique<Gpu>();
  }
  void TearDown() override {
    gpu_.reset();
    for (const char* variable : {"ATTNSCOPE_CUDA_LIBRARY", "ATTNSCOPE_NVRTC_LIBRARY"}) unsetenv(variable);
  }

  struct Gpu {
    testing::TemporaryFolder folder;
    CudaApi cuda = start_driver(folder / "dev").value();
    std::unique_ptr<KernelBuilder> builder = KernelBuilder::open(folder / "cache").value();
    CUdevice device = [this] {
      CUdevice first = 0;
      cuda.check(cuda.cuDeviceGet(&first, 0), "cuDeviceGet");
      return first;
    }();
    Context context{cuda, device};
    Stream stream = make_stream(cuda);
    KernelRunner runner{cuda, *builder, "sm_90a", stream.get(), *find_gpu("h100")};
    PlanMemory memory{cuda, runner};
  };
  std::unique_ptr<Gpu> gpu_;
};

TEST_P(BufferLayoutTest, InputsFollowTheirStrides) {
  PlanMemory& memory = gpu_->memory;
  AttentionProblem p{.batch = 2, .heads_q = 4, .heads_kv = 2, .n_q = 5, .n_k = 7, .d = 64};
  p.mask = parse_mask("lengths:7/3").value();
  AttentionPlan plan;
  plan.buffers = {{"kv", 10 * 2 * 2 * 80 * 2, BufferFill::inputs}};
  std::ranges::move(input_buffers(p), std::back_inserter(plan.buffers));
  // K and V in one buffer, packed by their lengths, with rows 16 elements apart; Q is batch x N x heads x d.
  const Strides packed{.batch = 0, .head = 80, .row = 2 * 80, .starts = {0, 7, 10}};
  plan.buffers[1].place = {.strides = Strides{.batch = 5 * 4 * 64, .head = 64, .row = 4 * 64}};
  plan.buffers[2].place = {.strides = packed, .within = "kv", .offset = 0};
  plan.buffers[3].place = {.strides = packed, .within = "kv", .offset = 10 * 2 * 80 * 2};
  plan.buffers[2].bytes = plan.buffers[3].bytes = 0;
  const PlanMemory::Inputs inputs = PlanMemory::inputs_of(p, GetParam(), 1, plan);
  // An earlier plan had a scratch buffer of that name.
  AttentionPlan other;
  other.buffers = input_buffers(p);
  other.buffers.push_back({"kv", 64});
  memory.reserve(0, other, PlanMemory::inputs_of(p, GetParam(), 1, other), {});
  const CUdeviceptr scratch = memory.address(0, "kv");
  memory.reserve(0, plan, inputs, {});
  EXPECT_NE(memory.address(0, "kv"), scratch);
  memory.fill(0, plan, inputs);
  const InputGenerator generator(p, GetParam(), 1);
  const auto* const kv = reinterpret_cast<const std::uint16_t*>(memory.address(0, "kv"));
  const auto* const q = reinterpret_cast<const std::uint16_t*>(memory.address(0, "q"));
  const auto expect_row = [&](const std::vector<float>& head, std::int64_t row, const std::uint16_t* at) {
    EXPECT_TRUE(std::equal(at, at + p.d, head.begin() + row * p.d,
                           [](std::uint16_t bits, float value) { return bits == to_bits(DType::fp16, value); }));
  };
  std::vector<float> head(5 * 64);
  for (std::int64_t i = 0; i < 2 * 4; ++i) {
    generator.fill(Tensor::q, i, head);
    for (std::int64_t row = 0; row < 5; ++row) expect_row(head, row, q + ((i / 4 * 5 + row) * 4 + i % 4) * 64);
  }
  head.resize(7 * 64);
  std::int64_t nans = 0;
  for (const auto& [tensor, first] : {std::pair{Tensor::k, 0}, std::pair{Tensor::v, 10}}) {
    for (std::int64_t i = 0; i < 2 * 2; ++i) {
      generator.fill(tensor, i, head);
      const std::int64_t before = first + (i / 2 == 0 ? 0 : 7);
      for (std::int64_t row = 0; row < (i / 2 == 0 ? 7 : 3); ++row) {
        const std::uint16_t* const at = kv + ((before + row) * 2 + i % 2) * 80;
        expect_row(head, row, at);
        nans += std::count(at + 64, at + 80, 0xFFFF);
      }
    }
  }
  EXPECT_EQ(nans, 2 * 10 * 2 * 16);
}

TEST_P(BufferLayoutTest, OutputsAreReadByStrides) {
  const AttentionProblem p{.batch = 2, .heads_q = 4, .heads_kv = 2, .n_q = 5, .n_k = 7, .d = 64};
  AttentionPlan plan;
  plan.buffers = input_buffers(p);
  constexpr std::int64_t row = 4 * 64 + 8;
  plan.buffers.push_back({"o", 2 * 5 * row * 2});
  plan.buffers.back().place.strides = Strides{.batch = 5 * row, .head = 64, .row = row};
  const PlanMemory::Inputs inputs = PlanMemory::inputs_of(p, GetParam(), 1, plan);
  gpu_->memory.reserve(0, plan, inputs, {});
  gpu_->memory.fill(0, plan, inputs);
  Oracle oracle(gpu_->cuda, gpu_->runner);
  const auto judge = [&] {
    return oracle.judge("softmax", {plan, p, GetParam(), 1, gpu_->memory, 0, std::chrono::seconds(1)});
  };
  EXPECT_NE(text(judge().reason).find("2560 of 2560"), std::string::npos);
  const Reference right = make_reference(*find_reference("softmax"), p, GetParam(), 1);
  auto* const o = reinterpret_cast<std::uint16_t*>(gpu_->memory.address(0, "o"));
  for (std::int64_t i = 0; i < 2 * 4 * 5 * 64; ++i) {
    const std::int64_t head = i / 64 / 5;
    std::uint16_t* const at = o + (head / 4 * 5 + i / 64 % 5) * row + head % 4 * 64 + i % 64;
    *at = to_bits(DType::fp16, static_cast<float>(right.o.exact[static_cast<std::size_t>(i)]));
  }
  EXPECT_TRUE(judge().pass) << judge().reason;
  const std::uint16_t first = std::exchange(o[0], to_bits(DType::fp16, 100));
  EXPECT_FALSE(judge().pass);
  o[0] = first;
  o[4 * 64] = 0;
  EXPECT_THAT(judge().reason, test::IsReason("oracle.between_rows", "o"));
}

TEST_P(BufferLayoutTest, PackedGradientsShareABuffer) {
  AttentionProblem p{.pass = Pass::bwd, .batch = 2, .heads_q = 2, .heads_kv = 2, .n_q = 5, .n_k = 7, .d = 64};
  p.mask = parse_mask("lengths:7/3").value();
  AttentionPlan plan;
  plan.buffers = input_buffers(p);
  std::ranges::move(gradient_buffers(p), std::back_inserter(plan.buffers));
  constexpr std::int64_t rows = 10 * 2;
  plan.buffers.push_back({"dkv", 2 * rows * 64 * 2});
  const Strides packed{.batch = 0, .head = 64, .row = 2 * 64, .starts = {0, 7, 10}};
  for (BufferSpec& buffer : plan.buffers) {
    if (buffer.name != "dk" && buffer.name != "dv") continue;
    buffer.place = {.strides = packed, .within = "dkv", .offset = buffer.name == "dk" ? 0 : rows * 64 * 2};
    buffer.bytes = 0;
  }
  const PlanMemory::Inputs inputs = PlanMemory::inputs_of(p, GetParam(), 1, plan);
  gpu_->memory.reserve(0, plan, inputs, {});
  gpu_->memory.fill(0, plan, inputs);
  Oracle oracle(gpu_->cuda, gpu_->runner);
  const auto judge = [&] {
    return oracle.judge("softmax", {plan, p, GetParam(), 1, gpu_->memory, 0, std::chrono::seconds(1)});
  };
  const auto outputs = [&] {
    return oracle.digest(Oracle::Part::outputs, {plan, p, GetParam(), 1, gpu_->memory, 0, std::chrono::seconds(1)});
  };
  const Reference right = make_reference(*find_reference("softmax"), p, GetParam(), 1);
  const auto values = [&](const char* buffer) {
    return reinterpret_cast<std::uint16_t*>(gpu_->memory.address(0, buffer));
  };
  const auto bits = [](const std::vector<double>& exact, std::int64_t i) {
    return to_bits(DType::fp16, static_cast<float>(exact[static_cast<std::size_t>(i)]));
  };
  for (std::int64_t i = 0; i < 2 * 2 * 5 * 64; ++i) values("dq")[i] = bits(right.dq.exact, i);
  for (std::int64_t i = 0; i < 2 * 2 * 7 * 64; ++i) {
    const std::int64_t head = i / 64 / 7;
    const std::int64_t key = i / 64 % 7;
    if (head / 2 == 1 && key >= 3) continue;  // padding
    const std::int64_t at = (((head / 2 * 7 + key) * 2 + head % 2) * 64) + i % 64;
    values("dkv")[at] = bits(right.dk.exact, i);
    values("dkv")[rows * 64 + at] = bits(right.dv.exact, i);
  }
  EXPECT_TRUE(judge().pass) << judge().reason;
  const auto before = outputs();
  ASSERT_EQ(before.size(), 2U) << "dq, and the buffer shared by dk and dv";
  std::uint16_t& last = values("dv")[rows * 64 - 1];
  const std::uint16_t was = std::exchange(last, to_bits(DType::fp16, 500));
  EXPECT_FALSE(judge().pass);
  last = 0xFFFF;
  EXPECT_NE(text(judge().reason).find("1 of 2560"), std::string::npos) << judge().reason;
  last = was;
}

INSTANTIATE_TEST_SUITE_P(Inputs, BufferLayoutTest, ::testing::Values(InputKind::normal, InputKind::ascending));

}  // namespace
}  // namespace attnscope::gpu
