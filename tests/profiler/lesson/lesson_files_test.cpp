// SPDX-License-Identifier: Apache-2.0
// A folder of a teacher's texts: what is read of it, and what is told of the rest.
#include "profiler/lesson/lesson_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// "en/a.md: 4 bytes", or what is the matter with it.
std::vector<std::string> read_of(const std::filesystem::path& folder) {
  std::vector<std::string> lines;
  for (const auto& file : lesson_texts_of(folder)) {
    lines.push_back(file.path + ": " +
                    (file.trouble.empty() ? std::to_string(file.text.size()) + " bytes" : english_text(file.trouble)));
  }
  return lines;
}

void write_text(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

TEST(LessonTextsFolder, TellsWhatItDoesNotRead) {
  const testing::TemporaryFolder outside;
  write_text(outside / "secret.md", "not to be shown");
  const testing::TemporaryFolder folder;
  write_text(folder / "en/step-1.md", "text");
  write_text(folder / "en/.step-1.md.swp", "x");
  write_text(folder / "en/step-1.md~", "x");
  write_text(folder / "en/step-2.md.txt", "text");
  write_text(folder / "notes.txt", "of no folder of ours");
  write_text(folder / "claims/large.md", std::string(analysis::lesson::largest_text + 1, 'x'));
  write_text(folder / "claims/most.md", std::string(analysis::lesson::largest_text, 'x'));
  const auto link = [&](const std::filesystem::path& to, const char* from) {
    std::filesystem::create_symlink(to, folder / from);
  };
  link(outside / "secret.md", "en/out.md");
  link("../../../../../../etc/passwd", "en/passwd.md");
  link("step-1.md", "en/step-3.md");
  link("nothing.md", "en/lost.md");
  link("loop.md", "en/loop.md");
  link(outside.path(), "en/folder.md");
  link("../claims", "en/claims.md");
  ASSERT_EQ(::mkfifo((folder / "en/pipe.md").c_str(), 0600), 0);
  EXPECT_THAT(
      read_of(folder.path()),
      ElementsAre("claims/large.md: the file is larger than a text of a lesson, which has 1,048,576 bytes at most",
                  "claims/most.md: 1048576 bytes", "en/claims.md: a link to a folder: it is not followed",
                  "en/folder.md: the link leads out of the folder: it is not followed",
                  "en/loop.md: the link leads nowhere", "en/lost.md: the link leads nowhere",
                  "en/out.md: the link leads out of the folder: it is not followed",
                  "en/passwd.md: the link leads out of the folder: it is not followed",
                  "en/pipe.md: no regular file: it is not read", "en/step-1.md: 4 bytes",
                  "en/step-2.md.txt: its name does not end in .md: it is not read", "en/step-3.md: 4 bytes"));
}

TEST(LessonTextsFolder, ASlashAtItsEndIsNoOtherFolder) {
  const testing::TemporaryFolder folder;
  write_text(folder.path() / "notes.txt", "text");
  write_text(folder.path() / "en" / "step-1.md", "text");
  EXPECT_THAT(read_of(folder.path() / ""), ElementsAre("en/step-1.md: 4 bytes"));
  EXPECT_THAT(read_of(folder.path()), ElementsAre("en/step-1.md: 4 bytes"));
}

TEST(LessonTextsFolder, WhoseNamesAreNoTextIsTold) {
  const testing::TemporaryFolder folder;
  write_text(folder.path() / "en" / "step-\xFF\xFE.md", "text");
  const auto lines = read_of(folder.path());
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines.front(), "en/step-\\xff\\xfe.md: 4 bytes");
}

TEST(LessonTextsFolder, OfTooManyFilesSomeAreRead) {
  const testing::TemporaryFolder folder;
  for (int i = 0; i < 4200; ++i) write_text(folder / ("claims/" + std::to_string(i) + ".md"), "x");
  const auto lines = read_of(folder.path());
  EXPECT_EQ(lines.size(), 4097U);
  EXPECT_THAT(lines, ::testing::Contains("claims: more than 4,096 files: the rest is not read"));
}

TEST(LessonTextsFolder, ThatIsNotThereHoldsNone) {
  const testing::TemporaryFolder folder;
  EXPECT_THAT(read_of(folder / "nothing"), IsEmpty());
}

TEST(LessonTextsFolder, ThatNobodyMayReadIsTold) {
  const testing::TemporaryFolder folder;
  if (::geteuid() == 0) GTEST_SKIP() << "whom every folder can be read by";
  std::filesystem::create_directories(folder / "en");
  std::filesystem::permissions(folder / "en", std::filesystem::perms::none);
  EXPECT_THAT(read_of(folder.path()), ElementsAre("en: it cannot be read: Permission denied"));
  std::filesystem::permissions(folder / "en", std::filesystem::perms::all);
}

// Frozen: what teachers wrote so stays so, with every key that a step takes and every test of a claim.
constexpr const char* step_of_0_1 = R"(---
title: My own step
slug: own
order: 8
n: 4096
d: 64
heads: 2
batch: 1
slow: naive
first: fa1
fast: fa2
split: splitkv
explore: fa2
picture: tiles
occupancy: fa2
occupancy_br: 64
occupancy_bc: 64
play: fa1 fa2
play_n: 512
play_d: 64
play_br: 64
play_bc: 64
play_heads: 2
play_pass: fwd
play_masks: full causal
play_knobs: raster
play_also: bc=128 m=16384 heads=4,raster=heads_fastest
---
# My own step

At N {{n}} one head's scores take {{s_one}}: $N^2$ numbers.

$$ \frac{N^2 d^2}{M} $$

::picture tiles

::question own-why
What becomes of the bytes?
- [ ] They halve. :: That would be so if the outer loop went over K.
- [x] They stay. :: Every tile of queries reads all of K and V.
::hint Which matrix passes by?
)";

constexpr std::array claims_of_0_1{
    "test: versus\nfrom: fa1\nto: fa2\nmetric: time_median_ns\npoints: pass:fwd N>=4096\nlow: 1.8\nhigh: 2.2",
    "test: doubled\ndoubled: n\nmetric: l2_sm_bytes\npoints: pass:fwd\nstates: 4\ntolerance: 0.1",
    "test: passes\nmetric: tflops\npoints: fa2\nstates: 2.5",
    "test: varies-with\nof: bc\nmetric: l2_sm_bytes\npoints: fa2\nlow: 0\nhigh: 0.1",
    "test: exponent\nof: d\nlevel: sm-l2\npoints: fa1\nstates: 2",
    "test: crossover\nfrom: naive\nto: fa2\npoints: pass:fwd\nstates: 1024",
    "test: rate\npoints: fa2\nlow: 1e12\nhigh: 1e15",
    "test: peak-share\npoints: fa2\nstates: 0.5",
    "test: occupancy\npoints: fa2\nstates: 0.5",
    "test: tile-best\nbr: 128\nbc: 64\npoints: fa2\nstates: 1",
    "test: tile-fits\nalgorithm: fa1\nbr: 64\nbc: 64\nd: 64",
    "test: paper-rule\nm_kib: 100\nd: 64\nstates: 400",
    "test: loaded-times\nalgorithm: fa2\ntensor: K\nn: 4096\nd: 64\nstates: 64",
    "test: memory-saved\nfrom: naive\nto: fa2\nn: 4096\nd: 64\nstates: 20",
    "test: ledger\nmatrix: S\nn: 4096 8192\nunit: MiB\nstates: 32 128",
    "test: ledger-share\nmatrix: S\nn: 65536\ngpu: a100\nstates: 0.1",
    "test: gpu-value\ngpu: h200\nvalue: l2_mib\nstates: 60",
    "test: ceiling\nceiling: dram_copy\nstates: 4e12",
    "test: softmax-error\nfault: forget-rescale\nlow: 0.001",
    "test: elsewhere\nmissing: a chip of next year",
};

TEST(LessonTextsFolder, OfBeforeLoadsWithoutAWord) {
  const testing::TemporaryFolder folder;
  write_text(folder / "en/step-8-own.md", step_of_0_1);
  for (std::size_t i = 0; i < claims_of_0_1.size(); ++i) {
    write_text(folder / ("claims/mine-" + std::to_string(i) + ".md"),
               "---\nsource: a talk, slide 12\ntitle.en: A claim\n" + std::string(claims_of_0_1[i]) +
                   "\n---\n## en\n\nA text.\n");
  }
  const auto ours = analysis::lesson::load_lesson("en");
  const auto texts = analysis::lesson::load_lesson("en", lesson_texts_of(folder.path()));
  for (const auto& problem : texts.problems) ADD_FAILURE() << english_text(words_of(problem));
  ASSERT_EQ(texts.steps.size(), ours.steps.size() + 1);
  EXPECT_EQ(texts.steps.back().slug, "own");
  EXPECT_EQ(texts.claims.size(), ours.claims.size() + claims_of_0_1.size());
}

}  // namespace
}  // namespace attnscope
