// SPDX-License-Identifier: Apache-2.0
// Row digests and the checksum of a run. The checksum covers the run's row, device, environment, shards, points and
// their rows by content, so ids and row order do not matter. It excludes what users edit (name, note, tags, hidden,
// deleted). A user-defined kernel is covered by its digest, which readers compare with its text. Checksums detect
// damage, not tampering. Internal to storage.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3_stmt;

namespace attnscope {

/// 128-bit digest. Adding digests is commutative, so row order does not matter.
struct Digest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  Digest& operator+=(const Digest& other);
  bool operator==(const Digest&) const = default;
};
/// Returns 32 hexadecimal digits.
[[nodiscard]] std::string to_string(const Digest&);
/// Returns the digest of a sequence of words; the order matters.
[[nodiscard]] Digest combined(std::initializer_list<std::uint64_t> words);

/// Rows of a query with one parameter, hashed by column type and value. Throws SQLite::Exception.
class RowHasher {
 public:
  RowHasher(SQLite::Database&, const std::string& sql, std::int64_t id);

  /// Advances to the next row; false at the end.
  [[nodiscard]] bool next();
  [[nodiscard]] std::int64_t integer(int column) const;
  /// Returns the digest of the columns from `first` on. `kind` must be unique to this kind of row.
  [[nodiscard]] Digest digest(std::string_view kind, int first);

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  SQLite::Database& database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  std::string bytes_;
};

/// Throws SQLite::Exception.
[[nodiscard]] Digest checksum_of_run(SQLite::Database&, std::int64_t run);

/// Throws SQLite::Exception. Pre: the run has ended.
void store_checksum(SQLite::Database&, std::int64_t run);

}  // namespace attnscope
