// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/law/law_set.h"

#include <algorithm>

#include "ui/text/format.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

QString algorithm_title(const LawSet& set, const LawFamily& family) {
  return QString::fromStdString(analysis::short_title(set.points->table().algorithms(), family.algorithm));
}

/// How many series of its algorithm and level stand before this one.
int place_among_its_own(const LawSet& set, const LawFamily& family) {
  int place = 0;
  for (const LawFamily& other : set.families) {
    if (&other == &family) break;
    if (other.algorithm == family.algorithm && other.level == family.level) ++place;
  }
  return place;
}

}  // namespace

QString family_title(const LawSet& set, const LawFamily& family) {
  QString title = algorithm_title(set, family);
  const bool alone = std::ranges::none_of(set.families, [&](const LawFamily& other) {
    return &other != &family && other.algorithm == family.algorithm && other.level == family.level;
  });
  if (alone) return title;
  const RunInfo& run = set.points->run(family.run);
  return QStringLiteral("%1 (%2, %3, %4)")
      .arg(title, QString::fromStdString(analysis::device_title(set.points->table(), family.run)),
           to_qstring(run.summary.provenance), run.title);
}

QColor family_color(const LawSet& set, const LawFamily& family, bool dark) {
  constexpr int paler = 45;  // percent of lightness a step
  const QColor color = algorithm_color(family.algorithm, dark);
  const int place = place_among_its_own(set, family);
  return dark ? color.darker(100 + paler * place) : color.lighter(100 + paler * place);
}

}  // namespace attnscope::ui
