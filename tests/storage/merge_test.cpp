// SPDX-License-Identifier: Apache-2.0
#include "storage/merge.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "storage/check.h"
#include "storage/migrations.h"
#include "tests/storage/old_files.h"
#include "tests/storage/samples.h"

namespace attnscope::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Mode = RunStore::Mode;
using Paths = std::vector<fs::path>;

class Merge : public ::testing::Test {
 protected:
  /// A run of one point for each length, at the places 0, 1, ...
  fs::path write(const std::string& name, const RunHeader& header, const std::vector<std::int64_t>& lengths,
                 StoredRunState state = StoredRunState::complete, std::size_t first = 0) {
    const fs::path file = folder_ / name;
    RunStore store = RunStore::open(file, Mode::collect);
    const std::int64_t run = store.begin_run(header);
    for (const std::int64_t n : lengths) store.add_point(run, first++, simple_record(n));
    store.finish_run(run, state);
    return file;
  }
  /// A copy of the file in which the run went on to the end, with these lengths.
  fs::path resume(const fs::path& file, const std::string& name, const RunHeader& header,
                  const std::vector<std::int64_t>& lengths) {
    const fs::path copy = folder_ / name;
    fs::copy_file(file, copy);
    RunStore store = RunStore::open(copy, Mode::collect);
    const std::int64_t run = store.resume_run(header).value();
    std::size_t index = store.points(std::vector{run}).size();
    for (const std::int64_t n : lengths) store.add_point(run, index++, simple_record(n));
    store.finish_run(run, StoredRunState::complete);
    return copy;
  }
  JoinReport merge(const std::string& name, const Paths& files, Damaged damaged = Damaged::refuse) {
    return merge_files(files, folder_ / name, damaged);
  }
  static void alter(const fs::path& file, const std::string& sql) {
    SQLite::Database(file.string(), SQLite::OPEN_READWRITE).exec(sql);
  }
  static RunHeader header_of(const std::string& plan, std::size_t planned) {
    RunHeader header = full_header();
    header.plan_hash = plan;
    header.planned_points = planned;
    return header;
  }

  TemporaryFolder folder_;
};

TEST_F(Merge, in_any_order_and_again_gives_the_same_to_the_byte) {
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
  const fs::path b = write("b.attnscope", header_of("b", 2), {256, 512});
  const Paths files{a, b, ATTNSCOPE_SAMPLE_OF_0_1, ATTNSCOPE_LAW_SAMPLE};

  JoinReport report = merge("forth.attnscope", files);
  EXPECT_EQ(report.files, 4U);
  EXPECT_TRUE(report.whole());
  EXPECT_THAT(merge("back.attnscope", {files.rbegin(), files.rend()}).conflicts, IsEmpty());
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
  EXPECT_EQ(check.unchecked, 0U);

  // merge(merge(a, b), b) is merge(a, b), and so is merging by pairs.
  report = merge("again.attnscope", {folder_ / "forth.attnscope", ATTNSCOPE_LAW_SAMPLE, b});
  EXPECT_TRUE(report.whole()) << text(report.conflicts.front());
  EXPECT_TRUE(whole == exported(folder_ / "again.attnscope"));
  (void)merge("ab.attnscope", {a, b});
  (void)merge("samples.attnscope", {ATTNSCOPE_LAW_SAMPLE, ATTNSCOPE_SAMPLE_OF_0_1});
  (void)merge("pairs.attnscope", {folder_ / "samples.attnscope", folder_ / "ab.attnscope"});
  EXPECT_TRUE(whole == exported(folder_ / "pairs.attnscope"));
  const FileCheck again = check_file(folder_ / "again.attnscope");
  EXPECT_TRUE(again.ok());
}

TEST_F(Merge, what_it_writes_is_compact_and_leaves_nothing_beside_it) {
  const fs::path a = write("a.attnscope", header_of("a", 1), {64});
  const fs::path b = resume(write("b.attnscope", header_of("b", 2), {128}, StoredRunState::interrupted), "c.attnscope",
                            header_of("b", 2), {256});
  (void)merge("all.attnscope", {a, b});
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_.path())) names.insert(entry.path().filename().string());
  EXPECT_THAT(names, ElementsAre("a.attnscope", "all.attnscope", "b.attnscope", "c.attnscope"));
  SQLite::Database database((folder_ / "all.attnscope").string());
  EXPECT_EQ(database.execAndGet("PRAGMA freelist_count").getInt(), 0);
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM devices").getInt(), 1);
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM pragma_foreign_key_check").getInt(), 0);
}

TEST_F(Merge, a_run_and_its_longer_copy_become_the_longer_one) {
  const RunHeader header = header_of("plan", 4);
  const fs::path begun = write("begun.attnscope", header, {64, 128}, StoredRunState::interrupted);
  const fs::path ended = resume(begun, "ended.attnscope", header, {256, 512});
  for (const Paths& files : {Paths{begun, ended}, Paths{ended, begun}}) {
    const JoinReport report = merge("all.attnscope", files);
    EXPECT_TRUE(report.whole());
    EXPECT_EQ(report.runs, 1U);
    EXPECT_THAT(lengths_in(folder_ / "all.attnscope"), ElementsAre(64, 128, 256, 512));
    EXPECT_TRUE(exported(folder_ / "all.attnscope") == exported(ended));
    fs::remove(folder_ / "all.attnscope");
  }
}

TEST_F(Merge, what_each_copy_of_a_run_has_by_itself_is_united) {
  const RunHeader header = header_of("plan", 4);
  const fs::path begun = write("begun.attnscope", header, {64}, StoredRunState::interrupted);
  const fs::path longer = folder_ / "longer.attnscope";
  fs::copy_file(begun, longer);
  {
    RunStore store = RunStore::open(longer, Mode::collect);
    const std::int64_t run = store.resume_run(header).value();
    store.add_point(run, 3, simple_record(512));
    store.finish_run(run, StoredRunState::cancelled);
  }
  const fs::path other = folder_ / "other.attnscope";
  fs::copy_file(begun, other);
  {
    RunStore store = RunStore::open(other, Mode::collect);
    store.add_point(store.resume_run(header).value(), 1, simple_record(128));
  }
  JoinReport report = merge("all.attnscope", {longer, other});
  EXPECT_TRUE(report.whole());
  EXPECT_THAT(lengths_in(folder_ / "all.attnscope"), ElementsAre(64, 128, 512));
  EXPECT_EQ(RunStore::open(folder_ / "all.attnscope", Mode::read_only).runs().at(0).state, StoredRunState::cancelled);
  EXPECT_TRUE(check_file(folder_ / "all.attnscope").ok());
  // It can go on, and is then complete.
  RunStore::open(folder_ / "all.attnscope", Mode::collect)
      .add_point(RunStore::open(folder_ / "all.attnscope", Mode::read_only).runs().at(0).id, 2, simple_record(256));
  (void)merge("ended.attnscope", {folder_ / "all.attnscope", begun});
  EXPECT_EQ(RunStore::open(folder_ / "ended.attnscope", Mode::read_only).runs().at(0).state, StoredRunState::complete);
  EXPECT_THAT(lengths_in(folder_ / "ended.attnscope"), ElementsAre(64, 128, 256, 512));
}

TEST_F(Merge, a_cancelled_point_gives_way_to_the_measured_one) {
  const RunHeader header = header_of("plan", 1);
  const fs::path begun = folder_ / "begun.attnscope";
  {
    RunStore store = RunStore::open(begun, Mode::collect);
    const std::int64_t run = store.begin_run(header);
    PointRecord cancelled = simple_record(64);
    cancelled.disposition = Disposition::cancelled;
    cancelled.kernels.clear();
    store.add_point(run, 0, cancelled);
    store.finish_run(run, StoredRunState::cancelled);
  }
  const fs::path ended = folder_ / "ended.attnscope";
  fs::copy_file(begun, ended);
  {
    RunStore store = RunStore::open(ended, Mode::collect);
    const std::int64_t run = store.resume_run(header).value();
    store.add_point(run, 0, simple_record(64));
    store.finish_run(run, StoredRunState::complete);
  }
  for (const Paths& files : {Paths{begun, ended}, Paths{ended, begun}}) {
    const fs::path all = folder_ / "all.attnscope";
    fs::remove(all);
    EXPECT_TRUE(merge("all.attnscope", files).whole());
    const RunStore store = RunStore::open(all, Mode::read_only);
    ASSERT_THAT(store.points(), SizeIs(1));
    EXPECT_EQ(store.points()[0].record.disposition, Disposition::ok);
    EXPECT_EQ(store.runs().at(0).state, StoredRunState::complete);
  }
}

TEST_F(Merge, two_measurements_at_one_place_are_a_conflict_and_the_first_stands) {
  const RunHeader header = header_of("plan", 3);
  const fs::path begun = write("begun.attnscope", header, {64}, StoredRunState::interrupted);
  const fs::path one = resume(begun, "one.attnscope", header, {128, 256});
  const fs::path two = resume(begun, "two.attnscope", header, {1024, 256});
  // Digests of the time that it was recorded at stand for another time: as if the second came ten years later.
  const auto later = [&](const fs::path& file) {
    alter(file, "UPDATE points SET digest = NULL, recorded_at = '2036-01-01T00:00:00Z' WHERE plan_index > 0");
    alter(file, "UPDATE runs SET points_digest = (SELECT digest FROM points WHERE plan_index = 0)");
  };
  later(two);
  JoinReport report = merge("all.attnscope", {two, one, begun});
  EXPECT_FALSE(report.whole());
  ASSERT_THAT(report.conflicts, SizeIs(1));
  EXPECT_THAT(text(report.conflicts.front()),
              AllOf(HasSubstr("places 1, 2:"), HasSubstr(one.string() + " and " + two.string()),
                    HasSubstr("those of " + one.string())));
  EXPECT_THAT(lengths_in(folder_ / "all.attnscope"), ElementsAre(64, 128, 256));
  report = merge("back.attnscope", {begun, one, two});
  EXPECT_THAT(report.conflicts, SizeIs(1));
  EXPECT_TRUE(exported(folder_ / "all.attnscope") == exported(folder_ / "back.attnscope"));
  // The conflict stays one, and changes nothing.
  report = merge("again.attnscope", {folder_ / "all.attnscope", two});
  EXPECT_THAT(report.conflicts, SizeIs(1));
  EXPECT_TRUE(exported(folder_ / "all.attnscope") == exported(folder_ / "again.attnscope"));
}

TEST_F(Merge, of_two_that_were_recorded_in_one_second_the_order_of_the_files_does_not_decide) {
  const RunHeader header = header_of("plan", 2);
  const fs::path begun = write("begun.attnscope", header, {64}, StoredRunState::interrupted);
  const fs::path one = resume(begun, "one.attnscope", header, {128});
  const fs::path two = resume(begun, "two.attnscope", header, {1024});
  EXPECT_THAT(merge("forth.attnscope", {one, two}).conflicts, SizeIs(1));
  EXPECT_THAT(merge("back.attnscope", {two, one}).conflicts, SizeIs(1));
  EXPECT_TRUE(exported(folder_ / "forth.attnscope") == exported(folder_ / "back.attnscope"));
}

TEST_F(Merge, of_two_that_were_cancelled_the_last_says_how_it_ended) {
  const RunHeader header = header_of("plan", 2);
  const fs::path begun = write("begun.attnscope", header, {64}, StoredRunState::interrupted);
  const auto cancelled_in = [&](const std::string& year) {
    fs::path copy = folder_ / (year + ".attnscope");
    fs::copy_file(begun, copy);
    {
      RunStore store = RunStore::open(copy, Mode::collect);
      PointRecord cancelled = simple_record(128);
      cancelled.disposition = Disposition::cancelled;
      cancelled.reason = Message::verbatim(year);
      cancelled.kernels.clear();
      store.add_point(store.resume_run(header).value(), 1, cancelled);
    }
    alter(copy, "UPDATE points SET digest = NULL, recorded_at = '" + year + "-01-01T00:00:00Z' WHERE plan_index = 1");
    alter(copy, "UPDATE runs SET points_digest = (SELECT digest FROM points WHERE plan_index = 0)");
    return copy;
  };
  const fs::path first = cancelled_in("2036");
  const fs::path last = cancelled_in("2037");
  for (const Paths& files : {Paths{first, last}, Paths{last, first}}) {
    fs::remove(folder_ / "all.attnscope");
    EXPECT_TRUE(merge("all.attnscope", files).whole());
    EXPECT_EQ(text(RunStore::open(folder_ / "all.attnscope", Mode::read_only).points().at(1).record.reason), "2037");
  }
}

TEST_F(Merge, runs_stand_in_the_order_in_which_their_first_parts_began) {
  RunHeader header = header_of("plan", 2);
  header.uid = "0123456789abcdef0123456789abcdef";
  const fs::path first = write("first.attnscope", header, {64});
  const fs::path second = write("second.attnscope", header, {128}, StoredRunState::complete, 1);
  const fs::path between = write("between.attnscope", header_of("other", 1), {256});
  const auto begun_in = [&](const fs::path& file, const std::string& year) {
    alter(file, "UPDATE runs SET digest = NULL, started_at = '" + year + "-01-01T00:00:00Z'");
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

TEST_F(Merge, runs_of_one_uid_with_other_plans_are_a_conflict) {
  RunHeader header = header_of("plan", 1);
  header.uid = "0123456789abcdef0123456789abcdef";
  const fs::path one = write("one.attnscope", header, {64});
  header.plan_hash = "another";
  const fs::path two = write("two.attnscope", header, {64}, StoredRunState::complete, 1);
  const JoinReport report = merge("all.attnscope", {one, two});
  ASSERT_THAT(report.conflicts, SizeIs(1));
  EXPECT_THAT(text(report.conflicts.front()), AllOf(HasSubstr(header.uid), HasSubstr("different things of its plan")));
}

TEST_F(Merge, parts_of_a_plan_become_one_run_whose_points_know_their_device) {
  RunHeader header = header_of("plan", 4);
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
    EXPECT_EQ(store.runs()[0].device_uuid, "GPU-A") << "of parts that began in one second, the first by name";
    EXPECT_EQ(store.runs()[0].state, StoredRunState::complete);
    std::vector<std::string> devices;
    for (const StoredPoint& point : store.points()) devices.push_back(point.device_uuid);
    EXPECT_THAT(devices, ElementsAre("GPU-A", "GPU-A", "GPU-B", "GPU-B"));
    EXPECT_TRUE(check_file(all).ok());
  }
  // Half of it is not all of it.
  header.planned_points = 9;
  header.uid = "ffffffffffffffffffffffffffffffff";
  const fs::path c = write("c.attnscope", header, {64});
  header.device.uuid = "GPU-A";
  const fs::path d = write("d.attnscope", header, {128}, StoredRunState::complete, 5);
  EXPECT_TRUE(merge("half.attnscope", {c, d}).whole());
  EXPECT_EQ(RunStore::open(folder_ / "half.attnscope", Mode::read_only).runs().at(0).state,
            StoredRunState::interrupted);
}

TEST_F(Merge, runs_of_one_plan_stay_apart) {
  const fs::path a = write("a.attnscope", header_of("plan", 2), {64});
  const fs::path b = write("b.attnscope", header_of("plan", 2), {128}, StoredRunState::complete, 1);
  const JoinReport report = merge("all.attnscope", {a, b});
  EXPECT_TRUE(report.whole());
  EXPECT_EQ(report.runs, 2U);
}

TEST_F(Merge, a_device_is_as_it_was_seen_last) {
  RunHeader header = header_of("plan", 1);
  const fs::path a = write("a.attnscope", header, {64});
  header.device.ordinal = 7;
  const fs::path b = write("b.attnscope", header, {128});
  alter(b, "UPDATE runs SET digest = NULL, started_at = '2036-01-01T00:00:00Z'");
  for (const Paths& files : {Paths{a, b}, Paths{b, a}}) {
    fs::remove(folder_ / "all.attnscope");
    (void)merge("all.attnscope", files);
    EXPECT_EQ(RunStore::open(folder_ / "all.attnscope", Mode::read_only).runs().at(0).device_ordinal, 7);
  }
}

TEST_F(Merge, a_run_in_progress_is_merged_as_far_as_it_came) {
  RunStore writing = RunStore::open(folder_ / "a.attnscope", Mode::collect);
  const std::int64_t run = writing.begin_run(header_of("plan", 4));
  writing.add_point(run, 0, simple_record(64));
  EXPECT_TRUE(merge("all.attnscope", {folder_ / "a.attnscope"}).whole());
  writing.add_point(run, 1, simple_record(128));
  EXPECT_THAT(lengths_in(folder_ / "all.attnscope"), ElementsAre(64));
  EXPECT_EQ(RunStore::open(folder_ / "all.attnscope", Mode::read_only).runs().at(0).state, StoredRunState::interrupted);
  writing.finish_run(run, StoredRunState::cancelled);
  EXPECT_TRUE(merge("more.attnscope", {folder_ / "all.attnscope", folder_ / "a.attnscope"}).whole());
  EXPECT_THAT(lengths_in(folder_ / "more.attnscope"), ElementsAre(64, 128));
}

TEST_F(Merge, a_damaged_file_ends_it_unless_it_is_to_be_left_out) {
  const fs::path good = write("good.attnscope", header_of("plan", 1), {64});
  const fs::path bad = write("bad.attnscope", header_of("plan", 1), {128});
  alter(bad, "UPDATE points SET n_q = 129");
  const fs::path none = folder_ / "none.attnscope";
  std::ofstream(none) << "not a database, by far";
  for (const fs::path& file : {bad, none}) {
    EXPECT_THAT(storage_error_of([&] { (void)merge("all.attnscope", {good, file}); }).what(), HasSubstr(file.string()));
    EXPECT_FALSE(fs::exists(folder_ / "all.attnscope"));
  }
  const JoinReport report = merge("all.attnscope", {bad, good, none}, Damaged::leave_out);
  EXPECT_EQ(report.files, 1U);
  EXPECT_FALSE(report.whole());
  ASSERT_THAT(report.left_out, SizeIs(2));
  EXPECT_THAT(text(report.left_out[0]), HasSubstr(bad.string()));
  EXPECT_THAT(text(report.left_out[1]), HasSubstr(none.string()));
  EXPECT_THAT(lengths_in(folder_ / "all.attnscope"), ElementsAre(64));
  EXPECT_EQ(storage_error_of([&] {
              (void)merge("more.attnscope", {good, folder_ / "missing.attnscope"}, Damaged::leave_out);
            }).kind(),
            StorageError::Kind::not_found);
  EXPECT_EQ(storage_error_of([&] {
              (void)merge("more.attnscope", {bad, none}, Damaged::leave_out);
            }).kind(),
            StorageError::Kind::damaged)
      << "a file of nothing would say that there was nothing";
  EXPECT_FALSE(fs::exists(folder_ / "more.attnscope"));
}

TEST_F(Merge, what_is_there_is_not_written_over) {
  const fs::path a = write("a.attnscope", header_of("plan", 1), {64});
  const fs::path b = write("b.attnscope", header_of("plan", 1), {128});
  EXPECT_THAT(storage_error_of([&] { (void)merge("b.attnscope", {a}); }).what(), HasSubstr("is there already"));
  EXPECT_THAT(lengths_in(b), ElementsAre(128));
}

TEST_F(Merge, names_what_is_not_ours_and_is_left_behind) {
  const fs::path a = write("a.attnscope", header_of("plan", 1), {64});
  alter(a, "CREATE TABLE notes (text)");
  const JoinReport report = merge("all.attnscope", {a});
  EXPECT_TRUE(report.whole());
  ASSERT_THAT(report.not_copied, SizeIs(1));
  EXPECT_THAT(text(report.not_copied[0]), HasSubstr("table notes"));
}

TEST(CompactCopy, unites_copies_of_a_run_and_names_conflicts) {
  const TemporaryFolder folder;
  const fs::path a = folder / "a.attnscope";
  const fs::path b = folder / "b.attnscope";
  {
    RunStore store = RunStore::open(a, Mode::collect);
    const std::int64_t run = store.begin_run(full_header());
    store.finish_run(run, StoredRunState::interrupted);
    fs::copy_file(a, b);
    store.add_point(run, 0, simple_record(64));
    RunStore other = RunStore::open(b, Mode::collect);
    other.add_point(run, 0, simple_record(128));
    other.add_point(run, 1, simple_record(256));
  }
  const JoinReport report = write_compact_copy({a, b}, folder / "copy.attnscope");
  EXPECT_THAT(report.conflicts, SizeIs(1));
  EXPECT_EQ(report.points, 2U);
}

}  // namespace
}  // namespace attnscope::testing
