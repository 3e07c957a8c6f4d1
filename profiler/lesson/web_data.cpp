// SPDX-License-Identifier: Apache-2.0
// What the browser's script shows, as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "profiler/lesson/hierarchy_flow.h"
#include "profiler/lesson/pictures.h"
#include "profiler/lesson/terms.h"
#include "profiler/lesson/web.h"

namespace attnscope::analysis::lesson {
namespace {

using nlohmann::json;

/// Six digits are enough to draw; what is no number is null.
json rounded(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (value == 0) return 0;
  const double scale = std::pow(10, 5 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}
json rounded(const std::vector<double>& values) {
  json all = json::array();
  for (const double value : values) all.push_back(rounded(value));
  return all;
}

}  // namespace

std::string flow_json(const LessonTexts& texts, const Evidence& evidence) {
  const Hierarchy hierarchy = hierarchy_of(evidence.gpu, evidence.ceilings);
  const HierarchyFlow flow = hierarchy_flow(hierarchy, evidence.gpu.sm_count);
  json lanes = json::array();
  for (const FlowLane& lane : flow.lanes) {
    const HierarchyRung& rung = hierarchy.at(lane.rung);
    lanes.push_back({{"name", rung_title(texts, lane.rung)},
                     {"size", rung.bytes ? format_figure(rung.bytes->value, Unit::bytes) : std::string()},
                     {"bandwidth", reached_text(texts, rung, std::nullopt)},
                     {"pipe", rounded(lane.pipe)},
                     {"square", rounded(lane.square)}});
  }
  json frames = json::array();
  for (const FlowFrame& frame : flow.frames) {
    json trips = json::array();
    json labels = json::array();
    for (const std::optional<double>& each : frame.trips) {
      trips.push_back(each ? rounded(*each) : json());
      labels.push_back(each ? trips_text(texts, each) : texts.word("latency") + ": " + texts.word("no_data"));
    }
    frames.push_back({{"clock", clock_text(texts, flow, frame)}, {"trips", trips}, {"labels", labels}});
  }
  json loads = json::array();
  for (const FlowLoad& load : flow.loads) {
    json rungs = json::array();
    for (std::size_t i = 0; i < load.rungs.size(); ++i) {
      rungs.push_back({{"share", load.rungs[i] ? rounded(load.rungs[i]->share) : json()},
                       {"label", reached_text(texts, hierarchy.rungs[i], load.rungs[i])}});
    }
    loads.push_back({{"label", load_text(texts, load)}, {"rungs", rungs}});
  }
  return json{
      {"lanes", lanes}, {"frames", frames}, {"loads", loads}, {"first", flow.first_load}, {"stretch", flow.stretch(1)}}
      .dump();
}

std::string softmax_json() {
  json all = json::array();
  for (const SoftmaxExample& example : softmax_examples()) {
    all.push_back({{"name", example.name},
                   {"columns", example.rows.columns},
                   {"d", example.rows.d},
                   {"scores", example.rows.scores},
                   {"values", example.rows.values},
                   {"hidden", example.rows.hidden},
                   {"blocks", example.blocks}});
  }
  return all.dump();
}

}  // namespace attnscope::analysis::lesson
