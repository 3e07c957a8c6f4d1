// SPDX-License-Identifier: Apache-2.0
// Digests of rows, and the checksum of a run: of its row, device, environment, shards, points and all that belongs to
// them, by content, so that ids and the order of rows change nothing. What people edit (name, note, tags, hidden,
// deleted) is outside. A user-defined kernel counts by its digest, which readers compare with its text. They detect
// damage, not an adversary. Internal to storage.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3_stmt;

namespace attnscope {

/// 128 bits. The sum of digests does not depend on their order.
struct Digest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  Digest& operator+=(const Digest& other);
  bool operator==(const Digest&) const = default;
  auto operator<=>(const Digest&) const = default;
};
/// 32 hexadecimal digits.
[[nodiscard]] std::string to_string(const Digest&);
/// Nothing for any other text.
[[nodiscard]] std::optional<Digest> parse_digest(std::string_view text);

/// The digest of some words, whose order counts.
[[nodiscard]] Digest combined(std::initializer_list<std::uint64_t> words);

/// The rows of a query with one parameter, by the types and values of their columns. Throws SQLite::Exception.
class HashedRows {
 public:
  HashedRows(SQLite::Database&, const std::string& sql, std::int64_t id);

  /// The next row.
  [[nodiscard]] bool next();
  [[nodiscard]] std::int64_t integer(int column) const;
  /// Of the columns from `first` on, under a name that no other kind of row has.
  [[nodiscard]] Digest digest(std::string_view kind, int first);

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  SQLite::Database& database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  std::string bytes_;
};

/// Of the run's content. Throws SQLite::Exception.
[[nodiscard]] Digest checksum_of_run(SQLite::Database&, std::int64_t run);

/// Stores the checksum of a run that has ended. Throws SQLite::Exception.
void sign_run(SQLite::Database&, std::int64_t run);

}  // namespace attnscope
