// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/report.h"

#include <string>
#include <system_error>
#include <vector>

#include "profiler/files/file_error.h"
#include "profiler/report/writers.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

void write_page(const report::Document& document, const fs::path& output, OutputFile::ExistingFile existing) {
  OutputFile page(output, file_kind::for_file_name(output), existing);
  page.write(report::to_html(document));
  page.commit();
}

/// Writes pictures and tables to a separate folder. All files are written before any is renamed to its final name, the
/// text last.
void write_markdown(const report::Document& document, const fs::path& output, OutputFile::ExistingFile existing) {
  const std::string name = output.stem().string() + "-figures";
  const report::MarkdownFiles files = report::to_markdown(document, name);
  OutputFile page(output, file_kind::for_file_name(output), existing);
  page.write(files.text);
  const fs::path folder = output.parent_path() / name;
  const bool made = fs::create_directory(folder);
  try {
    std::vector<OutputFile> written;
    written.reserve(files.attachments.size());
    for (const report::MarkdownFiles::File& file : files.attachments) {
      const fs::path place = folder / file.name;
      written.emplace_back(place, file.name.ends_with(".svg") ? file_kind::svg : FileKind{"a report table"}, existing)
          .write(file.content);
    }
    for (OutputFile& file : written) file.commit();
    page.commit();
  } catch (...) {
    std::error_code ignored;
    if (made) fs::remove_all(folder, ignored);
    throw;
  }
}

}  // namespace

bool is_report_name(const fs::path& output) {
  return output.extension() == ".html" || output.extension() == ".md";
}

void write_report(const report::Document& document, const fs::path& output, OutputFile::ExistingFile existing) {
  try {
    output.extension() == ".md" ? write_markdown(document, output, existing) : write_page(document, output, existing);
  } catch (const fs::filesystem_error& error) {
    throw FileError(FileError::Kind::not_writable, "cannot write {}: {}", output.string(), error.code().message());
  }
}

}  // namespace attnscope
