// SPDX-License-Identifier: Apache-2.0
// Flash-Decoding (T. Dao et al., 2023), first kernel: attention of a few queries over one split of the keys. A block
// processes one split of one K/V head. The head's query heads times n_q, which are contiguous in memory, are the rows
// of one Q tile, so that K and V are read once for all of them.
//
// Tile program of block (split, K/V head), with keys [first, last) of the entry's n_k or key length:
//   load Q; for j = 0 .. ceil((last - first) / Bc) - 1: load K_j, load V_j; store partial O (fp32), store partial LSE
// A split without keys stores only its partial LSE, -inf. With a paged cache, a block first loads the split's entries
// of the block table, table_window at a time. With an 8-bit cache (ATTN_FP8) it also loads its head's two scales.
#include "device/attention.cuh"
#include "device/e4m3.cuh"
#include "device/early_start.cuh"
#include "device/global.cuh"
#include "device/trace.cuh"
#include "splitkv/splitkv_fp8.cuh"
#include "splitkv/splitkv_shape.h"

namespace attnscope::splitkv {

using namespace device;

constexpr int d = ATTN_D;
constexpr int br = ATTN_BR;
constexpr int bc = ATTN_BC;
constexpr bool causal = (ATTN_MASK & 1) != 0;
constexpr bool lengths = (ATTN_MASK & 4) != 0;
constexpr bool paged = ATTN_PAGED;

constexpr int m_tiles = br / 16;
constexpr int all_groups = groups(br, bc, d);
constexpr int block_threads = threads(br, bc, d);
constexpr int group_threads = m_tiles * 32;
constexpr int chunk = chunk_keys(br, bc, d);
constexpr int ring = ring_chunks(br, bc, d, ATTN_STAGES);
constexpr int pitch = exchange_pitch(d);

using Tile = SharedTile<fp8 ? d / 2 : d>;  // for K and V
using QTile = SharedTile<d>;
constexpr unsigned half_slot = chunk * Tile::row_bytes;  // K of a chunk, followed by V

/// Copies `Rows` keys of K or V from row `row`, of which `inside` exist.
template <int Rows>
__device__ __forceinline__ void copy_keys(unsigned tile, const void* from, long long row, int inside, int thread) {
  constexpr int stride = d * operand_bytes / 2;
  Tile::copy_rows<Rows, group_threads>(tile, static_cast<const Element*>(from) + row * stride, stride, inside, thread);
}

/// Synchronizes the warps of a group: a warp-level barrier for one warp, else a block barrier, which keeps all groups
/// in step.
__device__ __forceinline__ void group_sync() {
  if constexpr (m_tiles == 1) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}

}  // namespace attnscope::splitkv

extern "C" __global__ void __launch_bounds__(attnscope::splitkv::block_threads, 1)
    attn_splitkv_partial(const unsigned short* q, const void* k, const void* v, const int* block_table, float* o_part,
                         float* lse_part, int group, int n_q, int n_k, int splits, int page, float scale, int heads_q,
                         int left, int right, const int* key_lengths, const unsigned char* block_mask, int mask_block,
                         int keep, unsigned seed, const float* k_scales, const float* v_scales) {
  using namespace attnscope::splitkv;
  extern __shared__ __align__(1024) unsigned char shared[];
  const unsigned shared_ring = shared_address(shared);
  const unsigned shared_q = shared_ring + ring_bytes(br, bc, d, operand_bytes, ATTN_STAGES);
  float* const exchange = reinterpret_cast<float*>(shared);
  float* const maxima = reinterpret_cast<float*>(shared + tile_area_bytes(br, bc, d, operand_bytes, ATTN_STAGES));
  float* const sums = maxima + all_groups * br;
  int* const table = reinterpret_cast<int*>(sums + all_groups * br);
  float* const scales =
      reinterpret_cast<float*>(table + (paged ? table_window : 0) + (lengths ? key_length_bytes / 4 : 0));

  allow_next_launch();  // lets the combine kernel occupy free resources early

  const int kv = static_cast<int>(blockIdx.x / static_cast<unsigned>(splits));
  const int split = static_cast<int>(blockIdx.x) - kv * splits;
  const int heads_kv = heads_q / group;
  const int entry = kv / heads_kv;
  const int rows = group * n_q;
  const int thread = static_cast<int>(threadIdx.x);

  int length = n_k;
  if constexpr (lengths) {
    // Read by one thread, since every read past L1 is traffic.
    int* const shared_length = table + (paged ? table_window : 0);
    if (thread == 0) {
      *shared_length = __ldcg(key_lengths + entry);
    }
    __syncthreads();
    length = *shared_length;
  }
  const SplitKeys keys = split_keys(length, split, splits);
  float* const lse = lse_part + static_cast<long long>(blockIdx.x) * lse_rows(rows);
  if (keys.first >= keys.last) {
    if (thread < lse_rows(rows)) {
      store_float(lse + thread, minus_infinity);
    }
    return;
  }

  float k_scale = 0.0f;  // loads in flight while copies start
  float v_scale = 0.0f;
  if (fp8 && thread == 0) {
    k_scale = load_float(k_scales + kv);
    v_scale = load_float(v_scales + kv);
  }
  float* const out = o_part + static_cast<long long>(blockIdx.x) * rows * d;

  const int lane = thread % 32;
  const int group_index = thread / group_threads;
  const int group_thread = thread % group_threads;
  const int m_tile = group_thread / 32;

  const int page_shift = paged ? 31 - __clz(page) : 0;
  const int entry_pages = paged ? (n_k + page - 1) >> page_shift : 0;
  const int head = kv % heads_kv;
  const long long contiguous = static_cast<long long>(kv) * n_k;

  const unsigned ring_base = shared_ring + group_index * ring * 2 * half_slot;
  const unsigned q_lane = QTile::left_lane_address(shared_q + m_tile * 16 * QTile::row_bytes, lane);
  const unsigned k_lane = Tile::right_lane_address(ring_base, lane);
  const unsigned v_lane = Tile::left_lane_address(ring_base + half_slot, lane);

  float o[1][d / 8][4];
  RowStatistics<1> statistics;
  int limit[2];  // the thread's two rows see the keys before it
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    statistics.maximum[0][half] = minus_infinity;
    statistics.sum[0][half] = 0.0f;
    const int query = (m_tile * 16 + half * 8 + lane / 4) % n_q;
    limit[half] = causal ? min(keys.last, query + length - n_q + 1) : keys.last;
  }
#pragma unroll
  for (int n = 0; n < d / 8; ++n) {
    o[0][n][0] = o[0][n][1] = o[0][n][2] = o[0][n][3] = 0.0f;
  }
  // Every row sees the keys before it.
  const int unmasked = causal ? min(keys.last, length - n_q + 1) : keys.last;
  float scale_log2 = scale * log2_e;

  // Online softmax over the chunk of keys from `key`; keys before `last` exist.
  const auto attend = [&](int key, int last, unsigned slot) {
    float s[1][chunk / 8][4];
    unsigned p[1][chunk / 8][2];
    if constexpr (fp8) {
      scores_8_bit<chunk, d>(s[0], force_recompute(q_lane), k_lane + slot);
    } else {
      scores<1, chunk, d>(s, force_recompute(q_lane), k_lane + slot);
    }
    if (key + chunk > min(unmasked, last)) {
      const int column = key + lane % 4 * 2;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int n = 0; n < chunk / 8; ++n) {
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            if (column + n * 8 + e >= min(limit[half], last)) {
              s[0][n][half * 2 + e] = minus_infinity;
            }
          }
        }
      }
    }
    online_softmax<1, chunk, d>(p, s, o, statistics, scale_log2);
    if constexpr (fp8) {
      accumulate_8_bit<chunk, d>(o[0], p[0], v_lane + slot);
    } else {
      accumulate<1, chunk, d>(o, p, v_lane + slot);
    }
  };

  bool q_wanted = true;
  int first = keys.first;
  do {
    // Unpaged: the whole split. Paged: the keys that one window of the block table covers. Windows end where the
    // table's address is a multiple of the window size, so that no sector is read twice.
    int last = keys.last;
    int table_first = 0;
    if constexpr (paged) {
      const int row_begin = entry * entry_pages;
      table_first = row_begin + (first >> page_shift);
      const int next_window = (table_first / table_window + 1) * table_window - row_begin;
      if (next_window <= (keys.last - 1) >> page_shift) {
        last = next_window << page_shift;
      }
      const int entries = ((last - 1) >> page_shift) - (first >> page_shift) + 1;
      const int before = table_first % 8;  // entries back to the start of the sector, so that no two loads share one
      __syncthreads();                     // the previous window is no longer read
      for (int i = thread - before; i < entries; i += block_threads) {
        if (i >= 0) {
          table[i] = __ldcg(block_table + table_first + i);
        }
      }
      __syncthreads();
    }
    const int chunks = (last - first + chunk - 1) / chunk;
    const int mine = (chunks - group_index + all_groups - 1) / all_groups;
    const int rounds = m_tiles == 1 ? mine : (chunks + all_groups - 1) / all_groups;

    const auto copy = [&](int index, int slot) {
      const int key = first + (index * all_groups + group_index) * chunk;
      const unsigned tile = ring_base + slot * 2 * half_slot;
      if constexpr (paged) {
#pragma unroll
        for (int part = 0; part < chunk; part += fragment) {
          const int at = min(key + part, last - 1);
          const long long physical = table[(at >> page_shift) - (first >> page_shift)];
          const long long row = ((physical * heads_kv + head) << page_shift) + (at & (page - 1));
          const unsigned part_tile = tile + part * Tile::row_bytes;
          copy_keys<fragment>(part_tile, k, row, last - key - part, group_thread);
          copy_keys<fragment>(part_tile + half_slot, v, row, last - key - part, group_thread);
        }
      } else {
        trace_load(group_thread == 0, TraceTarget::k, contiguous + key, min(chunk, last - key));
        trace_load(group_thread == 0, TraceTarget::v, contiguous + key, min(chunk, last - key));
        copy_keys<chunk>(tile, k, contiguous + key, last - key, group_thread);
        copy_keys<chunk>(tile + half_slot, v, contiguous + key, last - key, group_thread);
      }
    };

#pragma unroll 1
    for (int index = 0; index < ring; ++index) {
      if (index < mine) {
        copy(index, index);
      }
      if (index == 0 && q_wanted) {
        trace_load(thread == 0, TraceTarget::q, static_cast<long long>(kv) * rows, rows);
        QTile::copy_rows<br, block_threads>(shared_q, q + static_cast<long long>(kv) * rows * d, d, rows, thread);
      }
      commit_copies();
    }
    if (q_wanted) {
      if (fp8 && thread == 0) {
        scales[0] = k_scale;
        scales[1] = v_scale;
      }
      wait_copies<ring - 1>();
      __syncthreads();  // Q has arrived
      if constexpr (fp8) {
        reorder_queries<br, d, block_threads>(shared + (shared_q - shared_ring), thread);
        scale_log2 *= scales[0];
        __syncthreads();
      }
      q_wanted = false;
    }

    int slot = 0;
#pragma unroll 1
    for (int index = 0; index < rounds; ++index) {
      wait_copies<ring - 1>();
      group_sync();
      if (m_tiles == 1 || index < mine) {
        attend(first + (index * all_groups + group_index) * chunk, last, slot * 2 * half_slot);
      }
      group_sync();  // the chunk has been read
      if (index + ring < mine) {
        copy(index + ring, slot);
      }
      commit_copies();
      slot = slot + 1 == ring ? 0 : slot + 1;
    }
    first = last;
  } while (paged && first < keys.last);

  // Rescales the groups' results to their common maximum.
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = group_index * br + m_tile * 16 + half * 8 + lane / 4;
    const float sum = quad_sum(statistics.sum[0][half]);
    if (lane % 4 == 0) {
      maxima[row] = statistics.maximum[0][half] * scale_log2;
      sums[row] = sum;
    }
  }
  wait_copies<0>();
  __syncthreads();  // the tiles are no longer read
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = m_tile * 16 + half * 8 + lane / 4;
    if (row < rows) {
      float* const to = exchange + (group_index * br + row) * pitch;
#pragma unroll
      for (int n = 0; n < d / 8; n += fp8 ? 2 : 1) {
        const float x = o[0][n][half * 2];
        const float y = o[0][n][half * 2 + 1];
        if constexpr (fp8) {
          *reinterpret_cast<float4*>(to + n * 8 + lane % 4 * 4) =
              make_float4(x, o[0][n + 1][half * 2], y, o[0][n + 1][half * 2 + 1]);
        } else {
          *reinterpret_cast<float2*>(to + n * 8 + lane % 4 * 2) = make_float2(x, y);
        }
      }
    }
  }
  if (thread < br) {
    float maximum = minus_infinity;
#pragma unroll
    for (int g = 0; g < all_groups; ++g) {
      maximum = fmaxf(maximum, maxima[g * br + thread]);
    }
    const float reference = maximum == minus_infinity ? 0.0f : maximum;
    float weights[all_groups];
    float sum = 0.0f;
#pragma unroll
    for (int g = 0; g < all_groups; ++g) {
      weights[g] = exp2_fast(maxima[g * br + thread] - reference);
      sum += weights[g] * sums[g * br + thread];
    }
    const bool any = sum > 0.0f && thread < rows;
    float inverse = any ? __fdividef(1.0f, sum) : 0.0f;
    if constexpr (fp8) {
      inverse *= scales[1];
    }
#pragma unroll
    for (int g = 0; g < all_groups; ++g) {
      maxima[g * br + thread] = weights[g] * inverse;
    }
    if (thread < lse_rows(rows)) {
      store_float(lse + thread, any ? (maximum + __log2f(sum)) * ln_2 : minus_infinity);
    }
  }
  __syncthreads();
#pragma unroll 1
  for (int at = thread; at < rows * (d / 4); at += block_threads) {
    const int row = at / (d / 4);
    const int column = at % (d / 4) * 4;
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
    for (int g = 0; g < all_groups; ++g) {
      const float weight = maxima[g * br + row];
      const float4 part = *reinterpret_cast<const float4*>(exchange + (g * br + row) * pitch + column);
      sum.x += weight * part.x;
      sum.y += weight * part.y;
      sum.z += weight * part.z;
      sum.w += weight * part.w;
    }
    store_16_bytes(out + row * d + column, __float_as_uint(sum.x), __float_as_uint(sum.y), __float_as_uint(sum.z),
                   __float_as_uint(sum.w));
  }
}
