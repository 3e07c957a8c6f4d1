// SPDX-License-Identifier: Apache-2.0
#include "kernels/user/known_kernels.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/registry.h"
#include "kernels/user/user_kernel.h"
#include "messages/own_kernel.h"

namespace attnscope::user {
namespace {

/// Files, one a line.
constexpr const char* variable = "ATTNSCOPE_KERNELS";

std::string inherited() {
  const char* files = std::getenv(variable);
  return files != nullptr ? files : "";
}

std::vector<KernelFiles>& loaded() {
  static std::vector<KernelFiles> files;
  return files;
}

/// In the place of the one that this file was before.
Message add(std::unique_ptr<const UserKernel> kernel, const std::filesystem::path& file) {
  const bool again = std::ranges::find(loaded(), file, &KernelFiles::statement) != loaded().end();
  try {
    if (again && known_algorithms().find(kernel->name()) != nullptr) {
      replace_known_algorithm(std::move(kernel));
    } else {
      add_known_algorithm(std::move(kernel));
    }
  } catch (const std::invalid_argument& error) {
    return say::own_kernel::in_file{.file = file.string(), .what = Message::verbatim(error.what())};
  }
  return {};
}

Message take(const std::filesystem::path& file) {
  const auto known = std::ranges::find(loaded(), file, &KernelFiles::statement);
  auto kernel = load_kernel(file);
  if (!kernel) return kernel.error();
  if (known == loaded().end()) {
    KernelFiles files{.statement = file, .sources = (*kernel)->source_files()};
    Message error = add(std::move(kernel).value(), file);
    if (error.empty()) loaded().push_back(std::move(files));
    return error;
  }
  known->sources = (*kernel)->source_files();
  return add(std::move(kernel).value(), file);
}

}  // namespace

Message load_known_kernel(const std::filesystem::path& file) {
  const std::filesystem::path whole = std::filesystem::absolute(file).lexically_normal();
  Message error = take(whole);
  std::string files;
  for (const KernelFiles& each : loaded()) files += each.statement.string() + '\n';
  ::setenv(variable, files.c_str(), 1);
  return error;
}

Result<std::string, Message> know_version(const std::filesystem::path& file) {
  const std::filesystem::path whole = std::filesystem::absolute(file).lexically_normal();
  auto kernel = load_kernel(whole);
  if (kernel && known_algorithms().find((*kernel)->name()) == nullptr) {  // those that this process starts know it, too
    std::string name = (*kernel)->name();
    if (Message error = load_known_kernel(whole); !error.empty()) return Failure{std::move(error)};
    return name;
  }
  for (int version = 2; kernel && known_algorithms().find((*kernel)->name()) != nullptr; ++version) {
    kernel = load_kernel(whole, "." + std::to_string(version));
  }
  if (!kernel) return Failure{kernel.error()};
  std::string name = (*kernel)->name();
  if (Message error = add(std::move(kernel).value(), whole); !error.empty()) return Failure{std::move(error)};
  return name;
}

const std::vector<KernelFiles>& known_kernel_files() {
  return loaded();
}

Message load_inherited_kernels() {
  std::istringstream files(inherited());
  for (std::string file; std::getline(files, file);) {
    if (file.empty()) continue;
    if (Message error = take(file); !error.empty()) return error;
  }
  return {};
}

Message know_from_file(std::string_view text, const std::filesystem::path& file) {
  struct Stated {
    std::string text;
    std::filesystem::path file;
    bool has_law = true;
  };
  static std::mutex mutex;
  static std::map<std::string, Stated, std::less<>> met;  // by name
  static std::set<std::string, std::less<>> refused;      // texts
  static std::set<std::string, std::less<>> differing;    // names
  const std::lock_guard lock(mutex);
  const auto refuse = [&](const Message& why) {
    return refused.emplace(text).second ? Message(say::own_kernel::not_taken{.file = file.string(), .why = why})
                                        : Message();
  };
  auto parsed = parse_statement(text, std::nullopt);
  if (!parsed) return refuse(parsed.error());
  Statement statement = std::move(parsed).value();
  const std::string name = statement.name;
  const Algorithm* const known = known_algorithms().find(name);
  if (known != nullptr && known->facts().foreign && !known->facts().for_reading) {
    const auto* given = dynamic_cast<const UserKernel*>(known);
    const bool same = given == nullptr || given->text() == text;
    if (same || !differing.insert(name).second) return {};
    return say::own_kernel::given_otherwise{.file = file.string(), .kernel = name};
  }
  const auto [first, is_new] = met.try_emplace(name, Stated{.text = std::string(text), .file = file});
  Message told;
  if (!is_new) {
    if (first->second.text == text || !std::exchange(first->second.has_law, false)) return {};
    // Whoever found it before goes on to find it.
    statement.like.reset();
    for (LaunchStatement& launch : statement.launches) launch.bytes.clear();
    const std::string other = first->second.file.string();
    told = other == file ? Message(say::own_kernel::stated_twice{.file = other, .kernel = name})
                         : say::own_kernel::stated_otherwise{.file = file.string(), .kernel = name, .other = other};
  }
  try {
    add_known_algorithm(std::make_unique<UserKernel>(std::move(statement)));
  } catch (const std::invalid_argument& error) {
    return refuse(Message::verbatim(error.what()));
  }
  return told;
}

}  // namespace attnscope::user
