// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/csv_reader.h"

#include "profiler/plan/text.h"
#include "storage/exchange/import_values.h"

namespace attnscope::exchange {

std::vector<CsvLine> parse_csv(std::string_view text, std::size_t first) {
  std::vector<CsvLine> lines;
  std::size_t line = first;
  std::size_t i = 0;
  while (i < text.size()) {
    CsvLine& record = lines.emplace_back();
    record.number = line;
    for (;;) {
      std::string& field = record.fields.emplace_back();
      if (i < text.size() && text[i] == '"') {
        const std::size_t opened = line;
        for (++i;; ++i) {
          if (i >= text.size()) fail("line {}: a quoted field does not end", opened);
          if (text[i] == '\n') ++line;
          if (text[i] != '"') {
            field += text[i];
          } else if (i + 1 < text.size() && text[i + 1] == '"') {
            field += text[i++];
          } else {
            break;
          }
        }
        ++i;
        if (i < text.size() && text[i] != ',' && text[i] != '\n' && text[i] != '\r') {
          fail("line {}, column {}: something follows the closing quote", line, record.fields.size());
        }
      } else {
        while (i < text.size() && text[i] != ',' && text[i] != '\n') field += text[i++];
        while (!field.empty() && (field.back() == '\r' || field.back() == ' ')) field.pop_back();
        field.erase(0, field.find_first_not_of(' '));
      }
      if (const std::string_view meant = without_guard(field); meant.size() != field.size()) field.erase(0, 1);
      if (i < text.size() && text[i] == '\r') ++i;
      if (i >= text.size() || text[i] == '\n') break;
      ++i;  // the comma
    }
    if (i < text.size()) ++i;  // the newline
    ++line;
    if (record.fields.size() == 1 && record.fields[0].empty()) lines.pop_back();
  }
  return lines;
}

void require_width(const CsvLine& header, const CsvLine& line) {
  if (line.fields.size() == header.fields.size()) return;
  fail("line {}: {} fields below a header of {}", line.number, line.fields.size(), header.fields.size());
}

}  // namespace attnscope::exchange
