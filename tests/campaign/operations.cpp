// SPDX-License-Identifier: Apache-2.0
#include "operations.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <sstream>

#include "profiler/worker/protocol.h"
#include "storage/run_store.h"
#include "tests/app/findings.h"

namespace attnscope::testing {
namespace {

namespace fs = std::filesystem;
using Mode = RunStore::Mode;

Words sweep(const Fixture& fixture, const std::string& lengths, const fs::path& file) {
  Words words{"collect", "--device",     fixture.device, "-a", "N=" + lengths, "-a",
              "heads=2", "--algorithms", "fa1,fa2",      "-o", file.string()};
  if (fixture.device != "simulated") words.emplace_back("--no-counters");
  return words;
}

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

constexpr std::size_t imported_points = 2;

std::vector<std::string> sorted(std::vector<std::string> lines) {
  std::ranges::sort(lines);
  return lines;
}

void require_printed_points(const fs::path& file, const std::string& out, CaseReport& account) {
  std::istringstream lines(out.substr(0, out.rfind('\n') + 1));
  std::vector<std::int64_t> printed;
  for (std::string line; std::getline(lines, line);) {
    const Result<Event, Message> event = parse_event(line);
    if (event.ok() && std::holds_alternative<PointEvent>(*event))
      printed.push_back(std::get<PointEvent>(*event).point_id);
  }
  std::set<std::int64_t> stored;
  if (fs::exists(file)) {
    for (const StoredPoint& point : RunStore::open(file, Mode::read_only).points()) stored.insert(point.id);
  }
  const std::size_t printed_count = printed.size();
  std::erase_if(printed, [&](std::int64_t id) { return stored.contains(id); });
  account.add_announced(printed_count, printed.size());
  require(printed.empty(), fmt::format("{} printed points are lost", printed.size()));
}

/// Checks that the earlier points of a file are unchanged.
void require_findings(const fs::path& file, const std::vector<std::string>& wanted) {
  std::vector<std::string> found = findings(file);
  require(found.size() >= wanted.size(), fmt::format("{} of {} earlier points are left", found.size(), wanted.size()));
  found.resize(wanted.size());
  require(found == wanted, "earlier points changed");
}

void require_sweep(const Fixture& fixture, const fs::path& file, std::size_t runs) {
  const RunStore store = RunStore::open(file, Mode::read_only);
  const std::vector<RunSummary> found = store.runs();
  require(found.size() == runs, fmt::format("{} runs instead of {}", found.size(), runs));
  require(found.back().state == StoredRunState::complete, "the run is incomplete");
  std::vector<std::string> points = findings(file);
  require(points.size() >= fixture.swept.size(), "points are missing");
  points.erase(points.begin(), points.end() - static_cast<std::ptrdiff_t>(fixture.swept.size()));
  require(points == fixture.swept, "points differ from an undisturbed sweep");
}

std::size_t points_of(const fs::path& file) {
  return RunStore::open(file, Mode::read_only).points().size();
}

Operation collecting(bool into_compact_copy) {
  const auto file = [](const fs::path& folder) { return folder / "run.attnscope"; };
  Operation operation;
  operation.name = into_compact_copy ? "collect-into" : "collect";
  operation.prepare = [=](const Fixture& fixture, const fs::path& folder) {
    if (into_compact_copy) fs::copy_file(fixture.compact, file(folder));
  };
  operation.words = [=](const Fixture& fixture, const fs::path& folder) {
    return disturbed_sweep(fixture, file(folder));
  };
  operation.judge = [=](const Fixture& fixture, const fs::path& folder, const std::string& out, CaseReport& account) {
    require_printed_points(file(folder), out, account);
    if (into_compact_copy) require_findings(file(folder), findings(fixture.compact));
  };
  operation.again = [=](const Fixture& fixture, const fs::path& folder) {
    return sweep(fixture, "[16:64:16]", file(folder)) + Words{"-q", "--resume"};
  };
  operation.judge_again = [=](const Fixture& fixture, const fs::path& folder) {
    require_sweep(fixture, file(folder), into_compact_copy ? 2 : 1);
    if (into_compact_copy) require_findings(file(folder), findings(fixture.compact));
  };
  operation.files = {"run.attnscope"};
  return operation;
}

Operation importing(bool into_file) {
  const auto file = [](const fs::path& folder) { return folder / "run.attnscope"; };
  Operation operation;
  operation.name = into_file ? "import-into" : "import";
  operation.prepare = [=](const Fixture& fixture, const fs::path& folder) {
    if (into_file) fs::copy_file(fixture.earlier, file(folder));
  };
  operation.words = [=](const Fixture& fixture, const fs::path& folder) {
    return Words{"import", fixture.table, "-a", "cache=cold", "-o", file(folder)};
  };
  operation.judge = [=](const Fixture& fixture, const fs::path& folder, const std::string& out, CaseReport&) {
    if (!into_file && !fs::exists(file(folder))) return require(out.empty(), "the import was reported but is lost");
    const std::size_t before = into_file ? findings(fixture.earlier).size() : 0;
    if (into_file) require_findings(file(folder), findings(fixture.earlier));
    const std::size_t added = points_of(file(folder)) - before;
    require(added == imported_points || (into_file && out.empty() && added == 0),
            fmt::format("{} of {} points were imported", added, imported_points));
  };
  operation.again = operation.words;
  operation.judge_again = [=](const Fixture& fixture, const fs::path& folder) {
    const std::size_t before = into_file ? findings(fixture.earlier).size() : 0;
    const std::size_t added = points_of(file(folder)) - before;
    require(added > 0 && added % imported_points == 0, fmt::format("{} points were imported", added));
  };
  operation.files = {"run.attnscope"};
  return operation;
}

Operation copying(bool over_existing) {
  const auto file = [](const fs::path& folder) { return folder / "copy.attnscope"; };
  Operation operation;
  operation.name = over_existing ? "copy-over" : "copy";
  operation.prepare = [=](const Fixture& fixture, const fs::path& folder) {
    if (over_existing) fs::copy_file(fixture.compact, file(folder));
  };
  operation.words = [=](const Fixture& fixture, const fs::path& folder) {
    return Words{"export", fixture.earlier, fixture.compact, "--format", "attnscope", "--force", "-o", file(folder)};
  };
  operation.judge = [=](const Fixture& fixture, const fs::path& folder, const std::string&, CaseReport&) {
    if (!over_existing && !fs::exists(file(folder))) return;
    const std::vector<std::string> found = findings(file(folder));
    require(found == fixture.joined || (over_existing && found == findings(fixture.compact)), "the copy is incomplete");
  };
  operation.again = operation.words;
  operation.judge_again = [=](const Fixture& fixture, const fs::path& folder) {
    require(findings(file(folder)) == fixture.joined, "the copy lacks points");
  };
  operation.files = {"copy.attnscope"};
  return operation;
}

/// Merges three files, two of which contain the same run. Runs are ordered by start time, so points are compared in any
/// order.
Operation merging() {
  const auto file = [](const fs::path& folder) { return folder / "merged.attnscope"; };
  Operation operation;
  operation.name = "merge";
  operation.prepare = [](const Fixture&, const fs::path&) {};
  operation.words = [=](const Fixture& fixture, const fs::path& folder) {
    return Words{"merge", "-o", file(folder), fixture.compact, fixture.again, fixture.earlier};
  };
  operation.judge = [=](const Fixture& fixture, const fs::path& folder, const std::string& out, CaseReport&) {
    if (!fs::exists(file(folder))) return require(out.empty(), "the merge was reported but is lost");
    require(sorted(findings(file(folder))) == sorted(fixture.joined), "the merged file is incomplete");
  };
  operation.again = [=, words = operation.words](const Fixture& fixture, const fs::path& folder) {
    fs::remove(file(folder));  // a complete file would be kept
    return words(fixture, folder);
  };
  operation.judge_again = [=](const Fixture& fixture, const fs::path& folder) {
    require(sorted(findings(file(folder))) == sorted(fixture.joined), "the merged file lacks points");
  };
  operation.files = {"merged.attnscope"};
  return operation;
}

Operation exporting() {
  constexpr mode_t mode = 0640;
  const std::string older = "algorithm,kernel\nolder,all\n";
  const auto file = [](const fs::path& folder) { return folder / "table.csv"; };
  Operation operation;
  operation.name = "export";
  operation.prepare = [=](const Fixture&, const fs::path& folder) {
    std::ofstream(file(folder)) << older;
    ::chmod(file(folder).c_str(), mode);
  };
  operation.words = [=](const Fixture& fixture, const fs::path& folder) {
    return Words{"export", fixture.earlier, "-o", file(folder)};
  };
  operation.judge = [=](const Fixture& fixture, const fs::path& folder, const std::string&, CaseReport&) {
    const std::string found = content(file(folder));
    require(found == older || found == fixture.csv, "the table is neither the old nor the new one");
  };
  operation.again = operation.words;
  operation.judge_again = [=](const Fixture& fixture, const fs::path& folder) {
    require(content(file(folder)) == fixture.csv, "the exported table is wrong");
    require((fs::status(file(folder)).permissions() & fs::perms::all) == static_cast<fs::perms>(mode),
            "the file mode changed");
  };
  operation.files = {"table.csv"};
  return operation;
}

}  // namespace

Words disturbed_sweep(const Fixture& fixture, const std::filesystem::path& file) {
  return sweep(fixture, "[16:64:16]", file) + Words{"--jsonl"};
}

void judge_disturbed(const Fixture& fixture, const Operation& operation, const std::string& name,
                     const Disturbance& disturbed, CaseReport& account) {
  const TemporaryFolder folder;
  const fs::path work = folder / "work";
  const fs::path found = folder / "found";  // copy before checking: opening a file applies its journal
  fs::create_directory(work);
  operation.prepare(fixture, work);
  const Outcome outcome = disturbed(folder, operation.words(fixture, work), work);
  fs::copy(work, found, fs::copy_options::recursive);
  account.tried();
  try {
    require(outcome.exit_code != -SIGSEGV && outcome.exit_code != -SIGABRT, "it crashed");
    require(std::count(outcome.err.begin(), outcome.err.end(), '\n') <= 1,
            "more than one line on stderr: " + outcome.err);
    operation.judge(fixture, work, outcome.out, account);
    if (outcome.exit_code == 0) operation.judge_again(fixture, work);  // exit code 0 means complete
    const Outcome again = fixture.run(folder, operation.again(fixture, work));
    require(again.exit_code == 0, "repeating the operation fails: " + again.err);
    operation.judge_again(fixture, work);
    for (const auto& entry : fs::directory_iterator(work)) {
      const std::string left = entry.path().filename().string();
      require(operation.files.contains(left), left + " was left behind");
    }
  } catch (const std::exception& wrong) {  // Wrong, or an exception from opening a file
    account.failed(name, wrong.what(), found);
  }
}

Outcome Fixture::run(const TemporaryFolder& where, const Words& words,
                     const std::map<std::string, std::string>& environment) const {
  return testing::run(where, words, {.environment = environment, .program = program});
}

void Fixture::make() {
  const auto succeed = [&](const Words& words) {
    const Outcome outcome = run(folder, words);
    if (outcome.exit_code != 0) throw std::runtime_error(outcome.err);
  };
  const fs::path whole = folder / "whole.attnscope";
  const fs::path other = folder / "other.attnscope";
  const fs::path both = folder / "both.attnscope";
  succeed(sweep(*this, "[16:64:16]", whole) + Words{"-q"});
  succeed(sweep(*this, "[128,256]", earlier) + Words{"-q"});
  succeed(sweep(*this, "[512,1024]", other) + Words{"-q"});
  succeed({"export", other, "--format", "attnscope", "-o", compact});
  fs::copy_file(earlier, again);
  succeed({"export", earlier, compact, "--format", "attnscope", "-o", both});
  succeed({"export", earlier, "-o", folder / "earlier.csv"});
  std::ofstream(table) << "device,algorithm,pass,N,heads,d,time_ns\nNVIDIA H200,torch,fwd,4096,16,128,2000000\n"
                          "NVIDIA H200,torch,fwd,8192,16,128,8000000\n";
  swept = findings(whole);
  joined = findings(both);
  csv = content(folder / "earlier.csv");
}

std::vector<Operation> all_operations() {
  return {collecting(false), collecting(true), importing(false), importing(true),
          copying(false),    copying(true),    merging(),        exporting()};
}

}  // namespace attnscope::testing
