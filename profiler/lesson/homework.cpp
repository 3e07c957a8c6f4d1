// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/homework.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "profiler/lesson/hierarchy.h"
#include "profiler/lesson/json_card.h"
#include "profiler/lesson/lesson_values.h"
#include "profiler/lesson/texts.h"
#include "profiler/plan/text.h"
#include "profiler/style/tokens.h"

namespace attnscope::analysis::lesson {
namespace {

/// FNV-1a; homework/page.js computes the same.
std::uint32_t checksum(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

std::mt19937_64 random_numbers(std::string_view id, std::uint64_t seed) {
  return std::mt19937_64(seed * 0x100000000U + checksum(id));
}

std::vector<std::pair<std::string, std::vector<std::int64_t>>> read_variations(JsonCard& card) {
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> all;
  const nlohmann::json given = card.object("vary");
  if (given.is_null()) return all;
  const auto is_list = [](const nlohmann::json& list) {
    return list.is_array() && !list.empty() &&
           std::ranges::all_of(list, [](const nlohmann::json& each) { return each.is_number_integer(); });
  };
  if (!given.is_object() || !std::ranges::all_of(given, is_list)) {
    card.report_invalid("vary", "expected lists of whole numbers: {\"n\": [4096, 8192]}");
    return all;
  }
  for (const auto& [name, list] : given.items()) all.emplace_back(name, list.get<std::vector<std::int64_t>>());
  return all;
}

constexpr std::array<std::string_view, 7> data_names{"sms",       "l2",      "shared_block", "tensor_rate",
                                                     "dram_rate", "l2_rate", "latency_ns"};

bool is_named(const HomeworkQuestion& question, std::string_view name) {
  return std::ranges::count(data_names, name) > 0 ||
         std::ranges::any_of(question.vary, [&](const auto& each) { return each.first == name; });
}

std::string letter(std::size_t choice) {
  return std::string(1, static_cast<char>('A' + choice));
}

/// Shuffles the first choice, which is right, and the others. Returns the right one's place.
std::size_t shuffle(std::vector<std::string>& choices, std::mt19937_64& random) {
  std::vector<std::size_t> order(choices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[random() % left]);
  std::vector<std::string> shuffled;
  shuffled.reserve(order.size());
  for (const std::size_t place : order) shuffled.push_back(choices[place]);
  choices = std::move(shuffled);
  return static_cast<std::size_t>(std::ranges::find(order, std::size_t{0}) - order.begin());
}

std::optional<HomeworkItem> item_of(const HomeworkQuestion& question, const Evidence& evidence, std::uint64_t seed) {
  std::mt19937_64 random = random_numbers(question.id, seed);
  user::Variables names = homework_data(evidence);
  for (const auto& [name, values] : question.vary) names[name] = values[random() % values.size()];
  const Setting setting;
  bool known = true;
  const MarkRenderer line{.value = [&](std::string_view name) -> std::string {
                            const bool varied = std::ranges::any_of(
                                question.vary, [&](const auto& each) { return each.first == name; });
                            const ValueDefinition* definition = find_value(name);
                            if (varied || definition == nullptr) {
                              const auto found = names.find(name);
                              known = known && found != names.end();
                              return found == names.end() ? std::string() : fmt::to_string(found->second);
                            }
                            const auto value = definition->of(setting, evidence);
                            known = known && value;
                            return value ? markup(value->text) : std::string();
                          },
                          .term = [](std::string_view, std::string_view shown) { return markup(shown); }};
  HomeworkItem item{.id = question.id, .unit = question.unit, .tolerance = question.tolerance};
  item.html = line_html(question.wordings[random() % question.wordings.size()], line);
  item.why = question.why;
  if (question.answer) {
    const auto value = question.answer->evaluate_real(names);
    if (!value.ok() || !std::isfinite(*value)) return std::nullopt;
    item.value = *value;
    item.right = fmt::format("{:.4g}", *value);
  } else {
    item.choices.push_back(line_html(question.right, line));
    for (const std::string& wrong : question.wrong) item.choices.push_back(line_html(wrong, line));
    item.right = letter(shuffle(item.choices, random));
  }
  return known ? std::optional(std::move(item)) : std::nullopt;
}

std::optional<double> parse_answer(std::string_view text) {
  std::string plain(text);
  std::erase(plain, ' ');
  constexpr std::string_view minus = "−";
  if (plain.starts_with(minus)) plain.replace(0, minus.size(), "-");
  std::ranges::replace(plain, ',', '.');
  double value = 0;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (error != std::errc() || end != plain.data() + plain.size()) return std::nullopt;
  return value;
}

/// Decodes base64url without padding.
std::optional<std::string> decode_base64(std::string_view text) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::size_t digit = digits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = (bits << 6U | static_cast<std::uint32_t>(digit)) & 0xFFFFU;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> static_cast<unsigned>(count) & 0xFFU);
  }
  return bytes;
}

}  // namespace

std::optional<HomeworkQuestion> read_homework(const std::string& file, std::string_view text, std::string_view language,
                                              const KnownNames& known, std::vector<TextProblem>& problems) {
  JsonCard card(file, text, language);
  HomeworkQuestion question{.id = card.id(), .order = card.number("order").value_or(100)};
  question.wordings = card.texts("prompt");
  if (!card.has("prompt")) card.report_missing("prompt");
  question.vary = read_variations(card);
  question.unit = card.text("unit");
  question.why = card.text("why");
  question.tolerance = card.number("tolerance").value_or(0.02);
  question.right = card.text("right");
  question.wrong = card.texts("wrong");
  if (const std::string answer = card.text("answer"); !answer.empty()) {
    auto expression = user::Expression::parse(answer);
    if (!expression.ok()) card.report_invalid("answer", expression.error());
    if (expression.ok()) {
      for (const std::string& name : expression->names()) {
        if (!is_named(question, name))
          card.report_invalid("answer", make_message("unknown name '{}'; expected one of \"vary\", or {}", name,
                                                     fmt::join(data_names, ", ")));
      }
      question.answer = std::move(expression).value();
    }
  }
  constexpr std::size_t most_choices = 6;
  const bool choices = !question.right.empty() && !question.wrong.empty() && question.wrong.size() < most_choices;
  if (card.has("answer") ? card.has("right") || card.has("wrong") : !choices)
    card.report_invalid("answer", "expected a formula; or \"right\" with a choice and \"wrong\" with one to five");
  if (question.tolerance < 0) card.report_invalid("tolerance", "expected a number of 0 or more");
  KnownNames names = known;
  names.value = [&](std::string_view name) { return known.value(name) || is_named(question, name); };
  std::string all;
  for (const std::string& each : question.wordings) all += each + "\n\n";
  for (const std::string& each : question.wrong) all += each + "\n\n";
  const bool whole = card.finish({all, question.right}, names, problems);
  return whole && !question.wordings.empty() ? std::optional(std::move(question)) : std::nullopt;
}

user::Variables homework_data(const Evidence& evidence) {
  const Hierarchy all = hierarchy_of(evidence.gpu, evidence.ceilings);
  user::Variables names{{"sms", evidence.gpu.sm_count},
                        {"l2", evidence.gpu.l2_bytes},
                        {"shared_block", evidence.gpu.shared_bytes_per_block},
                        {"tensor_rate", std::llround(all.tensor_flops.value)}};
  const auto add = [&](const char* name, const std::optional<HierarchyFigure>& figure) {
    if (figure) names[name] = std::llround(figure->value);
  };
  add("dram_rate", all.at(MemoryLevel::dram).bandwidth);
  add("l2_rate", all.at(MemoryLevel::l2).bandwidth);
  add("latency_ns", all.at(MemoryLevel::dram).latency_ns);
  return names;
}

bool HomeworkItem::is_right(std::string_view answer) const {
  if (!choices.empty()) return answer == right;
  const auto number = parse_answer(answer);
  return number && std::abs(*number - value) <= tolerance * std::abs(value) + 1e-12;
}

std::vector<HomeworkItem> homework_items(const LessonTexts& texts, const Evidence& evidence, std::uint64_t seed) {
  std::vector<HomeworkItem> items;
  for (const HomeworkQuestion& question : texts.homework) {
    if (auto item = item_of(question, evidence, seed)) items.push_back(*std::move(item));
  }
  for (const Claim& claim : texts.claims) {
    const Verdict verdict = judge(claim, evidence);
    HomeworkItem item{.id = "claim-" + claim.id};
    item.html = fmt::format("<strong>{}</strong><br><small>{}: {}</small>", markup(claim.title),
                            markup(texts.label_text("source")), markup(claim.source));
    for (const Outcome outcome : outcomes) {
      if (outcome == verdict.outcome) item.right = letter(item.choices.size());
      item.choices.push_back(markup(texts.label_text(to_string(outcome))));
    }
    item.why = claim.changes;
    items.push_back(std::move(item));
  }
  return items;
}

std::string homework_page(const LessonTexts& texts, const std::vector<HomeworkItem>& items, std::uint64_t seed,
                          std::string_view data) {
  const auto label = [&](std::string_view key) { return markup(texts.label_text(key)); };
  std::string list;
  for (const HomeworkItem& item : items) {
    std::string answer;
    for (std::size_t i = 0; i < item.choices.size(); ++i) {
      answer += fmt::format("<label><input type=\"radio\" name=\"{}\" value=\"{}\"> <b>{}</b> <span>{}</span></label>",
                            markup(item.id), letter(i), letter(i), item.choices[i]);
    }
    if (answer.empty()) {
      answer =
          fmt::format("<label><input name=\"{}\" inputmode=\"decimal\" size=\"12\" autocomplete=\"off\"> {}</label>",
                      markup(item.id), markup(item.unit));
    }
    list += fmt::format("<li data-id=\"{}\"><p>{}</p><div class=\"answer\">{}</div></li>\n", markup(item.id), item.html,
                        answer);
  }
  std::string words =
      nlohmann::json(
          {{"seed", seed}, {"data", data}, {"prefix", hand_in_prefix}, {"copied", texts.label_text("copied")}})
          .dump();
  for (std::size_t at = words.find('<'); at != std::string::npos; at = words.find('<')) words.replace(at, 1, "\\u003c");
  return fmt::format(
      "<!DOCTYPE html>\n<!-- SPDX-License-Identifier: Apache-2.0 -->\n<html lang=\"{lang}\">\n<head><meta "
      "charset=\"utf-8\"><meta name=\"generator\" content=\"attnscope homework\"><meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\"><meta http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\"><link "
      "rel=\"icon\" href=\"data:,\"><title>{title}</title><style>:root{{{light}}}@media (prefers-color-scheme: "
      "dark){{:root{{color-scheme:dark;{dark}}}}}{css}</style></head>\n<body><main><h1>{title}</h1><p>{how}</p>"
      "<label class=\"name\">{name} <input id=\"name\" maxlength=\"80\" autocomplete=\"name\"></label>\n<ol>\n{list}"
      "</ol></main>\n<section id=\"result\"><h2>{hand_in}</h2><p id=\"student\"></p><p id=\"given\"></p><code "
      "id=\"code\"></code><p class=\"buttons\"><button id=\"copy\">{copy}</button> <button id=\"print\">{print}"
      "</button> <span id=\"note\"></span></p><footer>{of_data}: {data}</footer></section>\n<script "
      "type=\"application/json\" id=\"words\">{words}</script><script>{script}</script></body></html>\n",
      fmt::arg("lang", markup(texts.language)),
      fmt::arg("title", fmt::format("{}: {} {}", label("lesson"), label("homework"), seed)),
      fmt::arg("light", style::css_properties(false)), fmt::arg("dark", style::css_properties(true)),
      fmt::arg("css", embedded_lesson("homework/page.css")), fmt::arg("how", label("homework_how")),
      fmt::arg("name", label("student_name")), fmt::arg("list", list), fmt::arg("hand_in", label("hand_in")),
      fmt::arg("copy", label("copy_code")), fmt::arg("print", label("print")), fmt::arg("of_data", label("of_data")),
      fmt::arg("data", markup(data)), fmt::arg("words", words),
      fmt::arg("script", embedded_lesson("homework/page.js")));
}

Result<HandIn, Message> decode_hand_in(std::string_view code) {
  const std::size_t dot = code.rfind('.');
  if (!code.starts_with(hand_in_prefix) || dot < hand_in_prefix.size())
    return Failure{Message("not a hand-in code: expected attnscope1.….…")};
  const std::string_view payload = code.substr(hand_in_prefix.size(), dot - hand_in_prefix.size());
  if (fmt::format("{:08x}", checksum(payload)) != code.substr(dot + 1))
    return Failure{Message("incomplete or changed hand-in code (copy the whole code)")};
  const nlohmann::json read = nlohmann::json::parse(decode_base64(payload).value_or(""), nullptr, false);
  try {
    return HandIn{.seed = read.at("seed").get<std::uint64_t>(),
                  .data = read.at("data").get<std::string>(),
                  .name = read.at("name").get<std::string>(),
                  .answers = read.at("answers").get<std::vector<std::string>>()};
  } catch (const nlohmann::json::exception&) {
    return Failure{Message("hand-in code of another version")};
  }
}

std::vector<std::string> hand_in_codes(std::string_view text) {
  constexpr std::string_view used = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
  std::vector<std::string> codes;
  for (std::size_t at = text.find(hand_in_prefix); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_not_of(used, at), text.size());
    codes.emplace_back(text.substr(at, end - at));
    at = text.find(hand_in_prefix, end);
  }
  return codes;
}

}  // namespace attnscope::analysis::lesson
