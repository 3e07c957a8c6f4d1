// SPDX-License-Identifier: Apache-2.0
// Output format and destination of a command's result: --format, --csv, --json and -o.
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
  /// Whether the command has the common option -o. `no`: it has no -o, or defines its own.
  enum class File { yes, no };
  using Words = std::vector<std::string>;
  static inline const Words tables{"text", "csv", "json"};

  /// Adds the options. `words`: accepted formats, the default first. If the command has a --format for its input, adds
  /// only --csv and --json.
  void add_to(CLI::App& command, const Words& words = tables, File file = File::yes);
  /// Makes these options and `other` mutually exclusive.
  void exclude_option(CLI::Option* other);
  /// Sets the file, for a command that has its own -o.
  void set_file(std::string file) { file_ = std::move(file); }
  /// Takes the format from the suffix of the file, unless --format is given. Throws CommandError (usage) if the suffix
  /// belongs to another format. run() does this, too.
  void choose_format();
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] bool force() const { return force_; }

  [[nodiscard]] bool has_format(std::string_view word) const { return word_ == word; }
  [[nodiscard]] const std::string& format() const { return word_; }
  /// Text output has titles and units; CSV and JSON have keys and base units.
  [[nodiscard]] bool is_text_output() const { return has_format("text"); }

  /// Runs the command. Writes its output to the file, if one is given, after the command has ended; also if it throws
  /// CommandError after printing. Throws FileError before running the command if the file cannot be written.
  ExitCode run(const std::function<ExitCode()>& command);
  /// Writes the output now, for a process that exits without returning from the command.
  void finish();

  // Text output only; ignored in other formats.
  void title(std::string_view words);
  void heading(std::string_view words);
  void line(std::string_view words);
  void blank_line();  ///< prints an empty line

  /// `document`: value of "format" in JSON, if not the command's name.
  void table(const analysis::Table&, std::string_view document = {});
  /// Prints a JSON object that begins with "format" and "version".
  void object(nlohmann::ordered_json fields, std::string_view document = {});

 private:
  std::string command_;  ///< "attnscope-kernels-build"
  std::string word_ = "text";
  Words formats_;
  bool format_given_ = false;
  std::string file_;
  bool force_ = false;
  std::vector<CLI::Option*> options_;
  std::unique_ptr<OutputFile> target_;
  std::ostringstream kept_;             ///< output destined for the file
  std::streambuf* terminal_ = nullptr;  ///< buffer of std::cout while it is redirected
};

/// Throws CommandError if `file` contains measurements, which no result may overwrite, even with --force.
void require_no_measurements(const std::string& file, const std::string& format);

/// Writes one JSON document and a line break; replaces invalid UTF-8.
void write_json(std::ostream&, const nlohmann::ordered_json&);

}  // namespace attnscope
