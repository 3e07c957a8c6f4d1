// SPDX-License-Identifier: Apache-2.0
#include "app/workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <future>
#include <set>
#include <utility>

#include "app/command.h"
#include "app/interrupt.h"
#include "app/python/python_kernels.h"
#include "kernels/registry.h"
#include "kernels/user/known_kernels.h"
#include "profiler/files/file_system.h"
#include "profiler/measure/gpu/gpu_device.h"
#include "profiler/measure/host_environment.h"
#include "profiler/worker/protocol.h"
#include "profiler/worker/worker_device.h"

namespace attnscope {
namespace {

constexpr int max_devices = 64;
/// For starting a Python worker, which imports the modules of its kernels.
constexpr std::chrono::minutes import_timeout{10};

std::vector<std::string> all_gpus() {
  const auto gpus = list_gpus();
  if (!gpus) throw CommandError(ExitCode::error, gpus.error().message());
  std::vector<std::string> words;
  for (const GpuSummary& gpu : *gpus) words.push_back(fmt::to_string(gpu.ordinal));
  return words;
}

bool is_simulated_device_name(std::string_view word) {
  return word.starts_with("simulated");
}

bool is_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Expands "simulated*4" to "simulated#1" ... "simulated#4".
std::vector<std::string> expanded(std::string_view word) {
  const std::size_t star = word.rfind('*');
  if (!is_simulated_device_name(word) || star == std::string_view::npos) return {std::string(word)};
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

Message why_not(const std::string& program, const worker::OpenFailure& failure, std::chrono::seconds patience) {
  using Kind = worker::OpenFailure::Kind;
  if (failure.kind == Kind::no_device) return failure.reason;
  if (failure.kind == Kind::other_version) {
    return make_message("{} (version {}) does not support protocol {} of this program", program, failure.words,
                        worker_protocol);
  }
  if (failure.silent) return make_message("{} did not answer within {} s", program, patience.count());
  const std::string words = worker::last_line(failure.end.stderr_tail);
  if (words.empty()) return make_message("{} does not answer as an attnscope worker", program);
  return make_message("{} cannot open a device: {}", program, words);
}

struct Child {
  std::vector<std::string> command;  ///< program and its first arguments
  std::vector<std::string> environment = {};
  std::string name;     ///< name used in messages
  std::string version;  ///< required program version; empty for any
  worker::LossCause end_of = worker::LossCause::link;
  bool counters = false;
  std::chrono::seconds patience = worker::open_timeout;
};

worker::OpenedWorker open_link(std::unique_ptr<worker::Link> link, const Child& child, const CancelToken& cancel) {
  auto opened = worker::open_worker_device(std::move(link), child.name, child.version, known_algorithms(), cancel,
                                           child.end_of, child.patience);
  if (!opened && cancel.cancelled()) throw CommandError(ExitCode::partial, "cancelled while starting {}", child.name);
  if (!opened) throw CommandError(ExitCode::error, why_not(child.name, opened.error(), child.patience));
  return std::move(opened).value();
}

worker::OpenedWorker open_in_child(const Child& child, const std::vector<std::string>& device,
                                   const CancelToken& cancel) {
  std::vector<std::string> words = child.command;
  if (!child.counters) words.emplace_back("--no-counters");
  words.insert(words.end(), device.begin(), device.end());
  auto link = worker::start_child(words, child.environment);
  if (!link) {
    throw CommandError(ExitCode::error, "cannot start {}: {}", child.name, link.error());
  }
  return open_link(std::move(link).value(), child, cancel);
}

/// Starts a worker of this program with these options of `attnscope worker`.
worker::OpenedWorker start_own_worker(const std::vector<std::string>& device, bool counters) {
  return open_in_child({.command = {executable_path, "worker"},
                        .name = "the worker process",
                        .version = program_version(),
                        .end_of = worker::LossCause::point,
                        .counters = counters},
                       device, cancel_on_signals());
}

/// Starts a GPU worker with these options of `attnscope worker`: in a Python process if a kernel is a Python function.
worker::OpenedWorker start_gpu_worker(const std::vector<std::string>& device, bool counters) {
  if (!user::has_python_kernels()) return start_own_worker(device, counters);
  PythonCommand python = python_worker("worker");
  return open_in_child({.command = std::move(python.words),
                        .environment = std::move(python.environment),
                        .name = "the Python worker process",
                        .version = program_version(),
                        .end_of = worker::LossCause::point,
                        .counters = counters,
                        .patience = import_timeout},
                       device, cancel_on_signals());
}

/// Opens the worker at the other end of two inherited descriptors. `word`: see is_inherited_device_name().
OpenedDevice open_inherited_device(std::string_view word) {
  int in = -1;
  int out = -1;
  const char* const end = word.data() + word.size();
  const auto first = std::from_chars(word.data() + inherited_prefix.size(), end, in);
  const bool has_comma = first.ptr != end && *first.ptr == ',';
  const auto second = std::from_chars(has_comma ? first.ptr + 1 : end, end, out);
  if (!has_comma || first.ec != std::errc() || second.ec != std::errc() || second.ptr != end)
    throw CommandError(ExitCode::usage, "--device '{}': expected two descriptors, fd:IN,OUT", word);
  std::signal(SIGPIPE, SIG_IGN);
  auto link = worker::connect_descriptors(in, out);
  if (!link) throw CommandError(ExitCode::usage, "--device {}: {}", word, link.error());
  const Child peer{.command = {},
                   .name = "the calling process",
                   .version = program_version(),
                   .end_of = worker::LossCause::point,
                   .patience = import_timeout};
  worker::OpenedWorker opened = open_link(std::move(link).value(), peer, cancel_on_signals());
  Message announcement = make_message("{}, in the calling process", device_title(opened.device->info()));
  return {std::move(opened.device), std::move(announcement), opened.simulation_reason};
}

OpenedDevice open_gpu_worker(const std::vector<std::string>& device, bool counters) {
  worker::OpenedWorker opened = start_gpu_worker(device, counters);
  const DeviceInfo info = opened.device->info();
  if (info.simulated) return open_simulation(info.limits, opened.simulation_reason);
  return {std::move(opened.device), device_title(info)};
}

/// Opens one of several devices; a simulated device gets its own process, too.
OpenedDevice open_one_of_several(const std::vector<std::string>& device, const std::string& word, bool counters) {
  if (is_remote_device_name(word)) return open_device_in_process(word, counters);
  const bool simulated = is_simulated_device_name(word);
  worker::OpenedWorker opened = simulated ? start_own_worker(device, counters) : start_gpu_worker(device, counters);
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
        is_number(part) || part == "gpu" || is_remote_device_name(part) || is_simulated_device_name(part);
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
  if (is_inherited_device_name(word)) return open_inherited_device(word);
  if (is_remote_device_name(word) || is_simulated_device_name(word)) return open_device_in_process(word, counters);
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
    if (is_simulated_device_name(word))
      (void)open_device_in_process(word, counters);  // rejects misspelled device names
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
    if (is_inherited_device_name(word)) return Failure{std::string("The worker of the calling process has ended.")};
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
  return open_in_child({.command = {program, "worker"}, .name = program, .version = {}}, words, cancel).device;
}

}  // namespace attnscope
