// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/texts.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "kernels/model/io_model.h"
#include "kernels/registry.h"
#include "profiler/lesson/claims.h"
#include "profiler/lesson/lesson_page.h"
#include "profiler/lesson/lesson_values.h"
#include "profiler/metrics/metrics.h"
#include "profiler/metrics/model_metrics.h"
#include "profiler/plan/text.h"
#include "tests/profiler/lesson/claim_cards.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis::lesson {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> problem_lines(const LessonTexts& texts) {
  std::vector<std::string> lines;
  for (const Message& problem : texts.problems) lines.push_back(english_text(problem));
  return lines;
}

/// Returns the words of a text, a formula as one; two Chinese characters are a word.
std::size_t word_count(const std::string& text) {
  const std::string plain = std::regex_replace(text, std::regex(R"(\$\$?[^$]*\$\$?)"), " x ");
  std::istringstream words(plain);
  const auto western = std::distance(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>());
  const auto three_bytes = [](char c) { return (static_cast<unsigned char>(c) & 0xF0U) == 0xE0U; };
  return static_cast<std::size_t>(western + std::ranges::count_if(plain, three_bytes) / 2);
}

/// Adds the place of each text that lacks a language.
void find_untranslated(const nlohmann::json& value, const std::string& place, std::vector<std::string>& found) {
  if (value.is_object() && (value.contains("en") || value.contains("zh"))) {
    if (value.size() != languages.size()) found.push_back(place);
    return;
  }
  for (const auto& [key, member] : value.items()) {
    if (member.is_structured()) find_untranslated(member, place + "/" + key, found);
  }
}

TEST(LessonTexts, BothLanguagesAreComplete) {
  std::vector<std::string> untranslated;
  for (const EmbeddedText& each : embedded_lesson()) {
    if (is_text_path(each.path))
      find_untranslated(nlohmann::json::parse(each.text), std::string(each.path), untranslated);
  }
  EXPECT_THAT(untranslated, IsEmpty());
  for (const std::string_view language : languages) {
    const LessonTexts texts = load_lesson(language);
    EXPECT_THAT(problem_lines(texts), IsEmpty()) << language;
    EXPECT_EQ(texts.screens.size(), 9U);
    EXPECT_EQ(texts.claims.size(), 12U);
    double minutes = 0;
    for (const Screen& screen : texts.screens) {
      minutes += screen.minutes;
      for (const std::string& note : {screen.say, screen.ask, screen.answer}) EXPECT_NE(note, "") << screen.id;
      for (const Step& step : screen.steps) {
        EXPECT_LE(word_count(step.text), 60U) << language << screen.id << ": " << step.text;
        EXPECT_LE(step.choices.size(), 4U);
      }
    }
    EXPECT_EQ(minutes, 45);
    for (const Claim& claim : texts.claims) {
      EXPECT_FALSE(claim.text.empty()) << claim.id;
      EXPECT_TRUE(language == "en" || claim.source.find("section") == std::string::npos) << claim.id;
    }
    EXPECT_GE(texts.homework.size(), 15U);
    for (const HomeworkQuestion& each : texts.homework) {
      EXPECT_GE(each.wordings.size(), 2U) << each.id;
      EXPECT_NE(each.why, "") << each.id;
    }
  }
}

// Every text of the page that scripts show, and every other key of the pages, is in words.json.
TEST(LessonTexts, WordsAreUsed) {
  std::string scripts;
  for (const EmbeddedText& each : embedded_lesson()) {
    if (each.path.ends_with(".js")) scripts += each.text;
  }
  const LessonTexts texts = load_lesson("en");
  const std::regex call(R"(\btr\('([a-z_0-9]+)')");
  for (std::sregex_iterator at(scripts.begin(), scripts.end(), call), end; at != end; ++at)
    EXPECT_TRUE(texts.words.contains((*at)[1].str())) << (*at)[1];
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

TEST(LessonTexts, TheRightChoiceIsNotTheLongest) {
  for (const std::string_view language : languages) {
    const LessonTexts texts = load_lesson(language);
    const auto expect = [&](const std::string& id, std::string_view right, const std::vector<std::string>& wrong) {
      EXPECT_TRUE(
          std::ranges::any_of(wrong, [&](const std::string& each) { return characters(each) >= characters(right); }))
          << language << ' ' << id << ": " << right;
    };
    for (const Screen& screen : texts.screens) {
      for (const Step& step : screen.steps) {
        std::string right;
        std::vector<std::string> wrong;
        for (const Choice& choice : step.choices)
          choice.right ? void(right = choice.text) : wrong.push_back(choice.text);
        if (!step.choices.empty()) expect(screen.id, right, wrong);
      }
    }
    for (const HomeworkQuestion& each : texts.homework) {
      if (!each.right.empty()) expect(each.id, each.right, each.wrong);
    }
  }
}

TEST(LessonValues, FollowTheData) {
  const PointTable none;
  const Evidence evidence = evidence_of(none);
  EXPECT_EQ(find_value("l2")->of(evidence)->text, "60 MiB");
  EXPECT_EQ(find_value("l2")->of(evidence)->origin, "datasheet");
  EXPECT_FALSE(find_value("exponent_n")->of(evidence));
  EXPECT_FALSE(find_value("dram_latency")->of(evidence));
  EXPECT_EQ(find_value("nothing"), nullptr);
}

TEST(LessonPage, SkipsQuestionsWithoutData) {
  const std::vector<TextFile> files{{"screens/own.json", R"({"title": "x", "order": 1, "steps": [{"text": "y"},
    {"question": "{{decode_group}} heads?", "choices": [{"text": "a", "why": "b", "right": true}, {"text": "c", "why": "d"}]}]})"}};
  const LessonTexts texts = load_lesson("en", files);
  ASSERT_THAT(problem_lines(texts), IsEmpty());
  PointSpec one_query = fixtures::spec("fa2", 1024);
  one_query.problem.n_q = 1;
  const PointTable decoding = fixtures::Points({fixtures::ok_point(one_query)}).table();
  const PointTable nothing;
  EXPECT_EQ(find_value("l2")->of(evidence_of(decoding))->origin, "driver");
  EXPECT_THAT(lesson_page(texts, evidence_of(decoding)), HasSubstr("data-id=\"own-2\""));
  EXPECT_THAT(lesson_page(texts, evidence_of(nothing)), Not(HasSubstr("data-id=\"own-2\"")));
}

TEST(Values, CountsDecodingBlocks) {
  const auto decoding = [](const char* algorithm, TileShape tile, double ns, double bytes) {
    PointSpec spec = fixtures::spec(algorithm, 65536);
    spec.problem = {.batch = 1, .heads_q = 16, .heads_kv = 2, .n_q = 1, .n_k = 65536, .d = 128};
    spec.tile = tile;
    PointRecord record = fixtures::ok_point(spec);
    for (KernelRecord& kernel : record.kernels) {
      kernel.samples_ns.assign(3, ns / static_cast<double>(record.kernels.size()));
      std::erase_if(kernel.metrics, [](const MetricValue& m) { return m.name == metric_key::time_median_ns; });
      for (MetricValue& value : kernel.metrics) {
        if (value.name == metric_key::l2_to_sm_bytes) value.value = bytes / static_cast<double>(record.kernels.size());
        if (value.name == metric_key::sm_to_l2_bytes) value.value = 0;
      }
    }
    return record;
  };
  const PointTable table = fixtures::Points({decoding("fa2", {.br = 128, .bc = 64}, 1e6, 8e8),
                                             decoding("splitkv", {.br = 16, .bc = 128}, 1e4, 1e8)})
                               .table();
  const auto value = [&](const char* name) {
    const auto found = find_value(name)->of(evidence_of(table));
    return found ? std::stod(found->text) : -1;
  };
  EXPECT_EQ(value("decode_blocks_fast"), 16);
  EXPECT_EQ(value("decode_group"), 8);
}

TEST(LessonPage, LawShowsTheLastOfEquallyLongSlices) {
  std::vector<PointRecord> records;
  for (const std::int64_t n : {3072, 6144}) {
    for (const std::int64_t d : {64, 128}) {
      for (const std::int64_t m : {8192, 16384}) {
        const TileShape tile = tile_of_memory(m, d, TileSide::bc);
        PointRecord record;
        record.spec = fixtures::spec("fa1", n, tile.br, tile.bc, d);
        const auto bytes = static_cast<double>(n * n * d * d / m);
        kernel_record(record, "all").metrics = {
            {std::string(metric_key::l2_to_sm_bytes), bytes, "byte", Provenance::measured},
            {std::string(metric_key::sm_to_l2_bytes), 0, "byte", Provenance::measured}};
        records.push_back(record);
      }
    }
  }
  const PointTable table = fixtures::Points(records).table();
  const auto law = law_json(evidence_of(table), "fa1");
  ASSERT_TRUE(law.contains("plots"));
  std::vector<std::string> fixed;
  for (const auto& plot : law.at("plots")) fixed.push_back(plot.at("fixed").get<std::string>());
  EXPECT_THAT(fixed, ElementsAre("d 128, M 16,384", "N 6,144, M 16,384", "N 6,144, d 128"));
}

TEST(LessonPage, StatesAreDrawn) {
  std::set<std::string> used;
  for (const Screen& screen : load_lesson("en").screens) {
    for (const Step& step : screen.steps) {
      if (!step.picture.empty()) used.insert(step.picture);
    }
  }
  EXPECT_THAT(used, ::testing::UnorderedElementsAreArray(picture_names()));
}

TEST(LessonPage, IsSelfContained) {
  const PointTable table = fixtures::Points(fixtures::memory_wall()).table();
  const Evidence evidence = evidence_of(table);
  for (const std::string_view language : languages) {
    const LessonTexts texts = load_lesson(language);
    std::string page = lesson_page(texts, evidence);
    // The SVG namespace is not a request.
    const std::string svg = "'http://www.w3.org/2000/svg'";
    ASSERT_THAT(page, HasSubstr(svg));
    page.erase(page.find(svg), svg.size());
    EXPECT_THAT(page, Not(HasSubstr("http://"))) << language;
    EXPECT_THAT(page, Not(HasSubstr("https://"))) << language;
    EXPECT_THAT(page, Not(HasSubstr("src=")));
    for (const Screen& screen : texts.screens) {
      EXPECT_THAT(page, HasSubstr("<section id=\"" + screen.id + "\"")) << language;
    }
    EXPECT_THAT(page, Not(HasSubstr("[lesson]")));
  }
}

}  // namespace
}  // namespace attnscope::analysis::lesson
