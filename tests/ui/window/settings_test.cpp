// SPDX-License-Identifier: GPL-3.0-or-later
// What a window of before left in its settings is what this one begins with.
#include <gtest/gtest.h>

#include <QJsonDocument>
#include <QJsonObject>
#include <QSettings>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <array>
#include <string>

#include "tests/ui/window_test.h"
#include "ui/pages/page.h"
#include "ui/pages/page_list.h"

namespace attnscope::ui {
namespace {

struct SavedPage {
  const char* id;
  const char* state;
};

// Frozen: as version 0.1 saved them.
constexpr auto saved_pages = std::to_array<SavedPage>({
    {"io", R"({"choices":{"mask":"causal"},"color":"automatic","group":"","hidden":["fa2"],"metric":"","over":"","plot)"
           R"(":"time","scale":"","show":{"dram":false,"fit":true,"kernels":true,"l2_limit":true,"minimum":true,"model)"
           R"(":true,"paper":true,"peaks":true,"per_head":false,"residuals":false,"sm_l2":true},"tile":""})"},
    {"tiles",
     R"({"as":"value","beside":"","choices":{"algorithm":"fa1"},"columns":"bc","log":true,"metric":"l2_sm_bytes")"
     R"(,"rows":"br"})"},
    {"explorer",
     R"({"choices":{"algorithm":"fa2","batch":"1","bc":"64","br":"128","cache":"cold","d":"128","deterministic":)"
     R"("no","device":"NVIDIA H200","dropout":"0","dtype":"fp16","heads_kv":"16","heads_q":"16","mask":"causal",)"
     R"("n_k":"4096","n_q":"4096","padding":"0","page":"0","pass":"fwd"},"pins":[{"algorithm":"fa2","batch":"1",)"
     R"("bc":"128","br":"128","cache":"cold","d":"128","deterministic":"no","device":"NVIDIA H200","dropout":"0")"
     R"(,"dtype":"fp16","heads_kv":"16","heads_q":"16","mask":"none","n_k":"4096","n_q":"4096","padding":"0","pa)"
     R"(ge":"0","pass":"fwd"}]})"},
    {"roofline", R"({"along":"n","choices":{"mask":"causal"},"device":"","level":"sm_l2","n":4096})"},
    {"law", R"({"choices":{},"level":"dram","view":"collapse"})"},
    {"table", R"({"descending":true,"sorted_by":"n"})"},
    {"ceilings", R"({"device":"GPU-of-a-file-to-come"})"},
    {"compare",
     R"({"along":"","baseline":"","by":"","choices":{},"columns":"","descending":true,"margin":2.5,"other":"","r)"
     R"(ows":"","sorted_by":"ratio","view":"table"})"},
});

/// Settings in a folder of the test's own.
class Settings : public ::testing::Test {
 protected:
  void SetUp() override { QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, folder_.path()); }
  void TearDown() override {
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope,
                       QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation));
  }

 private:
  QTemporaryDir folder_;
};

TEST_F(Settings, OfBeforeAreTakenUp) {
  ASSERT_EQ(saved_pages.size(), page_kinds().size());
  {
    QSettings settings;
    for (const SavedPage& saved : saved_pages) {
      settings.setValue(QStringLiteral("pages/") + QString::fromLatin1(saved.id), QByteArray(saved.state));
    }
  }
  MainWindow window(true);
  for (const SavedPage& saved : saved_pages) {
    const Page* page = window.page(QString::fromLatin1(saved.id));
    ASSERT_NE(page, nullptr) << saved.id;
    const QJsonDocument wanted = QJsonDocument::fromJson(saved.state);
    ASSERT_TRUE(wanted.isObject()) << saved.id;
    EXPECT_EQ(QJsonDocument(page->state()).toJson().toStdString(), wanted.toJson().toStdString()) << saved.id;
  }
}

}  // namespace
}  // namespace attnscope::ui
