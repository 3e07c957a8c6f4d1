// SPDX-License-Identifier: Apache-2.0
// Converts plain structs to and from JSON objects. The `fields(io, value)` of a struct names each member once; `io` is
// a JsonWriter or a JsonReader.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "profiler/plan/fields.h"
#include "profiler/plan/point_spec.h"

namespace attnscope {

using Json = nlohmann::ordered_json;

template <class... Held>
[[nodiscard]] Json to_json_value(const std::variant<Held...>& value) {
  return std::visit([](const auto& held) { return Json(held); }, value);
}

/// Writes every point field by name, but no knobs.
inline void write_fields(Json& json, const PointSpec& spec) {
  for (const Field& field : point_fields()) json[std::string(field.name)] = to_json_value(field.get(spec));
}

/// Text of a JSON string, number or boolean in the syntax of an axis value.
[[nodiscard]] inline Result<std::string, Message> to_axis_text(const Json& value, std::string_view key) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return std::string(value.get<bool>() ? "yes" : "no");
  if (value.is_number()) return value.dump();
  return Failure{make_message("'{}' is neither a number nor a string", key)};
}

/// Serializes to one line without a newline; replaces invalid UTF-8 (from compile logs or paths).
[[nodiscard]] inline std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Thrown for an invalid line; caught by the parse functions.
struct InvalidLine {
  Message why;
};

struct JsonWriter {
  Json& json;

  template <class T>
  void operator()(const char* key, const T& member) {
    json[key] = value_of(member);
  }
  /// Writes a string or list unless empty.
  template <class T>
  void optional_member(const char* key, const T& member) {
    if (!member.empty()) (*this)(key, member);
  }
  /// Writes a number unless it has its default.
  template <class T>
  void optional_member(const char* key, T number, T unsaid) {
    if (number != unsaid) json[key] = number;
  }
  template <class T>
  void required(const char* key, const T& member) {
    (*this)(key, member);
  }
  /// Omits an empty optional.
  template <class T>
  void operator()(const char* key, const std::optional<T>& member) {
    if (member) (*this)(key, *member);
  }
  /// Writes the English text, and "<key>_code" if the message has an id.
  void operator()(const char* key, const Message& message);
  void operator()(const PointSpec& spec);
  template <class T, class Unreadable>
  void list(const char* key, const std::vector<T>& list, [[maybe_unused]] Unreadable unreadable) {
    (*this)(key, list);
  }
  template <class T, class Parse>
  void keyword(const char* key, const T& member, [[maybe_unused]] Parse parse) {
    json[key] = std::string(to_string(member));
  }

 private:
  template <class T>
  static Json value_of(const T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
      return value;
    } else if constexpr (requires { value.begin(); }) {
      Json list = Json::array();
      for (const auto& element : value) list.push_back(value_of(element));
      return list;
    } else {
      Json object = Json::object();
      T copy = value;  // fields() takes a mutable reference
      fields(JsonWriter{object}, copy);
      return object;
    }
  }
};

/// Reads members. An absent or null field keeps its default; a field of another type throws InvalidLine or a nlohmann
/// exception. Numbers are range-checked, since nlohmann converts -1 to a huge unsigned value.
struct JsonReader {
  const Json& json;

  void operator()(const char* key, Message& message);
  void operator()(PointSpec& spec);
  template <class T>
  void optional_member(const char* key, T& member) {
    (*this)(key, member);
  }
  template <class T>
  void optional_member(const char* key, T& number, [[maybe_unused]] T unsaid) {
    (*this)(key, number);
  }

  template <class T>
  void operator()(const char* key, T& member) {
    const auto found = json.find(key);
    if (found != json.end() && !found->is_null()) read(*found, key, member);
  }
  /// Like operator(), but throws if the field is absent. Null (not finite) also throws.
  template <class T>
  void required(const char* key, T& member) {
    const auto found = json.find(key);
    if (found == json.end()) throw InvalidLine{make_message("'{}' is not a number", key)};
    read(*found, key, member);
  }
  template <class T>
  void operator()(const char* key, std::optional<T>& member) {
    const auto found = json.find(key);
    if (found != json.end() && !found->is_null()) (*this)(key, member.emplace());
  }
  /// Reads a list; replaces an invalid element by `unreadable(why)`.
  template <class T, class Unreadable>
  void list(const char* key, std::vector<T>& list, Unreadable unreadable) {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_array())
      throw InvalidLine{make_message("'{}' is not a list of the expected length", key)};
    for (const Json& element : *found) {
      try {
        read(element, key, list.emplace_back());
      } catch (const InvalidLine& wrong) {
        list.back() = unreadable(wrong.why);
      } catch (const Json::exception& wrong) {
        list.back() = unreadable(Message::verbatim(wrong.what()));
      }
    }
  }
  template <class T, class Parse>
  void keyword(const char* key, T& member, Parse parse) {
    std::string text;
    (*this)(key, text);
    if (text.empty()) return;
    auto parsed = parse(text);
    if (!parsed) throw InvalidLine{parsed.error()};
    member = *parsed;
  }

 private:
  template <class T>
  static void read(const Json& value, const char* key, T& member) {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
      value.get_to(member);
    } else if constexpr (std::is_floating_point_v<T>) {
      if (!value.is_number()) throw InvalidLine{make_message("'{}' is not a number", key)};
      member = value.get<T>();
    } else if constexpr (std::is_arithmetic_v<T>) {
      const bool whole = value.is_number_integer();
      if (!whole || (std::is_unsigned_v<T> && !value.is_number_unsigned())) {
        if (std::is_unsigned_v<T>) throw InvalidLine{make_message("'{}' is not a nonnegative integer", key)};
        throw InvalidLine{make_message("'{}' is not an integer", key)};
      }
      const bool fits = value.is_number_unsigned() ? std::in_range<T>(value.get<std::uint64_t>())
                                                   : std::in_range<T>(value.get<std::int64_t>());
      if (!fits) throw InvalidLine{make_message("'{}' is out of range", key)};
      member = value.get<T>();
    } else if constexpr (requires { member.emplace_back(); }) {
      if (!value.is_array()) throw InvalidLine{make_message("'{}' is not a list of the expected length", key)};
      for (const Json& element : value) read(element, key, member.emplace_back());
    } else if constexpr (requires { member.size(); }) {  // std::array
      if (!value.is_array() || value.size() != member.size())
        throw InvalidLine{make_message("'{}' is not a list of the expected length", key)};
      for (std::size_t i = 0; i < member.size(); ++i) read(value[i], key, member[i]);
    } else {
      if (!value.is_object()) throw InvalidLine{"the line is not a JSON object"};
      fields(JsonReader{value}, member);
    }
  }
};

}  // namespace attnscope
