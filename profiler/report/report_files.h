// SPDX-License-Identifier: Apache-2.0
// Writes a report to files: one HTML page, or Markdown with pictures and tables.
#pragma once

#include <filesystem>

#include "profiler/files/output_file.h"
#include "profiler/report/document.h"

namespace attnscope {

/// Returns whether the extension is .html or .md.
[[nodiscard]] bool is_report_name(const std::filesystem::path&);
/// Writes NAME.html, or NAME.md with pictures and tables in NAME-figures next to it. Throws FileError and then leaves
/// no partial files. Pre: is_report_name().
void write_report(const report::Document&, const std::filesystem::path& output, OutputFile::ExistingFile);

}  // namespace attnscope
