// SPDX-License-Identifier: Apache-2.0
// Inputs in another layout, in the stand-in's device memory, which is the host's.
#include <gtest/gtest.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv

#include <algorithm>
#include <memory>
#include <string>
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

TEST_P(OwnLayout, RowsOfHeadsAlternate) {
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

  const AttentionProblem p{.batch = 2, .heads_q = 4, .heads_kv = 2, .n_q = 5, .n_k = 7, .d = 64};
  AttentionPlan plan;
  plan.buffers = input_buffers(p);
  for (BufferSpec& buffer : plan.buffers) buffer.layout = Layout::bnhd;
  const PlanMemory::Inputs inputs = PlanMemory::inputs_of(p, GetParam(), 1, Layout::bnhd);
  memory.reserve(0, plan, inputs, {});
  memory.fill(0, plan, inputs);
  const InputGenerator generator(p, GetParam(), 1);
  struct Matrix {
    Tensor tensor;
    const char* buffer;
    std::int64_t heads;
    std::int64_t rows;
  };
  for (const Matrix& matrix :
       {Matrix{Tensor::q, "q", 4, 5}, Matrix{Tensor::k, "k", 2, 7}, Matrix{Tensor::v, "v", 2, 7}}) {
    const auto* held = reinterpret_cast<const std::uint16_t*>(memory.address(0, matrix.buffer));
    std::vector<std::uint16_t> head(static_cast<std::size_t>(matrix.rows * p.d));
    for (std::int64_t instance = 0; instance < p.batch * matrix.heads; ++instance) {
      generator.fill(matrix.tensor, instance, head);
      const std::int64_t entry = instance / matrix.heads;
      for (std::int64_t row = 0; row < matrix.rows; ++row) {
        const auto* at = held + (((entry * matrix.rows + row) * matrix.heads + instance % matrix.heads) * p.d);
        EXPECT_TRUE(std::equal(at, at + p.d, head.begin() + row * p.d))
            << matrix.buffer << ' ' << instance << ' ' << row;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Inputs, OwnLayout, ::testing::Values(InputKind::normal, InputKind::ascending));

}  // namespace
}  // namespace attnscope::gpu
