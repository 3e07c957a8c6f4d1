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
#include "profiler/lesson/scene_data.h"
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
  for (const TextProblem& problem : texts.problems) lines.push_back(english_text(display_text(problem)));
  return lines;
}

/// Returns the language-independent parts of a step.
std::vector<std::string> shape_of(const Step& step) {
  const Setting& s = step.setting;
  std::vector<std::string> shape{step.slug};
  shape.push_back(fmt::format("{} {} {}", step.order, s.n, s.d));
  for (const Block& block : step.blocks) {
    std::string part = std::to_string(static_cast<int>(block.kind));
    if (block.kind == Block::Kind::picture) part += block.text;
    if (block.kind == Block::Kind::question) {
      part += block.question.id;
      for (const Choice& choice : block.question.choices) part += choice.right ? 'x' : 'o';
      if (!block.question.hint.empty()) part += '?';
    }
    shape.push_back(part);
  }
  return shape;
}

/// Returns the words of a text, a formula as one; two Chinese characters are a word.
std::size_t word_count(const std::string& text) {
  const std::string plain = std::regex_replace(text, std::regex(R"(\$\$?[^$]*\$\$?)"), " x ");
  std::istringstream words(plain);
  const auto western = std::distance(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>());
  const auto three_bytes = [](char c) { return (static_cast<unsigned char>(c) & 0xF0U) == 0xE0U; };
  return static_cast<std::size_t>(western + std::ranges::count_if(plain, three_bytes) / 2);
}

TEST(LessonTexts, BothLanguagesAreComplete) {
  EXPECT_THAT(lesson_languages(), ElementsAre("en", "zh"));
  const LessonTexts en = load_lesson("en");
  const LessonTexts zh = load_lesson("zh");
  for (const LessonTexts* texts : {&en, &zh}) {
    EXPECT_THAT(problem_lines(*texts), IsEmpty()) << texts->language;
    EXPECT_EQ(texts->steps.size(), 9U);
    EXPECT_EQ(texts->claims.size(), 12U);
    for (const auto& [key, word] : en.words) EXPECT_NE(texts->label_text(key).front(), '[') << texts->language << key;
    for (const Step& step : texts->steps) {
      for (const Block& block : step.blocks) {
        EXPECT_LE(word_count(block.text), 60U) << texts->language << step.slug << ": " << block.text;
        for (const Choice& choice : block.question.choices) EXPECT_FALSE(choice.explanation.empty()) << step.slug;
      }
    }
    for (const Claim& claim : texts->claims) EXPECT_FALSE(claim.text.empty()) << claim.id;
  }
  ASSERT_EQ(en.steps.size(), zh.steps.size());
  for (std::size_t i = 0; i < en.steps.size(); ++i) EXPECT_EQ(shape_of(en.steps[i]), shape_of(zh.steps[i]));
  ASSERT_EQ(en.claims.size(), zh.claims.size());
  for (std::size_t i = 0; i < en.claims.size(); ++i) {
    EXPECT_EQ(en.claims[i].id, zh.claims[i].id);
    EXPECT_EQ(zh.claims[i].source.find("section"), std::string::npos) << zh.claims[i].id;
  }
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

TEST(LessonTexts, TheRightChoiceIsNotTheLongest) {
  for (const std::string& language : lesson_languages()) {
    const LessonTexts texts = load_lesson(language);
    const auto expect = [&](const std::string& id, std::string_view right, const std::vector<std::string>& wrong) {
      EXPECT_TRUE(
          std::ranges::any_of(wrong, [&](const std::string& each) { return characters(each) >= characters(right); }))
          << language << ' ' << id << ": " << right;
    };
    for (const Step& step : texts.steps) {
      for (const Block& block : step.blocks) {
        if (block.kind != Block::Kind::question) continue;
        std::string right;
        std::vector<std::string> wrong;
        for (const Choice& choice : block.question.choices)
          choice.right ? void(right = choice.text) : wrong.push_back(choice.text);
        expect(block.question.id, right, wrong);
      }
    }
    for (const HomeworkQuestion& each : texts.homework) {
      if (!each.right.empty()) expect(each.id, each.right, each.wrong);
    }
  }
}

TEST(LessonTexts, HomeworkAndPlanAreCompleteInBothLanguages) {
  const LessonTexts en = load_lesson("en");
  const LessonTexts zh = load_lesson("zh");
  ASSERT_EQ(en.homework.size(), zh.homework.size());
  EXPECT_GE(en.homework.size(), 15U);
  for (std::size_t i = 0; i < en.homework.size(); ++i) {
    EXPECT_GE(en.homework[i].wordings.size(), 2U) << en.homework[i].id;
    EXPECT_EQ(en.homework[i].wordings.size(), zh.homework[i].wordings.size()) << en.homework[i].id;
    EXPECT_EQ(en.homework[i].wrong.size(), zh.homework[i].wrong.size()) << en.homework[i].id;
    EXPECT_NE(en.homework[i].why, "") << en.homework[i].id;
  }
  ASSERT_EQ(en.plan.rows.size(), 9U);
  ASSERT_EQ(zh.plan.rows.size(), 9U);
  EXPECT_EQ(en.plan.minutes(), 45);
  for (std::size_t i = 0; i < en.plan.rows.size(); ++i) {
    EXPECT_EQ(en.plan.rows[i].screen, zh.plan.rows[i].screen);
    EXPECT_EQ(en.plan.rows[i].minutes, zh.plan.rows[i].minutes);
    EXPECT_NE(zh.plan.rows[i].say, en.plan.rows[i].say);
  }
}

TEST(LessonValues, FollowSettingAndData) {
  const PointTable none;
  const Evidence evidence = make_evidence(none);
  const Setting setting{.n = 8192, .d = 64};
  EXPECT_EQ(find_value("s_one")->of(setting, evidence)->text, "128 MiB");
  EXPECT_EQ(find_value("s_one")->of(setting, evidence)->origin, "modeled");
  EXPECT_FALSE(find_value("exponent_n")->of(setting, evidence));
  EXPECT_FALSE(find_value("dram_latency")->of(setting, evidence));
  EXPECT_EQ(find_value("nothing"), nullptr);
  std::set<std::pair<std::int64_t, std::int64_t>> settings;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    settings.emplace(vary_setting(setting, seed).n, vary_setting(setting, seed).d);
  EXPECT_GT(settings.size(), 10U);
}

TEST(LessonSeeds, VaryQuestionsAndKeepAnswers) {
  const PointTable table = fixtures::Points(fixtures::memory_wall()).table();
  const Evidence evidence = make_evidence(table);
  for (const std::string language : {"en", "zh"}) {
    for (const Step& step : load_lesson(language).steps) {
      for (const Block& block : step.blocks) {
        if (block.kind != Block::Kind::question) continue;
        std::set<std::string> prompts;
        std::set<std::vector<std::size_t>> orders;
        for (std::uint64_t seed = 0; seed < 6; ++seed) {
          const Setting setting = vary_setting(step.setting, seed);
          EXPECT_LT(3 * setting.d, 4 * setting.tile) << "S and P are most of what standard attention moves";
          prompts.insert(
              line_html(block.question.prompt,
                        {.value =
                             [&](std::string_view name) {
                               const auto value = find_value(name)->of(setting, evidence);
                               return value ? value->text : std::string();
                             },
                         .term = [](std::string_view, std::string_view shown) { return std::string(shown); }}));
          std::vector<std::size_t> order = shuffled_choices(block.question, seed);
          orders.insert(order);
          std::ranges::sort(order);
          for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], i);
          EXPECT_EQ(order.size(), block.question.choices.size());
        }
        // Questions about points depend on the pair that they compare; these data have none.
        if (block.question.prompt.find("{{last_") != std::string::npos) continue;
        EXPECT_GE(prompts.size(), 3U) << block.question.id << language;
        EXPECT_GE(orders.size(), 2U) << block.question.id;
      }
    }
  }
}

TEST(Values, SkipsQuestionsWithoutData) {
  const PointTable nothing = fixtures::Points(std::vector<PointRecord>{}).table();
  PointSpec one_query = fixtures::spec("fa2", 1024);
  one_query.problem.n_q = 1;
  const PointTable decoding = fixtures::Points({fixtures::ok_point(one_query)}).table();
  const Setting setting;
  const Question plain{.id = "a", .prompt = "N is {{n}}"};
  const Question counted{.id = "b", .prompt = "{{decode_group}} heads"};
  EXPECT_TRUE(has_question_data(plain, setting, make_evidence(nothing)));
  EXPECT_FALSE(has_question_data(counted, setting, make_evidence(nothing)));
  EXPECT_TRUE(has_question_data(counted, setting, make_evidence(decoding)));
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
  const Setting setting;
  const auto value = [&](const char* name) {
    const auto found = find_value(name)->of(setting, make_evidence(table));
    return found ? std::stod(found->text) : -1;
  };
  EXPECT_EQ(value("decode_blocks_fast"), 16);
  EXPECT_EQ(value("decode_group"), 8);
}

TEST(LessonTexts, TranslatePoints) {
  const LessonTexts en = load_lesson("en");
  const LessonTexts zh = load_lesson("zh");
  const std::string line = "fp16 causal batch 2 heads 4, raster window:128:0";
  EXPECT_EQ(en.translated(line), line);
  EXPECT_THAT(zh.translated(line), AllOf(HasSubstr("fp16 "), HasSubstr(":128:0"), Not(HasSubstr("causal"))));
  const Algorithm& naive = *built_in_algorithms().find("naive");
  EXPECT_NE(en.title_of(naive), zh.title_of(naive));
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
  const auto law = law_json(load_lesson("en"), "fa1", make_evidence(table));
  ASSERT_TRUE(law.contains("plots"));
  std::vector<std::string> fixed;
  for (const auto& plot : law.at("plots")) fixed.push_back(plot.at("fixed").get<std::string>());
  EXPECT_THAT(fixed, ElementsAre("d 128, M 16384", "N 6144, M 16384", "N 6144, d 128"));
}

TEST(LessonPage, StatesAreDrawn) {
  std::set<std::string> used;
  for (const Step& step : load_lesson("en").steps) {
    for (const Block& block : step.blocks) {
      if (block.kind == Block::Kind::picture) used.insert(block.text);
    }
  }
  EXPECT_THAT(used, ::testing::UnorderedElementsAreArray(picture_names()));
}

TEST(LessonPage, IsSelfContained) {
  const PointTable table = fixtures::Points(fixtures::memory_wall()).table();
  const Evidence evidence = make_evidence(table);
  for (const std::string& language : lesson_languages()) {
    const LessonTexts texts = load_lesson(language);
    std::string page = lesson_page(texts, evidence);
    // The SVG namespace is not a request.
    const std::string svg = "'http://www.w3.org/2000/svg'";
    ASSERT_THAT(page, HasSubstr(svg));
    page.erase(page.find(svg), svg.size());
    EXPECT_THAT(page, Not(HasSubstr("http://"))) << language;
    EXPECT_THAT(page, Not(HasSubstr("https://"))) << language;
    EXPECT_THAT(page, Not(HasSubstr("src=")));
    for (const Step& step : texts.steps) {
      EXPECT_THAT(page, HasSubstr("<section id=\"" + markup(step.slug) + "\"")) << language;
    }
    EXPECT_THAT(page, Not(HasSubstr("[lesson]")));
  }
}

}  // namespace
}  // namespace attnscope::analysis::lesson
