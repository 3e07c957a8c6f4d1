// SPDX-License-Identifier: GPL-3.0-or-later
// A session restores the window after a normal exit, a crash or a kill.
#include <gtest/gtest.h>

#include <QAction>
#include <QDir>
#include <QDockWidget>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLineEdit>
#include <QLockFile>
#include <QProcess>
#include <QProcessEnvironment>
#include <QPushButton>
#include <QScreen>
#include <QStandardPaths>
#include <QTest>
#include <QWheelEvent>
#include <array>
#include <memory>
#include <string>

#include "tests/ui/window_test.h"
#include "ui/pages/curves/io_curve_page.h"
#include "ui/pages/explorer/choices.h"
#include "ui/pages/explorer/explorer_page.h"
#include "ui/pages/page.h"
#include "ui/panels/collect_panel.h"
#include "ui/panels/details_panel.h"
#include "ui/runs/samples.h"
#include "ui/window/query_bar.h"
#include "ui/window/session.h"

namespace attnscope::ui {
namespace {

struct SavedPage {
  const char* id;
  const char* state;
};

// Frozen: saved by the first version of the format.
constexpr auto saved_pages = std::to_array<SavedPage>({
    {"io", R"({"choices":{"mask":"causal"},"group":"","hidden":["fa2"],"level":"sm_l2","metric":"","over":"","plot)"
           R"(":"time","scale":"","show":{"l2_limit":true,"minimum":true,"model)"
           R"(":true,"residuals":false},"tile":""})"},
    {"tiles",
     R"({"as":"value","cells":"time","choices":{"algorithm":"fa1"},"columns":"bc","log":true,"metric":"l2_sm_bytes")"
     R"(,"rows":"br"})"},
    {"explorer",
     R"({"around": 3, "more":{"problem":true,"tile":false}, "choices":{"algorithm":"fa2","batch":"1","bc":"64","br":"128","cache":"cold","d":"128","deterministic":)"
     R"("no","device":"NVIDIA H200","dropout":"0","dtype":"fp16","gpu_order":"contiguous","gpus":"1","heads_kv":"16","heads_q":"16","mask":"causal",)"
     R"("n_k":"4096","n_q":"4096","padding":"0","page":"0","pass":"fwd"},"pin":{"algorithm":"fa2","batch":"1",)"
     R"("bc":"128","br":"128","cache":"cold","d":"128","deterministic":"no","device":"NVIDIA H200","dropout":"0")"
     R"(,"dtype":"fp16","gpu_order":"contiguous","gpus":"1","heads_kv":"16","heads_q":"16","mask":"full","n_k":"4096","n_q":"4096","padding":"0","pa)"
     R"(ge":"0","pass":"fwd"}})"},
    {"roofline", R"({"choices":{"mask":"causal"},"device":"","level":"sm_l2"})"},
    {"law", R"({"choices":{},"level":"dram"})"},
    {"table", R"({"descending":true,"hidden_columns":["d"],"shown_columns":["mask"],"sorted_by":"n"})"},
    {"ceilings", R"({"device":"GPU-of-a-file-to-come"})"},
    {"compare",
     R"({"baseline":"","by":"","candidate":"","descending":true,"margin":2.5,"sorted_by":"ratio","tiles":""})"},
    {"doctor", R"({"file":"/tmp/results.attnscope"})"},
});

/// Sessions in a temporary folder.
class SessionTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    data_before_ = qgetenv("XDG_DATA_HOME");
    QStandardPaths::setTestModeEnabled(false);  // Test mode would use the same folder in all tests.
    qputenv("XDG_DATA_HOME", data_.path().toUtf8());
  }
  void TearDown() override {
    qputenv("XDG_DATA_HOME", data_before_);
    QStandardPaths::setTestModeEnabled(true);
  }
  [[nodiscard]] static QDir sessions() {
    return QDir(QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) + QStringLiteral("/sessions"));
  }
  [[nodiscard]] static QStringList kept() { return sessions().entryList({QStringLiteral("*.json")}); }
  void write(const QString& path, const QByteArray& bytes) const {
    QFile out(path);
    ASSERT_TRUE(out.open(QIODevice::WriteOnly));
    out.write(bytes);
  }
  void read_all(MainWindow& window) const {
    ASSERT_TRUE(QTest::qWaitFor([&] { return !window.workspace().is_loading(); }, 60'000));
    wait_until_idle();
  }

  QTemporaryDir data_;

 private:
  QByteArray data_before_;
};

/// Zooms like the mouse wheel.
void zoom_in(LegendPlot& plot) {
  const QPointF at = plot.axisRect()->center();
  QWheelEvent wheel(at, plot.mapToGlobal(at), {}, {0, 240}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
  QApplication::sendEvent(&plot, &wheel);
}

TEST_F(SessionTest, RestoresChoicesOfPages) {
  ASSERT_EQ(saved_pages.size(), page_kinds().size());
  QJsonObject pages;
  for (const SavedPage& saved : saved_pages) {
    pages[QString::fromLatin1(saved.id)] = QJsonDocument::fromJson(saved.state).object();
  }
  MainWindow window(false);
  window.restore({{"pages", pages}});
  for (const SavedPage& saved : saved_pages) {
    const Page* page = window.page(QString::fromLatin1(saved.id));
    ASSERT_NE(page, nullptr) << saved.id;
    const QJsonDocument wanted = QJsonDocument::fromJson(saved.state);
    ASSERT_TRUE(wanted.isObject()) << saved.id;
    EXPECT_EQ(QJsonDocument(page->state()).toJson().toStdString(), wanted.toJson().toStdString()) << saved.id;
  }
}

TEST_F(SessionTest, RestoresTheWholeWindow) {
  const QString second = folder.filePath("second.attnscope");
  fixtures::write_file(second, {{"memory-wall", fixtures::backward(), false}});
  const QString path = folder.filePath("view.json");
  QJsonObject left;
  QCPRange zoomed;
  {
    MainWindow window(false);
    window.show();
    window.open_files({file, second});
    read_all(window);
    window.query().set_text(QStringLiteral("N<=8192"));
    window.workspace().set_run_visible(1, false);
    auto& io = page_of<IoCurvePage>(window);
    io.restore({{"plot", "time"}});
    wait_until_idle();
    const QCPRange whole = io.plot()->xAxis->range();
    zoom_in(*io.plot());
    zoomed = io.plot()->xAxis->range();
    ASSERT_LT(zoomed.size(), whole.size());
    auto& explorer = page_of<ExplorerPage>(window);
    explorer.pin();
    explorer.edit(QStringLiteral("what_if_dram"), QStringLiteral("50"), -1);
    wait_until_idle();
    window.select((*window.workspace().visible())[2]);
    ASSERT_TRUE(window.findChild<DetailsPanel*>()->point().has_value());
    CollectForm& form = window.findChild<CollectPanel*>()->form();
    form.set_axes(QStringLiteral("N=512 d=64"));
    form.restore({{"rounds", 7}});
    window.findChild<QDockWidget*>(QStringLiteral("collect"))->hide();
    window.show_page(QStringLiteral("explorer"));
    left = window.view();
    ASSERT_EQ(write_view(path, left), QString());
  }
  MainWindow window(false);
  const ViewDocument read = read_view(path);
  ASSERT_EQ(read.problem, QString());
  window.restore(read.view);
  EXPECT_EQ(window.view()["files"], left["files"]) << "kept while the files are being read";
  EXPECT_EQ(window.view()["unticked"], left["unticked"]);
  window.show();
  read_all(window);
  EXPECT_EQ(window.page_id(), QStringLiteral("explorer"));
  EXPECT_EQ(window.workspace().files(), (QStringList{file, second}));
  EXPECT_EQ(window.workspace().query(), QStringLiteral("N<=8192"));
  EXPECT_TRUE(window.workspace().runs()[0].visible);
  EXPECT_FALSE(window.workspace().runs()[1].visible);
  EXPECT_TRUE(window.workspace().runs()[2].visible);
  EXPECT_EQ(page_of<ExplorerPage>(window).chosen_state().choices.what_if.dram_rate, 0.5);
  EXPECT_TRUE(page_of<ExplorerPage>(window).chosen_state().pin);
  EXPECT_FALSE(window.findChild<QDockWidget*>(QStringLiteral("collect"))->toggleViewAction()->isChecked());
  EXPECT_EQ(window.findChild<CollectPanel*>()->form().request().rounds, 7);
  const auto& io = page_of<IoCurvePage>(window);
  EXPECT_EQ(io.plot()->xAxis->range(), zoomed);
  EXPECT_TRUE(io.plot()->is_user_zoomed());
  QJsonObject now = window.view();
  left.remove("window");  // Depends on the screen.
  now.remove("window");
  EXPECT_EQ(QJsonDocument(now).toJson().toStdString(), QJsonDocument(left).toJson().toStdString());
  ASSERT_TRUE(window.findChild<DetailsPanel*>()->point().has_value()) << "on every page";
  EXPECT_EQ(window.findChild<DetailsPanel*>()->point()->id, left["selection"].toObject()["point"].toInteger());
}

TEST_F(SessionTest, RestoresOpenPanels) {
  MainWindow window(false);
  window.resize(1440, 900);
  window.show();
  wait_until_idle();
  const QJsonObject open = window.view();
  ASSERT_TRUE(open["panels"].toObject()["runs"].toBool());
  window.close();
  wait_until_idle();
  const QJsonObject left = window.view();
  EXPECT_EQ(left["panels"], open["panels"]);
  EXPECT_EQ(left["window"], open["window"]);
}

TEST_F(SessionTest, OpensAWindowOfALargerScreenInsideThisOne) {
  QJsonObject left;
  {
    MainWindow window(false);
    window.move(1500, 900);
    window.resize(3000, 2000);
    window.show();
    wait_until_idle();
    left = window.view();
  }
  MainWindow window(false);
  window.restore(left);
  const QRect available = window.screen()->availableGeometry();
  EXPECT_TRUE(available.contains(window.frameGeometry()))
      << window.frameGeometry().width() << "x" << window.frameGeometry().height() << " on " << available.width() << "x"
      << available.height();
}

TEST_F(SessionTest, RestoresOnlyChoicesWithOtherFiles) {
  const QJsonObject zoom{{"zoom", QJsonObject{{"x", QJsonArray{1, 2}}}}, {"tile", "64x64"}};
  const QJsonObject view{
      {"files", QJsonArray{file}}, {"filter", "d:64"},           {"page", "io"},
      {"unticked", QJsonArray{}},  {"selection", QJsonObject{}}, {"pages", QJsonObject{{"io", zoom}}}};
  EXPECT_EQ(remove_file_state(view),
            (QJsonObject{{"page", "io"}, {"pages", QJsonObject{{"io", QJsonObject{{"tile", "64x64"}}}}}}));
}

TEST_F(SessionTest, SavesRecordedSamplesByName) {
  if (sample_path().isEmpty()) GTEST_SKIP() << "assets/samples/h200.attnscope is not there";
  const QString path = folder.filePath("view.json");
  const QString own = folder.filePath("h200.attnscope");  // A user's file that no longer exists.
  const QJsonArray files{sample_path(), own};
  ASSERT_EQ(write_view(path, {{"files", files}, {"selection", QJsonObject{{"file", sample_path()}}}}), QString());
  QFile written(path);
  ASSERT_TRUE(written.open(QIODevice::ReadOnly));
  const QJsonObject raw = QJsonDocument::fromJson(written.readAll()).object();
  EXPECT_EQ(raw["files"].toArray(), (QJsonArray{"sample:h200", own}));
  EXPECT_EQ(raw["selection"].toObject()["file"].toString(), QStringLiteral("sample:h200"));
  EXPECT_EQ(read_view(path).view["files"].toArray(), files);
  MainWindow window(false);
  window.restore({{"files", QJsonArray{own}}});
  read_all(window);
  EXPECT_EQ(window.workspace().files(), QStringList()) << "the sample does not replace the missing file";
  EXPECT_TRUE(window.banner().text().contains(own)) << window.banner().text().toStdString();
}

TEST_F(SessionTest, ReportsUnreadableSessionsInOneLine) {
  const QString path = folder.filePath("bad.json");
  for (const QByteArray& bytes : {QByteArray(), QByteArray("{\"version\": "), QByteArray("[1, 2]"),  // no version
                                  QByteArray(R"({"version": 2})")}) {
    write(path, bytes);
    const ViewDocument read = read_view(path);
    EXPECT_TRUE(read.view.isEmpty());
    EXPECT_TRUE(read.problem.startsWith(path)) << read.problem.toStdString();
    EXPECT_FALSE(read.problem.contains('\n'));
    QJsonParseError syntax;
    QJsonDocument::fromJson(bytes, &syntax);
    EXPECT_EQ(read.problem.contains(syntax.errorString()), syntax.error != QJsonParseError::NoError)
        << read.problem.toStdString();
  }
  const QString missing = folder.filePath("none.json");
  EXPECT_TRUE(read_view(missing).problem.contains(missing));
}

TEST_F(SessionTest, UsesOneFilePerWindow) {
  auto first = std::make_unique<SessionFile>(SessionFile::SessionStart::most_recent);
  EXPECT_TRUE(first->read().view.isEmpty());
  EXPECT_EQ(first->read().problem, QString());
  ASSERT_EQ(first->write({{"page", "law"}}), QString());
  SessionFile second(SessionFile::SessionStart::most_recent);
  EXPECT_TRUE(second.read().view.isEmpty()) << "the first is still open";
  ASSERT_EQ(second.write({{"page", "table"}}), QString());
  EXPECT_EQ(kept().size(), 2);
  first.reset();
  SessionFile third(SessionFile::SessionStart::most_recent);
  EXPECT_EQ(third.read().view["page"].toString(), QStringLiteral("law"))
      << "of the first window; the second is still open";
}

TEST_F(SessionTest, IgnoresALockWithoutOwner) {
  ASSERT_EQ(SessionFile(SessionFile::SessionStart::most_recent).write({{"page", "law"}}), QString());
  const QString lock = sessions().filePath(kept().first() + ".lock");
  for (const char* left : {"", "rubbish"}) {
    write(lock, left);
    EXPECT_EQ(SessionFile(SessionFile::SessionStart::most_recent).read().view["page"].toString(), QStringLiteral("law"))
        << left;
  }
  EXPECT_EQ(kept().size(), 1);
}

TEST_F(SessionTest, RemovesTheOldestSessions) {
  for (qsizetype i = 0; i < SessionFile::max_sessions + 2; ++i) {
    EXPECT_EQ(SessionFile(SessionFile::SessionStart::fresh).write({{"page", "law"}}), QString());
  }
  EXPECT_EQ(kept().size(), SessionFile::max_sessions);
}

TEST_F(SessionTest, RenamesADamagedFile) {
  EXPECT_EQ(SessionFile(SessionFile::SessionStart::fresh).write({}), QString());
  const QString path = sessions().filePath(kept().value(0));
  write(path, "{\"format\"");
  SessionFile again(SessionFile::SessionStart::most_recent);
  const ViewDocument left = again.read();
  EXPECT_TRUE(left.view.isEmpty());
  EXPECT_TRUE(left.problem.contains(path + ".unread")) << left.problem.toStdString();
  EXPECT_TRUE(QFile::exists(path + ".unread"));
  EXPECT_EQ(again.write({}), QString());
}

TEST_F(SessionTest, WarnsOnceIfNothingCanBeSaved) {
  // A file instead of the folder: even root cannot write below it.
  write(data_.filePath("attnscope-tests"), "");
  const SessionFile unwritable_session(SessionFile::SessionStart::most_recent);
  MainWindow window(false);
  {
    const Session session(window, unwritable_session);
    ASSERT_TRUE(QTest::qWaitFor([&] { return !window.banner().text().isEmpty(); }, 60'000));
    window.show_page(QStringLiteral("law"));
  }
  EXPECT_TRUE(window.banner().text().endsWith(sessions().path())) << window.banner().text().toStdString();
  EXPECT_FALSE(window.banner().text().contains('\n'));
}

TEST_F(SessionTest, SavesUserChoicesPromptly) {
  SessionFile kept_in(SessionFile::SessionStart::fresh);
  MainWindow window(false);
  window.show();
  const Session session(window, kept_in);
  const auto saved_page = [&] { return kept_in.read().view["page"].toString(); };
  ASSERT_TRUE(QTest::qWaitFor([&] { return saved_page() == QStringLiteral("io"); }, 60'000));
  QTest::keyClick(&window, Qt::Key_5, Qt::ControlModifier);
  EXPECT_TRUE(QTest::qWaitFor([&] { return saved_page() == QStringLiteral("law"); }, 60'000));
}

TEST_F(SessionTest, ClosingSavesTheSession) {
  SessionFile kept_in(SessionFile::SessionStart::fresh);
  MainWindow window(false);
  {
    const Session session(window, kept_in);
    ASSERT_TRUE(QTest::qWaitFor([&] { return !kept().isEmpty(); }, 60'000));
    ASSERT_TRUE(QFile::remove(sessions().filePath(kept()[0])));
  }
  EXPECT_EQ(kept().size(), 1) << "written again when the window closes";
}

/// The program, offscreen, with the test's folders for its data.
class Program {
 public:
  Program(const QString& home, const QStringList& arguments) {
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("QT_QPA_PLATFORM", "offscreen");
    environment.insert("XDG_DATA_HOME", home);
    environment.insert("XDG_CONFIG_HOME", home);
    process_.setProcessEnvironment(environment);
    process_.start(QStringLiteral(ATTNSCOPE_GUI_PROGRAM), arguments);
  }
  ~Program() { kill(); }
  void kill() {
    process_.kill();  // SIGKILL.
    process_.waitForFinished();
  }
  [[nodiscard]] bool wait_for(const std::function<bool(const QJsonObject&)>& fits, const QString& sessions) {
    return QTest::qWaitFor(
        [&] {
          const QStringList there = QDir(sessions).entryList({QStringLiteral("*.json")});
          return there.size() == 1 && fits(read_view(QDir(sessions).filePath(there[0])).view);
        },
        60'000);
  }

 private:
  QProcess process_;
};

TEST_F(SessionTest, RestoresAfterAKill) {
  const QString there = data_.filePath("attnscope/attnscope/sessions");
  const QJsonArray files{file};
  const auto shows = [&](const QJsonObject& view) { return view["files"] == files && !view["collect"].isUndefined(); };
  {
    Program program(data_.path(), {file});
    ASSERT_TRUE(program.wait_for(shows, there));
    program.kill();
  }
  const QString path = QDir(there).filePath(QDir(there).entryList({QStringLiteral("*.json")}).value(0));
  EXPECT_TRUE(QFile::exists(path + ".lock")) << "it could not clean up";
  // As if it had been killed on the table page; the second program writes from here on.
  QJsonObject view = read_view(path).view;
  view["page"] = "table";
  view["filter"] = "d:128";
  view.remove("collect");
  ASSERT_EQ(write_view(path, view), QString());
  Program again(data_.path(), {});
  ASSERT_TRUE(again.wait_for(shows, there));
  view = read_view(path).view;
  EXPECT_EQ(view["page"].toString(), QStringLiteral("table"));
  EXPECT_EQ(view["filter"].toString(), QStringLiteral("d:128"));
}

}  // namespace
}  // namespace attnscope::ui
