// SPDX-License-Identifier: Apache-2.0
// Export and import of long tables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <tuple>

#include "kernels/registry.h"
#include "profiler/measure/simulated_device.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"
#include "storage/exchange/export.h"
#include "tests/message_matchers.h"
#include "tests/storage/exchange/tables.h"
#include "tests/storage/samples.h"

namespace attnscope::testing {
namespace {

using test::HasWords;
using ::testing::ElementsAreArray;
using Mode = RunStore::Mode;
using Line = NamedFields;

class LongExport : public ::testing::Test {
 protected:
  LongExport()
      : store_(RunStore::open(folder_ / "a.attnscope", Mode::collect)), run_(store_.begin_run(full_header())) {}

  void add(const PointRecord& record) { store_.add_point(run_, next_++, record); }

  std::string text() {
    std::ostringstream out;
    export_long_csv(store_, {}, out);
    return out.str();
  }

  std::vector<Line> lines() { return named_rows(text()); }

  /// Returns the only line with this value.
  static Line line_of(const std::vector<Line>& lines, const std::string& kernel, const std::string& metric,
                      const std::string& plan_index = "0") {
    std::vector<Line> found;
    std::ranges::copy_if(lines, std::back_inserter(found), [&](const Line& line) {
      return line.at("kernel") == kernel && line.at("metric") == metric && line.at("plan_index") == plan_index;
    });
    EXPECT_EQ(found.size(), 1U) << metric << " of '" << kernel << "'";
    return found.empty() ? Line{} : found.front();
  }

  TemporaryFolder folder_;
  RunStore store_;
  std::int64_t run_ = 0;
  std::size_t next_ = 0;
};

TEST_F(LongExport, ColumnsAreFieldsAndKnobs) {
  add(simple_record(64));
  PointRecord other = simple_record(128);
  other.spec.algorithm = "other program";
  other.spec.knobs = {{"cluster", 2}};
  add(other);
  std::vector<std::string> names{"run_uid", "plan_index", "device"};
  for (const Field& field : point_fields()) names.emplace_back(field.name);
  for (const Knob& knob : built_in_algorithms().find("fa2")->facts().knobs) names.push_back(knob.name);
  for (const char* name : {"cluster", "disposition", "reason", "reason_code", "throttled", "kernel", "metric", "value",
                           "unit", "provenance", "q1", "q3", "samples", "round", "samples_ns"}) {
    names.emplace_back(name);
  }
  EXPECT_THAT(parse_csv(text())[0], ElementsAreArray(names));

  const auto rows = lines();
  const Line ours = line_of(rows, "", "registers", "0");
  EXPECT_EQ(ours.at("warps"), "0") << "its own choice";
  EXPECT_EQ(ours.at("cluster"), "") << "it has no such knob";
  const Line theirs = line_of(rows, "", "registers", "1");
  EXPECT_EQ(theirs.at("warps"), "") << "of an algorithm that nobody here knows";
  EXPECT_EQ(theirs.at("cluster"), "2");
}

TEST_F(LongExport, OneRowPerValue) {
  add(full_record());
  const auto rows = lines();
  for (const Line& line : rows) {
    EXPECT_EQ(line.at("run_uid"), store_.runs()[0].uid);
    EXPECT_EQ(line.at("device"), "NVIDIA H200");
    for (const Field& field : point_fields()) {
      const auto read = parse_field(field, line.at(std::string(field.name)));
      ASSERT_TRUE(read.ok());
      EXPECT_EQ(*read, field.get(full_record().spec)) << field.name;
    }
    for (const auto& [name, value] : full_record().spec.knobs) EXPECT_EQ(line.at(name), to_string(value));
    EXPECT_EQ(line.at("disposition"), "incorrect");
    EXPECT_EQ(line.at("reason"), english_text(full_record().reason));
    EXPECT_EQ(line.at("reason_code"), full_record().reason.id);
    EXPECT_EQ(line.at("throttled"), "true");
  }
  const auto expect = [&](const char* kernel, const char* metric, const char* value, const char* unit,
                          const char* provenance) {
    const Line line = line_of(rows, kernel, metric);
    EXPECT_EQ(std::tuple(line.at("value"), line.at("unit"), line.at("provenance")),
              (std::tuple<std::string, std::string, std::string>(value, unit, provenance)))
        << metric;
  };
  expect("", "dram_read_bytes", "1000000000.5", "byte", "measured");
  expect("qk", "dram_read_bytes", "2000000000.5", "byte", "measured");
  expect("qk", "model_l2_to_sm_bytes", "8000000000000000", "byte", "modeled");
  expect("softmax", "theoretical_occupancy_pct", "33.333333333333336", "percent", "derived");
  expect("qk", "lts__t_bytes.sum", "2", "byte", "simulated");
  expect("", "max_abs_error", "0.25", "1", "measured");
  expect("", "error_bound", "0.125", "1", "modeled");
  expect("", "rms_error", "0.0625", "1", "measured");
  expect("", "sm_clock_hz", "1980000000", "hertz", "measured");
  expect("", "temperature_c", "41.5", "celsius", "measured");
  expect("", "power_w", "699.25", "watt", "measured");
}

TEST_F(LongExport, TimesAndRatesHaveQuartiles) {
  PointRecord record = simple_record(64);
  record.kernels[0].samples_ns = {100, 200, 400};
  add(record);
  const auto rows = lines();
  const Line time = line_of(rows, "", "time_median_ns");
  EXPECT_EQ(std::tuple(time.at("value"), time.at("q1"), time.at("q3"), time.at("samples")),
            (std::tuple<std::string, std::string, std::string, std::string>("200", "150", "300", "3")));
  const Line rate = line_of(rows, "", "tflops");
  const double value = std::stod(rate.at("value"));
  EXPECT_DOUBLE_EQ(std::stod(rate.at("q1")), value * 200 / 300) << "the slowest quarter is the lowest";
  EXPECT_DOUBLE_EQ(std::stod(rate.at("q3")), value * 200 / 150);
  const Line bytes = line_of(rows, "", "l2_to_sm_bytes");
  EXPECT_EQ(bytes.at("value"), "8192");
  EXPECT_EQ(bytes.at("q1") + bytes.at("q3") + bytes.at("samples"), "");
}

TEST_F(LongExport, EveryMetricIsARow) {
  PointRecord record = simple_record(64);
  record.kernels[0].metrics.clear();
  double value = 1000;
  for (const Metric& metric : metrics_table()) {
    record.kernels[0].metrics.push_back(
        {std::string(metric.key), value += 0.5, std::string(metric.unit), Provenance::measured});
  }
  add(record);
  const auto rows = lines();
  EXPECT_EQ(rows.size(), metrics_table().size());
  for (std::size_t i = 0; i < metrics_table().size(); ++i) {
    EXPECT_EQ(rows[i].at("metric"), metrics_table()[i].key) << "in the table's order";
    EXPECT_EQ(std::stod(rows[i].at("value")), 1000.5 + 0.5 * static_cast<double>(i));
    EXPECT_EQ(rows[i].at("unit"), metrics_table()[i].unit);
  }
}

TEST_F(LongExport, MarksExtrapolatedValues) {
  PointSpec spec;
  spec.algorithm = "naive";
  spec.problem.n_q = spec.problem.n_k = 16384;
  spec.problem.heads_q = spec.problem.heads_kv = 3;
  spec.problem.d = 128;
  spec.tile = {.br = 128, .bc = 128};
  add(make_simulated_device(*find_gpu("H200"), built_in_algorithms())->measure(spec, {}, {}));
  const auto rows = lines();
  const auto origin = [&](const char* kernel, const char* metric) {
    return line_of(rows, kernel, metric).at("provenance");
  };
  EXPECT_EQ(origin("", "dram_read_bytes"), "extrapolated");
  EXPECT_EQ(origin("softmax", "dram_read_bytes"), "extrapolated");
  EXPECT_EQ(origin("qk", "dram_read_bytes"), "simulated");
  EXPECT_EQ(origin("", "time_median_ns"), "extrapolated");
  EXPECT_EQ(origin("", "l2_sm_bytes"), "simulated");
  EXPECT_EQ(origin("", "model_l2_sm_bytes"), "modeled");

  std::ostringstream wide;
  export_csv(store_, {}, wide);
  std::map<std::string, std::string> provenance_of;
  for (const Line& line : named_rows(wide.str())) provenance_of[line.at("kernel")] = line.at("provenance");
  EXPECT_EQ(provenance_of["all"], "extrapolated");
  EXPECT_EQ(provenance_of["qk"], "simulated");
  EXPECT_EQ(provenance_of["softmax"], "extrapolated");
}

TEST_F(LongExport, PointWithoutValuesHasOneRow) {
  PointRecord infeasible = simple_record(128);
  infeasible.disposition = Disposition::infeasible;
  infeasible.reason = Message::verbatim("needs 300000 B of shared memory, 232448 B are there");
  infeasible.kernels.clear();
  add(infeasible);
  const auto rows = lines();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].at("n_k"), "128");
  EXPECT_EQ(rows[0].at("disposition"), "infeasible");
  EXPECT_EQ(rows[0].at("reason"), english_text(infeasible.reason));
  for (const char* name : {"kernel", "metric", "value", "unit", "provenance", "q1", "q3", "samples"}) {
    EXPECT_EQ(rows[0].at(name), "") << name;
  }
}

TEST_F(LongExport, EscapesNames) {
  const std::string hostile = "  a,\"b\"\r\nc;'=1+1\t\xc3\xbc ";
  PointRecord record = simple_record(64);
  record.spec.algorithm = hostile;
  record.spec.knobs = {{hostile, hostile}};
  record.disposition = Disposition::crashed;
  record.reason = Message::verbatim(hostile);
  record.kernels.push_back({.kernel = hostile,
                            .metrics = {{hostile, 7, hostile, Provenance::measured}},
                            .samples_ns = {},
                            .occupancy_limiter = {}});
  RunHeader header = full_header();
  header.device.uuid = "GPU-2";
  header.device.limits.name = hostile;
  store_.add_point(store_.begin_run(header), 0, record);
  for (const Line& line : lines()) {
    EXPECT_EQ(line.at("algorithm"), hostile);
    EXPECT_EQ(line.at(hostile), hostile);
    EXPECT_EQ(line.at("reason"), hostile);
    EXPECT_EQ(line.at("device"), hostile);
  }
  const Line value = line_of(lines(), hostile, hostile);
  EXPECT_EQ(value.at("value"), "7");
  EXPECT_EQ(value.at("unit"), hostile);

  // The wide header contains names, too.
  std::ostringstream wide;
  export_csv(store_, {}, wide);
  const auto rows = parse_csv(wide.str());
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[1].size(), rows[0].size());
  EXPECT_NE(std::ranges::find(rows[0], hostile), rows[0].end());
  EXPECT_EQ(rows[1][0], hostile);
}

void expect_same(const PointRecord& point, const PointRecord& other) {
  EXPECT_EQ(point.spec, other.spec);
  EXPECT_EQ(point.disposition, other.disposition);
  EXPECT_EQ(point.reason, other.reason);
  EXPECT_EQ(point.max_abs_error, other.max_abs_error);
  EXPECT_EQ(point.error_bound, other.error_bound);
  EXPECT_EQ(point.rms_error, other.rms_error);
  ASSERT_EQ(point.kernels.size(), other.kernels.size());
  for (const KernelRecord& kernel : other.kernels) {
    const KernelRecord* same = point.kernel(kernel.kernel);
    ASSERT_NE(same, nullptr) << kernel.kernel;
    EXPECT_THAT(same->metrics, ::testing::UnorderedElementsAreArray(kernel.metrics)) << kernel.kernel;
  }
}

TEST_F(LongExport, RoundTripEqualsTheWideFormat) {
  PointRecord infeasible = simple_record(128);
  infeasible.disposition = Disposition::infeasible;
  infeasible.reason = Message::verbatim("too large, \"they\" say\nand mean it");
  infeasible.kernels.clear();
  for (const PointRecord& record : {full_record(), simple_record(64), simple_record(64), infeasible}) add(record);
  const std::string rows = text();
  EXPECT_EQ(detect_import_format(rows), ImportFormat::csv);
  std::ostringstream wide;
  export_csv(store_, {}, wide);
  const Import from_rows = imported(rows);
  const Import from_wide = imported(wide.str());
  EXPECT_TRUE(from_rows.ignored.empty());
  ASSERT_EQ(from_rows.devices.size(), 1U);
  EXPECT_EQ(from_rows.devices[0].info.limits.name, "NVIDIA H200");
  const std::vector<PointRecord>& points = from_rows.devices[0].points;
  ASSERT_EQ(points.size(), 4U);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i != 0) {
      expect_same(points[i], from_wide.devices[0].points[i]);
      continue;
    }
    // Units are kept, unlike in a wide table.
    EXPECT_EQ(points[0].spec, full_record().spec);
    for (const KernelRecord& kernel : full_record().kernels) {
      for (const MetricValue& metric : kernel.metrics) {
        const auto value = evaluate(metric.name, points[0], kernel.kernel);
        ASSERT_TRUE(value) << metric.name;
        EXPECT_EQ(value->value, metric.value);
        EXPECT_EQ(value->unit, metric.unit);
        EXPECT_EQ(value->provenance, Provenance::imported);
      }
      EXPECT_EQ(evaluate(metric_key::time_q3_ns, points[0], kernel.kernel)->value, summarize(kernel.samples_ns)->q3);
    }
  }
  ASSERT_TRUE(points[0].clocks);
  EXPECT_EQ(points[0].clocks->temperature_c, 41.5);
  EXPECT_TRUE(points[0].clocks->throttled);
}

TEST_F(LongExport, ReadsRowsInAnyOrder) {
  const Import import = imported(
      "algorithm,N,heads,d,metric,value,unit,kernel,q1,q3\n"
      "theirs,1024,8,64,dram_read_bytes,3,Mbyte,second,,\n"
      "theirs,2048,8,64,time_ns,900,,,,\n"
      "theirs,1024,8,64,dram_read_bytes,5e6,,first,,\n"
      "theirs,1024,8,64,time_median_ns,4,us,,3,5\n"
      "theirs,1024,8,64,rms_error,0.5,,,,\n"
      "theirs,1024,8,64,dram__bytes_write.sum,,byte,,,\n"
      "theirs,4096,8,64,time_ns,7,us,,,\n"
      "theirs,4096,8,64,sm_clock_hz,1.5,Ghz,,,\n");
  ASSERT_EQ(import.devices.size(), 1U);
  const std::vector<PointRecord>& points = import.devices[0].points;
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(evaluate(metric_key::time_median_ns, points[2])->value, 7000) << "a time has its row's unit, too";
  ASSERT_TRUE(points[2].clocks.has_value());
  EXPECT_EQ(points[2].clocks->sm_clock_hz, 1.5e9);
  EXPECT_EQ(points[0].spec.problem.n_q, 1024);
  EXPECT_EQ(points[0].rms_error, 0.5);
  EXPECT_EQ(evaluate(metric_key::time_median_ns, points[0])->value, 4000);
  EXPECT_EQ(evaluate(metric_key::time_q3_ns, points[0])->value, 5000) << "in the row's unit";
  EXPECT_EQ(evaluate(metric_key::dram_read_bytes, points[0], "second")->value, 3e6);
  EXPECT_EQ(evaluate(metric_key::dram_read_bytes, points[0], "first")->value, 5e6);
  EXPECT_EQ(evaluate(metric_key::time_median_ns, points[1])->value, 900);
}

TEST(ImportLong, ErrorsNameTheLine) {
  const std::string head = "algorithm,N,heads,d,metric,value,unit\n";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"algorithm,N,heads,d,metric\nx,64,1,64,registers\n", "line 1 column metric value"},
      {"algorithm,heads,d,metric,value\nx,1,64,registers,3\n", "line 1 N"},
      {head + "x,64,1,64,registers,many,\n", "line 2 column value many"},
      {head + "x,64,1,64,registers,-1,\n", "line 2 column value -1"},
      {head + "x,64,1,64,registers,1,\nx,64,1,64,time_ns,0,\n", "line 3 column value 0"},
      {head + "x,64,1,64,time_median_ns,0,\n", "line 2 column value 0"},
      {head + "x,64,1,64,,1,\n", "line 2 column metric"},
      {head + "x,64,1,64,registers,1,\nx,64,1,64,registers,1,\n", "line 3 registers"},
      {head + "x,64,1,64,registers,1,second\n", "line 2 column value second register"},
      {head + "x,64,1,64,time_ns,1,furlong\n", "line 2 column value furlong ns"},
      {head + "x,64,1,64,time_ns,1,\nx,64,1,64,sm_clock_hz,1,watt\n", "line 3 column value watt hertz"},
      {head + "x,64,1,64,\"a\nb\",1,\n", "line 2 column metric"},
      {head + "x,64,1,64,registers,,\n", ""},
  };
  for (const auto& [text, words] : cases) EXPECT_THAT(import_error(text), HasWords(words)) << text;
}

}  // namespace
}  // namespace attnscope::testing
