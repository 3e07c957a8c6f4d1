// SPDX-License-Identifier: Apache-2.0
// Tables in the shapes that benchmark programs, spreadsheets and README files have.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/model/mask.h"
#include "tests/storage/exchange/tables.h"

namespace attnscope::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

/// Returns "flash bwd fp16 b1 32/8 1024x1024 d128 causal 1.5" for each point, the time in us; for a failed point its
/// disposition instead.
std::vector<std::string> points(const Import& import) {
  std::vector<std::string> all;
  for (const ImportedDevice& device : import.devices) {
    for (const PointRecord& point : device.points) {
      const AttentionProblem& p = point.spec.problem;
      const auto time = evaluate(metric_key::time_median_ns, point);
      all.push_back(
          fmt::format("{} {} {} b{} {}/{} {}x{} d{} {} {}", point.spec.algorithm, to_string(p.pass), to_string(p.dtype),
                      p.batch, p.heads_q, p.heads_kv, p.n_q, p.n_k, p.d, to_string(p.mask),
                      time ? fmt::format("{:.6g}", time->value / 1e3) : std::string(to_string(point.disposition))));
    }
  }
  return all;
}

std::vector<std::string> points_in(const std::string& text, const ImportRequest& request = {}) {
  return points(imported(text, detect_import_format(text), request));
}

std::string error_in(const std::string& text, const ImportRequest& request = {}) {
  return import_error(text, detect_import_format(text), request);
}

std::string notes_in(const std::string& text, const ImportRequest& request = {}) {
  std::string all;
  for (const Message& note : imported(text, detect_import_format(text), request).notes)
    all += attnscope::text(note) + "\n";
  return all;
}

const ImportRequest given_shape{.given = {{"d", "128"}, {"heads", "32"}}};
/// Header of a table whose rows are "a,N,16,64,...".
const std::string header = "impl,N,H,D,";

TEST(ForeignShapes, OneColumnPerProviderAndPass) {
  EXPECT_THAT(
      points_in("N,flash_fwd_ms,flash_bwd_ms,torch.compile (us)\n64,1,2,3\n", given_shape),
      ElementsAre("flash fwd fp16 b1 32/32 64x64 d128 full 1000", "flash bwd fp16 b1 32/32 64x64 d128 full 2000",
                  "torch.compile fwd fp16 b1 32/32 64x64 d128 full 3"));
  // The columns of flash-attention's benchmark; time and rate of one pass are one point.
  EXPECT_THAT(
      points_in("causal,headdim,batch_size,seqlen,method,fwd_ms,bwd_ms,fwd_bwd_ms,fwd_tflops,fwd_bwd_tflops\n"
                "True,128,16,1024,x,1.2,3,4.2,114.6,114.6\n",
                {.given = {{"heads", "32"}}}),
      ElementsAre("x fwd fp16 b16 32/32 1024x1024 d128 causal 1200", "x bwd fp16 b16 32/32 1024x1024 d128 causal 3000",
                  "x fwd+bwd fp16 b16 32/32 1024x1024 d128 causal 4200"));
  EXPECT_THAT(points_in("N,a (ms),a (TFLOPS),b (ms)\n4096,1,274.9,2\n", given_shape), SizeIs(2));
  EXPECT_THAT(points_in("seq_len,a (Latency (ms)),a-min (Latency (ms)),speedup\n64,2,1,3\n128,4,2,5\n", given_shape),
              ElementsAre("a fwd fp16 b1 32/32 64x64 d128 full 2000", "a fwd fp16 b1 32/32 128x128 d128 full 4000"));
  EXPECT_THAT(points_in("N_CTX,Triton [FP8] (ms),Triton (ms)\n64,1,2\n", given_shape),
              ElementsAre("Triton [FP8] fwd fp8 b1 32/32 64x64 d128 full 1000",
                          "Triton fwd fp16 b1 32/32 64x64 d128 full 2000"));
  // A column for all passes may be of any of them.
  EXPECT_THAT(error_in(header + "fwd_ms,bwd_ms,dram_read_bytes\na,64,16,64,1,2,10\na,128,16,64,1,2,20\n"),
              HasSubstr("'dram_read_bytes'"));
  // A table that names its algorithms has no column of another.
  EXPECT_THAT(error_in(header + "ms,baseline_ms\na,64,16,64,1,2\na,128,16,64,1,3\n"), HasSubstr("'baseline_ms'"));
}

TEST(ForeignShapes, ProvidersWithoutAUnitAreMapped) {
  const std::string table = "N_CTX,Triton,Torch [ref]\n64,1,2\n";
  EXPECT_THAT(error_in(table, given_shape), HasSubstr("missing algorithm (rename a column with --map"));
  ImportRequest request = given_shape;
  request.map = {{"Triton", "time_ms"}, {"Torch [ref]", "time_ms"}};
  EXPECT_THAT(points_in(table, request), ElementsAre("Triton fwd fp16 b1 32/32 64x64 d128 full 1000",
                                                     "Torch [ref] fwd fp16 b1 32/32 64x64 d128 full 2000"));
}

TEST(ForeignShapes, UnitsInCells) {
  EXPECT_THAT(points_in(header + "latency\na,64,16,64,1.2 ms\na,128,16,64,900us\n"),
              ElementsAre("a fwd fp16 b1 16/16 64x64 d64 full 1200", "a fwd fp16 b1 16/16 128x128 d64 full 900"));
  EXPECT_THAT(points_in("| N | slow | flash |\n|---|---|---|\n| 8k | 1.2 ms | 950 µs |\n", given_shape),
              ElementsAre("slow fwd fp16 b1 32/32 8192x8192 d128 full 1200",
                          "flash fwd fp16 b1 32/32 8192x8192 d128 full 950"));
  EXPECT_THAT(error_in(header + "latency\na,64,16,64,3 GB\n"), AllOf(HasSubstr("'GB'"), HasSubstr("expected ns")));
  EXPECT_THAT(error_in("impl,N,H,D,ms\na,10k,16,64,1\n"), HasSubstr("'10k'"));
  const Import spread =
      imported("| impl | N | H | D | ms |\n|-|-|-|-|-|\n| a | 64 | 1 | 64 | 1.20 ± 0.1 |\n", ImportFormat::markdown);
  EXPECT_NEAR(metric_value(spread.devices.at(0).points.at(0), metric_key::time_q3_ns), 1.267e6, 1e3);
}

TEST(ForeignShapes, NumbersOfSpreadsheets) {
  EXPECT_THAT(points_in("\xEF\xBB\xBFimpl;N;H;D;us\na;1024;16;64;1234.5\n"),
              ElementsAre("a fwd fp16 b1 16/16 1024x1024 d64 full 1234.5"));
  EXPECT_THAT(points_in("sep=;\nimpl;N;H;D;ms\na;1024;16;64;0.15\n"),
              ElementsAre("a fwd fp16 b1 16/16 1024x1024 d64 full 150"));
  EXPECT_THAT(points_in("impl,N,H,D,us\na,\"16,384\",16,64,\"1,234.5\"\n"),
              ElementsAre("a fwd fp16 b1 16/16 16384x16384 d64 full 1234.5"));
  for (const char* number : {"1,234", "0,15", "1.234,5", "1,234 ms", "1,234 ± 0,012", "[1,234 1,310]"}) {
    EXPECT_THAT(error_in(std::string("impl;N;H;D;us\na;1024;16;64;") + number + "\n"),
                HasSubstr(fmt::format("line 2: '{}' has a comma", number)));
  }
  EXPECT_THAT(error_in("impl;N;H;D;us\na;1024;16;64;\"1,234\"\n"), HasSubstr("'1,234' has a comma"));
  EXPECT_THAT(error_in("impl,N,H,D,us\na,64,16,64,\"1,23\"\n"), HasSubstr("'1,23'"));
}

TEST(ForeignShapes, RowsThatAreNoPoints) {
  const std::string table = "# H100, 2025\n" + header + "ms\n# warm\na,64,16,64,1\na,128,16,64,2\n";
  EXPECT_THAT(points_in(table), SizeIs(2));
  EXPECT_THAT(error_in(table + "Average,,,,1.5\n"), HasSubstr("line 6: a row of totals"));
  EXPECT_THAT(error_in(header + "ms\nmean,96,16,64,1.5\na,64,16,64,1\n"), HasSubstr("line 2: a row of totals"));
}

TEST(ForeignShapes, FailuresInCells) {
  EXPECT_THAT(
      points_in(header + "ms\na,64,16,64,1\na,128,16,64,OOM\na,256,16,64,N/A\na,512,16,64,—\n"),
      ElementsAre("a fwd fp16 b1 16/16 64x64 d64 full 1000", "a fwd fp16 b1 16/16 128x128 d64 full out-of-memory"));
  EXPECT_THAT(points_in(header + "status,ms\na,64,16,64,success,1\na,128,16,64,error,nan\na,256,16,64,-,-\n"),
              ElementsAre("a fwd fp16 b1 16/16 64x64 d64 full 1000", "a fwd fp16 b1 16/16 128x128 d64 full crashed"));
  EXPECT_THAT(error_in(header + "ms\na,64,16,64,soon\n"), HasSubstr("'soon' is not a number"));
}

TEST(ForeignShapes, PartsOfTheProblem) {
  EXPECT_THAT(points_in("impl,B,Sq,Skv,num_attention_heads,num_key_value_heads,D,causal,ms\na,4,1,64,32,8,64,1,1\n"),
              ElementsAre("a fwd fp16 b4 32/8 1x64 d64 causal 1000"));
  EXPECT_THAT(points_in("impl,N,H,D,gqa_ratio,ms\na,64,32,64,4,1\na,64,32,64,8,2\n"),
              ElementsAre("a fwd fp16 b1 32/8 64x64 d64 full 1000", "a fwd fp16 b1 32/4 64x64 d64 full 2000"));
  EXPECT_THAT(points_in(header + "is_causal,window_size,ms\na,64,16,64,0,\"(-1, -1)\",1\na,64,16,64,1,none,2\n"),
              ElementsAre("a fwd fp16 b1 16/16 64x64 d64 full 1000", "a fwd fp16 b1 16/16 64x64 d64 causal 2000"));
  EXPECT_THAT(error_in(header + "window_left,window_right,ms\na,64,16,64,-1,0,1\n"), HasSubstr("'window_right': '0'"));
  EXPECT_THAT(points_in(header + "is_backward,ms\na,64,16,64,True,1\n"),
              ElementsAre("a bwd fp16 b1 16/16 64x64 d64 full 1000"));
  EXPECT_THAT(error_in(header + "window_size,ms\na,64,16,64,32,1\n"), HasSubstr("'window_size': '32'"));
}

TEST(ForeignShapes, ValuesOfAnotherHeadDimAreRejected) {
  EXPECT_THAT(points_in(header + "head_dim_v,ms\na,64,16,64,64,1\n"), SizeIs(1));
  EXPECT_THAT(error_in(header + "head_dim_v,ms\na,64,16,64,128,1\n"),
              HasSubstr("column 'head_dim_v': 128 differs from d 64"));
}

TEST(ForeignShapes, ConstantWordsOfAnotherProblem) {
  EXPECT_THAT(error_in(header + "kv_dtype,ms\na,64,16,64,fp8,1\n"), HasSubstr("--map 'kv_dtype=dtype'"));
  EXPECT_THAT(error_in(header + "mode,ms\na,64,16,64,bwd,1\n"), HasSubstr("--map 'mode=pass'"));
  EXPECT_THAT(points_in(header + "kv_dtype,mode,ms\na,64,16,64,torch.float16,fwd,1\n"), SizeIs(1));
}

TEST(ForeignShapes, ValuesThatIdentifyNothing) {
  EXPECT_THAT(points_in("," + header +
                        "ms,bw_util_pct,peak_mem_mb,timestamp,GB/s\n0,a,64,16,64,1,45,7,x,8\n"
                        "1,a,128,16,64,2,46,8,y,9\n"),
              SizeIs(2));
  const Import bytes = imported(header + "ms,dram_read_MB,DRAM write (MiB),SM clock (MHz)\na,64,16,64,1,2,3,1980\n");
  const PointRecord& point = bytes.devices.at(0).points.at(0);
  EXPECT_EQ(metric_value(point, metric_key::dram_read_bytes), 2e6);
  EXPECT_EQ(metric_value(point, metric_key::dram_write_bytes), 3 * 1024 * 1024);
  EXPECT_EQ(point.clocks.value().sm_clock_hz, 1980e6);
}

TEST(ForeignShapes, RateConventions) {
  // 4 N^2 d per head: 68.72 TFLOP/s without a mask.
  const std::string rates = "impl,n_q,n_k,H,D,pass,causal,ms,TFLOPS\n";
  EXPECT_THAT(error_in(rates + "a,4096,4096,8,128,fwd,0,1,34.36\n"), AllOf(HasSubstr("34.36"), HasSubstr("68.72")));
}

TEST(ForeignShapes, LongTables) {
  EXPECT_THAT(points_in("algorithm,N,d,heads,metric,value,unit,std,min,n\nf,64,64,2,latency,690,us,2,680,10\n"
                        "f,64,64,2,dram_read,120,MiB,4,1,10\n"),
              ElementsAre("f fwd fp16 b1 2/2 64x64 d64 full 690"));
  EXPECT_THAT(
      points_in("algorithm,N,d,heads,metric,value,iteration\nf,64,64,2,time_ns,6000,0\nf,64,64,2,time_ns,8000,1\n"),
      ElementsAre("f fwd fp16 b1 2/2 64x64 d64 full 7"));
  EXPECT_THAT(error_in("algorithm,N,d,heads,metric,value\nf,64,64,2,latency,690\n"),
              HasSubstr("'latency' has no unit"));
  EXPECT_THAT(notes_in("algorithm,N,d,heads,metric,value\nf,64,64,2,time_ns,690\nf,64,64,2,joule,6\n"),
              HasSubstr("joule"));
}

TEST(ForeignShapes, JsonOfPython) {
  EXPECT_THAT(
      points_in(
          "{\"impl\":\"a\",\"N\":64,\"H\":2,\"D\":64,\"ms\":1}\n{\"impl\":\"b\",\"N\":64,\"H\":2,\"D\":64,\"ms\":NaN}\n"
          "{\"impl\":\"NaN \\\" ,\",\"N\":64,\"H\":2,\"D\":64,\"ms\":3}\n"),
      ElementsAre("a fwd fp16 b1 2/2 64x64 d64 full 1000", "NaN \" , fwd fp16 b1 2/2 64x64 d64 full 3000"));
  EXPECT_THAT(points_in(R"({"date":"x","results":[{"impl":"a","config":{"N":64,"H":2,"D":64},"times_ms":[1,2,4]}]})"),
              ElementsAre("a fwd fp16 b1 2/2 64x64 d64 full 2000"));
  EXPECT_THAT(error_in(R"([{"impl":"a","N":64,"H":2,"D":64,"ms":-Infinity}])"), HasSubstr("no row has a time"));
  EXPECT_THAT(error_in(R"({"N":[64,128],"ms":[1,2]})"), HasSubstr("no list of points"));
}

TEST(ForeignShapes, NvbenchStates) {
  const auto state = [](const std::string& rest) {
    return R"({"benchmarks":[{"name":"b","states":[{"axis_values":[{"name":"N","value":"64"}],)" + rest + "}]}]}";
  };
  const auto summary = [](const std::string& tag, const std::string& value) {
    return R"({"tag":"nv/cold/)" + tag + R"(","data":[{"name":"value","value":")" + value + R"("}]})";
  };
  EXPECT_THAT(points_in(state("\"summaries\":[" + summary("time/gpu/mean", "0.003") + "," +
                              summary("time/gpu/median", "0.002") + "]"),
                        given_shape),
              ElementsAre("b fwd fp16 b1 32/32 64x64 d128 full 2000"));
  EXPECT_THAT(points_in(state("\"summaries\":[" + summary("time/gpu/mean", "0.003") + "," +
                              summary("time/gpu/stdev/relative", "inf") + "]"),
                        given_shape),
              ElementsAre("b fwd fp16 b1 32/32 64x64 d128 full 3000"));
  EXPECT_THAT(points_in(state(R"("is_skipped":true,"skip_reason":"too large")"), given_shape),
              ElementsAre("b fwd fp16 b1 32/32 64x64 d128 full infeasible"));
}

TEST(ForeignShapes, KernelTunerParameters) {
  const std::string cache = R"({"kernel_name":"k","tune_params_keys":["bs","block_m"],"cache":{)"
                            R"("1":{"bs":64,"block_m":16,"time":1.5},"2":{"bs":128,"block_m":16,"time":1e20},)"
                            R"("3":{"bs":256,"block_m":16,"time":"CompilationFailedConfig"}}})";
  ImportRequest request = given_shape;
  request.given.push_back({"N", "64"});
  EXPECT_THAT(points_in(cache, request),
              UnorderedElementsAre("k bs=64 fwd fp16 b1 32/32 64x64 d128 full 1500",
                                   "k bs=128 fwd fp16 b1 32/32 64x64 d128 full crashed",
                                   "k bs=256 fwd fp16 b1 32/32 64x64 d128 full compile-error"));
}

TEST(ForeignShapes, NsightPythonRatiosAndClocks) {
  const std::string table =
      "Annotation,N,d,heads,AvgValue,StdDev,Metric,Unit,ComputeClock,Normalized\n"
      "a,64,64,2,1500,10,gpu__time_duration.sum,us,1980,";
  const Import import = imported(table + "False\n", ImportFormat::nsight_python);
  EXPECT_THAT(points(import), ElementsAre("a fwd fp16 b1 2/2 64x64 d64 full 1500"));
  EXPECT_EQ(import.devices[0].points[0].clocks.value().sm_clock_hz, 1980e6);
  EXPECT_THAT(import_error(table + "torch\n", ImportFormat::nsight_python), HasSubstr("ratios to torch"));
}

TEST(ForeignShapes, MarkdownShapes) {
  EXPECT_THAT(points_in("seqlen | headdim | nheads | impl | ms\n--- | --- | --- | --- | ---\n64 | 64 | 2 | a | 1\n"),
              ElementsAre("a fwd fp16 b1 2/2 64x64 d64 full 1000"));
  EXPECT_THAT(points_in("# Run\n\n| N | Samples | CPU Time | Noise | GPU Time | Noise |\n|---|---|---|---|---|---|\n"
                        "| 64 | 499x | 1.5 ms | 0.6% | 15 us | 0.1% |\n| 128 | 9x | 2 ms | 0.7% | 20 us | 0.2% |\n",
                        {.given = {{"algorithm", "a"}, {"d", "64"}, {"heads", "2"}}}),
              ElementsAre("a fwd fp16 b1 2/2 64x64 d64 full 15", "a fwd fp16 b1 2/2 128x128 d64 full 20"));
  const Import bench = imported(
      "| N | Samples | CPU Time | Noise | GPU Time | Noise | Elem/s | GlobalMem BW | BWUtil | Samples | Batch GPU "
      "|\n|-|-|-|-|-|-|-|-|-|-|-|\n"
      "| 64 | 499x | 1.5 ms | 0.6% | 15 us | 10% | 1G | 48 GB/s | 1% | 524x | 15 us |\n"
      "| 128 | 1x | 2 ms | inf% | 20 us | inf% | 2G | 50 GB/s | 2% | 600x | 20 us |\n",
      ImportFormat::markdown, {.given = {{"algorithm", "a"}, {"d", "64"}, {"heads", "2"}}});
  const std::vector<PointRecord>& states = bench.devices.at(0).points;
  EXPECT_NEAR(evaluate(metric_key::time_spread, states.at(0))->value, 0.1349, 1e-4);
  EXPECT_EQ(evaluate(metric_key::time_samples, states.at(0))->value, 499);
  EXPECT_EQ(evaluate(metric_key::time_q1_ns, states.at(1))->value, 20e3) << "one sample has no deviation";
  EXPECT_THAT(
      error_in("| N | a (ms) |\n|--|--|\n| 64 | 1 |\n\n# B\n\n| N | a (ms) |\n|--|--|\n| 128 | 2 |\n", given_shape),
      HasSubstr("line 7"));
}

}  // namespace
}  // namespace attnscope::testing
