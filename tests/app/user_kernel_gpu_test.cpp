// SPDX-License-Identifier: Apache-2.0
// User-defined kernels on the command line, on the fake GPU (tests/gpu/fake), which selects the computation by the name
// of the entry point.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "fake_driver.h"
#include "storage/run_store.h"
#include "sweeps.h"

namespace attnscope::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Mode = RunStore::Mode;

class UserKernelCommands : public ::testing::Test {
 protected:
  void SetUp() override { write("mine", "mine.cu"); }

  /// A kernel that the fake GPU computes like fa2's forward kernel.
  void write(const std::string& name, const std::string& source, const std::string& entry = "attn_fa2_forward") {
    std::ofstream(folder_ / source) << "// a kernel\n";
    std::string text = R"json({ "attnscope_kernel": 1, "name": "NAME", "source": "SOURCE",
  "supports": { "dtype": ["fp16"], "d": [64], "mask": ["full", "causal"] },
  "tile": { "br": [64, 32], "bc": [64] }, "knobs": { "unroll": { "values": [4, 8], "means": "Keys at a time" } },
  "launches": [ { "name": "fwd", "entry": "ENTRY",
    "defines": { "ATTN_D": "d", "BR": "br", "BC": "bc", "UNROLL": "unroll" },
    "grid": ["ceil_div(n_q, br)", "batch * heads"], "block": ["128"],
    "arguments": ["q", "k", "v", "o", "lse", "int batch * heads", "int heads / heads_kv", "int n_q", "int n_k",
                  "float 1 / sqrt(d)", "int heads", "int window_left", "int window_right", "null", "null", "int 0",
                  "int 256", "int 20220527"] } ],
  "law": { "like": "fa2" } })json";
    for (const auto& [place, word] :
         {std::pair{"NAME", name}, std::pair{"SOURCE", source}, std::pair{"ENTRY", entry}}) {
      text.replace(text.find(place), std::string(place).size(), word);
    }
    std::ofstream(folder_ / (name + ".json")) << text;
  }

  Outcome collect(const std::vector<std::string>& kernels, const std::string& algorithms, const std::string& faults,
                  const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"collect", "--device", "gpu", "--quiet", "-a", "N=[33,64]",
                                   "-a",      "d=64",     "-a",  "heads=2", "-o", file_};
    for (const std::string& kernel : kernels) words.insert(words.end(), {"--kernel", (folder_ / kernel).string()});
    words.insert(words.end(), {"--algorithms", algorithms});
    words.insert(words.end(), more.begin(), more.end());
    return run(folder_, words, on_fake_gpu(faults));
  }

  [[nodiscard]] std::vector<StoredPoint> points() const { return RunStore::open(file_, Mode::read_only).points(); }

  TemporaryFolder folder_;
  std::string file_ = (folder_ / "own.attnscope").string();
};

TEST_F(UserKernelCommands, AreMeasuredWithBuiltInKernels) {
  expect_exit(0, collect({"mine.json"}, "mine,fa2", "compute-output,dirty=100000"));
  std::map<std::string, int> ok;
  for (const StoredPoint& point : points()) {
    EXPECT_EQ(point.record.disposition, Disposition::ok) << text(point.record.reason);
    EXPECT_TRUE(point.record.max_abs_error);
    ++ok[point.record.spec.algorithm];
    const auto modeled = point.record.kernel("all")->metric("model_l2_to_sm_bytes");
    EXPECT_TRUE(modeled) << "both have closed forms";
  }
  EXPECT_EQ(ok, (std::map<std::string, int>{{"fa2", 2}, {"mine", 2}}));
}

TEST_F(UserKernelCommands, ReportsKernelsThatReadTooLittle) {
  expect_exit(5, collect({"mine.json"}, "mine,fa2", "compute-output"));
  for (const StoredPoint& point : points()) {
    if (point.record.spec.algorithm != "mine") continue;
    EXPECT_EQ(point.record.disposition, Disposition::incorrect);
    EXPECT_THAT(english_text(point.record.reason), HasSubstr("inputs and outputs require at least"));
  }
}

TEST_F(UserKernelCommands, KnobsAndTilesAreAxes) {
  expect_exit(
      0, collect({"mine.json"}, "mine", "compute-output,dirty=100000", {"-a", "br=[32,64]", "-a", "unroll=[4,8]"}));
  std::map<std::pair<int, std::int64_t>, int> tiles;
  for (const StoredPoint& point : points()) {
    ++tiles[{point.record.spec.tile.br, point.record.spec.knobs.number("unroll")}];
  }
  EXPECT_EQ(tiles.size(), 4U);
}

TEST_F(UserKernelCommands, FaultsCostOnePoint) {
  write("crashes", "crashes.cu", "attn_fa2_forward_crashes");
  write("missing", "missing.cu", "attn_fa2_forward_uncompiled");
  const Outcome outcome = expect_exit(5, collect({"mine.json", "crashes.json", "missing.json"}, "crashes,missing,mine",
                                                 "compute-output,dirty=100000,crash=_crashes,compile-error=missing"));
  std::map<std::string, std::map<Disposition, int>> counts;
  for (const StoredPoint& point : points()) ++counts[point.record.spec.algorithm][point.record.disposition];
  EXPECT_EQ(counts["mine"][Disposition::ok], 2);
  EXPECT_EQ(counts["missing"][Disposition::compile_error], 2);
  EXPECT_EQ(counts["crashes"][Disposition::crashed], 2) << outcome.err;
}

TEST_F(UserKernelCommands, InvalidManifestPrintsOneLine) {
  const auto error = [&](const std::string& text) {
    std::ofstream(folder_ / "wrong.json") << text;
    const Outcome outcome = expect_error(2, collect({"wrong.json"}, "mine", ""));
    return outcome.err;
  };
  EXPECT_THAT(error("{"), AllOf(HasSubstr("wrong.json: ")));
  EXPECT_THAT(error("{\n\"attnscope_kernel\": 7}"), HasSubstr("line 2: 'attnscope_kernel'"));
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(UserKernelCommands, CannotBeSimulated) {
  expect_exit(
      5, run(folder_, {"collect", "--device", "simulated:H100", "--quiet", "--kernel", (folder_ / "mine.json").string(),
                       "--algorithms", "mine", "-a", "N=64", "-a", "d=64", "-o", file_}));
  ASSERT_EQ(points().size(), 1U);
  EXPECT_EQ(points()[0].record.disposition, Disposition::infeasible);
  EXPECT_THAT(english_text(points()[0].record.reason), HasSubstr("cannot be simulated"));
}

TEST_F(UserKernelCommands, ModelPrintsBytesWithoutTimes) {
  const Outcome outcome =
      expect_exit(0, run(folder_, {"model", "--kernel", (folder_ / "mine.json").string(), "--algorithms", "mine,fa2",
                                   "-a", "N=64", "-a", "d=64", "-a", "tile=64x64", "--json"}));
  const auto rows = nlohmann::json::parse(outcome.out)["rows"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["model_l2_to_sm_bytes"], rows[1]["model_l2_to_sm_bytes"]);
  EXPECT_TRUE(rows[0]["predicted_ns"].is_null());
  EXPECT_TRUE(rows[1]["predicted_ns"].is_number());
}

TEST_F(UserKernelCommands, ComparesTwoVersionsOfOneKernel) {
  const auto first = folder_ / "first";
  std::filesystem::create_directories(first);
  for (const char* file : {"mine.json", "mine.cu"}) std::filesystem::copy(folder_ / file, first / file);
  std::ofstream(folder_ / "mine.cu", std::ios::app) << "// changed\n";
  expect_exit(0, run(folder_,
                     {"ab", "--device", "gpu", "--json", "--rounds", "5", "--no-verify", "-o", file_, "N=64", "d=64",
                      "heads=2", "--baseline", "kernel=" + (first / "mine.json").string(), "--candidate",
                      "kernel=" + (folder_ / "mine.json").string()},
                     on_fake_gpu("")));
  std::map<std::string, std::string> digests;
  for (const StoredPoint& point : points()) {
    digests[point.record.spec.algorithm] = point.record.kernel("all")->launch->digest;
  }
  ASSERT_EQ(digests.size(), 2U);
  EXPECT_NE(digests["mine"], digests["mine.2"]);
}

TEST_F(UserKernelCommands, VerifyWithoutCasesFails) {
  std::ofstream(folder_ / "odd.json") << R"json({ "attnscope_kernel": 1, "name": "odd", "source": "mine.cu",
  "supports": { "dtype": ["fp16"], "d": [64] }, "tile": { "br": [64], "bc": [64] },
  "requires": [{ "that": "0", "else": "Never." }],
  "launches": [ { "entry": "x", "grid": ["1"], "block": ["1"], "arguments": ["q"] } ] })json";
  const Outcome outcome = expect_exit(
      2, run(folder_, {"verify", "--device", "gpu", "--kernel", folder_ / "odd.json", "--algorithms", "odd"},
             on_fake_gpu("")));
  EXPECT_THAT(outcome.err, HasSubstr("collect"));
}

TEST_F(UserKernelCommands, BuildErrorsHaveAllLinesInJson) {
  const std::vector<std::string> words{
      "kernels", "build", "--kernel", folder_ / "mine.json", "--algorithms", "mine", "-a", "N=64", "-a", "d=64"};
  std::vector<std::string> in_json = words;
  in_json.emplace_back("--json");
  const auto error = [&](const std::vector<std::string>& asked) {
    const Outcome outcome = expect_exit(1, run(folder_, asked, on_fake_gpu("compile-error=mine")));
    return outcome.out.substr(outcome.out.find("NVRTC_ERROR_COMPILATION"));
  };
  EXPECT_THAT(error(in_json), HasSubstr("COMPILATION\\n"));
  EXPECT_THAT(error(words), HasSubstr("COMPILATION\n" + (folder_ / "mine.cu").string() + "(1): error: as the test"))
      << "lines below the table";
}

TEST_F(UserKernelCommands, NewKernelsCompile) {
  expect_exit(0, run(folder_, {"kernels", "new", "fresh", "-o", folder_ / "."}));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "fresh" / "fresh.cu"));
  EXPECT_THAT(expect_exit(2, run(folder_, {"kernels", "new", "fresh", "-o", folder_ / "."})).err, HasSubstr("already"));
  const Outcome built = run(folder_, {"kernels", "build", "--kernel", folder_ / "fresh" / "fresh.json", "--algorithms",
                                      "fresh", "-a", "N=64", "-a", "d=[32,64,128]", "-a", "mask=[full,causal]"});
  if (built.err.find("NVRTC") != std::string::npos && built.exit_code == 1) GTEST_SKIP() << built.err;
  EXPECT_EQ(built.exit_code, 0) << built.err << built.out;
  EXPECT_THAT(built.err, HasSubstr("0 with spills, 0 failed"));
}

TEST_F(UserKernelCommands, NewKernelsOfOtherKinds) {
  const auto begin = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"kernels", "new", "other", "-o", folder_ / "."};
    words.insert(words.end(), more.begin(), more.end());
    return run(folder_, words);
  };
  expect_exit(2, begin({"--nvcc", "--library"}));
  EXPECT_FALSE(fs::exists(folder_ / "other"));
  EXPECT_THAT(expect_exit(0, begin({"--torch-extension"})).out, HasSubstr("other/README.md"));
  EXPECT_TRUE(fs::exists(folder_ / "other" / "extension.cpp"));
}

/// Kernels in the shapes of public repositories compile with their manifests; those for nvcc need the toolkit.
TEST_F(UserKernelCommands, PublicShapesCompile) {
  int compiled = 0;
  for (const auto& each : fs::directory_iterator(fs::path(ATTNSCOPE_DOCUMENTS) / "../../tests/gpu/public_shapes")) {
    if (each.path().extension() != ".json") continue;
    const auto value = nlohmann::json::parse(content(each.path()));
    if (value.contains("compiler") && !fs::exists("/usr/local/cuda/bin/nvcc")) continue;
    const std::string dtype = value["supports"]["dtype"][0];
    const std::string pass = value["supports"].contains("pass") ? "bwd" : "fwd";
    const std::string name = value["name"];
    const Outcome built = run(folder_, {"kernels", "build", "--kernel", each.path().string(), "--algorithms", name,
                                        "-a", "N=64", "-a", "d=64", "-a", "dtype=" + dtype, "-a", "pass=" + pass});
    if (built.err.find("NVRTC") != std::string::npos && built.exit_code == 1) GTEST_SKIP() << built.err;
    EXPECT_EQ(built.exit_code, 0) << each.path() << built.err << built.out;
    EXPECT_THAT(built.err, HasSubstr("0 with spills, 0 failed"));
    ++compiled;
  }
  EXPECT_GT(compiled, 5);
}

class StoredUserKernel : public CommandTest {
 protected:
  void SetUp() override { expect_exit(0, run(folder_, {"kernels", "new", "mine", "-o", folder_.path().string()})); }
  Outcome collect(const fs::path& into, const std::vector<std::string>& more = {}) const {
    Process::Options options = on_fake_gpu();
    // Includes a built-in kernel, whose points have the bytes needed for plots.
    const Words words =
        Words{"collect", "--kernel",    manifest_,    "--algorithms", "mine,fa2", "-a",  "N=[256,512,1024]",
              "-a",      "d=64",        "-a",         "heads=2",      "-d",       "gpu", "-q",
              "-o",      into.string(), "--no-verify"} +
        more;
    return run(folder_, words, options);
  }
  [[nodiscard]] std::string report_of(const std::vector<fs::path>& files, Outcome* outcome = nullptr,
                                      const std::vector<std::string>& more = {}) const {
    const fs::path report = folder_ / "report.md";
    std::vector<std::string> words{"report", "-o", report.string(), "--force"};
    for (const fs::path& file : files) words.push_back(file.string());
    words.insert(words.end(), more.begin(), more.end());
    const Outcome written = run(folder_, words);
    EXPECT_TRUE(fs::exists(report)) << written.err;
    if (outcome != nullptr) *outcome = written;
    return content(report);
  }

  const std::string manifest_ = folder_ / "mine/mine.json";
};

TEST_F(StoredUserKernel, IsReadWithSourcesAndLaw) {
  EXPECT_THAT(collect(file_, {"--keep-sources"}).err, IsEmpty());
  {
    SQLite::Database database(file_.string());
    SQLite::Statement kept(database, "SELECT content FROM user_kernel_sources WHERE name = 'mine.cu'");
    ASSERT_TRUE(kept.executeStep());
    EXPECT_EQ(kept.getColumn(0).getString(), content(folder_ / "mine/mine.cu"));
  }
  fs::remove_all(folder_ / "mine");
  EXPECT_THAT(run(folder_, {"info", file_.string()}).out, HasSubstr("kernel mine: manifest "));
  EXPECT_THAT(report_of({file_}), HasSubstr("mine fp16"));
  EXPECT_THAT(content(folder_ / "report-figures/runs.csv"), AllOf(HasSubstr("mine.json"), HasSubstr("mine.cu")));
  expect_exit(0, run(folder_, {"check", file_.string()}));
  const Outcome again = expect_exit(
      2, run(folder_, {"collect", "--algorithms", "mine", "-a", "N=256", "-a", "d=64", "-o", file_.string()}));
  EXPECT_THAT(again.err, HasSubstr("'mine'"));
}

TEST_F(StoredUserKernel, ConflictingManifestsHaveNoLaw) {
  EXPECT_THAT(collect(file_).err, IsEmpty());
  std::ofstream(manifest_, std::ios::app) << '\n';
  const fs::path other = folder_ / "b.attnscope";
  EXPECT_THAT(collect(other).err, IsEmpty());
  Outcome told;
  (void)report_of({file_, other}, &told);
  EXPECT_THAT(told.err, AllOf(HasSubstr("b.attnscope: "), HasSubstr(" mine "), HasSubstr("--kernel")));
  (void)report_of({file_, other}, &told, {"--kernel", manifest_});
  EXPECT_THAT(told.err, Not(HasSubstr("b.attnscope")));
}

}  // namespace
}  // namespace attnscope::testing
