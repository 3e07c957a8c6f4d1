// SPDX-License-Identifier: Apache-2.0
// Manifests of user-defined kernels in files.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/registry.h"
#include "kernels/user/new_kernel.h"
#include "kernels/user/user_kernel.h"
#include "profiler/metrics/manifest.h"
#include "storage/bounds.h"
#include "storage/merge.h"
#include "storage/run_store.h"
#include "tests/message_matchers.h"
#include "tests/storage/store_test.h"

namespace attnscope::testing {
namespace {

namespace fs = std::filesystem;
using test::HasWords;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Mode = RunStore::Mode;

/// Returns the manifest after a source was changed.
StoredManifest with_changed_source(const StoredManifest& manifest) {
  StoredManifest other = manifest;
  other.sources.front().digest = "cc";
  return other;
}

PointRecord stated_by(StoredManifest manifest, std::int64_t n = 64, const char* algorithm = "mine") {
  PointRecord record = simple_record(n);
  record.spec.algorithm = algorithm;
  record.manifest = std::make_shared<const StoredManifest>(std::move(manifest));
  return record;
}

class StoredManifests : public ::testing::Test {
 protected:
  fs::path write(const std::string& name, const std::vector<PointRecord>& records) const {
    const fs::path file = folder_ / name;
    write_run(file, records);
    return file;
  }
  static int count(const fs::path& file, const std::string& table) {
    return SQLite::Database(file.string()).execAndGet("SELECT count(*) FROM " + table).getInt();
  }
  static StoredManifest without_contents(StoredManifest manifest) {
    for (ManifestSource& source : manifest.sources) source.content.reset();
    return manifest;
  }

  const TemporaryFolder folder_;
  const StoredManifest full_ = *full_record().manifest;
};

TEST_F(StoredManifests, RoundTripWithoutDuplicates) {
  const fs::path file = write("a.attnscope", {stated_by(full_, 64), stated_by(full_, 128),
                                              stated_by(with_changed_source(full_), 64, "mine.2"), simple_record(8)});
  EXPECT_EQ(count(file, "user_kernels"), 2);
  const RunStore store = RunStore::open(file, Mode::read_only);
  const std::vector<StoredPoint> points = store.points();
  ASSERT_THAT(points, SizeIs(4));
  ASSERT_NE(points[0].record.manifest, nullptr);
  EXPECT_EQ(*points[0].record.manifest, without_contents(full_));
  EXPECT_EQ(points[0].record.manifest, points[1].record.manifest) << "one for all";
  EXPECT_EQ(points[2].record.manifest->sources.front().digest, "cc");
  EXPECT_EQ(points[3].record.manifest, nullptr);
  std::vector<StoredManifest> whole;
  for (const auto& each : store.statements(true)) whole.push_back(*each);
  EXPECT_THAT(whole, ::testing::UnorderedElementsAre(full_, with_changed_source(full_)));
  EXPECT_THAT(store.invalid_rows(), IsEmpty());
  EXPECT_TRUE(check_file(file).ok());
}

TEST_F(StoredManifests, ResumedRunRejectsAnotherVersion) {
  const fs::path file = folder_ / "a.attnscope";
  RunStore store = RunStore::open(file, Mode::collect);
  const std::int64_t run = store.begin_run(full_header());
  store.add_point(run, 0, stated_by(full_));
  const FileError error =
      storage_error_of([&] { store.add_point(run, 1, stated_by(with_changed_source(full_), 128)); });
  EXPECT_THAT(error.what(), HasWords("mine --resume"));
  store.add_point(run, 1, stated_by(full_, 128));
  EXPECT_THAT(store.points(), SizeIs(2));
  store.add_point(store.begin_run(full_header()), 0, stated_by(with_changed_source(full_)));
}

TEST_F(StoredManifests, TwoVersionsMayShareAManifest) {
  PointRecord second = stated_by(full_);
  second.spec.algorithm = "mine.2";
  const fs::path file = write("a.attnscope", {stated_by(full_), second});
  const std::vector<StoredPoint> points = RunStore::open(file, Mode::read_only).points();
  ASSERT_THAT(points, SizeIs(2));
  EXPECT_NE(points[1].record.manifest, nullptr);
  EXPECT_TRUE(check_file(file).ok());
}

TEST_F(StoredManifests, LaterContentsAreAdded) {
  const fs::path file = write("a.attnscope", {stated_by(without_contents(full_)), stated_by(full_, 128)});
  EXPECT_EQ(count(file, "user_kernels"), 1);
  EXPECT_EQ(*RunStore::open(file, Mode::read_only).statements(true).at(0), full_);
  EXPECT_TRUE(check_file(file).ok());
}

TEST_F(StoredManifests, RoundsRequireTheSameManifest) {
  const fs::path file = folder_ / "a.attnscope";
  RunStore store = RunStore::open(file, Mode::collect);
  const std::int64_t run = store.begin_run(full_header());
  store.add_point(run, 0, stated_by(full_));
  store.add_round(run, 0, 1, stated_by(full_));
  const FileError error = storage_error_of([&] { store.add_round(run, 0, 2, stated_by(with_changed_source(full_))); });
  EXPECT_THAT(error.what(), HasWords("mine --resume"));
  store.finish_run(run, StoredRunState::complete);
  const std::vector<StoredPoint> points = store.points();
  ASSERT_THAT(points, SizeIs(1));
  EXPECT_THAT(points[0].record.rounds, SizeIs(2));
  EXPECT_NE(points[0].record.manifest, nullptr);
  EXPECT_TRUE(check_file(file).ok());
}

TEST_F(StoredManifests, MergeDeduplicatesManifests) {
  const fs::path one = write("1.attnscope", {stated_by(full_)});
  const fs::path two =
      write("2.attnscope", {stated_by(with_changed_source(full_), 64, "mine.2"), stated_by(full_, 128)});
  const fs::path merged = folder_ / "merged.attnscope";
  EXPECT_TRUE(merge_files({one, two}, merged).whole());
  EXPECT_EQ(count(merged, "user_kernels"), 2);
  const RunStore store = RunStore::open(merged, Mode::read_only);
  std::vector<std::string> digests;
  for (const StoredPoint& point : store.points()) digests.push_back(digest_of(*point.record.manifest));
  EXPECT_THAT(digests, ::testing::UnorderedElementsAre(digest_of(full_), digest_of(full_),
                                                       digest_of(with_changed_source(full_))));
  EXPECT_TRUE(check_file(merged).ok());
}

TEST_F(StoredManifests, PointsSurviveADamagedManifest) {
  const fs::path file = write("a.attnscope", {stated_by(full_), simple_record(8)});
  change_rows(file, "UPDATE user_kernels SET text = '{}'");
  const RunStore store = RunStore::open(file, Mode::read_only);
  ASSERT_THAT(store.points(), SizeIs(2));
  EXPECT_EQ(store.points()[0].record.manifest, nullptr);
  EXPECT_FALSE(check_file(file).ok());
}

TEST_F(StoredManifests, CheckDetectsDamagedSources) {
  const fs::path file = write("a.attnscope", {stated_by(full_)});
  change_rows(file, "UPDATE user_kernel_sources SET content = x'61' WHERE content IS NOT NULL");
  EXPECT_NE(RunStore::open(file, Mode::read_only).points().at(0).record.manifest, nullptr);
  const FileCheck check = check_file(file);
  ASSERT_THAT(check.invalid_rows, SizeIs(1));
  EXPECT_THAT(text(check.invalid_rows[0].why), HasWords("my.cu"));
}

TEST_F(StoredManifests, OutOfBoundsManifestsAreRejected) {
  StoredManifest twice = full_;
  twice.sources.push_back(twice.sources.front());
  StoredManifest large = full_;
  large.text.resize(user::max_manifest_bytes + 1, ' ');
  for (const auto& [manifest, why] : {std::pair(twice, "twice"), std::pair(large, "1048577")}) {
    const PointRecord kept = make_storable(stated_by(manifest));
    EXPECT_EQ(kept.disposition, Disposition::crashed);
    EXPECT_THAT(text(kept.reason), HasSubstr(why));
    EXPECT_THROW(write("never.attnscope", {stated_by(manifest)}), FileError);
  }
}

TEST_F(StoredManifests, RegisterKernelsForReading) {
  StoredManifest manifest = full_;
  for (const user::NewKernelFile& each : user::new_kernel_files()) {
    if (each.path.ends_with(".json")) manifest.text = each.text;
  }
  for (std::size_t at = 0; (at = manifest.text.find("@NAME@")) != std::string::npos;) {
    manifest.text.replace(at, 6, "of-a-file");
  }
  PointRecord record = stated_by(manifest);
  record.spec.algorithm = "of-a-file";
  const fs::path file = write("a.attnscope", {record});
  EXPECT_THAT(register_manifests(RunStore::open(file, Mode::read_only)), IsEmpty());
  const Algorithm* known = known_algorithms().find("of-a-file");
  ASSERT_NE(known, nullptr);
  EXPECT_TRUE(known->facts().model_only);
  EXPECT_TRUE(known->facts().reports_traffic);

  // In another file the points have an invalid manifest under the same kernel name.
  manifest.text = R"({"name": "another"})";
  record = stated_by(manifest);
  record.spec.algorithm = "of-a-file";
  const fs::path other = write("b.attnscope", {record, simple_record(8)});
  const std::vector<Message> lines = register_manifests(RunStore::open(other, Mode::read_only));
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_THAT(text(lines[0]), AllOf(HasSubstr("b.attnscope"), HasWords("of-a-file")));
  EXPECT_THAT(text(lines[1]), HasWords("of-a-file"));
  EXPECT_FALSE(known_algorithms().find("of-a-file")->facts().reports_traffic);
  EXPECT_EQ(known_algorithms().find("another"), nullptr);
}

}  // namespace
}  // namespace attnscope::testing
