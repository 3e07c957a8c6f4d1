// SPDX-License-Identifier: Apache-2.0
// A report as files: the page, or the Markdown with its pictures and tables.
#pragma once

#include <filesystem>

#include "profiler/files/output_file.h"
#include "profiler/report/document.h"

namespace attnscope {

/// Whether a report has a name that says what it is: .html or .md.
[[nodiscard]] bool is_report_name(const std::filesystem::path&);
/// NAME.html, or NAME.md with its pictures and tables in NAME-figures beside it. Throws FileError, and leaves nothing
/// half-written. Pre: is_report_name().
void write_report(const report::Document&, const std::filesystem::path& output, OutputFile::Existing);

}  // namespace attnscope
