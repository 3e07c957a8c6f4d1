// SPDX-License-Identifier: Apache-2.0
// Checks of user-defined kernels that need a real GPU; skipped without one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <tuple>

#include "bare_gpu.h"
#include "kernels/registry.h"
#include "profiler/measure/gpu/gpu_device.h"
#include "profiler/measure/gpu/guarded_buffer.h"
#include "profiler/measure/gpu/user/library_kernel.h"
#include "tests/kernels/modified_algorithm.h"

namespace attnscope {
namespace {

using gpu::GuardedBuffer;

TEST(UserKernelChecksOnGpu, CorrectKernelsPassAllChecks) {
  Registry registry;
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    registry.add(std::make_unique<test::ModifiedAlgorithm>(*algorithm, algorithm->name(), true));
  }
  auto device = open_gpu_device({}, registry);
  if (!device) GTEST_SKIP() << device.error().message();
  MeasureOptions options;
  options.counters = (*device)->counters().state == CounterState::available;
  std::map<std::string, int> judged;
  for (const auto& [n_q, n_k, d, mask, pass] : {std::tuple{64, 64, 64, "full", Pass::fwd},
                                                {301, 301, 128, "causal", Pass::fwd},
                                                {4096, 4096, 64, "full", Pass::fwd},
                                                {1, 8191, 128, "full", Pass::fwd},
                                                {239, 301, 64, "lengths:0/200", Pass::bwd},
                                                {2048, 2048, 128, "causal", Pass::bwd}}) {
    for (const std::uint64_t placement : {0U, 1U, 2U}) {
      options.placement = placement;
      for (const Algorithm* algorithm : registry.algorithms()) {
        PointSpec spec{.algorithm = algorithm->name(), .problem = {}, .tile = {}};
        spec.problem = {.pass = pass,
                        .mask = parse_mask(mask).value(),
                        .batch = 2,
                        .heads_q = 16,
                        .heads_kv = 8,
                        .n_q = n_q,
                        .n_k = n_k,
                        .d = d};
        spec.set_config(algorithm->default_config(spec.problem, (*device)->info().limits));
        if (algorithm->refusal(spec.problem, spec.config(), (*device)->info().limits)) continue;
        const PointRecord record = (*device)->measure(spec, options, {});
        EXPECT_EQ(record.disposition, Disposition::ok) << describe(spec) << ": " << record.reason;
        ASSERT_TRUE((*device)->usable());
        ++judged[algorithm->name()];
      }
    }
  }
  EXPECT_EQ(judged.size(), registry.algorithms().size());
}

/// Reads `bytes` bytes from offset `from` of a 1000-byte buffer; the exit code is the outcome.
[[noreturn]] void read_guarded(GuardedBuffer::GuardSide flush, std::int64_t from, std::int64_t bytes) {
  auto gpu = gpu::BareGpu::open();
  if (!gpu) std::_Exit(3);
  gpu::KernelRunner& runner = (*gpu)->runner();
  try {
    const GuardedBuffer buffer((*gpu)->cuda(), 0, runner.stream(), 1000, flush);
    const gpu::DeviceMemory result = gpu::allocate((*gpu)->cuda(), 8);
    KernelLaunch launch;
    launch.source = {.file = "device/digest.cuh", .entry = "attn_digest", .defines = {}};
    launch.grid = launch.block = {1, 1, 1};
    launch.arguments = {BufferArgument{"data"}, bytes, BufferArgument{"result"}};
    gpu::PreparedLaunch prepared((*gpu)->cuda(), launch, runner.load(launch), [&](const std::string& name) {
      return name == "result" ? result.get() : buffer.address() + static_cast<CUdeviceptr>(from);
    });
    prepared.enqueue((*gpu)->cuda(), runner.stream());
    runner.wait(std::chrono::seconds(10));
    std::_Exit(0);
  } catch (const gpu::DriverError& error) {
    std::_Exit(error.code() == CUDA_ERROR_ILLEGAL_ADDRESS ? 1 : 2);
  }
}

TEST(UserKernelChecksOnGpu, OutOfBoundsReadFaults) {
  if (auto gpu = gpu::BareGpu::open(); !gpu) GTEST_SKIP() << gpu.error();
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a separate process, since a fault destroys the context
  const auto exits = [](int code) { return ::testing::ExitedWithCode(code); };
  EXPECT_EXIT(read_guarded(GuardedBuffer::GuardSide::end, 0, 1024), exits(0), "") << "the gap of 24 bytes is mapped";
  EXPECT_EXIT(read_guarded(GuardedBuffer::GuardSide::end, 0, 1032), exits(1), "");
  EXPECT_EXIT(read_guarded(GuardedBuffer::GuardSide::begin, 0, 1000), exits(0), "");
  EXPECT_EXIT(read_guarded(GuardedBuffer::GuardSide::begin, -8, 8), exits(1), "");
}

TEST(UserKernelChecksOnGpu, DetectsOnlyWorkOnAnotherStream) {
  auto opened = gpu::BareGpu::open();
  if (!opened) GTEST_SKIP() << opened.error();
  gpu::BareGpu& gpu = **opened;
  const gpu::Stream other = gpu::make_stream(gpu.cuda());
  gpu::KernelRunner elsewhere(gpu.cuda(), gpu.builder(), gpu.arch(), other.get(), gpu.limits());
  const auto limit = std::chrono::seconds(10);
  for (const int microseconds : {10, 100, 1000, 10'000}) {
    const std::chrono::nanoseconds length = std::chrono::microseconds(microseconds);
    const gpu::PendingWork none = gpu::pending_work(
        gpu.runner(), [&] { gpu.runner().enqueue_delay(length); }, limit);
    EXPECT_LE(none.ns, none.resolution_ns) << microseconds << " us";
    const gpu::PendingWork late = gpu::pending_work(
        gpu.runner(),
        [&] {
          elsewhere.enqueue_delay(length + std::chrono::milliseconds(7));
          gpu.runner().enqueue_delay(length);
        },
        limit);
    EXPECT_NEAR(late.ns, 2e6, 1e6) << microseconds << " us";
  }
}

}  // namespace
}  // namespace attnscope
