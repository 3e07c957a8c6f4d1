// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <QHelpEvent>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>
#include <QToolTip>
#include <algorithm>
#include <climits>
#include <cmath>
#include <map>
#include <set>

#include "kernels/algorithm.h"
#include "kernels/registry.h"
#include "tests/ui/window_test.h"
#include "ui/models/curve_series.h"
#include "ui/pages/io_curve_page.h"
#include "ui/plots/curve_style.h"
#include "ui/runs/source_note.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

class IoPageTest : public WindowTest {
 protected:
  /// The page as a window of its own, on these files.
  void show(const QStringList& files) {
    page.resize(1000, 700);
    page.show();
    for (const QString& each : files) ASSERT_EQ(workspace.open_now(each), QString());
    QApplication::processEvents();
  }
  Workspace workspace;
  IoCurvePage page{workspace};
  IoPlot* plot = page.plot();
};

/// On screen, as a click on the legend's entry finds it.
class IoLegendTest : public IoPageTest {
 protected:
  void SetUp() override {
    IoPageTest::SetUp();
    ASSERT_NO_FATAL_FAILURE(show({file}));
    resize(1000, 760);
  }
  void resize(int width, int height) {
    page.resize(width, height);
    settle();
    plot->replot();
  }
  [[nodiscard]] QCPAbstractLegendItem* item(const QString& part) const {
    for (QCPLegend* box : plot->findChildren<QCPLegend*>()) {
      for (int i = 0; i < box->itemCount(); ++i) {
        const PlotLegend::Shown* entry = plot->plot_legend().shown(box->item(i));
        if (entry != nullptr && entry->text.contains(part)) return box->item(i);
      }
    }
    return nullptr;
  }
  void click(const QString& part, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    plot->replot();
    const QCPAbstractLegendItem* found = item(part);
    ASSERT_NE(found, nullptr) << part.toStdString();
    QTest::mouseClick(plot, Qt::LeftButton, modifiers, found->rect().center());
    plot->replot();
  }
  /// Of the curves, in their order.
  [[nodiscard]] QStringList drawn() const {
    QStringList names;
    for (int i = 0; i < plot->graphCount(); ++i) {
      const QString name = plot->graph(i)->name();
      const bool is_curve =
          std::ranges::any_of(page.curves().curves, [&](const Curve& curve) { return curve.label == name; });
      if (is_curve && plot->graph(i)->visible()) names << name;
    }
    return names;
  }
};

TEST_F(IoLegendTest, AClickOnAnEntryHidesItsCurvesAndShowsThemAgain) {
  const QStringList before = drawn();
  const QCPRange view = plot->yAxis->range();
  const QStringList curves = plot->plot_legend().shown(item(QStringLiteral("DRAM · measured")))->curves;
  ASSERT_FALSE(curves.isEmpty());
  click(QStringLiteral("DRAM · measured"));
  EXPECT_EQ(plot->hidden(), std::set<QString>(curves.begin(), curves.end()));
  EXPECT_EQ(drawn().size(), before.size() - curves.size());
  for (const QString& curve : curves) EXPECT_FALSE(drawn().contains(curve));
  EXPECT_EQ(plot->yAxis->range(), view) << "what is left stays where it is";
  ASSERT_TRUE(plot->hover_at({plot->xAxis->coordToPixel(4096), 200}));
  const std::size_t read = plot->hover_content()->rows.size();
  click(QStringLiteral("DRAM · measured"));
  EXPECT_TRUE(plot->hidden().empty());
  EXPECT_EQ(drawn(), before);
  ASSERT_TRUE(plot->hover_at({plot->xAxis->coordToPixel(4096), 200}));
  EXPECT_GT(plot->hover_content()->rows.size(), read) << "the read-out follows";
}

TEST_F(IoLegendTest, WhatIsHiddenIsSaidInEveryFormOfTheLegendAndComesBackByOneClick) {
  const QStringList before = drawn();
  click(QStringLiteral("DRAM · measured"));
  const std::string hidden = std::to_string(plot->hidden().size()) + " hidden";
  for (const QSize& size : {QSize(1000, 460), QSize(1000, 700), QSize(2200, 1300)}) {
    resize(size.width(), size.height());
    EXPECT_NE(item(QString::fromStdString(hidden)), nullptr) << size.height();
  }
  click(QString::fromStdString(hidden));
  EXPECT_EQ(drawn(), before);
  EXPECT_EQ(item(QStringLiteral(" hidden")), nullptr);
}

TEST_F(IoLegendTest, CtrlAndAClickShowAnEntryAloneAndThenAll) {
  resize(1000, 460);  // the legend has room for some of its entries only
  const QStringList before = drawn();
  const QStringList curves = plot->plot_legend().shown(item(QStringLiteral("DRAM · measured")))->curves;
  click(QStringLiteral("DRAM · measured"), Qt::ControlModifier);
  EXPECT_EQ(drawn(), curves) << "theory goes as well, and what the legend has no room for";
  click(QStringLiteral("DRAM · measured"), Qt::ControlModifier);
  EXPECT_EQ(drawn(), before);
}

TEST_F(IoLegendTest, TwoQuickClicksAreTwoClicksAndKeepTheZoom) {
  plot->xAxis->setRange(1000, 3000);
  const QCPRange view = plot->xAxis->range();
  const QPoint at = item(QStringLiteral("DRAM · measured"))->rect().center();
  QTest::mouseClick(plot, Qt::LeftButton, {}, at);
  plot->replot();
  EXPECT_FALSE(plot->hidden().empty());
  QTest::mouseDClick(plot, Qt::LeftButton, {}, at);  // a click, and then a second one as a double click
  EXPECT_EQ(plot->xAxis->range(), view);
  EXPECT_FALSE(plot->hidden().empty()) << "shown and hidden again";
}

TEST_F(IoLegendTest, AClickOnTheLegendSelectsNoPoint) {
  plot->yAxis->setRange(1e10, 1e12);  // most points now lie below the axes
  plot->replot();
  QSignalSpy selected(&page, &IoCurvePage::point_selected);
  for (const PlotLegend::Shown& entry : plot->plot_legend().shown()) click(entry.text);
  EXPECT_EQ(selected.count(), 0);
}

TEST_F(IoLegendTest, AnAlgorithmIsShownAloneByCtrlAndAClick) {
  auto* chip = page.findChild<SetChip*>();
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
    QTest::mouseClick(&menu, Qt::LeftButton, Qt::ControlModifier, at);
  };
  click_on_it();
  EXPECT_TRUE(menu.isVisible()) << "several are switched in one go";
  EXPECT_EQ(chip->value(), "FA2");
  for (const Curve& curve : page.curves().curves) {
    EXPECT_TRUE(curve.name.algorithm == "fa2" || curve.name.algorithm.empty()) << curve.label.toStdString();
  }
  click_on_it();
  EXPECT_TRUE(std::ranges::any_of(page.curves().curves, [](const Curve& c) { return c.name.algorithm == "naive"; }));
  EXPECT_TRUE(fa2->isChecked());
}

TEST_F(IoPageTest, CurvesAreNamedAtTheirEnds) {
  ASSERT_NO_FATAL_FAILURE(show({file}));
  plot->replot();
  const QStringList names = plot->line_labels();
  ASSERT_FALSE(names.isEmpty());
  // Every owner has a name; one that ends before the others (naive runs out of memory) as well.
  for (const char* owner : {"Naive", "FA1", "FA2"}) {
    EXPECT_FALSE(names.filter(QString::fromLatin1(owner)).isEmpty()) << owner << names.join('|').toStdString();
  }
  // No two overlap, and none leaves the plot.
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
  page.resize(420, 700);
  settle();
  plot->replot();
  EXPECT_TRUE(plot->line_labels().isEmpty()) << "too narrow: the axes need the room";
}

TEST_F(IoPageTest, AnEndsDeviceIsNamedWhereItTellsSomethingApartAndStaysInLargeType) {
  std::vector<PointRecord> more = fixtures::memory_wall();
  for (PointRecord& record : more) {
    if (record.spec.algorithm != "fa2") continue;
    for (KernelRecord& kernel : record.kernels) {
      for (MetricValue& metric : kernel.metrics) metric.value *= metric.unit == "byte" ? 3 : 1;
    }
  }
  const QString two = folder.filePath("two.attnscope");
  fixtures::write_file(two,
                       {{"wall", fixtures::memory_wall(), false, false, "H200"}, {"wall", more, false, false, "A100"}});
  ASSERT_NO_FATAL_FAILURE(show({two}));
  const auto names = [&](const QString& part) {
    plot->replot();
    return plot->line_labels().filter(part);
  };
  EXPECT_FALSE(names("FA2 on H200").isEmpty()) << plot->line_labels().join('|').toStdString();
  EXPECT_FALSE(names("FA2 on A100 80GB").isEmpty()) << plot->line_labels().join('|').toStdString();
  EXPECT_FALSE(names("Naive").isEmpty());
  EXPECT_TRUE(names("Naive on").isEmpty()) << "both end there";
  QFont large = page.font();
  large.setPointSizeF(1.5 * large.pointSizeF());
  page.setFont(large);
  page.resize(1100, 760);
  settle();
  EXPECT_FALSE(names("FA2 on H200").isEmpty()) << plot->line_labels().join('|').toStdString();
  EXPECT_FALSE(names("FA2 on A100").isEmpty()) << plot->line_labels().join('|').toStdString();
}

TEST_F(IoPageTest, WhatIsSimulatedIsSeenAroundWhatWasMeasuredAndKeysKeepTheirSize) {
  const QString both = folder.filePath("both.attnscope");
  fixtures::write_file(both, {{"wall", fixtures::memory_wall(), false}, {"sim", fixtures::memory_wall(), true}});
  ASSERT_NO_FATAL_FAILURE(show({both}));
  page.resize(2200, 1300);
  settle();
  plot->replot();
  const auto mark_of = [&](Provenance provenance) -> double {
    for (const Curve& curve : page.curves().curves) {
      if (curve.kind != CurveKind::measured || curve.provenance != provenance || curve.name.algorithm != "fa1" ||
          curve.quantity != Quantity::dram) {
        continue;
      }
      for (int i = 0; i < plot->graphCount(); ++i) {
        if (plot->graph(i)->name() == curve.label) return plot->graph(i)->scatterStyle().size();
      }
    }
    return 0;
  };
  EXPECT_GT(mark_of(Provenance::measured), 0);
  EXPECT_GE(mark_of(Provenance::simulated), mark_of(Provenance::measured) + 4) << "a ring around it";
  // A mark of a key is as high as a plain one: nothing of it lies 6 pixels above its middle.
  const QImage picture = plot->toPixmap(plot->width(), plot->height()).toImage();
  const QRgb background = picture.pixel(2, plot->height() - 2);
  int keys = 0;
  for (QCPLegend* box : plot->findChildren<QCPLegend*>()) {
    for (int i = 0; i < box->itemCount(); ++i) {
      const PlotLegend::Shown* entry = plot->plot_legend().shown(box->item(i));
      if (entry == nullptr || !entry->text.contains("DRAM")) continue;
      const QRect at = box->item(i)->rect();
      EXPECT_EQ(picture.pixel(at.left() + 17, at.center().y() - 6), background) << entry->text.toStdString();
      ++keys;
    }
  }
  EXPECT_GT(keys, 0);
}

TEST_F(IoPageTest, TicksOfOneAxisAreWrittenInOneWay) {
  std::vector<PointRecord> records;
  for (const std::int64_t n : {2560, 3072, 3584, 4096}) {
    records.push_back(fixtures::ok_point(fixtures::spec("fa2", n)));
  }
  const QString near = folder.filePath("near.attnscope");
  fixtures::write_file(near, {{"near", records, false}});
  ASSERT_NO_FATAL_FAILURE(show({near}));
  plot->replot();
  const QVector<QString> between = plot->xAxis->tickVectorLabels();
  EXPECT_TRUE(between.contains("3584") && between.contains("4096")) << QStringList(between).join(' ').toStdString();
  EXPECT_TRUE(QStringList(between).filter("k").isEmpty());
  plot->xAxis->setRange(256, 20000);
  plot->replot();
  EXPECT_TRUE(plot->xAxis->tickVectorLabels().contains("4k")) << "powers of two";
}

TEST_F(IoPageTest, OfMoreThanThreeDevicesEachHasAColour) {
  std::vector<PointRecord> records;
  for (const char* algorithm : {"fa1", "fa2"}) {
    for (const std::int64_t n : {1024, 2048, 4096}) records.push_back(fixtures::ok_point(fixtures::spec(algorithm, n)));
  }
  std::vector<fixtures::RunOf> runs;
  for (const char* gpu : {"H200", "H100", "A100", "B200"}) runs.push_back({"wall", records, true, false, gpu});
  const QString four = folder.filePath("four.attnscope");
  fixtures::write_file(four, runs);
  const QStringList files{four};
  ASSERT_NO_FATAL_FAILURE(show(files));
  const auto colors_of = [&] {
    std::map<std::string, std::set<QRgb>> colors;
    for (const Curve& curve : page.curves().curves) {
      if (curve.kind == CurveKind::measured) {
        colors[curve.name.device].insert(curve_color(curve, plot_colors(plot->palette())).rgb());
      }
    }
    return colors;
  };
  EXPECT_EQ(page.curves().color, ColorOf::device);
  std::set<QRgb> all;
  for (const auto& [device, colors] : colors_of()) {
    EXPECT_EQ(colors.size(), 1U) << device << ": one colour, whatever the algorithm";
    all.insert(colors.begin(), colors.end());
  }
  EXPECT_EQ(all.size(), 4U);
  // What is drawn changes no colour, and theory takes none of theirs.
  const auto before = colors_of();
  workspace.set_run_visible(0, true);
  page.show_algorithm("fa1", false);
  for (const auto& [device, colors] : colors_of()) EXPECT_EQ(colors, before.at(device)) << device;
  page.set_color(ColorOf::run);
  for (const Curve& curve : page.curves().curves) {
    const bool of_nobody = curve.kind != CurveKind::measured && curve.name.device.empty();
    if (of_nobody) {
      EXPECT_EQ(curve.hue, no_hue) << curve.label.toStdString();
    }
  }
  page.show_algorithm("fa1", true);
  page.set_color(ColorOf::algorithm);
  EXPECT_EQ(page.curves().color, ColorOf::algorithm);
  for (const auto& [device, colors] : colors_of()) EXPECT_EQ(colors.size(), 2U) << device << ": FA1's and FA2's";
  page.set_color(ColorOf::run);
  EXPECT_EQ(page.curves().color, ColorOf::run);
  IoCurvePage other{workspace};
  other.restore(page.state());
  EXPECT_EQ(other.curves().color, ColorOf::run);
}

TEST_F(IoPageTest, HoverReadsEveryCurveAtTheNearestN) {
  ASSERT_NO_FATAL_FAILURE(show({file}));
  ASSERT_TRUE(plot->hover_at({plot->xAxis->coordToPixel(4096) + 3, 200}));
  ASSERT_NE(plot->hover_content(), nullptr);
  EXPECT_EQ(plot->hover_content()->title, QStringLiteral("N = 4096"));
  QString all;
  for (const HoverRow& row : plot->hover_content()->rows) all += row.label + '=' + row.value + '\n';
  EXPECT_TRUE(all.contains(QStringLiteral("FA2 · SM↔L2 · measured"))) << all.toStdString();
  EXPECT_TRUE(all.contains(QStringLiteral("1.001 × model"))) << all.toStdString();
  EXPECT_TRUE(all.contains(QStringLiteral("Compulsory minimum")));
  EXPECT_FALSE(all.contains(QStringLiteral("fit"))) << "a law is no reading";
  ASSERT_TRUE(plot->hover_at({plot->xAxis->coordToPixel(16384), 200}));
  ASSERT_EQ(plot->hover_content()->notes.size(), 2);
  EXPECT_TRUE(plot->hover_content()->notes[0].contains("132 GiB")) << "why the naive point is missing";
  EXPECT_TRUE(plot->hover_content()->notes[1].startsWith("DRAM while the kernels run")) << "no write-back was counted";
  static const QRegularExpression own_tile(QStringLiteral("^FA[12] · .* · measured · \\d+ × \\d+"));
  int tiles = 0;
  for (const HoverRow& row : plot->hover_content()->rows) tiles += own_tile.match(row.label).hasMatch() ? 1 : 0;
  EXPECT_EQ(tiles, 4) << "FA1 and FA2, both levels of bytes: each line says its own";
  EXPECT_FALSE(plot->hover_at({2, 200}));
}

TEST_F(IoPageTest, ACrossSaysWhatHappened) {
  ASSERT_NO_FATAL_FAILURE(show({file}));
  QStringList legend;
  for (int i = 0; i < plot->plottableCount(); ++i) legend << plot->plottable(i)->name();
  EXPECT_TRUE(legend.contains(QStringLiteral("Naive · could not run:\nout-of-memory")))
      << legend.join('\n').toStdString();
  const QCPItemText* words = nullptr;
  for (int i = 0; i < plot->itemCount(); ++i) {
    const auto* text = qobject_cast<QCPItemText*>(plot->item(i));
    if (text != nullptr && text->text() == "out-of-memory") words = text;
  }
  ASSERT_NE(words, nullptr);
  EXPECT_EQ(words->position->key(), 16384);
  QSignalSpy selected(&page, &IoCurvePage::point_selected);
  QTest::mouseClick(plot, Qt::LeftButton, {}, words->position->pixelPosition().toPoint());
  ASSERT_EQ(selected.count(), 1);
  EXPECT_EQ(fixtures::record_of(selected[0][0].value<ShownPoint>()).disposition, Disposition::out_of_memory);
}

TEST_F(IoPageTest, WhereSomeTilesRunTheLegendSaysHowManyDoNot) {
  std::vector<PointRecord> sweep = fixtures::tile_sweep();
  std::erase_if(sweep, [](const PointRecord& record) {
    return record.spec.algorithm != "fa2" || record.disposition == Disposition::timeout ||
           record.disposition == Disposition::incorrect;
  });
  int refused = 0;
  for (PointRecord& record : sweep) {
    if (record.spec.tile.br * record.spec.tile.bc < 192 * 192) continue;
    record = attnscope::fixtures::failed_point(record.spec, Disposition::infeasible, "too much memory");
    ++refused;
  }
  const QString tiles = folder.filePath("sweep.attnscope");
  fixtures::write_file(tiles, {{"tiles", sweep, false}});
  ASSERT_NO_FATAL_FAILURE(show({tiles}));
  page.set_axis("br");
  page.set_group("bc");
  page.set_metric("time_median_ns");
  settle();
  QStringList legend;
  for (int i = 0; i < plot->plottableCount(); ++i) legend << plot->plottable(i)->name();
  const QString words = QStringLiteral("FA2 · %1 of %2 could not run:\ninfeasible").arg(refused).arg(std::ssize(sweep));
  EXPECT_TRUE(legend.contains(words)) << legend.join('\n').toStdString();
}

TEST_F(WindowTest, TheoryAtASingleLengthIsADash) {
  const QString single = folder.filePath("single.attnscope");
  fixtures::write_file(single, {{"quick", {fixtures::ok_point(fixtures::spec("fa2", 1024))}, false}});
  Workspace workspace;
  IoCurvePage page(workspace);
  ASSERT_EQ(workspace.open_now(single), QString());
  int theory = 0;
  for (const Curve& curve : page.curves().curves) theory += curve.kind == CurveKind::measured ? 0 : 1;
  ASSERT_GE(theory, 2) << "the model and the minimum";
  for (int i = 0; i < page.plot()->graphCount(); ++i) {
    const QCPGraph& graph = *page.plot()->graph(i);
    if (!graph.scatterStyle().isNone()) continue;
    --theory;
    ASSERT_EQ(graph.data()->size(), 2) << graph.name().toStdString();
    EXPECT_LT(graph.data()->at(0)->key, 1024);
    EXPECT_GT(graph.data()->at(1)->key, 1024);
    EXPECT_EQ(graph.data()->at(0)->value, graph.data()->at(1)->value);
  }
  EXPECT_EQ(theory, 0);
}

TEST_F(IoPageTest, ThrottledPointsAreMarked) {
  std::vector<PointRecord> records;
  for (const std::int64_t n : {1024, 2048, 4096}) {
    records.push_back(fixtures::ok_point(fixtures::spec("fa2", n)));
    records.back().clocks->throttled = n == 2048;
    records.back().clocks->throttle_reasons = n == 2048 ? 4 : 0;
  }
  const QString hot = folder.filePath("hot.attnscope");
  fixtures::write_file(hot, {{"quick", records, false}});
  ASSERT_NO_FATAL_FAILURE(show({hot}));
  const auto marked = [&] {  // N of the marks that are half emptied
    QList<double> lengths;
    for (int i = 0; i < plot->graphCount(); ++i) {
      if (plot->graph(i)->name() != "Clocks throttled") continue;
      for (const QCPGraphData& data : *plot->graph(i)->data()) lengths << data.key;
    }
    return lengths;
  };
  EXPECT_TRUE(marked().isEmpty()) << "bytes do not depend on clocks";
  for (const Ordinate ordinate : {Ordinate::time, Ordinate::rate}) {
    page.set_ordinate(ordinate);
    QApplication::processEvents();
    EXPECT_EQ(marked(), QList<double>{2048});
    ASSERT_TRUE(plot->hover_at({plot->xAxis->coordToPixel(2048), 200}));
    EXPECT_TRUE(plot->hover_content()->notes.contains("Clocks throttled (power cap): FA2"))
        << plot->hover_content()->notes.join('\n').toStdString();
    EXPECT_EQ(plot->hover_content()->rows[0].mark, SampleMark::half_disc);
    ASSERT_TRUE(plot->hover_at({plot->xAxis->coordToPixel(1024), 200}));
    EXPECT_FALSE(plot->hover_content()->notes.join(' ').contains("throttled"));
  }
}

TEST_F(IoPageTest, TimesAndRatesOfPeersHaveTheirAxes) {
  const QString peers = folder.filePath("peers.attnscope");
  fixtures::write_file(peers, {{"peers", fixtures::peers(), false, true}});
  ASSERT_NO_FATAL_FAILURE(show({file, peers}));
  EXPECT_EQ(plot->yAxis->label(), "Bytes moved, all heads");
  EXPECT_EQ(page.file_stem(), "io-d128-1x132");
  const auto toggles = [&] {
    QMenu& menu = *page.findChild<FacetBar*>()->more()->menu();
    emit menu.aboutToShow();
    QStringList texts;
    for (const QAction* action : menu.actions()) {
      if (action->isCheckable() && action->isVisible()) texts << action->text();
    }
    return texts;
  };
  EXPECT_TRUE(toggles().contains("Exact model"));

  page.set_ordinate(Ordinate::time);
  QApplication::processEvents();
  EXPECT_EQ(plot->yAxis->label(), "Time [ms], median and quartiles");
  EXPECT_EQ(plot->yAxis->scaleType(), QCPAxis::stLogarithmic);
  EXPECT_EQ(page.file_stem(), "time-d128-1x132");
  EXPECT_EQ(toggles(), (QStringList{"L2 limit", "÷ theory"}));
  ASSERT_TRUE(plot->hover_at({plot->xAxis->coordToPixel(4096), 200}));
  QString all;
  SampleMark mark = SampleMark::none;
  for (const HoverRow& row : plot->hover_content()->rows) {
    all += row.label + '=' + row.value + '\n';
    if (row.label == QStringLiteral("torch-flash · time · imported")) mark = row.mark;
  }
  // 4 N² d 132 operations at 420 TFLOP/s and 9 µs more.
  EXPECT_TRUE(all.contains(QStringLiteral("torch-flash · time · imported=2.71 ms (2.65 – 2.84)"))) << all.toStdString();
  EXPECT_EQ(mark, SampleMark::diamond) << "unlike a measured or a simulated one";

  page.set_ordinate(Ordinate::rate);
  QApplication::processEvents();
  EXPECT_EQ(plot->yAxis->label(), "Compute rate [TFLOP/s]");
  EXPECT_EQ(plot->yAxis->scaleType(), QCPAxis::stLinear);
  EXPECT_EQ(plot->yAxis->range().lower, 0);
  EXPECT_GT(plot->yAxis->range().upper, 560);
  page.set_ordinate(Ordinate::bytes);
  EXPECT_EQ(plot->yAxis->scaleType(), QCPAxis::stLogarithmic);
  EXPECT_GT(plot->yAxis->range().lower, 1e6);
}

TEST_F(WindowTest, ChipsOfForeignAlgorithmsComeAndGo) {
  const QString peers = folder.filePath("peers.attnscope");
  fixtures::write_file(peers, {{"peers", fixtures::peers(), false, true}});
  Workspace workspace;
  IoCurvePage page(workspace);
  ASSERT_EQ(workspace.open_now(file), QString());
  const auto chips = [&](bool enabled_only) {
    QStringList texts;
    for (const SetChip::Item& item : page.algorithms().items()) {
      if (item.offered || !enabled_only) texts << item.text;
    }
    texts.sort();
    return texts;
  };
  // Our own are always offered, and can be pressed where they have points.
  QStringList ours;
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) ours << short_title(algorithm->name());
  ours.sort();
  EXPECT_EQ(chips(false), ours);
  EXPECT_EQ(chips(true), (QStringList{"FA1", "FA2", "Naive"}));
  ASSERT_EQ(workspace.open_now(peers), QString());
  EXPECT_EQ(chips(false), ours + QStringList({"torch-cudnn", "torch-flash"}));
  EXPECT_EQ(chips(true), (QStringList{"FA1", "FA2", "Naive"})) << "imported times are no bytes";
  const auto tip = [&] {
    for (const SetChip::Item& item : page.algorithms().items()) {
      if (item.text == "torch-flash") return item.help;
    }
    return QString();
  };
  EXPECT_TRUE(tip().contains("imported run has no bytes")) << tip().toStdString();
  page.set_ordinate(Ordinate::time);
  EXPECT_EQ(chips(true), (QStringList{"FA1", "FA2", "Naive", "torch-cudnn", "torch-flash"}));
  EXPECT_FALSE(tip().contains("has no")) << tip().toStdString();
  EXPECT_EQ(page.curves().curves.size(), 5U);
  page.show_algorithm("torch-flash", false);
  EXPECT_EQ(page.curves().curves.size(), 4U);
  workspace.close(peers);
  EXPECT_EQ(chips(false), ours);
  EXPECT_EQ(chips(true), (QStringList{"FA1", "FA2", "Naive"}));
}

TEST_F(IoPageTest, DecodingHasItsOwnAxis) {
  const QString decode = folder.filePath("decode.attnscope");
  fixtures::write_file(decode, {{"decode", fixtures::decoding(), false}});
  ASSERT_NO_FATAL_FAILURE(show({file, decode}));
  EXPECT_EQ(plot->xAxis->label(), "Sequence length N (1k = 1024)");
  EXPECT_EQ(page.options(QStringLiteral("n_q")), (QStringList{"N", "1"}));
  page.choose(QStringLiteral("n_q"), QStringLiteral("1"));
  EXPECT_EQ(plot->xAxis->label(), "Keys n_k, with n_q = 1 (1k = 1024)");
  EXPECT_EQ(page.file_stem(), "io-d128-nq1-1x16");
  ASSERT_TRUE(plot->hover_at({plot->xAxis->coordToPixel(65536), 200}));
  EXPECT_EQ(plot->hover_content()->title, "n_k = 65,536, n_q = 1");
}

TEST_F(IoPageTest, ARunAndItsSlowedCopyAreTwoSeriesUnderTheirNames) {
  std::vector<PointRecord> records = fixtures::memory_wall();
  std::erase_if(records, [](const PointRecord& record) { return record.spec.algorithm != "fa2"; });
  std::vector<PointRecord> slowed = records;
  for (PointRecord& record : slowed) {
    for (double& sample : record.kernels[0].samples_ns) sample *= 1.5;
  }
  const QString two = folder.filePath("two.attnscope");
  fixtures::write_file(two, {{"quick", records, false}, {"quick", slowed, false}});
  ASSERT_NO_FATAL_FAILURE(show({two}));
  page.set_ordinate(Ordinate::time);
  QApplication::processEvents();
  QStringList labels;
  for (const Curve& curve : page.curves().curves) labels << curve.label;
  EXPECT_EQ(labels, (QStringList{QStringLiteral("FA2 · time · measured · quick (2)"),
                                 QStringLiteral("FA2 · time · measured · quick")}));
  EXPECT_NE(plot->graph(0)->pen().color(), plot->graph(1)->pen().color()) << "the older one is paler";
  ASSERT_TRUE(plot->hover_at({plot->xAxis->coordToPixel(4096), 200}));
  ASSERT_EQ(plot->hover_content()->rows.size(), 2U);
  EXPECT_TRUE(plot->hover_content()->rows[0].label.contains("quick (2)")) << "the slower of the two";
}

TEST_F(IoPageTest, TheNewestOfTwoRunsLiesAboveTheOlderWhateverTheyAre) {
  for (const bool simulated : {false, true}) {
    const QString two = folder.filePath(simulated ? "simulated.attnscope" : "measured.attnscope");
    fixtures::write_file(two, {{"quick", fixtures::memory_wall(simulated), simulated},
                               {"quick", fixtures::memory_wall(simulated), simulated}});
    Workspace both;
    IoCurvePage shown(both);
    ASSERT_EQ(both.open_now(two), QString());
    for (const Ordinate ordinate : {Ordinate::bytes, Ordinate::time}) {
      shown.set_ordinate(ordinate);
      const IoPlot& drawn = *shown.plot();
      int newest = INT_MAX;  // the lowest layer of what the newest run drew
      for (const Curve& curve : shown.curves().curves) {
        if (curve.kind != CurveKind::measured || curve.name.age > 0) continue;
        for (int i = 0; i < drawn.plottableCount(); ++i) {
          const QCPAbstractPlottable& graph = *shown.plot()->plottable(i);
          if (graph.name() == curve.label) newest = std::min(newest, graph.layer()->index());
        }
      }
      int older = 0;
      for (int i = 0; i < drawn.plottableCount(); ++i) {
        const auto* bars = qobject_cast<QCPErrorBars*>(shown.plot()->plottable(i));
        const QCPAbstractPlottable& graph = bars == nullptr ? *shown.plot()->plottable(i) : *bars->dataPlottable();
        for (const Curve& curve : shown.curves().curves) {
          if (curve.name.age == 0 || curve.label != graph.name()) continue;
          ++older;
          EXPECT_LT(shown.plot()->plottable(i)->layer()->index(), newest) << curve.label.toStdString();
        }
      }
      EXPECT_GE(older, 3);
    }
  }
}

TEST_F(IoPageTest, TheL2GivesWayOverABandWithATickAtItsCapacity) {
  ASSERT_NO_FATAL_FAILURE(show({file}));
  const std::vector<Boundary>& boundaries = page.curves().boundaries;
  ASSERT_EQ(boundaries.size(), 2U) << "FA2 cycles through nothing";
  std::vector<const QCPItemRect*> bands;
  std::vector<const QCPItemLine*> ticks;
  QStringList texts;
  for (int i = 0; i < plot->itemCount(); ++i) {
    if (const auto* band = qobject_cast<QCPItemRect*>(plot->item(i))) bands.push_back(band);
    if (const auto* tick = qobject_cast<QCPItemLine*>(plot->item(i))) ticks.push_back(tick);
    if (const auto* text = qobject_cast<QCPItemText*>(plot->item(i))) texts << text->text();
  }
  ASSERT_EQ(bands.size(), 2U);
  ASSERT_EQ(ticks.size(), 2U);
  for (std::size_t i = 0; i < boundaries.size(); ++i) {
    EXPECT_EQ(bands[i]->topLeft->key(), boundaries[i].at.n_low);
    EXPECT_EQ(bands[i]->bottomRight->key(), boundaries[i].at.n_high);
    EXPECT_EQ(ticks[i]->start->key(), boundaries[i].at.n_nominal);
    const std::size_t other = 1 - i;
    const bool overlap =
        boundaries[other].at.n_low < boundaries[i].at.n_high && boundaries[i].at.n_low < boundaries[other].at.n_high;
    EXPECT_EQ(bands[i]->brush().style() == Qt::NoBrush, overlap) << "two fills would mix";
  }
  EXPECT_TRUE(texts.contains("FA1 leaves the L2 (60 MiB)")) << texts.join('\n').toStdString();
}

TEST_F(IoPageTest, ABandsNameStandsAlongItsOwnLine) {
  ASSERT_NO_FATAL_FAILURE(show({file}));
  plot->replot();
  std::vector<std::pair<double, double>> ends;  // of the bands, in pixels
  for (const Boundary& boundary : page.curves().boundaries) {
    ends.emplace_back(plot->xAxis->coordToPixel(boundary.at.n_low), plot->xAxis->coordToPixel(boundary.at.n_high));
  }
  ASSERT_EQ(ends.size(), 2U);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const QString owner = short_title(page.curves().boundaries[i].algorithm);
    const QCPItemText* label = nullptr;
    for (int item = 0; item < plot->itemCount(); ++item) {
      auto* text = qobject_cast<QCPItemText*>(plot->item(item));
      if (text != nullptr && text->text().startsWith(owner + " leaves the L2")) label = text;
    }
    ASSERT_NE(label, nullptr) << owner.toStdString();
    const double left = std::min(label->topLeft->pixelPosition().x(), label->bottomRight->pixelPosition().x());
    const double right = std::max(label->topLeft->pixelPosition().x(), label->bottomRight->pixelPosition().x());
    const auto away = [&](double line) { return std::max({0.0, left - line, line - right}); };
    EXPECT_LE(away(ends[i].second), 1) << owner.toStdString();
    EXPECT_GT(away(ends[1 - i].second), away(ends[i].second)) << owner.toStdString();
  }
}

TEST_F(IoPageTest, TheKeyOfALowWindowStillSaysWhoseEachColourIs) {
  const QString two = folder.filePath("two.attnscope");
  fixtures::write_file(two, {{"memory-wall", fixtures::memory_wall(), false, false, "H200"},
                             {"memory-wall", fixtures::memory_wall(), false, false, "H100"}});
  ASSERT_NO_FATAL_FAILURE(show({two}));
  page.resize(900, 470);  // what tabs, menu and status bar leave of 1024 x 600 and a panel's strip
  settle();
  plot->replot();
  ASSERT_TRUE(plot->plot_legend().is_short());
  QStringList key;
  for (const PlotLegend::Shown& entry : plot->plot_legend().shown()) key << entry.text;
  for (const char* owner : {"Naive", "FA1", "FA2"}) {
    const QString name = QString::fromLatin1(owner);
    EXPECT_EQ(key.filter(name + " on ").size(), 2) << key.join('|').toStdString();
    EXPECT_FALSE(key.contains(name)) << "the colour of one of the two, which is named";
  }
  EXPECT_TRUE(key.filter("more (hover)").isEmpty()) << key.join('|').toStdString();
}

TEST_F(IoPageTest, TheCrosshairTakesTheSelectedPointAlong) {
  ASSERT_NO_FATAL_FAILURE(show({file}));
  QSignalSpy selected(&page, &IoCurvePage::point_selected);
  plot->setFocus();
  QTest::keyClick(plot, Qt::Key_Left);
  EXPECT_EQ(selected.count(), 0) << "nothing is selected so far";
  const Curve* curve = nullptr;
  for (const Curve& candidate : page.curves().curves) {
    if (candidate.name.algorithm == "naive" && candidate.kind == CurveKind::measured) curve = &candidate;
  }
  ASSERT_NE(curve, nullptr);
  const CurvePoint& point = curve->points[4];
  const QPoint pixel(static_cast<int>(plot->xAxis->coordToPixel(point.n)),
                     static_cast<int>(plot->yAxis->coordToPixel(point.value)));
  plot->hover_at(pixel);
  QTest::mouseClick(plot, Qt::LeftButton, {}, pixel);
  QTest::keyClick(plot, Qt::Key_Left);
  ASSERT_EQ(selected.count(), 2);
  const auto now = selected[1][0].value<ShownPoint>();
  EXPECT_EQ(now.spec.algorithm, "naive");
  EXPECT_EQ(now.spec.problem.n_k, static_cast<std::int64_t>(curve->points[3].n));
}

TEST_F(IoPageTest, APictureNamesTheSourcesOfWhatItDraws) {
  const QString peers = folder.filePath("peers.attnscope");
  fixtures::write_file(peers, {{"peers", fixtures::peers(), false, true}});
  ASSERT_NO_FATAL_FAILURE(show({file, peers}));
  EXPECT_FALSE(source_note(drawn_runs(page.curves())).contains("imported")) << "imported times are no bytes";
  page.set_ordinate(Ordinate::time);
  EXPECT_TRUE(source_note(drawn_runs(page.curves())).contains("imported"));
}

TEST_F(IoPageTest, AShortLegendShowsTheRestWhereItStands) {
  ASSERT_NO_FATAL_FAILURE(show({file}));
  page.resize(900, 420);
  settle();
  const QRect box = plot->plotLayout()->elementAt(plot->plotLayout()->elementCount() - 1)->outerRect();
  QHelpEvent help(QEvent::ToolTip, box.center(), plot->mapToGlobal(box.center()));
  QApplication::sendEvent(plot, &help);
  const QString tip = QToolTip::text();
  EXPECT_TRUE(tip.contains(QStringLiteral("fit "))) << tip.toStdString();
  EXPECT_TRUE(tip.contains(QStringLiteral("in elements a head"))) << tip.toStdString();
  QToolTip::hideText();
}

TEST(CurveColours, NoTwoAlgorithmsLookAlike) {
  const auto apart = [](const QColor& a, const QColor& b) {
    const double red = (a.red() + b.red()) / 2.0;
    const double dr = a.red() - b.red();
    const double dg = a.green() - b.green();
    const double db = a.blue() - b.blue();
    // How far two colours look apart (compuphase.com/cmetric.htm); 20 is a shade.
    return std::sqrt((2 + red / 256) * dr * dr + 4 * dg * dg + (2 + (255 - red) / 256) * db * db);
  };
  const std::vector<std::string> names{"naive", "fa1", "fa2", "splitkv", "fa3", "torch-flash", "torch-cudnn"};
  for (const bool dark : {false, true}) {
    const PlotColors colors = [&] {
      apply_theme(dark ? ThemeChoice::dark : ThemeChoice::light);
      return plot_colors(QApplication::palette());
    }();
    for (std::size_t i = 0; i < names.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        for (const int shade : {0, 1}) {
          Curve a;
          a.name.algorithm = names[i];
          a.shade = shade;
          Curve b = a;
          b.name.algorithm = names[j];
          EXPECT_GT(apart(curve_color(a, colors), curve_color(b, colors)), 60)
              << names[i] << " and " << names[j] << (dark ? ", dark, shade " : ", light, shade ") << shade;
        }
      }
    }
  }
  apply_theme(ThemeChoice::light);
}

TEST(CurveColours, NoTwoSidesOfOnePlotHaveOneColourAndOneMark) {
  const PlotColors colors = plot_colors(QApplication::palette());
  for (const std::int64_t runs : {3, 9}) {
    std::vector<fixtures::GivenPoint> points = fixtures::shown(fixtures::memory_wall());
    for (std::int64_t run = 2; run <= runs; ++run) {
      for (const fixtures::GivenPoint& each : fixtures::shown(fixtures::memory_wall(true), true, run)) {
        points.push_back(each);
      }
    }
    CurveRequest request;
    request.algorithms = {"fa1", "fa2"};
    const CurveSet set = fixtures::curves_of(points, request);
    std::set<std::pair<QRgb, SampleMark>> looks;
    std::set<QRgb> simulated;
    std::size_t drawn = 0;
    for (const Curve& curve : set.curves) {
      if (curve.kind != CurveKind::measured) continue;
      ++drawn;
      const QRgb color = curve_color(curve, colors).rgb();
      looks.emplace(color, mark_of(curve));
      if (curve.provenance == Provenance::simulated) simulated.insert(color);
    }
    EXPECT_EQ(drawn, 4U * static_cast<std::size_t>(runs));
    EXPECT_EQ(looks.size(), drawn);
    for (const Curve& curve : set.curves) {
      if (curve.kind != CurveKind::measured || curve.provenance == Provenance::simulated) continue;
      EXPECT_FALSE(simulated.contains(curve_color(curve, colors).rgb())) << curve.label.toStdString();
    }
  }
}

TEST_F(IoPageTest, ATimeThatIsSimulatedIsItsModelByConstruction) {
  const QString path = folder.filePath("construction.attnscope");
  fixtures::write_file(path, {{"quick", fixtures::memory_wall(true), true}});
  ASSERT_NO_FATAL_FAILURE(show({path}));
  page.set_ordinate(Ordinate::time);
  const auto says_so = [&] { return plot->plot_legend().words().contains("by construction"); };
  settle();
  EXPECT_FALSE(says_so()) << "no theory is beside it";
  page.set_residuals(true);
  settle();
  EXPECT_TRUE(says_so());
}

TEST_F(IoPageTest, AFitThatPointsDoNotCarryIsWordsInTheLegend) {
  std::vector<PointRecord> records;
  for (const std::int64_t n : {1024, 2048, 4096}) records.push_back(fixtures::ok_point(fixtures::spec("fa2", n)));
  const QString few = folder.filePath("few.attnscope");
  fixtures::write_file(few, {{"quick", records, false}});
  ASSERT_NO_FATAL_FAILURE(show({few}));
  QStringList legend;
  for (int i = 0; i < plot->plottableCount(); ++i) legend << plot->plottable(i)->name();
  EXPECT_TRUE(legend.contains(QStringLiteral("FA2 · SM↔L2 · no fit of N²d/Br:\n3 points with N ≥ 4Br, 4 are needed")))
      << legend.join('\n').toStdString();
}

TEST_F(IoPageTest, ClickingAMarkSelectsItsPoint) {
  ASSERT_NO_FATAL_FAILURE(show({file}));
  QSignalSpy selected(&page, &IoCurvePage::point_selected);
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
  EXPECT_EQ(selected[0][0].value<ShownPoint>().spec.algorithm, "naive");
  EXPECT_EQ(selected[0][0].value<ShownPoint>().spec.problem.n_k, static_cast<std::int64_t>(point.n));
}

TEST_F(IoPageTest, DevicesAreToldApartAndTheirLimitsHideNothing) {
  const QString several = folder.filePath("several.attnscope");
  const auto runs = [](std::initializer_list<const char*> gpus) {
    std::vector<fixtures::RunOf> all;
    for (const char* gpu : gpus) all.push_back({"memory-wall", fixtures::memory_wall(), false, false, gpu});
    return all;
  };
  fixtures::write_file(several, runs({"H200", "H100", "A100"}));
  ASSERT_NO_FATAL_FAILURE(show({several}));
  std::map<std::string, std::set<QRgb>> colors;  // of an algorithm's measured curves
  std::map<std::string, std::set<std::string>> devices;
  const std::vector<Curve>& curves = page.curves().curves;
  for (const Curve& curve : curves) {
    if (curve.kind != CurveKind::measured || curve.quantity != Quantity::dram) continue;
    devices[curve.name.algorithm].insert(curve.name.device);
    for (int i = 0; i < plot->graphCount(); ++i) {
      if (plot->graph(i)->name() == curve.label)
        colors[curve.name.algorithm].insert(plot->graph(i)->pen().color().rgb());
    }
  }
  ASSERT_EQ(devices["fa1"].size(), 3U);
  for (const auto& [algorithm, shades] : colors) EXPECT_EQ(shades.size(), 3U) << algorithm;

  QList<QRectF> labels;
  for (int i = 0; i < plot->itemCount(); ++i) {
    const auto* text = qobject_cast<QCPItemText*>(plot->item(i));
    if (text == nullptr || !text->text().contains("leaves the")) continue;
    labels << QRectF(text->topLeft->pixelPosition(), text->bottomRight->pixelPosition()).normalized();
  }
  ASSERT_EQ(labels.size(), 6) << "naive and FA1 on each";
  for (qsizetype i = 0; i < labels.size(); ++i) {
    EXPECT_GT(labels[i].width(), labels[i].height()) << "lies, and can be read";
    EXPECT_TRUE(std::ranges::any_of(page.curves().boundaries, [&](const Boundary& boundary) {
      const double last = std::max(boundary.at.n_high, boundary.at.n_nominal);
      return std::abs(plot->xAxis->coordToPixel(boundary.at.n_low) - labels[i].right()) < 1 ||
             std::abs(plot->xAxis->coordToPixel(last) - labels[i].left()) < 1;
    })) << "stands beside its band and its tick, which cross no letter";
    EXPECT_TRUE(QRectF(plot->axisRect()->rect()).contains(labels[i])) << i;
    for (qsizetype j = 0; j < i; ++j) EXPECT_FALSE(labels[i].intersects(labels[j])) << i << " and " << j;
  }
}

}  // namespace
}  // namespace attnscope::ui
