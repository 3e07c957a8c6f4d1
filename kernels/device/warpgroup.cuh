// SPDX-License-Identifier: Apache-2.0
// Hopper's warpgroup products (wgmma, PTX ISA "Asynchronous warpgroup level matrix instructions"; needs sm_90a) and
// barriers between producer and consumer warps. A warpgroup has four warps. Its 64-row accumulator is laid out in each
// warp as m16n8 accumulators of mma.cuh, one per 8 columns; warp w holds rows 16 w .. 16 w + 15.
#pragma once

#include "device/e4m3.cuh"
#include "device/panel_shape.h"
#include "device/shared_tile.cuh"

namespace attnscope::device {

inline constexpr int warpgroup_threads = 128;

/// Tile in the swizzled layout of wgmma, with `Bytes` bytes per element: panels (device/panel_shape.h) of `Rows` rows
/// (a multiple of 8), aligned to 1024 bytes. The 16-byte chunks of a row are permuted, so that eight rows of one chunk
/// column lie in different banks.
template <int Rows, int Columns, int Bytes = 2>
struct PanelTile {
  static_assert(Rows % 8 == 0 && Columns * Bytes % 32 == 0);
  static constexpr int columns = panel_columns(Columns, Bytes);
  static constexpr unsigned row_bytes = Bytes * columns;
  static constexpr unsigned panel_bytes = Rows * row_bytes;
  static constexpr int panels = Columns / columns;
  static constexpr unsigned bytes = panel_bytes * panels;

  /// Byte offset of chunk `chunk` within a panel row.
  __device__ __forceinline__ static unsigned place(unsigned row, unsigned chunk) {
    return (chunk ^ row * row_bytes / 128 % (row_bytes / 16)) * 16;
  }
  /// Byte offset of `column` (a multiple of 32 bytes) in a row, for descriptors.
  __device__ static constexpr unsigned column_offset(int column) {
    return column / columns * panel_bytes + column % columns * Bytes;
  }

  /// Copies `Count` rows, of which `inside` exist, with `Threads` threads (a multiple of 64, so that each thread has
  /// one swizzle offset). `tile` is the address of the first row.
  template <int Count, int Threads>
  __device__ __forceinline__ static void copy_rows(unsigned tile, const Element* global, int inside, int thread) {
    static_assert(Threads % 64 == 0 && columns == 64 && Bytes == 2);
    constexpr int at_once = Threads / 8;
    const int row = thread / 8;
    const int chunk = thread % 8;
    tile += row * row_bytes + place(row, chunk);
    global += row * Columns + chunk * 8;
    inside -= row;
#pragma unroll
    for (int panel = 0; panel < panels; ++panel) {
#pragma unroll
      for (int first = 0; first < Count; first += at_once) {
        if (Count % at_once == 0 || first + row < Count) {
          copy_async(tile + panel * panel_bytes + first * row_bytes, global + first * Columns + panel * 64,
                     first < inside);
        }
      }
    }
  }
};

/// Matrix descriptor of a swizzled panel tile with `RowBytes` per row. `leading` is the panel stride if the instruction
/// spans several panels (right operand with contiguous columns), else 16. To advance it, add a byte offset divided by
/// 16.
template <unsigned RowBytes = 128>
__device__ __forceinline__ unsigned long long panel_descriptor(unsigned address, unsigned leading) {
  constexpr unsigned long long swizzle = RowBytes == 128 ? 1 : RowBytes == 64 ? 2 : 3;
  constexpr unsigned long long eight_rows = 8 * RowBytes / 16;
  return swizzle << 62 | eight_rows << 32 | static_cast<unsigned long long>(leading / 16) << 16 | address / 16;
}

/// Orders earlier register accesses before the following products.
__device__ __forceinline__ void begin_products() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void commit_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int Pending>
__device__ __forceinline__ void wait_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}
/// Keeps the compiler from moving register accesses of a product across this point.
template <int Tiles>
__device__ __forceinline__ void pin(float (&registers)[Tiles][4]) {
#pragma unroll
  for (int n = 0; n < Tiles; ++n) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      asm volatile("" : "+f"(registers[n][e])::"memory");
    }
  }
}
template <int Tiles>
__device__ __forceinline__ void pin(unsigned (&registers)[Tiles][2]) {
#pragma unroll
  for (int n = 0; n < Tiles; ++n) {
    asm volatile("" : "+r"(registers[n][0]), "+r"(registers[n][1])::"memory");
  }
}

// Accumulator operands of an N-column product: their numbers (R) and their bindings (T).
#define ATTN_BIND "+f"
#define ATTN_TILE(n) ATTN_BIND(d[n][0]), ATTN_BIND(d[n][1]), ATTN_BIND(d[n][2]), ATTN_BIND(d[n][3])
#define ATTN_R16 "%0, %1, %2, %3, %4, %5, %6, %7"
#define ATTN_R32 ATTN_R16 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define ATTN_R48 ATTN_R32 ", %16, %17, %18, %19, %20, %21, %22, %23"
#define ATTN_R64 ATTN_R48 ", %24, %25, %26, %27, %28, %29, %30, %31"
#define ATTN_R80 ATTN_R64 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define ATTN_R96 ATTN_R80 ", %40, %41, %42, %43, %44, %45, %46, %47"
#define ATTN_R112 ATTN_R96 ", %48, %49, %50, %51, %52, %53, %54, %55"
#define ATTN_R128 ATTN_R112 ", %56, %57, %58, %59, %60, %61, %62, %63"
#define ATTN_R144 ATTN_R128 ", %64, %65, %66, %67, %68, %69, %70, %71"
#define ATTN_R160 ATTN_R144 ", %72, %73, %74, %75, %76, %77, %78, %79"
#define ATTN_R176 ATTN_R160 ", %80, %81, %82, %83, %84, %85, %86, %87"
#define ATTN_R192 ATTN_R176 ", %88, %89, %90, %91, %92, %93, %94, %95"
#define ATTN_R208 ATTN_R192 ", %96, %97, %98, %99, %100, %101, %102, %103"
#define ATTN_R224 ATTN_R208 ", %104, %105, %106, %107, %108, %109, %110, %111"
#define ATTN_R240 ATTN_R224 ", %112, %113, %114, %115, %116, %117, %118, %119"
#define ATTN_R256 ATTN_R240 ", %120, %121, %122, %123, %124, %125, %126, %127"
#define ATTN_T16 ATTN_TILE(0), ATTN_TILE(1)
#define ATTN_T32 ATTN_T16, ATTN_TILE(2), ATTN_TILE(3)
#define ATTN_T48 ATTN_T32, ATTN_TILE(4), ATTN_TILE(5)
#define ATTN_T64 ATTN_T48, ATTN_TILE(6), ATTN_TILE(7)
#define ATTN_T80 ATTN_T64, ATTN_TILE(8), ATTN_TILE(9)
#define ATTN_T96 ATTN_T80, ATTN_TILE(10), ATTN_TILE(11)
#define ATTN_T112 ATTN_T96, ATTN_TILE(12), ATTN_TILE(13)
#define ATTN_T128 ATTN_T112, ATTN_TILE(14), ATTN_TILE(15)
#define ATTN_T144 ATTN_T128, ATTN_TILE(16), ATTN_TILE(17)
#define ATTN_T160 ATTN_T144, ATTN_TILE(18), ATTN_TILE(19)
#define ATTN_T176 ATTN_T160, ATTN_TILE(20), ATTN_TILE(21)
#define ATTN_T192 ATTN_T176, ATTN_TILE(22), ATTN_TILE(23)
#define ATTN_T208 ATTN_T192, ATTN_TILE(24), ATTN_TILE(25)
#define ATTN_T224 ATTN_T208, ATTN_TILE(26), ATTN_TILE(27)
#define ATTN_T240 ATTN_T224, ATTN_TILE(28), ATTN_TILE(29)
#define ATTN_T256 ATTN_T240, ATTN_TILE(30), ATTN_TILE(31)
// One step covers 32 bytes of the left operand's rows. 8-bit operands always have contiguous rows, so their instruction
// has no transpose flags.
#if ATTN_FP8
#define ATTN_PRODUCT_TYPES "k32.f32.e4m3.e4m3"
#define ATTN_ROWS_BOTH ""
#elif ATTN_BF16
#define ATTN_PRODUCT_TYPES "k16.f32.bf16.bf16"
#define ATTN_ROWS_BOTH ", 0, 0"
#else
#define ATTN_PRODUCT_TYPES "k16.f32.f16.f16"
#define ATTN_ROWS_BOTH ", 0, 0"
#endif
// Both operands in shared memory with contiguous rows. i, j, k: numbers of the operands after the accumulator.
#define ATTN_PRODUCT_SHARED(N, registers, tiles, i, j, k)                                               \
  asm volatile("{.reg .pred p; setp.ne.b32 p, %" k                                                      \
               ", 0;\n"                                                                                 \
               "wgmma.mma_async.sync.aligned.m64n" N ATTN_PRODUCT_TYPES " {" registers "}, %" i ", %" j \
               ", p, 1, 1" ATTN_ROWS_BOTH ";}"                                                          \
               : tiles                                                                                  \
               : "l"(a), "l"(b), "n"(Accumulate ? 1 : 0)                                                \
               : "memory")
/// d (64 x N) = a b, or += a b if Accumulate, over 32 bytes of a's rows; N is a multiple of 16 up to 256.
template <int N, bool Accumulate>
__device__ __forceinline__ void product(float (&d)[N / 8][4], unsigned long long a, unsigned long long b) {
  static_assert(N % 16 == 0 && N <= 256);
  if constexpr (N == 16) {
    ATTN_PRODUCT_SHARED("16", ATTN_R16, ATTN_T16, "8", "9", "10");
  } else if constexpr (N == 32) {
    ATTN_PRODUCT_SHARED("32", ATTN_R32, ATTN_T32, "16", "17", "18");
  } else if constexpr (N == 48) {
    ATTN_PRODUCT_SHARED("48", ATTN_R48, ATTN_T48, "24", "25", "26");
  } else if constexpr (N == 64) {
    ATTN_PRODUCT_SHARED("64", ATTN_R64, ATTN_T64, "32", "33", "34");
  } else if constexpr (N == 80) {
    ATTN_PRODUCT_SHARED("80", ATTN_R80, ATTN_T80, "40", "41", "42");
  } else if constexpr (N == 96) {
    ATTN_PRODUCT_SHARED("96", ATTN_R96, ATTN_T96, "48", "49", "50");
  } else if constexpr (N == 112) {
    ATTN_PRODUCT_SHARED("112", ATTN_R112, ATTN_T112, "56", "57", "58");
  } else if constexpr (N == 128) {
    ATTN_PRODUCT_SHARED("128", ATTN_R128, ATTN_T128, "64", "65", "66");
  } else if constexpr (N == 144) {
    ATTN_PRODUCT_SHARED("144", ATTN_R144, ATTN_T144, "72", "73", "74");
  } else if constexpr (N == 160) {
    ATTN_PRODUCT_SHARED("160", ATTN_R160, ATTN_T160, "80", "81", "82");
  } else if constexpr (N == 176) {
    ATTN_PRODUCT_SHARED("176", ATTN_R176, ATTN_T176, "88", "89", "90");
  } else if constexpr (N == 192) {
    ATTN_PRODUCT_SHARED("192", ATTN_R192, ATTN_T192, "96", "97", "98");
  } else if constexpr (N == 208) {
    ATTN_PRODUCT_SHARED("208", ATTN_R208, ATTN_T208, "104", "105", "106");
  } else if constexpr (N == 224) {
    ATTN_PRODUCT_SHARED("224", ATTN_R224, ATTN_T224, "112", "113", "114");
  } else if constexpr (N == 240) {
    ATTN_PRODUCT_SHARED("240", ATTN_R240, ATTN_T240, "120", "121", "122");
  } else if constexpr (N == 256) {
    ATTN_PRODUCT_SHARED("256", ATTN_R256, ATTN_T256, "128", "129", "130");
  }
}

#if ATTN_FP8
#define ATTN_R72 ATTN_R64 ", %32, %33, %34, %35"
#define ATTN_T72 ATTN_T64, ATTN_TILE(8)
#define ATTN_PRODUCT_PART(N, registers, tiles, i, j, k, l, m, n)                                                 \
  asm volatile("{.reg .pred p; setp.ne.b32 p, %" n                                                               \
               ", 0;\n"                                                                                          \
               "wgmma.mma_async.sync.aligned.m64n" N ATTN_PRODUCT_TYPES " {" registers "}, {%" i ", %" j ", %" k \
               ", %" l "}, %" m ", p, 1, 1;}"                                                                    \
               : tiles                                                                                           \
               : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(b), "n"(Accumulate ? 1 : 0)                             \
               : "memory")

/// d (64 x N, N / 8 accumulator tiles) = a b, or += a b if Accumulate, with 32 8-bit columns of a in registers.
template <int N, bool Accumulate>
__device__ __forceinline__ void product(float (*d)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3,
                                        unsigned long long b) {
  static_assert(N == 64 || N == 72);
  if constexpr (N == 64) {
    ATTN_PRODUCT_PART("64", ATTN_R64, ATTN_T64, "32", "33", "34", "35", "36", "37");
  } else {
    ATTN_PRODUCT_PART("72", ATTN_R72, ATTN_T72, "36", "37", "38", "39", "40", "41");
  }
}
#undef ATTN_R72
#undef ATTN_T72
#undef ATTN_PRODUCT_PART
#else
// Left operand in registers, right operand in shared memory with contiguous columns.
#define ATTN_PRODUCT_REGISTERS(N, registers, tiles, i, j, k, l, m)                                               \
  asm volatile("wgmma.mma_async.sync.aligned.m64n" N ATTN_PRODUCT_TYPES " {" registers "}, {%" i ", %" j ", %" k \
               ", %" l "}, %" m ", 1, 1, 1, 1;"                                                                  \
               : tiles                                                                                           \
               : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(b)                                                      \
               : "memory")

/// d (64 x N, N / 8 accumulator tiles) += a b with a in registers; N is a multiple of 16 up to 128.
template <int N>
__device__ __forceinline__ void product(float (*d)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3,
                                        unsigned long long b) {
  static_assert(N % 16 == 0 && N <= 128);
  if constexpr (N == 16) {
    ATTN_PRODUCT_REGISTERS("16", ATTN_R16, ATTN_T16, "8", "9", "10", "11", "12");
  } else if constexpr (N == 32) {
    ATTN_PRODUCT_REGISTERS("32", ATTN_R32, ATTN_T32, "16", "17", "18", "19", "20");
  } else if constexpr (N == 48) {
    ATTN_PRODUCT_REGISTERS("48", ATTN_R48, ATTN_T48, "24", "25", "26", "27", "28");
  } else if constexpr (N == 64) {
    ATTN_PRODUCT_REGISTERS("64", ATTN_R64, ATTN_T64, "32", "33", "34", "35", "36");
  } else if constexpr (N == 80) {
    ATTN_PRODUCT_REGISTERS("80", ATTN_R80, ATTN_T80, "40", "41", "42", "43", "44");
  } else if constexpr (N == 96) {
    ATTN_PRODUCT_REGISTERS("96", ATTN_R96, ATTN_T96, "48", "49", "50", "51", "52");
  } else if constexpr (N == 112) {
    ATTN_PRODUCT_REGISTERS("112", ATTN_R112, ATTN_T112, "56", "57", "58", "59", "60");
  } else {
    ATTN_PRODUCT_REGISTERS("128", ATTN_R128, ATTN_T128, "64", "65", "66", "67", "68");
  }
}

// From here on the accumulator is bound as output only. Binding it as read-write would give it a value defined by
// another instruction, for which ptxas serializes all products in flight.
#undef ATTN_BIND
#define ATTN_BIND "=f"
#define ATTN_PRODUCT_FIRST(N, registers, tiles, i, j, columns)                                          \
  asm volatile("wgmma.mma_async.sync.aligned.m64n" N ATTN_PRODUCT_TYPES " {" registers "}, %" i ", %" j \
               ", 0, 1, 1, 0, " columns ";"                                                             \
               : tiles                                                                                  \
               : "l"(a), "l"(b)                                                                         \
               : "memory")

/// d (64 x N) = a b over 16 columns of a, both in shared memory; b has contiguous rows, or contiguous columns if
/// `Columns`.
template <int N, bool Columns = false>
__device__ __forceinline__ void first_product(float (&d)[N / 8][4], unsigned long long a, unsigned long long b) {
  static_assert(N == 64 || N == 128);
  if constexpr (N == 64 && Columns) {
    ATTN_PRODUCT_FIRST("64", ATTN_R64, ATTN_T64, "32", "33", "1");
  } else if constexpr (N == 64) {
    ATTN_PRODUCT_FIRST("64", ATTN_R64, ATTN_T64, "32", "33", "0");
  } else {
    static_assert(N == 128 && !Columns);
    ATTN_PRODUCT_FIRST("128", ATTN_R128, ATTN_T128, "64", "65", "0");
  }
}

// Left operand in registers, right operand in shared memory with contiguous rows.
#define ATTN_PRODUCT_HELD(N, registers, tiles, i, j, k, l, m, accumulate)                                        \
  asm volatile("wgmma.mma_async.sync.aligned.m64n" N ATTN_PRODUCT_TYPES " {" registers "}, {%" i ", %" j ", %" k \
               ", %" l "}, %" m ", " accumulate ", 1, 1, 0;"                                                     \
               : tiles                                                                                           \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)                                              \
               : "memory")

/// d (64 x N) = a b with 16 columns of a in registers; b has contiguous rows.
template <int N>
__device__ __forceinline__ void first_product(float (&d)[N / 8][4], const unsigned (&a)[4], unsigned long long b) {
  static_assert(N == 64 || N == 128);
  if constexpr (N == 64) {
    ATTN_PRODUCT_HELD("64", ATTN_R64, ATTN_T64, "32", "33", "34", "35", "36", "0");
  } else {
    ATTN_PRODUCT_HELD("128", ATTN_R128, ATTN_T128, "64", "65", "66", "67", "68", "0");
  }
}

#undef ATTN_BIND
#define ATTN_BIND "+f"

/// d (64 x N) += a b, a in registers, b in shared memory with contiguous rows.
template <int N>
__device__ __forceinline__ void product_left_registers(float (&d)[N / 8][4], const unsigned (&a)[4],
                                                       unsigned long long b) {
  static_assert(N == 64 || N == 128);
  if constexpr (N == 64) {
    ATTN_PRODUCT_HELD("64", ATTN_R64, ATTN_T64, "32", "33", "34", "35", "36", "1");
  } else {
    ATTN_PRODUCT_HELD("128", ATTN_R128, ATTN_T128, "64", "65", "66", "67", "68", "1");
  }
}

#define ATTN_PRODUCT_COLUMNS(N, registers, tiles, i, j, columns_left)                                   \
  asm volatile("wgmma.mma_async.sync.aligned.m64n" N ATTN_PRODUCT_TYPES " {" registers "}, %" i ", %" j \
               ", 1, 1, 1, " columns_left ", 1;"                                                        \
               : tiles                                                                                  \
               : "l"(a), "l"(b)                                                                         \
               : "memory")

/// d (64 x N) += a b, both in shared memory; b has contiguous columns, a contiguous rows (or columns if `Transposed`).
template <int N, bool Transposed = false>
__device__ __forceinline__ void product_columns(float (*d)[4], unsigned long long a, unsigned long long b) {
  static_assert(N == 64 || N == 128);
  if constexpr (N == 64 && Transposed) {
    ATTN_PRODUCT_COLUMNS("64", ATTN_R64, ATTN_T64, "32", "33", "1");
  } else if constexpr (N == 64) {
    ATTN_PRODUCT_COLUMNS("64", ATTN_R64, ATTN_T64, "32", "33", "0");
  } else {
    static_assert(Transposed);
    ATTN_PRODUCT_COLUMNS("128", ATTN_R128, ATTN_T128, "64", "65", "1");
  }
}

#endif  // !ATTN_FP8

#undef ATTN_BIND
#undef ATTN_TILE
#undef ATTN_R16
#undef ATTN_T16
#undef ATTN_R32
#undef ATTN_T32
#undef ATTN_R48
#undef ATTN_T48
#undef ATTN_R64
#undef ATTN_T64
#undef ATTN_R80
#undef ATTN_T80
#undef ATTN_R96
#undef ATTN_T96
#undef ATTN_R112
#undef ATTN_T112
#undef ATTN_R128
#undef ATTN_T128
#undef ATTN_R144
#undef ATTN_T144
#undef ATTN_R160
#undef ATTN_T160
#undef ATTN_R176
#undef ATTN_T176
#undef ATTN_R192
#undef ATTN_T192
#undef ATTN_R208
#undef ATTN_T208
#undef ATTN_R224
#undef ATTN_T224
#undef ATTN_R240
#undef ATTN_T240
#undef ATTN_R256
#undef ATTN_T256
#undef ATTN_PRODUCT_TYPES
#undef ATTN_ROWS_BOTH
#undef ATTN_PRODUCT_SHARED
#undef ATTN_PRODUCT_FIRST
#undef ATTN_PRODUCT_COLUMNS
#undef ATTN_PRODUCT_HELD
#undef ATTN_PRODUCT_REGISTERS

/// Elements of a row that one product step covers.
inline constexpr int product_depth = 32 / operand_bytes;

/// Queues s = Q K^T: 64 rows of Q (in a tile of QRows) and `Columns` rows of K, D elements each.
template <int Columns, int D, int QRows>
__device__ __forceinline__ void queue_scores(float (&s)[Columns / 8][4], unsigned long long q, unsigned long long k) {
#pragma unroll
  for (int at = 0; at < D; at += product_depth) {
    const unsigned long long a = q + PanelTile<QRows, D, operand_bytes>::column_offset(at) / 16;
    const unsigned long long b = k + PanelTile<Columns, D, operand_bytes>::column_offset(at) / 16;
    if (at == 0) {
      product<Columns, false>(s, a, b);
    } else {
      product<Columns, true>(s, a, b);
    }
  }
}

#if ATTN_FP8
/// Queues part (64 x Width) = P V for the columns of V from First. P is in registers as e4m3. V is transposed in a
/// ValueTile with `Keys` keys per row; every 16 keys are in the order of a packed accumulator (fa3/fa3_quantise.cuh).
template <int First, int Width, int Keys, class ValueTile>
__device__ __forceinline__ void queue_value_part(float (*part)[4], const unsigned (&p)[Keys / 16][2],
                                                 unsigned long long v) {
  static_assert(Keys % product_depth == 0 && First % 8 == 0);
  v += First * ValueTile::row_bytes / 16;
#pragma unroll
  for (int at = 0; at < Keys; at += product_depth) {
    const int m = at / 16;
    const unsigned long long b = v + ValueTile::column_offset(at) / 16;
    if (at == 0) {
      product<Width, false>(part, p[m][0], p[m][1], p[m + 1][0], p[m + 1][1], b);
    } else {
      product<Width, true>(part, p[m][0], p[m][1], p[m + 1][0], p[m + 1][1], b);
    }
  }
}
#else
/// Queues o (64 x D, from column `First`) += P V: P packed in registers, `Rows` rows of V. At most 128 columns at a
/// time, so that one instruction does not need all the registers that a thread starts with.
template <int Rows, int D, int First = 0>
__device__ __forceinline__ void queue_values(float (&o)[D / 8][4], const unsigned (&p)[Rows / 8][2],
                                             unsigned long long v) {
  constexpr int width = D - First >= 128 ? 128 : D - First;
#pragma unroll
  for (int step = 0; step < Rows / 16; ++step) {
    product<width>(o + First / 8, p[2 * step][0], p[2 * step][1], p[2 * step + 1][0], p[2 * step + 1][1],
                   v + (PanelTile<Rows, D>::column_offset(First) + step * 16 * PanelTile<Rows, D>::row_bytes) / 16);
  }
  if constexpr (First + width < D) {
    queue_values<Rows, D, First + width>(o, p, v);
  }
}

/// Queues s = A B^T like queue_scores, but with s as output only, so that it may be queued while other products are in
/// flight. The first 16 Held columns of A come from the registers `held`.
template <int Columns, int D, int ARows, int Held>
__device__ __forceinline__ void queue_new_scores(float (&s)[Columns / 8][4], const unsigned (&held)[4][4],
                                                 unsigned long long a, unsigned long long b) {
#pragma unroll
  for (int step = 0; step < D / 16; ++step) {
    const unsigned long long left = a + PanelTile<ARows, D>::column_offset(step * 16) / 16;
    const unsigned long long right = b + PanelTile<Columns, D>::column_offset(step * 16) / 16;
    if (step < Held) {
      if (step == 0) {
        first_product<Columns>(s, held[step], right);
      } else {
        product_left_registers<Columns>(s, held[step], right);
      }
    } else if (step == 0) {
      first_product<Columns>(s, left, right);
    } else {
      product<Columns, true>(s, left, right);
    }
  }
}

/// Queues c (64 x Columns) = A B: 64 rows of A (in a tile of ARows) of `Depth` elements, `Depth` rows of B (in a tile D
/// wide) with contiguous columns.
template <int Columns, int Depth, int ARows, int D>
__device__ __forceinline__ void queue_columns(float (&c)[Columns / 8][4], unsigned long long a, unsigned long long b) {
#pragma unroll
  for (int step = 0; step < Depth / 16; ++step) {
    const unsigned long long left = a + PanelTile<ARows, Depth>::column_offset(step * 16) / 16;
    const unsigned long long right = b + step * 16 * PanelTile<Depth, D>::row_bytes / 16;
    if (step == 0) {
      first_product<Columns, true>(c, left, right);
    } else {
      product_columns<Columns>(c, left, right);
    }
  }
}

/// Queues c (64 x D) += A^T B: `Depth` rows and 64 columns (one panel) of A, `Depth` rows and D (64 or 128) columns of
/// B.
template <int Depth, int D>
__device__ __forceinline__ void queue_transposed(float (&c)[D / 8][4], unsigned long long a, unsigned long long b) {
#pragma unroll
  for (int step = 0; step < Depth / 16; ++step) {
    product_columns<D, true>(c, a + step * 16 * PanelTile<Depth, 64>::row_bytes / 16,
                             b + step * 16 * PanelTile<Depth, D>::row_bytes / 16);
  }
}
#endif  // ATTN_FP8

/// Makes this thread's writes to shared memory visible to the tensor cores.
__device__ __forceinline__ void fence_async_proxy() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Initializes an mbarrier (8 bytes of shared memory) for `arrivals` arrivals per phase. Phases alternate between
/// parity 0 and 1.
__device__ __forceinline__ void barrier_init(unsigned barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
__device__ __forceinline__ void barrier_arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void barrier_wait(unsigned barrier, unsigned parity) {
  unsigned done;
  do {
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                 : "=r"(done)
                 : "r"(barrier), "r"(parity)
                 : "memory");
  } while (!done);
}

/// Named barriers of the block (0 is __syncthreads) for `threads` waiting or arriving threads.
__device__ __forceinline__ void named_barrier_sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
__device__ __forceinline__ void named_barrier_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// Moves registers between the warpgroups of a block (setmaxnreg); executed by whole warpgroups.
template <int Registers>
__device__ __forceinline__ void increase_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}
template <int Registers>
__device__ __forceinline__ void decrease_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}

}  // namespace attnscope::device
