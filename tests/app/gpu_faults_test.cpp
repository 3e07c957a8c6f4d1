// SPDX-License-Identifier: Apache-2.0
// Sweeps on a faulty GPU: each fault is a recorded point, and the sweep continues.
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "fake_driver.h"
#include "messages/ceiling.h"
#include "storage/run_store.h"
#include "subprocess.h"

namespace attnscope::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Mode = RunStore::Mode;

class GpuFaults : public ::testing::Test {
 protected:
  Outcome collect(const std::string& faults, const std::vector<std::string>& more = {}) {
    return collect_axes(faults, {"-a", "N=[16,32,48]"}, more);
  }

  Outcome collect_axes(const std::string& faults, const std::vector<std::string>& axes,
                       const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"collect", "--device", "gpu", "--no-verify", "--quiet",
                                       "-a",      "heads=1",  "-o",  file_};
    arguments.insert(arguments.end(), axes.begin(), axes.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(folder_, arguments, on_fake_gpu(faults));
  }

  [[nodiscard]] std::map<std::string, std::map<Disposition, int>> dispositions() const {
    std::map<std::string, std::map<Disposition, int>> counts;
    for (const StoredPoint& point : RunStore::open(file_, Mode::read_only).points()) {
      ++counts[point.record.spec.algorithm][point.record.disposition];
    }
    return counts;
  }

  [[nodiscard]] RunSummary the_run() const {
    const auto runs = RunStore::open(file_, Mode::read_only).runs();
    EXPECT_EQ(runs.size(), 1U);
    return runs.at(0);
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "run.attnscope";
};

TEST_F(GpuFaults, measures_without_faults) {
  const Outcome outcome = collect("", {"--algorithms", "fa1,fa2"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(dispositions()["fa2"][Disposition::ok], 3);
  EXPECT_FALSE(the_run().simulated);
  EXPECT_NE(the_run().environment.driver_version, "");
}

TEST_F(GpuFaults, crash_costs_one_point) {
  const Outcome outcome = collect("crash=fa1", {"--algorithms", "fa1,fa2"});
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  EXPECT_EQ(dispositions()["fa1"][Disposition::crashed], 3);
  EXPECT_EQ(dispositions()["fa2"][Disposition::ok], 3);
  EXPECT_EQ(the_run().state, StoredRunState::complete) << "one run, over several processes";
  EXPECT_EQ(the_run().points, 6U);
}

TEST_F(GpuFaults, hang_costs_one_point) {
  const Outcome outcome = collect("hang=fa1", {"--algorithms", "fa1,fa2", "--timeout", "0.1"});
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  EXPECT_EQ(dispositions()["fa1"][Disposition::timeout], 3);
  EXPECT_EQ(dispositions()["fa2"][Disposition::ok], 3);
}

// Each process crashes at the 9th launch of its counter sessions. Which point that launch belongs to depends on how
// many points are measured before a session is due.
TEST_F(GpuFaults, crash_in_counter_session_costs_one_point) {
  const Outcome outcome = collect_axes("crash-in-range=9", {"-a", "N=[16:96:16]"}, {"--algorithms", "fa2"});
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  EXPECT_EQ(the_run().state, StoredRunState::complete);
  const auto points = RunStore::open(file_, Mode::read_only).points();
  ASSERT_EQ(points.size(), 6U) << "each once";
  for (const StoredPoint& point : points) {
    const bool crashed = point.record.disposition == Disposition::crashed;
    EXPECT_EQ(point.record.kernels.front().metric("dram_read_bytes").has_value(), !crashed);
    if (crashed) {
      EXPECT_THAT(text(point.record.reason), HasSubstr("fwd"));
    }
  }
  auto counts = dispositions()["fa2"];
  EXPECT_GE(counts[Disposition::crashed], 1);
  EXPECT_LE(counts[Disposition::crashed], 3) << "9 launches are those of at least one other point";
  EXPECT_EQ(counts[Disposition::crashed] + counts[Disposition::ok], 6);
}

TEST_F(GpuFaults, points_without_counters_are_measured_again) {
  // Every launch is interrupted, including those after resuming.
  const Outcome cancelled = collect_axes("interrupt=read_noise", {"-a", "N=[16:96:16]"}, {"--algorithms", "fa2"});
  EXPECT_EQ(cancelled.exit_code, 5) << cancelled.err;
  EXPECT_EQ(the_run().state, StoredRunState::cancelled);
  EXPECT_LE(the_run().points, 1U);
  const Outcome resumed = collect_axes("", {"-a", "N=[16:96:16]"}, {"--algorithms", "fa2", "--resume"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(dispositions()["fa2"][Disposition::ok], 6);
  EXPECT_EQ(the_run().points, 6U);
}

TEST_F(GpuFaults, gives_up_after_repeated_crashes) {
  const std::vector<std::string> many{"-a", "N=[16:160:16]"};
  const Outcome outcome = collect_axes("crash=fa2", many, {"--algorithms", "fa2"});
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  EXPECT_EQ(the_run().state, StoredRunState::failed);
  EXPECT_EQ(dispositions()["fa2"][Disposition::crashed], 6);
  EXPECT_EQ(collect_axes("", many, {"--algorithms", "fa2", "--resume"}).exit_code, 5);
  EXPECT_EQ(the_run().state, StoredRunState::complete);
  EXPECT_EQ(dispositions()["fa2"][Disposition::ok], 4);
}

TEST_F(GpuFaults, resumes_within_a_round) {
  const std::vector<std::string> sweep{"collect",       "--device",     "gpu", "--no-verify", "-a", "heads=1", "-a",
                                       "N=[16:256:16]", "--algorithms", "fa2", "--rounds",    "4",  "-o",      file_};
  constexpr std::size_t points = 16;
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), sweep.begin(), sweep.end());
    return more;
  };
  Process::Options narrow = on_fake_gpu("");
  narrow.narrow_pipe = true;
  std::size_t kept = 0;
  for (const std::size_t reported : {points + 5, points - 4}) {  // second round, then third or later
    Process killed(
        folder_,
        with(kept == 0 ? std::vector<std::string>{"--jsonl"} : std::vector<std::string>{"--jsonl", "--resume"}),
        narrow);
    for (std::size_t seen = 0; seen < reported;) {
      const std::optional<std::string> line = killed.read_line();
      ASSERT_TRUE(line);
      seen += line->find("\"event\":\"point\"") != std::string::npos ? 1U : 0U;
    }
    killed.send(SIGKILL);
    (void)killed.wait();
    std::size_t now = 0;
    const RunStore store = RunStore::open(file_, Mode::read_only);
    for (const MeasuredRounds& point : store.measured_rounds(1)) now += point.rounds.size();
    EXPECT_GE(now, kept + reported) << "reported points are stored";
    EXPECT_LT(now, 4 * points);
    EXPECT_TRUE(store.invalid_rows().empty());
    kept = now;
  }
  const std::uint64_t seed = the_run().order_seed;
  const Outcome resumed = run(folder_, with({"--quiet", "--resume"}), on_fake_gpu(""));
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(the_run().state, StoredRunState::complete);
  EXPECT_EQ(the_run().rounds, 4);
  EXPECT_EQ(the_run().order_seed, seed);
  EXPECT_EQ(the_run().points, points);
  const RunStore store = RunStore::open(file_, Mode::read_only);
  for (const StoredPoint& point : store.points()) {
    EXPECT_EQ(point.record.disposition, Disposition::ok);
    ASSERT_EQ(point.record.rounds.size(), 4U) << "each round once";
    for (int round = 0; round < 4; ++round)
      EXPECT_EQ(point.record.rounds[static_cast<std::size_t>(round)].round, round);
  }
  EXPECT_TRUE(store.invalid_rows().empty());
}

TEST_F(GpuFaults, resume_counts_measurements_of_all_rounds) {
  std::vector<std::string> words{"collect", "--device", "gpu", "--no-verify",  "-a",  "N=[16,32]", "-a",
                                 "heads=1", "-o",       file_, "--algorithms", "fa2", "--rounds",  "2"};
  EXPECT_EQ(run(folder_, words, on_fake_gpu("")).exit_code, 0);
  words.emplace_back("--resume");
  const Outcome resumed = run(folder_, words, on_fake_gpu(""));
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.out, HasSubstr("4 of 4 measurements are already done"));
}

TEST_F(GpuFaults, continues_rounds_after_device_loss) {
  const Outcome outcome = collect("crash=fa1", {"--algorithms", "fa1,fa2", "--rounds", "2"});
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  EXPECT_EQ(the_run().state, StoredRunState::complete);
  EXPECT_EQ(dispositions()["fa1"][Disposition::crashed], 3);
  EXPECT_EQ(dispositions()["fa2"][Disposition::ok], 3);
  for (const StoredPoint& point : RunStore::open(file_, Mode::read_only).points()) {
    EXPECT_EQ(point.record.rounds.size(), point.record.spec.algorithm == "fa2" ? 2U : 0U);
  }
}

TEST_F(GpuFaults, missing_gpu_interrupts_the_run) {
  const std::string mark = folder_ / "mark";
  const std::vector<std::string> sweep{"collect",   "--no-verify", "--quiet", "-a",           "heads=1", "-a",
                                       "N=[16,32]", "-o",          file_,     "--algorithms", "fa1,fa2"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), sweep.begin(), sweep.end());
    return more;
  };
  for (const std::string fault : {"gone=", "renumbered="}) {
    for (const std::vector<std::string>& device : std::vector<std::vector<std::string>>{{}, {"--device", "gpu"}}) {
      std::filesystem::remove(file_);
      std::filesystem::remove(mark);
      const std::string faults = fmt::format("crash=fa1,mark={0},{1}{0}", mark, fault);
      const Outcome outcome = run(folder_, with(device), on_fake_gpu(faults));
      EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
      EXPECT_THAT(outcome.err, AllOf(HasSubstr("Fake GPU (GPU-00010203-0405-0607-0809-0a0b0c0d0e0f)"),
                                     HasSubstr("Check nvidia-smi"), HasSubstr("--resume -o " + file_.string())));
      EXPECT_EQ(the_run().state, StoredRunState::interrupted);
      EXPECT_FALSE(the_run().simulated);
      EXPECT_EQ(the_run().points, 1U);

      const Outcome still_gone = run(folder_, with({"--resume"}), on_fake_gpu(faults));
      EXPECT_EQ(still_gone.exit_code, 5) << still_gone.err;
      EXPECT_THAT(still_gone.err, HasSubstr("--resume -o " + file_.string()));
      EXPECT_EQ(the_run().points, 1U) << "exactly one run";

      EXPECT_EQ(run(folder_, with({"--resume"}), on_fake_gpu("")).exit_code, 5);
      EXPECT_EQ(the_run().state, StoredRunState::complete);
      EXPECT_EQ(dispositions()["fa1"][Disposition::crashed], 1);
      EXPECT_EQ(dispositions()["fa1"][Disposition::ok], 1);
      EXPECT_EQ(dispositions()["fa2"][Disposition::ok], 2);
    }
  }
}

// A lock must not lose the end of a run.
TEST_F(GpuFaults, records_missing_gpu_after_lock) {
  const std::vector<std::string> sweep{"collect",       "--no-verify", "--jsonl", "-a",           "heads=1", "-a",
                                       "N=[16:512:16]", "-o",          file_,     "--algorithms", "fa1,fa2"};
  {
    Process::Options narrow = on_fake_gpu("");
    narrow.narrow_pipe = true;
    Process killed(folder_, sweep, narrow);
    for (std::string line; line.find("\"event\":\"point\"") == std::string::npos;) {
      const std::optional<std::string> next = killed.read_line();
      ASSERT_TRUE(next);
      line = *next;
    }
    killed.send(SIGKILL);
    (void)killed.wait();
  }
  const std::filesystem::path mark = folder_ / "mark";
  std::ofstream(mark) << "gone";
  SQLite::Database other(file_.string(), SQLite::OPEN_READWRITE, 10000);
  std::optional<SQLite::Transaction> transaction(std::in_place, other, SQLite::TransactionBehavior::IMMEDIATE);
  std::vector<std::string> resumed = sweep;
  resumed.emplace_back("--resume");
  Process process(folder_, resumed, on_fake_gpu(fmt::format("gone={}", mark.string())));
  transaction.reset();
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  EXPECT_EQ(the_run().state, StoredRunState::interrupted);
}

TEST_F(GpuFaults, resumes_on_gpu_with_new_number) {
  const std::string mark = folder_ / "mark";
  const std::vector<std::string> arguments{"collect", "--device",     "1",  "--no-verify", "--quiet",
                                           "-a",      "N=[16,32]",    "-a", "heads=1",     "-o",
                                           file_,     "--algorithms", "fa1"};
  const Outcome outcome =
      run(folder_, arguments, on_fake_gpu(fmt::format("gpus=2,crash=fa1,mark={0},renumbered={0}", mark)));
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  EXPECT_EQ(the_run().state, StoredRunState::complete);
  EXPECT_EQ(the_run().points, 2U);
  EXPECT_THAT(the_run().device_uuid, ::testing::EndsWith("10"));
}

TEST_F(GpuFaults, missing_gpu_is_the_last_event) {
  const std::string mark = folder_ / "mark";
  Process process(folder_,
                  {"collect", "--no-verify", "--jsonl", "-a", "N=[16,32]", "-a", "heads=1", "-o", file_, "--algorithms",
                   "fa1", "--timeout", "0.1"},
                  on_fake_gpu(fmt::format("hang=fa1,mark={0},gone={0}", mark)));
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  const std::size_t last = outcome.out.rfind("{\"event\"");
  ASSERT_NE(last, std::string::npos);
  EXPECT_THAT(outcome.out.substr(last), AllOf(HasSubstr("\"event\":\"done\""), HasSubstr("\"state\":\"interrupted\""),
                                              HasSubstr("\"exit_code\":5"), HasSubstr("--resume")));
}

TEST_F(GpuFaults, broken_gpu_is_not_simulated) {
  const std::vector<std::string> sweep{"collect", "--quiet", "-a", "N=16", "-o", file_, "--algorithms", "fa1"};
  for (const std::string fault : {"init=999", "init=803", "oom-at=1", "driver=11080", "compute=75"}) {
    const Outcome outcome = run(folder_, sweep, on_fake_gpu(fault));
    EXPECT_EQ(outcome.exit_code, 1) << fault;
    EXPECT_THAT(outcome.err, AllOf(StartsWith("error: "), HasSubstr("--device simulated")));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(file_));
  }
}

TEST_F(GpuFaults, fallback_simulation_is_reported) {
  const std::vector<std::string> sweep{"collect", "--quiet", "-a", "N=16", "-o", file_, "--algorithms", "fa1"};
  Process::Options none = on_fake_gpu("");
  none.environment["ATTNSCOPE_CUDA_LIBRARY"] = "/nonexistent/libcuda.so.1";
  const Outcome quiet = run(folder_, sweep, none);
  EXPECT_EQ(quiet.exit_code, 0) << quiet.err;
  EXPECT_THAT(quiet.err, AllOf(HasSubstr("simulated: "), HasSubstr("/nonexistent/libcuda.so.1")));
  EXPECT_TRUE(the_run().simulated);
  EXPECT_THAT(the_run().simulation_reason, HasSubstr("/nonexistent/libcuda.so.1"));
  EXPECT_THAT(run(folder_, {"info", file_}).out, HasSubstr("/nonexistent/libcuda.so.1"));
  EXPECT_THAT(run(folder_, {"export", "--format", "json", file_}).out, HasSubstr("\"simulated_because\""));

  std::vector<std::string> events = sweep;
  events[1] = "--jsonl";
  const Outcome lines = run(folder_, events, none);
  EXPECT_EQ(lines.exit_code, 0);
  EXPECT_THAT(lines.err, HasSubstr("simulated: "));
  EXPECT_THAT(lines.out, HasSubstr("simulated: "));

  std::filesystem::remove(file_);
  const Outcome asked = run(folder_, {"collect", "--quiet", "--device", "simulated", "-a", "N=16", "-o", file_}, none);
  EXPECT_EQ(asked.err, "");
  EXPECT_EQ(the_run().simulation_reason, "");
}

TEST_F(GpuFaults, events_continue_after_restart) {
  std::vector<std::string> arguments{"collect", "--device", "gpu", "--no-verify", "--jsonl",      "-a",     "N=[16,32]",
                                     "-a",      "heads=1",  "-o",  file_,         "--algorithms", "fa1,fa2"};
  Process process(folder_, arguments, on_fake_gpu("crash=fa1"));
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  const auto count = [&](const std::string& event) {
    std::size_t found = 0;
    const std::string text = "{\"event\":\"" + event + "\"";
    for (auto at = outcome.out.find(text); at != std::string::npos; at = outcome.out.find(text, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("plan"), 1U);
  EXPECT_EQ(count("point"), 4U);
  EXPECT_EQ(count("done"), 1U);
}

TEST_F(GpuFaults, text_continues_after_restart) {
  const std::vector<std::string> arguments{"collect", "--device", "gpu", "--no-verify", "-a",           "N=[16,32]",
                                           "-a",      "heads=1",  "-o",  file_,         "--algorithms", "fa1"};
  const Outcome outcome = run(folder_, arguments, on_fake_gpu("crash=fa1"));
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr(" 1/2  "), HasSubstr(" 2/2  ")));
  EXPECT_EQ(outcome.out.find("Device:"), outcome.out.rfind("Device:")) << outcome.out;
}

TEST_F(GpuFaults, ctrl_c_ends_hanging_run) {
  for (const auto& [faults, disposition] : {std::pair("hang=fa1,interrupt=fa1", Disposition::timeout),
                                            std::pair("crash=fa1,interrupt=fa1", Disposition::crashed)}) {
    std::filesystem::remove(file_);
    const Outcome outcome = collect(faults, {"--algorithms", "fa1", "--timeout", "0.1"});
    EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
    EXPECT_EQ(the_run().state, StoredRunState::cancelled);
    EXPECT_EQ(the_run().points, 1U) << "no new process measured the next point";
    EXPECT_EQ(dispositions()["fa1"][disposition], 1);
  }
}

TEST_F(GpuFaults, compile_error_is_a_point) {
  const Outcome outcome = collect("compile-error=fa1", {"--algorithms", "fa1,fa2"});
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  EXPECT_EQ(dispositions()["fa1"][Disposition::compile_error], 3);
  EXPECT_EQ(dispositions()["fa2"][Disposition::ok], 3);
}

TEST_F(GpuFaults, missing_permission_marks_points) {
  const Outcome outcome = collect("cupti-availability=35", {"--algorithms", "fa2"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(dispositions()["fa2"][Disposition::no_counters], 3);
}

TEST_F(GpuFaults, missing_required_counters_exit_with_3) {
  for (const std::vector<std::string>& demand :
       std::vector<std::vector<std::string>>{{"--require-counters"}, {"--metrics", "lts__t_bytes.sum"}}) {
    const Outcome outcome = collect("cupti-availability=35", demand);
    EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_THAT(outcome.err, StartsWith("error: "));
    EXPECT_FALSE(std::filesystem::exists(file_)) << "detected before the first point";
  }
}

// ---- Ceilings ----

/// The fake GPU has 1 MB of L2 and takes 1000 ns per iteration; working sets above half of the L2 miss three quarters
/// of their accesses.
class GpuCeilings : public GpuFaults {
 protected:
  Outcome ceilings(const std::string& faults, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"ceilings", "--device", "0", "--rounds", "3"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(folder_, arguments, on_fake_gpu("free=40000000" + (faults.empty() ? "" : "," + faults)));
  }
  [[nodiscard]] std::map<std::string, Ceiling> kept() const {
    std::map<std::string, Ceiling> all;
    for (const StoredCeilings& set : RunStore::open(file_, Mode::read_only).ceilings()) {
      for (const Ceiling& each : set.ceilings) {
        if (each.argument == 0) all[each.name] = each;
      }
    }
    return all;
  }
};

TEST_F(GpuCeilings, stores_spread_and_clock) {
  const Outcome outcome = ceilings("", {"-o", file_});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("Device: GPU 0, Fake GPU"), HasSubstr("stored in " + file_.string())));
  const auto found = kept();
  // 4 SMs x 8 warps x 8 products of 16 x 8 x 16, twice: 2.1 TFLOP/s at 1 us per iteration.
  EXPECT_NEAR(found.at("mma_fp16").value, 2.0 * 16 * 8 * 16 * 8 * 8 * 2 * 4 / 1e-6, 1e9);
  EXPECT_NEAR(found.at("wgmma_bf16").value, 2.0 * 64 * 256 * 64 * 2 * 4 / 1e-6, 1e10);
  EXPECT_NEAR(found.at("exp2_fp32").value, 8.0 * 16 * 256 * 4 * 4 / 1e-6, 1e9);
  EXPECT_NEAR(found.at("fma_fp32").value, 2 * found.at("exp2_fp32").value, 1e9);
  EXPECT_NEAR(found.at("latency_dram").value, 1000.0 / 16, 0.01) << "16 loads an iteration";
  EXPECT_NEAR(found.at("launch_overhead").value, 10'010, 30);
  EXPECT_NEAR(found.at("dram_copy_driver").value, 8e9, 1e8) << "4 GB/s, read and written";
  EXPECT_NEAR(found.at("mma_fp16_clock").value, 1755e6, 1e6);
  EXPECT_FALSE(found.contains("launch_overhead_clock"));
  for (const char* capacity : {"l2_shared_capacity", "l2_private_capacity"}) {
    EXPECT_NEAR(found.at(capacity).value, 0.5e6, 0.06e6);
    EXPECT_EQ(found.at(capacity).source, CeilingSource::derived);
  }
  EXPECT_EQ(found.at("dram_read").source, CeilingSource::measured);
  EXPECT_LE(*found.at("dram_read").q1, found.at("dram_read").value);
  EXPECT_EQ(found.at("throttle_reasons").value, 0);

  const auto sets = RunStore::open(file_, Mode::read_only).ceilings();
  ASSERT_EQ(sets.size(), 1U);
  EXPECT_EQ(sets[0].device_name, "Fake GPU");
  EXPECT_EQ(sets[0].environment.driver_version, "580.1");
  std::map<double, double> misses;
  for (const Ceiling& each : sets[0].ceilings) {
    if (each.name != "l2_private_miss") continue;
    misses[each.argument] = each.value;
    EXPECT_EQ(each.source, CeilingSource::measured) << "counted";
  }
  EXPECT_GE(misses.size(), 20U);
  EXPECT_EQ(misses.begin()->second, 0);
  EXPECT_NEAR(misses.rbegin()->second, 0.75, 0.001);
}

TEST_F(GpuCeilings, l2_capacity_from_times_is_marked) {
  const Outcome outcome = ceilings("cupti-availability=35", {"-o", file_});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("derived"));
  EXPECT_NEAR(kept().at("l2_shared_capacity").value, 0.5e6, 0.06e6);
  for (const Ceiling& each : RunStore::open(file_, Mode::read_only).ceilings().at(0).ceilings) {
    if (each.name == "l2_shared_miss") {
      EXPECT_EQ(each.source, CeilingSource::derived);
    }
  }
  const Outcome in_between = ceilings("cupti-start=26");
  EXPECT_EQ(in_between.exit_code, 0);
  EXPECT_THAT(in_between.out, HasSubstr("derived"));
}

TEST_F(GpuCeilings, marks_busy_and_throttled_gpu) {
  const Outcome outcome = ceilings("use=40,throttle=4,slow-ceiling=wgmma", {"-o", file_});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("40%"), HasSubstr("(power cap) during: wgmma_bf16, wgmma_fp16, wgmma_fp8.\n")));
  EXPECT_EQ(kept().at("other_processes_pct").value, 40);
  EXPECT_EQ(kept().at("throttle_reasons").value, 4);
  EXPECT_THAT(ceilings("nvml-use=3").out, Not(HasSubstr("40%")));
  EXPECT_THAT(ceilings("throttle=4").out, Not(HasSubstr("throttled"))) << "all ran at one clock";
}

TEST_F(GpuCeilings, failed_ceiling_is_reported) {
  const Outcome outcome = ceilings("compile-error=wgmma", {"-o", file_});
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr(text(msg::ceiling::wgmma_fp16{})));
  EXPECT_FALSE(kept().contains("wgmma_fp16"));
  EXPECT_TRUE(kept().contains("mma_fp16"));
}

TEST_F(GpuCeilings, failures_print_one_line) {
  struct Case {
    const char* faults;
    int exit_code;
    const char* says;
  };
  for (const Case& each :
       {Case{"interrupt=ceiling_fma", 5, ""}, Case{"crash=ceiling_fma", 1, "CUDA_ERROR_ILLEGAL_ADDRESS"},
        Case{"lost=ceiling_fma", 1, "cuLaunchKernelEx"}}) {
    const Outcome outcome = ceilings(each.faults, {"-o", file_});
    EXPECT_EQ(outcome.exit_code, each.exit_code) << each.faults << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(each.says)) << each.faults;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_TRUE(RunStore::open(file_, Mode::read_only).ceilings().empty()) << each.faults;
  }
  const Outcome small = run(folder_, {"ceilings", "--device", "0"}, on_fake_gpu("free=9000000"));
  EXPECT_EQ(small.exit_code, 1);
  EXPECT_THAT(small.err, ::testing::ContainsRegex("[0-9]{7} bytes"));
}

TEST_F(GpuFaults, driver_failure_prints_one_line) {
  const Outcome outcome = collect("init=999");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

TEST_F(GpuFaults, out_of_memory_is_a_result) {
  const Outcome outcome =
      collect_axes("free=300000000", {"-a", "n_q=[16,32,48]", "-a", "n_k=[64,4194304]"}, {"--algorithms", "fa2"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(dispositions()["fa2"][Disposition::out_of_memory], 3);
  EXPECT_EQ(dispositions()["fa2"][Disposition::ok], 3);
}

TEST_F(GpuFaults, wrong_results_exit_with_5) {
  std::vector<std::string> arguments{"collect", "--device", "gpu", "--quiet",      "-a",           "N=64",
                                     "-a",      "heads=1",  "-o",  file_.string(), "--algorithms", "fa2"};
  const Outcome outcome = run(folder_, arguments, on_fake_gpu(""));
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  EXPECT_EQ(dispositions()["fa2"][Disposition::incorrect], 1) << "its kernels do not write their outputs";
}

}  // namespace
}  // namespace attnscope::testing
