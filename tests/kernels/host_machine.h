// SPDX-License-Identifier: Apache-2.0
// Executes the schedule of a multi-GPU plan on the host, operation by operation, in any order that streams and
// dependencies allow. Launches compute in double precision from the bytes of their buffers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/oracle/float16.h"
#include "kernels/oracle/inputs.h"
#include "kernels/oracle/reference.h"
#include "kernels/ringattn/ringattn_combine_shape.h"
#include "tests/kernels/attention_inputs.h"
#include "tests/kernels/host_kernels.h"

namespace attnscope::test {

class HostMachine {
 public:
  HostMachine(const AttentionPlan& plan, const AttentionProblem& problem, const AttentionInputs& inputs)
      : plan_(plan), problem_(problem) {
    for (const BufferSpec& buffer : plan.buffers) {
      if (!buffer.place.is_view()) {
        const auto poison = buffer.fill == BufferFill::zeros ? std::byte{0} : std::byte{0xff};
        memory_.emplace(buffer.name, std::vector<std::byte>(static_cast<std::size_t>(buffer.bytes), poison));
      }
    }
    put("q", inputs.q);
    put("k", inputs.k);
    put("v", inputs.v);
  }

  /// Runs the schedule in an allowed order that `seed` selects.
  KernelOutput run(std::uint64_t seed) {
    for (const Operation& copy : plan_.schedule.distribute) transfer(copy);
    const std::vector<Operation>& all = plan_.schedule.operations;
    std::mt19937_64 random(seed);
    std::set<std::size_t> done;
    while (done.size() < all.size()) {
      std::vector<std::size_t> ready;
      std::set<std::pair<int, bool>> streams;
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (done.contains(i) || !streams.insert({all[i].gpu, all[i].is_transfer()}).second) continue;
        if (std::ranges::all_of(all[i].after, [&](std::size_t other) { return done.contains(other); })) {
          ready.push_back(i);
        }
      }
      if (ready.empty()) return {};
      const std::size_t next = ready[random() % ready.size()];
      all[next].is_transfer() ? transfer(all[next]) : launch(all[next]);
      done.insert(next);
    }
    for (const Operation& copy : plan_.schedule.gather) transfer(copy);
    KernelOutput output;
    const auto rows = static_cast<std::size_t>(problem_.instances() * problem_.n_q);
    output.o = decode(problem_.dtype, {at("o"), rows * static_cast<std::size_t>(problem_.d * 2)});
    output.lse = decode(DType::fp32, {at("lse"), rows * 4});
    return output;
  }

  [[nodiscard]] std::int64_t link_bytes() const { return link_bytes_; }

 private:
  void put(const char* name, const std::vector<float>& values) {
    std::ranges::copy(encode(problem_.dtype, values), memory_.at(name).begin());
  }
  /// Throws if the bytes exceed the buffer or the buffer is on another GPU.
  std::byte* at(const std::string& name, std::int64_t offset = 0, std::int64_t bytes = 0, int gpu = 0) {
    const BufferSpec& buffer = *find_buffer(plan_.buffers, name);
    if (buffer.gpu != gpu) throw std::out_of_range(name + " is on another GPU");
    std::vector<std::byte>& home = memory_.at(enclosing_buffer(plan_.buffers, buffer).name);
    const std::int64_t first = buffer.place.offset + offset;
    if (first + bytes > static_cast<std::int64_t>(home.size())) throw std::out_of_range(name + " ends before");
    return home.data() + first;
  }

  void transfer(const Operation& operation) {
    const Transfer& copy = operation.transfer;
    for (std::int64_t row = 0; row < copy.rows; ++row) {
      std::memcpy(at(copy.to, copy.to_offset + row * copy.to_pitch, copy.row_bytes, copy.to_gpu),
                  at(copy.from, copy.from_offset + row * copy.from_pitch, copy.row_bytes, operation.gpu),
                  static_cast<std::size_t>(copy.row_bytes));
    }
    link_bytes_ += copy.to_gpu == operation.gpu ? 0 : copy.rows * copy.row_bytes;
  }

  void launch(const Operation& operation) {
    const KernelLaunch& launch = plan_.launches.at(operation.launch);
    const std::map<std::string, std::string> names(operation.buffers.begin(), operation.buffers.end());
    const auto named = [&](const std::string& name) { return names.contains(name) ? names.at(name) : name; };
    std::vector<std::variant<std::byte*, HostTensorMap, std::int32_t, std::int64_t, float>> values;
    for (const Argument& argument : launch.arguments) {
      if (const auto* const map = std::get_if<TensorMapArgument>(&argument)) {
        const std::int64_t bytes = (map->extents[2] - 1) * map->strides[1] + (map->extents[1] - 1) * map->strides[0] +
                                   map->extents[0] * bytes_per_element(map->dtype);
        HostTensorMap held{.address = at(named(map->buffer), 0, bytes, operation.gpu)};
        std::ranges::copy(map->extents, held.extents);
        std::ranges::copy(map->strides, held.strides);
        values.emplace_back(held);
      } else if (const auto* const buffer = std::get_if<BufferArgument>(&argument)) {
        values.emplace_back(buffer->name.empty() ? nullptr : at(named(buffer->name), 0, 0, operation.gpu));
      } else if (const auto* const single = std::get_if<float>(&argument)) {
        values.emplace_back(*single);
      } else if (const auto* const large = std::get_if<std::int64_t>(&argument)) {
        values.emplace_back(*large);
      } else {
        values.emplace_back(std::get<std::int32_t>(argument));
      }
    }
    std::vector<void*> arguments;
    for (auto& value : values) {
      arguments.push_back(std::visit([](auto& held) { return static_cast<void*>(&held); }, value));
    }
    if (operation.kind == Operation::Kind::combine) {
      compute_ring_combine(arguments.data(), problem_.dtype, problem_.d, launch.blocks(), ringattn::combine_rows);
    } else {
      const int right = std::get<std::int32_t>(launch.arguments.at(16));
      compute_fa3(arguments.data(), problem_.dtype, right == 0);
    }
  }

  const AttentionPlan& plan_;
  const AttentionProblem& problem_;
  std::map<std::string, std::vector<std::byte>> memory_;
  std::int64_t link_bytes_ = 0;
};

}  // namespace attnscope::test
