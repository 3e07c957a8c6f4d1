// SPDX-License-Identifier: Apache-2.0
// FlashAttention-2 forward in the style of CUTLASS 3: compile-time layouts, tensors as pointer and layout, an MMA atom,
// traits, a kernel struct with its shared memory. Needs nvcc: host headers, host functions, constexpr host code on the
// device (--expt-relaxed-constexpr). Q, O: [batch * heads, n_q, d]; K, V: [batch * heads, n_k, d].
#include <cuda_fp16.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace atoms {

template <int Rows, int Columns, int Pitch = Columns>
struct Layout {
  static constexpr std::integral_constant<int, Rows> rows{};
  static constexpr std::integral_constant<int, Columns> columns{};
  static constexpr std::size_t cosize = static_cast<std::size_t>(Rows) * Pitch;
  constexpr int operator()(int row, int column) const { return row * Pitch + column; }
};

template <class Element, class LayoutType>
struct Tensor {
  Element* data;
  LayoutType layout{};
  __device__ Element& operator()(int row, int column) const { return data[layout(row, column)]; }
};
template <class LayoutType, class Element>
__host__ __device__ constexpr Tensor<Element, LayoutType> make_tensor(Element* data, LayoutType layout = {}) {
  return {data, layout};
}

template <class F, int... I>
__device__ void for_each(std::integer_sequence<int, I...>, F&& f) {
  (f(std::integral_constant<int, I>{}), ...);
}
template <int Count, class F>
__device__ void for_each(F&& f) {
  for_each(std::make_integer_sequence<int, Count>{}, std::forward<F>(f));
}

struct Mma16x8x16 {
  using A = std::array<std::uint32_t, 4>;
  using B = std::array<std::uint32_t, 2>;
  using C = std::array<float, 4>;
  __device__ static void fma(C& c, const A& a, const B& b) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};

}  // namespace atoms

template <int Br_, int Bc_, int Dim_>
struct Traits {
  using Atom = atoms::Mma16x8x16;
  static constexpr int Br = Br_, Bc = Bc_, Dim = Dim_;
  static constexpr int threads = Br / 16 * 32;
  using Queries = atoms::Layout<Br, Dim, Dim + 8>;
  using Keys = atoms::Layout<Bc, Dim, Dim + 8>;
  static_assert(Br % 16 == 0 && Bc % 16 == 0 && Dim % 16 == 0, "whole atoms");
};

template <class T>
struct ForwardKernel {
  using Atom = typename T::Atom;
  struct SharedStorage {
    alignas(16) half q[T::Queries::cosize];
    alignas(16) half k[T::Keys::cosize];
    alignas(16) half v[T::Keys::cosize];
  };
  struct Arguments {
    const half *q, *k, *v;
    half* o;
    float* lse;
    int n_q, n_k;
    float scale;
    bool causal;
  };
  static constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

  static std::size_t shared_bytes() { return sizeof(SharedStorage); }  // for launchers
  static void check(const Arguments& arguments) {
    if (arguments.n_q <= 0 || arguments.n_k <= 0) throw std::invalid_argument("empty problem");
  }

  template <class Tile>
  __device__ static void load(Tile tile, const half* rows, int available) {
    constexpr int chunks = T::Dim / 8;
    for (int i = threadIdx.x; i < tile.layout.rows * chunks; i += T::threads) {
      const bool there = i / chunks < available;
      const uint4 chunk = there ? __ldcg(reinterpret_cast<const uint4*>(rows) + i) : make_uint4(0, 0, 0, 0);
      *reinterpret_cast<uint4*>(&tile(i / chunks, i % chunks * 8)) = chunk;
    }
  }
  __device__ static std::uint32_t word(const half& first) { return *reinterpret_cast<const std::uint32_t*>(&first); }
  __device__ static std::uint32_t pack(half low, half high) {
    return std::uint32_t{__half_as_ushort(low)} | std::uint32_t{__half_as_ushort(high)} << 16;
  }
  __device__ static std::uint32_t pack(float low, float high) {
    return pack(__float2half_rn(low), __float2half_rn(high));
  }

  __device__ void operator()(const Arguments& in, SharedStorage& storage) const {
    using atoms::for_each;
    const auto q_tile = atoms::make_tensor(storage.q, typename T::Queries{});
    const auto k_tile = atoms::make_tensor(storage.k, typename T::Keys{});
    const auto v_tile = atoms::make_tensor(storage.v, typename T::Keys{});
    const int lane = threadIdx.x % 32, group = lane / 4, pair = lane % 4 * 2;
    const int first_row = blockIdx.x * T::Br, tile_row = threadIdx.x / 32 * 16;
    const std::int64_t query = (std::int64_t{blockIdx.y} * in.n_q + first_row) * T::Dim;
    const std::int64_t key = std::int64_t{blockIdx.y} * in.n_k * T::Dim;
    const auto last_key = [&](int row) {  // that the row sees
      return in.causal ? std::min(in.n_k - 1, row + in.n_k - in.n_q) : in.n_k - 1;
    };
    const int block_last = last_key(std::min(first_row + T::Br, in.n_q) - 1);

    std::array<typename Atom::C, T::Dim / 8> out{};
    std::array<float, 2> maximum{minus_infinity, minus_infinity};
    std::array<float, 2> sum{};
    if (block_last >= 0) load(q_tile, in.q + query, in.n_q - first_row);

    for (int first_key = 0; first_key <= block_last; first_key += T::Bc) {
      __syncthreads();
      load(k_tile, in.k + key + std::int64_t{first_key} * T::Dim, in.n_k - first_key);
      load(v_tile, in.v + key + std::int64_t{first_key} * T::Dim, in.n_k - first_key);
      __syncthreads();

      std::array<typename Atom::C, T::Bc / 8> scores{};
      for_each<T::Dim / 16>([&](auto step) {
        const int c = step * 16 + pair, row = tile_row + group;
        const typename Atom::A a{word(q_tile(row, c)), word(q_tile(row + 8, c)), word(q_tile(row, c + 8)),
                                 word(q_tile(row + 8, c + 8))};
        for_each<T::Bc / 8>([&](auto n) {
          Atom::fma(scores[n], a, {word(k_tile(n * 8 + group, c)), word(k_tile(n * 8 + group, c + 8))});
        });
      });

      for_each<2>([&](auto h) {
        const int last = last_key(first_row + tile_row + group + 8 * h);
        float highest = maximum[h];
        for_each<T::Bc / 4>([&](auto i) {
          float& score = scores[i / 2][2 * h + i % 2];
          score = first_key + i / 2 * 8 + pair + i % 2 <= last ? score * in.scale : minus_infinity;
          highest = fmaxf(highest, score);
        });
        highest = fmaxf(highest, __shfl_xor_sync(~0U, highest, 1));
        highest = fmaxf(highest, __shfl_xor_sync(~0U, highest, 2));
        const float base = highest == minus_infinity ? 0.0f : highest;
        const float correction = expf(maximum[h] - base);
        maximum[h] = highest;
        sum[h] *= correction;
        for_each<T::Bc / 4>([&](auto i) {
          float& score = scores[i / 2][2 * h + i % 2];
          sum[h] += score = expf(score - base);
        });
        for_each<T::Dim / 4>([&](auto i) { out[i / 2][2 * h + i % 2] *= correction; });
      });

      for_each<T::Bc / 16>([&](auto j) {
        const auto& low = scores[2 * j];
        const auto& high = scores[2 * j + 1];
        const typename Atom::A a{pack(low[0], low[1]), pack(low[2], low[3]), pack(high[0], high[1]),
                                 pack(high[2], high[3])};
        for_each<T::Dim / 8>([&](auto n) {
          const auto value = [&](int k) { return v_tile(j * 16 + pair + k, n * 8 + group); };
          Atom::fma(out[n], a, {pack(value(0), value(1)), pack(value(8), value(9))});
        });
      });
    }

    const int row = first_row + tile_row;  // of the warp
    for_each<2>([&](auto h) {
      sum[h] += __shfl_xor_sync(~0U, sum[h], 1);
      sum[h] += __shfl_xor_sync(~0U, sum[h], 2);
      const float inverse = sum[h] > 0.0f ? 1.0f / sum[h] : 0.0f;
      const int own = group + 8 * h;
      if (pair == 0 && row + own < in.n_q) {
        in.lse[std::int64_t{blockIdx.y} * in.n_q + row + own] =
            sum[h] > 0.0f ? maximum[h] + logf(sum[h]) : minus_infinity;
      }
      for_each<T::Dim / 8>([&](auto n) {
        *reinterpret_cast<std::uint32_t*>(&q_tile(tile_row + own, n * 8 + pair)) =
            pack(out[n][2 * h] * inverse, out[n][2 * h + 1] * inverse);
      });
    });
    __syncwarp();
    for (int i = lane; i < 16 * T::Dim / 8; i += 32) {
      const int own = i / (T::Dim / 8), c = i % (T::Dim / 8) * 8;
      if (row + own >= in.n_q) continue;
      *reinterpret_cast<uint4*>(in.o + query + std::int64_t{tile_row + own} * T::Dim + c) =
          *reinterpret_cast<const uint4*>(&q_tile(tile_row + own, c));
    }
  }
};

using Forward = ForwardKernel<Traits<TILE_BR, TILE_BC, HEAD_DIM>>;

extern "C" __global__ void __launch_bounds__(Traits<TILE_BR, TILE_BC, HEAD_DIM>::threads)
    cute_forward(const half* q, const half* k, const half* v, half* o, float* lse, int n_q, int n_k, float scale,
                 bool causal) {
  extern __shared__ uint4 shared[];
  Forward{}({q, k, v, o, lse, n_q, n_k, scale, causal}, *reinterpret_cast<Forward::SharedStorage*>(shared));
}
