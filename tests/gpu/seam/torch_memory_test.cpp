// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/user/python_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "fake_graphs.h"
#include "profiler/measure/gpu/user/python_kernel.h"
#include "tests/message_matchers.h"

namespace attnscope::gpu {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Memory of the fake device is host memory.
class TorchMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("ATTNSCOPE_CUDA_LIBRARY", ATTNSCOPE_FAKE_GPU_LIBRARY, 1);
    unsetenv("ATTNSCOPE_FAKE_GPU");
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    free_bytes_ = free_bytes();
  }
  void TearDown() override {
    attnscope_memory_tag(0);
    attnscope_memory_release(tag);
    unsetenv("ATTNSCOPE_FAKE_GPU");
    unsetenv("ATTNSCOPE_CUDA_LIBRARY");
  }

  unsigned char* allocate(std::int64_t bytes) {
    return static_cast<unsigned char*>(attnscope_malloc(bytes, 0, stream_));
  }
  void free(void* pointer) { attnscope_free(pointer, 0, 0, stream_); }
  void begin_capture() { ASSERT_EQ(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS); }
  void end_capture() {
    CUgraph graph = nullptr;
    EXPECT_EQ(cuStreamEndCapture(stream_, &graph), CUDA_SUCCESS) << "no call invalidated it";
    if (graph != nullptr) cuGraphDestroy(graph);
  }
  static std::size_t free_bytes() {
    std::size_t free = 0;
    std::size_t total = 0;
    EXPECT_EQ(cuMemGetInfo(&free, &total), CUDA_SUCCESS);
    return free;
  }
  static bool is_nan(const unsigned char* memory, std::size_t bytes) {
    return std::all_of(memory, memory + bytes, [](unsigned char byte) { return byte == 0xFF; });
  }

  static constexpr std::int64_t tag = 7;
  CUstream stream_ = nullptr;
  std::size_t free_bytes_ = 0;
};

TEST_F(TorchMemoryTest, IsAlignedAndFilledWithNan) {
  for (const std::int64_t bytes : {0, 1, 500, 4096, 100'000}) {
    unsigned char* const memory = allocate(bytes);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 512, 0);
    EXPECT_TRUE(is_nan(memory - 256, static_cast<std::size_t>(bytes) + 512)) << "with guard areas";
    free(memory);
  }
  EXPECT_EQ(free_bytes(), free_bytes_);
}

TEST_F(TorchMemoryTest, ZeroBytesAreDistinctBlocks) {
  void* const one = allocate(0);
  void* const other = allocate(0);
  EXPECT_NE(one, other);
  free(one);
  free(other);
}

TEST_F(TorchMemoryTest, CountsExactBytesPerTag) {
  void* const untagged = allocate(1000);
  attnscope_memory_tag(tag);
  void* const a = allocate(100);
  void* const b = allocate(30);
  free(a);
  void* const c = allocate(10);
  EXPECT_EQ(attnscope_memory_live(tag), 40);
  EXPECT_EQ(attnscope_memory_peak(tag), 130);
  free(b);
  free(c);
  EXPECT_EQ(attnscope_memory_live(tag), 0);
  attnscope_memory_release(tag);
  EXPECT_EQ(attnscope_memory_peak(tag), 0);
  free(untagged);
  EXPECT_EQ(free_bytes(), free_bytes_);
}

TEST_F(TorchMemoryTest, FreedBlocksServeRequestsOfTheirSizeStreamAndTag) {
  CUstream other = nullptr;
  ASSERT_EQ(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  attnscope_memory_tag(tag);
  void* const block = allocate(64);
  free(block);
  EXPECT_NE(allocate(65), block);
  EXPECT_NE(attnscope_malloc(64, 0, other), block);
  attnscope_memory_tag(tag + 1);
  EXPECT_NE(allocate(64), block);
  attnscope_memory_tag(tag);
  EXPECT_EQ(allocate(64), block);
  EXPECT_NE(allocate(64), block) << "in use again";
  attnscope_memory_release(tag + 1);
  void* const shared = allocate(32);
  attnscope_record_stream(shared, other);
  free(shared);
  EXPECT_NE(allocate(32), shared) << "the other stream may still use it";
}

TEST_F(TorchMemoryTest, WorksWhileStreamIsCaptured) {
  void* const before = allocate(4096);
  void* const graphs = allocate(256);
  attnscope_memory_tag(tag);
  begin_capture();
  void* const in_capture = allocate(4096);
  free(in_capture);
  free(before);
  end_capture();
  attnscope_memory_tag(0);
  EXPECT_LT(free_bytes(), free_bytes_ - 8192) << "the graph may use both";
  attnscope_memory_release(tag);
  free(graphs);
  EXPECT_EQ(free_bytes(), free_bytes_);
}

// A function may capture graphs of its own.
TEST_F(TorchMemoryTest, KeepsUntaggedMemoryFreedDuringCapture) {
  void* const block = allocate(4096);
  begin_capture();
  free(block);
  end_capture();
  free(allocate(1));
  EXPECT_LT(free_bytes(), free_bytes_ - 4096);
}

TEST_F(TorchMemoryTest, MemoryInUseOutlivesItsTag) {
  attnscope_memory_tag(tag);
  unsigned char* const cached = allocate(4096);
  attnscope_memory_release(tag);
  attnscope_memory_tag(0);
  cached[0] = 1;
  EXPECT_EQ(free_bytes(), free_bytes_ - 4096 - 1024);
  free(cached);
  EXPECT_EQ(free_bytes(), free_bytes_);
}

TEST_F(TorchMemoryTest, PoisonFillsBlocksOfItsTag) {
  unsigned char* const untagged = allocate(16);
  attnscope_memory_tag(tag);
  unsigned char* const used = allocate(1000);
  unsigned char* const freed = allocate(2000);
  for (unsigned char* each : {untagged, used, freed}) each[5] = 1;
  free(freed);
  poison_memory(tag);
  EXPECT_TRUE(is_nan(used, 1000));
  EXPECT_TRUE(is_nan(freed, 2000));
  EXPECT_EQ(untagged[5], 1);
  attnscope_memory_tag(0);
  free(untagged);
}

TEST_F(TorchMemoryTest, DetectsStrayWrites) {
  attnscope_memory_tag(tag);
  unsigned char* const memory = allocate(1000);
  memory[0] = memory[999] = 1;
  EXPECT_EQ(stray_write(tag), Message());
  memory[1000] = 1;
  EXPECT_EQ(stray_write(0), Message()) << "another tag";
  EXPECT_THAT(stray_write(tag), test::IsReason("point.tensor_overrun", "1000"));
  memory[1000] = 0xFF;
  memory[1255] = 1;
  EXPECT_THAT(stray_write(tag), test::IsReason("point.tensor_overrun", "1000"));
  memory[1255] = 0xFF;
  memory[-256] = 1;
  EXPECT_THAT(stray_write(tag), test::IsReason("point.tensor_underrun", "1000"));
}

TEST_F(TorchMemoryTest, OutOfMemoryThrows) {
  const auto message = [&] {
    try {
      (void)allocate(1000);
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const std::int64_t live = attnscope_memory_live(0);
  setenv("ATTNSCOPE_FAKE_GPU", "oom-from=1", 1);
  EXPECT_THAT(message(), AllOf(HasSubstr("CUDA out of memory"), HasSubstr("1000 bytes")));
  unsetenv("ATTNSCOPE_FAKE_GPU");
  EXPECT_EQ(attnscope_memory_live(0), live);
  free(allocate(1000));
  EXPECT_EQ(free_bytes(), free_bytes_);
}

TEST_F(TorchMemoryTest, ServesSeveralThreads) {
  attnscope_memory_tag(tag);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 200; ++n) free(allocate(n));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(attnscope_memory_live(tag), 0);
  EXPECT_EQ(stray_write(tag), Message());
}

TEST_F(TorchMemoryTest, IgnoresUnknownPointers) {
  int value = 0;
  free(&value);
  free(nullptr);
  EXPECT_EQ(free_bytes(), free_bytes_);
}

}  // namespace
}  // namespace attnscope::gpu
