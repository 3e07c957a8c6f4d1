// SPDX-License-Identifier: Apache-2.0
// Differences of points, runs and recordings; recordings that repeat the same measurement and may be pooled.
#include "profiler/compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "messages/compare.h"
#include "messages/difference.h"
#include "profiler/metrics/metrics.h"
#include "profiler/metrics/point.h"
#include "profiler/plan/fields.h"
#include "profiler/units/number_format.h"

namespace attnscope::analysis {

namespace {

/// Relative clock difference below which clocks count as equal.
constexpr double one_clock = 0.01;
/// Values of one side that a difference lists; if there are more, only the number of rows is given.
constexpr std::size_t max_listed_values = 3;
constexpr std::size_t digest_digits = 8;

/// Returns the median SM clock; 0 if unknown.
double clock_of(const PointTable& table, const std::vector<Row>& rows) {
  std::vector<double> hertz;
  for (const Row row : rows) {
    if (table.points().sm_clock_hz(row) > 0) hertz.push_back(table.points().sm_clock_hz(row));
  }
  const std::optional<SampleSummary> summary = summarize(hertz);
  return summary ? summary->median : 0;
}

Message tile_text(const TileShape& tile) {
  if (!has_tile(tile)) return msg::difference::unknown{};
  return Message::verbatim(describe(tile));
}

Message knob_text(const Knobs& knobs, std::string_view name) {
  const KnobValue* value = knobs.find(name);
  return value == nullptr ? Message(msg::difference::default_value{}) : Message::verbatim(attnscope::to_string(*value));
}

using Differences = std::vector<PointDifference>;

void add(Differences& found, std::string_view key, const Message& name, const Message& base, const Message& other) {
  found.push_back({.key = std::string(key), .name = name, .base = base, .other = other});
}

void add_fields(const PointTable& table, Row base, Row other, Differences& found) {
  for (const FieldColumn& column : table.points().fields()) {
    const Field& field = column.field();
    if (field.role == FieldRole::tile || column.key(base) == column.key(other)) continue;
    const std::string before = attnscope::to_string(column.value(base));
    const std::string after = attnscope::to_string(column.value(other));
    if (before != after) add(found, field.name, field.label(), Message::verbatim(before), Message::verbatim(after));
  }
}

void add_tile(const PointTable& table, Row base, Row other, Differences& found) {
  if (table.tile_code(base) == table.tile_code(other)) return;
  const Config& before = table.tile_of(base);
  const Config& after = table.tile_of(other);
  if (before.tile != after.tile) {
    add(found, "tile", msg::difference::tile{}, tile_text(before.tile), tile_text(after.tile));
  }
  std::set<std::string> names;
  for (const Config* config : {&before, &after}) {
    for (const Knobs::Entry& knob : config->knobs) names.insert(knob.first);
  }
  for (const std::string& name : names) {
    const Message one = knob_text(before.knobs, name);
    const Message two = knob_text(after.knobs, name);
    if (one != two) add(found, name, Message::verbatim(name), one, two);
  }
}

/// Digests depend on the tile, so they are compared only between equal points.
void add_sources(const PointTable& table, const ComparedPair& pair, Differences& found) {
  const std::string& base = table.points().sources(pair.base.front());
  const std::string& other = table.points().sources(pair.other.front());
  if (!pair.same_point || base.empty() || other.empty() || base == other) return;
  // Begins with the first digest that differs.
  const auto place = static_cast<std::size_t>(std::ranges::mismatch(base, other).in1 - base.begin());
  const std::size_t space = place == 0 ? std::string::npos : base.rfind(' ', place - 1);
  const std::size_t begin = space == std::string::npos ? 0 : space + 1;
  const auto digest = [&](const std::string& all) {
    return Message::verbatim(begin < all.size() ? all.substr(begin, digest_digits) : "-");
  };
  add(found, "kernel_source", msg::difference::kernel_sources{}, digest(base), digest(other));
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

/// Adds what differs within pairs, with the number of pairs.
void add_point_differences(const PointTable& table, ComparisonResult& result) {
  struct Found {
    std::string key;
    Difference difference;
    std::array<std::map<std::string, Message>, 2> values{};
    std::size_t rows = 0;
  };
  std::vector<Found> all;
  for (const ComparedPair& pair : result.pairs) {
    for (const PointDifference& each : point_differences(table, pair)) {
      if (each.key == device_difference) continue;  // listed with the conditions of the runs
      auto found = std::ranges::find(all, each.key, &Found::key);
      if (found == all.end()) found = all.insert(found, {.key = each.key, .difference = {.name = each.name}});
      ++found->rows;
      for (const auto& [side, value] : {std::pair(0U, &each.base), std::pair(1U, &each.other)}) {
        auto& values = found->values.at(side);
        if (values.size() <= max_listed_values) values.try_emplace(english_text(*value), *value);
      }
    }
  }
  for (Found& found : all) {
    if (std::ranges::all_of(found.values, [](const auto& side) { return side.size() <= max_listed_values; })) {
      found.difference.base = values_of(found.values[0]);
      found.difference.other = values_of(found.values[1]);
    }
    found.difference.rows = found.rows;
    found.difference.key = found.key;
    // Provenance first: it changes what a comparison means.
    const auto place = found.key == "provenance" ? result.differences.begin() : result.differences.end();
    result.differences.insert(place, std::move(found.difference));
  }
}

/// Digests by algorithm and by all else that a digest depends on except the source.
using LaunchDigests = std::map<std::pair<std::string, std::string>, std::set<std::string>>;

LaunchDigests launch_digests(const PointTable& table, std::span<const Row> rows) {
  LaunchDigests digests;
  std::set<std::tuple<RunIndex, std::string, std::uint32_t>> known;
  for (const Row row : rows) {
    const Run& run = table.run(row);
    const std::string& algorithm = table.algorithm(row);
    const PointColumns::Launches& launches = table.points().launches();
    if (run.nvrtc.empty() || !known.emplace(table.run_index(row), algorithm, launches.code(row)).second) continue;
    const std::string compiler = fmt::format("{} {}.{}", run.nvrtc, run.limits.compute_major, run.limits.compute_minor);
    for (const auto& [launch, digest] : launches[row])
      digests[{algorithm, fmt::format("{} {}", compiler, launch)}].insert(digest);
  }
  return digests;
}

/// Rows of one run in one source.
struct RecordingPart {
  RunIndex run = 0;
  std::size_t source = 0;
  std::vector<Row> rows;
  std::map<std::string, Row> points = {};  ///< rows by canonical text; empty if there is no other part
};

std::vector<RecordingPart> parts_of(const PointTable& table, std::span<const std::vector<Row>> sources) {
  std::vector<RecordingPart> parts;
  for (std::size_t source = 0; source < sources.size(); ++source) {
    std::map<RunIndex, std::size_t> known;
    for (const Row row : sources[source]) {
      const RunIndex run = table.run_index(row);
      const auto [place, first] = known.try_emplace(run, parts.size());
      if (first) parts.push_back({.run = run, .source = source, .rows = {}});
      parts[place->second].rows.push_back(row);
    }
  }
  if (parts.size() < 2) return parts;
  for (RecordingPart& part : parts) {
    for (const Row row : part.rows) part.points.emplace(canonical_text(table.spec(row)), row);
  }
  return parts;
}

struct CommonPoints {
  bool any = false;
  bool same_sources = true;
};
CommonPoints common_points(const PointTable& table, const RecordingPart& a, const RecordingPart& b) {
  CommonPoints common;
  for (const auto& [point, row] : a.points) {
    const auto found = b.points.find(point);
    if (found == b.points.end()) continue;
    common.any = true;
    const std::string& one = table.points().sources(row);
    const std::string& two = table.points().sources(found->second);
    if (!one.empty() && !two.empty() && one != two) common.same_sources = false;
  }
  return common;
}

std::vector<Message> part_differences(const PointTable& table, const RecordingPart& a, const RecordingPart& b) {
  const Run& one = table.runs()[a.run];
  const Run& two = table.runs()[b.run];
  const CommonPoints common = common_points(table, a, b);
  std::vector<Message> differences = recording_differences(table, a.run, b.run);
  if (!common.same_sources) differences.emplace_back(msg::difference::kernel_sources{});
  if (a.source == b.source) {
    if (!common.any && one.device_name == two.device_name) return {};
  } else if (one.plan != two.plan || !common.any || a.run == b.run) {
    differences.emplace_back(msg::difference::plan{});
  }
  return differences;
}

}  // namespace

std::set<std::string> changed_kernels(const PointTable& table, std::span<const Row> base, std::span<const Row> other) {
  const LaunchDigests before = launch_digests(table, base);
  std::set<std::string> changed;
  for (const auto& [launch, digests] : launch_digests(table, other)) {
    const auto found = before.find(launch);
    if (found != before.end() && found->second != digests)
      changed.insert(short_title(table.algorithms(), launch.first));
  }
  return changed;
}

std::vector<PointDifference> point_differences(const PointTable& table, const ComparedPair& pair) {
  const Row base = pair.base.front();
  const Row other = pair.other.front();
  std::vector<PointDifference> found;
  add_fields(table, base, other, found);
  add_tile(table, base, other, found);
  const std::string& before = table.run(base).device_name;
  const std::string& after = table.run(other).device_name;
  if (before != after) {
    add(found, device_difference, msg::difference::gpu{}, Message::verbatim(before), Message::verbatim(after));
  }
  const Provenance origin = table.points().origin(base);
  if (origin != table.points().origin(other)) {
    add(found, "provenance", msg::difference::values{}, title(origin), title(table.points().origin(other)));
  }
  add_sources(table, pair, found);
  const double clock = clock_of(table, pair.base);
  const double other_clock = clock_of(table, pair.other);
  if (clock > 0 && other_clock > 0 && std::abs(other_clock / clock - 1) > one_clock) {
    add(found, "sm_clock", msg::difference::sm_clock{}, Message::verbatim(text(Hertz(clock))),
        Message::verbatim(text(Hertz(other_clock))));
  }
  return found;
}

void add_differences(const PointTable& table, const ComparisonRequest& request, ComparisonResult& result) {
  std::array<std::set<RunIndex>, 2> runs;
  for (const ComparedPair& pair : result.pairs) {
    for (const Row row : pair.base) runs[0].insert(table.run_index(row));
    for (const Row row : pair.other) runs[1].insert(table.run_index(row));
  }
  if (result.pairs.empty()) {
    for (const Row row : request.base) runs[0].insert(table.run_index(row));
    for (const Row row : request.other) runs[1].insert(table.run_index(row));
  }
  std::map<std::string, std::set<std::string>> ids;
  for (const std::set<RunIndex>& of_side : runs) {
    for (const RunIndex run : of_side) {
      const Run& of_run = table.runs()[run];
      if (of_run.provenance == Provenance::measured) ids[of_run.device_name].insert(of_run.device_id);
    }
  }
  Conditions conditions{{msg::difference::gpu{}, {}}};
  for (const std::size_t side : {0U, 1U}) {
    for (const RunIndex run : runs.at(side)) {
      const Run& of_run = table.runs()[run];
      // Names GPUs of one model with their id.
      const bool apart = ids[of_run.device_name].size() > 1 && !of_run.device_id.empty();
      add(conditions, msg::difference::gpu{}, side,
          Message::verbatim(apart ? device_title(table, run) : of_run.device_name));
      if (run >= request.conditions.size()) continue;
      for (const auto& [name, value] : request.conditions[run]) add(conditions, name, side, value);
    }
  }
  for (const auto& [name, of_sides] : conditions) {
    const auto& [base, other] = of_sides;
    if (base != other) result.differences.push_back({.name = name, .base = values_of(base), .other = values_of(other)});
  }
  add_throttling(table, result);
  add_point_differences(table, result);
}

std::string display_text(std::span<const Message> values) {
  std::string words;
  for (const Message& value : values) words += (words.empty() ? "" : ", ") + text(value);
  return words;
}

std::string RecordingGroup::title(const std::string& name) const {
  return pooled < 2 ? name : text(msg::compare::pooled{.name = name, .recordings = pooled});
}

std::vector<Message> recording_differences(const PointTable& table, RunIndex a, RunIndex b) {
  std::vector<Message> differences;
  if (a == b) return differences;
  const Run& one = table.runs()[a];
  const Run& two = table.runs()[b];
  const auto compare = [&](bool equal, Message name) {
    if (!equal) differences.push_back(std::move(name));
  };
  compare(one.device_id == two.device_id, msg::difference::gpu{});
  compare(one.provenance == two.provenance, msg::difference::values{});
  const bool imported = one.provenance == Provenance::imported && two.provenance == Provenance::imported;
  compare(!imported, msg::difference::kernel_sources{});  // nobody states them
  compare(one.program == two.program, msg::difference::program{});
  compare(one.options == two.options, msg::difference::options{});
  compare(one.l2_source == two.l2_source, msg::difference::l2_of{});
  return differences;
}

std::vector<RecordingGroup> group_recordings(const PointTable& table, std::span<const std::vector<Row>> sources) {
  const std::vector<RecordingPart> parts = parts_of(table, sources);
  std::vector<std::vector<std::size_t>> members;  // parts by group
  std::vector<RecordingGroup> groups;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto joins = [&](const std::vector<std::size_t>& group) {
      return std::ranges::all_of(
          group, [&](std::size_t part) { return part_differences(table, parts[part], parts[i]).empty(); });
    };
    const auto place = static_cast<std::size_t>(std::ranges::find_if(members, joins) - members.begin());
    if (place == members.size()) {
      members.emplace_back();
      groups.emplace_back();
      for (const std::size_t part : members.front()) {
        groups.back().differences = part_differences(table, parts[part], parts[i]);
        if (!groups.back().differences.empty()) break;
      }
    }
    members[place].push_back(i);
  }
  for (std::size_t k = 0; k < groups.size(); ++k) {
    std::map<std::string, std::size_t> recordings;
    for (const std::size_t i : members[k]) {
      const RecordingPart& part = parts[i];
      groups[k].runs.push_back(part.run);
      if (groups[k].sources.empty() || groups[k].sources.back() != part.source)
        groups[k].sources.push_back(part.source);
      for (const auto& [point, row] : part.points) groups[k].pooled = std::max(groups[k].pooled, ++recordings[point]);
      groups[k].rows.insert(groups[k].rows.end(), part.rows.begin(), part.rows.end());
    }
    std::ranges::sort(groups[k].rows);
    groups[k].rows.erase(std::unique(groups[k].rows.begin(), groups[k].rows.end()), groups[k].rows.end());
  }
  return groups;
}

}  // namespace attnscope::analysis
