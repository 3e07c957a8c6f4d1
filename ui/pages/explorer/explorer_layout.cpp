// SPDX-License-Identifier: GPL-3.0-or-later
// Builds the widgets of the explorer page.
#include <QHBoxLayout>

#include "kernels/tile_table.h"
#include "messages/explorer.h"
#include "messages/explorer_page.h"
#include "messages/field.h"
#include "ui/models/result_model.h"
#include "ui/pages/explorer/explorer_page.h"
#include "ui/pages/explorer/point_measurer.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/widgets/elided_label.h"

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
          [this] { edit(QStringLiteral("algorithm"), algorithm_->currentData().toString()); });
  connect(device_, &QComboBox::activated, this, [this] { edit(QStringLiteral("device"), device_->currentText()); });

  const auto button = [&](const char* name, const Message& text, const Message& help, auto clicked) {
    QPushButton* made = add_button(*flow, QLatin1String(name), qtext(text), qtext(help));
    connect(made, &QPushButton::clicked, this, clicked);
  };
  button("open-gpu", msg::explorer_page::open_gpu{}, msg::explorer_page::open_gpu_help{},
         &ExplorerPage::choose_gpu_file);
  button("default-tile", msg::explorer_page::default_tile{}, msg::explorer_page::default_tile_help{}, [this] {
    const PointSpec& spec = chosen_.choices.point.spec;
    use_config(auto_config(*known_algorithms().find(spec.algorithm), spec.problem, limits_of(chosen_.choices)),
               qtext(msg::explorer_page::did_use_default{}));
  });
  button("pin", msg::explorer_page::pin{}, msg::explorer_page::pin_help{}, &ExplorerPage::pin);
  // Short text instead of icons, for screen readers.
  const auto undo_button = [&](const char* name, const Message& message, QAction* action,
                               QKeySequence::StandardKey key) {
    const QString words = qtext(message);
    action->setShortcut(key);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    addAction(action);
    QPushButton* made = add_button(*flow, QLatin1String(name), words, words);
    made->setEnabled(action->isEnabled());
    connect(action, &QAction::changed, made, [made, action] {
      made->setEnabled(action->isEnabled());
      made->setToolTip(plain_tooltip(action->text()));
    });
    connect(made, &QPushButton::clicked, action, &QAction::trigger);
  };
  undo_button("undo", msg::explorer_page::undo{}, undo_.createUndoAction(this, qtext(msg::explorer_page::undo{})),
              QKeySequence::Undo);
  undo_button("redo", msg::explorer_page::redo{}, undo_.createRedoAction(this, qtext(msg::explorer_page::redo{})),
              QKeySequence::Redo);
  // Optional buttons come last, so that no other control moves.
  unpin_button_ = add_button(*flow, QStringLiteral("unpin"), QStringLiteral("A ✕"), {});
  connect(unpin_button_, &QPushButton::clicked, this, [this] {
    State next = chosen_;
    next.pin.reset();
    if (next != chosen_) change(std::move(next), qtext(msg::explorer_page::did_unpin{}));
  });
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
  const auto button = [&](const char* name, const Message& help, std::optional<Config> analysis::Exploration::*tile,
                          const Message& words) {
    QPushButton* made = add_button(*row, QLatin1String(name), {}, qtext(help));
    made->hide();
    connect(made, &QPushButton::clicked, this, [this, tile, words] {
      if (!has_stale_results() && shown_->exploration.*tile) use_config(*(shown_->exploration.*tile), qtext(words));
    });
    return made;
  };
  nearest_button_ = button("nearest", msg::explorer_page::nearest_help{}, &analysis::Exploration::nearest,
                           msg::explorer_page::did_use_nearest{});
  fastest_button_ = button("fastest", msg::explorer_page::fastest_help{}, &analysis::Exploration::fastest,
                           msg::explorer_page::did_use_fastest{});
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
    now->show_groups(editors_->shown_groups());
    delete editors_;
  }
  editors_ = now;
  editor_area_->layout()->addWidget(editors_);
  connect(editors_, &ChoiceEditors::edited, this, &ExplorerPage::edit);
  editor_knob_count_ = known_algorithms().knobs().size();
}

void ExplorerPage::build_cards() {
  kernel_ = new QComboBox();
  kernel_->setObjectName(QStringLiteral("kernel"));
  kernel_->setAccessibleName(qtext(msg::explorer_page::kernel{}));
  kernel_->setToolTip(plain_tooltip(qtext(msg::explorer_page::kernel_help{})));
  connect(kernel_, &QComboBox::activated, this, &ExplorerPage::show_kernel);
  occupancy_ = new QLabel();
  occupancy_->setWordWrap(true);
  occupancy_->setTextFormat(Qt::PlainText);
  occupancy_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  on_chip_ = new OnChipMap();
  time_bars_ = new BarList(BarList::Kind::of_time, qtext(msg::explorer_page::predicted_time{}));
  operand_bars_ = new BarList(BarList::Kind::of_matrix, qtext(msg::explorer_page::operands{}));
  figures_ = new ResultModel(this);
  figures_view_ = new FittedTable(figures_, qtext(msg::explorer_page::figures{}));
  measuring_ = new MeasurementCard(shared_measurer(workspace_));
  connect(measuring_, &MeasurementCard::measure_requested, this, [this] { measure(&MeasurementCard::measure); });
  connect(measuring_, &MeasurementCard::sweep_around_requested, this,
          [this] { measure(&MeasurementCard::sweep_around); });
  connect(measuring_, &MeasurementCard::map_requested, this, &ExplorerPage::map_requested);
  connect(measuring_, &MeasurementCard::changed, this, &ExplorerPage::show_recorded);

  auto* cards = new QWidget();
  auto* layout = new CardLayout(cards, card_width, max_columns, 8);
  layout->addWidget(card(card_title(qtext(msg::explorer_page::on_chip{})), {kernel_, occupancy_, on_chip_}));
  time_title_ = card_title(qtext(msg::explorer_page::predicted_time{}));
  time_title_.info->setObjectName(QStringLiteral("time-info"));
  figures_title_ = card_title(qtext(msg::explorer_page::figures{}), qtext(msg::explorer_page::figures_help{}));
  const CardTitle of_operands =
      card_title(qtext(msg::explorer_page::operands{}), qtext(msg::explorer_page::operands_help{}));
  result_cards_ = {card(time_title_, {time_bars_}), card(of_operands, {operand_bars_}),
                   card(figures_title_, {figures_view_})};
  for (QWidget* each : result_cards_) layout->addWidget(each);
  card_area_ = new QScrollArea(this);
  card_area_->setAccessibleName(qtext(msg::explorer_page::cards_name{}));
  card_area_->setWidget(cards);
  card_area_->setWidgetResizable(true);
  card_area_->setFrameShape(QFrame::NoFrame);
  card_area_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
}

}  // namespace attnscope::ui
