// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/explorer_page.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QJsonArray>
#include <QScrollArea>
#include <QScrollBar>
#include <QShortcut>
#include <QSignalBlocker>
#include <QUndoCommand>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "kernels/model/ceilings.h"
#include "kernels/tile_table.h"
#include "messages/explorer.h"
#include "messages/explorer_page.h"
#include "messages/field.h"
#include "profiler/analysis/unit_use.h"
#include "profiler/plan/fields.h"
#include "storage/measured_rates.h"
#include "ui/explorer/card_layout.h"
#include "ui/explorer/card_words.h"
#include "ui/explorer/choice_editors.h"
#include "ui/explorer/figures_model.h"
#include "ui/explorer/fitted_table.h"
#include "ui/explorer/measuring_card.h"
#include "ui/explorer/term_bars.h"
#include "ui/explorer/tile_grid_view.h"
#include "ui/models/curve_series.h"
#include "ui/panels/gpu_dialog.h"
#include "ui/process/own_gpu_list.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/widgets/flow_layout.h"
#include "ui/widgets/on_chip_map.h"

namespace attnscope::ui {
namespace {

constexpr double editors_width = 18.5;  ///< lines of text
constexpr int card_width = 400;
constexpr int card_width_beside_one = 540;   ///< likewise, of one pin
constexpr int card_width_beside_pins = 800;  ///< for their columns
constexpr int most_columns = 3;
constexpr char pin_letters[] = {'A', 'B', 'C'};

QString letter(std::size_t pin) {
  return QString(QLatin1Char(pin_letters[pin]));
}

QString limiter_words(std::string_view limiter) {
  if (limiter == "registers") return qtext(say::explorer_page::limited_by_registers{});
  if (limiter == "shared memory") return qtext(say::explorer_page::limited_by_shared{});
  if (limiter == "threads") return qtext(say::explorer_page::limited_by_threads{});
  if (limiter == "blocks") return qtext(say::explorer_page::limited_by_blocks{});
  return qtext(say::explorer_page::limited_by_grid{});
}

/// Of a point: the device's own words, then all that is chosen.
QString help_of(const ExplorerChoices& choices) {
  return qtext(say::explorer_page::column_help{.device = choices.device, .point = describe(choices.point.spec)});
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

namespace {

/// How the terms join, and where the rates come from that they are worked out with.
QString rates_note(const Explored& explored, double idle_ns) {
  const analysis::Exploration& e = explored.exploration;
  const StoredCeilings* rates = explored.choices.rates.get();
  const std::string idle = text(Nanoseconds(idle_ns));
  if (rates == nullptr || (!e.dram_rate_measured && !e.l2_rate_measured)) {
    return qtext(say::explorer_page::terms_note{.idle = idle, .device = e.device, .measured = e.rates_of});
  }
  const std::string which = e.dram_rate_measured && e.l2_rate_measured ? text(say::explorer_page::rates_of_both{})
                            : e.dram_rate_measured                     ? text(say::explorer_page::rates_of_dram{})
                                                                       : text(say::explorer_page::rates_of_l2{});
  const double factor = explored.choices.what_if.dram_rate;
  const QString times =
      factor == 1 ? QString()
                  : QLatin1Char(' ') + qtext(say::explorer_page::rates_multiplied{
                                           .factor = QStringLiteral("%1").arg(factor, 0, 'g', 4).toStdString()});
  return qtext(say::explorer_page::terms_note_measured{.idle = idle,
                                                       .which = which,
                                                       .gpu = rates->device_name,
                                                       .uuid = rates->device_uuid,
                                                       .time = rates->measured_at,
                                                       .device = e.device,
                                                       .measured = e.rates_of}) +
         times;
}

}  // namespace

ExplorerPage::ExplorerPage(Workspace& workspace, QWidget* parent) : Page(parent), workspace_(workspace) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(10, 8, 10, 6);
  column->setSpacing(6);
  build_bar();
  verdict_ = card_words(this, QStringLiteral("verdict"));
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
  fit_editors();
  row->addWidget(editor_area_);
  build_cards();
  follow_measuring();
  row->addWidget(card_area_, 1);

  connect(editors_, &ChoiceEditors::edited, this, &ExplorerPage::edit);
  connect(&OwnGpuList::instance(), &OwnGpuList::changed, this, &ExplorerPage::follow_own_gpus);
  connect(&workspace_, &Workspace::runs_changed, this, &ExplorerPage::list_devices);
  connect(&background_, &BackgroundExplorer::explored, this, &ExplorerPage::take);
  connect(&background_, &BackgroundExplorer::pictured, this,
          [this](const std::shared_ptr<const analysis::TilePicture>& picture) { grid_->set_picture(picture); });
  connect(&pins_background_, &BackgroundExplorer::explored, this, [this](const std::shared_ptr<const Explored>& pin) {
    known_pins_.push_back(pin);
    know_pins();
    show_figures();
  });
  connect(&workspace_.simulation_errors(), &SimulationErrors::changed, this, &ExplorerPage::show_errors);
  connect(&workspace_, &Workspace::ceilings_changed, this, &ExplorerPage::forget_rates);
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
      combo(QStringLiteral("algorithm"), qtext(say::field::algorithm{}), qtext(say::explorer_page::algorithm_help{}));
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    algorithm_->addItem(to_qstring(algorithm->facts().title), QString::fromStdString(algorithm->name()));
  }
  device_ = combo(QStringLiteral("device"), qtext(say::explorer::device{}), qtext(say::explorer_page::device_help{}));
  list_devices();
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
  QPushButton* own = button(QStringLiteral("own-gpus"), qtext(say::explorer_page::own_gpus{}),
                            qtext(say::explorer_page::own_gpus_help{}));
  connect(own, &QPushButton::clicked, this, &ExplorerPage::edit_own_gpus);
  QPushButton* best = button(QStringLiteral("default-tile"), qtext(say::explorer_page::default_tile{}),
                             qtext(say::explorer_page::default_tile_help{}));
  connect(best, &QPushButton::clicked, this, &ExplorerPage::take_default_tile);
  pin_button_ = button(QStringLiteral("pin"), qtext(say::explorer_page::pin{}), qtext(say::explorer_page::pin_help{}));
  connect(pin_button_, &QPushButton::clicked, this, &ExplorerPage::pin);
  // Icons alone would say nothing to a screen reader, and the words are short.
  QAction* undo = undo_.createUndoAction(this, qtext(say::explorer_page::undo{}));
  undo->setShortcut(QKeySequence::Undo);
  QAction* redo = undo_.createRedoAction(this, qtext(say::explorer_page::redo{}));
  redo->setShortcut(QKeySequence::Redo);
  const std::array actions{std::pair(undo, qtext(say::explorer_page::undo{})),
                           std::pair(redo, qtext(say::explorer_page::redo{}))};
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
  // What comes and goes stands last, so that nothing else moves under the mouse.
  for (std::size_t i = 0; i < most_pins; ++i) {
    auto* unpin = new QToolButton(bar);
    unpin->setObjectName(QStringLiteral("unpin-") + letter(i));
    unpin->setText(qtext(say::explorer_page::unpin_short{.pin = letter(i).toStdString()}));
    connect(unpin, &QToolButton::clicked, this, [this, i] { this->unpin(static_cast<int>(i)); });
    flow->addWidget(unpin);
    unpin_buttons_[i] = unpin;
  }
  nearest_button_ = button(QStringLiteral("nearest"), {}, qtext(say::explorer_page::nearest_help{}));
  connect(nearest_button_, &QPushButton::clicked, this, &ExplorerPage::take_nearest);
  layout()->addWidget(bar);
}

void ExplorerPage::list_devices() {
  const QSignalBlocker quiet(device_);
  device_->clear();
  for (const DeviceLimits& gpu : known_gpus()) device_->addItem(QString::fromStdString(gpu.name));
  for (const OwnGpu& gpu : OwnGpuList::instance().gpus()) device_->addItem(QString::fromStdString(gpu.limits.name));
  for (const LoadedRun& run : workspace_.runs()) {
    const std::string& name = run.info->summary.device_name;
    if (limits_of_gpu(name) != nullptr || recorded_gpu(name) == nullptr) continue;
    if (device_->findText(QString::fromStdString(name)) < 0) device_->addItem(QString::fromStdString(name));
  }
  // What is explored stays at hand, also when its file is closed.
  const QString chosen = QString::fromStdString(chosen_.choices.device);
  if (device_->findText(chosen) < 0) device_->addItem(chosen);
  device_->setCurrentIndex(device_->findText(chosen));
}

std::shared_ptr<const DeviceLimits> ExplorerPage::recorded_gpu(const std::string& name) const {
  for (const LoadedRun& run : workspace_.runs()) {
    if (run.info->summary.device_name != name) continue;
    // A file may say anything: what no GPU can have is not worked with.
    if (!wrong_gpu(own_gpu_like(run.info->summary.limits, "recorded")).empty()) continue;
    DeviceLimits limits = run.info->summary.limits;
    limits.name = name;
    return std::make_shared<const DeviceLimits>(std::move(limits));
  }
  return nullptr;
}

bool ExplorerPage::take_device(ExplorerChoices& choices, const QString& name) const {
  if (choose(choices, QStringLiteral("device"), name).ok()) return true;
  const std::shared_ptr<const DeviceLimits> recorded = recorded_gpu(name.toStdString());
  if (recorded == nullptr) return false;
  choices.device = recorded->name;
  choices.own = recorded;
  return true;
}

void ExplorerPage::follow_own_gpus() {
  list_devices();
  if (chosen_.choices.own == nullptr) return;
  // Its values may be others by now, or it is gone.
  State next = chosen_;
  const QString name = QString::fromStdString(next.choices.device);
  if (!take_device(next.choices, name)) {
    (void)choose(next.choices, QStringLiteral("device"), QString::fromStdString(known_gpus().front().name));
  }
  apply(next);
}

void ExplorerPage::edit_own_gpus() {
  auto* dialog = new GpuDialog(device_->currentText(), this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  if (!chosen_.choices.what_if.changes_nothing()) {
    const DeviceLimits wanted = limits_of(chosen_.choices);
    const OwnGpu* own = OwnGpuList::instance().find(chosen_.choices.device);
    // All values are the GPU's own, whichever it began as; a recorded one began as none.
    const bool listed = own != nullptr || limits_of_gpu(chosen_.choices.device) != nullptr;
    const std::string from = own != nullptr ? own->from : listed ? chosen_.choices.device : known_gpus().front().name;
    const DeviceLimits values = wanted.stated.tensor_flops > 0 ? wanted : own_gpu_like(wanted, wanted.name);
    dialog->begin(values, QString::fromStdString(from),
                  QString::fromStdString(wanted.name).left(static_cast<qsizetype>(longest_gpu_name)));
  }
  dialog->open();
}

QWidget* ExplorerPage::card(const QString& title, const std::vector<QWidget*>& parts) {
  auto* frame = new QFrame();
  frame->setFrameShape(QFrame::StyledPanel);
  frame->setBackgroundRole(QPalette::Base);
  frame->setAutoFillBackground(true);
  auto* column = new QVBoxLayout(frame);
  column->setContentsMargins(10, 8, 10, 10);
  column->setSpacing(6);
  auto* heading = new CardWords(title, frame);
  QFont bold = heading->font();
  bold.setBold(true);
  heading->setFont(bold);
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

void ExplorerPage::build_cards() {
  kernel_ = new QComboBox();
  kernel_->setObjectName(QStringLiteral("kernel"));
  kernel_->setAccessibleName(qtext(say::explorer_page::kernel{}));
  kernel_->setToolTip(plain_tip(qtext(say::explorer_page::kernel_help{})));
  connect(kernel_, &QComboBox::activated, this, &ExplorerPage::show_kernel);
  occupancy_ = card_words(nullptr, QStringLiteral("occupancy"));
  errors_ = card_words(nullptr, QStringLiteral("errors"));
  of_kernel_ = card_words(nullptr, QStringLiteral("of-kernel"));
  terms_note_ = card_words(nullptr, QStringLiteral("terms-note"));
  on_chip_ = new OnChipMap();
  terms_ = new TermBars();
  grid_ = new TileGridView();
  figures_ = new FiguresModel(this);
  operands_ = new OperandsModel(this);
  figures_view_ = new FittedTable(figures_, qtext(say::explorer_page::figures{}));
  measuring_ = new MeasuringCard(measurer_of(workspace_));
  operands_view_ = new FittedTable(operands_, qtext(say::explorer_page::operands{}));
  no_operands_ = card_words(nullptr, QStringLiteral("no-operands"));

  auto* cards = new QWidget();
  auto* layout = new CardLayout(cards, card_width, most_columns, 8);
  layout->addWidget(card(qtext(say::explorer_page::on_chip{}), {kernel_, occupancy_, on_chip_}));
  layout->addWidget(card(qtext(say::explorer_page::predicted_time{}), {of_kernel_, terms_, terms_note_, errors_}));
  layout->addWidget(card(qtext(say::explorer_page::figures{}), {figures_view_}));
  layout->addWidget(card(qtext(say::explorer_page::tile_grid{}), {grid_}));
  layout->addWidget(card(qtext(say::explorer_page::operands{}), {operands_view_, no_operands_}));
  layout->addWidget(card(qtext(say::explorer_page::measured{}), {measuring_}));
  card_area_ = new QScrollArea(this);
  card_area_->setWidget(cards);
  card_area_->setWidgetResizable(true);
  card_area_->setFrameShape(QFrame::NoFrame);
  card_area_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
}

void ExplorerPage::follow_measuring() {
  connect(measuring_, &MeasuringCard::measure_wanted, this, &ExplorerPage::measure);
  connect(measuring_, &MeasuringCard::around_wanted, this, &ExplorerPage::sweep_around);
  connect(measuring_, &MeasuringCard::map_wanted, this, &ExplorerPage::map_wanted);
  connect(measuring_, &MeasuringCard::changed, this, [this] {
    show_kernel();
    if (under_way().isEmpty()) emit work_ended();
  });
}

void ExplorerPage::show_measured() {
  measuring_->show_choices(chosen_.choices, shown_ != nullptr && !shown_->exploration.refusal && !behind_);
}

void ExplorerPage::measure() {
  work_out_chosen();
  if (!behind_) measuring_->measure();  // else M has not picked its tile yet
}

void ExplorerPage::sweep_around() {
  work_out_chosen();
  if (!behind_) measuring_->sweep_around();
}

std::optional<TermBars::Measured> ExplorerPage::measured_of(const std::string& kernel) {
  const PointRecord* record = measuring_->measurer().record_of(shown_->choices);
  const std::string name = shown_->exploration.kernels.size() > 1 ? kernel : "all";
  const KernelRecord* there = record == nullptr ? nullptr : record->kernel(name);
  const auto time = there == nullptr ? std::nullopt : evaluate(metric_key::time_median_ns, *record, name);
  if (!time) return std::nullopt;
  TermBars::Measured measured{.ns = time->value, .provenance = to_qstring(to_string(time->provenance))};
  // Shares of the counted range, which some GPUs have alone, would stand too low beside terms of the kernel.
  if (!analysis::uses_are_of_kernel(*record, name)) return measured;
  for (const TimeTerm term : analysis::time_terms()) {
    if (const auto use = analysis::use_beside(term, *record, name)) {
      measured.use_pct.at(static_cast<std::size_t>(term)) = use->value;
    }
  }
  return measured;
}

QString ExplorerPage::title() const {
  return qtext(say::explorer_page::title{});
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
  return {{qtext(say::explorer_page::keys_undo{}), qtext(say::explorer_page::key_undo{})},
          {qtext(say::explorer_page::keys_grid{}), qtext(say::explorer_page::key_grid{})}};
}

ExplorerChoices ExplorerPage::choices_of(const PointSpec& spec, const QString& gpu, bool& known) const {
  // By way of their texts: a point of a file may hold what none of ours takes.
  const ExplorerChoices point{.point = {.spec = spec}, .device = chosen_.choices.device};
  ExplorerChoices choices = default_choices();
  choices.device = point.device;
  take_json(to_json(point), choices);
  known = take_device(choices, gpu);
  return choices;
}

bool ExplorerPage::explore(const PointSpec& spec, const QString& gpu) {
  State next = chosen_;
  bool known = false;
  next.choices = choices_of(spec, gpu, known);
  change(std::move(next), qtext(say::explorer_page::did_show{}));
  return known;
}

bool ExplorerPage::pin_point(const PointSpec& spec, const QString& gpu) {
  State next = chosen_;
  bool known = false;
  ExplorerChoices pinned = choices_of(spec, gpu, known);
  if (std::ranges::find(next.pins, pinned) != next.pins.end()) return known;
  if (next.pins.size() >= most_pins) next.pins.erase(next.pins.begin());
  next.pins.push_back(std::move(pinned));
  change(std::move(next), qtext(say::explorer_page::did_pin{}));
  return known;
}

QString ExplorerPage::under_way() const {
  return measuring_->measurer().open() > 0 ? measuring_->open_words() : QString();
}

void ExplorerPage::end_work() {
  measuring_->measurer().cancel();
}

void ExplorerPage::edit(const QString& name, const QString& text, int gesture) {
  State next = chosen_;
  const auto done = choose(next.choices, name, text);
  const bool recorded = !done && name == QLatin1String("device") && take_device(next.choices, text);
  if (!done && !recorded) return editors_->show_error(name, qtext(done.error()));
  editors_->show_error(name, {});
  if (next == chosen_) return;
  change(std::move(next), qtext(say::explorer_page::did_choose{.what = name.toStdString()}), name, gesture);
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

std::shared_ptr<const StoredCeilings> ExplorerPage::rates_of(const ExplorerChoices& choices) {
  // With its memories multiplied a GPU has another name, and of its own rates those that nobody multiplied.
  const DeviceLimits limits = limits_of(choices);
  const auto known = rates_.find(limits.name);
  if (known != rates_.end()) return known->second;
  std::vector<StoredCeilings> sets;
  for (const FileCeilings& each : workspace_.ceilings()) sets.push_back(each.set);
  ExplorerChoices itself = choices;
  itself.what_if = {};
  const StoredCeilings* newest = newest_rates(sets, limits_of(itself));
  if (newest == nullptr) return rates_[limits.name] = nullptr;
  StoredCeilings rates = *newest;
  for (Ceiling& each : rates.ceilings) {
    const bool of_dram = each.name == ceiling_key::dram_read || each.name == ceiling_key::dram_copy;
    if (of_dram) each.value *= choices.what_if.dram_rate;
  }
  return rates_[limits.name] = std::make_shared<const StoredCeilings>(std::move(rates));
}

void ExplorerPage::forget_rates() {
  rates_.clear();
  known_pins_.clear();
  apply(State(chosen_));
}

void ExplorerPage::work_out_chosen() {
  if (!queued_) return;
  queued_ = false;
  chosen_.choices.rates = rates_of(chosen_.choices);
  for (ExplorerChoices& pin : chosen_.pins) pin.rates = rates_of(pin);
  const ExplorerChoices& choices = chosen_.choices;
  workspace_.suppose(choices.what_if);
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
  set_words(verdict_, qtext(say::explorer_page::working_out{}));
  grid_->set_picture(nullptr, qtext(say::explorer_page::working_out{}));
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
  operands_view_->fit();
  operands_view_->setVisible(!e.refusal);
  set_words(no_operands_, qtext(say::explorer_page::no_operands{}));
  no_operands_->setVisible(e.refusal.has_value());
  show_grid();
  show_errors();
  show_measured();
}

void ExplorerPage::show_kernel() {
  if (shown_ == nullptr) return;
  const analysis::Exploration& e = shown_->exploration;
  const int place = kernel_->currentIndex();
  if (e.refusal || place < 0) {
    on_chip_->set_kernel(nullptr);
    terms_->set_times({});
    set_words(occupancy_, {});
    occupancy_->hide();
    of_kernel_->hide();
    terms_note_->hide();
    return;
  }
  const analysis::ExploredKernel& kernel = e.kernels[static_cast<std::size_t>(place)];
  on_chip_->set_kernel(&kernel);
  of_kernel_->setVisible(e.kernels.size() > 1);
  set_words(of_kernel_, qtext(say::explorer_page::of_kernel{.kernel = kernel.name, .time = text(Nanoseconds(e.ns))}));
  terms_->set_times(
      TermBars::Times{.ns = kernel.time.ns, .terms = kernel.time.terms, .measured = measured_of(kernel.name)});
  set_words(occupancy_,
            qtext(say::explorer_page::occupancy_line{.occupancy = text(Percent(kernel.occupancy.warps_pct)),
                                                     .blocks = kernel.occupancy.blocks_per_sm,
                                                     .limiter = limiter_words(kernel.occupancy.limiter).toStdString(),
                                                     .all = kernel.blocks,
                                                     .waves = number_text(kernel.time.waves)}));
  occupancy_->show();
  set_words(terms_note_, rates_note(*shown_, kernel.time.idle_ns));
  terms_note_->show();
}

void ExplorerPage::show_grid() {
  const analysis::Exploration& e = shown_->exploration;
  if (e.refusal) {
    grid_->set_picture(nullptr, qtext(say::explorer_page::does_not_run{}));
  } else if (!analysis::is_quick_picture(e.point.spec.problem, e.point.spec.tile)) {
    grid_->set_picture(nullptr, qtext(say::explorer_page::working_out{}));
  }
}

void ExplorerPage::show_rule() {
  if (!shown_->choices.m_bytes) return editors_->show_rule_words({});
  const auto& rule = shown_->rule;
  if (!rule) return editors_->show_rule_words(qtext(say::explorer_page::rule_does_not_speak{}));
  const bool keys = rule->outer == TileSide::bc;
  const std::string asked = describe(rule->asked);
  const std::int64_t m = rule->m_bytes / bytes_per_element(shown_->exploration.point.spec.problem.dtype);
  QStringList lines{keys ? qtext(say::explorer_page::rule_of_keys{.tile = asked, .m = m})
                         : qtext(say::explorer_page::rule_of_queries{.tile = asked, .m = m})};
  if (!rule->config) {
    lines << qtext(say::explorer_page::rule_nothing_runs{});
  } else {
    if (rule->config->tile != rule->asked) {
      lines << qtext(say::explorer_page::rule_runs{.tile = describe(rule->config->tile)});
    }
    if (rule->held_back) {
      lines << qtext(say::explorer_page::larger_changes_nothing_because{.why = rule->held_back->reason});
    } else if (rule->larger_changes_nothing) {
      lines << qtext(say::explorer_page::larger_changes_nothing{});
    }
  }
  editors_->show_rule_words(lines.join(QLatin1Char(' ')));
}

void ExplorerPage::show_verdict() {
  const analysis::Exploration& e = shown_->exploration;
  nearest_button_->setVisible(e.nearest.has_value());
  if (!e.refusal) {
    QString line = qtext(say::explorer_page::runs{.time = text(Nanoseconds(e.ns)),
                                                  .rate = text(FlopsPerSecond(e.flops_per_second())),
                                                  .bound = term_title(e.bound()).toStdString()});
    if (e.rates_inherited) {
      line += QLatin1Char(' ') + qtext(say::explorer_page::rates_inherited{.device = e.device});
    }
    return set_words(verdict_, line);
  }
  QString line = qtext(say::explorer_page::refused{.why = e.refusal->reason});
  if (e.nearest) {
    const std::string tile = describe(*e.nearest);
    line += QLatin1Char(' ') + qtext(say::explorer_page::nearest{.tile = tile});
    nearest_button_->setText(qtext(say::explorer_page::take_nearest{.tile = describe(e.nearest->tile)}));
  } else if (e.refusal->cause != Refusal::Cause::architecture && e.point.padding_bytes == 0) {
    line += QLatin1Char(' ') + qtext(say::explorer_page::no_tile_runs{});
  }
  set_words(verdict_, line);
}

void ExplorerPage::show_errors() {
  if (shown_ == nullptr) return;
  const SimulationErrors& errors = workspace_.simulation_errors();
  const PointSpec& spec = shown_->exploration.point.spec;
  const auto line = [&]() -> QString {
    switch (errors.state()) {
      case SimulationErrors::State::unasked:
      case SimulationErrors::State::computing:
        return qtext(say::explorer_page::errors_computing{});
      case SimulationErrors::State::unknown:
        return qtext(say::explorer_page::errors_unknown{.why = errors.why_unknown().toStdString()});
      case SimulationErrors::State::known:
        break;
    }
    const PredictionRow* row = errors.table().figures(QString::fromStdString(spec.algorithm),
                                                      to_qstring(to_string(spec.problem.pass)), QStringLiteral("time"));
    if (row == nullptr) return qtext(say::explorer_page::errors_none{});
    QString words = qtext(
        say::explorer_page::errors_line{.devices = errors.table().devices.join(QStringLiteral(", ")).toStdString(),
                                        .median = text(Share(*row->median)),
                                        .p95 = text(Share(row->p95.value_or(*row->median))),
                                        .problems = row->problems});
    // The sample is played without ceilings.
    if (shown_ == nullptr || shown_->choices.rates == nullptr) return words;
    return words + QLatin1Char(' ') + qtext(say::explorer_page::errors_of_datasheet{});
  };
  set_words(errors_, line());
}

void ExplorerPage::show_figures() {
  if (shown_ == nullptr) return;
  std::vector<FiguresModel::Column> columns{{.title = qtext(say::explorer_page::now{}),
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
      ->set_column_width(columns.size() > 2   ? card_width_beside_pins
                         : columns.size() > 1 ? card_width_beside_one
                                              : card_width);
  figures_view_->fit();
}

void ExplorerPage::show_pins() {
  pin_button_->setEnabled(chosen_.pins.size() < most_pins);
  for (std::size_t i = 0; i < most_pins; ++i) {
    const bool there = i < chosen_.pins.size();
    unpin_buttons_[i]->setVisible(there);
    if (!there) continue;
    const QString words = qtext(
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
  change(std::move(next), qtext(say::explorer_page::did_pin{}));
}

void ExplorerPage::unpin(int place) {
  State next = chosen_;
  if (place < 0 || static_cast<std::size_t>(place) >= next.pins.size()) return;
  next.pins.erase(next.pins.begin() + place);
  change(std::move(next), qtext(say::explorer_page::did_unpin{}));
}

void ExplorerPage::take_default_tile() {
  State next = chosen_;
  PointSpec& spec = next.choices.point.spec;
  next.choices.m_bytes.reset();
  spec.set_config(auto_config(*built_in_algorithms().find(spec.algorithm), spec.problem, limits_of(next.choices)));
  if (next != chosen_) change(std::move(next), qtext(say::explorer_page::did_take_default{}));
}

void ExplorerPage::take_nearest() {
  if (behind() || shown_ == nullptr || !shown_->exploration.nearest) return;
  State next = chosen_;
  next.choices.m_bytes.reset();
  next.choices.point.spec.set_config(*shown_->exploration.nearest);
  change(std::move(next), qtext(say::explorer_page::did_take_nearest{}));
}

void ExplorerPage::fit_editors() {
  // In a low window a scroll bar stands beside the editors, and covers none of them.
  const int least = editors_->minimumSizeHint().width() + editor_area_->verticalScrollBar()->sizeHint().width();
  editor_area_->setFixedWidth(std::max(qRound(editors_width * fontMetrics().height()), least));
}

void ExplorerPage::changeEvent(QEvent* event) {
  Page::changeEvent(event);
  if (event->type() == QEvent::FontChange && editor_area_ != nullptr) fit_editors();
}

void ExplorerPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  fit_editors();  // what an algorithm asks for is known by now
  workspace_.simulation_errors().want();
  measuring_->measurer().find_devices();
  figures_view_->fit();
  operands_view_->fit();
}

}  // namespace attnscope::ui
