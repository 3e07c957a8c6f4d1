// SPDX-License-Identifier: Apache-2.0
// Problems in custom texts are reported with file, member and the allowed values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

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
  for (const Message& problem : texts.problems) lines.push_back(english_text(problem));
  return lines;
}

struct Change {
  const char* from;
  const char* to;
  const char* named = "";  ///< the invalid part; empty: no problem
  const char* allowed = "";
};

/// Loads the file with each change; expects its problem first, and one more text if there is none.
void expect_problems(const std::string& path, const std::string& good, const std::vector<Change>& changes,
                     std::size_t (*count)(const LessonTexts&)) {
  const std::size_t built_in = count(load_lesson("en"));
  for (const Change& each : changes) {
    std::string text = good;
    ASSERT_NE(text.find(each.from), std::string::npos) << each.from;
    text.replace(text.find(each.from), std::string(each.from).size(), each.to);
    const std::vector<TextFile> files{{path, text}};
    const LessonTexts texts = load_lesson("en", files);
    const std::vector<std::string> lines = problems_of(texts);
    const bool valid = std::string(each.named).empty();
    EXPECT_EQ(count(texts), built_in + (valid ? 1U : 0U)) << each.to;
    ASSERT_EQ(lines.empty(), valid) << each.to << (lines.empty() ? "" : lines.front());
    if (valid) continue;
    EXPECT_THAT(lines.front(),
                AllOf(StartsWith(path + ":"), HasSubstr(each.named), HasSubstr(each.allowed), Not(HasSubstr("\n"))))
        << each.to;
  }
}

TEST(CustomScreen, SkipsInvalidScreens) {
  const std::string good = R"({"title": {"en": "Own"}, "order": 8, "steps": [
    {"picture": "size", "text": ["At $N^2$ [[L2]]", "{{l2}} \\{{x}}"]},
    {"question": "Why?", "choices": [{"text": "a", "why": "b", "right": true}, {"text": "c", "why": "d"}], "hint": "h"}]})";
  expect_problems("screens/own.json", good,
                  {{"", ""},
                   {"\"order\": 8", "\"say\": \"x\", \"minutes\": 3"},
                   {"8", "\"8\"", "\"order\": \"8\"", "a number"},
                   {"order", "colour", "\"colour\"", "order"},
                   {"title", "<script>", "\"title\""},
                   {"\"Own\"", "1", "\"title\"", "a text"},
                   {"\"steps\"", "\"step\"", "\"steps\"", "list"},
                   {"\"size\"", "\"sunset\"", "\"steps[0].picture\": \"sunset\"", "race-end"},
                   {"{{l2}}", "{{nothing}}", "'nothing'"},
                   {"[[L2]]", "[[phlogiston]]", "'phlogiston'", "glossary"},
                   {"$N^2$", "$N^2", "unclosed '$'"},
                   {"$N^2$", "$\\\\nonsense$", "'\\nonsense'"},
                   {"$N^2$", "$$ \\\\frac{1}{ $$", "steps[0].text", "formula"},
                   {"\"question\": \"Why?\", ", "", "steps[1].text", "question"},
                   {"\"right\"", "\"write\"", "steps[1].choices[0].write", "right"},
                   {"\"right\": true", "\"right\": false", "steps[1].choices", "exactly one"},
                   {"\"why\": \"d\"", "\"why\": \"{{d}}\"", "steps[1].choices[1].why", "'d'"},
                   {", {\"text\": \"c\", \"why\": \"d\"}", "", "steps[1].choices", "two to six"},
                   {"\"h\"}]}", "\"h\"}]", "own.json:3: invalid JSON"},
                   {"Own", "\xFF", "invalid JSON"}},
                  [](const LessonTexts& texts) { return texts.screens.size(); });
  for (const char* path : {"screens/a b.json", "screens/results.json"}) {
    const std::vector<TextFile> files{{path, good}};
    EXPECT_THAT(problems_of(load_lesson("en", files)), ElementsAre(AllOf(StartsWith(path), HasSubstr("name"))));
  }
  // A custom file with a built-in name replaces the built-in screen.
  const std::vector<TextFile> instead{
      {"screens/size.json", R"({"title": "Mine", "order": -1, "steps": [{"text": "x"}]})"}};
  EXPECT_THAT(problems_of(load_lesson("en", instead)), IsEmpty());
  EXPECT_EQ(load_lesson("en", instead).screens.front().title, "Mine");
}

TEST(CustomText, RendersMarkdownWithoutHtml) {
  const Glossary terms{{"L2", "a \"cache\""}};
  const MarkRenderer of{.value = [](std::string_view name) { return "<b>" + std::string(name) + "</b>"; },
                        .terms = &terms};
  const std::string dfn = "<dfn tabindex=\"0\" title=\"a &quot;cache&quot;\">";
  const std::pair<const char*, std::string> lines[] = {
      {"*a* **b** `c<d`", "<em>a</em> <strong>b</strong> <code>c&lt;d</code>"},
      {"{{n}} of [[L2]], [[L2|the cache]]", "<b>n</b> of " + dfn + "L2</dfn>, " + dfn + "the cache</dfn>"},
      {"\\{{n}} \\$", "{{n}} $"},
      {"$a_i b_i$", "<math><mrow><msub><mi>a</mi><mi>i</mi></msub><msub><mi>b</mi><mi>i</mi></msub></mrow></math>"},
      {"x & z < y", "x &amp; z &lt; y"},
      {"[x](javascript:alert(1))", "<a href=\"\">x</a>"},
      {"[x](https://a \"{{n}}\")", "<a href=\"https://a\" title=\"\">x</a>"},
      {"\uE0007\uE001 {{n}}", " <b>n</b>"},
  };
  for (const auto& [text, html] : lines) EXPECT_EQ(line_html(text, of), html) << text;
  EXPECT_EQ(markdown_html("- b\n- c\n", of), "<ul>\n<li>b</li>\n<li>c</li>\n</ul>\n");
  EXPECT_EQ(markdown_html("``` \" {{n}}\nx\n```\n", of), "<pre><code class=\"language-&quot;\">x\n</code></pre>\n");
  for (const char* hostile : {"x <b onclick=a>y</b>", "<script>x</script>", "![y](https://a)\n<img src=x>"})
    EXPECT_THAT(markdown_html(hostile, of), Not(::testing::ContainsRegex("<(b|script|img src=x)"))) << hostile;
}

TEST(Formula, RendersMathml) {
  const std::pair<const char*, const char*> formulas[] = {
      {"N^2", "<msup><mi>N</mi><mn>2</mn></msup>"},
      {"\\frac{M}{4d}", "<mfrac><mrow><mi>M</mi></mrow><mrow><mn>4</mn><mi>d</mi></mrow></mfrac>"},
      {"\\sum_{j}^N", "<munderover><mo>∑</mo><mrow><mi>j</mi></mrow><mi>N</mi></munderover>"},
      {"\\sqrt{d}", "<msqrt><mrow><mi>d</mi></mrow></msqrt>"},
      {"a < -b", "<mi>a</mi><mo>&lt;</mo><mo>−</mo><mi>b</mi>"},
      {"(\\max", "<mo stretchy=\"false\">(</mo><mtext>max</mtext>"},
      {"m_i^{j}", "<msubsup><mi>m</mi><mi>i</mi><mrow><mi>j</mi></mrow></msubsup>"},
      {"N_2^1.5", "<msubsup><mi>N</mi><mn>2</mn><mn>1.5</mn></msubsup>"},
      {"x^2_1 10", "<msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup><mn>10</mn>"},
      {"N_ 2", "<msub><mi>N</mi><mn>2</mn></msub>"},
      {"\\sum^N a", "<mover><mo>∑</mo><mi>N</mi></mover><mi>a</mi>"},
      {"\\alpha", "<mtext>α</mtext>"},
      {"\\sum_j", "<munder><mo>∑</mo><mi>j</mi></munder>"},
      {"\\ell \\le ≥", "<mi>ℓ</mi><mo>≤</mo><mo>≥</mo>"},
  };
  for (const auto& [formula, mathml] : formulas) {
    EXPECT_EQ(mathml_of(formula, false).value(), "<math><mrow>" + std::string(mathml) + "</mrow></math>");
  }
  EXPECT_TRUE(mathml_of(std::string(24, '{') + std::string(24, '}'), false).ok());
  std::string deep = std::string(100, '{') + std::string(100, '}');
  std::string deeper;
  for (int i = 0; i < 100'000; ++i) deeper += "\\sqrt";
  for (const char* wrong : {"^2", "a_", "\\frac{1}", "{a", "a}", "\\text", deep.c_str(), deeper.c_str()})
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

TEST(CustomClaim, SkipsInvalidCards) {
  expect_problems("claims/mine.json", claim_text(),
                  {{"\"low\": 1", "\"low\": 1.8,\n\"high\": 2.2"},
                   {"\"low\": 1", "\"states\": 1, \"gpu\": \"A100\", \"changes\": \"N {{l2}}\""},
                   {"\"fa1\"", "\"imported:torch-flash\""},
                   {"\"low\": 1", "\"order\": 1", "\"states\"", "a number"},
                   {"\"source\"", "\"title2\"", "missing \"source\""},
                   {"\"points\"", "\"text\"", "missing \"points\""},
                   {"\"low\": 1", "\"low\": \"much\"", "\"low\": \"much\"", "a number"},
                   {"\"low\": 1", "\"low\": 2,\n\"high\": 1", "\"high\": 1", "low"},
                   {"\"low\": 1", "\"states\": 2,\n\"tolerance\": -1", "\"tolerance\": -1", "0"},
                   {"\"low\": 1", "\"low\": 1,\n\"tolerence\": 1", "\"tolerence\"", "tolerance"},
                   {"\"low\": 1", "\"low\": 1,\n\"ceiling\": \"dram_read\"", "\"ceiling\""},
                   {"\"low\": 1", "\"low\": 1,\n\"stated_by\": \"me\"", "\"me\"", "source, ours"},
                   {"versus", "guess", "\"guess\"", "versus, doubled"},
                   {"time_median_ns", "time_median", "\"time_median\"", "unknown metric"},
                   {"fa1", "fast", "\"fast\"", "naive"},
                   {"fa1", "imported:<b>", "imported:<b>", "imported:"},
                   {"pass:fwd", "pass:>=", "pass:>="},
                   {"\"title\": \"x\"", "\"title\": 1", "\"title\": 1", "a text"},
                   {"\"low\": 1\n}", "\"low\": 1", "invalid JSON"},
                   {"\"title\": \"x\",", "\"title\": \"x\"", ":3: invalid JSON", "comma"}},
                  [](const LessonTexts& texts) { return texts.claims.size(); });
  const std::vector<TextFile> marks{
      {"claims/mine.json", R"({"title": "x", "source": "me", "text": "{{nothing}}", "test": "softmax-error",
                               "fault": "none", "low": 1})"}};
  EXPECT_THAT(problems_of(load_lesson("en", marks)), ElementsAre(HasSubstr("'nothing'")));
}

TEST(CustomQuestion, SkipsInvalidQuestions) {
  expect_problems("homework/mine.json", question_text(),
                  {{"k / 2", "k / 2 * l2"},
                   {"\"answer\": \"k / 2\"", "\"right\": \"a\", \"wrong\": [\"b\", \"c {{l2}}\"]"},
                   {"\"answer\": \"k / 2\",\n", "", "\"answer\"", "formula"},
                   {"\"answer\": \"k / 2\"", "\"right\": \"a\"", "\"answer\"", "wrong"},
                   {"k / 2\"", "k / q\"", "'q'", "dram_rate"},
                   {"k / 2\"", "k /\"", "\"k /\""},
                   {"[4, 6]", "4", "\"vary\"", "lists"},
                   {"[4, 6]", "[]", "\"vary\"", "lists"},
                   {"\"prompt\"", "\"promt\"", "invalid \"prompt\": missing"}},
                  [](const LessonTexts& texts) { return texts.homework.size(); });
}

TEST(CustomFiles, ReportsUnknownFiles) {
  const std::vector<TextFile> files{{"claims/a b.json", claim_text()},
                                    {"screens/own.txt", {}, "not a text file"},
                                    {"fr/size.json", "{}"},
                                    {"screens/more/size.json", "{}"},
                                    {"web/page.js", "x"}};
  const auto unknown = [](const char* path) { return AllOf(StartsWith(path), HasSubstr("screens/*.json")); };
  EXPECT_THAT(
      problems_of(load_lesson("en", files)),
      ElementsAre("screens/own.txt: not a text file", unknown("fr/size.json: "), unknown("screens/more/size.json: "),
                  unknown("web/page.js: "), AllOf(StartsWith("claims/a b.json: "), HasSubstr("'a b'"))));
}

TEST(CustomPage, EscapesHostileText) {
  const PointTable none;
  const std::string evil = "</script><img src=x onerror=alert(1)>\"'&";
  const nlohmann::json choices{{{"text", evil}, {"why", evil}, {"right", true}}, {{"text", "b"}, {"why", evil}}};
  const std::vector<TextFile> files{
      {"screens/own.json",
       nlohmann::json{{"title", evil},
                      {"say", evil},
                      {"steps",
                       {{{"text", "# " + evil + "\n\n" + evil + " *" + evil + "* `" + evil + "`\n\n- " + evil + "\n"}},
                        {{"question", evil}, {"choices", choices}, {"hint", evil}}}}}
           .dump()},
      {"claims/mine.json", nlohmann::json{{"source", evil},
                                          {"title", evil},
                                          {"text", evil},
                                          {"changes", evil},
                                          {"published", evil},
                                          {"test", "softmax-error"},
                                          {"fault", "none"},
                                          {"low", 1}}
                               .dump()},
      {"en/" + evil + ".json", "x"}};
  const LessonTexts texts = load_lesson("en", files);
  ASSERT_EQ(texts.screens.size(), 10U);
  const std::string page = lesson_page(texts, evidence_of(none), {.data = evil});
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("</script><")));
  EXPECT_THAT(page, HasSubstr("&lt;img src=x onerror=alert(1)&gt;"));
}

}  // namespace
}  // namespace attnscope::analysis::lesson
