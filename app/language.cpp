// SPDX-License-Identifier: Apache-2.0
#include "app/language.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
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
#include "messages/embedded.h"
#include "messages/language.h"
#include "profiler/plan/text.h"

namespace attnscope {
namespace {

constexpr const char* variable = "ATTNSCOPE_MESSAGES";
constexpr std::size_t most_mib = 4;  // the English texts have some 200 KiB
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

/// What stands behind `--lang`; nothing where that is not among the arguments.
std::string_view asked_language(std::span<char* const> arguments) {
  constexpr std::string_view option = "--lang";
  std::string_view asked;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    if (word == "--") break;
    if (word == option && i + 1 < arguments.size()) asked = arguments[++i];
    if (word.starts_with(option) && word.substr(option.size()).starts_with('=')) asked = word.substr(option.size() + 1);
  }
  return asked;
}

/// Whether the result is for other programs, whose words do not follow the locale.
bool is_for_programs(std::span<char* const> arguments) {
  constexpr std::array<std::string_view, 3> formats{"csv", "json", "junit"};
  return std::ranges::any_of(arguments, [&](std::string_view word) {
    return std::ranges::any_of(formats, [&](std::string_view format) {
      return word == fmt::format("--{}", format) || word == fmt::format("--format={}", format) || word == format;
    });
  });
}

/// "zh" of "zh_CN.UTF-8".
std::string_view language_of_locale() {
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    const char* locale = std::getenv(name);
    if (locale == nullptr || *locale == '\0') continue;
    const std::string_view word = locale;
    return word.substr(0, word.find_first_of("_.@"));
  }
  return {};
}

bool is_built_in(std::string_view language) {
  return std::ranges::count(message_languages(), language) > 0;
}

void use_built_in(std::string_view language) {
  if (auto catalogue = Catalogue::parse(embedded_messages(language))) use_catalogue(std::move(catalogue).value());
}

}  // namespace

std::string languages_in_words() {
  return fmt::format("{}", fmt::join(message_languages(), " or "));
}

Message use_language(std::string_view program, std::span<char* const> arguments, std::string_view preferred) {
  if (const std::string_view asked = asked_language(arguments); !asked.empty()) {
    if (!is_built_in(asked)) {
      return say::language::unknown{.word = asked, .known = fmt::format("{}", fmt::join(message_languages(), ", "))};
    }
    use_built_in(asked);
    return {};
  }
  const std::string_view wanted = is_built_in(preferred) ? preferred : language_of_locale();
  if (is_built_in(wanted) && !is_for_programs(arguments)) use_built_in(wanted);
  const char* named = std::getenv(variable);
  if (named == nullptr || *named == '\0') return {};
  Result<Catalogue, Message> catalogue = read_catalogue(named);
  if (catalogue) {
    use_catalogue(std::move(catalogue).value());
    return {};
  }
  const Message unused = say::language::unused{.variable = variable, .file = named, .why = catalogue.error()};
  std::fputs(fmt::format("{}: {}\n", program, printable(text(unused))).c_str(), stderr);
  return {};
}

}  // namespace attnscope
