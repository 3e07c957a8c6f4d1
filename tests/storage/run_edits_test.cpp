// SPDX-License-Identifier: Apache-2.0
// Edits of run texts and flags, deleted runs, damaged texts.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "storage/merge.h"
#include "storage/run_store.h"
#include "tests/message_matchers.h"
#include "tests/storage/store_test.h"

namespace attnscope::testing {
namespace {

namespace fs = std::filesystem;
using test::HasWords;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Mode = RunStore::Mode;

class RunEdits : public ::testing::Test {
 protected:
  RunEdits() {
    for (const std::int64_t n : {64, 128}) write_run(file_, {simple_record(n)});
  }
  std::vector<EditedRun> edit(std::vector<std::int64_t> runs, const RunEdit& edit) {
    return RunStore::open(file_, Mode::collect).edit(runs, edit);
  }
  static std::vector<RunSummary> runs_in(const fs::path& file, bool include_deleted = false) {
    return RunStore::open(file, Mode::read_only).runs(include_deleted);
  }
  RunAnnotations annotations(std::int64_t run) {
    for (const RunSummary& each : runs_in(file_, true)) {
      if (each.id == run) return each.annotations;
    }
    return {};
  }

  TemporaryFolder folder_;
  fs::path file_ = folder_ / "a.attnscope";
};

TEST_F(RunEdits, change_only_named_fields) {
  edit({1}, {.name = "before the fix", .note = {}, .tag = {"h100", "base"}, .untag = {}, .hidden = {}, .deleted = {}});
  EXPECT_EQ(annotations(1), (RunAnnotations{.name = "before the fix", .note = {}, .tags = {"base", "h100"}}));
  const RunEdit both{
      .name = {}, .note = "two\nlines", .tag = {"base"}, .untag = {"h100"}, .hidden = true, .deleted = {}};
  EXPECT_THAT(edit({1, 2, 1}, both), SizeIs(2));
  EXPECT_THAT(edit({1, 2}, both), IsEmpty()) << "nothing is other";
  EXPECT_EQ(annotations(1),
            (RunAnnotations{.name = "before the fix", .note = "two\nlines", .tags = {"base"}, .hidden = true}));
  EXPECT_EQ(annotations(2), (RunAnnotations{.name = {}, .note = "two\nlines", .tags = {"base"}, .hidden = true}));
  EXPECT_TRUE(check_file(file_).ok()) << "outside the checksum";
}

TEST_F(RunEdits, deleted_runs_are_not_read_until_restored) {
  RunEdit remove;
  remove.deleted = true;
  edit({1}, remove);
  RunStore store = RunStore::open(file_, Mode::read_only);
  ASSERT_THAT(store.runs(), SizeIs(1));
  EXPECT_EQ(store.runs().at(0).id, 2);
  EXPECT_THAT(store.runs(true), SizeIs(2));
  EXPECT_THAT(lengths_in(file_), ElementsAre(128));
  EXPECT_THAT(store.invalid_rows(), IsEmpty());
  EXPECT_TRUE(check_file(file_).ok());

  (void)merge_files({file_}, folder_ / "merged.attnscope");
  (void)write_compact_copy({file_}, folder_ / "copy.attnscope");
  EXPECT_THAT(runs_in(folder_ / "merged.attnscope"), SizeIs(1));
  EXPECT_THAT(runs_in(folder_ / "copy.attnscope", true), SizeIs(1));

  remove.deleted = false;
  edit({1}, remove);
  EXPECT_THAT(lengths_in(file_), ElementsAre(64, 128));
}

TEST_F(RunEdits, are_kept_by_copies) {
  edit({2}, {.name = "kept", .note = "why", .tag = {"t"}, .untag = {}, .hidden = true, .deleted = {}});
  (void)merge_files({file_}, folder_ / "merged.attnscope");
  (void)write_compact_copy({file_}, folder_ / "copy.attnscope");
  for (const char* name : {"merged.attnscope", "copy.attnscope"}) {
    // Runs that started in the same second are sorted by uid.
    const std::vector<RunSummary> copied = runs_in(folder_ / name);
    const auto edited = std::ranges::find(copied, "kept", [](const RunSummary& run) { return run.annotations.name; });
    ASSERT_NE(edited, copied.end()) << name;
    EXPECT_TRUE(edited->annotations == annotations(2)) << name;
  }
}

TEST_F(RunEdits, invalid_edits_change_nothing) {
  const auto refused = [&](const std::function<void(RunEdit&)>& change) {
    RunEdit wrong;
    change(wrong);
    return std::string(storage_error_of([&] { edit({1}, wrong); }).what());
  };
  EXPECT_THAT(refused([](RunEdit& e) { e.name = "two\nlines"; }), HasWords("name"));
  EXPECT_THAT(refused([](RunEdit& e) { e.name = std::string(201, 'x'); }), HasWords("201 200"));
  EXPECT_THAT(refused([](RunEdit& e) { e.note = "\x1b[2J"; }), HasWords("note"));
  EXPECT_THAT(refused([](RunEdit& e) { e.tag = {"fine", "not fine"}; }), HasWords("tag not fine"));
  EXPECT_THAT(refused([](RunEdit& e) { e.tag = {""}; }), HasWords("tag"));
  RunEdit fine;
  fine.name = "x";
  EXPECT_THAT(storage_error_of([&] { edit({1, 7}, fine); }).what(), HasWords("run 7"));
  EXPECT_EQ(annotations(1), RunAnnotations());
}

TEST_F(RunEdits, damaged_annotations_do_not_invalidate_the_run) {
  edit({1}, {.name = "fine", .note = {}, .tag = {"t"}, .untag = {}, .hidden = {}, .deleted = {}});
  change_rows(file_, "UPDATE runs SET name = CAST(x'ff00' AS TEXT) WHERE id = 1");
  {
    RunStore store = RunStore::open(file_, Mode::read_only);
    EXPECT_THAT(store.runs(), SizeIs(2));
    EXPECT_THAT(lengths_in(file_), ElementsAre(64, 128));
    ASSERT_THAT(store.invalid_rows(), SizeIs(1));
    EXPECT_THAT(text(store.invalid_rows().at(0).where), HasWords("run 1 name note tags"));
  }

  // A new edit repairs damaged texts.
  edit({1}, {.name = "again", .note = {}, .tag = {}, .untag = {}, .hidden = {}, .deleted = {}});
  EXPECT_EQ(annotations(1).name, "again");
  EXPECT_THAT(annotations(1).tags, ElementsAre("t")) << "what was sound stays";

  change_rows(file_, "INSERT INTO run_tags VALUES (1, 'a b')");
  edit({1}, {.name = {}, .note = "n", .tag = {}, .untag = {"a b"}, .hidden = {}, .deleted = {}});
  EXPECT_EQ(annotations(1).name, "again");
  EXPECT_THAT(annotations(1).tags, ElementsAre("t"));
}

TEST_F(RunEdits, deletion_survives_merge_and_drops_runs_from_copies) {
  const fs::path older = folder_ / "older.attnscope";
  const std::int64_t stated = write_run(file_, {full_record()});
  fs::copy_file(file_, older);
  edit({1}, {.name = "kept", .note = {}, .tag = {}, .untag = {}, .hidden = {}, .deleted = {}});
  RunEdit remove;
  remove.deleted = true;
  edit({stated}, remove);
  const fs::path target = folder_ / "target.attnscope";
  const auto kept = [&](const char* name) {
    return std::ranges::count(runs_in(target), name, [](const RunSummary& run) { return run.annotations.name; });
  };
  const auto statements = [&] {
    return SQLite::Database(target.string()).execAndGet("SELECT count(*) FROM user_kernels").getInt();
  };
  for (const auto& files : {std::vector{file_, older}, std::vector{older, file_}}) {
    fs::remove(target);
    EXPECT_EQ(merge_files(files, target).runs, 2U);
    EXPECT_THAT(runs_in(target, true), SizeIs(3)) << "merging keeps the run, and that it is deleted";
    EXPECT_THAT(lengths_in(target), ::testing::UnorderedElementsAre(64, 128));
    EXPECT_EQ(kept("kept"), 1);
    EXPECT_TRUE(check_file(target).ok());
    EXPECT_EQ(write_compact_copy(files, target).runs, 2U);
    EXPECT_THAT(runs_in(target, true), SizeIs(2));
    EXPECT_EQ(kept("kept"), 1);
    EXPECT_EQ(statements(), 0) << "the statement of a deleted run's kernel goes with it";
    EXPECT_TRUE(check_file(target).ok());
  }
  // The last edit decides, including deletion.
  change_rows(older, "UPDATE runs SET edited_at = '9', name = 'restored'");
  fs::remove(target);
  (void)merge_files({file_, older}, target);
  EXPECT_EQ(kept("restored"), 3);
  EXPECT_EQ(statements(), 1);
}

TEST_F(RunEdits, deletion_does_not_hide_damage) {
  RunEdit remove;
  remove.deleted = true;
  edit({1}, remove);
  EXPECT_EQ(check_file(file_).points, 2U);
  change_rows(file_, "UPDATE points SET wall_seconds = wall_seconds + 1 WHERE run_id = 1");
  const FileCheck check = check_file(file_);
  ASSERT_THAT(check.invalid_rows, SizeIs(1));
  EXPECT_THAT(text(check.invalid_rows[0].where), HasSubstr("run 1"));
  EXPECT_THAT(lengths_in(file_), ElementsAre(128)) << "and is in nobody's way";
}

TEST_F(RunEdits, concurrent_edits_are_both_applied) {
  constexpr int each = 4;
  const auto edits = [&](std::int64_t run) {
    for (int i = 1; i <= each;) {
      try {
        edit({run}, {.name = std::to_string(i), .note = {}, .tag = {}, .untag = {}, .hidden = {}, .deleted = {}});
        ++i;
      } catch (const FileError& error) {
        if (error.kind() != FileError::Kind::locked) throw;
      }
    }
  };
  std::thread other(edits, 1);
  edits(2);
  other.join();
  EXPECT_EQ(annotations(1).name, "4");
  EXPECT_EQ(annotations(2).name, "4");
}

}  // namespace
}  // namespace attnscope::testing
