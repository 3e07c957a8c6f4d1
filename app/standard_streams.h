// SPDX-License-Identifier: Apache-2.0
// Standard input, output and error, which whoever starts a program may have closed.
#pragma once

namespace attnscope {

/// Takes the places of those that are closed, so that no file gets one of them: a line for people would be written over
/// the measurements in it. Reading from and writing to such a place fails as on a closed one. Called before any file is
/// opened.
void occupy_standard_descriptors();

}  // namespace attnscope
