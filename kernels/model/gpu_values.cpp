// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/gpu_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "kernels/model/device_rates.h"

namespace attnscope {
namespace {

constexpr double kib_bytes = 1024;
constexpr double mib_bytes = 1024 * kib_bytes;
constexpr double gib_bytes = 1024 * mib_bytes;

std::int64_t to_bytes(double value, double unit) {
  return std::llround(value * unit);
}

/// The peaks scale with SM count, clock and rates per cycle.
void set_peaks(DeviceLimits& gpu) {
  gpu.tensor_flops = gpu.custom_rates.tensor_flops * gpu.sm_count * gpu.boost_hz;
  gpu.l2_bytes_per_second = gpu.custom_rates.l2_bytes * gpu.sm_count * gpu.boost_hz;
}

// clang-format off: one line per value.
constexpr std::array gpu_value_table{
    GpuValue{"sm_count", "", "Streaming multiprocessors; unit peaks and the L2 rate scale with them", 1, 4096, true,
             [](const DeviceLimits& g) { return static_cast<double>(g.sm_count); },
             [](DeviceLimits& g, double v) {
               g.sm_count = static_cast<int>(v);
               set_peaks(g);
             }},
    GpuValue{"clock_ghz", "GHz", "Highest SM clock", 0.1, 20, false,
             [](const DeviceLimits& g) { return g.boost_hz / 1e9; },
             [](DeviceLimits& g, double v) {
               g.boost_hz = v * 1e9;
               set_peaks(g);
             }},
    GpuValue{"shared_kib_per_sm", "KiB", "Shared memory per SM", 16, 16384, true,
             [](const DeviceLimits& g) { return static_cast<double>(g.shared_bytes_per_sm) / kib_bytes; },
             [](DeviceLimits& g, double v) { g.shared_bytes_per_sm = to_bytes(v, kib_bytes); }},
    GpuValue{"shared_kib_per_block", "KiB",
             "Shared memory limit per block; the paper's M is this divided by the element size", 15, 16383, true,
             [](const DeviceLimits& g) { return static_cast<double>(g.shared_bytes_per_block) / kib_bytes; },
             [](DeviceLimits& g, double v) { g.shared_bytes_per_block = to_bytes(v, kib_bytes); }},
    GpuValue{"registers_per_sm", "", "32-bit registers per SM", 8192, 1048576, true,
             [](const DeviceLimits& g) { return static_cast<double>(g.registers_per_sm); },
             [](DeviceLimits& g, double v) { g.registers_per_sm = std::llround(v); }},
    GpuValue{"threads_per_sm", "", "Resident threads per SM", 1024, 16384, true,
             [](const DeviceLimits& g) { return static_cast<double>(g.max_threads_per_sm); },
             [](DeviceLimits& g, double v) { g.max_threads_per_sm = static_cast<int>(v); }},
    GpuValue{"blocks_per_sm", "", "Resident blocks per SM", 1, 256, true,
             [](const DeviceLimits& g) { return static_cast<double>(g.max_blocks_per_sm); },
             [](DeviceLimits& g, double v) { g.max_blocks_per_sm = static_cast<int>(v); }},
    GpuValue{"l2_mib", "MiB", "L2 capacity", 1, 65536, true,
             [](const DeviceLimits& g) { return static_cast<double>(g.l2_bytes) / mib_bytes; },
             [](DeviceLimits& g, double v) { g.l2_bytes = to_bytes(v, mib_bytes); }},
    GpuValue{"dram_gib", "GiB", "DRAM capacity", 1, 16384, true,
             [](const DeviceLimits& g) { return static_cast<double>(g.dram_bytes) / gib_bytes; },
             [](DeviceLimits& g, double v) { g.dram_bytes = to_bytes(v, gib_bytes); }},
    GpuValue{"dram_gb_per_second", "GB/s", "Peak DRAM rate by datasheet", 10, 1e6, false,
             [](const DeviceLimits& g) { return g.dram_bytes_per_second / 1e9; },
             [](DeviceLimits& g, double v) { g.dram_bytes_per_second = v * 1e9; }},
    GpuValue{"l2_bytes_per_clock", "B/clk/SM", "Bytes from L2 per clock and SM while all SMs read; 32 on an H200", 1,
             4096, false, [](const DeviceLimits& g) { return g.custom_rates.l2_bytes; },
             [](DeviceLimits& g, double v) {
               g.custom_rates.l2_bytes = v;
               set_peaks(g);
             }},
    GpuValue{"tensor_flop_per_clock", "FLOP/clk/SM",
             "FLOPs of fp16 and bf16 matrix products per clock and SM; 4096 on an H200", 64, 1048576, false,
             [](const DeviceLimits& g) { return g.custom_rates.tensor_flops; },
             [](DeviceLimits& g, double v) {
               g.custom_rates.tensor_flops = v;
               set_peaks(g);
             }},
    GpuValue{"exponentials_per_clock", "1/clk/SM", "exp2 per clock and SM; 16 on all public GPUs", 1, 4096, false,
             [](const DeviceLimits& g) { return g.custom_rates.exponentials; },
             [](DeviceLimits& g, double v) { g.custom_rates.exponentials = v; }},
};
// clang-format on

std::string gpu_name_error(const std::string& name) {
  const bool has_outer_blanks = name.empty() || name.front() == ' ' || name.back() == ' ';
  const bool control =
      std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
  if (has_outer_blanks || control || name.size() > max_gpu_name_length) {
    return fmt::format("the name must have 1 to {} characters, no control characters and no spaces at its ends",
                       max_gpu_name_length);
  }
  if (const DeviceLimits* known = find_gpu(name)) {
    return fmt::format("the name belongs to the public GPU {} (use another name)", known->name);
  }
  return {};
}

std::string factor_text(double factor) {
  return fmt::format("{:.3g}", factor);
}

}  // namespace

std::span<const GpuValue> gpu_values() {
  return gpu_value_table;
}

const GpuValue* find_gpu_value(std::string_view key) {
  const auto* const found = std::ranges::find(gpu_value_table, key, &GpuValue::key);
  return found == gpu_value_table.end() ? nullptr : found;
}

std::string outside(const GpuValue& value, double is) {
  return fmt::format("{} is {:.6g}; it must be {:.6g} to {:.6g}", value.key, is, value.least, value.most);
}

std::string gpu_error(const DeviceLimits& gpu) {
  if (std::string wrong = gpu_name_error(gpu.name); !wrong.empty()) return wrong;
  for (const GpuValue& value : gpu_value_table) {
    const double is = value.get(gpu);
    if (is >= value.least && is <= value.most) continue;  // false for NaN
    return outside(value, is);
  }
  if (gpu.shared_bytes_per_block + gpu.shared_bytes_reserved > gpu.shared_bytes_per_sm) {
    return fmt::format("shared_kib_per_block must be at least {} KiB below shared_kib_per_sm",
                       gpu.shared_bytes_reserved / 1024);
  }
  return {};
}

DeviceLimits make_custom_gpu(const DeviceLimits& base, std::string name) {
  DeviceLimits gpu = base;
  const DeviceRates rates = device_rates(base);
  gpu.name = std::move(name);
  gpu.boost_hz = rates.boost_hz;
  gpu.custom_rates = {.tensor_flops = rates.per_cycle.tensor,
                      .exponentials = rates.per_cycle.exponential,
                      .l2_bytes = rates.l2_bytes_per_second / (rates.sm_count * rates.boost_hz)};
  set_peaks(gpu);
  return gpu;
}

std::string gpu_values_digest(const DeviceLimits& gpu) {
  // FNV-1a of the values' text, which is equal on every machine.
  std::uint32_t digest = 2166136261U;
  std::string all = fmt::format("{}.{}", gpu.compute_major, gpu.compute_minor);
  for (const GpuValue& value : gpu_value_table) all += fmt::format(" {}={:.9g}", value.key, value.get(gpu));
  for (const char c : all) digest = (digest ^ static_cast<unsigned char>(c)) * 16777619U;
  return fmt::format("{:08x}", digest);
}

DeviceLimits what_if(const DeviceLimits& gpu, const WhatIf& factors) {
  if (factors.is_identity()) return gpu;
  DeviceLimits changed = gpu;
  const auto times = [](std::int64_t bytes, double factor) {
    return std::llround(static_cast<double>(bytes) * factor);
  };
  const auto name = [&](std::string_view what, double factor) {
    if (factor != 1) changed.name += fmt::format(", {} x{}", what, factor_text(factor));
  };
  changed.shared_bytes_per_sm = times(gpu.shared_bytes_per_sm, factors.shared_memory);
  changed.shared_bytes_per_block = changed.shared_bytes_per_sm - gpu.shared_bytes_reserved;
  if (factors.shared_memory == 1) changed.shared_bytes_per_block = gpu.shared_bytes_per_block;
  changed.l2_bytes = times(gpu.l2_bytes, factors.l2);
  changed.dram_bytes_per_second = gpu.dram_bytes_per_second * factors.dram_rate;
  // The clock is otherwise looked up by name, and this name is in no table.
  changed.boost_hz = device_rates(gpu).boost_hz;
  name("shared memory", factors.shared_memory);
  name("L2", factors.l2);
  name("DRAM rate", factors.dram_rate);
  return changed;
}

}  // namespace attnscope
