// SPDX-License-Identifier: GPL-3.0-or-later
// Builds the widgets of the explorer page.
#include <QHBoxLayout>
#include <QScrollBar>
#include <QTimer>
#include <array>
#include <utility>

#include "kernels/registry.h"
#include "messages/explorer.h"
#include "messages/explorer_page.h"
#include "messages/field.h"
#include "ui/models/result_model.h"
#include "ui/pages/explorer/cards.h"
#include "ui/pages/explorer/choice_editors.h"
#include "ui/pages/explorer/explorer_page.h"
#include "ui/pages/explorer/measurement_card.h"
#include "ui/pages/explorer/on_chip_map.h"
#include "ui/pages/explorer/operand_bars.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/flow_layout.h"

namespace attnscope::ui {

void ExplorerPage::build_bar() {
  auto* bar = new QWidget(this);
  auto* flow = new FlowLayout(bar);
  const auto combo = [&](const QString& name, const QString& label, const QString& help) {
    auto* box = new QWidget(bar);
    auto* line = new QHBoxLayout(box);
    line->setContentsMargins(0, 0, 0, 0);
    auto* title = new QLabel(label, box);
    auto* choice = new QComboBox(box);
    choice->setObjectName(name);
    choice->setAccessibleName(label);
    choice->setToolTip(plain_tooltip(help));
    title->setBuddy(choice);
    line->addWidget(title);
    line->addWidget(choice);
    flow->addWidget(box);
    return choice;
  };
  algorithm_ =
      combo(QStringLiteral("algorithm"), qtext(msg::field::algorithm{}), qtext(msg::explorer_page::algorithm_help{}));
  update_algorithm_list();
  device_ = combo(QStringLiteral("device"), qtext(msg::explorer::device{}), qtext(msg::explorer_page::device_help{}));
  update_device_list();
  connect(algorithm_, &QComboBox::activated, this,
          [this] { edit(QStringLiteral("algorithm"), algorithm_->currentData().toString(), -1); });
  connect(device_, &QComboBox::activated, this, [this] { edit(QStringLiteral("device"), device_->currentText(), -1); });

  const auto button = [&](const QString& name, const QString& text, const QString& help) {
    auto* made = new QPushButton(text, bar);
    made->setObjectName(name);
    made->setToolTip(plain_tooltip(help));
    flow->addWidget(made);
    return made;
  };
  QPushButton* open_file = button(QStringLiteral("open-gpu"), qtext(msg::explorer_page::open_gpu{}),
                                  qtext(msg::explorer_page::open_gpu_help{}));
  connect(open_file, &QPushButton::clicked, this, &ExplorerPage::choose_gpu_file);
  QPushButton* best = button(QStringLiteral("default-tile"), qtext(msg::explorer_page::default_tile{}),
                             qtext(msg::explorer_page::default_tile_help{}));
  connect(best, &QPushButton::clicked, this, &ExplorerPage::choose_default_tile);
  pin_button_ = button(QStringLiteral("pin"), qtext(msg::explorer_page::pin{}), qtext(msg::explorer_page::pin_help{}));
  connect(pin_button_, &QPushButton::clicked, this, &ExplorerPage::pin);
  // Short text instead of icons, for screen readers.
  QAction* undo = undo_.createUndoAction(this, qtext(msg::explorer_page::undo{}));
  undo->setShortcut(QKeySequence::Undo);
  QAction* redo = undo_.createRedoAction(this, qtext(msg::explorer_page::redo{}));
  redo->setShortcut(QKeySequence::Redo);
  const std::array actions{std::pair(undo, qtext(msg::explorer_page::undo{})),
                           std::pair(redo, qtext(msg::explorer_page::redo{}))};
  for (const auto& [action, text] : actions) {
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    addAction(action);
    QPushButton* made = button(action == undo ? QStringLiteral("undo") : QStringLiteral("redo"), text, text);
    made->setEnabled(action->isEnabled());
    connect(action, &QAction::changed, made, [made, action = action] {
      made->setEnabled(action->isEnabled());
      made->setToolTip(plain_tooltip(action->text()));
    });
    connect(made, &QPushButton::clicked, action, &QAction::trigger);
  }
  // Optional buttons come last, so that no other control moves.
  unpin_button_ = button(QStringLiteral("unpin"), QStringLiteral("A ✕"), {});
  connect(unpin_button_, &QPushButton::clicked, this, &ExplorerPage::unpin);
  layout()->addWidget(bar);
}

void ExplorerPage::build_verdict() {
  auto* line = new QWidget(this);
  auto* row = new QHBoxLayout(line);
  row->setContentsMargins(0, 0, 0, 0);
  // A single line, so that nothing below moves while a slider is dragged.
  verdict_ = new ElidedLabel(line);
  verdict_->setObjectName(QStringLiteral("verdict"));
  verdict_->setTextFormat(Qt::PlainText);
  row->addWidget(verdict_, 1);
  const auto button = [&](const QString& name, const QString& help) {
    auto* made = new QPushButton(line);
    made->setObjectName(name);
    made->setToolTip(plain_tooltip(help));
    made->hide();
    row->addWidget(made);
    return made;
  };
  nearest_button_ = button(QStringLiteral("nearest"), qtext(msg::explorer_page::nearest_help{}));
  connect(nearest_button_, &QPushButton::clicked, this, &ExplorerPage::choose_nearest_tile);
  fastest_button_ = button(QStringLiteral("fastest"), qtext(msg::explorer_page::fastest_help{}));
  connect(fastest_button_, &QPushButton::clicked, this, &ExplorerPage::choose_fastest_tile);
  layout()->addWidget(line);
}

void ExplorerPage::update_algorithm_list() {
  const QSignalBlocker quiet(algorithm_);
  for (const Algorithm* algorithm : known_algorithms().algorithms()) {
    const QString name = QString::fromStdString(algorithm->name());
    if (algorithm_->findData(name) < 0) algorithm_->addItem(to_qstring(algorithm->facts().title), name);
  }
}

void ExplorerPage::build_editors() {
  auto* now = new ChoiceEditors(editor_area_);
  if (editors_ != nullptr) {
    now->set_more(editors_->shows_more_of_problem(), editors_->shows_more_of_tile());
    delete editors_;
  }
  editors_ = now;
  editor_area_->layout()->addWidget(editors_);
  connect(editors_, &ChoiceEditors::edited, this, &ExplorerPage::edit);
  editor_knob_count_ = known_algorithms().knobs().size();
}

void ExplorerPage::add_new_kernels() {
  update_algorithm_list();
  if (known_algorithms().knobs().size() != editor_knob_count_) build_editors();
}

void ExplorerPage::build_cards() {
  kernel_ = new QComboBox();
  kernel_->setObjectName(QStringLiteral("kernel"));
  kernel_->setAccessibleName(qtext(msg::explorer_page::kernel{}));
  kernel_->setToolTip(plain_tooltip(qtext(msg::explorer_page::kernel_help{})));
  connect(kernel_, &QComboBox::activated, this, &ExplorerPage::show_kernel);
  occupancy_ = card_label(nullptr, QStringLiteral("occupancy"));
  on_chip_ = new OnChipMap();
  unit_bars_ = new UnitBars();
  figures_ = new ResultModel(this);
  operands_ = new ResultModel(this);
  figures_view_ = new FittedTable(figures_, qtext(msg::explorer_page::figures{}));
  measuring_ = new MeasurementCard(shared_measurer(workspace_));
  operands_view_ = new OperandBars(*operands_);

  auto* cards = new QWidget();
  auto* layout = new CardLayout(cards, card_width, max_columns, 8);
  layout->addWidget(card(card_title(qtext(msg::explorer_page::on_chip{})), {kernel_, occupancy_, on_chip_}));
  time_title_ = card_title(qtext(msg::explorer_page::predicted_time{}));
  figures_title_ = card_title(qtext(msg::explorer_page::figures{}), qtext(msg::explorer_page::figures_help{}));
  const CardTitle of_operands =
      card_title(qtext(msg::explorer_page::operands{}), qtext(msg::explorer_page::operands_help{}));
  result_cards_ = {card(time_title_, {unit_bars_}), card(of_operands, {operands_view_}),
                   card(figures_title_, {figures_view_})};
  for (QWidget* each : result_cards_) layout->addWidget(each);
  measured_card_ = card(card_title(qtext(msg::explorer_page::measured{})), {measuring_->table()});
  layout->addWidget(measured_card_);
  card_area_ = new QScrollArea(this);
  card_area_->setAccessibleName(qtext(msg::explorer_page::cards_name{}));
  card_area_->setWidget(cards);
  card_area_->setWidgetResizable(true);
  card_area_->setFrameShape(QFrame::NoFrame);
  card_area_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
}

void ExplorerPage::connect_measurement_card() {
  connect(measuring_, &MeasurementCard::measure_requested, this, &ExplorerPage::measure);
  connect(measuring_, &MeasurementCard::sweep_around_requested, this, &ExplorerPage::sweep_around);
  connect(measuring_, &MeasurementCard::map_requested, this, &ExplorerPage::map_requested);
  connect(measuring_, &MeasurementCard::changed, this, [this] {
    measured_card_->setVisible(measuring_->table()->model()->rowCount() > 0);
    show_recorded();
  });
  const auto show_result = [this] {
    // Heights are valid only after the pending layout events.
    QTimer::singleShot(0, this, [this] {
      if (scroll_to_result_) card_area_->ensureWidgetVisible(measuring_->table());
    });
  };
  connect(measuring_, &MeasurementCard::all_points_done, this, [this, show_result] {
    scroll_to_result_ = true;
    show_result();
  });
  // The file is read asynchronously; its data increases the height of the cards above.
  connect(card_area_->verticalScrollBar(), &QScrollBar::rangeChanged, this, show_result);
  connect(card_area_->verticalScrollBar(), &QScrollBar::actionTriggered, this, [this] { scroll_to_result_ = false; });
}

}  // namespace attnscope::ui
