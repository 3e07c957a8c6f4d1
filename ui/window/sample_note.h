// SPDX-License-Identifier: GPL-3.0-or-later
// That what a first window shows is recorded, and of what.
#pragma once

#include <functional>

#include "ui/runs/workspace.h"
#include "ui/widgets/banner.h"

namespace attnscope::ui {

/// Once the sample is read, until it is closed or the line dismissed. `collect`: shows the form.
void say_what_the_sample_is(Workspace& workspace, Banner& banner, std::function<void()> collect);

}  // namespace attnscope::ui
