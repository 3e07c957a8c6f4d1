// SPDX-License-Identifier: Apache-2.0
// Device implementation for a worker process behind a link.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "kernels/model/result.h"
#include "kernels/registry.h"
#include "profiler/measure/device.h"
#include "profiler/worker/link.h"

namespace attnscope::worker {

/// For connecting, login and opening the GPU with its counters.
inline constexpr std::chrono::seconds open_timeout{90};

struct OpenFailure {
  enum class Kind {
    no_answer,      ///< The link ended or sent no valid line; see `end`.
    other_version,  ///< `words` is the other version.
    no_device       ///< `reason` is the worker's message.
  };
  Kind kind = Kind::no_answer;
  Link::ExitStatus end = {};
  bool silent = false;  ///< no_answer: nothing arrived within `patience`.
  std::string words = {};
  Message reason = {};
};

/// Meaning of the end of a link while a point is in flight.
enum class LossCause {
  link,  ///< The connection failed: the point has no result and is measured again.
  point  ///< The local process ended because of the point, which counts as crashed.
};

struct OpenedWorker {
  std::unique_ptr<Device> device;
  std::string simulation_reason;  ///< See OpenedDevice; refers to the worker's machine.
};

/// Opens the device of a worker; the worker's first line describes it. `host` is its name in messages. The registry and
/// `cancel`, which also cancels requests without a token, must outlive the device. `app_version`: required version;
/// empty accepts any version with this protocol, and points that it does not know are `infeasible`.
/// If the link ends later or sends invalid lines, the device becomes unusable; `end_of` determines what happens to a
/// point in flight. If the worker is silent for much longer than a point may take, the point is a `timeout`.
[[nodiscard]] Result<OpenedWorker, OpenFailure> open_worker_device(std::unique_ptr<Link> link, std::string host,
                                                                   std::string_view app_version,
                                                                   const Registry& registry, const CancelToken& cancel,
                                                                   LossCause end_of = LossCause::link,
                                                                   std::chrono::seconds patience = open_timeout);

}  // namespace attnscope::worker
