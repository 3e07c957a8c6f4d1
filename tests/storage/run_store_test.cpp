// SPDX-License-Identifier: Apache-2.0
#include "storage/run_store.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <set>

#include "storage/merge.h"
#include "tests/storage/samples.h"

namespace attnscope::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAreArray;
using Mode = RunStore::Mode;

void expect_equal(const PointRecord& got, const PointRecord& want) {
  EXPECT_EQ(got.spec, want.spec);
  EXPECT_EQ(got.disposition, want.disposition);
  EXPECT_EQ(got.reason.id, want.reason.id);
  EXPECT_EQ(english_text(got.reason), english_text(want.reason));
  EXPECT_EQ(got.provenance, want.provenance);
  EXPECT_EQ(got.clocks, want.clocks);
  EXPECT_EQ(got.max_abs_error, want.max_abs_error);
  EXPECT_EQ(got.error_bound, want.error_bound);
  EXPECT_EQ(got.rms_error, want.rms_error);
  EXPECT_EQ(got.wall_seconds, want.wall_seconds);
  ASSERT_EQ(got.kernels.size(), want.kernels.size());
  for (std::size_t i = 0; i < want.kernels.size(); ++i) {
    EXPECT_EQ(got.kernels[i].kernel, want.kernels[i].kernel);
    EXPECT_EQ(got.kernels[i].occupancy_limiter, want.kernels[i].occupancy_limiter);
    EXPECT_EQ(got.kernels[i].samples_ns, want.kernels[i].samples_ns);
    EXPECT_EQ(got.kernels[i].complete, want.kernels[i].complete);
    EXPECT_EQ(got.kernels[i].launch, want.kernels[i].launch);
    EXPECT_THAT(got.kernels[i].metrics, UnorderedElementsAreArray(want.kernels[i].metrics));
  }
}

TEST(RunStore, keeps_every_field_of_a_run) {
  const TemporaryFolder folder;
  const RunHeader header = full_header();
  {
    RunStore store = RunStore::open(folder / "a.attnscope", Mode::collect);
    const std::int64_t run = store.begin_run(header);
    store.add_point(run, 4, full_record());
    store.add_point(run, 2, simple_record(64));
    store.finish_run(run, StoredRunState::cancelled);
  }
  const RunStore store = RunStore::open(folder / "a.attnscope", Mode::read_only);
  ASSERT_EQ(store.runs().size(), 1U);
  const RunSummary run = store.runs().front();
  EXPECT_EQ(run.device_name, "NVIDIA H200");
  EXPECT_EQ(run.device_uuid, header.device.uuid);
  EXPECT_EQ(run.simulated, header.device.simulated);
  EXPECT_EQ(run.device_ordinal, header.device.ordinal);
  EXPECT_EQ(run.preset, header.preset);
  EXPECT_EQ(run.argv, header.argv);
  EXPECT_EQ(run.plan_hash, header.plan_hash);
  EXPECT_EQ(run.planned_points, header.planned_points);
  EXPECT_EQ(run.points, 2U);
  EXPECT_EQ(run.ok_points, 1U);
  EXPECT_EQ(run.state, StoredRunState::cancelled);
  EXPECT_THAT(run.started_at, ::testing::MatchesRegex("....-..-..T..:..:..Z"));
  EXPECT_GE(run.finished_at, run.started_at);

  const DeviceLimits& limits = run.limits;
  const DeviceLimits& wanted = header.device.limits;
  EXPECT_EQ(limits.compute_major, wanted.compute_major);
  EXPECT_EQ(limits.compute_minor, wanted.compute_minor);
  EXPECT_EQ(limits.sm_count, wanted.sm_count);
  EXPECT_EQ(limits.max_threads_per_block, wanted.max_threads_per_block);
  EXPECT_EQ(limits.max_threads_per_sm, wanted.max_threads_per_sm);
  EXPECT_EQ(limits.max_blocks_per_sm, wanted.max_blocks_per_sm);
  EXPECT_EQ(limits.registers_per_sm, wanted.registers_per_sm);
  EXPECT_EQ(limits.shared_bytes_per_block, wanted.shared_bytes_per_block);
  EXPECT_EQ(limits.shared_bytes_per_sm, wanted.shared_bytes_per_sm);
  EXPECT_EQ(limits.shared_bytes_reserved, wanted.shared_bytes_reserved);
  EXPECT_EQ(limits.l2_bytes, wanted.l2_bytes);
  EXPECT_EQ(limits.dram_bytes, wanted.dram_bytes);
  EXPECT_EQ(limits.dram_bytes_per_second, wanted.dram_bytes_per_second);
  EXPECT_EQ(limits.l2_bytes_per_second, wanted.l2_bytes_per_second);
  EXPECT_EQ(limits.tensor_flops, wanted.tensor_flops);

  EXPECT_EQ(run.environment.app_version, header.environment.app_version);
  EXPECT_EQ(run.environment.driver_version, header.environment.driver_version);
  EXPECT_EQ(run.environment.cuda_driver_api, header.environment.cuda_driver_api);
  EXPECT_EQ(run.environment.nvrtc_version, header.environment.nvrtc_version);
  EXPECT_EQ(run.environment.cupti_version, header.environment.cupti_version);
  EXPECT_EQ(run.environment.nvml_version, header.environment.nvml_version);
  EXPECT_EQ(run.environment.operating_system, header.environment.operating_system);

  EXPECT_EQ(run.options.counters, header.options.counters);
  EXPECT_EQ(run.options.verify, header.options.verify);
  EXPECT_EQ(run.options.extra_metrics, header.options.extra_metrics);
  EXPECT_EQ(run.options.min_samples, header.options.min_samples);
  EXPECT_EQ(run.options.max_samples, header.options.max_samples);
  EXPECT_EQ(run.options.max_noise, header.options.max_noise);
  EXPECT_EQ(run.options.timeout, header.options.timeout);
  EXPECT_EQ(run.options.seed, header.options.seed);
  EXPECT_EQ(run.options.input_kind, header.options.input_kind);
}

TEST(RunStore, keeps_every_field_of_a_point) {
  const TemporaryFolder folder;
  {
    RunStore store = RunStore::open(folder / "a.attnscope", Mode::collect);
    const std::int64_t run = store.begin_run(full_header());
    store.add_point(run, 4, full_record());
    store.add_point(run, 2, simple_record(64));
  }
  const RunStore store = RunStore::open(folder / "a.attnscope", Mode::read_only);
  const std::vector<StoredPoint> points = store.points();
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].index, 2U);
  EXPECT_EQ(points[1].index, 4U);
  expect_equal(points[0].record, simple_record(64));
  expect_equal(points[1].record, full_record());
}

TEST(RunStore, keeps_every_disposition) {
  const TemporaryFolder folder;
  RunStore store = RunStore::open(folder / "a.attnscope", Mode::collect);
  const std::int64_t run = store.begin_run(full_header());
  const std::vector<Disposition> all{Disposition::ok,        Disposition::infeasible,    Disposition::out_of_memory,
                                     Disposition::incorrect, Disposition::compile_error, Disposition::timeout,
                                     Disposition::crashed,   Disposition::no_counters,   Disposition::cancelled};
  for (std::size_t i = 0; i < all.size(); ++i) {
    PointRecord record = simple_record(64);
    record.disposition = all[i];
    store.add_point(run, i, record);
  }
  const std::vector<StoredPoint> points = store.points();
  ASSERT_EQ(points.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(points[i].record.disposition, all[i]);
}

TEST(RunStore, reports_provenance_of_each_run) {
  const TemporaryFolder folder;
  RunStore store = RunStore::open(folder / "a.attnscope", Mode::collect);
  RunHeader header = full_header();
  store.begin_run(header);
  header.imported = true;
  store.begin_run(header);
  header = full_header();
  header.device.uuid = "SIM-h200";
  header.device.simulated = true;
  store.begin_run(header);
  std::vector<Provenance> provenances;
  for (const RunSummary& run : store.runs()) provenances.push_back(run.provenance);
  EXPECT_THAT(provenances, ElementsAre(Provenance::measured, Provenance::imported, Provenance::simulated));
}

TEST(RunStore, point_with_unknown_mask_is_skipped) {
  const TemporaryFolder folder;
  const auto file = folder / "a.attnscope";
  {
    RunStore store = RunStore::open(file, Mode::collect);
    store.add_point(store.begin_run(full_header()), 0, full_record());
  }
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE).exec("UPDATE points SET mask = 'sliding'");
  const RunStore store = RunStore::open(file, Mode::read_only);
  EXPECT_EQ(store.points().size(), 0U);
  ASSERT_EQ(store.invalid_rows().size(), 1U);
  EXPECT_THAT(text(store.invalid_rows()[0].why), ::testing::HasSubstr("sliding"));
}

TEST(RunStore, stores_all_runs_or_none) {
  const TemporaryFolder folder;
  const auto file = folder / "a.attnscope";
  CompleteRun whole{.header = full_header(), .points = {full_record(), simple_record(64)}};
  whole.header.imported = true;
  whole.points[0].provenance = Provenance::imported;
  whole.points[0].spec.algorithm = "torch-flash \xc3\xbc";
  whole.points[0].spec.tile = {.br = 0, .bc = 0};
  whole.points[0].kernels[0].metrics[0].provenance = Provenance::imported;
  RunStore store = RunStore::open(file, Mode::collect);
  EXPECT_THAT(store.add_complete_runs({{whole, whole}}), ElementsAre(1, 2));
  EXPECT_EQ(store.runs()[1].state, StoredRunState::complete);
  EXPECT_EQ(store.runs()[1].provenance, Provenance::imported);
  expect_equal(store.points()[0].record, whole.points[0]);

  CompleteRun broken = whole;
  broken.points[1].spec.problem.dropout = 1;  // violates the schema's check
  EXPECT_THROW(store.add_complete_runs({{whole, broken}}), FileError);
  EXPECT_EQ(store.runs().size(), 2U);
  EXPECT_EQ(store.points().size(), 4U);
}

TEST(RunStore, nan_metrics_are_dropped_and_nan_errors_are_infinite) {
  const TemporaryFolder folder;
  RunStore store = RunStore::open(folder / "a.attnscope", Mode::collect);
  PointRecord record = simple_record(64);
  record.max_abs_error = std::numeric_limits<double>::quiet_NaN();
  record.kernels[0].metrics[0].value = std::numeric_limits<double>::quiet_NaN();
  store.add_point(store.begin_run(full_header()), 0, record);
  const PointRecord kept = store.points().front().record;
  ASSERT_TRUE(kept.max_abs_error);
  EXPECT_TRUE(std::isinf(*kept.max_abs_error));
  EXPECT_FALSE(kept.kernels[0].metric("l2_to_sm_bytes"));
  EXPECT_EQ(kept.kernels[0].metric("registers"), 168);
}

TEST(RunStore, reason_is_stored_as_text_and_code) {
  const TemporaryFolder folder;
  PointRecord record = simple_record(64);
  record.disposition = Disposition::infeasible;
  record.reason = make_reason("refusal.head_dim", "d {} is not supported; supported: 64, 128.", 72);
  {
    RunStore store = RunStore::open(folder / "a.attnscope", Mode::collect);
    const std::int64_t run = store.begin_run(full_header());
    store.add_point(run, 0, record);
    store.add_point(run, 1, simple_record(64));
  }
  SQLite::Database file((folder / "a.attnscope").string(), SQLite::OPEN_READWRITE);
  const auto stored = [&](const char* column, int index) {
    return file.execAndGet(std::string("SELECT ") + column +
                           " FROM points WHERE plan_index = " + std::to_string(index));
  };
  EXPECT_EQ(stored("reason", 0).getString(), "d 72 is not supported; supported: 64, 128.");
  EXPECT_EQ(stored("reason_code", 0).getString(), "refusal.head_dim");
  EXPECT_TRUE(stored("reason_code", 1).isNull());
  const PointRecord read = RunStore::open(folder / "a.attnscope", Mode::read_only).points()[0].record;
  EXPECT_EQ(read.reason.id, "refusal.head_dim");
  EXPECT_EQ(text(read.reason), "d 72 is not supported; supported: 64, 128.");
}

TEST(RunStore, filters_points_by_run_and_by_id) {
  const TemporaryFolder folder;
  RunStore store = RunStore::open(folder / "a.attnscope", Mode::collect);
  const std::int64_t first = store.begin_run(full_header());
  const std::int64_t second = store.begin_run(full_header());
  store.add_point(first, 0, simple_record(1));
  const std::int64_t middle = store.add_point(second, 0, simple_record(2));
  store.add_point(first, 1, simple_record(3));
  const auto lengths = [&](std::vector<std::int64_t> runs, std::int64_t after) {
    std::vector<std::int64_t> n;
    for (const StoredPoint& point : store.points(runs, after)) {
      n.push_back(point.record.spec.problem.n_q);
      EXPECT_EQ(point.record.kernels.at(0).samples_ns.size(), 3U);
    }
    return n;
  };
  EXPECT_THAT(lengths({}, 0), ElementsAre(1, 3, 2));
  EXPECT_THAT(lengths({first}, 0), ElementsAre(1, 3));
  EXPECT_THAT(lengths({second}, 0), ElementsAre(2));
  EXPECT_THAT(lengths({}, middle), ElementsAre(3));
  EXPECT_THAT(lengths({second}, middle), ElementsAre());
  EXPECT_THAT(lengths({999}, 0), ElementsAre());
}

/// Writes two runs, the first with descending plan indices; more points than one batch of reading.
void write_many(const std::filesystem::path& file, std::int64_t longest) {
  RunStore store = RunStore::open(file, Mode::collect);
  std::vector<CompleteRun> runs(1);
  runs[0].header = full_header();
  for (std::int64_t n = 1; n <= longest; ++n) runs[0].points.push_back(simple_record(n));
  store.add_complete_runs(runs);
  const std::int64_t second = store.begin_run(full_header());
  for (std::size_t place = 3; place-- > 0;) store.add_point(second, place, full_record());
  store.finish_run(second, StoredRunState::complete);
}

TEST(RunStore, visits_points_in_plan_order) {
  const TemporaryFolder folder;
  write_many(folder / "a.attnscope", 700);
  const RunStore store = RunStore::open(folder / "a.attnscope", Mode::read_only);
  const auto read = [&](std::span<const std::int64_t> runs, std::int64_t after) {
    int begun = 0;
    std::vector<std::pair<std::int64_t, std::size_t>> places;
    store.visit_points(
        runs, after,
        [&] {
          ++begun;
          places.clear();
        },
        [&](StoredPoint&& point) {
          places.emplace_back(point.run_id, point.index);
          expect_equal(point.record,
                       point.run_id == 1 ? simple_record(static_cast<std::int64_t>(point.index) + 1) : full_record());
        });
    EXPECT_EQ(begun, 1);
    return places;
  };
  std::vector<std::pair<std::int64_t, std::size_t>> all;
  for (std::size_t place = 0; place < 700; ++place) all.emplace_back(1, place);
  for (std::size_t place = 0; place < 3; ++place) all.emplace_back(2, place);
  EXPECT_EQ(read({}, 0), all);
  EXPECT_EQ(read({{2}}, 0), (std::vector<std::pair<std::int64_t, std::size_t>>{{2, 0}, {2, 1}, {2, 2}}));
  EXPECT_EQ(read({}, 700), (std::vector<std::pair<std::int64_t, std::size_t>>{{2, 0}, {2, 1}, {2, 2}}));
  EXPECT_TRUE(read({}, 703).empty());
  EXPECT_TRUE(store.invalid_rows().empty());
}

TEST(RunStore, reading_restarts_if_the_file_changes) {
  const TemporaryFolder folder;
  write_many(folder / "a.attnscope", 700);
  write_many(folder / "b.attnscope", 300);
  const RunStore store = RunStore::open(folder / "a.attnscope", Mode::read_only);
  int begun = 0;
  std::size_t given = 0;
  store.visit_points(
      {}, 0,
      [&] {
        ++begun;
        given = 0;
      },
      [&](StoredPoint&&) {
        if (begun == 1 && given == 0) std::filesystem::rename(folder / "b.attnscope", folder / "a.attnscope");
        ++given;
      });
  EXPECT_EQ(begun, 2);
  EXPECT_EQ(given, 303U) << "the points of the replacing file";
}

TEST(RunStore, points_with_any_id_are_read) {
  const TemporaryFolder folder;
  const auto file = folder / "a.attnscope";
  PointRecord none = simple_record(64);
  none.disposition = Disposition::infeasible;
  none.kernels.clear();
  none.clocks.reset();
  {
    RunStore store = RunStore::open(file, Mode::collect);
    const std::int64_t run = store.begin_run(full_header());
    store.add_point(run, 0, none);
    store.add_point(run, 1, none);
    store.finish_run(run, StoredRunState::complete);
  }
  {
    SQLite::Database database(file.string(), SQLite::OPEN_READWRITE);
    ASSERT_EQ(database.exec("UPDATE points SET id = -7 WHERE id = 1"), 1);
  }
  const RunStore store = RunStore::open(file, Mode::read_only);
  ASSERT_EQ(store.points().size(), 2U);
  EXPECT_EQ(store.run_uid(1), std::optional(store.runs().at(0).uid));
  EXPECT_EQ(store.run_uid(99), std::nullopt);
}

TEST(RunStore, large_file_is_checked_again_after_a_change) {
  const TemporaryFolder folder;
  const auto file = folder / "a.attnscope";
  write_many(file, 5);
  {
    SQLite::Database database(file.string(), SQLite::OPEN_READWRITE);
    database.exec("INSERT INTO user_kernels VALUES (99, 'digest', 'mine', '{}', 0)");
    database.exec("INSERT INTO user_kernel_sources VALUES (99, 'a.cu', 'digest', zeroblob(20000000))");
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  const auto open = [&] { return RunStore::open(file, Mode::read_only).runs().size(); };
  EXPECT_EQ(open(), 2U);
  EXPECT_EQ(open(), 2U);
  {
    // In the middle of the blob, whose pages begin with the number of the next page.
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(static_cast<std::streamoff>(std::filesystem::file_size(file) / 8192 * 4096));
    bytes.put('\x7F');
  }
  EXPECT_THROW((void)open(), FileError);
}

TEST(RunStore, reads_one_point_by_id) {
  const TemporaryFolder folder;
  write_many(folder / "a.attnscope", 5);
  {
    SQLite::Database database((folder / "a.attnscope").string(), SQLite::OPEN_READWRITE);
    ASSERT_EQ(database.exec("UPDATE points SET wall_seconds = -1 WHERE id = 2"), 1);
  }
  const RunStore store = RunStore::open(folder / "a.attnscope", Mode::read_only);
  const std::optional<StoredPoint> third = store.point(3);
  ASSERT_TRUE(third);
  EXPECT_EQ(third->id, 3);
  EXPECT_EQ(third->run_id, 1);
  EXPECT_EQ(third->index, 2U);
  expect_equal(third->record, simple_record(3));
  const std::optional<StoredPoint> of_several_kernels = store.point(7);
  ASSERT_TRUE(of_several_kernels);
  expect_equal(of_several_kernels->record, full_record());
  EXPECT_FALSE(store.point(99));
  EXPECT_EQ(store.invalid_rows().size(), 1U) << "the run is damaged";
  EXPECT_FALSE(store.point(2));
  EXPECT_EQ(store.invalid_rows().size(), 2U);
}

TEST(RunStore, reopened_run_is_running) {
  const TemporaryFolder folder;
  RunStore store = RunStore::open(folder / "a.attnscope", Mode::collect);
  const std::int64_t run = store.begin_run(full_header());
  store.finish_run(run, StoredRunState::cancelled);
  store.reopen_run(run);
  EXPECT_EQ(store.runs().at(0).state, StoredRunState::running);
  EXPECT_EQ(store.runs().at(0).finished_at, "");
}

TEST(RunStore, damaged_run_cannot_be_reopened) {
  const TemporaryFolder folder;
  const auto file = folder / "a.attnscope";
  {
    RunStore store = RunStore::open(file, Mode::collect);
    store.finish_run(store.begin_run(full_header()), StoredRunState::cancelled);
  }
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE).exec("UPDATE runs SET preset = 'x'");
  RunStore store = RunStore::open(file, Mode::collect);
  EXPECT_THROW(store.reopen_run(1), FileError);
}

TEST(RunStore, cancelled_point_is_replaced_with_a_larger_id) {
  const TemporaryFolder folder;
  RunStore store = RunStore::open(folder / "a.attnscope", Mode::collect);
  const std::int64_t run = store.begin_run(full_header());
  store.add_point(run, 0, simple_record(64));
  PointRecord cancelled = simple_record(128);
  cancelled.disposition = Disposition::cancelled;
  const std::int64_t before = store.add_point(run, 1, cancelled);
  EXPECT_THAT(places_of(store, run), ElementsAre(0U));
  EXPECT_GT(store.add_point(run, 1, simple_record(128)), before);
  EXPECT_THAT(places_of(store, run), ElementsAre(0U, 1U));
  EXPECT_EQ(store.points().size(), 2U);
}

TEST(RunStore, invalid_point_is_reported_once) {
  const TemporaryFolder folder;
  RunStore store = RunStore::open(folder / "a.attnscope", Mode::collect);
  const std::int64_t run = store.begin_run(full_header());
  store.add_point(run, 0, simple_record(64));
  EXPECT_THROW(store.add_point(run, 0, simple_record(64)), FileError);
  EXPECT_EQ(store.points().size(), 1U);
}

TEST(RunStore, reader_follows_a_running_collector) {
  const TemporaryFolder folder;
  RunStore writer = RunStore::open(folder / "a.attnscope", Mode::collect);
  const std::int64_t run = writer.begin_run(full_header());
  const RunStore reader = RunStore::open(folder / "a.attnscope", Mode::read_only);
  EXPECT_EQ(reader.points().size(), 0U);
  const std::int64_t first = writer.add_point(run, 0, simple_record(64));
  EXPECT_EQ(reader.points({}, 0).size(), 1U);
  writer.add_point(run, 1, simple_record(128));
  ASSERT_EQ(reader.points({}, first).size(), 1U);
  EXPECT_EQ(reader.points({}, first)[0].record.spec.problem.n_q, 128);
  EXPECT_EQ(reader.runs()[0].state, StoredRunState::running);
  writer.finish_run(run, StoredRunState::complete);
  EXPECT_EQ(reader.runs()[0].state, StoredRunState::complete);
}

TEST(RunStore, reader_sees_a_collector_that_starts_later) {
  const TemporaryFolder folder;
  const auto file = folder / "a.attnscope";
  {
    RunStore store = RunStore::open(file, Mode::collect);
    store.finish_run(store.begin_run(full_header()), StoredRunState::complete);
  }
  const RunStore reader = RunStore::open(file, Mode::read_only);
  ASSERT_EQ(reader.runs().size(), 1U);
  {
    RunStore writer = RunStore::open(file, Mode::collect);
    const std::int64_t run = writer.begin_run(full_header());
    writer.add_point(run, 0, simple_record(64));
    EXPECT_EQ(reader.runs().size(), 2U);
    EXPECT_EQ(reader.points().size(), 1U);
    writer.add_point(run, 1, simple_record(64));
  }
  EXPECT_EQ(reader.points().size(), 2U);
}

TEST(RunStore, reading_a_finished_file_creates_no_files) {
  const TemporaryFolder folder;
  const auto file = folder / "a.attnscope";
  {
    RunStore store = RunStore::open(file, Mode::collect);
    store.finish_run(store.begin_run(full_header()), StoredRunState::complete);
  }
  const auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(folder.path()), std::filesystem::directory_iterator());
  };
  ASSERT_EQ(files(), 1) << "a finished collector leaves no extra files";
  const RunStore reader = RunStore::open(file, Mode::read_only);
  EXPECT_EQ(reader.runs().size(), 1U);
  EXPECT_EQ(reader.points().size(), 0U);
  EXPECT_EQ(files(), 1);
}

/// Runs `child` in a child process; returns its exit status or the negative signal number.
template <class Child>
int run_in_child(Child&& child) {
  const pid_t process = ::fork();
  if (process == 0) ::_exit(child());
  int status = 0;
  ::waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(RunStore, killed_collector_leaves_points_and_no_lock) {
  const TemporaryFolder folder;
  const auto file = folder / "a.attnscope";
  const int status = run_in_child([&] {
    RunStore store = RunStore::open(file, Mode::collect);
    const std::int64_t run = store.begin_run(full_header());
    store.add_point(run, 0, full_record());
    store.add_point(run, 1, simple_record(64));
    ::kill(::getpid(), SIGKILL);
    return 0;
  });
  ASSERT_EQ(status, -SIGKILL);
  {
    const RunStore reader = RunStore::open(file, Mode::read_only);
    EXPECT_EQ(reader.runs().at(0).state, StoredRunState::interrupted);
    EXPECT_EQ(reader.points().size(), 2U);
  }
  RunStore store = RunStore::open(file, Mode::collect);
  EXPECT_EQ(store.runs().at(0).state, StoredRunState::interrupted);
  EXPECT_NE(store.runs().at(0).finished_at, "");
  store.reopen_run(1);
  EXPECT_THAT(places_of(store, 1), ElementsAre(0U, 1U));
  expect_equal(store.points().at(0).record, full_record());
}

TEST(RunStore, reads_from_a_read_only_folder) {
  const TemporaryFolder folder;
  const auto file = folder / "a.attnscope";
  const int killed = run_in_child([&] {
    RunStore store = RunStore::open(file, Mode::collect);
    store.add_point(store.begin_run(full_header()), 0, simple_record(64));
    ::kill(::getpid(), SIGKILL);
    return 0;
  });
  ASSERT_EQ(killed, -SIGKILL);
  const auto read_without_rights = [&] {
    std::filesystem::permissions(folder.path(), std::filesystem::perms(0555));
    const int status = run_in_child([&] {
      if (::geteuid() == 0 && ::setuid(65534) != 0) return 2;  // root may write anywhere
      const RunStore reader = RunStore::open(file, Mode::read_only);
      return reader.points().size() == 1 ? 0 : 1;
    });
    std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
    return status;
  };
  EXPECT_EQ(read_without_rights(), 0) << "with the killed collector's write-ahead log";
  { const RunStore store = RunStore::open(file, Mode::collect); }
  EXPECT_EQ(read_without_rights(), 0) << "alone";
}

TEST(RunStore, views_agree_with_the_store) {
  const TemporaryFolder folder;
  const auto file = folder / "a.attnscope";
  {
    RunStore store = RunStore::open(file, Mode::collect);
    const std::int64_t run = store.begin_run(full_header());
    store.add_point(run, 0, full_record());
    store.add_point(run, 1, simple_record(64));
    PointRecord infeasible = simple_record(128);
    infeasible.disposition = Disposition::infeasible;
    infeasible.kernels.clear();
    store.add_point(run, 2, infeasible);
  }
  SQLite::Database database(file.string());
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM v_points").getInt(), 4 + 1 + 1);
  SQLite::Statement wide(
      database,
      "SELECT time_median_ns, l2_to_sm_bytes, registers, device, cache FROM v_points WHERE algorithm "
      "= 'fa2' AND disposition = 'ok'");
  ASSERT_TRUE(wide.executeStep());
  EXPECT_EQ(wide.getColumn(0).getDouble(), 65);
  EXPECT_EQ(wide.getColumn(1).getDouble(), 64 * 128);
  EXPECT_EQ(wide.getColumn(2).getDouble(), 168);
  EXPECT_EQ(wide.getColumn(3).getString(), "NVIDIA H200");
  EXPECT_EQ(wide.getColumn(4).getString(), "cold");
  SQLite::Statement even(database, "SELECT time_median_ns FROM v_points WHERE kernel = 'qk'");
  ASSERT_TRUE(even.executeStep());
  EXPECT_DOUBLE_EQ(even.getColumn(0).getDouble(), (2 * 1000.25 + 1.0 / 3.0) / 2);
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM v_metrics").getInt(), 4 * 4 + 2);
  EXPECT_EQ(database.execAndGet("SELECT unit || provenance FROM v_metrics WHERE metric = 'registers'").getString(),
            "registermeasured");
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM v_timing_samples").getInt(), 4 * 4 + 3);
  EXPECT_EQ(database.execAndGet("SELECT points || '/' || ok_points || ' ' || device FROM v_runs").getString(),
            "3/1 NVIDIA H200");
}

TEST(RunStore, schema_rejects_unknown_keywords) {
  const TemporaryFolder folder;
  const auto file = folder / "a.attnscope";
  {
    RunStore store = RunStore::open(file, Mode::collect);
    store.add_point(store.begin_run(full_header()), 0, full_record());
  }
  SQLite::Database database(file.string(), SQLite::OPEN_READWRITE);
  database.exec("PRAGMA foreign_keys = ON");
  for (const char* change :
       {"UPDATE points SET deterministic = 2", "UPDATE runs SET provenance = 'derived'",
        "UPDATE runs SET state = 'over'", "UPDATE runs SET argv = '{}'", "UPDATE points SET run_id = 99",
        "UPDATE points SET device_id = 99", "UPDATE points SET batch = 'two'", "UPDATE point_knobs SET value = 1.5",
        "UPDATE timing_samples SET samples_ns = '1'"}) {
    EXPECT_THROW(database.exec(change), SQLite::Exception) << change;
  }
}

TEST(RecordedSample, has_its_recorded_environment) {
  const RunStore store = RunStore::open(ATTNSCOPE_SAMPLE, Mode::read_only);
  EXPECT_EQ(check_file(ATTNSCOPE_SAMPLE).unverified, 0U) << "a changed value would not be noticed";
  std::vector<std::string> presets;
  for (const RunSummary& run : store.runs()) {
    presets.push_back(run.preset);
    EXPECT_EQ(run.state, StoredRunState::complete) << run.preset;
    EXPECT_FALSE(run.uid.empty()) << run.preset;
  }
  EXPECT_THAT(presets, ::testing::ElementsAre("quick", "memory-wall", "tiles", "paper", "backward", "masks", "decode",
                                              "memory-wall", "decode", "import:PyTorch wall", "import:PyTorch backward",
                                              "import:PyTorch decode"));
  std::set<std::string> algorithms;
  for (const StoredPoint& point : store.points()) {
    algorithms.insert(point.record.spec.algorithm);
    EXPECT_EQ(point.record.spec.tile.br == 0, point.record.provenance == Provenance::imported);
  }
  EXPECT_EQ(algorithms, (std::set<std::string>{"naive", "fa1", "fa2", "fa3", "splitkv", "torch-cudnn", "torch-eager",
                                               "torch-flash"}));
}

TEST(CompactCopy, merges_files_without_loss) {
  const TemporaryFolder folder;
  {
    RunStore store = RunStore::open(folder / "a.attnscope", Mode::collect);
    const std::int64_t run = store.begin_run(full_header());
    store.add_point(run, 0, full_record());
    store.add_point(run, 1, simple_record(64));
    store.finish_run(run, StoredRunState::complete);
  }
  RunHeader other = full_header();
  other.device.uuid = "SIM-h100";
  other.device.simulated = true;
  other.preset = "tiles";
  RunStore writing = RunStore::open(folder / "b.attnscope", Mode::collect);
  const std::int64_t open_run = writing.begin_run(other);
  writing.add_point(open_run, 0, simple_record(128));

  write_compact_copy({folder / "a.attnscope", folder / "b.attnscope", folder / "a.attnscope"},
                     folder / "all.attnscope");
  const RunStore all = RunStore::open(folder / "all.attnscope", Mode::read_only);
  const std::vector<RunSummary> runs = all.runs();
  ASSERT_EQ(runs.size(), 2U) << "a run in several sources is copied once";
  EXPECT_EQ(runs[0].device_uuid, "GPU-1234");
  EXPECT_EQ(runs[0].state, StoredRunState::complete);
  EXPECT_EQ(runs[1].device_uuid, "SIM-h100");
  EXPECT_EQ(runs[1].preset, "tiles");
  EXPECT_EQ(runs[1].state, StoredRunState::interrupted) << "the copy of a run at work is not at work";
  const std::vector<StoredPoint> points = all.points();
  ASSERT_EQ(points.size(), 3U);
  expect_equal(points[0].record, full_record());
  expect_equal(points[2].record, simple_record(128));

  SQLite::Database database((folder / "all.attnscope").string());
  EXPECT_EQ(database.execAndGet("PRAGMA journal_mode").getString(), "delete");
  EXPECT_EQ(database.execAndGet("PRAGMA freelist_count").getInt(), 0);
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM devices").getInt(), 2);
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM environments").getInt(), 1);
  EXPECT_FALSE(database.tryExec("PRAGMA foreign_key_check") != SQLite::OK);
}

TEST(CompactCopy, removes_the_log_of_a_killed_collector) {
  const TemporaryFolder folder;
  {
    RunStore store = RunStore::open(folder / "a.attnscope", Mode::collect);
    store.finish_run(store.begin_run(full_header()), StoredRunState::complete);
  }
  const auto target = folder / "all.attnscope";
  {  // simulates a kill: copies of a file and its log during writing
    RunStore killed = RunStore::open(folder / "b.attnscope", Mode::collect);
    for (int i = 0; i < 3; ++i) killed.add_point(killed.begin_run(full_header()), 0, full_record());
    for (const char* suffix : {"", "-wal"}) {
      std::filesystem::copy_file((folder / "b.attnscope").string() + suffix, target.string() + suffix);
    }
  }
  ASSERT_EQ(RunStore::open(target, Mode::read_only).runs().size(), 3U);
  write_compact_copy({folder / "a.attnscope"}, target);
  for (const char* suffix : {"-wal", "-shm", "-journal"}) {
    EXPECT_FALSE(std::filesystem::exists(target.string() + suffix)) << suffix;
  }
  EXPECT_EQ(RunStore::open(target, Mode::read_only).runs().size(), 1U);
}

TEST(CompactCopy, failure_keeps_the_old_target) {
  const TemporaryFolder folder;
  const auto target = folder / "all.attnscope";
  { RunStore::open(target, Mode::collect).begin_run(full_header()); }
  std::ofstream(folder / "bad.attnscope") << "not a database, by far";
  EXPECT_EQ(storage_error_of([&] {
              write_compact_copy({target, folder / "bad.attnscope"}, target);
            }).kind(),
            FileError::Kind::not_a_database);
  EXPECT_EQ(RunStore::open(target, Mode::read_only).runs().size(), 1U);
  EXPECT_FALSE(std::filesystem::exists(target.string() + ".part"));
}

}  // namespace
}  // namespace attnscope::testing
