// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "storage/exchange/import_formats.h"
#include "storage/exchange/import_values.h"

namespace attnscope {

using namespace exchange;  // NOLINT(google-build-using-namespace): this file is part of it

namespace {

/// A name's first byte that is no UTF-8, or npos.
std::size_t invalid_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned char first = byte(i);
    const std::size_t length = first < 0x80   ? 1
                               : first < 0xC2 ? 0
                               : first < 0xE0 ? 2
                               : first < 0xF0 ? 3
                               : first < 0xF5 ? 4
                                              : 0;
    if (length == 0 || i + length > text.size()) return i;
    for (std::size_t k = 1; k < length; ++k) {
      if ((byte(i + k) & 0xC0U) != 0x80U) return i;
    }
    if (length > 2) {  // overlong forms, surrogates, beyond Unicode
      const unsigned char second = byte(i + 1);
      if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) || (first == 0xF0 && second < 0x90) ||
          (first == 0xF4 && second > 0x8F)) {
        return i;
      }
    }
    i += length;
  }
  return std::string_view::npos;
}

}  // namespace

Result<ImportFormat, std::string> parse_import_format(std::string_view text) {
  if (text == "json") return ImportFormat::json;
  if (text == "csv") return ImportFormat::csv;
  if (text == "ncu") return ImportFormat::ncu;
  return Failure{fmt::format("unknown format '{}': json, csv or ncu expected", text)};
}

ImportFormat detect_import_format(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && (text[first] == '{' || text[first] == '[')) return ImportFormat::json;
  return ncu_table(text) != std::string_view::npos ? ImportFormat::ncu : ImportFormat::csv;
}

Result<Import, std::string> import_points(std::string_view text, ImportFormat format, const ImportRequest& request) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  try {
    if (const std::size_t at = invalid_utf8(text); at != std::string_view::npos) {
      const auto line = std::ranges::count(text.substr(0, at), '\n') + 1;
      fail("line {}: byte {} is no UTF-8 text", line, at - (text.rfind('\n', at) + 1) + 1);
    }
    switch (format) {
      case ImportFormat::json:
        return import_json(text, request);
      case ImportFormat::csv:
        return import_csv(text, request);
      case ImportFormat::ncu:
        if (!request.spec)
          fail("ncu's table does not say what was computed: give --algorithm, and -a N=... as for collect");
        return import_ncu(text, request);
    }
    fail("unknown format");
  } catch (const Wrong& wrong) {
    return Failure{std::string(wrong.what())};
  } catch (const nlohmann::json::exception& error) {
    return Failure{std::string(error.what())};
  }
}

}  // namespace attnscope
