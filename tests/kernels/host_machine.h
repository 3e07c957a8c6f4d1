// SPDX-License-Identifier: Apache-2.0
// A machine of several GPUs on the host: it executes the schedule of a plan operation by operation, in any order that
// its streams and dependencies allow. A launch computes what its arguments say, in double precision, from the bytes of
// its buffers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/oracle/float16.h"
#include "kernels/oracle/reference.h"

namespace attnscope::test {

class HostMachine {
 public:
  HostMachine(const AttentionPlan& plan, const AttentionProblem& problem, const AttentionInputs& inputs)
      : plan_(plan), problem_(problem) {
    for (const BufferSpec& buffer : plan.buffers) {
      if (!buffer.place.is_part()) {
        const auto poison = buffer.fill == BufferFill::zeros ? std::byte{0} : std::byte{0xff};
        memory_.emplace(buffer.name, std::vector<std::byte>(static_cast<std::size_t>(buffer.bytes), poison));
      }
    }
    put("q", inputs.q);
    put("k", inputs.k);
    put("v", inputs.v);
  }

  /// In an order that `seed` picks among all that are allowed.
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
      if (ready.empty()) return {};  // they wait for one another
      const std::size_t next = ready[random() % ready.size()];
      all[next].is_transfer() ? transfer(all[next]) : launch(all[next]);
      done.insert(next);
    }
    for (const Operation& copy : plan_.schedule.gather) transfer(copy);
    KernelOutput output;
    output.o.resize(static_cast<std::size_t>(problem_.instances() * problem_.n_q * problem_.d));
    output.lse.resize(static_cast<std::size_t>(problem_.instances() * problem_.n_q));
    std::memcpy(output.o.data(), at("o"), output.o.size() * 2);
    std::memcpy(output.lse.data(), at("lse"), output.lse.size() * 4);
    return output;
  }

  /// That crossed links.
  [[nodiscard]] std::int64_t link_bytes() const { return link_bytes_; }

 private:
  void put(const char* name, const std::vector<std::uint16_t>& values) {
    std::memcpy(memory_.at(name).data(), values.data(), values.size() * 2);
  }
  /// Throws where the bytes are not the buffer's, and where it lies on another GPU.
  std::byte* at(const std::string& name, std::int64_t offset = 0, std::int64_t bytes = 0, int gpu = 0) {
    const BufferSpec& buffer = *find_buffer(plan_.buffers, name);
    if (buffer.gpu != gpu) throw std::out_of_range(name + " is on another GPU");
    std::vector<std::byte>& home = memory_.at(home_of(plan_.buffers, buffer).name);
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
    std::map<std::string, std::string> names(operation.buffers.begin(), operation.buffers.end());
    gpu_ = operation.gpu;
    const auto named = [&](const std::string& name) { return names.contains(name) ? names.at(name) : name; };
    operation.kind == Operation::Kind::combine ? combine(launch.arguments, named) : attention(launch.arguments, named);
  }

  template <class Named>
  void attention(const std::vector<Argument>& arguments, const Named& named) {
    const auto number = [&](std::size_t i) { return std::get<std::int32_t>(arguments.at(i)); };
    const auto matrix = [&](std::size_t i) { return std::get<TensorMapArgument>(arguments.at(i)); };
    const TensorMapArgument q = matrix(0);
    const TensorMapArgument k = matrix(1);
    const TensorMapArgument v = matrix(2);
    const TensorMapArgument o = matrix(3);
    const int instances = number(9);
    const int group = number(10);
    const int n_q = number(11);
    const int n_k = number(12);
    const float scale = std::get<float>(arguments.at(13));
    const bool causal = number(16) == 0;
    const std::int64_t d = q.extents[0];
    const auto row = [&](const TensorMapArgument& map, std::int64_t instance, std::int64_t r) {
      if (r >= map.extents[1] || instance >= map.extents[2]) throw std::out_of_range("no such row");
      return at(named(map.buffer), instance * map.strides[1] + r * map.strides[0], d * 2, gpu_);
    };
    const auto value = [&](const std::byte* of, std::int64_t column) {
      std::uint16_t bits = 0;
      std::memcpy(&bits, of + column * 2, 2);
      return static_cast<double>(from_bits(problem_.dtype, bits));
    };
    for (int instance = 0; instance < instances; ++instance) {
      for (int r = 0; r < n_q; ++r) {
        const std::byte* const query = row(q, instance, r);
        const int seen = causal ? std::clamp(r + n_k - n_q + 1, 0, n_k) : n_k;
        std::vector<double> scores(static_cast<std::size_t>(seen));
        double maximum = -std::numeric_limits<double>::infinity();
        for (int key = 0; key < seen; ++key) {
          const std::byte* const of_key = row(k, instance / group, key);
          double score = 0;
          for (std::int64_t c = 0; c < d; ++c) score += value(query, c) * value(of_key, c);
          scores[static_cast<std::size_t>(key)] = score * static_cast<double>(scale);
          maximum = std::max(maximum, scores[static_cast<std::size_t>(key)]);
        }
        std::vector<double> sums(static_cast<std::size_t>(d));
        double sum = 0;
        for (int key = 0; key < seen; ++key) {
          const double weight = std::exp(scores[static_cast<std::size_t>(key)] - maximum);
          const std::byte* const values = row(v, instance / group, key);
          sum += weight;
          for (std::int64_t c = 0; c < d; ++c) sums[static_cast<std::size_t>(c)] += weight * value(values, c);
        }
        store(row(o, instance, r), sums, sum);
        store_lse(named(std::get<BufferArgument>(arguments.at(7)).name), instance * n_q + r, maximum + std::log(sum));
      }
    }
  }

  template <class Named>
  void combine(const std::vector<Argument>& arguments, const Named& named) {
    const auto number = [&](std::size_t i) { return std::get<std::int32_t>(arguments.at(i)); };
    const auto name = [&](std::size_t i) { return named(std::get<BufferArgument>(arguments.at(i)).name); };
    const std::int64_t n = number(4);
    const int whole = number(5);
    const int later = number(6);
    const std::int64_t o_step = std::get<std::int64_t>(arguments.at(8));
    const std::int64_t lse_step = std::get<std::int64_t>(arguments.at(9));
    const std::int64_t d = problem_.d;
    for (std::int64_t row = 0; row < problem_.instances() * n; ++row) {
      std::vector<double> sums(static_cast<std::size_t>(d));
      double sum = 0;
      for (int part = 0; part < whole + later; ++part) {
        const std::int64_t first = part < whole ? 0 : number(7);
        if (row % n < first) continue;
        const std::int64_t source = row / n * (n - first) + row % n - first;
        float lse = 0;
        std::memcpy(&lse, at(name(1), (part * lse_step + source) * 4, 4, gpu_), 4);
        const double weight = std::exp(static_cast<double>(lse));
        const std::byte* const o = at(name(0), (part * o_step + source * d) * 2, d * 2, gpu_);
        sum += weight;
        for (std::int64_t c = 0; c < d; ++c) {
          std::uint16_t bits = 0;
          std::memcpy(&bits, o + c * 2, 2);
          sums[static_cast<std::size_t>(c)] += weight * static_cast<double>(from_bits(problem_.dtype, bits));
        }
      }
      store(at(name(2), row * d * 2, d * 2, gpu_), sums, sum);
      store_lse(name(3), row, std::log(sum));
    }
  }

  void store(std::byte* row, const std::vector<double>& sums, double sum) {
    for (std::size_t c = 0; c < sums.size(); ++c) {
      const std::uint16_t bits = to_bits(problem_.dtype, static_cast<float>(sums[c] / sum));
      std::memcpy(row + c * 2, &bits, 2);
    }
  }
  void store_lse(const std::string& name, std::int64_t row, double value) {
    const auto single = static_cast<float>(value);
    std::memcpy(at(name, row * 4, 4, gpu_), &single, 4);
  }

  const AttentionPlan& plan_;
  const AttentionProblem& problem_;
  std::map<std::string, std::vector<std::byte>> memory_;
  std::int64_t link_bytes_ = 0;
  int gpu_ = 0;
};

}  // namespace attnscope::test
