// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <QTextDocument>
#include <string_view>
#include <utility>

#include "messages/common.h"
#include "messages/details.h"
#include "messages/fact.h"
#include "messages/field.h"
#include "messages/throttle.h"
#include "profiler/metrics/metrics.h"
#include "tests/ui/window_test.h"
#include "ui/panels/details_panel.h"
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
  PointRecord hot = fixtures::ok_point(fixtures::spec("fa2", 1024));
  hot.clocks->throttled = true;
  hot.clocks->throttle_reasons = 4;  // NVML: power cap.
  EXPECT_TRUE(describe_point_html(fixtures::shown({hot})[0], QPalette())
                  .contains(qtext(msg::details::throttled{.reasons = msg::throttle::power_cap{}})));
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
    const QString origin = provenance == std::string_view("measured") ? QString() : QStringLiteral(" ") + provenance;
    return QStringLiteral("%1\n%2%3\n").arg(metric_label(key), QLatin1String(value), origin);
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

}  // namespace
}  // namespace attnscope::ui
