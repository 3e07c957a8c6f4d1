// SPDX-License-Identifier: Apache-2.0
// User-defined kernels in shared libraries run in a worker process; a crash costs one point.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "fake_driver.h"
#include "profiler/metrics/manifest.h"
#include "profiler/metrics/metrics.h"
#include "storage/run_store.h"
#include "sweeps.h"

namespace attnscope::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class GpuLibraries : public ::testing::Test {
 protected:
  Process::Options gpu(const std::string& faults = "") const {
    Process::Options options = on_fake_gpu("compute-output,dirty=60000," + faults);
    options.environment["ATTNSCOPE_TEST_LIBRARY_LOG"] = folder_ / "log";
    return options;
  }

  std::string manifest(const std::string& library, const std::string& name = "own") const {
    std::filesystem::path file = folder_ / (name + ".json");
    std::ofstream(file) << fmt::format(R"({{
  "attnscope_kernel": 1,
  "name": "{}",
  "source": "{}",
  "computes": {{ "lse": "e" }},
  "supports": {{ "dtype": ["fp16", "bf16"], "d": [64], "mask": ["full", "causal"], "gqa": true }},
  "tile": {{ "br": [64], "bc": [64] }},
  "knobs": {{ "mode": {{ "values": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16], "means": "what goes wrong" }} }},
  "launches": [ {{ "pass": "fwd" }} ],
  "law": {{ "like": "fa2" }}
}})",
                                       name, library);
    return file;
  }

  Outcome run_with(std::vector<std::string> words, const std::vector<std::string>& more,
                   const std::string& faults = "") const {
    words.insert(words.end(), more.begin(), more.end());
    return run(folder_, words, gpu(faults));
  }
  Outcome collect(const std::string& kernel, const std::vector<std::string>& more,
                  const std::string& faults = "") const {
    return run_with({"collect", "--kernel", kernel, "--device", "gpu", "--quiet", "-a", "d=64", "-a", "heads=1", "-o",
                     file_, "--algorithms", "own"},
                    more, faults);
  }

  /// Points keyed by the value of a knob.
  [[nodiscard]] std::map<std::int64_t, PointRecord> points() const {
    std::map<std::int64_t, PointRecord> all;
    for (StoredPoint& point : RunStore::open(file_, RunStore::Mode::read_only).points()) {
      all[std::max<std::int64_t>(1, point.record.spec.knobs.number("mode"))] = std::move(point.record);
    }
    return all;
  }
  [[nodiscard]] StoredRunState state() const {
    return RunStore::open(file_, RunStore::Mode::read_only).runs().at(0).state;
  }
  [[nodiscard]] std::int64_t noted(const std::string& word) const {
    std::ifstream log(folder_ / "log");
    return std::count(std::istream_iterator<std::string>(log), {}, word);
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "run.attnscope";
};

TEST_F(GpuLibraries, measures_correct_library) {
  expect_exit(0, collect(manifest(ATTNSCOPE_ATTENTION_LIBRARY), {"-a", "N=[32,64,96]", "-a", "mask=[full,causal]"}));
  const auto stored = RunStore::open(file_, RunStore::Mode::read_only).points();
  ASSERT_EQ(stored.size(), 6U);
  for (const StoredPoint& point : stored) {
    const PointRecord& record = point.record;
    EXPECT_EQ(record.disposition, Disposition::ok) << record.reason;
    EXPECT_TRUE(evaluate(metric_key::dram_bytes, record));
    EXPECT_GT(evaluate(metric_key::time_median_ns, record)->value, 0);
    EXPECT_TRUE(record.max_abs_error);
    const std::int64_t n = record.spec.problem.n_q;
    EXPECT_EQ(evaluate(metric_key::memory_bytes, record)->value, 4 * n * 64 * 2 + 4 * n + 4096)
        << "including the workspace";
    ASSERT_TRUE(record.kernels.front().launch);
    EXPECT_THAT(record.kernels.front().launch->source_file, HasSubstr("attnscope_attention.so"));
    EXPECT_NE(record.kernels.front().launch->digest, "");
    EXPECT_FALSE(evaluate(metric_key::registers, record)) << "launches of a library are unknown";
    EXPECT_FALSE(evaluate(metric_key::theoretical_occupancy_pct, record));
  }
  EXPECT_GE(noted("prepare"), 3 * 6) << "once per set of addresses: plain buffers, and twice between guard pages";
  EXPECT_EQ(noted("release"), noted("prepare"));
}

TEST_F(GpuLibraries, each_fault_costs_one_point) {
  struct Expected {
    Disposition disposition;
    const char* reason;
  };
  const std::map<std::int64_t, Expected> expected{
      {1, {Disposition::ok, ""}},
      {2, {Disposition::crashed, "attnscope_attention.so: prepare(): no plan was found"}},
      {3, {Disposition::infeasible, "attnscope_attention.so: supported(): not with these heads"}},
      {4, {Disposition::out_of_memory, "attnscope_attention.so: prepare(): 2 GiB are not to be had"}},
      {5, {Disposition::crashed, "signal 11 (Segmentation fault)"}},
      {6, {Disposition::crashed, "exited with code 7"}},
      {7, {Disposition::crashed, "launch() threw an exception across the C interface: thrown in launch"}},
      {8, {Disposition::timeout, "prepare() was still running after 1200 ms"}},
      {9, {Disposition::incorrect, "100 launches leaked 51200 bytes of device memory"}},
      {10, {Disposition::crashed, "launch(): the graph could not be launched"}},
      {11, {Disposition::incorrect, "4096 of 4096 output elements are NaN"}},
      {12, {Disposition::crashed, "prepare() threw an exception across the C interface: thrown in prepare"}},
      {13, {Disposition::incorrect, "4096 of 4096 output elements are NaN"}},
      {14, {Disposition::ok, ""}},
      {15, {Disposition::incorrect, "attnscope_attention.so wrote beyond the end of its workspace of 4096 bytes."}},
      {16, {Disposition::incorrect, "attnscope_attention.so wrote before the start of its workspace."}},
  };
  expect_exit(5, collect(manifest(ATTNSCOPE_ATTENTION_LIBRARY),
                         {"-a", "N=64", "-a", "mode=[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]", "--timeout", "0.3"}));
  EXPECT_EQ(state(), StoredRunState::complete);
  const auto found = points();
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [mode, record] : found) {
    EXPECT_EQ(record.disposition, expected.at(mode).disposition) << mode << ": " << record.reason;
    const std::string reason = text(record.reason);
    EXPECT_THAT(reason, AllOf(HasSubstr(expected.at(mode).reason), Not(HasSubstr("\n")))) << mode;
  }
}

TEST_F(GpuLibraries, other_interface_version_is_rejected) {
  const std::map<std::string, std::string> reasons{
      {ATTNSCOPE_LATER_VERSION_LIBRARY, "attnscope_kernel.h version 2; this program requires version 1"},
      {ATTNSCOPE_FAKE_GPU_LIBRARY, "does not export attnscope_kernel_v1"},
      {folder_ / "own.so", "own.so cannot be loaded: "}};
  std::ofstream(folder_ / "own.so") << "no library\n";
  for (const auto& [library, reason] : reasons) {
    std::filesystem::remove(file_);
    expect_exit(5, collect(manifest(library), {"-a", "N=64"}));
    EXPECT_EQ(points()[1].disposition, Disposition::compile_error);
    EXPECT_THAT(text(points()[1].reason), HasSubstr(reason));
  }
}

TEST_F(GpuLibraries, detects_work_on_other_streams) {
  (void)collect(manifest(ATTNSCOPE_ATTENTION_LIBRARY), {"-a", "N=64"}, "other-stream=attn_fa2_forward");
  EXPECT_EQ(points()[1].disposition, Disposition::incorrect);
  EXPECT_THAT(text(points()[1].reason), HasSubstr("for 1000000 ns after the last launch"));
}

TEST_F(GpuLibraries, launch_and_ab_accept_libraries) {
  const std::string kernel = manifest(ATTNSCOPE_ATTENTION_LIBRARY);
  const Outcome launched = expect_exit(
      0, run_with({"launch", "--kernel", kernel, "--device", "gpu"}, {"algorithm=own", "N=64", "d=64", "heads=1"}));
  EXPECT_THAT(launched.out, HasSubstr("median of "));
  const Outcome crashed = expect_exit(1, run_with({"launch", "--kernel", kernel, "--device", "gpu"},
                                                  {"algorithm=own", "N=64", "d=64", "heads=1", "mode=5"}));
  EXPECT_THAT(crashed.err, HasSubstr("signal 11"));
  expect_exit(0, run_with({"ab", "--kernel", kernel, "--device", "gpu", "--rounds", "6"},
                          {"N=64", "d=64", "heads=1", "--baseline", "algorithm=own", "--candidate", "algorithm=fa2"}));
}

TEST_F(GpuLibraries, compares_libraries_of_one_name) {
  std::vector<std::string> kernels;
  for (const char* side : {"a", "b"}) {
    std::filesystem::create_directories(folder_ / side);
    std::filesystem::copy_file(ATTNSCOPE_ATTENTION_LIBRARY, folder_ / side / "own.so");
    std::filesystem::rename(manifest("own.so"), folder_ / side / "own.json");
    kernels.push_back("kernel=" + (folder_ / side / "own.json").string());
  }
  expect_exit(0, run_with({"ab", "--device", "gpu", "--rounds", "6", "-o", file_},
                          {"N=64", "d=64", "heads=1", "--baseline", kernels[0], "--candidate", kernels[1]}));
  EXPECT_GT(noted((folder_ / "a/own.so").string()), 0);
  EXPECT_GT(noted((folder_ / "b/own.so").string()), 0);
  const auto stored = RunStore::open(file_, RunStore::Mode::read_only).points();
  ASSERT_EQ(stored.size(), 2U);
  for (const StoredPoint& point : stored) EXPECT_EQ(point.record.disposition, Disposition::ok) << point.record.reason;
  EXPECT_EQ(stored[0].record.spec.algorithm, "own");
  EXPECT_EQ(stored[1].record.spec.algorithm, "own.2");
}

TEST_F(GpuLibraries, stores_library_up_to_size_limit) {
  const std::filesystem::path library = folder_ / "kept.so";
  std::filesystem::copy_file(ATTNSCOPE_ATTENTION_LIBRARY, library);
  const auto kept = [&] {
    std::filesystem::remove(file_);
    const Outcome outcome = expect_exit(0, collect(manifest("kept.so"), {"-a", "N=[32,64]", "--keep-sources"}));
    const auto statements = RunStore::open(file_, RunStore::Mode::read_only).statements(true);
    EXPECT_EQ(statements.size(), 1U);
    return std::pair(statements.at(0)->sources.at(0).content, outcome.err);
  };
  const auto [bytes, nothing] = kept();
  EXPECT_EQ(bytes, content(library));
  EXPECT_THAT(nothing, Not(HasSubstr("--keep-sources")));
  std::ofstream(library, std::ios::app) << std::string(max_stored_source_bytes, 'x');
  const auto [no_bytes, said] = kept();
  EXPECT_EQ(no_bytes, std::nullopt);
  const std::string line = "--keep-sources: kernel own: only the digests of 1 files";
  EXPECT_THAT(said, HasSubstr(line));
  EXPECT_EQ(said.find(line), said.rfind(line)) << "once";
}

TEST_F(GpuLibraries, reports_host_code_and_missing_guards) {
  (void)collect(manifest(ATTNSCOPE_ATTENTION_LIBRARY), {"-a", "N=64"}, "no-guard-pages");
  ASSERT_EQ(points()[1].disposition, Disposition::ok) << points()[1].reason;
  EXPECT_THAT(text(points()[1].reason), HasSubstr("guard pages"));
  const Outcome info = run_with({"info", file_}, {});
  EXPECT_THAT(info.out, HasSubstr("(" ATTNSCOPE_ATTENTION_LIBRARY "), host code"));
  EXPECT_THAT(info.out, HasSubstr("guard pages"));
  expect_exit(0, run_with({"report", file_, "-o", folder_ / "report.md"}, {}));
  EXPECT_THAT(content(folder_ / "report.md"), HasSubstr("guard pages"));
  EXPECT_THAT(content(folder_ / "report-figures/runs.csv"), HasSubstr("host code"));
}

TEST_F(GpuLibraries, reports_missing_gpu) {
  const std::string kernel = manifest(ATTNSCOPE_ATTENTION_LIBRARY);
  const Outcome outcome =
      expect_exit(1, run_with({"collect", "--kernel", kernel, "--device", "3", "--quiet"}, {"-o", file_}));
  EXPECT_THAT(outcome.err, HasSubstr("GPU 3"));
}

}  // namespace
}  // namespace attnscope::testing
