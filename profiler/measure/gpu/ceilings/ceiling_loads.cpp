// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/ceilings/ceiling_loads.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <utility>

#include "kernels/device/ceiling_shape.h"
#include "kernels/model/ceilings.h"

namespace attnscope::gpu {
namespace {

namespace key = ceiling_key;
using Method = CeilingLoad::Method;
using Value = CeilingLoad::Value;

constexpr const char* fp16_define = "ATTN_BF16=0";
constexpr const char* bf16_define = "ATTN_BF16=1";

constexpr std::int64_t mib = std::int64_t{1} << 20;
/// A GPU at its power limit lowers its clock within tens of milliseconds. Shorter loads would be timed at a clock that
/// real kernels do not sustain.
constexpr double long_load_ms = 60;

struct Setting {
  const DeviceLimits& limits;
  const CeilingBuffers& buffers;

  [[nodiscard]] unsigned sms() const { return static_cast<unsigned>(limits.sm_count); }
};

KernelLaunch make_ceiling_launch(std::string_view name, const char* file, const char* entry,
                                 std::vector<std::string> defines, unsigned blocks, unsigned threads,
                                 std::vector<Argument> arguments) {
  KernelLaunch launch;
  launch.name = std::string(name);
  launch.source = {.file = file, .entry = entry, .defines = std::move(defines)};
  launch.grid = {blocks, 1, 1};
  launch.block = {threads, 1, 1};
  launch.arguments = std::move(arguments);
  launch.arguments.emplace_back(BufferArgument{ceiling_report});
  launch.arguments.emplace_back(std::int32_t{1});
  return launch;
}

/// Memory sweep configuration: loads in flight per thread, threads per block, blocks per SM (0: one block per chunk),
/// whether accesses are streaming (evict-first), and whether only copies use it.
struct Sweep {
  int at_once;
  unsigned threads;
  unsigned blocks_per_sm;
  bool stream;
  bool copy_only;
};
constexpr std::array sweeps{
    Sweep{4, 512, 4, false, false}, Sweep{4, 512, 4, true, false}, Sweep{8, 512, 2, false, false},
    Sweep{8, 512, 2, true, false},  Sweep{2, 1024, 2, true, true}, Sweep{4, 256, 0, false, true},
    Sweep{4, 256, 0, true, false},  Sweep{8, 256, 0, true, true},  Sweep{2, 512, 0, false, false}};

/// Each half of the data buffer is a multiple of this, so that every sweep covers whole chunks.
constexpr std::int64_t largest_chunk = std::int64_t{1} << 16;

/// The last of `arguments` must be the number of bytes.
CeilingLoad swept(const Setting& at, std::string_view name, const Sweep& sweep, const char* entry,
                  std::vector<Argument> arguments, double amount) {
  const std::int64_t bytes = std::get<std::int64_t>(arguments.back());
  const std::int64_t chunk = std::int64_t{16} * sweep.at_once * sweep.threads;
  const unsigned blocks =
      sweep.blocks_per_sm > 0 ? sweep.blocks_per_sm * at.sms() : static_cast<unsigned>(bytes / chunk);
  return {.key = name,
          .amount = amount,
          .iterations_in_grid = sweep.blocks_per_sm == 0,
          .launch = make_ceiling_launch(name, "ceilings/memory.cuh", entry,
                                        {"ATTN_AT_ONCE=" + std::to_string(sweep.at_once),
                                         std::string("ATTN_STREAM=") + (sweep.stream ? "1" : "0")},
                                        blocks, sweep.threads, std::move(arguments))};
}

CeilingLoad dram_read(const Setting& at, const Sweep& sweep) {
  const std::int64_t bytes = at.buffers.data_bytes;
  return swept(at, key::dram_read, sweep, "attn_ceiling_read", {BufferArgument{"data"}, bytes},
               static_cast<double>(bytes));
}

CeilingLoad dram_write(const Setting& at, const Sweep& sweep) {
  const std::int64_t bytes = at.buffers.data_bytes / 2;
  return swept(at, key::dram_write, sweep, "attn_ceiling_write", {BufferArgument{"data_half"}, bytes},
               static_cast<double>(bytes));
}

/// Counts bytes read plus bytes written.
CeilingLoad dram_copy(const Setting& at, const Sweep& sweep) {
  const std::int64_t bytes = at.buffers.data_bytes / 2;
  return swept(at, key::dram_copy, sweep, "attn_ceiling_copy",
               {BufferArgument{"data_half"}, BufferArgument{"data"}, bytes}, 2.0 * static_cast<double>(bytes));
}

/// Reads `bytes` of data, one slice per SM. `shared` is passed to the kernel.
CeilingLoad slices(const Setting& at, std::string_view name, std::int64_t bytes, bool shared) {
  const std::int64_t slice = bytes / at.limits.sm_count / 512 * 512;
  return {.key = name,
          .argument = static_cast<double>(slice * at.limits.sm_count),
          .amount = static_cast<double>(slice * at.limits.sm_count),
          .milliseconds = 1.5,
          .warm = true,
          .launch = make_ceiling_launch(name, "ceilings/memory.cuh", "attn_ceiling_slices", {"ATTN_STREAM=0"}, at.sms(),
                                        1024, {BufferArgument{"data"}, slice, std::int32_t{shared}})};
}

CeilingLoad shared_memory(const Setting& at) {
  const unsigned blocks = 2 * at.sms();
  return {.key = key::shared_memory_read,
          .amount = 16.0 * ceiling_loads_per_iteration * ceiling_shared_threads * blocks,
          .milliseconds = long_load_ms,
          .launch = make_ceiling_launch(key::shared_memory_read, "ceilings/shared_memory.cuh", "attn_ceiling_shared",
                                        {}, blocks, ceiling_shared_threads, {})};
}

CeilingLoad arithmetic(const Setting& at, std::string_view name, const char* entry, double operations) {
  const unsigned blocks = 4 * at.sms();
  constexpr unsigned threads = 256;
  return {.key = name,
          .amount = operations * ceiling_chains * ceiling_chain_steps * threads * blocks,
          .milliseconds = long_load_ms,
          .launch = make_ceiling_launch(name, "ceilings/arithmetic.cuh", entry, {}, blocks, threads, {})};
}
CeilingLoad mma(const Setting& at, std::string_view name, const char* dtype_define) {
  const unsigned blocks = 2 * at.sms();
  constexpr unsigned threads = 256;
  constexpr unsigned warps = threads / 32;
  return {
      .key = name,
      .amount = 2.0 * 16 * 8 * 16 * mma_products * warps * blocks,
      .milliseconds = long_load_ms,
      .launch = make_ceiling_launch(name, "ceilings/mma.cuh", "attn_ceiling_mma", {dtype_define}, blocks, threads, {})};
}

CeilingLoad wgmma(const Setting& at, std::string_view name, DType dtype) {
  constexpr unsigned threads = wgmma_threads;
  constexpr unsigned warpgroups = threads / 128;
  std::vector<std::string> defines{output_dtype(dtype) == DType::bf16 ? bf16_define : fp16_define};
  if (dtype == DType::fp8) defines.emplace_back("ATTN_FP8=1");
  CeilingLoad load{
      .key = name,
      .amount = 2.0 * 64 * wgmma_columns * wgmma_depth * relative_throughput(dtype) * warpgroups * at.sms(),
      .milliseconds = long_load_ms,
      .launch = make_ceiling_launch(name, "ceilings/wgmma.cuh", "attn_ceiling_wgmma", std::move(defines), at.sms(),
                                    threads, {})};
  load.launch.dynamic_shared_bytes = wgmma_shared_bytes;
  return load;
}

CeilingLoad empty_launches() {
  CeilingLoad load{.key = key::launch_overhead,
                   .method = Method::launches,
                   .value = Value::each,
                   .amount = 1,
                   .iterations = 256,
                   .launch = make_ceiling_launch(key::launch_overhead, "ceilings/latency.cuh", "attn_ceiling_nothing",
                                                 {"ATTN_LEVEL=2"}, 1, 32, {})};
  load.launch.arguments.clear();
  return load;
}

CeilingLoad chase(std::string_view name, const char* level, const char* ring, std::int64_t bytes) {
  return {.key = name,
          .value = Value::each,
          .amount = ceiling_loads_per_iteration,
          .warm = true,
          .launch = make_ceiling_launch(
              name, "ceilings/latency.cuh", "attn_ceiling_chase", {level}, 1, 1,
              {BufferArgument{ring}, std::int32_t{ring_bits(bytes)}, std::int32_t{ring_stride}, std::int32_t{0}})};
}
/// Sizes relative to the nominal L2 size; denser where misses begin.
constexpr std::array curve_sizes{0.1,  0.15, 0.2, 0.25, 0.3, 0.35, 0.4,  0.45, 0.5, 0.55, 0.6,
                                 0.65, 0.7,  0.8, 0.9,  1.0, 1.1,  1.25, 1.5,  2.0, 3.0};
constexpr double largest_curve_size = 3.0;
/// Ensures that L2, an eighth of half the data, holds almost none of the half that is copied next.
constexpr std::int64_t data_to_l2_ratio = 16;

}  // namespace

int ring_bits(std::int64_t bytes) {
  const auto places = static_cast<std::uint64_t>(std::max<std::int64_t>(1, bytes / ring_stride));
  return static_cast<int>(std::bit_width(places)) - 1;
}

CeilingBuffers ceiling_buffers(const DeviceLimits& limits, std::int64_t free) {
  static_assert(mib % (2 * largest_chunk) == 0 && data_to_l2_ratio > largest_curve_size);
  const std::int64_t data = std::min<std::int64_t>(free / 2, 4096 * mib) / mib * mib;
  if (data < data_to_l2_ratio * limits.l2_bytes) return {};
  const auto power_of_two = [](std::int64_t bytes) {
    return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(bytes)));
  };
  return {.data_bytes = data,
          .ring_bytes = power_of_two(std::min<std::int64_t>(free / 8, 1024 * mib)),
          .l2_ring_bytes = power_of_two(std::max<std::int64_t>(limits.l2_bytes / 8, l1_ring_bytes))};
}

std::int64_t min_free_bytes_for_ceilings(const DeviceLimits& limits) {
  return 2 * (data_to_l2_ratio * limits.l2_bytes + mib);
}

std::vector<CeilingLoad> ceiling_loads(const DeviceLimits& limits, const CeilingBuffers& buffers) {
  const Setting at{limits, buffers};
  std::vector<CeilingLoad> loads;
  for (const auto make : {dram_read, dram_write, dram_copy}) {
    for (const Sweep& sweep : sweeps) {
      if (make == dram_copy || !sweep.copy_only) loads.push_back(make(at, sweep));
    }
  }
  CeilingLoad& by_driver = loads.emplace_back(dram_copy(at, sweeps.front()));
  by_driver.key = key::dram_copy_driver;
  by_driver.method = Method::driver_copy;
  CeilingLoad& from_l2 = loads.emplace_back(slices(at, key::l2_read, limits.l2_bytes / 8, false));
  from_l2.argument = 0;
  from_l2.milliseconds = 4;
  loads.push_back(shared_memory(at));
  loads.push_back(mma(at, key::mma_fp16, fp16_define));
  loads.push_back(mma(at, key::mma_bf16, bf16_define));
  if (limits.compute_major == 9) {  // wgmma exists only on compute capability 9.0
    loads.push_back(wgmma(at, key::wgmma_fp16, DType::fp16));
    loads.push_back(wgmma(at, key::wgmma_bf16, DType::bf16));
    loads.push_back(wgmma(at, key::wgmma_fp8, DType::fp8));
  }
  loads.push_back(arithmetic(at, key::fma_fp32, "attn_ceiling_fma", 2));
  loads.push_back(arithmetic(at, key::exp2_fp32, "attn_ceiling_exp2", 1));
  loads.push_back(empty_launches());
  loads.push_back(chase(key::latency_shared_memory, "ATTN_LEVEL=0", "ring_l1", l1_ring_bytes));
  loads.push_back(chase(key::latency_l1, "ATTN_LEVEL=1", "ring_l1", l1_ring_bytes));
  // Goes around the ring twice; the first time fills L2.
  CeilingLoad& l2 = loads.emplace_back(chase(key::latency_l2, "ATTN_LEVEL=2", "ring_l2", buffers.l2_ring_bytes));
  l2.iterations = (1 << ring_bits(buffers.l2_ring_bytes)) / ceiling_loads_per_iteration;
  // Visits each line once; a second visit would hit in L2.
  CeilingLoad& dram = loads.emplace_back(chase(key::latency_dram, "ATTN_LEVEL=2", "ring_dram", buffers.ring_bytes));
  dram.iterations = std::min(512, (1 << ring_bits(buffers.ring_bytes)) / ceiling_loads_per_iteration);
  dram.warm = false;
  dram.cold = true;
  for (const double size : curve_sizes) {
    const auto bytes = static_cast<std::int64_t>(size * static_cast<double>(limits.l2_bytes));
    loads.push_back(slices(at, key::l2_shared_read, bytes, true));
    loads.push_back(slices(at, key::l2_private_read, bytes, false));
  }
  return loads;
}

KernelLaunch ring_launch(const std::string& buffer, std::int64_t bytes) {
  KernelLaunch launch =
      make_ceiling_launch("link", "ceilings/latency.cuh", "attn_ceiling_link", {"ATTN_LEVEL=2"}, 1024, 256,
                          {BufferArgument{buffer}, std::int32_t{ring_bits(bytes)}, std::int32_t{ring_stride}});
  launch.arguments.resize(3);  // attn_ceiling_link writes no report
  return launch;
}

}  // namespace attnscope::gpu
