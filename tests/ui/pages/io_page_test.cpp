// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <QRegularExpression>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>
#include <algorithm>
#include <map>
#include <set>

#include "kernels/algorithm.h"
#include "kernels/registry.h"
#include "messages/curve_page.h"
#include "messages/curve_plot.h"
#include "messages/curves.h"
#include "messages/throttle.h"
#include "messages/tile_map.h"
#include "tests/ui/window_test.h"
#include "ui/models/curve_series.h"
#include "ui/pages/curves/curve_graphs.h"
#include "ui/pages/curves/io_curve_page.h"
#include "ui/plots/plot_parts.h"
#include "ui/runs/point_set.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

class IoPageTest : public WindowTest {
 protected:
  /// Shows the page as a window, with these files.
  void show(const QStringList& files) {
    page.resize(1000, 700);
    page.show();
    for (const QString& each : files) ASSERT_EQ(workspace.open_blocking(each), QString());
    QApplication::processEvents();
  }
  Workspace workspace;
  IoCurvePage page{workspace};
  IoPlot* plot = page.plot();
};

class IoLegendTest : public IoPageTest {
 protected:
  void SetUp() override {
    IoPageTest::SetUp();
    ASSERT_NO_FATAL_FAILURE(show({file}));
    resize(1000, 760);
  }
  void resize(int width, int height) {
    page.resize(width, height);
    wait_until_idle();
    plot->replot();
  }
  /// -1 if there is no such row.
  [[nodiscard]] int place_of(const QString& text) const {
    const std::vector<LegendRow>& rows = legend.content().rows;
    const auto found = std::ranges::find(rows, text, &LegendRow::text);
    return found == rows.end() ? -1 : static_cast<int>(found - rows.begin());
  }
  void click(const QString& row, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    const int place = place_of(row);
    ASSERT_GE(place, 0) << row.toStdString();
    QTest::mouseClick(&legend, Qt::LeftButton, modifiers, legend.row_rect(place).center());
    wait_until_idle();
    plot->replot();
  }
  /// Algorithms of the drawn measured curves, in order.
  [[nodiscard]] QStringList drawn() const {
    QStringList names;
    for (const Curve& curve : plot->shown().curves) {
      if (curve.kind == CurveKind::measured) names << short_title(curve.name.algorithm);
    }
    return names;
  }
  LegendTable& legend = plot->legend_table();
};

TEST_F(IoLegendTest, ClickIsolatesASeries) {
  const QCPRange view = plot->yAxis->range();
  EXPECT_EQ(drawn(), (QStringList{"Naive", "FA1", "FA2"}));
  click("FA1");
  EXPECT_EQ(drawn(), QStringList{"FA1"});
  for (const Curve& curve : plot->shown().curves) {
    EXPECT_TRUE(curve.name.algorithm == "fa1" || curve.name.algorithm.empty()) << "models of others are hidden, too";
  }
  EXPECT_EQ(plot->yAxis->range(), view) << "other curves do not move";
  EXPECT_GE(place_of("FA2"), 0) << "stays in the legend";
  click("FA1");
  EXPECT_EQ(drawn().size(), 3);
}

TEST_F(IoLegendTest, ArrowKeysLeaveTheLegend) {
  page.show();
  legend.setFocus();
  QTest::keyClick(&legend, Qt::Key_Left);
  ASSERT_EQ(page.focusWidget(), plot);
  QTest::keyClick(plot, Qt::Key_Return);
  wait_until_idle();
  EXPECT_EQ(drawn().size(), 3) << "Enter selects the mark and hides no series";
}

TEST_F(IoLegendTest, CtrlClickTogglesASeriesAndEscapeShowsAll) {
  click("FA1", Qt::ControlModifier);
  EXPECT_EQ(drawn(), (QStringList{"Naive", "FA2"}));
  click("FA1", Qt::ControlModifier);
  EXPECT_EQ(drawn().size(), 3);
  click("Naive");
  QTest::keyClick(plot, Qt::Key_Escape);
  EXPECT_TRUE(plot->hidden().empty());
}

TEST_F(IoLegendTest, WorksWithTheKeyboard) {
  legend.setFocus();
  QTest::keyClick(&legend, Qt::Key_Down);
  EXPECT_TRUE(legend.accessibleDescription().contains("FA1")) << legend.accessibleDescription().toStdString();
  QTest::keyClick(&legend, Qt::Key_Return, Qt::ControlModifier);
  EXPECT_EQ(drawn(), (QStringList{"Naive", "FA2"}));
  QTest::keyClick(&legend, Qt::Key_Escape);
  QTest::keyClick(&legend, Qt::Key_Return);
  EXPECT_EQ(drawn(), QStringList{"FA1"});
}

TEST_F(IoLegendTest, ShowsTheValuesUnderTheCursor) {
  EXPECT_EQ(legend.content().corner, "N 8k") << "the last N at which all run";
  const auto value = [&](const QString& row) {
    return legend.content().rows[static_cast<std::size_t>(place_of(row))].cells.front();
  };
  const auto expected = [&](double n) {
    const auto curve = std::ranges::find_if(page.curves().curves, [](const Curve& each) {
      return each.name.algorithm == "fa2" && each.kind == CurveKind::measured;
    });
    return format_quantity(analysis::point_at(*curve, n)->value, *curve);
  };
  EXPECT_EQ(value("FA2"), expected(8192));
  const double middle = plot->panels().front()->center().y();
  ASSERT_TRUE(plot->hover_at({plot->xAxis->coordToPixel(4096) + 3, middle}));
  EXPECT_EQ(legend.content().corner, "N 4k");
  EXPECT_EQ(value("FA2"), expected(4096));
  ASSERT_TRUE(plot->hover_at({plot->xAxis->coordToPixel(16384), middle}));
  EXPECT_TRUE(value("Naive").startsWith("✕")) << "the naive algorithm runs out of memory";
  EXPECT_FALSE(plot->hover_at({2, middle}));
  EXPECT_EQ(legend.content().corner, "N 8k");
}

TEST_F(IoLegendTest, IsBesideOrBelowTheAxes) {
  EXPECT_GE(legend.x(), plot->panels().front()->right());
  resize(620, 700);
  EXPECT_GE(legend.y(), plot->panels().front()->bottom());
  for (const QSize& size : {QSize(620, 700), QSize(420, 500), QSize(1400, 900)}) {
    resize(size.width(), size.height());
    EXPECT_TRUE(plot->rect().contains(legend.geometry())) << size.width();
    EXPECT_GE(legend.height(), legend.row_rect(2).bottom()) << "three rows at least";
  }
}

TEST_F(IoLegendTest, MenuOfAlgorithmsStaysOpen) {
  auto* chip = page.findChild<MultiChoiceChip*>();
  QMenu& menu = *chip->menu();
  menu.popup(QPoint(0, 0));
  QAction* fa2 = nullptr;
  for (QAction* entry : menu.actions()) {
    if (entry->text() == QLatin1String("FA2")) fa2 = entry;
  }
  ASSERT_NE(fa2, nullptr);
  const auto click_on_it = [&] {
    const QPoint at = menu.actionGeometry(fa2).center();
    QTest::mouseMove(&menu, at);
    menu.setActiveAction(fa2);
    QTest::mouseClick(&menu, Qt::LeftButton, Qt::NoModifier, at);
  };
  click_on_it();
  EXPECT_TRUE(menu.isVisible()) << "several algorithms can be switched";
  EXPECT_FALSE(fa2->isChecked());
  for (const Curve& curve : page.curves().curves) EXPECT_NE(curve.name.algorithm, "fa2") << curve.label;
  click_on_it();
  EXPECT_TRUE(fa2->isChecked());
}

TEST_F(IoPageTest, LabelsCurvesAtTheirEnds) {
  ASSERT_NO_FATAL_FAILURE(show({file}));
  plot->replot();
  const QStringList names = plot->line_labels();
  ASSERT_FALSE(names.isEmpty());
  for (const char* owner : {"FA1", "FA2"}) {
    EXPECT_FALSE(names.filter(QString::fromLatin1(owner)).isEmpty()) << owner << names.join('|').toStdString();
  }
  // Labels neither overlap nor leave the plot.
  std::vector<QRectF> boxes;
  for (int i = 0; i < plot->itemCount(); ++i) {
    const auto* text = qobject_cast<QCPItemText*>(plot->item(i));
    if (text == nullptr || !text->visible() || !names.contains(text->text())) continue;
    boxes.emplace_back(text->topLeft->pixelPosition(), text->bottomRight->pixelPosition());
    EXPECT_TRUE(QRectF(plot->rect()).contains(boxes.back())) << text->text().toStdString();
  }
  ASSERT_EQ(boxes.size(), static_cast<std::size_t>(names.size()));
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_LT(boxes[i].intersected(boxes[j]).height(), 4) << names[static_cast<qsizetype>(i)].toStdString();
    }
  }
  page.resize(340, 700);
  wait_until_idle();
  plot->replot();
  EXPECT_TRUE(plot->line_labels().isEmpty()) << "too narrow for labels";
}

TEST_F(IoPageTest, DevicesArePanelsOnCommonAxes) {
  std::vector<PointRecord> records;
  for (const char* algorithm : {"fa1", "fa2"}) {
    for (const std::int64_t n : {1024, 2048, 4096}) records.push_back(fixtures::ok_point(fixtures::spec(algorithm, n)));
  }
  const auto slowed = [&](double factor) {
    std::vector<PointRecord> slower = records;
    for (PointRecord& record : slower) {
      for (double& ns : record.kernels[0].samples_ns) ns *= factor;
    }
    return slower;
  };
  std::vector<fixtures::TestRun> runs{{"wall", records, true, false, "H200"}};
  runs.push_back({"wall", slowed(1.5), true, false, "H100"});
  const QString both = folder.filePath("both.attnscope");
  fixtures::write_file(both, runs);
  ASSERT_NO_FATAL_FAILURE(show({both}));
  page.restore({{"plot", "time"}});
  wait_until_idle();
  ASSERT_EQ(plot->panels().size(), 2U);
  EXPECT_EQ(page.curves().panels.front(), "H200");
  // One color and marker for an algorithm, in all panels.
  for (const Curve& curve : page.curves().curves) EXPECT_EQ(curve.identity, style::identity_of(curve.name.algorithm));
  QCPAxisRect* second = plot->panels()[1];
  EXPECT_EQ(second->axis(QCPAxis::atLeft)->range(), plot->yAxis->range());
  EXPECT_FALSE(second->axis(QCPAxis::atLeft)->tickLabels()) << "labels once";
  second->axis(QCPAxis::atBottom)->setRange(1500, 3000);
  EXPECT_EQ(plot->xAxis->range(), QCPRange(1500, 3000)) << "zoomed together";
  EXPECT_EQ(plot->legend_table().content().columns.mid(0, 2), (QStringList{"H200", "H100"}));
  // The linear strip shows the ratio.
  ASSERT_EQ(plot->ratios().size(), 1U);
  const QCPAxisRect* strip = plot->ratios().front();
  EXPECT_EQ(strip->axis(QCPAxis::atLeft)->scaleType(), QCPAxis::stLinear);
  EXPECT_EQ(strip->axis(QCPAxis::atLeft)->label(), "H100 / H200");
  EXPECT_EQ(strip->axis(QCPAxis::atBottom)->range(), plot->xAxis->range());
  ASSERT_EQ(strip->graphs().size(), 2);
  for (const QCPGraph* graph : strip->graphs()) {
    for (const QCPGraphData& data : *graph->data()) EXPECT_NEAR(data.value, 1.5, 1e-9);
  }
  // Bytes are equal on both: one panel.
  page.restore({{"plot", "io"}});
  wait_until_idle();
  EXPECT_EQ(plot->panels().size(), 1U);
  EXPECT_EQ(page.curves().panels.front(), "H200 = H100 SXM");
  EXPECT_TRUE(plot->ratios().empty());
}

TEST_F(IoPageTest, CoincidingMarksAreSideBySide) {
  std::vector<PointRecord> records;
  for (const char* algorithm : {"naive", "fa1", "fa2"}) {
    for (const std::int64_t n : {1024, 2048}) {
      records.push_back(fixtures::ok_point(fixtures::spec(algorithm, n)));
      // FA1 and FA2 coincide.
      for (double& ns : records.back().kernels[0].samples_ns) ns = algorithm == std::string_view("naive") ? 9e6 : 1e6;
    }
  }
  const QString equal = folder.filePath("equal.attnscope");
  fixtures::write_file(equal, {{"equal", records, false}});
  ASSERT_NO_FATAL_FAILURE(show({equal}));
  page.restore({{"plot", "time"}});
  wait_until_idle();
  const CurveSet& set = page.curves();
  const auto same = [](double value) { return value; };
  const MarkShifts shifts = shift_marks(set, same, 1e3);
  for (std::size_t c = 0; c < set.curves.size(); ++c) {
    if (set.curves[c].kind != CurveKind::measured) continue;
    const std::string& algorithm = set.curves[c].name.algorithm;
    const int side = algorithm == "naive" ? 0 : algorithm == "fa1" ? -1 : 1;
    const double shift = shifts.at(c, 0);
    EXPECT_EQ(side, shift < 0 ? -1 : shift > 0 ? 1 : 0) << algorithm;
  }
  // Each mark can be clicked where it is drawn.
  QSignalSpy selected(&page, &IoCurvePage::point_selected);
  const QPointF at(plot->xAxis->coordToPixel(2048), plot->yAxis->coordToPixel(1e6));
  for (const double side : {-5.0, 5.0}) QTest::mouseClick(plot, Qt::LeftButton, {}, (at + QPointF(side, 0)).toPoint());
  ASSERT_EQ(selected.count(), 2);
  EXPECT_EQ(selected[0][0].value<ShownPoint>().spec.algorithm, "fa1");
  EXPECT_EQ(selected[1][0].value<ShownPoint>().spec.algorithm, "fa2");
  // Many coinciding marks are drawn as one.
  EXPECT_EQ(shift_marks(
                set, [](double) { return 0.0; }, 1)
                .crowded.size(),
            0U)
      << "three are still side by side";
}

TEST_F(IoPageTest, CrossesShowTheReason) {
  ASSERT_NO_FATAL_FAILURE(show({file}));
  const Message outcome = title(Disposition::out_of_memory);
  const QCPItemText* words = nullptr;
  for (int i = 0; i < plot->itemCount(); ++i) {
    const auto* text = qobject_cast<QCPItemText*>(plot->item(i));
    if (text != nullptr && text->text() == qtext(outcome)) words = text;
  }
  ASSERT_NE(words, nullptr);
  EXPECT_EQ(words->position->key(), 16384);
  QSignalSpy selected(&page, &IoCurvePage::point_selected);
  QTest::mouseClick(plot, Qt::LeftButton, {}, words->position->pixelPosition().toPoint());
  ASSERT_EQ(selected.count(), 1);
  EXPECT_EQ(fixtures::record_of(selected[0][0].value<ShownPoint>()).disposition, Disposition::out_of_memory);
  ASSERT_TRUE(plot->hover_at(words->position->pixelPosition()));
  ASSERT_NE(plot->findChild<HoverOverlay*>()->content(), nullptr);
  EXPECT_TRUE(plot->findChild<HoverOverlay*>()->content()->notes.join(' ').contains("132 GiB"))
      << "the reason of the naive point";
}

TEST_F(IoPageTest, MarksThrottledPoints) {
  std::vector<PointRecord> records;
  for (const std::int64_t n : {1024, 2048, 4096}) {
    records.push_back(fixtures::ok_point(fixtures::spec("fa2", n)));
    records.back().clocks->throttled = n == 2048;
    records.back().clocks->throttle_reasons = n == 2048 ? 4 : 0;
  }
  const QString hot = folder.filePath("hot.attnscope");
  fixtures::write_file(hot, {{"quick", records, false}});
  ASSERT_NO_FATAL_FAILURE(show({hot}));
  const auto notes = [&] { return plot->legend_table().content().notes; };
  const QString one = qtext(msg::curve_plot::throttled_points{.all = 3, .points = 1});
  EXPECT_FALSE(notes().contains(one)) << "bytes do not depend on clocks";
  const QString power_cap = qtext(msg::throttle::power_cap{});
  for (const Ordinate ordinate : {Ordinate::time, Ordinate::rate}) {
    page.restore({{"plot", ordinate == Ordinate::bytes ? "io" : ordinate == Ordinate::time ? "time" : "tflops"}});
    QApplication::processEvents();
    EXPECT_TRUE(notes().contains(one)) << notes().join('\n').toStdString();
    const Curve& curve = page.curves().curves.front();
    const auto read = [&](std::size_t point) {
      return describe_point(page.curves(), curve, curve.points[point], plot_colors(QPalette())).notes;
    };
    EXPECT_TRUE(read(1).contains(QStringLiteral("%1 (%2)").arg(qtext(msg::curve_plot::throttled{}), power_cap)))
        << read(1).join('\n').toStdString();
    EXPECT_FALSE(read(0).join(' ').contains(power_cap));
  }
}

TEST_F(IoPageTest, NamesAThrottledRunOnce) {
  std::vector<PointRecord> records;
  for (const std::int64_t n : {1024, 2048, 4096}) {
    records.push_back(fixtures::ok_point(fixtures::spec("fa2", n)));
    records.back().clocks->throttled = n > 1024;
  }
  const QString hot = folder.filePath("hot.attnscope");
  fixtures::write_file(hot, {{"quick", records, false}});
  ASSERT_NO_FATAL_FAILURE(show({hot}));
  page.restore({{"plot", "time"}});
  QApplication::processEvents();
  const QStringList notes = plot->legend_table().content().notes;
  EXPECT_TRUE(notes.contains(qtext(msg::tile_map::run_throttled{}))) << notes.join('\n').toStdString();
  EXPECT_FALSE(notes.contains(qtext(msg::curve_plot::throttled_points{.all = 3, .points = 2})));
}

TEST_F(IoPageTest, PlotsTimesAndRatesOfImportedPrograms) {
  const QString peers = folder.filePath("peers.attnscope");
  fixtures::write_file(peers, {{"peers", fixtures::peers(), false, true}});
  ASSERT_NO_FATAL_FAILURE(show({file, peers}));
  EXPECT_EQ(plot->yAxis->label(), qtext(msg::curve_plot::bytes_axis{.level = "DRAM"}));
  EXPECT_EQ(page.file_stem(), "io-d128-1x132");
  const auto toggles = [&] {
    QMenu& menu = *page.findChild<FacetChip*>("plot-options")->menu();
    emit menu.aboutToShow();
    QStringList texts;
    for (const QAction* action : menu.actions()) {
      if (action->isCheckable() && action->isVisible()) texts << action->text();
    }
    return texts;
  };
  EXPECT_TRUE(toggles().contains(qtext(msg::curve_page::model{})));

  page.restore({{"plot", "time"}});
  QApplication::processEvents();
  EXPECT_EQ(plot->yAxis->label(), qtext(msg::curve_plot::time_axis{}));
  EXPECT_EQ(plot->yAxis->scaleType(), QCPAxis::stLogarithmic);
  EXPECT_EQ(page.file_stem(), "time-d128-1x132");
  EXPECT_EQ(toggles(), (QStringList{qtext(msg::curve_page::l2_limit{}), qtext(msg::curve_page::residuals{})}));
  const auto imported = std::ranges::find_if(page.curves().curves,
                                             [](const Curve& curve) { return curve.name.algorithm == "torch-flash"; });
  ASSERT_NE(imported, page.curves().curves.end());
  const HoverContent read =
      describe_point(page.curves(), *imported, *analysis::point_at(*imported, 4096), plot_colors(QPalette()));
  EXPECT_EQ(read.rows.front().label, "torch-flash · time · imported");
  // 4 N² d 132 FLOPs at 420 TFLOP/s plus 9 µs.
  EXPECT_EQ(read.rows.front().value, "2.71 ms (2.65 – 2.84)");
  EXPECT_EQ(read.rows.front().sample.identity.slot, PlotSlot::star) << "differs from all algorithms";

  page.restore({{"plot", "tflops"}});
  QApplication::processEvents();
  EXPECT_EQ(plot->yAxis->label(), qtext(msg::curve_plot::rate_axis{}));
  EXPECT_EQ(plot->yAxis->scaleType(), QCPAxis::stLinear);
  EXPECT_EQ(plot->yAxis->range().lower, 0);
  EXPECT_GT(plot->yAxis->range().upper, 560);
  page.restore({{"plot", "io"}});
  EXPECT_EQ(plot->yAxis->scaleType(), QCPAxis::stLogarithmic);
  EXPECT_GT(plot->yAxis->range().lower, 1e6);
}

TEST_F(WindowTest, ImportedProgramsHaveChipsWhileOpen) {
  const QString peers = folder.filePath("peers.attnscope");
  fixtures::write_file(peers, {{"peers", fixtures::peers(), false, true}});
  Workspace workspace;
  IoCurvePage page(workspace);
  ASSERT_EQ(workspace.open_blocking(file), QString());
  const auto chips = [&](bool enabled_only) {
    QStringList texts;
    for (const MultiChoiceChip::Item& item : page.algorithms().items()) {
      if (item.offered || !enabled_only) texts << item.text;
    }
    texts.sort();
    return texts;
  };
  // Algorithms of the registry are always listed, and enabled if they have points.
  QStringList ours;
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) ours << short_title(algorithm->name());
  ours.sort();
  EXPECT_EQ(chips(false), ours);
  EXPECT_EQ(chips(true), (QStringList{"FA1", "FA2", "Naive"}));
  ASSERT_EQ(workspace.open_blocking(peers), QString());
  EXPECT_EQ(chips(false), ours + QStringList({"torch-cudnn", "torch-flash"}));
  EXPECT_EQ(chips(true), (QStringList{"FA1", "FA2", "Naive"})) << "imported points have no bytes";
  const auto tip = [&] {
    for (const MultiChoiceChip::Item& item : page.algorithms().items()) {
      if (item.text == "torch-flash") return item.help;
    }
    return QString();
  };
  EXPECT_TRUE(tip().contains(qtext(msg::curve_page::points_without_bytes{}))) << tip().toStdString();
  page.restore({{"plot", "time"}});
  EXPECT_EQ(chips(true), (QStringList{"FA1", "FA2", "Naive", "torch-cudnn", "torch-flash"}));
  EXPECT_FALSE(tip().contains(qtext(msg::curve_page::points_without_bytes{}))) << tip().toStdString();
  EXPECT_FALSE(tip().contains(qtext(msg::curve_page::points_without_times{}))) << tip().toStdString();
  EXPECT_EQ(page.curves().curves.size(), 5U);
  page.show_algorithm("torch-flash", false);
  EXPECT_EQ(page.curves().curves.size(), 4U);
  workspace.close(peers);
  EXPECT_EQ(chips(false), ours);
  EXPECT_EQ(chips(true), (QStringList{"FA1", "FA2", "Naive"}));
}

TEST_F(IoPageTest, DecodingUsesTheKeyAxis) {
  const QString decode = folder.filePath("decode.attnscope");
  fixtures::write_file(decode, {{"decode", fixtures::decoding(), false}});
  ASSERT_NO_FATAL_FAILURE(show({file, decode}));
  EXPECT_EQ(plot->xAxis->label(), qtext(msg::curve_plot::length_axis{}));
  EXPECT_EQ(page.options(QStringLiteral("n_q")), (QStringList{"N", "1"}));
  page.choose(QStringLiteral("n_q"), QStringLiteral("1"));
  EXPECT_FALSE(page.has_plot()) << "no decoding with 132 heads";
  page.choose(QStringLiteral("heads"), QStringLiteral("1 × 16"));
  EXPECT_EQ(plot->xAxis->label(), qtext(msg::curve_plot::keys_axis{.n_q = 1}));
  EXPECT_EQ(page.file_stem(), "io-d128-nq1-1x16");
  plot->replot();
  ASSERT_TRUE(plot->hover_at({plot->xAxis->coordToPixel(65536), 300}));
  EXPECT_EQ(plot->legend_table().content().corner, "n_k 64k");
}

TEST_F(IoPageTest, ShowsTheL2BandAndCapacity) {
  ASSERT_NO_FATAL_FAILURE(show({file}));
  const std::vector<Boundary>& boundaries = page.curves().boundaries;
  ASSERT_EQ(boundaries.size(), 2U) << "FA2 rereads no data in cycles";
  std::vector<const QCPItemRect*> bars;
  QStringList texts;
  for (int i = 0; i < plot->itemCount(); ++i) {
    if (const auto* bar = qobject_cast<QCPItemRect*>(plot->item(i))) bars.push_back(bar);
    if (const auto* text = qobject_cast<QCPItemText*>(plot->item(i))) texts << text->text();
  }
  ASSERT_EQ(bars.size(), 2U);
  plot->replot();
  for (std::size_t i = 0; i < boundaries.size(); ++i) {
    EXPECT_NEAR(bars[i]->topLeft->pixelPosition().x(), plot->xAxis->coordToPixel(boundaries[i].at.n_low), 0.01);
    EXPECT_NEAR(bars[i]->bottomRight->pixelPosition().x(), plot->xAxis->coordToPixel(boundaries[i].at.n_high), 0.01);
  }
  EXPECT_LE(bars[0]->bottomRight->pixelPosition().y(), bars[1]->topLeft->pixelPosition().y()) << "one below another";
  EXPECT_TRUE(texts.contains(qtext(msg::curve_plot::exceeds_l2{.algorithm = "FA1", .size = "60 MiB"})))
      << texts.join('\n').toStdString();
}

TEST_F(IoPageTest, ArrowKeysMoveBetweenMarksAndEnterSelects) {
  ASSERT_NO_FATAL_FAILURE(show({file}));
  QSignalSpy selected(&page, &IoCurvePage::point_selected);
  plot->setFocus();
  const Curve* curve = nullptr;
  for (const Curve& candidate : page.curves().curves) {
    if (candidate.name.algorithm == "naive" && candidate.kind == CurveKind::measured) curve = &candidate;
  }
  ASSERT_NE(curve, nullptr);
  const CurvePoint& point = curve->points[4];
  const QPoint pixel(static_cast<int>(plot->xAxis->coordToPixel(point.n)),
                     static_cast<int>(plot->yAxis->coordToPixel(point.value)));
  QTest::mouseClick(plot, Qt::LeftButton, {}, pixel);
  ASSERT_EQ(selected.count(), 1);
  QTest::keyClick(plot, Qt::Key_Left);
  EXPECT_EQ(selected.count(), 1) << "the cursor moves, the selection stays";
  ASSERT_NE(plot->findChild<HoverOverlay*>()->content(), nullptr);
  EXPECT_EQ(plot->accessibleDescription(), display_text(*plot->findChild<HoverOverlay*>()->content()));
  EXPECT_EQ(plot->legend_table().content().corner, "N " + format_length(curve->points[3].n)) << "follows the cursor";
  QTest::keyClick(plot, Qt::Key_Return);
  ASSERT_EQ(selected.count(), 2);
  auto now = selected[1][0].value<ShownPoint>();
  EXPECT_EQ(now.spec.algorithm, "naive");
  EXPECT_EQ(now.spec.problem.n_k, static_cast<std::int64_t>(curve->points[3].n));
  QTest::keyClick(plot, Qt::Key_Down);
  QTest::keyClick(plot, Qt::Key_Space);
  ASSERT_EQ(selected.count(), 3);
  now = selected[2][0].value<ShownPoint>();
  EXPECT_NE(now.spec.algorithm, "naive") << "the series below";
  EXPECT_EQ(now.spec.problem.n_k, static_cast<std::int64_t>(curve->points[3].n));
}

TEST(CurveRunsTest, ManyRunsArePanels) {
  for (const std::int64_t runs : {2, 3, 9}) {
    std::vector<fixtures::TestPoint> points;
    for (std::int64_t run = 1; run <= runs; ++run) {
      for (const fixtures::TestPoint& each : fixtures::shown(fixtures::memory_wall(), false, run)) {
        points.push_back(each);
      }
    }
    CurveRequest request;
    request.algorithms = {"fa1", "fa2"};
    request.sm_l2 = false;
    const CurveSet set = fixtures::curves_of(points, request);
    // Equal runs coincide.
    EXPECT_EQ(set.panels.size(), 1U) << runs;
    const auto dashed = std::ranges::count_if(set.curves, [](const Curve& curve) { return curve.dashed; });
    EXPECT_EQ(dashed, runs == 2 ? 2 : 0);
  }
}

}  // namespace
}  // namespace attnscope::ui
