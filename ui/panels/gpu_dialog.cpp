// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/gpu_dialog.h"

#include <QDialogButtonBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "kernels/model/device_rates.h"
#include "kernels/model/gpu_values.h"
#include "messages/gpu_dialog.h"
#include "ui/process/own_gpu_list.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"
#include "ui/widgets/number_editor.h"

namespace attnscope::ui {
namespace {

QString usual_source_words(const GpuValue& value, const DeviceLimits& base) {
  switch (value.source) {
    case GpuValueSource::datasheet:
      return qtext(say::gpu_dialog::of_datasheet{.gpu = base.name});
    case GpuValueSource::capability:
      return qtext(say::gpu_dialog::of_capability{.major = base.compute_major, .minor = base.compute_minor});
    case GpuValueSource::architecture:
      return qtext(say::gpu_dialog::of_architecture{});
    case GpuValueSource::inherited:
      break;
  }
  return qtext(say::gpu_dialog::inherited{.gpu = device_rates(base).measured_on});
}

}  // namespace

GpuDialog::GpuDialog(const QString& shown, QWidget* parent) : QDialog(parent) {
  setWindowTitle(qtext(say::gpu_dialog::title{}));
  resize(860, 560);
  auto* column = new QVBoxLayout(this);
  auto* row = new QHBoxLayout();
  row->addWidget(make_list());
  row->addWidget(make_form(), 1);
  column->addLayout(row, 1);
  error_ = new QLabel(this);
  error_->setObjectName(QStringLiteral("error"));
  error_->setTextFormat(Qt::PlainText);
  error_->setWordWrap(true);
  column->addWidget(error_);
  auto* buttons = new QDialogButtonBox(this);
  auto* save_button = buttons->addButton(qtext(say::gpu_dialog::save{}), QDialogButtonBox::ApplyRole);
  save_button->setObjectName(QStringLiteral("save"));
  auto* close = buttons->addButton(qtext(say::gpu_dialog::close{}), QDialogButtonBox::RejectRole);
  connect(save_button, &QPushButton::clicked, this, &GpuDialog::save);
  connect(close, &QPushButton::clicked, this, &QDialog::accept);
  column->addWidget(buttons);
  connect(&OwnGpuList::instance(), &OwnGpuList::changed, this, &GpuDialog::show_list);
  OwnGpuList::instance().reload();
  error_->setText(OwnGpuList::instance().error());
  if (OwnGpuList::instance().find(shown.toStdString()) != nullptr) {
    show_gpu(shown);
  } else {
    const DeviceLimits* known = limits_of_gpu(shown.toStdString());
    const DeviceLimits& base_gpu = known != nullptr ? *known : known_gpus().front();
    begin(own_gpu_like(base_gpu, {}), QString::fromStdString(base_gpu.name), {});
  }
}

QWidget* GpuDialog::make_list() {
  auto* side = new QWidget(this);
  auto* column = new QVBoxLayout(side);
  column->setContentsMargins(0, 0, 0, 0);
  list_ = new QListWidget(side);
  list_->setAccessibleName(qtext(say::gpu_dialog::title{}));
  list_->setMaximumWidth(220);
  connect(list_, &QListWidget::itemClicked, this, [this](const QListWidgetItem* item) { show_gpu(item->text()); });
  connect(list_, &QListWidget::itemActivated, this, [this](const QListWidgetItem* item) { show_gpu(item->text()); });
  auto* fresh = new QPushButton(qtext(say::gpu_dialog::fresh{}), side);
  fresh->setObjectName(QStringLiteral("new"));
  connect(fresh, &QPushButton::clicked, this, &GpuDialog::begin_from_public);
  remove_ = new QPushButton(qtext(say::gpu_dialog::remove{}), side);
  connect(remove_, &QPushButton::clicked, this, &GpuDialog::remove);
  column->addWidget(list_, 1);
  column->addWidget(fresh);
  column->addWidget(remove_);
  return side;
}

QWidget* GpuDialog::make_form() {
  auto* form = new QWidget(this);
  auto* grid = new QGridLayout(form);
  grid->setColumnStretch(2, 1);
  int line = 0;
  const auto label = [&](const QString& text, QWidget* buddy) {
    auto* made = new QLabel(text, form);
    made->setBuddy(buddy);
    grid->addWidget(made, line, 0);
  };
  name_ = new QLineEdit(form);
  name_->setObjectName(QStringLiteral("name"));
  name_->setMaxLength(static_cast<int>(longest_gpu_name));
  label(qtext(say::gpu_dialog::name{}), name_);
  grid->addWidget(name_, line++, 1, 1, 2);
  from_ = new QComboBox(form);
  from_->setObjectName(QStringLiteral("from"));
  for (const DeviceLimits& gpu : known_gpus()) from_->addItem(QString::fromStdString(gpu.name));
  from_->setToolTip(plain_tip(qtext(say::gpu_dialog::from_help{})));
  connect(from_, &QComboBox::activated, this, &GpuDialog::begin_from_public);
  label(qtext(say::gpu_dialog::from{}), from_);
  grid->addWidget(from_, line++, 1, 1, 2);
  for (const GpuValue& value : gpu_values()) {
    auto* spin = new QDoubleSpinBox(form);
    spin->setObjectName(to_qstring(value.key));
    spin->setRange(value.least, value.most);
    constexpr int some_decimals = 3;
    spin->setDecimals(value.whole ? 0 : some_decimals);
    if (!value.unit.empty()) spin->setSuffix(QLatin1Char(' ') + to_qstring(value.unit));
    spin->setKeyboardTracking(false);
    spin->setToolTip(plain_tip(qtext(value.help())));
    leave_wheel_to_page(spin);
    const std::size_t place = rows_.size();
    connect(spin, &QDoubleSpinBox::valueChanged, this, [this, place](double now) { edit(place, now); });
    label(qtext(value.label()), spin);
    grid->addWidget(spin, line, 1);
    auto* source = new QLabel(form);
    source->setTextFormat(Qt::PlainText);
    source->setObjectName(QStringLiteral("source-") + to_qstring(value.key));
    grid->addWidget(source, line++, 2);
    rows_.push_back({spin, source});
  }
  peaks_ = new QLabel(form);
  peaks_->setObjectName(QStringLiteral("peaks"));
  peaks_->setTextFormat(Qt::PlainText);
  peaks_->setWordWrap(true);
  grid->addWidget(peaks_, line++, 0, 1, 3);
  grid->setRowStretch(line, 1);
  form_ = new QScrollArea(this);
  form_->setWidget(form);
  form_->setWidgetResizable(true);
  form_->setFrameShape(QFrame::NoFrame);
  form_->setFocusPolicy(Qt::NoFocus);  // it scrolls to what has the focus
  return form_;
}

const DeviceLimits& GpuDialog::base() const {
  const DeviceLimits* known = find_gpu(from_->currentText().toStdString());
  return known != nullptr ? *known : known_gpus().front();
}

void GpuDialog::show_list() {
  const QSignalBlocker quiet(list_);
  list_->clear();
  for (const OwnGpu& gpu : OwnGpuList::instance().gpus()) {
    list_->addItem(QString::fromStdString(gpu.limits.name));
    if (list_->item(list_->count() - 1)->text() == shown_) list_->setCurrentRow(list_->count() - 1);
  }
  remove_->setEnabled(OwnGpuList::instance().find(shown_.toStdString()) != nullptr);
}

void GpuDialog::show_gpu(const QString& name) {
  const OwnGpu* own = OwnGpuList::instance().find(name.toStdString());
  if (own == nullptr) return;
  begin(own->limits, QString::fromStdString(own->from), name);
  shown_ = QString::fromStdString(own->limits.name);
  show_list();
}

void GpuDialog::begin(const DeviceLimits& values, const QString& from, const QString& name) {
  limits_ = values;
  shown_.clear();
  from_->setCurrentIndex(std::max(0, from_->findText(from)));
  name_->setText(name);
  show_values();
  show_list();
}

void GpuDialog::begin_from_public() {
  begin(own_gpu_like(base(), {}), from_->currentText(), shown_.isEmpty() ? name_->text() : QString());
}

void GpuDialog::show_values() {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const QSignalBlocker quiet(rows_[i].value);
    rows_[i].value->setValue(gpu_values()[i].get(limits_));
  }
  show_sources();
}

void GpuDialog::show_sources() {
  const DeviceLimits like = own_gpu_like(base(), {});
  const PlotColors colors = plot_colors(palette());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const GpuValue& value = gpu_values()[i];
    const double usual = value.get(like);
    const bool stated = value.get(limits_) != usual;
    rows_[i].source->setText(stated ? qtext(say::gpu_dialog::stated{.usual = number_text(usual, 6), .gpu = base().name})
                                    : usual_source_words(value, base()));
    QPalette ink = palette();
    ink.setColor(QPalette::WindowText, stated ? colors.text : colors.muted);
    rows_[i].source->setPalette(ink);
  }
  const DeviceRates rates = device_rates(limits_);
  const auto text = [](double rate, std::string_view unit) { return value_text(rate, unit); };
  peaks_->setText(qtext(say::gpu_dialog::peaks{
      .clock = text(rates.boost_hz, "hertz"),
      .tensor = text(limits_.tensor_flops, "flop/s"),
      .exponentials = text(rates.per_cycle.exponential * rates.sm_count * rates.boost_hz, "op/s"),
      .l2 = text(rates.l2_bytes_per_second, "byte/s"),
      .m = limits_.sram_elements(2)}));
  // As wide as what stands in it, where the screen has the room.
  constexpr int widest = 900;
  const int wanted = form_->widget()->minimumSizeHint().width() + form_->verticalScrollBar()->sizeHint().width();
  form_->setMinimumWidth(std::min(wanted, widest));
}

void GpuDialog::edit(std::size_t row, double value) {
  gpu_values()[row].set(limits_, value);
  error_->clear();
  show_sources();
}

void GpuDialog::save() {
  limits_.name = name_->text().trimmed().toStdString();
  const QString wrong =
      OwnGpuList::instance().save({.limits = limits_, .from = from_->currentText().toStdString()}, shown_);
  error_->setText(wrong);
  if (!wrong.isEmpty()) return;
  shown_ = QString::fromStdString(limits_.name);
  show_list();
}

void GpuDialog::remove() {
  error_->setText(OwnGpuList::instance().remove(shown_));
  if (!error_->text().isEmpty()) return;
  begin_from_public();
}

}  // namespace attnscope::ui
