// SPDX-License-Identifier: Apache-2.0
// Fuzz target: requests of a session.
#include <fmt/format.h>

#include <string>
#include <string_view>
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
  std::string line = measure_line(measure->id, measure->priority, measure->spec, built_in_algorithms());
  const auto again = parse(line);
  require(again.ok(), "the output cannot be parsed");
  const auto& read = std::get<MeasureRequest>(*again);
  require(read.id == measure->id && read.priority == measure->priority, "a request does not round-trip");
  require(read.spec == measure->spec, "a point does not round-trip");
  // A second value for a member of the request or of its point, before and after the first.
  for (const std::string_view object : {R"({"request")", R"({"algorithm")"}) {
    for (const std::string_view key : {"priority", "id", "d", "knobs"}) {
      const std::string member = fmt::format("\"{}\":", key);
      const std::size_t start = line.find(object);
      const bool has = start != std::string::npos && line.find(member, start) != std::string::npos;
      const bool in_point = key == "d" || key == "knobs";
      if (!has || in_point != (object != R"({"request")")) continue;
      std::string twice = line;
      require(!parse(twice.insert(start + 1, member + "1,")), "a request with two values of a key is accepted");
    }
  }
  return 0;
}
