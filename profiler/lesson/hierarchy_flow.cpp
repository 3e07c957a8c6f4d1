// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/hierarchy_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "profiler/lesson/claims.h"
#include "profiler/units/spelling.h"

namespace attnscope::analysis::lesson {
namespace {

constexpr int flow_frames = 120;
constexpr double beyond_longest = 1.1;  ///< of the longest latency: its load is seen to come back
constexpr std::int64_t line_bytes = 128;
constexpr std::int64_t most_in_flight = 64 << 10;  ///< of an SM

std::vector<FlowLane> lanes_of(const Hierarchy& hierarchy) {
  double widest = 0;
  double largest = 0;
  for (const HierarchyRung& rung : hierarchy.rungs) {
    widest = std::max(widest, rung.bandwidth ? rung.bandwidth->value : 0);
    largest = std::max(largest, rung.bytes ? rung.bytes->value : 0);
  }
  std::vector<FlowLane> lanes;
  lanes.reserve(hierarchy.rungs.size());
  for (const HierarchyRung& rung : hierarchy.rungs) {
    FlowLane lane{.rung = rung.rung};
    if (rung.bandwidth && widest > 0) lane.pipe = std::sqrt(rung.bandwidth->value / widest);
    if (rung.bytes && largest > 0) lane.square = std::sqrt(rung.bytes->value / largest);
    lanes.push_back(lane);
  }
  return lanes;
}

FlowFrame frame_at(const Hierarchy& hierarchy, double ns) {
  FlowFrame frame{.ns = ns, .tensor_flops = hierarchy.tensor_flops.value * ns * 1e-9};
  for (const HierarchyRung& rung : hierarchy.rungs) {
    frame.trips.push_back(rung.latency_ns ? std::optional(ns / rung.latency_ns->value) : std::nullopt);
  }
  return frame;
}

FlowLoad load_of(const Hierarchy& hierarchy, std::int64_t bytes_per_sm, int sms) {
  FlowLoad load{.bytes_per_sm = bytes_per_sm};
  const double in_flight = static_cast<double>(bytes_per_sm) * sms;
  for (const HierarchyRung& rung : hierarchy.rungs) {
    if (!rung.latency_ns || !rung.bandwidth) {
      load.rungs.emplace_back();
      continue;
    }
    const double most = rung.bandwidth->value;
    const double reached = std::min(most, in_flight / (rung.latency_ns->value * 1e-9));
    load.rungs.emplace_back(FlowLoad::Rung{reached, reached / most});
  }
  return load;
}

}  // namespace

double HierarchyFlow::stretch(double frames_per_second) const {
  return frame_ns > 0 ? 1e9 / (frame_ns * frames_per_second) : 0;
}

HierarchyFlow hierarchy_flow(const Hierarchy& hierarchy, int sms) {
  HierarchyFlow flow{.lanes = lanes_of(hierarchy)};
  double longest = 0;
  for (const HierarchyRung& rung : hierarchy.rungs) {
    longest = std::max(longest, rung.latency_ns ? rung.latency_ns->value : 0);
  }
  flow.frame_ns = longest * beyond_longest / flow_frames;
  for (int i = 0; i <= (longest > 0 ? flow_frames : 0); ++i)
    flow.frames.push_back(frame_at(hierarchy, i * flow.frame_ns));
  if (longest <= 0) return flow;
  for (std::int64_t bytes = line_bytes; bytes <= most_in_flight; bytes *= 2) {
    flow.loads.push_back(load_of(hierarchy, bytes, sms));
    const auto& dram = flow.loads.back().rungs[static_cast<std::size_t>(Rung::dram)];
    if (dram && dram->share < 1) flow.first_load = flow.loads.size() - 1;
  }
  return flow;
}

std::string clock_text(const LessonTexts& texts, const HierarchyFlow& flow, const FlowFrame& frame) {
  if (flow.frame_ns <= 0) return texts.word("no_latency");
  return fmt::format("{} {} · {} {}", texts.word("since_start"), text(Nanoseconds(std::round(frame.ns))),
                     texts.word("flops_meanwhile"), text(Flops(frame.tensor_flops)));
}

std::string trips_text(const LessonTexts& texts, const std::optional<double>& trips) {
  if (!trips) return texts.word("no_data");
  return fmt::format("{} {:.0f}", texts.word("loads_back"), std::floor(*trips + 1e-9));
}

std::string load_text(const LessonTexts& texts, const FlowLoad& load) {
  return fmt::format("{} {}", texts.word("under_way"),
                     format_figure(static_cast<double>(load.bytes_per_sm), Unit::bytes));
}

std::string reached_text(const LessonTexts& texts, const HierarchyRung& rung,
                         const std::optional<FlowLoad::Rung>& reached) {
  if (!rung.bandwidth) return texts.word("no_data");
  std::string all = format_figure(rung.bandwidth->value, Unit::bytes_per_second);
  if (!reached) return all;
  return fmt::format("{} {} {} ({:.0f}%)", format_figure(reached->bytes_per_second, Unit::bytes_per_second),
                     texts.word("of"), all, 100 * reached->share);
}

std::string rung_title(const LessonTexts& texts, Rung rung) {
  constexpr std::array words{"registers", "shared", "l2", "dram", "host"};
  return texts.word(words.at(static_cast<std::size_t>(rung)));
}

}  // namespace attnscope::analysis::lesson
