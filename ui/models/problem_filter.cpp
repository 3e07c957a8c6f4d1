// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/problem_filter.h"

#include <QSet>
#include <algorithm>
#include <map>

#include "kernels/algorithm.h"
#include "ui/format.h"

namespace attnscope::ui {
namespace facets {

Facet algorithm() {
  return {QStringLiteral("Algorithm"), QStringLiteral("The attention algorithm whose tiles are shown"),
          [](const ShownPoint& point) {
            const PointSpec& spec = point.spec();
            const auto all = algorithms();
            const auto place = std::find_if(all.begin(), all.end(),
                                            [&](const Algorithm* item) { return item->name() == spec.algorithm; });
            return FacetValue{static_cast<double>(place - all.begin()), QString::fromStdString(spec.algorithm)};
          }};
}

Facet head_dim() {
  return {QStringLiteral("d"), QStringLiteral("Head dimension"), [](const ShownPoint& point) {
            const PointSpec& spec = point.spec();
            return FacetValue{static_cast<double>(spec.problem.d), QString::number(spec.problem.d)};
          }};
}

Facet mask() {
  return {QStringLiteral("Mask"), QStringLiteral("Full attention, or causal (bottom-right aligned)"),
          [](const ShownPoint& point) {
            const PointSpec& spec = point.spec();
            // Full and causal first; the others by how much they cut away.
            const Mask& mask = spec.problem.mask;
            const double order = mask == Mask::none ? 0
                                 : mask == Mask::causal
                                     ? 1
                                     : 2 + 1.0 / (1.0 + static_cast<double>(unmasked_pairs(spec.problem)));
            return FacetValue{order, to_qstring(to_string(mask))};
          },
          false};
}

Facet dtype() {
  return {QStringLiteral("Type"), QStringLiteral("Element type of Q, K, V and O"),
          [](const ShownPoint& point) {
            const PointSpec& spec = point.spec();
            return FacetValue{static_cast<double>(spec.problem.dtype), to_qstring(to_string(spec.problem.dtype))};
          },
          false};
}

Facet heads() {
  return {
      QStringLiteral("Batch × heads"), QStringLiteral("Independent attention problems computed at once"),
      [](const ShownPoint& point) {
        const PointSpec& spec = point.spec();
        const AttentionProblem& p = spec.problem;
        return FacetValue{static_cast<double>(p.instances()) + static_cast<double>(p.batch) * 1e-6, format_heads(p)};
      }};
}

Facet length() {
  return {QStringLiteral("N"), QStringLiteral("Sequence length"), [](const ShownPoint& point) {
            const PointSpec& spec = point.spec();
            const AttentionProblem& p = spec.problem;
            return FacetValue{
                static_cast<double>(p.n_k) + static_cast<double>(p.n_q) * 1e-9,
                p.n_q == p.n_k ? QString::number(p.n_k) : QStringLiteral("%1 × %2").arg(p.n_q).arg(p.n_k)};
          }};
}

Facet cache() {
  return {QStringLiteral("L2"),
          QStringLiteral("The L2 when a launch begins. Cold: overwritten. Warm: as the last launch left it"),
          [](const ShownPoint& point) {
            const PointSpec& spec = point.spec();
            return FacetValue{static_cast<double>(spec.cache), to_qstring(to_string(spec.cache))};
          },
          false};
}

Facet raster() {
  return {QStringLiteral("Raster"), QStringLiteral("The order in which thread blocks are handed to the SMs"),
          [](const ShownPoint& point) {
            const PointSpec& spec = point.spec();
            return FacetValue{static_cast<double>(spec.tile.raster),
                              to_qstring(to_string(spec.tile.raster)).replace(QLatin1Char('_'), QLatin1Char(' '))};
          },
          false};
}

Facet device() {
  return {QStringLiteral("Device"), QStringLiteral("Where the values come from"),
          [](const ShownPoint& point) {
            const RunSummary& run = point.run->summary;
            QString name = QString::fromStdString(run.device_name);
            if (run.simulated) name = QStringLiteral("simulated ") + name.remove(QStringLiteral("NVIDIA "));
            return FacetValue{run.simulated ? 1.0 : 0.0, name};
          },
          false};
}

}  // namespace facets

ProblemFilter::ProblemFilter(std::vector<Facet> facets, std::function<QString(const PointSpec&)> spread)
    : facets_(std::move(facets)), spread_(std::move(spread)), states_(facets_.size()), chosen_(facets_.size()) {}

void ProblemFilter::update(const std::vector<ShownPoint>& points) {
  std::vector<const ShownPoint*> left;
  left.reserve(points.size());
  for (const ShownPoint& point : points) left.push_back(&point);

  for (std::size_t f = 0; f < facets_.size(); ++f) {
    struct Group {
      FacetValue value;
      std::vector<const ShownPoint*> points;
      QSet<QString> covered;
    };
    std::map<QString, Group> groups;
    for (const ShownPoint* point : left) {
      FacetValue value = facets_[f].value(*point);
      Group& group = groups[value.text];
      group.covered.insert(spread_(point->spec()));
      group.points.push_back(point);
      group.value = std::move(value);
    }
    std::vector<const Group*> ordered;
    ordered.reserve(groups.size());
    for (const auto& [text, group] : groups) ordered.push_back(&group);
    std::sort(ordered.begin(), ordered.end(),
              [](const Group* a, const Group* b) { return a->value.order < b->value.order; });

    State& state = states_[f];
    state.options.clear();
    state.current = -1;
    for (std::size_t i = 0; i < ordered.size(); ++i) {
      state.options.push_back(ordered[i]->value);
      const bool by_hand = ordered[i]->value.text == chosen_[f];
      const bool better = state.current < 0 ||
                          ordered[i]->covered.size() > ordered[static_cast<std::size_t>(state.current)]->covered.size();
      if (by_hand) {
        state.current = static_cast<int>(i);
        for (std::size_t j = i + 1; j < ordered.size(); ++j) state.options.push_back(ordered[j]->value);
        break;
      }
      if (better) state.current = static_cast<int>(i);
    }
    if (state.current >= 0) left = ordered[static_cast<std::size_t>(state.current)]->points;
  }
}

void ProblemFilter::choose(std::size_t facet, const QString& text) {
  chosen_[facet] = text;
}

bool ProblemFilter::matches(const ShownPoint& point) const {
  for (std::size_t f = 0; f < facets_.size(); ++f) {
    const State& state = states_[f];
    if (state.current < 0) return false;
    if (facets_[f].value(point).text != state.options[static_cast<std::size_t>(state.current)].text) return false;
  }
  return true;
}

QString ProblemFilter::summary() const {
  QStringList words;
  for (std::size_t f = 0; f < facets_.size(); ++f) {
    const State& state = states_[f];
    if (state.current < 0) continue;
    QString label = facets_[f].label;
    if (label.size() > 2) label = label.left(1).toLower() + label.mid(1);
    words << label + QLatin1Char(' ') + state.options[static_cast<std::size_t>(state.current)].text;
  }
  return words.join(QStringLiteral(" · "));
}

}  // namespace attnscope::ui
