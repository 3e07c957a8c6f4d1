// SPDX-License-Identifier: Apache-2.0
#include "profiler/compare/recordings.h"

#include <algorithm>
#include <map>

#include "messages/compare.h"
#include "messages/difference.h"
#include "profiler/plan/fields.h"

namespace attnscope::analysis {
namespace {

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
