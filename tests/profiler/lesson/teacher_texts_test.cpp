// SPDX-License-Identifier: Apache-2.0
// What a teacher writes and the lesson does not take: each is told, by file and line and with what is allowed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/registry.h"
#include "profiler/lesson/front_keys.h"
#include "profiler/lesson/playing.h"
#include "profiler/lesson/texts.h"
#include "profiler/lesson/values.h"
#include "profiler/lesson/web.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis::lesson {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> told(const LessonTexts& texts) {
  std::vector<std::string> lines;
  for (const TextProblem& problem : texts.problems) lines.push_back(english_text(words_of(problem)));
  return lines;
}

/// A step of a teacher's own with more lines of front matter, from line 5 on.
LessonTexts with_step(const std::string& more, const std::string& body = "Text.\n") {
  const std::vector<TextFile> files{
      {"en/step-8-own.md", "---\ntitle: Own\nslug: own\norder: 8\n" + more + "---\n" + body}};
  return load_lesson("en", files);
}

const Step* own_step(const LessonTexts& texts) {
  const auto found = std::ranges::find(texts.steps, "own", &Step::slug);
  return found == texts.steps.end() ? nullptr : &*found;
}

std::string claim_text(const std::string& more) {
  return "---\nsource: me\ntest: versus\ntitle.en: x\nfrom: fa1\nto: fa2\nmetric: time_median_ns\npoints: pass:fwd\n" +
         more + "---\n## en\n\ny\n";
}

TEST(TeachersStep, WhatNothingTakesIsToldAndTheStepStands) {
  const struct {
    const char* line;
    const char* why;
  } wrong[] = {
      {"play_n: many", "'play_n: many' is not taken: it takes a whole number from 64 to 65,536"},
      {"play_n: 65537", "'play_n: 65537' is not taken: it takes a whole number from 64 to 65,536"},
      {"play_br: 0", "'play_br: 0' is not taken: it takes a whole number from 1 to 4,096"},
      {"play_br: 64.5", "'play_br: 64.5' is not taken: it takes a whole number from 1 to 4,096"},
      {"n: nan", "'n: nan' is not taken: it takes a whole number from 16 to 1,048,576"},
      {"heads: 1e300", "'heads: 1e300' is not taken: it takes a whole number from 1 to 512"},
      {"play_pass: sideways", "'play_pass: sideways' is not taken: it takes one of fwd, bwd"},
      {"slow: quick", "'slow: quick' is not taken: it takes one of naive, fa1"},
      {"play: fa1 fa9", "'play: fa1 fa9' is not taken: it takes some of naive, fa1"},
      {"picture: sunset", "'picture: sunset' is not taken: it takes one of race, ledger, hierarchy"},
      {"colour: red", "nothing takes 'colour'; keys here are title, slug, order, n, d"},
      {"<script>: 1", "nothing takes '<script>'"},
  };
  for (const auto& each : wrong) {
    const LessonTexts texts = with_step(std::string(each.line) + "\n");
    ASSERT_EQ(told(texts).size(), 1U) << each.line;
    EXPECT_THAT(told(texts).front(), StartsWith("en/step-8-own.md:5: " + std::string(each.why))) << each.line;
    EXPECT_NE(own_step(texts), nullptr) << each.line;
    EXPECT_EQ(texts.steps.size(), 9U);
  }
  const LessonTexts texts = with_step("n: nan\nheads: 0\nplay_heads: 65\nbatch: 4k\n");
  EXPECT_EQ(told(texts).size(), 4U);
  const Setting setting = setting_of(own_step(texts)->document.front);
  EXPECT_EQ(setting.n, 8192);
  EXPECT_EQ(setting.heads, 32);
  EXPECT_EQ(setting.batch, 8);
  EXPECT_THAT(told(with_step("n: 4k\nd: 128\nplay: fa2\nplay_masks: causal\nplay_pass: bwd\nfast: fa2\n")), IsEmpty());
}

TEST(TeachersStep, ChoicesToPlayAreToldOneByOne) {
  const std::string play = "play: fa1 fa2\nplay_knobs: raster\n";
  EXPECT_THAT(told(with_step(play + "play_also: bc=128 m=16384 heads=4,raster=heads_fastest\n")), IsEmpty());
  for (const char* word : {"br=0", "raster=x", "foo=1", "=", "n=", "heads=65", "n=65537", "bc=64,", "bc"}) {
    const std::vector<std::string> lines = told(with_step(play + "play_also: bc=128 " + word + "\n"));
    ASSERT_EQ(lines.size(), 1U) << word;
    EXPECT_THAT(lines.front(), HasSubstr("en/step-8-own.md:7: 'play_also: bc=128 " + std::string(word) +
                                         "' is not taken: '" + word + "' is no choice"));
  }
  const auto nine = told(with_step(play + "play_also: n=64 n=65 n=66 n=67 n=68 n=69 n=70 n=71 n=72\n"));
  ASSERT_EQ(nine.size(), 1U);
  EXPECT_THAT(nine.front(), HasSubstr("'n=72' is no choice"));
  EXPECT_THAT(nine.front(), HasSubstr("8 choices at most"));
  const auto knob = told(with_step("play: fa1 fa2\nplay_knobs: raster nonsense\n"));
  ASSERT_EQ(knob.size(), 1U);
  EXPECT_THAT(knob.front(), HasSubstr("it takes knobs of the algorithms that 'play' names: "));
  EXPECT_EQ(told(with_step("play: fa2\nplay_masks: full sideways\n")).size(), 1U);
}

TEST(TeachersStep, ManyWrongKeysAreCounted) {
  std::string more;
  for (int i = 0; i < 5000; ++i) more += "key" + std::to_string(i) + ": x\n";
  const auto lines = told(with_step(more));
  ASSERT_EQ(lines.size(), 11U);
  EXPECT_THAT(lines.front(), HasSubstr("en/step-8-own.md:5: nothing takes 'key0'"));
  EXPECT_EQ(lines.back(), "en/step-8-own.md: and 4990 more keys that are not taken");
}

TEST(TeachersStep, SlugsAndNamesOfQuestionsAreNames) {
  for (const char* slug : {"o\"n", "a b", "<b>", "-a", "é", "__proto__", "a/b"}) {
    const std::vector<TextFile> files{
        {"en/step-8-own.md", std::string("---\ntitle: Own\nslug: ") + slug + "\norder: 8\n---\nText.\n"}};
    const LessonTexts texts = load_lesson("en", files);
    EXPECT_THAT(told(texts),
                ElementsAre(StartsWith("en/step-8-own.md:3: '" + std::string(slug) + "' is no name: letters")))
        << slug;
    EXPECT_EQ(texts.steps.size(), 8U);
  }
  const std::string question = "::question __proto__\nWhat?\n- [x] a :: b\n- [ ] c :: d\n";
  EXPECT_THAT(told(with_step("", question)), ElementsAre(StartsWith("en/step-8-own.md:6: '__proto__' is no name")));
  EXPECT_THAT(
      told(with_step("", "::picture sunset\n\nText.\n")),
      ElementsAre(
          "en/step-8-own.md:6: there is no picture 'sunset'; there are race, ledger, hierarchy, tiles, softmax, "
          "law, growth, backward, occupancy"));
}

TEST(TeachersStep, ATakenSlugStaysWithWhoHadItFirst) {
  const std::string other = "---\ntitle: Mine\nslug: ledger\norder: -1\n---\nText.\n";
  const std::vector<TextFile> files{{"en/step-0-mine.md", other},
                                    {"en/step-9-results.md", "---\ntitle: x\nslug: results\norder: 9\n---\nText.\n"}};
  const LessonTexts texts = load_lesson("en", files);
  EXPECT_THAT(
      told(texts),
      ElementsAre(
          "en/step-0-mine.md:3: the slug 'ledger' is taken already, by en/step-1-ledger.md: another one, please",
          "en/step-9-results.md:3: the slug 'results' is taken already, by results: another one, please"));
  EXPECT_EQ(texts.steps.size(), 8U);
  EXPECT_EQ(texts.steps.front().title, "The race");
  // Under the name of ours it is a step of theirs in our place.
  const std::vector<TextFile> instead{{"en/step-1-ledger.md", other}};
  EXPECT_THAT(told(load_lesson("en", instead)), IsEmpty());
  EXPECT_EQ(load_lesson("en", instead).steps.front().title, "Mine");
}

TEST(TeachersClaim, WhatWouldBeMisjudgedIsLeftOut) {
  const auto lines_of_claim = [](const std::string& more) {
    const std::vector<TextFile> files{{"claims/mine.md", claim_text(more)}};
    const LessonTexts texts = load_lesson("en", files);
    const bool there = std::ranges::count(texts.claims, "mine", &ClaimCard::id) > 0;
    std::vector<std::string> lines = told(texts);
    EXPECT_EQ(there, lines.empty()) << more;
    return lines;
  };
  EXPECT_THAT(lines_of_claim("low: 1.8\nhigh: 2.2\n"), IsEmpty());
  EXPECT_THAT(lines_of_claim(""), ElementsAre(HasSubstr("claims/mine.md:1: the front matter lacks what is claimed")));
  EXPECT_THAT(lines_of_claim("low: much\n"),
              ElementsAre("claims/mine.md:9: 'low: much' is not taken: it takes a number"));
  EXPECT_THAT(lines_of_claim("low: 2\nhigh: 1\n"),
              ElementsAre("claims/mine.md:10: 'high: 1' is not taken: it takes a number that is not below the card's "
                          "'low', 2"));
  EXPECT_THAT(lines_of_claim("states: 2\ntolerance: -0.1\n"),
              ElementsAre("claims/mine.md:10: 'tolerance: -0.1' is not taken: it takes a number of 0 or more"));
  EXPECT_THAT(lines_of_claim("low: 1\ntolerence: 0.5\n"),
              ElementsAre(HasSubstr("claims/mine.md:10: nothing takes 'tolerence'")));
  EXPECT_THAT(lines_of_claim("low: 1\nmatrix: S\n"),
              ElementsAre(HasSubstr("claims/mine.md:10: nothing takes 'matrix'")));
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = claim_text("low: 1\n");
    text.replace(text.find(from), from.size(), to);
    const std::vector<TextFile> files{{"claims/mine.md", text}};
    const auto lines = told(load_lesson("en", files));
    return lines.size() == 1 ? lines.front() : std::to_string(lines.size()) + " lines";
  };
  EXPECT_THAT(replaced("test: versus", "test: guess"),
              HasSubstr("claims/mine.md:3: 'guess' is no kind of test; there are versus, "));
  EXPECT_THAT(replaced("time_median_ns", "time_median"),
              HasSubstr("claims/mine.md:7: 'metric: time_median' is not taken: it "
                        "takes the key of a metric; perhaps time_median_ns"));
  EXPECT_THAT(replaced("from: fa1", "from: fast"),
              HasSubstr("claims/mine.md:5: 'from: fast' is not taken: it takes one of naive"));
  EXPECT_THAT(replaced("from: fa1", "from: imported:<b>"),
              HasSubstr("claims/mine.md:5: 'from: imported:<b>' is not taken: it takes the name of an algorithm, or "));
  EXPECT_THAT(replaced("from: fa1", "from: imported:fa1"),
              HasSubstr("claims/mine.md:5: 'from: imported:fa1' is not taken: it takes the name of an algorithm, or "));
  EXPECT_EQ(replaced("from: fa1", "from: imported:torch-flash"), "0 lines");
  EXPECT_EQ(replaced("low: 1", "states: 1\nsource_leaves: heads"), "0 lines");
  EXPECT_THAT(replaced("low: 1", "states: 1\nsource_leaves: the rest"),
              HasSubstr("claims/mine.md:10: 'source_leaves: the rest' is not taken: it takes some of batch, heads"));
  EXPECT_THAT(replaced("low: 1", "low: 1\nsource_level: dram"),
              HasSubstr("claims/mine.md:10: nothing takes 'source_level'"));
  EXPECT_EQ(replaced("time_median_ns", "dram_bytes\nsource_level: dram"), "0 lines");
  EXPECT_THAT(replaced("low: 1", "low: 1\nsource_gpu: best"),
              HasSubstr("claims/mine.md:10: 'source_gpu: best' is not taken: it takes one of NVIDIA H200, "));
  EXPECT_THAT(replaced("low: 1", "low: 1\nstated_by: me"),
              HasSubstr("claims/mine.md:10: 'stated_by: me' is not taken: it takes one of source, ours"));
  EXPECT_THAT(replaced("pass:fwd", "pass:>="), HasSubstr("claims/mine.md:8: 'points: pass:>=' is not taken: "));
  for (const std::string key : {"source_gpu: NVIDIA H200", "source_kernel: published", "source_level: dram"}) {
    const std::vector<TextFile> arithmetic{
        {"claims/mine.md",
         "---\nsource: me\ntest: elsewhere\ntitle.en: x\nmissing: y\n" + key + "\n---\n## en\n\nz\n"}};
    EXPECT_THAT(told(load_lesson("en", arithmetic)),
                ElementsAre(StartsWith("claims/mine.md:6: nothing takes '" + key.substr(0, key.find(':')))));
  }
  const std::vector<TextFile> ledger{
      {"claims/mine.md",
       "---\nsource: me\ntest: ledger\ntitle.en: x\nmatrix: S\nn: 1024 2048\nstates: 2\n---\n## en\n\ny\n"}};
  EXPECT_THAT(
      told(load_lesson("en", ledger)),
      ElementsAre("claims/mine.md:7: 'states: 2' is not taken: it takes as many numbers as there are N, 2, with "
                  "blanks between them"));
}

TEST(TeachersFiles, AreReadAsTextOrNamed) {
  const std::string step = "---\ntitle: Own\nslug: own\norder: 8\n---\nText.\n";
  const std::vector<TextFile> files{
      {"claims/a b.md", claim_text("low: 1\n")},
      {"en/notes.md", "x"},
      {"en/step-8-own.md", "\xEF\xBB\xBF" + step},
      {"en/step-8-own.txt", {}, "its name does not end in .md: it is not read"},
      {"en/step-9-bytes.md", "---\ntitle: x\nslug: x\norder: 9\n---\nText \xFF\xFE.\n"},
      {"en/step-9-control.md", std::string("---\ntitle: \x1b[2J\nslug: y\norder: 9\n---\n")},
      {"en/step-9-large.md", std::string(largest_text + 1, 'x')},
      {"fr/step-1.md", step},
      {"zh/step-8-own.md", "no step at all"},
      {"README.md", "ours"}};
  const LessonTexts texts = load_lesson("en", files);
  EXPECT_THAT(
      told(texts),
      ElementsAre(StartsWith("claims/a b.md: 'a b' is no name"),
                  "en/notes.md: none of LANG/words.md, LANG/glossary.md, LANG/step-*.md (LANG: en, zh) and "
                  "claims/*.md: it is not read",
                  "en/step-9-bytes.md:6: the line is no UTF-8 text, or has control characters in it",
                  "en/step-9-control.md:2: the line is no UTF-8 text, or has control characters in it",
                  "en/step-9-large.md: the file is larger than a text of a lesson, which has 1,048,576 bytes at most",
                  StartsWith("fr/step-1.md: none of LANG/words.md"),
                  "en/step-8-own.txt: its name does not end in .md: it is not read"));
  EXPECT_NE(own_step(texts), nullptr);
  const std::vector<TextFile> words{{"en/words.md", "---\nlock: Lock it\nlokc: x\nload_order.nothing: x\n---\n"}};
  EXPECT_THAT(told(load_lesson("en", words)),
              ElementsAre("en/words.md:4: the lesson asks for no word 'load_order.nothing'",
                          "en/words.md:3: the lesson asks for no word 'lokc'"));
}

TEST(TeachersPage, HostileTextIsText) {
  const PointTable none;
  const Evidence evidence{.points = none, .rows = {}, .gpu = fixtures::h200(), .registry = built_in_algorithms()};
  const std::string evil = "</script><img src=x onerror=alert(1)>\"'&";
  const std::vector<TextFile> files{
      {"en/step-8-own.md", "---\ntitle: " + evil + "\nslug: own\norder: 8\n" + evil + ": 1\nplay_masks: " + evil +
                               "\n---\n# " + evil + "\n\n" + evil + " *" + evil + "* `" + evil + "` $\\text{" + evil +
                               "}$\n\n- " + evil + "\n\n```\n" + evil + "\n```\n\n::question own-q\n" + evil +
                               "\n- [x] " + evil + " :: " + evil + "\n- [ ] b :: " + evil + "\n::hint " + evil + "\n"},
      {"claims/mine.md", "---\nsource: " + evil + "\ntest: elsewhere\nmissing: " + evil + "\ntitle.en: " + evil +
                             "\n---\n## en\n\n" + evil + "\n"},
      {"en/" + evil + ".md", "x"}};
  const LessonTexts texts = load_lesson("en", files);
  ASSERT_NE(own_step(texts), nullptr);
  const std::string page = lesson_page(texts, evidence, {.data = evil});
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("</script><")));
  EXPECT_THAT(page, HasSubstr("&lt;img src=x onerror=alert(1)&gt;"));
}

}  // namespace
}  // namespace attnscope::analysis::lesson
