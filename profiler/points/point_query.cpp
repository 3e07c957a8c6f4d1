// SPDX-License-Identifier: Apache-2.0
#include "profiler/points/point_query.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>

#include "kernels/model/mask.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/text.h"
#include "profiler/points/query_fields.h"

namespace attnscope::analysis {
namespace {

using Term = PointQuery::Term;

constexpr std::string_view blanks = " \t\r\n";
constexpr std::string_view operators = ":=<>";

Failure<Message> wrong(std::string_view term, Message why) {
  return {make_message("“{}”: {}", shortened(term), why)};
}

/// Index of the first of `wanted` outside quotation marks, or npos.
std::size_t find_unquoted(std::string_view text, std::string_view wanted, std::size_t from = 0) {
  bool quoted = false;
  for (std::size_t i = from; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (!quoted && wanted.find(text[i]) != std::string_view::npos) return i;
  }
  return std::string_view::npos;
}

std::string unquoted(std::string_view text) {
  std::string plain(text);
  std::erase(plain, '"');
  return plain;
}

std::vector<std::string_view> split(std::string_view text, std::string_view separators, bool keep_empty) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(find_unquoted(text, separators, begin), text.size());
    if (keep_empty || end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// Returns the operator at the beginning of the text; ":" for '=', too.
std::string_view operator_of(std::string_view text) {
  for (const std::string_view op : {"<=", ">=", "<", ">"}) {
    if (text.starts_with(op)) return op;
  }
  return ":";
}

/// Parses "4096" or "1e9"; empty if not a finite number.
std::optional<double> plain_number(std::string_view word, std::chars_format format) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, format);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// Parses "4096", "4k" or "0.1"; empty if not a finite number.
std::optional<double> number_of(std::string_view word) {
  double factor = 1;
  if (!word.empty() && word.find('.') == std::string_view::npos) {
    if (word.back() == 'k' || word.back() == 'K') factor = 1024;
    if (word.back() == 'M') factor = 1024.0 * 1024.0;
    if (factor > 1) word.remove_suffix(1);
  }
  const auto value = plain_number(word, std::chars_format::fixed);
  return value ? std::optional(*value * factor) : std::nullopt;
}

/// Also accepts an exponent and the units of the field: "1e9", "1.5ms".
std::optional<double> number_of(std::string_view word, const QueryField& field) {
  if (const auto number = number_of(word)) return number;
  if (const auto number = plain_number(word, std::chars_format::general)) return number;
  const std::string lower = lower_case(word);
  for (const QueryUnit& unit : query_units(field.unit)) {
    const std::string suffix = lower_case(unit.suffix);
    if (!lower.ends_with(suffix)) continue;
    const std::string_view bare = word.substr(0, word.size() - suffix.size());
    // Allows a space before the unit: "1.5 ms" in quotation marks.
    const auto value = plain_number(bare.substr(0, bare.find_last_not_of(' ') + 1), std::chars_format::general);
    if (value) return *value * unit.factor;
  }
  return std::nullopt;
}

/// "ns, us, ms, s"; empty if the field has no unit.
std::string unit_suffixes(const QueryField& field) {
  std::vector<std::string_view> suffixes;
  for (const QueryUnit& unit : query_units(field.unit)) {
    if (static_cast<unsigned char>(unit.suffix.front()) < 0x80) suffixes.push_back(unit.suffix);
  }
  return fmt::format("{}", fmt::join(suffixes, ", "));
}

class TermParser {
 public:
  explicit TermParser(const PointTable& table) : fields_(query_fields(table)) {}

  Result<Term, Message> read(std::string_view text) const {
    std::string_view word = text;
    Term term;
    if (word.front() == '-') {
      term.negated = true;
      word.remove_prefix(1);
      if (word.empty()) return wrong(text, "“-” needs a term to exclude, such as -d:64");
    }
    if (std::ranges::count(word, '"') % 2 != 0) return wrong(text, "missing closing quotation mark");
    const std::size_t at = find_unquoted(word, operators);
    // Masks such as "window:256:0" contain colons but are bare words.
    if (at == std::string_view::npos || parse_mask(word)) {
      const std::string bare = unquoted(word);
      if (number_of(bare)) return wrong(text, make_message("a number needs a field, such as N:{0} or d:{0}", bare));
      term.words = {lower_case(bare)};
      return term;
    }
    term.op = operator_of(word.substr(at));
    const std::size_t length = term.op.size();
    const std::string name = unquoted(word.substr(0, at));
    const std::string_view values = word.substr(at + length);
    if (name.empty())
      return wrong(text, make_message("missing field before “{0}”, such as d{0}128", word.substr(at, length)));
    const QueryField* field = find_query_field(fields_, name);
    if (field == nullptr) return wrong(text, unknown_field_error(name));
    if (values.empty()) return wrong(text, make_message("missing value after {}{}", name, word.substr(at, length)));
    Result<Term, Message> done = field_term(std::move(term), *field, name, values);
    return done ? done : wrong(text, done.error());
  }

 private:
  Message unknown_field_error(std::string_view name) const {
    std::vector<std::string> names = query_names(fields_);
    const auto near = closest_matches(name.substr(0, 100), names);  // bounds the edit-distance cost
    if (!near.empty()) return make_message("unknown field “{}”; did you mean {}?", shortened(name), join_or(near));
    // Metrics are too many to list.
    std::erase_if(names, [&](const std::string& each) { return find_query_field(fields_, each)->metric; });
    return make_message("unknown field “{}”; available: {}", shortened(name), fmt::join(names, ", "));
  }

  /// `name`: the field name as typed, for messages.
  static Result<Term, Message> field_term(Term term, const QueryField& field, const std::string& name,
                                          std::string_view values) {
    term.field = field.name;
    const bool compares = term.op != ":";
    if (compares && !field.number) {
      return Failure{make_message("{0} is not numeric, so {1} does not apply; use {0}:VALUE", name, term.op)};
    }
    const std::vector<std::string_view> all = split(values, ",", true);
    if (compares && all.size() > 1) return Failure{make_message("{} takes one number", term.op)};
    for (const std::string_view each : all) {
      const std::string value = unquoted(each);
      if (value.empty()) return Failure{"missing value between commas or after the last one"};
      const auto number = field.number ? number_of(value, field) : std::nullopt;
      if (number) {
        term.numbers.push_back(*number);
      } else if (Message why = value_error(field, name, value, compares); !why.empty()) {
        return Failure<Message>{std::move(why)};
      } else {
        term.words.push_back(lower_case(value));
      }
    }
    return term;
  }

  /// Returns why the field does not accept the word; empty if it does.
  static Message value_error(const QueryField& field, const std::string& name, const std::string& value,
                             bool compares) {
    const bool known = std::ranges::any_of(
        field.words, [&](const std::string& word) { return lower_case(word) == lower_case(value); });
    if (field.number && (compares || (!known && !field.wrong))) {
      if (const std::string units = unit_suffixes(field); !units.empty()) {
        return make_message("{} takes a number, optionally in {}; “{}” is not one", name, units, shortened(value));
      }
      return make_message("{} takes a number; “{}” is not one", name, shortened(value));
    }
    if (field.words.empty()) return field.wrong ? field.wrong(value) : Message();
    if (known) return {};
    const auto near = closest_matches(std::string_view(value).substr(0, 100), field.words);
    if (!near.empty()) {
      return make_message("{} has no value “{}”; did you mean {}?", name, shortened(value), join_or(near));
    }
    return make_message("{} has no value “{}”; available: {}", name, shortened(value), fmt::join(field.words, ", "));
  }

  std::vector<QueryField> fields_;
};

/// Returns true if `wanted` (lower case) is the text or a part delimited by space, comma or colon.
bool has_delimited_match(std::string_view text, std::string_view wanted) {
  const std::string lower = lower_case(text);
  const auto bounds = [&](std::size_t begin, std::size_t end) {
    constexpr std::string_view between = " ,:";
    return (begin == 0 || between.find(lower[begin - 1]) != std::string_view::npos) &&
           (end == lower.size() || between.find(lower[end]) != std::string_view::npos);
  };
  for (std::size_t at = lower.find(wanted); at != std::string::npos; at = lower.find(wanted, at + 1)) {
    if (bounds(at, at + wanted.size())) return true;
  }
  return false;
}

bool matches_number(const Term& term, double value) {
  if (term.op == ":") return std::ranges::find(term.numbers, value) != term.numbers.end();
  const double wanted = term.numbers.front();
  const bool at_bound = term.op.ends_with('=') && value == wanted;
  return at_bound || (term.op.starts_with('<') ? value < wanted : value > wanted);
}

bool matches_field(const Term& term, const QueryField& field, const QueryValue& value) {
  if (value.number && matches_number(term, *value.number)) return true;
  return std::ranges::any_of(term.words, [&](const std::string& wanted) {
    return std::ranges::any_of(value.texts, [&](const std::string& text) {
      return field.whole ? lower_case(text) == wanted : has_delimited_match(text, wanted);
    });
  });
}

bool matches_bare_word(const Term& term, const QueryValue& value) {
  return std::ranges::any_of(value.texts, [&](const std::string& text) {
    return lower_case(text).find(term.words.front()) != std::string::npos;
  });
}

/// Caches the result of a predicate per distinct value of a field.
class CachedPredicate {
 public:
  using Predicate = std::function<bool(const QueryValue&)>;
  CachedPredicate(QueryColumn column, Predicate predicate)
      : column_(std::move(column)), predicate_(std::move(predicate)) {}

  bool fits(Row row) {
    if (!column_.key) return predicate_(column_.value(row));
    const auto [known, first] = known_.try_emplace(column_.key(row));
    if (first) known->second = predicate_(column_.value(row));
    return known->second;
  }

 private:
  QueryColumn column_;
  Predicate predicate_;
  std::unordered_map<std::uint64_t, bool> known_;
};

/// Fields that a term applies to, each with its predicate.
std::vector<CachedPredicate> predicates_of(const Term& term, const std::vector<QueryField>& fields,
                                           const PointTable& table) {
  std::vector<CachedPredicate> all;
  const auto add = [&](const QueryField& field, CachedPredicate::Predicate predicate) {
    all.emplace_back(field.of(table), std::move(predicate));
  };
  if (!term.field.empty()) {
    if (const QueryField* field = find_query_field(fields, term.field)) {
      add(*field, [&term, field](const QueryValue& value) { return matches_field(term, *field, value); });
    }
    return all;
  }
  for (const QueryField& field : fields) {
    if (field.bare) add(field, [&term](const QueryValue& value) { return matches_bare_word(term, value); });
  }
  return all;
}

}  // namespace

Result<PointQuery, Message> PointQuery::parse(std::string_view text, const PointTable& table) {
  if (text.size() > longest_query) {
    return Failure{make_message("The filter has {} characters; the maximum is {}.", text.size(), longest_query)};
  }
  PointQuery query;
  const TermParser parser(table);
  for (const std::string_view word : split(text, blanks, false)) {
    auto term = parser.read(word);
    if (!term) return Failure<Message>{term.error()};
    query.terms_.push_back(std::move(term).value());
  }
  return query;
}

std::vector<Row> PointQuery::rows(const PointTable& table) const {
  std::vector<Row> rows = table.rows();
  const std::vector<QueryField> fields = query_fields(table);
  for (const Term& term : terms_) {
    std::vector<CachedPredicate> predicates = predicates_of(term, fields, table);
    std::erase_if(rows, [&](Row row) {
      const bool fits = std::ranges::any_of(predicates, [row](CachedPredicate& each) { return each.fits(row); });
      return fits == term.negated;
    });
  }
  return rows;
}

namespace {

bool starts_with_text(std::string_view text, std::string_view beginning) {
  return lower_case(text.substr(0, beginning.size())) == beginning;
}

/// Checks a sample of the points; computing the whole column would keep it in memory.
bool has_metric(const PointTable& table, std::string_view metric) {
  constexpr Row sampled_rows = 500;
  for (Row row = 0; row < table.size(); row += 1 + table.size() / sampled_rows) {
    const std::optional<RowKernel> sum = table.points().sum(row);
    if (sum && evaluate(metric, *sum)) return true;
  }
  return false;
}

/// Distinct values in the table: numbers ascending, then words alphabetically. Empty for metrics.
std::vector<std::string> values_in(const QueryField& field, const PointTable& table) {
  const QueryColumn column = field.of(table);
  if (!column.key) return {};
  std::unordered_map<std::uint64_t, QueryValue> values;
  for (Row row = 0; row < table.size(); ++row) {
    const std::uint64_t key = column.key(row);
    if (!values.contains(key)) values.emplace(key, column.value(row));
  }
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [key, value] : values) {
    const double first = value.number.value_or(-1);
    if (field.number && !value.texts.empty()) order.emplace_back(first, value.texts.front());
    if (!field.number) {
      for (const std::string& text : value.texts) order.emplace_back(first, text);
    }
  }
  std::ranges::sort(order);
  std::vector<std::string> texts;
  for (auto& [first, text] : order) {
    if (texts.empty() || texts.back() != text) texts.push_back(std::move(text));
  }
  return texts;
}

std::string quoted(std::string text) {
  std::erase(text, '"');
  const bool plain = text.find_first_of(" \t,") == std::string::npos;
  return plain ? text : fmt::format("\"{}\"", text);
}

}  // namespace

QueryCompletion complete(std::string_view text, std::size_t cursor, const PointTable& table, std::size_t most) {
  QueryCompletion completion;
  cursor = std::min(cursor, text.size());
  if (text.size() > longest_query) return completion;
  std::size_t begin = 0;
  for (std::size_t gap = find_unquoted(text, blanks); gap < cursor; gap = find_unquoted(text, blanks, begin)) {
    begin = gap + 1;
  }
  const std::size_t word_end = std::min(find_unquoted(text, blanks, begin), text.size());
  if (begin < cursor && text[begin] == '-') ++begin;
  const std::string_view word = text.substr(begin, word_end - begin);
  const std::vector<QueryField> fields = query_fields(table);
  const std::size_t at = find_unquoted(word, operators);
  const auto offer = [&](std::string candidate) {
    if (completion.texts.size() < most) completion.texts.push_back(std::move(candidate));
  };
  if (at == std::string_view::npos || begin + at >= cursor) {
    completion.begin = begin;
    completion.end = at == std::string_view::npos ? word_end : begin + at + 1;
    completion.begun = cursor > begin;
    const std::string typed = lower_case(text.substr(begin, cursor - begin));
    for (const std::string& name : query_names(fields)) {
      if (!starts_with_text(name, typed)) continue;
      // Offers only metrics that the points have, and only after a letter is typed. Offers them with ">", because equal
      // values are rare.
      const bool metric = find_query_field(fields, name)->metric;
      if (metric && (typed.empty() || !has_metric(table, find_query_field(fields, name)->name))) continue;
      offer(name + (metric ? '>' : ':'));
    }
    return completion;
  }
  const QueryField* field = find_query_field(fields, word.substr(0, at));
  if (field == nullptr) return completion;
  std::size_t value = begin + at + operator_of(word.substr(at)).size();
  for (std::size_t comma = find_unquoted(text, ",", value); comma < cursor; comma = find_unquoted(text, ",", value)) {
    value = comma + 1;
  }
  completion.begin = std::min(value, cursor);
  completion.end = std::max(std::min(find_unquoted(text, ", \t", value), text.size()), cursor);
  completion.begun = true;
  const std::string typed = lower_case(unquoted(text.substr(completion.begin, cursor - completion.begin)));
  for (const std::string& each : values_in(*field, table)) {
    // A substring suffices: "H200" matches "NVIDIA H200".
    const bool meant =
        field->number ? starts_with_text(each, typed) : lower_case(each).find(typed) != std::string::npos;
    if (meant) offer(quoted(each));
  }
  return completion;
}

}  // namespace attnscope::analysis
