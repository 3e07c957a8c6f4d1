// SPDX-License-Identifier: Apache-2.0
// Fuzz target: requests of a session.
#include <variant>

#include "profiler/worker/requests.h"
#include "tests/campaign/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attnscope;            // NOLINT(google-build-using-namespace): an entry point
  using namespace attnscope::campaign;  // NOLINT(google-build-using-namespace)
  static const DeviceLimits limits = *find_gpu("H200");
  const auto parse = [](std::string_view line) {
    return parse_request(line, CacheState::cold, limits, built_in_algorithms());
  };
  const auto request = parse(text_of(data, size));
  if (!request) {
    require(!request.error().reason.empty(), "a refusal has no reason");
    require(parse_event(to_json_line(request.error())).ok(), "a refusal cannot be parsed");
    return 0;
  }
  const auto* measure = std::get_if<MeasureRequest>(&*request);
  if (measure == nullptr) return 0;
  const auto again = parse(measure_line(measure->id, measure->priority, measure->spec, built_in_algorithms()));
  require(again.ok(), "the output cannot be parsed");
  const auto& read = std::get<MeasureRequest>(*again);
  require(read.id == measure->id && read.priority == measure->priority, "a request does not round-trip");
  require(read.spec == measure->spec, "a point does not round-trip");
  return 0;
}
