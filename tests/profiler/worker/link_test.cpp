// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/link.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace attnscope::worker {
namespace {

// The cause of a failure is in the last line.
TEST(WorkerLink, KeepsTheEndOfStderr) {
  const auto link = start_child({"sh", "-c", "printf '%05000d\\nboom\\n' 0 >&2"});
  ASSERT_TRUE(link.ok());
  std::string line;
  while ((*link)->receive(line, std::chrono::seconds(1)) != Link::ReceiveStatus::end) {
  }
  // 5,006 bytes were written; the last 4,096 are kept.
  EXPECT_EQ((*link)->end().stderr_tail, std::string(4090, '0') + "\nboom\n");
}

}  // namespace
}  // namespace attnscope::worker
