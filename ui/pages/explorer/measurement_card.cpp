// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/explorer/measurement_card.h"

#include <fmt/format.h>

#include <QHBoxLayout>
#include <QSortFilterProxyModel>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "kernels/registry.h"
#include "messages/explorer_page.h"
#include "profiler/metrics/metrics.h"
#include "profiler/predict/unit_utilization.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

constexpr int most_rows = 12;
constexpr int usual_steps = 3;
constexpr int max_sweep_steps = 8;

/// Returns the translated title, or the text itself if a newer collector sent an unknown value.
template <class Parsed>
Message title_or_verbatim(const Parsed& parsed, const std::string& word) {
  return parsed.ok() ? title(*parsed) : Message::verbatim(word);
}

/// Table of measured and predicted values, latest point last, so that rows do not move. Points of `shown` are bold.
analysis::Table measured_table(const std::vector<MeasuredPoint>& points, const ExplorerChoices& shown) {
  using analysis::Cell;
  struct Line {
    std::vector<Cell> cells;
    std::string help;
    bool shown = false;
  };
  // Returns measured over predicted ("1.04"); a dash if one is missing.
  const auto ratio = [](double measured, double predicted) {
    const double value = measured > 0 && predicted > 0 ? measured / predicted : 0;
    return Cell{.text = value > 0 ? fmt::format("{:.3f}", value) : "–", .number = value};
  };
  std::vector<Line> lines;
  lines.reserve(points.size());
  for (auto point = points.rbegin(); point != points.rend(); ++point) {
    const AttentionProblem& problem = point->choices.point.spec.problem;
    const PointEvent& event = point->event;
    const bool finished = point->state == MeasuredPoint::State::finished;
    Line& line = lines.emplace_back();
    line.shown = point->matches_choices(shown);
    const auto add = [&](Cell cell) { line.cells.push_back(std::move(cell)); };
    add({.text = short_title(point->choices).toStdString()});
    add({.text = format_lengths(problem).toStdString(), .number = static_cast<double>(problem.n_k)});
    add({.text = std::to_string(problem.d), .number = static_cast<double>(problem.d)});
    add({.text = outcome_label(*point).toStdString(), .number = event.time_median_ns});
    const analysis::Exploration* theory = finished && point->theory ? &*point->theory : nullptr;
    add(theory ? ratio(event.time_median_ns, theory->ns) : Cell());
    add(theory ? ratio(event.l2_sm_bytes, static_cast<double>(theory->traffic.total())) : Cell());
    add(theory ? ratio(event.dram_settled_bytes, theory->dram_bytes) : Cell());
    QStringList help{point->device, QString::fromStdString(describe(point->choices.point.spec)), point->why};
    if (finished) help << qtext(event.reason);
    if (finished && event.throttled) help << qtext(msg::explorer_page::throttled{});
    if (theory != nullptr && point->simulated) help << qtext(msg::explorer_page::by_construction{});
    help.removeAll(QString());
    line.help = help.join(QLatin1Char('\n')).toStdString();
  }
  analysis::TableBuilder<Line> table(std::move(lines));
  table.table().tone =
      table.of([](const Line& line) { return line.shown ? analysis::Tone::strong : analysis::Tone::plain; });
  const Message ratio_help = msg::explorer_page::ratio_help{};
  const std::array titles{std::pair("configuration", Message(msg::explorer_page::configuration{})),
                          std::pair("n", Message::verbatim("N")),
                          std::pair("d", Message::verbatim("d")),
                          std::pair("time", Message(msg::explorer_page::outcome{})),
                          std::pair("time_ratio", Message(msg::explorer_page::time_ratio{})),
                          std::pair("l2_ratio", Message(msg::explorer_page::l2_ratio{})),
                          std::pair("dram_ratio", Message(msg::explorer_page::dram_ratio{}))};
  for (std::size_t i = 0; i < titles.size(); ++i) {
    constexpr std::size_t first_ratio = 4;
    table.add({.key = titles[i].first,
               .title = text(titles[i].second),
               .kind = i == 0 ? analysis::ColumnKind::text : analysis::ColumnKind::number,
               .help = i < first_ratio ? std::string() : text(ratio_help),
               .tip = table.of([](const Line& line) { return line.help; })},
              [i](const Line& line) { return line.cells[i]; });
  }
  return std::move(table).take();
}

/// "-1.2%": a prediction relative to the measured time.
std::string distance_text(double predicted, double measured) {
  const double percent = 100 * (predicted / measured - 1);
  return fmt::format("{}{:.1f}%", percent < 0 ? "−" : "+", std::abs(percent));
}

/// "measured 406 µs; predicted 401 µs (−1.2%)"; a simulation says that it does not validate the prediction.
QString recorded_text(const MeasurementCard::RecordedTime& recorded) {
  const std::string time = text(Nanoseconds(recorded.ns));
  if (recorded.predicted_ns <= 0) {
    return qtext(msg::explorer_page::measured_time{.provenance = title(recorded.provenance), .time = time});
  }
  const QString words =
      qtext(msg::explorer_page::measured_and_predicted{.change = distance_text(recorded.predicted_ns, recorded.ns),
                                                       .predicted = text(Nanoseconds(recorded.predicted_ns)),
                                                       .provenance = title(recorded.provenance),
                                                       .time = time});
  return is_simulated(recorded.provenance) ? words + QStringLiteral(". ") + qtext(msg::explorer_page::by_construction{})
                                           : words;
}

}  // namespace

QString outcome_label(const MeasuredPoint& point) {
  switch (point.state) {
    case MeasuredPoint::State::waiting:
      return qtext(msg::explorer_page::waiting{});
    case MeasuredPoint::State::running:
      return point.simulated ? qtext(msg::explorer_page::simulating{}) : qtext(msg::explorer_page::measuring{});
    case MeasuredPoint::State::refused:
      return qtext(msg::explorer_page::not_measured{});
    case MeasuredPoint::State::cancelled:
      return qtext(msg::explorer_page::cancelled{});
    case MeasuredPoint::State::finished:
      break;
  }
  if (point.event.time_median_ns > 0) {
    return qtext(msg::explorer_page::measured_time{
        .provenance = title_or_verbatim(parse_provenance(point.event.provenance), point.event.provenance),
        .time = text(Nanoseconds(point.event.time_median_ns))});
  }
  return qtext(title_or_verbatim(parse_disposition(point.event.disposition), point.event.disposition));
}

MeasurementCard::MeasurementCard(PointMeasurer& measurer, QWidget* parent)
    : QWidget(parent), choices_(default_choices()), measurer_(measurer) {
  auto* column = new QHBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(12);
  auto* bar = new QWidget(this);
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(0, 0, 0, 0);
  device_ = new QComboBox(bar);
  device_->setObjectName(QStringLiteral("measures-on"));
  device_->setAccessibleName(qtext(msg::explorer_page::measuring_device{}));
  device_->setToolTip(plain_tooltip(qtext(msg::explorer_page::measuring_device{})));
  device_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  row->addWidget(device_);
  const auto button = [&](const QString& name, const QString& text, const QString& help) {
    auto* made = new QPushButton(text, bar);
    made->setObjectName(name);
    made->setToolTip(plain_tooltip(help));
    row->addWidget(made);
    return made;
  };
  measure_button_ = button(QStringLiteral("measure"), qtext(msg::explorer_page::measure{}),
                           qtext(msg::explorer_page::measure_help{}));
  sweep_button_ = button(QStringLiteral("around"), qtext(msg::explorer_page::sweep_around{}),
                         qtext(msg::explorer_page::sweep_around_help{}));
  steps_ = new QSpinBox(bar);
  steps_->setObjectName(QStringLiteral("around-steps"));
  steps_->setRange(1, max_sweep_steps);
  steps_->setValue(usual_steps);
  steps_->setPrefix(QStringLiteral("± "));
  steps_->setAccessibleName(qtext(msg::explorer_page::sweep_around_steps{}));
  steps_->setToolTip(plain_tooltip(qtext(msg::explorer_page::sweep_around_steps{})));
  row->addWidget(steps_);
  cancel_ = button(QStringLiteral("cancel-measuring"), qtext(msg::explorer_page::cancel{}),
                   qtext(msg::explorer_page::cancel_help{}));
  map_ = button(QStringLiteral("show-map"), qtext(msg::explorer_page::show_map{}),
                qtext(msg::explorer_page::show_map_help{}));
  state_ = new ElidedLabel(this);
  state_->setObjectName(QStringLiteral("measuring"));
  state_->setTextFormat(Qt::PlainText);
  column->addWidget(bar);
  column->addWidget(state_, 1);
  model_ = new ResultModel(this);
  auto* order = new QSortFilterProxyModel(this);
  order->setSourceModel(model_);
  order->setSortRole(TableModel::sort_role);
  table_ = new FittedTable(order, qtext(msg::explorer_page::measured{}), this);
  table_->set_max_rows(most_rows);
  table_->setSortingEnabled(true);
  table_->sortByColumn(-1, Qt::AscendingOrder);
  connect_measurer();
  show_state();
}

void MeasurementCard::connect_measurer() {
  connect(measure_button_, &QPushButton::clicked, this, &MeasurementCard::measure_requested);
  connect(sweep_button_, &QPushButton::clicked, this, &MeasurementCard::sweep_around_requested);
  connect(cancel_, &QPushButton::clicked, &measurer_, &PointMeasurer::cancel);
  connect(map_, &QPushButton::clicked, this, [this] {
    if (const MeasuredPoint* point = measurer_.latest_swept_point())
      emit map_requested(point->file, point->event.point_id);
  });
  connect(device_, &QComboBox::activated, this, [this] {
    device_chosen_by_user_ = true;
    show_state();
  });
  connect(&measurer_, &PointMeasurer::devices_changed, this, &MeasurementCard::show_devices);
  connect(&measurer_, &PointMeasurer::changed, this, [this] {
    show_state();
    emit changed();
  });
  connect(&measurer_, &PointMeasurer::file_written, this, [this] {
    if (measurer_.open() == 0) emit all_points_done();
  });
  connect(&measurer_, &PointMeasurer::error_occurred, this, [this](const QString& reason) {
    trouble_ = reason;
    show_state();
  });
}

void MeasurementCard::show_choices(const ExplorerChoices& choices, bool runs) {
  if (choices.device != choices_.device) device_chosen_by_user_ = false;
  choices_ = choices;
  runs_ = runs;
  show_devices();
  show_state();
}

void MeasurementCard::show_recorded(const std::optional<RecordedTime>& recorded) {
  recorded_ = recorded;
  set_label_text(state_, state_text());
  state_->setToolTip(plain_tooltip(state_text()));
}

void MeasurementCard::show_devices() {
  const std::vector<ListedDevice> devices = this->devices();
  QStringList there;
  for (int i = 0; i < device_->count(); ++i) there << device_->itemData(i).toString();
  QStringList found;
  for (const ListedDevice& device : devices) found << device.argument;
  if (found == there) return;
  const QVariant before = device_->currentData();
  device_->clear();
  for (const ListedDevice& device : devices) device_->addItem(device.name, device.argument);
  // Real GPUs are found later and listed first. The first device is used unless the user chose one.
  device_->setCurrentIndex(device_chosen_by_user_ ? std::max(0, device_->findData(before)) : 0);
  show_state();
}

QString MeasurementCard::pending_points_text() const {
  return qtext(msg::explorer_page::points_pending{.file = measurer_.database().toStdString(),
                                                  .open = static_cast<std::int64_t>(measurer_.open())});
}

QString MeasurementCard::state_text() const {
  if (!trouble_.isEmpty()) return trouble_;
  if (is_padded()) return qtext(msg::explorer_page::padding_is_modeled{});
  if (is_hypothetical()) return qtext(msg::explorer_page::what_if_is_modeled{});
  if (measurer_.open() > 0) return pending_points_text();
  if (!runs_) return qtext(msg::explorer_page::cannot_be_measured{});
  if (QString why = no_device_text(); !why.isEmpty()) return why;
  if (recorded_) return recorded_text(*recorded_);
  if (measurer_.points().empty()) return qtext(msg::explorer_page::no_measurement{});
  return qtext(msg::explorer_page::saved_in{.file = measurer_.database().toStdString()});
}

QString MeasurementCard::no_device_text() const {
  const Facts& facts = known_algorithms().find(choices_.point.spec.algorithm)->facts();
  if (!facts.user_defined || !devices().empty()) return {};
  if (facts.model_only) return qtext(msg::explorer_page::kernel_read_only{});
  return qtext(msg::explorer_page::needs_local_gpu{.gpu = choices_.device});
}

void MeasurementCard::show_state() {
  const std::optional<ListedDevice> chosen = this->device();
  const bool device = chosen.has_value();
  const bool simulates = device && chosen->simulated;
  measure_button_->setText(simulates ? qtext(msg::explorer_page::simulate{}) : qtext(msg::explorer_page::measure{}));
  const QString why = no_device_text();
  const auto help = [&why](const QString& otherwise) { return plain_tooltip(why.isEmpty() ? otherwise : why); };
  measure_button_->setToolTip(
      help(simulates ? qtext(msg::explorer_page::simulate_help{}) : qtext(msg::explorer_page::measure_help{})));
  sweep_button_->setToolTip(help(qtext(msg::explorer_page::sweep_around_help{})));
  device_->setToolTip(help(qtext(msg::explorer_page::measuring_device{})));
  device_->setEnabled(device);
  measure_button_->setEnabled(device && runs_ && !is_padded() && !is_hypothetical());
  for (QWidget* widget : {static_cast<QWidget*>(sweep_button_), static_cast<QWidget*>(steps_)}) {
    widget->setEnabled(device && runs_ && !is_padded() && !is_hypothetical());
  }
  cancel_->setEnabled(measurer_.open() > 0);
  map_->setEnabled(measurer_.latest_swept_point() != nullptr);
  set_label_text(state_, state_text());
  state_->setToolTip(plain_tooltip(state_text()));
  model_->update_table(std::make_shared<const analysis::Table>(measured_table(measurer_.points(), choices_)));
  table_->setVisible(model_->rowCount() > 0);
  table_->fit();
  if (!table_->underMouse()) table_->scrollToBottom();
}

void MeasurementCard::measure() {
  request_points(*measure_button_, [this](const ListedDevice& device) { measurer_.measure(choices_, device); });
}

void MeasurementCard::sweep_around() {
  request_points(*sweep_button_,
                 [this](const ListedDevice& device) { measurer_.sweep_around(choices_, device, steps_->value()); });
}

void MeasurementCard::request_points(const QPushButton& button, const std::function<void(const ListedDevice&)>& how) {
  const std::optional<ListedDevice> chosen = device();
  if (!button.isEnabled() || !chosen) return;
  trouble_.clear();
  how(*chosen);
}

std::vector<ListedDevice> MeasurementCard::devices() const {
  return measurer_.devices_of(choices_.device, choices_.point.spec.algorithm);
}

std::optional<ListedDevice> MeasurementCard::device() const {
  const std::vector<ListedDevice> devices = this->devices();
  const auto found = std::ranges::find(devices, device_->currentData().toString(), &ListedDevice::argument);
  return found == devices.end() ? std::nullopt : std::optional(*found);
}

}  // namespace attnscope::ui
