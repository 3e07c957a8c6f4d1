// SPDX-License-Identifier: Apache-2.0
#include "tests/campaign/fuzz_import.h"
#include "tests/campaign/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attnscope;  // NOLINT(google-build-using-namespace): an entry point
  const std::string_view text = campaign::text_of(data, size);
  PointSpec spec{.algorithm = "peer", .problem = {.n_q = 64, .n_k = 64, .d = 64}, .tile = {.br = 0, .bc = 0}};
  ImportRequest request;
  request.spec = spec;
  campaign::import_and_check(text, ImportFormat::ncu, request);
  request.ncu = {.kernel = "fwd", .first_launch = 1, .last_launch = 5, .repeats = 2};
  campaign::import_and_check(text, ImportFormat::ncu, request);
  return 0;
}
