// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/facet_bar.h"

#include <QCoreApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <string>
#include <string_view>

#include "ui/format.h"
#include "ui/pages/flow_layout.h"

namespace attnscope::ui {
namespace {

constexpr int widest_combo = 190;  ///< a list may hold one very long value

QString words(std::string_view text) {
  return QCoreApplication::translate("Fields", std::string(text).c_str());
}

QString key_of(const analysis::Field& field) {
  return to_qstring(field.key);
}

}  // namespace

FacetBar::FacetBar(ProblemFilter& filter, QWidget* parent) : QWidget(parent), filter_(filter) {
  new FlowLayout(this, 10);  // the widget's own from here on
  for (std::size_t f = 0; f < filter_.fields().size(); ++f) {
    const analysis::Field& field = *filter_.fields()[f];
    QComboBox* combo = add_combo(words(field.label), words(field.help));
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
  for (std::size_t f = 0; f < filter_.fields().size(); ++f) {
    if (!filter_.chosen(f).empty()) state[key_of(*filter_.fields()[f])] = QString::fromStdString(filter_.chosen(f));
  }
  return state;
}

void FacetBar::restore(const QJsonObject& state) {
  for (std::size_t f = 0; f < filter_.fields().size(); ++f) {
    const QJsonValue value = state[key_of(*filter_.fields()[f])];
    if (value.isString()) filter_.choose(f, value.toString().toStdString());
  }
}

void FacetBar::refresh() {
  for (std::size_t f = 0; f < combos_.size(); ++f) {
    QComboBox* combo = combos_[f];
    const QSignalBlocker quiet(combo);
    const ProblemFilter::State& state = filter_.state(f);
    QStringList wanted;
    for (const analysis::FieldValue& value : state.options) wanted << QString::fromStdString(value.id());
    QStringList shown;
    for (int i = 0; i < combo->count(); ++i) shown << combo->itemData(i).toString();
    if (wanted != shown) {
      combo->clear();
      for (const analysis::FieldValue& value : state.options) {
        combo->addItem(QString::fromStdString(value.text), QString::fromStdString(value.id()));
        if (value.full.empty()) continue;
        combo->setItemData(combo->count() - 1, QString::fromStdString(value.full), Qt::ToolTipRole);
      }
    }
    combo->setCurrentIndex(state.current);
    combo->setEnabled(wanted.size() > 1);
    combo->parentWidget()->setVisible(wanted.size() > 1 || filter_.fields()[f]->always_shown);
  }
}

}  // namespace attnscope::ui
