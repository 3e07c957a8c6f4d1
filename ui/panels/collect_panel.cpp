// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/collect_panel.h"

#include <QDir>
#include <QEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "kernels/algorithm.h"
#include "ui/format.h"
#include "ui/models/curve_series.h"
#include "ui/theme.h"

namespace attnscope::ui {
namespace {

constexpr int longest_log = 2000;
constexpr int kind_role = Qt::UserRole + 1;  ///< of a log line: the Disposition that it is coloured by
constexpr auto own_axes = "";

QStringList split_axes(const QString& text) {
  static const QRegularExpression gap(QStringLiteral("[\\s;]+"));
  return text.split(gap, Qt::SkipEmptyParts);
}

QStringList split_masks(const QString& text) {
  static const QRegularExpression gap(QStringLiteral("[\\s,;]+"));
  return text.split(gap, Qt::SkipEmptyParts);
}

QString default_database() {
  // Beside what the command line collects.
  const QString folder = QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation);
  return QDir(folder).filePath(QStringLiteral("attnscope/runs/collected.attnscope"));
}

/// "fa2 N 4096 d 128 128x64": what changes from point to point, for a narrow list.
QString shorten(QString point) {
  static const QRegularExpression constant(QStringLiteral(" (fp16|bf16|batch \\d+|heads \\d+(/\\d+)?|tile)(?= )"));
  return point.remove(constant);
}

/// The nearest existing folder above a path must let us write.
bool can_write(const QString& path) {
  const QFileInfo file(path);
  if (file.exists()) return file.isFile() && file.isWritable();
  QFileInfo folder(file.absolutePath());
  while (!folder.exists() && !folder.isRoot()) folder = QFileInfo(folder.absolutePath());
  return folder.isDir() && folder.isWritable();
}

}  // namespace

std::optional<ListedDevice> parse_device(const QByteArray& plan_line, int ordinal) {
  const QByteArray line = plan_line.left(plan_line.indexOf('\n'));
  const auto event = parse_event({line.constData(), static_cast<std::size_t>(line.size())});
  if (!event) return {};
  const auto* plan = std::get_if<PlanEvent>(&*event);
  if (plan == nullptr || plan->simulated || plan->device_name.empty()) return {};
  ListedDevice device{QString::number(ordinal),
                      QStringLiteral("%1 (GPU %2)").arg(QString::fromStdString(plan->device_name)).arg(ordinal),
                      {}};
  if (plan->counters != "available") device.note = QString::fromStdString(plan->counters);
  return device;
}

CollectPanel::CollectPanel(QWidget* parent) : QWidget(parent) {
  build_form();
  connect_collector();
  connect(&probe_, &QProcess::finished, this, [this](int exit_code) {
    auto device = exit_code == 0 ? parse_device(probe_.readAllStandardOutput(), probed_ordinal_) : std::nullopt;
    if (!device) return;  // no GPU of that number: the list is complete
    devices_.insert(devices_.begin() + probed_ordinal_, std::move(*device));
    show_devices();
    probe_device(probed_ordinal_ + 1);
  });
  list_devices();
}

CollectPanel::~CollectPanel() {
  disconnect(&probe_, nullptr, this, nullptr);
  if (probe_.state() != QProcess::NotRunning) {
    probe_.kill();
    probe_.waitForFinished(1000);
  }
}

void CollectPanel::build_form() {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(8, 8, 8, 8);
  column->setSpacing(6);
  auto* form = new QFormLayout;
  form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  form->setHorizontalSpacing(8);
  form->setVerticalSpacing(6);

  const auto shrinkable = [](QComboBox* combo) {
    combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    combo->setMinimumContentsLength(10);
  };
  device_ = new QComboBox(this);
  shrinkable(device_);
  form->addRow(tr("&Device"), device_);

  preset_ = new QComboBox(this);
  shrinkable(preset_);
  for (const PresetInfo& preset : presets()) {
    preset_->addItem(to_qstring(preset.name), to_qstring(preset.name));
    preset_->setItemData(preset_->count() - 1, to_qstring(preset.description), Qt::ToolTipRole);
  }
  preset_->addItem(tr("own axes only"), QString::fromLatin1(own_axes));
  form->addRow(tr("&Preset"), preset_);

  auto* kind_row = new QHBoxLayout;
  kind_row->setSpacing(8);
  pass_ = new QComboBox(this);
  pass_->addItem(tr("preset's"), QString());
  for (const Pass pass : {Pass::fwd, Pass::bwd, Pass::fwd_bwd}) {
    pass_->addItem(to_qstring(to_string(pass)), to_qstring(to_string(pass)));
  }
  pass_->setToolTip(tr("What is measured: the forward pass, the backward pass, or one after the other"));
  mask_ = new QLineEdit(this);
  mask_->setPlaceholderText(tr("preset's"));
  mask_->setClearButtonEnabled(true);
  mask_->setToolTip(
      tr("Masks, separated by blanks:\nfull (or none)   causal   window:LEFT:RIGHT (keys, or inf)\n"
         "lengths:ramp   lengths:300/512/7 (one for each batch entry)\n"
         "blocks:SIZE:butterfly   blocks:SIZE:stride4   blocks:SIZE:random25 (percent)\n"
         "Joined by +, all of them hold: causal+lengths:ramp"));
  auto* mask_label = new QLabel(tr("&Mask"), this);
  mask_label->setBuddy(mask_);
  kind_row->addWidget(pass_);
  kind_row->addWidget(mask_label);
  kind_row->addWidget(mask_, 1);
  auto* pass_label = new QLabel(tr("Pa&ss"), this);
  pass_label->setBuddy(pass_);
  form->addRow(pass_label, kind_row);

  axes_ = new QLineEdit(this);
  axes_->setPlaceholderText(QStringLiteral("N[pow2]=[8,14] d=64"));
  axes_->setToolTip(
      tr("Each axis replaces the preset's, separated by blanks:\nN[pow2]=[8,14]   N=[1024,2048]   "
         "N=[1024:4096:1024]   d=64   dropout=0.1   splits=[1,8]   br=[64,128]   heads=132"));
  axes_->setClearButtonEnabled(true);
  form->addRow(tr("A&xes"), axes_);

  auto* boxes = new QWidget(this);
  auto* box_row = new QHBoxLayout(boxes);
  box_row->setContentsMargins(0, 0, 0, 0);
  for (const Algorithm* algorithm : algorithms()) {
    auto* box = new QCheckBox(short_title(algorithm->name()), boxes);
    box->setToolTip(to_qstring(algorithm->title()));
    box->setProperty("algorithm", to_qstring(algorithm->name()));
    box->setChecked(true);
    box_row->addWidget(box);
    algorithms_.push_back(box);
    connect(box, &QCheckBox::toggled, this, &CollectPanel::validate);
  }
  box_row->addStretch(1);
  form->addRow(tr("Run"), boxes);

  cache_ = new QComboBox(this);
  shrinkable(cache_);
  cache_->addItem(tr("cold: overwritten first"));
  cache_->addItem(tr("warm: as the last launch left it"));
  cache_->setToolTip(tr("State of the L2 when a measured launch begins"));
  form->addRow(tr("L&2"), cache_);

  auto* file_row = new QHBoxLayout;
  file_ = new QLineEdit(default_database(), this);
  file_->setToolTip(tr("New runs are added to this file"));
  auto* browse = new QToolButton(this);
  browse->setText(QStringLiteral("…"));
  browse->setToolTip(tr("Choose the file"));
  browse->setAccessibleName(tr("Choose the file"));
  file_row->addWidget(file_);
  file_row->addWidget(browse);
  auto* file_label = new QLabel(tr("&File"), this);
  file_label->setBuddy(file_);
  form->addRow(file_label, file_row);

  resume_ = new QCheckBox(tr("Continue &unfinished run"), this);
  resume_->setToolTip(
      tr("Points of this sweep that the file's last unfinished run of it has already done are not measured again"));
  form->addRow(QString(), resume_);
  column->addLayout(form);

  plan_ = new QLabel(this);
  plan_->setWordWrap(true);
  plan_->setTextFormat(Qt::PlainText);
  column->addWidget(plan_);

  auto* buttons = new QHBoxLayout;
  start_ = new QPushButton(tr("&Start"), this);
  cancel_ = new QPushButton(tr("&Cancel"), this);
  cancel_->setEnabled(false);
  cancel_->setToolTip(tr("Stops after the launch in flight; points already done are kept"));
  buttons->addWidget(start_);
  buttons->addWidget(cancel_);
  column->addLayout(buttons);

  progress_ = new QProgressBar(this);
  progress_->setTextVisible(true);
  progress_->setFormat(tr("not started"));
  progress_->setRange(0, 1);
  progress_->setValue(0);
  column->addWidget(progress_);

  in_flight_ = new QLabel(this);
  in_flight_->setTextFormat(Qt::PlainText);
  // A long point must not widen the dock.
  in_flight_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  in_flight_->setAccessibleName(tr("Point being measured"));
  in_flight_->hide();
  column->addWidget(in_flight_);

  log_ = new QListWidget(this);
  log_->setUniformItemSizes(true);
  log_->setWordWrap(false);
  log_->setTextElideMode(Qt::ElideRight);
  log_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  log_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  log_->setMinimumHeight(60);
  log_->setAccessibleName(tr("Points as they end"));
  column->addWidget(log_, 1);

  connect(device_, &QComboBox::currentIndexChanged, this, &CollectPanel::validate);
  connect(device_, &QComboBox::activated, this, [this] { device_chosen_ = true; });
  connect(preset_, &QComboBox::currentIndexChanged, this, [this] {
    take_algorithms_of_preset();
    validate();
  });
  take_algorithms_of_preset();
  connect(pass_, &QComboBox::currentIndexChanged, this, &CollectPanel::validate);
  connect(mask_, &QLineEdit::textChanged, this, &CollectPanel::validate);
  connect(axes_, &QLineEdit::textChanged, this, &CollectPanel::validate);
  connect(file_, &QLineEdit::textChanged, this, &CollectPanel::validate);
  connect(browse, &QToolButton::clicked, this, [this] {
    const QString path =
        QFileDialog::getSaveFileName(this, tr("Collect into"), file_->text(), tr("Attnscope files (*.attnscope)"),
                                     nullptr, QFileDialog::DontConfirmOverwrite);
    if (!path.isEmpty()) file_->setText(path);
  });
  connect(start_, &QPushButton::clicked, this, &CollectPanel::start);
  connect(cancel_, &QPushButton::clicked, this, [this] {
    cancel_->setEnabled(false);
    progress_->setFormat(tr("stopping after this launch…"));
    collector_.cancel();
  });
}

void CollectPanel::connect_collector() {
  connect(&collector_, &CollectorProcess::planned, this, [this](const PlanEvent& event) {
    const QString kind = event.simulated ? tr(" (simulated)") : QString();
    log(tr("%1 points on %2%3").arg(event.total).arg(QString::fromStdString(event.device_name), kind), {});
    if (event.skipped > 0) log(tr("%1 already done").arg(event.skipped), {});
    if (!event.counters.empty() && event.counters != "available" && !event.simulated) {
      log(tr("No counters: %1").arg(QString::fromStdString(event.counters)), Disposition::no_counters);
    }
    progress_->setRange(0, static_cast<int>(std::max<std::size_t>(1, event.total)));
    emit collection_started(database_in_use_);
  });
  connect(&collector_, &CollectorProcess::kernel_built, this, [this](const BuildEvent& event) {
    progress_->setFormat(tr("compiling kernels, %1 of %2").arg(event.done).arg(event.total));
    if (!event.error.empty()) {
      log(tr("%1 does not compile").arg(QString::fromStdString(event.kernel)), Disposition::compile_error,
          QString::fromStdString(event.error));
    }
  });
  connect(&collector_, &CollectorProcess::point_started, this, [this](const StartedEvent& event) {
    const QString point = QString::fromStdString(event.point);
    in_flight_->setText(shorten(point));
    in_flight_->setToolTip(tr("Being measured: %1").arg(point));
    in_flight_->show();
  });
  connect(&collector_, &CollectorProcess::point_done, this, [this](const PointEvent& event) {
    const auto disposition = parse_disposition(event.disposition);
    const QString point = QString::fromStdString(event.point);
    QString text = shorten(point);
    if (disposition && *disposition == Disposition::ok) {
      if (event.time_median_ns > 0) text += QStringLiteral("  ") + format_duration(event.time_median_ns);
      if (event.throttled) text += tr("  throttled");
    } else {
      text = QString::fromStdString(event.disposition) + QStringLiteral(": ") + text;
    }
    QString tip = point;
    if (!event.reason.empty()) tip += QLatin1Char('\n') + QString::fromStdString(event.reason);
    if (event.dram_bytes > 0) tip += tr("\nDRAM %1").arg(format_bytes(event.dram_bytes));
    if (event.l2_sm_bytes > 0) tip += tr("\nSM↔L2 %1").arg(format_bytes(event.l2_sm_bytes));
    log(text, disposition ? *disposition : Disposition::crashed, tip);
    emit collection_grew(database_in_use_);
  });
  connect(&collector_, &CollectorProcess::progressed, this, [this](const ProgressEvent& event) {
    progress_->setMaximum(static_cast<int>(std::max<std::size_t>(1, event.total)));
    progress_->setValue(static_cast<int>(event.done));
    QString text = tr("%1 of %2").arg(event.done).arg(event.total);
    if (event.remaining_s >= 0) text += tr(" · %1 left").arg(format_wait(event.remaining_s));
    if (cancel_->isEnabled()) progress_->setFormat(text);
  });
  connect(&collector_, &CollectorProcess::logged, this, [this](const LogEvent& event) {
    const Disposition severity = event.level == "error"     ? Disposition::crashed
                                 : event.level == "warning" ? Disposition::no_counters
                                                            : Disposition::infeasible;
    log(QString::fromStdString(event.text), severity);
  });
  connect(&collector_, &CollectorProcess::finished, this, [this](const DoneEvent& done) {
    progress_->setValue(progress_->maximum());
    ended(tr("done: %1 ok, %2 not").arg(done.ok).arg(done.not_ok));
  });
  connect(&collector_, &CollectorProcess::cancelled, this,
          [this](const DoneEvent& done) { ended(tr("cancelled: %1 points are kept").arg(done.ok + done.not_ok)); });
  connect(&collector_, &CollectorProcess::failed, this, [this](const QString& reason) {
    ended(tr("failed"));
    log(reason, Disposition::crashed, reason);
    emit trouble(reason);
  });
  connect(&collector_, &CollectorProcess::crashed, this, [this](const QString& reason) {
    ended(tr("the collector crashed"));
    log(reason, Disposition::crashed, reason);
    emit trouble(reason);
  });
}

std::vector<ListedDevice> CollectPanel::simulated_devices() const {
  std::vector<ListedDevice> devices;
  for (const DeviceLimits& gpu : known_gpus()) {
    QString name = to_qstring(gpu.name);
    QString word = QString(name).remove(QStringLiteral("NVIDIA "));
    devices.push_back({QStringLiteral("simulated:") + word, tr("Simulated %1").arg(word), {}});
  }
  return devices;
}

void CollectPanel::take_algorithms_of_preset() {
  SweepRequest request;
  request.preset = preset_->currentData().toString().toStdString();
  if (request.preset.empty()) return;
  const auto plan = make_plan(request, known_gpus().front());
  if (!plan) return;
  for (QCheckBox* box : algorithms_) {
    const std::string name = box->property("algorithm").toString().toStdString();
    const QSignalBlocker quiet(box);
    box->setChecked(std::any_of(plan->points.begin(), plan->points.end(),
                                [&](const PointSpec& point) { return point.algorithm == name; }));
  }
}

void CollectPanel::list_devices() {
  devices_ = simulated_devices();
  show_devices();
  probe_device(0);
}

void CollectPanel::probe_device(int ordinal) {
  const QString program = find_collector();
  if (program.isEmpty() || probe_.state() != QProcess::NotRunning) return;
  probed_ordinal_ = ordinal;
  probe_.start(program, {QStringLiteral("collect"), QStringLiteral("--dry-run"), QStringLiteral("--jsonl"),
                         QStringLiteral("--preset"), QStringLiteral("quick"), QStringLiteral("--device"),
                         QString::number(ordinal)});
}

void CollectPanel::show_devices() {
  // The first GPU becomes the choice when it is found; one made by hand stays.
  const QString current = device_chosen_ ? device_->currentData().toString() : QString();
  {
    const QSignalBlocker quiet(device_);
    device_->clear();
    for (const ListedDevice& device : devices_) {
      device_->addItem(device.name, device.argument);
      device_->setItemData(device_->count() - 1, device.note, Qt::ToolTipRole);
    }
    device_->setCurrentIndex(std::max(0, device_->findData(current)));
  }
  validate();
}

QStringList CollectPanel::axes() const {
  QStringList axes = split_axes(axes_->text());
  const QString pass = pass_->currentData().toString();
  if (!pass.isEmpty()) axes << QStringLiteral("pass=") + pass;
  const QStringList masks = split_masks(mask_->text());
  if (masks.size() == 1) axes << QStringLiteral("mask=") + masks.front();
  if (masks.size() > 1) axes << QStringLiteral("mask=[%1]").arg(masks.join(QLatin1Char(',')));
  return axes;
}

SweepRequest CollectPanel::sweep_request(QString* error) const {
  SweepRequest request;
  request.preset = preset_->currentData().toString().toStdString();
  for (const QString& text : split_masks(mask_->text())) {
    if (const auto mask = parse_mask(text.toStdString()); !mask) {
      *error = QString::fromStdString(mask.error());
      return request;
    }
  }
  for (const QString& text : axes()) {
    auto axis = parse_axis(text.toStdString());
    if (!axis) {
      *error = QString::fromStdString(axis.error());
      return request;
    }
    request.axes.push_back(std::move(*axis));
  }
  for (const QCheckBox* box : algorithms_) {
    if (box->isChecked()) request.algorithms.push_back(box->property("algorithm").toString().toStdString());
  }
  request.cache = cache_->currentIndex() == 1 ? CacheState::warm : CacheState::cold;
  return request;
}

QString CollectPanel::blocker() const {
  return blocker_;
}

void CollectPanel::validate() {
  blocker_.clear();
  QString plan_text;
  QString error;
  const SweepRequest request = sweep_request(&error);
  if (collector_.running()) {
    blocker_ = tr("A collection is running.");
  } else if (find_collector().isEmpty()) {
    blocker_ = tr("The program “attnscope” was not found beside this one or in PATH.");
  } else if (!error.isEmpty()) {
    blocker_ = error;
  } else if (request.algorithms.empty()) {
    blocker_ = tr("Choose at least one algorithm.");
  } else if (request.preset.empty() && request.axes.empty()) {
    blocker_ = tr("Write at least one axis, or choose a preset.");
  } else if (file_->text().trimmed().isEmpty()) {
    blocker_ = tr("Name the file to collect into.");
  } else if (!can_write(file_->text())) {
    blocker_ = tr("%1 cannot be written.").arg(file_->text());
  } else {
    QString name = device_->currentText();
    name.remove(QStringLiteral("Simulated ")).remove(QRegularExpression(QStringLiteral(" \\(GPU \\d+\\)$")));
    const DeviceLimits* limits = find_gpu(name.toStdString());
    const auto plan = make_plan(request, limits != nullptr ? *limits : known_gpus().front());
    if (!plan) {
      blocker_ = QString::fromStdString(plan.error());
    } else {
      plan_text = tr("%1 points on %2.").arg(plan->points.size()).arg(device_->currentText());
      const auto chosen = static_cast<std::size_t>(std::max(0, device_->currentIndex()));
      if (chosen < devices_.size() && !devices_[chosen].note.isEmpty()) {
        plan_text += QLatin1Char('\n') + tr("No counters: %1").arg(devices_[chosen].note);
      }
    }
  }
  const PlotColors colors = plot_colors(palette());
  const bool waiting = collector_.running();
  QPalette ink = palette();
  ink.setColor(QPalette::WindowText,
               blocker_.isEmpty() || waiting ? colors.muted : disposition_color(Disposition::crashed, colors.dark));
  plan_->setPalette(ink);
  plan_->setText(blocker_.isEmpty() ? plan_text : blocker_);
  start_->setEnabled(blocker_.isEmpty());
  start_->setToolTip(blocker_);
}

CollectRequest CollectPanel::request() const {
  CollectRequest request;
  request.preset = preset_->currentData().toString();
  request.axes = axes();
  for (const QCheckBox* box : algorithms_) {
    if (box->isChecked()) request.algorithms << box->property("algorithm").toString();
  }
  request.device = device_->currentData().toString();
  request.warm_cache = cache_->currentIndex() == 1;
  request.resume = resume_->isChecked();
  request.database = file_->text().trimmed();
  return request;
}

void CollectPanel::set_preset(const QString& name) {
  preset_->setCurrentIndex(preset_->findData(name));
}

void CollectPanel::set_axes(const QString& text) {
  axes_->setText(text);
}

void CollectPanel::set_pass(const QString& word) {
  pass_->setCurrentIndex(pass_->findData(word));
}

void CollectPanel::set_masks(const QString& text) {
  mask_->setText(text);
}

void CollectPanel::set_database(const QString& path) {
  file_->setText(path);
}

void CollectPanel::set_resume(bool on) {
  resume_->setChecked(on);
}

QString CollectPanel::in_flight() const {
  return in_flight_->text();
}

void CollectPanel::start() {
  const CollectRequest wanted = request();
  QDir().mkpath(QFileInfo(wanted.database).absolutePath());
  database_in_use_ = wanted.database;
  log_->clear();
  progress_->setRange(0, 0);
  progress_->setFormat(tr("starting…"));
  cancel_->setEnabled(true);
  collector_.start(wanted);
  validate();
}

void CollectPanel::ended(const QString& summary) {
  cancel_->setEnabled(false);
  in_flight_->clear();
  in_flight_->hide();
  if (progress_->maximum() == 0) progress_->setRange(0, 1);
  progress_->setFormat(summary);
  log(summary, {});
  emit collection_ended(database_in_use_);
  validate();
}

void CollectPanel::log(const QString& text, std::optional<Disposition> kind, const QString& tip) {
  auto* item = new QListWidgetItem(text);
  if (kind) {
    item->setData(kind_role, static_cast<int>(*kind));
    item->setForeground(disposition_color(*kind, plot_colors(palette()).dark));
  }
  item->setToolTip(tip.isEmpty() ? text : tip);
  const bool at_end = log_->count() == 0 || log_->indexAt(log_->viewport()->rect().bottomLeft()).row() < 0 ||
                      log_->indexAt(log_->viewport()->rect().bottomLeft()).row() >= log_->count() - 2;
  log_->addItem(item);
  if (log_->count() > longest_log) delete log_->takeItem(0);
  if (at_end) log_->scrollToBottom();
}

void CollectPanel::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && plan_ != nullptr && start_ != nullptr) {
    // setPalette on the label would otherwise keep the old theme's colours.
    plan_->setPalette({});
    validate();
    const bool dark = plot_colors(palette()).dark;
    for (int row = 0; row < log_->count(); ++row) {
      const QVariant kind = log_->item(row)->data(kind_role);
      if (kind.isValid())
        log_->item(row)->setForeground(disposition_color(static_cast<Disposition>(kind.toInt()), dark));
    }
  }
}

}  // namespace attnscope::ui
