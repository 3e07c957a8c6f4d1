// SPDX-License-Identifier: Apache-2.0
// The ways in which attnscope writes files, and what has to hold of the files once one was disturbed.
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

/// What lies ready for the operations, and what they come to when nobody disturbs them.
struct Fixture {
  std::filesystem::path program = beside_us("attnscope", ATTNSCOPE_PROGRAM);
  std::string device = "simulated";  ///< or a GPU, whose counts are left out: no two of them are the same
  TemporaryFolder folder;
  std::filesystem::path earlier = folder / "earlier.attnscope";  ///< a sweep, as a collector leaves it
  std::filesystem::path compact = folder / "compact.attnscope";  ///< another one, as a compact copy
  std::filesystem::path again = folder / "again.attnscope";      ///< a copy of `earlier`
  std::filesystem::path table = folder / "peers.csv";
  std::vector<std::string> swept;   ///< the findings of the sweep that is disturbed
  std::vector<std::string> joined;  ///< of both files above
  std::string csv;                  ///< of `earlier`

  /// Makes all of it with `program`. Throws std::runtime_error.
  void make();
  [[nodiscard]] Outcome run(const TemporaryFolder& where, const Words& words,
                            const std::map<std::string, std::string>& environment = {}) const;
};

/// A way to write a file. `folder` is empty but for what prepare() puts there.
struct Operation {
  std::string name;
  std::function<void(const Fixture&, const std::filesystem::path& folder)> prepare;
  std::function<Words(const Fixture&, const std::filesystem::path& folder)> words;
  /// After a disturbance; `out`: what the process printed before it. Throws Wrong.
  std::function<void(const Fixture&, const std::filesystem::path& folder, const std::string& out, Account&)> judge;
  /// How it is done again, and what then holds.
  std::function<Words(const Fixture&, const std::filesystem::path& folder)> again;
  std::function<void(const Fixture&, const std::filesystem::path& folder)> judge_again;
  std::set<std::string> files;  ///< all that then lies in the folder
};

[[nodiscard]] std::vector<Operation> all_operations();

/// Runs the words that it is given, and does something to them; `below`: the folder with the operation's files.
using Disturbance = std::function<Outcome(const TemporaryFolder&, const Words&, const std::filesystem::path& below)>;

/// Disturbs the operation and looks at what is left, does it again and looks at that.
void judge_disturbed(const Fixture&, const Operation&, const std::string& name, const Disturbance&, Account&);

/// The sweep that is disturbed, with its events on stdout.
[[nodiscard]] Words disturbed_sweep(const Fixture&, const std::filesystem::path& file);

}  // namespace attnscope::testing
