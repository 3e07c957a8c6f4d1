// SPDX-License-Identifier: Apache-2.0
#include "profiler/files/recorded_samples.h"

#include <cstdlib>
#include <sstream>
#include <system_error>

#include "profiler/files/file_system.h"

namespace attnscope {

namespace fs = std::filesystem;

std::vector<fs::path> sample_folders(const fs::path& program) {
  std::vector<fs::path> folders;
  std::error_code error;
  const fs::path own = fs::canonical(program, error);
  if (!error) folders.push_back(own.parent_path().parent_path() / "share" / "attnscope");
  if (const fs::path data = data_folder(); !data.empty()) folders.push_back(data);
  const char* variable = std::getenv("XDG_DATA_DIRS");
  std::istringstream shared(variable != nullptr && *variable != '\0' ? variable : "/usr/local/share:/usr/share");
  for (std::string folder; std::getline(shared, folder, ':');) {
    if (fs::path(folder).is_absolute()) folders.push_back(fs::path(folder) / "attnscope");
  }
  for (fs::path& folder : folders) folder /= "samples";
  return folders;
}

fs::path sample_path(std::string_view name) {
  for (const fs::path& folder : sample_folders(executable_path)) {
    std::error_code error;
    fs::path sample = fs::canonical(folder / std::string(name).append(".attnscope"), error);
    if (!error && fs::is_regular_file(sample, error)) return sample;
  }
  return {};
}

std::vector<std::string> sample_paths(const std::vector<std::string_view>& names) {
  std::vector<std::string> files;
  for (const std::string_view name : names) {
    if (const fs::path sample = sample_path(name); !sample.empty()) files.push_back(sample.string());
  }
  return files;
}

std::vector<std::string> default_samples() {
  return sample_paths({main_sample, ceilings_sample});
}

std::vector<std::string> lesson_samples() {
  return sample_paths({main_sample, law_sample, tiles_sample, race_sample, second_sample});
}

}  // namespace attnscope
