// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/csv_reader.h"

#include <algorithm>
#include <array>

#include "profiler/plan/text.h"
#include "profiler/units/csv.h"
#include "storage/exchange/import_values.h"

namespace attnscope::exchange {
namespace {

constexpr std::size_t max_fields = 4096;
constexpr std::size_t max_field_bytes = std::size_t{1} << 20;

[[noreturn]] void fail_in_column(std::size_t line, std::size_t place, Message why) {
  fail(make_message("line {}, column {}: {}", line, place, why));
}

void require_length(std::size_t length, std::size_t line, std::size_t place) {
  if (length > max_field_bytes) fail_in_column(line, place, "the field exceeds 1 MiB");
}

}  // namespace

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

std::string CsvReader::quoted(std::size_t place) {
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
    require_length(field.size(), opened, place);
  }
  ++at_;
  if (!ended() && text_[at_] != separator_ && text_[at_] != '\n' && text_[at_] != '\r') {
    fail_in_column(line_, place, "text after the closing quote");
  }
  return field;
}

std::string CsvReader::plain(std::size_t place) {
  const std::string_view rest = text_.substr(at_);
  const std::array ends{separator_, '\n'};
  std::string_view field = rest.substr(0, rest.find_first_of(std::string_view(ends.data(), ends.size())));
  at_ += field.size();
  while (!field.empty() && (field.back() == '\r' || field.back() == ' ')) field.remove_suffix(1);
  while (!field.empty() && field.front() == ' ') field.remove_prefix(1);
  require_length(field.size(), line_, place);
  return std::string(field);
}

std::optional<CsvLine> CsvReader::next() {
  while (!ended()) {
    if (text_[at_] == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size() - 1) + 1;
      ++line_;
      continue;
    }
    CsvLine record{.number = line_, .fields = {}};
    for (;;) {
      const std::size_t place = record.fields.size() + 1;
      if (place > max_fields) fail(line_place(record.number), make_message("more than {} columns", max_fields));
      record.fields.push_back(!ended() && text_[at_] == '"' ? quoted(place) : plain(place));
      std::string& field = record.fields.back();
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

CsvReader table_reader(std::string_view text) {
  constexpr std::string_view mark = "sep=";
  const bool marked = text.starts_with(mark) && text.size() > mark.size();
  const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
  return marked ? CsvReader(text.substr(end), 2, text[mark.size()]) : CsvReader(text, 1, detect_separator(text));
}

bool has_decimal_comma(std::string_view text, char separator) {
  if (separator == ',') return false;
  constexpr std::string_view digits = "0123456789";
  std::size_t commas = 0;
  std::size_t points = 0;
  std::string unclear;
  CsvReader lines(text, 1, separator);
  while (const auto line = lines.next()) {
    for (const std::string& field : line->fields) {
      const std::size_t at = field.find_last_of(",.");
      const bool plain = field.find_first_not_of("0123456789.,+-eE") == std::string::npos;
      if (!plain || at == std::string::npos || at == 0 || digits.find(field[at - 1]) == std::string_view::npos)
        continue;
      const std::size_t after = std::min(field.find_first_not_of(digits, at + 1), field.size()) - at - 1;
      const bool ambiguous = after == 3 && field.find_first_of(".,") == at && field[0] != '0';
      if (ambiguous && field[at] == ',') unclear = field;
      if (ambiguous) continue;
      ++(field[at] == ',' ? commas : points);
    }
  }
  if (commas > 0 && points > 0)
    fail("numbers with a decimal comma and with a decimal point (save the table with one of them)");
  if (commas + points == 0 && !unclear.empty()) {
    fail(
        make_message("'{}' is ambiguous: a decimal comma, or a separator of thousands (save the table without "
                     "separators of thousands)",
                     unclear));
  }
  return commas > 0;
}

void require_field_count(const CsvLine& header, const CsvLine& line) {
  if (line.fields.size() == header.fields.size()) return;
  const FileLocation place = line_place(line.number);
  if (line.fields.size() == 1) fail(place, make_message("1 field, but the header has {}", header.fields.size()));
  fail(place, make_message("{} fields, but the header has {}", line.fields.size(), header.fields.size()));
}

}  // namespace attnscope::exchange
