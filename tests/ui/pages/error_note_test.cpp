// SPDX-License-Identifier: GPL-3.0-or-later
// Line below simulated points with the published errors for their GPU.
#include <gtest/gtest.h>

#include "messages/prediction.h"
#include "profiler/predict/published_errors.h"
#include "tests/ui/window_test.h"
#include "ui/pages/curves/io_curve_page.h"
#include "ui/pages/page.h"
#include "ui/pages/tiles/tile_heatmap_page.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

/// Beginning of the errors of a GPU.
QString errors_on(const char* gpu) {
  return text_before_arguments(msg::prediction::line{.figures = "|", .gpu = gpu});
}

/// Published errors of the naive algorithm.
QString figure(const char* gpu, const char* key, const Message& quantity) {
  const analysis::ErrorRow* row = analysis::validated_errors(*find_gpu(gpu))->find("naive", Pass::fwd, key);
  return qtext(
      msg::prediction::figure{.median = text(Share(row->median)), .p95 = text(Share(row->p95)), .quantity = quantity});
}

QString figures(const char* gpu) {
  return QStringLiteral("%1, %2").arg(figure(gpu, "dram_bytes", msg::prediction::dram{}),
                                      figure(gpu, "time", msg::prediction::time{}));
}

class ErrorNoteTest : public WindowTest {
 protected:
  /// A file with simulated points of that GPU.
  [[nodiscard]] QString simulated_on(const char* gpu) const {
    QString simulated = folder.filePath(QStringLiteral("%1.attnscope").arg(QLatin1String(gpu)));
    fixtures::write_file(simulated, {{"memory-wall", fixtures::simulated_naive({1024, 2048, 4096}), true, false, gpu}});
    return simulated;
  }
};

TEST_F(ErrorNoteTest, IsShownForSimulatedPointsOnly) {
  Workspace workspace;
  IoCurvePage page(workspace);
  TileHeatmapPage map(workspace);
  page.resize(1000, 700);
  page.show();
  ASSERT_EQ(workspace.open_blocking(file), QString());
  wait_until_idle();
  EXPECT_FALSE(page.findChild<ErrorNote*>()->isVisible());
  EXPECT_FALSE(map.findChild<ErrorNote*>()->isVisibleTo(&map));

  workspace.close(file);
  ASSERT_EQ(workspace.open_blocking(simulated_on("H200")), QString());
  wait_until_idle();
  ASSERT_TRUE(page.findChild<ErrorNote*>()->isVisible());
  const QString words = page.findChild<ErrorNote*>()->text();
  EXPECT_TRUE(words.startsWith(errors_on("H200") + "Naive " + figures("H200"))) << words.toStdString();
  EXPECT_FALSE(words.contains("FA1")) << "it is not shown";
  page.resize(330, 700);
  wait_until_idle();
  EXPECT_LE(page.findChild<ErrorNote*>()->width(), 330) << "the line ends in an ellipsis";
  workspace.set_run_visible(0, false);
  wait_until_idle();
  EXPECT_FALSE(page.findChild<ErrorNote*>()->isVisible());
}

TEST_F(ErrorNoteTest, ShowsErrorsPerGpu) {
  Workspace workspace;
  IoCurvePage page(workspace);
  page.show();
  ASSERT_EQ(workspace.open_blocking(simulated_on("H100")), QString());
  wait_until_idle();
  ASSERT_NE(figures("H100"), figures("H200"));
  const QString of_h100 = page.findChild<ErrorNote*>()->text();
  EXPECT_TRUE(of_h100.startsWith(errors_on("H100 80GB HBM3") + "Naive " + figures("H100"))) << of_h100.toStdString();
  ASSERT_EQ(workspace.open_blocking(simulated_on("H200")), QString());
  wait_until_idle();
  const QString of_both = page.findChild<ErrorNote*>()->text();
  EXPECT_TRUE(of_both.contains(figures("H100") + " · " + errors_on("H200") + "Naive " + figures("H200")))
      << of_both.toStdString();
}

TEST_F(ErrorNoteTest, WarnsAboutUnvalidatedGpu) {
  Workspace workspace;
  IoCurvePage page(workspace);
  ASSERT_EQ(workspace.open_blocking(simulated_on("L40S")), QString());
  page.show();
  wait_until_idle();
  const QString words = page.findChild<ErrorNote*>()->text();
  EXPECT_EQ(words, qtext(msg::prediction::not_validated{.what = "L40S"}) + " · " +
                       qtext(msg::prediction::l2_source{.gpu = "H200", .what = "L40S"}))
      << words.toStdString();
}

}  // namespace
}  // namespace attnscope::ui
