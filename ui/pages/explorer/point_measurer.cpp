// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/explorer/point_measurer.h"

#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>
#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>

#include "kernels/registry.h"
#include "storage/run_store.h"

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

}  // namespace attnscope::ui
