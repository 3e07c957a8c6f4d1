// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/row_numbers.h"

#include <algorithm>

#include "kernels/model/integer.h"

namespace attnscope {
namespace {

constexpr int number_bytes = 4;
constexpr std::int64_t in_a_sector = sector_bytes / number_bytes;

}  // namespace

std::int64_t RowNumbers::sectors(std::int64_t place, std::int64_t rows) const {
  // A request that begins inside a sector moves one more than its rows fill.
  const std::int64_t whole = rows / request_rows;
  const std::int64_t rest = rows % request_rows;
  return whole * (request_rows / in_a_sector + (place > 0 ? 1 : 0)) +
         (rest > 0 ? ceil_div(place + rest, in_a_sector) : 0);
}

std::int64_t RowNumbers::bytes(const Visits& visits, std::int64_t first, std::int64_t heads) const {
  const std::int64_t last_rows = head_rows - (ceil_div(head_rows, tile_rows) - 1) * tile_rows;
  std::int64_t all = 0;
  // Every eighth head begins at the same place.
  for (std::int64_t head = first; head < first + std::min(heads, in_a_sector); ++head) {
    const std::int64_t alike = ceil_div(first + heads - head, in_a_sector);
    const std::int64_t place = head % in_a_sector * (head_rows % in_a_sector) % in_a_sector;
    all += alike * ((visits.all - visits.last) * sectors(place, tile_rows) + visits.last * sectors(place, last_rows));
  }
  return all * sector_bytes;
}

std::int64_t RowNumbers::bytes_once(std::int64_t heads) const {
  return bytes({.all = ceil_div(head_rows, tile_rows), .last = 1}, 0, heads);
}

std::int64_t RowNumbers::bytes_seen(const AttentionProblem& p, std::span<const std::vector<TileRun>> rows) const {
  const auto heads = p.instances() / std::ssize(rows);
  std::int64_t all = 0;
  for (std::size_t entry = 0; entry < rows.size(); ++entry) {
    const std::vector<TileRun>& of_head = rows[entry];
    all += bytes({.all = visited_tiles(of_head), .last = of_head.back().seen}, static_cast<std::int64_t>(entry) * heads,
                 heads);
  }
  return all;
}

TileAccess RowNumbers::access(Tensor tensor, Access access, std::int64_t head, std::int64_t row, std::int64_t rows,
                              Phase phase, std::uint8_t on_chip) const {
  TileAccess numbers{tensor, access, head, row, rows, 0, 1, number_bytes, phase, on_chip};
  numbers.request_rows = static_cast<std::uint8_t>(request_rows);
  numbers.place = static_cast<std::int8_t>((head * head_rows + row) % in_a_sector);
  return numbers;
}

}  // namespace attnscope
