// SPDX-License-Identifier: Apache-2.0
// Files of other programs on the command line: what is imported, and how two of them compare.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernels/registry.h"
#include "profiler/metrics/metrics.h"
#include "storage/run_store.h"
#include "subprocess.h"
#include "sweeps.h"

namespace attnscope::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

class ImportCases : public ::testing::Test {
 protected:
  /// Writes a table and imports it; `err_` is what the program reported.
  fs::path imported(const std::string& name, const std::string& text, const Words& options = {}) {
    const fs::path table = folder_ / name;
    std::ofstream(table) << text;
    const fs::path file = folder_ / (name + ".attnscope");
    fs::remove(file);
    Words words{"import", table, "-o", file};
    words.insert(words.end(), options.begin(), options.end());
    err_ = expect_exit(0, run(folder_, words)).err;
    return file;
  }

  /// Imports one of the files in tests/app/cases.
  fs::path imported_case(const std::string& name, const Words& options = {}) {
    std::ifstream file(fs::path(ATTNSCOPE_CASES) / name);
    return imported(name, {std::istreambuf_iterator<char>(file), {}}, options);
  }
  static std::vector<StoredPoint> points_of(const fs::path& file) {
    return RunStore::open(file, RunStore::Mode::read_only).points();
  }
  std::string compared(const std::string& base, const std::string& other, const Words& options = {}) {
    const fs::path first = imported_case(base, options);
    return run(folder_, {"compare", first, "--candidate", imported_case(other, options)}).out;
  }
  std::string report_of(const fs::path& file) {
    const fs::path page = file.string() + ".md";
    expect_exit(0, run(folder_, {"report", file, "-o", page}));
    std::ifstream text(page);
    return {std::istreambuf_iterator<char>(text), {}};
  }

  TemporaryFolder folder_;
  std::string err_;
};

const Words flash{"--algorithm", "flash", "-a", "N=4096", "-a", "d=128", "-a", "heads=32"};
const Words shape{"-a", "d=128", "-a", "heads=32"};

TEST_F(ImportCases, EveryFormatGivesItsPoints) {
  struct Case {
    const char* file;
    Words options;
    std::vector<double> times_ns;  ///< one per point; 0: none
  };
  const Case cases[] = {
      {"ncu_details_rules.csv", flash, {1510e3}},
      {"long_extra_column.csv", {}, {690e3}},
      {"bench_wide_raw.csv", {}, {430e3, 459e3, 105e3, 56e3, 0}},
      {"nvbench_min.json", shape, {1510e3}},
      {"nvbench_csv.csv", shape, {1510e3}},
      {"nsight_python_processed.csv", {}, {1510e3}},
      {"md_table.md", {}, {1510e3, 6020e3}},
      // 4 N² d heads FLOPs at 210.5, 190.1, 260.2 and 230.3 TFLOP/s.
      {"triton_perf_report.csv", shape, {81615, 90374, 264108, 298398}},
  };
  for (const auto& [file, options, times] : cases) {
    SCOPED_TRACE(file);
    const std::vector<StoredPoint> points = points_of(imported_case(file, options));
    ASSERT_EQ(points.size(), times.size());
    for (std::size_t i = 0; i < times.size(); ++i) {
      const PointRecord& record = points[i].record;
      EXPECT_EQ(record.spec.cache, CacheState::unknown);
      const auto time = evaluate(metric_key::time_median_ns, record);
      EXPECT_EQ(time.has_value(), times[i] > 0);
      EXPECT_NEAR(time ? time->value : 0, times[i], 1e-4 * times[i]);
    }
  }
}

TEST_F(ImportCases, OtherColumnsKeepTheirMeaning) {
  const PointRecord details = points_of(imported_case("ncu_details_rules.csv", flash)).at(0).record;
  EXPECT_TRUE(evaluate(metric_key::dram_bytes, details));
  const PointRecord long_table = points_of(imported_case("long_extra_column.csv")).at(0).record;
  EXPECT_EQ(evaluate(metric_key::dram_bytes, long_table)->value, 153.6e6);
  const std::vector<StoredPoint> wide = points_of(imported_case("bench_wide_raw.csv"));
  EXPECT_EQ(wide.at(1).record.spec.problem.mask, Mask::causal);
  EXPECT_EQ(wide.at(4).record.disposition, Disposition::out_of_memory);
  for (const char* file : {"nvbench_min.json", "nvbench_csv.csv", "nsight_python_processed.csv"}) {
    SCOPED_TRACE(file);
    const PointRecord spread = points_of(imported_case(file, shape)).at(0).record;
    EXPECT_GT(evaluate(metric_key::time_spread, spread)->value, 0);
  }
}

TEST_F(ImportCases, ProblemsThatDifferByASynonymAreNotCompared) {
  const std::string text = compared("dup_a.csv", "dup_b.csv");
  EXPECT_THAT(text, AllOf(HasSubstr("FASTER 0, SLOWER 0"), HasSubstr("not compared 2.")));
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
  // The range of 5 normal samples is about 2.3 standard deviations.
  expect_open(row_of(ref, file("range.csv", "min_ns,max_ns,samples", "10089,6300,13900,5")), "range");
  expect_open(row_of(ref, file("r.csv", "min_us,max_us", "10089,6.3,13.9")), "range without count");
  expect_open(row_of(ref, file("p.csv", "p20_us,p80_us,samples", "10089,8,13.5,5")), "quantiles");
  expect_open(row_of(ref, file("s.csv", "samples_ns", "10089,10089 8500 13000 8400 13100")), "samples");
  const std::pair<const char*, const char*> stated[] = {
      {"noise_pct", "20"},
      {"noise", "20%"},
      {"cv", "0.2"},
      {"stddev_pct", "20"},
      {"rsd", "0.2"},
      {"rel_std", "0.2"},
      {"std%", "20"},
      {"time_spread", "0.3"},
      {"time_spread_pct", "30"},
      {"iqr_ns", "3000"},
      {"iqr", "3000"},
      {"std", "2000"},
      {"sem_us,samples", "1,5"},
      {"p25,p75", "8500,12000"},
      {"min,max", "8500,13000"},
      {"p20_us,p80_us", "8.5,12"},
      {"ci95_lower,ci95_upper,samples", "8900,11200,9"},
  };
  for (const auto& [columns, values] : stated) {
    const nlohmann::json row = row_of(file("base.csv", columns, std::string("10914,") + values),
                                      file("other.csv", columns, std::string("10089,") + values));
    EXPECT_EQ(row["verdict"], "UNDECIDED") << columns;
    EXPECT_EQ(row["spread_source"], "samples") << columns;
    EXPECT_GT(row["ratio_high"].get<double>(), 1.05) << columns;
  }
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
  const std::string text = compared("ncu_clock_base.csv", "ncu_clock_boost.csv", flash);
  EXPECT_THAT(
      text, AllOf(HasSubstr("FASTER 0, SLOWER 0"), HasSubstr("1100 MHz"), HasSubstr("1980 MHz"), HasSubstr("1.000 [")));
}

TEST_F(ImportCases, ImpossibleValuesComeFirstAndNameNoBound) {
  const fs::path roof = imported_case("above_roof.csv", {"--device-name", "A100 40GB"});
  EXPECT_THAT(err_, AllOf(HasSubstr("impossible: 230% of the DRAM rate of A100 40GB"),
                          HasSubstr("state of the L2 is unknown")));
  const std::string report = report_of(roof);
  EXPECT_THAT(report, HasSubstr("230%"));
  EXPECT_LT(report.find("230%"), report.find("Recorded "));
  EXPECT_THAT(report, Not(HasSubstr("-bound")));

  const fs::path warm = imported_case("ncu_warm_l2.csv", flash);
  EXPECT_THAT(err_, HasSubstr("impossible: 13.5 MB of DRAM traffic"));
  EXPECT_THAT(report_of(warm),
              AllOf(HasSubstr("compulsory minus L2"), HasSubstr("L2 state unknown"), Not(HasSubstr("cold"))));
}

TEST_F(ImportCases, ImpossibleValuesAreNotCompared) {
  const Words gpu{"--device-name", "A100 40GB"};
  const std::string columns = "algorithm,N,heads,d,time_us,dram_bytes\n";
  const fs::path base = imported("base.csv", columns + "x,4096,32,128,1000,2e8\n", gpu);
  const fs::path other = imported("other.csv", columns + "x,4096,32,128,1,2e8\n", gpu);
  for (const bool swapped : {false, true}) {
    const Outcome result = run(folder_, {"compare", swapped ? other : base, "--candidate", swapped ? base : other});
    EXPECT_THAT(result.out + result.err, AllOf(HasSubstr("impossible"), HasSubstr("FASTER 0, SLOWER 0")));
  }
}

TEST_F(ImportCases, ARegisteredNameIsNotOurAlgorithm) {
  const std::string header = "device,algorithm,N,heads,d,br,bc,time_ms,l2_to_sm_bytes,sm_to_l2_bytes\n";
  const fs::path theirs = imported("fa2.csv", header + "H200,fa2,4096,32,128,128,64,1.5,1e9,1e8\n");
  const PointSpec spec = points_of(theirs).at(0).record.spec;
  EXPECT_EQ(spec.algorithm, "fa2 (imported)");
  EXPECT_EQ(built_in_algorithms().find(spec.algorithm), nullptr);
  const std::string table = run(folder_, {"export", theirs}).out;
  EXPECT_THAT(table, Not(HasSubstr("q_fastest"))) << "no default of a knob";
  EXPECT_EQ(points_of(theirs).at(0).record.kernel("all")->metric(metric_key::model_l2_to_sm_bytes), std::nullopt);
  // Against our own at the same problem and tile: aligned without the algorithm, measured differently, no model.
  expect_exit(
      0, run(folder_, {"collect", "-q", "--device", "simulated", "-a", "N=4096", "-a", "d=128", "-a", "heads=32", "-a",
                       "tile=128x64", "--algorithms", "fa2", "-o", folder_ / "own.attnscope"}));
  const std::string json =
      run(folder_, {"compare", folder_ / "own.attnscope", "--candidate", theirs, "--format", "json"}).out;
  EXPECT_THAT(json, HasSubstr("fa2 (imported)"));
  // Our own export comes back as what it was.
  const fs::path own = folder_ / "own.attnscope";
  for (const char* suffix : {"csv", "json"}) {
    SCOPED_TRACE(suffix);
    const fs::path exported = folder_ / (std::string("own.") + suffix);
    expect_exit(0, run(folder_, {"export", own, "-o", exported}));
    const fs::path back = folder_ / (std::string("back-") + suffix + ".attnscope");
    expect_exit(0, run(folder_, {"import", exported, "-o", back}));
    const PointRecord record = points_of(back).at(0).record;
    EXPECT_EQ(record.spec, points_of(own).at(0).record.spec);
    EXPECT_TRUE(record.kernel("all")->metric(metric_key::model_l2_to_sm_bytes));
  }
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
