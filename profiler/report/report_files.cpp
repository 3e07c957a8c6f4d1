// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/report_files.h"

#include <algorithm>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "profiler/files/file_error.h"
#include "profiler/report/report.h"
#include "profiler/report/writers.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

void write_page(const report::Document& document, const fs::path& output, OutputFile::Existing existing) {
  OutputFile page(output, file_kind::of_name(output), existing);
  page.write(report::to_html(document));
  page.commit();
}

/// Pictures that take their places together: until keep(), what was there before comes back.
class PicturesInPlace {
 public:
  explicit PicturesInPlace(fs::path folder) : folder_(std::move(folder)) {
    made_ = fs::create_directory(folder_);
    clear_up();
    bring_back();
  }
  PicturesInPlace(const PicturesInPlace&) = delete;
  PicturesInPlace& operator=(const PicturesInPlace&) = delete;
  ~PicturesInPlace() {
    if (kept_) return;
    std::error_code ignored;
    for (const fs::path& place : put_) fs::remove(place, ignored);
    for (const fs::path& place : moved_) fs::rename(aside(place), place, ignored);
    if (made_) fs::remove_all(folder_, ignored);  // was not there before
  }

  void put(OutputFile& picture) {
    const fs::path place = picture.place();
    if (fs::is_regular_file(place)) {
      fs::rename(place, aside(place));
      moved_.push_back(place);
    }
    picture.commit();
    put_.push_back(place);
  }
  /// Also takes away the pictures of an earlier report that this one does not have.
  void keep(const std::set<std::string>& names) {
    kept_ = true;
    std::error_code ignored;
    for (const fs::path& place : moved_) fs::remove(aside(place), ignored);
    for (const auto& entry : fs::directory_iterator(folder_, ignored)) {
      if (!names.contains(entry.path().filename().string()) && is_of_a_report(entry)) fs::remove(entry.path(), ignored);
    }
  }

 private:
  static fs::path aside(const fs::path& place) { return place.string() + ".before"; }
  /// What a writer that was killed had begun, also of pictures that this report does not have.
  void clear_up() const {
    std::set<fs::path> begun;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const std::string name = entry.path().filename().string();  // ".io-1.svg.0123456789abcdef.part"
      const fs::path place = fs::path(name).replace_extension().replace_extension();
      if (!name.starts_with('.') || !name.ends_with(".part")) continue;
      const std::string picture = place.string().substr(1);
      if (is_picture(picture)) begun.insert(folder_ / picture);
    }
    for (const fs::path& place : begun) remove_leftovers(place);
  }
  /// What a writer that was killed had put aside.
  void bring_back() const {
    std::vector<fs::path> left;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const fs::path place = fs::path(entry.path()).replace_extension();
      if (entry.path().extension() == ".before" && entry.is_regular_file() && is_picture(place)) left.push_back(place);
    }
    for (const fs::path& place : left) fs::rename(aside(place), place);
  }
  /// "io-2.svg" of a section "io".
  static bool is_of_a_report(const fs::directory_entry& entry) {
    std::error_code ignored;
    return entry.is_regular_file(ignored) && !entry.is_symlink(ignored) && is_picture(entry.path());
  }
  static bool is_picture(const fs::path& place) {
    if (place.extension() != ".svg") return false;
    const std::string stem = place.stem().string();
    const std::size_t dash = stem.rfind('-');
    if (dash == std::string::npos || dash + 1 == stem.size()) return false;
    const std::vector<std::string> keys = report::section_keys();
    return std::ranges::count(keys, stem.substr(0, dash)) > 0 &&
           stem.find_first_not_of("0123456789", dash + 1) == std::string::npos;
  }

  fs::path folder_;
  bool made_ = false;
  bool kept_ = false;
  std::vector<fs::path> moved_;
  std::vector<fs::path> put_;
};

/// Pictures in a folder of their own; all of it is written before any of it has its name, the text last.
void write_markdown(const report::Document& document, const fs::path& output, OutputFile::Existing existing) {
  const std::string folder = output.stem().string() + "-figures";
  const report::MarkdownFiles files = report::to_markdown(document, folder);
  OutputFile page(output, file_kind::of_name(output), existing);
  const fs::path pictures = output.parent_path() / folder;
  if (files.pictures.empty() && !fs::is_directory(pictures)) {
    page.write(files.text);
    return page.commit();
  }
  PicturesInPlace in_place(pictures);
  page.write(files.text);
  std::vector<OutputFile> written;
  written.reserve(files.pictures.size());
  std::set<std::string> names;
  for (const report::MarkdownFiles::Picture& picture : files.pictures) {
    written.emplace_back(pictures / picture.name, file_kind::svg, existing).write(picture.svg);
    names.insert(picture.name);
  }
  for (OutputFile& picture : written) in_place.put(picture);
  page.commit();
  in_place.keep(names);
}

}  // namespace

bool is_report_name(const fs::path& output) {
  return output.extension() == ".html" || output.extension() == ".md";
}

void write_report(const report::Document& document, const fs::path& output, OutputFile::Existing existing) {
  try {
    output.extension() == ".md" ? write_markdown(document, output, existing) : write_page(document, output, existing);
  } catch (const fs::filesystem_error& error) {
    throw FileError(FileError::Kind::not_writable, "cannot write {} ({})", output.string(), error.code().message());
  }
}

}  // namespace attnscope
