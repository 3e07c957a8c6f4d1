// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/explorer/explorer_page.h"

#include <QFileDialog>
#include <QSignalBlocker>
#include <QUndoCommand>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "kernels/tile_table.h"
#include "messages/explorer_page.h"
#include "messages/prediction.h"
#include "profiler/files/gpu_file.h"
#include "profiler/predict/explored_tables.h"
#include "profiler/predict/unit_utilization.h"
#include "ui/models/result_model.h"
#include "ui/pages/explorer/point_measurer.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
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

}  // namespace

ExplorerPage::ExplorerPage(Workspace& workspace, QWidget* parent)
    : Page(parent),
      workspace_(workspace),
      explored_(&ExplorerPage::compute, [this](Results results) { show_results(std::move(results)); }) {
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
  column->addWidget(card_area_, 1);
  column->addWidget(measuring_);

  connect(&workspace_, &Workspace::runs_changed, this, &ExplorerPage::update_device_list);
  connect(&workspace_, &Workspace::runs_changed, this, &ExplorerPage::update_algorithm_list);
  connect(&workspace_, &Workspace::ceilings_changed, this, [this] {
    pin_result_.reset();
    apply(State(chosen_));
  });
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
  if (const QString wrong = open_gpu(file); !wrong.isEmpty()) verdict_->setText(wrong);
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

void ExplorerPage::measure(void (MeasurementCard::*how)()) {
  recompute();
  // If results are outdated, the rule has not picked the tile for M yet.
  if (!results_outdated_) (measuring_->*how)();
}

void ExplorerPage::register_choices() {
  choices().add(
      [this](QJsonObject& state) {
        state[QStringLiteral("choices")] = to_json(chosen_.choices);
        state[QStringLiteral("pin")] = chosen_.pin ? to_json(*chosen_.pin) : QJsonObject();
        state[QStringLiteral("around")] = measuring_->steps().value();
        state[QStringLiteral("more")] = editors_->shown_groups();
      },
      [this](const QJsonObject& state) {
        const QJsonObject choices = state[QStringLiteral("choices")].toObject();
        if (!choices.isEmpty()) chosen_.choices.what_if = {};  // What-if factors are saved only if set.
        apply_json(choices, chosen_.choices);
        (void)choose_gpu(chosen_.choices, choices[QStringLiteral("device")].toString());
        editors_->show_groups(state[QStringLiteral("more")].toObject());
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
  chosen_ = state;
  results_outdated_ = true;
  explored_.discard();  // A pending result would belong to the previous choices.
  // Coalesces all changes of one event loop iteration into one computation.
  if (queued_) return;
  queued_ = true;
  QMetaObject::invokeMethod(this, &ExplorerPage::recompute, Qt::QueuedConnection);
}

ExplorerPage::Results ExplorerPage::compute(const Request& request, const StaleCheck& /*outdated*/) {
  Results results{.shown = std::make_shared<const ExplorerResult>(compute_result(request.state.choices)), .pin = {}};
  if (const auto& pin = request.state.pin) {
    const bool known = request.pin != nullptr && (request.pin->asked == *pin || request.pin->choices == *pin);
    results.pin = known ? request.pin : std::make_shared<const ExplorerResult>(compute_result(*pin));
  }
  return results;
}

void ExplorerPage::recompute() {
  if (!std::exchange(queued_, false)) return;
  chosen_.choices.rates = rates_measured_on(chosen_.choices, workspace_);
  if (chosen_.pin) chosen_.pin->rates = rates_measured_on(*chosen_.pin, workspace_);
  const ExplorerChoices& choices = chosen_.choices;
  update_algorithm_list();
  if (known_algorithms().knobs().size() != editor_knob_count_) build_editors();
  {
    const QSignalBlocker quiet_algorithm(algorithm_);
    const QSignalBlocker quiet_device(device_);
    algorithm_->setCurrentIndex(algorithm_->findData(QString::fromStdString(choices.point.spec.algorithm)));
    device_->setCurrentIndex(device_->findText(QString::fromStdString(choices.device)));
  }
  editors_->show_choices(choices);
  show_pin();
  const bool quick =
      analysis::is_fast_to_model(choices.point.spec.problem) &&
      (!chosen_.pin || pin_result_ != nullptr || analysis::is_fast_to_model(chosen_.pin->point.spec.problem));
  if (!quick) verdict_->setText(qtext(msg::explorer_page::calculating{}));
  explored_.request({chosen_, pin_result_}, quick ? 0 : always_in_background);
  if (!quick) show_measured();
}

void ExplorerPage::show_results(Results results) {
  shown_ = std::move(results.shown);
  pin_result_ = std::move(results.pin);
  results_outdated_ = false;
  // Shows the tile that the rule derived from M.
  chosen_.choices = shown_->choices;
  editors_->show_choices(chosen_.choices);
  editors_->show_rule_text(rule_text(*shown_));
  show_verdict();
  show_kernel_list();
  show_kernel();
  show_figures();
  operand_bars_->set_lines(ui::operand_bars(shown_->exploration));
  for (QWidget* each : result_cards_) each->setVisible(!shown_->exploration.refusal);
  show_measured();
}

void ExplorerPage::show_kernel_list() {
  const analysis::Exploration& e = shown_->exploration;
  const std::vector<analysis::ExploredKernel>& kernels = e.refusal ? e.overrun : e.kernels;
  QStringList names;
  for (const analysis::ExploredKernel& kernel : kernels) names << QString::fromStdString(kernel.name);
  QStringList shown_names;
  for (int i = 0; i < kernel_->count(); ++i) shown_names << kernel_->itemText(i);
  kernel_->setVisible(names.size() > 1);
  if (names == shown_names) return;
  const QSignalBlocker quiet(kernel_);
  const auto before = names.indexOf(kernel_->currentText());
  kernel_->clear();
  kernel_->addItems(names);
  kernel_->setCurrentIndex(before >= 0       ? static_cast<int>(before)
                           : kernels.empty() ? -1
                           : e.refusal       ? kernel_with_max_overrun(kernels)
                                             : static_cast<int>(e.longest()));
}

void ExplorerPage::show_kernel() {
  if (shown_ == nullptr) return;
  const analysis::Exploration& e = shown_->exploration;
  const int place = kernel_->currentIndex();
  if (e.refusal || place < 0) {
    on_chip_->set_kernel(e.overrun.empty() ? nullptr : &e.overrun[static_cast<std::size_t>(std::max(0, place))]);
    time_bars_->set_lines({}, qtext(msg::explorer_page::infeasible_configuration{}));
    occupancy_->hide();
    return measuring_->show_recorded({});
  }
  const analysis::ExploredKernel& kernel = e.kernels[static_cast<std::size_t>(place)];
  on_chip_->set_kernel(&kernel);
  occupancy_->setText(occupancy_text(kernel));
  occupancy_->setVisible(!occupancy_->text().isEmpty());
  const bool several = e.kernels.size() > 1 || e.sharing;
  const auto record = measured(shown_->choices);
  const std::string name = several ? kernel.name : "all";
  const bool has_time = record != nullptr && evaluate(metric_key::time_median_ns, *record, name).has_value();
  time_bars_->set_lines(
      ui::time_bars(e.can_predict_time ? &kernel.time : nullptr, record.get(), name, limits_of(shown_->choices)),
      e.times_validated ? qtext(msg::explorer_page::untimed{})
                        : qtext(msg::prediction::time_not_validated{.device = e.device}));
  QStringList notes;
  if (e.can_predict_time) {
    const std::string whole = text(Nanoseconds(e.ns));
    if (e.sharing) {
      notes << qtext(msg::explorer_page::of_shared_kernel{.kernel = kernel.name, .time = whole});
    } else if (several) {
      notes << qtext(msg::explorer_page::of_kernel{.kernel = kernel.name, .time = whole});
    }
    QString rates = rates_note(*shown_);
    if (has_time && record->provenance == Provenance::simulated) {
      rates.prepend(qtext(msg::explorer_page::by_construction{}) + QLatin1Char(' '));
    }
    notes << rates;
  } else if (has_time) {
    const auto bound = analysis::counted_bound(*record, name);
    notes << (bound ? qtext(analysis::display_text(*bound)) : qtext(msg::explorer_page::untimed{}));
  }
  show_time_title(notes.join(QLatin1Char('\n')));
  const auto time = record == nullptr ? std::nullopt : evaluate(metric_key::time_median_ns, *record);
  measuring_->show_recorded(time ? std::optional(MeasurementCard::RecordedTime{
                                       .ns = time->value, .provenance = time->provenance, .predicted_ns = e.ns})
                                 : std::nullopt);
}

void ExplorerPage::show_time_title(const QString& note) {
  const analysis::Exploration& e = shown_->exploration;
  const analysis::ErrorRow* errors = e.can_predict_time ? published_errors(*shown_) : nullptr;
  const std::string time = text(Nanoseconds(e.ns));
  time_title_.text->setText(
      !e.can_predict_time ? qtext(msg::explorer_page::predicted_time{})
      : errors == nullptr ? qtext(msg::explorer_page::unvalidated_heading{.time = time})
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

std::shared_ptr<const PointRecord> ExplorerPage::measured(const ExplorerChoices& choices) {
  auto record = measuring_->measurer().record_of(choices);
  return record != nullptr ? record : recorded_point(workspace_, records_, choices);
}

std::optional<PinnedPoint> ExplorerPage::pinned_point() {
  auto record = chosen_.pin ? measured(*chosen_.pin) : nullptr;
  return record == nullptr ? std::nullopt : std::optional(PinnedPoint{short_title(*chosen_.pin), std::move(record)});
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
  verdict_->setText(verdict_text(shown_->exploration));
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
  const auto record = counted ? measured(shown_->choices) : nullptr;
  chosen.measured = record.get();
  std::optional<analysis::ExploredColumn> pin;
  if (pin_result_) pin = column(QStringLiteral("A · ") + short_title(pin_result_->choices), *pin_result_);
  figures_->update_table(
      std::make_shared<const analysis::Table>(analysis::exploration_table(chosen, pin, known_algorithms())));
  figures_title_.text->setText(
      pin_result_ ? qtext(msg::explorer_page::against_pin{.what = short_title(pin_result_->choices).toStdString()})
                  : qtext(msg::explorer_page::figures{}));
  constexpr int card_width_with_pin = 540;
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

void ExplorerPage::pin() {
  if (shown_ == nullptr || has_stale_results()) return;
  State next = chosen_;
  next.pin = shown_->choices;
  pin_result_ = shown_;
  if (next != chosen_) change(std::move(next), qtext(msg::explorer_page::did_pin{}));
}

void ExplorerPage::use_config(const Config& config, const QString& words) {
  State next = chosen_;
  next.choices.m_bytes.reset();
  next.choices.point.spec.set_config(config);
  if (next != chosen_) change(std::move(next), words);
}

void ExplorerPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  measuring_->measurer().find_devices();
  figures_view_->fit();
}

}  // namespace attnscope::ui
