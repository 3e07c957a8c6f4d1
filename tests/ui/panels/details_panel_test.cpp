// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <QClipboard>
#include <QDockWidget>
#include <QGuiApplication>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QTextDocument>
#include <algorithm>
#include <string_view>
#include <utility>

#include "messages/common.h"
#include "messages/details.h"
#include "messages/fact.h"
#include "messages/field.h"
#include "messages/occupancy.h"
#include "messages/throttle.h"
#include "messages/tile_map.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/command_text.h"
#include "profiler/predict/explored_tables.h"
#include "profiler/predict/unit_utilization.h"
#include "profiler/tilemap/tile_map.h"
#include "tests/ui/window_test.h"
#include "ui/pages/explorer/explorer_page.h"
#include "ui/panels/details_panel.h"
#include "ui/panels/point_summary.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

TEST_F(WindowTest, DetailsShowTheProvenanceOfEveryNumber) {
  const auto points = fixtures::shown({fixtures::ok_point(fixtures::spec("naive", 1024))});
  const QString html = describe_point_html(points[0], QPalette());
  for (const QString& text :
       {metric_label("model_l2_to_sm_bytes"), qtext(msg::details::limited_by{}), QStringLiteral("1980 MHz"),
        qtext(msg::details::kernel{.kernel = "qk"}), qtext(msg::details::kernel{.kernel = "pv"})}) {
    EXPECT_TRUE(html.contains(text)) << text.toStdString();
  }
  const std::pair<QString, Provenance> rows[] = {{metric_label(metric_key::tflops), Provenance::derived},
                                                 {metric_label(metric_key::time_spread), Provenance::measured},
                                                 {qtext(msg::fact::max_abs_error{}), Provenance::measured},
                                                 {qtext(msg::fact::error_bound{}), Provenance::modeled},
                                                 {qtext(msg::fact::rms_error{}), Provenance::measured},
                                                 {qtext(msg::fact::sm_clock_hz{}), Provenance::measured},
                                                 {qtext(msg::fact::memory_clock_hz{}), Provenance::measured},
                                                 {qtext(msg::fact::temperature_c{}), Provenance::measured},
                                                 {qtext(msg::fact::power_w{}), Provenance::measured}};
  for (const auto& [label, provenance] : rows) {
    const qsizetype at = html.indexOf(QStringLiteral("<td>%1</td>").arg(label));
    ASSERT_GE(at, 0) << label.toStdString();
    const QString row = html.mid(at, html.indexOf(QStringLiteral("</tr>"), at) - at);
    EXPECT_EQ(row.contains(to_qstring(provenance)), provenance != Provenance::measured) << row.toStdString();
  }
  const Message usual = msg::details::origin{.device = "NVIDIA H200", .provenance = title(Provenance::measured)};
  EXPECT_TRUE(html.contains(qtext(usual))) << "the others are measured";
}

TEST_F(WindowTest, DetailsShowTheBottleneck) {
  PointRecord record = fixtures::ok_point(fixtures::spec("fa2", 1024));
  const QString without = describe_point_html(fixtures::shown({record})[0], QPalette());
  const QString heading = qtext(msg::details::unit_utilization_of_range{});
  EXPECT_FALSE(without.contains(heading));
  EXPECT_FALSE(without.contains(qtext(msg::details::stalls{})));
  for (const auto& [key, value] :
       {std::pair{"dram_utilization_pct", 12.0}, std::pair{"xu_utilization_pct", 83.5},
        std::pair{"shared_wavefronts", 400.0}, std::pair{"shared_bank_conflicts", 100.0}, std::pair{"stall_wait", 0.5},
        std::pair{"stall_long_scoreboard", 3.25}, std::pair{"stall_barrier", 0.25}, std::pair{"stall_membar", 0.125}}) {
    record.kernels[0].metrics.push_back({key, value, std::string(find_metric(key)->unit), Provenance::measured});
  }
  QTextDocument document;
  document.setHtml(describe_point_html(fixtures::shown({record})[0], QPalette()));
  const QString text = document.toPlainText();
  const auto row = [](std::string_view key, const char* value, const char* provenance) {
    const QString label = find_metric(key)->is_share_of_cycles() ? qtext(find_metric(key)->label()) : metric_label(key);
    const QString origin = provenance == std::string_view("measured") ? QString() : QStringLiteral(" ") + provenance;
    return QStringLiteral("%1\n%2%3\n").arg(label, QLatin1String(value), origin);
  };
  EXPECT_TRUE(text.contains(heading + "\n" + row("xu_utilization_pct", "83.5%", "measured") +
                            row("dram_utilization_pct", "12%", "measured") +
                            row(metric_key::shared_conflict_share, "25%", "derived") + qtext(msg::details::stalls{}) +
                            "\n" + row("stall_long_scoreboard", "3.25", "measured") +
                            row("stall_wait", "0.500", "measured") + row("stall_barrier", "0.250", "measured")))
      << text.toStdString();
  EXPECT_FALSE(text.contains(metric_label("stall_membar"))) << "only the top three are shown";
  EXPECT_FALSE(text.contains("xu_utilization_pct")) << "no counter is shown twice";
}

TEST_F(WindowTest, DetailsOfADecodingPointShowAllSettings) {
  PointSpec spec = fixtures::decode_spec("fa2", 4096);
  PointRecord record = fixtures::ok_point(spec);
  record.spec.problem.page = 256;
  record.spec.problem.dropout = 0.25;
  record.spec.problem.deterministic = true;
  record.spec.knobs.set("splits", std::int64_t{8});
  record.spec.knobs.set("warps", std::int64_t{4});
  QTextDocument document;
  document.setHtml(describe_point_html(fixtures::shown({record})[0], QPalette()));
  const QString text = document.toPlainText();
  const std::pair<Message, QString> rows[] = {{msg::details::lengths{}, QStringLiteral("1 × 4096")},
                                              {msg::field::pass{}, "fwd"},
                                              {msg::field::mask{}, "full"},
                                              {msg::field::dtype{}, "fp16"},
                                              {msg::field::dropout{}, "0.25"},
                                              {msg::field::page{}, "256"},
                                              {msg::field::deterministic{}, "yes"},
                                              {msg::details::tile{}, format_tile(record.spec.config())},
                                              {msg::field::cache{}, "cold"}};
  for (const auto& [label, value] : rows) {
    EXPECT_TRUE(text.contains(qtext(label) + '\n' + value + '\n')) << label << "\n" << text.toStdString();
  }
}

TEST_F(WindowTest, DetailsShowTheKernels) {
  PointRecord record = fixtures::ok_point(fixtures::spec("fa2", 1024));
  const QString heading = qtext(msg::details::launch_section{});
  EXPECT_FALSE(describe_point_html(fixtures::shown({record})[0], QPalette()).contains(">" + heading + "<"));
  record.kernels[0].launch = LaunchRecord{.kernel = "fwd",
                                          .source_file = "fa2/fa2_forward.cuh",
                                          .entry = "attn_fa2_forward",
                                          .defines = {"ATTN_BR=128", "ATTN_WARPS=4"},
                                          .digest = "0f",
                                          .threads = 128,
                                          .grid = {8, 16, 1}};
  QTextDocument document;
  document.setHtml(describe_point_html(fixtures::shown({record})[0], QPalette()));
  const QString text = document.toPlainText();
  const QString launch =
      qtext(msg::details::launch{.options = "ATTN_BR=128 ATTN_WARPS=4", .threads = 128, .x = 8, .y = 16, .z = 1});
  EXPECT_TRUE(text.contains(heading + "\nfwd\nattn_fa2_forward fa2/fa2_forward.cuh\n" + launch)) << text.toStdString();
}

TEST_F(WindowTest, DetailsOfAnImportedPointShowItsSource) {
  const QString html = describe_point_html(fixtures::shown(fixtures::peers())[0], QPalette());
  QTextDocument document;
  document.setHtml(html);
  const QString text = document.toPlainText();
  EXPECT_TRUE(text.startsWith("torch-flash\n")) << text.toStdString();
  EXPECT_TRUE(text.contains(qtext(msg::common::not_stated{}))) << "the tile";
  EXPECT_TRUE(text.contains("imported"));
  EXPECT_FALSE(text.contains("measured")) << text.toStdString();
  EXPECT_FALSE(text.contains("derived")) << text.toStdString();
  EXPECT_FALSE(text.contains(qtext(msg::details::samples{})));
  EXPECT_FALSE(text.contains(qtext(msg::details::bytes{}))) << "no heading without a row";
}

/// Summaries of points of a file.
class PointSummaryTest : public OpenedWindowTest {
 protected:
  [[nodiscard]] const PointSet& points() const { return *points_; }
  void SetUp() override {
    OpenedWindowTest::SetUp();
    points_ = window.workspace().visible();
  }
  void reopen(const std::vector<PointRecord>& records) {
    window.workspace().close(file);
    const QString path = folder.filePath(QStringLiteral("own-%1.attnscope").arg(++files_));
    fixtures::write_file(path, {{"tiles", records, false}});
    file = path;
    ASSERT_EQ(window.workspace().open_blocking(path), QString());
    points_ = window.workspace().visible();
  }
  /// Points of one algorithm in the tile sweep that were timed, the fastest first.
  [[nodiscard]] std::vector<std::pair<double, Row>> by_time(std::string_view algorithm) const {
    std::vector<std::pair<double, Row>> times;
    for (Row row = 0; row < points().size(); ++row) {
      const bool wanted = points().run_of(row)->summary.preset == "tiles" && points()[row].spec.algorithm == algorithm;
      const auto time = evaluate(metric_key::time_median_ns, fixtures::record_of(points()[row]));
      if (wanted && time) times.emplace_back(time->value, row);
    }
    std::ranges::sort(times);
    return times;
  }
  [[nodiscard]] PointSummary summary_of(Row row) {
    return summarize_point(points()[row], fixtures::record_of(points()[row]), points(), records, pinned);
  }
  [[nodiscard]] QString tile_of(Row row) const {
    const TileShape& tile = points()[row].spec.tile;
    return QStringLiteral("%1 × %2").arg(tile.br).arg(tile.bc);
  }

  PointRecordReader records;
  std::optional<PinnedPoint> pinned;

 private:
  std::shared_ptr<const PointSet> points_;
  int files_ = 0;
};

TEST_F(PointSummaryTest, BeginsWithTheComparison) {
  const auto times = by_time("fa2");
  ASSERT_GT(times.size(), 20U);
  const auto [best_ns, best] = times.front();
  const double limit = best_ns * 1.03;
  const auto next = std::ranges::find_if(times, [&](const auto& each) { return each.first > limit; });
  const PointSummary first = summary_of(best);
  const auto slowdown = [&](double ns) { return to_qstring(analysis::slowdown_text(ns / best_ns)); };
  EXPECT_TRUE(first.title.startsWith(tile_of(best))) << first.title.toStdString();
  EXPECT_TRUE(first.title.endsWith(qtext(msg::details::fastest{}))) << first.title.toStdString();
  EXPECT_EQ(first.sentences[0], qtext(msg::details::is_fastest{.next = tile_of(next->second).toStdString(),
                                                               .percent = 3,
                                                               .slowdown = slowdown(next->first).toStdString()}));
  // 25% of 64 warps; the limiter is that of the records.
  const QString both = qtext(msg::occupancy::both{.limiter = msg::occupancy::shared_memory{}, .warps = 16});
  EXPECT_EQ(first.sentences[1], both);
  EXPECT_EQ(first.sentences.size(), 2) << "no unit was counted, so no cause is named";
  const auto [slow_ns, slow] = times.back();
  const PointSummary last = summary_of(slow);
  EXPECT_TRUE(last.title.endsWith(slowdown(slow_ns))) << last.title.toStdString();
  EXPECT_EQ(last.sentences[0],
            qtext(msg::details::fastest_is{.tile = tile_of(best).toStdString(), .time = text(Nanoseconds(best_ns))}));
}

TEST_F(PointSummaryTest, FiveValuesEqualTheRecord) {
  const Row row = by_time("fa2").back().second;
  const PointRecord record = fixtures::record_of(points()[row]);
  const PointSummary summary = summary_of(row);
  ASSERT_EQ(summary.values.size(), 5U);
  EXPECT_EQ(summary.values[0].value, format_metric(*evaluate(metric_key::time_median_ns, record)));
  EXPECT_EQ(summary.values[1].value, format_metric(*evaluate(metric_key::tflops, record)));
  EXPECT_EQ(summary.values[2].value, format_metric(*dram_traffic(record)));
  EXPECT_EQ(summary.values[2].note,
            qtext(msg::details::of_compulsory{
                .ratio = format_number(evaluate(metric_key::dram_over_compulsory, record)->value).toStdString()}));
  EXPECT_EQ(summary.values[3].value, qtext(msg::details::warps_of{.most = 64, .warps = 16}));
  EXPECT_EQ(summary.values[4].label, qtext(msg::details::sm_l2{})) << "no unit was counted";
}

TEST_F(PointSummaryTest, NamesACountedBottleneck) {
  std::vector<PointRecord> tiles = fixtures::tile_sweep();
  std::erase_if(tiles, [](const PointRecord& tile) { return tile.spec.algorithm != "fa2"; });
  for (PointRecord& tile : tiles) {
    if (tile.kernels.empty()) continue;
    for (const auto& [key, value] :
         {std::pair{"tensor_utilization_pct", 83.4}, std::pair{"xu_utilization_pct", 9.0},
          std::pair{"fma_utilization_pct", 9.0}, std::pair{"alu_utilization_pct", 9.0},
          std::pair{"shared_utilization_pct", 9.0}, std::pair{"l2_port_utilization_pct", 9.0},
          std::pair{"dram_utilization_pct", 9.0}, std::pair{"stall_gmma", 3.0}}) {
      tile.kernels[0].metrics.push_back({key, value, std::string(find_metric(key)->unit), Provenance::measured});
    }
  }
  reopen(tiles);
  const PointSummary summary = summary_of(by_time("fa2").front().second);
  EXPECT_TRUE(summary.sentences[2].contains("83%")) << summary.sentences.join('|').toStdString();
  EXPECT_TRUE(summary.sentences[2].contains(qtext(find_metric("stall_gmma")->label())));
  EXPECT_EQ(summary.values[4].value, qtext(msg::details::busiest{.percent = "83", .unit = "tensor cores"}));
  const Row fastest = by_time("fa2").front().second;
  const Message cause =
      msg::tile_map::cause_of{.cause = analysis::bottleneck_text(fixtures::record_of(points()[fastest])),
                              .tile = tile_of(fastest).toStdString()};
  const QString causes = headline_causes(points(), analysis::build_map_around(points().table(), fastest), records);
  EXPECT_TRUE(causes.endsWith(qtext(cause))) << "only one of the two tiles: " << causes.toStdString();
}

TEST_F(PointSummaryTest, OneTileIsNotTheFastest) {
  reopen({fixtures::tile_sweep().front()});
  const PointSummary summary = summary_of(0);
  EXPECT_FALSE(summary.title.contains(qtext(msg::details::fastest{}))) << summary.title.toStdString();
  EXPECT_TRUE(summary.values[0].note.isEmpty()) << summary.values[0].note.toStdString();
  EXPECT_TRUE(summary.sentences.isEmpty()) << summary.sentences.join('|').toStdString();
}

TEST_F(PointSummaryTest, LongNamesDoNotWidenThePanel) {
  DetailsPanel& panel = *window.findChild<DetailsPanel*>();
  panel.show_point(points()[0]);
  wait_until_idle();
  const int width = panel.minimumSizeHint().width();
  PointRecord record = fixtures::tile_sweep().front();
  record.spec.algorithm = std::string(200, 'w');
  reopen({record});
  panel.show_point(points()[0]);
  wait_until_idle();
  EXPECT_LE(panel.minimumSizeHint().width(), width);
  EXPECT_LT(summary_of(0).problem.indexOf(QChar(u'·')), 60);
}

TEST_F(PointSummaryTest, ComparesWithThePinnedPoint) {
  const auto times = by_time("fa2");
  const auto [base_ns, base] = times[0];
  const auto [slow_ns, slow] = times[5];
  pinned = PinnedPoint{"FA2", std::make_shared<const PointRecord>(fixtures::record_of(points()[base]))};
  const std::string change = analysis::change_text(slow_ns / base_ns);
  EXPECT_TRUE(change.starts_with('+')) << change;
  EXPECT_TRUE(summary_of(slow).sentences.contains(
      qtext(msg::details::against_pin{.change = change, .time = text(Nanoseconds(base_ns)), .title = "FA2"})));
  const QString start = text_before_arguments(msg::details::against_pin{.change = "", .time = "", .title = "|"});
  EXPECT_TRUE(summary_of(base).sentences.filter(start).isEmpty()) << "the pinned point itself";
  // Through the explorer's pin.
  window.show();
  page_of<ExplorerPage>(window).pin_point(points()[base].spec, "NVIDIA H200");
  wait_until_idle();
  window.select(points()[slow]);
  window.findChild<DetailsPanel*>()->show_point(points()[slow]);
  const auto labels = window.findChild<DetailsPanel*>()->findChildren<QLabel*>();
  EXPECT_TRUE(std::ranges::any_of(labels, [&](const QLabel* label) { return label->text().contains(start); }));
}

TEST_F(PointSummaryTest, MentionsThrottlingOnlyIfUnusual) {
  std::vector<PointRecord> tiles = fixtures::tile_sweep();
  std::erase_if(tiles, [](const PointRecord& tile) { return tile.kernels.empty(); });
  for (PointRecord& tile : tiles) {
    tile.clocks->throttled = true;
    tile.clocks->throttle_reasons = 4;  // NVML: power cap.
  }
  tiles[3].clocks->throttled = false;
  reopen(tiles);
  EXPECT_TRUE(points().table().run(0).mostly_throttled.value());
  for (Row row = 0; row < 6; ++row) {
    const QStringList sentences = summary_of(row).sentences;
    EXPECT_EQ(sentences.contains(qtext(msg::details::not_throttled{})), row == 3) << row;
    EXPECT_FALSE(sentences.contains(qtext(msg::details::throttled{.reasons = msg::throttle::power_cap{}})));
  }
  tiles[3].clocks->throttled = true;
  for (std::size_t i = 0; i < tiles.size(); ++i) tiles[i].clocks->throttled = i == 3;
  reopen(tiles);
  EXPECT_TRUE(summary_of(3).sentences.contains(qtext(msg::details::throttled{.reasons = msg::throttle::power_cap{}})));
}

TEST_F(PointSummaryTest, PanelFoldsAllValues) {
  window.resize(1280, 800);
  window.show();
  DetailsPanel& panel = *window.findChild<DetailsPanel*>();
  panel.show_point(points()[0]);
  panel.parentWidget()->show();
  wait_until_idle();
  auto* all = panel.findChild<QTextBrowser*>();
  auto* more = panel.findChild<QToolButton*>(QStringLiteral("more-values"));
  EXPECT_FALSE(all->isVisible());
  QSignalSpy changes(&panel, &DetailsPanel::expanded_changed);
  more->click();
  EXPECT_TRUE(all->isVisible());
  EXPECT_EQ(changes.size(), 1);
  panel.show_point(points()[1]);
  EXPECT_TRUE(all->isVisible()) << "stays open";
  EXPECT_GT(more->text().remove(QRegularExpression("[^0-9]")).toInt(), 15);
  panel.findChild<QPushButton*>(QStringLiteral("copy-command"))->click();
  EXPECT_EQ(QGuiApplication::clipboard()->text().toStdString(), collect_command(points()[1].spec));
  panel.show_point(std::nullopt);
  EXPECT_FALSE(all->isVisible());
}

TEST_F(PointSummaryTest, NarrowWindowsShowAStrip) {
  window.resize(1280, 800);
  window.show();
  emit window.page(QStringLiteral("io"))->point_selected(points()[0]);
  wait_until_idle();
  const auto* dock = window.findChild<QDockWidget*>(QStringLiteral("details"));
  ASSERT_TRUE(dock->isVisible());
  EXPECT_FALSE(window.findChild<DetailsPanel*>()->is_strip());
  EXPECT_EQ(window.dockWidgetArea(const_cast<QDockWidget*>(dock)), Qt::RightDockWidgetArea);
  window.resize(1024, 600);
  wait_until_idle();
  EXPECT_TRUE(window.findChild<DetailsPanel*>()->is_strip());
  EXPECT_EQ(window.dockWidgetArea(const_cast<QDockWidget*>(dock)), Qt::BottomDockWidgetArea);
  EXPECT_TRUE(dock->isVisible());
  EXPECT_LT(window.findChild<DetailsPanel*>()->height(), 90);
  window.resize(1280, 800);
  wait_until_idle();
  EXPECT_FALSE(window.findChild<DetailsPanel*>()->is_strip());
  EXPECT_EQ(window.dockWidgetArea(const_cast<QDockWidget*>(dock)), Qt::RightDockWidgetArea);
}

}  // namespace
}  // namespace attnscope::ui
