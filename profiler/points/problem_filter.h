// SPDX-License-Identifier: Apache-2.0
// Narrows points, facet by facet, to one problem: each facet offers only what the choices before it leave, so that no
// combination is ever empty.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/points/facets.h"
#include "profiler/points/point_table.h"

namespace attnscope::analysis {

class ProblemFilter {
 public:
  /// `spread` is what a view draws across (N, or the tile): of the values not chosen by hand, the one that covers the
  /// most different ones is taken.
  ProblemFilter(std::vector<FacetPtr> facets, FacetPtr spread);

  struct State {
    std::vector<FacetValue> options;
    int current = -1;  ///< -1 only when there are no points

    /// Pre: current >= 0.
    [[nodiscard]] const FacetValue& value() const { return options[static_cast<std::size_t>(current)]; }
  };
  /// From now on only these facets narrow anything, and points are to be spread over that; the others have no options,
  /// and keep what was chosen for later. Those that the filter lacks come to its end. Wants an update().
  void narrow_by(const std::vector<FacetPtr>& facets, FacetPtr spread);
  [[nodiscard]] bool narrows(std::size_t facet) const { return narrows_[facet]; }
  /// Computes the options for these rows, keeping choices that are still possible: those made by hand, and those that
  /// an earlier update made, so that points which come later do not lead the reader elsewhere.
  void update(const PointTable& table, std::vector<Row> rows);
  /// By a value's id; the choices after it are made anew, unless they were made by hand. An empty id leaves the facet
  /// to update().
  void choose(std::size_t facet, std::string_view id);
  /// The next update() takes what it would take of these rows alone; choices by hand hold.
  void forget_taken();
  /// The id chosen by hand, possible or not; empty where there is none.
  [[nodiscard]] const std::string& chosen(std::size_t facet) const { return chosen_[facet]; }
  /// Calls `visit` for every combination of choices that has points, in the options' order, with the filter as choices
  /// by hand would have made it.
  void for_each_problem(const PointTable& table, std::vector<Row> rows,
                        const std::function<void(const ProblemFilter&)>& visit) const;

  [[nodiscard]] const std::vector<FacetPtr>& facets() const { return facets_; }
  [[nodiscard]] const State& state(std::size_t facet) const { return states_[facet]; }
  /// The rows of the last update() that have all the values chosen, in their order.
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }

  /// Whether every facet has a value: there are points.
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// "d 128 · mask causal · type fp16": the choices in words, for titles.
  [[nodiscard]] std::string summary() const;
  /// "-d128-causal-1x132": the same for file names, without what goes without saying.
  [[nodiscard]] std::string stem() const;
  /// By a facet's label or key: its place, facets().size() for none; and the ids of what it offers, which depends on
  /// the choices before it.
  [[nodiscard]] std::size_t place_of(std::string_view label) const;
  [[nodiscard]] std::vector<std::string> options(std::string_view label) const;

 private:
  /// Fills in a facet's options; the codes that they stand for.
  std::vector<std::uint32_t> offer(std::size_t facet, const PointTable& table, const std::vector<Row>& rows);
  void descend(std::size_t facet, const PointTable& table, std::vector<Row> rows,
               const std::function<void(const ProblemFilter&)>& visit);

  std::vector<FacetPtr> facets_;
  FacetPtr spread_;
  std::vector<bool> narrows_;
  std::vector<State> states_;
  std::vector<std::string> chosen_;  ///< by hand; empty: automatic
  std::vector<std::string> shown_;   ///< what update() took last; empty: nothing yet
  std::vector<Row> rows_;
};

}  // namespace attnscope::analysis
