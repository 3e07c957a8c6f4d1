// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/collect_form.h"
#include "kernels/registry.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QRegularExpression>
#include <QSignalBlocker>
#include <QStandardPaths>
#include <QToolButton>
#include <algorithm>

#include "kernels/algorithm.h"
#include "ui/format.h"
#include "ui/models/curve_series.h"
#include "ui/pages/flow_layout.h"

namespace attnscope::ui {
namespace {

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

/// The nearest existing folder above a path must let us write.
bool can_write(const QString& path) {
  const QFileInfo file(path);
  if (file.exists()) return file.isFile() && file.isWritable();
  QFileInfo folder(file.absolutePath());
  while (!folder.exists() && !folder.isRoot()) folder = QFileInfo(folder.absolutePath());
  return folder.isDir() && folder.isWritable();
}

/// A combo box that a narrow dock may shorten.
QComboBox* shrinkable_combo(QWidget* parent) {
  auto* combo = new QComboBox(parent);
  combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  combo->setMinimumContentsLength(10);
  return combo;
}

}  // namespace

CollectForm::CollectForm(QWidget* parent) : QWidget(parent) {
  auto* form = new QFormLayout(this);
  form->setContentsMargins(0, 0, 0, 0);
  form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  form->setHorizontalSpacing(8);
  form->setVerticalSpacing(6);
  add_device_and_preset(*form);
  add_pass_and_mask(*form);
  add_axes_and_algorithms(*form);
  add_cache(*form);
  add_file(*form);
  take_algorithms_of_preset();
  connect_fields();
  devices_.probe();
}

void CollectForm::add_device_and_preset(QFormLayout& form) {
  device_ = shrinkable_combo(this);
  form.addRow(tr("&Device"), device_);
  preset_ = shrinkable_combo(this);
  for (const PresetInfo& preset : presets()) {
    preset_->addItem(to_qstring(preset.name), to_qstring(preset.name));
    preset_->setItemData(preset_->count() - 1, to_qstring(preset.description), Qt::ToolTipRole);
  }
  preset_->addItem(tr("own axes only"), QString::fromLatin1(own_axes));
  form.addRow(tr("&Preset"), preset_);
}

void CollectForm::add_pass_and_mask(QFormLayout& form) {
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
  auto* row = new QHBoxLayout;
  row->setSpacing(8);
  row->addWidget(pass_);
  row->addWidget(mask_label);
  row->addWidget(mask_, 1);
  auto* pass_label = new QLabel(tr("P&ass"), this);
  pass_label->setBuddy(pass_);
  form.addRow(pass_label, row);
}

void CollectForm::add_axes_and_algorithms(QFormLayout& form) {
  axes_ = new QLineEdit(this);
  axes_->setPlaceholderText(QStringLiteral("N[pow2]=[8,14] d=64"));
  axes_->setToolTip(
      tr("Each axis replaces the preset's, separated by blanks:\nN[pow2]=[8,14]   N=[1024,2048]   "
         "N=[1024:4096:1024]   d=64   dropout=0.1   splits=[1,8]   br=[64,128]   heads=132"));
  axes_->setClearButtonEnabled(true);
  form.addRow(tr("A&xes"), axes_);

  auto* boxes = new QWidget(this);
  auto* flow = new FlowLayout(boxes, 8);
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    auto* box = new QCheckBox(short_title(algorithm->name()), boxes);
    box->setToolTip(to_qstring(algorithm->facts().title));
    box->setProperty("algorithm", to_qstring(algorithm->name()));
    box->setChecked(true);
    flow->addWidget(box);
    algorithms_.push_back(box);
  }
  form.addRow(tr("Run"), boxes);
}

void CollectForm::add_cache(QFormLayout& form) {
  cache_ = shrinkable_combo(this);
  cache_->addItem(tr("cold: overwritten first"));
  cache_->addItem(tr("warm: as the last launch left it"));
  cache_->setToolTip(tr("State of the L2 when a measured launch begins"));
  form.addRow(tr("L&2"), cache_);
}

void CollectForm::add_file(QFormLayout& form) {
  file_ = new QLineEdit(default_database(), this);
  file_->setToolTip(tr("New runs are added to this file"));
  auto* browse = new QToolButton(this);
  browse->setText(QStringLiteral("…"));
  browse->setToolTip(tr("Choose the file"));
  browse->setAccessibleName(tr("Choose the file"));
  connect(browse, &QToolButton::clicked, this, &CollectForm::choose_file);
  auto* row = new QHBoxLayout;
  row->addWidget(file_);
  row->addWidget(browse);
  auto* label = new QLabel(tr("F&ile"), this);  // not F, which is the menu's
  label->setBuddy(file_);
  form.addRow(label, row);

  resume_ = new QCheckBox(tr("Continue &unfinished run"), this);
  resume_->setToolTip(
      tr("Points of this sweep that the file's last unfinished run of it has already done are not measured again"));
  form.addRow(QString(), resume_);
}

void CollectForm::connect_fields() {
  connect(&devices_, &DeviceList::changed, this, &CollectForm::show_devices);
  connect(device_, &QComboBox::activated, this, [this] { device_chosen_ = true; });
  connect(preset_, &QComboBox::currentIndexChanged, this, [this] {
    take_algorithms_of_preset();
    emit changed();
  });
  for (QComboBox* combo : {device_, pass_, cache_}) {
    connect(combo, &QComboBox::currentIndexChanged, this, &CollectForm::changed);
  }
  for (QLineEdit* field : {mask_, axes_, file_}) connect(field, &QLineEdit::textChanged, this, &CollectForm::changed);
  for (QCheckBox* box : algorithms_) connect(box, &QCheckBox::toggled, this, &CollectForm::changed);
}

void CollectForm::choose_file() {
  const QString path =
      QFileDialog::getSaveFileName(this, tr("Collect into"), file_->text(), tr("Attnscope files (*.attnscope)"),
                                   nullptr, QFileDialog::DontConfirmOverwrite);
  if (!path.isEmpty()) file_->setText(path);
}

void CollectForm::show_devices() {
  // The first GPU becomes the choice when it is found; one made by hand stays.
  const QString current = device_chosen_ ? device_->currentData().toString() : QString();
  {
    const QSignalBlocker quiet(device_);
    device_->clear();
    for (const ListedDevice& device : devices_.devices()) {
      device_->addItem(device.name, device.argument);
      device_->setItemData(device_->count() - 1, device.note, Qt::ToolTipRole);
    }
    device_->setCurrentIndex(std::max(0, device_->findData(current)));
  }
  emit changed();
}

void CollectForm::take_algorithms_of_preset() {
  SweepRequest request;
  request.preset = preset_->currentData().toString().toStdString();
  if (request.preset.empty()) return;
  const auto plan = make_plan(request, devices_.limits_of(device_->currentData().toString()), built_in_algorithms());
  if (!plan) return;
  for (QCheckBox* box : algorithms_) {
    const std::string name = box->property("algorithm").toString().toStdString();
    const QSignalBlocker quiet(box);
    box->setChecked(std::any_of(plan->points.begin(), plan->points.end(),
                                [&](const PointSpec& point) { return point.algorithm == name; }));
  }
}

QStringList CollectForm::axes() const {
  QStringList axes = split_axes(axes_->text());
  const QString pass = pass_->currentData().toString();
  if (!pass.isEmpty()) axes << QStringLiteral("pass=") + pass;
  const QStringList masks = split_masks(mask_->text());
  if (masks.size() == 1) axes << QStringLiteral("mask=") + masks.front();
  if (masks.size() > 1) axes << QStringLiteral("mask=[%1]").arg(masks.join(QLatin1Char(',')));
  return axes;
}

SweepRequest CollectForm::sweep_request(QString* error) const {
  SweepRequest request;
  request.preset = preset_->currentData().toString().toStdString();
  for (const QString& text : split_masks(mask_->text())) {
    if (const auto mask = parse_mask(text.toStdString()); !mask) {
      *error = QString::fromStdString(mask.error());
      return request;
    }
  }
  for (const QString& text : axes()) {
    auto axis = parse_axis(text.toStdString(), built_in_algorithms());
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

CollectForm::Verdict CollectForm::check() const {
  QString error;
  const SweepRequest request = sweep_request(&error);
  if (find_collector().isEmpty()) {
    return {tr("The program “attnscope” was not found beside this one or in PATH."), {}};
  }
  if (!error.isEmpty()) return {error, {}};
  if (request.algorithms.empty()) return {tr("Choose at least one algorithm."), {}};
  if (request.preset.empty() && request.axes.empty()) {
    return {tr("Write at least one axis, or choose a preset."), {}};
  }
  if (file_->text().trimmed().isEmpty()) return {tr("Name the file to collect into."), {}};
  if (!can_write(file_->text())) return {tr("%1 cannot be written.").arg(file_->text()), {}};
  const QString device = device_->currentData().toString();
  const auto plan = make_plan(request, devices_.limits_of(device), built_in_algorithms());
  if (!plan) return {QString::fromStdString(plan.error()), {}};
  QString words = tr("%1 points on %2.").arg(plan->points.size()).arg(device_->currentText());
  const ListedDevice* listed = devices_.find(device);
  if (listed != nullptr && !listed->note.isEmpty()) {
    words += QLatin1Char('\n') + tr("No counters: %1").arg(listed->note);
  }
  return {{}, words};
}

CollectRequest CollectForm::request() const {
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

void CollectForm::set_device(const QString& argument) {
  const int place = device_->findData(argument);
  if (place < 0) return;
  device_chosen_ = true;
  device_->setCurrentIndex(place);
}

void CollectForm::set_preset(const QString& name) {
  preset_->setCurrentIndex(preset_->findData(name));
}

void CollectForm::set_axes(const QString& text) {
  axes_->setText(text);
}

void CollectForm::set_pass(const QString& word) {
  pass_->setCurrentIndex(pass_->findData(word));
}

void CollectForm::set_masks(const QString& text) {
  mask_->setText(text);
}

void CollectForm::set_database(const QString& path) {
  file_->setText(path);
}

void CollectForm::set_resume(bool on) {
  resume_->setChecked(on);
}

}  // namespace attnscope::ui
