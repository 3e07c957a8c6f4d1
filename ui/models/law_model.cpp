// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/law_model.h"

#include <QGuiApplication>
#include <algorithm>
#include <utility>

#include "messages/law_page.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

QString exponent_text(double value) {
  const QString text = QString::number(value, 'f', 3);
  return text == QLatin1String("-0.000") ? QStringLiteral("0.000") : text;
}

/// Half of an interval, with one digit that tells something.
QString half_text(const Interval& interval) {
  return QString::number((interval.high - interval.low) / 2, 'f', 3);
}

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

/// The place of a column among N, d and M; none of other columns.
std::optional<std::size_t> variable_of(int column) {
  if (column < LawModel::n_column || column > LawModel::m_column) return std::nullopt;
  return static_cast<std::size_t>(column - LawModel::n_column);
}

}  // namespace

QString level_words(LawLevel level) {
  return level == LawLevel::sm_l2 ? qtext(say::law_page::sm_l2{}) : qtext(say::law_page::dram{});
}

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

void LawModel::set_laws(LawSet set) {
  beginResetModel();
  set_ = std::move(set);
  lines_.clear();
  std::vector<PowerLaw> laws;
  for (std::size_t i = 0; i < set_.families.size(); ++i) {
    if (std::ranges::find(laws, set_.families[i].law) != laws.end()) continue;
    laws.push_back(set_.families[i].law);
    lines_.push_back({Kind::theorem, i});
  }
  for (std::size_t i = 0; i < set_.families.size(); ++i) {
    lines_.push_back({Kind::found, i});
    if (!set_.families[i].refusal && set_.families[i].closed_form) lines_.push_back({Kind::closed_form, i});
  }
  endResetModel();
}

bool LawModel::is_withheld(int row) const {
  const Line& line = lines_[static_cast<std::size_t>(row)];
  return line.kind == Kind::found && set_.families[line.family].refusal;
}

QString LawModel::text_of(const Line& line, int column) const {
  const auto variable = variable_of(column);
  if (line.kind == Kind::theorem) {
    const PowerLaw& law = set_.families[line.family].law;
    if (column == series_column) return qtext(say::law_page::theorem{.title = law.title, .law = law.text});
    return variable ? QString::number(law.exponents.at(*variable)) : QString();
  }
  const LawFamily& family = set_.families[line.family];
  if (line.kind == Kind::closed_form) {
    if (column == series_column) return QStringLiteral("    ") + qtext(say::law_page::exact{});
    if (column == source_column) return to_qstring(Provenance::modelled);
    if (column == miss_column) return qtext(Share(family.closed_form->worst()));
    return variable ? exponent_text(family.closed_form->exponents[*variable]) : QString();
  }
  switch (column) {
    case series_column:
      return QStringLiteral("%1 · %2").arg(algorithm_title(set_, family), level_words(family.level));
    case points_column:
      return QString::number(family.points.size());
    case source_column: {
      const RunInfo& run = set_.points->run(family.run);
      return QStringLiteral("%1 · %2 · %3")
          .arg(to_qstring(family.provenance), run.title,
               QString::fromStdString(analysis::device_title(set_.points->table(), family.run)));
    }
    case band_column:
      return family.points.empty()
                 ? QString()
                 : QStringLiteral("%1 – %2").arg(format_number(family.band.low), format_number(family.band.high));
    default:
      break;
  }
  if (family.refusal) {
    if (column != n_column) return {};
    return qtext(say::law_page::withheld{.reason = refusal_words(family)});
  }
  if (column == miss_column) return qtext(Share(family.fit->worst()));
  if (!variable) return {};
  return QStringLiteral("%1 ± %2").arg(exponent_text(family.fit->exponents[*variable]),
                                       half_text(family.fit->intervals[*variable]));
}

QString LawModel::tip_of(const Line& line, int column) const {
  if (line.kind != Kind::found) return {};
  const LawFamily& family = set_.families[line.family];
  if (const auto variable = variable_of(column); variable && !family.refusal) {
    const Interval& interval = family.fit->intervals[*variable];
    return qtext(say::law_page::interval{.low = exponent_text(interval.low).toStdString(),
                                         .high = exponent_text(interval.high).toStdString()});
  }
  if (family.refusal && variable_of(column)) return text_of(line, n_column);
  QStringList notes;
  if (family.level == LawLevel::dram && !family.cycles) notes << qtext(say::law_page::served{});
  if (family.outside + family.cached > 0) {
    notes << qtext(say::law_page::left_out{.outside = family.outside, .cached = family.cached});
  }
  if (column == series_column || column == points_column) return notes.join(QLatin1Char('\n'));
  return column == source_column ? text_of(line, column) : QString();
}

QVariant LawModel::cell(int row, int column, int role) const {
  const Line& line = lines_[static_cast<std::size_t>(row)];
  const PlotColors colors = plot_colors(QGuiApplication::palette());
  switch (role) {
    case Qt::DisplayRole:
    case sort_role:
      return text_of(line, column);
    case Qt::ToolTipRole: {
      const QString tip = tip_of(line, column);
      return tip.isEmpty() ? QVariant() : QVariant(plain_tip(tip));
    }
    case Qt::DecorationRole:
      if (line.kind != Kind::found || column != series_column) return {};
      return family_color(set_, set_.families[line.family], colors.dark);
    case Qt::TextAlignmentRole: {
      const bool left = column == series_column || column == source_column || is_withheld(row);
      return QVariant::fromValue<Qt::Alignment>((left ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    }
    case Qt::ForegroundRole:
      return line.kind == Kind::found ? QVariant() : QVariant(colors.muted);
    default:
      return {};
  }
}

QVariant LawModel::header(int column, int role) const {
  const bool left = column == series_column || column == source_column;
  if (role == Qt::TextAlignmentRole) {
    return QVariant::fromValue<Qt::Alignment>((left ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  }
  if (role == Qt::ToolTipRole && column == miss_column) return plain_tip(qtext(say::law_page::miss_help{}));
  if (role != Qt::DisplayRole) return {};
  switch (column) {
    case n_column:
      return qtext(say::law_page::n{});
    case d_column:
      return qtext(say::law_page::d{});
    case m_column:
      return qtext(say::law_page::m{});
    case series_column:
      return qtext(say::law_page::series{});
    case points_column:
      return qtext(say::law_page::points{});
    case miss_column:
      return qtext(say::law_page::miss{});
    case band_column:
      return qtext(say::law_page::band{});
    case source_column:
      return qtext(say::law_page::source{});
    default:
      return {};
  }
}

}  // namespace attnscope::ui
