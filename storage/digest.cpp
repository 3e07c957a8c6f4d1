// SPDX-License-Identifier: Apache-2.0
#include "storage/digest.h"

#include <fmt/format.h>
#include <sqlite3.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <bit>
#include <charconv>
#include <iterator>

namespace attnscope {
namespace {

Digest digest_of_bytes(const void* bytes, std::size_t size) {
  const XXH128_hash_t hash = XXH3_128bits(bytes, size);
  return {.high = hash.high64, .low = hash.low64};
}

void append(std::string& bytes, std::uint64_t word) {
  const auto raw = std::bit_cast<std::array<char, sizeof word>>(word);
  bytes.append(raw.data(), raw.size());
}

void append(std::string& bytes, std::string_view text) {
  append(bytes, std::uint64_t{text.size()});
  bytes += text;
}

}  // namespace

Digest& Digest::operator+=(const Digest& other) {
  high += other.high;
  low += other.low;
  return *this;
}

std::string to_string(const Digest& digest) {
  return fmt::format("{:016x}{:016x}", digest.high, digest.low);
}

std::optional<Digest> parse_digest(std::string_view text) {
  constexpr std::size_t half = 16;
  if (text.size() != 2 * half) return std::nullopt;
  const auto read = [](std::string_view digits) -> std::optional<std::uint64_t> {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return value;
  };
  const auto high = read(text.substr(0, half));
  const auto low = read(text.substr(half));
  if (!high || !low) return std::nullopt;
  return Digest{.high = *high, .low = *low};
}

Digest combined(std::initializer_list<std::uint64_t> words) {
  return digest_of_bytes(std::data(words), words.size() * sizeof(std::uint64_t));
}

void HashedRows::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

HashedRows::HashedRows(SQLite::Database& database, const std::string& sql, std::int64_t id) : database_(database) {
  sqlite3_stmt* statement = nullptr;
  const int prepared = sqlite3_prepare_v2(database.getHandle(), sql.c_str(), -1, &statement, nullptr);
  statement_.reset(statement);
  if (prepared != SQLITE_OK) throw SQLite::Exception(database.getHandle(), prepared);
  sqlite3_bind_int64(statement, 1, id);
}

bool HashedRows::next() {
  const int result = sqlite3_step(statement_.get());
  if (result != SQLITE_ROW && result != SQLITE_DONE) throw SQLite::Exception(database_.getHandle(), result);
  return result == SQLITE_ROW;
}

std::int64_t HashedRows::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

Digest HashedRows::digest(std::string_view kind, int first) {
  sqlite3_stmt* const row = statement_.get();
  bytes_.clear();
  append(bytes_, kind);
  for (int i = first; i < sqlite3_column_count(row); ++i) {
    const int type = sqlite3_column_type(row, i);
    bytes_ += static_cast<char>(type);
    switch (type) {
      case SQLITE_NULL:
        break;
      case SQLITE_INTEGER:
        append(bytes_, std::bit_cast<std::uint64_t>(std::int64_t{sqlite3_column_int64(row, i)}));
        break;
      case SQLITE_FLOAT:
        append(bytes_, std::bit_cast<std::uint64_t>(sqlite3_column_double(row, i)));
        break;
      default: {
        const auto* const data = static_cast<const char*>(sqlite3_column_blob(row, i));
        append(bytes_, std::string_view(data, static_cast<std::size_t>(sqlite3_column_bytes(row, i))));
      }
    }
  }
  return digest_of_bytes(bytes_.data(), bytes_.size());
}

}  // namespace attnscope
