// SPDX-License-Identifier: Apache-2.0
// Operations of attnscope that write files, and checks of the files after a disturbance.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cases.h"
#include "tests/app/subprocess.h"

namespace attnscope::testing {

using Words = std::vector<std::string>;

/// Input files of the operations and their undisturbed results.
struct Fixture {
  std::filesystem::path program = sibling_file("attnscope", ATTNSCOPE_PROGRAM);
  std::string device = "simulated";  ///< Or a GPU; then without counters, whose values are not reproducible.
  TemporaryFolder folder;
  std::filesystem::path earlier = folder / "earlier.attnscope";  ///< A sweep as written by collect.
  std::filesystem::path compact = folder / "compact.attnscope";  ///< Another sweep as a compact copy.
  std::filesystem::path again = folder / "again.attnscope";
  std::filesystem::path table = folder / "peers.csv";
  std::vector<std::string> swept;   ///< Points of the undisturbed sweep.
  std::vector<std::string> joined;  ///< Points of `earlier` and `compact`.
  std::string csv;                  ///< CSV export of `earlier`.

  /// Creates all files with `program`. Throws std::runtime_error.
  void make();
  [[nodiscard]] Outcome run(const TemporaryFolder& where, const Words& words,
                            const std::map<std::string, std::string>& environment = {}) const;
};

/// An operation that writes a file. `folder` contains only what prepare() creates.
struct Operation {
  std::string name;
  std::function<void(const Fixture&, const std::filesystem::path& folder)> prepare;
  std::function<Words(const Fixture&, const std::filesystem::path& folder)> words;
  /// Checks the files after a disturbance; `out`: output of the process until then. Throws Wrong.
  std::function<void(const Fixture&, const std::filesystem::path& folder, const std::string& out, CaseReport&)> judge;
  /// Repeats the operation; judge_again checks the result.
  std::function<Words(const Fixture&, const std::filesystem::path& folder)> again;
  std::function<void(const Fixture&, const std::filesystem::path& folder)> judge_again;
  std::set<std::string> files;  ///< Files that the folder may contain afterwards.
};

[[nodiscard]] std::vector<Operation> all_operations();

/// Runs the command with a disturbance; `below`: folder of the operation's files.
using Disturbance = std::function<Outcome(const TemporaryFolder&, const Words&, const std::filesystem::path& below)>;

/// Disturbs the operation and checks the files, then repeats it and checks again.
void judge_disturbed(const Fixture&, const Operation&, const std::string& name, const Disturbance&, CaseReport&);

/// Command of the disturbed sweep, with events on stdout.
[[nodiscard]] Words disturbed_sweep(const Fixture&, const std::filesystem::path& file);

}  // namespace attnscope::testing
