// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/json_card.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "profiler/lesson/front_matter_reader.h"

namespace attnscope::analysis::lesson {

JsonCard::JsonCard(std::string file, std::string_view text, std::string_view language)
    : file_(std::move(file)), source_(text), language_(language) {
  try {
    nlohmann::json read = nlohmann::json::parse(source_);
    parsed_ = read.is_object();
    if (parsed_) card_ = std::move(read);
    if (!parsed_) problems_.push_back({file_, 1, "expected a JSON object: {\"title\": …}"});
  } catch (const nlohmann::json::parse_error& error) {
    const std::size_t end = std::min(source_.size(), error.byte > 0 ? error.byte - 1 : 0);
    const auto lines = static_cast<int>(std::ranges::count(std::string_view(source_).substr(0, end), '\n'));
    problems_.push_back({file_, 1 + lines, "invalid JSON: missing or extra comma, quote or bracket"});
  }
}

std::string JsonCard::id() const {
  return std::filesystem::path(file_).stem().string();
}

int JsonCard::line_of(std::string_view key) const {
  const std::size_t at = source_.find(fmt::format("\"{}\"", key));
  if (at == std::string::npos) return 1;
  return static_cast<int>(1 + std::ranges::count(std::string_view(source_).substr(0, at), '\n'));
}

const nlohmann::json* JsonCard::find(std::string_view key) {
  used_.emplace(key);
  const auto found = card_.find(key);
  return found == card_.end() ? nullptr : &*found;
}

const nlohmann::json* JsonCard::in_language(const nlohmann::json& value) const {
  const nlohmann::json* own = &value;
  if (value.is_object() && !value.empty()) {
    const auto found = value.find(language_);
    own = found == value.end() ? &value.front() : &*found;
  }
  return own->is_string() || own->is_array() ? own : nullptr;
}

std::vector<std::string> JsonCard::texts(std::string_view key) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return {};
  const nlohmann::json* own = in_language(*value);
  const bool strings =
      own != nullptr &&
      (own->is_string() || std::ranges::all_of(*own, [](const nlohmann::json& each) { return each.is_string(); }));
  if (!strings) {
    report_invalid(key, "expected a text, or {\"en\": …, \"zh\": …}");
    return {};
  }
  if (own->is_string()) return {own->get<std::string>()};
  return own->get<std::vector<std::string>>();
}

std::string JsonCard::text(std::string_view key) {
  const std::vector<std::string> all = texts(key);
  if (all.size() > 1) report_invalid(key, "expected one text");
  return all.empty() ? std::string() : all.front();
}

std::string JsonCard::required_text(std::string_view key) {
  std::string value = text(key);
  if (value.empty() && parsed_ && !has(key)) report_missing(key);
  return value;
}

void JsonCard::report_missing(std::string_view key) {
  problems_.push_back({file_, 1, make_message("missing \"{}\"", key)});
}

std::optional<double> JsonCard::number(std::string_view key) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) return value->get<double>();
  report_invalid(key, "expected a number");
  return std::nullopt;
}

std::string JsonCard::keyword(std::string_view key, const std::vector<std::string>& known) {
  std::string value = text(key);
  if (value.empty() || std::ranges::count(known, value) > 0) return value;
  report_invalid(key, make_message("expected one of {}", fmt::join(known, ", ")));
  return {};
}

const Algorithm* JsonCard::algorithm(std::string_view key, const Registry& registry) {
  std::vector<std::string> known;
  for (const Algorithm* each : registry.algorithms()) known.emplace_back(each->name());
  return registry.find(keyword(key, known));
}

nlohmann::json JsonCard::object(std::string_view key) {
  const nlohmann::json* value = find(key);
  return value == nullptr ? nlohmann::json() : *value;
}

void JsonCard::report_invalid(std::string_view key, const Message& expected) {
  const auto value = card_.find(key);
  problems_.push_back({file_, line_of(key),
                       make_message("invalid \"{}\": {}: {}", key,
                                    value == card_.end() ? std::string() : truncate_text(value->dump()), expected)});
}

bool JsonCard::finish(std::initializer_list<std::string> texts, const KnownNames& known,
                      std::vector<TextProblem>& problems) {
  for (const auto& [key, value] : card_.items()) {
    if (used_.contains(key)) continue;
    problems_.push_back({file_, line_of(key),
                         make_message("unknown \"{}\" (available: {})", truncate_text(key), fmt::join(used_, ", "))});
  }
  for (const std::string& each : texts) {
    for (const TextProblem& problem : check_marks(file_, 0, each, known)) problems_.push_back(problem);
  }
  if (!is_name(id())) problems_.push_back({file_, 0, no_name(id())});
  problems.insert(problems.end(), problems_.begin(), problems_.end());
  return problems_.empty();
}

}  // namespace attnscope::analysis::lesson
