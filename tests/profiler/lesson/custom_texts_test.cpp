// SPDX-License-Identifier: Apache-2.0
// Problems in custom texts are reported with file, line and the allowed values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "profiler/lesson/formula.h"
#include "profiler/lesson/lesson_page.h"
#include "profiler/lesson/texts.h"
#include "tests/profiler/lesson/claim_cards.h"

namespace attnscope::analysis::lesson {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> problems_of(const LessonTexts& texts) {
  std::vector<std::string> lines;
  for (const TextProblem& problem : texts.problems) lines.push_back(english_text(display_text(problem)));
  return lines;
}

/// Loads a custom step with additional front matter from line 5.
LessonTexts load_custom_step(const std::string& more, const std::string& body = "Text.\n") {
  const std::vector<TextFile> files{
      {"en/screen-8-own.md", "---\ntitle: Own\nslug: own\norder: 8\n" + more + "---\n" + body}};
  return load_lesson("en", files);
}

const Step* custom_step(const LessonTexts& texts) {
  const auto found = std::ranges::find(texts.steps, "own", &Step::slug);
  return found == texts.steps.end() ? nullptr : &*found;
}

TEST(CustomStep, ReportsInvalidValues) {
  const struct {
    const char* line;
    const char* named;  ///< the invalid part
    const char* allowed;
  } wrong[] = {
      {"n: nan", "'n: nan'", "16 to 1,048,576"},
      {"d: 1e300", "'d: 1e300'", "1 to 1,024"},
      {"colour: red", "'colour'", "d, n, order"},
      {"<script>: 1", "'<script>'", ""},
  };
  for (const auto& each : wrong) {
    const LessonTexts texts = load_custom_step(std::string(each.line) + "\n");
    EXPECT_THAT(problems_of(texts), ElementsAre(AllOf(StartsWith("en/screen-8-own.md:5: "), HasSubstr(each.named),
                                                      HasSubstr(each.allowed))))
        << each.line;
    EXPECT_NE(custom_step(texts), nullptr) << each.line;
    EXPECT_EQ(texts.steps.size(), 10U);
  }
  const LessonTexts texts = load_custom_step("n: nan\nd: 0\n");
  EXPECT_EQ(problems_of(texts).size(), 2U);
  EXPECT_EQ(custom_step(texts)->setting.n, 4096);
}

TEST(CustomStep, SkipsInvalidSteps) {
  const struct {
    const char* text;
    std::vector<std::pair<int, std::string>> problems;  ///< line, named part
  } broken[] = {
      {"---\ntitle: x\n---\n", {{1, "'slug'"}, {1, "'order'"}}},
      {"---\ntitle: x\nslug: a b\norder: 9\n---\n", {{3, "'a b'"}}},
      {"---\ntitle: x\nslug: __proto__\norder: 9\n---\n", {{3, "'__proto__'"}}},
      {"---\ntitle: x\nslug: size\norder: 9\n---\n", {{3, "'size'"}}},
      {"---\ntitle: x\nslug: results\norder: 9\n---\n", {{3, "'results'"}}},
      {"text", {{1, "'---'"}}},
      {"---\na: b\n", {{2, "'---'"}}},
      {"---\ntitle: \x1b[2J\n---\n", {{2, "UTF-8"}}},
      {"---\ntitle: x\nslug: y\norder: 9\n---\nText \xFF.\n", {{6, "UTF-8"}}},
  };
  for (const auto& each : broken) {
    const std::vector<TextFile> files{{"en/screen-9-f.md", each.text}};
    const LessonTexts texts = load_lesson("en", files);
    EXPECT_EQ(texts.steps.size(), 9U) << each.text;
    const std::vector<std::string> lines = problems_of(texts);
    ASSERT_GE(lines.size(), each.problems.size()) << each.text;
    for (std::size_t i = 0; i < each.problems.size(); ++i) {
      const auto& [line, named] = each.problems[i];
      EXPECT_THAT(lines[i], AllOf(StartsWith("en/screen-9-f.md:" + std::to_string(line) + ": "), HasSubstr(named)));
    }
  }
  // A custom file with a built-in name replaces the built-in step.
  const std::vector<TextFile> instead{{"en/screen-3-size.md", "---\ntitle: Mine\nslug: size\norder: -1\n---\nx\n"}};
  EXPECT_THAT(problems_of(load_lesson("en", instead)), IsEmpty());
  EXPECT_EQ(load_lesson("en", instead).steps.front().title, "Mine");
}

TEST(CustomText, ReportsProblemLine) {
  const struct {
    const char* body;  ///< from line 6
    int line;
    const char* named;
  } wrong[] = {
      {"one\n\n{{nothing}}\n", 8, "'nothing'"},
      {"one\n[[phlogiston]]\n", 7, "'phlogiston'"},
      {"an $open mark\n", 6, "'$'"},
      {"$\\nonsense$\n", 6, "'\\nonsense'"},
      {"$$ \\frac{1}{ $$\n", 6, ""},
      {"::picture sunset\n", 6, "'sunset'"},
      {"::sound x\n", 6, "'::sound x'"},
      {"::question __proto__\nWhat?\n- [x] a :: b\n- [ ] c :: d\n", 6, "'__proto__'"},
      {"::question q\nWhat?\n- [x] a :: b\n", 6, ""},
      {"::question q\nWhat?\n- [ ] a :: b\n- [ ] c :: d\n", 6, ""},
      {"::question q\n- [x] a :: b\n- [ ] c :: d\n", 6, ""},
      {"::question q\nWhat?\n- [ ] c :: d\n- [x] a\n", 9, ""},
      {"::question q\nWhat?\n- [ ] c :: d\n- [x] a :: {{b}}\n", 9, "'b'"},
      {"::question size-double\nWhat?\n- [ ] c :: d\n- [x] a :: b\n", 6, "'size-double'"},
  };
  for (const auto& each : wrong) {
    const LessonTexts texts = load_custom_step("", each.body);
    const std::string place = "en/screen-8-own.md:" + std::to_string(each.line) + ": ";
    EXPECT_THAT(problems_of(texts), ElementsAre(AllOf(StartsWith(place), HasSubstr(each.named)))) << each.body;
    EXPECT_EQ(custom_step(texts), nullptr) << each.body;
  }
  std::string many;
  for (int i = 0; i < 200'000; ++i) many += "::x\n";
  EXPECT_EQ(problems_of(load_custom_step("", many)).size(), 21U);
}

TEST(CustomText, RendersHtmlAsText) {
  const MarkRenderer of{
      .value = [](std::string_view name) { return "<b>" + std::string(name) + "</b>"; },
      .term = [](std::string_view, std::string_view shown) { return "<dfn>" + std::string(shown) + "</dfn>"; }};
  const std::pair<const char*, const char*> lines[] = {
      {"*a* **b** `c<d`", "<em>a</em> <strong>b</strong> <code>c&lt;d</code>"},
      {"{{n}} of [[L2]], [[L2|the cache]]", "<b>n</b> of <dfn>L2</dfn>, <dfn>the cache</dfn>"},
      {"\\{{n}} \\$ `{{n}} $`", "{{n}} $ <code>{{n}} $</code>"},
      {"$a_i b_i$", "<math><mrow><msub><mi>a</mi><mi>i</mi></msub><msub><mi>b</mi><mi>i</mi></msub></mrow></math>"},
      {"x <b>y</b> & z", "x &lt;b&gt;y&lt;/b&gt; &amp; z"},
      {"[x](javascript:alert(1)) ![y](https://a)", "x y"},
      {"<script>x</script>", "&lt;script&gt;x&lt;/script&gt;\n"},
  };
  for (const auto& [text, html] : lines) EXPECT_EQ(line_html(text, of), html) << text;
  EXPECT_EQ(markdown_html("# A\n\n- b\n- c\n", of), "<h2>A</h2>\n<ul>\n<li>b</li>\n<li>c</li>\n</ul>\n");
  EXPECT_EQ(markdown_html("``` \" {{n}}\nx\n```\n", of), "<pre><code>x\n</code></pre>\n");
}

TEST(Formula, RendersMathml) {
  const std::pair<const char*, const char*> formulas[] = {
      {"N^2", "<msup><mi>N</mi><mn>2</mn></msup>"},
      {"\\frac{M}{4d}", "<mfrac><mrow><mi>M</mi></mrow><mrow><mn>4</mn><mi>d</mi></mrow></mfrac>"},
      {"\\sum_{j}^N", "<munderover><mo>∑</mo><mrow><mi>j</mi></mrow><mi>N</mi></munderover>"},
      {"\\sqrt{d}", "<msqrt><mrow><mi>d</mi></mrow></msqrt>"},
      {"a < -b", "<mi>a</mi><mo>&lt;</mo><mo>−</mo><mi>b</mi>"},
      {"(\\text{a<b}", "<mo stretchy=\"false\">(</mo><mtext>a&lt;b</mtext>"},
      {"m_i^{j}", "<msubsup><mi>m</mi><mi>i</mi><mrow><mi>j</mi></mrow></msubsup>"},
      {"N_2^1.5", "<msubsup><mi>N</mi><mn>2</mn><mn>1.5</mn></msubsup>"},
      {"x^2_1 10", "<msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup><mn>10</mn>"},
      {"N_ 2", "<msub><mi>N</mi><mn>2</mn></msub>"},
      {"\\sum^N a", "<mover><mo>∑</mo><mi>N</mi></mover><mi>a</mi>"},
      {"\\sum_j", "<munder><mo>∑</mo><mi>j</mi></munder>"},
      {"\\ell \\le ≥", "<mi>ℓ</mi><mo>≤</mo><mo>≥</mo>"},
  };
  for (const auto& [formula, mathml] : formulas) {
    EXPECT_EQ(mathml_of(formula, false).value(), "<math><mrow>" + std::string(mathml) + "</mrow></math>");
  }
  EXPECT_TRUE(mathml_of(std::string(24, '{') + std::string(24, '}'), false).ok());
  const std::string deep = std::string(25, '{') + std::string(25, '}');
  for (const char* wrong : {"^2", "a_", "\\frac{1}", "{a", "a}", "\\text{a", "\\text", deep.c_str()})
    EXPECT_FALSE(mathml_of(wrong, true).ok()) << wrong;
}

/// A teacher's claim and question. Line 1 is the opening bracket; each member is on its own line.
std::string claim_text() {
  return "{\n\"title\": \"x\",\n\"source\": {\"en\": \"me\", \"zh\": \"我\"},\n\"test\": \"versus\",\n\"from\": "
         "\"fa1\",\n"
         "\"to\": \"fa2\",\n\"metric\": \"time_median_ns\",\n\"points\": \"pass:fwd\",\n\"low\": 1\n}\n";
}
std::string question_text() {
  return "{\n\"prompt\": [\"What is half of {{k}}?\", \"{{k}} / 2?\"],\n\"vary\": {\"k\": [4, 6]},\n"
         "\"answer\": \"k / 2\",\n\"tolerance\": 0.01\n}\n";
}

struct Change {
  const char* from;
  const char* to;
  int line = 0;  ///< 0: no problem
  const char* named = "";
  const char* allowed = "";
};

/// Loads the file with each change; expects its problem in one line, and `count` of the texts otherwise.
void expect_problems(const std::string& path, const std::string& good, const std::vector<Change>& changes,
                     std::size_t (*count)(const LessonTexts&)) {
  const std::size_t built_in = count(load_lesson("en"));
  for (const Change& each : changes) {
    std::string text = good;
    text.replace(text.find(each.from), std::string(each.from).size(), each.to);
    const std::vector<TextFile> files{{path, text}};
    const LessonTexts texts = load_lesson("en", files);
    const std::vector<std::string> lines = problems_of(texts);
    EXPECT_EQ(count(texts), built_in + (each.line == 0 ? 1U : 0U)) << each.to;
    ASSERT_EQ(lines.empty(), each.line == 0) << each.to << (lines.empty() ? "" : lines.front());
    if (each.line == 0) continue;
    EXPECT_THAT(lines.front(), AllOf(StartsWith(path + ":" + std::to_string(each.line) + ": "), HasSubstr(each.named),
                                     HasSubstr(each.allowed), Not(HasSubstr("\n"))))
        << each.to;
  }
}

TEST(CustomClaim, SkipsInvalidCards) {
  expect_problems("claims/mine.json", claim_text(),
                  {{"\"low\": 1", "\"low\": 1.8,\n\"high\": 2.2"},
                   {"\"low\": 1", "\"states\": 1, \"gpu\": \"A100\", \"changes\": \"N {{n}}\""},
                   {"\"fa1\"", "\"imported:torch-flash\""},
                   {"\"low\": 1", "\"order\": 1", 1, "\"states\"", "a number"},
                   {"\"source\"", "\"title2\"", 1, "missing \"source\""},
                   {"\"points\"", "\"text\"", 1, "missing \"points\""},
                   {"\"low\": 1", "\"low\": \"much\"", 9, "\"low\": \"much\"", "a number"},
                   {"\"low\": 1", "\"low\": 2,\n\"high\": 1", 10, "\"high\": 1", "low"},
                   {"\"low\": 1", "\"states\": 2,\n\"tolerance\": -1", 10, "\"tolerance\": -1", "0"},
                   {"\"low\": 1", "\"low\": 1,\n\"tolerence\": 1", 10, "\"tolerence\"", "tolerance"},
                   {"\"low\": 1", "\"low\": 1,\n\"ceiling\": \"dram_read\"", 10, "\"ceiling\""},
                   {"\"low\": 1", "\"low\": 1,\n\"stated_by\": \"me\"", 10, "\"me\"", "source, ours"},
                   {"versus", "guess", 4, "\"guess\"", "versus, doubled"},
                   {"time_median_ns", "time_median", 7, "\"time_median\"", "time_median_ns"},
                   {"fa1", "fast", 5, "\"fast\"", "naive"},
                   {"fa1", "imported:<b>", 5, "imported:<b>", "imported:"},
                   {"pass:fwd", "pass:>=", 8, "pass:>="},
                   {"\"title\": \"x\"", "\"title\": 1", 2, "\"title\": 1", "a text"},
                   {"\"low\": 1\n}", "\"low\": 1", 10, "invalid JSON"},
                   {"\"title\": \"x\",", "\"title\": \"x\"", 3, "invalid JSON", "comma"}},
                  [](const LessonTexts& texts) { return texts.claims.size(); });
  const std::vector<TextFile> marks{
      {"claims/mine.json", R"({"title": "x", "source": "me", "text": "{{nothing}}", "test": "softmax-error",
                               "fault": "none", "low": 1})"}};
  EXPECT_THAT(problems_of(load_lesson("en", marks)), ElementsAre(HasSubstr("'nothing'")));
}

TEST(CustomQuestion, SkipsInvalidQuestions) {
  expect_problems("homework/mine.json", question_text(),
                  {{"k / 2", "k / 2 * l2"},
                   {"\"answer\": \"k / 2\"", "\"right\": \"a\", \"wrong\": [\"b\", \"c {{n}}\"]"},
                   {"\"answer\": \"k / 2\",\n", "", 1, "\"answer\"", "formula"},
                   {"\"answer\": \"k / 2\"", "\"right\": \"a\"", 1, "\"answer\"", "wrong"},
                   {"k / 2\"", "k / q\"", 4, "'q'", "dram_rate"},
                   {"k / 2\"", "k /\"", 4, "\"k /\""},
                   {"[4, 6]", "4", 3, "\"vary\"", "lists"},
                   {"[4, 6]", "[]", 3, "\"vary\"", "lists"},
                   {"\"prompt\"", "\"promt\"", 1, "missing \"prompt\""}},
                  [](const LessonTexts& texts) { return texts.homework.size(); });
}

TEST(CustomFiles, ReportsUnknownFiles) {
  const std::vector<TextFile> files{{"claims/a b.json", claim_text()},
                                    {"en/notes.md", "x"},
                                    {"en/screen-8-own.txt", {}, "not a text file"},
                                    {"fr/screen-1.md", "x"},
                                    {"zh/screen-8-own.md", "no step at all"},
                                    {"README.md", "ours"}};
  EXPECT_THAT(
      problems_of(load_lesson("en", files)),
      ElementsAre(AllOf(StartsWith("en/notes.md: "), HasSubstr("screen-*.md")), "en/screen-8-own.txt: not a text file",
                  AllOf(StartsWith("fr/screen-1.md: "), HasSubstr("words.md")),
                  AllOf(StartsWith("claims/a b.json: "), HasSubstr("'a b'"))));
  EXPECT_TRUE(load_lesson("fr").steps.empty());
}

TEST(CustomPage, EscapesHostileText) {
  const PointTable none;
  const std::string evil = "</script><img src=x onerror=alert(1)>\"'&";
  const std::vector<TextFile> files{
      {"en/screen-8-own.md", "---\ntitle: " + evil + "\nslug: own\norder: 8\n" + evil + ": 1\nplay_masks: " + evil +
                                 "\n---\n# " + evil + "\n\n" + evil + " *" + evil + "* `" + evil + "` $\\text{" + evil +
                                 "}$\n\n- " + evil + "\n\n```\n" + evil + "\n```\n\n::question own-q\n" + evil +
                                 "\n- [x] " + evil + " :: " + evil + "\n- [ ] b :: " + evil + "\n::hint " + evil +
                                 "\n"},
      {"claims/mine.json", nlohmann::json{{"source", evil},
                                          {"title", evil},
                                          {"text", evil},
                                          {"changes", evil},
                                          {"published", evil},
                                          {"test", "softmax-error"},
                                          {"fault", "none"},
                                          {"low", 1}}
                               .dump()},
      {"en/" + evil + ".md", "x"}};
  const LessonTexts texts = load_lesson("en", files);
  ASSERT_NE(custom_step(texts), nullptr);
  const std::string page = lesson_page(texts, make_evidence(none), {.data = evil});
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("</script><")));
  EXPECT_THAT(page, HasSubstr("&lt;img src=x onerror=alert(1)&gt;"));
}

}  // namespace
}  // namespace attnscope::analysis::lesson
