// SPDX-License-Identifier: Apache-2.0
#include "profiler/points/point_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/metrics/metrics.h"
#include "profiler/points/query_fields.h"
#include "tests/message_matchers.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

using fixtures::Points;
using fixtures::spec;
using test::HasWords;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

PointRecord with_mask(PointRecord record, const char* mask) {
  record.spec.problem.mask = *parse_mask(mask);
  return record;
}

/// Points that cover all kinds of query fields, by row.
std::vector<PointRecord> records() {
  std::vector<PointRecord> all{
      fixtures::ok_point(spec("naive", 512, 64, 64, 64)),                                         // 0
      fixtures::ok_point(spec("fa1", 1024, 64, 128, 64)),                                         // 1
      fixtures::ok_point(spec("fa2", 4096, 128, 64, 128)),                                        // 2
      with_mask(fixtures::ok_point(spec("fa2", 8192, 128, 32)), "causal"),                        // 3
      with_mask(fixtures::ok_point(spec("fa2", 16384)), "window:256:0"),                          // 4
      fixtures::failed_point(spec("naive", 65536), Disposition::out_of_memory, "needs 132 GiB"),  // 5
  };
  all[2].spec.problem.dropout = 0.1;
  all[3].spec.problem.pass = Pass::bwd;
  all[3].spec.problem.deterministic = true;
  all[4].spec.knobs = {{"stages", 3}, {"raster", "heads_fastest"}};
  all[4].spec.problem.heads_q = 64;
  all[1].clocks = ClockReading{};
  all[1].clocks->throttled = true;
  return all;
}

class PointQueryTest : public testing::Test {
 protected:
  std::vector<Row> rows(std::string_view text) {
    const auto query = PointQuery::parse(text, table);
    EXPECT_TRUE(query) << text << ": " << (query ? "" : attnscope::text(query.error()));
    return query ? query->rows(table) : std::vector<Row>();
  }
  std::string error(std::string_view text) {
    const auto query = PointQuery::parse(text, table);
    EXPECT_FALSE(query) << text;
    return query ? std::string() : attnscope::text(query.error());
  }
  std::vector<std::string> completed(std::string_view text) { return complete(text, text.size(), table).texts; }

  Points points{records()};
  PointTable table = points.table();
};

TEST(PointQueryOnASubset, DeviceTitlesAreUnchanged) {
  std::vector<analysis::Run> runs(2);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].device_name = "NVIDIA H200";
    runs[i].device_id = i == 0 ? "GPU-aaaaaaaa-1" : "GPU-bbbbbbbb-2";
  }
  name_devices(runs);
  const auto table_of = [](const analysis::Run& run) {
    PointTableBuilder builder;
    builder.add(builder.add_run(run), fixtures::ok_point(spec("fa2", 1024)));
    return std::move(builder).finish();
  };
  const PointTable first = table_of(runs[0]);
  const PointTable second = table_of(runs[1]);
  EXPECT_EQ(device_title(first, 0), "H200 (aaaaaaaa)");
  const auto query = PointQuery::parse("device:\"H200 (aaaaaaaa)\"", second);
  ASSERT_TRUE(query);
  EXPECT_THAT(query->rows(first), ElementsAre(0));
  EXPECT_THAT(query->rows(second), IsEmpty());
  analysis::Run alone;
  alone.device_name = "NVIDIA H200";
  EXPECT_EQ(device_title(table_of(alone), 0), "H200");
}

TEST_F(PointQueryTest, EmptyQueryMatchesAll) {
  EXPECT_TRUE(PointQuery::parse("", table)->empty());
  EXPECT_TRUE(PointQuery::parse(" \t ", table)->empty());
  EXPECT_THAT(rows("  "), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_F(PointQueryTest, ValuesAreAlternatives) {
  EXPECT_THAT(rows("algorithm:fa2"), ElementsAre(2, 3, 4));
  EXPECT_THAT(rows("algo:fa1,naive"), ElementsAre(0, 1, 5));
  EXPECT_THAT(rows("algo=FA2"), ElementsAre(2, 3, 4)) << "case-insensitive";
  EXPECT_THAT(rows("algo:fa"), IsEmpty()) << "values match whole parts";
  EXPECT_THAT(rows("d:64"), ElementsAre(0, 1));
  EXPECT_THAT(rows("N=4K"), ElementsAre(2));
  EXPECT_THAT(rows("d=64,128"), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(rows("br:64 bc:128"), ElementsAre(1));
  EXPECT_THAT(rows("tile:128x32"), ElementsAre(3));
  EXPECT_THAT(rows("dropout:0.1"), ElementsAre(2));
  EXPECT_THAT(rows("deterministic:yes"), ElementsAre(3));
  EXPECT_THAT(rows("pass:bwd"), ElementsAre(3));
  EXPECT_THAT(rows("heads:64"), ElementsAre(4));
  EXPECT_THAT(rows("preset:test device:h200"), ElementsAre(0, 1, 2, 3, 4, 5));
  analysis::Run imported = fixtures::run(Provenance::imported, "1 (import:PyTorch wall)");
  imported.label.clear();
  imported.preset = "import:PyTorch wall";
  const PointTable of_import =
      fixtures::Points().add({fixtures::ok_point(fixtures::spec("fa2", 512))}, imported).table();
  for (const char* words : {"preset:\"import:PyTorch wall\"", "preset:\"IMPORT:pytorch wall\",quick"})
    EXPECT_EQ(PointQuery::parse(words, of_import)->rows(of_import).size(), 1U) << words;
  EXPECT_THAT(PointQuery::parse("preset:wall", of_import)->rows(of_import), IsEmpty());
  EXPECT_THAT(rows("device:\"nvidia h200\""), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(rows("device:a100"), IsEmpty());
}

TEST_F(PointQueryTest, MasksMatchByPartAndShortText) {
  EXPECT_THAT(rows("mask:full"), ElementsAre(0, 1, 2, 5));
  EXPECT_THAT(rows("mask:full"), ElementsAre(0, 1, 2, 5));
  EXPECT_THAT(rows("mask:window:256:0"), ElementsAre(4));
  EXPECT_THAT(rows("mask:window,causal"), ElementsAre(3, 4));
  EXPECT_THAT(rows("window:256:0"), ElementsAre(4)) << "colons are part of the mask";
}

TEST_F(PointQueryTest, StatusAndProvenance) {
  EXPECT_THAT(rows("status:ok"), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(rows("status:out-of-memory"), ElementsAre(5));
  EXPECT_THAT(rows("status:throttled"), ElementsAre(1));
  EXPECT_THAT(rows("result=ok -result=throttled"), ElementsAre(0, 2, 3, 4));
  EXPECT_THAT(rows("reason:132"), ElementsAre(5));
  Points of_two(records());
  of_two.add({fixtures::ok_point(spec("fa2", 2048), true)}, fixtures::run(Provenance::simulated, "others"));
  table = of_two.table();
  EXPECT_THAT(rows("from:simulated"), ElementsAre(6));
  EXPECT_THAT(rows("from:measured,imported N<2k"), ElementsAre(0, 1));
  EXPECT_THAT(rows("run:others"), ElementsAre(6));
}

TEST_F(PointQueryTest, NumbersAreCompared) {
  EXPECT_THAT(rows("N>=8192"), ElementsAre(3, 4, 5));
  EXPECT_THAT(rows("n>8192"), ElementsAre(4, 5));
  EXPECT_THAT(rows("n_k<=1024"), ElementsAre(0, 1));
  EXPECT_THAT(rows("N<1024"), ElementsAre(0));
  EXPECT_THAT(rows("N=4k"), ElementsAre(2)) << "k is 1024";
  EXPECT_THAT(rows("N>=4k N<16k"), ElementsAre(2, 3));
  EXPECT_THAT(rows("dropout>0"), ElementsAre(2));
}

TEST_F(PointQueryTest, MetricsAreFieldsWithUnits) {
  for (const Metric& metric : metrics_table()) {
    EXPECT_TRUE(PointQuery::parse(std::string(metric.key) + ">0", table)) << metric.key;
  }
  std::vector<PointRecord> timed = records();
  for (std::size_t i = 0; i < 5; ++i) timed[i].kernels[0].samples_ns = {1e5 * static_cast<double>(1U << (2 * i))};
  points = Points(timed);
  table = points.table();
  EXPECT_THAT(rows("time<1ms"), ElementsAre(0, 1));
  EXPECT_THAT(rows("time_median_ns>=1.6e6"), ElementsAre(2, 3, 4));
  EXPECT_THAT(rows("TIME=400us,\"6.4 ms\""), ElementsAre(1, 3));
  EXPECT_THAT(rows("time<=400\u00B5s"), ElementsAre(0, 1));
  EXPECT_THAT(rows("-time>1us"), ElementsAre(5)) << "points without a time never match";
  const ValueColumn& bytes = table.values("l2_sm_bytes");
  for (const double bound : {64.0, 1024.0}) {
    std::vector<Row> larger;
    for (Row row = 0; row < table.size(); ++row) {
      if (bytes.at(row).value_or(0) > bound * 1024 * 1024) larger.push_back(row);
    }
    EXPECT_THAT(rows("l2_sm_bytes>" + std::to_string(static_cast<int>(bound)) + "MiB"),
                testing::ElementsAreArray(larger));
  }
  EXPECT_THAT(error("time<soon"), HasWords("time<soon time ns us ms s soon"));
  EXPECT_THAT(error("time<1MB"), HasWords("time 1MB")) << "wrong unit";
  EXPECT_THAT(completed("time_m"), ElementsAre("time_median_ns>"));
}

TEST_F(PointQueryTest, KnobsAreFields) {
  EXPECT_THAT(rows("stages:3"), ElementsAre(4));
  EXPECT_THAT(rows("stages>=2"), ElementsAre(4)) << "auto is not a number";
  EXPECT_THAT(rows("stages:auto"), ElementsAre(0, 1, 2, 3, 5));
  EXPECT_THAT(rows("raster:heads_fastest"), ElementsAre(4));
  EXPECT_THAT(rows("raster:q_fastest"), ElementsAre(0, 1, 2, 3, 5));
  std::vector<PointRecord> foreign = records();
  foreign[0].spec.knobs = {{"cluster", 4}};
  foreign[1].spec.knobs = {{"cluster", "wide"}};
  points = Points(foreign);
  table = points.table();
  EXPECT_THAT(rows("cluster:4"), ElementsAre(0));
  EXPECT_THAT(rows("cluster:wide"), ElementsAre(1));
  const auto query = PointQuery::parse("cluster:4", table);
  EXPECT_THAT(query->rows(Points(records()).table()), IsEmpty());
}

TEST_F(PointQueryTest, BareWordsMatchSubstrings) {
  EXPECT_THAT(rows("fa"), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(rows("CAUSAL"), ElementsAre(3));
  EXPECT_THAT(rows("GiB"), ElementsAre(5)) << "the reason";
  EXPECT_THAT(rows("memory"), ElementsAre(5)) << "status";
  EXPECT_THAT(rows("H200"), IsEmpty()) << "run names are not searched";
}

TEST_F(PointQueryTest, MinusNegates) {
  EXPECT_THAT(rows("-naive"), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(rows("-algo:naive,fa1"), ElementsAre(2, 3, 4));
  EXPECT_THAT(rows("-N>=4096"), ElementsAre(0, 1));
  EXPECT_THAT(rows("algo:fa2 d:128 N>=4096 status:ok -causal"), ElementsAre(2, 4));
}

TEST_F(PointQueryTest, ErrorsNameTheTermAndTheFix) {
  EXPECT_THAT(error("fa2 algoritm:fa2"), HasWords("algoritm:fa2 algoritm algorithm?"));
  EXPECT_THAT(error("zzzzzz:1"), HasWords("zzzzzz:1 zzzzzz algo N"));
  EXPECT_THAT(error("d:"), HasWords("d"));
  EXPECT_THAT(error("N>="), HasWords("N>="));
  EXPECT_THAT(error("d:64,"), HasWords("d:64,"));
  EXPECT_THAT(error("d:wide"), HasWords("d:wide d wide"));
  EXPECT_THAT(error("d>auto"), HasWords("d>auto d auto"));
  EXPECT_THAT(error("algo>fa1"), HasWords("algo>fa1 algo > algo:VALUE"));
  EXPECT_THAT(error("N>1,2"), HasWords("N>1,2 >"));
  EXPECT_THAT(error("status:oom"), HasWords("status:oom status oom ok infeasible out-of-memory incorrect compile-error "
                                            "timeout crashed no-counters cancelled throttled extrapolated"));
  EXPECT_THAT(error("from:simulatd"), HasWords("from:simulatd from simulatd simulated?"));
  EXPECT_THAT(error("pass:sideways"), HasWords("pass sideways fwd bwd"));
  EXPECT_THAT(error("4k"), HasWords("4k N:4k d:4k"));
  EXPECT_THAT(error(":5"), HasWords("5 d:128"));
  EXPECT_THAT(error("fa2 -"), HasWords("- -d:64"));
  EXPECT_THAT(error("device:\"NVIDIA H200"), testing::HasSubstr("device:\"NVIDIA H200"));
}

TEST_F(PointQueryTest, ErrorsUseTheTypedName) {
  EXPECT_THAT(error("time<1parsec"), HasWords("time 1parsec"));
  EXPECT_THAT(error("N>>4"), HasWords("N >4"));
}

TEST_F(PointQueryTest, HostileTextIsRejectedOrMatchesNothing) {
  EXPECT_THAT(error(std::string(longest_query + 1, 'x')), HasWords("2001 2000"));
  EXPECT_LT(error(std::string(1000, 'y') + ":1").size(), 700U) << "long terms are abbreviated";
  EXPECT_THAT(rows("d:99999999999999999999999999999999999999M"), IsEmpty());
  EXPECT_THAT(error("d:nan"), HasWords("d nan"));
  EXPECT_THAT(error("N>inf"), HasWords("N inf"));
  EXPECT_THAT(rows("{field} %n \xFF\xFE\x01"), IsEmpty());
  std::string many;
  while (many.size() + 4 < longest_query) many += "-fa ";
  EXPECT_THAT(rows(many), ElementsAre(0, 5));
  EXPECT_FALSE(PointQuery::parse(std::string(longest_query, ':'), table));
  EXPECT_THAT(rows(std::string("ok\0ok", 5)), IsEmpty());
}

TEST_F(PointQueryTest, CompletesFieldNames) {
  EXPECT_THAT(completed("al"), ElementsAre("algo:", "algorithm:"));
  EXPECT_THAT(completed("fa2 -STA"), ElementsAre("stages:", "status:"));
  EXPECT_THAT(completed("n"), ElementsAre("N:", "n_q:", "n_k:"));
  EXPECT_THAT(completed("xyz"), IsEmpty());
  const QueryCompletion inside = complete("fa2 dty d:64", 6, table);
  EXPECT_THAT(inside.texts, ElementsAre("dtype:"));
  EXPECT_EQ(inside.begin, 4U);
  EXPECT_EQ(inside.end, 7U);
  EXPECT_FALSE(complete("fa2 ", 4, table).begun);
  EXPECT_EQ(complete("d", 1, table, 2).texts.size(), 2U);
}

TEST_F(PointQueryTest, CompletesOccurringValues) {
  EXPECT_THAT(completed("algo:"), ElementsAre("fa1", "fa2", "naive"));
  EXPECT_THAT(completed("algo:naive,fa"), ElementsAre("fa1", "fa2"));
  EXPECT_THAT(completed("N>=1"), ElementsAre("1024", "16384")) << "sorted numerically";
  EXPECT_THAT(completed("d:"), ElementsAre("64", "128"));
  EXPECT_THAT(completed("status:o"), ElementsAre("ok", "out-of-memory", "throttled"));
  EXPECT_THAT(completed("device:h2"), Contains("\"NVIDIA H200\""));
  EXPECT_THAT(completed("mask:"), Contains("window:256:0"));
  EXPECT_THAT(completed("nosuch:"), IsEmpty());
  const QueryCompletion second = complete("d:64,12 fa2", 7, table);
  EXPECT_THAT(second.texts, ElementsAre("128"));
  EXPECT_EQ(second.begin, 5U);
  EXPECT_EQ(second.end, 7U);
}

/// Every offered name and value parses and matches the points that have it.
TEST_F(PointQueryTest, CompletionsParse) {
  const std::vector<QueryField> fields = query_fields(table);
  for (const std::string& name : query_names(fields)) {
    ASSERT_NE(find_query_field(fields, name), nullptr) << name;
    const std::string sign = find_query_field(fields, name)->metric ? ">=" : ":";
    for (const std::string& value : completed(name + ':')) {
      EXPECT_THAT(rows(name + sign + value), Not(IsEmpty())) << name << sign << value;
    }
  }
}

}  // namespace
}  // namespace attnscope::analysis
