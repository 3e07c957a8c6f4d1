// SPDX-License-Identifier: Apache-2.0
// Sweeps with the real program on the simulated device: stored results after interruptions.
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "findings.h"
#include "kernels/common_knobs.h"
#include "profiler/metrics/metrics.h"
#include "profiler/worker/protocol.h"
#include "storage/exchange/export.h"
#include "storage/run_store.h"
#include "sweeps.h"

namespace attnscope::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using Mode = RunStore::Mode;
/// Reads events until `wanted` points are reported; returns their ids.
std::vector<std::int64_t> read_points(Process& process, std::size_t wanted) {
  std::vector<std::int64_t> ids;
  while (ids.size() < wanted) {
    const std::optional<std::string> line = process.read_line();
    if (!line) break;
    const Result<Event, Message> event = parse_event(*line);
    EXPECT_TRUE(event.ok()) << *line;
    if (event.ok() && std::holds_alternative<PointEvent>(*event)) ids.push_back(std::get<PointEvent>(*event).point_id);
  }
  EXPECT_EQ(ids.size(), wanted);
  return ids;
}

template <class E>
std::vector<E> events(const std::string& text) {
  std::vector<E> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const Result<Event, Message> event = parse_event(line);
    EXPECT_TRUE(event.ok()) << line;
    if (event.ok() && std::holds_alternative<E>(*event)) found.push_back(std::get<E>(*event));
  }
  return found;
}

class Collect : public CommandTest {
 protected:
  std::vector<std::string> undisturbed() {
    const auto file = folder_ / "whole.attnscope";
    expect_exit(0, run(folder_, sweep + Words{"--quiet", "-o", file}));
    return findings(file);
  }

  /// Resumes the sweep; the results must equal those of an uninterrupted sweep.
  void expect_resumes() {
    expect_exit(0, run(folder_, sweep + Words{"--quiet", "--resume", "-o", file_}));
    EXPECT_EQ(findings(file_), undisturbed());
    const auto runs = RunStore::open(file_, Mode::read_only).runs();
    ASSERT_EQ(runs.size(), 1U) << "the run was continued";
    EXPECT_EQ(runs[0].state, StoredRunState::complete);
  }
};

TEST_F(Collect, stores_a_complete_sweep) {
  const Outcome outcome = expect_exit(0, run(folder_, sweep + Words{"-o", file_}));
  EXPECT_THAT(outcome.out, AllOf(::testing::StartsWith("Device: simulated NVIDIA H200\n"), HasSubstr("64 points"),
                                 HasSubstr("Complete: 64 ok, 0 infeasible, 0 failed")));
  EXPECT_EQ(outcome.err, "");
  const RunStore store = RunStore::open(file_, Mode::read_only);
  const std::vector<RunSummary> runs = store.runs();
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].state, StoredRunState::complete);
  EXPECT_EQ(runs[0].planned_points, sweep_points);
  EXPECT_EQ(runs[0].ok_points, sweep_points);
  EXPECT_TRUE(runs[0].simulated);
  EXPECT_EQ(runs[0].preset, "custom");
  EXPECT_EQ(runs[0].argv, Words{"attnscope"} + sweep + Words({"-o", file_.string()}));
  EXPECT_NE(runs[0].environment.app_version, "");
  for (const StoredPoint& point : store.points()) {
    EXPECT_EQ(point.record.provenance, Provenance::simulated);
    const KernelRecord& all = *point.record.kernel("all");
    EXPECT_EQ(all.metric("l2_to_sm_bytes"), all.metric("model_l2_to_sm_bytes"));
  }
}

TEST_F(Collect, prints_json_lines) {
  Process process(folder_, sweep + Words{"--jsonl", "-o", file_}, {});
  const Outcome outcome = expect_exit(0, process.wait());
  const auto plans = events<PlanEvent>(outcome.out);
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_EQ(plans[0].total, sweep_points);
  EXPECT_TRUE(plans[0].simulated);
  EXPECT_EQ(plans[0].database, file_.string());
  EXPECT_GT(plans[0].max_memory_bytes, 0);
  EXPECT_EQ(outcome.out.find("{\"event\":\"plan\""), 0U) << "the plan is the first event";
  EXPECT_EQ(events<StartedEvent>(outcome.out).size(), sweep_points);
  const auto points = events<PointEvent>(outcome.out);
  ASSERT_EQ(points.size(), sweep_points);
  EXPECT_GT(points[0].time_median_ns, 0);
  EXPECT_GT(points[0].l2_sm_bytes, 0);
  const auto progress = events<ProgressEvent>(outcome.out);
  ASSERT_FALSE(progress.empty());
  EXPECT_EQ(progress.back().done, sweep_points);
  const auto done = events<DoneEvent>(outcome.out);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].state, "complete");
  EXPECT_EQ(done[0].ok, sweep_points);
}

TEST_F(Collect, json_lines_always_end_with_done) {
  const Outcome refused =
      expect_exit(1, run(folder_, sweep + Words{"--jsonl", "-o", folder_ / "no/such/run.attnscope"}));
  const auto done = events<DoneEvent>(refused.out);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].state, "failed");
  EXPECT_EQ(done[0].exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr(text(done[0].reason))) << "same line as in the text output";

  const Outcome dry = expect_exit(0, run(folder_, sweep + Words{"--jsonl", "--dry-run", "-o", file_}));
  EXPECT_EQ(events<PlanEvent>(dry.out).size(), 1U);
  EXPECT_EQ(events<DoneEvent>(dry.out).size(), 1U);
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(Collect, resumes_after_ctrl_c) {
  Process process(folder_, sweep + Words{"--jsonl", "-o", file_}, slow_reader);
  const auto ids = read_points(process, 5);
  process.send(SIGINT);
  const Outcome outcome = expect_exit(5, process.wait());
  const auto done = events<DoneEvent>(outcome.out);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].state, "cancelled");
  EXPECT_EQ(done[0].exit_code, 5);
  {
    const RunStore store = RunStore::open(file_, Mode::read_only);
    EXPECT_EQ(store.runs()[0].state, StoredRunState::cancelled);
    EXPECT_GE(store.points().size(), ids.size());
    EXPECT_LT(store.points().size(), sweep_points);
  }
  expect_resumes();
}

TEST_F(Collect, ignores_immediate_second_signal) {
  // timeout(1) signals the process and its group.
  Process process(folder_, sweep + Words{"--jsonl", "-o", file_}, slow_reader);
  read_points(process, 3);
  process.send(SIGTERM);
  process.send(SIGTERM);
  const Outcome outcome = expect_exit(5, process.wait());
  EXPECT_EQ(events<DoneEvent>(outcome.out).size(), 1U) << "the process ended normally";
}

TEST_F(Collect, resume_rejects_damaged_runs) {
  Process process(folder_, sweep + Words{"--jsonl", "-o", file_}, slow_reader);
  read_points(process, 5);
  process.send(SIGINT);
  EXPECT_EQ(process.wait().exit_code, 5);
  SQLite::Database(file_.string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE points SET plan_index = 99 WHERE plan_index = 2");
  EXPECT_THAT(expect_exit(1, run(folder_, sweep + Words{"--quiet", "--resume", "-o", file_})).err, HasSubstr("run 1 "));
  const RunStore store = RunStore::open(file_, Mode::read_only);
  EXPECT_FALSE(store.points().empty());
  EXPECT_FALSE(store.invalid_rows().empty());
}

// Two unfinished runs of one plan, among runs of other plans: the last one is continued.
TEST_F(Collect, resume_continues_the_newest_run) {
  const auto other = [&] {
    expect_exit(0, run(folder_, {"collect", "--device", "simulated", "-a", "N=16", "-a", "heads=2", "--algorithms",
                                 "fa1,fa2", "-q", "-o", file_}));
  };
  for (int i = 0; i < 2; ++i) {
    other();
    Process process(folder_, sweep + Words{"--jsonl", "-o", file_}, slow_reader);
    read_points(process, 2);
    process.send(SIGINT);
    EXPECT_EQ(process.wait().exit_code, 5);
  }
  other();
  Words without_device = sweep;
  without_device.erase(without_device.begin() + 1, without_device.begin() + 3);
  std::filesystem::copy_file(file_, folder_ / "copy.attnscope");
  for (const auto& [words, file] : {std::pair(sweep, file_), {without_device, folder_ / "copy.attnscope"}}) {
    expect_exit(0, run(folder_, words + Words{"-q", "--resume", "-o", file}));
    const auto runs = RunStore::open(file, Mode::read_only).runs();
    ASSERT_EQ(runs.size(), 5U);
    EXPECT_EQ(runs[1].state, StoredRunState::cancelled);
    EXPECT_LT(runs[1].points, sweep_points);
    EXPECT_EQ(runs[3].state, StoredRunState::complete);
    EXPECT_EQ(runs[3].points, sweep_points);
  }
}

TEST_F(Collect, resume_of_a_complete_run_measures_nothing) {
  ASSERT_EQ(run(folder_, sweep + Words{"--quiet", "-o", file_}).exit_code, 0);
  const Outcome again = expect_exit(0, run(folder_, sweep + Words{"--resume", "-o", file_}));
  EXPECT_THAT(again.err, HasSubstr("run 1 "));
  EXPECT_THAT(again.out, HasSubstr("64 ok, 0 infeasible, 0 failed"));
  const Outcome events_of_it = run(folder_, sweep + Words{"--resume", "--jsonl", "-o", file_});
  const auto plans = events<PlanEvent>(events_of_it.out);
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_EQ(plans[0].skipped, sweep_points);
  const auto done = events<DoneEvent>(events_of_it.out);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].state, "complete");
  EXPECT_EQ(done[0].ok, sweep_points);
  EXPECT_EQ(RunStore::open(file_, Mode::read_only).runs().size(), 1U);

  ASSERT_EQ(run(folder_, sweep + Words{"--quiet", "--resume", "--no-verify", "-o", file_}).exit_code, 0);
  EXPECT_EQ(RunStore::open(file_, Mode::read_only).runs().size(), 2U) << "another plan is another run";
}

TEST_F(Collect, stops_on_cancel_line_and_closed_stdin) {
  {
    Process process(folder_, sweep + Words{"--jsonl", "-o", file_}, slow_reader);
    read_points(process, 2);
    process.write("what?\ncancel\n");
    EXPECT_EQ(process.wait().exit_code, 5);
  }
  {
    Process process(folder_, sweep + Words{"--jsonl", "--resume", "-o", file_}, slow_reader);
    read_points(process, 2);
    process.close_stdin();
    EXPECT_EQ(process.wait().exit_code, 5);
  }
  expect_resumes();
}

TEST_F(Collect, kill_loses_at_most_one_point) {
  Process process(folder_, sweep + Words{"--jsonl", "-o", file_}, slow_reader);
  const auto ids = read_points(process, 7);
  process.send(SIGKILL);
  EXPECT_EQ(process.wait().exit_code, -SIGKILL);
  {
    const RunStore store = RunStore::open(file_, Mode::read_only);
    EXPECT_EQ(store.runs()[0].state, StoredRunState::interrupted);
    std::vector<std::int64_t> kept;
    for (const StoredPoint& point : store.points()) kept.push_back(point.id);
    EXPECT_THAT(kept, ::testing::IsSupersetOf(ids)) << "reported points are stored";
    EXPECT_LT(kept.size(), sweep_points);
  }
  expect_resumes();
}

TEST_F(Collect, closed_stdout_cancels) {
  {
    Process process(folder_, sweep + Words{"--jsonl", "-o", file_}, slow_reader);
    read_points(process, 2);
    process.close_stdout();
    EXPECT_EQ(process.wait().exit_code, 5);
  }
  expect_resumes();
}

TEST_F(Collect, full_disk_keeps_stored_points) {
  const Outcome outcome =
      expect_error(1, run(folder_, sweep + Words{"--quiet", "-o", file_}, {.file_size_limit = 500 * 1024}));
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("run.attnscope"), HasSubstr("--resume")));
  const std::size_t kept = RunStore::open(file_, Mode::read_only).points().size();
  EXPECT_GT(kept, 0U);
  EXPECT_LT(kept, sweep_points);
  expect_resumes();
}

TEST_F(Collect, rejects_second_collector) {
  RunStore first = RunStore::open(file_, Mode::collect);
  EXPECT_THAT(expect_exit(1, run(folder_, sweep + Words{"--quiet", "-o", file_})).err, HasSubstr("run.attnscope"));
  EXPECT_EQ(first.runs().size(), 0U);
}

TEST_F(Collect, rejects_damaged_file) {
  ASSERT_EQ(run(folder_, sweep + Words{"--quiet", "-o", file_}).exit_code, 0);
  std::filesystem::resize_file(file_, std::filesystem::file_size(file_) / 2);
  const auto size = std::filesystem::file_size(file_);
  for (const Words& command : {sweep + Words{"--quiet", "-o", file_}, Words{"info", file_}, Words{"export", file_}}) {
    EXPECT_THAT(expect_exit(1, run(folder_, command)).err, HasSubstr("damaged"));
  }
  EXPECT_EQ(std::filesystem::file_size(file_), size);
}

TEST_F(Collect, infeasible_and_out_of_memory_points_are_results) {
  const Outcome outcome = expect_exit(
      0, run(folder_, {"collect", "--device", "simulated", "-a", "N=[256,65536]", "-a", "d=128", "-a", "bc=[64,4096]",
                       "-a", "br=64", "--algorithms", "naive,fa2", "--quiet", "--csv", "-o", file_}));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("infeasible"), HasSubstr("out-of-memory")));
}

TEST_F(Collect, prints_csv_and_json) {
  const Words small{"collect", "--device", "simulated", "-a", "N=256", "--algorithms", "naive"};
  const Outcome csv = expect_exit(0, run(folder_, small + Words{"--csv", "-o", file_}));
  EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 1 + 4) << csv.out;
  EXPECT_THAT(csv.out, ::testing::StartsWith("algorithm,kernel,pass"));
  EXPECT_THAT(csv.err, HasSubstr("Device: simulated NVIDIA H200")) << "stdout contains only the table";
  const Outcome json = run(folder_, small + Words{"--json", "-o", file_});
  const auto document = nlohmann::json::parse(json.out);
  EXPECT_EQ(document["runs"].size(), 1U) << "only this run";
  EXPECT_EQ(document["points"].size(), 4U);
}

TEST_F(Collect, plan_hash_is_stable) {
  expect_exit(0, run(folder_, {"collect", "--device",   "simulated",
                               "-a",      "N=[64,128]", "-a",
                               "heads=2", "-a",         "mask=[full,causal]",
                               "-a",      "dtype=bf16", "--algorithms",
                               "fa1,fa2", "-a",         "br=64",
                               "-a",      "bc=64",      "--quiet",
                               "-o",      file_}));
  EXPECT_EQ(RunStore::open(file_, Mode::read_only).runs().at(0).plan_hash, "8ba7f510bd84147d") << "as written by 0.1.0";
}

TEST_F(Collect, records_source_of_l2_model) {
  for (const char* gpu : {"simulated:A100", "simulated:H200"}) {
    expect_exit(0, run(folder_, {"collect", "--device", gpu, "-a", "N=256", "--algorithms", "fa2", "-q", "-o", file_}));
  }
  const std::vector<RunSummary> runs = RunStore::open(file_, RunStore::Mode::read_only).runs();
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].l2_source, "NVIDIA H200");
  EXPECT_EQ(runs[1].l2_source, "");
  const std::string info = run(folder_, {"info", file_}).out;
  EXPECT_THAT(info, ContainsRegex("run 1 [^\n]*L2 [^\n]*NVIDIA H200"));
  EXPECT_THAT(info, Not(ContainsRegex("run 2 [^\n]*L2 ")));
  const auto exported = nlohmann::json::parse(run(folder_, {"export", "--format", "json", file_}).out);
  EXPECT_EQ(exported.at("runs").at(0).at("l2_from"), "NVIDIA H200");
  EXPECT_FALSE(exported.at("runs").at(1).contains("l2_from"));
}

TEST_F(Collect, records_source_of_rates) {
  const auto ceilings = folder_ / "ceilings.attnscope";
  DeviceInfo device;
  device.uuid = "GPU-1";
  device.limits = *find_gpu("H200");
  {
    RunStore store = RunStore::open(ceilings, Mode::collect);
    (void)store.add_ceilings(device, {}, std::vector<Ceiling>{{.name = "l2_read", .value = 1e12, .unit = "byte/s"}});
  }
  const Words small{"collect", "--device", "simulated", "-a", "N=256", "--algorithms", "fa2", "-o", file_};
  EXPECT_THAT(expect_exit(0, run(folder_, small + Words{"--ceilings", ceilings})).out,
              HasSubstr("NVIDIA H200 (GPU-1)"));
  ASSERT_EQ(run(folder_, small).exit_code, 0);
  const std::vector<RunSummary> runs = RunStore::open(file_, Mode::read_only).runs();
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_THAT(runs[0].rates_source, ::testing::StartsWith("NVIDIA H200 (GPU-1) at "));
  EXPECT_EQ(runs[1].rates_source, "");
  EXPECT_NE(runs[0].plan_hash, runs[1].plan_hash) << "--resume must not mix predictions";
  const std::string info = run(folder_, {"info", file_}).out;
  EXPECT_THAT(info, ContainsRegex("run 1 [^\n]*NVIDIA H200 \\(GPU-1\\)"));
  const auto exported = nlohmann::json::parse(run(folder_, {"export", "--format", "json", file_}).out);
  EXPECT_EQ(exported.at("runs").at(0).at("rates_from"), runs[0].rates_source);
  EXPECT_THAT(expect_exit(0, run(folder_, small + Words{"--ceilings", ceilings, "--resume"})).out,
              HasSubstr("NVIDIA H200 (GPU-1)"))
      << "the option is used";
  const Outcome none =
      expect_exit(2, run(folder_, {"collect", "--device", "simulated:A100", "-a", "N=256", "--ceilings", ceilings}));
  EXPECT_THAT(none.err, HasSubstr("NVIDIA A100"));
}

TEST_F(Collect, simulates_gpu_from_file) {
  const std::filesystem::path gpu = folder_ / "fat.json";
  const Words words{"collect", "--device", "simulated:" + gpu.string(), "-a", "N=256", "--algorithms", "fa2", "-q",
                    "-o",      file_};
  std::ofstream(gpu) << R"({"name": "Fat H200", "from": "H200", "values": {"l2_mib": "big"}})";
  EXPECT_THAT(expect_error(2, run(folder_, words)).err, AllOf(HasSubstr("fat.json"), HasSubstr("l2_mib")));
  std::ofstream(gpu) << R"({"name": "Fat H200", "from": "H200", "values": {"l2_mib": 120}})";
  expect_exit(0, run(folder_, words));
  const std::vector<RunSummary> runs = RunStore::open(file_, RunStore::Mode::read_only).runs();
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].device_name, "Fat H200");
  EXPECT_EQ(runs[0].limits.l2_bytes, 120 * 1024 * 1024);
  EXPECT_EQ(runs[0].l2_source, "NVIDIA H200");
  std::filesystem::remove(gpu);
  expect_exit(0, run(folder_, {"collect", "--resume", "-a", "N=256", "--algorithms", "fa2", "-q", "-o", file_}));
  EXPECT_EQ(RunStore::open(file_, RunStore::Mode::read_only).runs().size(), 1U) << "the run records its GPU";
}

TEST_F(Collect, is_incomplete_if_no_point_is_measured) {
  expect_exit(0, run(folder_, {"kernels", "new", "mine", "-o", folder_.path()}));
  const Words collecting{"collect",     "--kernel",  (folder_ / "mine/mine.json").string(),
                         "--device",    "simulated", "-a",
                         "N=256",       "-a",        "d=64",
                         "--quiet",     "-o",        file_,
                         "--algorithms"};
  expect_exit(5, run(folder_, collecting + Words{"mine"}));
  ASSERT_EQ(RunStore::open(file_, Mode::read_only).points().size(), 1U) << "with its reason";
  expect_exit(0, run(folder_, collecting + Words{"mine,fa2"}));
  expect_exit(5, run(folder_, collecting + Words{"mine"}));  // the second run of the file has a measured point
}

TEST_F(Collect, unsupported_knobs_are_infeasible) {
  const Outcome outcome =
      expect_exit(0, run(folder_, {"collect", "--device", "simulated", "-a", "N=128", "-a", "splits=[0,2]",
                                   "--algorithms", "fa1", "--quiet", "--csv", "-o", file_}));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("fa1 "), HasSubstr("'splits'")));
  const std::vector<StoredPoint> points = RunStore::open(file_, Mode::read_only).points();
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[1].record.spec.knobs.number(knob::splits), 2);
}

TEST_F(Collect, imported_points_are_exported) {
  const auto csv = folder_ / "peers.csv";
  std::ofstream(csv) << "device,algorithm,pass,mask,N,heads,d,time_ns,note\n"
                        "NVIDIA H200,torch-flash,fwd+bwd,causal,4096,16,128,2000000,a\n"
                        "Some GPU,\"torch, eager\",fwd,full,4096,16,128,9000000,a\n";
  ASSERT_EQ(run(folder_, sweep + Words{"--quiet", "-o", file_}).exit_code, 0);
  const Outcome import = expect_exit(0, run(folder_, {"import", csv, "-o", file_, "--label", "peers"}));
  EXPECT_THAT(import.out, AllOf(HasSubstr("1 point of NVIDIA H200 "), HasSubstr("(run 2)"), HasSubstr("Some GPU")));
  EXPECT_THAT(import.err, HasSubstr("columns: note"));
  {
    const RunStore store = RunStore::open(file_, Mode::read_only);
    const std::vector<RunSummary> runs = store.runs();
    ASSERT_EQ(runs.size(), 3U);
    EXPECT_EQ(runs[1].preset, "import:peers");
    EXPECT_EQ(runs[1].provenance, Provenance::imported);
    EXPECT_EQ(runs[1].state, StoredRunState::complete);
    const std::vector<StoredPoint> points = store.points({{2}});
    ASSERT_EQ(points.size(), 1U);
    EXPECT_EQ(points[0].record.spec.algorithm, "torch-flash");
    EXPECT_EQ(evaluate(metric_key::tflops, points[0].record)->provenance, Provenance::imported);
  }
  EXPECT_THAT(run(folder_, {"info", file_}).out,
              AllOf(HasSubstr("peers"), HasSubstr("imported"), HasSubstr("fwd; d 128; N ")));
  EXPECT_THAT(run(folder_, {"export", file_, "--run", "3"}).out, HasSubstr("\"torch, eager\",all,fwd"));
  const auto document = nlohmann::json::parse(run(folder_, {"export", file_, "--run", "2", "--format", "json"}).out);
  EXPECT_EQ(document["points"][0]["provenance"], "imported");
  EXPECT_EQ(document["runs"][0]["provenance"], "imported");
  const auto joined = folder_ / "joined.attnscope";
  EXPECT_EQ(run(folder_, {"export", file_, "--format", "attnscope", "-o", joined}).exit_code, 0);
  EXPECT_EQ(RunStore::open(joined, Mode::read_only).runs().at(2).provenance, Provenance::imported);
  EXPECT_EQ(run(folder_, sweep + Words{"--quiet", "--resume", "-o", file_}).exit_code, 0);
  EXPECT_EQ(RunStore::open(file_, Mode::read_only).runs().size(), 3U) << "imported runs cannot be resumed";
}

TEST_F(Collect, invalid_file_imports_nothing) {
  const auto csv = folder_ / "peers.csv";
  std::ofstream(csv) << "algorithm,N,heads,d,time_ns\na,64,1,64,5\na,64,1,64,soon\n";
  EXPECT_THAT(expect_exit(1, run(folder_, {"import", csv, "-o", file_})).err,
              AllOf(HasSubstr("peers.csv: line 3, column 'time_ns'"), HasSubstr("'soon'")));
  EXPECT_FALSE(std::filesystem::exists(file_));

  std::ofstream(csv) << "algorithm,N,heads,d,time_ns\na,64,1,64,5\n";
  ASSERT_EQ(run(folder_, {"import", csv, "-o", file_}).exit_code, 0);
  const Outcome full =
      expect_exit(1, run(folder_, {"import", csv, "-o", folder_ / "b.attnscope"}, {.file_size_limit = 8 * 1024}));
  EXPECT_THAT(full.err, HasSubstr("b.attnscope"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "b.attnscope"));
}

TEST_F(Collect, imports_from_a_pipe) {
  const auto pipe = folder_ / "peers.csv";
  const std::string table = "algorithm,N,heads,d,time_ns\na,64,1,64,5\n";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(pipe) << table; });
  const Outcome written = run(folder_, {"import", pipe, "-o", file_});
  writer.join();
  EXPECT_EQ(written.exit_code, 0) << written.err;
  EXPECT_THAT(written.out, HasSubstr("1 point"));
  Process of_stdin(folder_, {"import", "/dev/stdin", "-o", file_}, {});
  of_stdin.write(table);
  of_stdin.close_stdin();
  EXPECT_EQ(of_stdin.wait().exit_code, 0);
  EXPECT_EQ(RunStore::open(file_, Mode::read_only).runs().size(), 2U);
}

TEST_F(Collect, imports_ncu_table_as_one_point) {
  const auto csv = folder_ / "flash.csv";
  std::ofstream(csv) << "==PROF== Connected\n\"ID\",\"Kernel Name\",\"CC\",\"dram__bytes_read.sum\","
                        "\"gpu__time_duration.sum\"\n\"\",\"\",\"\",\"Mbyte\",\"msecond\"\n"
                        "\"0\",\"flash_fwd\",\"9.0\",\"12.5\",\"1.5\"\n";
  const Words import{"import",   csv,  "--algorithm", "torch-flash",   "-a",   "N=4096", "-a", "d=128", "-a",
                     "heads=16", "-a", "mask=causal", "--device-name", "H200", "-o"};
  expect_exit(0, run(folder_, import + Words{file_}));
  const std::vector<StoredPoint> points = RunStore::open(file_, Mode::read_only).points();
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].record.spec.problem.mask, Mask::causal);
  EXPECT_EQ(evaluate(metric_key::dram_read_bytes, points[0].record)->value, 12.5e6);
  EXPECT_EQ(evaluate(metric_key::time_median_ns, points[0].record)->value, 1.5e6);

  std::ofstream(csv, std::ios::app) << "\"1\",\"flash_two\",\"9.0\",\"25\",\"0.25\"\n"
                                       "\"2\",\"flash_three\",\"9.0\",\"50\",\"0.125\"\n";
  int number = 0;
  for (const auto& [range, mbyte] : {std::pair("0:2", 87.5), {"1", 25}, {"1:1", 25}, {"1:", 75}, {":1", 37.5}}) {
    const auto file = folder_ / fmt::format("{}.attnscope", ++number);
    expect_exit(0, run(folder_, import + Words{file, "--launches", range}));
    const PointRecord record = RunStore::open(file, Mode::read_only).points().at(0).record;
    EXPECT_EQ(evaluate(metric_key::dram_read_bytes, record)->value, 1e6 * mbyte) << range;
  }
  for (const char* wrong : {":", "2:1", "-1", "1:x", "1 "}) {
    expect_error(2, run(folder_, import + Words{file_, std::string("--launches=") + wrong}));
  }
}

TEST_F(Collect, import_preview_writes_nothing) {
  const auto csv = folder_ / "peer.csv";
  std::ofstream(csv) << "algorithm,N,heads,d,note,time_ns\nfa2,64,1,64,hm,1000\nfa2,128,1,64,hm,\n";
  EXPECT_THAT(expect_exit(0, run(folder_, {"import", csv, "--preview"})).out,
              AllOf(HasSubstr("csv"), HasSubstr("1 point "), HasSubstr("1 row "), HasSubstr("time_median_ns")));
  const auto said = nlohmann::json::parse(run(folder_, {"import", csv, "--preview", "--json"}).out);
  EXPECT_EQ(said["detected_format"], "csv");
  EXPECT_EQ(said["points"], 1);
  EXPECT_EQ(said["skipped_rows"], 1);
  EXPECT_FALSE(said["needs_problem"]);
  EXPECT_EQ(said["rows"].size(), 6U);
  EXPECT_EQ(said["rows"][4]["skip_reason"], "not a field, knob, metric or counter");
  EXPECT_FALSE(std::filesystem::exists(said["default_output"].get<std::string>()));
  EXPECT_EQ(run(folder_, {"import", csv, "--json"}).exit_code, 2);
  EXPECT_EQ(run(folder_, {"import", csv, "--preview", "-o", file_}).exit_code, 2);
  std::ofstream(csv) << "algorithm,N,heads,d,time_ns,time_ns\nfa2,64,1,64,1,2\n";
  const Outcome twice = expect_exit(1, run(folder_, {"import", csv, "--preview", "--json"}));
  EXPECT_THAT(twice.err, HasSubstr("line 1: duplicate column 'time_ns'"));
  EXPECT_EQ(nlohmann::json::parse(twice.out)["detected_format"], "csv");
}

TEST_F(Collect, paper_prints_published_values) {
  expect_exit(0, run(folder_, {"collect", "--device", "simulated", "--preset", "paper", "--quiet", "-o", file_}));
  const Outcome text = expect_exit(0, run(folder_, {"paper", file_}));
  EXPECT_THAT(text.out, AllOf(HasSubstr("66.6"), HasSubstr("40.3"), HasSubstr("6.58"), HasSubstr("simulated"),
                              HasSubstr("fp32")));
  const auto rows = nlohmann::json::parse(run(folder_, {"paper", file_, "--json"}).out)["rows"];
  const auto row = std::find_if(rows.begin(), rows.end(), [](const auto& candidate) {
    return candidate["figure"] == "2 middle" && candidate["bc"] == 512 && candidate["quantity"] == "time";
  });
  ASSERT_NE(row, rows.end());
  EXPECT_EQ((*row)["paper"], 3.2);
  EXPECT_EQ((*row)["provenance"], "simulated");
  EXPECT_GT((*row)["attnscope"], 0);
  EXPECT_THAT(text.out, AllOf(HasSubstr("fp16, cold L2"), Not(HasSubstr("batch 64 heads"))));

  const auto other = folder_ / "other.attnscope";
  ASSERT_EQ(run(folder_, sweep + Words{"--quiet", "-o", other}).exit_code, 0);
  EXPECT_THAT(expect_exit(1, run(folder_, {"paper", other})).err, HasSubstr("collect --preset paper"));
}

TEST_F(Collect, paper_compares_its_problem_only) {
  expect_exit(0, run(folder_, {"collect", "--device", "simulated", "--preset", "paper", "-a", "heads=[2,16]", "-a",
                               "dtype=[fp16,bf16]", "--cache-control", "none", "--quiet", "-o", file_}));
  EXPECT_THAT(expect_exit(0, run(folder_, {"paper", file_})).out,
              AllOf(HasSubstr("fa2 fp16 fwd+bwd batch 64 heads 2"), HasSubstr("bf16 and fp16, warm L2")));

  // Imported points never belong to a preset, even if their label is its name.
  const auto table = folder_ / "paper.csv";
  std::ofstream(table) << "algorithm,pass,batch,heads,N,d,time_ns\nother,fwd+bwd,64,16,1024,64,1e6\n";
  const auto imported = folder_ / "imported.attnscope";
  ASSERT_EQ(run(folder_, {"import", table, "--label", "paper", "-o", imported}).exit_code, 0);
  EXPECT_EQ(run(folder_, {"paper", imported}).exit_code, 1);
}

TEST_F(Collect, law_fits_a_sweep_over_n_d_and_m) {
  const Words sweep_of_law{"collect",
                           "--device",
                           "simulated",
                           "--preset",
                           "law",
                           "-a",
                           "N=[3072,6144]",
                           "-a",
                           "d=[32,64]",
                           "-a",
                           "M=[8192,16384,32768]",
                           "--quiet",
                           "-o",
                           file_};
  ASSERT_EQ(run(folder_, sweep_of_law).exit_code, 0);
  EXPECT_THAT(expect_exit(0, run(folder_, {"law", file_})).out,
              AllOf(HasSubstr("Theorem 2"), HasSubstr("· 1 (law) · H200"), HasSubstr("L2")));
  const auto rows = nlohmann::json::parse(run(folder_, {"law", file_, "--json"}).out)["rows"];
  ASSERT_EQ(rows.size(), 4U) << "two algorithms at two levels";
  for (const auto& row : rows) {
    EXPECT_EQ(row["points"], 12);
    EXPECT_THAT(row["provenance"], ::testing::AnyOf("simulated", "extrapolated"));
    EXPECT_EQ(row["M_theorem"], -1);
    // L2 serves the rereads of FA2, so DRAM bytes follow no law.
    const bool served = row["algorithm"] == "fa2" && row["level"] == "DRAM, settled";
    EXPECT_NEAR(row["N_closed_form"].get<double>(), served ? 1 : 2, 0.05) << row;
    EXPECT_NEAR(row["M_closed_form"].get<double>(), served ? 0 : -1, 0.05) << row;
    if (served) continue;
    EXPECT_EQ(row["no_fit_reason"], nullptr) << row;
    EXPECT_NEAR(row["N"].get<double>(), 2, 0.05) << row;
    EXPECT_NEAR(row["M"].get<double>(), -1, 0.05) << row;
  }
  const Outcome csv = run(folder_, {"law", file_, file_, "--csv"});
  EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 1 + 4) << "a run in two files counts once";

  const auto other = folder_ / "other.attnscope";
  ASSERT_EQ(run(folder_, sweep + Words{"--quiet", "-o", other}).exit_code, 0);
  EXPECT_THAT(expect_exit(1, run(folder_, {"law", other})).err, HasSubstr("collect --preset law"));
}

TEST_F(Collect, export_never_overwrites_measurements) {
  ASSERT_EQ(run(folder_, sweep + Words{"--quiet", "-o", file_}).exit_code, 0);
  const auto size = std::filesystem::file_size(file_);
  EXPECT_THAT(expect_exit(1, run(folder_, {"export", file_, "-o", file_})).err, HasSubstr("already exists"));
  EXPECT_EQ(run(folder_, {"export", file_, "--csv", "-o", file_}).exit_code, 2);
  EXPECT_EQ(std::filesystem::file_size(file_), size);
  const std::filesystem::path plain = folder_ / "plain.csv";
  const std::filesystem::path link = folder_ / "link.csv";
  std::filesystem::create_symlink(plain, link);
  EXPECT_EQ(run(folder_, {"export", file_, "-o", link.string()}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(plain)));
}

TEST(Export, filter_selects_points) {
  const TemporaryFolder folder;
  const auto split = [](const std::string& text, char at) {
    std::vector<std::string> parts;
    std::stringstream stream(text);
    for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
    return parts;
  };
  const auto lines = [&](Words more) {
    more.insert(more.begin(), {"export", ATTNSCOPE_SAMPLE});
    return split(run(folder, more).out, '\n');
  };
  std::vector<std::string> expected;
  for (const std::string& line : lines({})) {
    constexpr std::size_t n_k = 8;
    constexpr std::size_t d = 9;
    constexpr std::size_t disposition = 14;
    const std::vector<std::string> fields = split(line, ',');
    const bool fits =
        fields[0] == "fa2" && fields[d] == "128" && fields[disposition] == "ok" && std::stoll(fields[n_k]) >= 4096;
    if (expected.empty() || fits) expected.push_back(line);
  }
  EXPECT_GT(expected.size(), 10U);
  EXPECT_EQ(lines({"--filter", "algo:fa2 d:128 N>=4096 status:ok"}), expected);
  for (const char* filter : {"run:quick", "preset:quick"}) {
    EXPECT_EQ(lines({"--filter", filter}), lines({"--run", "1"})) << filter;
  }
  std::vector<std::string> values = lines({"--long", "--filter", "algo:fa2 d:128 N>=4096 status:ok"});
  ASSERT_GT(values.size(), 10 * expected.size());
  values.erase(values.begin());
  for (const std::string& value : values) ASSERT_THAT(value, ::testing::HasSubstr(",fa2,"));
  EXPECT_EQ(run(folder, {"export", ATTNSCOPE_SAMPLE, "--filter", "N>"}).exit_code, 2);
  expect_exit(2, run(folder, {"export", ATTNSCOPE_SAMPLE, "--filter", "d:64", "--format", "attnscope", "-o",
                              folder / "x.attnscope"}));
}

TEST_F(Collect, info_and_export_read_the_run) {
  ASSERT_EQ(run(folder_, sweep + Words{"--quiet", "-o", file_}).exit_code, 0);
  EXPECT_THAT(expect_exit(0, run(folder_, {"info", file_})).out,
              AllOf(HasSubstr(fmt::format("schema version {}", schema_version)), HasSubstr("complete"),
                    HasSubstr("64 ok"), HasSubstr("NVIDIA H200"), HasSubstr("132 SMs"), HasSubstr("simulated")));
  const auto csv = folder_ / "out.csv";
  EXPECT_EQ(run(folder_, {"export", file_, "--format", "csv", "-o", csv}).exit_code, 0);
  std::ostringstream expected;
  export_csv(RunStore::open(file_, Mode::read_only), {}, expected);
  std::ostringstream written;
  written << std::ifstream(csv).rdbuf();
  EXPECT_EQ(written.str(), expected.str());
  EXPECT_EQ(run(folder_, {"export", file_}).out, expected.str());
  EXPECT_EQ(run(folder_, {"export", file_, "--run", "9"}).exit_code, 1);
  std::ostringstream values;
  export_long_csv(RunStore::open(file_, Mode::read_only), {}, values);
  EXPECT_EQ(run(folder_, {"export", file_, "--long"}).out, values.str());

  const auto joined = folder_ / "joined.attnscope";
  EXPECT_EQ(run(folder_, {"export", file_, file_, "--format", "attnscope", "-o", joined}).exit_code, 0);
  EXPECT_EQ(RunStore::open(joined, Mode::read_only).points().size(), sweep_points) << "a run is copied once";
}

TEST_F(Collect, marks_extrapolated_points) {
  const Words large{"collect", "--device", "simulated", "-a",           "N=[1024,16384]", "-a",
                    "d=128",   "-a",       "heads=16",  "--algorithms", "naive"};
  const Outcome collected = expect_exit(0, run(folder_, large + Words{"-o", file_, "--csv"}));
  EXPECT_THAT(collected.out, HasSubstr("extrapolated"));
  EXPECT_THAT(collected.err, HasSubstr("extrapolated"));
  EXPECT_THAT(run(folder_, {"info", file_}).out, HasSubstr("naive; 1 point extrapolated"));
  EXPECT_THAT(run(folder_, {"export", file_, "--long"}).out, HasSubstr(",byte,extrapolated,"));
}

TEST_F(Collect, default_file_is_in_data_folder) {
  const auto runs = folder_ / "data" / "attnscope" / "runs";
  Process process(folder_, sweep + Words{"--jsonl"}, slow_reader);
  read_points(process, 3);
  process.send(SIGTERM);
  EXPECT_EQ(process.wait().exit_code, 5);
  std::vector<std::filesystem::path> files{std::filesystem::directory_iterator(runs), {}};
  ASSERT_EQ(files.size(), 1U);
  EXPECT_THAT(files[0].filename().string(), ::testing::MatchesRegex("custom-[0-9]+-[0-9]+\\.attnscope"));
  // The newest file is the second one of its second; that of another preset is newer still.
  const std::string second = runs / (files[0].stem().string() + "-2.attnscope");
  for (const std::string& copy : {second, (runs / "custom-20200101-000000.attnscope").string(),
                                  (runs / "quick-20990101-000000.attnscope").string()}) {
    std::filesystem::copy_file(files[0], copy);
  }
  expect_exit(0, run(folder_, sweep + Words{"--quiet", "--resume"}));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(runs), {}), 4) << "no new file";
  EXPECT_LT(RunStore::open(files[0], Mode::read_only).points().size(), sweep_points);
  EXPECT_EQ(findings(second), undisturbed());
}

}  // namespace
}  // namespace attnscope::testing
