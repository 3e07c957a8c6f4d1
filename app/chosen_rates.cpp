// SPDX-License-Identifier: Apache-2.0
#include "app/chosen_rates.h"

#include <fmt/format.h>

#include <vector>

#include "app/command.h"
#include "kernels/model/device_rates.h"
#include "messages/command.h"
#include "messages/terminal.h"
#include "profiler/plan/text.h"
#include "profiler/units/spelling.h"

namespace attnscope {
namespace {

std::string rate_or_table(bool measured, double bytes_per_second) {
  return measured ? text(BytesPerSecond(bytes_per_second)) : text(say::terminal::by_table{});
}

}  // namespace

StoredCeilings rates_of_file(const std::filesystem::path& file, const DeviceLimits& limits) {
  const std::vector<StoredCeilings> sets = RunStore::open(file, RunStore::Mode::read_only).ceilings();
  const StoredCeilings* found = newest_rates(sets, limits);
  if (found == nullptr) {
    throw CommandError(ExitCode::usage, say::command::no_measured_rates{.file = file.string(), .gpu = limits.name});
  }
  return *found;
}

MeasuredCeilings measured_ceilings(const StoredCeilings& set) {
  return {.ceilings = set.ceilings,
          .from = fmt::format("{} ({}) at {}", set.device_name, set.device_uuid, set.measured_at)};
}

Message rates_said(const StoredCeilings& set, const DeviceLimits& limits) {
  const DeviceRates rates = device_rates(limits, set.ceilings);
  return say::terminal::rates_measured{.gpu = printable(set.device_name),
                                       .uuid = printable(set.device_uuid),
                                       .time = printable(set.measured_at),
                                       .dram = rate_or_table(rates.dram_measured, rates.dram_bytes_per_second),
                                       .l2 = rate_or_table(rates.l2_measured, rates.l2_bytes_per_second)};
}

}  // namespace attnscope
