// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/user/argument_bytes.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <variant>

namespace attnscope::gpu {
namespace {

using AddressOf = std::function<CUdeviceptr(const std::string&)>;

template <class T>
std::vector<std::byte> bytes_of_value(const T& value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

template <class T>
std::vector<std::byte> plain_value(const T& value, const AddressOf& address_of) {
  if constexpr (std::is_same_v<T, BufferArgument>) {
    return bytes_of_value(value.name.empty() ? CUdeviceptr{0} : address_of(value.name));
  } else {
    return bytes_of_value(value);
  }
}

std::size_t round_up(std::size_t value, std::size_t step) {
  return (value + step - 1) / step * step;
}

/// Each member is aligned to its size, and the end to the largest member.
std::vector<std::byte> struct_value(const StructArgument& structure, const AddressOf& address_of) {
  std::vector<std::byte> all;
  std::size_t alignment = 1;
  for (const PlainArgument& member : structure.members) {
    const auto value = std::visit([&](const auto& each) { return plain_value(each, address_of); }, member);
    alignment = std::max(alignment, value.size());
    all.resize(round_up(all.size(), value.size()));
    all.insert(all.end(), value.begin(), value.end());
  }
  all.resize(round_up(all.size(), alignment));
  return all;
}

}  // namespace

std::vector<std::byte> argument_value(const Argument& argument, const AddressOf& address_of) {
  return std::visit(
      [&](const auto& value) -> std::vector<std::byte> {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, StructArgument>) {
          return struct_value(value, address_of);
        } else if constexpr (std::is_same_v<T, TensorMapArgument>) {
          return std::vector<std::byte>(sizeof(CUtensorMap));
        } else {
          return plain_value(value, address_of);
        }
      },
      argument);
}

std::size_t argument_bytes(const Argument& argument) {
  return argument_value(argument, [](const std::string&) { return CUdeviceptr{0}; }).size();
}

}  // namespace attnscope::gpu
