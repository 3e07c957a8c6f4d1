// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/homework.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "profiler/lesson/lesson_page.h"
#include "profiler/lesson/lesson_values.h"
#include "profiler/plan/text.h"

namespace attnscope::analysis::lesson {
namespace {

/// FNV-1a; homework/page.js computes the same.
std::uint32_t checksum(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

/// Names that answers may use besides `vary`.
constexpr std::array<std::string_view, 6> data_names{"sms",         "l2",        "shared_block",
                                                     "tensor_rate", "dram_rate", "latency_ns"};

/// Values of data_names in base units. Unmeasured ones are missing.
user::Variables data_values(const Evidence& evidence) {
  const DeviceLimits& gpu = evidence.gpu;
  user::Variables values{{"sms", gpu.sm_count}, {"l2", gpu.l2_bytes}, {"shared_block", gpu.shared_bytes_per_block}};
  const auto add = [&](const char* name, const std::optional<GpuFigure>& figure) {
    if (figure) values[name] = std::llround(figure->value);
  };
  add("tensor_rate", tensor_rate(gpu, evidence.ceilings));
  add("dram_rate", gpu_figure(gpu, evidence.ceilings, {ceiling_key::dram_read}));
  add("latency_ns", gpu_figure(gpu, evidence.ceilings, {ceiling_key::latency_dram}));
  return values;
}

void read_variations(JsonCard& card, HomeworkQuestion& question) {
  const nlohmann::json given = card.value("vary");
  for (const auto& [name, list] : given.items()) {
    const bool fits = given.is_object() && list.is_array() && !list.empty() &&
                      std::ranges::all_of(list, [](const nlohmann::json& each) { return each.is_number_integer(); });
    if (!fits) return card.report_invalid("vary", "expected lists of whole numbers: {\"n\": [4096, 8192]}");
    question.vary.emplace(name, list.get<std::vector<std::int64_t>>());
    card.add_value_name(name);
  }
}

void read_answer(JsonCard& card, HomeworkQuestion& question) {
  auto expression = user::Expression::parse(card.text("answer"));
  if (!expression.ok()) return card.report_invalid("answer", expression.error());
  for (const std::string& name : expression->names()) {
    if (std::ranges::count(data_names, name) > 0 || question.vary.contains(name)) continue;
    card.report_invalid("answer", make_message("unknown name '{}'; expected one of \"vary\", or {}", name,
                                               fmt::join(data_names, ", ")));
  }
  question.answer = std::move(expression).value();
}

std::string letter(std::size_t choice) {
  return std::string(1, static_cast<char>('A' + choice));
}

std::optional<HomeworkItem> item_of(const HomeworkQuestion& question, const Evidence& evidence, std::uint64_t seed) {
  std::mt19937_64 random(seed * 0x100000000U + checksum(question.id));
  user::Variables names = data_values(evidence);
  for (const auto& [name, values] : question.vary) names[name] = values[random() % values.size()];
  bool known = true;
  const MarkRenderer line{.value = [&](std::string_view name) {
    const ValueDefinition* definition = question.vary.contains(name) ? nullptr : find_value(name);
    const auto value = definition == nullptr ? std::nullopt : definition->of(evidence);
    const auto number = names.find(name);
    known = known && (value || (definition == nullptr && number != names.end()));
    if (definition != nullptr) return value ? markup(value->text) : std::string();
    return number == names.end() ? std::string() : fmt::to_string(number->second);
  }};
  HomeworkItem item{.id = question.id, .unit = question.unit, .tolerance = question.tolerance};
  item.html = line_html(question.wordings[random() % question.wordings.size()], line);
  item.why = question.why;
  if (question.answer) {
    const auto value = question.answer->evaluate_real(names);
    if (!value.ok() || !std::isfinite(*value)) return std::nullopt;
    item.value = *value;
    item.right = fmt::format("{:.4g}", *value);
  } else {
    // Inserts the right choice into the shuffled wrong ones.
    for (const std::string& wrong : question.wrong) item.choices.push_back(line_html(wrong, line));
    for (std::size_t left = item.choices.size(); left > 1; --left)
      std::swap(item.choices[left - 1], item.choices[random() % left]);
    const std::size_t place = random() % (item.choices.size() + 1);
    item.choices.insert(item.choices.begin() + static_cast<std::ptrdiff_t>(place), line_html(question.right, line));
    item.right = letter(place);
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

HomeworkQuestion read_homework(JsonCard& card) {
  HomeworkQuestion question{.id = card.id(), .order = card.number("order", 100)};
  read_variations(card, question);
  for (const std::string_view name : data_names) card.add_value_name(std::string(name));
  question.wordings = card.texts("prompt");
  if (question.wordings.empty()) card.report_invalid("prompt", "expected a text");
  question.unit = card.text("unit");
  question.why = card.text("why");
  question.tolerance = card.number("tolerance", 0.02);
  question.right = card.text("right");
  question.wrong = card.texts("wrong");
  if (card.has("answer")) read_answer(card, question);
  constexpr std::size_t most_choices = 6;
  const bool choices = !question.right.empty() && !question.wrong.empty() && question.wrong.size() < most_choices;
  if (card.has("answer") ? card.has("right") || card.has("wrong") : !choices)
    card.report_invalid("answer", "expected a formula; or \"right\" with a choice and \"wrong\" with one to five");
  if (question.tolerance < 0) card.report_invalid("tolerance", "expected a number of 0 or more");
  return question;
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
  const std::string title = fmt::format("{}: {} {}", label("lesson"), label("homework"), seed);
  return page_head("homework", texts.language, title, embedded_lesson("homework/page.css")) +
         fmt::format(
             "<body><main><h1>{title}</h1><p>{how}</p><label class=\"name\">{name} <input id=\"name\" "
             "maxlength=\"80\" autocomplete=\"name\"></label>\n<ol>\n{list}</ol></main>\n<section "
             "id=\"result\"><h2>{hand_in}</h2><p id=\"student\"></p><p id=\"given\"></p><code id=\"code\">"
             "</code><p class=\"buttons\"><button id=\"copy\">{copy}</button> <button id=\"print\">{print}"
             "</button> <span id=\"note\"></span></p><footer>{of_data}: {data}</footer></section>\n{words}"
             "<script>{script}</script></body></html>\n",
             fmt::arg("title", title), fmt::arg("how", label("homework_how")), fmt::arg("name", label("student_name")),
             fmt::arg("list", list), fmt::arg("hand_in", label("hand_in")), fmt::arg("copy", label("copy_code")),
             fmt::arg("print", label("print")), fmt::arg("of_data", label("of_data")), fmt::arg("data", markup(data)),
             fmt::arg("words", script_json("words", {{"seed", seed},
                                                     {"data", data},
                                                     {"prefix", hand_in_prefix},
                                                     {"copied", texts.label_text("copied")}})),
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
