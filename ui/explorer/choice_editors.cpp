// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/explorer/choice_editors.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QGridLayout>
#include <QLineEdit>
#include <QSignalBlocker>
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "messages/common.h"
#include "messages/explorer.h"
#include "messages/explorer_page.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

constexpr int label_column = 0;
constexpr int slider_column = 1;
constexpr int input_column = 2;
constexpr int kib = 1024;
constexpr int largest_int = std::numeric_limits<int>::max();

/// What is usual of a field: what its slider offers, and how far a click of the spin box goes. Fields without a line
/// have round numbers of their whole range.
struct Scale {
  std::string_view field;
  int least;
  int most;
  int step;
  bool multiples;  ///< the slider has every step; else round numbers, whole multiples of the step where they are long
};
constexpr std::array scales{Scale{"n_q", 1, 1 << 20, 16, false},
                            Scale{"n_k", 1, 1 << 20, 16, false},
                            Scale{"d", 16, 256, 16, true},
                            Scale{"br", 16, analysis::most_tile_side, 16, true},
                            Scale{"bc", 16, analysis::most_tile_side, 16, true},
                            Scale{"batch", 1, 1024, 1, false},
                            Scale{"heads_q", 1, 1024, 1, false},
                            Scale{"heads_kv", 1, 1024, 1, false}};

std::vector<int> stops_of(const Scale& scale) {
  if (!scale.multiples) return round_stops(scale.least, scale.most);
  std::vector<int> stops;
  for (int value = scale.least; value <= scale.most; value += scale.step) stops.push_back(value);
  return stops;
}

/// Words that a field takes; those of a mask are endless, and these a beginning.
QStringList words_of(const Field& field) {
  QStringList words;
  if (field.name == "dtype") {
    for (const DTypeTrait& trait : dtype_traits) words << to_qstring(trait.word);
  } else if (field.name == "pass") {
    for (const Pass pass : {Pass::fwd, Pass::bwd, Pass::fwd_bwd}) words << to_qstring(to_string(pass));
  } else if (field.name == "cache") {
    for (const CacheState state : {CacheState::cold, CacheState::warm}) words << to_qstring(to_string(state));
  } else if (field.name == "mask") {
    for (const char* mask : {"full", "causal", "window:1024:0", "window:256:256", "lengths:ramp", "causal+lengths:ramp",
                             "blocks:128:butterfly", "blocks:128:stride4", "blocks:256:random25"}) {
      words << QString::fromLatin1(mask);
    }
  }
  return words;
}

int to_int(std::int64_t value) {
  return static_cast<int>(std::clamp<std::int64_t>(value, 0, largest_int));
}

}  // namespace

ChoiceEditors::ChoiceEditors(QWidget* parent) : QWidget(parent) {
  grid_ = new QGridLayout(this);
  grid_->setContentsMargins(0, 0, 4, 0);
  grid_->setHorizontalSpacing(6);
  grid_->setVerticalSpacing(4);
  grid_->setColumnStretch(slider_column, 1);
  // The tile first: it is what the page is about.
  for (const char* name : {"br", "bc"}) add_field(*find_field(name));
  add_m();
  for (const Knob& knob : built_in_algorithms().knobs()) add_knob(knob);
  for (const char* name : {"n_k", "n_q", "d"}) add_field(*find_field(name));
  for (const Field& field : point_fields()) {
    const QString name = to_qstring(field.name);
    if (field.name != "algorithm" && !rows_.contains(name)) add_field(field);
  }
  add_padding();
  add_what_if();
  grid_->setRowStretch(grid_->rowCount(), 1);
}

ChoiceEditors::Row& ChoiceEditors::add_row(const QString& name, const QString& label, const QString& help,
                                           std::vector<QWidget*> widgets) {
  const int place = grid_->rowCount();
  Row row;
  row.label = new QLabel(label, this);
  row.label->setToolTip(plain_tip(help));
  row.widgets = std::move(widgets);
  grid_->addWidget(row.label, place, label_column);
  if (row.widgets.size() == 1) {
    grid_->addWidget(row.widgets[0], place, slider_column, 1, 2);
  } else {
    grid_->addWidget(row.widgets[0], place, slider_column);
    grid_->addWidget(row.widgets[1], place, input_column);
  }
  row.label->setBuddy(row.widgets.back());
  for (QWidget* widget : row.widgets) {
    widget->setAccessibleName(label);
    widget->setToolTip(plain_tip(help));
  }
  row.error = new QLabel(this);
  row.error->setWordWrap(true);
  row.error->setTextFormat(Qt::PlainText);
  row.error->hide();
  grid_->addWidget(row.error, place + 1, label_column, 1, 3);
  return rows_.insert_or_assign(name, std::move(row)).first->second;
}

void ChoiceEditors::tell(const QString& name, const QString& text, bool sliding) {
  if (!sliding) ++gesture_;
  emit edited(name, text, gesture_);
}

NumberEditor* ChoiceEditors::add_number(const QString& name, const QString& label, const QString& help, int least,
                                        int most, int step, std::vector<int> stops, int factor) {
  auto* editor = new NumberEditor(name, least, most, step, std::move(stops), this);
  editor->slider()->setMinimumWidth(56);
  connect(editor, &NumberEditor::chosen, this, [this, name, factor](int value, bool sliding) {
    tell(name, QString::number(qint64{value} * factor), sliding);
  });
  connect(editor, &NumberEditor::released, this, [this] { ++gesture_; });
  add_row(name, label, help, {editor->slider(), editor->spin()});
  return editor;
}

QComboBox* ChoiceEditors::add_words(const QString& name, const QString& label, const QString& help,
                                    const QStringList& words, bool free) {
  auto* combo = new QComboBox(this);
  combo->setObjectName(name);
  combo->addItems(words);
  combo->setEditable(free);
  combo->setInsertPolicy(QComboBox::NoInsert);
  combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  combo->setMinimumContentsLength(8);
  leave_wheel_to_page(combo);
  if (free) {
    connect(combo->lineEdit(), &QLineEdit::editingFinished, this,
            [this, name, combo] { tell(name, combo->currentText().trimmed(), false); });
  }
  connect(combo, &QComboBox::activated, this, [this, name, combo] { tell(name, combo->currentText(), false); });
  add_row(name, label, help, {combo});
  return combo;
}

void ChoiceEditors::add_field(const Field& field) {
  const QString name = to_qstring(field.name);
  const QString label = qtext(field.label());
  const QString help = qtext(field.help());
  const Field* of = &field;
  switch (field.type) {
    case FieldType::integer: {
      const auto known = std::ranges::find(scales, field.name, &Scale::field);
      const Scale whole{field.name, to_int(field.smallest), to_int(field.largest), 1, false};
      const Scale& scale = known == scales.end() ? whole : *known;
      NumberEditor* editor =
          add_number(name, label, help, to_int(field.smallest), to_int(field.largest), scale.step, stops_of(scale));
      rows_[name].show = [this, editor, of](const ExplorerChoices& choices) {
        if (of->name == "n_k") {
          // Of a square problem n_q goes with it, and both are N.
          const AttentionProblem& problem = choices.point.spec.problem;
          const bool square = problem.n_q == problem.n_k;
          const QString words = square ? qtext(say::explorer_page::n{}) : qtext(of->label());
          const QString tip = plain_tip(square ? qtext(say::explorer_page::n_help{}) : qtext(of->help()));
          const Row& row = rows_[QStringLiteral("n_k")];
          row.label->setText(words);
          row.label->setToolTip(tip);
          for (QWidget* widget : row.widgets) {
            widget->setAccessibleName(words);
            widget->setToolTip(tip);
          }
        }
        if (of->name == "d") {
          // Those that the algorithm is written for.
          const auto& dims = built_in_algorithms().find(choices.point.spec.algorithm)->facts().head_dims;
          if (!dims.empty()) editor->set_stops(dims);
        }
        editor->show_value(to_int(std::get<std::int64_t>(of->get(choices.point.spec))));
      };
      break;
    }
    case FieldType::real: {
      auto* spin = new QDoubleSpinBox(this);
      spin->setObjectName(name);
      spin->setRange(0, 0.99);
      spin->setSingleStep(0.05);
      spin->setDecimals(2);
      spin->setKeyboardTracking(false);
      leave_wheel_to_page(spin);
      connect(spin, &QDoubleSpinBox::valueChanged, this,
              [this, name](double value) { tell(name, QString::number(value, 'g', 6), false); });
      add_row(name, label, help, {spin}).show = [spin, of](const ExplorerChoices& choices) {
        const QSignalBlocker quiet(spin);
        spin->setValue(std::get<double>(of->get(choices.point.spec)));
      };
      break;
    }
    case FieldType::flag: {
      auto* box = new QCheckBox(this);
      box->setObjectName(name);
      connect(box, &QCheckBox::clicked, this,
              [this, name](bool on) { tell(name, on ? QStringLiteral("yes") : QStringLiteral("no"), false); });
      add_row(name, label, help, {box}).show = [box, of](const ExplorerChoices& choices) {
        box->setChecked(std::get<bool>(of->get(choices.point.spec)));
      };
      break;
    }
    case FieldType::word: {
      const QStringList words = words_of(field);
      QComboBox* combo = add_words(name, label, help, words, field.name == "mask" || words.isEmpty());
      rows_[name].show = [combo, of](const ExplorerChoices& choices) {
        QString text = QString::fromStdString(field_text(*of, choices.point.spec));
        if (of->name == "mask" && text == QLatin1String("none")) text = QStringLiteral("full");  // as people read it
        combo->setCurrentIndex(combo->findText(text));
        if (combo->isEditable()) combo->setEditText(text);
      };
      break;
    }
  }
}

void ChoiceEditors::add_knob(const Knob& knob) {
  const QString name = QString::fromStdString(knob.name);
  const QString label = qtext(knob.label);
  const QString help = qtext(knob.meaning);
  if (!knob.words.empty()) {
    QStringList words;
    for (const std::string& word : knob.words) words << QString::fromStdString(word);
    QComboBox* combo = add_words(name, label, help, words, false);
    rows_[name].show = [combo, of = &knob](const ExplorerChoices& choices) {
      combo->setCurrentIndex(combo->findText(QString::fromStdString(knob_text(*of, choices.point.spec.knobs))));
    };
    return;
  }
  constexpr int all_of_it = 16;
  const int most = to_int(knob.largest);
  std::vector<int> stops{0};
  for (const int stop : round_stops(1, most)) stops.push_back(stop);
  if (most <= all_of_it) stops = stops_of({knob.name, 0, most, 1, true});
  NumberEditor* editor = add_number(name, label, help, 0, most, 1, std::move(stops));
  editor->spin()->setSpecialValueText(qtext(say::common::chosen{}));
  rows_[name].show = [editor, of = &knob](const ExplorerChoices& choices) {
    editor->show_value(to_int(choices.point.spec.knobs.number(of->name)));
  };
}

void ChoiceEditors::add_m() {
  const QString name = QStringLiteral("m");
  const int most = to_int(known_gpus().front().shared_bytes_per_block / kib);
  std::vector<int> stops;
  for (int value = 0; value <= most; ++value) stops.push_back(value);
  NumberEditor* editor = add_number(name, qtext(say::explorer_page::m{}), qtext(say::explorer_page::m_help{}), 0, most,
                                    1, std::move(stops), kib);
  editor->spin()->setSuffix(QStringLiteral(" KiB"));
  editor->spin()->setSpecialValueText(qtext(say::explorer_page::m_off{}));
  rows_[name].show = [editor](const ExplorerChoices& choices) {
    const int largest = to_int(limits_of(choices).shared_bytes_per_block / kib);
    std::vector<int> offered;
    for (int value = 0; value <= largest; ++value) offered.push_back(value);
    editor->set_range(0, largest);
    editor->set_stops(std::move(offered));
    editor->show_value(to_int(choices.m_bytes.value_or(0) / kib));
  };
  rule_words_ = new QLabel(this);
  rule_words_->setWordWrap(true);
  rule_words_->setTextFormat(Qt::PlainText);
  rule_words_->setObjectName(QStringLiteral("rule"));
  rule_words_->hide();
  grid_->addWidget(rule_words_, grid_->rowCount(), label_column, 1, 3);
}

void ChoiceEditors::add_padding() {
  const QString name = QStringLiteral("padding");
  const int most = to_int(known_gpus().front().shared_bytes_per_block / kib);
  std::vector<int> stops;
  for (int value = 0; value <= most; ++value) stops.push_back(value);
  NumberEditor* editor = add_number(name, qtext(say::explorer::padding{}), qtext(say::explorer_page::padding_help{}), 0,
                                    most, 1, std::move(stops), kib);
  editor->spin()->setSuffix(QStringLiteral(" KiB"));
  rows_[name].show = [editor](const ExplorerChoices& choices) {
    editor->show_value(to_int(choices.point.padding_bytes / kib));
  };
}

void ChoiceEditors::add_what_if() {
  // Percent, for the editors hold whole numbers: 200 doubles it.
  constexpr int percent = 100;
  const std::vector<int> stops{50, 75, 100, 125, 150, 200, 250, 300, 400};
  const std::array words{
      std::pair(qtext(say::explorer_page::what_if_shared{}), qtext(say::explorer_page::what_if_shared_help{})),
      std::pair(qtext(say::explorer_page::what_if_l2{}), qtext(say::explorer_page::what_if_l2_help{})),
      std::pair(qtext(say::explorer_page::what_if_dram{}), qtext(say::explorer_page::what_if_dram_help{}))};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const WhatIfChoice& choice = what_if_choices()[i];
    const QString name = to_qstring(choice.name);
    NumberEditor* editor = add_number(name, words[i].first, words[i].second, qRound(percent * least_what_if),
                                      qRound(percent * most_what_if), 25, stops);
    editor->spin()->setSuffix(QStringLiteral(" %"));
    rows_[name].show = [editor, factor = choice.factor](const ExplorerChoices& choices) {
      editor->show_value(qRound(percent * choices.what_if.*factor));
    };
  }
}

void ChoiceEditors::show_choices(const ExplorerChoices& choices) {
  const auto& stated = built_in_algorithms().find(choices.point.spec.algorithm)->facts().knobs;
  for (auto& [name, row] : rows_) {
    const std::string plain = name.toStdString();
    const bool foreign = built_in_algorithms().find_knob(plain) != nullptr &&
                         std::ranges::find(stated, plain, &Knob::name) == stated.end();
    if (row.label->isHidden() != foreign) {
      row.label->setVisible(!foreign);
      for (QWidget* widget : row.widgets) widget->setVisible(!foreign);
    }
    row.show(choices);
    if (!row.error->isHidden()) row.error->hide();
  }
}

void ChoiceEditors::show_rule_words(const QString& words) {
  if (rule_words_->text() != words) rule_words_->setText(words);
  rule_words_->setVisible(!words.isEmpty());
}

QString ChoiceEditors::rule_words() const {
  return rule_words_->isHidden() ? QString() : rule_words_->text();
}

void ChoiceEditors::show_error(const QString& name, const QString& why) {
  const auto row = rows_.find(name);
  if (row == rows_.end()) return;
  row->second.error->setText(why);
  row->second.error->setVisible(!why.isEmpty());
}

QString ChoiceEditors::error(const QString& name) const {
  const auto row = rows_.find(name);
  return row == rows_.end() || row->second.error->isHidden() ? QString() : row->second.error->text();
}

}  // namespace attnscope::ui
