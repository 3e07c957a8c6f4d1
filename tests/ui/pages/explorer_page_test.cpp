// SPDX-License-Identifier: GPL-3.0-or-later
// Explorer page: values of the model, and drawings to scale.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QAbstractItemModelTester>
#include <QApplication>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QElapsedTimer>
#include <QSignalSpy>
#include <QSlider>
#include <QTemporaryDir>
#include <QTest>
#include <QUndoStack>
#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/registry.h"
#include "messages/explorer.h"
#include "messages/explorer_page.h"
#include "messages/field.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"
#include "profiler/predict/tile_rule.h"
#include "profiler/predict/unit_utilization.h"
#include "storage/run_store.h"
#include "tests/ui/window_test.h"
#include "ui/models/result_model.h"
#include "ui/pages/explorer/cards.h"
#include "ui/pages/explorer/explorer_page.h"
#include "ui/pages/explorer/point_measurer.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

constexpr int patience_ms = 60'000;

class ExplorerPageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    page.resize(1100, 800);
    page.show();
    wait_until_idle();
  }
  void choose(const char* name, const QString& text) {
    page.edit(QString::fromLatin1(name), text, -1);
    wait_until_idle();
  }
  /// Enters a value like a user.
  void type(const char* name, int value) {
    auto* spin = page.findChild<QSpinBox*>(QString::fromLatin1(name));
    ASSERT_NE(spin, nullptr) << name;
    spin->setValue(value);
    wait_until_idle();
  }
  void wait_until_drawn() {
    QElapsedTimer timer;
    timer.start();
    while (page.has_stale_results() && timer.elapsed() < patience_ms) {
      QApplication::processEvents(QEventLoop::WaitForMoreEvents, 100);
    }
    ASSERT_FALSE(page.has_stale_results());
  }
  /// Cell by column key and row label.
  [[nodiscard]] static QString cell(const QAbstractItemModel& model, const QString& label, const QString& key) {
    for (int row = 0; row < model.rowCount(); ++row) {
      if (model.index(row, 0).data().toString() == label) return cell(model, row, key);
    }
    return QStringLiteral("no such row");
  }
  [[nodiscard]] static QString cell(const QAbstractItemModel& model, int row, const QString& key) {
    for (int column = 0; column < model.columnCount(); ++column) {
      if (model.headerData(column, Qt::Horizontal, copy_role) == key) return model.index(row, column).data().toString();
    }
    return QStringLiteral("no such column");
  }
  [[nodiscard]] QString figure(const Message& label, int configuration = 0) const {
    return cell(*page.figures()->model(), qtext(label), QStringLiteral("configuration_%1").arg(configuration));
  }
  /// Bar with this title; empty: none.
  [[nodiscard]] static BarLine line_of(const BarList& bars, const QString& title) {
    const auto line = std::ranges::find(bars.lines(), title, &BarLine::title);
    return line == bars.lines().end() ? BarLine{} : *line;
  }
  [[nodiscard]] BarLine unit_line(GpuUnit unit) const {
    return line_of(*page.time_bars(), qtext(analysis::title_of(unit)));
  }
  [[nodiscard]] QString label(const char* name) const { return page.findChild<QLabel*>(QLatin1String(name))->text(); }
  [[nodiscard]] QString time_info() const {
    return page.findChild<QWidget*>(QStringLiteral("time-info"))->accessibleDescription();
  }
  [[nodiscard]] QUndoStack& undo_stack() const { return *page.findChild<QUndoStack*>(); }
  [[nodiscard]] QStringList legend(OnChipMemory place) const {
    QStringList entries;
    for (const OnChipMap::MapGeometry::Span& span : page.on_chip()->map_geometry(place).spans) entries << span.words;
    return entries;
  }
  [[nodiscard]] QAbstractButton* button(const char* name) const {
    return page.findChild<QAbstractButton*>(QString::fromLatin1(name));
  }
  [[nodiscard]] const analysis::Exploration& exploration() const { return page.shown()->exploration; }

  const QString no_value = qtext(msg::explorer_page::no_figure{});
  Workspace workspace;
  ExplorerPage page{workspace};
};

TEST_F(ExplorerPageTest, DrawsTheBlockToScale) {
  type("br", 128);
  type("bc", 64);
  const analysis::ExploredKernel& kernel = exploration().kernels[0];
  for (const OnChipMemory place : {OnChipMemory::shared, OnChipMemory::registers}) {
    const analysis::MemoryMap& map = place == OnChipMemory::shared ? kernel.shared : kernel.registers;
    const OnChipMap::MapGeometry drawn = page.on_chip()->map_geometry(place);
    double end = drawn.sm.x();
    for (const OnChipMap::MapGeometry::Span& span : drawn.spans) {
      EXPECT_NEAR(span.rect.x(), end, 1e-6) << span.span.name;
      EXPECT_NEAR(span.rect.width() / drawn.sm.width(),
                  static_cast<double>(span.span.bytes) / static_cast<double>(map.block_bytes), 1e-9)
          << span.span.name;
      end = span.rect.right();
    }
    EXPECT_NEAR(end, drawn.sm.right(), 1e-6) << "the spans fill the block";
    ASSERT_EQ(static_cast<int>(drawn.blocks.size()), map.blocks);
    EXPECT_NEAR(drawn.blocks[0].width() / drawn.sm.width(),
                static_cast<double>(map.block_bytes) / static_cast<double>(map.sm_bytes), 1e-9);
    EXPECT_NEAR((drawn.sm.right() - drawn.blocks.back().right()) / drawn.sm.width(),
                static_cast<double>(map.free_bytes()) / static_cast<double>(map.sm_bytes), 1e-6);
  }
  EXPECT_TRUE(legend(OnChipMemory::shared).contains("Q 32 KiB"));
  EXPECT_TRUE(legend(OnChipMemory::registers).contains("O 64 KiB"));
  EXPECT_TRUE(page.on_chip()->map_geometry(OnChipMemory::shared).heading.contains("228 KiB"));
  // A pixel in the middle of K has K's color.
  page.on_chip()->resize(400, page.on_chip()->heightForWidth(400));
  const QImage image = page.on_chip()->grab().toImage();
  const auto spans = page.on_chip()->map_geometry(OnChipMemory::shared).spans;
  ASSERT_EQ(spans[1].span.name, "K");
  EXPECT_EQ(image.pixelColor((spans[1].rect.topLeft() + QPointF(4, 4)).toPoint()), spans[1].color);
}

TEST_F(ExplorerPageTest, BarsShowSharesOfTheLaunchTime) {
  const LaunchTime& time = exploration().kernels[0].time;
  const BarList& bars = *page.time_bars();
  EXPECT_EQ(bars.lines()[0].words, qtext(Nanoseconds(time.ns)));
  for (const GpuUnit unit : gpu_units) {
    const BarLine line = unit_line(unit);
    EXPECT_EQ(line.words, QString::number(100 * time.busy(unit) / time.ns, 'f', 0) + "%");
    EXPECT_NEAR(line.value / bars.lines()[0].value, time.busy(unit) / time.ns, 1e-9);
  }
  for (std::size_t i = 1; i < bars.lines().size(); ++i) {
    EXPECT_NEAR(bars.bar(i).width() / bars.bar(0).width(), bars.lines()[i].value / bars.lines()[0].value, 1e-9);
  }
  EXPECT_TRUE(bars.accessibleDescription().contains(qtext(Nanoseconds(time.ns))));
}

/// Ceilings of an open file are used as rates, with a note, until the file is closed.
TEST_F(ExplorerPageTest, UsesMeasuredRatesOfOpenFiles) {
  choose("algorithm", "naive");
  const double by_table = page.shown()->exploration.ns;
  const QString datasheet =
      qtext(msg::explorer_page::time_breakdown_note{.device = "NVIDIA H200", .measured = "NVIDIA H200"});
  const QString uuid = QString::fromStdString(fixtures::device().uuid);
  EXPECT_TRUE(time_info().contains(datasheet)) << time_info().toStdString();
  const QTemporaryDir folder;
  const QString path = folder.filePath("ceilings.attnscope");
  {
    RunStore store = RunStore::open(path.toStdString(), RunStore::Mode::collect);
    (void)store.add_ceilings(fixtures::device(), {},
                             std::vector<Ceiling>{{.name = "dram_read", .value = 4e11, .unit = "byte/s"},
                                                  {.name = "dram_copy", .value = 4e11, .unit = "byte/s"}});
  }
  ASSERT_EQ(workspace.open_blocking(path), QString());
  wait_until_idle();
  EXPECT_GT(page.shown()->exploration.ns, 2 * by_table) << "a tenth of the DRAM rate";
  EXPECT_TRUE(time_info().contains(qtext(msg::explorer_page::rates_of_dram{}))) << time_info().toStdString();
  EXPECT_TRUE(time_info().contains(uuid)) << time_info().toStdString();
  // The what-if factor applies to the measured rate, not to that of the datasheet.
  const auto dram_ns = [&] { return page.shown()->exploration.light.of(GpuUnit::dram) * page.shown()->exploration.ns; };
  const double once = dram_ns();
  type("what_if_dram", 200);
  EXPECT_NEAR(dram_ns(), once / 2, 1e-6 * once);
  EXPECT_TRUE(time_info().contains(qtext(msg::explorer_page::rates_multiplied{.factor = "2"})))
      << time_info().toStdString();
  type("what_if_dram", 100);
  workspace.close(path);
  wait_until_idle();
  EXPECT_EQ(page.shown()->exploration.ns, by_table);
  EXPECT_TRUE(time_info().contains(datasheet));
}

TEST_F(ExplorerPageTest, SlidersUpdateAllCards) {
  type("br", 128);
  const QString before = figure(msg::explorer::l2_bytes{});
  auto* slider = page.findChild<QSlider*>("br-slider");
  ASSERT_NE(slider, nullptr);
  slider->setValue(slider->value() - 4);  // Steps of 16.
  wait_until_idle();
  EXPECT_EQ(page.chosen_state().choices.point.spec.tile.br, 64);
  EXPECT_EQ(page.findChild<QSpinBox*>("br")->value(), 64);
  EXPECT_NE(figure(msg::explorer::l2_bytes{}), before);
  EXPECT_EQ(figure(msg::explorer::l2_bytes{}), qtext(Bytes(exploration().traffic.total())));
  // K is loaded once for each of 64 query tiles: 16 heads of 4096 x 128, 2 bytes each.
  EXPECT_EQ(line_of(*page.operand_bars(), "K").value, 64.0 * 16 * 4096 * 128 * 2);
  EXPECT_EQ(line_of(*page.operand_bars(), "O").pale, 16.0 * 4096 * 128 * 2) << "stored";
  EXPECT_EQ(line_of(*page.operand_bars(), "O").value, 0);
}

TEST_F(ExplorerPageTest, DrawsBytesToScale) {
  const BarList& bars = *page.operand_bars();
  const auto& operands = exploration().operands;
  const std::size_t sum = operands.size();
  const double of_byte = bars.bar(sum).width() / static_cast<double>(exploration().traffic.total());
  ASSERT_GT(of_byte, 0);
  for (std::size_t row = 0; row < sum; ++row) {
    const Traffic& moved = operands[row].traffic;
    EXPECT_EQ(bars.lines()[row].value, static_cast<double>(moved.l2_to_sm_bytes));
    EXPECT_EQ(bars.lines()[row].pale, static_cast<double>(moved.sm_to_l2_bytes));
    EXPECT_NEAR(bars.bar(row).width(), of_byte * static_cast<double>(moved.total()), 1e-6);
  }
}

TEST_F(ExplorerPageTest, RareChoicesAreFoldedAndCounted) {
  const auto shows = [&](const char* name) { return page.findChild<QWidget*>(QLatin1String(name))->isVisible(); };
  for (const char* name : {"n_k", "d", "mask", "heads_q", "br", "bc"}) EXPECT_TRUE(shows(name)) << name;
  for (const char* name : {"n_q", "dropout", "warps", "m", "what_if_dram"}) EXPECT_FALSE(shows(name)) << name;
  for (const auto* slider : page.findChildren<QSlider*>()) {
    EXPECT_GE(std::max(slider->width(), slider->minimumWidth()), 120) << slider->objectName().toStdString();
  }
  EXPECT_EQ(button("more-problem")->text(), qtext(msg::explorer_page::more{}));
  choose("dropout", "0.5");
  choose("pass", "bwd");
  EXPECT_EQ(button("more-problem")->text(), qtext(msg::explorer_page::more_set{.changed = 2}));
  button("more-problem")->click();
  wait_until_idle();
  EXPECT_TRUE(shows("dropout"));
  EXPECT_FALSE(shows("warps")) << "of the other group";
  ExplorerPage other(workspace);
  other.restore(page.state());
  EXPECT_TRUE(other.findChild<QAbstractButton*>("more-problem")->isChecked());
  EXPECT_FALSE(other.findChild<QAbstractButton*>("more-tile")->isChecked());
}

TEST_F(ExplorerPageTest, KeepsSquareProblemsSquare) {
  type("n_k", 2048);
  EXPECT_EQ(page.chosen_state().choices.point.spec.problem.n_q, 2048);
  type("n_q", 128);
  type("n_k", 1024);
  EXPECT_EQ(page.chosen_state().choices.point.spec.problem.n_q, 128);
  type("heads_q", 32);
  EXPECT_EQ(page.chosen_state().choices.point.spec.problem.heads_kv, 32);
}

TEST_F(ExplorerPageTest, InfeasiblePointShowsReasonAndNearestTile) {
  type("br", 512);
  type("bc", 512);
  ASSERT_TRUE(exploration().refusal);
  ASSERT_TRUE(exploration().nearest);
  ASSERT_TRUE(exploration().fastest);
  const analysis::MemoryMap& shared = exploration().overrun[0].shared;
  EXPECT_EQ(
      label("verdict"),
      qtext(msg::explorer_page::needs{
          .available = "227 KiB", .needed = text(Capacity(shared.needed())), .what = msg::explorer_page::of_shared{}}) +
          ' ' + qtext(msg::explorer_page::nearest{.tile = describe(exploration().nearest->tile)}) + ' ' +
          qtext(msg::explorer_page::fastest{.tile = describe(exploration().fastest->tile)}))
      << label("verdict").toStdString();
  EXPECT_EQ(shared.needed(), 512 * 128 * 2 * 3) << "Q, K and V in fp16";
  for (const QWidget* result : {page.operand_bars(), page.time_bars()}) {
    EXPECT_FALSE(result->isVisibleTo(&page)) << "replaced by the verdict";
  }
  EXPECT_EQ(figure(msg::explorer::time{}), no_value);
  EXPECT_TRUE(page.operand_bars()->lines().empty());
  ASSERT_FALSE(button("nearest")->isHidden());
  button("nearest")->click();
  wait_until_idle();
  EXPECT_FALSE(exploration().refusal);
  EXPECT_TRUE(button("nearest")->isHidden());
  const double nearest_ns = exploration().ns;
  undo_stack().undo();
  wait_until_idle();
  const Config fastest = *exploration().fastest;
  ASSERT_FALSE(button("fastest")->isHidden());
  button("fastest")->click();
  wait_until_idle();
  ASSERT_FALSE(exploration().refusal);
  EXPECT_EQ(exploration().point.spec.config(), fastest);
  EXPECT_LT(exploration().ns, nearest_ns);
  const ExplorerChoices best = page.chosen_state().choices;
  for (const Config& other : analysis::usual_tiles(*known_algorithms().find("fa2"), fastest)) {
    ExplorerChoices tried = best;
    tried.point.spec.set_config(other);
    const ExplorerResult result = compute_result(tried);
    if (!result.exploration.refusal) {
      EXPECT_GE(result.exploration.ns, exploration().ns) << describe(other);
    }
  }
  choose("algorithm", "fa3");
  choose("device", "NVIDIA A100 80GB");
  ASSERT_TRUE(exploration().refusal);
  EXPECT_TRUE(button("nearest")->isHidden()) << "no tile is feasible";
}

TEST_F(ExplorerPageTest, MPicksTheTileAndExplainsTheLimit) {
  choose("algorithm", "fa1");
  type("d", 64);
  type("m", 64);
  EXPECT_EQ(page.chosen_state().choices.point.spec.tile, (TileShape{.br = 64, .bc = 128}));
  EXPECT_EQ(page.findChild<QSpinBox*>("bc")->value(), 128);
  EXPECT_TRUE(label("rule").startsWith(qtext(msg::explorer_page::rule_of_keys{.m = 64 * 1024 / 2, .tile = "64x128"})))
      << label("rule").toStdString();
  choose("algorithm", "fa2");
  EXPECT_EQ(page.chosen_state().choices.point.spec.tile, (TileShape{.br = 128, .bc = 64})) << "Br and Bc are swapped";
  choose("pass", "bwd");
  type("m", 227);
  EXPECT_TRUE(
      label("rule").contains(text_before_arguments(msg::explorer_page::larger_m_without_effect_because{.why = "|"})))
      << label("rule").toStdString();
  type("br", 96);
  EXPECT_FALSE(page.chosen_state().choices.m_bytes) << "the rule does not apply to a tile set by hand";
  EXPECT_EQ(label("rule"), QString());
  choose("algorithm", "naive");
  type("m", 64);
  EXPECT_TRUE(label("rule").contains(qtext(msg::explorer_page::rule_not_applicable{})));
}

TEST_F(ExplorerPageTest, PaddingReducesBlocksPerSm) {
  type("br", 64);
  type("bc", 32);
  const int before = exploration().kernels[0].occupancy.blocks_per_sm;
  type("padding", 96);
  EXPECT_GT(before, 1);
  EXPECT_EQ(exploration().kernels[0].occupancy.blocks_per_sm, 1);
  EXPECT_TRUE(legend(OnChipMemory::shared).contains(qtext(msg::explorer::padding{}) + " 96 KiB"));
}

TEST_F(ExplorerPageTest, ComparesWithThePin) {
  type("br", 128);
  type("bc", 64);
  page.pin();
  wait_until_idle();
  type("br", 64);
  const QAbstractItemModel& model = *page.figures()->model();
  ASSERT_EQ(model.columnCount(), 3);
  EXPECT_EQ(model.headerData(2, Qt::Horizontal).toString(), "A · FA2 128 × 64");
  EXPECT_EQ(figure(msg::field::br{}, 0), "64") << "differing settings are listed";
  EXPECT_EQ(figure(msg::field::br{}, 1), "128");
  const auto ending = [](const Message& change) { return qtext(change).section('|', -1).trimmed(); };
  const QString better = ending(msg::explorer_page::better{.by = "|", .value = ""});
  const QString worse = ending(msg::explorer_page::worse{.by = "|", .value = ""});
  const QString faster = ending(msg::explorer_page::faster{.by = "|", .value = ""});
  const QString slower = ending(msg::explorer_page::slower{.by = "|", .value = ""});
  const double change = 100 * (exploration().ns / compute_result(*page.chosen_state().pin).exploration.ns - 1);
  EXPECT_EQ(figure(msg::explorer::time{}, 0),
            QStringLiteral("%1, +%2% %3").arg(qtext(Nanoseconds(exploration().ns))).arg(change, 0, 'g', 2).arg(slower));
  EXPECT_TRUE(figure(msg::explorer::l2_bytes{}, 0).endsWith(worse));
  EXPECT_TRUE(figure(msg::explorer::l2_intensity{}, 0).endsWith(worse)) << "a lower intensity is worse";
  EXPECT_EQ(figure(msg::explorer::nominal_flops{}, 1), figure(msg::explorer::nominal_flops{}, 0));
  for (int row = 0; row < model.rowCount(); ++row) {
    const QModelIndex cell = model.index(row, 1);
    const QVariant ink = cell.data(Qt::ForegroundRole);
    const QString text = cell.data().toString();
    const bool improved = text.endsWith(better) || text.endsWith(faster);
    EXPECT_EQ(ink.isValid(), improved || text.endsWith(worse) || text.endsWith(slower)) << "color is not the only sign";
    if (ink.isValid()) {
      EXPECT_EQ(ink.value<QColor>().blue() > ink.value<QColor>().red(), improved) << text.toStdString();
    }
  }
  button("pin")->click();
  wait_until_idle();
  EXPECT_EQ(model.headerData(2, Qt::Horizontal).toString(), "A · FA2 64 × 64") << "replaces the previous pin";
  button("unpin")->click();
  wait_until_idle();
  EXPECT_FALSE(page.chosen_state().pin);
  EXPECT_EQ(model.columnCount(), 2);
}

TEST_F(ExplorerPageTest, UndoRestoresChoicesAndPins) {
  type("br", 128);
  const ExplorerPage::State first = page.chosen_state();
  page.pin();
  wait_until_idle();
  type("d", 64);
  choose("mask", "causal");
  const ExplorerPage::State last = page.chosen_state();
  for (int i = 0; i < 3; ++i) undo_stack().undo();
  wait_until_idle();
  EXPECT_EQ(page.chosen_state(), first);
  EXPECT_EQ(page.findChild<QSpinBox*>("d")->value(), 128);
  for (int i = 0; i < 3; ++i) undo_stack().redo();
  wait_until_idle();
  EXPECT_EQ(page.chosen_state(), last);
  EXPECT_TRUE(figure(msg::explorer::time{}).startsWith(qtext(Nanoseconds(exploration().ns))))
      << figure(msg::explorer::time{}).toStdString();
}

TEST_F(ExplorerPageTest, MergesADragIntoOneUndoStep) {
  type("n_k", 4096);
  const int steps = undo_stack().count();
  auto* slider = page.findChild<QSlider*>("n_k-slider");
  slider->setSliderDown(true);
  for (int i = 0; i < 5; ++i) {
    slider->setValue(slider->value() - 1);
    wait_until_idle();
  }
  slider->setSliderDown(false);
  EXPECT_EQ(undo_stack().count(), steps + 1);
  slider->setSliderDown(true);
  slider->setValue(slider->value() + 1);
  slider->setSliderDown(false);
  EXPECT_EQ(undo_stack().count(), steps + 2) << "another drag is another step";
  undo_stack().undo();
  undo_stack().undo();
  wait_until_idle();
  EXPECT_EQ(page.chosen_state().choices.point.spec.problem.n_k, 4096);
}

TEST_F(ExplorerPageTest, RejectsInvalidChoices) {
  const ExplorerPage::State before = page.chosen_state();
  choose("mask", "windows");
  EXPECT_EQ(page.chosen_state(), before);
  EXPECT_FALSE(label("mask-error").isEmpty());
  choose("mask", "causal");
  EXPECT_TRUE(label("mask-error").isEmpty());
}

TEST_F(ExplorerPageTest, RestoresNonSquareProblems) {
  type("n_k", 16384);
  type("n_q", 4096);
  ASSERT_EQ(page.chosen_state().choices.point.spec.problem.n_q, 4096);
  ExplorerPage other(workspace);
  other.restore(page.state());
  wait_until_idle();
  EXPECT_EQ(other.chosen_state(), page.chosen_state());
  (void)other.explore(page.chosen_state().choices.point.spec,
                      QString::fromStdString(page.chosen_state().choices.device));
  wait_until_idle();
  EXPECT_EQ(other.chosen_state().choices.point.spec.problem, page.chosen_state().choices.point.spec.problem);
  // Larger values would overflow.
  QJsonObject state = page.state();
  QJsonObject choices = state["choices"].toObject();
  choices["padding"] = "9223372036854775807";
  state["choices"] = choices;
  other.restore(state);
  wait_until_idle();
  EXPECT_EQ(other.chosen_state().choices.point.padding_bytes, 0);
}

TEST_F(ExplorerPageTest, RestoresTheState) {
  choose("algorithm", "fa3");
  type("stages", 2);
  choose("mask", "causal");
  type("d", 64);
  page.pin();
  wait_until_idle();
  choose("device", "NVIDIA H100 SXM");
  type("padding", 8);
  const QJsonObject state = page.state();
  ExplorerPage other(workspace);
  other.restore(state);
  wait_until_idle();
  EXPECT_EQ(other.chosen_state(), page.chosen_state());
  EXPECT_EQ(other.state(), state);
  // Invalid or unknown entries are ignored.
  QJsonObject odd = state;
  QJsonObject choices = odd["choices"].toObject();
  choices["mask"] = "nonsense";
  choices["d"] = 12;
  choices["of_later"] = "7";
  choices["device"] = "a toaster";
  odd["choices"] = choices;
  odd["pin"] = "two";
  other.restore(odd);
  wait_until_idle();
  EXPECT_EQ(other.chosen_state().choices.point.spec.problem.mask, Mask::causal);
  EXPECT_EQ(other.chosen_state().choices.device, "NVIDIA H100 SXM");
  EXPECT_EQ(other.chosen_state().pin, page.chosen_state().pin);
}

TEST_F(ExplorerPageTest, ComputesBlockMasksInTheBackground) {
  for (const char* mask : {"blocks:128:butterfly", "blocks:128:stride4", "blocks:256:random25"}) {
    page.edit("mask", mask, -1);
    QApplication::processEvents();
    EXPECT_TRUE(page.has_stale_results());
  }
  wait_until_drawn();
  EXPECT_EQ(exploration().point.spec.problem.mask, *parse_mask("blocks:256:random25"));
  EXPECT_EQ(figure(msg::explorer::time{}), qtext(Nanoseconds(exploration().ns)));
}

TEST_F(ExplorerPageTest, ShowsAGivenPoint) {
  PointSpec spec = fixtures::spec("fa1", 2048, 64, 128, 64);
  spec.problem.mask = Mask::causal;
  EXPECT_TRUE(page.explore(spec, "NVIDIA A100 80GB"));
  wait_until_idle();
  EXPECT_EQ(page.chosen_state().choices.point.spec, spec);
  EXPECT_EQ(page.chosen_state().choices.device, "NVIDIA A100 80GB");
  undo_stack().undo();
  wait_until_idle();
  EXPECT_EQ(page.chosen_state().choices.point.spec.algorithm, "fa2");
}

TEST_F(ExplorerPageTest, KeepsTheChosenGpuForPointsOfUnknownGpus) {
  const std::string before = page.chosen_state().choices.device;
  EXPECT_FALSE(page.explore(fixtures::spec("fa2", 1024, 64, 64, 64), "NVIDIA Imaginary 1"));
  wait_until_idle();
  EXPECT_EQ(page.chosen_state().choices.device, before);
  EXPECT_EQ(page.chosen_state().choices.point.spec.problem.n_k, 1024);
}

TEST_F(ExplorerPageTest, UsesRecordedLimitsOfAnUnlistedGpu) {
  const QTemporaryDir folder;
  const QString path = folder.filePath("unlisted.attnscope");
  const PointSpec spec = fixtures::spec("fa2", 1024, 64, 64, 64);
  RunHeader header;
  header.device.limits = *find_gpu("A100 80GB");
  header.device.limits.name = "NVIDIA Unlisted 7";
  header.device.uuid = "GPU-7";
  header.preset = header.plan_hash = "custom";
  header.argv = {"attnscope", "collect"};
  header.planned_points = 1;
  {
    RunStore store = RunStore::open(path.toStdString(), RunStore::Mode::collect);
    const std::int64_t run = store.begin_run(header);
    store.add_point(run, 0, fixtures::ok_point(spec));
    store.finish_run(run, StoredRunState::complete);
  }
  ASSERT_EQ(workspace.open_blocking(path), QString());
  EXPECT_TRUE(page.explore(spec, "NVIDIA Unlisted 7"));
  wait_until_idle();
  EXPECT_EQ(page.chosen_state().choices.device, "NVIDIA Unlisted 7");
  EXPECT_EQ(exploration().device, "NVIDIA Unlisted 7");
  EXPECT_EQ(limits_of(page.chosen_state().choices).sm_count, find_gpu("A100 80GB")->sm_count);
  const auto combos = page.findChildren<QComboBox*>();
  EXPECT_TRUE(std::ranges::any_of(
      combos, [](const QComboBox* combo) { return combo->currentText() == QLatin1String("NVIDIA Unlisted 7"); }));
  page.edit("device", "NVIDIA H200", -1);
  page.edit("device", "NVIDIA Unlisted 7", -1);
  wait_until_idle();
  EXPECT_EQ(page.chosen_state().choices.device, "NVIDIA Unlisted 7") << "chosen by hand";
}

/// The recorded values of the same point in an open file are shown.
TEST_F(ExplorerPageTest, ShowsRecordedValuesOfThePoint) {
  const QTemporaryDir folder;
  const QString path = folder.filePath("recorded.attnscope");
  const PointSpec spec = exploration().point.spec;
  PointRecord record;
  record.spec = spec;
  record.kernels = {{.kernel = "all", .metrics = {}, .samples_ns = {4e5}, .occupancy_limiter = {}}};
  record.kernels.front().metrics = {{"tensor_pipe_pct", 51, "percent", Provenance::measured},
                                    {"dram_read_bytes", 9.6e10 * 4e-4, "byte", Provenance::measured},
                                    {"dram_write_bytes", 0, "byte", Provenance::measured}};
  PointRecord dropped = record;  // Newer, with dropout.
  dropped.spec.problem.dropout = 0.25;
  dropped.kernels.front().samples_ns = {9e5};
  fixtures::write_file(path, {{"quick", {record, dropped}}});
  ASSERT_EQ(workspace.open_blocking(path), QString());
  wait_until_idle();
  EXPECT_EQ(measured_time(*page.time_bars()), qtext(Nanoseconds(4e5)));
  const double error = 100 * (exploration().ns / 4e5 - 1);
  EXPECT_EQ(label("measuring"), qtext(msg::explorer_page::measured_and_predicted{
                                    .change = QStringLiteral("%1%2%")
                                                  .arg(error < 0 ? QStringLiteral("−") : QStringLiteral("+"))
                                                  .arg(std::abs(error), 0, 'f', 1)
                                                  .toStdString(),
                                    .predicted = text(Nanoseconds(exploration().ns)),
                                    .provenance = "measured",
                                    .time = text(Nanoseconds(4e5))}));
  EXPECT_EQ(unit_line(GpuUnit::tensor).note, qtext(msg::explorer_page::use_while_active{.percent = "51"}));
  EXPECT_EQ(unit_line(GpuUnit::dram).note, qtext(msg::explorer_page::use{.percent = "2"})) << "96 GB/s of 4.8 TB/s";
  type("br", 64);
  EXPECT_EQ(measured_time(*page.time_bars()), QString());
  type("br", spec.tile.br);
  EXPECT_EQ(measured_time(*page.time_bars()), qtext(Nanoseconds(4e5)));
  choose("device", "NVIDIA A100 80GB");
  EXPECT_EQ(measured_time(*page.time_bars()), QString()) << "of another GPU";
}

TEST_F(ExplorerPageTest, ShowsEachKernel) {
  choose("algorithm", "naive");
  auto* kernel = page.findChild<QComboBox*>("kernel");
  ASSERT_EQ(kernel->count(), 3);
  EXPECT_FALSE(kernel->isHidden());
  kernel->setCurrentIndex(0);
  emit kernel->activated(0);
  EXPECT_EQ(page.time_bars()->lines()[0].words, qtext(Nanoseconds(exploration().kernels[0].time.ns)));
  EXPECT_TRUE(legend(OnChipMemory::registers).contains("S 64 KiB") ||
              legend(OnChipMemory::registers)[0].startsWith("S "));
  const std::string all_launches = text(Nanoseconds(exploration().ns));
  EXPECT_TRUE(time_info().startsWith(qtext(msg::explorer_page::of_kernel{.kernel = "qk", .time = all_launches})));
  choose("algorithm", "fa2");
  EXPECT_TRUE(kernel->isHidden());
  EXPECT_FALSE(time_info().contains(QString::fromStdString(all_launches)));
}

TEST_F(ExplorerPageTest, ModelsPassTheQtModelTester) {
  const QAbstractItemModelTester figures(page.figures()->model());
  page.pin();
  wait_until_idle();
  type("br", 64);
  type("br", 512);
  type("bc", 512);
  undo_stack().undo();
  wait_until_idle();
}

/// Name of a known local GPU; empty until one is found, which happens after the simulated devices are listed.
QString gpu_of(const PointMeasurer& measurer) {
  for (const DeviceLimits& known : known_gpus()) {
    for (const ListedDevice& device : measurer.devices_of(known.name)) {
      if (!device.simulated) return QString::fromStdString(known.name);
    }
  }
  return {};
}

bool has_gpu_driver() {
  void* driver = ::dlopen("libcuda.so.1", RTLD_LAZY);
  if (driver != nullptr) ::dlclose(driver);
  return driver != nullptr;
}

/// The real program on the simulated device.
class ExplorerMeasuringTest : public ExplorerPageTest {
 protected:
  void SetUp() override {
    qputenv("ATTNSCOPE_COLLECTOR", ATTNSCOPE_COMMAND_PROGRAM);
    ExplorerPageTest::SetUp();
    page.measurement_card().measurer().set_database(file);
    QSignalSpy found(&page.measurement_card().measurer(), &PointMeasurer::devices_changed);
    page.measurement_card().measurer().find_devices();
    if (page.measurement_card().measurer().devices_of(page.chosen_state().choices.device).empty())
      (void)found.wait(patience_ms);
    type("n_k", 512);
    wait_until_idle();
  }
  void TearDown() override { qunsetenv("ATTNSCOPE_COLLECTOR"); }
  bool wait_for_answers() {
    return QTest::qWaitFor([this] { return page.measurement_card().measurer().open() == 0; }, patience_ms);
  }
  /// Measures the chosen point on a real or fake GPU.
  void expect_counted_uses() {
    EXPECT_FALSE(page.findChild<QComboBox*>("measures-on")->currentData().toString().startsWith("simulated"));
    button("measure")->click();
    ASSERT_TRUE(wait_for_answers());
    const auto record = page.measurement_card().measurer().record_of(page.chosen_state().choices);
    ASSERT_NE(record, nullptr) << label("measuring").toStdString();
    EXPECT_EQ(record->disposition, Disposition::ok) << text(record->reason);
    EXPECT_EQ(record->provenance, Provenance::measured);
    EXPECT_EQ(measured_time(*page.time_bars()),
              qtext(Nanoseconds(evaluate(metric_key::time_median_ns, *record, "all")->value)));
    for (const GpuUnit unit : gpu_units) {
      const auto use = analysis::counted_utilization(unit, *record);
      ASSERT_TRUE(use) << to_string(unit);
      EXPECT_EQ(unit_line(unit).note,
                qtext(msg::explorer_page::use{.percent = QString::number(*use, 'f', 0).toStdString()}));
    }
  }

  QTemporaryDir folder;
  QString file = folder.filePath("explored.attnscope");
};

TEST_F(ExplorerMeasuringTest, ShowsMeasuredAndPredictedTime) {
  ASSERT_TRUE(button("measure")->isEnabled());
  const bool simulates = page.findChild<QComboBox*>("measures-on")->currentData().toString().startsWith("simulated");
  const Message verb = simulates ? Message(msg::explorer_page::simulate{}) : msg::explorer_page::measure{};
  EXPECT_EQ(button("measure")->text(), qtext(verb));
  const PointSpec spec = page.chosen_state().choices.point.spec;
  button("measure")->click();
  EXPECT_TRUE(button("cancel-measuring")->isEnabled());
  ASSERT_TRUE(wait_for_answers());
  ASSERT_EQ(page.measurement_card().measurer().points().size(), 1U);
  const MeasuredPoint& point = page.measurement_card().measurer().points()[0];
  EXPECT_EQ(point.event.spec, spec);
  EXPECT_EQ(outcome_label(point),
            qtext(msg::explorer_page::measured_time{.provenance = "simulated",
                                                    .time = text(Nanoseconds(point.event.time_median_ns))}));
  // The stored record is shown with the time shares; unit utilization was not counted.
  const auto record = page.measurement_card().measurer().record_of(page.chosen_state().choices);
  ASSERT_NE(record, nullptr);
  EXPECT_EQ(measured_time(*page.time_bars()), qtext(Nanoseconds(point.event.time_median_ns)));
  EXPECT_EQ(unit_line(GpuUnit::tensor).note, QString());
  EXPECT_EQ(label("measuring"),
            qtext(msg::explorer_page::measured_and_predicted{.change = "+0.0%",
                                                             .predicted = text(Nanoseconds(exploration().ns)),
                                                             .provenance = "simulated",
                                                             .time = text(Nanoseconds(point.event.time_median_ns))}) +
                ". " + qtext(msg::explorer_page::by_construction{}));
  // The open file has the point, and its run is complete although the collector waits for more.
  ASSERT_TRUE(QTest::qWaitFor(
      [this] {
        return workspace.visible()->size() == 1 && workspace.runs()[0].info->summary.state == StoredRunState::complete;
      },
      patience_ms));
  EXPECT_FALSE(workspace.runs()[0].info->summary.finished_at.empty());
}

TEST_F(ExplorerMeasuringTest, SweepsTheRequestedDistance) {
  auto* steps = page.findChild<QSpinBox*>("around-steps");
  ASSERT_NE(steps, nullptr);
  steps->setValue(1);
  button("around")->click();
  EXPECT_EQ(page.measurement_card().measurer().points().size(), 9U) << "one step in each direction of Br and Bc";
  ASSERT_TRUE(wait_for_answers());
  ExplorerPage other(workspace);
  other.restore(page.state());
  EXPECT_EQ(other.measurement_card().steps().value(), 1);
}

TEST_F(ExplorerMeasuringTest, ShowsCountedUtilizationPerUnit) {
  PointMeasurer& measurer = page.measurement_card().measurer();
  if (!has_gpu_driver() || !QTest::qWaitFor([&] { return !gpu_of(measurer).isEmpty(); }, patience_ms)) {
    GTEST_SKIP() << "no known GPU on this machine";
  }
  const QString gpu = gpu_of(measurer);
  choose("device", gpu);
  type("n_k", 8192);
  expect_counted_uses();
}

#ifdef ATTNSCOPE_FAKE_GPU_LIBRARY
/// The real program with a fake GPU library.
class ExplorerFakeGpuTest : public ExplorerMeasuringTest {
 protected:
  void SetUp() override {
    for (const char* name : libraries) qputenv(name, ATTNSCOPE_FAKE_GPU_LIBRARY);
    qputenv("ATTNSCOPE_FAKE_GPU", "name=NVIDIA H200,compute-output");
    qputenv("ATTNSCOPE_CACHE_DIR", QFile::encodeName(folder.filePath("cubins")));
    ExplorerMeasuringTest::SetUp();
  }
  void TearDown() override {
    for (const char* name : libraries) qunsetenv(name);
    qunsetenv("ATTNSCOPE_CACHE_DIR");
    qunsetenv("ATTNSCOPE_FAKE_GPU");
    ExplorerMeasuringTest::TearDown();
  }
  static constexpr std::array libraries{"ATTNSCOPE_CUDA_LIBRARY", "ATTNSCOPE_NVRTC_LIBRARY", "ATTNSCOPE_CUPTI_LIBRARY",
                                        "ATTNSCOPE_NVML_LIBRARY"};
};

TEST_F(ExplorerFakeGpuTest, SelectsAFoundGpuUnlessTheUserChose) {
  PointMeasurer& measurer = page.measurement_card().measurer();
  ASSERT_TRUE(QTest::qWaitFor([&] { return !gpu_of(measurer).isEmpty(); }, patience_ms));
  choose("device", gpu_of(measurer));
  auto* devices = page.findChild<QComboBox*>("measures-on");
  EXPECT_EQ(devices->currentData().toString(), "0");
  const int simulated = devices->count() - 1;
  ASSERT_GT(simulated, 0);
  devices->setCurrentIndex(simulated);
  emit devices->activated(simulated);
  measurer.find_devices();
  emit measurer.devices_changed();
  EXPECT_EQ(devices->currentData().toString(), "simulated:H200");
  choose("device", "NVIDIA A100 80GB");
  EXPECT_EQ(devices->currentData().toString(), "simulated:A100 80GB");
  choose("device", gpu_of(measurer));
  EXPECT_EQ(devices->currentData().toString(), "0") << "chosen once for another GPU";
}

#endif

TEST_F(ExplorerMeasuringTest, HidesMeasurementsOfOtherPoints) {
  button("measure")->click();
  ASSERT_TRUE(wait_for_answers());
  EXPECT_FALSE(measured_time(*page.time_bars()).isEmpty());
  type("d", 64);
  EXPECT_EQ(measured_time(*page.time_bars()), QString());
  undo_stack().undo();
  type("padding", 8);
  EXPECT_EQ(measured_time(*page.time_bars()), QString()) << "nothing was measured with padding";
  undo_stack().undo();
  wait_until_idle();
  EXPECT_FALSE(measured_time(*page.time_bars()).isEmpty());
}

TEST_F(ExplorerMeasuringTest, SweepsAroundInTheBackground) {
  button("around")->click();
  type("d", 64);
  EXPECT_EQ(page.chosen_state().choices.point.spec.problem.d, 64);
  EXPECT_FALSE(page.has_stale_results()) << "the page stays usable";
  ASSERT_TRUE(wait_for_answers());
  const auto& points = page.measurement_card().measurer().points();
  ASSERT_GT(points.size(), 20U);
  EXPECT_TRUE(std::all_of(points.begin(), points.end(), [](const MeasuredPoint& p) {
    return p.state == MeasuredPoint::State::finished && p.choices.point.spec.problem.d == 128;
  }));
  ASSERT_TRUE(QTest::qWaitFor([&] { return workspace.visible()->size() == points.size(); }, patience_ms));
}

TEST_F(ExplorerMeasuringTest, CancelsPendingPoints) {
  type("n_k", 16384);  // Long enough that some are pending when they are cancelled.
  wait_until_idle();
  button("around")->click();
  button("cancel-measuring")->click();
  ASSERT_TRUE(wait_for_answers());
  const auto& points = page.measurement_card().measurer().points();
  ASSERT_GT(points.size(), 1U);
  EXPECT_TRUE(std::any_of(points.begin(), points.end(),
                          [](const MeasuredPoint& p) { return p.state == MeasuredPoint::State::cancelled; }))
      << static_cast<int>(points[0].state) << points[0].why.toStdString() << points[0].event.disposition;
  EXPECT_FALSE(button("cancel-measuring")->isEnabled());
  EXPECT_TRUE(button("measure")->isEnabled());
}

TEST_F(ExplorerMeasuringTest, DisablesMeasuringOfUnsupportedPoints) {
  type("padding", 8);
  EXPECT_FALSE(button("measure")->isEnabled());
  EXPECT_EQ(page.findChild<QLabel*>("measuring")->text(), qtext(msg::explorer_page::padding_is_modeled{}));
  type("padding", 0);
  type("br", 512);
  type("bc", 512);
  EXPECT_FALSE(button("measure")->isEnabled());
}

TEST_F(ExplorerMeasuringTest, ReportsACollectorFailure) {
  qputenv("ATTNSCOPE_COLLECTOR", "/bin/false");
  button("measure")->click();
  ASSERT_TRUE(wait_for_answers());
  EXPECT_EQ(page.measurement_card().measurer().points()[0].state, MeasuredPoint::State::refused);
  EXPECT_FALSE(page.findChild<QLabel*>("measuring")->text().isEmpty());
}

}  // namespace
}  // namespace attnscope::ui
