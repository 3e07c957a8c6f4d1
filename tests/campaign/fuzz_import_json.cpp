// SPDX-License-Identifier: Apache-2.0
#include "tests/campaign/fuzz_import.h"
#include "tests/campaign/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attnscope;  // NOLINT(google-build-using-namespace): an entry point
  const ImportRequest request;
  campaign::import_and_check(campaign::text_of(data, size), ImportFormat::json, request);
  return 0;
}
