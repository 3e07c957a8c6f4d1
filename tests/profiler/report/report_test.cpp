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
#include "profiler/report/svg.h"
#include "profiler/report/writers.h"
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
using documents::figures;
using documents::input_of;
using documents::sentences;
using documents::words_of;

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

TEST(Report, LinksRatiosToPoints) {
  const std::vector<PointRecord> records = fixtures::memory_wall();
  const Document document = document_of(records);
  // Naive is out of memory at N 16384; the other algorithms still compare there.
  EXPECT_THAT(sentences(document).at(1),
              MatchesMessage(msg::report::bytes_at{.device = "H200", .n = "16384", .problem = "*"}));
  const auto& first = std::get<Paragraph>(document.answer.at(2));
  std::vector<analysis::Row> rows;
  for (const LinkedText& words : first.words) {
    if (words.row) rows.push_back(*words.row);
  }
  ASSERT_EQ(rows.size(), 2U) << words_of(first);
  EXPECT_THAT(
      words_of(first),
      MatchesMessage(documents::fewer_bytes(number_text(dram_of(records[rows[1]]) / dram_of(records[rows[0]])))));
  EXPECT_THAT(sentences(document), Contains(MatchesMessage(ended("1", "out-of-memory"))));
}

/// Rows linked from the sentences on bytes, times and bottlenecks.
std::vector<analysis::Row> linked_rows(const Document& document) {
  std::vector<analysis::Row> rows;
  for (const Block& block : document.answer) {
    const auto* paragraph = std::get_if<Paragraph>(&block);
    if (paragraph != nullptr && words_of(*paragraph) == text(msg::report::against_model{})) break;
    for (std::size_t k = 0; paragraph != nullptr && k < paragraph->words.size(); ++k) {
      if (paragraph->words[k].row) rows.push_back(*paragraph->words[k].row);
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
  const Message bound = msg::report::never_memory{
      .bytes = "*", .first = "1024", .last = "4096", .origin = "*", .series = "FA2 (128 × 64)"};
  const Message memory =
      msg::report::stays_memory{.bound = "DRAM", .bytes = "*", .n = "4096", .origin = "*", .series = "FA2 (128 × 64)"};
  EXPECT_THAT(sentences(document), Contains(::testing::AnyOf(MatchesMessage(bound), MatchesMessage(memory))));
  // The figures show the same tile.
  for (const Figure& figure : document.figures) {
    for (const Line& line : std::get<LineChart>(figure.chart.picture).lines) {
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
                                                    .series = "FA2 (128 × 64)"};
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
    const std::vector<Figure> times = figures(document_of(records), "time");
    return times.empty() ? std::string() : times.front().caption;
  };
  const std::string key = text(msg::report::key_spread{});
  EXPECT_THAT(caption_of(true, true), HasSubstr(key));
  EXPECT_THAT(caption_of(true, false), HasSubstr(key));
  EXPECT_THAT(caption_of(false, true), HasSubstr(key));
  EXPECT_THAT(caption_of(false, false), AllOf(Not(HasSubstr(key)), Not(::testing::IsEmpty())));
}

TEST(Report, LinksTheNumberAndNotTheTile) {
  const Paragraph linked = sentence("FA2 (128 × 64) from N 64 to 128", {{"64", 3}, {"128", 5}});
  EXPECT_EQ(words_of(linked), "FA2 (128 × 64) from N 64 to 128");
  ASSERT_EQ(linked.words.size(), 4U);
  EXPECT_EQ(linked.words[0].text, "FA2 (128 × 64) from N ");
  EXPECT_EQ(linked.words[1].row, 3U);
  EXPECT_EQ(linked.words[3].row, 5U);
}

TEST(Report, RecordingEndsWithTheLastRun) {
  Input input = input_of(fixtures::Points(fixtures::memory_wall()));
  const auto ends = [&](const std::string& last) {
    return MatchesMessage(Message(msg::report::subtitle{
        .files = "*", .first = "2026-01-01T00:00:00Z", .last = last, .points = "*", .runs = "*"}));
  };
  input.runs.front().finished_at = "2026-01-01T00:00:09Z";
  EXPECT_THAT(make_report(input, {}).value().subtitle, ends("2026-01-01T00:00:09Z"));
  input.runs.push_back(input.runs.front());
  input.runs.back().started_at = "2026-01-01T00:00:05Z";
  input.runs.back().finished_at.clear();
  EXPECT_THAT(make_report(input, {}).value().subtitle, ends("2026-01-01T00:00:09Z")) << "the other run did not end";
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
  const std::vector<Figure> one = figures(document_of(points), "tiles");
  ASSERT_EQ(one.size(), 1U);
  EXPECT_THAT(one.front().chart.title,
              HasSubstr(text(msg::tile_map::hidden_runs{.hidden = "first", .runs = "second"})));
  const std::vector<Figure> both = figures(document_of(points, {.baseline = {0}}), "tiles");
  ASSERT_EQ(both.size(), 2U);
  EXPECT_THAT(both[0].chart.title, HasSubstr(text(msg::report::baseline_map{.runs = "first"})));
  EXPECT_THAT(both[1].chart.title, HasSubstr(text(msg::report::candidate_map{.runs = "second"})));
  EXPECT_NE(both[0].id, both[1].id);
  const auto& before = std::get<HeatMap>(both[0].chart.picture);
  const auto& after = std::get<HeatMap>(both[1].chart.picture);
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
  const std::vector<Figure> both = figures(document_of(points, {.baseline = {0}}), "tiles");
  ASSERT_EQ(both.size(), 2U);
  for (const Figure& figure : both) {
    const auto& map = std::get<HeatMap>(figure.chart.picture);
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
  EXPECT_THAT(without, Not(Contains(MatchesMessage(documents::fewer_bytes()))));
  EXPECT_THAT(without, Not(Contains(MatchesMessage(residual("*", "*")))));
  EXPECT_THAT(without, Contains(MatchesMessage(documents::faster())));
}

TEST(Report, MarksSimulatedData) {
  const auto warned = Contains(MatchesMessage(msg::report::is_simulated{.all = "*", .points = "*"}));
  EXPECT_THAT(documents::sentences(document_of(fixtures::memory_wall())), Not(warned));
  const Document document = document_of(fixtures::memory_wall(true));
  EXPECT_THAT(documents::sentences(document), warned);
  const std::vector<Figure> io = figures(document, "io");
  ASSERT_FALSE(io.empty());
  const std::string svg = to_svg(io.front().chart, "x", Placement::alone);
  EXPECT_THAT(svg, AllOf(HasSubstr("class=\"l d c00\""), HasSubstr("class=\"e c00\"")));
  EXPECT_THAT(svg, Not(HasSubstr("class=\"f c00\"")));
}

TEST(Report, BeginsWithImpossibleValues) {
  std::vector<PointRecord> records = fixtures::peers();
  const auto impossible = MatchesMessage(msg::report::impossible{.all = "*", .points = "*"});
  const auto import_of = [&] {
    fixtures::Points points;
    points.add(records, fixtures::run(Provenance::imported));
    return sentences(document_of(points));
  };
  EXPECT_THAT(import_of(), Not(Contains(impossible)));
  for (PointRecord& record : records) record.kernels.front().metrics.clear();
  records.front().kernels.front().samples_ns = {100};  // instead of microseconds
  const std::vector<std::string> flagged = import_of();
  EXPECT_THAT(flagged.at(0), MatchesMessage(msg::report::impossible{.all = "*", .points = "1"}));
  EXPECT_THAT(flagged.at(1), MatchesMessage(msg::report::above_flop_rate{.percent = "*", .points = "1"}));
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
  const std::vector<Figure> roofs = figures(document_of(points), "roofline");
  ASSERT_FALSE(roofs.empty());
  std::vector<std::string> labels;
  for (const Line& line : std::get<LineChart>(roofs.front().chart.picture).lines) labels.push_back(line.label);
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
    return sentences(document_of({longer, shorter, one, other}));
  };
  EXPECT_THAT(answer_of(1.04), Not(Contains(MatchesMessage(documents::faster()))));
  EXPECT_THAT(answer_of(1.2), Contains(MatchesMessage(documents::faster("1.20"))));
}

TEST(Report, ReadOutsHaveExactValues) {
  const std::vector<PointRecord> records = fixtures::memory_wall();
  const Document document = document_of(records);
  const std::vector<Figure> io = figures(document, "io");
  const auto& lines = std::get<LineChart>(io.front().chart.picture).lines;
  std::size_t measured = 0;
  for (const Line& line : lines) {
    for (const Mark& mark : line.marks) {
      if (line.provenance == Provenance::modeled) continue;
      ++measured;
      EXPECT_THAT(mark.read_out_text,
                  AllOf(HasSubstr(exact_text(mark.y) + " byte"), HasSubstr("N " + exact_text(mark.x))));
      EXPECT_TRUE(std::ranges::any_of(records, [&](const PointRecord& record) {
        const auto bytes = dram_traffic(record);
        return bytes && bytes->value == mark.y && static_cast<double>(record.spec.problem.n_k) == mark.x;
      }));
    }
  }
  EXPECT_GT(measured, 10U);
}

TEST(Report, MapsShowValuesAndReasons) {
  const Document document = document_of(fixtures::tile_sweep());
  const std::vector<Figure> maps = figures(document, "tiles");
  ASSERT_FALSE(maps.empty());
  bool refused = false;
  for (const auto& row : std::get<HeatMap>(maps.front().chart.picture).cells) {
    for (const MapCell& cell : row) {
      if (!cell.value && !cell.read_out_text.empty()) {
        refused = true;
        EXPECT_THAT(cell.read_out_text, HasSubstr(": ")) << "the reason";
      }
    }
  }
  EXPECT_TRUE(refused);
  EXPECT_TRUE(std::get<HeatMap>(maps.front().chart.picture).less_is_better) << "of times";
}

TEST(Report, AcceptsFailuresAndSinglePoints) {
  const Document failures =
      document_of({fixtures::failed_point(fixtures::spec("fa2", 1024), Disposition::crashed, "it fell")});
  EXPECT_THAT(sentences(failures), Contains(HasSubstr("it fell")));
  EXPECT_EQ(documents::column(documents::table(failures, "points"), "origin").front(), "") << "nothing was measured";
  EXPECT_EQ(documents::column(documents::table(failures, "points"), "reason").front(), "it fell");
  EXPECT_TRUE(failures.figures.empty());
  const Document one = document_of({fixtures::ok_point(fixtures::spec("fa2", 1024))});
  EXPECT_THAT(to_html(one), AllOf(HasSubstr("id=\"row-1\""), HasSubstr("<details id=\"appendix\" open>")));
  EXPECT_THAT(to_html(document_of(fixtures::memory_wall())), HasSubstr("<details id=\"appendix\">"));
}

TEST(Report, ScaleTicksStayInRange) {
  for (const bool from_zero : {true, false}) {
    const Scale scale({"", Quantity::number, false, from_zero}, 0, 10, 0, 100);
    EXPECT_EQ(scale.at(0) == 0, from_zero);
  }
  for (const bool log : {true, false}) {
    for (const double most : {1.1e6, 8e6, 3e7, 9e8}) {
      const Scale scale({"", Quantity::bytes, log, false}, 1e6, most, 0, 100);
      for (const Scale::Tick& tick : scale.ticks()) {
        EXPECT_GE(scale.at(tick.at), 0) << tick.label;
        EXPECT_LE(scale.at(tick.at), 100) << tick.label;
      }
    }
  }
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
    const std::vector<std::string> all = sentences(document_of(records));
    EXPECT_EQ(std::ranges::any_of(all, [](const auto& each) { return matches(each, documents::fewer_bytes()); }),
              expected);
  }
}

TEST(Report, ComparesTwoGpus) {
  const std::string validated = "NVIDIA H100 80GB HBM3";
  const auto answer_of = [](double factor, const std::string& device) {
    std::vector<PointRecord> played = fixtures::memory_wall(true);
    for (PointRecord& record : played) {
      for (KernelRecord& kernel : record.kernels) {
        for (double& ns : kernel.samples_ns) ns *= factor;
      }
    }
    fixtures::Points points(fixtures::memory_wall());
    analysis::Run run = fixtures::run(Provenance::simulated, "played");
    run.device_name = device;
    run.limits = *find_gpu(device);
    points.add(played, run);
    return sentences(document_of(points));
  };
  const auto slower = [](const std::string& slow, const std::string& fast) {
    return MatchesMessage(Message(msg::report::slower_there{
        .fast = fast, .fast_time = "*", .origin = "*", .ratio = "*", .series = "*", .slow = slow, .slow_time = "*"}));
  };
  const std::string simulated = text(msg::report::simulated_gpu{.device = "H100*"});
  EXPECT_THAT(answer_of(3, validated), Contains(slower(simulated, "H200*")));
  EXPECT_THAT(answer_of(1.02, validated), Not(Contains(slower("*", "*"))));
  EXPECT_THAT(answer_of(3, "NVIDIA L40S"), Not(Contains(slower("*", "*"))));  // not validated
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
    for (const Figure& figure : figures(document, "roofline")) {
      for (const Line& line : std::get<LineChart>(figure.chart.picture).lines) {
        for (const Mark& mark : line.marks) {
          for (const Bound bound : {Bound::mma_sync, Bound::wgmma, Bound::tensor}) {
            if (matches(mark.read_out_text, nearest_roof(bound))) bounds.insert(bound);
          }
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

TEST(Report, MapsHaveSufficientDigits) {
  std::vector<PointRecord> records = fixtures::tile_sweep();
  double more = 0;
  for (PointRecord& record : records) {
    for (KernelRecord& kernel : record.kernels) {
      for (double& ns : kernel.samples_ns) ns = 138'600'000 + more;
    }
    more += 1000;
  }
  const std::vector<Figure> times = figures(document_of(records), "tiles");
  ASSERT_EQ(times.size(), 1U);
  const auto& map = std::get<HeatMap>(times.front().chart.picture);
  EXPECT_GT(map.digits, 3);
  EXPECT_NE(number_text(map.low, map.digits), number_text(map.high, map.digits));
  const std::string uniform = text(msg::report::map_uniform{.percent = "*"});
  EXPECT_THAT(times.front().caption, HasSubstr(uniform.substr(0, uniform.find('*')) + "0."));
  EXPECT_THAT(to_svg(times.front().chart, "x", Placement::alone),
              HasSubstr(">0% = " + number_text(map.low, map.digits) + " ms<"));
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

TEST(Report, OutputIsDeterministic) {
  const std::vector<PointRecord> records = fixtures::memory_wall();
  EXPECT_EQ(to_html(document_of(records)), to_html(document_of(records)));
}

TEST(Report, LinksHaveTargets) {
  const std::string page = to_html(document_of(fixtures::memory_wall()));
  const auto all = [&](const char* attribute) {
    const std::regex place(std::string(attribute) + "=\"#?(row-[0-9]+)\"");
    std::set<std::string> places;
    for (auto at = std::sregex_iterator(page.begin(), page.end(), place); at != std::sregex_iterator(); ++at)
      places.insert((*at)[1].str());
    return places;
  };
  const std::set<std::string> links = all("href");
  const std::set<std::string> rows = all("id");
  EXPECT_TRUE(std::ranges::includes(rows, links));
  EXPECT_GT(links.size(), 5U);
  EXPECT_EQ(rows.size(), fixtures::memory_wall().size());
  EXPECT_THAT(page, Not(::testing::AnyOf(HasSubstr("src="), HasSubstr("url("), HasSubstr("@import"))));
}

TEST(Report, EscapesFileTexts) {
  const std::string hostile = "<script>alert(1)</script>]]>\"'&|`x`[a](javascript:alert(1))\n# b \x1b[2J";
  std::vector<PointRecord> records = fixtures::memory_wall();
  records.push_back(
      fixtures::failed_point(fixtures::spec("fa2", 32), Disposition::crashed, Message::verbatim(hostile)));
  Request request;
  request.title = hostile;
  Input input = input_of(fixtures::Points(records));
  input.runs.front().file = hostile;
  input.runs.front().argv.push_back("</code></pre>```" + hostile);
  const Result<Document, Message> document = make_report(input, request);
  ASSERT_TRUE(document.ok());
  const std::string page = to_html(*document);
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(page.find("</code></pre>```"), std::string::npos);
  EXPECT_EQ(page.find('\x1b'), std::string::npos);
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert"));
  const MarkdownFiles files = to_markdown(*document, "figures");
  EXPECT_EQ(files.text.find("<script>"), std::string::npos);
  EXPECT_EQ(files.text.find("](javascript"), std::string::npos);
  for (const MarkdownFiles::File& file : files.attachments) {
    EXPECT_TRUE(file.name.ends_with(".csv") || file.content.find("<script") == std::string::npos) << file.name;
  }
}

TEST(ReportText, EscapesMarkdown) {
  EXPECT_EQ(markdown("a|b"), "a\\|b");
  EXPECT_EQ(markdown("2026-11-23T02:59:56Z"), "2026-11-23T02:59:56Z");
  EXPECT_EQ(markdown("http://x a:b: c"), "http&#58;//x a&#58;b: c");
  EXPECT_EQ(markdown("- a -- b"), "\\- a -\\- b");
  EXPECT_EQ(markdown("www.x.y"), "www&#46;x.y");
  EXPECT_EQ(markdown("<b>"), "&lt;b\\>");
  EXPECT_EQ(markdown("`x` [y](z)"), "\\`x\\` \\[y\\]\\(z\\)");
  EXPECT_EQ(markup("a\"<&>'"), "a&quot;&lt;&amp;&gt;&#39;");
}

TEST(ReportPictures, HaveNoNegativeZero) {
  EXPECT_EQ(coordinate(-0.001), "0");
  EXPECT_EQ(coordinate(12.345), "12.35");
}

}  // namespace
}  // namespace attnscope::report
