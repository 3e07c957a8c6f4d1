// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/explorer_page.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QJsonArray>
#include <QShortcut>
#include <QSignalBlocker>
#include <QUndoCommand>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "kernels/tile_table.h"
#include "messages/explorer.h"
#include "messages/explorer_page.h"
#include "messages/field.h"
#include "profiler/plan/fields.h"
#include "ui/explorer/card_layout.h"
#include "ui/explorer/choice_editors.h"
#include "ui/explorer/figures_model.h"
#include "ui/explorer/measured_model.h"
#include "ui/explorer/on_chip_map.h"
#include "ui/explorer/term_bars.h"
#include "ui/explorer/tile_grid_view.h"
#include "ui/format.h"
#include "ui/models/curve_series.h"
#include "ui/pages/flow_layout.h"
#include "ui/said.h"

namespace attnscope::ui {
namespace {

constexpr int editors_width = 292;
constexpr int card_width = 400;
constexpr int card_width_beside_pins = 800;  ///< for their columns
constexpr int most_columns = 3;
constexpr char pin_letters[] = {'A', 'B', 'C'};

QString letter(std::size_t pin) {
  return QString(QLatin1Char(pin_letters[pin]));
}

QString limiter_words(std::string_view limiter) {
  if (limiter == "registers") return said(say::explorer_page::limited_by_registers{});
  if (limiter == "shared memory") return said(say::explorer_page::limited_by_shared{});
  if (limiter == "threads") return said(say::explorer_page::limited_by_threads{});
  if (limiter == "blocks") return said(say::explorer_page::limited_by_blocks{});
  return said(say::explorer_page::limited_by_grid{});
}

QLabel* words(QWidget* parent, const QString& name) {
  auto* label = new QLabel(parent);
  label->setObjectName(name);
  label->setTextFormat(Qt::PlainText);
  label->setWordWrap(true);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  return label;
}

void set_text(QLabel* label, const QString& text) {
  if (label->text() != text) label->setText(text);
}

/// Of a point: the device's own words, then all that is chosen.
QString help_of(const ExplorerChoices& choices) {
  return said(say::explorer_page::column_help{.device = choices.device, .point = describe(choices.point.spec)});
}

}  // namespace

/// From one state to another; changes of one drag are one.
class ExplorerPage::Change : public QUndoCommand {
 public:
  Change(ExplorerPage& page, State before, State after, const QString& words, QString what, int gesture)
      : QUndoCommand(words),
        page_(page),
        before_(std::move(before)),
        after_(std::move(after)),
        what_(std::move(what)),
        gesture_(gesture) {}

  void undo() override { page_.apply(before_); }
  void redo() override { page_.apply(after_); }
  [[nodiscard]] int id() const override { return gesture_ < 0 ? -1 : 1; }
  bool mergeWith(const QUndoCommand* other) override {
    const auto* next = static_cast<const Change*>(other);
    if (next->what_ != what_ || next->gesture_ != gesture_) return false;
    after_ = next->after_;
    return true;
  }

 private:
  ExplorerPage& page_;
  State before_;
  State after_;
  QString what_;
  int gesture_;
};

ExplorerPage::ExplorerPage(Workspace& workspace, QWidget* parent) : Page(parent), workspace_(workspace) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(10, 8, 10, 6);
  column->setSpacing(6);
  build_bar();
  verdict_ = words(this, QStringLiteral("verdict"));
  column->addWidget(verdict_);

  auto* row = new QHBoxLayout();
  row->setSpacing(8);
  column->addLayout(row, 1);
  editors_ = new ChoiceEditors();
  editor_area_ = new QScrollArea(this);
  editor_area_->setWidget(editors_);
  editor_area_->setWidgetResizable(true);
  editor_area_->setFrameShape(QFrame::NoFrame);
  editor_area_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  editor_area_->setFixedWidth(editors_width);
  row->addWidget(editor_area_);
  build_cards();
  row->addWidget(card_area_, 1);

  connect(editors_, &ChoiceEditors::edited, this, &ExplorerPage::edit);
  connect(&background_, &BackgroundExplorer::explored, this, &ExplorerPage::take);
  connect(&background_, &BackgroundExplorer::pictured, this,
          [this](const std::shared_ptr<const analysis::TilePicture>& picture) { grid_->set_picture(picture); });
  connect(&pins_background_, &BackgroundExplorer::explored, this, [this](const std::shared_ptr<const Explored>& pin) {
    known_pins_.push_back(pin);
    know_pins();
    show_figures();
  });
  connect(&workspace_.published_errors(), &PublishedErrors::changed, this, &ExplorerPage::show_errors);
  apply({.choices = default_choices(), .pins = {}});
}

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
    choice->setToolTip(plain_tip(help));
    title->setBuddy(choice);
    line->addWidget(title);
    line->addWidget(choice);
    flow->addWidget(box);
    return choice;
  };
  algorithm_ =
      combo(QStringLiteral("algorithm"), said(say::field::algorithm{}), said(say::explorer_page::algorithm_help{}));
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    algorithm_->addItem(to_qstring(algorithm->facts().title), QString::fromStdString(algorithm->name()));
  }
  device_ = combo(QStringLiteral("device"), said(say::explorer::device{}), said(say::explorer_page::device_help{}));
  for (const DeviceLimits& gpu : known_gpus()) device_->addItem(QString::fromStdString(gpu.name));
  connect(algorithm_, &QComboBox::activated, this,
          [this] { edit(QStringLiteral("algorithm"), algorithm_->currentData().toString(), -1); });
  connect(device_, &QComboBox::activated, this, [this] { edit(QStringLiteral("device"), device_->currentText(), -1); });

  const auto button = [&](const QString& name, const QString& text, const QString& help) {
    auto* made = new QPushButton(text, bar);
    made->setObjectName(name);
    made->setToolTip(plain_tip(help));
    flow->addWidget(made);
    return made;
  };
  QPushButton* best = button(QStringLiteral("default-tile"), said(say::explorer_page::default_tile{}),
                             said(say::explorer_page::default_tile_help{}));
  connect(best, &QPushButton::clicked, this, &ExplorerPage::take_default_tile);
  nearest_button_ = button(QStringLiteral("nearest"), {}, said(say::explorer_page::nearest_help{}));
  connect(nearest_button_, &QPushButton::clicked, this, &ExplorerPage::take_nearest);
  pin_button_ = button(QStringLiteral("pin"), said(say::explorer_page::pin{}), said(say::explorer_page::pin_help{}));
  connect(pin_button_, &QPushButton::clicked, this, &ExplorerPage::pin);
  for (std::size_t i = 0; i < most_pins; ++i) {
    auto* unpin = new QToolButton(bar);
    unpin->setObjectName(QStringLiteral("unpin-") + letter(i));
    unpin->setText(said(say::explorer_page::unpin_short{.pin = letter(i).toStdString()}));
    connect(unpin, &QToolButton::clicked, this, [this, i] { this->unpin(static_cast<int>(i)); });
    flow->addWidget(unpin);
    unpin_buttons_[i] = unpin;
  }
  // Icons alone would say nothing to a screen reader, and the words are short.
  QAction* undo = undo_.createUndoAction(this, said(say::explorer_page::undo{}));
  undo->setShortcut(QKeySequence::Undo);
  QAction* redo = undo_.createRedoAction(this, said(say::explorer_page::redo{}));
  redo->setShortcut(QKeySequence::Redo);
  const std::array actions{std::pair(undo, said(say::explorer_page::undo{})),
                           std::pair(redo, said(say::explorer_page::redo{}))};
  for (const auto& [action, text] : actions) {
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    addAction(action);
    QPushButton* made = button(action == undo ? QStringLiteral("undo") : QStringLiteral("redo"), text, text);
    made->setEnabled(action->isEnabled());
    connect(action, &QAction::changed, made, [made, action = action] {
      made->setEnabled(action->isEnabled());
      made->setToolTip(plain_tip(action->text()));
    });
    connect(made, &QPushButton::clicked, action, &QAction::trigger);
  }
  layout()->addWidget(bar);
}

QWidget* ExplorerPage::card(const QString& title, const std::vector<QWidget*>& parts) {
  auto* frame = new QFrame();
  frame->setFrameShape(QFrame::StyledPanel);
  frame->setBackgroundRole(QPalette::Base);
  frame->setAutoFillBackground(true);
  auto* column = new QVBoxLayout(frame);
  column->setContentsMargins(10, 8, 10, 10);
  column->setSpacing(6);
  auto* heading = new QLabel(title, frame);
  QFont bold = heading->font();
  bold.setBold(true);
  heading->setFont(bold);
  heading->setWordWrap(true);
  column->addWidget(heading);
  bool grows = false;
  for (QWidget* part : parts) {
    const bool expands = (part->sizePolicy().expandingDirections() & Qt::Vertical) != 0;
    grows = grows || expands;
    column->addWidget(part, expands ? 1 : 0);
  }
  QSizePolicy policy(QSizePolicy::Preferred, grows ? QSizePolicy::Expanding : QSizePolicy::Preferred);
  policy.setHeightForWidth(true);
  frame->setSizePolicy(policy);
  return frame;
}

QTableView* ExplorerPage::table(QAbstractItemModel* model, const QString& name) {
  auto* view = new QTableView();
  view->setModel(model);
  view->setAccessibleName(name);
  view->setFrameShape(QFrame::NoFrame);
  view->setShowGrid(false);
  view->setAlternatingRowColors(true);
  view->setSelectionBehavior(QAbstractItemView::SelectRows);
  view->setSelectionMode(QAbstractItemView::SingleSelection);
  view->setTabKeyNavigation(false);
  view->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  view->setHorizontalScrollBarPolicy(Qt::ScrollBarAsNeeded);
  view->verticalHeader()->hide();
  view->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  view->verticalHeader()->setDefaultSectionSize(view->fontMetrics().height() + 6);
  view->horizontalHeader()->setHighlightSections(false);
  view->horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  view->installEventFilter(this);
  view->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  return view;
}

void ExplorerPage::build_cards() {
  kernel_ = new QComboBox();
  kernel_->setObjectName(QStringLiteral("kernel"));
  kernel_->setAccessibleName(said(say::explorer_page::kernel{}));
  kernel_->setToolTip(plain_tip(said(say::explorer_page::kernel_help{})));
  connect(kernel_, &QComboBox::activated, this, &ExplorerPage::show_kernel);
  occupancy_ = words(nullptr, QStringLiteral("occupancy"));
  errors_ = words(nullptr, QStringLiteral("errors"));
  of_kernel_ = words(nullptr, QStringLiteral("of-kernel"));
  on_chip_ = new OnChipMap();
  terms_ = new TermBars();
  grid_ = new TileGridView();
  figures_ = new FiguresModel(this);
  operands_ = new OperandsModel(this);
  figures_view_ = table(figures_, said(say::explorer_page::figures{}));
  measured_ = new MeasuredModel(this);
  measured_view_ = table(measured_, said(say::explorer_page::measured{}));
  auto* bar = new QWidget();
  build_measuring(bar);
  operands_view_ = table(operands_, said(say::explorer_page::operands{}));

  auto* cards = new QWidget();
  auto* layout = new CardLayout(cards, card_width, most_columns, 8);
  layout->addWidget(card(said(say::explorer_page::on_chip{}), {kernel_, occupancy_, on_chip_}));
  layout->addWidget(card(said(say::explorer_page::predicted_time{}), {of_kernel_, terms_, errors_}));
  layout->addWidget(card(said(say::explorer_page::figures{}), {figures_view_}));
  layout->addWidget(card(said(say::explorer_page::tile_grid{}), {grid_}));
  layout->addWidget(card(said(say::explorer_page::operands{}), {operands_view_}));
  layout->addWidget(card(said(say::explorer_page::measured{}), {bar, measuring_, measured_view_}));
  card_area_ = new QScrollArea(this);
  card_area_->setWidget(cards);
  card_area_->setWidgetResizable(true);
  card_area_->setFrameShape(QFrame::NoFrame);
  card_area_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
}

void ExplorerPage::build_measuring(QWidget* bar) {
  auto* flow = new FlowLayout(bar);
  QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  policy.setHeightForWidth(true);
  bar->setSizePolicy(policy);
  measures_on_ = new QComboBox(bar);
  measures_on_->setObjectName(QStringLiteral("measures-on"));
  measures_on_->setAccessibleName(said(say::explorer_page::measures_on{}));
  measures_on_->setToolTip(plain_tip(said(say::explorer_page::measures_on{})));
  measures_on_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  flow->addWidget(measures_on_);
  const auto button = [&](const QString& name, const QString& text, const QString& help) {
    auto* made = new QPushButton(text, bar);
    made->setObjectName(name);
    made->setToolTip(plain_tip(help));
    flow->addWidget(made);
    return made;
  };
  measure_button_ =
      button(QStringLiteral("measure"), said(say::explorer_page::measure{}), said(say::explorer_page::measure_help{}));
  around_button_ =
      button(QStringLiteral("around"), said(say::explorer_page::around{}), said(say::explorer_page::around_help{}));
  cancel_button_ = button(QStringLiteral("cancel-measuring"), said(say::explorer_page::cancel{}),
                          said(say::explorer_page::cancel_help{}));
  measuring_ = words(nullptr, QStringLiteral("measuring"));
  connect(measure_button_, &QPushButton::clicked, this, &ExplorerPage::measure);
  connect(around_button_, &QPushButton::clicked, this, &ExplorerPage::sweep_around);
  connect(cancel_button_, &QPushButton::clicked, &measurer_, &PointMeasurer::cancel);
  connect(&measurer_, &PointMeasurer::devices_changed, this, &ExplorerPage::show_devices);
  connect(&measurer_, &PointMeasurer::changed, this, &ExplorerPage::show_measured);
  connect(&measurer_, &PointMeasurer::kept, &workspace_, &Workspace::follow);
  connect(&measurer_, &PointMeasurer::let_go, &workspace_, &Workspace::stop_following);
  connect(&measurer_, &PointMeasurer::trouble, this, [this](const QString& reason) {
    trouble_ = reason;
    show_measured();
  });
}

void ExplorerPage::show_devices() {
  const std::vector<ListedDevice> devices = measurer_.devices_of(chosen_.choices.device);
  QStringList there;
  for (int i = 0; i < measures_on_->count(); ++i) there << measures_on_->itemData(i).toString();
  QStringList found;
  for (const ListedDevice& device : devices) found << device.argument;
  if (found == there) return;
  const QVariant before = measures_on_->currentData();
  measures_on_->clear();
  for (const ListedDevice& device : devices) measures_on_->addItem(device.name, device.argument);
  measures_on_->setCurrentIndex(std::max(0, measures_on_->findData(before)));
  show_measured();
}

void ExplorerPage::show_measured() {
  const bool device = measures_on_->count() > 0;
  const bool runs = shown_ != nullptr && !shown_->exploration.refusal && !behind_;
  const bool padded = chosen_.choices.point.padding_bytes > 0;
  measures_on_->setEnabled(device);
  measure_button_->setEnabled(device && runs && !padded);
  around_button_->setEnabled(device && runs && !padded);
  cancel_button_->setEnabled(measurer_.open() > 0);
  QString line;
  if (!trouble_.isEmpty()) {
    line = trouble_;
  } else if (padded) {
    line = said(say::explorer_page::padding_is_modelled{});
  } else if (measurer_.open() > 0) {
    line = said(say::explorer_page::points_open{.open = static_cast<std::int64_t>(measurer_.open()),
                                                .file = measurer_.database().toStdString()});
  } else if (measurer_.points().empty()) {
    line = said(say::explorer_page::nothing_measured{});
  } else {
    line = said(say::explorer_page::kept_in{.file = measurer_.database().toStdString()});
  }
  set_text(measuring_, line);
  measured_->set_points(measurer_.points(), chosen_.choices);
  measured_view_->setVisible(measured_->rowCount() > 0);
  fit_table(measured_view_);
}

void ExplorerPage::measure() {
  work_out_chosen();
  if (behind_) return;  // M has not picked its tile yet
  const auto devices = measurer_.devices_of(chosen_.choices.device);
  const int place = measures_on_->currentIndex();
  if (!measure_button_->isEnabled() || place < 0 || static_cast<std::size_t>(place) >= devices.size()) return;
  trouble_.clear();
  measurer_.measure(chosen_.choices, devices[static_cast<std::size_t>(place)]);
}

void ExplorerPage::sweep_around() {
  work_out_chosen();
  if (behind_) return;  // M has not picked its tile yet
  const auto devices = measurer_.devices_of(chosen_.choices.device);
  const int place = measures_on_->currentIndex();
  if (!around_button_->isEnabled() || place < 0 || static_cast<std::size_t>(place) >= devices.size()) return;
  trouble_.clear();
  measurer_.sweep_around(chosen_.choices, devices[static_cast<std::size_t>(place)]);
}

QString ExplorerPage::title() const {
  return said(say::explorer_page::title{});
}

QWidget* ExplorerPage::view() {
  return findChild<QSpinBox*>(QStringLiteral("br"));
}

QJsonObject ExplorerPage::state() const {
  QJsonArray pins;
  for (const ExplorerChoices& pin : chosen_.pins) pins.append(to_json(pin));
  return {{QStringLiteral("choices"), to_json(chosen_.choices)}, {QStringLiteral("pins"), pins}};
}

void ExplorerPage::restore(const QJsonObject& state) {
  State restored = chosen_;
  take_json(state[QStringLiteral("choices")].toObject(), restored.choices);
  if (state[QStringLiteral("pins")].isArray()) restored.pins.clear();
  const QJsonArray pins = state[QStringLiteral("pins")].toArray();
  for (const auto& each : pins) {
    if (restored.pins.size() == most_pins) break;
    ExplorerChoices pin = default_choices();
    take_json(each.toObject(), pin);
    restored.pins.push_back(std::move(pin));
  }
  undo_.clear();
  apply(restored);
}

std::vector<std::pair<QString, QString>> ExplorerPage::shortcuts() const {
  return {{said(say::explorer_page::keys_undo{}), said(say::explorer_page::key_undo{})},
          {said(say::explorer_page::keys_grid{}), said(say::explorer_page::key_grid{})}};
}

void ExplorerPage::show_point(const PointSpec& spec, const QString& device) {
  State next = chosen_;
  // By way of their texts: a point of a file may hold what none of ours takes.
  ExplorerChoices point{.point = {.spec = spec}, .device = next.choices.device};
  next.choices = default_choices();
  next.choices.device = point.device;
  take_json(to_json(point), next.choices);
  (void)choose(next.choices, QStringLiteral("device"), device);
  change(std::move(next), said(say::explorer_page::did_show{}));
}

void ExplorerPage::edit(const QString& name, const QString& text, int gesture) {
  State next = chosen_;
  const auto done = choose(next.choices, name, text);
  if (!done) return editors_->show_error(name, said(done.error()));
  editors_->show_error(name, {});
  if (next == chosen_) return;
  change(std::move(next), said(say::explorer_page::did_choose{.what = name.toStdString()}), name, gesture);
}

void ExplorerPage::change(State next, const QString& words, const QString& what, int gesture) {
  undo_.push(new Change(*this, chosen_, std::move(next), words, what, gesture));
}

void ExplorerPage::apply(const State& state) {
  chosen_ = state;
  behind_ = true;
  background_.drop();  // its answer is of what was chosen before
  // However many changes one turn of the event loop brings, the last one is worked out.
  if (queued_) return;
  queued_ = true;
  QMetaObject::invokeMethod(this, &ExplorerPage::work_out_chosen, Qt::QueuedConnection);
}

void ExplorerPage::work_out_chosen() {
  if (!queued_) return;
  queued_ = false;
  const ExplorerChoices& choices = chosen_.choices;
  {
    const QSignalBlocker quiet_algorithm(algorithm_);
    const QSignalBlocker quiet_device(device_);
    algorithm_->setCurrentIndex(algorithm_->findData(QString::fromStdString(choices.point.spec.algorithm)));
    device_->setCurrentIndex(device_->findText(QString::fromStdString(choices.device)));
  }
  editors_->show_choices(choices);
  show_pins();
  know_pins();
  if (analysis::is_quick(choices.point.spec.problem)) {
    take(std::make_shared<const Explored>(work_out(choices)));
    const Explored& explored = *shown_;
    if (explored.exploration.refusal) return;
    if (analysis::is_quick_picture(explored.choices.point.spec.problem, explored.choices.point.spec.tile)) {
      grid_->set_picture(std::make_shared<const analysis::TilePicture>(*picture_of(explored.choices)));
    } else {
      background_.ask_picture(explored.choices);
    }
    return;
  }
  set_text(verdict_, said(say::explorer_page::working_out{}));
  grid_->set_picture(nullptr, said(say::explorer_page::working_out{}));
  background_.ask(choices);
  show_measured();
}

void ExplorerPage::take(std::shared_ptr<const Explored> explored) {
  shown_ = std::move(explored);
  behind_ = false;
  // The rule's tile stands in the boxes, but is chosen by M.
  chosen_.choices = shown_->choices;
  editors_->show_choices(chosen_.choices);
  show_explored();
}

void ExplorerPage::show_explored() {
  show_rule();
  show_verdict();
  const analysis::Exploration& e = shown_->exploration;
  {
    const QSignalBlocker quiet(kernel_);
    const QString before = kernel_->currentText();
    QStringList names;
    for (const analysis::ExploredKernel& kernel : e.kernels) names << QString::fromStdString(kernel.name);
    QStringList shown_names;
    for (int i = 0; i < kernel_->count(); ++i) shown_names << kernel_->itemText(i);
    if (names != shown_names) {
      kernel_->clear();
      kernel_->addItems(names);
      kernel_->setCurrentIndex(names.contains(before) ? static_cast<int>(names.indexOf(before))
                               : e.kernels.empty()    ? -1
                                                      : static_cast<int>(e.longest()));
    }
    kernel_->setVisible(names.size() > 1);
  }
  show_kernel();
  show_figures();
  operands_->set_exploration(&e);
  fit_table(operands_view_);
  show_grid();
  show_errors();
  show_devices();
  show_measured();
}

void ExplorerPage::show_kernel() {
  if (shown_ == nullptr) return;
  const analysis::Exploration& e = shown_->exploration;
  const int place = kernel_->currentIndex();
  if (e.refusal || place < 0) {
    on_chip_->set_kernel(nullptr);
    terms_->set_times({});
    set_text(occupancy_, {});
    occupancy_->hide();
    of_kernel_->hide();
    return;
  }
  const analysis::ExploredKernel& kernel = e.kernels[static_cast<std::size_t>(place)];
  on_chip_->set_kernel(&kernel);
  of_kernel_->setVisible(e.kernels.size() > 1);
  set_text(of_kernel_,
           said(say::explorer_page::of_kernel{.kernel = kernel.name, .time = format_duration(e.ns).toStdString()}));
  terms_->set_times(TermBars::Times{.ns = kernel.time.ns, .terms = kernel.time.terms});
  set_text(occupancy_, said(say::explorer_page::occupancy_line{
                           .occupancy = format_value(kernel.occupancy.warps_pct, "percent").toStdString(),
                           .blocks = kernel.occupancy.blocks_per_sm,
                           .limiter = limiter_words(kernel.occupancy.limiter).toStdString(),
                           .all = kernel.blocks,
                           .waves = format_number(kernel.time.waves).toStdString()}));
  occupancy_->show();
}

void ExplorerPage::show_grid() {
  const analysis::Exploration& e = shown_->exploration;
  if (e.refusal) {
    grid_->set_picture(nullptr, said(say::explorer_page::does_not_run{}));
  } else if (!analysis::is_quick_picture(e.point.spec.problem, e.point.spec.tile)) {
    grid_->set_picture(nullptr, said(say::explorer_page::working_out{}));
  }
}

void ExplorerPage::show_rule() {
  if (!shown_->choices.m_bytes) return editors_->show_rule_words({});
  const auto& rule = shown_->rule;
  if (!rule) return editors_->show_rule_words(said(say::explorer_page::rule_does_not_speak{}));
  const bool keys = rule->outer == TileSide::bc;
  const std::string asked = describe(rule->asked);
  QStringList lines{keys ? said(say::explorer_page::rule_of_keys{.tile = asked})
                         : said(say::explorer_page::rule_of_queries{.tile = asked})};
  if (!rule->config) {
    lines << said(say::explorer_page::rule_nothing_runs{});
  } else {
    if (rule->config->tile != rule->asked) {
      lines << said(say::explorer_page::rule_runs{.tile = describe(rule->config->tile)});
    }
    if (rule->held_back) {
      lines << said(say::explorer_page::larger_changes_nothing_because{.why = rule->held_back->reason});
    } else if (rule->larger_changes_nothing) {
      lines << said(say::explorer_page::larger_changes_nothing{});
    }
  }
  editors_->show_rule_words(lines.join(QLatin1Char(' ')));
}

void ExplorerPage::show_verdict() {
  const analysis::Exploration& e = shown_->exploration;
  nearest_button_->setVisible(e.nearest.has_value());
  if (!e.refusal) {
    QString line = said(say::explorer_page::runs{.time = format_duration(e.ns).toStdString(),
                                                 .rate = format_value(e.flops_per_second(), "flop/s").toStdString(),
                                                 .bound = term_title(e.bound()).toStdString()});
    if (e.rates_inherited) {
      line += QLatin1Char(' ') + said(say::explorer_page::rates_inherited{.measured = e.rates_of, .device = e.device});
    }
    return set_text(verdict_, line);
  }
  QString line = said(say::explorer_page::refused{.why = e.refusal->reason});
  if (e.nearest) {
    const std::string tile = describe(*e.nearest);
    line += QLatin1Char(' ') + said(say::explorer_page::nearest{.tile = tile});
    nearest_button_->setText(said(say::explorer_page::take_nearest{.tile = describe(e.nearest->tile)}));
  } else if (e.refusal->cause != Refusal::Cause::architecture && e.point.padding_bytes == 0) {
    line += QLatin1Char(' ') + said(say::explorer_page::no_tile_runs{});
  }
  set_text(verdict_, line);
}

void ExplorerPage::show_errors() {
  if (shown_ == nullptr) return;
  const PublishedErrors& errors = workspace_.published_errors();
  const PointSpec& spec = shown_->exploration.point.spec;
  const auto line = [&]() -> QString {
    switch (errors.state()) {
      case PublishedErrors::State::unasked:
      case PublishedErrors::State::computing:
        return said(say::explorer_page::errors_computing{});
      case PublishedErrors::State::unknown:
        return said(say::explorer_page::errors_unknown{.why = errors.why_unknown().toStdString()});
      case PublishedErrors::State::known:
        break;
    }
    const PredictionRow* row = errors.table().figures(QString::fromStdString(spec.algorithm),
                                                      to_qstring(to_string(spec.problem.pass)), QStringLiteral("time"));
    if (row == nullptr) return said(say::explorer_page::errors_none{});
    const auto percent = [](double share) {
      return QStringLiteral("%1%").arg(100 * share, 0, 'f', share < 0.0995 ? 1 : 0).toStdString();
    };
    return said(
        say::explorer_page::errors_line{.devices = errors.table().devices.join(QStringLiteral(", ")).toStdString(),
                                        .median = percent(*row->median),
                                        .p95 = percent(row->p95.value_or(*row->median)),
                                        .problems = row->problems});
  };
  set_text(errors_, line());
}

void ExplorerPage::show_figures() {
  if (shown_ == nullptr) return;
  std::vector<FiguresModel::Column> columns{{.title = said(say::explorer_page::now{}),
                                             .help = help_of(shown_->choices),
                                             .exploration = &shown_->exploration}};
  for (std::size_t i = 0; i < chosen_.pins.size(); ++i) {
    const Explored* pin = pinned(chosen_.pins[i]);
    if (pin == nullptr) continue;
    columns.push_back({.title = QStringLiteral("%1 · %2").arg(letter(i), short_title(pin->choices)),
                       .help = help_of(pin->choices),
                       .exploration = &pin->exploration});
  }
  figures_->set_columns(columns);
  static_cast<CardLayout*>(card_area_->widget()->layout())
      ->set_column_width(columns.size() > 2 ? card_width_beside_pins : card_width);
  fit_table(figures_view_);
}

void ExplorerPage::fit_table(QTableView* view) {
  constexpr int room = 18;  // beside a text, with what a style adds
  const QAbstractItemModel& model = *view->model();
  const int rows = model.rowCount();
  const int columns = model.columnCount();
  QHeaderView* header = view->horizontalHeader();
  QFont bold = view->font();
  bold.setBold(true);
  const QFontMetrics metrics(bold);
  std::vector<int> widths;
  int sum = 0;
  for (int column = 0; column < columns; ++column) {
    int widest = metrics.horizontalAdvance(model.headerData(column, Qt::Horizontal).toString());
    for (int row = 0; row < rows; ++row) {
      widest = std::max(widest, metrics.horizontalAdvance(model.index(row, column).data().toString()));
    }
    widths.push_back(widest + room);
    sum += widths.back();
  }
  // Where the columns need more room than there is, the table scrolls; the texts stay whole.
  const bool narrow = sum > view->width();
  if (!narrow && columns > 0) widths[0] += view->width() - sum;
  for (int column = 0; column < columns; ++column) {
    header->resizeSection(column, widths[static_cast<std::size_t>(column)]);
  }
  const int bar = narrow ? view->style()->pixelMetric(QStyle::PM_ScrollBarExtent, nullptr, view) : 0;
  const int height = header->sizeHint().height() + rows * view->verticalHeader()->defaultSectionSize() + bar + 2;
  if (view->minimumHeight() != height) view->setFixedHeight(height);
}

bool ExplorerPage::eventFilter(QObject* watched, QEvent* event) {
  auto* view = qobject_cast<QTableView*>(watched);
  if (view != nullptr && event->type() == QEvent::Resize) fit_table(view);
  return Page::eventFilter(watched, event);
}

void ExplorerPage::show_pins() {
  pin_button_->setEnabled(chosen_.pins.size() < most_pins);
  for (std::size_t i = 0; i < most_pins; ++i) {
    const bool there = i < chosen_.pins.size();
    unpin_buttons_[i]->setVisible(there);
    if (!there) continue;
    const QString words = said(
        say::explorer_page::unpin{.pin = letter(i).toStdString(), .what = short_title(chosen_.pins[i]).toStdString()});
    unpin_buttons_[i]->setToolTip(plain_tip(words));
    unpin_buttons_[i]->setAccessibleName(words);
  }
}

const Explored* ExplorerPage::pinned(const ExplorerChoices& choices) const {
  const auto found = std::ranges::find_if(
      known_pins_, [&](const auto& known) { return known->asked == choices || known->choices == choices; });
  return found == known_pins_.end() ? nullptr : found->get();
}

void ExplorerPage::know_pins() {
  if (pins_background_.busy()) return;
  std::erase_if(known_pins_, [&](const auto& known) {
    return std::ranges::none_of(chosen_.pins,
                                [&](const auto& pin) { return known->asked == pin || known->choices == pin; });
  });
  for (const ExplorerChoices& pin : chosen_.pins) {
    if (pinned(pin) != nullptr) continue;
    if (!analysis::is_quick(pin.point.spec.problem)) return pins_background_.ask(pin);
    known_pins_.push_back(std::make_shared<const Explored>(work_out(pin)));
  }
}

void ExplorerPage::pin() {
  if (shown_ == nullptr || behind() || chosen_.pins.size() >= most_pins) return;
  if (pinned(shown_->choices) == nullptr) known_pins_.push_back(shown_);
  State next = chosen_;
  next.pins.push_back(shown_->choices);
  change(std::move(next), said(say::explorer_page::did_pin{}));
}

void ExplorerPage::unpin(int place) {
  State next = chosen_;
  if (place < 0 || static_cast<std::size_t>(place) >= next.pins.size()) return;
  next.pins.erase(next.pins.begin() + place);
  change(std::move(next), said(say::explorer_page::did_unpin{}));
}

void ExplorerPage::take_default_tile() {
  State next = chosen_;
  PointSpec& spec = next.choices.point.spec;
  next.choices.m_bytes.reset();
  spec.set_config(auto_config(*built_in_algorithms().find(spec.algorithm), spec.problem, limits_of(next.choices)));
  if (next != chosen_) change(std::move(next), said(say::explorer_page::did_take_default{}));
}

void ExplorerPage::take_nearest() {
  if (behind() || shown_ == nullptr || !shown_->exploration.nearest) return;
  State next = chosen_;
  next.choices.m_bytes.reset();
  next.choices.point.spec.set_config(*shown_->exploration.nearest);
  change(std::move(next), said(say::explorer_page::did_take_nearest{}));
}

void ExplorerPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  workspace_.published_errors().want();
  measurer_.find_devices();
  fit_table(figures_view_);
  fit_table(operands_view_);
}

}  // namespace attnscope::ui
