// SPDX-License-Identifier: Apache-2.0
// Reduces points to one problem, facet by facet. Each facet offers the values that remain after the previous choices. A
// choice without points is kept; nearest() then names combinations that have points.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/points/facets.h"
#include "profiler/points/point_table.h"

namespace attnscope::analysis {

/// Options of a facet. Copies share them: each of 10^5 plots of a file with 10^5 masks has a filter.
class FacetOptions {
 public:
  FacetOptions() : FacetOptions(std::vector<FacetValue>()) {}
  explicit FacetOptions(std::vector<FacetValue> values)
      : values_(std::make_shared<const std::vector<FacetValue>>(std::move(values))) {}

  [[nodiscard]] auto begin() const { return values_->begin(); }
  [[nodiscard]] auto end() const { return values_->end(); }
  [[nodiscard]] std::size_t size() const { return values_->size(); }
  [[nodiscard]] const FacetValue& operator[](std::size_t index) const { return (*values_)[index]; }

 private:
  std::shared_ptr<const std::vector<FacetValue>> values_;
};

class ProblemFilter {
 public:
  /// `spread` is the facet that a view draws along (N or tile). Facets without an explicit choice default to the value
  /// that covers the most values of `spread`.
  ProblemFilter(std::vector<FacetPtr> facets, FacetPtr spread)
      : facets_(std::move(facets)), spread_(std::move(spread)), choices_(facets_.size()) {}

  struct State {
    FacetOptions options;
    int current = -1;                  ///< -1 if the combination has no points
    std::optional<FacetValue> absent;  ///< the kept value if the combination has no points

    [[nodiscard]] bool has_value() const { return current >= 0 || absent; }
    /// Pre: has_value().
    [[nodiscard]] const FacetValue& value() const {
      return absent ? *absent : options[static_cast<std::size_t>(current)];
    }
  };
  /// Restricts filtering to these facets with a new `spread`; missing ones are appended. Other facets have no options
  /// but keep their choice. Call update() afterwards.
  void restrict_to(const std::vector<FacetPtr>& facets, FacetPtr spread);
  [[nodiscard]] bool is_active(std::size_t facet) const { return choices_[facet].active; }
  /// Computes the options for these rows. Keeps explicit choices even without points, and automatic choices of earlier
  /// updates if still possible, so that new points do not change the view.
  void update(const PointTable& table, std::vector<Row> rows);
  /// Chooses a value by id. From then on, update() also keeps automatic choices without points, so that a choice
  /// changes no other one. An empty id resets the facet to automatic.
  void choose(std::size_t facet, std::string_view id);
  /// Like choose(), for a saved choice: automatic choices are still recomputed if they have no points.
  void restore(std::size_t facet, std::string_view id) { choices_[facet].chosen = id; }
  /// Returns whether choose() was called since the last reset().
  [[nodiscard]] bool is_touched() const { return touched_; }
  /// Makes all choices automatic.
  void reset();
  /// Makes the next update() recompute automatic choices, unless is_touched(); explicit choices are kept.
  void reset_automatic();
  /// Id of the explicit choice, even if it is not available; empty if automatic.
  [[nodiscard]] const std::string& chosen(std::size_t facet) const { return choices_[facet].chosen; }
  /// Calls `visit` for every combination of values that has points, in option order, with a filter narrowed to that
  /// combination.
  void for_each_problem(const PointTable& table, std::vector<Row> rows,
                        const std::function<void(const ProblemFilter&)>& visit) const;

  [[nodiscard]] const std::vector<FacetPtr>& facets() const { return facets_; }
  [[nodiscard]] const State& state(std::size_t facet) const { return choices_[facet].state; }
  /// Rows of the last update() that match all choices, in order.
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }

  /// Returns true if no points match.
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// "d 128 · mask causal · type fp16", for titles.
  [[nodiscard]] std::string summary() const;
  /// "-d128-causal-1x132", for file names; omits default values.
  [[nodiscard]] std::string stem() const;
  /// A combination with points, by its difference from the current choices.
  struct Alternative {
    std::vector<std::pair<std::size_t, FacetValue>> changes;  ///< facets with other values, in facet order
    Row row = 0;                                              ///< one of its points
  };
  /// Returns the combinations of `rows` with the fewest changes, nearest first; for equally many, the nearer values.
  [[nodiscard]] std::vector<Alternative> nearest(const PointTable&, const std::vector<Row>& rows,
                                                 std::size_t count) const;
  /// Index of a facet by label or key, facets().size() if unknown; ids of its options under the current choices.
  [[nodiscard]] std::size_t index_of(std::string_view label) const;
  [[nodiscard]] std::vector<std::string> options(std::string_view label) const;

 private:
  /// Id of the value to keep without points; empty: none.
  [[nodiscard]] std::string kept_id(std::size_t facet, const CodeColumn& column, const std::vector<Row>& rows) const;
  /// Computes a facet's options; returns their codes.
  std::vector<std::uint32_t> compute_options(std::size_t facet, const PointTable& table, const std::vector<Row>& rows);
  void visit_combinations(std::size_t facet, const PointTable& table, std::vector<Row> rows,
                          const std::function<void(const ProblemFilter&)>& visit);

  struct Choice {
    bool active = true;
    State state = {};
    std::string chosen = {};     ///< id of the explicit choice; empty: automatic
    std::string automatic = {};  ///< id of the last choice of update(); empty: none
  };

  std::vector<FacetPtr> facets_;
  FacetPtr spread_;
  std::vector<Choice> choices_;  ///< one per facet
  bool touched_ = false;         ///< the user made a choice
  std::vector<Row> rows_;
};

}  // namespace attnscope::analysis
