// SPDX-License-Identifier: Apache-2.0
// Output of commands: its format and destination (--format, --csv, --json and -o), tables, and the status line.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <functional>
#include <iosfwd>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "app/command.h"
#include "kernels/registry.h"
#include "profiler/files/output_file.h"
#include "profiler/metrics/point.h"
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

using TableRows = std::vector<std::vector<std::string>>;

/// Builds a table of strings; an empty string is a missing value. A column without a title uses its key.
[[nodiscard]] analysis::Table text_table(std::vector<analysis::Column> columns, TableRows rows);
[[nodiscard]] analysis::Column number_column(std::string key);
/// Columns with these keys; "#" in front of a key marks a column of numbers.
[[nodiscard]] std::vector<analysis::Column> columns_named(std::initializer_list<std::string_view> keys);

/// Pads with spaces to a display width.
[[nodiscard]] std::string pad_to_width(const std::string& text, std::size_t width, bool right);

/// Drops "_bytes" from titles, for tables whose values contain their unit.
void strip_byte_suffixes(std::vector<analysis::Column>& columns);

void print_aligned(const analysis::Table&, std::ostream&);
void print_csv(const analysis::Table&, std::ostream&);
[[nodiscard]] nlohmann::ordered_json rows_of(const analysis::Table&);

/// Columns for all fields and knobs of a point, except algorithm and cache.
[[nodiscard]] std::vector<analysis::Column> point_columns(const Registry&);
/// Cells of these columns for one point.
[[nodiscard]] std::vector<std::string> point_cells(const PointSpec&, const Registry&);
/// Removes columns that have the field's default in every row (pass fwd, dropout 0, ...).
void drop_default_columns(analysis::Table&, const Registry&);

template <class T>
void append(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

/// A line on a terminal that each update overwrites. Does nothing if stderr is not a terminal.
class StatusLine {
 public:
  StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  ~StatusLine() { clear(); }

  void show(const std::string& text);
  void clear();

 private:
  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace attnscope
