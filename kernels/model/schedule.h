// SPDX-License-Identifier: Apache-2.0
// What several GPUs do for one attention, beside the tile programs of their launches: which copies cross the links
// between them, and what waits for what. The closed form of the links' bytes is proved against it, a time is predicted
// by playing it, and a machine of several GPUs runs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attnscope {

/// The buffer of that name on a GPU: "k" on GPU 2 is "k@2".
[[nodiscard]] std::string on_gpu(std::string_view buffer, int gpu);

/// A copy from one GPU's memory to another's, or within it: `rows` stretches of `row_bytes`, which begin `from_pitch`
/// and `to_pitch` bytes behind one another.
struct Transfer {
  std::string from;  ///< buffers of the plan
  std::string to;
  int to_gpu = 0;
  std::int64_t from_offset = 0;  ///< bytes
  std::int64_t to_offset = 0;
  std::int64_t rows = 1;
  std::int64_t row_bytes = 0;
  std::int64_t from_pitch = 0;
  std::int64_t to_pitch = 0;

  [[nodiscard]] std::int64_t bytes() const { return rows * row_bytes; }
};

/// One launch, or one copy. Each GPU has a stream of launches and one of the copies that it sends; both in the order of
/// the schedule.
struct Operation {
  enum class Kind { attention, combine, transfer };
  Kind kind = Kind::attention;
  int gpu = 0;             ///< that runs the launch, or sends
  std::size_t launch = 0;  ///< of the plan's
  /// The launch's arguments name buffers of GPU 0; here are those that stand for them.
  std::vector<std::pair<std::string, std::string>> buffers{};
  Transfer transfer{};
  std::vector<std::size_t> after{};  ///< earlier operations of other streams that it waits for

  [[nodiscard]] bool is_transfer() const { return kind == Kind::transfer; }
  /// That cross a link.
  [[nodiscard]] std::int64_t link_bytes() const {
    return is_transfer() && transfer.to_gpu != gpu ? transfer.bytes() : 0;
  }
};

/// Empty for what one GPU does by itself.
struct Schedule {
  int gpus = 1;
  std::vector<Operation> distribute;  ///< inputs of the whole problem lie on GPU 0: copies that share them out, before
  std::vector<Operation> operations;  ///< what is measured
  std::vector<Operation> gather;      ///< outputs of the whole problem to GPU 0, afterwards

  [[nodiscard]] bool empty() const { return operations.empty(); }
  /// Of all GPUs together.
  [[nodiscard]] std::int64_t link_bytes() const;
};

/// When an operation runs.
struct OperationTime {
  double begin_ns = 0;
  double end_ns = 0;
};
/// The whole, and what the GPU with most attention to compute does in it: the three sum to `ns`.
struct ScheduleTimes {
  double ns = 0;
  double attention_ns = 0;  ///< of the busiest GPU
  double combine_ns = 0;
  double exposed_ns = 0;  ///< in which it waits: for copies, and at the end for the others
  double copies_ns = 0;   ///< that it sends, hidden or not
  double imbalance = 1;   ///< the busiest GPU's attention over the mean of all
};
/// `times` is of each operation, in the schedule's order, and `ns` of the whole: of GPUs whose clocks are not one, it
/// is measured by itself; 0: from the first operation's begin to the last one's end.
[[nodiscard]] ScheduleTimes sum_up(const Schedule&, const std::vector<OperationTime>& times, double ns = 0);
/// Plays it: an operation begins when its stream is free and all that it waits for has ended. `ns_of` says how long it
/// takes.
[[nodiscard]] std::vector<OperationTime> play(const Schedule&, const std::function<double(const Operation&)>& ns_of);

/// What links between the GPUs of one machine do: a copy takes `latency_ns` and its bytes over the rate. 0: unknown.
struct LinkRate {
  double bytes_per_second = 0;  ///< one way, while the other way is busy too
  double latency_ns = 0;

  [[nodiscard]] double copy_ns(double bytes) const {
    return latency_ns + (bytes > 0 ? bytes / bytes_per_second * 1e9 : 0);
  }
};

}  // namespace attnscope
