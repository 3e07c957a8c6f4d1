// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/explorer/explorer_page.h"

#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>
#include <limits>
#include <utility>

#include "messages/common.h"
#include "messages/explorer.h"
#include "messages/explorer_page.h"
#include "ui/plots/plot_parts.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/widgets/elided_label.h"

namespace attnscope::ui {
namespace {

constexpr int slider_width = 120;
constexpr int cell_gap = 1;  ///< In addition to the spacing of the flow.
constexpr int kib = 1024;
constexpr int largest_int = std::numeric_limits<int>::max();

QString sentence(const Message& help) {
  QString words = qtext(help);
  if (!words.isEmpty()) words[0] = words[0].toUpper();
  return words;
}

int to_int(std::int64_t value) {
  return static_cast<int>(std::clamp<std::int64_t>(value, 0, largest_int));
}

std::vector<int> every(int step, int least, int most) {
  std::vector<int> stops;
  for (int value = least; value <= most; value += step) stops.push_back(value);
  return stops;
}

/// Returns round numbers over the whole range if the field has no usual values.
std::vector<int> default_stops(const Field& field) {
  constexpr int few = 16;
  const OfferedRange& offered = field.offered;
  if (field.role == FieldRole::knob && field.largest > few) {
    std::vector<int> stops{0};  // 0: the algorithm chooses.
    std::ranges::copy(slider_stops(1, to_int(field.largest)), std::back_inserter(stops));
    return stops;
  }
  const int least = offered.most > 0 ? offered.least : to_int(field.smallest);
  const int most = offered.most > 0 ? offered.most : to_int(field.largest);
  if (!offered.multiples && field.role != FieldRole::knob) return slider_stops(least, most);
  return every(offered.step, least, most);
}

/// Returns all values that the algorithm supports, if it declares them.
std::vector<int> declared_stops(const Field& field, const Facts& facts) {
  if (field.supported_values != nullptr) return field.supported_values(facts);
  const auto knob = std::ranges::find(facts.knobs, field.name, &Knob::name);
  if (knob == facts.knobs.end() || knob->values.empty()) return {};
  std::vector<int> stops{0};  // 0: the algorithm chooses.
  for (const std::int64_t value : knob->values) stops.push_back(to_int(value));
  std::ranges::sort(stops);
  return stops;
}

}  // namespace

ChoiceEditors::ChoiceEditors(QWidget* parent) : QWidget(parent) {
  build_groups();
  // In the order of the tab key.
  std::vector<const Field*> first;
  for (const Field& field : point_fields()) {
    if (field.first_in_editors) first.push_back(&field);
  }
  std::ranges::stable_sort(first, std::ranges::greater(), &Field::nesting);
  for (const Field* field : first) add_field(*field);
  folded_ = true;
  for (const Field& field : point_fields()) {
    if (field.role != FieldRole::algorithm && field.role != FieldRole::tile) add_field(field);
  }
  add_what_if();
  add_more(QStringLiteral("more-problem"), msg::explorer_page::more_problem{});
  group_ = Group::tile;
  folded_ = false;
  for (const Field& field : point_fields()) {
    if (field.role == FieldRole::tile) add_field(field);
  }
  folded_ = true;
  for (const Knob& knob : known_algorithms().knobs()) add_field(knob_field(knob));
  add_m();
  add_padding();
  add_more(QStringLiteral("more-tile"), msg::explorer_page::more_tile{});
  show_rows(nullptr);
}

void ChoiceEditors::build_groups() {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(4);
  const std::array titles{qtext(msg::explorer_page::problem_group{}), qtext(msg::explorer_page::tile_group{})};
  const QFont heading = bold(font());
  int widest = 0;
  for (const QString& title : titles) widest = std::max(widest, QFontMetrics(heading).horizontalAdvance(title));
  for (std::size_t i = 0; i < boxes_.size(); ++i) {
    auto* line = new QHBoxLayout();
    line->setSpacing(8);
    auto* title = new QLabel(titles[i], this);
    title->setFont(heading);
    title->setMinimumSize(widest, QSpinBox().sizeHint().height());
    line->addWidget(title, 0, Qt::AlignTop);
    auto* editors = new QWidget(this);
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    editors->setSizePolicy(policy);
    boxes_[i].flow = new FlowLayout(editors);
    line->addWidget(editors, 1);
    column->addLayout(line);
  }
  rule_label_ = new ElidedLabel(this);
  rule_label_->setTextFormat(Qt::PlainText);
  rule_label_->setObjectName(QStringLiteral("rule"));
  rule_label_->hide();
  column->addWidget(rule_label_);
}

void ChoiceEditors::add_more(const QString& name, const Message& accessible_name) {
  GroupBox& box = box_of(group_);
  box.more = new QToolButton(this);
  box.more->setObjectName(name);
  box.more->setAccessibleName(qtext(accessible_name));
  box.more->setCheckable(true);
  connect(box.more, &QToolButton::toggled, this, [this] { show_rows(nullptr); });
  box.flow->addWidget(box.more);
}

ChoiceEditors::Row& ChoiceEditors::add_row(const QString& name, const QString& label, const QString& help,
                                           std::vector<QWidget*> widgets) {
  Row row;
  row.group = group_;
  row.folded = folded_;
  row.widgets = std::move(widgets);
  row.cell = new QWidget(this);
  auto* column = new QVBoxLayout(row.cell);
  column->setContentsMargins(0, 0, cell_gap, 0);
  column->setSpacing(2);
  auto* line = new QHBoxLayout();
  line->setSpacing(4);
  row.label = new QLabel(label, row.cell);
  row.label->setToolTip(plain_tooltip(help));
  line->addWidget(row.label);
  for (QWidget* widget : row.widgets) line->addWidget(widget);
  column->addLayout(line);
  row.label->setBuddy(row.widgets.back());
  for (QWidget* widget : row.widgets) {
    widget->setAccessibleName(label);
    if (auto* combo = qobject_cast<QComboBox*>(widget); combo != nullptr && combo->isEditable()) {
      combo->lineEdit()->setAccessibleName(label);
    }
    widget->setToolTip(plain_tooltip(help));
  }
  row.error = new QLabel(row.cell);
  row.error->setObjectName(name + QStringLiteral("-error"));
  row.error->setWordWrap(true);
  row.error->setTextFormat(Qt::PlainText);
  row.error->hide();
  column->addWidget(row.error);
  box_of(group_).flow->addWidget(row.cell);
  return rows_.insert_or_assign(name, std::move(row)).first->second;
}

QJsonObject ChoiceEditors::shown_groups() const {
  return {{QStringLiteral("problem"), boxes_[0].more->isChecked()},
          {QStringLiteral("tile"), boxes_[1].more->isChecked()}};
}

void ChoiceEditors::show_groups(const QJsonObject& shown) {
  boxes_[0].more->setChecked(shown[QStringLiteral("problem")].toBool());
  boxes_[1].more->setChecked(shown[QStringLiteral("tile")].toBool());
}

void ChoiceEditors::show_rows(const ExplorerChoices* choices) {
  std::array<int, 2> changed{};
  for (auto& [name, row] : rows_) {
    const bool shown = row.applicable && (!row.folded || box_of(row.group).more->isChecked());
    if (row.cell->isHidden() == shown) row.cell->setVisible(shown);
    const bool counts = choices != nullptr && row.applicable && row.folded && row.is_changed;
    if (counts && row.is_changed(*choices)) ++changed[static_cast<std::size_t>(row.group)];
  }
  for (std::size_t i = 0; choices != nullptr && i < boxes_.size(); ++i) {
    const QString text = changed[i] == 0 ? qtext(msg::explorer_page::more{})
                                         : qtext(msg::explorer_page::more_set{.changed = changed[i]});
    boxes_[i].more->setText(text);
  }
}

void ChoiceEditors::emit_edited(const QString& name, const QString& text, bool sliding) {
  if (!sliding) ++gesture_;
  emit edited(name, text, gesture_);
}

NumberEditor* ChoiceEditors::add_number(const QString& name, const QString& label, const QString& help, int least,
                                        int most, int step, std::vector<int> stops, int factor) {
  auto* editor = new NumberEditor(name, least, most, step, std::move(stops), this);
  editor->slider()->setFixedWidth(slider_width);
  connect(editor, &NumberEditor::value_chosen, this, [this, name, factor](int value, bool sliding) {
    emit_edited(name, QString::number(qint64{value} * factor), sliding);
  });
  connect(editor, &NumberEditor::released, this, [this] { ++gesture_; });
  add_row(name, label, help, {editor->slider(), editor->spin()});
  return editor;
}

QComboBox* ChoiceEditors::add_combo_box(const QString& name, const QString& label, const QString& help,
                                        const QStringList& words, bool free) {
  auto* combo = new QComboBox(this);
  combo->setObjectName(name);
  combo->addItems(words);
  combo->setEditable(free);
  combo->setInsertPolicy(QComboBox::NoInsert);
  combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  combo->setMinimumContentsLength(6);
  ignore_unfocused_wheel(combo);
  if (free) {
    connect(combo->lineEdit(), &QLineEdit::editingFinished, this,
            [this, name, combo] { emit_edited(name, combo->currentText().trimmed(), false); });
  }
  connect(combo, &QComboBox::activated, this, [this, name, combo] { emit_edited(name, combo->currentText(), false); });
  add_row(name, label, help, {combo});
  return combo;
}

void ChoiceEditors::add_field(const Field& field) {
  const QString name = to_qstring(field.name);
  if (rows_.contains(name)) return;
  if (const Field* leader = find_field(field.follows)) add_field(*leader);
  const QString label = qtext(field.label());
  const QString help = sentence(field.help());
  switch (field.type) {
    case FieldType::integer:
      add_integer_editor(field);
      break;
    case FieldType::real:
      add_double_editor(field);
      break;
    case FieldType::flag: {
      auto* box = new QCheckBox(this);
      box->setObjectName(name);
      connect(box, &QCheckBox::clicked, this,
              [this, name](bool on) { emit_edited(name, on ? QStringLiteral("yes") : QStringLiteral("no"), false); });
      add_row(name, label, help, {box}).show = [box, field](const ExplorerChoices& choices) {
        box->setChecked(std::get<bool>(field.get(choices.point.spec)));
      };
      break;
    }
    case FieldType::word: {
      QStringList words;
      for (const std::string& word : field.words) words << QString::fromStdString(word);
      QComboBox* combo = add_combo_box(name, label, help, words, field.accepts_other_words || words.isEmpty());
      rows_[name].show = [combo, field](const ExplorerChoices& choices) {
        const QString text = QString::fromStdString(field_text(field, choices.point.spec));
        combo->setCurrentIndex(combo->findText(text));
        if (combo->isEditable()) combo->setEditText(text);
      };
      break;
    }
  }
  rows_[name].is_changed = [field, leader = find_field(field.follows)](const ExplorerChoices& choices) {
    static const PointSpec defaults = default_choices().point.spec;
    const PointSpec& spec = choices.point.spec;
    return field.get(spec) != (leader == nullptr ? field.get(defaults) : leader->get(spec));
  };
}

void ChoiceEditors::add_integer_editor(const Field& field) {
  const QString name = to_qstring(field.name);
  NumberEditor* editor = add_number(name, qtext(field.label()), sentence(field.help()), to_int(field.smallest),
                                    to_int(field.largest), field.offered.step, default_stops(field));
  if (field.role == FieldRole::knob) editor->spin()->setSpecialValueText(qtext(msg::common::chosen{}));
  const FieldPair* wide = field_pair_of(field.name);
  const bool renamed = wide != nullptr && wide->label != nullptr && wide->leader().name == field.name;
  rows_[name].show = [this, name, editor, field, usual = default_stops(field),
                      wide = renamed ? wide : nullptr](const ExplorerChoices& choices) {
    const PointSpec& spec = choices.point.spec;
    if (wide != nullptr) {
      // One editor changes both fields while they are equal.
      const bool both = wide->are_equal_in(spec);
      const QString words = qtext(both ? wide->label() : field.label());
      const QString tip = plain_tooltip(sentence(both ? wide->help() : field.help()));
      const Row& row = rows_[name];
      row.label->setText(words);
      row.label->setToolTip(tip);
      for (QWidget* widget : row.widgets) {
        widget->setAccessibleName(words);
        widget->setToolTip(tip);
      }
    }
    const std::vector<int> stated = declared_stops(field, known_algorithms().find(spec.algorithm)->facts());
    editor->set_stops(stated.empty() ? usual : stated, !stated.empty());
    editor->show_value(to_int(std::get<std::int64_t>(field.get(spec))));
  };
}

void ChoiceEditors::add_double_editor(const Field& field) {
  constexpr int decimals = 2;
  constexpr double last = 0.01;  // Keeps an exclusive upper bound out of reach.
  constexpr int steps = 20;
  const bool bounded = field.below > field.least;
  const QString name = to_qstring(field.name);
  auto* spin = new QDoubleSpinBox(this);
  spin->setObjectName(name);
  spin->setRange(field.least, bounded ? field.below - last : std::numeric_limits<double>::max());
  spin->setSingleStep(bounded ? (field.below - field.least) / steps : 1);
  spin->setDecimals(decimals);
  spin->setKeyboardTracking(false);
  ignore_unfocused_wheel(spin);
  connect(spin, &QDoubleSpinBox::valueChanged, this,
          [this, name](double value) { emit_edited(name, QString::number(value, 'g', 6), false); });
  const auto show = [spin, field](const ExplorerChoices& choices) {
    const QSignalBlocker quiet(spin);
    spin->setValue(std::get<double>(field.get(choices.point.spec)));
  };
  add_row(name, qtext(field.label()), sentence(field.help()), {spin}).show = show;
}

NumberEditor* ChoiceEditors::add_capacity(const QString& name, const Message& label, const Message& help) {
  const int most = to_int(known_gpus().front().shared_bytes_per_block / kib);
  NumberEditor* editor = add_number(name, qtext(label), qtext(help), 0, most, 1, every(1, 0, most), kib);
  editor->spin()->setSuffix(QStringLiteral(" KiB"));
  return editor;
}

void ChoiceEditors::add_m() {
  const QString name = QStringLiteral("m");
  NumberEditor* editor = add_capacity(name, msg::explorer_page::m{}, msg::explorer_page::m_help{});
  editor->spin()->setSpecialValueText(qtext(msg::explorer_page::m_off{}));
  rows_[name].show = [editor](const ExplorerChoices& choices) {
    const int largest = to_int(limits_of(choices).shared_bytes_per_block / kib);
    editor->set_range(0, largest);
    editor->set_stops(every(1, 0, largest));
    editor->show_value(to_int(choices.m_bytes.value_or(0) / kib));
  };
  rows_[name].is_changed = [](const ExplorerChoices& choices) { return choices.m_bytes.has_value(); };
}

void ChoiceEditors::add_padding() {
  const QString name = QStringLiteral("padding");
  NumberEditor* editor = add_capacity(name, msg::explorer::padding{}, msg::explorer_page::padding_help{});
  rows_[name].show = [editor](const ExplorerChoices& choices) {
    editor->show_value(to_int(choices.point.padding_bytes / kib));
  };
  rows_[name].is_changed = [](const ExplorerChoices& choices) { return choices.point.padding_bytes != 0; };
}

void ChoiceEditors::add_what_if() {
  // In percent, since the editors take integers: 200 doubles the rate.
  constexpr int percent = 100;
  const std::vector<int> stops{50, 75, 100, 125, 150, 200, 250, 300, 400};
  for (const WhatIfFactor& each : all_what_if_factors()) {
    const QString name = to_qstring(each.name);
    NumberEditor* editor = add_number(name, qtext(each.label()), qtext(each.help()), qRound(percent * min_what_if),
                                      qRound(percent * max_what_if), 25, stops);
    editor->spin()->setSuffix(QStringLiteral("%"));
    rows_[name].show = [editor, factor = each.factor](const ExplorerChoices& choices) {
      editor->show_value(qRound(percent * choices.what_if.*factor));
    };
    rows_[name].is_changed = [factor = each.factor](const ExplorerChoices& choices) {
      return choices.what_if.*factor != 1;
    };
  }
}

void ChoiceEditors::show_choices(const ExplorerChoices& choices) {
  const Facts& facts = known_algorithms().find(choices.point.spec.algorithm)->facts();
  for (auto& [name, row] : rows_) {
    const std::string plain = name.toStdString();
    const Field* field = find_field(plain);
    const bool is_other_knob = known_algorithms().find_knob(plain) != nullptr &&
                               std::ranges::find(facts.knobs, plain, &Knob::name) == facts.knobs.end();
    const bool sets_tile = name == QStringLiteral("m") || (field != nullptr && field->role == FieldRole::tile);
    row.applicable = !is_other_knob && (!sets_tile || facts.has_tile);
    row.show(choices);
    if (!row.error->isHidden()) row.error->hide();
  }
  show_rows(&choices);
}

void ChoiceEditors::show_rule_text(const QString& words) {
  rule_label_->setText(words);
  rule_label_->setToolTip(plain_tooltip(words));
  rule_label_->setVisible(!words.isEmpty());
}

void ChoiceEditors::show_error(const QString& name, const QString& why) {
  const auto row = rows_.find(name);
  if (row == rows_.end()) return;
  row->second.error->setText(why);
  row->second.error->setVisible(!why.isEmpty());
}

}  // namespace attnscope::ui
