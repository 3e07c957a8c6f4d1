// SPDX-License-Identifier: Apache-2.0
// Files of other programs on the command line: what is imported, and how two of them compare.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "storage/run_store.h"
#include "subprocess.h"
#include "sweeps.h"

namespace attnscope::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class ImportCases : public ::testing::Test {
 protected:
  /// Writes a table and imports it; `err_` is what the program reported.
  fs::path imported(const std::string& name, const std::string& text, const Words& options = {}) {
    const fs::path table = folder_ / name;
    std::ofstream(table) << text;
    const fs::path file = folder_ / (name + ".attnscope");
    Words words{"import", table, "-o", file};
    words.insert(words.end(), options.begin(), options.end());
    err_ = expect_exit(0, run(folder_, words)).err;
    return file;
  }

  TemporaryFolder folder_;
  std::string err_;
};

TEST_F(ImportCases, ProblemsThatDifferByASynonymAreNotCompared) {
  const std::string header = "algorithm,batch_size,N,heads,d,is_causal,time_ms\n";
  const fs::path one = imported("one.csv", header + "mine,4,2048,16,128,0,1.7\nmine,4,2048,16,128,1,0.9\n");
  const fs::path two = imported("two.csv", header + "mine,4,2048,16,128,0,1.7\nmine,8,2048,16,128,0,3.4\n");
  const std::string text = run(folder_, {"compare", one, "--candidate", two}).out;
  EXPECT_THAT(text, AllOf(HasSubstr("0 FASTER, 0 SLOWER"), HasSubstr("2 not compared")));
}

TEST_F(ImportCases, StatedSpreadDecidesTheInterval) {
  const auto file = [&](const std::string& name, const std::string& columns, const std::string& values) {
    const std::string problem = "algorithm,N,heads,d,device,time_median_ns,";
    return imported(name, problem + columns + "\nu32,1024,16,64,H200," + values + '\n');
  };
  const auto row_of = [&](const fs::path& base, const fs::path& other) {
    const Outcome outcome = run(folder_, {"compare", base, "--candidate", other, "--format", "json"});
    return nlohmann::json::parse(outcome.out)["rows"].at(0);
  };
  const std::string quartiles = "time_q1_ns,time_q3_ns,samples";
  const fs::path ref = file("ref.csv", quartiles, "10914,9000,13500,5");
  const fs::path plain = file("plain.csv", "heads_k", "10089,16");
  const auto expect_open = [&](const nlohmann::json& row, const std::string& name) {
    EXPECT_EQ(row["verdict"], "UNDECIDED") << name;
    EXPECT_LT(row["ratio_low"].get<double>(), 0.75) << name;
    EXPECT_GT(row["ratio_high"].get<double>(), 1.25) << name;
    EXPECT_EQ(row["spread_source"], "samples") << name;
  };
  expect_open(row_of(ref, file("new.csv", quartiles, "10089,8500,13000,5")), "quartiles");
  expect_open(row_of(ref, file("q.csv", "time_q1_ns,time_q3_ns", "10089,8500,13000")), "no count");
  expect_open(row_of(ref, file("sd.csv", "stddev_ns,samples", "10089,3300,5")), "deviation");
  expect_open(row_of(ref, file("s.csv", "samples_ns", "10089 8500 13000 8400 13100")), "samples");
  expect_open(row_of(ref, plain), "one side without");
  expect_open(row_of(plain, ref), "one side without");
  const fs::path tight = file("tight.csv", quartiles, "10914,10850,10950,50");
  EXPECT_EQ(row_of(tight, file("slow.csv", quartiles, "13100,13050,13200,50"))["verdict"], "SLOWER");
  // Exporting and importing again keeps the number of samples.
  ASSERT_EQ(run(folder_, {"export", ref, "--format", "csv", "-o", folder_ / "again.csv"}).exit_code, 0);
  std::ifstream again(folder_ / "again.csv");
  const fs::path copy = imported("copy.csv", std::string(std::istreambuf_iterator<char>(again), {}));
  const fs::path wide = file("wide.csv", quartiles, "9000,7000,11000,5");
  EXPECT_EQ(row_of(copy, wide)["ratio_low"], row_of(ref, wide)["ratio_low"]);
}

TEST_F(ImportCases, ClocksOfNcuTablesAreNamed) {
  const auto table = [](const std::string& clock, const std::string& duration) {
    const std::string launch = R"csv("0","fwd(Params)","9.0","Speed Of Light",)csv";
    std::string text = R"csv("ID","Kernel Name","CC","Section Name","Metric Name","Metric Unit","Metric Value")csv"
                       "\n";
    text += launch + R"csv("SM Frequency","Ghz",")csv" + clock + "\"\n";
    text += launch + R"csv("Elapsed Cycles","cycle","1,500,000")csv" + "\n";
    text += launch + R"csv("Duration","ms",")csv" + duration + "\"\n";
    return text;
  };
  const Words problem{"--algorithm", "mine", "-a", "N=4096", "-a", "d=128", "-a", "heads=32"};
  const fs::path slow = imported("slow.csv", table("1.00", "1.50"), problem);
  const fs::path fast = imported("fast.csv", table("1.50", "1.00"), problem);
  const std::string text = run(folder_, {"compare", slow, "--candidate", fast}).out;
  EXPECT_THAT(text, AllOf(HasSubstr("0 FASTER, 0 SLOWER"), HasSubstr("1000 MHz"), HasSubstr("1500 MHz"),
                          HasSubstr("1.0000 [")));
}

TEST_F(ImportCases, ImpossibleValuesAreReported) {
  imported("roof.csv", "algorithm,N,heads,d,time_ms,dram_read_bytes\nmine,32768,32,128,300,1e12\n",
           {"--device-name", "A100 40GB"});
  EXPECT_THAT(err_, AllOf(HasSubstr("impossible: 214% of the DRAM rate of A100 40GB"),
                          HasSubstr("state of the L2 is unknown")));
}

TEST_F(ImportCases, OptionsCompleteATable) {
  const std::string table = "N_CTX,a (ms),b (ms),seed\n1024,1,2,7\n2048,3,4,9\n";
  std::ofstream(folder_ / "t.csv") << table;
  EXPECT_THAT(expect_exit(1, run(folder_, {"import", folder_ / "t.csv", "-a", "d=64", "-a", "heads=4"})).err,
              HasSubstr("column 'seed' is not recognized"));
  const fs::path file = imported("t.csv", table, {"-a", "d=64", "-a", "heads=4", "--map", "seed=batch"});
  EXPECT_EQ(RunStore::open(file, RunStore::Mode::read_only).points().size(), 4U);
  EXPECT_EQ(RunStore::open(file, RunStore::Mode::read_only).points()[3].record.spec.problem.batch, 9);
}

TEST_F(ImportCases, ProfilerReportsAreRefusedWithTheirConversion) {
  std::ofstream(folder_ / "a.ncu-rep", std::ios::binary) << "NVR" << '\0' << "rest";
  EXPECT_THAT(expect_exit(1, run(folder_, {"import", folder_ / "a.ncu-rep"})).err,
              HasSubstr("a.ncu-rep --csv --page raw"));
}

}  // namespace
}  // namespace attnscope::testing
