// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <QAction>
#include <QDockWidget>
#include <QFile>
#include <QJsonObject>
#include <QListWidget>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include "messages/collect_panel.h"
#include "storage/run_store.h"
#include "tests/app/local_sshd.h"
#include "tests/ui/window_test.h"
#include "ui/panels/collect_panel.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

TEST_F(WindowTest, EveryPresetCanStart) {
  qputenv("ATTNSCOPE_COLLECTOR", "/bin/false");
  CollectPanel panel;
  panel.form().restore({{"file", folder.filePath("c.attnscope")}});
  for (const Preset& preset : presets()) {
    panel.form().set_preset(QString::fromUtf8(preset.name.data(), static_cast<qsizetype>(preset.name.size())));
    EXPECT_EQ(start_blocker(panel), QString()) << preset.name;
  }
  panel.form().set_preset(QStringLiteral("memory-wall"));
  panel.form().set_axes(QStringLiteral("pass=bwd mask=[causal,window:256:0]"));
  EXPECT_EQ(start_blocker(panel), QString());
  EXPECT_EQ(panel.form().request().axes, (QStringList{"pass=bwd", "mask=[causal,window:256:0]"}));
  panel.form().set_axes(QStringLiteral("mask=diagonal"));
  EXPECT_TRUE(start_blocker(panel).contains(QStringLiteral("diagonal"))) << start_blocker(panel).toStdString();
  qunsetenv("ATTNSCOPE_COLLECTOR");
}

TEST_F(WindowTest, CollectPanelHasTheHeightOfItsContent) {
  MainWindow window(false);
  window.resize(1280, 800);
  window.show();
  auto* collect = window.findChild<QDockWidget*>(QStringLiteral("collect"));
  auto* runs = window.findChild<QDockWidget*>(QStringLiteral("runs"));
  runs->show();
  wait_until_idle();
  collect->toggleViewAction()->trigger();
  wait_until_idle();
  const auto* scroll = collect->findChild<QScrollArea*>();
  ASSERT_NE(scroll, nullptr);
  EXPECT_FALSE(scroll->verticalScrollBar()->isVisible());
  EXPECT_FALSE(runs->visibleRegion().isEmpty());

  collect->toggleViewAction()->trigger();
  window.resize(1280, 560);
  wait_until_idle();
  collect->toggleViewAction()->trigger();
  wait_until_idle();
  EXPECT_EQ(window.tabifiedDockWidgets(runs), QList<QDockWidget*>{collect});
}

TEST(CollectPanel, DisabledStartShowsTheReason) {
  const QTemporaryDir folder;
  qputenv("ATTNSCOPE_COLLECTOR", "/bin/false");
  CollectPanel panel;
  panel.form().restore({{"file", folder.filePath("new.attnscope")}});
  panel.form().set_preset(QStringLiteral("quick"));
  EXPECT_EQ(start_blocker(panel), QString());
  panel.form().set_axes(QStringLiteral("N=[1024,oops"));
  EXPECT_FALSE(start_blocker(panel).isEmpty());
  panel.form().set_axes(QStringLiteral("N=0"));
  EXPECT_FALSE(start_blocker(panel).isEmpty()) << "valid syntax, invalid problem";
  panel.form().set_axes({});
  EXPECT_EQ(start_blocker(panel), QString());
  panel.form().restore({{"file", QStringLiteral("/dev/null/new.attnscope")}});
  EXPECT_TRUE(start_blocker(panel).contains("/dev/null"));
  panel.form().restore({{"file", QString()}});
  EXPECT_FALSE(start_blocker(panel).isEmpty());
  qputenv("ATTNSCOPE_COLLECTOR", "/nonexistent");
  panel.form().restore({{"file", folder.filePath("new.attnscope")}});
  EXPECT_TRUE(start_blocker(panel).contains("attnscope"));
  qunsetenv("ATTNSCOPE_COLLECTOR");
}

TEST(CollectPanel, LogColorsFollowTheTheme) {
  apply_theme(ThemeChoice::light);
  CollectPanel panel;
  PointEvent event;
  event.point = "fa2 fp16 batch 1 heads 16 N 512 d 64 tile 64x64";
  event.disposition = "crashed";
  emit panel.collector().point_done(event);
  const auto* log = panel.findChild<QListWidget*>();
  ASSERT_NE(log, nullptr);
  ASSERT_EQ(log->count(), 1);
  EXPECT_EQ(log->item(0)->foreground().color(), disposition_color(Disposition::crashed, false));
  apply_theme(ThemeChoice::dark);
  QApplication::processEvents();
  EXPECT_EQ(log->item(0)->foreground().color(), disposition_color(Disposition::crashed, true));
  apply_theme(ThemeChoice::light);
}

TEST(CollectPanel, ContinuesAnUnfinishedRunOnRequest) {
  CollectPanel panel;
  EXPECT_FALSE(panel.form().request().resume);
  panel.form().restore({{"resume", true}});
  EXPECT_TRUE(panel.form().request().resume);
}

TEST(CollectPanel, ShowsTheNumberOfRounds) {
  CollectPanel panel;
  EXPECT_EQ(panel.form().request().rounds, 1);
  EXPECT_FALSE(panel.form().request().arguments().contains("--rounds"));
  auto* rounds = panel.findChild<QSpinBox*>(QStringLiteral("rounds"));
  ASSERT_NE(rounds, nullptr);
  rounds->setValue(10);
  EXPECT_TRUE(panel.form().request().arguments().join(' ').contains("--rounds 10"));
  PlanEvent plan;
  plan.total = 62;
  plan.rounds = 10;
  plan.device_name = "NVIDIA H200";
  emit panel.collector().planned(plan);
  const auto* log = panel.findChild<QListWidget*>();
  ASSERT_NE(log, nullptr);
  EXPECT_TRUE(log->item(0)->text().contains(qtext(points_text(62, 10)))) << log->item(0)->text().toStdString();
}

class ResumeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    database = folder.filePath("runs.attnscope");
    fixtures::write_file(database, {{"quick", fixtures::memory_wall(), false}});
    RunStore::open(database.toStdString(), RunStore::Mode::collect).reopen_run(1);
    QFile script(folder.filePath("collector"));
    ASSERT_TRUE(script.open(QIODevice::WriteOnly));
    PlanEvent plan;
    plan.device_name = "NVIDIA H200";
    plan.run_id = 1;
    plan.total = 87;
    const auto line = [](const auto& event) { return " '" + QByteArray::fromStdString(to_json_line(event)) + '\''; };
    script.write("#!/bin/sh\necho \"$@\" >>\"$0.log\"\nprintf '%s\\n'" + line(plan) +
                 line(ProgressEvent{.done = 48, .total = 87}) + "\nread word\nprintf '%s\\n'" +
                 line(DoneEvent{"cancelled", {}, 48, 0, 5}) + '\n');
    script.close();
    ASSERT_TRUE(script.setPermissions(QFile::ReadOwner | QFile::ExeOwner));
    qputenv("ATTNSCOPE_COLLECTOR", QFile::encodeName(script.fileName()));
  }
  void TearDown() override { qunsetenv("ATTNSCOPE_COLLECTOR"); }
  void start(CollectPanel& panel) const {
    panel.form().set_preset(QStringLiteral("quick"));
    panel.form().restore({{"file", database}});
    panel.findChild<QPushButton*>(QStringLiteral("start"))->click();
    wait_for_progress(panel);
  }
  static void wait_for_progress(const CollectPanel& panel) {
    ASSERT_TRUE(QTest::qWaitFor([&] { return panel.progress_text().startsWith("48 "); }, 60'000));
  }
  static void stop(CollectPanel& panel) {
    panel.cancel();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !panel.is_running(); }, 60'000));
  }
  /// Returns the options of each collection that was started.
  [[nodiscard]] QStringList collections() const {
    QFile log(folder.filePath("collector.log"));
    EXPECT_TRUE(log.open(QIODevice::ReadOnly));
    const QStringList lines = QString::fromUtf8(log.readAll()).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    return lines.filter(QStringLiteral("collect --jsonl")).filter(QStringLiteral("-o ") + database);
  }
  static bool offers_resume(const CollectPanel& panel) {
    return !panel.findChild<QPushButton*>(QStringLiteral("resume"))->isHidden() &&
           !panel.findChild<QPushButton*>(QStringLiteral("resume"))->parentWidget()->isHidden();
  }

  QTemporaryDir folder;
  QString database;
  const QString cancelled_text = qtext(msg::collect_panel::cancelled_at{.done = 48, .total = 87});
};

TEST_F(ResumeTest, CancelledCollectionCanBeResumedOrDiscarded) {
  CollectPanel panel;
  EXPECT_FALSE(offers_resume(panel));
  start(panel);
  EXPECT_FALSE(offers_resume(panel)) << "it is running";
  stop(panel);
  EXPECT_EQ(panel.progress_text(), cancelled_text);
  ASSERT_TRUE(offers_resume(panel));

  panel.form().set_preset(QStringLiteral("memory-wall"));  // The resumed plan does not depend on the form.
  panel.findChild<QPushButton*>(QStringLiteral("resume"))->click();
  wait_for_progress(panel);
  stop(panel);
  const QStringList started = collections();
  ASSERT_EQ(started.size(), 2);
  EXPECT_FALSE(started[0].contains("--resume"));
  EXPECT_EQ(QString(started[1]).remove("--resume "), started[0]);

  QSignalSpy edits(&panel, &CollectPanel::edit_requested);
  panel.findChild<QPushButton*>(QStringLiteral("discard"))->click();
  EXPECT_FALSE(offers_resume(panel));
  ASSERT_EQ(edits.size(), 1);
  EXPECT_EQ(edits[0][0].toString(), database);
  EXPECT_EQ(edits[0][1].toStringList(), (QStringList{"--run=1", "--delete"}));
}

TEST_F(ResumeTest, CompletedOrRemovedRunIsNotOffered) {
  QJsonObject saved;
  CollectPanel panel;
  start(panel);
  stop(panel);
  saved = panel.state();
  RunStore::open(database.toStdString(), RunStore::Mode::collect).finish_run(1, StoredRunState::complete);
  QSignalSpy edits(&panel, &CollectPanel::edit_requested);
  panel.findChild<QPushButton*>(QStringLiteral("discard"))->click();
  EXPECT_TRUE(edits.isEmpty()) << "another program completed the run";
  CollectPanel next;
  next.restore(saved);
  EXPECT_FALSE(offers_resume(next));
  ASSERT_TRUE(QFile::remove(database));
  next.restore(saved);
  EXPECT_FALSE(offers_resume(next));
}

TEST_F(ResumeTest, InterruptedCollectionIsOfferedAtTheNextStart) {
  QJsonObject while_running;
  QJsonObject after_cancel;
  {
    CollectPanel panel;
    start(panel);
    while_running = panel.state();
    stop(panel);
    after_cancel = panel.state();
  }
  CollectPanel cancelled;
  QSignalSpy nothing(&cancelled, &CollectPanel::interruption_found);
  cancelled.restore(after_cancel);
  EXPECT_EQ(cancelled.progress_text(), cancelled_text);
  EXPECT_TRUE(offers_resume(cancelled));
  EXPECT_TRUE(nothing.isEmpty());

  MainWindow window(false);
  window.show();
  window.restore({{"collect", while_running}});
  const QString stopped = qtext(msg::collect_panel::stopped_at{.done = 48, .total = 87});
  EXPECT_EQ(window.banner().text(), stopped);
  EXPECT_TRUE(window.findChild<CollectPanel*>()->isVisible());
  window.banner().findChild<QToolButton*>(QStringLiteral("action"))->click();
  wait_for_progress(*window.findChild<CollectPanel*>());
  EXPECT_EQ(window.banner().text(), QString());
  EXPECT_TRUE(collections().back().contains("--resume"));
  stop(*window.findChild<CollectPanel*>());

  CollectPanel without_file;
  QFile::remove(database);
  without_file.restore(while_running);
  EXPECT_FALSE(offers_resume(without_file));
}

TEST(CollectPanel, ReplacesResumeOptionsByControlNames) {
  const auto error_message_of = [](const char* script) {
    CollectPanel panel;
    QSignalSpy error_occurred(&panel, &CollectPanel::error_occurred);
    panel.collector().start(QStringLiteral("/bin/sh"), {QStringLiteral("-c"), QString::fromUtf8(script)});
    EXPECT_TRUE(error_occurred.wait(60'000));
    const auto* log = panel.findChild<QListWidget*>();
    EXPECT_FALSE(log->item(log->count() - 1)->text().contains("--resume"));
    return error_occurred.isEmpty() ? QString() : error_occurred[0][0].toString();
  };
  const std::string name = qtext(msg::collect_panel::resume{}).remove('&').toStdString();
  const QString control = qtext(msg::collect_panel::resume_control{.control = name});
  const QString full = error_message_of("echo 'no space left: free some space and continue with --resume' >&2; exit 1");
  EXPECT_EQ(full, "no space left: free some space and continue with " + control);
  const QString moved = error_message_of("echo 'all is in /a/b: continue with --resume -o /a/b' >&2; exit 1");
  EXPECT_EQ(moved,
            "all is in /a/b: continue with " + qtext(msg::collect_panel::resume_into{.control = name}) + " /a/b");
  for (const char* script : {"kill -9 $$", "echo 'out of luck.' >&2; kill -9 $$"}) {
    const QString died = error_message_of(script);
    EXPECT_TRUE(died.contains(qtext(msg::collect_panel::resume_now{}).remove('&'))) << died.toStdString();
    EXPECT_EQ(died.contains("out of luck"), QLatin1String(script).contains(QLatin1String("out of luck")));
    EXPECT_FALSE(died.contains("..")) << died.toStdString();
  }
}

TEST(CollectPanel, ReadsTheDeviceFromAPlan) {
  PlanEvent plan;
  plan.device_name = "NVIDIA H200";
  plan.counters = "not permitted";
  const auto device = listed_device(plan, "1");
  ASSERT_TRUE(device);
  EXPECT_EQ(device->argument, "1");
  EXPECT_EQ(device->name, qtext(msg::collect_panel::gpu{.gpu = "NVIDIA H200", .number = 1}));
  EXPECT_EQ(device->gpu, "NVIDIA H200");
  EXPECT_EQ(device->note, "not permitted");
  const auto elsewhere = listed_device(plan, "ssh:ada@gpubox/1");
  ASSERT_TRUE(elsewhere);
  EXPECT_EQ(elsewhere->argument, "ssh:ada@gpubox/1");
  EXPECT_EQ(elsewhere->name, qtext(msg::collect_panel::gpu_on_host{.gpu = "NVIDIA H200", .host = "ada@gpubox"}));
  plan.simulated = true;
  EXPECT_FALSE(listed_device(plan, "0"));
  EXPECT_EQ(listed_device(plan, "ssh:gpubox/simulated")->name,
            qtext(msg::collect_panel::simulated_on_host{.gpu = "NVIDIA H200", .host = "gpubox"}));
}

TEST(DeviceList, FindsGpuLimitsByArgument) {
  qputenv("ATTNSCOPE_COLLECTOR", "/nonexistent");  // No GPU is found.
  DeviceList list;
  list.probe();
  ASSERT_EQ(list.devices().size(), known_gpus().size());
  for (std::size_t i = 0; i < known_gpus().size(); ++i) {
    const ListedDevice& device = list.devices()[i];
    EXPECT_TRUE(device.argument.startsWith("simulated:")) << device.argument.toStdString();
    EXPECT_EQ(list.limits_of(device.argument).name, known_gpus()[i].name);
    EXPECT_EQ(list.find(device.argument), &device);
  }
  EXPECT_EQ(list.find(QStringLiteral("Simulated H200")), nullptr) << "a label is not an id";
  EXPECT_EQ(list.limits_of(QStringLiteral("7")).name, known_gpus().front().name);
  qunsetenv("ATTNSCOPE_COLLECTOR");
}

TEST(DeviceList, ListsRemoteDevicesOrTheirErrors) {
  const QTemporaryDir folder;
  hosts::LocalSshd sshd{folder.path().toStdString()};
  if (!sshd.why_not().empty()) GTEST_SKIP() << sshd.why_not();
  qputenv("ATTNSCOPE_COLLECTOR", ATTNSCOPE_COMMAND_PROGRAM);
  qputenv("ATTNSCOPE_SSH_CONFIG", QByteArray::fromStdString(sshd.config()));
  constexpr int patience_ms = 60'000;
  DeviceList list;
  list.probe();
  const auto listed = [&](const char* word) {
    DeviceList::set_remote({word});
    const QString argument = DeviceList::remote().value(0);
    EXPECT_TRUE(QTest::qWaitFor([&] { return list.find(argument) != nullptr; }, patience_ms)) << word;
    const ListedDevice* device = list.find(argument);
    return device == nullptr ? ListedDevice() : *device;
  };
  const ListedDevice missing = listed("gpubox");
  EXPECT_EQ(missing.argument, "ssh:gpubox");
  EXPECT_EQ(missing.name, qtext(msg::collect_panel::host_without_device{.host = "gpubox"}));
  EXPECT_TRUE(missing.note.contains("PATH")) << missing.note.toStdString();
  EXPECT_TRUE(listed("-oProxyCommand=x").note.contains("-oProxyCommand=x"));
  sshd.install(ATTNSCOPE_COMMAND_PROGRAM);
  const ListedDevice found = listed("ssh:gpubox/simulated:L40S");
  EXPECT_EQ(found.name, qtext(msg::collect_panel::simulated_on_host{.gpu = "NVIDIA L40S", .host = "gpubox"}));
  EXPECT_EQ(found.gpu, "NVIDIA L40S");
  EXPECT_EQ(list.devices().front().argument, found.argument) << "before the locally simulated devices";
  EXPECT_EQ(list.find("ssh:gpubox"), nullptr) << "it was removed";
  sshd.use_wrong_key();
  EXPECT_TRUE(listed("gpubox").note.contains("ssh-copy-id gpubox"));
  DeviceList::set_remote({});
  EXPECT_EQ(list.find("ssh:gpubox"), nullptr);
  qunsetenv("ATTNSCOPE_COLLECTOR");
  qunsetenv("ATTNSCOPE_SSH_CONFIG");
}

TEST(CollectForm, OffersAllGpusIfThereAreSeveral) {
  const QTemporaryDir folder;
  QFile script(folder.filePath("two-gpus"));
  ASSERT_TRUE(script.open(QIODevice::WriteOnly));
  PlanEvent plan;
  plan.device_name = "NVIDIA H200";
  plan.counters = "available";
  DoneEvent done;
  done.state = "complete";
  script.write("#!/bin/sh\ncase \"$*\" in *--device' '[01]*) printf '%s\\n' '" +
               QByteArray::fromStdString(to_json_line(plan)) + "' '" + QByteArray::fromStdString(to_json_line(done)) +
               "';; *) exit 1;; esac\n");
  script.close();
  ASSERT_TRUE(script.setPermissions(QFile::ReadOwner | QFile::ExeOwner));
  qputenv("ATTNSCOPE_COLLECTOR", QFile::encodeName(script.fileName()));
  CollectForm form;
  form.restore({{"file", folder.filePath("c.attnscope")}});
  form.set_preset(QStringLiteral("quick"));
  form.restore({{"device", "all"}});
  ASSERT_TRUE(QTest::qWaitFor([&] { return form.request().device == "all"; }, 60'000));
  EXPECT_EQ(form.check().problem, QString());
  const QString plan_text = form.check().plan;
  const std::size_t points = QRegularExpression("\\d+").match(plan_text).captured().toULongLong();
  EXPECT_EQ(plan_text, qtext(msg::collect_panel::multi_gpu_plan{.gpus = 2, .points = points_text(points)}));
  EXPECT_EQ(form.state()["device"].toString(), "all");
  qunsetenv("ATTNSCOPE_COLLECTOR");
}

TEST(CollectForm, StoresTheDeviceArgument) {
  qputenv("ATTNSCOPE_COLLECTOR", "/bin/false");
  CollectForm form;
  const DeviceLimits& last = known_gpus().back();
  const QString word = QString::fromStdString(std::string(last.name)).remove("NVIDIA ");
  form.restore({{"device", "simulated:" + word}});
  EXPECT_EQ(form.request().device, "simulated:" + word);
  EXPECT_TRUE(form.check().plan.contains(word)) << form.check().plan.toStdString();
  form.restore({{"device", "ssh:gpubox/0"}});
  form.restore({});  // The state has no device.
  EXPECT_EQ(form.state()["device"].toString(), QStringLiteral("ssh:gpubox/0")) << "kept until the host answers";
  qunsetenv("ATTNSCOPE_COLLECTOR");
}

}  // namespace
}  // namespace attnscope::ui
