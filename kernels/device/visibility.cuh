// SPDX-License-Identifier: Apache-2.0
// Which keys a query row sees, and which tiles a kernel can skip. ATTN_MASK selects the rules at compile time, so that
// others cost nothing: bit 0 right bound (causal: 0), bit 1 left bound, bit 2 key lengths, bit 3 block mask. Host
// counterpart: kernels/model/tile_grid.h.
#pragma once

namespace attnscope::device {

inline constexpr bool bounded_right = (ATTN_MASK & 1) != 0;
inline constexpr bool bounded_left = (ATTN_MASK & 2) != 0;
inline constexpr bool padded_keys = (ATTN_MASK & 4) != 0;
inline constexpr bool has_block_mask = (ATTN_MASK & 8) != 0;
/// Later rows see more keys, so launches start with the last row tiles.
inline constexpr bool last_rows_first = bounded_right && !bounded_left;

struct Visibility {
  int length;  ///< number of unpadded keys
  int n_q;
  int upper;  ///< row r sees keys below r + upper ...
  int lower;  ///< ... and from r + lower
  const unsigned char* blocks;
  int block_size;
  int block_columns;

  /// Keys visible to any row of a tile: [key_begin(first row), key_end(last row)).
  __device__ __forceinline__ int key_begin(int first_row) const { return bounded_left ? max(0, first_row + lower) : 0; }
  __device__ __forceinline__ int key_end(int last_row) const {
    return bounded_right ? max(0, min(length, last_row + upper)) : length;
  }
  /// Rows that see any key of a tile: [row_begin(first key), row_end(last key)). Pre: the first key is not padding.
  __device__ __forceinline__ int row_begin(int first_key) const {
    return bounded_right ? max(0, first_key - upper + 1) : 0;
  }
  __device__ __forceinline__ int row_end(int last_key) const {
    return bounded_left ? max(0, min(n_q, min(last_key, length - 1) - lower + 1)) : n_q;
  }
  /// Returns false if the block mask hides the whole tile. A tile lies in one mask block.
  __device__ __forceinline__ bool visited(int first_row, int first_key) const {
    return !has_block_mask || blocks[first_row / block_size * block_columns + first_key / block_size] != 0;
  }
  /// First key (of a tile of `Columns` keys) at or after `key` that row tile `first_row` visits; `end` or more if none.
  template <int Columns>
  __device__ __forceinline__ int next_key_tile(int first_row, int key, int end) const {
    if constexpr (has_block_mask) {
      while (key < end && !visited(first_row, key)) {
        key = (key / block_size + 1) * block_size;
      }
    }
    return key;
  }
  /// First key of the first key tile that rows [first_row, last_row] visit; key_end(last_row) or more if none.
  template <int Columns>
  __device__ __forceinline__ int first_key_tile(int first_row, int last_row) const {
    return next_key_tile<Columns>(first_row, key_begin(first_row) / Columns * Columns, key_end(last_row));
  }
  /// Like next_key_tile(), but for row tiles of `Rows` rows, given by tile index.
  template <int Rows>
  __device__ __forceinline__ int next_row_tile(int first_key, int tile, int end) const {
    if constexpr (has_block_mask) {
      while (tile < end && !visited(tile * Rows, first_key)) {
        tile = (tile * Rows / block_size + 1) * (block_size / Rows);
      }
    }
    return tile;
  }
  /// Returns whether every row of [first_row, first_row + rows) sees all keys of [first_key, first_key + keys).
  __device__ __forceinline__ bool whole(int first_row, int rows, int first_key, int keys) const {
    return first_key + keys <= length && (!bounded_right || first_key + keys <= first_row + upper) &&
           (!bounded_left || first_key >= first_row + rows - 1 + lower);
  }
  /// Keys that one row sees: [first(row), last(row)).
  __device__ __forceinline__ int first(int row) const { return bounded_left ? row + lower : 0; }
  __device__ __forceinline__ int last(int row) const { return bounded_right ? min(length, row + upper) : length; }
};

/// Visibility of batch entry `entry`, from the trailing arguments of every masked kernel.
__device__ __forceinline__ Visibility visibility(int entry, int n_q, int n_k, int left, int right,
                                                 const int* key_lengths, const unsigned char* block_mask,
                                                 int mask_block) {
  Visibility v;
  v.length = padded_keys ? key_lengths[entry] : n_k;
  v.n_q = n_q;
  v.upper = v.length - n_q + right + 1;
  v.lower = v.length - n_q - left;
  v.blocks = block_mask;
  v.block_size = mask_block;
  v.block_columns = has_block_mask ? (n_k + mask_block - 1) / mask_block : 0;
  return v;
}

}  // namespace attnscope::device
