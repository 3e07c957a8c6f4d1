// SPDX-License-Identifier: GPL-3.0-or-later
// Naming a GPU of another machine, through the real programs and a real sshd on the loopback.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QTest>

#include "tests/app/local_sshd.h"
#include "tests/ui/window_test.h"
#include "ui/panels/remote_device_dialog.h"
#include "ui/process/device_list.h"
#include "ui/process/remote_device_list.h"

namespace attnscope::ui {
namespace {

constexpr int sshd_patience_ms = 60'000;

class RemoteDeviceDialogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!sshd.why_not().empty()) GTEST_SKIP() << sshd.why_not();
    qputenv("ATTNSCOPE_COLLECTOR", ATTNSCOPE_COMMAND_PROGRAM);
    qputenv("ATTNSCOPE_SSH_CONFIG", QByteArray::fromStdString(sshd.config()));
    dialog.show();
    settle();
  }
  void TearDown() override {
    for (const QString& word : QStringList(RemoteDeviceList::instance().words()))
      RemoteDeviceList::instance().remove(word);
    qunsetenv("ATTNSCOPE_COLLECTOR");
    qunsetenv("ATTNSCOPE_SSH_CONFIG");
  }
  template <class Widget>
  Widget* part(const char* name) {
    return dialog.findChild<Widget*>(QString::fromLatin1(name));
  }
  QString state() { return part<QLabel>("state")->text(); }
  /// Presses Connect, and waits for what comes of it.
  QString connected() {
    QTest::mouseClick(part<QPushButton>("connect"), Qt::LeftButton);
    EXPECT_TRUE(QTest::qWaitFor([&] { return part<QPushButton>("connect")->isEnabled(); }, sshd_patience_ms));
    return state();
  }

  QTemporaryDir folder;
  hosts::LocalSshd sshd{folder.path().toStdString()};
  RemoteDeviceDialog dialog;
};

TEST_F(RemoteDeviceDialogTest, ADeviceThatIsFoundIsAmongTheDevices) {
  sshd.install(ATTNSCOPE_COMMAND_PROGRAM);
  DeviceList list;
  list.probe();
  QTest::keyClicks(part<QLineEdit>("host"), "gpubox");
  QTest::keyClicks(part<QLineEdit>("device-there"), "simulated:L40S");
  EXPECT_EQ(connected(), "Found: Simulated NVIDIA L40S on gpubox. It is among the devices now.");
  EXPECT_EQ(RemoteDeviceList::instance().words(), QStringList{"ssh:gpubox/simulated:L40S"});
  ASSERT_TRUE(QTest::qWaitFor([&] { return list.find("ssh:gpubox/simulated:L40S") != nullptr; }, sshd_patience_ms));
  EXPECT_EQ(list.find("ssh:gpubox/simulated:L40S")->name, "Simulated NVIDIA L40S on gpubox");
  EXPECT_EQ(list.find("ssh:gpubox/simulated:L40S")->gpu, "NVIDIA L40S");
  EXPECT_EQ(list.devices().front().argument, "ssh:gpubox/simulated:L40S") << "before those that are simulated here";
  part<QListWidget>("named")->setCurrentRow(0);
  QTest::mouseClick(part<QPushButton>("remove"), Qt::LeftButton);
  EXPECT_EQ(list.find("ssh:gpubox/simulated:L40S"), nullptr);
  EXPECT_EQ(part<QListWidget>("named")->count(), 0);
}

TEST_F(RemoteDeviceDialogTest, AMissingProgramIsSaid) {
  QTest::keyClicks(part<QLineEdit>("host"), "gpubox");
  EXPECT_TRUE(connected().startsWith("there is no attnscope on gpubox")) << state().toStdString();
  EXPECT_TRUE(state().contains("remote --copy-to gpubox")) << state().toStdString();
}

TEST_F(RemoteDeviceDialogTest, AKeyThatIsNotLetInIsSaidAndNothingIsListed) {
  sshd.use_wrong_key();
  QTest::keyClicks(part<QLineEdit>("host"), "gpubox");
  EXPECT_TRUE(connected().contains("ssh-copy-id gpubox")) << state().toStdString();
  EXPECT_TRUE(RemoteDeviceList::instance().words().isEmpty());
}

TEST_F(RemoteDeviceDialogTest, WhatIsNoHostCannotBeTried) {
  EXPECT_FALSE(part<QPushButton>("connect")->isEnabled());
  QTest::keyClicks(part<QLineEdit>("host"), "-oProxyCommand=x");
  EXPECT_FALSE(part<QPushButton>("connect")->isEnabled());
  EXPECT_TRUE(state().contains("names no device elsewhere")) << state().toStdString();
}

TEST_F(RemoteDeviceDialogTest, OneThatCannotBeReachedIsListedWithTheReason) {
  sshd.use_wrong_key();
  DeviceList list;
  list.probe();
  RemoteDeviceList::instance().add("ssh:gpubox");
  ASSERT_TRUE(QTest::qWaitFor([&] { return list.find("ssh:gpubox") != nullptr; }, sshd_patience_ms));
  EXPECT_EQ(list.find("ssh:gpubox")->name, "gpubox: cannot be used");
  EXPECT_TRUE(list.find("ssh:gpubox")->note.contains("ssh-copy-id gpubox"));
}

}  // namespace
}  // namespace attnscope::ui
