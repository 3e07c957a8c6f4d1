// SPDX-License-Identifier: Apache-2.0
// A report as files: the page, or the Markdown with its pictures, whole or not at all.
#pragma once

#include <filesystem>

#include "profiler/files/output_file.h"
#include "profiler/report/document.h"

namespace attnscope {

/// Whether a report has a name that says what it is: .html or .md.
[[nodiscard]] bool is_report_name(const std::filesystem::path&);
/// NAME.html, or NAME.md with its pictures in NAME-figures beside it. Throws FileError, and leaves nothing then that
/// was not there before. Pre: is_report_name().
void write_report(const report::Document&, const std::filesystem::path& output, OutputFile::Existing);

}  // namespace attnscope
