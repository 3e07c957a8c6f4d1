// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/compare/compared_view.h"

#include <algorithm>
#include <array>
#include <utility>

#include "messages/compare_page.h"
#include "profiler/compare/comparison_answers.h"
#include "ui/pages/problem_page.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

using analysis::Verdict;

constexpr int measured_rows = 200;  ///< that columns are measured by

/// The layouts that there may be of these axes, what is best looked at first: tiles, then settings with numbers.
std::vector<analysis::MapLayout> layouts_of(const std::vector<analysis::PointAxis>& axes) {
  std::vector<analysis::MapLayout> layouts;
  for (const analysis::PointAxis& y : axes) {
    for (const analysis::PointAxis& x : axes) {
      if (!share_names(x, y)) layouts.push_back({.x = x, .y = y});
    }
  }
  const analysis::MapLayout& tiles = analysis::tile_layout();
  std::ranges::stable_sort(layouts, {}, [&](const analysis::MapLayout& layout) {
    if (layout.x.key() == tiles.x.key() && layout.y.key() == tiles.y.key()) return 0;
    // Two halves of one setting (queries and keys) mostly are equal: a map of them is a diagonal.
    const bool halves = std::ranges::any_of(axes, [&](const analysis::PointAxis& both) {
      return share_names(both, layout.x) && share_names(both, layout.y);
    });
    if (halves) return 4;
    return layout.x.number && layout.y.number ? 1 : layout.x.number ? 2 : 3;
  });
  return layouts;
}

/// What differs between the baseline and any other side: "driver 580.65 → 590.10".
QStringList differences_of(const ComparisonSet& set, std::optional<std::uint32_t> code) {
  std::vector<std::pair<QString, std::pair<QString, QStringList>>> found;
  for (const OtherSide& other : set.others) {
    if (code && other.code != *code) continue;
    for (const analysis::Difference& difference : other.result.differences) {
      const QString name = one_line(qtext(difference.name));
      auto known = std::ranges::find(found, name, [](const auto& entry) { return entry.first; });
      if (known == found.end()) {
        found.push_back({name, {one_line(to_qstring(analysis::words_of(difference.base))), {}}});
        known = found.end() - 1;
      }
      const QString there = one_line(to_qstring(analysis::words_of(difference.other)));
      if (there.isEmpty() || known->second.second.contains(there)) continue;
      known->second.second << there;
      if (set.others.size() > 1 && !code) {  // whose it is
        known->second.second.last() =
            qtext(say::compare_page::of_side{.value = there.toStdString(), .side = set.name_of(other).toStdString()});
      }
    }
  }
  const auto or_none = [](const QString& text) {
    return text.isEmpty() ? qtext(say::compare_page::none_recorded{}) : text;
  };
  QStringList words;
  for (const auto& [name, sides] : found) {
    words << qtext(say::compare_page::difference{
        .name = name.toStdString(),
        .base = or_none(shortened(sides.first, 80)).toStdString(),
        .other = or_none(shortened(sides.second.join(QStringLiteral(", ")), 80)).toStdString()});
  }
  return words;
}

/// The side that stands alone; nothing where all do.
std::optional<std::uint32_t> other_code(const ComparisonSet& set, const QString& other) {
  if (other.isEmpty()) return std::nullopt;
  const auto code = set.axis.side_named(other);
  return code && *code != set.base ? code : std::nullopt;
}

const OtherSide* mapped_side(const ComparedView& of) {
  const OtherSide* fullest = nullptr;
  for (const OtherSide& other : of.set->others) {
    if (of.code == other.code) return &other;
    const std::size_t most = fullest == nullptr ? 0 : fullest->result.pairs.size();
    if (other.result.pairs.size() > most) fullest = &other;
  }
  return fullest;
}

std::vector<Row> candidates_of(const ComparedView& of) {
  std::vector<Row> candidates;
  const OtherSide* mapped = of.asked.view == CompareAs::map ? of.mapped : nullptr;
  for (const OtherSide& other : of.set->others) {
    if ((of.code && other.code != *of.code) || (mapped != nullptr && mapped != &other)) continue;
    for (const analysis::ComparedPair& pair : other.result.pairs) candidates.push_back(pair.other.front());
    if (of.asked.view != CompareAs::map) continue;
    // What a side tried in vain has a place, too.
    for (const analysis::LeftOut& left : other.result.left_out) {
      if (is_failure(left)) candidates.push_back(left.rows.front());
    }
  }
  std::ranges::sort(candidates);
  return candidates;
}

/// What the view can lie over; the filter is told what that leaves to choose.
void choose_axes(ComparedView& found) {
  const ComparedAsk& chosen = found.asked;
  const std::vector<analysis::PointAxis> axes = axes_of_pairs(*found.set, *found.narrowed.candidates);
  if (chosen.view == CompareAs::map) {
    for (const analysis::MapLayout& layout : layouts_of(axes)) {
      const bool wanted = key_of(layout.y) == chosen.rows_key && key_of(layout.x) == chosen.columns_key;
      if (wanted || !found.map_layout) {
        found.map_layout = layout;
        found.layout = static_cast<int>(found.layouts.size());
      }
      found.layouts.push_back(layout_option(layout));
    }
  } else if (chosen.view == CompareAs::curves) {
    for (const analysis::PointAxis& along : axes) {
      if (!along.number) continue;
      if (key_of(along) == chosen.along_key || !found.along) {
        found.along = along;
        found.layout = static_cast<int>(found.layouts.size());
      }
      found.layouts.push_back({.text = label_of(along), .id = key_of(along)});
    }
  }
  if (found.map_layout) {
    const analysis::MapLayout& layout = *found.map_layout;
    found.narrowed.filter.narrow_by(facets_beside_sides({layout.y, layout.x}, found.set->axis),
                                    analysis::facet_of_both(layout.x, layout.y));
  } else if (found.along) {
    found.narrowed.filter.narrow_by(facets_beside_sides({*found.along}, found.set->axis), found.along->facet);
  }
}

void find_picture(ComparedView& found) {
  const ProblemFilter& filter = found.narrowed.filter;
  if (found.asked.view == CompareAs::map && found.map_layout && found.mapped != nullptr) {
    found.grid = ratio_map(*found.set, *found.mapped, *found.map_layout, filter.rows());
  }
  if (found.asked.view == CompareAs::curves && found.along) {
    found.curves = ratio_curves(found.set, *found.along, filter.rows(), QString::fromStdString(filter.summary()));
  }
}

/// The sides that are held to the baseline, by name.
std::string others_of(const ComparedView& of, std::size_t shown) {
  if (shown != 1) return text(say::compare_page::others_together{.sides = shown});
  const auto only =
      std::ranges::find_if(of.set->others, [&](const OtherSide& other) { return !of.code || other.code == *of.code; });
  return of.set->name_of(*only).toStdString();
}

/// The answer; then the verdicts counted, what else is known of them, and what else differs.
void tell(ComparedView& of) {
  std::array<std::size_t, 4> counts{};
  std::size_t left = 0;
  std::vector<const analysis::ComparisonResult*> results;
  for (const OtherSide& other : of.set->others) {
    if (of.code && other.code != *of.code) continue;
    results.push_back(&other.result);
    for (const analysis::ComparedPair& pair : other.result.pairs) {
      ++counts.at(static_cast<std::size_t>(pair.verdict.verdict));
    }
    left += other.result.left_out.size();
  }
  const auto count = [&](Verdict verdict) { return counts.at(static_cast<std::size_t>(verdict)); };
  QString counted = qtext(say::compare_page::counts{.faster = count(Verdict::faster),
                                                    .slower = count(Verdict::slower),
                                                    .same = count(Verdict::same),
                                                    .undecided = count(Verdict::ambiguous)});
  if (left > 0) counted += QStringLiteral(", ") + qtext(say::compare_page::counts_left{.left = left});
  QStringList lines{counted};
  if (const auto answers = analysis::comparison_answers(of.set->points->table(), results); !answers.empty()) {
    const analysis::SideNames names{.other = others_of(of, results.size()), .base = of.set->base_name().toStdString()};
    const auto [answer, more] = analysis::answer_words(answers.front(), names);
    of.answer = qtext(answer);
    for (const Message& each : more) lines << qtext(each);
  }
  const QStringList differences = differences_of(*of.set, of.code);
  lines << (differences.isEmpty() ? qtext(say::compare_page::nothing_differs{})
                                  : qtext(say::compare_page::differs{
                                        .differences = differences.join(QStringLiteral("; ")).toStdString()}));
  if (of.asked.view == CompareAs::table && !of.table->common().isEmpty()) {
    lines << qtext(say::compare_page::common{.settings = of.table->common().toStdString()});
  }
  of.summary = lines.join(QLatin1Char('\n'));
}

}  // namespace

ComparedView view_of(const ComparedAsk& asked, const Outdated& outdated) {
  ComparedView found{.asked = asked, .set = asked.known, .narrowed = asked.before};
  if (found.set == nullptr) found.set = compare_sides(asked.sides, outdated);
  if (found.set == nullptr) return found;  // nobody waits for it
  found.code = other_code(*found.set, asked.other);
  found.mapped = mapped_side(found);
  const bool known = asked.table->set() == found.set && asked.table->code() == found.code;
  found.table = known ? asked.table : std::make_shared<const ShownComparison>(found.set, found.code);
  found.rows = found.table->table().ordered(
      static_cast<std::size_t>(std::max(0, column_named(found.table->table(), asked.sorted_by))),
      asked.order == Qt::DescendingOrder);
  found.longest = longest_texts(found.table->table(), measured_rows);
  const std::vector<Row> candidates = candidates_of(found);
  found.partners = !candidates.empty() || found.set->some_met();
  found.narrowed.narrow(found.set->points, candidates);
  if (!found.partners) return found;
  choose_axes(found);
  found.narrowed.narrow(found.set->points, candidates);  // by what is now left to choose
  found.simulated = simulated_parts(*found.set->points, candidates);
  tell(found);
  found.method = found.set->method_words(found.code).join(QLatin1Char(' '));
  if (!candidates.empty()) find_picture(found);
  return found;
}

}  // namespace attnscope::ui
