// SPDX-License-Identifier: Apache-2.0
// --device ssh:HOST with a real sshd on the loopback interface.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "local_sshd.h"
#include "sessions.h"
#include "storage/run_store.h"
#include "sweeps.h"

namespace attnscope::testing {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class Ssh : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!sshd.why_not().empty()) GTEST_SKIP() << sshd.why_not();
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder.path() / name).string(); }
  [[nodiscard]] Process::Options by_config() const {
    return {.environment = {{"ATTNSCOPE_SSH_CONFIG", sshd.config()}}};
  }
  [[nodiscard]] Outcome collect(const std::string& device) const {
    return run(folder,
               {"collect", "-a", "N=[128,256,384]", "-a", "d=64", "-a", "heads=2", "-a", "algorithm=fa2", "--device",
                device, "-o", path("here.attnscope")},
               by_config());
  }

  TemporaryFolder folder;
  TemporaryFolder sshd_folder;
  hosts::LocalSshd sshd{sshd_folder.path()};
};

TEST_F(Ssh, StoresRemoteSweepLocally) {
  sshd.install(ATTNSCOPE_PROGRAM);
  EXPECT_THAT(expect_exit(0, collect("ssh:gpubox/simulated:H200")).out, HasSubstr("on gpubox"));
  expect_exit(0, run(folder, {"collect", "-a", "N=[128,256,384]", "-a", "d=64", "-a", "heads=2", "-a", "algorithm=fa2",
                              "--device", "simulated:H200", "-o", path("local.attnscope")}));
  const RunStore here = RunStore::open(path("here.attnscope"), RunStore::Mode::read_only);
  const RunStore beside = RunStore::open(path("local.attnscope"), RunStore::Mode::read_only);
  const auto points = here.points();
  const auto same = beside.points();
  ASSERT_EQ(points.size(), 3U);
  ASSERT_EQ(same.size(), 3U);
  for (std::size_t i = 0; i < points.size(); ++i) {  // local and remote simulations are equal
    EXPECT_EQ(points[i].record.spec, same[i].record.spec);
    ASSERT_EQ(points[i].record.kernels.size(), same[i].record.kernels.size());
    for (std::size_t k = 0; k < same[i].record.kernels.size(); ++k) {
      EXPECT_EQ(points[i].record.kernels[k].metrics, same[i].record.kernels[k].metrics);
      EXPECT_EQ(points[i].record.kernels[k].samples_ns, same[i].record.kernels[k].samples_ns);
    }
  }
  EXPECT_EQ(here.runs().front().device_uuid, beside.runs().front().device_uuid);
  EXPECT_FALSE(fs::exists(sshd.path("there/attnscope/runs")));
}

TEST_F(Ssh, ReportsMissingProgram) {
  EXPECT_THAT(expect_exit(1, collect("ssh:gpubox/simulated:H200")).err, HasSubstr("PATH of gpubox"));
  EXPECT_FALSE(fs::exists(path("here.attnscope")));
}

TEST_F(Ssh, ReportsRejectedKey) {
  sshd.install(ATTNSCOPE_PROGRAM);
  sshd.use_wrong_key();
  EXPECT_THAT(expect_exit(1, collect("ssh:gpubox/simulated:H200")).err, HasSubstr("ssh-copy-id gpubox"));
}

TEST_F(Ssh, ReportsUnknownHost) {
  sshd.install(ATTNSCOPE_PROGRAM);
  sshd.forget_host_key();
  EXPECT_THAT(expect_exit(1, collect("ssh:gpubox/simulated:H200")).err, HasSubstr("run 'ssh gpubox' once"));
}

TEST_F(Ssh, ReportsMissingDevice) {
  sshd.install(ATTNSCOPE_PROGRAM);
  const Outcome outcome = expect_exit(1, collect("ssh:gpubox/simulated:Abacus"));
  EXPECT_THAT(outcome.err, HasSubstr("gpubox: "));
  EXPECT_THAT(outcome.err, HasSubstr("Abacus"));
  EXPECT_EQ(collect("ssh:gpu box").exit_code, 2);
  const Outcome gpu = collect("ssh:gpubox/31");  // no machine has this many GPUs
  EXPECT_EQ(gpu.exit_code, 1);
  EXPECT_THAT(gpu.err, HasSubstr("gpubox: "));
  EXPECT_FALSE(fs::exists(path("here.attnscope"))) << "no simulated GPU replaces it";
}

// The connection is cut during a session; it reconnects and answers all requests.
TEST_F(Ssh, ReconnectsAfterLoss) {
  sshd.install(ATTNSCOPE_PROGRAM);
  SessionClient client(folder,
                       {"collect", "--serve", "--device", "ssh:gpubox/simulated:H200", "-o", path("here.attnscope")},
                       by_config());
  client.until<PlanEvent>();
  client.ask(request_line("a", 256));
  EXPECT_EQ(client.until<PointEvent>().id, "a");
  ASSERT_EQ(::kill(std::stoi(hosts::read_file(sshd.path("there/pid"))), SIGKILL), 0);
  client.ask(request_line("b", 512));
  EXPECT_EQ(client.until<PointEvent>().id, "b");
  client.ask(end_line() + "\n");
  client.end();
  EXPECT_THAT(client.answers(), ::testing::ElementsAre("point a", "point b"));
  const RunStore here = RunStore::open(path("here.attnscope"), RunStore::Mode::read_only);
  EXPECT_EQ(here.points().size(), 2U);
}

}  // namespace
}  // namespace attnscope::testing
