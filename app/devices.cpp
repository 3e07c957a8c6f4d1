// SPDX-License-Identifier: Apache-2.0
#include "app/devices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "app/command.h"
#include "app/interrupt.h"
#include "app/workers.h"
#include "kernels/model/device_rates.h"
#include "kernels/registry.h"
#include "messages/prediction.h"
#include "profiler/files/gpu_file.h"
#include "profiler/measure/host_environment.h"
#include "profiler/measure/simulated_device.h"
#include "profiler/predict/published_errors.h"
#include "profiler/simulator/l2_cache.h"
#include "profiler/worker/ssh.h"
#include "profiler/worker/worker_device.h"

namespace attnscope {
namespace {

constexpr std::string_view simulated_word = "simulated";

std::optional<int> whole_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

/// Splits "NAME#3" into name and unit; the unit is 0 if there is none.
std::pair<std::string_view, int> unit_of(std::string_view word) {
  const std::size_t mark = word.rfind('#');
  const std::optional<int> unit = mark == std::string_view::npos ? std::nullopt : whole_number(word.substr(mark + 1));
  return unit ? std::pair(word.substr(0, mark), *unit) : std::pair(word, 0);
}

/// A remote device that could not be opened.
struct RemoteFailure {
  ExitCode code = ExitCode::error;
  Message why;
  bool is_transient = false;
};
Result<OpenedDevice, RemoteFailure> open_remote(std::string_view word, bool counters) {
  const auto target = worker::parse_ssh_target(word);
  if (!target) return Failure{RemoteFailure{ExitCode::usage, target.error()}};
  auto link = worker::connect(*target, counters);
  if (!link) return Failure{RemoteFailure{ExitCode::error, link.error()}};
  auto opened = worker::open_worker_device(std::move(link).value(), target->host, program_version(), known_algorithms(),
                                           cancel_on_signals());
  if (!opened) {
    const worker::OpenFailure& failure = opened.error();
    return Failure{RemoteFailure{ExitCode::error, worker::explain(*target, failure, program_version()),
                                 worker::is_transient(failure)}};
  }
  const Message title = device_title(opened->device->info());
  return OpenedDevice{.device = std::move(opened->device),
                      .announcement = make_message("{}, on {}", title, target->host),
                      .simulation_reason = opened->simulation_reason};
}

OpenedDevice opened_gpu(std::unique_ptr<Device> device) {
  Message announcement = device_title(device->info());
  return {std::move(device), std::move(announcement)};
}

bool knows_host_code() {
  const auto& all = known_algorithms().algorithms();
  return std::ranges::any_of(all, [](const Algorithm* each) { return each->facts().host_code; });
}

}  // namespace

Message device_title(const DeviceInfo& info) {
  return info.simulated ? make_message("simulated {}", info.limits.name)
                        : make_message("GPU {}, {}", info.ordinal, info.limits.name);
}

OpenedDevice open_simulation(const DeviceLimits& limits, const std::string& why, int unit) {
  Message announcement = make_message("simulated {}", limits.name);
  if (const L2Behavior behaviour = l2_behavior(limits); behaviour.inherited) {
    announcement =
        make_message("{} (L2 model fitted to an {}, not validated on this GPU)", announcement, behaviour.measured_on);
  }
  if (const Message note = times_note(limits); !note.empty()) announcement = make_message("{}. {}", announcement, note);
  if (!why.empty()) announcement = make_message("{}. {}", announcement, why);
  return {make_simulated_device(limits, known_algorithms(), {}, unit), std::move(announcement), why};
}

Message times_note(const DeviceLimits& limits) {
  const std::string_view alike = device_rates(limits).validated_on;
  if (alike.empty()) return msg::prediction::time_not_validated{.device = limits.name};
  if (find_gpu(limits.name) == nullptr) {
    return make_message("Hypothetical GPU: predicted times cannot be validated; kernel constants as on {}.", alike);
  }
  const analysis::PublishedErrors* errors = analysis::validated_errors(limits);
  if (errors == nullptr || errors->min_rate_n_q == 0) return {};
  std::set<std::string_view> algorithms;
  for (const analysis::ErrorRow& row : errors->rows) algorithms.insert(row.algorithm);
  return make_message("Predicted times are validated with published rates of {} on {}; not for other algorithms.",
                      fmt::format("{}", fmt::join(algorithms, ", ")), errors->device);
}

DeviceLimits load_gpu_limits(std::string_view name) {
  if (const DeviceLimits* limits = find_gpu(name)) return *limits;
  if (name.ends_with(".json")) {
    auto gpu = read_gpu(name);
    if (!gpu) throw CommandError(ExitCode::usage, Message::verbatim(gpu.error()));
    return std::move(*gpu);
  }
  std::vector<std::string> known;
  for (const DeviceLimits& limits : known_gpus()) known.push_back(limits.name);
  throw CommandError(ExitCode::usage, "{} (or use a .json file, see `attnscope model --print-gpu`)",
                     unknown_name_message("GPU", name, known));
}

std::string as_sentence(std::string text) {
  if (!text.empty() && text.back() != '.') text += '.';
  return text;
}

std::string describe(const GpuError& error) {
  return text(error.message());
}

OpenedDevice open_device(std::string_view word, bool counters) {
  return knows_host_code() || is_inherited_device_name(word) ? open_worker(word, counters)
                                                             : open_device_in_process(word, counters);
}

void require_gpu_name(std::string_view word) {
  if (word.empty() || word == "gpu" || whole_number(word)) return;
  throw CommandError(ExitCode::usage,
                     "unknown device '{}'; available: a GPU number, gpu, simulated, simulated:NAME, ssh:HOST", word);
}

OpenedDevice open_device_in_process(std::string_view word, bool counters) {
  if (is_remote_device_name(word)) {
    auto opened = open_remote(word, counters);
    if (!opened) throw CommandError(opened.error().code, opened.error().why);
    return std::move(opened).value();
  }
  if (const auto [name, unit] = unit_of(word); name.starts_with(simulated_word)) {
    if (name == simulated_word) return open_simulation(known_gpus().front(), {}, unit);
    if (name.substr(simulated_word.size()).starts_with(':')) {
      return open_simulation(load_gpu_limits(name.substr(simulated_word.size() + 1)), {}, unit);
    }
  }

  require_gpu_name(word);
  GpuOptions options;
  options.counters = counters;
  options.ordinal = whole_number(word).value_or(options.ordinal);
  Result<std::unique_ptr<Device>, GpuError> opened = open_gpu_device(options);
  if (opened) return opened_gpu(std::move(opened).value());
  const GpuError& error = opened.error();
  if (!word.empty()) throw CommandError(ExitCode::error, "--device {}: {}", word, error.message());
  if (error.is_gpu_absent()) return open_simulation(known_gpus().front(), describe(error));
  // No fallback to simulation if a GPU exists: users would take simulated values for measurements.
  throw CommandError(ExitCode::error, "{} Or use --device simulated.", as_sentence(describe(error)));
}

bool is_remote_device_name(std::string_view word) {
  return word.starts_with(worker::ssh_prefix);
}

Result<OpenedDevice, std::string> reopen_remote(const std::string& word, const std::string& uuid, bool counters,
                                                const std::function<void(const Message&)>& waits) {
  constexpr std::array<int, 5> pauses_s{1, 2, 4, 8, 16};
  for (std::size_t tries = 0;; ++tries) {
    auto opened = open_remote(word, counters);
    if (opened && opened->device->info().uuid != uuid) {
      return Failure{format_text("{} is now {}, but the run began on {}", word, opened->device->info().uuid, uuid)};
    }
    if (opened) return std::move(opened).value();
    const RemoteFailure& failure = opened.error();
    if (!failure.is_transient || tries == pauses_s.size() || cancel_on_signals().cancelled())
      return Failure{text(failure.why)};
    waits(make_message("{}; retrying in {} s", failure.why, pauses_s.at(tries)));
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(pauses_s.at(tries));
    while (std::chrono::steady_clock::now() < until && !cancel_on_signals().cancelled()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
}

std::optional<OpenedDevice> reopen_simulated(const std::string& uuid, const DeviceLimits& limits) {
  const auto [whose, unit] = unit_of(uuid);
  if (simulated_uuid(limits) != whose) return std::nullopt;
  return open_simulation(limits, {}, unit);
}

Result<OpenedDevice, std::string> open_device_by_uuid(const std::string& uuid, bool counters) {
  const auto [whose, unit] = unit_of(uuid);
  for (const DeviceLimits& limits : known_gpus()) {
    if (simulated_uuid(limits) == whose) return open_simulation(limits, {}, unit);
  }
  GpuOptions options;
  options.counters = counters;
  options.uuid = uuid;
  Result<std::unique_ptr<Device>, GpuError> opened = open_gpu_device(options);
  if (!opened) return Failure{describe(opened.error())};
  return opened_gpu(std::move(opened).value());
}

}  // namespace attnscope
