// SPDX-License-Identifier: Apache-2.0
#include "tests/campaign/fuzz_import.h"
#include "tests/campaign/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attnscope;  // NOLINT(google-build-using-namespace): an entry point
  const std::string_view text = campaign::text_of(data, size);
  ImportRequest request;
  request.given = {{"algorithm", "peer"}, {"N", "64"}, {"heads", "1"}, {"d", "64"}};
  campaign::import_and_check(text, ImportFormat::ncu, request);
  request.ncu = {.kernel = "fwd", .first_launch = 1, .last_launch = 5, .repeats = 2};
  campaign::import_and_check(text, ImportFormat::ncu, request);
  return 0;
}
