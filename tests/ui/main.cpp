// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <QStandardPaths>
#include <QTemporaryDir>

#include "ui/theme/theme.h"
#include "ui/window/application.h"

namespace {

/// Resets the theme before each test.
class ThemeReset : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& /*test*/) override {
    attnscope::ui::apply_theme(attnscope::ui::ThemeChoice::light);
  }
};

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QStandardPaths::setTestModeEnabled(true);
  // Data folder for programs that tests start.
  const QTemporaryDir data;
  qputenv("XDG_DATA_HOME", data.path().toUtf8());
  testing::InitGoogleTest(&argc, argv);
  const attnscope::ui::Application application(argc, argv);
  QCoreApplication::setOrganizationName(QStringLiteral("attnscope-tests"));
  QCoreApplication::setApplicationName(QStringLiteral("attnscope-tests"));
  attnscope::ui::initialize_style();
  testing::UnitTest::GetInstance()->listeners().Append(new ThemeReset);
  return RUN_ALL_TESTS();
}
