// SPDX-License-Identifier: Apache-2.0
#include "profiler/files/gpu_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "kernels/files/json_check.h"
#include "kernels/files/regular_file.h"
#include "kernels/model/gpu_values.h"

namespace attnscope {
namespace {

using Gpu = Result<DeviceLimits, std::string>;
constexpr std::size_t largest_bytes = std::size_t{64} * 1024;

}  // namespace

Gpu parse_gpu(std::string_view text, const std::string& file) {
  const auto fail = [&](const std::string& why) { return Failure{fmt::format("{}: {}", file, why)}; };
  nlohmann::ordered_json json;
  try {
    json = parse_checked_json(text);
  } catch (const Message& why) {
    return fail(english_text(why));
  } catch (const nlohmann::json::exception&) {  // reported below
  }
  const auto entry = [&](const char* name) { return json.is_object() ? json.find(name) : json.end(); };
  const auto name = entry("name");
  const auto from = entry("from");
  const auto values = entry("values");
  const bool complete = name != json.end() && name->is_string() && from != json.end() && from->is_string() &&
                        values != json.end() && values->is_object();
  if (!complete || json.size() != 3)
    return fail(R"(not a GPU file; expected {"name": ..., "from": ..., "values": {...}})");
  const DeviceLimits* base = find_gpu(from->get_ref<const std::string&>());
  if (base == nullptr) return fail(fmt::format("unknown GPU '{}' in \"from\"", from->get_ref<const std::string&>()));
  DeviceLimits gpu = make_custom_gpu(*base, name->get<std::string>());
  for (const auto& [key, stated] : values->items()) {
    const GpuValue* value = find_gpu_value(key);
    if (value == nullptr) return fail(fmt::format("unknown value '{}'", key));
    if (!stated.is_number()) return fail(fmt::format("{} must be a number", key));
    const auto number = stated.get<double>();
    // range check before the conversion to an integer
    if (!(number >= value->least && number <= value->most)) return fail(outside(*value, number));
    if (value->whole && number != std::floor(number)) return fail(fmt::format("{} must be a whole number", key));
    value->set(gpu, number);
  }
  if (const std::string wrong = gpu_error(gpu); !wrong.empty()) return fail(wrong);
  return gpu;
}

Gpu read_gpu(const std::filesystem::path& file) {
  const auto content = read_regular_file(file, largest_bytes);
  if (!content) return Failure{fmt::format("{}: {}", file.string(), english_text(content.error()))};
  return parse_gpu(*content, file.string());
}

std::string gpu_text(const DeviceLimits& gpu) {
  const DeviceLimits* base = find_gpu(gpu.name);
  const std::string name = base == nullptr ? gpu.name : "My " + gpu.name;
  if (base == nullptr) {
    const auto same_capability = [&](const DeviceLimits& known) {
      return known.compute_major == gpu.compute_major && known.compute_minor == gpu.compute_minor;
    };
    // GPUs from files have the compute capability of a known GPU
    base = &*std::ranges::find_if(known_gpus(), same_capability);
  }
  const DeviceLimits stated = gpu.custom_rates.tensor_flops > 0 ? gpu : make_custom_gpu(gpu, name);
  auto values = nlohmann::ordered_json::object();
  for (const GpuValue& value : gpu_values()) {
    const double is = value.get(stated);
    if (value.whole) {
      values[std::string(value.key)] = std::llround(is);
    } else {
      values[std::string(value.key)] = is;
    }
  }
  const nlohmann::ordered_json json{{"name", name}, {"from", base->name}, {"values", std::move(values)}};
  return json.dump(2);
}

}  // namespace attnscope
