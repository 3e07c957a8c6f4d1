// SPDX-License-Identifier: Apache-2.0
// The command `report`: HTML and Markdown with figures, and the page in a browser.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "browser.h"
#include "fake_driver.h"
#include "storage/run_store.h"
#include "sweeps.h"

namespace attnscope::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ReportCommand : public CommandTest {
 protected:
  fs::path collected(const std::string& device = "simulated") {
    const fs::path file = folder_ / (std::to_string(++files_) + ".attnscope");
    expect_exit(0,
                run(folder_, {"collect", "-q", "--device", device, "-a", "N=[128,256,512]", "-a", "d=64", "-o", file}));
    return file;
  }
  /// Imports times into a file; one row per point: algorithm, N, heads, d, time in ns.
  fs::path imported(const std::string& name, const std::string& rows) {
    const fs::path table = folder_ / (name + ".csv");
    std::ofstream(table) << "device,algorithm,N,heads,d,time_ns\n" << rows;
    const fs::path file = folder_ / (name + ".attnscope");
    EXPECT_EQ(run(folder_, {"import", table, "-o", file}).exit_code, 0);
    return file;
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(folder_.path())) all.push_back(entry.path().filename());
    std::ranges::sort(all);
    return all;
  }
  int files_ = 0;
};

TEST_F(ReportCommand, output_is_reproducible) {
  const fs::path file = collected();
  const Outcome outcome = expect_exit(0, run(folder_, {"report", file, "-o", folder_ / "a.html"}));
  EXPECT_EQ(outcome.out + outcome.err, "");
  const std::string page = content(folder_ / "a.html");
  EXPECT_THAT(page, AllOf(HasSubstr("Simulated: 24 of 24 points with a result."), HasSubstr("<svg"),
                          HasSubstr("id=\"row-1\"")));
  EXPECT_EQ(run(folder_, {"report", file, "-o", folder_ / "b.html"}).exit_code, 0);
  EXPECT_EQ(page, content(folder_ / "b.html"));
}

TEST_F(ReportCommand, writes_markdown_with_figures) {
  const fs::path file = collected();
  expect_exit(0, run(folder_, {"report", file, "-o", folder_ / "a.md"}));
  const std::string text = content(folder_ / "a.md");
  const std::regex beside("<(a-figures/[a-z0-9-]+[.](svg|csv))>");
  std::set<std::string> kinds;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), beside); at != std::sregex_iterator(); ++at) {
    const bool picture = (*at)[2].str() == "svg";
    EXPECT_EQ(content(folder_ / (*at)[1].str()).starts_with("<svg xmlns="), picture);
    kinds.insert((*at)[2].str());
  }
  EXPECT_THAT(kinds, ::testing::ElementsAre("csv", "svg"));
  EXPECT_THAT(content(folder_ / "a-figures/points.csv"), ::testing::StartsWith("row,run,point,n,d,outcome,"));
  // A second report replaces the first, unless the disk is full.
  expect_error(1, run(folder_, {"report", file, "-o", folder_ / "a.md"}, {.file_size_limit = 2000}));
  EXPECT_EQ(content(folder_ / "a.md"), text);
  expect_exit(0, run(folder_, {"report", file, "-o", folder_ / "a.md", "--title", "Another"}));
  EXPECT_THAT(content(folder_ / "a.md"), ::testing::StartsWith("# Another"));
}

TEST_F(ReportCommand, sample_report_matches_sample) {
  expect_exit(0, run(folder_, {"report", ATTNSCOPE_SAMPLE, "-o", folder_ / "h200.md"}));
  const fs::path shipped = fs::path(ATTNSCOPE_SAMPLE).parent_path().parent_path() / "report/h200.md";
  EXPECT_TRUE(content(folder_ / "h200.md") == content(shipped)) << "run assets/samples/derive.sh";
}

TEST_F(ReportCommand, filter_is_applied_and_named) {
  const std::vector<std::string> narrowed{"report", ATTNSCOPE_SAMPLE, "--filter", "algo:fa2 d:128 N>=4096 status:ok"};
  const auto with = [](std::vector<std::string> arguments, const std::vector<std::string>& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  expect_exit(0, run(folder_, with(narrowed, {"-o", folder_ / "a.md"})));
  const std::string text = content(folder_ / "a.md");
  // Equal to the number of points of `export --filter`.
  const Outcome table = run(folder_, {"export", ATTNSCOPE_SAMPLE, "--filter", narrowed.back(), "--format", "json"});
  std::set<std::pair<std::int64_t, std::int64_t>> points;
  const nlohmann::json exported = nlohmann::json::parse(table.out);
  for (const nlohmann::json& row : exported.at("points")) {
    EXPECT_EQ(row.at("algorithm"), "fa2");
    EXPECT_EQ(row.at("d"), 128);
    EXPECT_GE(row.at("n_k").get<std::int64_t>(), 4096);
    points.emplace(row.at("run"), row.at("point"));
  }
  ASSERT_GT(points.size(), 5U);
  EXPECT_THAT(text, HasSubstr(": " + std::to_string(points.size()) + " of 911 "));
  const std::string table_of_points = content(folder_ / "a-figures/points.csv");
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(table_of_points, '\n')), points.size() + 1);
  EXPECT_THAT(table_of_points, Not(HasSubstr("naive")));
  const Outcome none =
      expect_exit(1, run(folder_, {"report", ATTNSCOPE_SAMPLE, "--filter", "N>1e9", "-o", folder_ / "b.md"}));
  EXPECT_THAT(none.err, HasSubstr("'N>1e9'"));
  EXPECT_EQ(run(folder_, {"report", ATTNSCOPE_SAMPLE, "--filter", "N>", "-o", folder_ / "b.md"}).exit_code, 2);
  const Outcome lost = expect_exit(
      1, run(folder_, {"report", ATTNSCOPE_SAMPLE, "--filter", "pass:bwd", "--baseline", "1", "-o", folder_ / "b.md"}));
  EXPECT_THAT(lost.err, HasSubstr("--baseline: '1'"));
  EXPECT_FALSE(fs::exists(folder_ / "b.md"));
}

TEST_F(ReportCommand, accepts_files_of_several_devices) {
  expect_exit(0,
              run(folder_, {"report", collected(), collected("simulated:NVIDIA A100 80GB"), "-o", folder_ / "a.html"}));
  EXPECT_THAT(content(folder_ / "a.html"),
              AllOf(HasSubstr("H200"), HasSubstr("A100"), HasSubstr("1.attnscope"), HasSubstr("2.attnscope")));
}

TEST_F(ReportCommand, baseline_and_candidate_in_one_report) {
  const fs::path before = imported("before", "GPU X,mine,512,16,64,1000\nGPU X,mine,1024,16,64,4000\n");
  const fs::path after =
      imported("after", "GPU X,mine,512,16,64,1200\nGPU X,mine,1024,16,64,4010\nGPU X,mine,2048,16,64,9000\n");
  const fs::path page = folder_ / "a.html";
  expect_exit(0, run(folder_, {"report", after, "--baseline", before, "-o", page}));
  const std::string text = content(page);
  EXPECT_THAT(text,
              AllOf(HasSubstr("after against before: 1 of 2 configurations is SLOWER, by 20% (N 512). 1 UNDECIDED."),
                    HasSubstr("not compared 1."), HasSubstr("1.200 [1.143, 1.260]"),
                    HasSubstr("<h1>after against before, GPU X</h1>")));
  // The same with run numbers, and with the files in either order.
  EXPECT_EQ(run(folder_, {"report", before, after, "--baseline", before.string() + ":1", "-o", page}).exit_code, 0);
  EXPECT_EQ(text, content(page));
}

TEST_F(ReportCommand, shows_progress_on_a_terminal) {
  if (!fs::exists("/usr/bin/script")) GTEST_SKIP() << "no script here (bsdutils)";
  const fs::path page = folder_ / "a.html";
  const std::string command = fmt::format("{} report {} -o {}", ATTNSCOPE_PROGRAM, ATTNSCOPE_SAMPLE, page.string());
  const Outcome outcome = run(folder_, {"-qec", command, "/dev/null"}, {.program = "/usr/bin/script"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("Analyzing 911 points"), ::testing::EndsWith("\r\033[K")));
}

TEST_F(ReportCommand, rejects_noise_of_other_files) {
  const fs::path before = imported("before", "GPU X,mine,512,16,64,1000\n");
  const fs::path after = imported("after", "GPU X,mine,512,16,64,1200\n");
  const std::vector<std::string> arguments{"report", after, "-o", folder_ / "a.html", "--noise", before};
  EXPECT_EQ(run(folder_, arguments).exit_code, 2) << "no --baseline";
  std::vector<std::string> compared = arguments;
  compared.insert(compared.end(), {"--baseline", before});
  EXPECT_THAT(expect_error(1, run(folder_, compared)).err, HasSubstr("has no noise floor"));
}

#ifdef ATTNSCOPE_FAKE_GPU_LIBRARY
TEST_F(ReportCommand, uses_noise_of_another_file) {
  const Process::Options gpu = on_fake_gpu();
  const std::vector<std::string> points{"-a", "algorithm=naive", "-a", "N=[128,256]", "-a", "d=64", "-a", "heads=1"};
  const auto recorded = [&](const std::string& name) {
    const fs::path file = folder_ / (name + ".attnscope");
    std::vector<std::string> arguments{"collect", "-q", "--no-verify", "--rounds", "5", "-d", "gpu", "-o", file};
    arguments.insert(arguments.end(), points.begin(), points.end());
    expect_exit(0, run(folder_, arguments, gpu));
    return file;
  };
  const fs::path before = recorded("before");
  const fs::path after = recorded("after");
  const fs::path noise = folder_ / "noise.attnscope";
  std::vector<std::string> measured{"doctor", "--noise", "--device", "0", "--recordings", "4", "-o", noise};
  measured.insert(measured.end(), points.begin(), points.end());
  ASSERT_EQ(run(folder_, measured, gpu).exit_code, 0);
  const fs::path page = folder_ / "a.html";
  const std::string calibrated = "measured noise between recordings: 2.";
  expect_exit(0, run(folder_, {"report", after, "--baseline", before, "-o", page}));
  EXPECT_THAT(content(page), Not(HasSubstr(calibrated)));
  expect_exit(0, run(folder_, {"report", after, "--baseline", before, "--noise", noise, "-o", page}));
  EXPECT_THAT(content(page), HasSubstr(calibrated));
}
#endif

TEST_F(ReportCommand, folders_distinguish_files_of_one_name) {
  for (const char* name : {"before", "after"}) {
    fs::create_directory(folder_ / name);
    fs::rename(imported(name, "GPU X,mine,512,16,64,1000\n"), folder_ / name / "runs.attnscope");
  }
  const fs::path page = folder_ / "a.html";
  expect_exit(0, run(folder_, {"report", folder_ / "after" / "runs.attnscope", "--baseline",
                               folder_ / "before" / "runs.attnscope", "-o", page}));
  EXPECT_THAT(content(page), AllOf(HasSubstr("before/runs.attnscope"), HasSubstr("after/runs.attnscope")));
}

TEST_F(ReportCommand, rejects_invalid_baseline) {
  const fs::path before = imported("before", "GPU X,mine,512,16,64,1000\n");
  const fs::path after = imported("after", "GPU X,mine,1024,16,64,1000\n");
  const fs::path page = folder_ / "a.html";
  struct Case {
    std::vector<std::string> files;
    std::string baseline;
    int code;
    std::string says;
  };
  const std::vector<Case> cases{{{before, after}, "9", 2, "'9'"},
                                {{before, after}, before.string() + ":2", 2, "`attnscope info`"},
                                {{before, after}, "nobody.attnscope", 2, "`attnscope info`"},
                                {{before, after}, "1", 2, "FILE:1"},
                                {{before}, before, 2, "all points"},
                                {{before}, "1", 2, "all points"}};
  const std::vector<std::string> there = names();
  for (const Case& each : cases) {
    std::vector<std::string> arguments{"report", "-o", page, "--baseline", each.baseline};
    arguments.insert(arguments.end(), each.files.begin(), each.files.end());
    EXPECT_THAT(expect_error(each.code, run(folder_, arguments)).err, HasSubstr(each.says));
  }
  EXPECT_EQ(names(), there);
  // Without matching points, the report is written and contains the warning.
  EXPECT_THAT(expect_error(5, run(folder_, {"report", before, after, "--baseline", before, "-o", page})).err,
              HasSubstr("No comparison: after and the baseline before "));
  EXPECT_THAT(content(page), HasSubstr(">No comparison: after and the baseline before "));
}

TEST_F(ReportCommand, ignores_repeated_files) {
  const fs::path file = collected();
  ASSERT_EQ(run(folder_, {"report", file, "-o", folder_ / "a.html"}).exit_code, 0);
  const fs::path copy = folder_ / "copy.attnscope";
  fs::copy_file(file, copy);
  ASSERT_EQ(run(folder_, {"report", file, copy, "-o", folder_ / "b.html"}).exit_code, 0);
  const auto rows = [&](const char* name) {
    const std::string text = content(folder_ / name);
    std::size_t count = 0;
    for (std::size_t at = text.find("<tr id=\"row-"); at != std::string::npos; at = text.find("<tr id=\"row-", at + 1))
      ++count;
    return count;
  };
  EXPECT_GT(rows("a.html"), 5U);
  EXPECT_EQ(rows("a.html"), rows("b.html"));
}

TEST_F(ReportCommand, reports_failures_only) {
  const fs::path file = folder_ / "f.attnscope";
  const Outcome collected = run(folder_, {"collect", "-q", "--device", "simulated", "-a", "N=[128,256]", "-a", "d=64",
                                          "-a", "br=4096", "-a", "bc=4096", "--algorithms", "fa2", "-o", file});
  ASSERT_TRUE(fs::exists(file)) << collected.err;
  expect_exit(0, run(folder_, {"report", file, "-o", folder_ / "a.html"}));
  EXPECT_THAT(content(folder_ / "a.html"), HasSubstr("2 of 2 "));
}

TEST_F(ReportCommand, rejects_invalid_arguments) {
  const fs::path file = collected();
  RunStore::create(folder_ / "empty.attnscope", [](RunStore&) {});
  fs::create_directory(folder_ / "folder.html");
  std::ofstream(folder_ / "taken-figures") << "somebody's";
  struct Case {
    std::vector<std::string> arguments;
    int code;
    std::string says;
  };
  const std::vector<Case> cases{
      {{file, "-o", folder_ / "a.pdf"}, 2, ".html or .md"},
      {{folder_ / "empty.attnscope", "-o", folder_ / "a.html"}, 1, "no point"},
      {{folder_ / "none.attnscope", "-o", folder_ / "a.html"}, 1, "does not exist"},
      {{file, "-o", folder_ / "nowhere" / "a.html"}, 1, "cannot write"},
      {{file, "-o", folder_ / "folder.html"}, 1, "folder.html"},
      {{file, "-o", folder_ / "taken.md"}, 1, "File exists"},
      {{file, "-o", file}, 2, "measurements"},
  };
  const std::vector<std::string> before = names();
  for (const Case& each : cases) {
    std::vector<std::string> arguments{"report"};
    arguments.insert(arguments.end(), each.arguments.begin(), each.arguments.end());
    EXPECT_THAT(expect_error(each.code, run(folder_, arguments)).err, HasSubstr(each.says));
  }
  EXPECT_EQ(names(), before) << "no partial file";
}

TEST_F(ReportCommand, full_disk_leaves_no_file) {
  const fs::path file = collected();
  const std::vector<std::string> before = names();
  for (const char* name : {"a.html", "a.md"}) {
    expect_error(1, run(folder_, {"report", file, "-o", folder_ / name}, {.file_size_limit = 4096}));
    EXPECT_EQ(names(), before);
  }
}

TEST_F(ReportCommand, tooltips_match_the_export) {
  const std::optional<fs::path> program = browser();
  if (!program) GTEST_SKIP() << "no chromium here";
  const fs::path file = collected();
  ASSERT_EQ(run(folder_, {"report", file, "-o", folder_ / "a.html"}).exit_code, 0);
  // Simulates a reader: hovers over every mark, uses the keys, clicks a column header.
  std::string page = content(folder_ / "a.html");
  const std::size_t end = page.rfind("</body>");
  ASSERT_NE(end, std::string::npos);
  page.insert(end, R"(<script>window.addEventListener('load',function(){var out=[];
document.querySelectorAll('figure').forEach(function(f){f.querySelectorAll('svg .m').forEach(function(m){
m.firstElementChild.dispatchEvent(new MouseEvent('mouseover',{bubbles:true}));out.push(f.querySelector('.said').textContent)});
var s=f.querySelector('svg');s.dispatchEvent(new KeyboardEvent('keydown',{key:'Home',bubbles:true}));out.push('home '+f.querySelector('.said').textContent)});
var h=document.querySelectorAll('#points th button')[6];h.click();
var c=document.querySelectorAll('#points tbody tr td:nth-child(7)');out.push('first '+c[0].getAttribute('data-v'));
document.querySelector('a[href^="#row-"]').click();out.push('open '+document.getElementById('appendix').open);
var r=performance.getEntriesByType('resource');out.push('requests '+r.length);
var p=document.createElement('pre');p.id='heard';p.textContent='\n'+out.join('\n')+'\n';document.body.appendChild(p)})</script>)");
  std::ofstream(folder_ / "b.html") << page;
  const Outcome seen = expect_exit(
      0, run(folder_, headless({"--dump-dom", "file://" + (folder_ / "b.html").string()}), {.program = *program}));
  EXPECT_EQ(seen.err.find("CONSOLE"), std::string::npos) << seen.err;
  const std::size_t begin = seen.out.find("id=\"heard\"");
  ASSERT_NE(begin, std::string::npos);
  const std::string heard = seen.out.substr(begin);
  EXPECT_THAT(heard, AllOf(HasSubstr("requests 0\n"), HasSubstr("home "), HasSubstr("open true\n")));
  const Outcome exported = run(folder_, {"export", "--format", "json", file});
  const nlohmann::json points = nlohmann::json::parse(exported.out)["points"];
  std::size_t compared = 0;
  double shortest = 1e300;
  for (const nlohmann::json& point : points) {
    if (point.value("kernel", "all") != "all" || !point["time_median_ns"].is_number()) continue;
    const auto time = point["time_median_ns"].get<double>();
    shortest = std::min(shortest, time);
    std::string value = nlohmann::json(time).dump();
    if (value.ends_with(".0")) value.resize(value.size() - 2);
    EXPECT_THAT(heard, HasSubstr(": " + value + " ns (")) << point["algorithm"];
    ++compared;
  }
  EXPECT_GT(compared, 5U);
  const std::size_t first = heard.find("\nfirst ");
  ASSERT_NE(first, std::string::npos);
  EXPECT_NEAR(std::stod(heard.substr(first + 7)), shortest, 1e-9 * shortest) << "sorted";
}

TEST_F(ReportCommand, prints_on_few_pages) {
  const std::optional<fs::path> program = browser();
  if (!program) GTEST_SKIP() << "no chromium here";
  if (!fs::exists("/usr/bin/pdftotext") || !fs::exists("/usr/bin/pdfinfo"))
    GTEST_SKIP() << "no pdftotext here (poppler-utils)";
  const std::string header = "device,algorithm,N,heads,d,br,bc,round,time_ns\n";
  const auto sweep = [&](const std::string& name, double factor) {
    std::string rows_of_file;
    for (const char* algorithm : {"one", "two", "three"}) {
      for (const int n : {512, 1024, 2048, 4096, 8192}) {
        for (int round = 0; round < 5; ++round)
          rows_of_file += fmt::format("GPU X,{},{},16,64,64,64,{},{}\n", algorithm, n, round,
                                      n * 1000 * factor * (1 + 0.001 * ((round * 7 + n) % 5)));
      }
    }
    const fs::path table = folder_ / (name + ".csv");
    std::ofstream(table) << header << rows_of_file;
    const fs::path file = folder_ / (name + ".attnscope");
    EXPECT_EQ(run(folder_, {"import", table, "-o", file}).exit_code, 0);
    return file;
  };
  struct Case {
    std::vector<std::string> arguments;
    int most_pages;
    std::string on_first_page;
  };
  const std::vector<Case> cases{
      {{ATTNSCOPE_SAMPLE}, 4, "Naive moves"},
      {{sweep("after", 1.1), "--baseline", sweep("before", 1)}, 6, "15 of 15 configurations are SLOWER"},
      {{ATTNSCOPE_SAMPLE, "--baseline", ATTNSCOPE_SECOND_SAMPLE}, 8, "configurations is SLOWER"}};
  for (const Case& each : cases) {
    std::vector<std::string> arguments{"report", "-o", folder_ / "a.html"};
    arguments.insert(arguments.end(), each.arguments.begin(), each.arguments.end());
    expect_exit(0, run(folder_, arguments));
    const fs::path pdf = folder_ / "a.pdf";
    const Outcome printed = run(folder_,
                                headless({"--no-pdf-header-footer", "--print-to-pdf=" + pdf.string(),
                                          "file://" + (folder_ / "a.html").string()}),
                                {.program = *program});
    ASSERT_TRUE(fs::exists(pdf)) << printed.err;
    const Outcome info = run(folder_, {pdf}, {.program = "/usr/bin/pdfinfo"});
    std::smatch pages;
    ASSERT_TRUE(std::regex_search(info.out, pages, std::regex("Pages: +([0-9]+)"))) << info.out;
    EXPECT_LE(std::stoi(pages[1]), each.most_pages) << each.on_first_page;
    EXPECT_THAT(info.out, HasSubstr("(A4)"));
    const Outcome read = run(folder_, {"-layout", pdf, "-"}, {.program = "/usr/bin/pdftotext"});
    const std::string first_page = read.out.substr(0, read.out.find('\f'));
    EXPECT_THAT(first_page, HasSubstr(each.on_first_page));
    EXPECT_THAT(first_page, HasSubstr("Recorded ")) << "what was measured";
    EXPECT_THAT(read.out, Not(HasSubstr("Files: "))) << "the appendix is hidden";
  }
}

}  // namespace
}  // namespace attnscope::testing
