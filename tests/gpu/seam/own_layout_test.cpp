// SPDX-License-Identifier: Apache-2.0
// Inputs placed by strides, in the stand-in's device memory, which is the host's.
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
#include "profiler/measure/gpu/driver_start.h"
#include "profiler/measure/gpu/plan_memory.h"
#include "tests/temporary_folder.h"

namespace attnscope::gpu {
namespace {

class OwnLayout : public ::testing::TestWithParam<InputKind> {
 protected:
  void SetUp() override {
    for (const char* variable : {"ATTNSCOPE_CUDA_LIBRARY", "ATTNSCOPE_NVRTC_LIBRARY"}) {
      setenv(variable, ATTNSCOPE_FAKE_GPU_LIBRARY, 1);
    }
    setenv("ATTNSCOPE_FAKE_GPU", "", 1);
  }
  void TearDown() override {
    for (const char* variable : {"ATTNSCOPE_CUDA_LIBRARY", "ATTNSCOPE_NVRTC_LIBRARY"}) unsetenv(variable);
  }
};

TEST_P(OwnLayout, LieWhereTheirPlaceSays) {
  const testing::TemporaryFolder folder;
  const auto cuda = start_driver(folder / "dev");
  ASSERT_TRUE(cuda.ok());
  const auto builder = KernelBuilder::open(folder / "cache");
  ASSERT_TRUE(builder.ok());
  CUdevice device = 0;
  cuda->check(cuda->cuDeviceGet(&device, 0), "cuDeviceGet");
  const Context context(*cuda, device);
  const Stream stream = make_stream(*cuda);
  const DeviceLimits limits = *find_gpu("h100");
  KernelRunner runner(*cuda, **builder, "sm_90a", stream.get(), limits);
  PlanMemory memory(*cuda, runner);

  AttentionProblem p{.batch = 2, .heads_q = 4, .heads_kv = 2, .n_q = 5, .n_k = 7, .d = 64};
  p.mask = parse_mask("lengths:7/3").value();
  AttentionPlan plan;
  plan.buffers = {{"kv", 10 * 2 * 2 * 80 * 2, BufferFill::inputs}};
  std::ranges::move(input_buffers(p), std::back_inserter(plan.buffers));
  // K and V in one buffer, packed by their lengths, rows 16 elements apart; Q batch x N x heads x d.
  const Strides packed{.batch = 0, .head = 80, .row = 2 * 80, .starts = {0, 7, 10}};
  plan.buffers[1].place = {.strides = Strides{.batch = 5 * 4 * 64, .head = 64, .row = 4 * 64}};
  plan.buffers[2].place = {.strides = packed, .within = "kv", .offset = 0};
  plan.buffers[3].place = {.strides = packed, .within = "kv", .offset = 10 * 2 * 80 * 2};
  plan.buffers[2].bytes = plan.buffers[3].bytes = 0;
  const PlanMemory::Inputs inputs = PlanMemory::inputs_of(p, GetParam(), 1, plan);
  memory.reserve(0, plan, inputs, {});
  memory.fill(0, plan, inputs);
  const InputGenerator generator(p, GetParam(), 1);
  const auto* const kv = reinterpret_cast<const std::uint16_t*>(memory.address(0, "kv"));
  const auto* const q = reinterpret_cast<const std::uint16_t*>(memory.address(0, "q"));
  const auto expect_row = [&](const std::vector<std::uint16_t>& head, std::int64_t row, const std::uint16_t* at) {
    EXPECT_TRUE(std::equal(at, at + p.d, head.begin() + row * p.d));
  };
  std::vector<std::uint16_t> head(5 * 64);
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

INSTANTIATE_TEST_SUITE_P(Inputs, OwnLayout, ::testing::Values(InputKind::normal, InputKind::ascending));

}  // namespace
}  // namespace attnscope::gpu
