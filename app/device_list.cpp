// SPDX-License-Identifier: Apache-2.0
#include "app/device_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <future>
#include <set>
#include <utility>

#include "app/child_device.h"
#include "app/command.h"
#include "app/interrupt.h"
#include "profiler/measure/gpu/gpu_device.h"

namespace attnscope {
namespace {

constexpr int most_devices = 64;

std::vector<std::string> all_gpus() {
  const auto gpus = list_gpus();
  if (!gpus) throw CommandError(ExitCode::error, gpus.error().message());
  std::vector<std::string> words;
  for (const GpuListing& gpu : *gpus) words.push_back(fmt::to_string(gpu.ordinal));
  return words;
}

bool is_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

/// "simulated*4": four words, "simulated#1" and so on.
std::vector<std::string> expanded(std::string_view word) {
  const std::size_t star = word.rfind('*');
  if (!word.starts_with("simulated") || star == std::string_view::npos) return {std::string(word)};
  int count = 0;
  const std::string_view number = word.substr(star + 1);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), count);
  if (error != std::errc() || end != number.data() + number.size() || count < 1 || count > most_devices) {
    throw CommandError(ExitCode::usage, "--device '{}': behind the * stands how many GPUs are simulated, from 1 to {}",
                       word, most_devices);
  }
  std::vector<std::string> words;
  for (int i = 1; i <= count; ++i) words.push_back(fmt::format("{}#{}", word.substr(0, star), i));
  return words;
}

/// Where it runs: devices of one host share a cache.
std::string host_of(const std::string& word) {
  return is_elsewhere(word) ? word.substr(0, word.find('/')) : std::string();
}

OpenedDevice opened_alone(const std::vector<std::string>& words, const std::string& word, bool counters) {
  if (is_elsewhere(word)) return open_device(word, counters);
  remote::OpenedRemote opened = open_library_process(words, counters, cancel_on_signals());
  const std::string name = opened.device->info().limits.name;
  return {std::move(opened.device), make_message("device {}, {}", word, name), opened.simulated_because};
}

}  // namespace

std::optional<std::vector<std::string>> several_devices(std::string_view word) {
  if (word == "all") return all_gpus();
  std::vector<std::string> words;
  for (std::size_t from = 0; from <= word.size();) {
    const std::size_t comma = std::min(word.find(',', from), word.size());
    const std::string_view part = word.substr(from, comma - from);
    // A GPU of one's own may have a comma in its name.
    const bool is_word = is_number(part) || part == "gpu" || is_elsewhere(part) || part.starts_with("simulated");
    if (!is_word) return std::nullopt;
    for (std::string& one : expanded(part)) words.push_back(std::move(one));
    from = comma + 1;
  }
  if (words.size() < 2 && word.find('*') == std::string_view::npos) return std::nullopt;
  for (const std::string& one : words) {
    if (std::ranges::count(words, one) > 1) throw CommandError(ExitCode::usage, "--device names {} twice", one);
  }
  return words;
}

std::vector<NamedDevice> open_several(const std::vector<std::string>& words, bool all, bool counters,
                                      const std::function<void(const Message&)>& warn) {
  for (const std::string& word : words) {
    if (word.starts_with("simulated")) (void)open_device_here(word, counters);  // what is misspelt is said here
  }
  std::vector<std::future<OpenedDevice>> opening;
  opening.reserve(words.size());
  for (const std::string& word : words) {
    opening.push_back(std::async(std::launch::async, [&word, counters] {
      return opened_alone({"--device", word}, word, counters);
    }));
  }
  std::vector<NamedDevice> devices;
  std::optional<CommandError> failure;
  std::set<std::string> uuids;
  for (std::size_t i = 0; i < words.size(); ++i) {
    try {
      devices.push_back({words[i], opening[i].get()});
      if (!uuids.insert(devices.back().opened.device->info().uuid).second) {
        failure.emplace(ExitCode::usage, make_message("--device names {} twice", words[i]));
      }
    } catch (const CommandError& error) {
      if (all) warn(make_message("device {} is left out: {}", words[i], error.message()));
      if (!all && !failure) {
        failure.emplace(error.code(), make_message("device {}: {}", words[i], error.message()));
      }
    }
  }
  if (failure) throw CommandError(*failure);
  if (devices.empty()) throw CommandError(ExitCode::error, "none of the devices of this machine can be used");
  return devices;
}

SharedDevice shared_device(NamedDevice device, bool counters, const std::function<void(const Message&)>& warn) {
  const std::string uuid = device.opened.device->info().uuid;
  const std::string word = device.word;
  const auto reopen = [uuid, word, counters, warn]() -> Result<std::unique_ptr<Device>, std::string> {
    if (is_elsewhere(word)) {
      auto opened = reopen_elsewhere(word, uuid, counters, warn);
      if (!opened) return Failure{opened.error()};
      return std::move(opened->device);
    }
    try {
      return opened_alone({"--uuid", uuid}, word, counters).device;
    } catch (const CommandError& error) {
      return Failure{std::string(error.what())};
    }
  };
  return {.device = std::move(device.opened.device), .reopen = reopen, .host = host_of(word)};
}

}  // namespace attnscope
