// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/import_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "profiler/plan/text.h"
#include "profiler/units/csv.h"
#include "storage/bounds.h"

namespace attnscope::exchange {

std::string FileLocation::text() const {
  return fmt::format(fmt::runtime(whole), number) + (name.empty() ? "" : fmt::format(", column '{}'", name));
}

void fail(Message why) {
  throw ImportError(std::move(why));
}

void fail(const FileLocation& place, Message why) {
  throw ImportError(make_message("{}: {}", place.text(), why));
}

char detect_separator(std::string_view text) {
  const auto skip_blank = [&] { text.remove_prefix(std::min(text.find_first_not_of("\r\n"), text.size())); };
  for (skip_blank(); text.starts_with('#'); skip_blank()) text.remove_prefix(std::min(text.find('\n'), text.size()));
  constexpr std::array<char, 3> separators{',', ';', '\t'};
  std::array<int, separators.size()> counts{};
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '\n') break;
    const auto* const found = std::ranges::find(separators, c);
    if (found != separators.end()) ++counts.at(static_cast<std::size_t>(found - separators.begin()));
  }
  return separators.at(static_cast<std::size_t>(std::ranges::max_element(counts) - counts.begin()));
}

namespace {

/// Returns true for "1,234", "1,234 ms" and "[0,5 0,6]": a comma between digits in a cell that begins with a number.
/// Where commas do not separate fields, such a comma may be a decimal comma or separate thousands.
bool has_number_with_comma(std::string_view field) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const std::size_t begin = field.find_first_not_of(" [(+-.");
  if (begin == std::string_view::npos || !is_digit(field[begin])) return false;
  for (std::size_t at = field.find(',', 1); at != std::string_view::npos; at = field.find(',', at + 1)) {
    if (at + 1 < field.size() && is_digit(field[at - 1]) && is_digit(field[at + 1])) return true;
  }
  return false;
}

}  // namespace

std::string CsvReader::quoted() {
  const std::size_t opened = line_;
  std::string field;
  for (++at_;; ++at_) {
    if (ended()) fail(line_place(opened), "unterminated quoted field");
    if (text_[at_] == '\n') ++line_;
    if (text_[at_] == '"') {
      if (at_ + 1 >= text_.size() || text_[at_ + 1] != '"') break;
      ++at_;
    }
    field += text_[at_];
  }
  ++at_;
  if (!ended() && text_[at_] != separator_ && text_[at_] != '\n' && text_[at_] != '\r') {
    fail(line_place(line_), make_message("text after the closing quote of '{}'", shortened(field)));
  }
  return field;
}

std::string CsvReader::plain() {
  const std::string_view rest = text_.substr(at_);
  const std::array ends{separator_, '\n'};
  std::string_view field = rest.substr(0, rest.find_first_of(std::string_view(ends.data(), ends.size())));
  at_ += field.size();
  while (!field.empty() && (field.back() == '\r' || field.back() == ' ')) field.remove_suffix(1);
  while (!field.empty() && field.front() == ' ') field.remove_prefix(1);
  return std::string(field);
}

std::optional<CsvLine> CsvReader::next() {
  constexpr std::size_t max_fields = 4096;
  constexpr std::size_t max_field_bytes = std::size_t{1} << 20;
  while (!ended()) {
    if (text_[at_] == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size() - 1) + 1;
      ++line_;
      continue;
    }
    CsvLine record{.number = line_, .fields = {}};
    for (;;) {
      if (record.fields.size() == max_fields) {
        fail(line_place(record.number), make_message("more than {} columns", max_fields));
      }
      std::string& field = record.fields.emplace_back(!ended() && text_[at_] == '"' ? quoted() : plain());
      if (separator_ != ',' && has_number_with_comma(field)) {
        fail(line_place(line_),
             make_message("'{}' has a comma (save the table with decimal points and without separators of thousands)",
                          shortened(field)));
      }
      if (field.size() > max_field_bytes) {
        fail(line_place(record.number), make_message("field {} exceeds 1 MiB", record.fields.size()));
      }
      if (unescape_formula(field).size() != field.size()) field.erase(0, 1);
      if (!ended() && text_[at_] == '\r') ++at_;
      if (ended() || text_[at_] == '\n') break;
      ++at_;  // the separator
    }
    if (!ended()) ++at_;
    ++line_;
    if (record.fields.size() > 1 || !record.fields[0].empty()) return record;
  }
  return std::nullopt;
}

CsvReader CsvReader::of_table(std::string_view text) {
  constexpr std::string_view mark = "sep=";
  const bool marked = text.starts_with(mark) && text.size() > mark.size();
  const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
  return marked ? CsvReader(text.substr(end), 2, text[mark.size()]) : CsvReader(text, 1, detect_separator(text));
}

void require_field_count(const CsvLine& header, const CsvLine& line) {
  if (line.fields.size() == header.fields.size()) return;
  fail(line_place(line.number),
       make_message("number of fields: {}, but the header has {}", line.fields.size(), header.fields.size()));
}

namespace {

struct UnitName {
  std::string_view text;  ///< in lower case
  std::string_view base;
  double scale = 1;
};
constexpr std::array exact_units{
    UnitName{"ns", "ns", 1},           UnitName{"nsec", "ns", 1},
    UnitName{"nsecond", "ns", 1},      UnitName{"nanosecond", "ns", 1},
    UnitName{"us", "ns", 1e3},         UnitName{"µs", "ns", 1e3},
    UnitName{"μs", "ns", 1e3},         UnitName{"usec", "ns", 1e3},
    UnitName{"usecond", "ns", 1e3},    UnitName{"microsecond", "ns", 1e3},
    UnitName{"ms", "ns", 1e6},         UnitName{"msec", "ns", 1e6},
    UnitName{"msecond", "ns", 1e6},    UnitName{"millisecond", "ns", 1e6},
    UnitName{"s", "ns", 1e9},          UnitName{"sec", "ns", 1e9},
    UnitName{"second", "ns", 1e9},     UnitName{"%", "percent", 1},
    UnitName{"percent", "percent", 1}, UnitName{"pct", "percent", 1},
    UnitName{"gbps", "byte/s", 1e9},   UnitName{"tbps", "byte/s", 1e12},
};
/// Nouns that may have a prefix, in the singular.
constexpr std::array counted_units{
    UnitName{"byte", "byte", 1},         UnitName{"b", "byte", 1},           UnitName{"hz", "hertz", 1},
    UnitName{"hertz", "hertz", 1},       UnitName{"flop", "Tflop/s", 1e-12}, UnitName{"cycle", "cycle", 1},
    UnitName{"inst", "inst", 1},         UnitName{"sector", "sector", 1},    UnitName{"warp", "warp", 1},
    UnitName{"thread", "thread", 1},     UnitName{"block", "block", 1},      UnitName{"request", "request", 1},
    UnitName{"register", "register", 1},
};

template <std::size_t count>
std::optional<Unit> find_unit(const std::array<UnitName, count>& names, std::string_view word) {
  const bool plural = word.size() > 2 && word.ends_with('s');
  for (const std::string_view text : {word, plural ? word.substr(0, word.size() - 1) : word}) {
    const auto* const found = std::ranges::find(names, text, &UnitName::text);
    if (found != names.end()) return Unit{std::string(found->base), found->scale};
  }
  return std::nullopt;
}

std::optional<Unit> parse_simple_unit(std::string_view word) {
  if (auto unit = find_unit(exact_units, word)) return unit;
  if (auto unit = find_unit(counted_units, word)) return unit;
  constexpr std::string_view prefixes = "kmgtp";
  const std::size_t power = word.empty() ? std::string_view::npos : prefixes.find(word.front());
  if (power == std::string_view::npos) return std::nullopt;
  word.remove_prefix(1);
  auto unit = word.starts_with('i') ? find_unit(counted_units, word.substr(1)) : std::nullopt;
  const double step = unit ? 1024 : 1000;
  if (!unit) unit = find_unit(counted_units, word);
  for (std::size_t i = 0; unit && i <= power; ++i) unit->scale *= step;
  return unit;
}

}  // namespace

std::optional<Unit> parse_unit(std::string_view text) {
  const std::string low = lower_case(text);
  const std::size_t slash = low.find('/');
  auto unit = parse_simple_unit(std::string_view(low).substr(0, slash));
  if (!unit || slash == std::string::npos) return unit;
  const std::string_view below = std::string_view(low).substr(slash + 1);
  if (below == "block" || below == "thread") return unit;
  const auto time = parse_simple_unit(below);
  if (!time || time->base != "ns" || unit->base == "ns") return std::nullopt;
  if (unit->base != "Tflop/s") unit->base += "/s";
  unit->scale *= 1e9 / time->scale;
  return unit;
}

std::pair<std::string, double> base_unit(std::string_view text) {
  if (text.empty()) return {"1", 1};
  const auto unit = parse_unit(text);
  return unit ? std::pair(unit->base, unit->scale) : std::pair(std::string(text), 1.0);
}

double scale_to(std::string_view base, std::string_view text, const FileLocation& place) {
  if (text.empty() || text == base) return 1;
  const auto unit = parse_unit(text);
  if (unit && unit->base == base) return unit->scale;
  if (unit && unit->base == "percent" && base == "1") return unit->scale / 100;
  fail(place, make_message("the unit is '{}'; expected {}", text, base));
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_amount(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const std::size_t end = std::min(text.find_first_of(".eE"), text.size());
  std::string digits(text.substr(0, end));
  if (digits.find(',') != std::string::npos) {
    std::size_t size = digits.size();  // number of digits before the last group
    for (; size > 4 && digits[size - 4] == ','; size -= 4) digits.erase(size - 4, 1);
    const std::size_t first = size - (digits.starts_with('-') ? 1 : 0);
    if (first < 1 || first > 3 || digits.find(',') != std::string::npos) return std::nullopt;
  }
  return number(digits.append(text.substr(end)));
}

namespace {

/// Returns the length of the number at the beginning of the text.
std::size_t number_length(std::string_view text) {
  constexpr std::string_view digits = "0123456789.,+-";
  std::size_t end = std::min(text.find_first_not_of(digits), text.size());
  const bool exponent = end > 0 && end + 1 < text.size() && (text[end] == 'e' || text[end] == 'E') &&
                        std::string_view("0123456789+-").find(text[end + 1]) != std::string_view::npos;
  if (exponent) end = std::min(text.find_first_not_of(digits, end + 1), text.size());
  return end;
}

/// Returns 1,024 for "8k", whose number must be a power of two: 10k may be 10,000.
std::optional<double> binary_factor(std::string_view suffix, double value) {
  int exponent = 0;
  if (std::frexp(value, &exponent) != 0.5) return std::nullopt;
  if (suffix == "k" || suffix == "K") return 1024;
  if (suffix == "m" || suffix == "M") return 1024 * 1024;
  return std::nullopt;
}

}  // namespace

std::optional<NumberCell> parse_cell(std::string_view text) {
  NumberCell cell;
  const bool list =
      text.size() > 1 && ((text.front() == '[' && text.back() == ']') || (text.front() == '(' && text.back() == ')'));
  if (list) text = text.substr(1, text.size() - 2);
  bool is_deviation = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find_first_not_of(" ;", at);
    if (begin == std::string_view::npos) break;
    at = std::min(text.find_first_of(" ;", begin), text.size());
    std::string_view word = text.substr(begin, at - begin);
    if (word.ends_with(',')) word.remove_suffix(1);
    if (word == "±" || word == "+/-" || word == "+-") {
      if (std::exchange(is_deviation, true) || cell.values.size() != 1) return std::nullopt;
      continue;
    }
    const std::size_t length = number_length(word);
    if (length > 0) {
      const auto value = parse_amount(word.substr(0, length));
      if (!value || cell.deviation) return std::nullopt;
      if (is_deviation) cell.deviation = value;
      if (!is_deviation) cell.values.push_back(*value);
      word.remove_prefix(length);
      if (word.empty()) continue;
      if (const auto factor = binary_factor(word, *value)) {
        cell.values.back() *= *factor;
        continue;
      }
    }
    if (word == "%" && cell.deviation && !cell.relative) {
      *cell.deviation /= 100;
      cell.relative = true;
      continue;
    }
    const auto unit = parse_unit(word);
    if (!unit || cell.values.empty() || (cell.unit && cell.unit->scale != unit->scale)) return std::nullopt;
    cell.unit = unit;
    cell.unit_text = word;
  }
  if (cell.values.empty() || (is_deviation && !cell.deviation)) return std::nullopt;
  return cell;
}

std::optional<bool> parse_flag(std::string_view text) {
  const std::string low = lower_case(text);
  if (has_word("true yes 1", low)) return true;
  if (has_word("false no 0", low)) return false;
  return std::nullopt;
}

bool has_word(std::string_view words, std::string_view word) {
  for (std::size_t at = words.find(word); at != std::string_view::npos; at = words.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' ')) return true;
  }
  return false;
}

bool is_missing(std::string_view text) {
  return text.empty() || has_word("- -- – — n/a na nan null none <na>", lower_case(text));
}

std::optional<double> checked(const FileLocation& place, std::optional<double> value, const Metric* metric) {
  if (!value || std::isnan(*value)) return std::nullopt;
  if (std::isinf(*value)) fail(place, "the value is infinite");
  const bool may_be_negative = metric != nullptr && metric->may_be_negative;
  if (*value < 0 && !may_be_negative) fail(place, make_message("{} is below zero", *value));
  return value;
}

void require_plausible(const FileLocation& place, std::string_view metric, double value) {
  const Metric* row = find_metric(metric);
  const bool may_be_zero = metric == metric_key::gpu_combine_ns || metric == metric_key::gpu_exposed_ns;
  if (row != nullptr && row->unit == "ns" && std::abs(value) < min_time_ns && !(may_be_zero && value == 0))
    fail(place, make_message("a time of {} ns is invalid (minimum: {}; leave the field empty if nothing was measured)",
                             value, min_time_ns));
  if (metric != metric_key::achieved_occupancy_pct && metric != metric_key::theoretical_occupancy_pct) return;
  constexpr double most = 100.05;  // allows for rounding to one decimal
  if (value > most) fail(place, make_message("an occupancy of {}% is impossible", value));
}

const Metric* metric_of(std::string_view name) {
  if (name.empty()) return nullptr;
  if (name == "dram__bytes.sum") return find_metric(metric_key::dram_bytes);
  // Launch attributes of ncu that are stored as metrics from the driver.
  if (name == "launch__registers_per_thread") return find_metric(metric_key::registers);
  if (name == "sm__maximum_warps_per_active_cycle_pct") return find_metric(metric_key::theoretical_occupancy_pct);
  const Metric* metric = find_metric(name);
  return metric != nullptr ? metric : find_counter(name);
}

bool is_counter_name(std::string_view name) {
  return name.find("__") != std::string_view::npos && name.find_first_of(" [(") == std::string_view::npos;
}

void require_valid_name(const FileLocation& place, std::string_view what, std::string_view text) {
  const bool control = std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7F; });
  if (control) fail(place, make_message("the name of the {} contains control characters", what));
  if (text.size() > max_name_length) {
    fail(place, make_message("the name of the {} has {} bytes (maximum: {})", what, text.size(), max_name_length));
  }
}

MetricValue imported_value(const FileLocation& place, const std::string& name, double value, const std::string& unit) {
  const Metric* metric = metric_of(name);
  const auto [base, scale] = base_unit(unit);
  const bool in_base_unit = metric != nullptr && unit == metric->unit;
  const auto number = checked(place, value * (in_base_unit ? 1 : scale), metric);
  if (!number) fail(place, "the value is not a number");
  if (metric == nullptr) return {name, *number, unit.empty() ? "1" : base, Provenance::imported};
  if (!unit.empty() && !in_base_unit && base != metric->unit) {
    fail(place, make_message("the unit is '{}'; expected {}", unit, metric->unit));
  }
  require_plausible(place, metric->key, *number);
  return {std::string(metric->key), *number, std::string(metric->unit), Provenance::imported};
}

}  // namespace attnscope::exchange
