// SPDX-License-Identifier: Apache-2.0
// Tables of other benchmark programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/metrics/metrics.h"
#include "tests/storage/exchange/tables.h"

namespace attnscope::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ImportRequest given_heads_and_d() {
  return {.given = {{"d", "128"}, {"heads", "32"}}};
}

/// Detects the format and imports.
Import detected(const std::string& text, ImportFormat expected, const ImportRequest& request = {}) {
  EXPECT_EQ(detect_import_format(text), expected) << text;
  return imported(text, expected, request);
}

std::string nvbench_document(const std::string& states) {
  return R"({"devices":[{"id":3,"name":"NVIDIA H200"}],"benchmarks":[{"name":"prefill","axes":[],"states":[)" + states +
         "]}]}";
}

std::string nvbench_state(const std::string& n, const std::string& seconds) {
  return R"({"device":3,"axis_values":[{"name":"N","type":"int64","value":")" + n +
         R"("}],"is_skipped":false,"summaries":[)"
         R"({"tag":"nv/cold/time/gpu/mean","data":[{"name":"value","type":"float64","value":")" +
         seconds +
         R"("}]},{"tag":"nv/cold/time/gpu/stdev/relative","data":[{"name":"value","type":"float64","value":"0.01"}]}]})";
}

TEST(ForeignTables, NvbenchJson) {
  const std::string skipped = R"({"device":3,"axis_values":[{"name":"N","value":"9"}],"is_skipped":true})";
  const Import import =
      detected(nvbench_document(nvbench_state("1024", "0.001") + "," + nvbench_state("2048", "0.004") + "," + skipped),
               ImportFormat::nvbench, given_heads_and_d());
  ASSERT_EQ(import.devices.size(), 1U);
  EXPECT_EQ(import.devices[0].info.limits.name, "NVIDIA H200");
  const std::vector<PointRecord>& points = import.devices[0].points;
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[2].disposition, Disposition::infeasible);
  EXPECT_EQ(points[1].spec.algorithm, "prefill");
  EXPECT_EQ(points[1].spec.problem.n_q, 2048);
  EXPECT_DOUBLE_EQ(metric_value(points[1], metric_key::time_median_ns), 4e6);
  EXPECT_NEAR(metric_value(points[1], metric_key::time_q3_ns), 4e6 * 1.00674, 100);
  EXPECT_THAT(import_error(nvbench_document(nvbench_state("64", "0.001")), ImportFormat::nvbench),
              HasSubstr("missing heads, d ("));
  EXPECT_THAT(import_error(R"({"benchmarks":[{"states":[{"axis_values":7}]}]})", ImportFormat::nvbench),
              HasSubstr("JSON"));
  EXPECT_THAT(import_error(R"({"benchmarks":)" + std::string(100'000, '['), ImportFormat::nvbench),
              HasSubstr("deeper than 32"));
  EXPECT_THAT(import_error(R"({"benchmarks":)", ImportFormat::nvbench),
              HasSubstr("invalid JSON: parse error at line 1"));
  EXPECT_THAT(import_error(R"({"benchmarks":[{"states":[],"states":[]}]})", ImportFormat::nvbench),
              HasSubstr("duplicate key 'states'"));
  EXPECT_THAT(import_error(R"({"tune_params_keys":[)" + std::string(100'000, '['), ImportFormat::kernel_tuner),
              HasSubstr("deeper than 32"));
}

TEST(ForeignTables, NvbenchCsv) {
  const Import import = detected(
      "Benchmark,Device,Device Name,N,causal,Skipped,Samples,CPU Time (sec),Noise,GPU Time (sec),Noise,BWUtil,Samples,"
      "Batch GPU (sec)\n"
      "prefill,0,NVIDIA H200,1024,0,No,499,0.002,5,0.001,1,9.9,524,0.0009\n"
      "prefill,0,NVIDIA H200,1024,1,No,499,0.002,5,0.0005,2,9.9,524,0.0004\n",
      ImportFormat::nvbench, given_heads_and_d());
  const std::vector<PointRecord>& points = import.devices.at(0).points;
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[1].spec.problem.mask, Mask::causal);
  EXPECT_DOUBLE_EQ(metric_value(points[0], metric_key::time_median_ns), 1e6);
  EXPECT_NEAR(metric_value(points[0], metric_key::time_q1_ns), 1e6 * (1 - 0.00674), 100);
}

TEST(ForeignTables, KernelTunerCache) {
  const std::string open =
      R"({"device_name":"H100","kernel_name":"decode","tune_params_keys":["unroll","head_dim"],"cache":{)"
      R"("2,64":{"unroll":2,"head_dim":64,"time":1.5,"times":[1.4,1.5,1.7]},)"
      R"("3,64":{"unroll":3,"head_dim":64,"time":1.25},)"
      R"("4,64":{"unroll":4,"head_dim":64,"time":"CompilationFailedConfig"},)";
  const ImportRequest request{.given = {{"N", "64"}, {"heads", "4"}}};
  for (const std::string& cache : {open.substr(0, open.size() - 1) + "}}", open}) {
    const Import import = detected(cache, ImportFormat::kernel_tuner, request);
    const std::vector<PointRecord>& points = import.devices.at(0).points;
    ASSERT_EQ(points.size(), 3U);
    EXPECT_EQ(points[2].disposition, Disposition::compile_error);
    EXPECT_EQ(points[0].spec.algorithm, "decode unroll=2");
    EXPECT_EQ(points[0].spec.problem.d, 64);
    EXPECT_THAT(points[0].kernel("all")->samples_ns, ElementsAre(1.4e6, 1.5e6, 1.7e6));
    EXPECT_EQ(points[1].spec.algorithm, "decode unroll=3");
    EXPECT_DOUBLE_EQ(metric_value(points[1], metric_key::time_median_ns), 1.25e6);
    EXPECT_EQ(text(import.notes.at(0)), "tunable parameters are part of the algorithm's name: unroll");
  }
}

TEST(ForeignTables, OneColumnPerProvider) {
  const Import import = detected("N_CTX,Triton [FP16] (TFLOPS),Flash-2 (TFLOPS)\n1024.0,210.5,190.1\n2048.0,260.2,\n",
                                 ImportFormat::csv, given_heads_and_d());
  const std::vector<PointRecord>& points = import.devices.at(0).points;
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[0].spec.algorithm, "Triton [FP16]");
  EXPECT_EQ(points[1].spec.algorithm, "Flash-2");
  EXPECT_EQ(points[2].spec.problem.n_k, 2048);
  EXPECT_NEAR(metric_value(points[1], metric_key::tflops), 190.1, 1e-6);
  EXPECT_EQ(import.empty_rows, 1U);
  const Import times = detected("seqlen,flash (ms),naive [us]\n64,2,9\n", ImportFormat::csv, given_heads_and_d());
  EXPECT_DOUBLE_EQ(metric_value(times.devices.at(0).points.at(0), metric_key::time_median_ns), 2e6);
  EXPECT_DOUBLE_EQ(metric_value(times.devices.at(0).points.at(1), metric_key::time_median_ns), 9e3);
  EXPECT_THAT(import_error("N_CTX,extra,a (ms)\n64,1,2\n64,2,3\n", ImportFormat::csv, given_heads_and_d()),
              HasSubstr("column 'extra' is not recognized"));
}

TEST(ForeignTables, NsightPython) {
  const Import import = detected(
      "Annotation,N,d,heads,AvgValue,StdDev,MinValue,MaxValue,NumRuns,CI95_Lower,Metric,Unit,Kernel,GPU,Host\n"
      "mine,4096,128,16,1510,12,1495,1530,10,1500,gpu__time_duration.sum,us,fwd,NVIDIA H200,host\n"
      "mine,4096,128,16,723,1,722,725,10,722,dram__bytes_read.sum,Mbyte,fwd,NVIDIA H200,host\n"
      "mine,8192,128,16,6040,20,6000,6100,10,6030,gpu__time_duration.sum,us,fwd,NVIDIA H200,host\n",
      ImportFormat::nsight_python);
  const std::vector<PointRecord>& points = import.devices.at(0).points;
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].spec.algorithm, "mine");
  EXPECT_DOUBLE_EQ(metric_value(points[0], metric_key::time_median_ns), 1.51e6);
  EXPECT_NEAR(metric_value(points[0], metric_key::time_q1_ns), 1.51e6 - 0.67449 * 12e3, 1);
  EXPECT_DOUBLE_EQ(metric_value(points[0], metric_key::dram_read_bytes), 723e6);
  EXPECT_EQ(points[1].spec.problem.n_q, 8192);
}

TEST(ForeignTables, Markdown) {
  const Import import = detected(
      "# Results\n\n| algorithm | N | d | heads | time_ms |\n|---|---:|---:|---:|---:|\n"
      "| `flash` | 4096 | 128 | 32 | **1.51** |\n| flash | 8192 | 128 | 32 | 6.02 |\n\nDone.\n",
      ImportFormat::markdown);
  const std::vector<PointRecord>& points = import.devices.at(0).points;
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].spec.algorithm, "flash");
  EXPECT_DOUBLE_EQ(metric_value(points[0], metric_key::time_median_ns), 1.51e6);
  const Import wide = detected("| N | flash (ms) | naive (ms) |\n|:--|--:|--:|\n| 64 | 1 | 2 |\n| 128 | 3 | 4 |\n",
                               ImportFormat::markdown, given_heads_and_d());
  EXPECT_EQ(wide.devices.at(0).points.size(), 4U);
  EXPECT_THAT(import_error("| N | a (ms) |\n|--|--|\n| 64 | 1 |\n\n| 128 | 2 |\n", ImportFormat::markdown),
              HasSubstr("line 5: rows follow below the table"));
}

}  // namespace
}  // namespace attnscope::testing
