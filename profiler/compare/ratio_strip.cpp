// SPDX-License-Identifier: Apache-2.0
#include "profiler/compare/ratio_strip.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace attnscope::analysis {

std::vector<StripGroup> strip_groups(const ComparisonView& view, std::span<const ComparisonLine> lines, bool by_d) {
  const PointTable& table = *view.points;
  std::map<std::tuple<std::size_t, std::size_t, std::string, std::int64_t>, StripGroup> groups;
  for (std::size_t line = 0; line < lines.size(); ++line) {
    const ComparedPair* pair = lines[line].pair;
    if (pair == nullptr || pair->verdict.time.unknown) continue;
    const Row row = pair->other.front();
    const std::string& algorithm = table.algorithm(row);
    const std::int64_t d = by_d ? table.problem(row).d : 0;
    StripGroup& group = groups[{lines[line].side, table.algorithms().place(algorithm), algorithm, d}];
    group.lines.push_back(line);
    if (group.lines.size() > 1) continue;
    group.algorithm = algorithm;
    const std::string title = short_title(table.algorithms(), algorithm);
    group.label = by_d ? fmt::format("{} d {}", title, d) : title;
    const std::string& side = view.sides[lines[line].side]->name;
    if (view.sides.size() > 1 && side != title) group.label += " · " + side;
  }
  std::vector<StripGroup> all;
  all.reserve(groups.size());
  for (auto& [key, group] : groups) all.push_back(std::move(group));
  return all;
}

std::vector<int> strip_lanes(const std::vector<double>& x, double spacing) {
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return x[i]; });
  std::array<double, strip_lane_count> ends{};
  std::vector<int> lanes(x.size());
  if (x.empty()) return lanes;
  ends.fill(x[order.front()] - spacing);
  for (const std::size_t i : order) {
    const auto* const free = std::ranges::find_if(ends, [&](double end) { return x[i] - end >= spacing; });
    const auto lane = static_cast<std::size_t>(free == ends.end() ? 0 : free - ends.begin());
    ends.at(lane) = x[i];
    const auto step = static_cast<int>((lane + 1) / 2);
    lanes[i] = lane % 2 == 1 ? -step : step;
  }
  return lanes;
}

}  // namespace attnscope::analysis
