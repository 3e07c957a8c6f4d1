// SPDX-License-Identifier: Apache-2.0
// Geometry of the split-KV kernels (Flash-Decoding): one place for the host, which launches them, and for the device
// code. No includes, so that NVRTC can read it too.
#pragma once

namespace attnscope::splitkv {

/// The on-chip row is swizzled in 16-byte chunks; one product step covers 16 columns of d.
constexpr bool supported_head_dim(int d) {
  return d >= 16 && d <= 256 && d % 16 == 0;
}

/// Packed query rows of one K/V head (its query heads times n_q), at most: four m16 tiles.
constexpr int max_rows = 64;

/// Keys that a split is cut in: the K of one product P V. A page holds whole ones.
constexpr int fragment = 16;

/// Keys of a step, at most.
constexpr int max_bc = 512;

/// Warps of a block, at most: their O accumulators leave each thread all the registers it can address.
constexpr int max_warps = 8;

/// A warp owns one m16 tile of the packed rows. The warps of one K/V chunk, one for each m16 tile, are a group; groups
/// take the chunks of a split in turn, each with softmax statistics and an O of its own. One-warp groups do not wait
/// for one another before the split's end.
constexpr int max_groups(int br) {
  return br < 16 * max_warps ? max_warps / (br / 16) : 1;
}
/// Keys that a group works on at a time: wider ones cost fewer reductions, where Bc has enough for all groups.
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

/// O accumulator, scores of one chunk, the same as 16-bit operands, and what fragments, addresses and statistics take.
constexpr int register_estimate(int br, int bc, int d, bool paged) {
  return d / 2 + chunk_keys(br, bc, d) * 3 / 2 + 42 + (paged ? 14 : 0);
}

/// Chunks in flight or in use of each group, so that the block holds about `stages` steps of Bc keys.
constexpr int ring_chunks(int br, int bc, int d, int stages) {
  return stages * (bc / chunk_keys(br, bc, d)) / groups(br, bc, d);
}
/// A cache of 8 bits comes to the tensor cores 32 columns at a time.
constexpr bool supported_8_bit_head_dim(int d) {
  return supported_head_dim(d) && d % 32 == 0;
}

/// K and V of all groups' rings, elements of `element` bytes.
constexpr long long ring_bytes(int br, int bc, int d, int element, int stages) {
  return 2LL * element * d * groups(br, bc, d) * ring_chunks(br, bc, d, stages) * chunk_keys(br, bc, d);
}

/// Where the groups lay their O to be added up, over the rings and Q once those have been read: rows of d fp32 padded
/// by 8 words, which keeps stores of two words free of bank conflicts.
constexpr int exchange_pitch(int d) {
  return d + 8;
}
constexpr long long exchange_bytes(int br, int bc, int d) {
  return 4LL * groups(br, bc, d) * br * exchange_pitch(d);
}
/// The rings and the Q tile, which has 16 bits whatever K and V have; later the exchange.
constexpr long long tile_area_bytes(int br, int bc, int d, int element, int stages) {
  const long long tiles = ring_bytes(br, bc, d, element, stages) + 2LL * br * d;
  const long long exchange = exchange_bytes(br, bc, d);
  return tiles > exchange ? tiles : exchange;
}
/// Each group's maximum and sum of each row.
constexpr long long statistics_bytes(int br, int bc, int d) {
  return 8LL * groups(br, bc, d) * br;
}

/// Entries of the block table that a block holds at a time.
constexpr int table_window = 1024;

/// The entry's key length, with padding to 16 bytes.
constexpr int key_length_bytes = 16;
/// Scales of a head's K and V, with padding.
constexpr int scale_bytes(int element) {
  return element == 1 ? 16 : 0;
}

/// The tiles, the statistics, the window of the block table, the entry's key length and the head's scales: all of it
/// dynamic, since what is static takes a whole 1024 bytes before tiles that are aligned so.
constexpr long long shared_bytes(int br, int bc, int d, int element, int stages, bool paged, bool padded) {
  return tile_area_bytes(br, bc, d, element, stages) + statistics_bytes(br, bc, d) + (paged ? 4LL * table_window : 0) +
         (padded ? key_length_bytes : 0) + scale_bytes(element);
}

constexpr int min_stages = 1;
constexpr int max_stages = 8;
/// Steps of Bc keys that fit in `limit` bytes; min_stages where not even those do.
constexpr int stages_within(int br, int bc, int d, int element, bool paged, bool padded, long long limit) {
  int stages = max_stages;
  while (stages > min_stages && shared_bytes(br, bc, d, element, stages, paged, padded) > limit) {
    --stages;
  }
  return stages;
}

/// The keys of one split: the entry's keys are cut in fragments, the first splits take one more where they do not
/// divide. With more splits than fragments the last splits are empty.
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
/// Splits that have any key: the first ones.
constexpr int splits_with_keys(int length, int splits) {
  const int fragments = (length + fragment - 1) / fragment;
  return fragments < splits ? fragments : splits;
}

/// Partial results are [K/V heads, splits]: a block's lie at its number. Partial LSE takes whole 32-byte sectors of
/// eight packed rows.
constexpr int lse_rows(int rows) {
  return (rows + 7) / 8 * 8;
}

/// A block of the combine takes eight packed rows and 16 columns of O: whole sectors of partial LSE, partial O and O.
constexpr int combine_rows = 8;
constexpr int combine_columns = 16;
constexpr int combine_warps = 8;
/// Splits whose partial results a warp has in flight at a time.
constexpr int combine_splits = 9;
constexpr int combine_registers = 64;
/// O, sum and maximum of each warp.
constexpr long long combine_shared_bytes = combine_warps * (4LL * combine_rows * combine_columns + 8LL * combine_rows);

/// The kernel that makes a cache of 8 bits: keys of a block, threads of one, registers of a thread.
constexpr int quantised_keys = 4096;
constexpr int quantise_threads = 256;
constexpr int quantise_registers = 64;

}  // namespace attnscope::splitkv
