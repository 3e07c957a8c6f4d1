// SPDX-License-Identifier: GPL-3.0-or-later
// Line below simulated points with the published errors for their GPU.
#include <gtest/gtest.h>

#include "profiler/predict/published_errors.h"
#include "tests/ui/window_test.h"
#include "ui/pages/curves/io_curve_page.h"
#include "ui/pages/error_note.h"
#include "ui/pages/tiles/tile_heatmap_page.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

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
  ASSERT_EQ(workspace.open_now(file), QString());
  settle();
  EXPECT_FALSE(page.error_note().isVisible());
  EXPECT_FALSE(map.error_note().isVisibleTo(&map));

  workspace.close(file);
  ASSERT_EQ(workspace.open_now(simulated_on("H200")), QString());
  settle();
  ASSERT_TRUE(page.error_note().isVisible());
  const QString words = page.error_note().text();
  EXPECT_TRUE(words.startsWith("Simulated. Median error on H200: Naive DRAM ±")) << words.toStdString();
  EXPECT_TRUE(words.contains("%, time ±") || words.contains("), time ±")) << words.toStdString();
  EXPECT_FALSE(words.contains("FA1")) << "it is not shown";
  page.resize(330, 700);
  settle();
  EXPECT_LE(page.error_note().width(), 330) << "the line ends in an ellipsis";
  workspace.set_run_visible(0, false);
  settle();
  EXPECT_FALSE(page.error_note().isVisible());
}

TEST_F(ErrorNoteTest, ShowsErrorsPerGpu) {
  Workspace workspace;
  IoCurvePage page(workspace);
  page.show();
  ASSERT_EQ(workspace.open_now(simulated_on("H100")), QString());
  settle();
  const auto figures = [](const char* gpu) {
    const analysis::ErrorRow* time = analysis::published_errors(gpu).find("naive", Pass::fwd, "time");
    return QStringLiteral("time ±%1 (p95 %2)").arg(qtext(Share(time->median)), qtext(Share(time->p95)));
  };
  ASSERT_NE(figures("H100"), figures("H200"));
  const QString of_h100 = page.error_note().text();
  EXPECT_TRUE(of_h100.startsWith("Simulated. Median error on H100 80GB HBM3: Naive DRAM ±")) << of_h100.toStdString();
  EXPECT_TRUE(of_h100.contains(figures("H100"))) << of_h100.toStdString();
  ASSERT_EQ(workspace.open_now(simulated_on("H200")), QString());
  settle();
  const QString of_both = page.error_note().text();
  EXPECT_TRUE(of_both.contains(figures("H100") + " · Simulated. Median error on H200: Naive DRAM"))
      << of_both.toStdString();
  EXPECT_TRUE(of_both.contains(figures("H200"))) << of_both.toStdString();
}

TEST_F(ErrorNoteTest, WarnsAboutUnvalidatedGpu) {
  Workspace workspace;
  IoCurvePage page(workspace);
  ASSERT_EQ(workspace.open_now(simulated_on("A100")), QString());
  page.show();
  settle();
  const QString words = page.error_note().text();
  EXPECT_TRUE(words.startsWith("A100")) << words.toStdString();
  EXPECT_TRUE(words.contains(": not validated on this GPU · ")) << words.toStdString();
  EXPECT_FALSE(words.contains("±")) << "errors of another GPU";
  EXPECT_TRUE(words.endsWith(": simulated with the L2 model of the H200")) << words.toStdString();
}

}  // namespace
}  // namespace attnscope::ui
