// SPDX-License-Identifier: GPL-3.0-or-later
// Doctor page: checks, and measurement of ceilings.
#include "ui/pages/doctor/doctor_page.h"

#include <gtest/gtest.h>

#include <QClipboard>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QTimer>
#include <algorithm>

#include "messages/ceilings_page.h"
#include "messages/collect_panel.h"
#include "messages/doctor_page.h"
#include "messages/import_dialog.h"
#include "tests/ui/window_test.h"
#include "ui/pages/ceilings/ceilings_page.h"
#include "ui/panels/collect_panel.h"
#include "ui/window/main_window.h"

namespace attnscope::ui {
namespace {

class DoctorPageTest : public WindowTest {
 protected:
  static constexpr int patience_ms = 120'000;

  void TearDown() override { qunsetenv("ATTNSCOPE_COLLECTOR"); }
  /// Shows the page, and waits for its checks.
  static DoctorPage& open_page(MainWindow& window) {
    auto& page = page_of<DoctorPage>(window);
    QSignalSpy checks_finished(&page, &DoctorPage::checks_finished);
    window.show();
    window.show_page(QStringLiteral("doctor"));
    EXPECT_TRUE(!checks_finished.isEmpty() || checks_finished.wait(patience_ms));
    return page;
  }
  static QPushButton& button(const DoctorPage& page, const char* name) {
    auto* found = page.findChild<QPushButton*>(QLatin1String(name));
    if (found == nullptr) throw std::runtime_error(std::string("no button ") + name);
    return *found;
  }
};

TEST_F(DoctorPageTest, SuggestsAFixForAMissingProgram) {
  qputenv("ATTNSCOPE_COLLECTOR", "/nonexistent/attnscope");
  MainWindow window(false);
  const DoctorPage& page = open_page(window);
  EXPECT_TRUE(page.checks().empty());
  EXPECT_TRUE(page.summary().contains("ATTNSCOPE_COLLECTOR"));
  EXPECT_TRUE(page.summary().contains(qtext(msg::doctor_page::check_again{})));
  EXPECT_FALSE(button(page, "measure-ceilings").isEnabled());
  EXPECT_FALSE(button(page, "copy-all").isEnabled());
}

TEST_F(DoctorPageTest, ReportsAnUnresponsiveProgram) {
  qputenv("ATTNSCOPE_COLLECTOR", "/bin/false");
  MainWindow window(false);
  DoctorPage& page = open_page(window);
  EXPECT_TRUE(page.summary().contains(qtext(msg::import_dialog::child_ended{.code = 1})));
  // Once the program exists, checking again succeeds.
  qputenv("ATTNSCOPE_COLLECTOR", ATTNSCOPE_COMMAND_PROGRAM);
  QSignalSpy checks_finished(&page, &DoctorPage::checks_finished);
  button(page, "look-again").click();
  ASSERT_TRUE(checks_finished.wait(patience_ms));
  EXPECT_FALSE(page.checks().empty());
  EXPECT_TRUE(page.as_text().contains("runs: ")) << page.as_text().toStdString();
}

#ifdef ATTNSCOPE_FAKE_GPU_LIBRARY
/// The real program with a fake GPU library.
class DoctorOnGpuTest : public DoctorPageTest {
 protected:
  void SetUp() override {
    DoctorPageTest::SetUp();
    qputenv("ATTNSCOPE_COLLECTOR", ATTNSCOPE_COMMAND_PROGRAM);
    for (const char* name : libraries) qputenv(name, ATTNSCOPE_FAKE_GPU_LIBRARY);
    qputenv("ATTNSCOPE_CACHE_DIR", QFile::encodeName(folder.filePath("cubins")));
  }
  void TearDown() override {
    for (const char* name : libraries) qunsetenv(name);
    for (const char* name : {"ATTNSCOPE_CACHE_DIR", "ATTNSCOPE_FAKE_GPU"}) qunsetenv(name);
    DoctorPageTest::TearDown();
  }
  /// Clicks once the GPU is found.
  void measure(MainWindow& window, const char* what) {
    DoctorPage& page = open_page(window);
    page.restore({{"file", database}});
    QPushButton& begin = button(page, what);
    ASSERT_TRUE(QTest::qWaitFor([&] { return begin.isEnabled(); }, patience_ms)) << begin.toolTip().toStdString();
    EXPECT_FALSE(button(page, "stop-measuring").isEnabled());
    begin.click();
    EXPECT_TRUE(window.findChild<CollectPanel*>()->is_running());
    EXPECT_FALSE(begin.isEnabled()) << "one at a time";
    EXPECT_TRUE(button(page, "stop-measuring").isEnabled());
  }
  static const CheckRow& named(const DoctorPage& page, const char* name) {
    const auto found = std::ranges::find(page.checks(), QLatin1String(name), &CheckRow::name);
    if (found == page.checks().end()) throw std::runtime_error(std::string("no check ") + name);
    return *found;
  }

  static constexpr const char* libraries[] = {"ATTNSCOPE_CUDA_LIBRARY", "ATTNSCOPE_NVRTC_LIBRARY",
                                              "ATTNSCOPE_CUPTI_LIBRARY", "ATTNSCOPE_NVML_LIBRARY"};
  QString database = folder.filePath("measured.attnscope");
};

TEST_F(DoctorOnGpuTest, ShowsStateAndFixOfEachCheck) {
  qputenv("ATTNSCOPE_FAKE_GPU", "cupti-availability=35,throttle=4");
  MainWindow window(false);
  const DoctorPage& page = open_page(window);
  EXPECT_TRUE(named(page, "device").ok);
  EXPECT_TRUE(named(page, "device").detail.startsWith("Fake GPU"));
  const CheckRow& counters = named(page, "counters");
  EXPECT_FALSE(counters.ok);
  EXPECT_EQ(page.summary(), qtext(msg::doctor_page::problems{.problems = 2}));
  button(page, "copy-all").click();
  const QString all = QGuiApplication::clipboard()->text();
  EXPECT_EQ(all, page.as_text());
  EXPECT_TRUE(all.contains("counters: " + counters.detail + "\n" +
                           qtext(msg::doctor_page::fix{.fix = counters.fix.toStdString()})));
  EXPECT_TRUE(all.contains("✓ " + qtext(msg::doctor_page::ok{}))) << all.toStdString();
  EXPECT_TRUE(all.contains("✕ " + qtext(msg::doctor_page::problem{}))) << all.toStdString();
}

TEST_F(DoctorOnGpuTest, ReportsThatThereIsNoGpu) {
  for (const char* name : libraries) qputenv(name, "/nonexistent/library.so");
  MainWindow window(false);
  const DoctorPage& page = open_page(window);
  EXPECT_FALSE(named(page, "driver").ok);
  EXPECT_FALSE(button(page, "measure-ceilings").isEnabled());
  EXPECT_EQ(page.progress(), qtext(msg::doctor_page::no_gpu{}));
}

TEST_F(DoctorOnGpuTest, MeasuresStoresAndShowsCeilings) {
  MainWindow window(false);
  QSignalSpy measured(window.findChild<CollectPanel*>(), &CollectPanel::ceilings_measured);
  QSignalSpy error_occurred(window.findChild<CollectPanel*>(), &CollectPanel::error_occurred);
  auto& page = page_of<CeilingsPage>(window);
  QStringList progress;
  QObject::connect(window.findChild<CollectPanel*>(), &CollectPanel::ceilings_progressed, &window,
                   [&] { progress << page.progress(); });
  window.banner().add(Banner::Topic::collect, QStringLiteral("of an earlier attempt"));
  ASSERT_NO_FATAL_FAILURE(measure(window, "measure-ceilings"));
  EXPECT_EQ(window.banner().text(), QString());
  const auto ceilings_text = [](int percent) {
    return qtext(msg::ceilings_page::measuring{.device = "Fake GPU (GPU 0)", .percent = percent});
  };
  EXPECT_EQ(page_of<DoctorPage>(window).progress(), qtext(msg::ceilings_page::preparing{.device = "Fake GPU (GPU 0)"}));
  ASSERT_TRUE(measured.wait(patience_ms))
      << (error_occurred.isEmpty() ? "" : error_occurred[0][0].toString().toStdString());
  EXPECT_FALSE(window.findChild<CollectPanel*>()->is_running());
  ASSERT_GE(progress.size(), 3);
  EXPECT_EQ(progress.constLast(), QString()) << "the measurement has ended";
  EXPECT_EQ(progress[progress.size() - 2], ceilings_text(100));
  EXPECT_TRUE(page_of<DoctorPage>(window).progress().endsWith(
      qtext(msg::collect_panel::measured{.file = database.toStdString()})));
  QSignalSpy read(&window.workspace(), &Workspace::ceilings_changed);
  ASSERT_TRUE(!page.sets().empty() || read.wait(patience_ms));
  EXPECT_TRUE(page.isVisible()) << "the window shows them";
  ASSERT_EQ(page.sets().size(), 1U);
  EXPECT_TRUE(page.sets()[0].measured);
  EXPECT_EQ(page.sets()[0].device_name, "Fake GPU");
  const std::vector<StoredCeilings> stored =
      RunStore::open(database.toStdString(), RunStore::Mode::read_only).ceilings();
  ASSERT_EQ(stored.size(), 1U);
  EXPECT_EQ(page.sets()[0].ceilings, stored[0].ceilings);
  EXPECT_GT(page.table()->model()->rowCount(), 10);
}

TEST_F(DoctorOnGpuTest, StoresNoCeilingsWhenStopped) {
  MainWindow window(false);
  QSignalSpy ended(window.findChild<CollectPanel*>(), &CollectPanel::collection_ended);
  QSignalSpy measured(window.findChild<CollectPanel*>(), &CollectPanel::ceilings_measured);
  QSignalSpy error_occurred(window.findChild<CollectPanel*>(), &CollectPanel::error_occurred);
  ASSERT_NO_FATAL_FAILURE(measure(window, "measure-ceilings"));
  button(page_of<DoctorPage>(window), "stop-measuring").click();
  ASSERT_TRUE(ended.wait(patience_ms));
  EXPECT_TRUE(measured.isEmpty());
  EXPECT_TRUE(error_occurred.isEmpty());
  EXPECT_FALSE(page_of<DoctorPage>(window).progress().isEmpty());
  EXPECT_TRUE(button(page_of<DoctorPage>(window), "measure-ceilings").isEnabled());
}

TEST_F(DoctorOnGpuTest, ShowsAGpuErrorInTheBanner) {
  MainWindow window(false);
  QSignalSpy ended(window.findChild<CollectPanel*>(), &CollectPanel::collection_ended);
  qputenv("ATTNSCOPE_FAKE_GPU", "crash=attn_ceiling");
  ASSERT_NO_FATAL_FAILURE(measure(window, "measure-ceilings"));
  ASSERT_TRUE(ended.wait(patience_ms));
  EXPECT_FALSE(window.banner().text().isEmpty());
}

#endif

}  // namespace
}  // namespace attnscope::ui
