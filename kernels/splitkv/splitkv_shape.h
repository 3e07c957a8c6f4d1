// SPDX-License-Identifier: Apache-2.0
// Geometry of the split-KV kernels, for host and device. No includes, so that NVRTC can compile it.
#pragma once

namespace attnscope::splitkv {

/// Rows are swizzled in 16-byte chunks in shared memory; one MMA step covers 16 columns of d.
constexpr bool supported_head_dim(int d) {
  return d >= 16 && d <= 256 && d % 16 == 0;
}

/// Maximum packed query rows per K/V head (its query heads times n_q): four m16 tiles.
constexpr int max_rows = 64;

/// Split granularity in keys: the k dimension of one product P V. Pages are multiples of it.
constexpr int fragment = 16;

/// Maximum keys per step.
constexpr int max_bc = 512;

/// Maximum warps per block: with 8, each thread may use 255 registers.
constexpr int max_warps = 8;

/// Maximum number of groups. A warp owns one m16 tile of the packed rows. A group has one warp per m16 tile; groups
/// process the chunks of a split in turn, each with separate softmax statistics and O. Single-warp groups do not
/// synchronize before the end of the split.
constexpr int max_groups(int br) {
  return br < 16 * max_warps ? max_warps / (br / 16) : 1;
}
/// Keys that a group processes at once: wider chunks need fewer reductions, if Bc has enough chunks for all groups.
constexpr int chunk_keys(int br, int bc, int d) {
  return bc % 32 == 0 && bc / 32 >= max_groups(br) && d <= 128 ? 32 : fragment;
}
constexpr int groups(int br, int bc, int d) {
  const int chunks = bc / chunk_keys(br, bc, d);
  return chunks < max_groups(br) ? chunks : max_groups(br);
}
constexpr int threads(int br, int bc, int d) {
  return groups(br, bc, d) * (br / 16) * 32;
}

/// Estimated registers per thread: O accumulator, scores of one chunk, the same as 16-bit operands, and a constant for
/// fragments, addresses and statistics.
constexpr int register_estimate(int br, int bc, int d, bool paged) {
  return d / 2 + chunk_keys(br, bc, d) * 3 / 2 + 42 + (paged ? 14 : 0);
}

/// Chunks of a group in flight or in use, so that the block holds about `stages` steps of Bc keys.
constexpr int ring_chunks(int br, int bc, int d, int stages) {
  return stages * (bc / chunk_keys(br, bc, d)) / groups(br, bc, d);
}
/// Head dimensions of an 8-bit cache, which is converted 32 columns at a time.
constexpr bool supported_8_bit_head_dim(int d) {
  return supported_head_dim(d) && d % 32 == 0;
}

/// Bytes of K and V in all groups' rings; `element`: element size in bytes.
constexpr long long ring_bytes(int br, int bc, int d, int element, int stages) {
  return 2LL * element * d * groups(br, bc, d) * ring_chunks(br, bc, d, stages) * chunk_keys(br, bc, d);
}

/// Row pitch of the buffer in which the groups' O are summed, which reuses the rings and Q. Rows of d fp32 are padded
/// by 8 words, which avoids bank conflicts of two-word stores.
constexpr int exchange_pitch(int d) {
  return d + 8;
}
constexpr long long exchange_bytes(int br, int bc, int d) {
  return 4LL * groups(br, bc, d) * br * exchange_pitch(d);
}
/// Bytes of the rings and the Q tile (always 16-bit), reused by the exchange buffer.
constexpr long long tile_area_bytes(int br, int bc, int d, int element, int stages) {
  const long long tiles = ring_bytes(br, bc, d, element, stages) + 2LL * br * d;
  const long long exchange = exchange_bytes(br, bc, d);
  return tiles > exchange ? tiles : exchange;
}
/// Maximum and sum of each row, per group.
constexpr long long statistics_bytes(int br, int bc, int d) {
  return 8LL * groups(br, bc, d) * br;
}

/// Block-table entries that a block holds at a time.
constexpr int table_window = 1024;

/// Key length of the batch entry, padded to 16 bytes.
constexpr int key_length_bytes = 16;
/// Scales of a head's K and V, padded.
constexpr int scale_bytes(int element) {
  return element == 1 ? 16 : 0;
}

/// Tiles, statistics, block-table window, key length and scales. All of it is dynamic shared memory, since static
/// shared memory would take a whole 1024 bytes before the aligned tiles.
constexpr long long shared_bytes(int br, int bc, int d, int element, int stages, bool paged, bool padded) {
  return tile_area_bytes(br, bc, d, element, stages) + statistics_bytes(br, bc, d) + (paged ? 4LL * table_window : 0) +
         (padded ? key_length_bytes : 0) + scale_bytes(element);
}

constexpr int min_stages = 1;
constexpr int max_stages = 8;
/// Steps of Bc keys that fit in `limit` bytes; at least min_stages.
constexpr int stages_for_limit(int br, int bc, int d, int element, bool paged, bool padded, long long limit) {
  int stages = max_stages;
  while (stages > min_stages && shared_bytes(br, bc, d, element, stages, paged, padded) > limit) {
    --stages;
  }
  return stages;
}

/// Keys of one split. The entry's keys are divided into fragments; the first splits take one more if they do not divide
/// evenly. With more splits than fragments, the last splits are empty.
struct SplitKeys {
  int first;
  int last;
};
constexpr SplitKeys split_keys(int length, int split, int splits) {
  const int fragments = (length + fragment - 1) / fragment;
  const int each = fragments / splits;
  const int longer = fragments % splits;
  const int first = each * split + (split < longer ? split : longer);
  const int last = first + each + (split < longer ? 1 : 0);
  return {first * fragment, last * fragment < length ? last * fragment : length};
}
/// Number of leading splits with keys.
constexpr int nonempty_split_count(int length, int splits) {
  const int fragments = (length + fragment - 1) / fragment;
  return fragments < splits ? fragments : splits;
}

/// Rows of partial LSE per split. Partial results are [K/V heads, splits]; partial LSE is padded to whole 32-byte
/// sectors of eight packed rows.
constexpr int lse_rows(int rows) {
  return (rows + 7) / 8 * 8;
}

/// A combine block processes eight packed rows and 16 columns of O: whole sectors of partial LSE, partial O and O.
constexpr int combine_rows = 8;
constexpr int combine_columns = 16;
constexpr int combine_warps = 8;
/// Splits whose partial results a warp keeps in flight.
constexpr int combine_splits = 9;
constexpr int combine_registers = 64;
/// O, sum and maximum per warp.
constexpr long long combine_shared_bytes = combine_warps * (4LL * combine_rows * combine_columns + 8LL * combine_rows);

/// Quantization kernel: keys per block, threads per block, registers per thread.
constexpr int quantized_keys = 4096;
constexpr int quantize_threads = 256;
constexpr int quantize_registers = 64;

}  // namespace attnscope::splitkv
