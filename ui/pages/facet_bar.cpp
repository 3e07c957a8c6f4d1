// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/facet_bar.h"

#include <QCoreApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QToolButton>
#include <set>
#include <string>
#include <utility>

#include "messages/curve_page.h"
#include "ui/models/facet_words.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/widgets/flow_layout.h"

namespace attnscope::ui {
namespace {

constexpr int widest_combo = 190;  ///< a list may hold one very long value

QString key_of(const analysis::Facet& facet) {
  return QString::fromStdString(facet.key);
}

}  // namespace

FacetBar::FacetBar(ProblemFilter& filter, QWidget* parent)
    : QWidget(parent), filter_(filter), flow_(new FlowLayout(this, 6)), more_(new QToolButton(this)) {
  more_->setText(qtext(say::curve_page::more{}));
  more_->setToolTip(qtext(say::curve_page::more_help{}));
  more_->setPopupMode(QToolButton::InstantPopup);
  more_->setMenu(new QMenu(more_));
  more_->hide();
  connect(more_->menu(), &QMenu::aboutToShow, this, &FacetBar::fill_more);
  flow_->addWidget(more_);
  add_chips_of_filter();
}

void FacetBar::add_chips_of_filter() {
  for (std::size_t f = chips_.size(); f < filter_.facets().size(); ++f) {
    const analysis::Facet& facet = *filter_.facets()[f];
    auto* chip = new FacetChip(qtext(facet.label), qtext(facet.help), this);
    flow_->insert_widget(static_cast<int>(f), chip);
    chips_.push_back(chip);
    connect(chip, &FacetChip::picked, this, [this, f](const QString& id) {
      filter_.choose(f, id.toStdString());
      emit chosen();
    });
  }
}

void FacetBar::set_most_rows(int rows) {
  if (rows == most_rows_) return;
  most_rows_ = rows;
  fold_soon();
}

void FacetBar::fold_soon() {
  QCoreApplication::postEvent(this, new QEvent(QEvent::LayoutRequest));
}

bool FacetBar::event(QEvent* event) {
  const bool done = QWidget::event(event);
  if (event->type() == QEvent::LayoutRequest) fold();
  return done;
}

void FacetBar::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fold_soon();
}

void FacetBar::fold() {
  std::set<const QWidget*> folded;
  const auto rows = [&] {
    QList<int> widths;
    for (int i = 0; i < flow_->count(); ++i) {
      QWidget* widget = flow_->itemAt(i)->widget();
      const auto* chip = qobject_cast<FacetChip*>(widget);
      const bool there = widget == more_ ? !folded.empty() : chip != nullptr ? chip->wanted() : !widget->isHidden();
      if (there && !folded.contains(widget)) widths << widget->sizeHint().width();
    }
    return flow_->rows_of(widths, width());
  };
  for (const std::vector<FacetChip*>* of : {&chips_, &own_}) {
    for (auto chip = of->rbegin(); chip != of->rend() && most_rows_ > 0 && rows() > most_rows_; ++chip) {
      if ((*chip)->wanted()) folded.insert(*chip);
    }
  }
  for (const std::vector<FacetChip*>* of : {&chips_, &own_}) {
    for (FacetChip* chip : *of) chip->set_folded(folded.contains(chip));
  }
  more_->setVisible(!folded.empty());
}

void FacetBar::fill_more() {
  // The submenus are the chips' own: clear() takes their entries alone.
  more_->menu()->clear();
  for (const std::vector<FacetChip*>* of : {&chips_, &own_}) {
    for (FacetChip* chip : *of) {
      if (!chip->folded() || !chip->wanted()) continue;
      QAction* entry = more_->menu()->addMenu(chip->menu());
      entry->setText(chip->text());
      entry->setEnabled(chip->isEnabled());
    }
  }
}

ChoiceBox* FacetBar::add_combo(IdChoice& choice, const QString& name, const QString& help, int characters,
                               std::function<void(const QString&)> picked) {
  auto* pair = new QWidget(this);
  auto* row = new QHBoxLayout(pair);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(5);
  auto* label = new QLabel(name, pair);
  auto* combo = choice.edit_with(new ChoiceBox(pair), std::move(picked));
  combo->setSizeAdjustPolicy(characters > 0 ? QComboBox::AdjustToMinimumContentsLengthWithIcon
                                            : QComboBox::AdjustToContents);
  combo->setMinimumContentsLength(characters);
  combo->setMaximumWidth(widest_combo);
  combo->setToolTip(help);
  combo->setAccessibleName(name);
  label->setBuddy(combo);
  label->setToolTip(help);
  row->addWidget(label);
  row->addWidget(combo);
  flow_->insert_widget(flow_->indexOf(more_), pair);
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

FacetBar::Texts FacetBar::texts_of(const ProblemFilter& filter, const analysis::PointTable& table,
                                   const std::vector<Row>& rows) {
  Texts texts;
  for (const analysis::FacetPtr& facet : filter.facets()) {
    const analysis::CodeColumn& column = table.codes(*facet);
    std::vector<bool> there(column.values.size());
    for (const Row row : rows) there[column.codes[row]] = true;
    QStringList& of_facet = texts.emplace_back();
    for (std::size_t code = 0; code < there.size(); ++code) {
      if (there[code]) of_facet << value_words(*facet, column.values[code]);
    }
  }
  return texts;
}

FacetChip* FacetBar::add_chip(IdChoice& choice, const QString& label, const QString& help,
                              std::function<void(const QString&)> picked) {
  auto* chip = choice.edit_with(new FacetChip(label, help, this), std::move(picked));
  flow_->insert_widget(flow_->indexOf(more_), chip);
  own_.push_back(chip);
  return chip;
}

void FacetBar::refresh(const Texts& texts) {
  add_chips_of_filter();
  for (std::size_t f = 0; f < chips_.size(); ++f) {
    chips_[f]->set_texts(texts[f]);
    chips_[f]->setVisible(filter_.narrows(f) &&
                          (texts[f].size() > 1 || (texts[f].size() == 1 && filter_.facets()[f]->always_shown)));
    const ProblemFilter::State& state = filter_.state(f);
    std::vector<Option> options;
    for (const analysis::FacetValue& value : state.options) {
      options.push_back({.text = value_words(*filter_.facets()[f], value),
                         .id = QString::fromStdString(value.id()),
                         .full = QString::fromStdString(value.full)});
    }
    chips_[f]->offer(std::move(options), state.current);
  }
}

}  // namespace attnscope::ui
