// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/json_fields.h"

namespace attnscope {
namespace {

std::string field_text(const Json& value, std::string_view key) {
  auto text = to_axis_text(value, key);
  if (!text) throw InvalidLine{text.error()};
  return std::move(text).value();
}

void read_knob(PointSpec& spec, const std::string& name, const Json& value) {
  if (value.is_number_integer()) {
    spec.knobs.set(name, value.get<std::int64_t>());
  } else if (value.is_string()) {
    spec.knobs.set(name, value.get<std::string>());
  } else {
    throw InvalidLine{make_message("knob '{}' is neither an integer nor a string", name)};
  }
}

}  // namespace

void JsonWriter::operator()(const char* key, const Message& message) {
  json[key] = english_text(message);
  if (!message.id.empty()) json[fmt::format("{}_code", key)] = message.id;
}

void JsonWriter::operator()(const PointSpec& spec) {
  write_fields(json, spec);
  Json& knobs = json["knobs"] = Json::object();
  for (const auto& [name, held] : spec.knobs) knobs[name] = to_json_value(held);
}

void JsonReader::operator()(const char* key, Message& message) {
  message = {};
  (*this)(key, message.words);
  (*this)(fmt::format("{}_code", key).c_str(), message.id);
}

void JsonReader::operator()(PointSpec& spec) {
  for (const Field& field : point_fields()) {
    const auto found = json.find(std::string(field.name));
    if (found == json.end() || found->is_null()) continue;
    const auto set = set_field(field, spec, field_text(*found, field.name));
    if (!set) throw InvalidLine{set.error()};
  }
  if (const auto knobs = json.find("knobs"); knobs != json.end()) {
    for (const auto& [name, value] : knobs->items()) read_knob(spec, name, value);
  }
}

}  // namespace attnscope
