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
#include "tests/ui/window_test.h"
#include "ui/models/curve_series.h"
#include "ui/pages/curves/io_curve_page.h"
#include "ui/plots/curve_style.h"
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
  [[nodiscard]] QCPAbstractLegendItem* item(const QString& part) const {
    for (QCPLegend* box : plot->findChildren<QCPLegend*>()) {
      for (int i = 0; i < box->itemCount(); ++i) {
        const PlotLegend::ShownEntry* entry = plot->plot_legend().shown(box->item(i));
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
  /// Names of the drawn curves, in order.
  [[nodiscard]] QStringList drawn() const {
    QStringList names;
    for (int i = 0; i < plot->graphCount(); ++i) {
      const QString name = plot->graph(i)->name();
      const bool is_curve = std::ranges::any_of(page.curves().curves,
                                                [&](const Curve& curve) { return to_qstring(curve.label) == name; });
      if (is_curve && plot->graph(i)->visible()) names << name;
    }
    return names;
  }
};

TEST_F(IoLegendTest, ClickTogglesTheCurvesOfAnEntry) {
  const QStringList before = drawn();
  const QCPRange view = plot->yAxis->range();
  const QStringList curves = plot->plot_legend().shown(item(QStringLiteral("DRAM · measured")))->curves;
  ASSERT_FALSE(curves.isEmpty());
  click(QStringLiteral("DRAM · measured"));
  EXPECT_EQ(plot->hidden(), std::set<QString>(curves.begin(), curves.end()));
  EXPECT_EQ(drawn().size(), before.size() - curves.size());
  for (const QString& curve : curves) EXPECT_FALSE(drawn().contains(curve));
  EXPECT_EQ(plot->yAxis->range(), view) << "other curves do not move";
  ASSERT_TRUE(plot->hover_at({plot->xAxis->coordToPixel(4096), 200}));
  const std::size_t read = plot->hover_content()->rows.size();
  click(QStringLiteral("DRAM · measured"));
  EXPECT_TRUE(plot->hidden().empty());
  EXPECT_EQ(drawn(), before);
  ASSERT_TRUE(plot->hover_at({plot->xAxis->coordToPixel(4096), 200}));
  EXPECT_GT(plot->hover_content()->rows.size(), read) << "the hover shows the curve again";
}

TEST_F(IoLegendTest, CtrlClickIsolatesAnEntry) {
  resize(1000, 460);  // The legend has room for only some of its entries.
  const QStringList before = drawn();
  const QStringList curves = plot->plot_legend().shown(item(QStringLiteral("DRAM · measured")))->curves;
  click(QStringLiteral("DRAM · measured"), Qt::ControlModifier);
  EXPECT_EQ(drawn(), curves) << "hides models, and curves without a legend entry, too";
  click(QStringLiteral("DRAM · measured"), Qt::ControlModifier);
  EXPECT_EQ(drawn(), before);
}

TEST_F(IoLegendTest, CtrlClickIsolatesAnAlgorithm) {
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
    QTest::mouseClick(&menu, Qt::LeftButton, Qt::ControlModifier, at);
  };
  click_on_it();
  EXPECT_TRUE(menu.isVisible()) << "several algorithms can be switched";
  EXPECT_EQ(chip->value(), "FA2");
  for (const Curve& curve : page.curves().curves) {
    EXPECT_TRUE(curve.name.algorithm == "fa2" || curve.name.algorithm.empty()) << curve.label;
  }
  click_on_it();
  EXPECT_TRUE(std::ranges::any_of(page.curves().curves, [](const Curve& c) { return c.name.algorithm == "naive"; }));
  EXPECT_TRUE(fa2->isChecked());
}

TEST_F(IoPageTest, LabelsCurvesAtTheirEnds) {
  ASSERT_NO_FATAL_FAILURE(show({file}));
  plot->replot();
  const QStringList names = plot->line_labels();
  ASSERT_FALSE(names.isEmpty());
  // Every owner has a label, also one that ends earlier (naive runs out of memory).
  for (const char* owner : {"Naive", "FA1", "FA2"}) {
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
  page.resize(420, 700);
  wait_until_idle();
  plot->replot();
  EXPECT_TRUE(plot->line_labels().isEmpty()) << "too narrow for labels";
}

TEST_F(IoPageTest, FourDevicesHaveDistinctColors) {
  std::vector<PointRecord> records;
  for (const char* algorithm : {"fa1", "fa2"}) {
    for (const std::int64_t n : {1024, 2048, 4096}) records.push_back(fixtures::ok_point(fixtures::spec(algorithm, n)));
  }
  std::vector<fixtures::TestRun> runs;
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
  std::set<QRgb> all;
  for (const auto& [device, colors] : colors_of()) {
    EXPECT_EQ(colors.size(), 1U) << device << ": one color for all algorithms";
    all.insert(colors.begin(), colors.end());
  }
  EXPECT_EQ(all.size(), 4U);
  // Hiding curves changes no color.
  const auto before = colors_of();
  workspace.set_run_visible(0, true);
  page.show_algorithm("fa1", false);
  for (const auto& [device, colors] : colors_of()) EXPECT_EQ(colors, before.at(device)) << device;
}

TEST_F(IoPageTest, HoverShowsAllCurvesAtTheNearestN) {
  ASSERT_NO_FATAL_FAILURE(show({file}));
  ASSERT_TRUE(plot->hover_at({plot->xAxis->coordToPixel(4096) + 3, 200}));
  ASSERT_NE(plot->hover_content(), nullptr);
  EXPECT_EQ(plot->hover_content()->title, qtext(msg::curve_plot::at_n{.n = "4096"}));
  QString all;
  for (const HoverRow& row : plot->hover_content()->rows) all += row.label + '=' + row.value + '\n';
  EXPECT_TRUE(all.contains(QStringLiteral("FA2 · SM↔L2 · measured"))) << all.toStdString();
  EXPECT_TRUE(all.contains(qtext(msg::curve_plot::times_model{.ratio = "1.001"}))) << all.toStdString();
  EXPECT_TRUE(all.contains(qtext(msg::curves::compulsory{})));
  ASSERT_TRUE(plot->hover_at({plot->xAxis->coordToPixel(16384), 200}));
  ASSERT_EQ(plot->hover_content()->notes.size(), 2);
  EXPECT_TRUE(plot->hover_content()->notes[0].contains("132 GiB")) << "the reason of the naive point";
  EXPECT_EQ(plot->hover_content()->notes[1], qtext(msg::curve_plot::no_writeback{}));
  static const QRegularExpression own_tile(QStringLiteral("^FA[12] · .* · measured · \\d+ × \\d+"));
  int tiles = 0;
  for (const HoverRow& row : plot->hover_content()->rows) tiles += own_tile.match(row.label).hasMatch() ? 1 : 0;
  EXPECT_EQ(tiles, 4) << "FA1 and FA2, both levels of bytes: each line has its tile";
  EXPECT_FALSE(plot->hover_at({2, 200}));
}

TEST_F(IoPageTest, CrossesShowTheReason) {
  ASSERT_NO_FATAL_FAILURE(show({file}));
  QStringList legend;
  for (int i = 0; i < plot->plottableCount(); ++i) legend << plot->plottable(i)->name();
  const Message outcome = title(Disposition::out_of_memory);
  EXPECT_TRUE(legend.contains("Naive · " + qtext(outcome))) << legend.join('\n').toStdString();
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
  const auto marked = [&] {  // N of the half-filled markers.
    QList<double> lengths;
    for (int i = 0; i < plot->graphCount(); ++i) {
      if (plot->graph(i)->name() != qtext(msg::curve_plot::throttled{})) continue;
      for (const QCPGraphData& data : *plot->graph(i)->data()) lengths << data.key;
    }
    return lengths;
  };
  EXPECT_TRUE(marked().isEmpty()) << "bytes do not depend on clocks";
  const QString power_cap = qtext(msg::throttle::power_cap{});
  for (const Ordinate ordinate : {Ordinate::time, Ordinate::rate}) {
    page.set_ordinate(ordinate);
    QApplication::processEvents();
    EXPECT_EQ(marked(), QList<double>{2048});
    ASSERT_TRUE(plot->hover_at({plot->xAxis->coordToPixel(2048), 200}));
    EXPECT_TRUE(plot->hover_content()->notes.contains(
        QStringLiteral("%1 (%2): FA2").arg(qtext(msg::curve_plot::throttled{}), power_cap)))
        << plot->hover_content()->notes.join('\n').toStdString();
    EXPECT_EQ(plot->hover_content()->rows[0].mark, SampleMark::half_disc);
    ASSERT_TRUE(plot->hover_at({plot->xAxis->coordToPixel(1024), 200}));
    EXPECT_FALSE(plot->hover_content()->notes.join(' ').contains(power_cap));
  }
}

TEST_F(IoPageTest, PlotsTimesAndRatesOfImportedPrograms) {
  const QString peers = folder.filePath("peers.attnscope");
  fixtures::write_file(peers, {{"peers", fixtures::peers(), false, true}});
  ASSERT_NO_FATAL_FAILURE(show({file, peers}));
  EXPECT_EQ(plot->yAxis->label(), qtext(msg::curve_plot::bytes_axis{}));
  EXPECT_EQ(page.file_stem(), "io-d128-1x132");
  const auto toggles = [&] {
    QMenu& menu = *page.findChild<FacetBar*>()->options_chip()->menu();
    emit menu.aboutToShow();
    QStringList texts;
    for (const QAction* action : menu.actions()) {
      if (action->isCheckable() && action->isVisible()) texts << action->text();
    }
    return texts;
  };
  EXPECT_TRUE(toggles().contains(qtext(msg::curve_page::model{})));

  page.set_ordinate(Ordinate::time);
  QApplication::processEvents();
  EXPECT_EQ(plot->yAxis->label(), qtext(msg::curve_plot::time_axis{}));
  EXPECT_EQ(plot->yAxis->scaleType(), QCPAxis::stLogarithmic);
  EXPECT_EQ(page.file_stem(), "time-d128-1x132");
  EXPECT_EQ(toggles(), (QStringList{qtext(msg::curve_page::l2_limit{}), qtext(msg::curve_page::residuals{})}));
  ASSERT_TRUE(plot->hover_at({plot->xAxis->coordToPixel(4096), 200}));
  QString all;
  SampleMark mark = SampleMark::none;
  for (const HoverRow& row : plot->hover_content()->rows) {
    all += row.label + '=' + row.value + '\n';
    if (row.label == QStringLiteral("torch-flash · time · imported")) mark = row.mark;
  }
  // 4 N² d 132 FLOPs at 420 TFLOP/s plus 9 µs.
  EXPECT_TRUE(all.contains(QStringLiteral("torch-flash · time · imported=2.71 ms (2.65 – 2.84)"))) << all.toStdString();
  EXPECT_EQ(mark, SampleMark::diamond) << "differs from measured and simulated points";

  page.set_ordinate(Ordinate::rate);
  QApplication::processEvents();
  EXPECT_EQ(plot->yAxis->label(), qtext(msg::curve_plot::rate_axis{}));
  EXPECT_EQ(plot->yAxis->scaleType(), QCPAxis::stLinear);
  EXPECT_EQ(plot->yAxis->range().lower, 0);
  EXPECT_GT(plot->yAxis->range().upper, 560);
  page.set_ordinate(Ordinate::bytes);
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
  page.set_ordinate(Ordinate::time);
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
  EXPECT_EQ(plot->xAxis->label(), qtext(msg::curve_plot::keys_axis{.n_q = 1}));
  EXPECT_EQ(page.file_stem(), "io-d128-nq1-1x16");
  ASSERT_TRUE(plot->hover_at({plot->xAxis->coordToPixel(65536), 200}));
  EXPECT_EQ(plot->hover_content()->title, qtext(msg::curve_plot::at_n_k{.n_k = "65,536", .n_q = 1}));
}

TEST_F(IoPageTest, ShowsTheL2BandAndCapacity) {
  ASSERT_NO_FATAL_FAILURE(show({file}));
  const std::vector<Boundary>& boundaries = page.curves().boundaries;
  ASSERT_EQ(boundaries.size(), 2U) << "FA2 rereads no data in cycles";
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
    EXPECT_EQ(bands[i]->brush().style() == Qt::NoBrush, overlap) << "overlapping fills would mix";
  }
  EXPECT_TRUE(texts.contains(qtext(msg::curve_plot::exceeds_l2{.algorithm = "FA1", .size = "60 MiB"})))
      << texts.join('\n').toStdString();
}

TEST_F(IoPageTest, CrosshairMovesTheSelectedPoint) {
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

TEST(CurveColorTest, CurvesDifferInColorOrMarker) {
  const PlotColors colors = plot_colors(QApplication::palette());
  for (const std::int64_t runs : {3, 9}) {
    std::vector<fixtures::TestPoint> points = fixtures::shown(fixtures::memory_wall());
    for (std::int64_t run = 2; run <= runs; ++run) {
      for (const fixtures::TestPoint& each : fixtures::shown(fixtures::memory_wall(true), true, run)) {
        points.push_back(each);
      }
    }
    CurveRequest request;
    request.algorithms = {"fa1", "fa2"};
    const CurveSet set = fixtures::curves_of(points, request);
    std::set<std::pair<QRgb, SampleMark>> styles;
    std::size_t drawn = 0;
    for (const Curve& curve : set.curves) {
      if (curve.kind != CurveKind::measured) continue;
      ++drawn;
      styles.emplace(curve_color(curve, colors).rgb(), mark_of(curve));
    }
    EXPECT_EQ(drawn, 4U * static_cast<std::size_t>(runs));
    EXPECT_EQ(styles.size(), drawn);
  }
}

}  // namespace
}  // namespace attnscope::ui
