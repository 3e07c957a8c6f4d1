// SPDX-License-Identifier: GPL-3.0-or-later
// What doctor finds as the window shows it, and what is measured of a GPU from there.
#include "ui/pages/doctor_page.h"

#include <gtest/gtest.h>

#include <QClipboard>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QTimer>
#include <algorithm>

#include "tests/ui/window_test.h"
#include "ui/pages/ceilings_page.h"
#include "ui/panels/collect_panel.h"
#include "ui/window/main_window.h"

namespace attnscope::ui {
namespace {

class DoctorPageTest : public WindowTest {
 protected:
  static constexpr int patience_ms = 120'000;

  void TearDown() override { qunsetenv("ATTNSCOPE_COLLECTOR"); }
  /// Turns to the page, and waits until it has looked.
  static DoctorPage& turned_to(MainWindow& window) {
    auto& page = page_of<DoctorPage>(window);
    QSignalSpy looked(&page, &DoctorPage::looked);
    window.show();
    window.show_page(QStringLiteral("doctor"));
    EXPECT_TRUE(!looked.isEmpty() || looked.wait(patience_ms));
    return page;
  }
  static QPushButton& button(const DoctorPage& page, const char* name) {
    auto* found = page.findChild<QPushButton*>(QLatin1String(name));
    if (found == nullptr) throw std::runtime_error(std::string("no button ") + name);
    return *found;
  }
};

TEST_F(DoctorPageTest, WithoutTheProgramItSaysWhatToDo) {
  qputenv("ATTNSCOPE_COLLECTOR", "/nonexistent/attnscope");
  MainWindow window(false);
  const DoctorPage& page = turned_to(window);
  EXPECT_TRUE(page.findings().empty());
  EXPECT_TRUE(page.summary().contains("was not found beside this one or in PATH: install it there"));
  EXPECT_FALSE(button(page, "measure-ceilings").isEnabled());
  EXPECT_FALSE(button(page, "copy-all").isEnabled());
}

TEST_F(DoctorPageTest, AProgramThatDoesNotAnswerIsSaid) {
  qputenv("ATTNSCOPE_COLLECTOR", "/bin/false");
  MainWindow window(false);
  DoctorPage& page = turned_to(window);
  EXPECT_EQ(page.summary(), "`attnscope doctor` did not answer: attnscope ended with code 1 and did not say why");
  // Once it is there, looking again is enough.
  qputenv("ATTNSCOPE_COLLECTOR", ATTNSCOPE_COMMAND_PROGRAM);
  QSignalSpy looked(&page, &DoctorPage::looked);
  button(page, "look-again").click();
  ASSERT_TRUE(looked.wait(patience_ms));
  EXPECT_FALSE(page.findings().empty());
  EXPECT_TRUE(page.as_text().contains("simulated device: ")) << page.as_text().toStdString();
}

TEST_F(DoctorPageTest, ADoctorThatHangsIsSaidAndCanBeStopped) {
  QFile script(folder.filePath("hangs"));
  ASSERT_TRUE(script.open(QIODevice::WriteOnly));
  script.write("#!/bin/sh\nexec sleep 3600\n");
  script.close();
  ASSERT_TRUE(script.setPermissions(QFile::ReadOwner | QFile::ExeOwner));
  qputenv("ATTNSCOPE_COLLECTOR", QFile::encodeName(script.fileName()));
  MainWindow window(false);
  auto& page = page_of<DoctorPage>(window);
  auto& late = *page.findChild<QTimer*>(QStringLiteral("doctor-late"));
  late.setInterval(0);
  window.show();
  window.show_page(QStringLiteral("doctor"));
  QPushButton& stop = button(page, "stop-looking");
  EXPECT_FALSE(stop.isVisible()) << "most answers take no wait";
  ASSERT_TRUE(QTest::qWaitFor([&] { return page.summary().contains("not answered for "); }, patience_ms));
  EXPECT_TRUE(page.summary().contains("driver that hangs")) << page.summary().toStdString();
  EXPECT_TRUE(stop.isVisible());
  QSignalSpy looked(&page, &DoctorPage::looked);
  stop.click();
  EXPECT_EQ(looked.size(), 1);
  EXPECT_TRUE(page.summary().startsWith("Stopped after ")) << page.summary().toStdString();
  EXPECT_FALSE(stop.isVisible());
  EXPECT_FALSE(late.isActive());
  // And it can be asked once more.
  qputenv("ATTNSCOPE_COLLECTOR", ATTNSCOPE_COMMAND_PROGRAM);
  late.setInterval(patience_ms);
  button(page, "look-again").click();
  ASSERT_TRUE(looked.wait(patience_ms));
  EXPECT_FALSE(page.findings().empty());
}

TEST_F(DoctorPageTest, FilesOfOtherGpusAreSaidToBe) {
  qputenv("ATTNSCOPE_COLLECTOR", ATTNSCOPE_COMMAND_PROGRAM);
  MainWindow window(false);
  const DoctorPage& page = turned_to(window);
  EXPECT_EQ(page.others(), QString());
  ASSERT_EQ(window.workspace().open_now(file), QString());
  const std::string gpu = window.workspace().runs().at(0).info->summary.device_name;
  EXPECT_EQ(page.others(), QString::fromStdString("What is found here is of this machine. The files that are shown "
                                                  "were recorded on: " +
                                                  gpu + "."));
  for (std::size_t i = 0; i < window.workspace().runs().size(); ++i) window.workspace().set_run_visible(i, false);
  EXPECT_TRUE(QTest::qWaitFor([&] { return page.others().isEmpty(); }, patience_ms));
}

#ifdef ATTNSCOPE_FAKE_GPU_LIBRARY
/// The real program, on a library that stands for a GPU.
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
  /// Once the GPU is found, as a click would.
  void measure(MainWindow& window, const char* what) {
    DoctorPage& page = turned_to(window);
    page.restore({{"file", database}});
    QPushButton& begin = button(page, what);
    ASSERT_TRUE(QTest::qWaitFor([&] { return begin.isEnabled(); }, patience_ms)) << begin.toolTip().toStdString();
    EXPECT_FALSE(button(page, "stop-measuring").isEnabled());
    begin.click();
    EXPECT_TRUE(window.collect()->running());
    EXPECT_FALSE(begin.isEnabled()) << "one at a time";
    EXPECT_TRUE(button(page, "stop-measuring").isEnabled());
  }
  static const Finding& named(const DoctorPage& page, const char* item) {
    const auto found = std::ranges::find(page.findings(), QLatin1String(item), &Finding::item);
    if (found == page.findings().end()) throw std::runtime_error(std::string("no finding ") + item);
    return *found;
  }

  static constexpr const char* libraries[] = {"ATTNSCOPE_CUDA_LIBRARY", "ATTNSCOPE_NVRTC_LIBRARY",
                                              "ATTNSCOPE_CUPTI_LIBRARY", "ATTNSCOPE_NVML_LIBRARY"};
  QString database = folder.filePath("measured.attnscope");
};

TEST_F(DoctorOnGpuTest, EachFindingHasItsStateAndItsFixToCopy) {
  qputenv("ATTNSCOPE_FAKE_GPU", "cupti-availability=35,throttle=4");
  MainWindow window(false);
  const DoctorPage& page = turned_to(window);
  EXPECT_EQ(named(page, "device").status, "ok");
  EXPECT_TRUE(named(page, "device").detail.startsWith("Fake GPU, compute capability 9.0"));
  const Finding& counters = named(page, "counters");
  EXPECT_EQ(counters.status, "missing");
  EXPECT_EQ(named(page, "clocks").status, "warning");
  EXPECT_TRUE(page.summary().startsWith("Problems: 1, warnings: 1.")) << page.summary().toStdString();
  button(page, "copy-counters").click();
  EXPECT_EQ(QGuiApplication::clipboard()->text(), counters.command.isEmpty() ? counters.fix : counters.command);
  EXPECT_EQ(page.findChild<QPushButton*>(QStringLiteral("copy-device")), nullptr) << "nothing is to be done about it";
  button(page, "copy-all").click();
  const QString all = QGuiApplication::clipboard()->text();
  EXPECT_EQ(all, page.as_text());
  EXPECT_TRUE(all.contains("✕ problem  counters: " + counters.detail + "\nWhat to do: " + counters.fix));
  EXPECT_TRUE(all.contains("▲ warning  clocks: ")) << all.toStdString();
  EXPECT_TRUE(all.contains("✓ ok  device: Fake GPU")) << all.toStdString();
}

TEST_F(DoctorOnGpuTest, WithoutAGpuItSaysSo) {
  for (const char* name : libraries) qputenv(name, "/nonexistent/library.so");
  MainWindow window(false);
  const DoctorPage& page = turned_to(window);
  EXPECT_EQ(named(page, "driver").status, "missing");
  EXPECT_EQ(named(page, "device").status, "skipped") << "it was not looked at";
  EXPECT_TRUE(page.as_text().contains("– not looked at  device: "));
  EXPECT_FALSE(button(page, "measure-ceilings").isEnabled());
  EXPECT_FALSE(button(page, "measure-noise").isEnabled());
  EXPECT_TRUE(page.progress().startsWith("There is no GPU to measure")) << page.progress().toStdString();
}

TEST_F(DoctorOnGpuTest, MeasuresCeilingsKeepsAndShowsThem) {
  MainWindow window(false);
  QSignalSpy measured(window.collect(), &CollectPanel::device_measured);
  QSignalSpy trouble(window.collect(), &CollectPanel::trouble);
  auto& page = page_of<CeilingsPage>(window);
  QStringList progress;
  QObject::connect(window.collect(), &CollectPanel::device_progressed, &window, [&] { progress << page.progress(); });
  window.banner().add(Banner::Topic::collect, QStringLiteral("of an earlier attempt"));
  ASSERT_NO_FATAL_FAILURE(measure(window, "measure-ceilings"));
  EXPECT_EQ(window.banner().text(), QString());
  EXPECT_TRUE(page_of<DoctorPage>(window).progress().contains("about to be measured"));
  ASSERT_TRUE(measured.wait(patience_ms)) << (trouble.isEmpty() ? "" : trouble[0][0].toString().toStdString());
  EXPECT_FALSE(window.collect()->running());
  ASSERT_GE(progress.size(), 3);
  EXPECT_EQ(progress.constLast(), QString()) << "it is over";
  EXPECT_TRUE(progress[progress.size() - 2].endsWith("are being measured: 100%"))
      << progress[progress.size() - 2].toStdString();
  EXPECT_TRUE(page_of<DoctorPage>(window).progress().endsWith("done: kept in " + database));
  QSignalSpy read(&window.workspace(), &Workspace::ceilings_changed);
  ASSERT_TRUE(!page.sets().empty() || read.wait(patience_ms));
  EXPECT_TRUE(page.isVisible()) << "the window turns to them";
  ASSERT_EQ(page.sets().size(), 1U);
  EXPECT_TRUE(page.sets()[0].measured);
  EXPECT_EQ(page.sets()[0].device_name, "Fake GPU");
  const std::vector<StoredCeilings> stored =
      RunStore::open(database.toStdString(), RunStore::Mode::read_only).ceilings();
  ASSERT_EQ(stored.size(), 1U);
  EXPECT_EQ(page.sets()[0].ceilings, stored[0].ceilings);
  EXPECT_GT(page.table()->model()->rowCount(), 10);
}

TEST_F(DoctorOnGpuTest, StoppedNoCeilingIsKept) {
  MainWindow window(false);
  QSignalSpy ended(window.collect(), &CollectPanel::collection_ended);
  QSignalSpy measured(window.collect(), &CollectPanel::device_measured);
  QSignalSpy trouble(window.collect(), &CollectPanel::trouble);
  ASSERT_NO_FATAL_FAILURE(measure(window, "measure-ceilings"));
  button(page_of<DoctorPage>(window), "stop-measuring").click();
  ASSERT_TRUE(ended.wait(patience_ms));
  EXPECT_TRUE(measured.isEmpty());
  EXPECT_TRUE(trouble.isEmpty());
  EXPECT_TRUE(page_of<DoctorPage>(window).progress().contains("ancelled")) << "and it is said";
  EXPECT_TRUE(button(page_of<DoctorPage>(window), "measure-ceilings").isEnabled());
}

TEST_F(DoctorOnGpuTest, AGpuThatFailsIsSaidInTheBanner) {
  MainWindow window(false);
  QSignalSpy ended(window.collect(), &CollectPanel::collection_ended);
  qputenv("ATTNSCOPE_FAKE_GPU", "crash=attn_ceiling");
  ASSERT_NO_FATAL_FAILURE(measure(window, "measure-ceilings"));
  ASSERT_TRUE(ended.wait(patience_ms));
  EXPECT_FALSE(window.banner().text().isEmpty());
}

TEST_F(DoctorOnGpuTest, NoiseIsKeptAndTold) {
  qputenv("ATTNSCOPE_FAKE_GPU", "compute-output");
  // The stand-in computes on the host: of one small point alone.
  const QString few = folder.filePath("few");
  QFile script(few);
  ASSERT_TRUE(script.open(QIODevice::WriteOnly));
  script.write(
      QByteArrayLiteral("#!/bin/sh\ncase \"$*\" in *--noise*) set -- \"$@\" --algorithms fa2 -a N=128 -a d=64 "
                        "-a heads=1 --recordings 4 --rounds 3;; esac\nexec " ATTNSCOPE_COMMAND_PROGRAM " \"$@\"\n"));
  script.close();
  ASSERT_TRUE(script.setPermissions(QFile::ReadOwner | QFile::ExeOwner));
  qputenv("ATTNSCOPE_COLLECTOR", QFile::encodeName(few));
  MainWindow window(false);
  QSignalSpy ended(window.collect(), &CollectPanel::collection_ended);
  ASSERT_NO_FATAL_FAILURE(measure(window, "measure-noise"));
  const DoctorPage& page = page_of<DoctorPage>(window);
  EXPECT_TRUE(page.progress().contains("noise of Fake GPU")) << page.progress().toStdString();
  ASSERT_TRUE(ended.wait(patience_ms));
  const std::vector<StoredNoise> stored = RunStore::open(database.toStdString(), RunStore::Mode::read_only).noise();
  ASSERT_EQ(stored.size(), 1U) << page.progress().toStdString() << window.banner().text().toStdString();
  EXPECT_TRUE(page.progress().startsWith("4 recordings of 3 rounds, 1 points, Fake GPU"))
      << page.progress().toStdString();
  EXPECT_TRUE(page.isVisible());
  EXPECT_TRUE(QTest::qWaitFor([&] { return window.workspace().files().contains(database); }, patience_ms));
}
#endif

}  // namespace
}  // namespace attnscope::ui
