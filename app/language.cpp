// SPDX-License-Identifier: Apache-2.0
#include "app/language.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>

#include "kernels/model/message.h"
#include "messages/language.h"
#include "profiler/plan/text.h"

namespace attnscope {
namespace {

constexpr const char* variable = "ATTNSCOPE_MESSAGES";
constexpr std::size_t most_mib = 4;  // the English texts have some 50 KiB
constexpr std::size_t most_bytes = most_mib << 20;

Result<Catalogue, Message> read_catalogue(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::none || !std::filesystem::exists(status)) {
    return Failure<Message>{say::language::unreadable{.error = error.message()}};
  }
  // A pipe would be waited for.
  if (!std::filesystem::is_regular_file(status)) return Failure<Message>{say::language::no_file{}};
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string json(most_bytes + 1, '\0');
  file.read(json.data(), static_cast<std::streamsize>(json.size()));
  if (!file.eof() && !file) {
    return Failure<Message>{say::language::unreadable{.error = std::generic_category().message(errno)}};
  }
  json.resize(static_cast<std::size_t>(file.gcount()));
  if (json.size() > most_bytes) return Failure<Message>{say::language::too_large{.mib = most_mib}};
  return Catalogue::parse(json);
}

}  // namespace

void use_language(std::string_view program) {
  const char* named = std::getenv(variable);
  if (named == nullptr || *named == '\0') return;
  Result<Catalogue, Message> catalogue = read_catalogue(named);
  if (catalogue) return use_catalogue(std::move(catalogue).value());
  const Message unused = say::language::unused{.variable = variable, .file = named, .why = catalogue.error()};
  std::fputs(fmt::format("{}: {}\n", program, printable(text(unused))).c_str(), stderr);
}

}  // namespace attnscope
