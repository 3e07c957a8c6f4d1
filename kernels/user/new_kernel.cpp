// SPDX-License-Identifier: Apache-2.0
#include "kernels/user/new_kernel.h"

#include <fstream>
#include <system_error>

#include "kernels/user/new_kernel_files.h"
#include "kernels/user/statement.h"
#include "messages/own_kernel.h"

namespace attnscope::user {
namespace {

std::string with_name(std::string text, const std::string& name) {
  constexpr std::string_view place = "@NAME@";
  for (std::size_t at = text.find(place); at != std::string::npos; at = text.find(place, at + name.size())) {
    text.replace(at, place.size(), name);
  }
  return text;
}

}  // namespace

Message make_kernel_folder(const std::filesystem::path& parent, const std::string& name) {
  const std::filesystem::path folder = parent / name;
  std::error_code error;
  std::filesystem::create_directories(parent, error);
  if (std::filesystem::create_directory(folder, error)) return {};
  if (error) return say::own_kernel::not_written{.file = folder.string(), .error = error.message()};
  return say::own_kernel::folder_there{.folder = folder.string()};
}

Message write_kernel_file(const std::filesystem::path& file, std::string_view text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) return say::own_kernel::not_written{.file = file.string(), .error = ""};
  return {};
}

const std::vector<std::string>& new_kernel_likes() {
  static const std::vector<std::string> names{"fa2"};
  return names;
}

Result<std::filesystem::path, Message> write_new_kernel(const std::string& name, const std::filesystem::path& parent) {
  const std::filesystem::path folder = parent / name;
  for (const NewKernelFile& each : new_kernel_files()) {
    if (!each.path.ends_with(".json")) continue;
    const auto statement = parse_statement(with_name(std::string(each.text), name), folder);
    if (!statement) return Failure<Message>{say::own_kernel::no_such_name{.name = name, .why = statement.error()}};
  }
  if (Message error = make_kernel_folder(parent, name); !error.empty()) return Failure{error};
  for (const NewKernelFile& each : new_kernel_files()) {
    const std::filesystem::path file = folder / with_name(std::string(each.path), name);
    if (Message error = write_kernel_file(file, with_name(std::string(each.text), name)); !error.empty()) {
      return Failure{error};
    }
  }
  return folder / (name + ".json");
}

}  // namespace attnscope::user
