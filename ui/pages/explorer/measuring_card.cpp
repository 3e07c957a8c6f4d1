// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/explorer/measuring_card.h"

#include <QSortFilterProxyModel>
#include <QVBoxLayout>
#include <algorithm>

#include "kernels/registry.h"
#include "messages/explorer_page.h"
#include "profiler/metrics/metrics.h"
#include "profiler/predict/unit_use.h"
#include "ui/pages/explorer/card_words.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/widgets/flow_layout.h"

namespace attnscope::ui {
namespace {

constexpr int most_rows = 12;
constexpr int usual_steps = 3;
constexpr int most_steps = 8;

}  // namespace

MeasuringCard::MeasuringCard(PointMeasurer& measurer, QWidget* parent)
    : QWidget(parent), choices_(default_choices()), measurer_(measurer) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(2);
  auto* bar = new QWidget(this);
  auto* row = new FlowLayout(bar);
  QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  policy.setHeightForWidth(true);
  bar->setSizePolicy(policy);
  device_ = new QComboBox(bar);
  device_->setObjectName(QStringLiteral("measures-on"));
  device_->setAccessibleName(qtext(say::explorer_page::measures_on{}));
  device_->setToolTip(plain_tip(qtext(say::explorer_page::measures_on{})));
  device_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  row->addWidget(device_);
  const auto button = [&](const QString& name, const QString& text, const QString& help) {
    auto* made = new QPushButton(text, bar);
    made->setObjectName(name);
    made->setToolTip(plain_tip(help));
    row->addWidget(made);
    return made;
  };
  measure_ = button(QStringLiteral("measure"), qtext(say::explorer_page::measure{}),
                    qtext(say::explorer_page::measure_help{}));
  around_ =
      button(QStringLiteral("around"), qtext(say::explorer_page::around{}), qtext(say::explorer_page::around_help{}));
  steps_ = new QSpinBox(bar);
  steps_->setObjectName(QStringLiteral("around-steps"));
  steps_->setRange(1, most_steps);
  steps_->setValue(usual_steps);
  steps_->setPrefix(QStringLiteral("± "));
  steps_->setAccessibleName(qtext(say::explorer_page::around_steps{}));
  steps_->setToolTip(plain_tip(qtext(say::explorer_page::around_steps{})));
  row->addWidget(steps_);
  cancel_ = button(QStringLiteral("cancel-measuring"), qtext(say::explorer_page::cancel{}),
                   qtext(say::explorer_page::cancel_help{}));
  map_ = button(QStringLiteral("show-map"), qtext(say::explorer_page::show_map{}),
                qtext(say::explorer_page::show_map_help{}));
  state_ = new ElidedLabel(this);
  state_->setObjectName(QStringLiteral("measuring"));
  state_->setTextFormat(Qt::PlainText);
  column->addWidget(bar);
  column->addWidget(state_);
  model_ = new MeasuredModel(this);
  auto* order = new QSortFilterProxyModel(this);
  order->setSourceModel(model_);
  order->setSortRole(TableModel::sort_role);
  table_ = new FittedTable(order, qtext(say::explorer_page::measured{}), this);
  table_->set_most_rows(most_rows);
  table_->setSortingEnabled(true);
  table_->sortByColumn(-1, Qt::AscendingOrder);
  follow_measurer();
  show_state();
}

void MeasuringCard::follow_measurer() {
  connect(measure_, &QPushButton::clicked, this, &MeasuringCard::measure_wanted);
  connect(around_, &QPushButton::clicked, this, &MeasuringCard::around_wanted);
  connect(cancel_, &QPushButton::clicked, &measurer_, &PointMeasurer::cancel);
  connect(map_, &QPushButton::clicked, this, [this] {
    if (const MeasuredPoint* point = measurer_.mapped()) emit map_wanted(point->file, point->event.point_id);
  });
  connect(device_, &QComboBox::activated, this, [this] {
    chosen_by_hand_ = true;
    show_state();
  });
  connect(&measurer_, &PointMeasurer::devices_changed, this, &MeasuringCard::show_devices);
  connect(&measurer_, &PointMeasurer::changed, this, [this] {
    show_state();
    emit changed();
  });
  connect(&measurer_, &PointMeasurer::kept, this, [this] {
    if (measurer_.open() == 0) emit answered();
  });
  connect(&measurer_, &PointMeasurer::trouble, this, [this](const QString& reason) {
    trouble_ = reason;
    show_state();
  });
}

void MeasuringCard::show_choices(const ExplorerChoices& choices, bool runs) {
  if (choices.device != choices_.device) chosen_by_hand_ = false;
  choices_ = choices;
  runs_ = runs;
  show_devices();
  show_state();
}

void MeasuringCard::show_devices() {
  const std::vector<ListedDevice> devices = this->devices();
  QStringList there;
  for (int i = 0; i < device_->count(); ++i) there << device_->itemData(i).toString();
  QStringList found;
  for (const ListedDevice& device : devices) found << device.argument;
  if (found == there) return;
  const QVariant before = device_->currentData();
  device_->clear();
  for (const ListedDevice& device : devices) device_->addItem(device.name, device.argument);
  // GPUs are found after the simulated devices, and stand before them: one is taken unless somebody has chosen.
  device_->setCurrentIndex(chosen_by_hand_ ? std::max(0, device_->findData(before)) : 0);
  show_state();
}

QString MeasuringCard::open_words() const {
  return qtext(say::explorer_page::points_open{.open = static_cast<std::int64_t>(measurer_.open()),
                                               .file = measurer_.database().toStdString()});
}

QString MeasuringCard::state_words() const {
  if (!trouble_.isEmpty()) return trouble_;
  if (padded()) return qtext(say::explorer_page::padding_is_modelled{});
  if (supposed()) return qtext(say::explorer_page::what_if_is_modelled{});
  if (measurer_.open() > 0) return open_words();
  if (!runs_) return qtext(say::explorer_page::cannot_be_measured{});
  if (QString why = no_device_words(); !why.isEmpty()) return why;
  if (measurer_.points().empty()) return qtext(say::explorer_page::nothing_measured{});
  const Message kept = say::explorer_page::kept_in{.file = measurer_.database().toStdString()};
  const MeasuredPoint& last = measurer_.points().front();
  if (!last.theory || last.theory->ns <= 0 || last.event.time_median_ns <= 0) return qtext(kept);
  const QString why = last.simulated ? QLatin1Char(' ') + qtext(say::explorer_page::by_construction{}) : QString();
  return qtext(say::explorer_page::beside_prediction{.configuration = short_title(last.choices).toStdString(),
                                                     .outcome = outcome_words(last).toStdString(),
                                                     .predicted = text(Nanoseconds(last.theory->ns)),
                                                     .kept = kept}) +
         why;
}

QString MeasuringCard::no_device_words() const {
  const Facts& facts = known_algorithms().find(choices_.point.spec.algorithm)->facts();
  if (!facts.foreign || !devices().empty()) return {};
  if (facts.for_reading) return qtext(say::explorer_page::known_for_reading{});
  return qtext(say::explorer_page::runs_on_gpu_alone{.gpu = choices_.device});
}

void MeasuringCard::show_state() {
  const std::optional<ListedDevice> chosen = this->device();
  const bool device = chosen.has_value();
  const bool simulates = device && chosen->simulated;
  measure_->setText(simulates ? qtext(say::explorer_page::simulate{}) : qtext(say::explorer_page::measure{}));
  const QString why = no_device_words();
  const auto help = [&why](const QString& otherwise) { return plain_tip(why.isEmpty() ? otherwise : why); };
  measure_->setToolTip(
      help(simulates ? qtext(say::explorer_page::simulate_help{}) : qtext(say::explorer_page::measure_help{})));
  around_->setToolTip(help(qtext(say::explorer_page::around_help{})));
  device_->setToolTip(help(qtext(say::explorer_page::measures_on{})));
  device_->setEnabled(device);
  measure_->setEnabled(device && runs_ && !padded() && !supposed());
  for (QWidget* widget : {static_cast<QWidget*>(around_), static_cast<QWidget*>(steps_)}) {
    widget->setEnabled(device && runs_ && !padded() && !supposed());
  }
  cancel_->setEnabled(measurer_.open() > 0);
  map_->setEnabled(measurer_.mapped() != nullptr);
  set_words(state_, state_words());
  state_->setToolTip(plain_tip(state_words()));
  model_->set_points(measurer_.points(), choices_);
  table_->setVisible(model_->rowCount() > 0);
  table_->fit();
  if (!table_->underMouse()) table_->scrollToBottom();
}

void MeasuringCard::measure() {
  ask(*measure_, [this](const ListedDevice& device) { measurer_.measure(choices_, device); });
}

void MeasuringCard::sweep_around() {
  ask(*around_, [this](const ListedDevice& device) { measurer_.sweep_around(choices_, device, steps_->value()); });
}

void MeasuringCard::ask(const QPushButton& button, const std::function<void(const ListedDevice&)>& how) {
  const std::optional<ListedDevice> chosen = device();
  if (!button.isEnabled() || !chosen) return;
  trouble_.clear();
  how(*chosen);
}

std::vector<ListedDevice> MeasuringCard::devices() const {
  return measurer_.devices_of(choices_.device, choices_.point.spec.algorithm);
}

std::optional<ListedDevice> MeasuringCard::device() const {
  const std::vector<ListedDevice> devices = this->devices();
  const auto found = std::ranges::find(devices, device_->currentData().toString(), &ListedDevice::argument);
  return found == devices.end() ? std::nullopt : std::optional(*found);
}

}  // namespace attnscope::ui
