// SPDX-License-Identifier: Apache-2.0
// The figures of explored configurations in one table: what a view lists of one, and compares of several.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "profiler/metrics/metrics.h"
#include "profiler/predict/exploration.h"

namespace attnscope::analysis {

/// One line of the table: adding a figure is adding a line.
struct Figure {
  std::string_view key;
  std::string_view unit;  ///< as in the metrics table; "capacity": bytes of a memory; "flop"
  Saying label = nullptr;
  Saying help = nullptr;
  Better better = Better::neither;
  double (*value)(const Exploration&) = nullptr;  ///< pre: no refusal
  /// What a device gave of the same; null: nothing is.
  std::optional<MetricValue> (*measured)(const PointRecord&) = nullptr;
  bool of_several_gpus = false;  ///< said of these alone
};
[[nodiscard]] std::span<const Figure> figures();

/// How a value stands to the first one beside it.
enum class Standing {
  same,
  differs,  ///< and neither end is the better one
  better,
  worse
};
struct ComparedValue {
  std::optional<double> value;  ///< nothing of a configuration that does not run
  std::optional<double> ratio;  ///< over the first one's, where both are there and that one is not 0
  Standing standing = Standing::same;
};
struct ComparedFigure {
  const Figure* figure = nullptr;
  std::vector<ComparedValue> values;  ///< as many as there are configurations
  [[nodiscard]] bool differs() const;
};
/// Each against the first; better or worse only where both are of one problem.
[[nodiscard]] std::vector<ComparedFigure> compare(std::span<const Exploration* const>);

/// A field or knob, by its name, in which points differ, with what each has as text.
struct DifferingChoice {
  std::string name;
  Message label;
  std::vector<std::string> texts;
};
/// In the order of the tables of fields and of the registry's knobs; padding last.
[[nodiscard]] std::vector<DifferingChoice> differing_choices(std::span<const Exploration* const>, const Registry&);

}  // namespace attnscope::analysis
