// SPDX-License-Identifier: Apache-2.0
#include "tests/campaign/fuzz_import.h"
#include "tests/campaign/fuzz_input.h"

/// Imports the text in its detected format, with the fields that tables of other programs lack.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attnscope;  // NOLINT(google-build-using-namespace): an entry point
  const std::string text = std::string(campaign::text_of(data, size));
  const ImportFormat format = detect_import_format(text);
  ImportRequest request;
  campaign::import_and_check(text, format, request);
  request.given = {{"d", "64"}, {"heads", "2"}};
  campaign::import_and_check(text, format, request);
  request.given = {{"algorithm", "a"}, {"d", "64"}, {"heads", "2"}, {"N", "64"}};
  campaign::import_and_check(text, format, request);
  return 0;
}
