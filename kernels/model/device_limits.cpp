// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/device_limits.h"
#include "kernels/model/integer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <utility>
#include <vector>

namespace attnscope {
namespace {

constexpr std::int64_t kib = 1024;
constexpr std::int64_t mib = 1024 * kib;
constexpr std::int64_t gib = 1024 * mib;

/// Limits by compute capability (CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability";
/// shared memory per block = shared memory per SM minus 1 KiB reserved per block).
struct Capability {
  int major;
  int minor;
  int threads_per_sm;
  int blocks_per_sm;
  std::int64_t shared_kib_per_sm;
};
constexpr Capability ampere_server{8, 0, 2048, 32, 164};
constexpr Capability ampere_desktop{8, 6, 1536, 16, 100};
constexpr Capability ada{8, 9, 1536, 24, 100};
constexpr Capability hopper{9, 0, 2048, 32, 228};
constexpr Capability blackwell_server{10, 0, 2048, 32, 228};
constexpr Capability blackwell_desktop{12, 0, 1536, 24, 100};

/// Limits by product, from datasheets and architecture white papers. Memory capacities are powers of two there
/// for both unit names, GB and GiB. `tflops`: dense fp16 with fp32 accumulation (half the advertised value if that
/// includes sparsity or fp16 accumulation).
struct Product {
  std::string_view name;
  std::string_view driver_name;  ///< name reported by the driver, if different
  Capability capability;
  int sms;
  std::int64_t l2_mib;
  std::int64_t dram_gib;
  double dram_gb_per_second;
  double tflops;
  double boost_ghz;
};
constexpr std::array products{
    Product{"NVIDIA H200", "", hopper, 132, 60, 141, 4800, 989.4, 1.98},
    Product{"NVIDIA H100 SXM", "NVIDIA H100 80GB HBM3", hopper, 132, 50, 80, 3350, 989.4, 1.98},
    Product{"NVIDIA A100 80GB", "NVIDIA A100-SXM4-80GB", ampere_server, 108, 40, 80, 2039, 312, 1.41},
    Product{"NVIDIA A100 40GB", "NVIDIA A100-SXM4-40GB", ampere_server, 108, 40, 40, 1555, 312, 1.41},
    Product{"NVIDIA A30", "", ampere_server, 56, 24, 24, 933, 165, 1.44},
    Product{"NVIDIA L40S", "", ada, 142, 96, 48, 864, 362, 2.52},
    Product{"NVIDIA GeForce RTX 4090", "", ada, 128, 72, 24, 1008, 165.2, 2.52},
    Product{"NVIDIA GeForce RTX 3090", "", ampere_desktop, 82, 6, 24, 936, 71, 1.695},
    Product{"NVIDIA RTX A6000", "", ampere_desktop, 84, 6, 48, 768, 154.8, 1.80},
    Product{"NVIDIA RTX A5000", "", ampere_desktop, 64, 6, 24, 768, 111.1, 1.695},
    Product{"NVIDIA L20", "", ada, 92, 96, 48, 864, 119.5, 2.52},
    Product{"NVIDIA GeForce RTX 5090", "", blackwell_desktop, 170, 96, 32, 1792, 209.5, 2.41},
    Product{"NVIDIA B200", "", blackwell_server, 148, 126, 180, 8000, 2250, 1.965},
};

/// Bytes per cycle that each SM reads from L2; approximate, from public microbenchmarks of recent GPUs.
constexpr double l2_bytes_per_sm_cycle = 24;

DeviceLimits limits_of(const Product& p) {
  DeviceLimits limits;
  limits.name = p.name;
  limits.compute_major = p.capability.major;
  limits.compute_minor = p.capability.minor;
  limits.sm_count = p.sms;
  limits.max_threads_per_sm = p.capability.threads_per_sm;
  limits.max_blocks_per_sm = p.capability.blocks_per_sm;
  limits.shared_bytes_per_sm = p.capability.shared_kib_per_sm * kib;
  limits.shared_bytes_per_block = limits.shared_bytes_per_sm - limits.shared_bytes_reserved;
  limits.l2_bytes = p.l2_mib * mib;
  limits.dram_bytes = p.dram_gib * gib;
  limits.dram_bytes_per_second = p.dram_gb_per_second * 1e9;
  limits.l2_bytes_per_second = l2_bytes_per_sm_cycle * p.sms * p.boost_ghz * 1e9;
  limits.tensor_flops = p.tflops * 1e12;
  limits.boost_hz = p.boost_ghz * 1e9;
  return limits;
}

/// Lower-case words of letters and digits, without vendor and brand.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool in_word = false;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool was_in_word = std::exchange(in_word, std::isalnum(byte) != 0);
    if (!in_word) continue;
    if (!was_in_word) words.emplace_back();
    words.back() += static_cast<char>(std::tolower(byte));
  }
  std::erase_if(words, [](const std::string& word) { return word == "nvidia" || word == "geforce"; });
  return words;
}

}  // namespace

double tensor_flops_per_sm_clock(int compute_major, int compute_minor) {
  if (compute_major == 8) return compute_minor == 0 ? 2048 : 512;
  if (compute_major == 9) return 4096;
  if (compute_major == 10) return 8192;
  return 1024;
}

bool same_gpu(std::string_view a, std::string_view b) {
  const DeviceLimits* known = find_gpu(a);
  return a == b || (known != nullptr && known == find_gpu(b));
}

std::span<const DeviceLimits> known_gpus() {
  static const std::vector<DeviceLimits> gpus = [] {
    std::vector<DeviceLimits> all;
    all.reserve(products.size());
    for (const Product& product : products) all.push_back(limits_of(product));
    return all;
  }();
  return gpus;
}

const DeviceLimits* find_gpu(std::string_view name) {
  const std::vector<std::string> wanted = words_of(name);
  if (wanted.empty()) return nullptr;
  for (std::size_t i = 0; i < products.size(); ++i) {
    const std::vector<std::string> words = words_of(products.at(i).name);
    const bool is_name_prefix =
        wanted.size() <= words.size() && std::equal(wanted.begin(), wanted.end(), words.begin());
    if (is_name_prefix || wanted == words_of(products.at(i).driver_name)) return &known_gpus()[i];
  }
  return nullptr;
}

namespace {

constexpr std::int64_t threads_per_warp = 32;
constexpr std::int64_t partitions_per_sm = 4;  // four partitions per SM, each with a quarter of the registers
constexpr std::int64_t register_granularity = 256;
constexpr std::int64_t shared_granularity = 128;

std::int64_t registers_per_warp(const LaunchFootprint& launch) {
  return round_up(launch.registers_per_thread * threads_per_warp, register_granularity);
}

}  // namespace

int max_registers_per_thread(const DeviceLimits& limits, int threads_per_block) {
  constexpr std::int64_t addressable = 255;
  const std::int64_t warps_per_partition = ceil_div(ceil_div(threads_per_block, threads_per_warp), partitions_per_sm);
  const std::int64_t per_warp =
      limits.registers_per_sm / partitions_per_sm / warps_per_partition / register_granularity * register_granularity;
  return static_cast<int>(std::min(per_warp / threads_per_warp, addressable));
}

std::int64_t allocated_shared_bytes(const DeviceLimits& limits, const LaunchFootprint& launch) {
  return round_up(launch.shared_bytes + limits.shared_bytes_reserved, shared_granularity);
}

std::int64_t allocated_register_bytes(const LaunchFootprint& launch) {
  constexpr std::int64_t register_bytes = 4;
  const std::int64_t warps = std::max<std::int64_t>(1, ceil_div(launch.threads_per_block, threads_per_warp));
  return warps * registers_per_warp(launch) * register_bytes;
}

Occupancy theoretical_occupancy(const DeviceLimits& limits, const LaunchFootprint& launch) {
  constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
  const std::int64_t warps = std::max<std::int64_t>(1, ceil_div(launch.threads_per_block, threads_per_warp));
  const std::int64_t max_warps = limits.max_threads_per_sm / threads_per_warp;

  std::int64_t by_registers = unlimited;
  if (launch.registers_per_thread > 0) {
    const std::int64_t resident_warps =
        limits.registers_per_sm / partitions_per_sm / registers_per_warp(launch) * partitions_per_sm;
    // The first block needs room for a full set of warps on every partition; later blocks need only their own warps.
    by_registers = round_up(warps, partitions_per_sm) <= resident_warps ? resident_warps / warps : 0;
  }
  const std::int64_t shared = allocated_shared_bytes(limits, launch);
  const std::int64_t by_shared = shared > 0 ? limits.shared_bytes_per_sm / shared : unlimited;

  struct Limit {
    std::int64_t blocks;
    std::string_view name;
  };
  const Limit candidates[] = {{max_warps / warps, "threads"},
                              {limits.max_blocks_per_sm, "blocks"},
                              {by_registers, "registers"},
                              {by_shared, "shared memory"}};
  const Limit least = *std::ranges::min_element(candidates, {}, &Limit::blocks);

  Occupancy occupancy;
  occupancy.blocks_per_sm = static_cast<int>(least.blocks);
  occupancy.warps_pct =
      max_warps > 0 ? 100.0 * static_cast<double>(least.blocks * warps) / static_cast<double>(max_warps) : 0;
  const bool grid_too_small = launch.blocks < least.blocks * limits.sm_count;
  occupancy.limiter = grid_too_small ? "grid" : least.name;
  return occupancy;
}

}  // namespace attnscope
