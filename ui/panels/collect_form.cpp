// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/collect_form.h"
#include "kernels/registry.h"

#include <QFormLayout>
#include <QInputDialog>
#include <QRegularExpression>
#include <QSignalBlocker>
#include <algorithm>

#include "kernels/algorithm.h"
#include "messages/collect_panel.h"
#include "ui/models/curve_series.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/widgets/database_field.h"
#include "ui/widgets/flow_layout.h"

namespace attnscope::ui {
namespace {

constexpr auto own_axes = "";
/// Entry that adds a remote device.
constexpr auto add_remote_entry = "elsewhere";

/// Disabled boxes keep their state, but are not collected.
bool is_chosen(const QCheckBox& box) {
  return box.isChecked() && box.isEnabledTo(box.parentWidget());  // all boxes are disabled while a collection runs
}

QStringList split_axes(const QString& text) {
  static const QRegularExpression gap(QStringLiteral("[\\s;]+"));
  return text.split(gap, Qt::SkipEmptyParts);
}

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
  add_axes_and_algorithms(*form);
  add_cache(*form);
  add_file(*form);
  select_preset_algorithms();
  connect_fields();
  devices_.probe();
}

void CollectForm::add_device_and_preset(QFormLayout& form) {
  device_ = shrinkable_combo(this);
  form.addRow(qtext(msg::collect_panel::device{}), device_);
  preset_ = shrinkable_combo(this);
  for (const Preset& preset : presets()) {
    preset_->addItem(to_qstring(preset.name), to_qstring(preset.name));
    preset_->setItemData(preset_->count() - 1, qtext(preset.description), Qt::ToolTipRole);
  }
  preset_->addItem(qtext(msg::collect_panel::custom_axes{}), QString::fromLatin1(own_axes));
  form.addRow(qtext(msg::collect_panel::preset{}), preset_);
}

void CollectForm::add_axes_and_algorithms(QFormLayout& form) {
  axes_ = new QLineEdit(this);
  axes_->setPlaceholderText(QStringLiteral("N[pow2]=[8,14] d=64 mask=causal pass=bwd"));
  axes_->setToolTip(qtext(msg::collect_panel::axes_help{}));
  axes_->setClearButtonEnabled(true);
  form.addRow(qtext(msg::collect_panel::axes{}), axes_);

  auto* boxes = new QWidget(this);
  auto* flow = new FlowLayout(boxes, 8);
  for (const Algorithm* algorithm : known_algorithms().algorithms()) {
    if (algorithm->facts().model_only) continue;
    constexpr qsizetype longest = 24;  // the panel is narrow; the tooltip shows the full name
    auto* box = new QCheckBox(shortened(short_title(algorithm->name()), longest), boxes);
    box->setToolTip(plain_tooltip(to_qstring(algorithm->facts().title)));
    box->setProperty("algorithm", to_qstring(algorithm->name()));
    box->setChecked(true);
    flow->addWidget(box);
    algorithms_.push_back(box);
  }
  form.addRow(qtext(msg::collect_panel::run{}), boxes);
}

void CollectForm::add_cache(QFormLayout& form) {
  cache_ = shrinkable_combo(this);
  cache_->addItem(qtext(msg::collect_panel::cold{}));
  cache_->addItem(qtext(msg::collect_panel::warm{}));
  cache_->setToolTip(qtext(msg::collect_panel::cache_help{}));
  rounds_ = new QSpinBox(this);
  rounds_->setObjectName(QStringLiteral("rounds"));
  rounds_->setRange(1, 1000);
  rounds_->setToolTip(plain_tooltip(qtext(msg::collect_panel::rounds_help{})));
  // One row each, because the panel is narrow.
  form.addRow(qtext(msg::collect_panel::cache{}), cache_);
  form.addRow(qtext(msg::collect_panel::rounds{}), rounds_);
}

void CollectForm::add_file(QFormLayout& form) {
  database_ = new DatabaseField(this);
  file_ = database_->path();
  // label with a mnemonic that differs from the File menu's
  form.addRow(qtext(msg::collect_panel::file{}), database_);
  resume_ = new QCheckBox(qtext(msg::collect_panel::resume{}), this);
  resume_->setToolTip(qtext(msg::collect_panel::resume_help{}));
  form.addRow(resume_);
}

void CollectForm::connect_fields() {
  connect(&devices_, &DeviceList::changed, this, &CollectForm::show_devices);
  connect(device_, &QComboBox::activated, this, &CollectForm::choose_device);
  connect(device_, &QComboBox::currentIndexChanged, this, &CollectForm::update_user_kernels);
  connect(preset_, &QComboBox::currentIndexChanged, this, [this] {
    select_preset_algorithms();
    emit changed();
  });
  for (QComboBox* combo : {device_, cache_}) {
    connect(combo, &QComboBox::currentIndexChanged, this, &CollectForm::changed);
  }
  connect(rounds_, &QSpinBox::valueChanged, this, &CollectForm::changed);
  for (QLineEdit* field : {axes_, file_}) connect(field, &QLineEdit::textChanged, this, &CollectForm::changed);
  for (QCheckBox* box : algorithms_) connect(box, &QCheckBox::toggled, this, &CollectForm::changed);
}

void CollectForm::add_remote_device() {
  bool accepted = false;
  const QStringList before = DeviceList::remote();
  const QString words = QInputDialog::getText(
      this, qtext(msg::collect_panel::remote_title{}), qtext(msg::collect_panel::remote_label{}), QLineEdit::Normal,
      before.isEmpty() ? QStringLiteral("ssh:") : before.join(QLatin1Char(' ')), &accepted);
  if (!accepted) return;
  QStringList named = words.split(QLatin1Char(' '), Qt::SkipEmptyParts);
  named.removeAll(QStringLiteral("ssh:"));
  DeviceList::set_remote(named);
  for (const QString& word : DeviceList::remote()) {
    if (!before.contains(word)) pending_device_ = word;
  }
  show_devices();
}

void CollectForm::choose_device() {
  const QString chosen = device_->currentData().toString();
  if (chosen == QLatin1String(add_remote_entry)) {
    // Keep the previous choice until a device is added.
    device_->setCurrentIndex(std::max(0, device_->findData(last_device_)));
    return add_remote_device();
  }
  device_chosen_ = true;
  pending_device_.clear();
  last_device_ = chosen;
}

void CollectForm::show_devices() {
  // The first GPU found becomes the default unless the user chose a device.
  const QString current = device_chosen_ ? device_->currentData().toString() : QString();
  {
    const QSignalBlocker quiet(device_);
    device_->clear();
    for (const ListedDevice& device : devices_.devices()) {
      device_->addItem(device.name, device.argument);
      device_->setItemData(device_->count() - 1, device.note, Qt::ToolTipRole);
    }
    if (const std::size_t gpus = devices_.local_gpu_count(); gpus > 1) {
      device_->insertItem(static_cast<int>(gpus), qtext(msg::collect_panel::all_gpus{.gpus = gpus}),
                          QLatin1String(all_gpus));
    }
    device_->addItem(qtext(msg::collect_panel::remote_gpu{}), QString::fromLatin1(add_remote_entry));
    if (const int place = device_->findData(pending_device_); !pending_device_.isEmpty() && place >= 0) {
      pending_device_.clear();
      device_chosen_ = true;
      device_->setCurrentIndex(place);
    } else {
      device_->setCurrentIndex(std::max(0, device_->findData(current)));
    }
    last_device_ = device_->currentData().toString();
  }
  update_user_kernels();
  emit changed();
}

void CollectForm::select_preset_algorithms() {
  SweepRequest request;
  request.preset = preset_->currentData().toString().toStdString();
  if (request.preset.empty()) return;
  const auto plan = make_plan(request, devices_.limits_of(device_->currentData().toString()), known_algorithms());
  if (!plan) return;
  for (QCheckBox* box : algorithms_) {
    const std::string name = box->property("algorithm").toString().toStdString();
    const bool planned = std::any_of(plan->points.begin(), plan->points.end(),
                                     [&](const PointSpec& point) { return point.algorithm == name; });
    const QSignalBlocker quiet(box);
    box->setChecked(planned);
  }
}

void CollectForm::update_user_kernels() {
  const ListedDevice* device = devices_.find(device_->currentData().toString());
  const bool here = device != nullptr && !device->simulated && !device->argument.startsWith(QLatin1String("ssh:"));
  for (QCheckBox* box : algorithms_) {
    const Algorithm* algorithm = known_algorithms().find(box->property("algorithm").toString().toStdString());
    if (algorithm == nullptr || !algorithm->facts().user_defined) continue;
    box->setEnabled(here);
    box->setToolTip(plain_tooltip(here ? to_qstring(algorithm->facts().title)
                                       : QStringLiteral("User-defined kernels run only on GPUs of this machine.")));
  }
}

CollectForm::Verdict CollectForm::check() const {
  if (find_collector().isEmpty()) {
    return {QStringLiteral("Program “attnscope” not found in this program's folder or in PATH."), {}};
  }
  const CollectRequest asked = request();
  SweepRequest sweep;
  sweep.preset = asked.preset.toStdString();
  sweep.cache = asked.warm_cache ? CacheState::warm : CacheState::cold;
  for (const QString& text : asked.axes) {
    auto axis = parse_axis(text.toStdString(), known_algorithms());
    if (!axis) return {qtext(axis.error()), {}};
    sweep.axes.push_back(std::move(*axis));
  }
  for (const QString& algorithm : asked.algorithms) sweep.algorithms.push_back(algorithm.toStdString());
  if (sweep.algorithms.empty()) return {QStringLiteral("Select at least one algorithm."), {}};
  if (sweep.preset.empty() && sweep.axes.empty()) {
    return {QStringLiteral("Enter at least one axis or select a preset."), {}};
  }
  if (const QString problem = database_->problem(); !problem.isEmpty()) return {problem, {}};
  const QString& device = asked.device;
  const ListedDevice* listed = devices_.find(device);
  if (listed != nullptr && listed->gpu.isEmpty()) return {listed->note, {}};  // unreachable remote device
  const auto plan = make_plan(sweep, devices_.limits_of(device), known_algorithms());
  if (!plan) return {qtext(plan.error()), {}};
  const std::string on = device_->currentText().toStdString();
  const Message points =
      points_text(plan->points.size(), listed == nullptr || listed->simulated ? 1 : rounds_->value());
  QString words = device == QLatin1String(all_gpus)
                      ? qtext(msg::collect_panel::multi_gpu_plan{.gpus = devices_.local_gpu_count(), .points = points})
                      : qtext(msg::collect_panel::plan{.device = on, .points = points});
  if (listed != nullptr && !listed->note.isEmpty()) {
    words += QLatin1Char('\n') + qtext("No counters: {}", listed->note.toStdString());
  }
  return {{}, words};
}

CollectRequest CollectForm::request() const {
  CollectRequest request;
  request.preset = preset_->currentData().toString();
  request.axes = split_axes(axes_->text());
  for (const QCheckBox* box : algorithms_) {
    if (is_chosen(*box)) request.algorithms << box->property("algorithm").toString();
  }
  request.device = device_->currentData().toString();
  request.warm_cache = cache_->currentIndex() == 1;
  request.rounds = rounds_->value();
  request.resume = resume_->isChecked();
  request.database = file_->text().trimmed();
  return request;
}

void CollectForm::set_preset(const QString& name) {
  preset_->setCurrentIndex(preset_->findData(name));
}

void CollectForm::set_axes(const QString& text) {
  axes_->setText(text);
}

QJsonObject CollectForm::state() const {
  QJsonObject state{{QStringLiteral("preset"), preset_->currentData().toString()},
                    {QStringLiteral("axes"), axes_->text()},
                    {QStringLiteral("warm"), cache_->currentIndex() == 1},
                    {QStringLiteral("rounds"), rounds_->value()},
                    {QStringLiteral("file"), file_->text()},
                    {QStringLiteral("resume"), resume_->isChecked()}};
  const QString device = device_chosen_ ? device_->currentData().toString() : QString();
  state[QStringLiteral("device")] = pending_device_.isEmpty() ? device : pending_device_;
  QJsonObject algorithms;
  for (const QCheckBox* box : algorithms_) {
    algorithms[box->property("algorithm").toString()] = box->isChecked();
  }
  state[QStringLiteral("algorithms")] = algorithms;
  return state;
}

void CollectForm::restore(const QJsonObject& state) {
  const auto choose = [&](QComboBox& combo, const QString& key) {
    const int place = combo.findData(state[key].toString(combo.currentData().toString()));
    if (place >= 0) combo.setCurrentIndex(place);
  };
  const auto fill = [&](QLineEdit& field, const QString& key) { field.setText(state[key].toString(field.text())); };
  choose(*preset_, QStringLiteral("preset"));
  fill(*axes_, QStringLiteral("axes"));
  fill(*file_, QStringLiteral("file"));
  cache_->setCurrentIndex(state[QStringLiteral("warm")].toBool(cache_->currentIndex() == 1) ? 1 : 0);
  rounds_->setValue(state[QStringLiteral("rounds")].toInt(rounds_->value()));
  resume_->setChecked(state[QStringLiteral("resume")].toBool(resume_->isChecked()));
  const QJsonObject algorithms = state[QStringLiteral("algorithms")].toObject();
  for (QCheckBox* box : algorithms_) {
    box->setChecked(algorithms[box->property("algorithm").toString()].toBool(box->isChecked()));
  }
  if (state[QStringLiteral("device")].isString()) pending_device_ = state[QStringLiteral("device")].toString();
  show_devices();  // selects the saved device once it is found
}

}  // namespace attnscope::ui
