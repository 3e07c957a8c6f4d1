// SPDX-License-Identifier: Apache-2.0
#include "app/workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <future>
#include <set>
#include <utility>

#include "app/command.h"
#include "app/interrupt.h"
#include "kernels/registry.h"
#include "profiler/files/file_system.h"
#include "profiler/measure/gpu/gpu_device.h"
#include "profiler/measure/host_environment.h"
#include "profiler/worker/protocol.h"
#include "profiler/worker/worker_device.h"

namespace attnscope {
namespace {

constexpr int max_devices = 64;

std::vector<std::string> all_gpus() {
  const auto gpus = list_gpus();
  if (!gpus) throw CommandError(ExitCode::error, gpus.error().message());
  std::vector<std::string> words;
  for (const GpuSummary& gpu : *gpus) words.push_back(fmt::to_string(gpu.ordinal));
  return words;
}

bool is_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Expands "simulated*4" to "simulated#1" ... "simulated#4".
std::vector<std::string> expanded(std::string_view word) {
  const std::size_t star = word.rfind('*');
  if (!word.starts_with("simulated") || star == std::string_view::npos) return {std::string(word)};
  int count = 0;
  const std::string_view number = word.substr(star + 1);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), count);
  if (error != std::errc() || end != number.data() + number.size() || count < 1 || count > max_devices) {
    throw CommandError(ExitCode::usage, "--device '{}': the number after * must be from 1 to {}", word, max_devices);
  }
  std::vector<std::string> words;
  for (int i = 1; i <= count; ++i) words.push_back(fmt::format("{}#{}", word.substr(0, star), i));
  return words;
}

std::string host_of(const std::string& word) {
  return is_remote_device_name(word) ? word.substr(0, word.find('/')) : std::string();
}

Message why_not(const std::string& program, const worker::OpenFailure& failure) {
  using Kind = worker::OpenFailure::Kind;
  if (failure.kind == Kind::no_device) return failure.reason;
  if (failure.kind == Kind::other_version) {
    return make_message("{} (version {}) does not support protocol {} of this program", program, failure.words,
                        worker_protocol);
  }
  if (failure.silent) return make_message("{} did not answer within 90 s", program);
  const std::string words = worker::last_line(failure.end.stderr_tail);
  if (words.empty()) return make_message("{} does not answer as an attnscope worker", program);
  return make_message("{} cannot open a device: {}", program, words);
}

struct Child {
  std::string program;
  std::string name;     ///< name used in messages
  std::string version;  ///< required program version; empty for any
  worker::LossCause end_of = worker::LossCause::link;
  bool counters = false;
};

worker::OpenedWorker open_in_child(const Child& child, const std::vector<std::string>& device,
                                   const CancelToken& cancel) {
  const std::string& program = child.name;
  std::vector<std::string> words{child.program, "worker"};
  if (!child.counters) words.emplace_back("--no-counters");
  words.insert(words.end(), device.begin(), device.end());
  auto link = worker::start_child(words);
  if (!link) {
    throw CommandError(ExitCode::error, "cannot start {}: {}", program, link.error());
  }
  auto opened = worker::open_worker_device(std::move(link).value(), program, child.version, known_algorithms(), cancel,
                                           child.end_of);
  if (!opened && cancel.cancelled()) throw CommandError(ExitCode::partial, "cancelled while starting {}", program);
  if (!opened) throw CommandError(ExitCode::error, why_not(program, opened.error()));
  return std::move(opened).value();
}

/// Starts a worker of this program with these options of `attnscope worker`.
worker::OpenedWorker start_own_worker(const std::vector<std::string>& device, bool counters) {
  return open_in_child({.program = executable_path,
                        .name = "the worker process",
                        .version = program_version(),
                        .end_of = worker::LossCause::point,
                        .counters = counters},
                       device, cancel_on_signals());
}

OpenedDevice open_gpu_worker(const std::vector<std::string>& device, bool counters) {
  worker::OpenedWorker opened = start_own_worker(device, counters);
  const DeviceInfo info = opened.device->info();
  if (info.simulated) return open_simulation(info.limits, opened.simulation_reason);
  return {std::move(opened.device), make_message("GPU {}, {}", info.ordinal, info.limits.name)};
}

/// Opens one of several devices; a simulated device gets its own process, too.
OpenedDevice open_one_of_several(const std::vector<std::string>& device, const std::string& word, bool counters) {
  if (is_remote_device_name(word)) return open_device_in_process(word, counters);
  worker::OpenedWorker opened = start_own_worker(device, counters);
  const std::string name = opened.device->info().limits.name;
  return {std::move(opened.device), make_message("device {}, {}", word, name), opened.simulation_reason};
}

Result<OpenedDevice, std::string> reopen_in_process(const DeviceInfo& info, const std::string& word, bool counters) {
  if (!info.simulated) return open_worker_on(info.uuid, counters);
  try {
    return open_one_of_several({"--uuid", info.uuid}, word, counters);
  } catch (const CommandError& error) {
    return Failure{std::string(error.what())};
  }
}

}  // namespace

std::optional<std::vector<std::string>> parse_device_list(std::string_view word) {
  if (word == "all") return all_gpus();
  std::vector<std::string> words;
  for (std::size_t from = 0; from <= word.size();) {
    const std::size_t comma = std::min(word.find(',', from), word.size());
    const std::string_view part = word.substr(from, comma - from);
    // No list: the name of a hypothetical GPU may contain a comma.
    const bool is_word =
        is_number(part) || part == "gpu" || is_remote_device_name(part) || part.starts_with("simulated");
    if (!is_word) return std::nullopt;
    for (std::string& one : expanded(part)) words.push_back(std::move(one));
    from = comma + 1;
  }
  if (words.size() < 2 && word.find('*') == std::string_view::npos) return std::nullopt;
  for (const std::string& one : words) {
    if (std::ranges::count(words, one) > 1) throw CommandError(ExitCode::usage, "--device: {} is listed twice", one);
  }
  return words;
}

OpenedDevice open_worker(std::string_view word, bool counters) {
  if (is_remote_device_name(word) || word.starts_with("simulated")) return open_device_in_process(word, counters);
  require_gpu_name(word);
  std::vector<std::string> device;
  if (!word.empty()) device = {"--device", std::string(word)};
  return open_gpu_worker(device, counters);
}

Result<OpenedDevice, std::string> open_worker_on(const std::string& uuid, bool counters) {
  if (uuid.starts_with("SIM-")) return open_device_by_uuid(uuid, counters);
  try {
    return open_gpu_worker({"--uuid", uuid}, counters);
  } catch (const CommandError& error) {
    return Failure{std::string(error.what())};
  }
}

std::vector<NamedWorker> open_workers(const std::vector<std::string>& words, bool all, bool counters,
                                      const std::function<void(const Message&)>& warn) {
  for (const std::string& word : words) {
    if (word.starts_with("simulated")) (void)open_device_in_process(word, counters);  // rejects misspelled device names
  }
  std::vector<std::future<OpenedDevice>> opening;
  opening.reserve(words.size());
  for (const std::string& word : words) {
    opening.push_back(std::async(std::launch::async, [&word, counters] {
      return open_one_of_several({"--device", word}, word, counters);
    }));
  }
  std::vector<NamedWorker> workers;
  std::optional<CommandError> failure;
  std::set<std::string> uuids;
  for (std::size_t i = 0; i < words.size(); ++i) {
    try {
      workers.push_back({words[i], opening[i].get()});
      if (!uuids.insert(workers.back().opened.device->info().uuid).second) {
        failure.emplace(ExitCode::usage, make_message("--device: {} is listed twice", words[i]));
      }
    } catch (const CommandError& error) {
      if (all) warn(make_message("device {} skipped: {}", words[i], error.message()));
      if (!all && !failure) {
        failure.emplace(error.code(), make_message("device {}: {}", words[i], error.message()));
      }
    }
  }
  if (failure) throw CommandError(*failure);
  if (workers.empty())
    throw CommandError(ExitCode::error, "no GPU of this machine can be used (see `attnscope doctor`)");
  return workers;
}

Worker make_restartable(NamedWorker worker, bool counters, const std::function<void(const Message&)>& warn) {
  const DeviceInfo info = worker.opened.device->info();
  const auto restart = [info, word = worker.word, counters, warn]() -> Result<std::unique_ptr<Device>, std::string> {
    auto opened = is_remote_device_name(word) ? reopen_remote(word, info.uuid, counters, warn)
                                              : reopen_in_process(info, word, counters);
    if (!opened) return Failure{opened.error()};
    return std::move(opened->device);
  };
  return {.device = std::move(worker.opened.device), .restart = restart, .host = host_of(worker.word)};
}

std::unique_ptr<Device> open_child_device(const std::string& program, const std::string& device,
                                          const CancelToken& cancel) {
  std::vector<std::string> words;
  if (!device.empty()) words = {"--device", device};
  return open_in_child({.program = program, .name = program, .version = {}}, words, cancel).device;
}

}  // namespace attnscope
