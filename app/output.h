// SPDX-License-Identifier: Apache-2.0
// How a command's result is written, and where: --format with its short forms, and -o. Every command that prints a
// result declares them here and prints by it alone.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "app/command.h"
#include "app/table.h"
#include "profiler/files/output_file.h"
#include "profiler/points/table.h"

namespace attnscope {

class Output {
 public:
  /// Whether -o names the file that the result goes to; no: the command has an -o of its own, or none.
  enum class File { yes, no };
  using Words = std::vector<std::string>;
  static inline const Words tables{"text", "csv", "json"};

  /// `words`: the formats that it takes, of which the first is the usual one. Where the command has a --format already,
  /// which is another file's, only its short forms.
  void add_to(CLI::App& command, const Words& words = tables, File file = File::yes);
  /// That option and these go not together.
  void exclude(CLI::Option* other);
  /// Of a command with an -o of its own, where that means this.
  void set_file(std::string file) { file_ = std::move(file); }
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] bool force() const { return force_; }

  [[nodiscard]] bool is(std::string_view word) const { return word_ == word; }
  [[nodiscard]] const std::string& word() const { return word_; }
  /// People read titles and units, programs keys and base units.
  [[nodiscard]] bool for_people() const { return is("text"); }

  /// Runs the command; what it prints goes to the file where one is given, once it is whole, also where the command
  /// fails after it has printed. Throws FileError for a file that cannot be written, before the command runs.
  ExitCode run(const std::function<ExitCode()>& command);
  /// What was printed is out: for a process that leaves by itself.
  void finish();

  // What people read beside tables; programs get none of it.
  void title(std::string_view words);
  void heading(std::string_view words);
  void line(std::string_view words);
  void gap();  ///< between parts

  /// `document`: its word in JSON, where that is not the command's name.
  void table(const analysis::Table&, std::string_view document = {});
  /// JSON: `fields` below the head that every document has.
  void object(nlohmann::ordered_json fields, std::string_view document = {});

 private:
  std::string command_;  ///< "attnscope-kernels-build"
  std::string word_ = "text";
  std::string file_;
  bool force_ = false;
  std::vector<CLI::Option*> options_;
  std::unique_ptr<OutputFile> target_;
  std::ostringstream kept_;             ///< what goes to the file
  std::streambuf* terminal_ = nullptr;  ///< of std::cout, meanwhile
};

/// Where measurements are, which no result replaces: not even with --force are they made again as a table is. Throws
/// CommandError.
void require_no_measurements(const std::string& file, const std::string& format);

/// One document, a line at its end; what is no UTF-8 is replaced.
void write_json(std::ostream&, const nlohmann::ordered_json&);

}  // namespace attnscope
