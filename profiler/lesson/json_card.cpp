// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/json_card.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "profiler/plan/text.h"

namespace attnscope::analysis::lesson {

using nlohmann::json;

JsonCard::JsonCard(const std::string& path, std::string_view text, std::string_view language, const Glossary& terms)
    : file_(std::make_shared<File>(File{.path = path, .language = std::string(language), .terms = terms})) {
  if (!is_name(id())) {
    report(make_message("invalid name '{}' (at most 60 letters, digits and hyphens; not starting with a hyphen)",
                        shortened(id())));
  }
  try {
    json read = json::parse(text);
    if (read.is_object()) {
      members_ = std::move(read);
    } else {
      report("expected a JSON object: {\"title\": …}");
    }
  } catch (const json::parse_error& error) {
    const std::string_view before = text.substr(0, error.byte > 0 ? error.byte - 1 : 0);
    file_->problems.push_back(make_message("{}:{}: invalid JSON: missing or extra comma, quote or bracket", path,
                                           1 + std::ranges::count(before, '\n')));
  }
}

std::string JsonCard::id() const {
  return std::filesystem::path(file_->path).stem().string();
}

std::vector<std::string> JsonCard::keys() const {
  std::vector<std::string> all;
  for (const auto& [key, value] : members_.items()) all.push_back(key);
  return all;
}

json JsonCard::value(std::string_view key) {
  used_.emplace(key);
  return members_.value(key, json());
}

std::vector<std::string> JsonCard::texts(std::string_view key) {
  json all = value(key);
  if (all.is_null()) return {};
  if (all.is_object() && !all.empty()) all = all.value(file_->language, json(all.front()));
  if (all.is_string()) all = json::array({all});
  if (!all.is_array() || !std::ranges::all_of(all, [](const json& each) { return each.is_string(); })) {
    report_invalid(key, "expected a text, or {\"en\": …, \"zh\": …}");
    return {};
  }
  auto read = all.get<std::vector<std::string>>();
  for (const std::string& each : read) {
    const Message why = marks_problem(each, file_->terms, file_->value_names);
    if (!why.empty()) report_invalid(key, why);
  }
  return read;
}

std::string JsonCard::text(std::string_view key) {
  return fmt::format("{}", fmt::join(texts(key), "\n\n"));
}

std::string JsonCard::required_text(std::string_view key) {
  if (!has(key)) report(make_message("missing \"{}{}\"", place_, key));
  return text(key);
}

std::optional<double> JsonCard::number(std::string_view key) {
  const json read = value(key);
  if (read.is_number()) return read.get<double>();
  if (!read.is_null()) report_invalid(key, "expected a number");
  return std::nullopt;
}

std::string JsonCard::keyword(std::string_view key, const std::vector<std::string>& known) {
  std::string word = text(key);
  if (!word.empty() && std::ranges::count(known, word) == 0)
    report_invalid(key, make_message("expected one of {}", fmt::join(known, ", ")));
  return word;
}

std::vector<JsonCard> JsonCard::objects(std::string_view key) {
  std::vector<JsonCard> all;
  for (json& each : value(key)) {
    if (each.is_object()) {
      all.push_back(JsonCard(file_, fmt::format("{}{}[{}].", place_, key, all.size()), std::move(each)));
    } else {
      report_invalid(key, "expected a list of objects");
    }
  }
  return all;
}

void JsonCard::report_invalid(std::string_view key, const Message& expected) {
  const std::string given = has(key) ? shortened(members_[std::string(key)].dump()) : std::string("missing");
  report(make_message("invalid \"{}{}\": {}: {}", place_, key, given, expected));
}

void JsonCard::finish() {
  for (const std::string& key : keys()) {
    if (used_.contains(key)) continue;
    report(make_message("unknown \"{}{}\" (available: {})", place_, shortened(key), fmt::join(used_, ", ")));
  }
}

bool is_name(std::string_view name) {
  constexpr std::size_t most = 60;
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= most && plain(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return plain(c) || c == '-'; });
}

}  // namespace attnscope::analysis::lesson
