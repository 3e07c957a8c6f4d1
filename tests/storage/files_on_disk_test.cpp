// SPDX-License-Identifier: Apache-2.0
// Files that are removed, moved or replaced during writing, incomplete files, and overwriting.
#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <thread>
#include <vector>

#include "profiler/files/output_file.h"
#include "storage/merge.h"
#include "storage/run_store.h"
#include "tests/storage/store_test.h"

namespace attnscope::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = FileError::Kind;
using Mode = RunStore::Mode;
using ExistingFile = OutputFile::ExistingFile;
using Collecting = FileTest;
using NewFiles = FileTest;
using Locks = FileTest;
using OutputFiles = FileTest;
using CompactCopies = FileTest;

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

mode_t mode_of(const fs::path& file) {
  struct stat status {};
  ::stat(file.c_str(), &status);
  return status.st_mode & 07777U;
}

TEST_F(Collecting, fails_if_the_file_is_removed_moved_or_replaced) {
  write_run(folder / "other.attnscope", {simple_record(7)});
  const std::vector<std::function<void()>> changes{[&] { fs::remove(file); },
                                                   [&] { fs::rename(file, folder / "moved"); },
                                                   [&] {
                                                     fs::copy_file(folder / "other.attnscope", folder / "new");
                                                     fs::rename(folder / "new", file);
                                                   }};
  for (const auto& change : changes) {
    for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(file.string() + suffix);
    RunStore store = RunStore::open(file, Mode::collect);
    const std::int64_t run = store.begin_run(full_header());
    store.add_point(run, 0, simple_record(100));
    change();
    const FileError error = storage_error_of([&] { store.add_point(run, 1, simple_record(200)); });
    EXPECT_THAT(error.what(), HasSubstr("a.attnscope"));
  }
}

// The log exceeds SQLite's checkpoint limit, and another program checkpoints, too.
TEST_F(Collecting, tolerates_a_foreign_checkpoint) {
  RunStore store = RunStore::open(file, Mode::collect);
  const std::int64_t run = store.begin_run(full_header());
  constexpr std::size_t points = 300;
  for (std::size_t i = 0; i < points; ++i) {
    store.add_point(run, i, full_record());
    if (i % 50 != 10) continue;
    SQLite::Database other(file.string(), SQLite::OPEN_READWRITE);
    other.exec(i % 100 == 10 ? "PRAGMA wal_checkpoint(PASSIVE)" : "PRAGMA wal_checkpoint(TRUNCATE)");
  }
  store.finish_run(run, StoredRunState::complete);
  EXPECT_EQ(RunStore::open(file, Mode::read_only).points().size(), points);
}

TEST_F(NewFiles, appear_only_when_complete) {
  RunStore::create(file, [&](RunStore& store) {
    store.add_complete_runs({{{.header = full_header(), .points = {simple_record(100)}}}});
    EXPECT_FALSE(fs::exists(file));
  });
  EXPECT_THAT(lengths_in(file), ElementsAre(100));
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"a.attnscope"});
  EXPECT_EQ(storage_error_of([&] { RunStore::create(file, [](RunStore&) {}); }).kind(), Kind::not_writable);
  EXPECT_THAT(lengths_in(file), ElementsAre(100));
}

TEST_F(NewFiles, failed_creation_leaves_no_file) {
  EXPECT_THROW(RunStore::create(file, [](RunStore&) { throw FileError(Kind::other, Message::verbatim("half way")); }),
               FileError);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST_F(NewFiles, an_empty_file_keeps_its_mode) {
  std::ofstream(file).flush();
  ::chmod(file.c_str(), 0600);
  write_run(file, {simple_record(100)});
  EXPECT_EQ(mode_of(file), 0600U);
}

TEST_F(NewFiles, are_rejected_beside_an_orphaned_log) {
  std::ofstream(file.string() + "-wal") << "the last points of a file that was moved away";
  const FileError error = storage_error_of([&] { RunStore::open(file, Mode::collect); });
  EXPECT_THAT(error.what(), HasSubstr("a.attnscope-wal"));
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"a.attnscope-wal"});
}

TEST_F(NewFiles, follow_symlinks) {
  fs::create_symlink("there.attnscope", folder / "link.attnscope");
  write_run(folder / "link.attnscope", {simple_record(100)});
  EXPECT_TRUE(fs::is_symlink(folder / "link.attnscope"));
  EXPECT_THAT(lengths_in(folder / "there.attnscope"), ElementsAre(100));
}

TEST_F(NewFiles, commit_writes_little_more_than_the_point) {
  RunStore store = RunStore::open(file, Mode::collect);
  const std::int64_t run = store.begin_run(full_header());
  store.add_point(run, 0, simple_record(100));
  const fs::path log = (file).string() + "-wal";
  const auto before = fs::file_size(log);
  constexpr std::size_t points = 20;
  for (std::size_t i = 1; i <= points; ++i) store.add_point(run, i, simple_record(100));
  EXPECT_LT((fs::file_size(log) - before) / points, 12U << 10U) << "36 KiB with SQLite's own size of a page";
}

// Special files have size 0 like an empty file, which would be overwritten.
TEST(Names, special_files_are_rejected_and_unchanged) {
  const TemporaryFolder folder;
  const auto pipe = folder / "pipe.attnscope";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto link = folder / "link.attnscope";
  fs::create_symlink(pipe, link);
  for (const auto& name : {pipe, link}) {
    for (const Mode mode : {Mode::read_only, Mode::collect}) {
      const FileError error = storage_error_of([&] { (void)RunStore::open(name, mode); });
      EXPECT_THAT(error.what(), HasSubstr("pipe.attnscope"));
    }
    const FileError error = storage_error_of([&] { RunStore::create(name, [](RunStore&) {}); });
    EXPECT_THAT(error.what(), HasSubstr("pipe.attnscope"));
    EXPECT_TRUE(fs::is_fifo(name));
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 2) << "nothing is made beside them";
}

// A reader may never end; the data is committed before the checkpoint.
TEST_F(Locks, does_not_wait_for_a_persistent_reader) {
  RunStore store = RunStore::open(file, Mode::collect);
  const std::int64_t run = store.begin_run(full_header());
  SQLite::Database reader(file.string());
  const SQLite::Transaction transaction(reader);
  ASSERT_EQ(reader.execAndGet("SELECT count(*) FROM points").getInt(), 0);
  store.add_point(run, 0, full_record());
  store.finish_run(run, StoredRunState::complete);
  EXPECT_EQ(RunStore::open(file, Mode::read_only).runs().at(0).state, StoredRunState::complete);
}

/// Writes `text` as an exported table.
void write_table(const fs::path& target, const std::string& text, ExistingFile existing = ExistingFile::same_kind) {
  OutputFile file(target, file_kind::csv, existing);
  file.write(text);
  file.commit();
}

TEST_F(OutputFiles, keep_mode_and_symlink) {
  write_table(folder / "a.csv", "algorithm\nold\n");
  ::chmod((folder / "a.csv").c_str(), 0600);
  fs::create_symlink("a.csv", folder / "link.csv");
  write_table(folder / "link.csv", "algorithm\nnew\n");
  EXPECT_TRUE(fs::is_symlink(folder / "link.csv"));
  EXPECT_EQ(content(folder / "a.csv"), "algorithm\nnew\n");
  EXPECT_EQ(mode_of(folder / "a.csv"), 0600U);
  EXPECT_EQ(names_in(folder.path()), (std::set<std::string>{"a.csv", "link.csv"}));
}

TEST_F(OutputFiles, dangling_symlink_points_to_the_new_file) {
  fs::create_directory(folder / "below");
  fs::create_symlink("below/a.csv", folder / "link.csv");
  write_table(folder / "link.csv", "algorithm\n");
  EXPECT_TRUE(fs::is_symlink(folder / "link.csv"));
  EXPECT_EQ(content(folder / "below/a.csv"), "algorithm\n");
}

TEST_F(OutputFiles, symlink_into_a_missing_folder_is_an_error) {
  fs::create_symlink("gone/a.attnscope", folder / "link");
  const auto require_named = [](const FileError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("link"), HasSubstr("gone/a.attnscope")));
  };
  require_named(storage_error_of([&] { write_table(folder / "link", "algorithm\n"); }));
  require_named(storage_error_of([&] { RunStore::open(folder / "link", Mode::collect); }));
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
}

TEST_F(OutputFiles, do_not_replace_other_kinds_of_files) {
  const std::string notes = "dear diary, today I measured attention\n";
  std::ofstream(folder / "notes.txt") << notes;
  const FileError error = storage_error_of([&] { write_table(folder / "notes.txt", "algorithm\n"); });
  EXPECT_THAT(error.what(), AllOf(HasSubstr("notes.txt"), HasSubstr("--force")));
  EXPECT_EQ(content(folder / "notes.txt"), notes);
  write_table(folder / "notes.txt", "algorithm\n", ExistingFile::any);
  EXPECT_EQ(content(folder / "notes.txt"), "algorithm\n");
}

TEST_F(OutputFiles, detect_file_kinds) {
  write_run(folder / "run", {simple_record(100)});
  const std::map<const FileKind*, std::string> examples{
      {&file_kind::measurements, content(folder / "run")},
      {&file_kind::csv, "run_uid,plan_index,algorithm,pass\n"},
      {&file_kind::json, " {\"schema_version\": 1}"},
      {&file_kind::png, "\x89PNG\r\n\x1a\n more"},
      {&file_kind::svg, "<?xml version=\"1.0\"?>\n<!-- a --><svg width=\"1\">"},
      {&file_kind::pdf, "%PDF-1.4\n"}};
  for (const auto& [kind, mine] : examples) {
    for (const auto& [other, text] : examples) {
      std::ofstream(folder / "there", std::ios::binary | std::ios::trunc) << text;
      if (kind == other) {
        EXPECT_NO_THROW(OutputFile(folder / "there", *kind, ExistingFile::same_kind)) << kind->noun;
      } else {
        EXPECT_THROW(OutputFile(folder / "there", *kind, ExistingFile::same_kind), FileError)
            << kind->noun << " over " << other->noun;
      }
    }
  }
  std::ofstream(folder / "there", std::ios::trunc) << "# what these tiles are\n# and more\nalgorithm,pass,arch\n";
}

TEST_F(OutputFiles, uncommitted_output_keeps_the_old_file) {
  write_table(folder / "a.csv", "algorithm\nold\n");
  { OutputFile(folder / "a.csv", file_kind::csv, ExistingFile::same_kind).write("half"); }
  EXPECT_EQ(content(folder / "a.csv"), "algorithm\nold\n");
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"a.csv"});
}

TEST_F(OutputFiles, have_unpredictable_temporary_names) {
  std::ofstream(folder / "victim") << "mine";
  fs::create_symlink(folder / "victim", folder / "a.csv.part");
  const OutputFile first(folder / "a.csv", file_kind::csv, ExistingFile::same_kind);
  const OutputFile second(folder / "a.csv", file_kind::csv, ExistingFile::same_kind);
  EXPECT_NE(first.temporary_path(), second.temporary_path());
  EXPECT_EQ(content(folder / "victim"), "mine");
}

TEST_F(OutputFiles, remove_only_leftovers_of_killed_writers) {
  const auto writing = std::make_unique<OutputFile>(folder / "a.csv", file_kind::csv, ExistingFile::same_kind);
  const fs::path left = folder / ".a.csv.0123456789abcdef.part";
  const fs::path another = folder / ".a.csv.0123456789abcdeg.part";
  for (const fs::path& part : {left, another}) std::ofstream(part) << "half";
  write_table(folder / "a.csv", "algorithm\n");
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(another));
  EXPECT_TRUE(fs::exists(writing->temporary_path())) << "its writer is alive";
}

TEST_F(OutputFiles, pipes_are_written_to) {
  const fs::path pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = content(pipe); });
  write_table(pipe, "algorithm\n");
  reader.join();
  EXPECT_EQ(read, "algorithm\n");
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"pipe"});
}

TEST_F(OutputFiles, devices_are_written_to) {
  write_table("/dev/null", "algorithm\n");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  const FileError error = storage_error_of([] { write_table("/dev/full", "algorithm\n"); });
  EXPECT_EQ(error.kind(), Kind::disk_full);
  EXPECT_THAT(error.what(), HasSubstr("/dev/full"));
}

TEST_F(OutputFiles, open_descriptor_is_appended_to) {
  const int log = ::open((folder / "log").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(::write(log, "first\n", 6), 6);
  write_table("/dev/fd/" + std::to_string(log), "algorithm\n");
  ::close(log);
  EXPECT_EQ(content(folder / "log"), "first\nalgorithm\n");
}

TEST_F(OutputFiles, folders_and_sockets_are_rejected) {
  EXPECT_THAT(storage_error_of([&] { write_table(folder.path(), "algorithm\n"); }).what(), HasSubstr("folder"));
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  (folder / "socket").string().copy(name.sun_path, sizeof name.sun_path - 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
  EXPECT_EQ(storage_error_of([&] { write_table(folder / "socket", "algorithm\n"); }).kind(), Kind::not_writable);
  ::close(socket);
  EXPECT_TRUE(fs::is_socket(folder / "socket"));
}

TEST_F(CompactCopies, replace_only_attnscope_files_and_keep_the_mode) {
  const fs::path source = file;
  const fs::path target = folder / "b.attnscope";
  write_run(source, {simple_record(100)});
  std::ofstream(target) << "a letter";
  EXPECT_THAT(storage_error_of([&] { write_compact_copy({source}, target); }).what(), HasSubstr("--force"));
  EXPECT_EQ(content(target), "a letter");
  ::chmod(target.c_str(), 0600);
  write_compact_copy({source}, target, true);
  EXPECT_THAT(lengths_in(target), ElementsAre(100));
  write_compact_copy({source}, target);
  EXPECT_EQ(mode_of(target), 0600U);
  EXPECT_EQ(names_in(folder.path()), (std::set<std::string>{"a.attnscope", "b.attnscope"}));
}

TEST_F(CompactCopies, write_through_symlinks) {
  const fs::path source = file;
  write_run(source, {simple_record(100)});
  fs::create_symlink("b.attnscope", folder / "link");
  write_compact_copy({source}, folder / "link");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_THAT(lengths_in(folder / "b.attnscope"), ElementsAre(100));

  EXPECT_EQ(storage_error_of([&] { write_compact_copy({source}, "/dev/null"); }).kind(), Kind::not_writable);
}

TEST_F(CompactCopies, are_rejected_while_a_collector_writes) {
  write_run(file, {simple_record(100)});
  write_run(folder / "b.attnscope", {simple_record(200)});
  const RunStore collecting = RunStore::open(folder / "b.attnscope", Mode::collect);
  EXPECT_EQ(storage_error_of([&] { write_compact_copy({file}, folder / "b.attnscope"); }).kind(), Kind::locked);
  EXPECT_THAT(lengths_in(folder / "b.attnscope"), ElementsAre(200));
}

}  // namespace
}  // namespace attnscope::testing
