// SPDX-License-Identifier: Apache-2.0
// A small table of text, for the terminal and for other programs.
#pragma once

#include <CLI/CLI.hpp>
#include <iosfwd>
#include <string>
#include <vector>

#include "profiler/analysis/tables/table.h"

namespace attnscope {

struct TableColumn {
  std::string name;
  bool number = false;  ///< aligned to the right; a bare number in JSON
};

struct Table {
  std::vector<TableColumn> columns;
  std::vector<std::vector<std::string>> rows;  ///< one field a column; an empty one is an absent value
};

enum class TableFormat { text, markdown, csv, json };
[[nodiscard]] inline bool for_people(TableFormat format) {
  return format == TableFormat::text || format == TableFormat::markdown;
}

/// Adds --csv, --json and --md, of which one may be given.
void add_format_options(CLI::App& command, TableFormat& format);

void print(const Table&, TableFormat, std::ostream&);
/// A result: people read its columns' titles, programs their keys.
void print(const analysis::Table&, TableFormat, std::ostream&);
/// "title: help", a line for each column that has one.
void print_help(const analysis::Table&, std::ostream&);

}  // namespace attnscope
