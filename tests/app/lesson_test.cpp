// SPDX-License-Identifier: Apache-2.0
// The exported lesson: the pages written from the recorded sample, and their behavior in a browser.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <utility>

#include "browser.h"
#include "kernels/oracle/float16.h"
#include "profiler/lesson/online_softmax.h"
#include "sweeps.h"

namespace attnscope::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using LessonExport = CommandTest;

std::string law_sample() {
  return (std::filesystem::path(ATTNSCOPE_SAMPLE).parent_path() / "h200-law.attnscope").string();
}

std::string race_sample() {
  return (std::filesystem::path(ATTNSCOPE_SAMPLE).parent_path() / "h200-race.attnscope").string();
}

std::string exported_page(const TemporaryFolder& folder, const std::vector<std::string>& more = {}) {
  const Words arguments =
      Words{"lesson", "export", ATTNSCOPE_SAMPLE, law_sample(), "-o", (folder / "out").string()} + more;
  expect_exit(0, run(folder, arguments));
  return content(folder / "out/index.html");
}

void write_file(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

TEST_F(LessonExport, WritesAPageInEitherLanguage) {
  for (const char* language : {"en", "zh"}) {
    const TemporaryFolder folder;
    const std::string page = exported_page(folder, {"--lang", language});
    EXPECT_THAT(page, HasSubstr(fmt::format("<html lang=\"{}\">", language)));
    EXPECT_THAT(page, Not(HasSubstr("src=")));
    const std::string other = std::string(language) == "en" ? "zh" : "en";
    EXPECT_THAT(page, HasSubstr(fmt::format("href=\"{}.html\"", other)));
    EXPECT_THAT(content(folder / ("out/" + other + ".html")), HasSubstr(fmt::format("<html lang=\"{}\">", other)));
    // A missing text appears as "[key]".
    EXPECT_FALSE(std::regex_search(page, std::regex(">\\[[a-z_-]+\\]<")));
    // All values are known for this sample, except unmeasured ones (d 256, latencies).
    const std::regex measured("class=\"v (derived|measured)\"");
    EXPECT_GT(std::distance(std::sregex_iterator(page.begin(), page.end(), measured), std::sregex_iterator()), 15);
    for (const char* outcome : {"held", "refuted", "not-testable"}) {
      EXPECT_THAT(page, HasSubstr(fmt::format("data-outcome=\"{}\"", outcome)));
    }
  }
}

TEST_F(LessonExport, ClaimsHaveOutcomes) {
  // Computed by hand from `attnscope export` of the samples; rederive_claims.py derives each figure again.
  const std::map<std::string, std::string> expected{
      {"approximate", "refuted"},    {"saves-flops", "refuted"},     {"occupancy-is-all", "refuted"},
      {"memory-bound", "partly"},    {"long-only", "refuted"},       {"linear-traffic", "held"},
      {"quadratic-traffic", "held"}, {"twenty-times", "refuted"},    {"fa2-twice", "not-testable"},
      {"recompute", "held"},         {"fa3-fewer-bytes", "refuted"}, {"decode", "refuted"}};
  const auto outcomes = [](const std::string& page) {
    std::map<std::string, std::string> found;
    const std::regex card("data-id=\"claim-([a-z0-9-]+)\" data-outcome=\"([a-z-]+)\"");
    for (std::sregex_iterator at(page.begin(), page.end(), card), end; at != end; ++at) found[(*at)[1]] = (*at)[2];
    return found;
  };
  const std::string page = exported_page(folder_);
  EXPECT_EQ(outcomes(page), expected);
  EXPECT_THAT(page, HasSubstr("recorded of other programs, torch-"));
  // On-chip over DRAM bandwidth is 7.1 on the H200 and 10.5 on the H100; the source names no GPU.
  auto of_both = expected;
  of_both["twenty-times"] = "not-testable";
  const std::string h100 = (std::filesystem::path(ATTNSCOPE_SAMPLE).parent_path() / "h100.attnscope").string();
  EXPECT_EQ(outcomes(exported_page(folder_, {h100})), of_both);
}

// Creates an installation layout next to the program (cmake/packages/packages.cmake).
TEST(RecordedSamples, AreTheDefaultFiles) {
  const TemporaryFolder folder;
  const std::string sample = std::filesystem::canonical(ATTNSCOPE_SAMPLE).string();
  const std::vector<std::vector<std::string>> commands{{"lesson", "export", "-o", (folder / "lesson").string()},
                                                       {"law"},
                                                       {"info"},
                                                       {"paper"},
                                                       {"export", "--filter", "algo:fa3 d:128 N:4096"},
                                                       {"report", "-o", (folder / "report.md").string()}};
  for (const std::vector<std::string>& command : commands) {
    EXPECT_THAT(expect_exit(0, run(folder, command)).err, HasSubstr(command[0] == "law" ? law_sample() : sample))
        << command[0];
  }
  EXPECT_THAT(content(folder / "lesson/index.html"),
              HasSubstr("h200.attnscope, h200-law.attnscope, h200-tiles.attnscope, "
                        "h200-race.attnscope, h100.attnscope"));
  EXPECT_EQ(run(folder, {"export", "--filter", "algo:fa3 d:128 N:4096"}).out,
            run(folder, {"export", sample, "--filter", "algo:fa3 d:128 N:4096"}).out);

  // A program moved away from its samples reports that they are missing.
  std::filesystem::create_directories(folder / "bin");
  std::filesystem::copy_file(ATTNSCOPE_PROGRAM, folder / "bin/attnscope");
  const Process::Options alone{.environment = {{"XDG_DATA_DIRS", "/nowhere"}}, .program = folder / "bin/attnscope"};
  for (const char* command : {"info", "law"}) {
    EXPECT_THAT(expect_exit(2, run(folder, {command}, alone)).err, HasSubstr("recorded sample"));
  }
}

TEST(LessonTexts, AreWrittenForEditing) {
  const TemporaryFolder folder;
  const std::string mine = (folder / "mine").string();
  EXPECT_EQ(run(folder, {"lesson", "texts", "-o", mine}).exit_code, 0);
  // Unchanged texts have no effect.
  EXPECT_EQ(exported_page(folder, {"--texts", mine}), exported_page(folder));
  const std::filesystem::path step = folder / "mine/zh/step-1-ledger.md";
  std::string text = content(step);
  text.replace(text.find("title: "), 7, "title: X");
  write_file(step, text);
  EXPECT_EQ(run(folder, {"lesson", "texts", "-o", mine}).exit_code, 1);
  EXPECT_EQ(content(step), text) << "edited texts are kept";
  EXPECT_EQ(run(folder, {"lesson", "texts", "-o", mine, "--force"}).exit_code, 0);
  EXPECT_NE(content(step), text);
}

TEST_F(LessonExport, RejectsInvalidInput) {
  const std::string out = (folder_ / "out").string();
  EXPECT_THAT(expect_exit(2, run(folder_, {"lesson", "export", ATTNSCOPE_SAMPLE, "-o", out, "--lang", "fr"})).err,
              HasSubstr("'fr'"));
  EXPECT_EQ(run(folder_, {"lesson", "export", ATTNSCOPE_SAMPLE, "-o", out, "--texts", out + "/nothing"}).exit_code, 1);
  EXPECT_EQ(run(folder_, {"lesson", "export", out + "/nothing.attnscope", "-o", out}).exit_code, 1);
  // Pages of other programs are not overwritten.
  write_file(folder_ / "out/index.html", "mine");
  EXPECT_NE(run(folder_, {"lesson", "export", ATTNSCOPE_SAMPLE, "-o", out}).exit_code, 0);
  EXPECT_EQ(content(folder_ / "out/index.html"), "mine");
  EXPECT_EQ(run(folder_, {"lesson", "export", ATTNSCOPE_SAMPLE, "-o", out, "--force"}).exit_code, 0);
  EXPECT_EQ(run(folder_, {"lesson", "export", ATTNSCOPE_SAMPLE, "-o", out}).exit_code, 0);
}

TEST_F(LessonExport, CustomTextsReplaceBuiltInOnes) {
  write_file(folder_ / "mine/en/step-8-own.md", "---\ntitle: My own\nslug: own\norder: 8\n---\nOf *me*.\n");
  write_file(folder_ / "mine/en/step-2-hierarchy.md", "---\ntitle: broken\n---\n");
  write_file(folder_ / "mine/claims/own.json", R"({"title": "Mine is faster", "source": "slide 12", "test": "versus",
    "from": "naive", "to": "fa2", "metric": "time_median_ns", "points": "pass:fwd N>=4096 n_q>=2", "low": 1})");
  write_file(folder_ / "mine/claims/broken.json", "{\n\"title\": \"x\"\n\"source\": \"y\"}");
  write_file(folder_ / "mine/homework/own.json", R"({"prompt": "2 x {{k}}?", "vary": {"k": [3]}, "answer": "2 * k"})");
  const Words texts{"--texts", (folder_ / "mine").string()};
  const Outcome outcome = expect_exit(
      5, run(folder_, Words{"lesson", "export", ATTNSCOPE_SAMPLE, "-o", (folder_ / "out").string()} + texts));
  EXPECT_THAT(outcome.err, HasSubstr("claims/broken.json:3: invalid JSON"));
  EXPECT_THAT(content(folder_ / "out/index.html"), HasSubstr("data-id=\"claim-own\" data-outcome=\"held\""));
  const Outcome key =
      run(folder_, Words{"lesson", "grade", "--data", ATTNSCOPE_SAMPLE, "--seed", "1", "--csv"} + texts);
  EXPECT_THAT(key.out, HasSubstr("own,6,"));
  EXPECT_THAT(outcome.err, HasSubstr("en/step-2-hierarchy.md:1: "));
  EXPECT_THAT(outcome.err, HasSubstr("'slug'"));
  const std::string page = content(folder_ / "out/index.html");
  EXPECT_THAT(page, HasSubstr("7 My own</a>"));
  EXPECT_THAT(page, HasSubstr("<section id=\"tiling\""));
  EXPECT_THAT(page, Not(HasSubstr("<section id=\"hierarchy\"")));
}

/// Simulates a reader's actions; the report has their results.
constexpr const char* reader = R"js(<script>
(async () => {
  const report = {};
  const wait = () => new Promise(done => setTimeout(done, 30));
  const go = async id => { location.hash = id; await wait(); };
  const press = key => document.body.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));
  try {
    report.requests = performance.getEntriesByType('resource').length;
    report.sections = document.querySelectorAll('section').length;
    report.first = document.querySelector('section.here').id;
    await go('tiling');
    const figure = document.querySelector('#tiling figure.play');
    const click = name => figure.querySelector('.' + name).click();
    const frames = [];
    click('step'); frames.push(+figure.dataset.frame);
    click('step'); frames.push(+figure.dataset.frame);
    click('step-back'); frames.push(+figure.dataset.frame);
    const scrub = figure.querySelector('.scrub');
    scrub.value = 5; scrub.dispatchEvent(new Event('input')); frames.push(+figure.dataset.frame);
    press('ArrowRight'); frames.push(+figure.dataset.frame);
    press('ArrowLeft'); frames.push(+figure.dataset.frame);
    report.frames = frames;
    report.lit = figure.querySelectorAll('svg .l2-hit, svg .l2-miss, svg .store, svg .add').length;
    report.meets = [];
    report.early = figure.dataset.matches;
    const [pick, variant] = [figure.querySelector('.pick'), figure.querySelector('.variant')];
    report.written = [];
    for (const way of pick.options) {
      for (const other of variant.options) {
        pick.value = way.value; variant.value = other.value; pick.dispatchEvent(new Event('change'));
        click('to-last');
        report.meets.push(figure.dataset.matches);
        for (const row of figure.querySelectorAll('.tally tr:nth-last-child(2)')) report.written.push(row.lastChild.textContent !== '0 B');
      }
    }
    pick.value = 1;
    report.seen = [0, 1].map(mask => {
      variant.value = mask; variant.dispatchEvent(new Event('change')); click('to-last');
      return figure.querySelectorAll('svg .visited, svg .current').length;
    });
    pick.value = -1; pick.dispatchEvent(new Event('change'));
    report.beside = figure.querySelectorAll('.tally').length;
    click('to-first'); click('play-button'); await new Promise(done => setTimeout(done, 900)); click('play-button');
    report.played = +figure.dataset.frame;
    await go('online-softmax');
    const soft = document.querySelector('figure[data-kind=softmax]');
    const fault = soft.querySelector('.fault');
    soft.querySelector('.to-last').click();
    report.right = soft.querySelector('.result').className;
    fault.value = 'forget-rescale'; fault.dispatchEvent(new Event('change')); soft.querySelector('.to-last').click();
    report.faulty = soft.querySelector('.result').className;
    const choose = (name, value) => { const list = soft.querySelector('.' + name); list.value = value; list.dispatchEvent(new Event('change')); };
    const played = () => {
      soft.querySelector('.to-last').click();
      const [output, , error, rescaled, divisions, through] = soft.querySelector('.result').textContent.split(' · ').map(part => part.split(': ')[1]);
      return {output: output.split(', '), error, counts: [+rescaled, +divisions, +through]};
    };
    const values = name => [...soft.querySelector('.' + name).options].map(option => option.value);
    report.softmax = [];
    for (const example of values('pick')) {
      choose('pick', example);
      for (const block of values('block')) for (const division of values('division')) for (const wrong of values('fault')) {
        choose('block', block); choose('division', division); choose('fault', wrong);
        report.softmax.push(played());
      }
    }
    const own = soft.querySelector('.custom-scores');
    const write = scores => { own.value = scores; own.dispatchEvent(new Event('change')); };
    choose('division', 0); choose('fault', 'forget-rescale');
    write('0; 1 4,6'); choose('block', 2);
    report.own = played();
    write('0, one'); report.refused = soft.querySelector('output').textContent !== '';
    choose('fault', 'none'); soft.querySelector('.to-last').click();
    report.halves = [...soft.querySelectorAll('table tr:last-child')].map(row => [...row.querySelectorAll('.number')].map(cell => cell.textContent));
    await go('ledger');
    const question = document.querySelector('#ledger .question');
    const [lock, reveal] = [question.querySelector('.lock'), question.querySelector('.reveal')];
    const shown = () => question.querySelectorAll('.explanation:not([hidden])').length;
    report.question = [lock.disabled, reveal.disabled, shown()];
    question.querySelector('input').click();
    report.question.push(lock.disabled, reveal.disabled);
    lock.click();
    report.question.push(question.querySelector('input').disabled, shown(), reveal.disabled);
    reveal.click();
    report.question.push(shown());
    await go('claims');
    const claim = document.querySelector('.claim');
    report.claim = [claim.querySelector('.verdict').hidden];
    claim.querySelector('input').click(); claim.querySelector('.lock').click(); claim.querySelector('.reveal').click();
    report.claim.push(claim.querySelector('.verdict').hidden);
    await go('theory');
    const told = document.querySelector('#theory .revealed');
    report.law = [...document.querySelectorAll('.prediction')].map(prediction => {
      const slide = prediction.querySelector('input'), dots = () => prediction.querySelectorAll('circle').length;
      const [before, answered] = [dots(), !told.hidden];
      slide.value = 1.5; slide.dispatchEvent(new Event('input'));
      prediction.querySelector('.lock').click();
      slide.value = 0; slide.dispatchEvent(new Event('input'));
      const locked = [dots(), +slide.value];
      slide.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}));
      const numbers = prediction.querySelector('output').textContent.match(/-?[0-9]+([.][0-9]+)?/g).map(Number);
      return {before, answered, locked, after: dots(), numbers};
    });
    report.said = !told.hidden;
    await go('race');
    const racing = document.querySelector('figure[data-kind=race]');
    const long = racing.querySelector('.length');
    long.value = 4; long.dispatchEvent(new Event('input'));
    report.race = [...racing.querySelectorAll('.lane')].map(lane => [lane.querySelector('.clock').textContent, lane.querySelector('.moved').textContent]);
    report.raced = racing.querySelector('.race-verdict').textContent;
    racing.querySelector('.save').click();
    await new Promise(done => setTimeout(done, 1500));
    report.saved = racing.querySelector('.share output').textContent;
    await go('hierarchy');
    const asked = [...document.querySelectorAll('#hierarchy .question')];
    press('q');
    report.alone = [document.body.className.includes('question-open'), asked[0].className.includes('full-screen')];
    press('b'); press('Enter');
    report.alone.push(asked[0].querySelectorAll('input[type=radio]')[1].checked, asked[0].querySelectorAll('.explanation:not([hidden])').length);
    const hands = asked[0].querySelectorAll('.vote-count');
    const raise = (right, wrong) => hands.forEach(input => { input.value = input.closest('.choice').dataset.right === '1' ? right : wrong; input.dispatchEvent(new Event('input')); });
    raise(4, 4);
    asked[0].querySelector('.vote-again').click();
    raise(12, 4);
    report.hands = [asked[0].querySelector('.vote-summary').textContent];
    press('Enter');
    report.hands.push(asked[0].querySelector('.vote-summary').textContent);
    report.alone.push(asked[0].querySelectorAll('.explanation:not([hidden])').length);
    press('Enter');
    report.alone.push(asked[1].className.includes('full-screen'));
    press('Escape');
    report.alone.push(document.body.className.includes('question-open'));
    await go('results');
    report.results = document.querySelector('#result-table').textContent.length > 100;
    press('PageUp'); await wait();
    report.paged = document.querySelector('section.here').id;
    const link = document.querySelector('.language');
    link.addEventListener('click', event => event.preventDefault());
    link.click();
    report.link = link.getAttribute('href').split('#')[1];
    await go('5'); report.numbered = document.querySelector('section.here').id;
    await go('nowhere'); report.nowhere = document.querySelector('section.here').id;
    await go('claims'); report.remembered = JSON.parse(localStorage.getItem(document.body.dataset.key)).page;
    const before = document.documentElement.dataset.theme; press('l');
    report.theme = before !== document.documentElement.dataset.theme;
    report.kept = Object.keys(JSON.parse(localStorage.getItem(document.body.dataset.key)).answers).length;
    report.overflow = document.documentElement.scrollWidth > innerWidth + 1;
  } catch (error) { errors.push(String(error)); }
  report.errors = errors;
  document.body.append(Object.assign(document.createElement('pre'), {id: 'report', textContent: '@@' + JSON.stringify(report) + '@@'}));
})();
</script></body>)js";

double shown_number(const std::string& text) {
  if (text == "∞" || text == "−∞") return std::numeric_limits<double>::infinity();
  return std::stod(text);
}

/// Online softmax of FlashAttention, Algorithm 1 (arXiv 2205.14135v2; `inner`: o is stored normalized), and of
/// FlashAttention-2, Section 3.1 (arXiv 2307.08691), with injected faults.
struct OnlineSoftmax {
  std::vector<double> output{};
  double error = 0;
  std::array<std::int64_t, 3> counts{};  ///< rows of o: rescaled, normalized, reread and rewritten

  OnlineSoftmax(const analysis::lesson::SoftmaxExample& in, std::size_t block, bool inner, const std::string& fault) {
    const bool late = fault.starts_with("mask-after");
    const bool forgets = fault == "forget-rescale";
    const auto rounded = [&](double x) {
      return fault == "sum-in-fp16" ? static_cast<double>(round_to(DType::fp16, static_cast<float>(x))) : x;
    };
    for (std::size_t at = 0; at < in.scores.size(); at += in.columns) {
      const auto score = [&](std::size_t j) { return in.scores[at + j]; };
      const auto hides = [&](std::size_t j) { return !in.hidden.empty() && in.hidden[at + j]; };
      double m = -std::numeric_limits<double>::infinity();
      double l = 0;
      std::vector<double> o(in.d, 0);
      for (std::size_t first = 0; first < in.columns; first += block) {
        const std::size_t last = std::min(first + block, in.columns);
        double highest = m;
        for (std::size_t j = first; j < last; ++j) {
          if (late || !hides(j)) highest = std::max(highest, score(j));
        }
        const bool nothing = std::isinf(highest);
        const bool rises = !std::isinf(m) && highest > m;
        const double alpha = nothing || (forgets && rises) ? 1 : std::exp(m - highest);
        std::vector<double> weights;
        double sum = 0;
        for (std::size_t j = first; j < last; ++j) {
          weights.push_back(hides(j) || nothing ? 0 : rounded(std::exp(score(j) - highest)));
          const bool counted = fault == "mask-after-sum" && hides(j);
          sum = rounded(sum + (counted ? std::exp(score(j) - highest) : weights.back()));
        }
        const double before = std::exchange(l, rounded(rounded(l * alpha) + sum));
        for (std::size_t c = 0; c < in.d; ++c) {
          double added = 0;
          for (std::size_t j = first; j < last; ++j)
            added = rounded(added + weights[j - first] * in.values[j * in.d + c]);
          o[c] = rounded(rounded((inner ? o[c] * before : o[c]) * alpha) + added);
          if (inner) o[c] = l > 0 ? rounded(o[c] / l) : 0;
        }
        m = highest;
        counts[0] += (inner || rises) && !forgets ? 1 : 0;
        counts[1] += inner ? 1 : 0;
        counts[2] += inner ? 1 : 0;
      }
      counts[1] += inner ? 0 : 1;
      add_row(in, score, hides, o, inner ? 1 : l);
    }
  }

  void add_row(const analysis::lesson::SoftmaxExample& in, const auto& score, const auto& hides,
               const std::vector<double>& o, double l) {
    long double total = 0;
    for (std::size_t j = 0; j < in.columns; ++j) total += hides(j) ? 0 : std::exp(static_cast<long double>(score(j)));
    for (std::size_t c = 0; c < in.d; ++c) {
      long double exact = 0;
      for (std::size_t j = 0; j < in.columns; ++j) {
        if (!hides(j)) exact += std::exp(static_cast<long double>(score(j))) / total * in.values[j * in.d + c];
      }
      output.push_back(l > 0 ? o[c] / l : 0);
      const double off = std::abs(output.back() - static_cast<double>(exact));
      error = off >= 0 ? std::max(error, off) : std::numeric_limits<double>::infinity();
    }
  }
};

/// All examples, block sizes, rescaling variants and faults.
void expect_softmax_as_played(const nlohmann::json& shown) {
  constexpr double digits_shown = 1e-4;
  std::size_t at = 0;
  for (const analysis::lesson::SoftmaxExample& example : analysis::lesson::softmax_examples()) {
    for (const std::size_t block : example.blocks) {
      for (const bool inner : {false, true}) {
        for (const char* fault : {"none", "forget-rescale", "mask-after-maximum", "mask-after-sum", "sum-in-fp16"}) {
          ASSERT_LT(at, shown.size());
          const nlohmann::json& page = shown[at++];
          const OnlineSoftmax played(example, block, inner, fault);
          const std::string what = fmt::format("{} in blocks of {}, {}", example.name, block, fault);
          ASSERT_EQ(page["output"].size(), played.output.size()) << what;
          for (std::size_t i = 0; i < played.output.size(); ++i) {
            const double near = digits_shown * std::max(1.0, std::abs(played.output[i]));
            EXPECT_NEAR(shown_number(page["output"][i]), played.output[i], near) << what;
          }
          const double error = shown_number(page["error"]);
          EXPECT_EQ(std::isinf(error), std::isinf(played.error)) << what;
          if (!std::isinf(error)) {
            EXPECT_NEAR(error, played.error, digits_shown * std::max(1.0, played.error)) << what;
          }
          EXPECT_EQ(page["counts"], nlohmann::json(played.counts)) << what;
        }
      }
    }
  }
  EXPECT_EQ(at, shown.size());
}

/// Exponents of N, d and M, equal to those in law_exponents_test.cpp for the same sample.
void expect_law_as_fitted(const nlohmann::json& report) {
  ASSERT_EQ(report["law"].size(), 3U);
  const std::vector<std::pair<double, double>> fitted_and_stated{{1.98, 2}, {1.96, 2}, {-0.98, -1}};
  for (std::size_t i = 0; i < 3; ++i) {
    const nlohmann::json& plot = report["law"][i];
    EXPECT_EQ(plot["before"], 1) << "only the first point";
    EXPECT_EQ(plot["answered"], false);
    EXPECT_EQ(plot["locked"], nlohmann::json({1, 1.5}));
    EXPECT_GE(plot["after"], 4);
    EXPECT_EQ(plot["numbers"], nlohmann::json({1.5, fitted_and_stated[i].first, fitted_and_stated[i].second}));
  }
  EXPECT_EQ(report["said"], true) << "the powers are explained after them";
}

/// Times equal those of `attnscope export`.
void expect_race_as_measured(const TemporaryFolder& folder, const nlohmann::json& lanes) {
  const Outcome exported = expect_exit(0, run(folder, {"export", race_sample(), "--json", "--filter", "d:64 N:4096"}));
  ASSERT_EQ(lanes.size(), 5U);
  std::size_t at = 0;
  const nlohmann::json all = nlohmann::json::parse(exported.out);
  for (const nlohmann::json& point : all["points"]) {
    if (point["kernel"] != "all") continue;
    const double us = point["time_median_ns"].get<double>() / 1000;
    const double shown = us >= 1000 ? us / 1000 : us;
    const int decimals = shown < 10 ? 2 : shown < 100 ? 1 : 0;
    EXPECT_EQ(lanes[at++][0], fmt::format("{:.{}f} {}", shown, decimals, us >= 1000 ? "ms" : "µs"));
  }
  EXPECT_EQ(at, 5U);
  // For 132 heads: S and P, written and read, take 16.5 GiB; Q, K, V and O 264 MiB; LSE 2 MiB.
  EXPECT_EQ(lanes[0][1], "16.8 GiB");
  EXPECT_EQ(lanes[2][1], "266 MiB");
}

TEST(LessonInABrowser, StepsScrubsLocksAndReveals) {
  const std::optional<std::filesystem::path> chromium = browser();
  if (!chromium) GTEST_SKIP() << "no chromium on PATH";
  for (const std::string language : {"en", "zh"}) {
    const TemporaryFolder folder;
    const std::string latencies =
        (std::filesystem::path(ATTNSCOPE_SAMPLE).parent_path() / "h200-tiles.attnscope").string();
    std::string page = exported_page(folder, {"--lang", language, latencies, race_sample()});
    page.insert(page.find("<header>"),
                "<script>const errors = []; addEventListener('error', e => errors.push(e.message)); "
                "addEventListener('securitypolicyviolation', e => errors.push(e.blockedURI));</script>");
    page.replace(page.find("</body>"), 7, reader);
    write_file(folder / "reader.html", page);
    const Process::Options options{.program = *chromium};
    const Outcome outcome = run(folder,
                                headless({"--window-size=1280,800", "--force-prefers-reduced-motion",
                                          "--user-data-dir=" + (folder / "profile").string(), "--dump-dom",
                                          "file://" + (folder / "reader.html").string()},
                                         20000),
                                options);
    EXPECT_THAT(outcome.err, Not(HasSubstr("CONSOLE"))) << language;
    const std::size_t begin = outcome.out.rfind("id=\"report\">@@");
    ASSERT_NE(begin, std::string::npos) << outcome.err;
    const std::size_t from = begin + 14;
    std::string text = outcome.out.substr(from, outcome.out.find("@@</pre>", from) - from);
    for (const auto& [entity, plain] : {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}}) {
      for (std::size_t at = text.find(entity); at != std::string::npos; at = text.find(entity)) {
        text.replace(at, std::string(entity).size(), plain);
      }
    }
    const nlohmann::json report = nlohmann::json::parse(text);
    EXPECT_EQ(report["errors"], nlohmann::json::array()) << report["errors"];
    EXPECT_EQ(report["requests"], 0);
    EXPECT_EQ(report["sections"], 11);
    EXPECT_EQ(report["first"], "race");
    EXPECT_EQ(report["frames"], nlohmann::json({1, 2, 1, 5, 6, 5}));
    EXPECT_GT(report["lit"], 0);
    EXPECT_EQ(report["early"], "0");
    // Three algorithms, separately and together, with three masks and six other tiles and sizes: each ends at the
    // closed form to the byte, with its dirty lines written back to DRAM.
    EXPECT_EQ(report["meets"], nlohmann::json(std::vector<std::string>(36, "1")));
    EXPECT_EQ(report["written"], nlohmann::json(std::vector<bool>(54, true)));
    EXPECT_EQ(report["beside"], 3);
    EXPECT_GT(report["played"], 1);
    EXPECT_EQ(report["right"], "result matches");
    EXPECT_EQ(report["faulty"], "result error");
    EXPECT_EQ(report["question"], nlohmann::json({true, true, 0, false, true, true, 0, false, 3}));
    EXPECT_EQ(report["claim"], nlohmann::json({true, false}));
    expect_law_as_fitted(report);
    expect_race_as_measured(folder, report["race"]);
    EXPECT_THAT(report["raced"].get<std::string>(), HasSubstr("64×"));  // 16.8 GiB / 266 MiB
    EXPECT_EQ(report["saved"], language == "en" ? "Saved." : "已保存。");
    EXPECT_EQ(report["alone"], nlohmann::json({true, true, true, 0, 3, true, false}));
    EXPECT_THAT(report["hands"][0].get<std::string>(), Not(HasSubstr("%"))) << "the answer is still hidden";
    EXPECT_THAT(report["hands"][1].get<std::string>(), HasSubstr("60%"));  // 12 / 20
    EXPECT_THAT(report["hands"][1].get<std::string>(), HasSubstr("33%")) << "first vote: 4 / 12";
    EXPECT_EQ(report["results"], true);
    EXPECT_EQ(report["paged"], "claims");
    EXPECT_EQ(report["link"], "claims") << "the language link keeps the page";
    EXPECT_EQ(report["numbered"], "tiling");
    EXPECT_EQ(report["nowhere"], "race");
    EXPECT_EQ(report["remembered"], "claims");
    // Four heads of 8 x 4 tiles of 64 x 128; tiles above the diagonal are skipped.
    EXPECT_EQ(report["seen"], nlohmann::json({128, 80}));
    expect_softmax_as_played(report["softmax"]);
    // Scores 0, 1, 4, 6 in blocks of two without rescaling: (e^-1 + 2 + 3 e^-2 + 4) / (e^-1 + 1 + e^-2 + 1).
    EXPECT_NEAR(shown_number(report["own"]["output"][0]), 2.7061, 5e-5);
    EXPECT_EQ(report["refused"], true);
    // (m, l, o) of scores 0, 1 and of 4, 6 with values 1 to 4, merged: l = e^-6 + e^-5 + e^-2 + 1.
    EXPECT_EQ(report["halves"].back(), nlohmann::json({"6", "1.1446", "4.422"}));
    EXPECT_EQ(report["theme"], true);
    EXPECT_EQ(report["kept"], 6);  // two questions, one claim, three lines
    EXPECT_EQ(report["overflow"], false);
  }
}

TEST(LessonInABrowser, OpensAtRequestedOrLastStep) {
  const std::optional<std::filesystem::path> chromium = browser();
  if (!chromium) GTEST_SKIP() << "no chromium on PATH";
  const TemporaryFolder folder;
  std::string page = exported_page(folder);
  page.replace(page.find("data-start=\"\""), 13, "data-start=\"theory\"");
  const std::string last = "localStorage.setItem(document.body.dataset.key, '{\"page\": \"claims\"}');";
  page.insert(page.find("<header>"), "<script>" + last + "</script>");
  write_file(folder / "asked.html", page);
  page.replace(page.find("data-start=\"theory\""), 19, "data-start=\"\"");
  write_file(folder / "left.html", page);
  const auto first = [&](const std::string& address) {
    const Process::Options options{.program = *chromium};
    const Outcome outcome = run(folder,
                                headless({"--user-data-dir=" + (folder / "profile").string(), "--dump-dom",
                                          "file://" + (folder / address).string()}),
                                options);
    std::smatch found;
    const std::regex here(
        "<section id=\"([a-z-]+)\" data-number=\"[0-9]*\" tabindex=\"-1\" lang=\"en\" class=\"here\"");
    return std::regex_search(outcome.out, found, here) ? found[1].str() : outcome.err;
  };
  EXPECT_EQ(first("asked.html"), "theory");
  EXPECT_EQ(first("asked.html#hierarchy"), "hierarchy");
  EXPECT_EQ(first("asked.html#3"), "three-kernels");
  EXPECT_EQ(first("left.html"), "claims");
}

}  // namespace
}  // namespace attnscope::testing
