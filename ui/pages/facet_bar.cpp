// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/facet_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <string>

#include "ui/format.h"
#include "ui/pages/flow_layout.h"
#include "ui/said.h"

namespace attnscope::ui {
namespace {

constexpr int widest_combo = 190;  ///< a list may hold one very long value

QString key_of(const analysis::Facet& facet) {
  return QString::fromStdString(facet.key);
}

}  // namespace

FacetBar::FacetBar(ProblemFilter& filter, QWidget* parent) : QWidget(parent), filter_(filter) {
  new FlowLayout(this, 10);  // the widget's own from here on
  for (std::size_t f = 0; f < filter_.facets().size(); ++f) {
    const analysis::Facet& facet = *filter_.facets()[f];
    QComboBox* combo = add_combo(said(facet.label), said(facet.help));
    combos_.push_back(combo);
    connect(combo, &QComboBox::activated, this, [this, f, combo] {
      filter_.choose(f, combo->currentData().toString().toStdString());
      emit chosen();
    });
  }
}

QComboBox* FacetBar::add_combo(const QString& name, const QString& help) {
  auto* pair = new QWidget(this);
  auto* row = new QHBoxLayout(pair);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(5);
  auto* label = new QLabel(name, pair);
  auto* combo = new QComboBox(pair);
  combo->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  combo->setMaximumWidth(widest_combo);
  combo->setToolTip(help);
  combo->setAccessibleName(name);
  label->setBuddy(combo);
  label->setToolTip(help);
  row->addWidget(label);
  row->addWidget(combo);
  layout()->addWidget(pair);
  return combo;
}

QJsonObject FacetBar::state() const {
  QJsonObject state;
  for (std::size_t f = 0; f < filter_.facets().size(); ++f) {
    if (!filter_.chosen(f).empty()) state[key_of(*filter_.facets()[f])] = QString::fromStdString(filter_.chosen(f));
  }
  return state;
}

void FacetBar::restore(const QJsonObject& state) {
  for (std::size_t f = 0; f < filter_.facets().size(); ++f) {
    const QJsonValue value = state[key_of(*filter_.facets()[f])];
    if (value.isString()) filter_.choose(f, value.toString().toStdString());
  }
}

void FacetBar::choose_problem_of(const analysis::PointTable& table, analysis::Row row) {
  for (std::size_t f = 0; f < filter_.facets().size(); ++f) {
    const analysis::CodeColumn& column = table.codes(*filter_.facets()[f]);
    filter_.choose(f, column.values[column.codes[row]].id());
  }
}

void FacetBar::refresh() {
  for (std::size_t f = 0; f < combos_.size(); ++f) {
    QComboBox* combo = combos_[f];
    const QSignalBlocker quiet(combo);
    const ProblemFilter::State& state = filter_.state(f);
    QStringList wanted;
    for (const analysis::FacetValue& value : state.options) wanted << QString::fromStdString(value.id());
    QStringList shown;
    for (int i = 0; i < combo->count(); ++i) shown << combo->itemData(i).toString();
    if (wanted != shown) {
      combo->clear();
      for (const analysis::FacetValue& value : state.options) {
        combo->addItem(QString::fromStdString(value.text), QString::fromStdString(value.id()));
        if (value.full.empty()) continue;
        combo->setItemData(combo->count() - 1, QString::fromStdString(value.full), Qt::ToolTipRole);
      }
    }
    combo->setCurrentIndex(state.current);
    combo->setEnabled(wanted.size() > 1);
    combo->parentWidget()->setVisible(wanted.size() > 1 || filter_.facets()[f]->always_shown);
  }
}

}  // namespace attnscope::ui
