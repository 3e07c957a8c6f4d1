// SPDX-License-Identifier: Apache-2.0
#include "storage/merge.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "storage/checksum.h"
#include "storage/exchange/export.h"
#include "storage/recording.h"
#include "storage/run_store.h"
#include "tests/message_matchers.h"
#include "tests/storage/store_test.h"

namespace attnscope::testing {
namespace {

namespace fs = std::filesystem;
using test::HasWords;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using Mode = RunStore::Mode;
using Paths = std::vector<fs::path>;

/// Returns all exports of a file, without the JSON's creation time.
std::string exported(const fs::path& file) {
  const RunStore store = RunStore::open(file, Mode::read_only);
  std::ostringstream text;
  export_csv(store, {}, text);
  export_long_csv(store, {}, text);
  std::ostringstream document;
  export_json(store, {}, document);
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(document.str());
  json.erase("created_at");
  return text.str() + json.dump(1);
}

class Merge : public ::testing::Test {
 protected:
  /// Writes a run with one point per length, from plan index `first`.
  fs::path write(const std::string& name, const RunHeader& header, const std::vector<std::int64_t>& lengths,
                 StoredRunState state = StoredRunState::complete, std::size_t first = 0) {
    const fs::path file = folder_ / name;
    RunStore store = RunStore::open(file, Mode::collect);
    const std::int64_t run = store.begin_run(header);
    for (const std::int64_t n : lengths) store.add_point(run, first++, simple_record(n));
    store.finish_run(run, state);
    return file;
  }
  /// Copies the file and completes the run with these lengths.
  fs::path resume(const fs::path& file, const std::string& name, const std::vector<std::int64_t>& lengths) {
    const fs::path copy = folder_ / name;
    fs::copy_file(file, copy);
    RunStore store = RunStore::open(copy, Mode::collect);
    const std::int64_t run = reopened_run(store);
    std::size_t index = store.points(std::vector{run}).size();
    for (const std::int64_t n : lengths) store.add_point(run, index++, simple_record(n));
    store.finish_run(run, StoredRunState::complete);
    return copy;
  }
  MergeReport merge(const std::string& name, const Paths& files,
                    DamagedFilePolicy damaged = DamagedFilePolicy::refuse) {
    return merge_files(files, folder_ / name, damaged);
  }
  /// Changes the file and updates its checksum, as if it had been recorded so.
  static void alter(const fs::path& file, const std::string& sql) {
    SQLite::Database database(file.string(), SQLite::OPEN_READWRITE);
    database.exec(sql);
    const int runs = database.execAndGet("SELECT max(id) FROM runs").getInt();
    for (int run = 1; run <= runs; ++run) store_checksum(database, run);
  }
  static RunHeader run_header(const std::string& plan, std::size_t planned) {
    RunHeader header = full_header();
    header.plan_hash = plan;
    header.planned_points = planned;
    return header;
  }

  TemporaryFolder folder_;
};

TEST_F(Merge, is_commutative_and_idempotent) {
  const fs::path a = folder_ / "a.attnscope";
  {
    RunStore store = RunStore::open(a, Mode::collect);
    store.add_complete_runs({{CompleteRun{full_header(), {full_record(), simple_record(64)}}}});
    RunHeader other = full_header();
    other.device.uuid = "GPU-5678";
    other.device.limits.name = "NVIDIA B200";
    other.environment.driver_version = "590.2";
    store.add_complete_runs({{CompleteRun{other, {simple_record(128)}}}});
  }
  const fs::path b = write("b.attnscope", run_header("b", 2), {256, 512});
  const Paths files{a, b, ATTNSCOPE_SECOND_SAMPLE, ATTNSCOPE_LAW_SAMPLE};

  MergeReport report = merge("forth.attnscope", files);
  EXPECT_EQ(report.files, 4U);
  EXPECT_TRUE(report.whole());
  (void)merge("back.attnscope", {files.rbegin(), files.rend()});
  const std::string whole = exported(folder_ / "forth.attnscope");
  EXPECT_TRUE(whole == exported(folder_ / "back.attnscope"));

  std::size_t points = 0;
  std::size_t runs = 0;
  for (const fs::path& file : files) {
    const RunStore store = RunStore::open(file, Mode::read_only);
    points += store.points().size();
    runs += store.runs().size();
  }
  EXPECT_EQ(report.points, points);
  EXPECT_EQ(report.runs, runs);
  const FileCheck check = check_file(folder_ / "forth.attnscope");
  EXPECT_TRUE(check.ok());
  EXPECT_EQ(check.points, points);
  EXPECT_EQ(check.unverified, 0U);

  // merge(merge(a, b), b) equals merge(a, b); merging in pairs gives the same.
  report = merge("again.attnscope", {folder_ / "forth.attnscope", ATTNSCOPE_LAW_SAMPLE, b});
  EXPECT_TRUE(report.whole());
  EXPECT_TRUE(whole == exported(folder_ / "again.attnscope"));
  (void)merge("ab.attnscope", {a, b});
  (void)merge("samples.attnscope", {ATTNSCOPE_LAW_SAMPLE, ATTNSCOPE_SECOND_SAMPLE});
  (void)merge("pairs.attnscope", {folder_ / "samples.attnscope", folder_ / "ab.attnscope"});
  EXPECT_TRUE(whole == exported(folder_ / "pairs.attnscope"));
  const FileCheck again = check_file(folder_ / "again.attnscope");
  EXPECT_TRUE(again.ok());
}

TEST_F(Merge, writes_a_compact_file_without_journals) {
  const fs::path a = write("a.attnscope", run_header("a", 1), {64});
  const fs::path b =
      resume(write("b.attnscope", run_header("b", 2), {128}, StoredRunState::interrupted), "c.attnscope", {256});
  (void)merge("all.attnscope", {a, b});
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_.path())) names.insert(entry.path().filename().string());
  EXPECT_THAT(names, ElementsAre("a.attnscope", "all.attnscope", "b.attnscope", "c.attnscope"));
  SQLite::Database database((folder_ / "all.attnscope").string());
  EXPECT_EQ(database.execAndGet("PRAGMA freelist_count").getInt(), 0);
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM devices").getInt(), 1);
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM pragma_foreign_key_check").getInt(), 0);
}

PointRecord cancelled_point(std::int64_t n) {
  PointRecord record = simple_record(n);
  record.disposition = Disposition::cancelled;
  record.kernels.clear();
  return record;
}

/// Two copies of a run of four points that shared the first point, and the lengths that each measured for the other
/// plan indices; 0: not measured, negative: cancelled.
struct Copies {
  const char* name;
  std::vector<std::int64_t> one;
  std::vector<std::int64_t> other;
  std::vector<std::int64_t> joined;
  StoredRunState state;
};

class MergedCopies : public Merge, public ::testing::WithParamInterface<Copies> {};

TEST_P(MergedCopies, merge_into_one_run_in_any_order) {
  const Copies& copies = GetParam();
  const RunHeader header = run_header("plan", 4);
  const fs::path begun = write("begun.attnscope", header, {64}, StoredRunState::interrupted);
  const auto went_on = [&](const char* name, const std::vector<std::int64_t>& lengths) {
    fs::path copy = folder_ / name;
    fs::copy_file(begun, copy);
    RunStore store = RunStore::open(copy, Mode::collect);
    const std::int64_t run = reopened_run(store);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      if (lengths[i] == 0) continue;
      store.add_point(run, i + 1, lengths[i] < 0 ? cancelled_point(-lengths[i]) : simple_record(lengths[i]));
    }
    store.finish_run(run, lengths.size() == 3 ? StoredRunState::complete : StoredRunState::interrupted);
    return copy;
  };
  const fs::path one = went_on("one.attnscope", copies.one);
  const fs::path other = copies.other.empty() ? begun : went_on("other.attnscope", copies.other);
  for (const Paths& files : {Paths{one, other}, Paths{other, one}, Paths{one, one, other, begun}}) {
    fs::remove(folder_ / "all.attnscope");
    const MergeReport report = merge("all.attnscope", files);
    EXPECT_TRUE(report.whole());
    EXPECT_EQ(report.runs, 1U);
    EXPECT_EQ(report.points, copies.joined.size());
    EXPECT_EQ(lengths_in(folder_ / "all.attnscope"), copies.joined);
    const RunStore store = RunStore::open(folder_ / "all.attnscope", Mode::read_only);
    EXPECT_EQ(store.runs().at(0).state, copies.state);
    for (const StoredPoint& point : store.points()) EXPECT_EQ(point.record.disposition, Disposition::ok);
    EXPECT_TRUE(check_file(folder_ / "all.attnscope").ok());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Runs, MergedCopies,
    ::testing::Values(Copies{"equal", {}, {}, {64}, StoredRunState::interrupted},
                      Copies{"longer", {128, 256, 512}, {}, {64, 128, 256, 512}, StoredRunState::complete},
                      Copies{"longer_of_two", {128, 0}, {}, {64, 128}, StoredRunState::interrupted},
                      Copies{"apart", {128}, {0, 0, 512}, {64, 128, 512}, StoredRunState::interrupted},
                      Copies{"apart_and_whole", {128}, {0, 256, 512}, {64, 128, 256, 512}, StoredRunState::complete},
                      Copies{"cancelled", {-128}, {128, 256, 512}, {64, 128, 256, 512}, StoredRunState::complete}),
    [](const auto& of) { return std::string(of.param.name); });

TEST_F(Merge, conflicting_points_are_an_error_naming_both_files) {
  const RunHeader header = run_header("plan", 3);
  const fs::path begun = write("begun.attnscope", header, {64}, StoredRunState::interrupted);
  const fs::path one = resume(begun, "one.attnscope", {128, 256});
  const fs::path two = resume(begun, "two.attnscope", {128, 256});
  for (const char* change :
       {"UPDATE points SET recorded_at = '2036-01-01T00:00:00Z' WHERE plan_index = 1",
        "UPDATE timing_samples SET samples_ns = '[7]' WHERE kernel_id = (SELECT max(kernel_id) FROM timing_samples)",
        "UPDATE metric_values SET value = value + 1"}) {
    const fs::path changed = folder_ / "changed.attnscope";
    fs::copy_file(two, changed, fs::copy_options::overwrite_existing);
    alter(changed, change);
    for (const Paths& files : {Paths{one, changed}, Paths{begun, changed, one}}) {
      const FileError error = storage_error_of([&] { (void)merge("all.attnscope", files); });
      EXPECT_THAT(error.what(), AllOf(HasSubstr("one.attnscope"), HasSubstr("changed.attnscope"), HasSubstr("index")))
          << change;
      EXPECT_FALSE(fs::exists(folder_ / "all.attnscope"));
    }
  }
  EXPECT_THAT(storage_error_of([&] {
                (void)write_compact_copy({one, folder_ / "changed.attnscope"}, folder_ / "c");
              }).what(),
              HasSubstr("changed.attnscope"));
}

TEST_F(Merge, conflicting_plans_are_an_error) {
  RunHeader header = run_header("plan", 1);
  header.uid = "0123456789abcdef0123456789abcdef";
  const fs::path one = write("one.attnscope", header, {64});
  header.plan_hash = "another";
  const fs::path two = write("two.attnscope", header, {64}, StoredRunState::complete, 1);
  EXPECT_THAT(storage_error_of([&] { (void)merge("all.attnscope", {one, two}); }).what(), HasWords(header.uid));
}

TEST_F(Merge, runs_are_sorted_by_first_start) {
  RunHeader header = run_header("plan", 2);
  header.uid = "0123456789abcdef0123456789abcdef";
  const fs::path first = write("first.attnscope", header, {64});
  const fs::path second = write("second.attnscope", header, {128}, StoredRunState::complete, 1);
  const fs::path between = write("between.attnscope", run_header("other", 1), {256});
  const auto begun_in = [&](const fs::path& file, const std::string& year) {
    alter(file, "UPDATE runs SET started_at = '" + year + "-01-01T00:00:00Z'");
  };
  begun_in(first, "2036");
  begun_in(between, "2037");
  begun_in(second, "2038");
  for (const Paths& files : {Paths{first, between, second}, Paths{second, between, first}}) {
    fs::remove(folder_ / "all.attnscope");
    (void)merge("all.attnscope", files);
    EXPECT_EQ(RunStore::open(folder_ / "all.attnscope", Mode::read_only).runs().at(0).uid, header.uid);
  }
}

TEST_F(Merge, shards_become_one_run_with_per_point_devices) {
  RunHeader header = run_header("plan", 4);
  header.uid = "0123456789abcdef0123456789abcdef";
  header.device.uuid = "GPU-A";
  const fs::path a = write("a.attnscope", header, {64, 128});
  header.device.uuid = "GPU-B";
  header.argv.emplace_back("--device=1");
  const fs::path b = write("b.attnscope", header, {256, 512}, StoredRunState::complete, 2);
  for (const Paths& files : {Paths{a, b}, Paths{b, a}, Paths{b, a, b}}) {
    const fs::path all = folder_ / "all.attnscope";
    fs::remove(all);
    EXPECT_TRUE(merge("all.attnscope", files).whole());
    const RunStore store = RunStore::open(all, Mode::read_only);
    ASSERT_THAT(store.runs(), SizeIs(1));
    EXPECT_EQ(store.runs()[0].uid, header.uid);
    EXPECT_EQ(store.runs()[0].state, StoredRunState::complete);
    std::vector<std::string> devices;
    for (const StoredPoint& point : store.points()) devices.push_back(point.device_uuid);
    EXPECT_THAT(devices, ElementsAre("GPU-A", "GPU-A", "GPU-B", "GPU-B"));
    EXPECT_TRUE(check_file(all).ok());
  }
  // A shard is not the whole plan.
  header.planned_points = 9;
  header.uid = "ffffffffffffffffffffffffffffffff";
  const fs::path c = write("c.attnscope", header, {64});
  header.device.uuid = "GPU-A";
  const fs::path d = write("d.attnscope", header, {128}, StoredRunState::complete, 5);
  EXPECT_TRUE(merge("half.attnscope", {c, d}).whole());
  EXPECT_EQ(RunStore::open(folder_ / "half.attnscope", Mode::read_only).runs().at(0).state,
            StoredRunState::interrupted);
}

TEST_F(Merge, last_shard_is_reported_as_missing) {
  RunHeader header = run_header("plan", 6);
  header.uid = "0123456789abcdef0123456789abcdef";
  header.shard = {.number = 1, .count = 3};
  const fs::path one = write("one.attnscope", header, {64, 128});
  header.shard.number = 2;
  const fs::path two = write("two.attnscope", header, {256, 512}, StoredRunState::complete, 2);
  const MergeReport report = merge("all.attnscope", {one, two});
  ASSERT_THAT(report.missing, SizeIs(1));
  EXPECT_THAT(text(report.missing[0]), AllOf(HasSubstr("3 shards"), HasSubstr("missing: 3")));
}

TEST_F(Merge, merged_shards_are_found_from_each_of_their_devices) {
  RunHeader header = run_header("plan", 4);
  header.uid = "0123456789abcdef0123456789abcdef";
  header.shard = {.number = 1, .count = 2};
  header.device.uuid = "GPU-A";
  const fs::path a = write("a.attnscope", header, {64, 128});
  header.shard.number = 2;
  header.device.uuid = "GPU-B";
  const fs::path b = write("b.attnscope", header, {256, 512}, StoredRunState::complete, 2);
  EXPECT_TRUE(merge("all.attnscope", {a, b}).whole());
  const RunStore store = RunStore::open(folder_ / "all.attnscope", Mode::read_only);
  header.shard = {};
  for (const std::string device : {"GPU-A", "GPU-B"}) {
    EXPECT_TRUE(find_newest_run(store, header, std::vector{device}).has_value()) << device;
  }
  EXPECT_FALSE(find_newest_run(store, header, std::vector<std::string>{"GPU-C"}).has_value());
}

TEST_F(Merge, runs_of_one_plan_stay_separate) {
  const fs::path a = write("a.attnscope", run_header("plan", 2), {64});
  const fs::path b = write("b.attnscope", run_header("plan", 2), {128}, StoredRunState::complete, 1);
  const MergeReport report = merge("all.attnscope", {a, b});
  EXPECT_TRUE(report.whole());
  EXPECT_EQ(report.runs, 2U);
}

TEST_F(Merge, running_run_is_merged_partially) {
  RunStore writing = RunStore::open(folder_ / "a.attnscope", Mode::collect);
  const std::int64_t run = writing.begin_run(run_header("plan", 4));
  writing.add_point(run, 0, simple_record(64));
  EXPECT_TRUE(merge("all.attnscope", {folder_ / "a.attnscope"}).whole());
  writing.add_point(run, 1, simple_record(128));
  EXPECT_THAT(lengths_in(folder_ / "all.attnscope"), ElementsAre(64));
  EXPECT_EQ(RunStore::open(folder_ / "all.attnscope", Mode::read_only).runs().at(0).state, StoredRunState::interrupted);
  writing.finish_run(run, StoredRunState::cancelled);
  EXPECT_TRUE(merge("more.attnscope", {folder_ / "all.attnscope", folder_ / "a.attnscope"}).whole());
  EXPECT_THAT(lengths_in(folder_ / "more.attnscope"), ElementsAre(64, 128));
}

TEST_F(Merge, damaged_file_is_an_error_unless_skipped) {
  const fs::path good = write("good.attnscope", run_header("plan", 1), {64});
  const fs::path bad = write("bad.attnscope", run_header("plan", 1), {128});
  change_rows(bad, "UPDATE points SET n_q = 129");
  const fs::path none = folder_ / "none.attnscope";
  std::ofstream(none) << "not a database, by far";
  for (const fs::path& file : {bad, none}) {
    EXPECT_THAT(storage_error_of([&] { (void)merge("all.attnscope", {good, file}); }).what(), HasSubstr(file.string()));
    EXPECT_FALSE(fs::exists(folder_ / "all.attnscope"));
  }
  const MergeReport report = merge("all.attnscope", {bad, good, none}, DamagedFilePolicy::skip);
  EXPECT_EQ(report.files, 1U);
  EXPECT_FALSE(report.whole());
  ASSERT_THAT(report.left_out, SizeIs(2));
  EXPECT_THAT(text(report.left_out[0]), HasSubstr(bad.string()));
  EXPECT_THAT(text(report.left_out[1]), HasSubstr(none.string()));
  EXPECT_THAT(lengths_in(folder_ / "all.attnscope"), ElementsAre(64));
  EXPECT_EQ(storage_error_of([&] {
              (void)merge("more.attnscope", {good, folder_ / "missing.attnscope"}, DamagedFilePolicy::skip);
            }).kind(),
            FileError::Kind::not_found);
  EXPECT_EQ(storage_error_of([&] {
              (void)merge("more.attnscope", {bad, none}, DamagedFilePolicy::skip);
            }).kind(),
            FileError::Kind::damaged)
      << "a file of nothing would say that there was nothing";
  EXPECT_FALSE(fs::exists(folder_ / "more.attnscope"));
}

TEST_F(Merge, existing_target_is_not_overwritten) {
  const fs::path a = write("a.attnscope", run_header("plan", 1), {64});
  const fs::path b = write("b.attnscope", run_header("plan", 1), {128});
  EXPECT_THAT(storage_error_of([&] { (void)merge("b.attnscope", {a}); }).what(), HasSubstr("b.attnscope"));
  EXPECT_THAT(lengths_in(b), ElementsAre(128));
}

}  // namespace
}  // namespace attnscope::testing
