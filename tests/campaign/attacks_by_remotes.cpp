// SPDX-License-Identifier: Apache-2.0
// A remote device that answers late, never, or what no device measures: a program in ssh's place changes what goes
// over the wire.
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

#include "attacks.h"
#include "storage/run_store.h"

namespace attnscope::testing {
namespace {

namespace fs = std::filesystem;

/// `asked` and `answered`: filters of the lines each way, empty for none.
Process::Options with_remote(const Programs& programs, const TemporaryFolder& folder, const std::string& asked,
                             const std::string& answered) {
  const fs::path bin = folder / "bin";
  fs::create_directory(bin);
  std::string line = fmt::format("'{}' remote --device simulated:H200", programs.command.string());
  if (!asked.empty()) line = asked + " | " + line;
  if (!answered.empty()) line += " | " + answered;
  std::ofstream(bin / "script") << "#!/bin/sh\n" << line << '\n';
  // By a process of its own: a file that a fork of another thread still has open for writing cannot be run.
  const std::string install = fmt::format("install -m 755 '{0}/script' '{0}/ssh'", bin.string());
  if (std::system(install.c_str()) != 0) throw std::runtime_error(install);
  const char* path = std::getenv("PATH");
  return {.environment = {{"PATH", bin.string() + ":" + (path != nullptr ? path : "/usr/bin:/bin")}}};
}

Words sweep(const fs::path& file, const std::string& lengths) {
  return {"collect",
          "-a",
          "N=" + lengths,
          "-a",
          "d=64",
          "-a",
          "heads=2",
          "-a",
          "algorithm=fa2",
          "--timeout",
          "0.1",
          "-q",
          "--device",
          "ssh:gpubox/simulated:H200",
          "-o",
          file};
}

std::vector<StoredPoint> points_of(const fs::path& file) {
  return RunStore::open(file, RunStore::Mode::read_only).points();
}

void silent_about_a_point(const Attack& attack, const Programs& programs, const TemporaryFolder& folder, Random&) {
  const fs::path file = folder / "a.attnscope";
  const Outcome outcome = bounded(attack, programs.command, folder, sweep(file, "128"),
                                  with_remote(programs, folder, R"(sed -u '/"ask":"measure"/d')", ""));
  require(outcome.exit_code == 5, fmt::format("exit code {}: {}", outcome.exit_code, outcome.err));
  const auto points = points_of(file);
  require(points.size() == 1 && points[0].record.disposition == Disposition::timeout, "the point is no timeout");
  require(text(points[0].record.reason).find("gpubox gave no result") != std::string::npos, "its reason is another");
}

void cancelled_while_silent(const Attack& attack, const Programs& programs, const TemporaryFolder& folder,
                            Random& random) {
  const char* const asks[] = {"measure", "prepare", "free"};
  const std::string ask = asks[below(random, std::size(asks))];
  Process::Options options = with_remote(programs, folder, fmt::format(R"(sed -u '/"ask":"{}"/d')", ask), "");
  options.program = "/bin/sh";
  Words words{"-c", fmt::format("exec timeout -s INT -k {} 2 \"$0\" \"$@\"", 10 * attack.seconds), programs.command};
  for (const std::string& word : sweep(folder / "a.attnscope", "[128,256]")) words.push_back(word);
  if (ask == "free") words.emplace_back("--dry-run");
  const Outcome outcome = run(folder, words, options);
  require(outcome.exit_code == 124,
          fmt::format("after '{}' it ended with {}: {}", ask, outcome.exit_code, outcome.err));
}

void wrong_values(const Attack& attack, const Programs& programs, const TemporaryFolder& folder, Random& random) {
  struct Change {
    const char* what;
    const char* filter;
  };
  const Change changes[] = {
      {"timing sample", R"(s/"samples_ns":\[[0-9.e+]*/"samples_ns":[-5.0/)"},
      {"timing sample", R"(s/"samples_ns":\[[0-9.e+]*/"samples_ns":[1e300/)"},
      {"wall_seconds", R"(s/"wall_seconds":[0-9.e+-]*/"wall_seconds":-1/)"},
      {"model_l2_to_sm_bytes", R"(s/"value":[0-9.e+]*/"value":1e300/)"},
  };
  const Change& change = changes[below(random, std::size(changes))];
  const fs::path file = folder / "a.attnscope";
  // Of one point alone: the others are what they are.
  const std::string filter = fmt::format("sed -u '/\"n_q\":256/{}'", change.filter);
  const Outcome outcome = bounded(attack, programs.command, folder, sweep(file, "[128,256,384]"),
                                  with_remote(programs, folder, "", filter));
  require(outcome.exit_code == 5, fmt::format("exit code {}: {}", outcome.exit_code, outcome.err));
  const auto points = points_of(file);
  require(points.size() == 3, fmt::format("{} points", points.size()));
  for (const StoredPoint& point : points) {
    const bool changed = point.record.spec.problem.n_q == 256;
    require(point.record.disposition == (changed ? Disposition::crashed : Disposition::ok), "another disposition");
    const std::string reason = text(point.record.reason);
    require(!changed || reason.find(change.what) != std::string::npos, "its reason is: " + reason);
  }
}

void endless_greeting(const Attack& attack, const Programs& programs, const TemporaryFolder& folder, Random&) {
  const Outcome outcome = bounded(attack, programs.command, folder, sweep(folder / "a.attnscope", "128"),
                                  with_remote(programs, folder, "", "cat /dev/zero"));
  require_refused(outcome, 1, {"gpubox"});
}

constexpr Attack remote_attacks[] = {
    {"remote-silent", "a remote that answers everything but `measure` costs the point its timeout and a margin", 10,
     silent_about_a_point},
    {"remote-cancelled", "what a remote does not answer is given up after Ctrl-C", 10, cancelled_while_silent},
    {"remote-wrong-value", "a value that none can be costs its point, which says so, and no other", 10, wrong_values},
    {"remote-endless", "a remote whose first line does not end is given up in one line", 10, endless_greeting},
};

}  // namespace

std::span<const Attack> attacks_by_remotes() {
  return remote_attacks;
}

}  // namespace attnscope::testing
