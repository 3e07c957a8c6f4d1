// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/collect_panel.h"

#include <fmt/format.h>

#include <QDir>
#include <QEvent>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QJsonArray>
#include <QListWidget>
#include <QRegularExpression>
#include <QResizeEvent>
#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>
#include <algorithm>
#include <limits>
#include <utility>

#include "messages/ceilings_page.h"
#include "messages/collect_panel.h"
#include "storage/run_store.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"
#include "ui/widgets/elided_label.h"

namespace attnscope::ui {
namespace {

/// Returns the parts that vary between points, "fa2 N 4096 d 128 128x64", for a narrow list.
QString shorten(QString point) {
  static const QRegularExpression constant(QStringLiteral(" (fp16|bf16|batch \\d+|heads \\d+(/\\d+)?|tile)(?= )"));
  return point.remove(constant);
}

/// Returns whether the file still has the run and the run is not complete; both may have changed since.
bool is_unfinished(const QString& file, qint64 run) {
  try {
    const std::vector<RunSummary> runs = RunStore::open(file.toStdString(), RunStore::Mode::read_only).runs();
    const auto found = std::ranges::find(runs, run, &RunSummary::id);
    return found != runs.end() && found->state != StoredRunState::complete;
  } catch (const FileError&) {
    return false;
  }
}

/// Replaces command-line options in a message by the names of their controls.
QString with_control_names(QString words) {
  const std::string control = qtext(msg::collect_panel::resume{}).remove(QLatin1Char('&')).toStdString();
  words.replace(QLatin1String("--resume -o"), qtext(msg::collect_panel::resume_into{.control = control}));
  return words.replace(QLatin1String("--resume"), qtext(msg::collect_panel::resume_control{.control = control}));
}

/// Scroll area as high as the form, or lower if the window is too low.
class FormArea : public QScrollArea {
 public:
  FormArea(QWidget* form, QWidget* parent) : QScrollArea(parent) {
    setWidget(form);
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::NoFocus);  // with focus, the area would scroll to its focused child
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
    // In a low window the vertical scroll bar appears next to the form; in a narrow one it scrolls horizontally.
    constexpr int narrow = 230;
    setMinimumWidth(std::min(narrow, form->minimumSizeHint().width() + verticalScrollBar()->sizeHint().width()));
  }
  [[nodiscard]] QSize sizeHint() const override {
    const int height = widget()->layout()->totalHeightForWidth(std::max(width(), minimumWidth()));
    return {minimumWidth(), std::max(height, widget()->sizeHint().height())};
  }

 protected:
  void resizeEvent(QResizeEvent* event) override {
    QScrollArea::resizeEvent(event);
    if (event->oldSize().width() != event->size().width()) updateGeometry();
  }
};

}  // namespace

/// Log of a collection, one line per event, colored by disposition.
class CollectLog : public QListWidget {
 public:
  explicit CollectLog(QWidget* parent) : QListWidget(parent) {
    setUniformItemSizes(true);
    setWordWrap(false);
    setTextElideMode(Qt::ElideMiddle);  // The time is at the end.
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setSelectionMode(QAbstractItemView::ExtendedSelection);
    setMinimumHeight(60);
    setAccessibleName(qtext(msg::collect_panel::log_name{}));
  }
  [[nodiscard]] QSize sizeHint() const override { return {256, 96}; }

  /// `kind` sets the color. Scrolls to the end unless the user has scrolled away.
  void add(const QString& text, std::optional<Disposition> kind, const QString& tip = {}) {
    constexpr int max_lines = 2000;
    auto* item = new QListWidgetItem(text);
    if (kind) item->setData(kind_role, static_cast<int>(*kind));
    color(*item);
    item->setToolTip(plain_tooltip(tip.isEmpty() ? text : tip));
    const int lowest = indexAt(viewport()->rect().bottomLeft()).row();
    const bool at_end = lowest < 0 || lowest >= count() - 2;
    addItem(item);
    if (count() > max_lines) delete takeItem(0);
    if (at_end) scrollToBottom();
  }

 protected:
  void changeEvent(QEvent* event) override {
    QListWidget::changeEvent(event);
    if (event->type() != QEvent::PaletteChange) return;
    for (int row = 0; row < count(); ++row) color(*item(row));
  }

 private:
  static constexpr int kind_role = Qt::UserRole + 1;
  void color(QListWidgetItem& item) const {
    const QVariant kind = item.data(kind_role);
    if (!kind.isValid()) return;
    item.setForeground(disposition_color(static_cast<Disposition>(kind.toInt()), plot_colors(palette()).dark));
  }
};

CollectPanel::CollectPanel(QWidget* parent) : QWidget(parent) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(8, 8, 8, 8);
  column->setSpacing(6);
  form_ = new CollectForm(this);
  column->addWidget(new FormArea(form_, this));
  plan_ = new QLabel(this);
  plan_->setWordWrap(true);
  plan_->setTextFormat(Qt::PlainText);
  plan_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);  // a long file name must not widen the window
  column->addWidget(plan_);
  add_buttons();
  add_progress();
  add_resume_row();
  log_ = new CollectLog(this);
  column->addWidget(log_, 1);

  connect(form_, &CollectForm::changed, this, &CollectPanel::validate);
  connect_progress();
  connect_end();
  validate();
}

void CollectPanel::add_buttons() {
  auto* buttons = new QHBoxLayout;
  start_ = new QPushButton(qtext(msg::collect_panel::start{}), this);
  start_->setObjectName(QStringLiteral("start"));
  cancel_ = new QPushButton(qtext(msg::collect_panel::cancel{}), this);
  cancel_->setEnabled(false);
  cancel_->setToolTip(qtext(msg::collect_panel::cancel_help{}));
  buttons->addWidget(start_);
  buttons->addWidget(cancel_);
  static_cast<QVBoxLayout*>(layout())->addLayout(buttons);
  connect(start_, &QPushButton::clicked, this, [this] {
    unfinished_.reset();
    const CollectRequest request = form_->request();
    start(request.arguments(), request.database);
  });
  connect(cancel_, &QPushButton::clicked, this, &CollectPanel::cancel);
}

void CollectPanel::add_resume_row() {
  resume_row_ = new QWidget(this);
  auto* buttons = new QHBoxLayout(resume_row_);
  buttons->setContentsMargins(0, 0, 0, 0);
  auto* resume = new QPushButton(qtext(msg::collect_panel::resume_now{}), resume_row_);
  resume->setObjectName(QStringLiteral("resume"));
  auto* discard = new QPushButton(qtext(msg::collect_panel::discard{}), resume_row_);
  discard->setObjectName(QStringLiteral("discard"));
  discard->setToolTip(qtext(msg::collect_panel::discard_help{}));
  buttons->addWidget(resume);
  buttons->addWidget(discard);
  layout()->addWidget(resume_row_);
  connect(resume, &QPushButton::clicked, this, &CollectPanel::resume);
  connect(discard, &QPushButton::clicked, this, &CollectPanel::discard);
}

void CollectPanel::add_progress() {
  progress_ = new QProgressBar(this);
  progress_->setTextVisible(true);
  progress_->setFormat(qtext(msg::collect_panel::not_started{}));
  progress_->setRange(0, 1);
  progress_->setValue(0);
  layout()->addWidget(progress_);

  in_flight_ = new ElidedLabel(this);
  // A long point description must not widen the dock.
  in_flight_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  in_flight_->setObjectName(QStringLiteral("current-point"));
  in_flight_->setAccessibleName(qtext(msg::collect_panel::current_point{}));
  in_flight_->hide();
  layout()->addWidget(in_flight_);
}

void CollectPanel::connect_progress() {
  connect(&collector_, &CollectorProcess::planned, this, &CollectPanel::show_plan);
  connect(&collector_, &CollectorProcess::point_done, this, &CollectPanel::show_point);
  connect(&collector_, &CollectorProcess::kernel_built, this, [this](const BuildEvent& event) {
    progress_->setFormat(qtext(msg::collect_panel::compiling{.done = event.done, .total = event.total}));
    if (!event.error.empty()) {
      log_->add(qtext("{} does not compile", event.kernel), Disposition::compile_error, qtext(event.error));
    }
  });
  connect(&collector_, &CollectorProcess::point_started, this, [this](const StartedEvent& event) {
    const QString point = QString::fromStdString(event.point);
    in_flight_->setText(shorten(point));
    in_flight_->setToolTip(plain_tooltip(qtext(msg::collect_panel::measuring{.point = event.point})));
    in_flight_->show();
  });
  connect(&collector_, &CollectorProcess::progressed, this, &CollectPanel::show_progress);
  connect(&collector_, &CollectorProcess::logged, this, [this](const LogEvent& event) {
    const Disposition severity = event.level == "error"     ? Disposition::crashed
                                 : event.level == "warning" ? Disposition::no_counters
                                                            : Disposition::infeasible;
    const QString words = with_control_names(QString::fromStdString(event.text));
    log_->add(words, severity);
    if (work_) said_ << words;
  });
}

void CollectPanel::show_progress(const ProgressEvent& event) {
  const std::size_t total = std::max<std::size_t>(1, event.total);
  if (unfinished_ && !work_) {
    unfinished_->done = event.done;
    unfinished_->total = event.total;
  }
  progress_->setMaximum(static_cast<int>(total));
  progress_->setValue(static_cast<int>(event.done));
  if (stopping_) return;
  if (work_) {
    const std::size_t percent = 100 * event.done / total;
    const QString words = qtext(msg::ceilings_page::measuring{.device = work_->name.toStdString(), .percent = percent});
    progress_->setFormat(words);
    emit ceilings_progressed(words);
    return;
  }
  progress_->setFormat(event.remaining_s < 0
                           ? qtext(msg::collect_panel::progress{.done = event.done, .total = event.total})
                           : qtext(msg::collect_panel::progress_with_remaining{
                                 .done = event.done, .rest = text(Seconds(event.remaining_s)), .total = event.total}));
}

void CollectPanel::connect_end() {
  connect(&collector_, &CollectorProcess::finished, this, [this](const DoneEvent& done) {
    progress_->setValue(progress_->maximum());
    if (work_) {
      finish(qtext(msg::collect_panel::measured{.file = one_line(database_in_use_).toStdString()}));
      return emit ceilings_measured(*work_);
    }
    unfinished_.reset();
    finish(qtext(msg::collect_panel::done{.not_ok = done.not_ok, .ok = done.ok}));
  });
  connect(&collector_, &CollectorProcess::cancelled, this, [this](const DoneEvent& done) {
    if (work_) return finish(qtext(done.reason.empty() ? "Cancelled; nothing was stored." : done.reason));
    finish(stop_text(true, qtext(msg::collect_panel::cancelled{})));
  });
  const auto failed = [this](const QString& summary, const QString& said_by_collector) {
    const QString reason = with_control_names(said_by_collector);
    finish(work_ ? summary : stop_text(false, summary));
    log_->add(reason, Disposition::crashed, reason);
    emit error_occurred(reason);
  };
  connect(&collector_, &CollectorProcess::failed, this,
          [failed](const QString& reason) { failed(qtext(msg::collect_panel::failed{}), reason); });
  connect(&collector_, &CollectorProcess::crashed, this,
          [failed](const QString& reason) { failed(qtext(msg::collect_panel::crashed{}), reason); });
}

void CollectPanel::show_plan(const PlanEvent& event) {
  const Message points = points_text(event.total, event.rounds);
  const std::string device =
      event.devices.size() > 1 ? fmt::format("{} × {}", event.devices.size(), event.device_name) : event.device_name;
  log_->add(event.simulated ? qtext(msg::collect_panel::points_on_simulated{.device = device, .points = points})
                            : qtext(msg::collect_panel::points_on{.device = device, .points = points}),
            {});
  if (event.skipped > 0) log_->add(qtext(msg::collect_panel::already_done{.points = event.skipped}), {});
  if (!event.counters.empty() && event.counters != "available" && !event.simulated) {
    log_->add(qtext("No counters: {}", event.counters), Disposition::no_counters);
  }
  progress_->setRange(0, static_cast<int>(std::max<std::size_t>(1, event.total)));
  run_ = event.run_id;
  unfinished_ = Unfinished{arguments_, database_in_use_, run_, event.skipped, event.total};
  emit collection_started(database_in_use_, run_);
}

void CollectPanel::show_point(const PointEvent& event) {
  const auto disposition = parse_disposition(event.disposition);
  const QString point = QString::fromStdString(event.point);
  QString text = shorten(point);
  if (disposition && *disposition == Disposition::ok) {
    const QString gap = QStringLiteral("  ");
    if (event.time_median_ns > 0) text += gap + qtext(Nanoseconds(event.time_median_ns));
    if (event.throttled) text += gap + qtext(msg::collect_panel::throttled{});
    if (event.provenance == attnscope::to_string(Provenance::extrapolated)) {
      text += gap + qtext(msg::collect_panel::extrapolated{});
    }
  } else {
    text = QString::fromStdString(event.disposition) + QStringLiteral(": ") + text;
  }
  QString tip = point;
  if (!event.reason.empty()) tip += QLatin1Char('\n') + qtext(event.reason);
  const auto add = [&tip](const Message& line) { tip += QLatin1Char('\n') + qtext(line); };
  if (event.dram_bytes > 0) add(msg::collect_panel::dram{.bytes = attnscope::text(Bytes(event.dram_bytes))});
  if (event.l2_sm_bytes > 0) add(msg::collect_panel::sm_l2{.bytes = attnscope::text(Bytes(event.l2_sm_bytes))});
  log_->add(text, disposition ? *disposition : Disposition::crashed, tip);
  emit points_stored(database_in_use_);
}

void CollectPanel::validate() {
  const bool running = collector_.is_running();
  const CollectForm::Verdict verdict = form_->check();
  const QString blocker = running ? qtext(msg::collect_panel::running{}) : verdict.problem;
  const PlotColors colors = plot_colors(palette());
  QPalette ink = palette();
  ink.setColor(QPalette::WindowText,
               blocker.isEmpty() || running ? colors.muted : disposition_color(Disposition::crashed, colors.dark));
  plan_->setPalette(ink);
  plan_->setText(blocker.isEmpty() ? verdict.plan : blocker);
  plan_->setToolTip(plain_tooltip(plan_->text()));
  start_->setEnabled(blocker.isEmpty());
  start_->setToolTip(plain_tooltip(blocker));
  resume_row_->setVisible(unfinished_ && !running);
}

void CollectPanel::prepare_start(const QString& database) {
  QDir().mkpath(QFileInfo(database).absolutePath());
  database_in_use_ = database;
  run_ = 0;
  log_->clear();
  progress_->setRange(0, 0);
  progress_->setFormat(qtext(msg::collect_panel::starting{}));
  stopping_ = false;
  cancel_->setEnabled(true);
  emit begin_requested();
}

void CollectPanel::start(const QStringList& arguments, const QString& database) {
  arguments_ = arguments;
  prepare_start(database);
  work_.reset();
  collector_.start_collector(arguments);
  validate();
}

void CollectPanel::resume() {
  if (!unfinished_ || collector_.is_running()) return;
  QStringList arguments = unfinished_->arguments;
  if (!arguments.contains(QLatin1String("--resume"))) arguments.insert(2, QStringLiteral("--resume"));
  start(arguments, QString(unfinished_->database));
}

void CollectPanel::discard() {
  const std::optional<Unfinished> discarded = std::exchange(unfinished_, std::nullopt);
  progress_->setRange(0, 1);
  progress_->setValue(0);
  progress_->setFormat(qtext(msg::collect_panel::not_started{}));
  validate();
  if (!discarded || !is_unfinished(discarded->database, discarded->run)) return;
  emit edit_requested(discarded->database,
                      {QStringLiteral("--run=%1").arg(discarded->run), QStringLiteral("--delete")});
}

QString CollectPanel::stop_text(bool cancelled, const QString& otherwise) const {
  if (!unfinished_) return otherwise;
  const auto [done, total] = std::pair(unfinished_->done, unfinished_->total);
  return cancelled ? qtext(msg::collect_panel::cancelled_at{.done = done, .total = total})
                   : qtext(msg::collect_panel::stopped_at{.done = done, .total = total});
}

QJsonObject CollectPanel::state() const {
  QJsonObject state = form_->state();
  if (unfinished_) {
    state[unfinished_key()] =
        QJsonObject{{QStringLiteral("arguments"), QJsonArray::fromStringList(unfinished_->arguments)},
                    {QStringLiteral("file"), unfinished_->database},
                    {QStringLiteral("run"), unfinished_->run},
                    {QStringLiteral("done"), static_cast<qint64>(unfinished_->done)},
                    {QStringLiteral("total"), static_cast<qint64>(unfinished_->total)},
                    {QStringLiteral("running"), collector_.is_running() && !work_}};
  }
  return state;
}

void CollectPanel::restore(const QJsonObject& state) {
  form_->restore(state);
  const QJsonObject saved = state[unfinished_key()].toObject();
  const QStringList arguments = saved[QStringLiteral("arguments")].toVariant().toStringList();
  const QString database = saved[QStringLiteral("file")].toString();
  const auto count = [&](const char* key) {
    constexpr qint64 most = std::numeric_limits<int>::max();
    return static_cast<std::size_t>(std::clamp<qint64>(saved[QLatin1String(key)].toInteger(), 0, most));
  };
  const qint64 run = saved[QStringLiteral("run")].toInteger();
  if (collector_.is_running() || !QFileInfo::exists(database) || !is_unfinished(database, run)) return;
  const std::size_t total = count("total");
  unfinished_ = Unfinished{arguments, database, run, std::min(count("done"), total), total};
  const bool crashed = saved[QStringLiteral("running")].toBool();
  progress_->setRange(0, static_cast<int>(std::max<std::size_t>(1, unfinished_->total)));
  progress_->setValue(static_cast<int>(unfinished_->done));
  progress_->setFormat(stop_text(!crashed, {}));
  validate();
  if (crashed) emit interruption_found(progress_->format());
}

void CollectPanel::measure(const CeilingsTask& work) {
  if (collector_.is_running()) return;
  prepare_start(work.database);
  work_ = work;
  said_.clear();
  const std::string device = work.name.toStdString();
  log_->add(qtext(msg::collect_panel::ceilings_of{.device = device}), {});
  collector_.start_collector(work.arguments());
  validate();
  if (!collector_.is_running()) return;  // failed to start; the error has been reported
  emit ceilings_progressed(qtext(msg::ceilings_page::preparing{.device = device}));
}

void CollectPanel::cancel() {
  if (std::exchange(stopping_, true)) return;
  cancel_->setEnabled(false);
  progress_->setFormat(qtext(msg::collect_panel::stopping{}));
  collector_.cancel();
}

void CollectPanel::finish(const QString& summary) {
  stopping_ = false;
  cancel_->setEnabled(false);
  in_flight_->clear();
  in_flight_->hide();
  if (progress_->maximum() == 0) progress_->setRange(0, 1);
  progress_->setFormat(summary);
  log_->add(summary, {});
  if (work_) emit ceilings_progressed((said_ + QStringList{summary}).join(QLatin1Char('\n')));
  emit collection_ended(database_in_use_, run_);
  validate();
}

void CollectPanel::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && start_ != nullptr && log_ != nullptr) {
    // Otherwise the label would keep the old theme's colors.
    plan_->setPalette({});
    validate();
  }
}

}  // namespace attnscope::ui
