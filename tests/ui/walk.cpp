// SPDX-License-Identifier: GPL-3.0-or-later
// End-to-end test of the window on a real display: ui_walk SIZE THEME FOLDER [DEVICE]. Each step waits for its expected
// result and saves a screenshot; the first failure ends the program with exit code 1. DEVICE: measuring device as for
// `collect --device`, for example gpu:0.
#include <QApplication>
#include <QComboBox>
#include <QElapsedTimer>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScreen>
#include <QSlider>
#include <QSpinBox>
#include <QStandardPaths>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <stdexcept>

#include "tests/app/local_sshd.h"
#include "tests/ui/window_test.h"
#include "ui/pages/curves/io_curve_page.h"
#include "ui/pages/explorer/cards.h"
#include "ui/pages/explorer/explorer_page.h"
#include "ui/pages/explorer/point_measurer.h"
#include "ui/pages/law/law_page.h"
#include "ui/pages/roofline/roofline_page.h"
#include "ui/pages/tiles/tile_heatmap_page.h"
#include "ui/panels/collect_panel.h"
#include "ui/runs/samples.h"
#include "ui/window/application.h"
#include "ui/window/query_bar.h"

namespace {

using namespace attnscope;
using namespace attnscope::ui;

constexpr int patience_ms = 90'000;

class Walk {
 public:
  Walk(const QSize& size, ThemeChoice theme, QString folder, QString device)
      : folder_(std::move(folder)), device_(std::move(device)), window_(false) {
    qputenv("ATTNSCOPE_COLLECTOR", ATTNSCOPE_COMMAND_PROGRAM);
    window_.set_theme(theme);
    window_.setGeometry(QRect(QPoint(0, 0), size));
    window_.show();
    if (!QTest::qWaitForWindowExposed(&window_)) throw std::runtime_error("the window is not exposed");
  }

  void open_recorded_sample() {
    window_.open_files(sample_paths());
    wait("points of the sample", [&] { return window_.workspace().visible()->size() > 600; });
    wait("curves", [&] { return !io().curves().curves.empty(); });
    picture("sample");
  }

  void filter() {
    const std::size_t all = window_.workspace().visible()->size();
    QTest::keySequence(&window_, QKeySequence(QStringLiteral("Ctrl+L")));
    QTest::keyClicks(window_.query().field(), QStringLiteral("algo:fa1,fa2 d:128 status:ok"));
    QTest::keyClick(window_.query().field(), Qt::Key_Return);
    wait("fewer points", [&] { return window_.workspace().visible()->size() < all / 2; });
    check("the filter is accepted", window_.query().error().isEmpty());
    picture("filtered");
  }

  void isolate_series() {
    window_.query().set_text({});
    window_.show_page(QStringLiteral("io"));
    wait_until_idle();
    IoPlot& plot = *io().plot();
    plot.replot();
    LegendTable& legend = plot.legend_table();
    check("the legend has rows", !legend.content().rows.empty());
    const QPoint at = legend.row_rect(0).center();
    QTest::mouseClick(&legend, Qt::LeftButton, Qt::NoModifier, at);
    wait("others are hidden", [&] { return !plot.hidden().empty(); });
    picture("isolated");
    QTest::keyClick(&legend, Qt::Key_Escape);
    wait("all are shown", [&] { return plot.hidden().empty(); });
  }

  void change_tile() {
    window_.show_page(QStringLiteral("explorer"));
    wait("an explored point", [&] { return explorer().shown() != nullptr && !explorer().has_stale_results(); });
    const double before = explorer().shown()->exploration.ns;
    auto* slider = explorer().findChild<QSlider*>(QStringLiteral("br-slider"));
    if (slider == nullptr) {
      for (auto* each : explorer().findChildren<QSlider*>()) {
        if (each->objectName().startsWith(QStringLiteral("br"))) slider = each;
      }
    }
    check("Br has a slider", slider != nullptr);
    slider->setFocus();
    QTest::keyClick(slider, Qt::Key_Left);
    wait("another prediction",
         [&] { return !explorer().has_stale_results() && explorer().shown()->exploration.ns != before; });
    picture("tile");
  }

  void measure() {
    auto& measurer = explorer().measurement_card().measurer();
    measurer.set_database(work_.filePath(QStringLiteral("explored.attnscope")));
    auto* on = explorer().findChild<QComboBox*>(QStringLiteral("measures-on"));
    wait("the device to measure on", [&] { return device_.isEmpty() ? on->count() > 0 : on->findData(device_) >= 0; });
    if (!device_.isEmpty()) {
      on->setCurrentIndex(on->findData(device_));
      emit on->activated(on->currentIndex());
    }
    press(QStringLiteral("measure"));
    wait("the measured point",
         [&] { return measurer.points().size() == 1 && measurer.points()[0].state == MeasuredPoint::State::finished; });
    check("the measured time is shown with the predicted one", !measured_time(*explorer().time_bars()).isEmpty());
    picture("measured");
  }

  void sweep_around() {
    auto& measurer = explorer().measurement_card().measurer();
    press(QStringLiteral("around"));
    wait("points of the sweep", [&] {
      return std::ranges::count(measurer.points(), MeasuredPoint::State::finished, &MeasuredPoint::state) >= 8;
    });
    press(QStringLiteral("cancel-measuring"));
    wait("no pending points", [&] { return measurer.open() == 0; });
    press(QStringLiteral("show-map"));
    const auto& map = page_of<TileHeatmapPage>(window_);
    const QString file = measurer.latest_swept_point()->file;
    wait("the map of the sweep", [&] {
      if (!map.isVisible() || !map.is_up_to_date() || !map.has_map()) return false;
      return map.heatmap()->points().run_of(map.heatmap()->map().rows().front())->file == file;
    });
    wait_until_idle();
    picture("around");
  }

  void change_what_if() {
    window_.show_page(QStringLiteral("explorer"));
    wait_until_idle();
    auto* spin = explorer().findChild<QSpinBox*>(QStringLiteral("what_if_dram"));
    check("the DRAM rate has a what-if factor", spin != nullptr);
    const auto dram_ns = [this] {
      const analysis::Exploration& e = explorer().shown()->exploration;
      return e.light.of(GpuUnit::dram) * e.ns;
    };
    const double before = dram_ns();
    spin->setValue(200);
    wait("half the DRAM time",
         [&] { return !explorer().has_stale_results() && std::abs(dram_ns() / before - 0.5) < 1e-6; });
    picture("what-if");
    spin->setValue(100);
    wait("the original prediction", [&] { return !explorer().has_stale_results(); });
  }

  void visit_roofline() {
    window_.show_page(QStringLiteral("roofline"));
    wait("points under roofs", [&] { return page_of<RooflinePage>(window_).has_plot(); });
    picture("roofline");
  }

  void visit_law() {
    window_.open_files({QStringLiteral(ATTNSCOPE_LAW_SAMPLE)});
    window_.show_page(QStringLiteral("law"));
    const std::size_t before = window_.workspace().visible()->size();
    wait("points of the law sample", [&] { return window_.workspace().visible()->size() > before; });
    wait_until_idle();
    picture("law");
  }

  void measure_remote() {
    hosts::LocalSshd sshd(work_.filePath(QStringLiteral("gpubox")).toStdString());
    if (!sshd.why_not().empty()) {
      std::printf("skipped: %s\n", sshd.why_not().c_str());
      return;
    }
    qputenv("ATTNSCOPE_SSH_CONFIG", QByteArray::fromStdString(sshd.config()));
    sshd.install(ATTNSCOPE_COMMAND_PROGRAM);
    const QString word = QStringLiteral("ssh:gpubox/simulated:H200");
    DeviceList::set_remote({word});
    CollectForm& form = window_.findChild<CollectPanel*>()->form();
    wait("the remote device in the list", [&] {
      form.restore({{"device", word}});
      return form.request().device == word;
    });
    form.set_preset(QStringLiteral("quick"));
    form.set_axes(QStringLiteral("N=[256,512,1024]"));
    const QString file = work_.filePath(QStringLiteral("there.attnscope"));
    form.restore({{"file", file}});
    window_.findChild<CollectPanel*>()->findChild<QPushButton*>(QStringLiteral("start"))->click();
    wait("the remote sweep", [&] {
      return std::ranges::any_of(window_.workspace().runs(), [&](const LoadedRun& run) {
        return run.info->file == file && run.info->summary.state == StoredRunState::complete;
      });
    });
    picture("ssh-collected");
    DeviceList::set_remote({});
  }

 private:
  static void check(const char* what, bool holds) {
    if (!holds) throw std::runtime_error(std::string("check failed: ") + what);
  }
  static void wait(const char* what, const std::function<bool()>& holds) {
    if (!QTest::qWaitFor(holds, patience_ms)) throw std::runtime_error(std::string("timed out waiting for ") + what);
  }
  void press(const QString& name) {
    auto* button = explorer().findChild<QAbstractButton*>(name);
    wait(qPrintable(name), [&] { return button->isEnabled(); });
    button->click();
  }
  /// Saves a screenshot of the window's area, including popups.
  void picture(const char* name) {
    wait_until_idle();
    QTest::qWait(200);  // Animations of docks and menus.
    const QPixmap shown = window_.screen()->grabWindow(0, window_.x(), window_.y(), window_.width(), window_.height());
    const QString file = QStringLiteral("%1/%2-%3.png")
                             .arg(folder_)
                             .arg(++step_, 2, 10, QLatin1Char('0'))
                             .arg(QString::fromLatin1(name));
    if (shown.isNull() || !shown.save(file))
      throw std::runtime_error("cannot save the screenshot: " + file.toStdString());
    std::printf("%s\n", qPrintable(file));
  }
  IoCurvePage& io() { return page_of<IoCurvePage>(window_); }
  ExplorerPage& explorer() { return page_of<ExplorerPage>(window_); }

  QString folder_;
  QString device_;  ///< Empty: the first device of the list.
  QTemporaryDir work_;
  MainWindow window_;
  int step_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) {
    std::fprintf(stderr, "usage: ui_walk SIZE THEME FOLDER [DEVICE]\n");
    return 2;
  }
  QStandardPaths::setTestModeEnabled(true);
  Application application(argc, argv);
  QCoreApplication::setApplicationName(QStringLiteral("attnscope-walk"));
  initialize_style();
  const QStringList extents = QString::fromLocal8Bit(argv[1]).split(QLatin1Char('x'));
  const QSize size(extents.value(0).toInt(), extents.value(1).toInt());
  try {
    Walk walk(size, parse_theme(QString::fromLocal8Bit(argv[2])), QString::fromLocal8Bit(argv[3]),
              QString::fromLocal8Bit(argc > 4 ? argv[4] : ""));
    walk.open_recorded_sample();
    walk.filter();
    walk.isolate_series();
    walk.change_tile();
    walk.measure();
    walk.sweep_around();
    walk.change_what_if();
    walk.visit_roofline();
    walk.visit_law();
    walk.measure_remote();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ui_walk: %s\n", error.what());
    return 1;
  }
  return 0;
}
