// SPDX-License-Identifier: Apache-2.0
#include "profiler/compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "messages/difference.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"

namespace attnscope::analysis {
namespace {

using ComparedRows = std::array<std::vector<Row>, 2>;

/// Returns the rows of all pairs, or all rows of both sides if there are no pairs.
ComparedRows compared_rows(const ComparisonRequest& request, const ComparisonResult& result) {
  if (result.pairs.empty()) return {request.base, request.other};
  ComparedRows sides;
  for (const ComparedPair& pair : result.pairs) {
    sides[0].insert(sides[0].end(), pair.base.begin(), pair.base.end());
    sides[1].insert(sides[1].end(), pair.other.begin(), pair.other.end());
  }
  return sides;
}

/// Relative clock difference below which clocks count as equal.
constexpr double one_clock = 0.01;

void add_clocks(const PointTable& table, const ComparedRows& sides, ComparisonResult& result) {
  std::array<std::optional<SampleSummary>, 2> clocks;
  std::array<Message, 2> words;
  for (const std::size_t side : {0U, 1U}) {
    std::vector<double> megahertz;
    for (const Row row : sides.at(side)) {
      for (const RoundClock& clock : table.points().round_clocks(row)) {
        if (clock.sm_hz > 0) megahertz.push_back(clock.sm_hz / 1e6);
      }
    }
    const auto [least, most] = std::ranges::minmax_element(megahertz);
    if (megahertz.empty()) continue;
    const std::string low = fmt::format("{:.0f}", *least);
    const std::string high = fmt::format("{:.0f}", *most);
    words.at(side) = *most - *least > one_clock * *least ? Message(msg::difference::megahertz{.high = high, .low = low})
                                                         : Message::verbatim(low + " MHz");
    // Avoids sorting many equal values.
    clocks.at(side) = *least == *most ? summarize({*least}) : summarize(megahertz);
  }
  if (!clocks[0] || !clocks[1]) return;
  if (std::abs(clocks[1]->median / clocks[0]->median - 1) <= one_clock) return;
  result.differences.push_back({.name = msg::difference::sm_clock{}, .base = {words[0]}, .other = {words[1]}});
}

/// Values of one condition on each side, keyed by English text.
struct Condition {
  Message name;
  std::array<std::map<std::string, Message>, 2> sides;
};
using Conditions = std::vector<Condition>;

void add(Conditions& conditions, const Message& name, std::size_t side, const Message& value) {
  auto found = std::ranges::find(conditions, name, &Condition::name);
  if (found == conditions.end()) found = conditions.insert(found, {.name = name, .sides = {}});
  if (!value.empty()) found->sides.at(side).emplace(english_text(value), value);
}

std::vector<Message> values_of(const std::map<std::string, Message>& side) {
  std::vector<Message> values;
  values.reserve(side.size());
  for (const auto& [english, value] : side) values.push_back(value);
  return values;
}

/// Returns "NVIDIA H200", with the GPU's ID if the runs used several GPUs of this model.
std::string gpu_text(const PointTable& table, RunIndex run, bool apart) {
  const Run& of_run = table.runs()[run];
  if (!apart || of_run.device_id.empty()) return of_run.device_name;
  return fmt::format("{} ({})", of_run.device_name, of_run.device_id);
}

void add_throttling(const PointTable& table, ComparisonResult& result) {
  std::array<std::size_t, 2> throttled{};
  for (const ComparedPair& pair : result.pairs) {
    const auto any = [&](const std::vector<Row>& rows) {
      return std::ranges::any_of(rows, [&](Row row) { return table.throttled(row); });
    };
    if (any(pair.base)) ++throttled[0];
    if (any(pair.other)) ++throttled[1];
  }
  if (throttled[0] + throttled[1] == 0) return;
  const auto words = [&](std::size_t count) {
    return Message::verbatim(fmt::format("{}/{}", count, result.pairs.size()));
  };
  result.differences.push_back(
      {.name = msg::difference::throttled{}, .base = {words(throttled[0])}, .other = {words(throttled[1])}});
}

}  // namespace

void add_differences(const PointTable& table, const ComparisonRequest& request, ComparisonResult& result) {
  const Message gpu = msg::difference::gpu{};
  const Message values = msg::difference::values{};
  const Message at_start = msg::difference::cache{};
  Conditions conditions{{gpu, {}}, {values, {}}, {at_start, {}}};
  const ComparedRows sides = compared_rows(request, result);
  std::array<std::set<RunIndex>, 2> runs;
  std::map<std::string, std::set<std::string>> ids;
  const FieldColumn& cache = table.points().field("cache");
  for (const std::size_t side : {0U, 1U}) {
    std::optional<Row> before;
    for (const Row row : sides.at(side)) {
      const bool again = before && table.run_index(row) == table.run_index(*before) &&
                         cache.key(row) == cache.key(*before) &&
                         table.points().origin(row) == table.points().origin(*before);
      before = row;
      if (again) continue;  // fast path for most rows
      runs.at(side).insert(table.run_index(row));
      add(conditions, at_start, side, Message::verbatim(attnscope::to_string(cache.value(row))));
      add(conditions, values, side, title(table.points().origin(row)));
    }
    for (const RunIndex run : runs.at(side)) {
      const Run& of_run = table.runs()[run];
      if (of_run.provenance == Provenance::measured) ids[of_run.device_name].insert(of_run.device_id);
    }
  }
  for (const std::size_t side : {0U, 1U}) {
    for (const RunIndex run : runs.at(side)) {
      const bool apart = ids[table.runs()[run].device_name].size() > 1;
      add(conditions, gpu, side, Message::verbatim(gpu_text(table, run, apart)));
      if (run >= request.conditions.size()) continue;
      for (const auto& [name, value] : request.conditions[run]) {
        add(conditions, name, side, value);
      }
    }
  }
  for (const auto& [name, of_sides] : conditions) {
    const auto& [base, other] = of_sides;
    if (base == other) continue;
    result.differences.push_back({.name = name, .base = values_of(base), .other = values_of(other)});
  }
  add_throttling(table, result);
  add_clocks(table, sides, result);
  std::size_t differ = 0;
  std::size_t same = 0;
  for (const ComparedPair& pair : result.pairs) {
    const std::string& base = table.points().sources(pair.base.front());
    const std::string& other = table.points().sources(pair.other.front());
    if (!pair.same_point || base.empty() || other.empty()) continue;
    ++(base == other ? same : differ);
  }
  if (differ > 0) {
    const Message of_all = Message::verbatim(fmt::format("{}/{}", differ, differ + same));
    result.differences.push_back({.name = msg::difference::kernel_sources{}, .base = {}, .other = {of_all}});
  }
}

std::string display_text(std::span<const Message> values) {
  std::string words;
  for (const Message& value : values) words += (words.empty() ? "" : ", ") + text(value);
  return words;
}

}  // namespace attnscope::analysis
