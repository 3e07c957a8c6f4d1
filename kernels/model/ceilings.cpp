// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/ceilings.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/model/attention.h"
#include "kernels/model/device_rates.h"
#include "messages/ceiling.h"

namespace attnscope {
namespace {

namespace key = ceiling_key;

double dram(const DeviceLimits& limits) {
  return limits.dram_bytes_per_second;
}
double l2_size(const DeviceLimits& limits) {
  return static_cast<double>(limits.l2_bytes);
}
bool is_hopper(const DeviceLimits& limits) {
  return limits.compute_major == 9;
}
/// The peak belongs to the generation's own matrix instruction; on GPUs with a newer one mma.sync does not reach it.
double mma(const DeviceLimits& limits) {
  return is_hopper(limits) || limits.compute_major == 10 ? 0 : limits.tensor_flops;
}
double wgmma(const DeviceLimits& limits) {
  return is_hopper(limits) ? limits.tensor_flops : 0;
}
double fp8_wgmma_peak(const DeviceLimits& limits) {
  return relative_throughput(DType::fp8) * wgmma(limits);
}
double per_second(const DeviceLimits& limits, double per_sm_and_clock) {
  return per_sm_and_clock * limits.sm_count * limits.boost_hz;
}
/// CUDA C++ Programming Guide, table "Throughput of Native Arithmetic Instructions".
double fma(const DeviceLimits& limits) {
  const bool half = limits.compute_major == 8 && limits.compute_minor == 0;
  return per_second(limits, 2 * (half ? 64 : 128));
}
double exp2_rate(const DeviceLimits& limits) {
  return per_second(limits, limits.custom_rates.exponentials > 0 ? limits.custom_rates.exponentials : 16);
}
/// 32 banks of 4 bytes.
double shared_memory(const DeviceLimits& limits) {
  return per_second(limits, 128);
}

// clang-format off: one line per ceiling.
constexpr std::array kinds{
    CeilingKind{key::dram_read, "byte/s", message_of<msg::ceiling::dram_read>, dram},
    CeilingKind{key::dram_write, "byte/s", message_of<msg::ceiling::dram_write>, dram},
    CeilingKind{key::dram_copy, "byte/s", message_of<msg::ceiling::dram_copy>, dram},
    CeilingKind{key::dram_copy_driver, "byte/s", message_of<msg::ceiling::dram_copy_driver>},
    CeilingKind{key::peer_copy, "byte/s", message_of<msg::ceiling::peer_copy>, link_peak_bytes_per_second},
    CeilingKind{key::peer_copy_both_ways, "byte/s", message_of<msg::ceiling::peer_copy_both_ways>,
                link_peak_bytes_per_second},
    CeilingKind{key::l2_read, "byte/s", message_of<msg::ceiling::l2_read>},
    CeilingKind{key::l2_shared_capacity, "byte", message_of<msg::ceiling::l2_shared_capacity>, l2_size},
    CeilingKind{key::l2_private_capacity, "byte", message_of<msg::ceiling::l2_private_capacity>, l2_size},
    CeilingKind{key::shared_memory_read, "byte/s", message_of<msg::ceiling::shared_memory_read>, shared_memory},
    CeilingKind{key::mma_fp16, "flop/s", message_of<msg::ceiling::mma_fp16>, mma},
    CeilingKind{key::mma_bf16, "flop/s", message_of<msg::ceiling::mma_bf16>, mma},
    CeilingKind{key::wgmma_fp16, "flop/s", message_of<msg::ceiling::wgmma_fp16>, wgmma},
    CeilingKind{key::wgmma_bf16, "flop/s", message_of<msg::ceiling::wgmma_bf16>, wgmma},
    CeilingKind{key::wgmma_fp8, "flop/s", message_of<msg::ceiling::wgmma_fp8>, fp8_wgmma_peak},
    CeilingKind{key::fma_fp32, "flop/s", message_of<msg::ceiling::fma_fp32>, fma},
    CeilingKind{key::exp2_fp32, "op/s", message_of<msg::ceiling::exp2_fp32>, exp2_rate},
    CeilingKind{key::launch_overhead, "ns", message_of<msg::ceiling::launch_overhead>},
    CeilingKind{key::latency_shared_memory, "ns", message_of<msg::ceiling::latency_shared_memory>},
    CeilingKind{key::latency_l1, "ns", message_of<msg::ceiling::latency_l1>},
    CeilingKind{key::latency_l2, "ns", message_of<msg::ceiling::latency_l2>},
    CeilingKind{key::latency_dram, "ns", message_of<msg::ceiling::latency_dram>},
    CeilingKind{key::peer_copy_latency, "ns", message_of<msg::ceiling::peer_copy_latency>},
    CeilingKind{key::l2_shared_read, "byte/s", message_of<msg::ceiling::l2_shared_read>, nullptr, true},
    CeilingKind{key::l2_shared_miss, "1", message_of<msg::ceiling::l2_shared_miss>, nullptr, true},
    CeilingKind{key::l2_private_read, "byte/s", message_of<msg::ceiling::l2_private_read>, nullptr, true},
    CeilingKind{key::l2_private_miss, "1", message_of<msg::ceiling::l2_private_miss>, nullptr, true},
    CeilingKind{key::others_use, "percent", message_of<msg::ceiling::others_use>},
    CeilingKind{key::throttle_reasons, "1", message_of<msg::ceiling::throttle_reasons>},
};
// clang-format on

}  // namespace

std::string_view to_string(CeilingSource source) {
  switch (source) {
    case CeilingSource::measured:
      return "measured";
    case CeilingSource::derived:
      return "derived";
    case CeilingSource::datasheet:
      return "datasheet";
  }
  return "";
}

Message title(CeilingSource source) {
  switch (source) {
    case CeilingSource::measured:
      return msg::ceiling::measured{};
    case CeilingSource::derived:
      return msg::ceiling::derived{};
    case CeilingSource::datasheet:
      return msg::ceiling::datasheet{};
  }
  return {};
}

std::span<const CeilingKind> ceiling_kinds() {
  return kinds;
}

const CeilingKind* find_ceiling(std::string_view key) {
  const auto* const found = std::ranges::find(kinds, key, &CeilingKind::key);
  return found == kinds.end() ? nullptr : found;
}

std::vector<Ceiling> datasheet_ceilings(const DeviceLimits& limits) {
  std::vector<Ceiling> ceilings;
  for (const CeilingKind& kind : kinds) {
    const double value = kind.datasheet == nullptr ? 0 : kind.datasheet(limits);
    if (value <= 0) continue;
    ceilings.push_back({.name = std::string(kind.key),
                        .value = value,
                        .unit = std::string(kind.unit),
                        .source = CeilingSource::datasheet});
  }
  return ceilings;
}

std::vector<CeilingRow> ceiling_rows(std::span<const Ceiling> ceilings) {
  std::vector<CeilingRow> lines;
  for (const bool curves : {false, true}) {
    for (const CeilingKind& kind : kinds) {
      if (kind.curve != curves) continue;
      const auto clock =
          std::ranges::find(ceilings, std::string(kind.key).append(ceiling_clock_suffix), &Ceiling::name);
      const auto first = static_cast<std::ptrdiff_t>(lines.size());
      for (const Ceiling& each : ceilings) {
        if (each.name != kind.key) continue;
        lines.push_back({&kind, each, clock == ceilings.end() ? std::nullopt : std::optional(clock->value)});
      }
      std::ranges::stable_sort(lines.begin() + first, lines.end(), {},
                               [](const CeilingRow& line) { return line.ceiling.argument; });
    }
  }
  return lines;
}

std::optional<double> relative_spread(const Ceiling& ceiling) {
  if (!ceiling.q1 || !ceiling.q3 || ceiling.value == 0) return std::nullopt;
  return (*ceiling.q3 - *ceiling.q1) / 2 / std::abs(ceiling.value);
}

std::optional<double> half_miss_size(std::span<const Ceiling> curve) {
  std::vector<Ceiling> sorted(curve.begin(), curve.end());
  std::ranges::sort(sorted, {}, &Ceiling::argument);
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const Ceiling& below = sorted[i - 1];
    const Ceiling& above = sorted[i];
    if (below.value >= 0.5 || above.value < 0.5) continue;
    const double way = (0.5 - below.value) / (above.value - below.value);
    return below.argument * std::pow(above.argument / below.argument, way);
  }
  return std::nullopt;
}

}  // namespace attnscope
