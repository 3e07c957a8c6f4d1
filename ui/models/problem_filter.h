// SPDX-License-Identifier: GPL-3.0-or-later
// Narrows points, facet by facet, to one problem: each facet offers only what the choices before it leave, so that no
// combination is ever empty.
#pragma once

#include <QString>
#include <functional>
#include <vector>

#include "ui/workspace.h"

namespace attnscope::ui {

struct FacetValue {
  double order = 0;   ///< sorting key
  QString text;       ///< shown
  QString full = {};  ///< where `text` is shortened

  /// What the value is known by.
  [[nodiscard]] const QString& id() const { return full.isEmpty() ? text : full; }
  bool operator==(const FacetValue& other) const { return id() == other.id(); }
};

struct Facet {
  QString label;
  QString help;
  std::function<FacetValue(const ShownPoint&)> value;
  bool always_shown = true;  ///< false: its control is hidden while there is only one value
  QString usual = {};        ///< not said in file names while it is the only value
  bool quiet = false;        ///< the usual value is taken where there is a choice, and titles do not say it either
  QString stem = {};         ///< stands before the value in file names: "d128"
};

namespace facets {
[[nodiscard]] Facet algorithm();
[[nodiscard]] Facet head_dim();
[[nodiscard]] Facet mask();
[[nodiscard]] Facet dtype();
[[nodiscard]] Facet heads();
[[nodiscard]] Facet length();  ///< N, or n_q × n_k
/// "N" where there are as many queries as keys, else their number.
[[nodiscard]] Facet queries();
[[nodiscard]] Facet pass();
[[nodiscard]] Facet dropout();
[[nodiscard]] Facet page();
[[nodiscard]] Facet deterministic();
[[nodiscard]] Facet splits();
[[nodiscard]] Facet warps();
[[nodiscard]] Facet stages();
[[nodiscard]] Facet cache();
[[nodiscard]] Facet raster();
[[nodiscard]] Facet device();  ///< a GPU and the simulator of it are two
}  // namespace facets

class ProblemFilter {
 public:
  /// `spread` names what a page draws across (N, or the tile): of the values not chosen by hand, the one that covers
  /// the most different ones is taken.
  ProblemFilter(std::vector<Facet> facets, std::function<QString(const PointSpec&)> spread);

  struct State {
    std::vector<FacetValue> options;
    int current = -1;  ///< -1 only when there are no points
  };
  /// Computes the options for these points, keeping choices that are still possible: those made by hand, and those that
  /// an earlier update made, so that points which come later do not lead the reader elsewhere.
  void update(const std::vector<ShownPoint>& points);
  /// The choices after it are made anew, unless they were made by hand. An empty id leaves the facet to update().
  void choose(std::size_t facet, const QString& id);
  /// The id chosen by hand, possible or not; empty where there is none.
  [[nodiscard]] const QString& chosen(std::size_t facet) const { return chosen_[facet]; }

  [[nodiscard]] const std::vector<Facet>& facets() const { return facets_; }
  [[nodiscard]] const State& state(std::size_t facet) const { return states_[facet]; }
  [[nodiscard]] bool matches(const ShownPoint& point) const;
  /// "d 128 · mask causal · type fp16": the choices in words, for titles.
  [[nodiscard]] QString summary() const;
  /// "-d128-causal-1x132": the same for file names, without what goes without saying.
  [[nodiscard]] QString stem() const;
  /// Calls `visit` for every combination of choices that has points, in the options' order, with the filter as the
  /// choices by hand would have made it and the points that it matches.
  void for_each_problem(const std::vector<ShownPoint>& points,
                        const std::function<void(const ProblemFilter&, const std::vector<ShownPoint>&)>& visit) const;
  /// By a facet's label: its place, and the ids of what it offers, which depends on the choices before it.
  [[nodiscard]] std::size_t place_of(const QString& label) const;
  [[nodiscard]] QStringList options(const QString& label) const;
  [[nodiscard]] QStringList labels() const;

 private:
  struct Group;
  /// The points by the facet's value, in the options' order.
  [[nodiscard]] std::vector<Group> groups_of(std::size_t facet, const std::vector<const ShownPoint*>& points) const;
  /// The group taken where nothing was chosen.
  [[nodiscard]] int usual_group(std::size_t facet, const std::vector<Group>& groups) const;

  std::vector<Facet> facets_;
  std::function<QString(const PointSpec&)> spread_;
  std::vector<State> states_;
  std::vector<QString> chosen_;  ///< by hand; empty: automatic
  std::vector<QString> shown_;   ///< what update() took last; empty: nothing yet
};

}  // namespace attnscope::ui
