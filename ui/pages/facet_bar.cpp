// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/facet_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>

#include "ui/pages/flow_layout.h"

namespace attnscope::ui {

FacetBar::FacetBar(ProblemFilter& filter, QWidget* parent) : QWidget(parent), filter_(filter) {
  auto* flow = new FlowLayout(this, 10);
  for (std::size_t f = 0; f < filter_.facets().size(); ++f) {
    const Facet& facet = filter_.facets()[f];
    auto* pair = new QWidget(this);
    auto* row = new QHBoxLayout(pair);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(5);
    auto* label = new QLabel(facet.label, pair);
    auto* combo = new QComboBox(pair);
    combo->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    combo->setToolTip(facet.help);
    combo->setAccessibleName(facet.label);
    label->setBuddy(combo);
    label->setToolTip(facet.help);
    row->addWidget(label);
    row->addWidget(combo);
    flow->addWidget(pair);
    combos_.push_back(combo);
    connect(combo, &QComboBox::activated, this, [this, f, combo] {
      filter_.choose(f, combo->currentData().toString());
      emit chosen();
    });
  }
}

void FacetBar::refresh() {
  for (std::size_t f = 0; f < combos_.size(); ++f) {
    QComboBox* combo = combos_[f];
    const QSignalBlocker quiet(combo);
    const ProblemFilter::State& state = filter_.state(f);
    QStringList wanted;
    for (const FacetValue& value : state.options) wanted << value.id();
    QStringList shown;
    for (int i = 0; i < combo->count(); ++i) shown << combo->itemData(i).toString();
    if (wanted != shown) {
      combo->clear();
      for (const FacetValue& value : state.options) {
        combo->addItem(value.text, value.id());
        if (!value.full.isEmpty()) combo->setItemData(combo->count() - 1, value.full, Qt::ToolTipRole);
      }
    }
    combo->setCurrentIndex(state.current);
    combo->setEnabled(wanted.size() > 1);
    combo->parentWidget()->setVisible(wanted.size() > 1 || filter_.facets()[f].always_shown);
  }
}

}  // namespace attnscope::ui
