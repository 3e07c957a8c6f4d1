// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/explorer/explorer_page.h"

#include <QEvent>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QMessageBox>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QUndoCommand>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "kernels/tile_table.h"
#include "messages/explorer_page.h"
#include "profiler/files/gpu_file.h"
#include "profiler/plan/fields.h"
#include "profiler/predict/explored_tables.h"
#include "profiler/predict/unit_utilization.h"
#include "ui/models/result_model.h"
#include "ui/pages/explorer/cards.h"
#include "ui/pages/explorer/choice_editors.h"
#include "ui/pages/explorer/measurement_card.h"
#include "ui/pages/explorer/on_chip_map.h"
#include "ui/pages/explorer/operand_bars.h"
#include "ui/pages/explorer/unit_bars.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/widgets/elided_label.h"

namespace attnscope::ui {
namespace {

constexpr int card_width_with_pin = 540;

}  // namespace

/// Undo command from one state to another; changes of one slider drag are merged.
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

/// Returns the kernel whose block exceeds its limits most.
int kernel_with_max_overrun(const std::vector<analysis::ExploredKernel>& kernels) {
  const auto most = std::ranges::max_element(kernels, {}, [](const analysis::ExploredKernel& kernel) {
    return std::max(kernel.shared.overrun(), kernel.registers.overrun());
  });
  return static_cast<int>(most - kernels.begin());
}

std::shared_ptr<const ExplorerResult> compute_in_background(const ExplorerChoices& choices,
                                                            const StaleCheck& /*outdated*/) {
  return std::make_shared<const ExplorerResult>(compute_result(choices));
}

}  // namespace

ExplorerPage::ExplorerPage(Workspace& workspace, QWidget* parent)
    : Page(parent),
      workspace_(workspace),
      explored_(compute_in_background,
                [this](const std::shared_ptr<const ExplorerResult>& explored) { accept_result(explored); }),
      explored_pin_(compute_in_background, [this](const std::shared_ptr<const ExplorerResult>& pin) {
        pin_result_ = pin;
        show_figures();
      }) {
  wait_for(explored_);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(10, 8, 10, 6);
  column->setSpacing(6);
  build_bar();
  editor_area_ = new QWidget(this);
  auto* editors = new QVBoxLayout(editor_area_);
  editors->setContentsMargins(0, 0, 0, 0);
  build_editors();
  column->addWidget(editor_area_);
  build_verdict();
  build_cards();
  connect_measurement_card();
  column->addWidget(card_area_, 1);
  column->addWidget(measuring_);

  connect(&workspace_, &Workspace::runs_changed, this, &ExplorerPage::update_device_list);
  connect(&workspace_, &Workspace::runs_changed, this, &ExplorerPage::update_algorithm_list);
  connect(&workspace_, &Workspace::ceilings_changed, this, &ExplorerPage::update_rates);
  connect(&workspace_, &Workspace::points_changed, this, &ExplorerPage::mark_stale);
  register_choices();
  apply({.choices = default_choices(), .pin = {}});
}

void ExplorerPage::update_device_list() {
  const QSignalBlocker quiet(device_);
  device_->clear();
  for (const DeviceLimits& gpu : known_gpus()) device_->addItem(QString::fromStdString(gpu.name));
  for (const auto& gpu : opened_gpus_) device_->addItem(QString::fromStdString(gpu->name));
  for (const LoadedRun& run : workspace_.runs()) {
    const QString name = QString::fromStdString(run.info->summary.device_name);
    if (device_->findText(name) >= 0 || recorded_gpu(workspace_, name.toStdString()) == nullptr) continue;
    device_->addItem(name);
  }
  // The explored GPU stays in the list even if its file is closed.
  const QString chosen = QString::fromStdString(chosen_.choices.device);
  if (device_->findText(chosen) < 0) device_->addItem(chosen);
  device_->setCurrentIndex(device_->findText(chosen));
}

void ExplorerPage::choose_gpu_file() {
  const QString file = QFileDialog::getOpenFileName(this, qtext(msg::explorer_page::open_gpu_title{}), {},
                                                    qtext(msg::explorer_page::open_gpu_filter{}));
  if (file.isEmpty()) return;
  const QString wrong = open_gpu(file);
  if (wrong.isEmpty()) return;
  auto* box =
      new QMessageBox(QMessageBox::Warning, qtext(msg::explorer_page::open_gpu_title{}), {}, QMessageBox::Ok, this);
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->setTextFormat(Qt::PlainText);
  box->setText(wrong);
  box->open();
}

QString ExplorerPage::open_gpu(const QString& file) {
  auto read = read_gpu(file.toStdString());
  if (!read) return to_qstring(read.error());
  const auto gpu = std::make_shared<const DeviceLimits>(std::move(*read));
  std::erase_if(opened_gpus_, [&](const auto& opened) { return opened->name == gpu->name; });
  opened_gpus_.push_back(gpu);
  State next = chosen_;
  next.choices.device = gpu->name;
  next.choices.custom_limits = gpu;
  change(std::move(next), qtext(msg::explorer_page::did_choose{.what = "device"}));
  update_device_list();
  return {};
}

bool ExplorerPage::choose_gpu(ExplorerChoices& choices, const QString& name) const {
  const auto opened = std::ranges::find(opened_gpus_, name.toStdString(), [](const auto& gpu) { return gpu->name; });
  if (opened == opened_gpus_.end() && choose(choices, QStringLiteral("device"), name).ok()) return true;
  const auto custom = opened != opened_gpus_.end() ? *opened : recorded_gpu(workspace_, name.toStdString());
  if (custom == nullptr) return false;
  choices.device = custom->name;
  choices.custom_limits = custom;
  return true;
}

bool ExplorerPage::apply_point(ExplorerChoices& choices, const PointSpec& spec, const QString& gpu) const {
  // Converts through texts: a point of a file may have values that no built-in kernel accepts.
  const QJsonObject point = to_json({.point = {.spec = spec}, .device = chosen_.choices.device});
  choices = default_choices();
  choices.device = chosen_.choices.device;
  apply_json(point, choices);
  return choose_gpu(choices, gpu);
}

void ExplorerPage::show_measured() {
  const bool runs = shown_ != nullptr && !shown_->exploration.refusal && !results_outdated_;
  measuring_->show_choices(chosen_.choices, runs);
}

void ExplorerPage::measure() {
  recompute();
  // If results are outdated, the rule has not picked the tile for M yet.
  if (!results_outdated_) measuring_->measure();
}

void ExplorerPage::sweep_around() {
  recompute();
  if (!results_outdated_) measuring_->sweep_around();
}

QWidget* ExplorerPage::view() {
  return findChild<QSpinBox*>(QStringLiteral("br"));
}

void ExplorerPage::register_choices() {
  choices().add(
      [this](QJsonObject& state) {
        state[QStringLiteral("choices")] = to_json(chosen_.choices);
        state[QStringLiteral("pin")] = chosen_.pin ? to_json(*chosen_.pin) : QJsonObject();
        state[QStringLiteral("around")] = measuring_->steps().value();
        state[QStringLiteral("more")] = QJsonObject{{QStringLiteral("problem"), editors_->shows_more_of_problem()},
                                                    {QStringLiteral("tile"), editors_->shows_more_of_tile()}};
      },
      [this](const QJsonObject& state) {
        const QJsonObject choices = state[QStringLiteral("choices")].toObject();
        if (!choices.isEmpty()) chosen_.choices.what_if = {};  // What-if factors are saved only if set.
        apply_json(choices, chosen_.choices);
        (void)choose_gpu(chosen_.choices, choices[QStringLiteral("device")].toString());
        const QJsonObject more = state[QStringLiteral("more")].toObject();
        editors_->set_more(more[QStringLiteral("problem")].toBool(), more[QStringLiteral("tile")].toBool());
        measuring_->steps().setValue(state[QStringLiteral("around")].toInt(measuring_->steps().value()));
        if (!state[QStringLiteral("pin")].isObject()) return;
        chosen_.pin.reset();
        const QJsonObject pin = state[QStringLiteral("pin")].toObject();
        if (pin.isEmpty()) return;
        apply_json(pin, chosen_.pin.emplace(default_choices()));
        (void)choose_gpu(*chosen_.pin, pin[QStringLiteral("device")].toString());
      });
}

void ExplorerPage::show_choices() {
  undo_.clear();
  apply(State(chosen_));
}

std::vector<std::pair<QString, QString>> ExplorerPage::shortcuts() const {
  return {{qtext(msg::explorer_page::keys_undo{}), qtext(msg::explorer_page::key_undo{})}};
}

bool ExplorerPage::explore(const PointSpec& spec, const QString& gpu) {
  State next = chosen_;
  const bool known = apply_point(next.choices, spec, gpu);
  change(std::move(next), qtext(msg::explorer_page::did_show{}));
  return known;
}

bool ExplorerPage::pin_point(const PointSpec& spec, const QString& gpu) {
  State next = chosen_;
  ExplorerChoices pinned;
  const bool known = apply_point(pinned, spec, gpu);
  next.pin = std::move(pinned);
  if (next != chosen_) change(std::move(next), qtext(msg::explorer_page::did_pin{}));
  return known;
}

void ExplorerPage::explore_algorithm(const std::string& name) {
  State next = chosen_;
  next.choices = with_algorithm(chosen_.choices, name);
  if (next != chosen_) change(std::move(next), qtext(msg::explorer_page::did_choose{.what = "algorithm"}));
}

void ExplorerPage::handle_sources_saved() {
  measuring_->measurer().restart_collector();  // A collector process loads the sources once, so restart it.
}

QString ExplorerPage::pending_work_text() const {
  return measuring_->measurer().open() > 0 ? measuring_->pending_points_text() : QString();
}

void ExplorerPage::cancel_work() {
  measuring_->measurer().cancel();
}

void ExplorerPage::edit(const QString& name, const QString& text, int gesture) {
  State next = chosen_;
  const auto done = choose(next.choices, name, text);
  const bool listed = !done && name == QLatin1String("device") && choose_gpu(next.choices, text);
  if (!done && !listed) return editors_->show_error(name, qtext(done.error()));
  editors_->show_error(name, {});
  if (next == chosen_) return;
  change(std::move(next), qtext(msg::explorer_page::did_choose{.what = name.toStdString()}), name, gesture);
}

void ExplorerPage::change(State next, const QString& words, const QString& what, int gesture) {
  undo_.push(new Change(*this, chosen_, std::move(next), words, what, gesture));
}

void ExplorerPage::apply(const State& state) {
  scroll_to_result_ = false;
  chosen_ = state;
  results_outdated_ = true;
  explored_.discard();  // A pending result would belong to the previous choices.
  // Coalesces all changes of one event loop iteration into one computation.
  if (queued_) return;
  queued_ = true;
  QMetaObject::invokeMethod(this, &ExplorerPage::recompute, Qt::QueuedConnection);
}

void ExplorerPage::update_rates() {
  pin_result_.reset();
  apply(State(chosen_));
}

void ExplorerPage::recompute() {
  if (!queued_) return;
  queued_ = false;
  chosen_.choices.rates = rates_measured_on(chosen_.choices, workspace_);
  if (chosen_.pin) chosen_.pin->rates = rates_measured_on(*chosen_.pin, workspace_);
  const ExplorerChoices& choices = chosen_.choices;
  add_new_kernels();
  {
    const QSignalBlocker quiet_algorithm(algorithm_);
    const QSignalBlocker quiet_device(device_);
    algorithm_->setCurrentIndex(algorithm_->findData(QString::fromStdString(choices.point.spec.algorithm)));
    device_->setCurrentIndex(device_->findText(QString::fromStdString(choices.device)));
  }
  editors_->show_choices(choices);
  show_pin();
  compute_pin();
  const bool quick = analysis::is_fast_to_model(choices.point.spec.problem);
  if (!quick) set_label_text(verdict_, qtext(msg::explorer_page::calculating{}));
  explored_.request(choices, quick ? 0 : always_in_background);
  if (!quick) show_measured();
}

void ExplorerPage::accept_result(std::shared_ptr<const ExplorerResult> explored) {
  shown_ = std::move(explored);
  results_outdated_ = false;
  // Shows the tile that the rule derived from M.
  chosen_.choices = shown_->choices;
  editors_->show_choices(chosen_.choices);
  show_explored();
}

void ExplorerPage::show_explored() {
  editors_->show_rule_text(rule_text(*shown_));
  show_verdict();
  const analysis::Exploration& e = shown_->exploration;
  {
    const QSignalBlocker quiet(kernel_);
    const QString before = kernel_->currentText();
    QStringList names;
    const std::vector<analysis::ExploredKernel>& kernels = e.refusal ? e.overrun : e.kernels;
    for (const analysis::ExploredKernel& kernel : kernels) names << QString::fromStdString(kernel.name);
    QStringList shown_names;
    for (int i = 0; i < kernel_->count(); ++i) shown_names << kernel_->itemText(i);
    if (names != shown_names) {
      kernel_->clear();
      kernel_->addItems(names);
      kernel_->setCurrentIndex(names.contains(before) ? static_cast<int>(names.indexOf(before))
                               : kernels.empty()      ? -1
                               : e.refusal            ? kernel_with_max_overrun(kernels)
                                                      : static_cast<int>(e.longest()));
    }
    kernel_->setVisible(names.size() > 1);
  }
  show_kernel();
  show_figures();
  operands_->update_table(std::make_shared<const analysis::Table>(analysis::operands_table(e)));
  operands_view_->refresh();
  for (QWidget* each : result_cards_) each->setVisible(!e.refusal);
  measured_card_->setVisible(measuring_->table()->model()->rowCount() > 0);
  show_measured();
}

void ExplorerPage::show_kernel() {
  if (shown_ == nullptr) return;
  const analysis::Exploration& e = shown_->exploration;
  const int place = kernel_->currentIndex();
  if (e.refusal || place < 0) {
    on_chip_->set_kernel(e.overrun.empty() ? nullptr : &e.overrun[static_cast<std::size_t>(std::max(0, place))]);
    unit_bars_->set_times({});
    show_text(occupancy_, {});
    measuring_->show_recorded({});
    return;
  }
  const analysis::ExploredKernel& kernel = e.kernels[static_cast<std::size_t>(place)];
  on_chip_->set_kernel(&kernel);
  const bool several = e.kernels.size() > 1 || e.sharing;
  const std::string whole = text(Nanoseconds(e.ns));
  const QString of_kernel = !several || !e.can_predict_time ? QString()
                            : e.sharing
                                ? qtext(msg::explorer_page::of_shared_kernel{.kernel = kernel.name, .time = whole})
                                : qtext(msg::explorer_page::of_kernel{.kernel = kernel.name, .time = whole});
  const PointRecord* record = measured_record();
  const std::string name = several ? kernel.name : "all";
  std::optional<UnitBars::MeasuredValues> measured;
  if (record != nullptr) measured = measured_values(*record, name, limits_of(shown_->choices));
  UnitBars::Times times{.measured = measured};
  if (e.can_predict_time) {
    times.ns = kernel.time.ns;
    times.light = analysis::speed_of_light({&kernel.time, 1});
  }
  unit_bars_->set_times(e.can_predict_time || measured ? std::optional(times) : std::nullopt,
                        e.times_validated ? qtext(msg::explorer_page::untimed{})
                                          : qtext(msg::prediction::time_not_validated{.device = e.device}));
  show_text(occupancy_, occupancy_text(kernel));
  QString note;
  if (e.can_predict_time) {
    note = rates_note(*shown_);
    if (measured && record->provenance == Provenance::simulated) {
      note.prepend(qtext(msg::explorer_page::by_construction{}) + QLatin1Char(' '));
    }
  } else if (measured) {
    const auto bound = analysis::counted_bound(*record, name);
    note = bound ? qtext(analysis::display_text(*bound)) : qtext(msg::explorer_page::untimed{});
  }
  show_time_title(of_kernel.isEmpty() ? note : of_kernel + QLatin1Char('\n') + note);
  const auto time = record != nullptr ? evaluate(metric_key::time_median_ns, *record) : std::nullopt;
  measuring_->show_recorded(time ? std::optional(MeasurementCard::RecordedTime{
                                       .ns = time->value, .provenance = time->provenance, .predicted_ns = e.ns})
                                 : std::nullopt);
}

void ExplorerPage::show_time_title(const QString& note) {
  const analysis::Exploration& e = shown_->exploration;
  const analysis::ErrorRow* errors = e.can_predict_time ? published_errors(*shown_) : nullptr;
  const std::string time = text(Nanoseconds(e.ns));
  set_label_text(time_title_.text,
                 !e.can_predict_time ? qtext(msg::explorer_page::predicted_time{})
                 : errors == nullptr
                     ? qtext(msg::explorer_page::unvalidated_heading{.time = time})
                     : qtext(msg::explorer_page::predicted_heading{
                           .median = text(Share(errors->median)), .p95 = text(Share(errors->p95)), .time = time}));
  QStringList info{note, prediction_text(*shown_)};
  info.removeAll(QString());
  time_title_.info->set_text(info.join(QLatin1Char('\n')));
}

void ExplorerPage::show_recorded() {
  show_kernel();
  if (shown_ != nullptr && !shown_->exploration.can_predict_time) show_figures();
}

const PointRecord* ExplorerPage::measured_record() {
  const ExplorerChoices& choices = shown_->choices;
  if (const PointRecord* record = measuring_->measurer().record_of(choices)) return record;
  file_record_ = recorded_point(workspace_, records_, choices);
  return file_record_.get();
}

std::optional<PinnedPoint> ExplorerPage::pinned_point() {
  if (!chosen_.pin) return std::nullopt;
  const QString title = short_title(*chosen_.pin);
  if (const PointRecord* record = measuring_->measurer().record_of(*chosen_.pin))
    return PinnedPoint{title, std::make_shared<const PointRecord>(*record)};
  auto record = recorded_point(workspace_, records_, *chosen_.pin);
  return record == nullptr ? std::nullopt : std::optional(PinnedPoint{title, std::move(record)});
}

void ExplorerPage::show_verdict() {
  const std::optional<Config>& nearest = shown_->exploration.nearest;
  const std::optional<Config>& fastest = shown_->exploration.fastest;
  const auto show_button = [](QPushButton* button, const std::optional<Config>& tile, bool shown) {
    if (tile) button->setText(qtext(msg::explorer_page::use_nearest{.tile = describe(tile->tile)}));
    button->setVisible(tile && shown);
  };
  show_button(nearest_button_, nearest, true);
  show_button(fastest_button_, fastest, fastest != nearest);
  set_label_text(verdict_, verdict_text(shown_->exploration));
  verdict_->setToolTip(plain_tooltip(verdict_->text()));
}

void ExplorerPage::show_figures() {
  if (shown_ == nullptr) return;
  const analysis::Exploration& now = shown_->exploration;
  const bool counted = !now.refusal && !now.can_predict_time;
  const auto column = [](const QString& title, const ExplorerResult& of) {
    const std::string help =
        text(msg::explorer_page::column_help{.device = of.choices.device, .point = describe(of.choices.point.spec)});
    return analysis::ExploredColumn{.title = title.toStdString(), .help = help, .exploration = &of.exploration};
  };
  analysis::ExploredColumn chosen = column(qtext(msg::explorer_page::now{}), *shown_);
  chosen.measured = counted ? measured_record() : nullptr;
  std::optional<analysis::ExploredColumn> pin;
  if (pin_result_) pin = column(QStringLiteral("A · ") + short_title(pin_result_->choices), *pin_result_);
  figures_->update_table(
      std::make_shared<const analysis::Table>(analysis::exploration_table(chosen, pin, known_algorithms())));
  set_label_text(figures_title_.text,
                 pin_result_
                     ? qtext(msg::explorer_page::against_pin{.what = short_title(pin_result_->choices).toStdString()})
                     : qtext(msg::explorer_page::figures{}));
  static_cast<CardLayout*>(card_area_->widget()->layout())->set_column_width(pin ? card_width_with_pin : card_width);
  figures_view_->fit();
}

void ExplorerPage::show_pin() {
  emit pin_changed();
  unpin_button_->setVisible(chosen_.pin.has_value());
  if (!chosen_.pin) return;
  const QString words = qtext(msg::explorer_page::unpin{.what = short_title(*chosen_.pin).toStdString()});
  unpin_button_->setToolTip(plain_tooltip(words));
  unpin_button_->setAccessibleName(words);
}

void ExplorerPage::compute_pin() {
  if (pin_result_ && chosen_.pin && (pin_result_->asked == *chosen_.pin || pin_result_->choices == *chosen_.pin))
    return;
  pin_result_.reset();
  explored_pin_.discard();
  if (!chosen_.pin) return;
  explored_pin_.request(*chosen_.pin,
                        analysis::is_fast_to_model(chosen_.pin->point.spec.problem) ? 0 : always_in_background);
}

void ExplorerPage::pin() {
  if (shown_ == nullptr || has_stale_results()) return;
  State next = chosen_;
  next.pin = shown_->choices;
  pin_result_ = shown_;
  if (next != chosen_) change(std::move(next), qtext(msg::explorer_page::did_pin{}));
}

void ExplorerPage::unpin() {
  State next = chosen_;
  next.pin.reset();
  if (next != chosen_) change(std::move(next), qtext(msg::explorer_page::did_unpin{}));
}

void ExplorerPage::choose_default_tile() {
  State next = chosen_;
  PointSpec& spec = next.choices.point.spec;
  next.choices.m_bytes.reset();
  spec.set_config(auto_config(*known_algorithms().find(spec.algorithm), spec.problem, limits_of(next.choices)));
  if (next != chosen_) change(std::move(next), qtext(msg::explorer_page::did_use_default{}));
}

void ExplorerPage::use_tile(const std::optional<Config>& tile, const QString& words) {
  if (has_stale_results() || !tile) return;
  State next = chosen_;
  next.choices.m_bytes.reset();
  next.choices.point.spec.set_config(*tile);
  change(std::move(next), words);
}

void ExplorerPage::choose_nearest_tile() {
  if (shown_ != nullptr) use_tile(shown_->exploration.nearest, qtext(msg::explorer_page::did_use_nearest{}));
}

void ExplorerPage::choose_fastest_tile() {
  if (shown_ != nullptr) use_tile(shown_->exploration.fastest, qtext(msg::explorer_page::did_use_fastest{}));
}

void ExplorerPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  measuring_->measurer().find_devices();
  figures_view_->fit();
}

}  // namespace attnscope::ui
