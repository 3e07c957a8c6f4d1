// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/tiles/map_measuring.h"

#include <algorithm>

#include "messages/explorer_page.h"
#include "messages/tile_map.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/widgets/flow_layout.h"

namespace attnscope::ui {

MapMeasuring::MapMeasuring(PointMeasurer& measurer, QWidget* parent) : QWidget(parent), measurer_(measurer) {
  auto* flow = new FlowLayout(this, 6);
  title_ = new QLabel(this);
  QFont bold = title_->font();
  bold.setBold(true);
  title_->setFont(bold);
  const auto button = [&](const char* name) {
    auto* made = new QPushButton(this);
    made->setObjectName(QString::fromLatin1(name));
    made->setToolTip(plain_tip(qtext(say::tile_map::area_help{})));
    return made;
  };
  missing_button_ = button("area-missing");
  again_button_ = button("area-again");
  between_button_ = button("area-between");
  on_ = new QLabel(qtext(say::tile_map::area_on{}), this);
  device_ = new QComboBox(this);
  device_->setObjectName(QStringLiteral("area-device"));
  device_->setAccessibleName(qtext(say::explorer_page::measures_on{}));
  device_->setToolTip(plain_tip(qtext(say::explorer_page::measures_on{})));
  device_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  state_ = new QLabel(this);
  state_->setTextFormat(Qt::PlainText);
  cancel_ = button("area-cancel");
  cancel_->setText(qtext(say::tile_map::area_cancel{}));
  cancel_->setToolTip(plain_tip(qtext(say::explorer_page::cancel_help{})));
  close_ = new QToolButton(this);
  close_->setText(QStringLiteral("✕"));
  close_->setAutoRaise(true);
  close_->setToolTip(qtext(say::tile_map::area_close{}));
  close_->setAccessibleName(qtext(say::tile_map::area_close{}));
  for (QWidget* part : std::initializer_list<QWidget*>{title_, missing_button_, again_button_, between_button_, on_,
                                                       device_, cancel_, close_, state_}) {
    flow->addWidget(part);
  }
  connect(missing_button_, &QPushButton::clicked, this, [this] { ask_for(missing_); });
  connect(again_button_, &QPushButton::clicked, this, [this] { ask_for(all_); });
  connect(between_button_, &QPushButton::clicked, this, [this] { ask_for(between_); });
  connect(cancel_, &QPushButton::clicked, this, [this] {
    asked_ = false;
    measurer_.cancel();
  });
  connect(close_, &QToolButton::clicked, this, [this] {
    forget_area();
    emit closed();
  });
  connect(device_, &QComboBox::activated, this, &MapMeasuring::refresh);
  connect(&measurer_, &PointMeasurer::devices_changed, this, &MapMeasuring::show_devices);
  connect(&measurer_, &PointMeasurer::changed, this, &MapMeasuring::refresh);
  connect(&measurer_, &PointMeasurer::trouble, this, [this](const QString& why) {
    trouble_ = why;
    refresh();
  });
  refresh();
}

const ListedDevice* MapMeasuring::device() const {
  const auto found = std::ranges::find(devices_, device_->currentData().toString(), &ListedDevice::argument);
  return found == devices_.end() ? nullptr : &*found;
}

std::vector<ListedDevice> MapMeasuring::devices_for(const std::string& gpu, const std::string& algorithm,
                                                    bool simulated) const {
  std::vector<ListedDevice> devices = measurer_.devices_of(gpu, algorithm);
  // What stands beside the map's values comes first: another kind of value makes a map of its own.
  std::ranges::stable_sort(devices, [&](const ListedDevice& a, const ListedDevice& b) {
    return (a.simulated == simulated) > (b.simulated == simulated);
  });
  return devices;
}

QString MapMeasuring::words_of_place(const analysis::Run& of, const std::string& algorithm, bool again) const {
  const bool shown = area_shown_ && gpu_ == of.device_name && simulated_ == is_simulated(of.provenance);
  const std::vector<ListedDevice> devices = devices_for(of.device_name, algorithm, is_simulated(of.provenance));
  const ListedDevice* device = shown ? this->device() : devices.empty() ? nullptr : &devices.front();
  if (device == nullptr) return again ? qtext(say::tile_map::menu_again{}) : qtext(say::tile_map::menu_measure{});
  if (device->simulated && !is_simulated(of.provenance)) {
    return qtext(say::tile_map::menu_simulate_elsewhere{.gpu = device->gpu.toStdString()});
  }
  if (device->simulated) {
    return again ? qtext(say::tile_map::menu_simulate_again{}) : qtext(say::tile_map::menu_simulate{});
  }
  const std::string name = device->name.toStdString();
  return again ? qtext(say::tile_map::menu_again_on{.device = name})
               : qtext(say::tile_map::menu_measure_on{.device = name});
}

void MapMeasuring::show_devices() {
  devices_ = devices_for(gpu_, algorithm_, simulated_);
  const QString before = device_->currentData().toString();
  device_->clear();
  for (const ListedDevice& each : devices_) device_->addItem(each.name, each.argument);
  device_->setCurrentIndex(devices_.empty() ? -1 : std::max(0, device_->findData(before)));
  refresh();
}

void MapMeasuring::show_area(const HeatmapGrid& grid, const analysis::MapArea& area) {
  const analysis::PointTable& table = grid.points->table();
  missing_ = analysis::points_in(table, grid, area, analysis::Wanted::missing);
  all_ = analysis::points_in(table, grid, area, analysis::Wanted::all);
  between_ = analysis::points_between(table, grid, area);
  title_->setText(qtext(say::tile_map::area{.rows = area.rows(), .columns = area.columns()}));
  between_button_->setText(qtext(say::tile_map::area_refine{.points = static_cast<std::int64_t>(between_.size())}));
  // The map is drawn anew with every point that comes: what was said and chosen of the same area stays.
  if (!area_shown_ || area != area_) {
    trouble_.clear();
    asked_ = measurer_.open() > 0 && asked_;
  }
  if (all_.empty()) trouble_ = qtext(say::tile_map::area_foreign{});
  const analysis::Run& run = table.run(grid.shown_rows().front());
  const bool simulated = is_simulated(run.provenance);
  if (gpu_ != run.device_name || simulated_ != simulated) device_->clear();
  gpu_ = run.device_name;
  algorithm_ = table.spec(grid.shown_rows().front()).algorithm;
  simulated_ = simulated;
  area_ = area;
  area_shown_ = true;
  measurer_.find_devices();
  show_devices();
}

void MapMeasuring::forget_area() {
  area_shown_ = false;
  asked_ = measurer_.open() > 0 && asked_;
  refresh();
}

void MapMeasuring::measure_place(const HeatmapGrid& grid, HeatmapGrid::Place place) {
  show_area(grid, {place, place});
  ask_for(all_);
}

void MapMeasuring::ask_for(const std::vector<PointSpec>& points) {
  const ListedDevice* chosen = device();
  if (chosen == nullptr || points.empty()) return;
  trouble_.clear();
  asked_ = true;
  asked_on_ = chosen->name;
  measurer_.measure_all(points, *chosen);
}

void MapMeasuring::refresh() {
  const ListedDevice* chosen = device();
  const auto count = [](const std::vector<PointSpec>& points) { return static_cast<std::int64_t>(points.size()); };
  const bool simulates = chosen != nullptr && chosen->simulated;
  missing_button_->setText(simulates ? qtext(say::tile_map::area_simulate{.points = count(missing_)})
                                     : qtext(say::tile_map::area_measure{.points = count(missing_)}));
  again_button_->setText(simulates ? qtext(say::tile_map::area_simulate_again{.points = count(all_)})
                                   : qtext(say::tile_map::area_again{.points = count(all_)}));
  for (const auto& [button, points] : {std::pair{missing_button_, &missing_}, std::pair{again_button_, &all_},
                                       std::pair{between_button_, &between_}}) {
    button->setVisible(area_shown_ && !points->empty());
    button->setEnabled(chosen != nullptr);
  }
  title_->setVisible(area_shown_);
  on_->setVisible(area_shown_ && !all_.empty());
  device_->setVisible(area_shown_ && !all_.empty());
  device_->setEnabled(chosen != nullptr);
  close_->setVisible(area_shown_);
  const qsizetype open = measurer_.open();
  cancel_->setVisible(asked_ && open > 0);
  QString words = trouble_;
  if (words.isEmpty() && asked_) {
    const std::string file = measurer_.database().toStdString();
    words = open > 0 ? qtext(say::explorer_page::points_open{.open = static_cast<std::int64_t>(open), .file = file})
                     : qtext(say::tile_map::area_kept{.device = asked_on_.toStdString(), .file = file});
  }
  if (words.isEmpty() && chosen != nullptr && chosen->simulated != simulated_) {
    words = qtext(say::tile_map::area_elsewhere{.device = chosen->name.toStdString(), .tiles = fewest_tiles_of_a_map});
  }
  if (words.isEmpty() && chosen == nullptr && area_shown_) words = qtext(say::tile_map::area_no_device{});
  state_->setText(words);
  state_->setVisible(!words.isEmpty());
  setVisible(area_shown_ || (asked_ && open > 0));
}

}  // namespace attnscope::ui
