// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/import.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <tuple>

#include "kernels/model/io_model.h"
#include "profiler/metrics/metrics.h"
#include "profiler/metrics/rounds.h"
#include "storage/exchange/export.h"
#include "storage/exchange/import_text.h"
#include "tests/message_matchers.h"
#include "tests/storage/exchange/tables.h"
#include "tests/storage/samples.h"

namespace attnscope::testing {
namespace {

using test::HasWords;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Mode = RunStore::Mode;

double value_of(const PointRecord& point, std::string_view key, std::string_view kernel = "all") {
  const auto metric = evaluate(key, point, kernel);
  EXPECT_TRUE(metric.has_value()) << key << " of " << kernel;
  if (!metric) return -1;
  EXPECT_EQ(metric->provenance, Provenance::imported) << key;
  return metric->value;
}

/// Times below one picosecond give rates that are infinite.
TEST(Import, RejectsTimesThatAreNotPlausible) {
  const std::string csv = "algorithm,d,N,heads,";
  const std::vector<std::string> times{"1e-310", "5e-324", "1e-20", "9e-4", "0", "-1e-310"};
  for (const std::string& time : times) {
    for (const char* column : {"time_ns", "time_ms", "time_median_ns", "time_q1_ns", "samples_ns"}) {
      const bool is_quartile = column == std::string_view("time_q1_ns");
      const std::string more_columns = is_quartile ? ",time_median_ns,time_q3_ns" : "";
      const std::string more = is_quartile ? ",1000,2000" : "";
      if (column == std::string_view("time_ms") && time == "9e-4") continue;  // 0.9 ns
      EXPECT_THAT(import_error(csv + column + more_columns + "\nfa2,64,512,8,1000" + more + "\nfa2,64,1024,8," + time +
                               more + "\n"),
                  HasWords("line 3"))
          << column << ' ' << time;
    }
  }
  EXPECT_THAT(import_error(csv + "tflops\nfa2,64,1024,8,1e308\n"), HasWords("line 2"));
}

TEST(ImportCsv, ReadsColumnsByName) {
  const Import import = imported(
      "device,d,algorithm,N,heads,time_ns,dram__bytes_read.sum,dram_write_bytes,lts__t_sectors.sum,pass,mask,note\r\n"
      "NVIDIA H200,128,torch-flash,4096,16,2000,6e9,1e9,7,fwd+bwd,\"window:64:0+lengths:300\",x\r\n"
      "\r\n"
      "NVIDIA H200,64.0,torch-\"flash,1024,8,3000,,,,,,x\r\n");
  ASSERT_EQ(import.devices.size(), 1U);
  EXPECT_THAT(import.ignored, ElementsAre("note"));
  const ImportedDevice& device = import.devices[0];
  EXPECT_EQ(device.info.limits.name, "NVIDIA H200");
  EXPECT_EQ(device.info.limits.sm_count, 132);
  EXPECT_NE(device.info.uuid, "");
  ASSERT_EQ(device.points.size(), 2U);
  const PointRecord& point = device.points[0];
  const PointSpec expected{.algorithm = "torch-flash",
                           .problem = {.pass = Pass::fwd_bwd,
                                       .mask = *parse_mask("window:64:0+lengths:300"),
                                       .heads_q = 16,
                                       .heads_kv = 16,
                                       .n_q = 4096,
                                       .n_k = 4096,
                                       .d = 128},
                           .tile = {.br = 0, .bc = 0},
                           .cache = CacheState::unknown};
  EXPECT_EQ(point.spec, expected);
  EXPECT_EQ(point.provenance, Provenance::imported);
  EXPECT_EQ(value_of(point, metric_key::time_median_ns), 2000);
  EXPECT_EQ(value_of(point, metric_key::dram_read_bytes), 6e9);
  EXPECT_EQ(value_of(point, metric_key::dram_bytes), 7e9);
  EXPECT_EQ(value_of(point, "lts__t_sectors.sum"), 7);
  EXPECT_EQ(value_of(point, metric_key::tflops), pass_flops(expected.problem) / 2000e-9 / 1e12);
  const auto compulsory = evaluate(metric_key::model_compulsory_bytes, point);
  ASSERT_TRUE(compulsory);
  EXPECT_EQ(compulsory->provenance, Provenance::modeled);
  EXPECT_EQ(compulsory->value, static_cast<double>(compulsory_traffic(expected.problem).total()));
  EXPECT_EQ(device.points[1].spec.algorithm, "torch-\"flash");
  EXPECT_EQ(device.points[1].spec.problem.mask, Mask::none);
}

TEST(ImportCsv, GroupsKernelsByPoint) {
  const std::string header =
      "algorithm,kernel,N,heads,d,time_ns,dram_read_bytes,registers,tensor_pipe_pct,sm__cycles_active.avg\n";
  const Import import = imported(header +
                                     "eager,qk,64,1,64,100,1000,40,10,700\neager,pv,64,1,64,300,500,80,50,900\n"
                                     "eager,qk,64,1,64,1,2,3,4,5\n",
                                 ImportFormat::csv, {.device_name = "RTX 6000"});
  ASSERT_EQ(import.devices.size(), 1U);
  EXPECT_EQ(import.devices[0].info.limits.name, "RTX 6000");
  ASSERT_EQ(import.devices[0].points.size(), 2U) << "a kernel that comes again is another point's";
  const PointRecord& point = import.devices[0].points[0];
  ASSERT_EQ(point.kernels.size(), 3U);
  EXPECT_EQ(point.kernels[0].kernel, "all");
  EXPECT_EQ(value_of(point, metric_key::time_median_ns), 400);
  EXPECT_EQ(value_of(point, metric_key::dram_read_bytes), 1500);
  EXPECT_EQ(value_of(point, metric_key::registers), 80);
  EXPECT_EQ(value_of(point, metric_key::tensor_pipe_pct), 40) << "weighted by time";
  EXPECT_EQ(value_of(point, "sm__cycles_active.avg"), 1600) << "as a collector adds them up";
  EXPECT_EQ(value_of(point, metric_key::dram_read_bytes, "pv"), 500);
}

TEST(ImportCsv, GroupsRoundsAndSeparatesRuns) {
  const Import import = imported(
      "run,round,algorithm,kernel,N,heads,d,time_ns,dram_read_bytes,sm_clock_hz\n"
      "a,2,eager,pv,64,1,64,302,30,1.7e9\na,0,eager,qk,64,1,64,100,10,1.5e9\na,2,eager,qk,64,1,64,104,12,1.7e9\n"
      "a,0,eager,pv,64,1,64,300,20,1.5e9\nb,0,eager,,64,1,64,900,7,\n");
  ASSERT_EQ(import.devices.size(), 2U) << "a recording each";
  ASSERT_EQ(import.devices[0].points.size(), 1U);
  const PointRecord& point = import.devices[0].points[0];
  ASSERT_EQ(point.rounds.size(), 2U);
  EXPECT_EQ(point.rounds[0].round, 0);
  EXPECT_EQ(point.rounds[1].round, 2);
  EXPECT_EQ(point.rounds[1].clocks->sm_clock_hz, 1.7e9);
  EXPECT_EQ(point.clocks->sm_clock_hz, 1.6e9);
  EXPECT_THAT(round_values(metric_key::time_median_ns, point), ElementsAre(400, 406)) << "parts of a round add up";
  EXPECT_EQ(value_of(point, metric_key::time_median_ns), 403);
  EXPECT_EQ(value_of(point, metric_key::dram_read_bytes), 36) << "the median of 30 and 42";
  EXPECT_EQ(value_of(point, metric_key::time_median_ns, "qk"), 102);
  const PointRecord& alone = import.devices[1].points.at(0);
  EXPECT_TRUE(alone.rounds.empty()) << "one round is the point itself";
  EXPECT_EQ(value_of(alone, metric_key::time_median_ns), 900);
}

TEST(ImportCsv, SkipsRowsWithoutNumbersUnlessFailed) {
  const Import import = imported(
      "algorithm,N,heads,d,time_ns,disposition,reason\n"
      "a,64,1,64,5,,\na,128,1,64,,,\na,256,1,64,,out-of-memory,\"needs 9 GB, 8 GB are free\"\n");
  ASSERT_EQ(import.devices.size(), 1U);
  EXPECT_EQ(import.empty_rows, 1U);
  ASSERT_EQ(import.devices[0].points.size(), 2U);
  EXPECT_EQ(import.devices[0].points[1].disposition, Disposition::out_of_memory);
  EXPECT_EQ(text(import.devices[0].points[1].reason), "needs 9 GB, 8 GB are free");
}

TEST(ImportCsv, ReasonHasTextAndCode) {
  const Import import =
      imported("algorithm,N,heads,d,disposition,reason,reason_code\na,64,1,64,crashed,of the file,point.gpu_gone\n");
  EXPECT_EQ(import.devices[0].points[0].reason.id, "point.gpu_gone");
  EXPECT_EQ(text(import.devices[0].points[0].reason), "of the file");
}

TEST(ImportJson, RejectsDeepNesting) {
  EXPECT_THAT(import_error(R"([{"algorithm": "a", "N": 64, "heads": 1, "d": 64, "more": )" + std::string(100'000, '[') +
                               std::string(100'000, ']') + "}]",
                           ImportFormat::json),
              HasWords("32"));
}

TEST(ImportCsv, ErrorsNameLineAndColumn) {
  const std::string header = "algorithm,N,heads_q,heads_kv,d,mask,time_ns\n";
  const std::pair<std::string, std::string> cases[] = {
      {"", ""},
      {"algorithm|N|heads\n", "line 1 column"},
      {"algorithm;N;heads\n", "line 1 d --map -a"},
      {"algorithm,n_q,heads,d\n", "line 1 n_k"},
      {"algorithm,N,heads,d,d\n", "line 1 column d"},
      {header, ""},
      {"algorithm,N,heads,d,time\na,64,1,64,5\n", "line 2 column time unit"},
      {"algorithm,N,heads,d,time_ms\na,64,1,64,5x\n", "line 2 column time_ms 5x"},
      {"algorithm\tN\theads\td\ttime_ns\na\t64\t1\t64\t1,024\n", "1,024"},
      {"algorithm;N;heads;d;time_ns;tflops\na;64;1;64;1,5;2.5\n", "line 2 1,5 decimal"},
      {header + "a,64,1,1,64,full\n", "line 2 6"},
      {header + "a,64,1,1,64,full,5\n\na,6x,1,1,64,full,5\n", "line 4 column N 6x"},
      {header + "a,64.5,1,1,64,full,5\n", "line 2 column N 64.5"},
      {header + "a,0,1,1,64,full,5\n", "line 2 column N 1 0"},
      {header + "a,64,,1,64,full,5\n", "line 2 heads_q"},
      {header + "a,64,3,2,64,full,5\n", "line 2 heads_q 3 heads_kv"},
      {header + "a,64,1,1,64,lengths:100,5\n", "line 2 100 n_k 64"},
      {header + "a,64,1,1,64,diagonal,5\n", "line 2 column mask diagonal"},
      {header + "a,64,1,1,64,full,-5\n", "line 2 column time_ns -5"},
      {header + "a,64,1,1,64,full,0\n", "line 2 column time_ns 0"},
      {"algorithm,N,heads,d,time_median_ns\na,64,1,64,0\n", "line 2 column time_median_ns 0"},
      {"algorithm,N,heads,d,dram_read_bytes\na,64,1,64,-1\n", "line 2 column dram_read_bytes -1"},
      {header + "a,64,1,1,64,full,inf\n", "line 2 column time_ns"},
      {header + "a,64,1,1,64,full,fast\n", "line 2 column time_ns fast"},
      {header + ",64,1,1,64,full,5\n", "line 2 algorithm"},
      {header + "\"a\nb\",64,1,1,64,full,5\n", "line 2"},
      {header + "\"a,64,1,1,64,full,5\n", "line 2"},
      {header + "\"a\"b,64,1,1,64,full,5\n", "line 2 'a'"},
      {header + "a,64,1,1,64,full,5\n\xff", "line 3 1"},
  };
  for (const auto& [text, words] : cases) EXPECT_THAT(import_error(text), HasWords(words)) << text;
}

TEST(ImportJson, ReadsADocumentOrAnArray) {
  const std::string point =
      R"({"algorithm":"torch-cudnn","N":512,"heads":4,"d":64,"batch":2,"pass":"bwd","deterministic":true,)"
      R"("dropout":0.1,"time_ns":null,"samples_ns":[3,1,2],"metrics":{"dram_read_bytes":{"value":5,"unit":"Mbyte"},)"
      R"("l1tex__m_xbar2l1tex_read_bytes.sum":7,"mine__counter":{"value":2,"unit":"Kbyte"}}})";
  for (const std::string& text : {"[" + point + "]", R"({"points":[)" + point + "]}"}) {
    EXPECT_EQ(detect_import_format(text), ImportFormat::json);
    const Import import = imported(text, ImportFormat::json);
    ASSERT_EQ(import.devices.size(), 1U);
    const PointRecord& record = import.devices[0].points.at(0);
    EXPECT_EQ(record.spec.problem.pass, Pass::bwd);
    EXPECT_EQ(record.spec.problem.dropout, 0.1);
    EXPECT_TRUE(record.spec.problem.deterministic);
    EXPECT_EQ(value_of(record, metric_key::time_median_ns), 2);
    EXPECT_EQ(value_of(record, metric_key::dram_read_bytes), 5e6);
    EXPECT_EQ(value_of(record, metric_key::l2_to_sm_bytes), 7);
    EXPECT_EQ(value_of(record, "mine__counter"), 2000);
  }
}

TEST(ImportJson, ErrorsNameTheElement) {
  const std::pair<std::string, std::string> cases[] = {
      {"{\"points\":[\n{]}", "line 2 column"},
      {"{}", "points"},
      {R"({"format":"attnscope-export","version":3,"points":[]})", "3"},
      {R"({"points":{}})", "points"},
      {"[]", ""},
      {"[7]", "points[0] JSON"},
      {R"([{"algorithm":"a","N":64,"heads":1,"d":"wide"}])", "points[0] column d wide"},
      {R"([{"algorithm":"a","N":[64],"heads":1,"d":64}])", "points[0] column N"},
      {R"([{"algorithm":"a","N":64,"heads":1,"d":64,"samples_ns":["x"]}])", "column samples_ns"},
      {R"([{"algorithm":"a","N":64,"heads":1,"d":64,"metrics":{"dram_read_bytes":{"value":1,"unit":"ns"}}}])",
       "column dram_read_bytes ns byte"},
      {R"([{"algorithm":"a","N":64,"heads":1,"d":64,"time_ns":1e999}])", "1e999"},
      {R"([{"algorithm":"a","N":64,"heads":1,"d":64,"d":128,"time_ns":1}])", "duplicate d"},
      {R"({"points":[{"algorithm":"a","N":64,"heads":1,"d":64,"time_ns":1}],"points":[]})", "points"},
      {R"([{"algorithm":"a","N":64,"heads":1,"d":64,"samples_ns":[1,null]}])", "samples_ns"},
      {R"([{"algorithm":"a","N":64,"heads":1,"d":64,"samples_ns":[1,0]}])", "points[0] column samples_ns 0"},
      {R"([{"algorithm":"a","N":64,"heads":1,"d":64,"metrics":{"x__y":{"value":1e308,"unit":"Tbyte"}}}])",
       "column x__y"},
      {R"([{"algorithm":"a","N":1e18,"heads":1,"d":64,"time_ns":1}])", "column N 1e+18"},
  };
  for (const auto& [text, words] : cases) EXPECT_THAT(import_error(text, ImportFormat::json), HasWords(words)) << text;
}

/// Exports of a stored file can be imported.
TEST(Import, ReadsItsOwnExports) {
  const TemporaryFolder folder;
  RunStore store = RunStore::open(folder / "a.attnscope", Mode::collect);
  const std::int64_t run = store.begin_run(full_header());
  store.add_point(run, 0, full_record());
  store.add_point(run, 1, simple_record(64));
  store.add_point(run, 2, simple_record(64));
  std::ostringstream csv;
  std::ostringstream json;
  export_csv(store, {}, csv);
  export_json(store, {}, json);
  for (const auto& [text, format] :
       {std::pair{csv.str(), ImportFormat::csv}, std::pair{json.str(), ImportFormat::json}}) {
    EXPECT_EQ(detect_import_format(text), format);
    const Import import = imported(text, format);
    EXPECT_TRUE(import.ignored.empty()) << import.ignored.front();
    ASSERT_EQ(import.devices.size(), 1U);
    const std::vector<PointRecord>& points = import.devices[0].points;
    ASSERT_EQ(points.size(), 3U);
    EXPECT_EQ(points[0].spec, full_record().spec);
    EXPECT_EQ(points[0].disposition, full_record().disposition);
    EXPECT_EQ(points[0].reason, full_record().reason);
    EXPECT_EQ(points[0].max_abs_error, full_record().max_abs_error);
    ASSERT_TRUE(points[0].clocks);
    EXPECT_EQ(points[0].clocks->sm_clock_hz, full_record().clocks->sm_clock_hz);
    ASSERT_EQ(points[0].kernels.size(), 4U);
    for (const KernelRecord& kernel : full_record().kernels) {
      for (const MetricValue& metric : kernel.metrics) {
        EXPECT_EQ(value_of(points[0], metric.name, kernel.kernel), metric.value) << metric.name;
      }
      EXPECT_EQ(value_of(points[0], metric_key::time_median_ns, kernel.kernel), summarize(kernel.samples_ns)->median);
    }
    EXPECT_EQ(value_of(points[2], metric_key::time_q1_ns), 64.5);
  }
}

/// Returns the points in the order of an import.
std::vector<std::vector<PointRecord>> points_by_run(const RunStore& store) {
  std::vector<std::vector<PointRecord>> points;
  for (const RunSummary& run : store.runs()) {
    points.emplace_back();
    for (const StoredPoint& point : store.points({{run.id}})) points.back().push_back(point.record);
  }
  return points;
}

struct Compared {
  int values = 0;
  int negative = 0;
};

/// Compares every metric of every kernel, stored and derived.
Compared compare(const PointRecord& got, const PointRecord& want) {
  Compared compared;
  for (const KernelRecord& kernel : want.kernels) {
    for (const Metric& metric : metrics_table()) {
      const auto wanted = evaluate(metric.key, want, kernel.kernel);
      if (!wanted) continue;
      const auto value = evaluate(metric.key, got, kernel.kernel);
      EXPECT_TRUE(value.has_value()) << metric.key << " of " << kernel.kernel;
      if (!value) continue;
      EXPECT_DOUBLE_EQ(value->value, wanted->value) << metric.key << " of " << kernel.kernel;
      ++compared.values;
      if (wanted->value < 0) ++compared.negative;
    }
  }
  return compared;
}

TEST(Import, SampleRoundTripInEveryFormat) {
  const RunStore store = RunStore::open(ATTNSCOPE_SAMPLE, Mode::read_only);
  const auto stored = points_by_run(store);
  std::ostringstream csv;
  std::ostringstream rows;
  std::ostringstream json;
  export_csv(store, {}, csv);
  export_long_csv(store, {}, rows);
  export_json(store, {}, json);
  for (const auto& [text, format] : {std::pair{csv.str(), ImportFormat::csv}, std::pair{rows.str(), ImportFormat::csv},
                                     std::pair{json.str(), ImportFormat::json}}) {
    const Import import = imported(text, format);
    EXPECT_EQ(import.empty_rows, 0U);
    ASSERT_EQ(import.devices.size(), stored.size());
    Compared all;
    for (std::size_t run = 0; run < stored.size(); ++run) {
      const ImportedDevice& device = import.devices[run];
      const std::vector<PointRecord>& want = stored[run];
      ASSERT_EQ(device.points.size(), want.size());
      for (std::size_t i = 0; i < want.size(); ++i) {
        ASSERT_EQ(device.points[i].spec, want[i].spec);
        EXPECT_EQ(device.points[i].disposition, want[i].disposition);
        const Compared compared = compare(device.points[i], want[i]);
        all.values += compared.values;
        all.negative += compared.negative;
      }
    }
    EXPECT_GT(all.values, 20'000);
    EXPECT_EQ(all.negative, 4) << "write-backs, each a difference of two counts";
  }
}

constexpr std::string_view ncu_header =
    R"csv("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size",)csv"
    R"csv("Device","CC","dram__bytes_read.sum","dram__bytes_write.sum","gpu__time_duration.sum",)csv"
    R"csv("l1tex__m_xbar2l1tex_read_bytes.sum","launch__registers_per_thread",)csv"
    R"csv("launch__shared_mem_per_block_dynamic","launch__shared_mem_per_block_static",)csv"
    R"csv("sm__warps_active.avg.pct_of_peak_sustained_active","lts__t_bytes.sum","launch__func_cache_config")csv"
    "\n";
constexpr std::string_view ncu_units =
    R"csv("","","","","","","","","","","","Mbyte","Kbyte","usecond","byte","register/thread","Kbyte/block",)csv"
    R"csv("byte/block","%","Gbyte","")csv"
    "\n";
constexpr std::string_view ncu_rows =
    R"csv("0","7","python","host","void at::native::softmax_kernel<float, 4>(T1 *)","1","7","(128, 1, 1)",)csv"
    R"csv("(64, 1, 1)","0","9.0","1,234.5","2,000","10.5","1,048,576","40","32.77","16","50","1","None")csv"
    "\n"
    R"csv("1","7","python","host","flash_fwd","1","7","(128, 1, 1)","(64, 1, 1)","0","9.0","65.5","n/a","31.5",)csv"
    R"csv("1,024","168","0","0","10","2","None")csv"
    "\n"
    R"csv("2","7","python","host","flash_fwd","1","7","(128, 1, 1)","(64, 1, 1)","0","9.0","1","1","1","1",)csv"
    R"csv("168","0","0","10","2","None")csv"
    "\n";

PointSpec flash_spec() {
  return {.algorithm = "torch-flash",
          .problem = {.heads_q = 16, .heads_kv = 16, .n_q = 4096, .n_k = 4096, .d = 128},
          .tile = {.br = 0, .bc = 0},
          .cache = CacheState::cold};
}

std::vector<GivenField> flash_fields(const std::string& n = "4096") {
  return {{"algorithm", "torch-flash"}, {"N", n}, {"heads", "16"}, {"d", "128"}, {"cache", "cold"}};
}

TEST(ImportNcu, ReadsRawTableWithUnits) {
  const std::string text = "==PROF== Connected to process 7\nhello, world\n" + std::string(ncu_header) +
                           std::string(ncu_units) + std::string(ncu_rows);
  EXPECT_EQ(detect_import_format(text), ImportFormat::ncu);
  const Import import = imported(text, ImportFormat::ncu, {.device_name = "H200", .given = flash_fields()});
  ASSERT_EQ(import.devices.size(), 1U);
  EXPECT_EQ(import.devices[0].info.limits.sm_count, 132);
  ASSERT_EQ(import.devices[0].points.size(), 1U) << "launches of one sequence are one point's kernels";
  const PointRecord& point = import.devices[0].points[0];
  EXPECT_EQ(point.spec, flash_spec());
  std::vector<std::string> names;
  for (const KernelRecord& kernel : point.kernels) names.push_back(kernel.kernel);
  EXPECT_THAT(names, ElementsAre("all", "softmax_kernel", "flash_fwd", "flash_fwd 2"));
  EXPECT_DOUBLE_EQ(value_of(point, metric_key::dram_read_bytes, "softmax_kernel"), 1234.5e6);
  EXPECT_DOUBLE_EQ(value_of(point, metric_key::dram_write_bytes, "softmax_kernel"), 2000e3);
  EXPECT_DOUBLE_EQ(value_of(point, metric_key::time_median_ns, "softmax_kernel"), 10500);
  EXPECT_DOUBLE_EQ(value_of(point, metric_key::l2_to_sm_bytes, "softmax_kernel"), 1048576);
  EXPECT_DOUBLE_EQ(value_of(point, metric_key::registers, "flash_fwd"), 168);
  EXPECT_DOUBLE_EQ(value_of(point, metric_key::shared_bytes, "softmax_kernel"), 32770 + 16);
  EXPECT_DOUBLE_EQ(value_of(point, "lts__t_bytes.sum", "flash_fwd"), 2e9);
  EXPECT_DOUBLE_EQ(value_of(point, metric_key::time_median_ns), 43000);
  EXPECT_DOUBLE_EQ(value_of(point, metric_key::dram_read_bytes), 1301e6);
  EXPECT_DOUBLE_EQ(value_of(point, metric_key::achieved_occupancy_pct), (10.5 * 50 + 31.5 * 10 + 10) / 43);
  EXPECT_FALSE(evaluate(metric_key::dram_write_bytes, point)) << "one of its parts is not known";
}

/// Returns "becomes [unit]" for a column, or why it is skipped.
std::string import_outcome(const Import& import, std::string_view name) {
  const auto column = std::ranges::find(import.columns, name, &ImportedColumn::name);
  if (column == import.columns.end()) return "no such column";
  if (!column->left_out.empty()) return text(column->left_out);
  return fmt::format("{} [{}]", column->becomes, column->kept_in);
}

bool is_skipped(const Import& import, std::string_view name) {
  return std::ranges::any_of(
      import.columns, [&](const ImportedColumn& column) { return column.name == name && !column.left_out.empty(); });
}

TEST(ImportColumns, DescribeCsvColumns) {
  const Import import = imported(
      "algorithm,N,heads,d,note,time_ns,tflops,dram__bytes_read.sum,lts__x.sum,dram_write_bytes\n"
      "fa2,64,1,64,hm,1000,1.0486,2048,5,\n");
  std::vector<std::string> names;
  for (const ImportedColumn& column : import.columns) names.push_back(column.name);
  EXPECT_THAT(names, ElementsAre("algorithm", "N", "heads", "d", "note", "time_ns", "tflops", "dram__bytes_read.sum",
                                 "lts__x.sum", "dram_write_bytes"));
  EXPECT_EQ(import_outcome(import, "algorithm"), "algorithm []");
  EXPECT_EQ(import_outcome(import, "N"), "n_q, n_k []");
  EXPECT_TRUE(is_skipped(import, "note"));
  EXPECT_EQ(import_outcome(import, "time_ns"), "time_median_ns [ns]");
  EXPECT_TRUE(is_skipped(import, "tflops"));
  EXPECT_EQ(import_outcome(import, "dram__bytes_read.sum"), "dram_read_bytes [byte]");
  EXPECT_EQ(import_outcome(import, "lts__x.sum"), "lts__x.sum [1]");
  EXPECT_TRUE(is_skipped(import, "dram_write_bytes"));
  EXPECT_EQ(import.columns[7].example, "2048");
}

TEST(ImportColumns, SkipWideColumnIfBothFieldsExist) {
  const Import both = imported("algorithm,N,n_q,n_k,heads,d,time_ns\nfa2,512,1,64,1,64,1000\n");
  EXPECT_EQ(both.devices[0].points[0].spec.problem.n_k, 64);
  EXPECT_TRUE(is_skipped(both, "N"));
  EXPECT_THAT(import_outcome(both, "N"), HasWords("n_q n_k"));
  EXPECT_EQ(import_outcome(both, "heads"), "heads_q, heads_kv []");
  EXPECT_THAT(both.ignored, ElementsAre("N"));
  const Import one = imported("algorithm,N,n_q,heads,d,time_ns\nfa2,512,1,1,64,1000\n");
  EXPECT_EQ(one.devices[0].points[0].spec.problem.n_k, 512);
  EXPECT_EQ(import_outcome(one, "N"), "n_q, n_k []");
  EXPECT_THAT(one.ignored, ElementsAre());
}

TEST(ImportCsv, TimeWithQuartilesIsAMedian) {
  const Import import = imported("algorithm,N,heads,d,time_ms,time_q1_ms,time_q3_ms\nx,1024,16,64,1.6,1.5,1.7\n");
  const PointRecord& point = import.devices.at(0).points.at(0);
  EXPECT_EQ(value_of(point, metric_key::time_median_ns), 1.6e6);
  EXPECT_EQ(value_of(point, metric_key::time_q1_ns), 1.5e6);
  EXPECT_EQ(value_of(point, metric_key::time_q3_ns), 1.7e6);
  EXPECT_THAT(import_error("algorithm,N,heads,d,time_ms,time_median_us\nx,1024,16,64,1.5,99\n"),
              HasWords("column time_median_us 99 1.50 ms"));
}

TEST(ImportCsv, ReadsCountersWithUnits) {
  const Import import =
      imported("algorithm,N,heads,d,gpu__time_duration.sum_us,dram__bytes_read.sum [Mbyte]\nx,1024,16,64,3,1.5\n");
  const PointRecord& point = import.devices.at(0).points.at(0);
  EXPECT_EQ(value_of(point, metric_key::time_median_ns), 3000);
  EXPECT_EQ(value_of(point, metric_key::dram_read_bytes), 1.5e6);
  const Import base = imported("algorithm,N,heads,d,gpu__time_duration.sum\nx,1024,16,64,1600\n");
  EXPECT_EQ(value_of(base.devices.at(0).points.at(0), metric_key::time_median_ns), 1600);
}

TEST(ImportCsv, DetectsSeparatorAndUnits) {
  const std::string head = "algorithm,N,heads,d,";
  const auto times = [](std::string text, char separator) {
    std::ranges::replace(text, ',', separator);
    std::vector<double> all;
    const Import import = imported(text);
    for (const PointRecord& point : import.devices.at(0).points) {
      all.push_back(value_of(point, metric_key::time_median_ns));
    }
    return all;
  };
  EXPECT_THAT(times(head + "time_ns\na,64,1,64,1.5\na,128,1,64,2e3\n", ';'), ElementsAre(1.5, 2000));
  EXPECT_THAT(times(head + "time_ms\na,64,1,64,1.5\n", ';'), ElementsAre(1.5e6));
  EXPECT_THAT(times(head + "time [ms]\na,64,1,64,0.25\n", '\t'), ElementsAre(0.25e6));
  for (const char* name : {"time_us", "duration_us", "latency (us)", "time_median_us", "time [µs]", "samples_us"}) {
    EXPECT_THAT(times(head + name + "\na,64,1,64,2\n", ','), ElementsAre(2000)) << name;
  }
  EXPECT_THAT(times(head + "samples_us\na,64,1,64,1.5 2.5 9\n", ';'), ElementsAre(2500)) << "the median";
  const Import import = imported(head + "time_ms,time_us,time_ns [ms],dram_read_bytes [Mbyte]\na,64,1,64,3,4,5,6\n");
  EXPECT_EQ(value_of(import.devices[0].points[0], metric_key::time_median_ns), 3e6);
  EXPECT_EQ(value_of(import.devices[0].points[0], metric_key::dram_read_bytes), 6e6);
  EXPECT_EQ(import_outcome(import, "time_ms"), "time_median_ns [ns]");
  EXPECT_EQ(import.columns[4].unit, "ms");
  EXPECT_EQ(import_outcome(import, "dram_read_bytes [Mbyte]"), "dram_read_bytes [byte]");
  EXPECT_THAT(import.ignored, ElementsAre("time_ns [ms]", "time_us")) << "ambiguous columns";
  // Long table with semicolons.
  const Import table = imported("algorithm;N;heads;d;metric;value;unit\na;64;1;64;time_ns;1.5;ms\n");
  EXPECT_EQ(value_of(table.devices[0].points[0], metric_key::time_median_ns), 1.5e6);
}

TEST(Import, CancellingLeavesNothing) {
  const std::string text = "algorithm,N,heads,d,time_ns\na,64,1,64,1\na,128,1,64,2\na,256,1,64,3\n";
  struct Stop {};
  int calls = 0;
  const auto stop_at = [&](int last) {
    calls = 0;
    return [&calls, last] {
      if (++calls == last) throw Stop();
    };
  };
  EXPECT_THROW((void)import_points(text, ImportFormat::csv, {.cancellation_check = stop_at(2)}), Stop);
  const Import import = imported(text);
  CompleteRun run;
  run.header.device = import.devices[0].info;
  run.header.plan_hash = "imported";
  run.points = import.devices[0].points;
  const std::vector<CompleteRun> runs{run};
  const TemporaryFolder folder;
  const auto file = folder / "into.attnscope";
  EXPECT_THROW(RunStore::create(file, [&](RunStore& store) { store.add_complete_runs(runs, stop_at(3)); }), Stop);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  RunStore::create(file, [&](RunStore& store) { store.add_complete_runs(runs, stop_at(4)); });
  EXPECT_THROW(RunStore::open(file, Mode::collect).add_complete_runs(runs, stop_at(3)), Stop);
  EXPECT_EQ(RunStore::open(file, Mode::read_only).runs().size(), 1U);
  EXPECT_EQ(RunStore::open(file, Mode::read_only).points().size(), 3U);
}

TEST(ImportColumns, DescribeLongTablesAndJson) {
  const Import table = imported("algorithm,N,heads,d,metric,value,unit\nfa2,64,1,64,dram_read_bytes,2,Mbyte\n");
  EXPECT_EQ(import_outcome(table, "metric"), "metric []");
  EXPECT_EQ(import_outcome(table, "dram_read_bytes"), "dram_read_bytes [byte]");
  EXPECT_EQ(table.columns.back().unit, "Mbyte");
  EXPECT_EQ(table.columns.back().example, "2");
  const Import json = imported(
      R"([{"algorithm":"fa2","N":64,"heads":1,"d":64,"extra":1,"metrics":{"dram_read_bytes":{"value":2,"unit":"Mbyte"}}}])",
      ImportFormat::json);
  EXPECT_TRUE(is_skipped(json, "extra"));
  EXPECT_EQ(import_outcome(json, "dram_read_bytes"), "dram_read_bytes [byte]");
}

TEST(ImportColumns, DescribeNcuColumnsWithoutProblem) {
  const std::string text = std::string(ncu_header) + std::string(ncu_units) + std::string(ncu_rows);
  const Import import = imported(text, ImportFormat::ncu, {.columns_only = true});
  EXPECT_EQ(import_outcome(import, "Kernel Name"), "kernel []");
  EXPECT_TRUE(is_skipped(import, "ID"));
  EXPECT_EQ(import_outcome(import, "gpu__time_duration.sum"), "time_median_ns [ns]");
  EXPECT_EQ(import_outcome(import, "dram__bytes_read.sum"), "dram_read_bytes [byte]");
  EXPECT_EQ(import_outcome(import, "lts__t_bytes.sum"), "lts__t_bytes.sum [byte]");
  const auto read = std::ranges::find(import.columns, "dram__bytes_read.sum", &ImportedColumn::name);
  EXPECT_EQ(read->unit, "Mbyte");
  EXPECT_EQ(read->example, "1,234.5");
}

TEST(ImportNcu, UnnamedDeviceGetsItsComputeCapability) {
  const std::string text = std::string(ncu_header) + std::string(ncu_units) + std::string(ncu_rows);
  const Import import = imported(text, ImportFormat::ncu, {.given = flash_fields()});
  EXPECT_THAT(import.devices.at(0).info.limits.name, HasWords("GPU 9.0"));
}

TEST(ImportNcu, ErrorsNameLineAndColumn) {
  const ImportRequest request{.given = flash_fields()};
  const std::string header(ncu_header);
  std::string wrong_unit(ncu_units);
  wrong_unit.replace(wrong_unit.find("Mbyte"), 5, "inst");
  const std::pair<std::string, std::string> cases[] = {
      {"==ERROR== no kernels\n", "line ID"},
      {"\"ID\",\"Kernel Name\",\"Metric Name\"\n", "line 1 column Metric Value"},
      {"x\n\"ID\",\"Device\"\n", "line 2 column Kernel Name"},
      {header, "line 1"},
      {header + std::string(ncu_units), "line 2"},
      {header + std::string(ncu_rows), "line 2"},
      {header + wrong_unit + std::string(ncu_rows), "line 2 column dram__bytes_read.sum inst"},
      {header + std::string(ncu_units) + "\"0\",\"7\"\n", "line 3 2"},
  };
  for (const auto& [text, words] : cases)
    EXPECT_THAT(import_error(text, ImportFormat::ncu, request), HasWords(words)) << text;
  EXPECT_THAT(import_error(header + std::string(ncu_units) + std::string(ncu_rows), ImportFormat::ncu),
              HasWords("--algorithm"));
}

/// Returns an ncu raw table with these kernel names and times in ns.
std::string raw_table(const std::vector<std::pair<std::string, std::string>>& launches) {
  std::string text =
      "\"ID\",\"Kernel Name\",\"Grid Size\",\"gpu__time_duration.sum\",\"dram__bytes_read.sum\"\n"
      "\"\",\"\",\"\",\"ns\",\"byte\"\n";
  int id = 0;
  for (const auto& [kernel, time] : launches) {
    text += fmt::format("\"{}\",\"{}\",\"(1, 1, 1)\",\"{}\",\"100\"\n", id++, kernel, time);
  }
  return text;
}

/// Imports launches of a problem that fits in their few nanoseconds.
Import ncu(const std::string& text, const NcuSelection& selection = {}) {
  return imported(text, ImportFormat::ncu, {.device_name = "GPU X", .ncu = selection, .given = flash_fields("16")});
}

TEST(ImportNcu, ShortensKernelNames) {
  const std::pair<const char*, const char*> cases[] = {
      {"flash_fwd", "flash_fwd"},
      {"void at::native::<unnamed>::softmax_warp_forward<float, 4, (bool)1>(T1 *, const T2 *)", "softmax_warp_forward"},
      {"void at::<unnamed>::fill(int)", "fill"},
      {"at::<unnamed>::copy", "copy"},
      {"void at::native::(anonymous namespace)::reduce<at::F<int, (anonymous namespace)::G>>(T)", "reduce"},
      {"void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 64>, false>(Params)", "flash_fwd_kernel"},
      {"void cutlass::Kernel2<cutlass_80_tensorop_s16816gemm>(T1::Params)", "Kernel2"},
      {"ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_nn",
       "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_nn"},
      {"<unnamed>", "<unnamed>"},
      {"f(", "f"},
  };
  for (const auto& [full, name] : cases) {
    const Import import = ncu(raw_table({{full, "5"}}));
    ASSERT_EQ(import.devices.size(), 1U) << full;
    EXPECT_EQ(import.devices[0].points.at(0).kernels.at(1).kernel, name);
  }
  const Import longest = ncu(raw_table({{std::string(5000, 'x') + "<int>(T1)", "5"}}));
  EXPECT_EQ(longest.devices[0].points.at(0).kernels.at(1).kernel, std::string(200, 'x'));
  const Import split = ncu(raw_table({{std::string(199, 'x') + "\xc3\xa4y", "5"}}));
  EXPECT_EQ(split.devices[0].points.at(0).kernels.at(1).kernel, std::string(199, 'x')) << "no half of a letter";
}

TEST(ImportNcu, RepeatedSequencesBecomeSamples) {
  const Import three = ncu(raw_table({{"fwd", "10"}, {"fwd", "12"}, {"fwd", "14"}}), {.repeats = 3});
  const PointRecord& point = three.devices[0].points.at(0);
  EXPECT_THAT(point.kernel("all")->samples_ns, ElementsAre(10, 12, 14));
  EXPECT_DOUBLE_EQ(value_of(point, metric_key::time_median_ns), 12);
  EXPECT_DOUBLE_EQ(value_of(point, metric_key::dram_read_bytes), 100);
  ASSERT_EQ(three.notes.size(), 1U);
  EXPECT_THAT(text(three.notes[0]), HasWords("3"));

  const Import eager =
      ncu(raw_table({{"gemm", "1"}, {"softmax", "2"}, {"gemm", "3"}, {"gemm", "4"}, {"softmax", "5"}, {"gemm", "6"}}),
          {.repeats = 2});
  const PointRecord& both = eager.devices[0].points.at(0);
  EXPECT_THAT(both.kernel("all")->samples_ns, ElementsAre(6, 15));
  EXPECT_DOUBLE_EQ(value_of(both, metric_key::dram_read_bytes), 300);
  EXPECT_THAT(both.kernel("gemm 2")->samples_ns, ElementsAre(3, 6));
  ASSERT_EQ(eager.notes.size(), 2U);
  EXPECT_THAT(text(eager.notes[0]), HasWords("6 2 3"));
  EXPECT_THAT(text(eager.notes[1]), HasWords("gemm 2"));

  const Import ragged = ncu(raw_table({{"gemm", "1"}, {"softmax", "2"}, {"gemm", "3"}}));
  EXPECT_THAT(ragged.devices[0].points.at(0).kernel("all")->samples_ns, ElementsAre(6))
      << "it ends in the midst of one";
  const Import broken = ncu(raw_table({{"warm", "1"}, {"fwd", "2"}, {"fwd", "3"}}));
  EXPECT_THAT(broken.devices[0].points.at(0).kernel("all")->samples_ns, ElementsAre(6));
  EXPECT_THAT(text(broken.notes.at(0)), HasWords("3 --kernel-name --launches"));
}

TEST(Import, ConvertsUnitsToBaseUnits) {
  const std::tuple<const char*, const char*, double> units[] = {
      {"Kbyte", "byte", 1e3},     {"usecond", "ns", 1e3},       {"Mhz", "hertz", 1e6},
      {"byte/block", "byte", 1},  {"Gbyte/s", "byte/s", 1e9},   {"%", "percent", 1},
      {"byte/us", "byte/s", 1e6}, {"Kbyte/ns", "byte/s", 1e12}, {"inst/cycle", "inst/cycle", 1}};
  for (const auto& [unit, base, scale] : units) {
    EXPECT_EQ(exchange::base_unit(unit).first, base) << unit;
    EXPECT_DOUBLE_EQ(exchange::base_unit(unit).second, scale) << unit;
  }
}

TEST(ImportNcu, SelectsLaunchesByKernelIdAndRepeats) {
  const std::string text = raw_table({{"warm", "1"}, {"fwd<1>", "2"}, {"fwd<2>", "3"}, {"fwd<2>", "4"}, {"tail", "5"}});
  EXPECT_THAT(ncu(text, {.kernel = "<2>", .repeats = 2}).devices[0].points[0].kernel("all")->samples_ns,
              ElementsAre(3, 4));
  EXPECT_THAT(ncu(text, {.first_launch = 4}).devices[0].points[0].kernel("all")->samples_ns, ElementsAre(5));
  EXPECT_THAT(ncu(text, {.kernel = "fwd", .last_launch = 2}).devices[0].points[0].kernel("all")->samples_ns,
              ElementsAre(5));
  EXPECT_THAT(ncu(text, {.kernel = "<2>", .repeats = 1}).devices[0].points[0].kernel("all")->samples_ns,
              ElementsAre(7));
  const auto error = [&](const NcuSelection& selection) {
    return import_error(text, ImportFormat::ncu, {.ncu = selection, .given = flash_fields()});
  };
  EXPECT_THAT(error({.kernel = "bwd"}), HasWords("5 --kernel-name --launches"));
  EXPECT_THAT(error({.repeats = 2}), HasWords("5 2"));
  EXPECT_THAT(error({.kernel = "<2>", .repeats = 3}), HasWords("2 3"));
}

TEST(ImportNcu, RejectsSeveralDevicesOrProcesses) {
  const std::string head =
      "\"ID\",\"Process ID\",\"Process Name\",\"Kernel Name\",\"Device\",\"CC\",\"gpu__time_duration.sum\"\n"
      "\"\",\"\",\"\",\"\",\"\",\"\",\"ns\"\n";
  const auto error = [](const std::string& text) {
    return import_error(text, ImportFormat::ncu, {.given = flash_fields()});
  };
  const std::string devices = head +
                              "\"0\",\"7\",\"python\",\"fwd\",\"0\",\"9.0\",\"10\"\n"
                              "\"1\",\"7\",\"python\",\"fwd\",\"1\",\"8.0\",\"30\"\n";
  EXPECT_THAT(error(devices), HasWords("'Device' 0 1"));

  const std::string processes = head +
                                "\"0\",\"7\",\"python\",\"fwd\",\"0\",\"9.0\",\"10\"\n"
                                "\"1\",\"9\",\"other\",\"fwd\",\"0\",\"9.0\",\"30\"\n";
  EXPECT_THAT(error(processes), HasWords("'Process ID' 7 9"));
  EXPECT_THAT(error(head + "\"0\",\"7\",\"python\",\"fwd\",\"0\",\"9.0\",\"0\"\n"),
              HasWords("line 3 gpu__time_duration.sum 0"));
}

TEST(ImportNcu, ReadsDetailsPage) {
  const std::string text =
      "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"CC\",\"Section Name\",\"Metric Name\","
      "\"Metric Unit\",\"Metric Value\",\"Rule Name\"\n"
      "\"0\",\"7\",\"fwd\",\"(1,1,1)\",\"(2,1,1)\",\"9.0\",\"Speed Of Light\",\"Duration\",\"us\",\"1,500.5\",\"\"\n"
      "\"0\",\"7\",\"fwd\",\"(1,1,1)\",\"(2,1,1)\",\"9.0\",\"Speed Of Light\",\"\",\"\",\"\",\"Bottleneck\"\n"
      "\"0\",\"7\",\"fwd\",\"(1,1,1)\",\"(2,1,1)\",\"9.0\",\"Command "
      "line\",\"dram__bytes_read.sum\",\"Mbyte\",\"2\",\"\"\n"
      "\"0\",\"7\",\"fwd\",\"(1,1,1)\",\"(2,1,1)\",\"9.0\",\"Occupancy\",\"Achieved Occupancy\",\"%\",\"49.5\",\"\"\n"
      "\"1\",\"7\",\"fwd\",\"(1,1,1)\",\"(2,1,1)\",\"9.0\",\"Speed Of Light\",\"Duration\",\"ms\",\"2\",\"\"\n"
      "\"1\",\"7\",\"fwd\",\"(1,1,1)\",\"(2,1,1)\",\"9.0\",\"Command "
      "line\",\"dram__bytes_read.sum\",\"Kbyte\",\"4,000\",\"\"\n";
  EXPECT_EQ(detect_import_format(text), ImportFormat::ncu);
  const Import import = ncu(text, {.repeats = 2});
  const PointRecord& point = import.devices[0].points.at(0);
  EXPECT_THAT(point.kernel("all")->samples_ns, ElementsAre(1.5005e6, 2e6));
  EXPECT_DOUBLE_EQ(value_of(point, metric_key::dram_read_bytes), 3e6);
  EXPECT_FALSE(point.kernel("all")->metric(metric_key::achieved_occupancy_pct)) << "of one of the two only";
}

TEST(ImportNcu, ParsesNumbers) {
  const auto error = [](const std::string& time) {
    return import_error(raw_table({{"fwd", time}}), ImportFormat::ncu, {.given = flash_fields()});
  };
  for (const char* wrong : {"1.500,5", "1,50", "1500,000", ",500", "1,", "1.5.0", "1-2", "1,000,00"}) {
    EXPECT_THAT(error(wrong),
                AllOf(HasWords("line 3 column gpu__time_duration.sum"), HasSubstr("'" + std::string(wrong) + "'")));
  }
  EXPECT_THAT(error("-5"), HasWords("-5"));
  EXPECT_THAT(error("1e999"), HasSubstr("line 3"));
  for (const auto& [text, value] : {std::pair{"1,048,576.5", 1048576.5}, std::pair{"1500", 1500.0},
                                    std::pair{"0.5", 0.5}, std::pair{"1.5e3", 1500.0}}) {
    EXPECT_THAT(ncu(raw_table({{"fwd", text}})).devices[0].points.at(0).kernel("all")->samples_ns, ElementsAre(value));
  }
  const std::string occupancy =
      "\"ID\",\"Kernel "
      "Name\",\"sm__warps_active.avg.pct_of_peak_sustained_active\"\n\"\",\"\",\"%\"\n\"0\",\"f\",\"101\"\n";
  EXPECT_THAT(import_error(occupancy, ImportFormat::ncu, {.given = flash_fields()}), HasWords("101%"));
  for (const char* column : {"achieved_occupancy_pct", "theoretical_occupancy_pct"}) {
    EXPECT_THAT(import_error(fmt::format("algorithm,N,heads,d,{}\na,64,1,64,101\n", column)), HasWords("101%"));
  }
}

TEST(ImportNcu, RejectsASecondTable) {
  const std::string table = raw_table({{"fwd", "1"}});
  EXPECT_EQ(ncu(table + "==PROF== Disconnected\nbye, world\n").devices.size(), 1U);
  EXPECT_THAT(import_error(table + "hello\n\"1\",\"fwd\",\"(1, 1, 1)\",\"5\",\"6\"\n", ImportFormat::ncu,
                           {.given = flash_fields()}),
              HasWords("line 5"));
}

TEST(ImportCsv, LimitsTheHeader) {
  std::string header = "algorithm,N,heads,d,time_ns";
  for (int i = 0; i < 5000; ++i) header += fmt::format(",x{}", i);
  EXPECT_THAT(import_error(header + "\n"), HasWords("line 1 4096"));
  EXPECT_THAT(import_error(std::string(2000, 'x') + ",N\n"), HasWords("line 1 2000"));
  EXPECT_THAT(import_error("algorithm,N,heads,d,time_ns\na,64,1,64,\"" + std::string(2U << 20U, '5') + "\"\n"),
              HasWords("line 2 5"));
}

TEST(ImportCsv, RejectsHugeProblems) {
  EXPECT_THAT(import_error("algorithm,N,heads,d,batch,mask,time_ns\na,16,1,16,5e14,lengths:ramp,5\n"),
              HasWords("line 2 batch 500000000000000 1048576"));
  EXPECT_THAT(import_error("algorithm,N,heads,d,batch,mask,time_ns\na,16,1,16,1e6,lengths:ramp,5\n"),
              HasWords("line 2 2^16 1000000"));
}

TEST(ImportJson, FindsTheListOfPoints) {
  const std::string point = R"({"algorithm":"a","N":64,"heads":1,"d":64,"time_ns":5})";
  for (const std::string& text :
       {"[" + point + "," + point + "]", R"({"points":[)" + point + "," + point + "]}",
        R"({"devices":[{"name":"x","points":[1]}],"points":[)" + point + "," + point + "]}"}) {
    const Import import = imported(text, ImportFormat::json);
    ASSERT_EQ(import.devices.size(), 1U) << text;
    EXPECT_EQ(import.devices[0].points.size(), 2U) << text;
  }
  EXPECT_THAT(import_error("[" + point + ",[1]]", ImportFormat::json), HasWords("points[1]"));
  EXPECT_THAT(import_error("[" + point + ",7]", ImportFormat::json), HasWords("points[1]"));
  EXPECT_THAT(import_error(std::string(100'000, '['), ImportFormat::json), HasWords("32"));
  EXPECT_THAT(import_error("{\"points\":[", ImportFormat::json), HasWords("line 1"));
}

}  // namespace
}  // namespace attnscope::testing
