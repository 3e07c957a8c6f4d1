// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <utility>

#include "messages/report.h"
#include "messages/tile_map.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/text.h"
#include "profiler/report/document.h"
#include "profiler/report/svg.h"
#include "profiler/roofline/roofline.h"
#include "profiler/units/number_format.h"
#include "tests/message_matchers.h"
#include "tests/profiler/points/fixtures.h"
#include "tests/profiler/report/documents.h"

namespace attnscope::report {
namespace {

using test::matches;
using test::MatchesMessage;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

using documents::document_of;
using documents::figure;
using documents::input_of;
using documents::lines_of;
using documents::sentences;

double dram_of(const PointRecord& record) {
  return dram_traffic(record)->value;
}

/// Sentence about points without result; "*" matches any text.
Message ended(const char* count, const char* outcome, const char* alike = "*", const char* reason = "*") {
  return msg::report::ended{
      .alike = alike, .all = "*", .count = count, .outcome = outcome, .point = "*", .reason = reason};
}

Message residual(const std::string& percent, const std::string& point) {
  return msg::report::residual{.percent = percent, .point = point, .points = "*"};
}

/// Rows linked from a paragraph.
std::vector<analysis::Row> linked_rows(const Paragraph& paragraph) {
  std::vector<analysis::Row> rows;
  for (const LinkedText& words : paragraph.words) {
    if (words.row) rows.push_back(*words.row);
  }
  return rows;
}

TEST(Report, AnswersInOneParagraph) {
  const std::vector<PointRecord> records = fixtures::memory_wall();
  const Document document = document_of(records);
  // Naive is out of memory at N 16384; the other algorithms still compare there.
  const std::vector<analysis::Row> rows = linked_rows(document.answer);
  ASSERT_EQ(rows.size(), 4U) << document.answer.text();
  const Message bytes = documents::most_bytes(number_text(dram_of(records[rows[0]]) / dram_of(records[rows[1]])));
  const auto time = [&](analysis::Row row) { return evaluate(metric_key::time_median_ns, records[row])->value; };
  const Message times = documents::fastest("*", "*", number_text(time(rows[3]) / time(rows[2])));
  EXPECT_TRUE(matches(document.answer.text(), make_message("{} {}", text(bytes), text(times))))
      << document.answer.text();
  EXPECT_THAT(document.answer.text(), HasSubstr("N 16384 on H200"));
  EXPECT_THAT(sentences(document), Contains(MatchesMessage(ended("1", "out-of-memory"))));
}

TEST(Report, FirstPageHasAFigureATableAndTwoLines) {
  const Document document = document_of(fixtures::memory_wall());
  ASSERT_TRUE(document.figure && document.table);
  EXPECT_EQ(document.figure->id, "io");
  EXPECT_EQ(document.measured.size(), 2U);
  EXPECT_EQ(document.date, "2026-01-01");
  const Table& table = *document.table;
  EXPECT_THAT(table.caption, HasSubstr("N 16384"));
  EXPECT_THAT(documents::column(table, "algorithm"), ::testing::ElementsAre("fa2", "fa1")) << "fastest first";
  EXPECT_THAT(documents::column(table, "time_ratio").front(), "1.00");
  std::vector<std::string> sections;
  for (const Section& section : document.sections) {
    EXPECT_NE(section.figure && section.figure->id == "io", true) << "it is on the first page";
    sections.push_back(section.title);
  }
  EXPECT_THAT(sections, ::testing::ElementsAre(text(msg::report::median_time{}), text(msg::report::roofline{}),
                                               text(msg::report::against_model{}), text(msg::report::failures{})));
}

TEST(Report, TableShowsAtMostEightRows) {
  std::vector<PointRecord> one_series;
  for (std::int64_t n = 256; n <= 256 << 9; n *= 2) one_series.push_back(fixtures::ok_point(fixtures::spec("fa2", n)));
  const Document lengths = document_of(one_series);
  ASSERT_TRUE(lengths.table);
  EXPECT_EQ(lengths.table->rows.size(), 8U);
  EXPECT_EQ(documents::column(*lengths.table, "n").front(), "131072") << "the longest first";
  EXPECT_THAT(lengths.answer.text(), MatchesMessage(msg::report::reaches{
                                         .device = "*", .n = "131072", .rate = "*", .series = "FA2", .time = "*"}));
  const Document tiles = document_of(fixtures::tile_sweep());
  ASSERT_TRUE(tiles.table && tiles.figure);
  EXPECT_EQ(tiles.figure->id, "tiles");
  EXPECT_EQ(tiles.table->rows.size(), 8U);
  EXPECT_THAT(tiles.answer.text(),
              MatchesMessage(msg::report::fastest_tile{.device = "H200",
                                                       .n = "*",
                                                       .ratio = "*",
                                                       .series = "*",
                                                       .slowest = "*",
                                                       .slowest_time = "*",
                                                       .tile = documents::column(*tiles.table, "tile")[0],
                                                       .tiles = "*",
                                                       .time = "*"}));
}

/// Rows linked from answer, table and sections.
std::vector<analysis::Row> linked_rows(const Document& document) {
  std::vector<analysis::Row> rows = linked_rows(document.answer);
  for (const Section& section : document.sections) {
    for (const Paragraph& paragraph : section.text) {
      const std::vector<analysis::Row> more = linked_rows(paragraph);
      if (section.title != text(msg::report::against_model{})) rows.insert(rows.end(), more.begin(), more.end());
    }
  }
  for (const std::vector<TableCell>& row : document.table->rows) {
    for (const TableCell& cell : row) {
      if (cell.row) rows.push_back(*cell.row);
    }
  }
  return rows;
}

TEST(Report, BottlenecksAreThoseOfTheTimes) {
  // Another tile is faster, and bound by L2, at the longest N only.
  std::vector<PointRecord> records;
  for (const char* algorithm : {"fa1", "fa2"}) {
    for (const std::int64_t n : {1024, 2048, 4096}) records.push_back(fixtures::ok_point(fixtures::spec(algorithm, n)));
    records.push_back(fixtures::ok_point(fixtures::spec(algorithm, 4096, 64, 64)));
    for (double& ns : records.back().kernels.front().samples_ns)
      ns = 0.9 * records.at(records.size() - 2).kernels.front().samples_ns.front();
    for (MetricValue& metric : records.back().kernels.front().metrics) {
      if (metric.name == metric_key::l2_to_sm_bytes) metric.value *= 30;
    }
  }
  const Document document = document_of(records);
  const std::vector<analysis::Row> rows = linked_rows(document);
  std::map<std::string, std::set<analysis::Row>> longest;
  for (const analysis::Row row : rows) {
    if (records[row].spec.problem.n_k == 4096 && records[row].disposition == Disposition::ok)
      longest[records[row].spec.algorithm].insert(row);
  }
  for (const auto& [algorithm, of_algorithm] : longest) EXPECT_EQ(of_algorithm.size(), 1U) << algorithm;
  const Message bound =
      msg::report::never_memory{.bytes = "*", .first = "1024", .last = "4096", .origin = "*", .series = "FA2 (128x64)"};
  const Message memory =
      msg::report::stays_memory{.bound = "DRAM", .bytes = "*", .n = "4096", .origin = "*", .series = "FA2 (128x64)"};
  EXPECT_THAT(sentences(document), Contains(::testing::AnyOf(MatchesMessage(bound), MatchesMessage(memory))));
  // The figures show the same tile.
  for (const char* id : {"io", "time", "roofline"}) {
    const Figure drawn = figure(document, id).value();
    for (const Line& line : lines_of(drawn)) {
      for (const Mark& mark : line.marks) EXPECT_THAT(mark.read_out_text, Not(HasSubstr("nearest roof L2")));
    }
  }
}

TEST(Report, NamesTheFirstNBeyondTheMemoryBound) {
  std::vector<PointRecord> records;
  for (const char* algorithm : {"fa1", "fa2"}) {
    for (const std::int64_t n : {1024, 2048, 4096}) records.push_back(fixtures::ok_point(fixtures::spec(algorithm, n)));
  }
  // 1e10 bytes need 2.1 ms at 4.8 TB/s; the 2.8e11 FLOPs of N 2048 need 0.43 ms at 660 TFLOP/s.
  for (PointRecord& record : records) {
    if (record.spec.algorithm != "fa2" || record.spec.problem.n_k == 4096) continue;
    for (MetricValue& metric : record.kernels.front().metrics) {
      if (metric.name == metric_key::dram_read_bytes) metric.value = 1e10;
    }
  }
  const Message leaves = msg::report::leaves_memory{.bound = analysis::to_string(analysis::Bound::mma_sync),
                                                    .bytes = "*",
                                                    .n = "4096",
                                                    .origin = "*",
                                                    .series = "FA2 (128x64)"};
  EXPECT_THAT(sentences(document_of(records)), Contains(MatchesMessage(leaves)));
}

TEST(Report, KeyNamesQuartilesOfAnyLine) {
  const auto caption_of = [](bool first, bool second) {
    std::vector<PointRecord> records;
    for (const std::int64_t n : {1024, 2048}) {
      for (const auto& [algorithm, scattered] : {std::pair("fa1", first), std::pair("fa2", second)}) {
        records.push_back(fixtures::ok_point(fixtures::spec(algorithm, n)));
        if (scattered) continue;
        for (KernelRecord& kernel : records.back().kernels) kernel.samples_ns.assign(12, 1e6);
      }
    }
    return figure(document_of(records), "time")->caption;
  };
  const std::string key = text(msg::report::key_spread{});
  EXPECT_THAT(caption_of(true, true), HasSubstr(key));
  EXPECT_THAT(caption_of(true, false), HasSubstr(key));
  EXPECT_THAT(caption_of(false, true), HasSubstr(key));
  EXPECT_THAT(caption_of(false, false), AllOf(Not(HasSubstr(key)), Not(::testing::IsEmpty())));
}

TEST(Report, LinksTheNumberAndNotTheTile) {
  const Paragraph linked = sentence("FA2 (128 × 64) from N 64 to 128", {{"64", 3}, {"128", 5}});
  EXPECT_EQ(linked.text(), "FA2 (128 × 64) from N 64 to 128");
  ASSERT_EQ(linked.words.size(), 4U);
  EXPECT_EQ(linked.words[0].text, "FA2 (128 × 64) from N ");
  EXPECT_EQ(linked.words[1].row, 3U);
  EXPECT_EQ(linked.words[3].row, 5U);
}

TEST(Report, RecordingEndsWithTheLastRun) {
  Input input = input_of(fixtures::Points(fixtures::memory_wall()));
  const auto line = [&] { return make_report(input, {}).value().measured.front(); };
  EXPECT_THAT(line(), MatchesMessage(msg::report::measured_on{
                          .dates = "2026-01-01", .devices = "NVIDIA H200*", .points = 21, .runs = 1}));
  input.runs.front().finished_at = "2026-01-03T00:00:09Z";
  const Message dates = msg::report::dates{.first = "2026-01-01", .last = "2026-01-03"};
  EXPECT_THAT(line(), HasSubstr(text(dates)));
  EXPECT_EQ(make_report(input, {}).value().date, "2026-01-03");
  input.runs.push_back(input.runs.front());
  input.runs.back().started_at = "2026-01-02T00:00:05Z";
  input.runs.back().finished_at.clear();
  EXPECT_THAT(line(), HasSubstr(text(dates))) << "the other run did not end";
}

TEST(Report, CountsAConfigurationOnce) {
  const std::vector<PointRecord> records{
      fixtures::ok_point(fixtures::spec("fa2", 512)),
      fixtures::failed_point(fixtures::spec("fa2", 1024), Disposition::infeasible, "too much shared memory")};
  fixtures::Points points;
  for (const char* name : {"a", "b", "c"}) points.add(records, fixtures::run(Provenance::measured, name));
  EXPECT_THAT(sentences(document_of(points)),
              Contains(MatchesMessage(Message(msg::report::ended{.alike = 1,
                                                                 .all = 2,
                                                                 .count = 1,
                                                                 .outcome = title(Disposition::infeasible),
                                                                 .point = "*",
                                                                 .reason = "too much shared memory"}))));
}

TEST(Report, MapsNameTheirRuns) {
  fixtures::Points points;
  points.add(fixtures::tile_sweep(), fixtures::run(Provenance::measured, "first"));
  points.add(fixtures::tile_sweep(), fixtures::run(Provenance::measured, "second", "2026-02-01T00:00:00Z"));
  const Figure one = figure(document_of(points), "tiles").value();
  ASSERT_EQ(one.panels.size(), 1U);
  EXPECT_THAT(one.title, HasSubstr(text(msg::tile_map::hidden_runs{.hidden = "first", .runs = "second"})));
  const Figure both = figure(document_of(points, {.baseline = {0}}), "tiles").value();
  ASSERT_EQ(both.panels.size(), 2U);
  EXPECT_EQ(both.panels[0].panel, text(msg::report::baseline_map{.runs = "first"}));
  EXPECT_EQ(both.panels[1].panel, text(msg::report::candidate_map{.runs = "second"}));
  const auto& before = std::get<HeatMap>(both.panels[0].picture);
  const auto& after = std::get<HeatMap>(both.panels[1].picture);
  EXPECT_EQ(std::pair(before.low, before.high), std::pair(after.low, after.high)) << "one color scale";
}

TEST(Report, ColorScaleCoversBothMaps) {
  const auto tiles = [](double unit) {
    std::vector<PointRecord> records;
    for (const auto& [br, bc] : {std::pair(64, 32), std::pair(64, 64), std::pair(128, 32), std::pair(128, 64)}) {
      records.push_back(fixtures::ok_point(fixtures::spec("fa2", 4096, br, bc)));
      records.back().kernels.front().samples_ns.assign(12, unit * static_cast<double>(records.size()));
    }
    return records;
  };
  fixtures::Points points;
  points.add(tiles(1000), fixtures::run(Provenance::measured, "first"));  // 1000 to 4000 ns
  points.add(tiles(500), fixtures::run(Provenance::measured, "second", "2026-02-01T00:00:00Z"));
  const Figure both = figure(document_of(points, {.baseline = {0}}), "tiles").value();
  ASSERT_EQ(both.panels.size(), 2U);
  for (const Chart& chart : both.panels) {
    const auto& map = std::get<HeatMap>(chart.picture);
    EXPECT_NEAR(map.high / map.low, 8, 1e-9) << "500 to 4000 ns";
  }
}

TEST(Report, SentencesFollowData) {
  std::vector<PointRecord> records = fixtures::memory_wall();
  ASSERT_THAT(sentences(document_of(records)), Contains(MatchesMessage(residual("*", "*"))));
  // Change the counters of one point by +1% or -2%: the residual in the report follows.
  const auto changed =
      std::ranges::find_if(records, [](const PointRecord& record) { return record.disposition == Disposition::ok; });
  const PointRecord whole = *changed;
  for (const auto& [factor, percent] : {std::pair(1.01, "1.10%"), {0.98, "-1.90%"}}) {
    *changed = whole;
    for (MetricValue& metric : changed->kernels.front().metrics) {
      if (metric.name == metric_key::l2_to_sm_bytes || metric.name == metric_key::sm_to_l2_bytes)
        metric.value *= factor;
    }
    EXPECT_THAT(sentences(document_of(records)), Contains(MatchesMessage(residual(percent, describe(whole.spec)))));
  }
  // Without counters only times are compared.
  for (PointRecord& record : records) {
    for (KernelRecord& kernel : record.kernels) {
      std::erase_if(kernel.metrics, [](const MetricValue& metric) { return metric.unit == "byte"; });
    }
  }
  const std::vector<std::string> without = sentences(document_of(records));
  EXPECT_THAT(without.front(), MatchesMessage(documents::fastest()));
  EXPECT_THAT(without, Not(Contains(MatchesMessage(residual("*", "*")))));
}

TEST(Report, MarksSimulatedData) {
  const std::string counted = text(msg::report::is_simulated{.all = 20, .points = 20});
  EXPECT_THAT(document_of(fixtures::memory_wall()).measured[1], Not(HasSubstr(counted)));
  const Document document = document_of(fixtures::memory_wall(true));
  EXPECT_THAT(document.measured[1], HasSubstr(counted));
  EXPECT_THAT(document.table->caption, HasSubstr(text(title(Provenance::simulated))));
  EXPECT_THAT(document.answer.text(), HasSubstr(text(msg::report::simulated_gpu{.device = "H200"})));
  const std::string svg = to_svg(*figure(document, "io"), Placement::alone);
  EXPECT_THAT(svg, AllOf(HasSubstr("class=\"l d c00\""), HasSubstr("class=\"e c00\"")));
  EXPECT_THAT(svg, Not(HasSubstr("class=\"f c00\"")));
}

TEST(Report, BeginsWithImpossibleValues) {
  std::vector<PointRecord> records = fixtures::peers();
  const std::string impossible = text(msg::report::impossible{.all = 14, .points = 1});
  const auto import_of = [&] {
    fixtures::Points points;
    points.add(records, fixtures::run(Provenance::imported));
    return sentences(document_of(points));
  };
  EXPECT_THAT(import_of().front(), Not(HasSubstr(impossible)));
  for (PointRecord& record : records) record.kernels.front().metrics.clear();
  records.front().kernels.front().samples_ns = {100};  // instead of microseconds
  const std::vector<std::string> flagged = import_of();
  EXPECT_THAT(flagged.front(), ::testing::StartsWith(impossible));
  const std::string above = text(msg::report::above_flop_rate{.percent = "|", .points = "1"});
  EXPECT_THAT(flagged.front(), HasSubstr(above.substr(0, above.find('|'))));
}

TEST(Report, ExplainsStoresOfTwiceTheModel) {
  std::vector<PointRecord> records = fixtures::memory_wall();
  const auto explained = MatchesMessage(msg::report::stores{.algorithm = "*", .points = "1", .reason = "*"});
  EXPECT_THAT(sentences(document_of(fixtures::Points(records))), Not(Contains(explained)));
  std::vector<MetricValue>& metrics = records.front().kernels.front().metrics;
  const double stored = std::ranges::find(metrics, metric_key::sm_to_l2_bytes, &MetricValue::name)->value;
  std::erase_if(metrics, [](const MetricValue& metric) { return metric.name == metric_key::model_sm_to_l2_bytes; });
  metrics.push_back({std::string(metric_key::model_sm_to_l2_bytes), stored / 2, "byte", Provenance::modeled});
  EXPECT_THAT(sentences(document_of(fixtures::Points(records))), Contains(explained));
}

TEST(Report, DrawsOneRooflineLinePerRun) {
  fixtures::Points points;
  points.add(fixtures::memory_wall(), fixtures::run(Provenance::measured, "before"));
  points.add(fixtures::memory_wall(), fixtures::run(Provenance::measured, "after", "2026-02-01T00:00:00Z"));
  const std::optional<Figure> roofs = figure(document_of(points), "roofline");
  ASSERT_TRUE(roofs);
  std::vector<std::string> labels;
  for (const Line& line : lines_of(*roofs)) labels.push_back(line.label);
  for (const std::string& label : labels) EXPECT_EQ(std::ranges::count(labels, label), 1) << label;
  EXPECT_THAT(labels, AllOf(Contains(HasSubstr("before")), Contains(HasSubstr("after"))));
}

TEST(Report, NeedsSignificanceForFaster) {
  const auto answer_of = [](double by) {
    PointRecord one = fixtures::ok_point(fixtures::spec("fa1", 1024));
    PointRecord other = fixtures::ok_point(fixtures::spec("fa2", 1024));
    for (double& ns : one.kernels.front().samples_ns) ns = 1e6;
    for (double& ns : other.kernels.front().samples_ns) ns = 1e6 / by;
    PointRecord longer = fixtures::ok_point(fixtures::spec("fa1", 512));
    PointRecord shorter = fixtures::ok_point(fixtures::spec("fa2", 512));
    return document_of({longer, shorter, one, other}).answer.text();
  };
  EXPECT_THAT(answer_of(1.04), HasSubstr(text(msg::report::no_difference{.device = "H200", .place = "N 1024"})));
  EXPECT_THAT(answer_of(1.2), MatchesMessage(make_message("*{}", text(documents::fastest("FA2", "FA1", "1.20")))));
}

TEST(Report, NamesAllSeriesThatTieForFastest) {
  std::vector<PointRecord> records;
  for (const auto& [algorithm, ns] : {std::pair("fa1", 1e6), std::pair("fa2", 5.01e5), std::pair("fa3", 5e5)}) {
    for (const std::int64_t n : {512, 1024}) {
      records.push_back(fixtures::ok_point(fixtures::spec(algorithm, n)));
      for (double& sample : records.back().kernels.front().samples_ns) sample = ns;
    }
  }
  const Message tied = msg::report::fastest_tied{.device = "H200",
                                                 .place = "N 1024",
                                                 .ratio = "2",
                                                 .series = "FA3, FA2",
                                                 .slowest = "FA1",
                                                 .slowest_time = "*",
                                                 .time = "*"};
  EXPECT_THAT(document_of(records).answer.text(), MatchesMessage(make_message("*{}", text(tied))));
}

TEST(Report, NamesKeysOfOneQuery) {
  std::vector<PointRecord> records;
  for (const char* algorithm : {"fa2", "naive"}) {
    for (const std::int64_t n : {512, 1024}) {
      PointSpec spec = fixtures::spec(algorithm, n);
      spec.problem.n_q = 1;
      records.push_back(fixtures::ok_point(spec));
      for (double& sample : records.back().kernels.front().samples_ns) sample *= algorithm[0] == 'n' ? 3 : 1;
    }
  }
  const Document document = document_of(records);
  EXPECT_THAT(document.answer.text(), HasSubstr("n_k 1024"));
  EXPECT_THAT(document.answer.text(), Not(HasSubstr("N 1024")));
  EXPECT_EQ(figure(document, "time").value().legend.corner, "n_k 1k");
}

TEST(Report, MapsShowValuesAndReasons) {
  const Document document = document_of(fixtures::tile_sweep());
  const Figure maps = figure(document, "tiles").value();
  const auto& map = std::get<HeatMap>(maps.panels.front().picture);
  bool refused = false;
  for (const auto& row : map.cells) {
    for (const MapCell& cell : row) {
      if (!cell.value && !cell.read_out_text.empty()) {
        refused = true;
        EXPECT_THAT(cell.read_out_text, HasSubstr(": ")) << "the reason";
      }
    }
  }
  EXPECT_TRUE(refused);
  EXPECT_TRUE(map.less_is_better) << "of times";
}

TEST(Report, AcceptsFailuresAndSinglePoints) {
  const Document failures =
      document_of({fixtures::failed_point(fixtures::spec("fa2", 1024), Disposition::crashed, "it fell")});
  EXPECT_THAT(sentences(failures), Contains(HasSubstr("it fell")));
  EXPECT_EQ(documents::column(documents::table(failures, "points"), "origin").front(), "") << "nothing was measured";
  EXPECT_EQ(documents::column(documents::table(failures, "points"), "reason").front(), "it fell");
  EXPECT_FALSE(failures.figure.has_value());
  EXPECT_TRUE(
      std::ranges::none_of(failures.sections, [](const Section& section) { return section.figure.has_value(); }));
  EXPECT_EQ(failures.answer.text(), text(msg::report::no_result{}));
  const Document one = document_of({fixtures::ok_point(fixtures::spec("fa2", 1024))});
  EXPECT_THAT(to_html(one), AllOf(HasSubstr("id=\"row-1\""), HasSubstr("<details id=\"appendix\">")));
}

TEST(Report, CountsDifferBeyondSpread) {
  for (const auto& [ratio, expected] : {std::pair(1.015, false), {1.025, true}}) {
    std::vector<PointRecord> records;
    for (const std::int64_t n : {1024, 2048}) {
      for (const char* algorithm : {"fa1", "fa2"}) {
        PointRecord& record = records.emplace_back(fixtures::ok_point(fixtures::spec(algorithm, n)));
        const double bytes = 1e9 * (record.spec.algorithm == "fa1" ? ratio : 1);
        for (MetricValue& metric : record.kernels.front().metrics) {
          if (metric.name.starts_with("dram_")) metric.value = metric.name == metric_key::dram_read_bytes ? bytes : 0;
        }
      }
    }
    const Message bytes = make_message("{}*", text(documents::most_bytes()));
    EXPECT_EQ(matches(document_of(records).answer.text(), bytes), expected);
  }
}

TEST(Report, ShowsMostFrequentReason) {
  std::vector<PointRecord> records{fixtures::ok_point(fixtures::spec("fa2", 512))};
  for (const std::int64_t n : {1024, 2048, 4096}) {
    records.push_back(fixtures::failed_point(fixtures::spec("fa2", n), Disposition::infeasible,
                                             n == 1024 ? "too many registers" : "too much shared memory"));
  }
  EXPECT_THAT(sentences(document_of(records)),
              Contains(MatchesMessage(ended("3", "infeasible", "2", "too much shared memory"))));
}

Message nearest_roof(analysis::Bound bound) {
  return msg::report::point_read_out{.bound = analysis::to_string(bound),
                                     .intensity = "*",
                                     .n = "*",
                                     .origin = "*",
                                     .rate = "*",
                                     .reached = "*",
                                     .series = "*"};
}

TEST(Report, DatasheetPeakIsUpperBound) {
  using analysis::Bound;
  const auto bounds_in = [](const Document& document) {
    std::set<Bound> bounds;
    const Figure roofs = figure(document, "roofline").value();
    for (const Line& line : lines_of(roofs)) {
      for (const Mark& mark : line.marks) {
        for (const Bound bound : {Bound::mma_sync, Bound::wgmma, Bound::tensor}) {
          if (matches(mark.read_out_text, nearest_roof(bound))) bounds.insert(bound);
        }
      }
    }
    return bounds;
  };
  // The mma.sync share of the peak is known on Hopper.
  const std::set<Bound> on_hopper = bounds_in(document_of(fixtures::memory_wall()));
  EXPECT_THAT(on_hopper, AllOf(Contains(Bound::mma_sync), Not(Contains(Bound::tensor))));
  EXPECT_THAT(on_hopper, Not(Contains(Bound::wgmma))) << "FA1 and FA2 run none, and nobody measured it";
  analysis::Run run = fixtures::run();
  run.limits = *find_gpu("a100");
  run.device_name = run.limits.name;
  const Document document = document_of(fixtures::Points().add(fixtures::memory_wall(), run));
  EXPECT_THAT(bounds_in(document), AllOf(Contains(Bound::tensor), Not(Contains(Bound::mma_sync))));
  EXPECT_THAT(sentences(document), Contains(text(msg::report::tensor_bound{})));
}

TEST(Report, CommandsOmitFolders) {
  Input input = input_of(fixtures::Points(fixtures::memory_wall()));
  input.runs.front().argv = {"/opt/bin/attnscope",
                             "collect",
                             "--output=/home/me/a.attnscope",
                             "-o/home/me/b.attnscope",
                             "-o",
                             "/home/me/c.attnscope",
                             "-a",
                             "N=[256,512]"};
  const Result<Document, Message> document = make_report(input, {});
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(documents::column(documents::table(*document, "runs"), "command").front(),
            "attnscope collect --output=a.attnscope -ob.attnscope -o c.attnscope -a 'N=[256,512]'");
}

TEST(Report, RejectsEmptyInput) {
  const Result<Document, Message> none = make_report(input_of(fixtures::Points()), {});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error(), Message(msg::report::no_points{}));
}

TEST(Report, CountedBytesOverModelAreAStripPerAlgorithmAndD) {
  const Figure model = figure(document_of(fixtures::memory_wall()), "model").value();
  const auto& strips = std::get<StripChart>(model.panels.front().picture).rows;
  ASSERT_EQ(strips.size(), 3U);
  std::size_t marks = 0;
  for (const StripRow& row : strips) marks += row.marks.size();
  EXPECT_EQ(marks, 20U);
  EXPECT_EQ(strips.back().label, "FA2 d 128");
}

}  // namespace
}  // namespace attnscope::report
