// SPDX-License-Identifier: Apache-2.0
// Ctrl-C, SIGTERM and SIGHUP end the work after the current launch; a second Ctrl-C ends the process at once.
#pragma once

#include "profiler/measure/device.h"

namespace attnscope {

/// The process's one cancel token; from the first call on, SIGINT, SIGTERM and SIGHUP set it.
CancelToken& cancel_on_signals();

/// Sets the token also when a line "cancel" is read on stdin, or stdin ends: whoever started us is gone. A stdin that
/// is /dev/null from the start never had anyone, and is left alone.
void cancel_on_stdin(CancelToken&);

}  // namespace attnscope
