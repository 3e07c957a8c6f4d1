// SPDX-License-Identifier: Apache-2.0
// Schedule of several GPUs for one attention problem: launches, copies over links, and their dependencies. Tests check
// the closed form of link bytes against it, the time model simulates it, and multi-GPU machines execute it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attnscope {

/// Name of a buffer on a GPU: "k" on GPU 2 is "k@2".
[[nodiscard]] std::string buffer_on_gpu(std::string_view buffer, int gpu);

/// A 2D copy between GPUs or within one: `rows` rows of `row_bytes` bytes, `from_pitch` and `to_pitch` bytes apart.
struct Transfer {
  std::string from;
  std::string to;
  int to_gpu = 0;
  std::int64_t from_offset = 0;
  std::int64_t to_offset = 0;
  std::int64_t rows = 1;
  std::int64_t row_bytes = 0;
  std::int64_t from_pitch = 0;
  std::int64_t to_pitch = 0;

  [[nodiscard]] std::int64_t bytes() const { return rows * row_bytes; }
};

/// A launch or a copy. Each GPU has one stream of launches and one of the copies that it sends, both in schedule order.
struct Operation {
  enum class Kind { attention, combine, transfer };
  Kind kind = Kind::attention;
  int gpu = 0;             ///< runs the launch or sends the copy
  std::size_t launch = 0;  ///< index in the plan's launches
  /// Replacements for buffer names in the launch's arguments, which are those of GPU 0.
  std::vector<std::pair<std::string, std::string>> buffers{};
  Transfer transfer{};
  std::vector<std::size_t> after{};  ///< earlier operations of other streams to wait for

  [[nodiscard]] bool is_transfer() const { return kind == Kind::transfer; }
  [[nodiscard]] std::int64_t link_bytes() const {
    return is_transfer() && transfer.to_gpu != gpu ? transfer.bytes() : 0;
  }
};

struct Schedule {
  int gpus = 1;
  std::vector<Operation> distribute;  ///< copies of the inputs from GPU 0, before the measured operations
  std::vector<Operation> operations;
  std::vector<Operation> gather;  ///< copies of the outputs to GPU 0, afterwards

  [[nodiscard]] bool empty() const { return operations.empty(); }
  [[nodiscard]] std::int64_t link_bytes() const;
};

struct OperationTime {
  double begin_ns = 0;
  double end_ns = 0;
};
/// Total time and its parts on the GPU with the most attention work; attention, combine and exposed time sum to `ns`.
struct ScheduleTimes {
  double ns = 0;
  double attention_ns = 0;
  double combine_ns = 0;
  double exposed_ns = 0;  ///< waiting for copies, and at the end for other GPUs
  double copies_ns = 0;   ///< duration of the copies it sends, overlapped or not
  double imbalance = 1;   ///< attention time of the busiest GPU over the mean of all GPUs
};
/// `times`: one per operation, in schedule order. `ns`: total time, measured separately if the GPUs' clocks differ; 0:
/// from the first begin to the last end.
[[nodiscard]] ScheduleTimes total_schedule_times(const Schedule&, const std::vector<OperationTime>& times,
                                                 double ns = 0);
/// Simulates a schedule: an operation begins when its stream is free and its dependencies have ended. `ns_of` returns
/// its duration.
[[nodiscard]] std::vector<OperationTime> simulate_schedule(const Schedule&,
                                                           const std::function<double(const Operation&)>& ns_of);

/// Link between GPUs of one machine: a copy takes `latency_ns` plus its bytes over the rate. 0: unknown.
struct LinkRate {
  double bytes_per_second = 0;  ///< per direction, while both directions are busy
  double latency_ns = 0;

  [[nodiscard]] double copy_ns(double bytes) const {
    return latency_ns + (bytes > 0 ? bytes / bytes_per_second * 1e9 : 0);
  }
};

}  // namespace attnscope
