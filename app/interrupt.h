// SPDX-License-Identifier: Apache-2.0
// Cancels the work after the current launch on Ctrl-C, SIGTERM and SIGHUP; a second Ctrl-C exits at once.
#pragma once

#include "profiler/measure/device.h"

namespace attnscope {

/// Returns the process's cancel token; the first call installs the signal handlers.
CancelToken& cancel_on_signals();

/// Also cancels if stdin ends or has a line "cancel". Ignores a stdin that is /dev/null.
void cancel_on_stdin(CancelToken&);

}  // namespace attnscope
