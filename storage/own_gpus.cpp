// SPDX-License-Identifier: Apache-2.0
#include "storage/own_gpus.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "kernels/model/gpu_values.h"
#include "messages/file.h"
#include "messages/gpu_value.h"
#include "profiler/measure/host_environment.h"
#include "storage/output_file.h"
#include "storage/run_store.h"

namespace attnscope {
namespace {

using Json = nlohmann::json;
using Gpus = Result<std::vector<OwnGpu>, Message>;

constexpr int own_gpus_version = 1;
constexpr std::size_t largest_kib = 1024;

bool same_letters(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

/// "name" of the object, where it is a text.
const std::string* word_in(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : found->get_ptr<const std::string*>();
}

Result<OwnGpu, Message> gpu_from(const Json& json, std::size_t place, const std::string& file) {
  const auto fail = [](Message why) { return Failure{std::move(why)}; };
  if (!json.is_object()) return fail(say::gpu_value::no_gpu{.file = file, .place = place});
  const std::string* name = word_in(json, "name");
  const std::string* from = word_in(json, "from");
  const auto values = json.find("values");
  if (name == nullptr || from == nullptr || values == json.end() || !values->is_object()) {
    return fail(say::gpu_value::no_gpu{.file = file, .place = place});
  }
  const DeviceLimits* base = find_gpu(*from);
  if (base == nullptr) return fail(say::gpu_value::unknown_base{.file = file, .gpu = *name, .base = *from});
  OwnGpu gpu{.limits = own_gpu_like(*base, *name), .from = base->name};
  for (const auto& [key, json_value] : values->items()) {
    const GpuValue* value = find_gpu_value(key);
    if (value == nullptr) return fail(say::gpu_value::unknown_value{.file = file, .gpu = *name, .value = key});
    const double number = json_value.is_number() ? json_value.get<double>() : std::nan("");
    const bool in_range = number >= value->least && number <= value->most;
    if (!json_value.is_number() || (in_range && value->whole && number != std::floor(number))) {
      return fail(say::gpu_value::no_number{.file = file, .value = key, .gpu = *name});
    }
    // What is outside is named by wrong_gpu(), and must not be made a whole number before.
    if (!in_range) {
      return fail(say::gpu_value::wrong{.file = file, .gpu = *name, .why = outside(*value, number)});
    }
    value->set(gpu.limits, number);
  }
  if (Message wrong = wrong_gpu(gpu.limits); !wrong.empty()) {
    return fail(say::gpu_value::wrong{.file = file, .gpu = *name, .why = std::move(wrong)});
  }
  return gpu;
}

}  // namespace

std::filesystem::path own_gpus_file() {
  const std::filesystem::path folder = data_folder();
  return folder.empty() ? folder : folder / "gpus.json";
}

Gpus parse_own_gpus(std::string_view text, const std::string& file) {
  const auto fail = [](Message why) { return Failure{std::move(why)}; };
  if (text.size() > largest_kib * 1024) return fail(say::gpu_value::too_large{.file = file, .most = largest_kib});
  const Json json = Json::parse(text, nullptr, false);
  const auto gpus = json.is_object() ? json.find("gpus") : json.end();
  const auto version = json.is_object() ? json.find("version") : json.end();
  if (!json.is_object() || gpus == json.end() || !gpus->is_array() || version == json.end() ||
      !version->is_number_integer()) {
    return fail(say::gpu_value::no_object{.file = file});
  }
  if (*version != own_gpus_version) return fail(say::gpu_value::newer{.file = file});
  if (gpus->size() > most_own_gpus) return fail(say::gpu_value::too_many{.file = file, .most = most_own_gpus});
  std::vector<OwnGpu> all;
  for (const Json& each : *gpus) {
    auto gpu = gpu_from(each, all.size() + 1, file);
    if (!gpu) return fail(gpu.error());
    if (find_own_gpu(all, gpu->limits.name) != nullptr) {
      return fail(say::gpu_value::twice{.file = file, .gpu = gpu->limits.name});
    }
    all.push_back(std::move(*gpu));
  }
  return all;
}

Gpus read_own_gpus(const std::filesystem::path& file) {
  std::error_code missing;
  if (file.empty() || !std::filesystem::exists(file, missing)) return std::vector<OwnGpu>();
  std::error_code error;
  // Who opens a pipe waits for somebody who writes into it.
  const bool regular = std::filesystem::is_regular_file(file, error);
  if (!error && !regular) return Failure{Message(say::file::no_regular_file{.file = file.string()})};
  const std::uintmax_t size = regular ? std::filesystem::file_size(file, error) : 0;
  if (!error && size > largest_kib * 1024) {
    return Failure{Message(say::gpu_value::too_large{.file = file.string(), .most = largest_kib})};
  }
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (!error && in) text << in.rdbuf();
  if (error || !in) {
    const std::string why = error ? error.message() : std::generic_category().message(errno != 0 ? errno : EIO);
    return Failure{Message(say::gpu_value::unreadable{.file = file.string(), .why = why})};
  }
  return parse_own_gpus(text.str(), file.string());
}

Message write_own_gpus(const std::filesystem::path& file, const std::vector<OwnGpu>& gpus) {
  Json list = Json::array();
  for (const OwnGpu& gpu : gpus) {
    const DeviceLimits* base = find_gpu(gpu.from);
    const DeviceLimits like = own_gpu_like(base != nullptr ? *base : known_gpus().front(), gpu.limits.name);
    Json values = Json::object();
    for (const GpuValue& value : gpu_values()) {
      if (value.get(gpu.limits) != value.get(like)) values[std::string(value.key)] = value.get(gpu.limits);
    }
    list.push_back({{"name", gpu.limits.name}, {"from", gpu.from}, {"values", std::move(values)}});
  }
  const Json json{{"version", own_gpus_version}, {"gpus", std::move(list)}};
  try {
    std::filesystem::create_directories(file.parent_path());
    OutputFile out(file, file_kind::json, OutputFile::Existing::any);
    out.write(json.dump(2) + "\n");
    out.commit();
  } catch (const std::filesystem::filesystem_error& error) {
    return say::gpu_value::unreadable{.file = file.string(), .why = error.code().message()};
  } catch (const StorageError& error) {
    return error.message();
  }
  return {};
}

const OwnGpu* find_own_gpu(const std::vector<OwnGpu>& gpus, std::string_view name) {
  const auto found = std::ranges::find_if(gpus, [&](const OwnGpu& gpu) { return same_letters(gpu.limits.name, name); });
  return found == gpus.end() ? nullptr : &*found;
}

}  // namespace attnscope
