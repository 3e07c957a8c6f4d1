// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/parallel_for.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace attnscope {
namespace {

TEST(ParallelFor, EachIndexIsProcessedOnce) {
  std::vector<int> done(1000);
  parallel_for(done.size(), CancelToken{}, [&] { return [&](std::size_t i) { ++done[i]; }; });
  EXPECT_EQ(done, std::vector<int>(1000, 1));
}

TEST(ParallelFor, RethrowsExceptionsOfAnyThread) {
  std::atomic<int> workers = 0;
  const auto all_fail = [&] {
    ++workers;
    return [](std::size_t) { throw std::runtime_error("no memory left for this point"); };
  };
  try {
    parallel_for(1000, CancelToken{}, all_fail);
    ADD_FAILURE() << "no exception was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "no memory left for this point");
  }
  EXPECT_GE(workers, 1);
  const auto no_worker = []() -> void (*)(std::size_t) { throw std::bad_alloc(); };
  EXPECT_THROW(parallel_for(1000, CancelToken{}, no_worker), std::bad_alloc);
}

TEST(ParallelFor, StartsNothingOnceCancelled) {
  CancelToken cancel;
  cancel.cancel();
  parallel_for(1000, cancel, [] { return [](std::size_t) { ADD_FAILURE(); }; });
}

}  // namespace
}  // namespace attnscope
