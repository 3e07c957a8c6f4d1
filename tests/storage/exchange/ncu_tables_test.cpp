// SPDX-License-Identifier: Apache-2.0
// Nsight Compute tables as its versions write them, and launches that are not samples of one problem.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/metrics/metrics.h"
#include "tests/storage/exchange/tables.h"

namespace attnscope::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

ImportRequest flash_request(const NcuSelection& selection = {}) {
  return {.ncu = selection, .given = {{"algorithm", "flash"}, {"N", "4096"}, {"d", "128"}, {"heads", "32"}}};
}

PointRecord ncu_point(const std::string& text, const NcuSelection& selection = {}) {
  const Import import = imported(text, ImportFormat::ncu, flash_request(selection));
  return import.devices.empty() ? PointRecord{} : import.devices[0].points.at(0);
}

std::string ncu_error(const std::string& text, const NcuSelection& selection = {}) {
  return import_error(text, ImportFormat::ncu, flash_request(selection));
}

constexpr std::string_view details_header =
    R"csv("ID","Process ID","Kernel Name","Block Size","Grid Size","Device","CC","Section Name","Metric Name",)csv"
    R"csv("Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description","Estimated Speedup")csv"
    "\n";

/// A row of a metric, which ends before the columns of rules.
std::string metric_row(int id, std::string_view section, std::string_view metric, std::string_view unit,
                       std::string_view value, std::string_view grid = "(132, 1, 1)") {
  return fmt::format(R"csv("{}","9","void fwd<4>(Params)","(128, 1, 1)","{}","0","9.0","{}","{}","{}","{}",)csv"
                     "\n",
                     id, grid, section, metric, unit, value);
}

constexpr std::string_view rule_row =
    R"csv("0","9","void fwd<4>(Params)","(128, 1, 1)","(132, 1, 1)","0","9.0","SpeedOfLight","","","","Bound","OPT",)csv"
    R"csv("Some words, with a comma.","12.5","global","more")csv"
    "\n";

TEST(NcuTables, RowsOfDifferentLengths) {
  const std::string table = "==PROF== Connected\n" + std::string(details_header) +
                            metric_row(0, "Speed Of Light", "SM Frequency", "Ghz", "1.81") +
                            metric_row(0, "Speed Of Light", "Elapsed Cycles", "cycle", "2,725,163") +
                            metric_row(0, "Speed Of Light", "Memory Throughput", "%", "54.56") +
                            metric_row(0, "Speed Of Light", "Duration", "ms", "1.50") + std::string(rule_row) +
                            metric_row(0, "Memory Workload", "Memory Throughput", "Gbyte/s", "480") +
                            metric_row(0, "Launch Statistics", "Registers Per Thread", "register/thread", "255");
  EXPECT_EQ(detect_import_format(table), ImportFormat::ncu);
  const PointRecord point = ncu_point(table);
  EXPECT_DOUBLE_EQ(metric_value(point, metric_key::time_median_ns), 1.5e6);
  EXPECT_DOUBLE_EQ(metric_value(point, metric_key::dram_bytes), 720e6);
  EXPECT_DOUBLE_EQ(metric_value(point, metric_key::sm_cycles), 2'725'163);
  EXPECT_DOUBLE_EQ(metric_value(point, metric_key::registers), 255);
  ASSERT_TRUE(point.clocks);
  EXPECT_DOUBLE_EQ(point.clocks->sm_clock_hz, 1.81e9);
  EXPECT_EQ(point.spec.problem.heads_q, 32);
}

std::string counter_table(std::string_view counter, std::string_view unit, std::string_view value) {
  return fmt::format(
      "\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\",\"{}\"\n\"\",\"\",\"ms\",\"{}\"\n"
      "\"0\",\"fwd\",\"1\",\"{}\"\n",
      counter, unit, value);
}

TEST(NcuTables, OtherCountsOfBytes) {
  EXPECT_DOUBLE_EQ(metric_value(ncu_point(counter_table("dram__bytes.sum", "Mbyte", "153.6")), metric_key::dram_bytes),
                   153.6e6);
  EXPECT_DOUBLE_EQ(metric_value(ncu_point(counter_table("dram__sectors_read.sum", "sector", "1,000,000")),
                                metric_key::dram_read_bytes),
                   32e6);
  EXPECT_DOUBLE_EQ(metric_value(ncu_point(counter_table("l1tex__m_xbar2l1tex_read_sectors.sum", "sector", "1,000")),
                                metric_key::l2_to_sm_bytes),
                   32e3);
  EXPECT_DOUBLE_EQ(metric_value(ncu_point(counter_table("dram__bytes_read.sum", "byte", "1,500 (500; 1,000)")),
                                metric_key::dram_read_bytes),
                   1500);
  const PointRecord point = ncu_point(counter_table("smsp__cycles_elapsed.avg.per_second", "cycle/nsecond", "1.98"));
  ASSERT_TRUE(point.clocks);
  EXPECT_DOUBLE_EQ(point.clocks->sm_clock_hz, 1.98e9);
}

TEST(NcuTables, ClockFollowsFromAnyCountOfCycles) {
  const auto clock_of = [](const char* counter, const char* unit, const char* value) {
    const PointRecord point = ncu_point(std::string(details_header) + metric_row(0, "", counter, unit, value) +
                                        metric_row(0, "", "gpu__time_duration.sum", "ms", "1.8"));
    return point.clocks ? point.clocks->sm_clock_hz : 0;
  };
  for (const char* counter : {"smsp__cycles_elapsed.avg.per_second", "sm__cycles_elapsed.avg.per_second",
                              "gpc__cycles_elapsed.avg.per_second"}) {
    EXPECT_DOUBLE_EQ(clock_of(counter, "Ghz", "1.10"), 1.1e9) << counter;
  }
  for (const char* counter : {"sm__cycles_elapsed.max", "sm__cycles_elapsed.avg", "gpc__cycles_elapsed.max"}) {
    EXPECT_DOUBLE_EQ(clock_of(counter, "cycle", "1,980,000"), 1.1e9) << counter;
  }
  EXPECT_EQ(clock_of("dram__cycles_elapsed.avg.per_second", "Ghz", "2.62"), 0);
  EXPECT_EQ(clock_of("sm__cycles_active.max", "cycle", "1,980,000"), 0);
}

TEST(NcuTables, ReportsAbsentCounters) {
  const Import import =
      imported(counter_table("dram__bytes_read.sum", "byte", "n/a"), ImportFormat::ncu, flash_request());
  EXPECT_THAT(text(import.notes.back()), AllOf(HasSubstr("n/a"), HasSubstr("dram__bytes_read.sum")));
  for (const char* none : {"(!) n/a", "nan", "(16; 17.5)"}) {
    const Import absent =
        imported(counter_table("dram__bytes_read.sum", "byte", none), ImportFormat::ncu, flash_request());
    EXPECT_THAT(text(absent.notes.back()), HasSubstr("dram__bytes_read.sum")) << none;
  }
  const Import sectors =
      imported(counter_table("dram__sectors_read.sum", "Msector", "2"), ImportFormat::ncu, flash_request());
  EXPECT_EQ(metric_value(sectors.devices[0].points[0], metric_key::dram_read_bytes), 64e6);
}

TEST(NcuTables, ShapesAreNotAveragedOverKernels) {
  const std::string table =
      "\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\",\"launch__grid_size\",\"launch__block_size\"\n"
      "\"\",\"\",\"ms\",\"\",\"\"\n\"0\",\"qk\",\"1\",\"100\",\"128\"\n\"1\",\"pv\",\"1\",\"300\",\"128\"\n";
  const PointRecord point = ncu_point(table);
  EXPECT_FALSE(point.kernel("all")->metric("launch__grid_size"));
  EXPECT_EQ(point.kernel("pv")->metric("launch__grid_size"), 300);
  EXPECT_EQ(point.kernel("all")->metric("launch__block_size"), 128);
}

TEST(NcuTables, DifferentLaunchesAreNotSamples) {
  const auto durations = [](const std::vector<std::pair<std::string, std::string>>& launches) {
    std::string table(details_header);
    int id = 0;
    for (const auto& [grid, time] : launches) {
      table += metric_row(id++, "Speed Of Light", "Duration", "us", time, grid);
    }
    return table;
  };
  const std::string grids = durations({{"(32, 1, 1)", "10"}, {"(64, 1, 1)", "40"}});
  EXPECT_THAT(ncu_error(grids), AllOf(HasSubstr("launches 0 to 1 of fwd have different grids"), HasSubstr("--launches"),
                                      HasSubstr("--repeats 1")));
  EXPECT_DOUBLE_EQ(metric_value(ncu_point(grids, {.first_launch = 1}), metric_key::time_median_ns), 40e3);
  EXPECT_DOUBLE_EQ(metric_value(ncu_point(grids, {.repeats = 1}), metric_key::time_median_ns), 50e3);
  // A persistent kernel has one grid for every problem.
  const std::string persistent = durations({{"(132, 1, 1)", "10"}, {"(132, 1, 1)", "40"}});
  EXPECT_THAT(ncu_error(persistent), AllOf(HasSubstr("launches 0 to 1 of fwd take 10 µs to 40 µs"),
                                           HasSubstr("--launches"), HasSubstr("--repeats 2")));
  EXPECT_DOUBLE_EQ(metric_value(ncu_point(persistent, {.repeats = 2}), metric_key::time_median_ns), 25e3);
  const std::string noisy = durations({{"(132, 1, 1)", "10"}, {"(132, 1, 1)", "11.5"}});
  EXPECT_DOUBLE_EQ(metric_value(ncu_point(noisy), metric_key::time_median_ns), 10.75e3);
}

TEST(NcuTables, OtherOutputsOfNcuGetAHint) {
  const std::string report =
      "==PROF== Connected to process 9\n  fwd (1, 1, 1)x(1, 1, 1), Context 1, Stream 7\n"
      "    Section: GPU Speed Of Light Throughput\n    Duration      ms     1.5\n";
  EXPECT_EQ(detect_import_format(report), ImportFormat::ncu);
  EXPECT_THAT(ncu_error(report), HasSubstr("a text report of ncu, not a table (run ncu with --csv"));
  const std::string saved = "ID;Kernel Name;gpu__time_duration.sum\n;;ms\n0;fwd;1,5\n";
  EXPECT_EQ(detect_import_format(saved), ImportFormat::ncu);
  EXPECT_THAT(ncu_error(saved), HasSubstr("saved by a spreadsheet"));
}

TEST(NcuTables, ListsAllMissingFields) {
  EXPECT_EQ(import_error(counter_table("x__y.sum", "", "1"), ImportFormat::ncu, {.given = {{"N", "64"}}}),
            "an ncu table has no problem: missing algorithm, heads, d (give --algorithm NAME -a heads=VALUE -a "
            "d=VALUE)");
}

}  // namespace
}  // namespace attnscope::testing
