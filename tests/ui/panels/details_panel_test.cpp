// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <QTextDocument>
#include <string_view>

#include "profiler/metrics/metrics.h"
#include "tests/ui/window_test.h"
#include "ui/panels/details_panel.h"

namespace attnscope::ui {
namespace {

TEST_F(WindowTest, DetailsShowTheProvenanceOfEveryNumber) {
  const auto points = fixtures::shown({fixtures::ok_point(fixtures::spec("naive", 1024))});
  const QString html = describe_point_html(points[0], QPalette());
  for (const char* word : {"measured", "modeled", "derived", "Model L2 to SM", "shared memory", "Bound", "1980 MHz",
                           "Kernel qk", "Kernel pv"}) {
    EXPECT_TRUE(html.contains(QString::fromUtf8(word))) << word;
  }
  for (const char* row :
       {"Time spread", "Largest error", "Bound", "RMS error", "SM clock", "Memory clock", "Temperature", "Power"}) {
    const qsizetype at = html.indexOf(QString::fromUtf8(row));
    ASSERT_GE(at, 0) << row;
    const QString rest = html.mid(at, html.indexOf(QStringLiteral("</tr>"), at) - at);
    EXPECT_TRUE(rest.contains(row == std::string_view("Bound") ? "modeled" : "measured")) << rest.toStdString();
  }
  PointRecord hot = fixtures::ok_point(fixtures::spec("fa2", 1024));
  hot.clocks->throttled = true;
  EXPECT_TRUE(describe_point_html(fixtures::shown({hot})[0], QPalette()).contains("Throttled"));
}

TEST_F(WindowTest, DetailsShowTheBottleneck) {
  PointRecord record = fixtures::ok_point(fixtures::spec("fa2", 1024));
  const QString without = describe_point_html(fixtures::shown({record})[0], QPalette());
  EXPECT_FALSE(without.contains("Use of units"));
  EXPECT_FALSE(without.contains("Longest stalls"));
  for (const auto& [key, value] :
       {std::pair{"dram_utilization_pct", 12.0}, std::pair{"xu_utilization_pct", 83.5},
        std::pair{"shared_wavefronts", 400.0}, std::pair{"shared_bank_conflicts", 100.0}, std::pair{"stall_wait", 0.5},
        std::pair{"stall_long_scoreboard", 3.25}, std::pair{"stall_barrier", 0.25}, std::pair{"stall_membar", 0.125}}) {
    record.kernels[0].metrics.push_back({key, value, std::string(find_metric(key)->unit), Provenance::measured});
  }
  QTextDocument document;
  document.setHtml(describe_point_html(fixtures::shown({record})[0], QPalette()));
  const QString text = document.toPlainText();
  const qsizetype units = text.indexOf("XU (exp2)\n83.5%\nmeasured\nDRAM\n12%\nmeasured");
  EXPECT_GT(units, text.indexOf("Use of units")) << text.toStdString();
  EXPECT_TRUE(text.contains("Bank conflicts of wavefronts\n25%\nderived")) << text.toStdString();
  EXPECT_TRUE(text.contains("(long scoreboard)\n3.25\nmeasured\nFixed latency\n0.500\nmeasured\nBarrier"))
      << text.toStdString();
  EXPECT_FALSE(text.contains("Memory fence")) << "three are enough";
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
  for (const char* words : {"n_q × n_k\n1 × 4096", "Pass\nfwd", "Mask\nfull", "Type\nfp16", "Dropout\n0.25",
                            "Page\n256", "Deterministic\nyes", "splits 8, warps 4", "L2 at start\ncold"}) {
    EXPECT_TRUE(text.contains(QString::fromUtf8(words))) << words << "\n" << text.toStdString();
  }
}

TEST_F(WindowTest, DetailsShowTheKernels) {
  PointRecord record = fixtures::ok_point(fixtures::spec("fa2", 1024));
  EXPECT_FALSE(describe_point_html(fixtures::shown({record})[0], QPalette()).contains("What ran")) << "not recorded";
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
  EXPECT_TRUE(
      text.contains(QStringLiteral("What ran\nfwd\nattn_fa2_forward\nfa2/fa2_forward.cuh\n"
                                   "ATTN_BR=128 ATTN_WARPS=4; 8 × 16 × 1 blocks of 128 threads")))
      << text.toStdString();
}

TEST_F(WindowTest, DetailsOfAnImportedPointShowItsSource) {
  const QString html = describe_point_html(fixtures::shown(fixtures::peers())[0], QPalette());
  QTextDocument document;
  document.setHtml(html);
  const QString text = document.toPlainText();
  EXPECT_TRUE(text.startsWith("torch-flash\n")) << text.toStdString();
  EXPECT_TRUE(text.contains("not stated")) << "the tile";
  EXPECT_TRUE(text.contains("imported"));
  EXPECT_FALSE(text.contains("measured")) << text.toStdString();
  EXPECT_FALSE(text.contains("derived")) << text.toStdString();
  EXPECT_FALSE(text.contains("Samples"));
  EXPECT_FALSE(text.contains("Bytes")) << "no heading without a row";
}

}  // namespace
}  // namespace attnscope::ui
