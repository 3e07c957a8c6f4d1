// SPDX-License-Identifier: Apache-2.0
// Points with several rounds: written round by round, read, copied, merged, damaged.
#include "profiler/metrics/rounds.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <sstream>
#include <string>
#include <vector>

#include "messages/report.h"
#include "profiler/metrics/metrics.h"
#include "profiler/report/document.h"
#include "storage/exchange/export.h"
#include "storage/exchange/import.h"
#include "storage/loaded_runs.h"
#include "storage/merge.h"
#include "storage/run_store.h"
#include "tests/message_matchers.h"
#include "tests/storage/store_test.h"

namespace attnscope::testing {
namespace {

using test::HasWords;
using test::IsReason;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Mode = RunStore::Mode;
using StoredRounds = FileTest;

RunHeader header_of_rounds(int rounds) {
  RunHeader header = full_header();
  header.rounds = rounds;
  header.planned_points = 1;
  header.order_seed = 0xFFFFFFFFFFFFFFF0U;
  return header;
}

/// Returns an ok record of several kernels; other dispositions are not measured again.
PointRecord measured_record() {
  PointRecord record = full_record();
  record.disposition = Disposition::ok;
  record.reason = {};
  return record;
}

/// Returns the record of another round, with all counts and times increased by `more`.
PointRecord next_round_record(PointRecord record, double more) {
  for (KernelRecord& kernel : record.kernels) {
    for (MetricValue& metric : kernel.metrics) {
      if (metric.provenance != Provenance::modeled) metric.value += more;
    }
    for (double& ns : kernel.samples_ns) ns += more;
  }
  if (record.clocks) record.clocks->sm_clock_hz += more;
  return record;
}

/// Writes a run of one point with `rounds` rounds.
std::int64_t write_rounds(const std::filesystem::path& file, int rounds, StoredRunState state) {
  RunStore store = RunStore::open(file, Mode::collect);
  const std::int64_t run = store.begin_run(header_of_rounds(3));
  store.add_point(run, 0, measured_record());
  for (int round = 1; round < rounds; ++round)
    store.add_round(run, 0, round, next_round_record(measured_record(), round));
  store.finish_run(run, state);
  return run;
}

void expect_same_rounds(const PointRecord& got, const PointRecord& wanted) {
  ASSERT_EQ(got.rounds.size(), wanted.rounds.size());
  for (std::size_t i = 0; i < got.rounds.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(got.rounds[i].round, wanted.rounds[i].round);
    EXPECT_EQ(got.rounds[i].clocks, wanted.rounds[i].clocks);
    for (const KernelRecord& kernel : wanted.kernels) {
      EXPECT_EQ(round_values(metric_key::time_median_ns, got, kernel.kernel),
                round_values(metric_key::time_median_ns, wanted, kernel.kernel));
      for (const MetricValue& metric : kernel.metrics) {
        EXPECT_EQ(round_values(metric.name, got, kernel.kernel), round_values(metric.name, wanted, kernel.kernel))
            << metric.name;
      }
    }
  }
  ASSERT_EQ(got.kernels.size(), wanted.kernels.size());
  for (std::size_t i = 0; i < got.kernels.size(); ++i) {
    EXPECT_EQ(got.kernels[i].samples_ns, wanted.kernels[i].samples_ns);
    EXPECT_EQ(got.kernels[i].launch, wanted.kernels[i].launch);
    for (const MetricValue& metric : wanted.kernels[i].metrics) {
      EXPECT_EQ(got.kernels[i].metric(metric.name), metric.value) << metric.name;
    }
  }
  EXPECT_EQ(got.clocks, wanted.clocks);
  EXPECT_EQ(got.disposition, wanted.disposition);
  EXPECT_EQ(got.wall_seconds, wanted.wall_seconds);
}

PointRecord three_rounds() {
  PointRecord wanted = measured_record();
  add_round(wanted, 1, next_round_record(measured_record(), 1));
  add_round(wanted, 2, next_round_record(measured_record(), 2));
  return wanted;
}

TEST_F(StoredRounds, RoundTrip) {
  write_rounds(file, 3, StoredRunState::complete);
  const RunStore store = RunStore::open(file, Mode::read_only);
  ASSERT_THAT(store.runs(), SizeIs(1));
  EXPECT_EQ(store.runs()[0].rounds, 3);
  EXPECT_EQ(store.runs()[0].order_seed, 0xFFFFFFFFFFFFFFF0U);
  const std::vector<StoredPoint> points = store.points();
  ASSERT_THAT(points, SizeIs(1));
  expect_same_rounds(points[0].record, three_rounds());
  EXPECT_THAT(store.invalid_rows(), IsEmpty()) << "the run is not signed before its end";
  const std::vector<MeasuredRounds> measured = store.measured_rounds(1);
  ASSERT_THAT(measured, SizeIs(1));
  EXPECT_THAT(measured[0].rounds, ElementsAre(0, 1, 2));
  const FileCheck check = check_file(file);
  EXPECT_THAT(check.invalid_rows, IsEmpty());
  EXPECT_THAT(check.damage, IsEmpty());
}

TEST_F(StoredRounds, RecordWithSeveralRoundsIsStored) {
  const CompleteRun run{.header = header_of_rounds(3), .points = {three_rounds()}};
  RunStore::open(file, Mode::collect).add_complete_runs({&run, 1});
  const RunStore store = RunStore::open(file, Mode::read_only);
  ASSERT_THAT(store.points(), SizeIs(1));
  expect_same_rounds(store.points()[0].record, three_rounds());
  EXPECT_THAT(store.invalid_rows(), IsEmpty());
}

TEST_F(StoredRounds, FailedRoundIsStoredWithItsReason) {
  const std::int64_t run = write_rounds(file, 2, StoredRunState::cancelled);
  {
    RunStore store = RunStore::open(file, Mode::collect);
    PointRecord crashed = simple_record(64);
    crashed.disposition = Disposition::crashed;
    crashed.reason = make_reason("point.timing_crashed", "A kernel crashed during timing.");
    store.reopen_run(run);
    store.add_round(run, 0, 2, crashed);
  }
  const RunStore store = RunStore::open(file, Mode::read_only);
  const StoredPoint point = store.points().at(0);
  EXPECT_EQ(point.record.disposition, Disposition::crashed);
  EXPECT_THAT(point.record.reason, IsReason("point.in_round", "3 A kernel crashed during timing"));
  EXPECT_THAT(point.record.rounds, SizeIs(2));
  EXPECT_EQ(store.measured_rounds(run).at(0).disposition, Disposition::crashed);
  EXPECT_THAT(store.invalid_rows(), IsEmpty());
}

TEST_F(StoredRounds, DuplicateRoundIsRejected) {
  const std::int64_t run = write_rounds(file, 2, StoredRunState::cancelled);
  RunStore store = RunStore::open(file, Mode::collect);
  EXPECT_THAT(storage_error_of([&] { store.add_round(run, 0, 1, measured_record()); }).what(),
              HasWords("round 2 0 run 1"));
  EXPECT_THAT(storage_error_of([&] { store.add_round(run, 7, 1, measured_record()); }).what(), HasWords("index 7"));
  EXPECT_THAT(storage_error_of([&] { store.add_round(run, 0, -1, measured_record()); }).what(),
              HasWords("round -1 0 999999"));
  EXPECT_THAT(store.points().at(0).record.rounds, SizeIs(2)) << "nothing was written";
  EXPECT_THAT(store.invalid_rows(), IsEmpty());
}

TEST_F(StoredRounds, MergeKeepsTheCopyWithMoreRounds) {
  const auto early = folder / "early.attnscope";
  const auto late = folder / "late.attnscope";
  const std::int64_t run = write_rounds(early, 1, StoredRunState::cancelled);
  std::filesystem::copy_file(early, late);
  {
    RunStore store = RunStore::open(late, Mode::collect);
    store.add_round(run, 0, 1, next_round_record(measured_record(), 1));
    store.add_round(run, 0, 2, next_round_record(measured_record(), 2));
    store.finish_run(run, StoredRunState::complete);
  }
  for (const bool early_first : {true, false}) {
    const auto target = folder / (early_first ? "a.attnscope" : "b.attnscope");
    const MergeReport report = merge_files(early_first ? std::vector{early, late} : std::vector{late, early}, target,
                                           DamagedFilePolicy::refuse);
    EXPECT_TRUE(report.whole());
    const RunStore store = RunStore::open(target, Mode::read_only);
    ASSERT_THAT(store.points(), SizeIs(1));
    expect_same_rounds(store.points()[0].record, three_rounds());
    EXPECT_EQ(store.runs()[0].state, StoredRunState::complete);
    EXPECT_THAT(store.invalid_rows(), IsEmpty());
  }
}

TEST_F(StoredRounds, ReportUsesTheCopyWithMoreRounds) {
  const auto early = folder / "early.attnscope";
  const auto late = folder / "late.attnscope";
  const std::int64_t run = write_rounds(early, 1, StoredRunState::cancelled);
  std::filesystem::copy_file(early, late);
  {
    RunStore store = RunStore::open(late, Mode::collect);
    store.add_round(run, 0, 1, next_round_record(measured_record(), 10));
    store.add_round(run, 0, 2, next_round_record(measured_record(), 10));
    store.finish_run(run, StoredRunState::complete);
  }
  for (const bool early_first : {true, false}) {
    const std::vector<RunSource> sources =
        early_first ? std::vector<RunSource>{{early}, {late}} : std::vector<RunSource>{{late}, {early}};
    const report::Input input = report_input(load_runs(sources), "0");
    ASSERT_EQ(input.table.size(), 1U);
    ASSERT_THAT(input.points, SizeIs(1));
    ASSERT_THAT(input.runs, SizeIs(1));
    const PointRecord whole = RunStore::open(late, Mode::read_only).points().at(0).record;
    const analysis::ValueColumn& time = input.table.values(metric_key::time_median_ns);
    ASSERT_TRUE(time.has(0));
    EXPECT_EQ(time.value(0), evaluate(metric_key::time_median_ns, whole)->value);
    EXPECT_EQ(input.runs[0].state, "complete");
    EXPECT_EQ(input.fuller_copies, early_first ? 1U : 0U);
    const Result<report::Document, Message> document = report::make_report(input, {});
    ASSERT_TRUE(document.ok());
    const std::string note = text(msg::report::duplicates{.points = 1});
    EXPECT_EQ(report::to_html(*document).find(note) != std::string::npos, early_first);
  }
}

// Comparisons compute the time of a measurement within a round from plan index and seed.
TEST_F(StoredRounds, ReportKeepsPlanIndices) {
  {
    RunStore store = RunStore::open(file, Mode::collect);
    RunHeader header = header_of_rounds(3);
    header.planned_points = 8;
    const std::int64_t run = store.begin_run(header);
    store.add_point(run, 5, measured_record());
    store.finish_run(run, StoredRunState::complete);
  }
  const report::Input input = report_input(load_runs({{file}}), "0");
  ASSERT_EQ(input.table.size(), 1U);
  EXPECT_EQ(input.table.points().place(0), 5U);
}

/// SQL that damages a file of three rounds, and the expected error.
class DamagedRounds : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(DamagedRounds, InvalidateThePoint) {
  const TemporaryFolder folder;
  const auto file = folder / "a.attnscope";
  write_rounds(file, 3, StoredRunState::complete);
  ASSERT_GE(change_rows(file, GetParam().first), 1);
  const RunStore store = RunStore::open(file, Mode::read_only);
  EXPECT_THAT(store.points(), IsEmpty());
  ASSERT_FALSE(store.invalid_rows().empty());
  EXPECT_THAT(text(store.invalid_rows()[0].why), HasWords(GetParam().second));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, DamagedRounds,
    ::testing::Values(std::pair("UPDATE timing_samples SET round = -1 WHERE round = 2", "round -1"),
                      std::pair("UPDATE metric_values SET round = 1000000000 WHERE round = 1", "round 1000000000"),
                      std::pair("UPDATE clocks SET round = 9223372036854775807 WHERE round = 1",
                                "round 9223372036854775807"),
                      std::pair("UPDATE runs SET rounds = 0", "rounds 0 1 1000000")));

TEST_F(StoredRounds, MissingRoundsAreEmpty) {
  PointRecord record = measured_record();
  add_round(record, 5, next_round_record(measured_record(), 1));
  add_round(record, 999'999, next_round_record(measured_record(), 2));
  const CompleteRun run{.header = header_of_rounds(1'000'000), .points = {record}};
  RunStore::open(file, Mode::collect).add_complete_runs({&run, 1});
  const RunStore store = RunStore::open(file, Mode::read_only);
  ASSERT_THAT(store.points(), SizeIs(1));
  expect_same_rounds(store.points()[0].record, record);
  EXPECT_THAT(store.measured_rounds(1).at(0).rounds, ElementsAre(0, 5, 999'999));
}

TEST(Rounds, survive_export_and_import) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "rounds.attnscope";
  write_rounds(file, 3, StoredRunState::complete);
  const RunStore store = RunStore::open(file, RunStore::Mode::read_only);
  const PointRecord wanted = store.points().at(0).record;
  std::array<std::ostringstream, 3> written;
  export_json(store, {}, written[0]);
  export_csv(store, {}, written[1]);
  export_long_csv(store, {}, written[2]);
  for (const std::ostringstream& text : written) {
    const Result<Import, Message> import = import_points(text.str(), detect_import_format(text.str()), {});
    ASSERT_TRUE(import.ok()) << attnscope::text(import.error());
    ASSERT_EQ(import->devices.size(), 1U);
    CompleteRun run{.header = full_header(), .points = import->devices[0].points};
    run.header.rounds = 3;
    run.header.imported = true;
    RunStore again =
        RunStore::open(folder / fmt::format("again {}.attnscope", &text - written.data()), RunStore::Mode::collect);
    again.add_complete_runs({&run, 1});
    const PointRecord got = again.points().at(0).record;
    ASSERT_EQ(got.rounds.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(got.rounds[i].round, wanted.rounds[i].round);
      ASSERT_TRUE(got.rounds[i].clocks);
      EXPECT_EQ(got.rounds[i].clocks->sm_clock_hz, wanted.rounds[i].clocks->sm_clock_hz);
      EXPECT_EQ(got.rounds[i].clocks->throttled, wanted.rounds[i].clocks->throttled);
    }
    for (const KernelRecord& kernel : wanted.kernels) {
      const KernelRecord* there = got.kernel(kernel.kernel);
      ASSERT_NE(there, nullptr) << kernel.kernel;
      EXPECT_EQ(there->samples_ns, kernel.samples_ns);
      EXPECT_EQ(round_values(metric_key::time_median_ns, got, kernel.kernel),
                round_values(metric_key::time_median_ns, wanted, kernel.kernel));
      for (const MetricValue& metric : kernel.metrics) {
        EXPECT_EQ(there->metric(metric.name), metric.value) << kernel.kernel << " " << metric.name;
        if (metric.provenance == Provenance::modeled) continue;  // stored with the first round
        EXPECT_EQ(round_values(metric.name, got, kernel.kernel), round_values(metric.name, wanted, kernel.kernel))
            << kernel.kernel << " " << metric.name;
      }
    }
  }
}

TEST(Rounds, malformed_rounds_are_rejected) {
  const auto error = [](const std::string& rounds) {
    const std::string text = R"({"points": [{"device": "GPU X", "algorithm": "mine", "N": 64, "heads": 1, "d": 64,
      "time_ns": 1000, "rounds": )" +
                             rounds + "}]}";
    const Result<Import, Message> import = import_points(text, ImportFormat::json, {});
    return import.ok() ? std::string() : attnscope::text(import.error());
  };
  EXPECT_THAT(error("7"), HasSubstr("'rounds'"));
  EXPECT_THAT(error("[7]"), HasSubstr("'rounds'"));
  EXPECT_THAT(error(R"([{"round": -1, "samples_ns": [1]}])"), HasWords("column 'round' -1"));
  EXPECT_THAT(error(R"([{"round": 1e300, "samples_ns": [1]}])"), HasWords("column 'round' 1e+300"));
  EXPECT_THAT(error(R"([{"samples_ns": [1]}])"), HasWords("column 'rounds' \"round\""));
  EXPECT_THAT(error(R"([{"round": 1, "samples_ns": [1]}, {"round": 1, "samples_ns": [2]}])"), HasWords("round 1"));
  EXPECT_THAT(error(R"([{"round": 1, "samples_ns": ["x"]}])"), HasSubstr("'samples_ns'"));
  EXPECT_THAT(error(R"([{"round": 1, "metrics": [], "samples_ns": [1]}])"), HasSubstr("'metrics'"));
  // Rounds without times are ignored; the point's own time is used.
  EXPECT_EQ(error(R"([{"round": 0, "samples_ns": []}, {"round": 1}])"), "");
}

}  // namespace
}  // namespace attnscope::testing
