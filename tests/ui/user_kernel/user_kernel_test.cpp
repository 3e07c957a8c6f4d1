// SPDX-License-Identifier: GPL-3.0-or-later
// User-defined kernels in the window, with a script instead of the compiler.
#include <gtest/gtest.h>
#include <cstdio>

#include <QAbstractButton>
#include <QCheckBox>
#include <QComboBox>
#include <QFile>
#include <QSlider>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>

#include "kernels/registry.h"
#include "kernels/user/known_kernels.h"
#include "kernels/user/new_kernel.h"
#include "messages/curve_page.h"
#include "messages/explorer.h"
#include "messages/explorer_page.h"
#include "messages/window.h"
#include "tests/ui/window_test.h"
#include "ui/models/result_model.h"
#include "ui/pages/curves/io_curve_page.h"
#include "ui/pages/explorer/cards.h"
#include "ui/pages/explorer/explorer_page.h"
#include "ui/pages/explorer/point_measurer.h"
#include "ui/pages/facet_chip.h"
#include "ui/panels/collect_form.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

constexpr int patience_ms = 60'000;
const std::string name = "own";

QString read(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

void write(const QString& path, const QString& text) {
  QFile file(path);
  ASSERT_TRUE(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
  file.write(text.toUtf8());
}

/// One kernel for all tests, since a process cannot forget it.
class UserKernelTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    kept().emplace();
    const auto written = user::write_new_kernel(name, kept()->path().toStdString());
    ASSERT_TRUE(written.ok());
    QString text = read(manifest());
    text.replace("\"name\": \"own\",", "\"name\": \"own\", \"title\": \"A kernel with a title of forty letters!!\",")
        .replace("\"tile\":",
                 "\"knobs\": { \"unroll\": { \"values\": [2, 1, 8], \"means\": \"how far\" } },\n  \"tile\":");
    write(manifest(), text);
    ASSERT_EQ(attnscope::text(user::load_known_kernel(manifest().toStdString())), "");
  }
  static void TearDownTestSuite() { kept().reset(); }
  void SetUp() override {
    stated_ = read(manifest());
    QFile script(collector());
    ASSERT_TRUE(script.open(QIODevice::WriteOnly));
    script.write("#!/bin/sh\nexit 1\n");
    script.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    script.close();
    qputenv("ATTNSCOPE_COLLECTOR", QFile::encodeName(collector()));
  }
  void TearDown() override {
    qunsetenv("ATTNSCOPE_COLLECTOR");
    write(manifest(), stated_);
  }

  static QString manifest() { return kept()->filePath("own/own.json"); }
  static QString source() { return kept()->filePath("own/own.cu"); }
  QString collector() { return folder_.filePath("collector"); }

  /// Registers a kernel as a result file does: read-only, with that knob.
  static void read_only(const std::string& kernel, const char* knob) {
    const std::string text = QString(read(manifest()))
                                 .replace("\"own\"", QStringLiteral("\"%1\"").arg(QString::fromStdString(kernel)))
                                 .replace("unroll", knob)
                                 .toStdString();
    const std::string_view one = text;
    EXPECT_TRUE(user::add_manifests_from_file({&one, 1}, kernel + ".attnscope", [](std::size_t) {
                  return std::vector<std::string>();
                }).empty());
    ASSERT_NE(known_algorithms().find(kernel), nullptr);
  }
  /// Measured, without predicted values.
  static PointRecord point_of(const std::string& kernel, const std::string& knob = {}, std::int64_t value = 0) {
    PointRecord point = fixtures::ok_point(fixtures::spec("fa2", 4096));
    point.spec.algorithm = kernel;
    if (!knob.empty()) point.spec.knobs.set(knob, value);
    for (KernelRecord& each : point.kernels) {
      std::erase_if(each.metrics, [](const MetricValue& of) { return of.provenance == Provenance::modeled; });
    }
    return point;
  }

 private:
  static std::optional<QTemporaryDir>& kept() {
    static std::optional<QTemporaryDir> folder;
    return folder;
  }
  QTemporaryDir folder_;
  QString stated_;
};

/// A window with the kernel.
class UserKernelWindow : public UserKernelTest {
 protected:
  void SetUp() override {
    UserKernelTest::SetUp();
    window.emplace(false);
    window->resize(1280, 800);
    window->show_page("explorer");
    window->explore_algorithm(name);
    window->show();
    wait_until_idle();
  }
  void TearDown() override {
    window.reset();
    UserKernelTest::TearDown();
  }
  ExplorerPage& page() { return page_of<ExplorerPage>(*window); }
  void choose(const char* choice, const char* value) {
    page().edit(choice, value, -1);
    wait_until_idle();
  }

  [[nodiscard]] QString figure(const Message& label, int column = 1) {
    const QAbstractItemModel& model = *page().figures()->model();
    for (int row = 0; row < model.rowCount(); ++row) {
      if (model.index(row, 0).data() == qtext(label)) return model.index(row, column).data().toString();
    }
    return {};
  }
  void open(const std::vector<PointRecord>& points) {
    const QString file = results_.filePath("points.attnscope");
    fixtures::write_file(file, {{"sweep", points, false}});
    window->open_files({file});
    ASSERT_TRUE(QTest::qWaitFor([&] { return window->workspace().visible()->size() == points.size(); }, patience_ms));
    wait_until_idle();
  }

  std::optional<MainWindow> window;
  const QString no_value = qtext(msg::explorer_page::no_figure{});

 private:
  QTemporaryDir results_;
};

TEST_F(UserKernelWindow, ExplorerStartsWithTheGivenKernel) {
  const ExplorerChoices& choices = page().chosen_state().choices;
  EXPECT_EQ(choices.point.spec.algorithm, name);
  EXPECT_EQ(choices.point.spec.problem.n_q, 4096);
  ASSERT_NE(page().shown(), nullptr);
  EXPECT_FALSE(page().shown()->exploration.refusal);
  window->explore_algorithm("none of that name");
  wait_until_idle();
  EXPECT_EQ(page().chosen_state().choices.point.spec.algorithm, name);
}

TEST(WithAlgorithmTest, KeepsSupportedSettings) {
  ExplorerChoices choices = default_choices();
  choices.point.spec.problem.d = 192;
  choices.point.spec.problem.dropout = 0.5;
  choices.point.spec.problem.n_q = choices.point.spec.problem.n_k = 2048;
  const ExplorerChoices turned = with_algorithm(choices, "fa3");
  const PointSpec& spec = turned.point.spec;
  EXPECT_FALSE(known_algorithms().find("fa3")->refusal(spec.problem, spec.config(), limits_of(turned)));
  EXPECT_EQ(spec.problem.n_q, 2048);
  EXPECT_EQ(spec.problem.d, 192) << "fa3 supports it";
  EXPECT_EQ(with_algorithm(choices, "none of that name"), choices);
}

TEST_F(UserKernelWindow, SlidersUseTheValuesOfTheManifest) {
  const auto stops = [&](const char* slider) { return page().findChild<QSlider*>(slider)->maximum() + 1; };
  EXPECT_EQ(stops("br-slider"), 4) << "16, 32, 64, 128";
  EXPECT_EQ(stops("unroll-slider"), 4) << "the kernel's choice, 1, 2, 8";
  page().findChild<QSlider*>("unroll-slider")->setValue(3);
  wait_until_idle();
  EXPECT_EQ(page().chosen_state().choices.point.spec.knobs.number("unroll"), 8);
  EXPECT_FALSE(page().shown()->exploration.refusal);
  auto* unroll = page().findChild<QSpinBox*>("unroll");
  unroll->stepDown();
  EXPECT_EQ(unroll->value(), 2);
  unroll->stepBy(-10);
  EXPECT_EQ(unroll->value(), 0);
  auto* br = page().findChild<QSpinBox*>("br");
  br->setValue(48);
  br->stepUp();
  EXPECT_EQ(br->value(), 64);
  br->setValue(48);
  wait_until_idle();
  ASSERT_TRUE(page().shown()->exploration.refusal);
  EXPECT_TRUE(page().shown()->exploration.nearest) << "one of the manifest's tiles";
  br->stepDown();
  EXPECT_EQ(br->value(), 32);
  choose("algorithm", "fa2");
  EXPECT_GT(stops("br-slider"), 4);
  EXPECT_EQ(known_algorithms().find_knob("unroll")->values, (std::vector<std::int64_t>{2, 1, 8}));
}

TEST_F(UserKernelWindow, ExplainsWhyNoSimulatedGpuIsOffered) {
  PointMeasurer& measurer = page().measurement_card().measurer();
  const std::string gpu = page().chosen_state().choices.device;
  ASSERT_TRUE(QTest::qWaitFor([&] { return !measurer.devices_of(gpu).empty(); }, patience_ms));
  wait_until_idle();
  EXPECT_TRUE(measurer.devices_of(gpu, name).empty());
  const QString needs_gpu = qtext(msg::explorer_page::needs_local_gpu{.gpu = gpu});
  for (const char* button : {"measure", "around"}) {
    const auto* found = page().findChild<QAbstractButton*>(button);
    EXPECT_FALSE(found->isEnabled());
    EXPECT_TRUE(found->toolTip().contains(needs_gpu)) << button;
  }
  EXPECT_EQ(page().findChild<QComboBox*>("measures-on")->count(), 0);
  choose("algorithm", "fa2");
  EXPECT_TRUE(page().findChild<QAbstractButton*>("measure")->isEnabled());
  EXPECT_FALSE(page().findChild<QAbstractButton*>("measure")->toolTip().contains(needs_gpu));
}

TEST_F(UserKernelWindow, KnobsOfFilesAreAxesAndGroups) {
  window->show_page("io");
  auto& curves = page_of<IoCurvePage>(*window);
  curves.restore({{"over", "parts"}});
  EXPECT_TRUE(curves.is_over_n()) << "no kernel has this knob yet";
  read_only("axes", "parts");
  open({point_of("axes", "parts", 1), point_of("axes", "parts", 2)});
  curves.refresh_if_outdated();
  curves.wait_until_idle();
  const auto offers = [&](const QString& label, const QString& what) {
    const auto chips = curves.findChildren<FacetChip*>();
    return std::ranges::any_of(chips, [&](const FacetChip* chip) {
      return chip->label() == label && std::ranges::find(chip->options(), what, &Option::text) != chip->options().end();
    });
  };
  EXPECT_TRUE(offers(qtext(msg::curve_page::x_axis{}), "parts"));
  EXPECT_TRUE(offers(qtext(msg::curve_page::group{}), "parts"));
  curves.restore({{"over", "parts"}});
  curves.restore({{"plot", "time"}});
  curves.wait_until_idle();
  ASSERT_TRUE(curves.curves().axis);
  EXPECT_EQ(curves.curves().axis->key(), "parts");
  ASSERT_FALSE(curves.curves().empty());
  EXPECT_EQ(curves.curves().curves.front().points.size(), 2U);
  curves.restore({{"over", "br"}});
  curves.wait_until_idle();
  EXPECT_EQ(curves.options("parts").size(), 2) << "over Br, one value of the knob is shown";
}

TEST_F(UserKernelWindow, OffersNoSimulatedGpuForCollecting) {
  auto* form = window->findChild<CollectForm*>();
  ASSERT_NE(form, nullptr);
  const auto boxes = form->findChildren<QCheckBox*>();
  const auto box = std::ranges::find_if(boxes, [](const QCheckBox* each) {
    return each->property("algorithm").toString() == QString::fromStdString(name);
  });
  ASSERT_NE(box, boxes.end());
  form->set_preset("tiles");
  form->restore({{"device", "simulated:H200"}});
  EXPECT_FALSE((*box)->isEnabled());
  EXPECT_FALSE((*box)->toolTip().isEmpty());
  EXPECT_FALSE(form->request().algorithms.contains(QString::fromStdString(name)));
  const auto fa2 = std::ranges::find_if(
      boxes, [](const QCheckBox* each) { return each->property("algorithm").toString() == QLatin1String("fa2"); });
  EXPECT_TRUE((*fa2)->isEnabled());
}

TEST_F(UserKernelWindow, ListsKernelsOfFiles) {
  const auto* list = page().findChild<QComboBox*>("algorithm");
  EXPECT_LT(list->findData("listed"), 0);
  read_only("listed", "chunks");
  const PointRecord point = point_of("listed", "chunks", 2);
  open({point});
  EXPECT_GE(list->findData("listed"), 0);
  EXPECT_TRUE(page().explore(point.spec, "NVIDIA H200"));
  wait_until_idle();
  EXPECT_EQ(list->currentData().toString(), "listed");
  ASSERT_NE(page().findChild<QSpinBox*>("chunks"), nullptr);
  EXPECT_EQ(page().findChild<QSpinBox*>("chunks")->value(), 2);
  page().findChild<QSpinBox*>("chunks")->setValue(8);
  wait_until_idle();
  EXPECT_EQ(page().chosen_state().choices.point.spec.knobs.number("chunks"), 8);
  choose("algorithm", "fa2");
  EXPECT_TRUE(page().findChild<QSpinBox*>("chunks")->parentWidget()->isHidden());
}

TEST_F(UserKernelWindow, ExplorerShowsRecordedValues) {
  read_only("recorded", "folds");
  PointRecord point = point_of("recorded", "folds", 2);
  for (KernelRecord& each : point.kernels) {
    std::erase_if(each.metrics, [](const MetricValue& of) { return of.name.starts_with("use_"); });
    for (const auto& [unit, value] :
         {std::pair{"shared", 63}, std::pair{"tensor", 43}, std::pair{"xu", 9}, std::pair{"fma", 9},
          std::pair{"alu", 9}, std::pair{"l2_port", 9}, std::pair{"dram", 9}}) {
      each.metrics.push_back({std::string(unit) + "_utilization_pct", static_cast<double>(value), "percent"});
    }
  }
  open({point});
  choose("algorithm", "recorded");
  EXPECT_EQ(measured_time(*page().time_bars()), "") << "another point";
  page().explore(point.spec, "NVIDIA H200");
  wait_until_idle();
  ASSERT_EQ(page().chosen_state().choices.point.spec, point.spec);
  EXPECT_FALSE(measured_time(*page().time_bars()).isEmpty());
  const QString info = page().findChild<QWidget*>("time-info")->accessibleDescription();
  EXPECT_TRUE(info.contains("63%")) << info.toStdString();
  EXPECT_TRUE(figure(msg::explorer::time{}).contains("(measured)")) << figure(msg::explorer::time{}).toStdString();
  EXPECT_NE(figure(msg::explorer::dram_bytes{}), no_value);
  page().edit("folds", "8", -1);
  wait_until_idle();
  EXPECT_EQ(measured_time(*page().time_bars()), "");
  EXPECT_EQ(figure(msg::explorer::time{}), no_value);
}

TEST_F(UserKernelWindow, ShowsNoDifferenceForMissingValues) {
  choose("algorithm", "fa2");
  page().pin();
  wait_until_idle();
  choose("algorithm", name.c_str());
  EXPECT_EQ(figure(msg::explorer::occupancy{}), no_value);
  EXPECT_TRUE(figure(msg::explorer::occupancy{}, 2).contains('%'))
      << figure(msg::explorer::occupancy{}, 2).toStdString();
  EXPECT_FALSE(figure(msg::explorer::occupancy{}, 2).contains('+'))
      << figure(msg::explorer::occupancy{}, 2).toStdString();
  EXPECT_FALSE(figure(msg::explorer::time{}, 2).isEmpty());
  EXPECT_FALSE(figure(msg::explorer::time{}, 2).contains('%')) << figure(msg::explorer::time{}, 2).toStdString();
}

TEST_F(UserKernelWindow, HeadingsShowMissingRegisterCounts) {
  EXPECT_TRUE(page()
                  .on_chip()
                  ->map_geometry(OnChipMemory::shared)
                  .heading.startsWith(text_before_arguments(
                      msg::explorer_page::shared_map_alone{.all = "", .blocks = "|", .each = "", .free = ""})));
  EXPECT_TRUE(page()
                  .on_chip()
                  ->map_geometry(OnChipMemory::registers)
                  .heading.startsWith(text_before_arguments(msg::explorer_page::registers_unstated{.all = "|"})));
  EXPECT_EQ(figure(msg::explorer::occupancy{}), no_value) << "it depends on registers";
  EXPECT_EQ(figure(msg::explorer::blocks_per_sm{}), no_value);
  EXPECT_EQ(figure(msg::explorer::threads{}), "256");
  choose("algorithm", "fa2");
  EXPECT_NE(figure(msg::explorer::occupancy{}), no_value);
  EXPECT_TRUE(page()
                  .on_chip()
                  ->map_geometry(OnChipMemory::shared)
                  .heading.startsWith(text_before_arguments(
                      msg::explorer_page::shared_map{.all = "", .blocks = "|", .each = "", .free = ""})));
}

TEST_F(UserKernelWindow, ReloadsASavedManifest) {
  QString text = read(manifest());
  write(manifest(), text.replace("\"d\": [32,", "\"d\": [32, 48,"));
  ASSERT_TRUE(QTest::qWaitFor([&] { return !window->pending_kernel().isEmpty(); }, patience_ms));
  EXPECT_EQ(window->pending_kernel(), manifest());
  EXPECT_FALSE(window->isVisible());
}

TEST_F(UserKernelWindow, ReportsAnInvalidManifestAndKeepsTheOldOne) {
  const QString text = read(manifest());
  write(manifest(), QString(text).replace("\"tile\":", "\"tiles\":"));
  ASSERT_TRUE(QTest::qWaitFor([&] { return window->banner().text().contains("own.json"); }, patience_ms))
      << window->banner().text().toStdString();
  EXPECT_TRUE(window->isVisible());
  EXPECT_TRUE(window->pending_kernel().isEmpty());
  // Editors replace the file instead of writing into it.
  write(manifest() + ".new", text + "\n");
  ASSERT_EQ(std::rename(qPrintable(manifest() + ".new"), qPrintable(manifest())), 0);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !window->pending_kernel().isEmpty(); }, patience_ms));
}

TEST_F(UserKernelWindow, IgnoresAnUnchangedManifest) {
  const QString text = read(manifest());
  write(manifest(), QString(text).replace("\"tile\":", "\"tiles\":"));
  ASSERT_TRUE(QTest::qWaitFor([&] { return window->banner().text().contains("own.json"); }, patience_ms));
  write(manifest(), text);
  ASSERT_TRUE(QTest::qWaitFor([&] { return window->banner().text().isEmpty(); }, patience_ms));
  EXPECT_TRUE(window->isVisible());
  EXPECT_TRUE(window->pending_kernel().isEmpty());
}

TEST_F(UserKernelWindow, OffersReloadingDuringAMeasurement) {
  QFile script(collector());
  ASSERT_TRUE(script.open(QIODevice::WriteOnly | QIODevice::Truncate));
  script.write("#!/bin/sh\ncat > /dev/null\n");
  script.close();
  page().measurement_card().measurer().measure(page().chosen_state().choices,
                                               {.argument = "0", .name = {}, .gpu = {}, .note = {}});
  write(manifest(), read(manifest()) + "\n");
  ASSERT_TRUE(QTest::qWaitFor(
      [&] { return window->banner().text().contains(qtext(msg::window::kernel_changed{.file = "own.json"})); },
      patience_ms));
  EXPECT_TRUE(window->isVisible());
  EXPECT_TRUE(window->pending_kernel().isEmpty());
  page().measurement_card().measurer().cancel();
}

TEST_F(UserKernelWindow, LongTitlesDoNotWidenTheWindow) {
  for (const QSize size : {QSize(1024, 600), QSize(1280, 800)}) {
    window->resize(size);
    wait_until_idle();
    EXPECT_EQ(window->size(), size);
    EXPECT_LE(page().minimumSizeHint().width(), size.width());
  }
}

TEST(HeadlineTest, TableShowsTheHeadlineDetailsShowTheFullText) {
  const std::string log = "nvrtc: FAILED\nk.cu(2): error: a<b>\nk.cu(3): error: c";
  const auto points = fixtures::shown(
      {fixtures::failed_point(fixtures::spec("fa2", 1024), Disposition::compile_error, Message::verbatim(log))});
  PointsTableModel table;
  table.set_points(fixtures::set_of(points));
  EXPECT_EQ(table.index(0, table.find_column_index("reason")).data().toString(), "k.cu(2): error: a<b> …");
  const QString html = fixtures::describe_point_html(points[0], QPalette());
  EXPECT_TRUE(html.contains("nvrtc: FAILED<br>k.cu(2): error: a&lt;b&gt;<br>k.cu(3): error: c")) << html.toStdString();
}

TEST(HeadlineTest, SelectsTheErrorLine) {
  EXPECT_EQ(compiler_error_line("one line"), "one line");
  EXPECT_EQ(compiler_error_line("nvrtc: FAILED\nk.cu(2): error: x\n  y\n"), "k.cu(2): error: x …");
  EXPECT_EQ(compiler_error_line("first\nsecond"), "first …");
}

}  // namespace
}  // namespace attnscope::ui
