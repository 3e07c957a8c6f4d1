// SPDX-License-Identifier: Apache-2.0
// `attnscope worker` over pipes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "profiler/worker/protocol.h"
#include "subprocess.h"

namespace attnscope::testing {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class WorkerProgram : public ::testing::Test {
 protected:
  /// Returns the next event, which must be of one of these types.
  template <class E>
  E next() {
    const auto line = process.read_line();
    const auto event = parse_event(line.value_or("{}"));
    EXPECT_TRUE(event.ok() && std::holds_alternative<E>(*event)) << line.value_or("no answer");
    return event.ok() && std::holds_alternative<E>(*event) ? std::get<E>(*event) : E{};
  }
  static std::string measure(const std::string& id, std::int64_t n) {
    const PointSpec point{.algorithm = "fa2",
                          .problem = {.heads_q = 16, .heads_kv = 16, .n_q = n, .n_k = n, .d = 64},
                          .tile = {.br = 16, .bc = 16}};
    return to_json_line(WorkerRequest{
               .request = "measure", .id = id, .points = {point}, .options = MeasureOptions{}, .whole = true}) +
           "\n";
  }
  void expect_record(const std::string& id, Disposition disposition) {
    const RecordEvent event = next<RecordEvent>();
    EXPECT_EQ(event.id, id);
    ASSERT_EQ(event.records.size(), 1U);
    EXPECT_EQ(event.records[0].disposition, disposition);
  }

  TemporaryFolder folder;
  Process process{folder, {"worker", "--device", "simulated:H200"}, {}};
};

TEST_F(WorkerProgram, AnswersInOrderUntilEndOfInput) {
  EXPECT_EQ(next<DeviceEvent>().device.limits.name, "NVIDIA H200");
  process.write("no JSON\n");
  EXPECT_EQ(next<RefusedEvent>().id, "");
  process.write(measure("7", 256));
  expect_record("7", Disposition::ok);
  process.close_stdin();
  EXPECT_EQ(process.wait().exit_code, 0);
}

TEST_F(WorkerProgram, CancelsOneRequest) {
  (void)next<DeviceEvent>();
  // Sent in one write, so that all requests arrive before the first is measured.
  process.write(measure("1", 65'536) + measure("2", 128) + to_json_line(WorkerRequest{.request = "cancel", .id = "1"}) +
                "\n");
  expect_record("1", Disposition::cancelled);
  expect_record("2", Disposition::ok);
}

TEST_F(WorkerProgram, SignalEndsIdleWorker) {
  (void)next<DeviceEvent>();
  process.send(SIGTERM);
  EXPECT_EQ(process.wait().exit_code, 0);
}

}  // namespace
}  // namespace attnscope::testing
