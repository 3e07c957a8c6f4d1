// SPDX-License-Identifier: Apache-2.0
// `attnscope remote` over plain pipes, and its copying by something that stands for ssh.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "profiler/measure/remote/wire.h"
#include "subprocess.h"

namespace attnscope::testing {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class RemoteProgram : public ::testing::Test {
 protected:
  remote::Answer next() {
    const auto line = process.read_line();
    EXPECT_TRUE(line) << "no answer";
    auto answer = remote::parse_answer(line.value_or("{}"));
    EXPECT_TRUE(answer.ok()) << *line;
    return answer ? std::move(answer).value() : remote::Answer{};
  }
  void ask(const remote::Request& request) { process.write(remote::to_line(request) + "\n"); }
  static remote::Request measure(std::uint64_t number, std::int64_t n) {
    remote::Request request;
    request.ask = "measure";
    request.number = number;
    request.whole = true;
    request.options.emplace();
    request.points.push_back({.algorithm = "fa2",
                              .problem = {.heads_q = 16, .heads_kv = 16, .n_q = n, .n_k = n, .d = 64},
                              .tile = {.br = 16, .bc = 16}});
    return request;
  }

  TemporaryFolder folder;
  Process process{folder, {"remote", "--device", "simulated:H200"}, {}};
};

TEST_F(RemoteProgram, AnswersInOrderAndEndsWithItsInput) {
  EXPECT_EQ(next().hello.value_or(remote::Hello{}).device.limits.name, "NVIDIA H200");
  process.write("no JSON\n");
  const remote::Answer refused = next();
  EXPECT_EQ(refused.answer, "refused");
  EXPECT_EQ(refused.number, 0U);
  ask(measure(7, 256));
  const remote::Answer record = next();
  EXPECT_EQ(record.number, 7U);
  ASSERT_EQ(record.records.size(), 1U);
  EXPECT_EQ(record.records[0].disposition, Disposition::ok);
  EXPECT_GT(record.records[0].kernels.at(0).metric("dram_read_bytes").value_or(0), 0);
  process.close_stdin();
  EXPECT_EQ(process.wait().exit_code, 0);
}

TEST_F(RemoteProgram, ACancelFindsItsRequestAndNoOther) {
  next();
  remote::Request cancel;
  cancel.ask = "cancel";
  cancel.number = 1;
  // In one piece, so that all are there before the first is far.
  process.write(remote::to_line(measure(1, 65'536)) + "\n" + remote::to_line(measure(2, 128)) + "\n" +
                remote::to_line(cancel) + "\n");
  const remote::Answer first = next();
  EXPECT_EQ(first.number, 1U);
  ASSERT_EQ(first.records.size(), 1U);
  EXPECT_EQ(first.records[0].disposition, Disposition::cancelled);
  const remote::Answer second = next();
  EXPECT_EQ(second.number, 2U);
  ASSERT_EQ(second.records.size(), 1U);
  EXPECT_EQ(second.records[0].disposition, Disposition::ok);
}

TEST_F(RemoteProgram, ASignalEndsAnIdleOne) {
  next();
  process.send(SIGTERM);
  EXPECT_EQ(process.wait().exit_code, 0);
}

TEST(RemoteCopy, HalfAProgramIsNoProgram) {
  const TemporaryFolder folder;
  const fs::path bin = folder.path() / "bin";
  const fs::path cache = folder.path() / "there";
  fs::create_directories(bin);
  const auto stand_in = [&](const std::string& input) {
    std::ofstream(bin / "ssh") << "#!/bin/sh\nfor last; do :; done\nexport XDG_CACHE_HOME='" << cache.string() << "'\n"
                               << input << "sh -c \"$last\"\n";
    ::chmod((bin / "ssh").c_str(), 0755);
  };
  const auto copies = [&] {
    int programs = 0;
    for (const auto& entry : fs::recursive_directory_iterator(cache)) programs += entry.is_regular_file() ? 1 : 0;
    return programs;
  };
  const Process::Options options{.environment = {{"PATH", bin.string() + ":" + std::getenv("PATH")}}};
  stand_in("head -c 100000 | ");
  const Outcome half = run(folder, {"remote", "--copy-to", "gpubox"}, options);
  EXPECT_EQ(half.exit_code, 1);
  EXPECT_EQ(copies(), 0);
  stand_in("");
  const Outcome whole = run(folder, {"remote", "--copy-to", "gpubox"}, options);
  EXPECT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_EQ(copies(), 1);
}

}  // namespace
}  // namespace attnscope::testing
