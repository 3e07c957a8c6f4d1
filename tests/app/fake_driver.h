// SPDX-License-Identifier: Apache-2.0
// Runs the program under test with the fake driver, NVRTC, CUPTI and NVML of tests/gpu/fake.
#pragma once

#include <string>

#include "subprocess.h"

namespace attnscope::testing {

#ifdef ATTNSCOPE_FAKE_GPU_LIBRARY
/// A fake GPU with these faults (tests/gpu/fake/fake_gpu.h).
inline Process::Options on_fake_gpu(const std::string& faults = "") {
  Process::Options options;
  for (const char* library : {"CUDA", "NVRTC", "CUPTI", "NVML"}) {
    options.environment[std::string("ATTNSCOPE_") + library + "_LIBRARY"] = ATTNSCOPE_FAKE_GPU_LIBRARY;
  }
  options.environment["ATTNSCOPE_FAKE_GPU"] = faults;
  return options;
}
#endif

}  // namespace attnscope::testing
