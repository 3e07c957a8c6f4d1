// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kernels/registry.h"
#include "profiler/lesson/claims.h"
#include "profiler/lesson/curves.h"
#include "profiler/lesson/formula.h"
#include "profiler/lesson/playing.h"
#include "profiler/lesson/terms.h"
#include "profiler/lesson/values.h"
#include "profiler/lesson/web.h"
#include "profiler/points/markup.h"
#include "tests/profiler/lesson/claim_cards.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis::lesson {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> problem_lines(const LessonTexts& texts) {
  std::vector<std::string> lines;
  for (const TextProblem& problem : texts.problems) lines.push_back(english_text(words_of(problem)));
  return lines;
}

/// What a step consists of, whatever the language.
std::vector<std::string> shape_of(const Step& step) {
  std::vector<std::string> shape{step.slug};
  for (const Block& block : step.document.blocks) {
    std::string part = std::to_string(static_cast<int>(block.kind));
    if (block.kind == Block::Kind::picture) part += block.text;
    if (block.kind == Block::Kind::question) {
      part += block.question.id;
      for (const Choice& choice : block.question.choices) part += choice.right ? 'x' : 'o';
      if (!block.question.hint.empty()) part += '?';
    }
    shape.push_back(part);
  }
  for (const auto& [key, entry] : step.document.front.entries) {
    if (key != "title" && key != "next") shape.push_back(key + '=' + entry.value);
  }
  return shape;
}

TEST(LessonTexts, BothLanguagesAreComplete) {
  EXPECT_THAT(lesson_languages(), ElementsAre("en", "zh"));
  const LessonTexts en = load_lesson("en");
  const LessonTexts zh = load_lesson("zh");
  for (const LessonTexts* texts : {&en, &zh}) {
    EXPECT_THAT(problem_lines(*texts), IsEmpty()) << texts->language;
    EXPECT_EQ(texts->steps.size(), 8U);
    EXPECT_GE(texts->claims.size(), 24U);
    for (const auto& [key, word] : en.words) EXPECT_NE(texts->word(key).front(), '[') << texts->language << key;
    for (const Step& step : texts->steps) {
      for (const Block& block : step.document.blocks) {
        for (const Choice& choice : block.question.choices) EXPECT_FALSE(choice.because.empty()) << step.slug;
      }
    }
  }
  ASSERT_EQ(en.steps.size(), zh.steps.size());
  for (std::size_t i = 0; i < en.steps.size(); ++i) EXPECT_EQ(shape_of(en.steps[i]), shape_of(zh.steps[i]));
  ASSERT_EQ(en.claims.size(), zh.claims.size());
  for (std::size_t i = 0; i < en.claims.size(); ++i) {
    EXPECT_EQ(en.claims[i].id, zh.claims[i].id);
    EXPECT_EQ(en.claims[i].document.blocks.size(), zh.claims[i].document.blocks.size()) << en.claims[i].id;
  }
}

TEST(LessonTexts, EveryTestOfTheTableHasACard) {
  std::set<std::string> used;
  for (const ClaimCard& card : load_lesson("en").claims) used.insert(card.document.front.text("test"));
  for (const ClaimTest& test : claim_tests()) {
    if (test.word == "rate" || test.word == "passes") continue;  // for who brings points of their own
    EXPECT_THAT(used, Contains(std::string(test.word)));
  }
}

TEST(LessonTexts, ABrokenFileNamesItsLineAndTheRestWorks) {
  const std::vector<TextFile> more{
      {"en/step-1-ledger.md", "---\ntitle: x\nslug: ledger\norder: 1\n---\nA {{nothing}} here\n"},
      {"en/step-8-own.md", "---\ntitle: Own\nslug: own\norder: 8\n---\nMy *own* text.\n"},
      {"claims/own.md", "---\nsource: me\ntest: nonsense\ntitle.en: x\n---\n## en\n\ny\n"},
      {"claims/lacking.md", "---\nsource: me\ntest: versus\ntitle.en: x\n---\n## en\n\ny\n"},
      {"claims/other.md", "---\nsource: me\ntest: elsewhere\nmissing: x\ntitle.en: x\n---\n## zh\n\ny\n"},
      {"notes.txt", "no text of ours"}};
  const LessonTexts texts = load_lesson("en", more);
  EXPECT_THAT(
      problem_lines(texts),
      ::testing::UnorderedElementsAre(
          "en/step-1-ledger.md:6: there is no value 'nothing'",
          ::testing::StartsWith("claims/own.md:3: 'nonsense' is no kind of test; there are versus, "),
          "claims/lacking.md:1: the front matter lacks 'from'", "claims/lacking.md:1: the front matter lacks 'to'",
          "claims/lacking.md:1: the front matter lacks 'metric'",
          "claims/lacking.md:1: the front matter lacks 'points'",
          "claims/other.md: nothing of it is in the language 'en'",
          ::testing::StartsWith("notes.txt: none of LANG/words.md")));
  ASSERT_EQ(texts.steps.size(), 8U);
  EXPECT_EQ(texts.steps.back().title, "Own");
  EXPECT_TRUE(load_lesson("fr").steps.empty());
}

TEST(LessonTexts, WhatCannotBeRead) {
  const auto why = [](std::string_view text) {
    const auto parsed = parse_document("f.md", text, [](std::string_view name) { return name == "n"; });
    return parsed.ok() ? std::string("fine") : english_text(words_of(parsed.problems.front()));
  };
  EXPECT_EQ(why("---\na: b\n---\ntext {{n}} **x** `y` $N^2$\n\n- one\n  more\n- two\n"), "fine");
  EXPECT_THAT(why("text"), HasSubstr("f.md:1: the file does not begin"));
  EXPECT_THAT(why(""), HasSubstr("f.md:1:"));
  EXPECT_THAT(why("---\na: b\n"), HasSubstr("no '---' at its end"));
  EXPECT_THAT(why("---\nab\n---\n"), HasSubstr("f.md:2:"));
  EXPECT_THAT(why("---\na: b\na: c\n---\n"), HasSubstr("f.md:3: 'a' stands"));
  EXPECT_THAT(why("---\n---\n\nan *open mark\n"), HasSubstr("f.md:4: '*' has no other one"));
  EXPECT_THAT(why("---\n---\n$\\nonsense$\n"), HasSubstr("'\\nonsense', which is none"));
  EXPECT_THAT(why("---\n---\n$$ \\frac{1}{ $$\n"), HasSubstr("f.md:3: a brace"));
  EXPECT_THAT(why("---\n---\n::question q\nWhat?\n- [x] a :: b\n"), HasSubstr("two choices"));
  EXPECT_THAT(why("---\n---\n::question q\nWhat?\n- [ ] a :: b\n- [ ] c :: d\n"), HasSubstr("one choice"));
  EXPECT_THAT(why("---\n---\n::question q\nWhat?\n- [x] a\n- [ ] c :: d\n"), HasSubstr("a choice is"));
  EXPECT_THAT(why("---\n---\n::sound x\n"), HasSubstr("none of ::picture"));
  EXPECT_THAT(why("---\n---\n::revealed\n- one\n"), HasSubstr("f.md:4: ::revealed stands"));
  EXPECT_THAT(why("---\n---\n::revealed\n"), HasSubstr("f.md:3: ::revealed stands"));
  EXPECT_THAT(why("---\n---\n```\ncode\n"), HasSubstr("f.md:3: the code"));
  EXPECT_THAT(why("---\n---\n$" + std::string(200, '{') + "\n"), Not(HasSubstr("fine")));
}

TEST(Formula, BecomesMathml) {
  const auto mathml = [](std::string_view text) { return to_mathml(parse_formula(text).value(), false); };
  EXPECT_EQ(mathml("N^2"), "<math><mrow><msup><mi>N</mi><mn>2</mn></msup></mrow></math>");
  EXPECT_EQ(mathml("\\frac{M}{4d}"),
            "<math><mrow><mfrac><mrow><mi>M</mi></mrow><mrow><mn>4</mn><mi>d</mi></mrow></mfrac></mrow></math>");
  EXPECT_THAT(mathml("\\sum_{j}^N x_j"), HasSubstr("<munderover><mo>∑</mo>"));
  EXPECT_THAT(mathml("\\sqrt{d}"), HasSubstr("<msqrt>"));
  EXPECT_THAT(mathml("a < b"), HasSubstr("<mo>&lt;</mo>"));
  EXPECT_THAT(mathml("\\text{a<b}"), HasSubstr("<mtext>a&lt;b</mtext>"));
  EXPECT_THAT(mathml("m_i^{j}"), HasSubstr("<msubsup>"));
  for (const char* wrong : {"^2", "a_", "\\frac{1}", "{a", "a}", "\\text{a"})
    EXPECT_FALSE(parse_formula(wrong).ok()) << wrong;
}

TEST(LessonValues, AreOfTheSettingAndSayWhenDataLack) {
  const PointTable none;
  const Evidence evidence = evidence_of(none);
  const Front front = card({{"n", "8192"}, {"d", "64"}, {"slow", "naive"}, {"fast", "fa2"}, {"first", "fa1"}});
  const Setting setting = setting_of(front);
  EXPECT_EQ(find_value("s_one")->of(setting, evidence)->text, "128 MiB");
  EXPECT_EQ(find_value("s_moved")->of(setting, evidence)->text, "512 MiB");
  EXPECT_EQ(find_value("ml_one")->of(setting, evidence)->text, "64 KiB");
  EXPECT_EQ(find_value("s_one")->of(setting, evidence)->origin, "modeled");
  EXPECT_FALSE(find_value("crossover_fast")->of(setting, evidence));
  EXPECT_FALSE(find_value("dram_latency")->of(setting, evidence));
  EXPECT_EQ(find_value("nothing"), nullptr);
  std::set<std::pair<std::int64_t, std::int64_t>> settings;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    settings.emplace(setting_of(front, seed).n, setting_of(front, seed).d);
  EXPECT_GT(settings.size(), 10U);
  EXPECT_EQ(setting_of(front, 7).n, setting_of(front, 7).n);
  std::set<std::string_view> names;
  for (const ValueName& value : lesson_values()) EXPECT_TRUE(names.insert(value.name).second) << value.name;
}

TEST(LessonTexts, WhatTheProgramsSayIsInTheLessonsLanguage) {
  const LessonTexts zh = load_lesson("zh");
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    for (const Pass pass : {Pass::fwd, Pass::bwd}) {
      AttentionProblem p{.pass = pass, .n_q = algorithm->facts().decodes ? 1 : 1024, .n_k = 1024, .d = 64};
      const DeviceLimits& gpu = known_gpus().front();
      for (const KernelModel& kernel : algorithm->model(p, algorithm->default_config(p, gpu), gpu).kernels) {
        if (kernel.load_order.why.empty()) continue;
        const std::string sentence = zh.sentence(kernel.load_order.why);
        EXPECT_NE(sentence, text(kernel.load_order.why)) << kernel.load_order.why.id;
        EXPECT_EQ(sentence.find('{'), std::string::npos) << sentence;
        EXPECT_EQ(load_lesson("en").sentence(kernel.load_order.why), text(kernel.load_order.why));
      }
    }
  }
}

TEST(LessonFigures, HaveGroupsOfDigits) {
  EXPECT_EQ(format_figure(116224, Unit::plain), "116,224");
  EXPECT_EQ(format_figure(1234567, Unit::plain), "1,234,567");
  EXPECT_EQ(format_figure(-1000, Unit::plain), "-1000");
  EXPECT_EQ(format_figure(999, Unit::plain), "999");
  EXPECT_EQ(format_figure(206.08, Unit::plain), "206.1");
}

TEST(LessonPlayers, PlayWhatATeacherNames) {
  const Registry& registry = built_in_algorithms();
  const auto front_with = [](const char* also) {
    return card({{"play", "fa1 fa2"}, {"play_knobs", "raster nonsense"}, {"play_also", also}});
  };
  const Front front =
      front_with("bc=128 m=16384 heads=4,raster=heads_fastest br=0 raster=x foo=1 = n= heads=999999999");
  ASSERT_EQ(played_knobs(front, registry).size(), 1U);
  const auto also = also_played(front, registry);
  ASSERT_EQ(also.size(), 3U);
  EXPECT_EQ(also[0].label, "Bc 128");
  EXPECT_EQ(also[1].choice.m_elements, 16384);
  const PointTable none;
  const Evidence evidence = evidence_of(none);
  const Algorithm& fa2 = *registry.find("fa2");
  const auto whole = player_of(front, evidence, fa2, Mask::none, 1000);
  const auto shorter = player_of(front, evidence, fa2, Mask::none, whole->frames() - 1);
  EXPECT_FALSE(plays_a_shorter_n(front, *whole, {}));
  EXPECT_TRUE(plays_a_shorter_n(front, *shorter, {}));
  EXPECT_EQ(shorter->problem().n_k, 256);
  EXPECT_EQ(shorter->total().by_tensor, shorter->closed_form().by_tensor);
  EXPECT_EQ(also[2].choice.heads, 4);
  EXPECT_EQ(also[2].choice.knobs.word("raster"), "heads_fastest");
}

TEST(LengthCurves, AreOfOneRunAndOfTheFastestTile) {
  const PointTable table = fixtures::Points(fixtures::memory_wall()).table();
  const Registry& registry = built_in_algorithms();
  const std::vector<const Algorithm*> algorithms{registry.find("fa2"), registry.find("naive")};
  const auto curves = length_curves(evidence_of(table), algorithms, table.problem(0).d, metric_key::l2_sm_bytes);
  ASSERT_TRUE(curves);
  ASSERT_GE(curves->lengths.size(), 3U);
  EXPECT_TRUE(std::ranges::is_sorted(curves->lengths));
  const ValueColumn& times = table.values(metric_key::time_median_ns);
  for (std::size_t i = 0; i < algorithms.size(); ++i) {
    for (std::size_t at = 0; at < curves->lengths.size(); ++at) {
      const auto& row = curves->rows[i][at];
      if (!row) continue;
      EXPECT_EQ(table.algorithm(*row), algorithms[i]->name());
      EXPECT_EQ(table.n_k(*row), curves->lengths[at]);
      for (const Row other : table.rows()) {
        const AttentionProblem p = table.problem(other);
        if (table.algorithm(other) != algorithms[i]->name() || p != table.problem(*row) || !times.has(other)) continue;
        EXPECT_LE(times.value(*row), times.value(other));
      }
    }
  }
  EXPECT_FALSE(length_curves(evidence_of(table), algorithms, 48, metric_key::l2_sm_bytes));
}

TEST(LessonSeeds, EveryQuestionChangesAndOneChoiceStaysRight) {
  const PointTable table = fixtures::Points(fixtures::memory_wall()).table();
  const Evidence evidence = evidence_of(table);
  for (const std::string language : {"en", "zh"}) {
    for (const Step& step : load_lesson(language).steps) {
      for (const Block& block : step.document.blocks) {
        if (block.kind != Block::Kind::question) continue;
        std::set<std::string> prompts;
        std::set<std::vector<std::size_t>> orders;
        for (std::uint64_t seed = 0; seed < 6; ++seed) {
          const Setting setting = setting_of(step.document.front, seed);
          EXPECT_LT(3 * setting.d, 4 * setting.tile) << "S and P are most of what standard attention moves";
          prompts.insert(
              line_html(block.question.prompt,
                        {.value =
                             [&](std::string_view name) {
                               const auto value = find_value(name)->of(setting, evidence);
                               return value ? value->text : std::string();
                             },
                         .term = [](std::string_view, std::string_view said) { return std::string(said); }}));
          std::vector<std::size_t> order = order_of_choices(block.question, seed);
          orders.insert(order);
          std::ranges::sort(order);
          for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], i);
          EXPECT_EQ(order.size(), block.question.choices.size());
        }
        // Those of points change with the pair that they compare, of which these data have none.
        if (block.question.prompt.find("{{last_") != std::string::npos) continue;
        EXPECT_GE(prompts.size(), 3U) << block.question.id << language;
        EXPECT_GE(orders.size(), 2U) << block.question.id;
      }
    }
  }
}

TEST(LessonTexts, TellEveryErrorOfAFolder) {
  const std::vector<TextFile> more{
      {"en/step-8-own.md",
       "---\ntitle: Own\nslug: own\norder: 8\n---\nan *open\n\n{{nothing}}\n\n::question q\nWhat?\n- [x] a\n- [ ] c :: "
       "d\n::hint h\n\n::sound\n"},
      {"en/step-9.md", "---\ntitle: x\n---\n[[phlogiston]]\n"},
      {"en/step-7-more.md", "---\ntitle: x\nslug: more\norder: 7\n---\n[[phlogiston]] of [[HBM]]\n"}};
  EXPECT_THAT(
      problem_lines(load_lesson("en", more)),
      ::testing::UnorderedElementsAre(
          ::testing::StartsWith("en/step-8-own.md:6:"), ::testing::StartsWith("en/step-8-own.md:8: there is no value"),
          ::testing::StartsWith("en/step-8-own.md:12: a choice is"),
          ::testing::StartsWith("en/step-8-own.md:16: '::sound'"), "en/step-9.md:1: the front matter lacks 'slug'",
          "en/step-9.md:1: the front matter lacks 'order'", "en/step-9.md:4: the glossary has no term 'phlogiston'",
          "en/step-7-more.md:6: the glossary has no term 'phlogiston'"));
}

TEST(LessonTexts, AFileThatIsAllWrongIsToldShortly) {
  std::string text = "---\ntitle: Own\nslug: own\norder: 8\n---\n";
  for (int i = 0; i < 200'000; ++i) text += "::x\n";
  const std::vector<TextFile> more{{"en/step-8-own.md", text}};
  const std::vector<std::string> told = problem_lines(load_lesson("en", more));
  ASSERT_EQ(told.size(), 21U);
  EXPECT_THAT(told.front(), ::testing::StartsWith("en/step-8-own.md:6: '::x'"));
  EXPECT_EQ(told.back(), "en/step-8-own.md: and 199980 more that is wrong");
}

TEST(LessonTexts, AStepOfOneLanguageIsShownInTheOther) {
  const std::vector<TextFile> more{{"en/step-8-own.md", "---\ntitle: Own\nslug: own\norder: 8\n---\nText.\n"}};
  const LessonTexts texts = load_lesson("zh", more);
  EXPECT_THAT(problem_lines(texts), IsEmpty());
  ASSERT_EQ(texts.steps.size(), 9U);
  EXPECT_EQ(texts.steps.back().slug, "own");
  EXPECT_EQ(texts.steps.back().language, "en");
  const PointTable none;
  EXPECT_THAT(lesson_page(texts, evidence_of(none)), HasSubstr(texts.word("only_in") + " en"));
}

TEST(PaddedOccupancy, TwoBlocksThatShareAnSmTakeLongerThanOneAlone) {
  const PointTable table = fixtures::Points(fixtures::memory_wall()).table();
  for (const Step& step : load_lesson("en").steps) {
    if (step.document.front.find("occupancy") == nullptr) continue;
    const Setting setting = setting_of(step.document.front);
    const auto padded = padded_occupancy(step.document.front, setting, evidence_of(table));
    ASSERT_TRUE(padded);
    ASSERT_GE(padded->steps.size(), 2U);
    const auto blocks = static_cast<double>(setting.n / padded->spec.tile.br * setting.heads * setting.batch);
    double of_more = 0;
    for (const PaddedOccupancy::Step& each : padded->steps) {
      const double waves = std::ceil(blocks / fixtures::h200().sm_count / each.blocks_per_sm);
      if (of_more > 0) {
        EXPECT_LT(each.ns / waves, of_more) << each.blocks_per_sm;
      }
      of_more = each.ns / waves;
    }
    // What the question says of one kernel: the more blocks, the faster.
    EXPECT_LT(padded->steps.front().ns, padded->steps.back().ns);
  }
}

TEST(Values, AQuestionOfWhatTheDataDoNotHaveIsNotAsked) {
  const PointTable nothing = fixtures::Points(std::vector<PointRecord>{}).table();
  const PointTable wall = fixtures::Points(fixtures::memory_wall()).table();
  const Front front = card({{"slow", "naive"}, {"first", "fa1"}, {"fast", "fa2"}});
  const Setting setting = setting_of(front);
  const Question plain{.id = "a", .prompt = "N is {{n}}"};
  const Question counted{.id = "b", .prompt = "It grows {{n_doubled_fast}}"};
  EXPECT_TRUE(asks_what_is_there(plain, setting, evidence_of(nothing)));
  EXPECT_FALSE(asks_what_is_there(counted, setting, evidence_of(nothing)));
  EXPECT_TRUE(asks_what_is_there(counted, setting, evidence_of(wall)));
}

TEST(Values, DeviationsAreNotRoundedToNone) {
  PointRecord near = fixtures::ok_point(fixtures::spec("fa2", 1024));
  const auto residual = [](const std::vector<PointRecord>& records) {
    const PointTable table = fixtures::Points(records).table();
    const Front front;
    return find_value("residual_all")->of(setting_of(front), evidence_of(table))->text;
  };
  EXPECT_EQ(residual({near}), "0.1%");  // as the fixture makes it
  for (KernelRecord& kernel : near.kernels) {
    for (MetricValue& value : kernel.metrics) {
      if (value.name == metric_key::l2_to_sm_bytes || value.name == metric_key::sm_to_l2_bytes)
        value.value *= 1.00001 / 1.001;
    }
  }
  EXPECT_EQ(residual({near}), "< 0.01%");
}

TEST(Values, TheGainOfSplittingIsTheProductOfItsParts) {
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
  Front front = card({{"fast", "fa2"}, {"split", "splitkv"}});
  const Setting setting = setting_of(front);
  const auto value = [&](const char* name) {
    const auto found = find_value(name)->of(setting, evidence_of(table));
    return found ? std::stod(found->text) : -1;
  };
  EXPECT_EQ(value("decode_blocks_fast"), 16);
  EXPECT_GT(value("decode_blocks_split"), 16);
  EXPECT_EQ(value("decode_rows_fast"), 128);
  EXPECT_EQ(value("decode_rows_split"), 16);
  const auto ratio = [&](std::string_view metric) { return *table.values(metric).at(0) / *table.values(metric).at(1); };
  EXPECT_NEAR(value("decode_gain_bytes"), ratio(metric_key::l2_sm_bytes), 0.01);
  EXPECT_NEAR(value("decode_gain_blocks"), value("decode_blocks_split") / 16, 0.01);
  EXPECT_NEAR(value("decode_gain_blocks") * value("decode_gain_bytes") * value("decode_gain_pace"),
              ratio(metric_key::time_median_ns), 0.02 * ratio(metric_key::time_median_ns));
}

TEST(LessonTerms, InTheLessonsTerms) {
  const LessonTexts en = load_lesson("en");
  const LessonTexts zh = load_lesson("zh");
  const std::string line = "fp16 causal batch 2 heads 4, raster window:128:0";
  EXPECT_EQ(translated(en, line), line);
  EXPECT_EQ(translated(zh, line), "fp16 因果掩码 批量 2 头数 4, 次序 窗口:128:0");
  const Algorithm& naive = *built_in_algorithms().find("naive");
  EXPECT_EQ(title_of(en, naive), "Standard attention");
  EXPECT_EQ(title_of(zh, naive), "标准注意力");
}

TEST(LessonTerms, EachKernelsOrderOfLoadsIsSaid) {
  const LessonTexts en = load_lesson("en");
  const AttentionProblem p{.n_q = 384, .n_k = 384, .d = 64};
  const auto orders = [&](const char* name) {
    const Algorithm& algorithm = *built_in_algorithms().find(name);
    return load_orders(en, TilePlayer::make(algorithm, p, {{.br = 128, .bc = 128}, {}}, fixtures::h200()).value());
  };
  const auto naive = orders("naive");
  ASSERT_GE(naive.size(), 2U);
  EXPECT_THAT(naive, Contains("qk, softmax: " + en.word("in_order")));
  EXPECT_THAT(naive, Contains(HasSubstr("pv: " + en.word("runs_ahead"))));
  const auto fa2 = orders("fa2");
  ASSERT_EQ(fa2.size(), 1U);
  EXPECT_THAT(fa2[0], HasSubstr(en.word("runs_ahead")));
}

TEST(LessonPage, StandsAloneAndIsEscaped) {
  const PointTable table = fixtures::Points(fixtures::memory_wall()).table();
  const Evidence evidence = evidence_of(table);
  const std::vector<TextFile> more{
      {"en/step-8-own.md",
       "---\ntitle: </title><script>x</script>\nslug: own\norder: 8\n---\n<b>bold</b> & \"more\" `<i>`\n"}};
  for (const std::string& language : lesson_languages()) {
    const LessonTexts texts = load_lesson(language, more);
    std::string page = lesson_page(texts, evidence, {.data = "<file>"});
    // The name of SVG's vocabulary is no address to go to.
    const std::string svg = "'http://www.w3.org/2000/svg'";
    ASSERT_THAT(page, HasSubstr(svg));
    page.erase(page.find(svg), svg.size());
    EXPECT_THAT(page, Not(HasSubstr("http://"))) << language;
    EXPECT_THAT(page, Not(HasSubstr("https://"))) << language;
    EXPECT_THAT(page, Not(HasSubstr("src=")));
    EXPECT_THAT(page, Not(HasSubstr("<b>bold")));
    EXPECT_THAT(page, Not(HasSubstr("<script>x")));
    EXPECT_THAT(page, HasSubstr("&lt;file&gt;"));
    for (const Step& step : texts.steps) {
      EXPECT_THAT(page, HasSubstr("<section id=\"" + markup(step.slug) + "\"")) << language;
    }
    EXPECT_THAT(page, Not(HasSubstr("[lesson]")));
  }
  const std::string played = played_json(load_lesson("en"), load_lesson("en").steps[5].document.front, evidence);
  EXPECT_THAT(played, HasSubstr("\"mask\""));
  EXPECT_THAT(played, HasSubstr("\"closed\""));
}

}  // namespace
}  // namespace attnscope::analysis::lesson
