// SPDX-License-Identifier: Apache-2.0
#include "app/devices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <future>
#include <set>
#include <thread>
#include <utility>

#include "app/command.h"
#include "app/interrupt.h"
#include "app/python/python_kernels.h"
#include "kernels/model/device_rates.h"
#include "kernels/registry.h"
#include "kernels/user/known_kernels.h"
#include "messages/prediction.h"
#include "profiler/files/file_system.h"
#include "profiler/files/gpu_file.h"
#include "profiler/measure/device.h"
#include "profiler/measure/gpu/gpu_device.h"
#include "profiler/measure/simulated_device.h"
#include "profiler/predict/published_errors.h"
#include "profiler/simulator/l2_cache.h"
#include "profiler/worker/protocol.h"
#include "profiler/worker/ssh.h"
#include "profiler/worker/worker_device.h"

namespace attnscope {
namespace {

constexpr std::string_view simulated_word = "simulated";
/// "fd:IN,OUT": the worker at the other end of two inherited descriptors, for the Python package. Not in the help.
constexpr std::string_view inherited_prefix = "fd:";
constexpr int max_devices = 64;
/// For starting a Python worker, which imports the modules of its kernels.
constexpr std::chrono::minutes import_timeout{10};

bool is_simulated_device_name(std::string_view word) {
  return word.starts_with(simulated_word);
}

/// Splits "NAME#3" into name and unit; the unit is 0 if there is none.
std::pair<std::string_view, int> unit_of(std::string_view word) {
  const std::size_t mark = word.rfind('#');
  const auto unit = mark == std::string_view::npos ? std::nullopt : whole_number(word.substr(mark + 1));
  return unit ? std::pair(word.substr(0, mark), *unit) : std::pair(word, 0);
}

/// "GPU 0, NVIDIA H200" or "simulated NVIDIA H200".
Message device_title(const DeviceInfo& info) {
  return info.simulated ? make_message("simulated {}", info.limits.name)
                        : make_message("GPU {}, {}", info.ordinal, info.limits.name);
}

OpenedDevice titled(std::unique_ptr<Device> device) {
  Message announcement = device_title(device->info());
  return {std::move(device), std::move(announcement)};
}

/// `why`: see OpenedDevice::simulation_reason. `unit`: see make_simulated_device().
OpenedDevice open_simulation(const DeviceLimits& limits, const std::string& why = {}, int unit = 0) {
  Message announcement = make_message("simulated {}", limits.name);
  if (const L2Behavior behaviour = l2_behavior(limits); behaviour.inherited) {
    announcement =
        make_message("{} (L2 model fitted to an {}, not validated on this GPU)", announcement, behaviour.measured_on);
  }
  if (const Message note = times_note(limits); !note.empty()) announcement = make_message("{}. {}", announcement, note);
  if (!why.empty()) announcement = make_message("{}. {}", announcement, why);
  return {make_simulated_device(limits, known_algorithms(), {}, unit), std::move(announcement), why};
}

OpenedDevice open_remote(std::string_view word, bool counters) {
  const auto target = worker::parse_ssh_target(word);
  if (!target) throw CommandError(ExitCode::usage, target.error());
  auto link = worker::connect(*target, counters);
  if (!link) throw CommandError(ExitCode::error, link.error());
  auto opened = worker::open_worker_device(std::move(link).value(), target->host, program_version(), known_algorithms(),
                                           cancel_on_signals());
  if (!opened) throw CommandError(ExitCode::error, worker::explain(*target, opened.error(), program_version()));
  const Message title = device_title(opened->device->info());
  return {std::move(opened->device), make_message("{}, on {}", title, target->host), opened->simulation_reason};
}

/// Reconnects to a lost remote device with that UUID; retries for half a minute. Calls `warn` before each retry.
OpenedDevice reopen_remote(const std::string& word, const std::string& uuid, bool counters,
                           const std::function<void(const Message&)>& warn) {
  constexpr int longest_pause_s = 16;
  std::optional<OpenedDevice> opened;
  for (int pause_s = 1; !opened; pause_s *= 2) {
    try {
      opened = open_remote(word, counters);
    } catch (const CommandError& error) {
      if (pause_s > longest_pause_s || cancel_on_signals().cancelled()) throw;
      warn(make_message("{}; retrying in {} s", error.message(), pause_s));
      const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(pause_s);
      while (std::chrono::steady_clock::now() < until && !cancel_on_signals().cancelled()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
    }
  }
  if (const std::string& now = opened->device->info().uuid; now != uuid)
    throw CommandError(ExitCode::error, "{} is now {}, but the run began on {}", word, now, uuid);
  return *std::move(opened);
}

std::vector<std::string> all_gpus() {
  const auto gpus = list_gpus();
  if (!gpus) throw CommandError(ExitCode::error, gpus.error().message());
  std::vector<std::string> words;
  for (const GpuSummary& gpu : *gpus) words.push_back(fmt::to_string(gpu.ordinal));
  return words;
}

/// Expands "simulated*4" to "simulated#1" ... "simulated#4".
std::vector<std::string> expanded(std::string_view word) {
  const std::size_t star = word.rfind('*');
  if (!is_simulated_device_name(word) || star == std::string_view::npos) return {std::string(word)};
  const int count = whole_number(word.substr(star + 1)).value_or(0);
  if (count < 1 || count > max_devices)
    throw CommandError(ExitCode::usage, "--device '{}': the number after * must be from 1 to {}", word, max_devices);
  std::vector<std::string> words;
  for (int i = 1; i <= count; ++i) words.push_back(fmt::format("{}#{}", word.substr(0, star), i));
  return words;
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
  std::string name;                  ///< name used in messages
  std::string version;               ///< required program version; empty for any
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
  auto link = worker::start_child(words);
  if (!link) {
    throw CommandError(ExitCode::error, "cannot start {}: {}", child.name, link.error());
  }
  return open_link(std::move(link).value(), child, cancel);
}

/// Starts a worker with these options of `attnscope worker`: this program, or a Python process.
worker::OpenedWorker start_worker(const std::vector<std::string>& device, bool counters, bool with_python) {
  Child child{.command = {executable_path, "worker"},
              .name = "the worker process",
              .version = program_version(),
              .end_of = worker::LossCause::point,
              .counters = counters};
  if (with_python) {
    child.command = python_worker("worker");
    child.name = "the Python worker process";
    child.patience = import_timeout;
  }
  return open_in_child(child, device, cancel_on_signals());
}

/// Opens the worker at the other end of two inherited descriptors.
OpenedDevice open_inherited_device(std::string_view word) {
  const std::string_view numbers = word.substr(inherited_prefix.size());
  const std::size_t comma = std::min(numbers.find(','), numbers.size());
  const auto in = whole_number(numbers.substr(0, comma));
  const auto out = whole_number(numbers.substr(std::min(comma + 1, numbers.size())));
  if (!in || !out) throw CommandError(ExitCode::usage, "--device '{}': expected two descriptors, fd:IN,OUT", word);
  std::signal(SIGPIPE, SIG_IGN);
  auto link = worker::connect_descriptors(*in, *out);
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
  worker::OpenedWorker opened = start_worker(device, counters, user::has_python_kernels());
  const DeviceInfo info = opened.device->info();
  return info.simulated ? open_simulation(info.limits, opened.simulation_reason) : titled(std::move(opened.device));
}

/// Opens one of several devices; a simulated device gets its own process, too.
OpenedDevice open_one_of_several(const std::vector<std::string>& device, const std::string& word, bool counters) {
  if (is_remote_device_name(word)) return open_remote(word, counters);
  worker::OpenedWorker opened =
      start_worker(device, counters, user::has_python_kernels() && !is_simulated_device_name(word));
  const std::string name = opened.device->info().limits.name;
  return {std::move(opened.device), make_message("device {}, {}", word, name), opened.simulation_reason};
}

void require_gpu_name(std::string_view word) {
  if (word.empty() || word == "gpu" || whole_number(word)) return;
  throw CommandError(ExitCode::usage,
                     "unknown device '{}'; available: a GPU number, gpu, simulated, simulated:NAME, ssh:HOST", word);
}

}  // namespace

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

bool is_remote_device_name(std::string_view word) {
  return word.starts_with(worker::ssh_prefix);
}

OpenedDevice open_device(std::string_view word, bool counters) {
  const bool has_host_code = std::ranges::any_of(known_algorithms().algorithms(),
                                                 [](const Algorithm* each) { return each->facts().host_code; });
  return has_host_code || word.starts_with(inherited_prefix) ? open_worker(word, counters)
                                                             : open_device_in_process(word, counters);
}

OpenedDevice open_device_in_process(std::string_view word, bool counters) {
  if (is_remote_device_name(word)) return open_remote(word, counters);
  if (const auto [name, unit] = unit_of(word); is_simulated_device_name(name)) {
    if (name == simulated_word) return open_simulation(known_gpus().front(), {}, unit);
    if (name[simulated_word.size()] == ':')
      return open_simulation(load_gpu_limits(name.substr(simulated_word.size() + 1)), {}, unit);
  }
  require_gpu_name(word);
  GpuOptions options;
  options.counters = counters;
  options.ordinal = whole_number(word).value_or(options.ordinal);
  Result<std::unique_ptr<Device>, GpuError> opened = open_gpu_device(options);
  if (opened) return titled(std::move(opened).value());
  const std::string why = text(opened.error().message());
  if (!word.empty()) throw CommandError(ExitCode::error, "--device {}: {}", word, why);
  if (opened.error().gpu_absent) return open_simulation(known_gpus().front(), why);
  // No fallback to simulation if a GPU exists: users would take simulated values for measurements.
  throw CommandError(ExitCode::error, "{} Or use --device simulated.", as_sentence(why));
}

OpenedDevice open_device_by_uuid(const std::string& uuid, bool counters) {
  const auto [whose, unit] = unit_of(uuid);
  for (const DeviceLimits& limits : known_gpus()) {
    if (simulated_uuid(limits) == whose) return open_simulation(limits, {}, unit);
  }
  GpuOptions options;
  options.counters = counters;
  options.uuid = uuid;
  Result<std::unique_ptr<Device>, GpuError> opened = open_gpu_device(options);
  if (!opened) throw CommandError(ExitCode::error, opened.error().message());
  return titled(std::move(opened).value());
}

OpenedDevice open_worker(std::string_view word, bool counters) {
  if (word.starts_with(inherited_prefix)) return open_inherited_device(word);
  if (is_remote_device_name(word) || is_simulated_device_name(word)) return open_device_in_process(word, counters);
  require_gpu_name(word);
  std::vector<std::string> device;
  if (!word.empty()) device = {"--device", std::string(word)};
  return open_gpu_worker(device, counters);
}

OpenedDevice open_worker_on(const std::string& uuid, const DeviceLimits& limits, bool counters) {
  const auto [whose, unit] = unit_of(uuid);
  if (find_gpu(limits.name) == nullptr && simulated_uuid(limits) == whose) return open_simulation(limits, {}, unit);
  return uuid.starts_with("SIM-") ? open_device_by_uuid(uuid, counters) : open_gpu_worker({"--uuid", uuid}, counters);
}

std::unique_ptr<Device> open_child_device(const std::string& program, const std::string& device,
                                          const CancelToken& cancel) {
  std::vector<std::string> words;
  if (!device.empty()) words = {"--device", device};
  return open_in_child({.command = {program, "worker"}, .name = program, .version = {}}, words, cancel).device;
}

std::optional<std::vector<std::string>> parse_device_list(std::string_view word) {
  if (word == "all") return all_gpus();
  std::vector<std::string> words;
  for (std::size_t from = 0; from <= word.size();) {
    const std::size_t comma = std::min(word.find(',', from), word.size());
    const std::string_view part = word.substr(from, comma - from);
    // No list: the name of a hypothetical GPU may contain a comma.
    const bool is_word =
        whole_number(part) || part == "gpu" || is_remote_device_name(part) || is_simulated_device_name(part);
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
  const bool is_remote = is_remote_device_name(worker.word);
  const auto restart = [=, word = worker.word]() -> Result<std::unique_ptr<Device>, std::string> {
    if (word.starts_with(inherited_prefix)) return Failure{std::string("The worker of the calling process has ended.")};
    try {
      if (is_remote) return reopen_remote(word, info.uuid, counters, warn).device;
      const std::vector<std::string> device{"--uuid", info.uuid};
      return (info.simulated ? open_one_of_several(device, word, counters) : open_gpu_worker(device, counters)).device;
    } catch (const CommandError& error) {
      return Failure{std::string(error.what())};
    }
  };
  const std::string host = is_remote ? worker.word.substr(0, worker.word.find('/')) : std::string();
  return {.device = std::move(worker.opened.device), .restart = restart, .host = host};
}

}  // namespace attnscope
