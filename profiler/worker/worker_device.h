// SPDX-License-Identifier: Apache-2.0
// A device on another machine, behind a link: to whoever measures it is a device like any other.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "kernels/model/result.h"
#include "kernels/registry.h"
#include "profiler/measure/device.h"
#include "profiler/worker/link.h"

namespace attnscope::worker {

/// Why there is no device at the other end of a link.
struct OpenFailure {
  enum class Kind {
    no_answer,      ///< the link ended, or said nothing of ours: `end` tells how
    other_version,  ///< `words` is its version
    no_device       ///< `reason` is what was said there
  };
  Kind kind = Kind::no_answer;
  Link::End end = {};
  bool silent = false;  ///< no_answer: nothing came within 90 s
  std::string words = {};
  Message reason = {};
};

/// Whose loss the end of a link is, once the device is open.
enum class EndOf {
  link,  ///< a point in flight is no result, and is measured again
  point  ///< of a process here, which ends of what it runs alone: a point in flight has crashed
};

struct OpenedWorker {
  std::unique_ptr<Device> device;
  std::string simulated_because;  ///< as OpenedDevice has it, of the other machine
};

/// The device behind a link, whose first line says what it is. `host` is what messages call it; the registry and
/// `cancel`, with which is cancelled what is asked without a token, outlive the device. `app_version`: the one that is
/// spoken with; empty for any of this protocol, of which a point that the other program does not know is `infeasible`.
/// A link that ends later, or answers what cannot be read, makes the device unusable: a point in flight then waits for
/// ever, and is no result, unless `end_of` says that it was the point's own. So does one that is silent for much longer
/// than a point may take, which then is a `timeout`.
[[nodiscard]] Result<OpenedWorker, OpenFailure> open_worker_device(std::unique_ptr<Link> link, std::string host,
                                                                   std::string_view app_version,
                                                                   const Registry& registry, const CancelToken& cancel,
                                                                   EndOf end_of = EndOf::link);

}  // namespace attnscope::worker
