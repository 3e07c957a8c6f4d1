// SPDX-License-Identifier: Apache-2.0
#include "kernels/user/launch_arguments.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

#include "kernels/oracle/float16.h"

namespace attnscope::user {
namespace {

constexpr std::int64_t max_stride_bytes = (std::int64_t{1} << 40) - 1;

DType dtype_from_variables(const Variables& variables) {
  return variables.at("fp32") != 0 ? DType::fp32 : variables.at("bf16") != 0 ? DType::bf16 : DType::fp16;
}

/// Requirements of cuTensorMapEncodeTiled(), checked without a driver. Throws Message.
void check_map(const TensorMapArgument& map, const ArgumentSpec& stated) {
  constexpr std::int64_t alignment = 16;
  for (std::size_t i = 0; i < map.strides.size(); ++i) {
    if (map.strides[i] % alignment == 0) continue;
    throw make_message("tensor map stride '{}' is {} bytes; it must be a multiple of 16", stated.strides[i].text(),
                       map.strides[i]);
  }
  const std::int64_t inner = map.box.front() * bytes_per_element(map.dtype);
  if (inner % alignment != 0 || (map.swizzle_bytes > 0 && inner > map.swizzle_bytes)) {
    throw make_message(
        "the innermost side '{}' of a tensor map's box has {} bytes; it must be a multiple of 16 and at most the "
        "swizzle ({} bytes, if not 0)",
        stated.box.front().text(), inner, map.swizzle_bytes);
  }
}

TensorMapArgument tensor_map_of(const ArgumentSpec& stated, const Variables& variables) {
  constexpr std::int64_t max_box_side = 256;
  constexpr std::int64_t max_extent = std::numeric_limits<std::int32_t>::max();
  TensorMapArgument map{.buffer = stated.buffer,
                        .dtype = dtype_from_variables(variables),
                        .extents = {},
                        .strides = {},
                        .box = {},
                        .swizzle_bytes = stated.swizzle_bytes};
  for (const Expression& each : stated.extents) map.extents.push_back(each.evaluate_within(variables, 1, max_extent));
  for (const Expression& each : stated.strides)
    map.strides.push_back(each.evaluate_within(variables, 16, max_stride_bytes));
  for (const Expression& each : stated.box) map.box.push_back(each.evaluate_within(variables, 1, max_box_side));
  check_map(map, stated);
  return map;
}

/// Value as a real number of at most this magnitude.
double real_value(const Expression& expression, const Variables& variables, double largest, const char* type) {
  const auto value = expression.evaluate_real(variables);
  if (!value) throw value.error();
  if (!(std::abs(*value) <= largest)) throw make_message("'{}' is too large for a {}", expression.text(), type);
  return *value;
}

PlainArgument plain_argument(const ArgumentSpec& stated, const Variables& variables) {
  using Type = ArgumentSpec::Type;
  using Int = std::numeric_limits<std::int32_t>;
  using Long = std::numeric_limits<std::int64_t>;
  constexpr double max_half = 65504;
  const auto whole = [&](auto limits) { return stated.value.evaluate_within(variables, limits.min(), limits.max()); };
  switch (stated.type) {
    case Type::int32:
      return static_cast<std::int32_t>(whole(Int()));
    case Type::int64:
      return whole(Long());
    case Type::boolean:
      return whole(Long()) != 0;
    case Type::float32:
      return static_cast<float>(
          real_value(stated.value, variables, static_cast<double>(std::numeric_limits<float>::max()), "float"));
    case Type::float64:
      return real_value(stated.value, variables, std::numeric_limits<double>::max(), "double");
    case Type::float16:
      return HalfArgument{
          to_bits(DType::fp16, static_cast<float>(real_value(stated.value, variables, max_half, "half")))};
    default:
      return BufferArgument{stated.buffer};
  }
}

}  // namespace

void check_address(const ArgumentSpec& map, std::span<const BufferSpec> buffers) {
  constexpr std::int64_t alignment = 16;
  const BufferSpec* const buffer = find_buffer(buffers, map.buffer);
  if (buffer == nullptr) throw make_message("tensor map of '{}': the problem has no such buffer", map.buffer);
  if (buffer->place.offset % alignment != 0) {
    throw make_message("tensor map of '{}': its offset of {} bytes must be a multiple of 16", map.buffer,
                       buffer->place.offset);
  }
}

Argument argument_of(const ArgumentSpec& stated, const Variables& variables, std::span<const BufferSpec> buffers) {
  using Type = ArgumentSpec::Type;
  if (stated.type == Type::tensor_map) return tensor_map_of(stated, variables);
  const auto plain = [&](const ArgumentSpec& each) -> PlainArgument {
    const bool absent = each.type == Type::buffer && find_buffer(buffers, each.buffer) == nullptr;
    return absent ? BufferArgument{} : plain_argument(each, variables);
  };
  if (stated.type != Type::structure) {
    return std::visit([](auto value) { return Argument(std::move(value)); }, plain(stated));
  }
  StructArgument structure;
  for (const ArgumentSpec& each : stated.members) structure.members.push_back(plain(each));
  return structure;
}

bool has_argument(const LaunchSpec& launch, std::string_view buffer) {
  return std::ranges::any_of(launch.arguments, [&](const ArgumentSpec& each) {
    return each.buffer == buffer ||
           std::ranges::find(each.members, buffer, &ArgumentSpec::buffer) != each.members.end();
  });
}

}  // namespace attnscope::user
