// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/facet_bar.h"

#include <QCoreApplication>
#include <algorithm>
#include <set>

#include "messages/page.h"
#include "ui/models/curve_series.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/widgets/flow_layout.h"
#include "ui/widgets/persistent_menu.h"

namespace attnscope::ui {

namespace {

QString key_of(const analysis::Facet& facet) {
  return QString::fromStdString(facet.key);
}

}  // namespace

FacetBar::FacetBar(ProblemFilter& filter, QWidget* parent)
    : QWidget(parent),
      filter_(filter),
      flow_(new FlowLayout(this, 6)),
      toggles_(new Toggles(this)),
      more_(new FacetChip({}, qtext(msg::page::options_help{}), new PersistentMenu, this)) {
  more_->setObjectName(QStringLiteral("plot-options"));
  more_->setAccessibleName(qtext(msg::page::options{}));
  more_->hide_label();
  more_->set_texts({qtext(msg::page::options{})});
  more_->show_text(qtext(msg::page::options{}));
  more_->hide();
  connect(more_->menu(), &QMenu::aboutToShow, this, &FacetBar::fill_options_menu);
  flow_->addWidget(more_);
  add_filter_chips();
}

void FacetBar::add_leading_chip(FacetChip* chip) {
  flow_->insert_widget(static_cast<int>(leading_chips_.size()), chip);
  leading_chips_.push_back(chip);
}

void FacetBar::add_filter_chips() {
  for (std::size_t f = chips_.size(); f < filter_.facets().size(); ++f) {
    const analysis::Facet& facet = *filter_.facets()[f];
    auto* chip = new FacetChip(qtext(facet.label), qtext(facet.help), this);
    flow_->insert_widget(static_cast<int>(leading_chips_.size() + f), chip);
    chips_.push_back(chip);
    connect(chip, &FacetChip::picked, this, [this, f](const QString& id) {
      filter_.choose(f, id.toStdString());
      emit chosen();
    });
  }
}

void FacetBar::schedule_fold() {
  QCoreApplication::postEvent(this, new QEvent(QEvent::LayoutRequest));
}

bool FacetBar::event(QEvent* event) {
  const bool done = QWidget::event(event);
  if (event->type() == QEvent::LayoutRequest) fold();
  return done;
}

void FacetBar::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  schedule_fold();
}

void FacetBar::fold() {
  std::set<const QWidget*> folded(options_.begin(), options_.end());
  const bool has_options = std::ranges::any_of(options_, &FacetChip::is_set_visible) ||
                           std::ranges::any_of(toggles_->all(), &QAction::isVisible);
  const auto offers = [&] { return has_options || folded.size() > options_.size(); };
  const auto rows = [&] {
    QList<int> widths;
    for (int i = 0; i < flow_->count(); ++i) {
      QWidget* widget = flow_->itemAt(i)->widget();
      const auto* chip = qobject_cast<FacetChip*>(widget);
      const bool there = widget == more_ ? offers() : chip->is_set_visible();
      if (there && !folded.contains(widget)) widths << widget->sizeHint().width();
    }
    return flow_->rows_of(widths, width());
  };
  for (const std::vector<FacetChip*>* of : {&chips_, &own_}) {
    for (auto chip = of->rbegin(); chip != of->rend() && rows() > 1; ++chip) {
      if ((*chip)->is_set_visible()) folded.insert(*chip);
    }
  }
  for (const std::vector<FacetChip*>* of : {&chips_, &own_}) {
    for (FacetChip* chip : *of) chip->set_folded(folded.contains(chip));
  }
  more_->setVisible(offers());
  for (int i = 1; i < flow_->count(); ++i) setTabOrder(flow_->itemAt(i - 1)->widget(), flow_->itemAt(i)->widget());
}

void FacetBar::fill_options_menu() {
  // Submenus belong to the chips and switches to the bar, so clear() only removes their entries.
  QMenu& menu = *more_->menu();
  menu.clear();
  menu.addActions(toggles_->all());
  for (const std::vector<FacetChip*>* of : {&options_, &own_, &chips_}) {
    menu.addSeparator();
    for (FacetChip* chip : *of) {
      if (!chip->is_folded() || !chip->is_set_visible()) continue;
      QAction* entry = menu.addMenu(chip->menu());
      entry->setText(chip->text());
      entry->setEnabled(chip->isEnabled());
    }
  }
}

QJsonObject FacetBar::state() const {
  QJsonObject state;
  for (std::size_t f = 0; f < filter_.facets().size(); ++f) {
    const std::string& chosen = filter_.chosen(f);
    if (chosen.empty()) continue;
    const QString key = key_of(*filter_.facets()[f]);
    const auto visited = visited_.find(key);
    if (visited == visited_.end() || visited->second != chosen) {
      state[key] = QString::fromStdString(chosen);
    } else if (before_visit_.contains(key)) {
      state[key] = before_visit_[key];
    }
  }
  return state;
}

void FacetBar::reset() {
  visited_.clear();
  filter_.reset();
}

void FacetBar::restore(const QJsonObject& state) {
  for (std::size_t f = 0; f < filter_.facets().size(); ++f) {
    const QJsonValue value = state[key_of(*filter_.facets()[f])];
    if (value.isString()) filter_.restore(f, value.toString().toStdString());
  }
}

void FacetBar::keep_choices() {
  visited_.clear();
  for (std::size_t f = 0; f < filter_.facets().size(); ++f) {
    if (!filter_.is_active(f) || !filter_.state(f).has_value()) continue;
    const std::string id = filter_.state(f).value().id();
    filter_.choose(f, id);
  }
}

void FacetBar::choose_problem(const analysis::PointTable& table, analysis::Row row) {
  before_visit_ = state();
  visited_.clear();
  for (std::size_t f = 0; f < filter_.facets().size(); ++f) {
    if (!filter_.is_active(f)) continue;
    const analysis::CodeColumn& column = table.codes(*filter_.facets()[f]);
    const std::string& id = column.values[column.codes[row]].id();
    if (filter_.state(f).has_value() && filter_.state(f).value().id() == id) continue;
    visited_[key_of(*filter_.facets()[f])] = id;
    filter_.choose(f, id);
  }
}

QString FacetBar::text_of(const std::vector<std::pair<std::size_t, analysis::FacetValue>>& values) const {
  QStringList words;
  for (const auto& [f, value] : values) {
    const analysis::Facet& facet = *filter_.facets()[f];
    const QString text = facet_value_text(facet, value);
    // A word needs no label.
    const bool number = !text.isEmpty() && text.front().isDigit();
    words << (number || facet.quiet ? lowercase_label(qtext(facet.label)) + QLatin1Char(' ') + text : text);
  }
  return words.join(QStringLiteral(", "));
}

QString FacetBar::text_of_choices() const {
  std::vector<std::pair<std::size_t, analysis::FacetValue>> values;
  for (std::size_t f = 0; f < filter_.facets().size(); ++f) {
    const ProblemFilter::State& state = filter_.state(f);
    const analysis::Facet& facet = *filter_.facets()[f];
    if (!state.has_value() || !chips_[f]->is_set_visible()) continue;
    if (!facet.quiet || state.value().text != facet.usual) values.emplace_back(f, state.value());
  }
  return text_of(values);
}

FacetBar::Values FacetBar::values_of(const ProblemFilter& filter, const analysis::PointTable& table,
                                     const std::vector<Row>& rows) {
  Values values;
  for (const analysis::FacetPtr& facet : filter.facets()) {
    const analysis::CodeColumn& column = table.codes(*facet);
    std::vector<bool> there(column.values.size());
    for (const Row row : rows) there[column.codes[row]] = true;
    std::vector<Option>& of_facet = values.emplace_back();
    for (std::size_t code = 0; code < there.size(); ++code) {
      const analysis::FacetValue& value = column.values[code];
      if (!there[code]) continue;
      of_facet.push_back({.text = facet_value_text(*facet, value),
                          .id = QString::fromStdString(value.id()),
                          .full = QString::fromStdString(value.full)});
    }
  }
  return values;
}

FacetChip* FacetBar::add_chip(IdChoice& choice, const Message& label, const Message& help) {
  return insert(choice.attach_editor(new FacetChip(qtext(label), qtext(help), this)));
}

FacetChip* FacetBar::add_switch(IdChoice& choice, const Message& label, const Message& help) {
  return insert(choice.attach_editor(new SegmentedChip(qtext(label), qtext(help), this)));
}

FacetChip* FacetBar::insert(FacetChip* chip) {
  flow_->insert_widget(flow_->indexOf(more_), chip);
  own_.push_back(chip);
  return chip;
}

FacetChip* FacetBar::add_option(IdChoice& choice, const Message& label, const Message& help) {
  FacetChip* chip = choice.attach_editor(new FacetChip(qtext(label), qtext(help), this));
  chip->set_folded(true);
  options_.push_back(chip);
  return chip;
}

void FacetBar::refresh(const Values& values) {
  add_filter_chips();
  for (std::size_t f = 0; f < chips_.size(); ++f) {
    const ProblemFilter::State& state = filter_.state(f);
    std::vector<Option> options = values[f];
    const QString chosen = state.has_value() ? QString::fromStdString(state.value().id()) : QString();
    if (state.has_value() && std::ranges::find(options, chosen, &Option::id) == options.end()) {
      options.push_back({.text = facet_value_text(*filter_.facets()[f], state.value()), .id = chosen});
    }
    chips_[f]->setVisible(filter_.is_active(f) &&
                          (options.size() > 1 || (options.size() == 1 && filter_.facets()[f]->always_shown)));
    std::set<QString> available;
    for (const analysis::FacetValue& value : state.options) available.insert(QString::fromStdString(value.id()));
    for (Option& option : options) option.available = available.contains(option.id);
    const auto current = std::ranges::find(options, chosen, &Option::id);
    const int place = state.has_value() ? static_cast<int>(current - options.begin()) : -1;
    chips_[f]->show_options(options, place);
    chips_[f]->set_automatic(state.has_value() && filter_.chosen(f).empty());
  }
  schedule_fold();  // The options may change the chip's width.
}

}  // namespace attnscope::ui
