// SPDX-License-Identifier: Apache-2.0
// Fuzz target: events of the JSON-lines protocol.
#include <string>

#include "profiler/worker/protocol.h"
#include "tests/campaign/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attnscope;            // NOLINT(google-build-using-namespace): an entry point
  using namespace attnscope::campaign;  // NOLINT(google-build-using-namespace)
  const Result<Event, Message> event = parse_event(text_of(data, size));
  if (!event) {
    require(!event.error().empty(), "an error message is empty");
    return 0;
  }
  const std::string line = to_json_line(*event);
  const Result<Event, Message> again = parse_event(line);
  require(again.ok(), "the output cannot be parsed");
  require(to_json_line(*again) == line, "an event does not round-trip");
  return 0;
}
