// SPDX-License-Identifier: Apache-2.0
#include "app/run_files.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <string>

#include "app/command.h"
#include "profiler/files/file_system.h"

namespace attnscope {

std::filesystem::path runs_folder() {
  const std::filesystem::path data = data_folder();
  if (data.empty())
    throw CommandError(ExitCode::error,
                       "no folder for runs: HOME is not set (set HOME or XDG_DATA_HOME, or name a file with -o)");
  return data / "runs";
}

std::filesystem::path new_run_file(std::string_view preset) {
  const std::string stem = fmt::format("{}-{:%Y%m%d-%H%M%S}", preset, fmt::localtime(std::time(nullptr)));
  std::filesystem::path file = runs_folder() / (stem + ".attnscope");
  for (int n = 2; std::filesystem::exists(file); ++n) file = runs_folder() / fmt::format("{}-{}.attnscope", stem, n);
  return file;
}

std::vector<std::filesystem::path> run_files(std::string_view preset) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(runs_folder(), error)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() == ".attnscope" && name.starts_with(fmt::format("{}-", preset))) {
      files.push_back(entry.path());
    }
  }
  // Names end in the start time; the second file of one second has "-2" appended.
  std::ranges::sort(files, std::greater(), [](const std::filesystem::path& file) { return file.stem(); });
  return files;
}

}  // namespace attnscope
