// SPDX-License-Identifier: Apache-2.0
// collect --device with several simulated GPUs, each in a child process.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <set>

#include "findings.h"
#include "profiler/plan/shards.h"
#include "profiler/worker/protocol.h"
#include "storage/run_store.h"
#include "sweeps.h"

namespace attnscope::testing {
namespace {

using ::testing::HasSubstr;
using Mode = RunStore::Mode;

Words curves_on(const std::string& device) {
  return {"collect", "--device",         device,         "-a",      "N=[64:512:64]", "-a", "heads=2", "-a", "d=32,64",
          "-a",      "mask=full,causal", "--algorithms", "fa1,fa2", "--quiet"};
}
constexpr std::size_t curve_points = 64;

class SeveralDevices : public CommandTest {
 protected:
  Outcome collect(const std::string& device, const Words& more = {}) {
    return run(folder_, curves_on(device) + Words{"-o", file_} + more);
  }
  std::vector<StoredPoint> points() const {
    const RunStore store = RunStore::open(file_, Mode::read_only);
    return store.points({{store.runs().at(0).id}});
  }
  void expect_groups_on_one_device() const {
    const std::vector<StoredPoint> all = points();
    std::vector<PointSpec> specs;
    for (const StoredPoint& point : all) specs.push_back(point.record.spec);
    for (const PointIndices& group : comparison_groups(specs)) {
      for (const std::size_t place : group) EXPECT_EQ(all[place].device_uuid, all[group.front()].device_uuid);
    }
  }
  std::vector<std::string> undisturbed() {
    const auto file = folder_ / "one.attnscope";
    EXPECT_EQ(run(folder_, curves_on("simulated") + Words{"-o", file}).exit_code, 0);
    return findings(file);
  }
};

TEST_F(SeveralDevices, give_results_of_one_device) {
  expect_exit(0, collect("simulated*3"));
  EXPECT_EQ(findings(file_, 1), undisturbed());
  expect_groups_on_one_device();
  const RunStore store = RunStore::open(file_, Mode::read_only);
  const auto runs = store.runs();
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].state, StoredRunState::complete);
  EXPECT_EQ(run(folder_, {"check", file_}).exit_code, 0);
}

TEST_F(SeveralDevices, events_name_the_device) {
  Process process(folder_, curves_on("simulated*2") + Words{"--jsonl", "-o", file_}, {});
  const Outcome outcome = expect_exit(0, process.wait());
  std::istringstream lines(outcome.out);
  std::set<std::string> devices;
  ProgressEvent progress;
  PlanEvent plan;
  for (std::string line; std::getline(lines, line);) {
    const auto event = parse_event(line);
    ASSERT_TRUE(event.ok()) << line;
    if (const auto* e = std::get_if<PlanEvent>(&*event)) plan = *e;
    if (const auto* e = std::get_if<PointEvent>(&*event)) devices.insert(e->device);
    if (const auto* e = std::get_if<ProgressEvent>(&*event)) progress = *e;
  }
  EXPECT_EQ(plan.devices, (std::vector<std::string>{"simulated#1", "simulated#2"}));
  EXPECT_EQ(devices, (std::set<std::string>{"simulated#1", "simulated#2"}));
  EXPECT_EQ(progress.done, progress.total);
  ASSERT_EQ(progress.by_device.size(), 2U);
  EXPECT_EQ(progress.by_device[0] + progress.by_device[1], progress.total);
}

TEST_F(SeveralDevices, resume_on_other_devices) {
  Process process(folder_, curves_on("simulated*2") + Words{"--jsonl", "-o", file_}, slow_reader);
  await_points(process, 20);
  process.send(SIGINT);
  EXPECT_EQ(process.wait().exit_code, 5);
  EXPECT_LT(points().size(), curve_points);
  // The device on which the run began is missing.
  expect_exit(0, collect("simulated#2,simulated#3", {"--resume"}));
  EXPECT_EQ(findings(file_, 1), undisturbed());
  expect_groups_on_one_device();
  EXPECT_THAT(expect_exit(0, collect("simulated*3", {"--resume"})).err, HasSubstr("already complete"));
}

std::vector<pid_t> children_of(pid_t parent) {
  std::ifstream list(fmt::format("/proc/{0}/task/{0}/children", parent));
  std::vector<pid_t> children;
  for (pid_t child = 0; list >> child;) children.push_back(child);
  return children;
}

TEST_F(SeveralDevices, lost_process_loses_no_points) {
  Process process(folder_, curves_on("simulated*2") + Words{"--jsonl", "-o", file_}, slow_reader);
  await_points(process, 8);
  const std::vector<pid_t> children = children_of(process.id());
  ASSERT_EQ(children.size(), 2U);
  ::kill(children.back(), SIGKILL);
  const Outcome outcome = process.wait();
  EXPECT_THAT(outcome.out + outcome.err, HasSubstr("new process"));
  EXPECT_EQ(points().size(), curve_points);
  std::size_t crashed = 0;
  for (const StoredPoint& point : points()) crashed += point.record.disposition == Disposition::crashed ? 1 : 0;
  EXPECT_LE(crashed, 1U) << "the point in flight, if any";
  expect_groups_on_one_device();
}

TEST_F(SeveralDevices, invalid_arguments_print_one_line) {
  const std::vector<std::tuple<std::string, Words, std::string>> wrong{
      {"simulated,simulated", {}, "twice"},
      {"simulated#1,simulated#2,simulated#1", {}, "simulated#1"},
      {"simulated:H200,simulated:H100", {}, "of one kind"},
      {"simulated,simulated:H200#1,simulated:A100", {}, "A100"},
      {"simulated*0", {}, "1 to 64"},
      {"simulated*65", {}, "1 to 64"},
      {"simulated*x", {}, "1 to 64"},
      {"simulated*2", {"--ceilings", "x"}, "--ceilings"},
      {"simulated:none,simulated", {}, "'none'"},
      {"simulated,simulated:none", {}, "'none'"},
  };
  for (const auto& [device, more, says] : wrong) {
    EXPECT_THAT(expect_error(2, collect(device, more)).err, HasSubstr(says)) << device;
    EXPECT_FALSE(std::filesystem::exists(file_));
  }
}

TEST_F(SeveralDevices, lists_up_to_64) {
  expect_exit(0, collect("simulated*64", {"--dry-run"}));
  expect_exit(0, collect("simulated*1"));
  EXPECT_EQ(points().size(), curve_points);
  EXPECT_THAT(points().front().device_uuid, ::testing::EndsWith("#1"));
}

TEST_F(SeveralDevices, all_without_gpus_is_an_error) {
  const Outcome outcome = collect("all", {});
  if (outcome.exit_code == 0) GTEST_SKIP() << "this machine has GPUs";
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
}

}  // namespace
}  // namespace attnscope::testing
