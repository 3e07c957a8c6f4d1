// SPDX-License-Identifier: Apache-2.0
// Opens hostile files with the command line and the window: damaged files, hostile schemas, and valid files (with
// matching checksums) whose texts are markup, formulas, escape sequences and paths. A case fails if a program crashes,
// takes longer than 20 s or more than 3 GiB, opens or runs a file that a text names, or outputs a text as anything but
// text. The file is then kept.
#include <fmt/format.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>
#include <thread>

#include "cases.h"
#include "damages.h"
#include "storage/run_store.h"
#include "tests/app/subprocess.h"
#include "tests/storage/samples.h"

namespace attnscope::testing {

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr int max_seconds = 20;
constexpr long max_kib = 3L << 20;
constexpr const char* trap = "canary";  ///< Occurs in every path in a hostile text.

struct Options {
  fs::path program = sibling_file("attnscope", ATTNSCOPE_PROGRAM);
  fs::path window = sibling_file("attnscope-gui", ATTNSCOPE_WINDOW);
  fs::path keep = "kept-cases";
  std::uint64_t seed = 0;
  long first = 0;
  long count = 100;
  double hours = 0;
  unsigned jobs = 1;
};

// Hostile contents

/// `folder`: location of the trap files.
std::string hostile_text(Random& random, const fs::path& folder) {
  const std::string name = (folder / trap).string();
  const std::string texts[] = {
      fmt::format("<img src=\"file://{}/a.png\">", name),
      fmt::format("<img src='{}/a.png'/><b>bold</b>", name),
      fmt::format("<a href=\"file://{}/a.png\">look</a>", name),
      fmt::format("<html><body background=\"{}/a.png\"><script src=\"{}/a.png\"></script>", name, name),
      fmt::format("</text><image xlink:href=\"file://{}/a.png\" width=\"9\" height=\"9\"/><text>", name),
      fmt::format("<!DOCTYPE x [<!ENTITY e SYSTEM \"file://{}/a.png\">]>&e;", name),
      fmt::format("<style>@import url(file://{}/a.css); p {{ background: url({}/a.png) }}</style>", name, name),
      fmt::format("=HYPERLINK(\"file://{}/a.png\")", name),
      fmt::format("file://{}/a.png", name),
      fmt::format("{}/a.png", name),
      fmt::format("![x]({}/a.png) | cell | `code`", name),
      fmt::format("$({}/run); `{}/run` || {}/run", name, name, name),
      "http://127.0.0.1:9/canary.png",
      "<b>&lt;img&gt;&amp;&#0;&nbsp;",
      "@SUM(1+1)*cmd|'/C calc'!A0",
      "+1+1",
      "-2+3",
      "\x1b[2J\x1b]0;title\x07\x1b[31mred",
      "carriage\rreturn\nand\tlines\vand\fpages",
      "\xe2\x80\xae"
      "backwards\xe2\x81\xa6\xef\xbb\xbf",
      "%1 %2 %n %s %99$s {0} {n} {bytes:,} &x \\n \\x00",
      "'; DROP TABLE points; --",
      std::string(60'000, 'W'),
      std::string(300, '&'),
      "\xf0\x9f\x92\xa3\xcc\xa7\xcc\xa7\xcc\xa7\xcc\xa7\xcc\xa7",
      "",
      " ",
      "-",
  };
  return texts[below(random, std::size(texts))];
}

/// A child forked by another case holds copies of all descriptors, including their locks, until exec.
RunStore opened(const fs::path& file) {
  for (;;) {
    try {
      return RunStore::open(file, RunStore::Mode::collect);
    } catch (const FileError& error) {
      if (error.kind() != FileError::Kind::locked) throw;
      std::this_thread::yield();
    }
  }
}

void write_hostile(const fs::path& file, Random& random, const fs::path& folder) {
  const auto maybe = [&](std::string& text) {
    if (below(random, 3) == 0) text = hostile_text(random, folder);
  };
  RunStore store = opened(file);
  for (std::size_t run = 0; run < 1 + below(random, 3); ++run) {
    RunHeader header = full_header();
    header.device.simulated = below(random, 4) == 0;
    header.imported = below(random, 3) == 0;
    for (std::string* text :
         {&header.device.uuid, &header.device.limits.name, &header.environment.app_version,
          &header.environment.driver_version, &header.environment.cuda_driver_api, &header.environment.nvrtc_version,
          &header.environment.cupti_version, &header.environment.nvml_version, &header.environment.operating_system,
          &header.preset, &header.plan_hash, &header.simulation_reason, &header.device.l2_source,
          &header.device.rates_source}) {
      maybe(*text);
    }
    for (std::string& word : header.argv) maybe(word);
    for (std::string& name : header.options.extra_metrics) maybe(name);
    try {
      const std::int64_t id = store.begin_run(header);
      const std::string algorithm = below(random, 2) == 0 ? "fa2" : hostile_text(random, folder);
      for (std::size_t i = 0; i < 2 + below(random, 10); ++i) {
        PointRecord record = below(random, 3) == 0 ? full_record() : simple_record(64 + static_cast<std::int64_t>(i));
        record.spec.algorithm = algorithm;
        if (record.kernels.size() == 1) {  // gives curves data to draw
          const double bytes = 1e6 * static_cast<double>(i + 1);
          record.kernels[0].metrics.push_back({"dram_read_bytes", bytes, "byte", Provenance::measured});
          record.kernels[0].metrics.push_back({"dram_write_bytes", bytes / 2, "byte", Provenance::measured});
        }
        if (below(random, 3) == 0) record.reason = Message::verbatim(hostile_text(random, folder));
        for (KernelRecord& kernel : record.kernels) {
          if (kernel.kernel != "all") maybe(kernel.kernel);
          maybe(kernel.occupancy_limiter);
          for (MetricValue& metric : kernel.metrics) {
            if (below(random, 6) == 0) metric.name = hostile_text(random, folder);
            if (below(random, 6) == 0) metric.unit = hostile_text(random, folder);
          }
          if (!kernel.launch) continue;
          for (std::string* text : {&kernel.launch->kernel, &kernel.launch->source_file, &kernel.launch->entry}) {
            maybe(*text);
          }
          for (std::string& define : kernel.launch->defines) maybe(define);
        }
        try {
          store.add_point(id, i, record);
        } catch (const FileError&) {  // invalid record; continue with the others
        }
      }
      store.finish_run(id, StoredRunState::complete);
    } catch (const FileError&) {
    }
  }
}

// Readers

struct Viewer {
  const char* name;
  bool window;
  std::vector<const char*> words;  ///< FILE: hostile file; OUT/...: output file.
};

const Viewer viewers[] = {
    {"info", false, {"info", "FILE"}},
    {"info-json", false, {"info", "FILE", "--json"}},
    {"export", false, {"export", "FILE"}},
    {"export-long", false, {"export", "FILE", "--long"}},
    {"export-json", false, {"export", "FILE", "--format", "json"}},
    {"copy", false, {"export", "FILE", "--format", "attnscope", "-o", "OUT/copy.attnscope"}},
    {"merge", false, {"merge", "-o", "OUT/m.attnscope", "FILE"}},
    {"check", false, {"check", "FILE"}},
    {"paper", false, {"paper", "FILE", "--csv"}},
    {"resume",
     false,
     {"collect", "--device", "simulated", "-a", "N=64", "-q", "--csv", "--resume", "-o", "OUT/c.attnscope"}},
    {"page-io", true, {"FILE", "--screenshot", "OUT/io.png", "--page", "io"}},
    {"page-tiles", true, {"FILE", "--screenshot", "OUT/tiles.png", "--page", "tiles", "--theme", "dark"}},
    {"page-table", true, {"FILE", "--screenshot", "OUT/table.png", "--page", "table", "--size", "1024x600"}},
    {"plots", true, {"FILE", "--plots", "OUT/plots"}},
};

Words words_of(const Viewer& viewer, const fs::path& file, const fs::path& out) {
  Words all;
  for (const std::string_view word : viewer.words) {
    all.push_back(word == "FILE"             ? file.string()
                  : word.starts_with("OUT/") ? (out / word.substr(4)).string()
                                             : std::string(word));
  }
  return all;
}

bool is_control_character(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == '\x7f';
}

/// Returns true for lines that the program begins itself; a text with a line break would begin others.
bool is_diagnostic(std::string_view line) {
  return std::ranges::any_of(std::initializer_list<std::string_view>{"error: ", "warning: ", "info: "},
                             [&](std::string_view severity) { return line.starts_with(severity); });
}

/// Returns true if a cell would be a formula in a spreadsheet.
bool has_formula(const std::string& csv) {
  for (const char* formula : {"=HYPERLINK", "@SUM"}) {
    for (const char* before : {"\n", ",", "\n\"", ",\""}) {
      if (csv.find(std::string(before) + formula) != std::string::npos) return true;
    }
  }
  return false;
}

void judge_output(const Viewer& viewer, const Outcome& outcome) {
  const std::string_view name = viewer.name;
  require(std::ranges::none_of(outcome.err, is_control_character), "stderr contains control characters");
  std::istringstream lines(outcome.err);
  for (std::string line; std::getline(lines, line) && !name.starts_with("info");) {  // info lists what it skips
    require(is_diagnostic(line), "stderr line without its severity: " + line);
  }
  if (name == "info" || name == "check" || name == "paper" || name == "resume") {
    require(std::ranges::none_of(outcome.out, is_control_character), "stdout contains control characters");
  }
  if (name.starts_with("export") && name != "export-json") require(!has_formula(outcome.out), "a cell is a formula");
}

void judge_pictures(const fs::path& out) {
  for (const auto& entry : fs::recursive_directory_iterator(out)) {
    if (entry.path().extension() != ".svg") continue;
    const std::string picture = content(entry.path());
    for (const char* markup : {"<img", "<script", "<!ENTITY", "xlink:href=\"file", "href=\"http", "<style>@import"}) {
      require(picture.find(markup) == std::string::npos,
              fmt::format("{} contains {}", entry.path().filename().string(), markup));
    }
  }
}

class Campaign {
 public:
  Campaign(const Options& options, CaseReport& account) : options_(options), account_(account) {
    const TemporaryFolder folder;
    write_whole(folder / "whole.attnscope");
    whole_ = content(folder / "whole.attnscope");
  }

  void run_case(long index) {
    Random random = random_of_case(options_.seed, static_cast<std::uint64_t>(index));
    const TemporaryFolder folder;
    fs::create_directory(folder / trap);
    ::mkfifo((folder / trap / "a.png").c_str(), 0600);  // opening it blocks forever
    std::ofstream(folder / trap / "run") << "#!/bin/sh\ntouch " << (folder / "ran") << '\n';
    fs::permissions(folder / trap / "run", fs::perms::owner_all);
    const fs::path made = folder / "made";
    fs::create_directory(made);
    const fs::path file = made / "hostile.attnscope";
    if (below(random, 3) == 0) {
      damage(file, whole_, random);
    } else {
      write_hostile(file, random, folder.path());
      const std::size_t more = below(random, 4);
      if (more == 0) change_rows(file, random);
      if (more == 1) change_schema(file, random, folder / trap / "run");
    }
    // A window takes as long as ten commands.
    constexpr auto is_window = [](const Viewer& viewer) { return viewer.window; };
    const auto windows = static_cast<std::size_t>(std::ranges::count_if(viewers, is_window));
    const std::size_t commands = std::size(viewers) - windows;
    const std::size_t command = below(random, commands);
    const std::size_t window = commands + below(random, windows);
    for (const std::size_t which : {command, (command + 1) % commands, (command + 2) % commands, window}) {
      if (viewers[which].window && !fs::exists(options_.window)) continue;
      account_.tried();
      try {
        judge(viewers[which], folder, file);
      } catch (const std::exception& wrong) {
        account_.failed(fmt::format("hostile-{}-{}-{}", options_.seed, index, viewers[which].name), wrong.what(), made);
      }
    }
  }

 private:
  /// Runs in a shell that limits time and memory.
  [[nodiscard]] Outcome show(const Viewer& viewer, const TemporaryFolder& home, const fs::path& file,
                             const fs::path& out) const {
    const fs::path& program = viewer.window ? options_.window : options_.program;
    Words words{"-c", fmt::format("ulimit -v {}; exec timeout -s KILL {} \"$0\" \"$@\"", max_kib, max_seconds),
                program};
    if (viewer.name == std::string_view("resume")) fs::copy_file(file, out / "c.attnscope");
    for (const std::string& word : words_of(viewer, file, out)) words.push_back(word);
    return run(home, words, {.environment = {{"QT_QPA_PLATFORM", "offscreen"}}, .program = "/bin/sh"});
  }

  void judge(const Viewer& viewer, const TemporaryFolder& folder, const fs::path& file) const {
    const fs::path out = folder / fmt::format("out-{}", viewer.name);
    fs::create_directory(out);
    const std::string before = content(file);
    const Outcome outcome = show(viewer, folder, file, out);
    require(content(file) == before, "the input file changed");
    require(outcome.exit_code != 137, fmt::format("longer than {} s", max_seconds));
    require(outcome.exit_code >= 0 && outcome.exit_code < 128, fmt::format("exit code {}", outcome.exit_code));
    judge_output(viewer, outcome);
    judge_pictures(out);
    require(!fs::exists(folder / "ran"), "a program named in a text was run");
  }

  const Options& options_;
  CaseReport& account_;
  std::string whole_;
};

}  // namespace

int run_hostile(int argc, char** argv) {
  CLI::App app("Opens hostile files with the command line and the window.");
  Options options;
  options.seed = std::random_device()() % 1'000'000;
  app.add_option("--program", options.program, "attnscope program")->capture_default_str();
  app.add_option("--window", options.window, "attnscope-gui program; skipped if absent")->capture_default_str();
  app.add_option("--seed", options.seed, "Seed of the cases (default: random)");
  app.add_option("--first", options.first, "First case")->capture_default_str();
  app.add_option("--count", options.count, "Number of files")->capture_default_str();
  app.add_option("--hours", options.hours, "Minimum duration in hours");
  app.add_option("--jobs", options.jobs, "Concurrent cases")->check(CLI::Range(1U, 1024U));
  app.add_option("--keep", options.keep, "Folder for files of failed cases")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  std::cout << fmt::format("seed {}: {} files from case {}\n", options.seed, options.count, options.first)
            << std::flush;
  CaseReport account(options.keep);
  Campaign campaign(options, account);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double, std::ratio<3600>>(options.hours);
  for_each_case(
      options.jobs, [&](long n) { return n < options.count || std::chrono::steady_clock::now() < end; },
      [&](long n) { campaign.run_case(options.first + n); });
  std::cout << fmt::format("{} checks, {} failures\n", account.cases(), account.failures());
  return account.failures() == 0 ? 0 : 1;
}

}  // namespace attnscope::testing
