// SPDX-License-Identifier: Apache-2.0
#include "app/measured_rates.h"

#include <fmt/format.h>

#include <vector>

#include "app/command.h"
#include "kernels/model/device_rates.h"
#include "kernels/registry.h"
#include "profiler/measure/simulated_device.h"
#include "profiler/plan/text.h"
#include "profiler/units/number_format.h"

namespace attnscope {
namespace {

std::string rate_text_or_missing(bool measured, double bytes_per_second) {
  return measured ? text(BytesPerSecond(bytes_per_second)) : "not measured";
}

}  // namespace

StoredCeilings load_rates(const std::filesystem::path& file, const DeviceLimits& limits) {
  const RunStore store = RunStore::open(file, RunStore::Mode::read_only);
  const std::vector<StoredCeilings> sets = store.ceilings();
  if (const std::vector<InvalidRow> bad = store.invalid_rows(); !bad.empty()) {
    throw CommandError(ExitCode::error, "{} is damaged: {}: {} (use an undamaged file)", file.string(),
                       text(bad.front().where), text(bad.front().why));
  }
  const StoredCeilings* found = newest_rates(sets, limits);
  if (found == nullptr) {
    throw CommandError(ExitCode::usage,
                       "{} has no measured rates of {} (measure them with `attnscope ceilings -o FILE`, or set --gpu)",
                       file.string(), limits.name);
  }
  return *found;
}

MeasuredCeilings measured_ceilings(const StoredCeilings& set) {
  return {.ceilings = set.ceilings,
          .from = fmt::format("{} ({}) at {}", set.device_name, set.device_uuid, set.measured_at)};
}

Message describe_rates(const StoredCeilings& set, const DeviceLimits& limits) {
  const DeviceRates rates = device_rates(limits, set.ceilings);
  return make_message(
      "Predicted with the rates measured on {} ({}) at {}: DRAM {}, L2 {}; other rates by architecture.",
      printable(set.device_name), printable(set.device_uuid), printable(set.measured_at),
      rate_text_or_missing(rates.dram_measured, rates.dram_bytes_per_second),
      rate_text_or_missing(rates.l2_measured, rates.l2_bytes_per_second));
}

void predict_with_ceilings(OpenedDevice& opened, std::string_view word, const std::string& ceilings) {
  const DeviceLimits limits = opened.device->info().limits;
  if (!opened.device->info().simulated || is_remote_device_name(word)) {
    throw CommandError(ExitCode::usage,
                       "--ceilings requires a simulated device, not {} (use --device simulated or omit --ceilings)",
                       limits.name);
  }
  const StoredCeilings measured = load_rates(ceilings, limits);
  opened.device = make_simulated_device(limits, known_algorithms(), measured_ceilings(measured));
  opened.announcement = make_message("{}. {}", opened.announcement, describe_rates(measured, limits));
}

}  // namespace attnscope
