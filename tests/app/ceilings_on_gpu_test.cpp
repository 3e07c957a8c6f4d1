// SPDX-License-Identifier: Apache-2.0
// `ceilings --jsonl`, as used by the window, on the fake GPU (tests/gpu/fake).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <variant>

#include "fake_driver.h"
#include "messages/ceiling.h"
#include "profiler/worker/protocol.h"
#include "storage/run_store.h"
#include "sweeps.h"

namespace attnscope::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CeilingsOnGpu : public ::testing::Test {
 protected:
  template <class Kind>
  static std::vector<Kind> events(const std::string& lines) {
    std::vector<Kind> found;
    std::istringstream in(lines);
    for (std::string line; std::getline(in, line);) {
      const auto event = parse_event(line);
      EXPECT_TRUE(event) << line;
      if (event && std::holds_alternative<Kind>(*event)) found.push_back(std::get<Kind>(*event));
    }
    return found;
  }
  [[nodiscard]] std::size_t sets_kept() const {
    return RunStore::open(file_, RunStore::Mode::read_only).ceilings().size();
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "ceilings.attnscope";
  std::vector<std::string> arguments_{"ceilings", "--jsonl", "--rounds", "4", "--device", "0", "-o", file_};
};

TEST_F(CeilingsOnGpu, reports_progress_and_end) {
  const Outcome outcome = expect_exit(0, run(folder_, arguments_, on_fake_gpu("throttle=4")));
  const auto progress = events<ProgressEvent>(outcome.out);
  ASSERT_FALSE(progress.empty());
  for (std::size_t i = 0; i < progress.size(); ++i) {
    EXPECT_EQ(progress[i].total, progress.back().total);
    EXPECT_GT(progress[i].done, i == 0 ? 0 : progress[i - 1].done);
  }
  EXPECT_EQ(progress.back().done, progress.back().total);
  EXPECT_LT(progress.front().done, progress.front().total) << "progress starts with the first kernel";
  const auto done = events<DoneEvent>(outcome.out);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].state, "complete");
  EXPECT_EQ(sets_kept(), 1U);
}

TEST_F(CeilingsOnGpu, stores_nothing_after_cancel) {
  Process process(folder_, arguments_, on_fake_gpu());
  process.write("cancel\n");
  const Outcome outcome = expect_exit(5, process.wait());
  const auto done = events<DoneEvent>(outcome.out);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].state, "cancelled");
  EXPECT_EQ(done[0].exit_code, 5);
  EXPECT_EQ(sets_kept(), 0U);
}

TEST_F(CeilingsOnGpu, reports_lost_device_and_stores_nothing) {
  struct Case {
    const char* fault;
    std::vector<std::string> said;
  };
  for (const Case& each : {Case{"crash=attn_ceiling_exp2", {"exp2", "ILLEGAL_ADDRESS"}},
                           Case{"crash=attn_ceiling_link", {"ceilings", "ILLEGAL_ADDRESS"}},
                           Case{"lost=attn_ceiling_mma", {"cuLaunchKernelEx"}}}) {
    const Outcome outcome = expect_error(1, run(folder_, arguments_, on_fake_gpu(each.fault)));
    for (const std::string& words : each.said) EXPECT_THAT(outcome.err, HasSubstr(words)) << each.fault;
    EXPECT_THAT(outcome.err, Not(HasSubstr("point"))) << each.fault;
    EXPECT_EQ(sets_kept(), 0U) << each.fault;
  }
}

TEST_F(CeilingsOnGpu, omits_failed_ceilings_with_warning) {
  const auto warnings = [&](const Outcome& outcome) {
    std::string all;
    for (const LogEvent& event : events<LogEvent>(outcome.out)) all += event.text + "\n";
    return all;
  };
  // Uses a new cache folder, so that all kernels are compiled.
  const auto uncompiled = [&](const std::string& faults) {
    Process::Options options = on_fake_gpu(faults);
    options.environment["ATTNSCOPE_CACHE_DIR"] = folder_ / std::to_string(std::hash<std::string>()(faults));
    return options;
  };
  const auto figures = [&] {
    std::set<std::string> names;
    const auto sets = RunStore::open(file_, RunStore::Mode::read_only).ceilings();
    for (const Ceiling& ceiling : sets.back().ceilings) names.insert(ceiling.name);
    return names;
  };
  // One ceiling is measured by a single kernel, the other by several.
  const Outcome none = expect_exit(5, run(folder_, arguments_, uncompiled("compile-error=ceilings/mma.cuh")));
  EXPECT_THAT(warnings(none), HasSubstr(text(msg::ceiling::mma_fp16{})));
  EXPECT_FALSE(figures().contains("mma_fp16"));
  EXPECT_TRUE(figures().contains("dram_read"));
  EXPECT_EQ(events<DoneEvent>(none.out).at(0).state, "complete");
  EXPECT_EQ(events<DoneEvent>(none.out).at(0).exit_code, 5);

  const Outcome some = expect_exit(0, run(folder_, arguments_, uncompiled("compile-error=ATTN_AT_ONCE=8")));
  EXPECT_THAT(warnings(some), HasSubstr(text(msg::ceiling::dram_read{})));
  EXPECT_TRUE(figures().contains("dram_read"));

  const Outcome all = run(folder_, arguments_, uncompiled("compile-error=ceilings/"));
  EXPECT_EQ(all.exit_code, 1) << "nothing was measured";
  EXPECT_EQ(sets_kept(), 2U);
}

TEST_F(CeilingsOnGpu, reports_missing_nvml_values) {
  for (const char* fault : {"nvml-reasons=3", "nvml-clock=999"}) {
    EXPECT_THAT(expect_exit(0, run(folder_, arguments_, on_fake_gpu(fault))).out, HasSubstr("NVML")) << fault;
    for (const Ceiling& ceiling : RunStore::open(file_, RunStore::Mode::read_only).ceilings().back().ceilings) {
      EXPECT_NE(ceiling.name, "throttle_reasons") << fault << ": 0 would say that nothing slowed it down";
    }
  }
  const Outcome busy = run(folder_, arguments_, on_fake_gpu("nvml-use=3"));
  EXPECT_THAT(busy.out, HasSubstr("NVML"));
  for (const Ceiling& ceiling : RunStore::open(file_, RunStore::Mode::read_only).ceilings().back().ceilings) {
    EXPECT_NE(ceiling.name, "other_processes_pct");
  }
}

TEST_F(CeilingsOnGpu, reports_failure_as_last_event) {
  const Outcome crashed = expect_exit(1, run(folder_, arguments_, on_fake_gpu("crash=attn_ceiling")));
  const auto done = events<DoneEvent>(crashed.out);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].state, "failed");
  EXPECT_THAT(crashed.err, HasSubstr(text(done[0].reason)));

  const Outcome simulated = expect_exit(2, run(folder_, {"ceilings", "--jsonl", "--device", "simulated", "-o", file_}));
  ASSERT_EQ(events<DoneEvent>(simulated.out).size(), 1U);
  EXPECT_EQ(events<DoneEvent>(simulated.out)[0].state, "failed");
  EXPECT_EQ(run(folder_, {"ceilings", "--jsonl", "--device", "0"}).exit_code, 2)
      << "--jsonl without -o would discard the values";
}

}  // namespace
}  // namespace attnscope::testing
