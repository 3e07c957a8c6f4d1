// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/explorer/point_measurer.h"

#include <fmt/format.h>

#include <QDir>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QStandardPaths>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <utility>

#include "kernels/registry.h"
#include "messages/explorer_page.h"
#include "storage/run_store.h"
#include "ui/pages/explorer/cards.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

namespace {

constexpr std::int64_t at_once = 1'000;
/// Releases the GPU when the user does not measure for this time.
constexpr std::chrono::minutes idle_limit{2};
/// Maximum number of points in memory; older points are in the file.
constexpr std::size_t max_kept_points = 200;

/// Returns null if the file is gone or has another point with that id.
std::shared_ptr<const PointRecord> read_record(const QString& file, const PointEvent& event) {
  try {
    const RunStore store = RunStore::open(file.toStdString(), RunStore::Mode::read_only);
    std::optional<StoredPoint> found = store.point(event.point_id);
    if (found && found->record.spec == event.spec) return std::make_shared<PointRecord>(std::move(found->record));
  } catch (const std::exception&) {  // The collector's summary is shown instead.
  }
  return nullptr;
}

}  // namespace

PointMeasurer::PointMeasurer(QObject* parent) : QObject(parent) {
  const QString folder = QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation);
  database_ = QDir(folder).filePath(QStringLiteral("attnscope/runs/explored.attnscope"));
  idle_.setSingleShot(true);
  idle_.setInterval(idle_limit);
  connect(&idle_, &QTimer::timeout, &session_, &ServeSession::end);
  connect(&devices_, &DeviceList::changed, this, &PointMeasurer::devices_changed);
  connect(&session_, &ServeSession::session_started, this, [this] { emit file_written(session_.target().database); });
  connect(&session_, &ServeSession::point_started, this, [this](const QString& id) {
    if (MeasuredPoint* point = find(id)) point->state = MeasuredPoint::State::running;
    emit changed();
  });
  connect(&session_, &ServeSession::point_finished, this, &PointMeasurer::finish);
  connect(&session_, &ServeSession::point_refused, this,
          [this](const QString& id, const QString& why) { close(id, MeasuredPoint::State::refused, why); });
  connect(&session_, &ServeSession::point_cancelled, this,
          [this](const QString& id) { close(id, MeasuredPoint::State::cancelled, {}); });
  connect(&session_, &ServeSession::failed, this, &PointMeasurer::error_occurred);
  connect(&session_, &ServeSession::logged, this,
          [this](const LogEvent& event) { emit error_occurred(QString::fromStdString(event.text)); });
  connect(&session_, &ServeSession::ended, this, [this] { emit file_released(session_.target().database); });
}

PointMeasurer::~PointMeasurer() {
  disconnect(&session_, nullptr, this, nullptr);
}

void PointMeasurer::find_devices() {
  if (std::exchange(probed_, true)) return;
  devices_.probe();
}

std::vector<ListedDevice> PointMeasurer::devices_of(const std::string& gpu, const std::string& algorithm) const {
  std::vector<ListedDevice> found;
  const Algorithm* known = known_algorithms().find(algorithm);
  const bool here_alone = known != nullptr && known->facts().user_defined;
  if (here_alone && known->facts().model_only) return found;
  for (const ListedDevice& device : devices_.devices()) {
    if (here_alone && (device.simulated || device.argument.startsWith(QLatin1String("ssh:")))) continue;
    if (device.gpu == QString::fromStdString(gpu)) found.push_back(device);
  }
  return found;
}

void PointMeasurer::request_points(const ExplorerChoices& choices, const ListedDevice& device, std::int64_t priority,
                                   bool around) {
  idle_.stop();
  (void)QDir().mkpath(QFileInfo(database_).absolutePath());
  session_.set_target({.device = device.argument, .database = database_, .why = !device.simulated});
  points_.insert(points_.begin(), MeasuredPoint{.id = session_.measure(choices.point.spec, priority),
                                                .choices = choices,
                                                .device = device.name,
                                                .simulated = device.simulated,
                                                .around = around});
  while (points_.size() > max_kept_points && !points_.back().is_pending()) points_.pop_back();
}

void PointMeasurer::measure(const ExplorerChoices& choices, const ListedDevice& device) {
  request_points(choices, device, at_once, false);
  emit changed();
}

void PointMeasurer::sweep_around(const ExplorerChoices& choices, const ListedDevice& device, int steps) {
  std::vector<QString> earlier;
  for (const MeasuredPoint& point : points_) {
    if (point.around && point.is_pending()) earlier.push_back(point.id);
  }
  for (const QString& id : earlier) session_.cancel(id);
  std::int64_t priority = 0;
  request_points(choices, device, priority, true);
  const PointSpec& spec = choices.point.spec;
  const Facts& facts = known_algorithms().find(spec.algorithm)->facts();
  for (const TileShape& tile : analysis::tiles_around(facts, spec.tile, steps)) {
    ExplorerChoices other = choices;
    if (choose(other, QStringLiteral("br"), QString::number(tile.br)) &&
        choose(other, QStringLiteral("bc"), QString::number(tile.bc))) {
      request_points(other, device, --priority, true);
    }
  }
  emit changed();
}

void PointMeasurer::cancel() {
  session_.cancel_all();
}

void PointMeasurer::restart_collector() {
  if (open() == 0) session_.end();
}

MeasuredPoint* PointMeasurer::find(const QString& id) {
  const auto point = std::ranges::find(points_, id, &MeasuredPoint::id);
  return point == points_.end() ? nullptr : &*point;
}

std::shared_ptr<const PointRecord> PointMeasurer::record_of(const ExplorerChoices& choices) {
  const auto point = std::ranges::find_if(points_, [&](const MeasuredPoint& each) {
    return each.state == MeasuredPoint::State::finished && each.matches_choices(choices);
  });
  if (point == points_.end()) return nullptr;
  if (point->record == nullptr) point->record = read_record(point->file, point->event);
  return point->record;
}

const MeasuredPoint* PointMeasurer::latest_swept_point() const {
  const auto finished = [](const MeasuredPoint& each) {
    return each.around && each.state == MeasuredPoint::State::finished;
  };
  const auto last = std::ranges::find_if(points_, finished);
  if (last == points_.end()) return nullptr;
  const PointSpec& spec = last->choices.point.spec;
  const auto same_map = [&](const MeasuredPoint& each) {
    PointSpec other = each.choices.point.spec;
    const bool another = other.tile != spec.tile;
    other.tile = spec.tile;
    return another && other == spec && each.device == last->device && each.file == last->file && finished(each);
  };
  return std::ranges::any_of(points_, same_map) ? &*last : nullptr;
}

void PointMeasurer::finish(const QString& id, const PointEvent& event) {
  if (MeasuredPoint* point = find(id)) {
    point->event = event;
    point->file = session_.target().database;
  }
  close(id, MeasuredPoint::State::finished, {});
  emit file_written(session_.target().database);
}

void PointMeasurer::close(const QString& id, MeasuredPoint::State state, const QString& why) {
  if (MeasuredPoint* point = find(id)) {
    point->state = state;
    point->why = why;
  }
  if (session_.open() == 0) idle_.start();
  emit changed();
}

PointMeasurer& shared_measurer(Workspace& workspace) {
  auto* measurer = workspace.findChild<PointMeasurer*>({}, Qt::FindDirectChildrenOnly);
  if (measurer == nullptr) {
    measurer = new PointMeasurer(&workspace);
    QObject::connect(measurer, &PointMeasurer::file_written, &workspace, &Workspace::follow);
    QObject::connect(measurer, &PointMeasurer::file_released, &workspace, &Workspace::stop_following);
  }
  return *measurer;
}

namespace {

constexpr int usual_steps = 3;
constexpr int max_sweep_steps = 8;

/// Returns the translated title, or the text itself if a newer collector sent an unknown value.
template <class Parsed>
Message title_or_verbatim(const Parsed& parsed, const std::string& word) {
  return parsed.ok() ? title(*parsed) : Message::verbatim(word);
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

namespace {

/// Outcome of a point with its reason: "infeasible: needs 300 KiB of 227 KiB shared memory".
QString outcome_text(const MeasuredPoint& point) {
  const QString reason = point.why.isEmpty() ? qtext(point.event.reason) : point.why;
  return reason.isEmpty() ? outcome_label(point) : outcome_label(point) + QStringLiteral(": ") + reason;
}

}  // namespace

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
  const auto button = [row](const char* name, const Message& text, const Message& help) {
    return add_button(*row, QLatin1String(name), qtext(text), qtext(help));
  };
  measure_button_ = button("measure", msg::explorer_page::measure{}, msg::explorer_page::measure_help{});
  sweep_button_ = button("around", msg::explorer_page::sweep_around{}, msg::explorer_page::sweep_around_help{});
  steps_ = new QSpinBox(bar);
  steps_->setObjectName(QStringLiteral("around-steps"));
  steps_->setRange(1, max_sweep_steps);
  steps_->setValue(usual_steps);
  steps_->setPrefix(QStringLiteral("± "));
  steps_->setAccessibleName(qtext(msg::explorer_page::sweep_around_steps{}));
  steps_->setToolTip(plain_tooltip(qtext(msg::explorer_page::sweep_around_steps{})));
  row->addWidget(steps_);
  cancel_ = button("cancel-measuring", msg::explorer_page::cancel{}, msg::explorer_page::cancel_help{});
  map_ = button("show-map", msg::explorer_page::show_map{}, msg::explorer_page::show_map_help{});
  state_ = new ElidedLabel(this);
  state_->setObjectName(QStringLiteral("measuring"));
  state_->setTextFormat(Qt::PlainText);
  column->addWidget(bar);
  column->addWidget(state_, 1);
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
  show_state_text();
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

QString MeasurementCard::modeled_only_text() const {
  if (choices_.point.padding_bytes > 0) return qtext(msg::explorer_page::padding_is_modeled{});
  return choices_.what_if.is_identity() ? QString() : qtext(msg::explorer_page::what_if_is_modeled{});
}

void MeasurementCard::show_state_text() {
  QString words = trouble_.isEmpty() ? modeled_only_text() : trouble_;
  if (words.isEmpty() && measurer_.open() > 0) words = pending_points_text();
  if (words.isEmpty() && !runs_) words = qtext(msg::explorer_page::cannot_be_measured{});
  if (words.isEmpty()) words = no_device_text();
  if (words.isEmpty() && recorded_) words = recorded_text(*recorded_);
  if (words.isEmpty()) {
    const auto point = std::ranges::find_if(
        measurer_.points(), [this](const MeasuredPoint& each) { return each.matches_choices(choices_); });
    words = point == measurer_.points().end() ? qtext(msg::explorer_page::no_measurement{}) : outcome_text(*point);
  }
  state_->setText(words);
  state_->setToolTip(plain_tooltip(words));
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
  for (QWidget* widget : std::initializer_list<QWidget*>{measure_button_, sweep_button_, steps_}) {
    widget->setEnabled(device && runs_ && modeled_only_text().isEmpty());
  }
  cancel_->setEnabled(measurer_.open() > 0);
  map_->setEnabled(measurer_.latest_swept_point() != nullptr);
  show_state_text();
}

void MeasurementCard::measure() {
  const std::optional<ListedDevice> chosen = device();
  if (!measure_button_->isEnabled() || !chosen) return;
  trouble_.clear();
  measurer_.measure(choices_, *chosen);
}

void MeasurementCard::sweep_around() {
  const std::optional<ListedDevice> chosen = device();
  if (!sweep_button_->isEnabled() || !chosen) return;
  trouble_.clear();
  measurer_.sweep_around(choices_, *chosen, steps_->value());
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
