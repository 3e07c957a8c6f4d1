// SPDX-License-Identifier: GPL-3.0-or-later
// Hidden pages do no work while points change, and are correct once shown.
#include <gtest/gtest.h>

#include <QTest>

#include "tests/ui/window_test.h"
#include "ui/pages/compare/compare_page.h"
#include "ui/pages/curves/io_curve_page.h"
#include "ui/pages/law/law_page.h"
#include "ui/pages/page.h"
#include "ui/pages/points/points_page.h"
#include "ui/pages/roofline/roofline_page.h"
#include "ui/pages/tiles/tile_heatmap_page.h"
#include "ui/window/query_bar.h"

namespace attnscope::ui {
namespace {

class HiddenPagesTest : public WindowTest {
 protected:
  /// Returns the page without refreshing it, unlike page_of().
  template <class Kind>
  Kind& unrefreshed_page() {
    return *window.findChild<Kind*>();
  }
  static QString id_of(const PageKind& kind) {
    return QString::fromUtf8(kind.id.data(), static_cast<qsizetype>(kind.id.size()));
  }
  void SetUp() override {
    WindowTest::SetUp();
    window.resize(1280, 800);
    window.show();
    window.show_page(QStringLiteral("table"));
  }

  MainWindow window{false};
};

TEST_F(HiddenPagesTest, DefersUpdatesOfHiddenPages) {
  ASSERT_EQ(window.workspace().open_blocking(file), QString());
  wait_until_idle();
  auto& map = unrefreshed_page<TileHeatmapPage>();
  auto& curves = unrefreshed_page<IoCurvePage>();
  EXPECT_FALSE(unrefreshed_page<PointsPage>().is_outdated()) << "the visible page";
  EXPECT_TRUE(map.is_outdated());
  EXPECT_FALSE(map.has_map()) << "hidden pages are not drawn";
  EXPECT_TRUE(curves.is_outdated());
  EXPECT_TRUE(curves.curves().empty());

  window.show_page(QStringLiteral("tiles"));
  EXPECT_FALSE(map.is_outdated());
  EXPECT_TRUE(map.has_map());
  EXPECT_TRUE(curves.curves().empty()) << "showing a page updates no other page";
  window.show_page(QStringLiteral("io"));
  EXPECT_FALSE(curves.curves().empty());
}

TEST_F(HiddenPagesTest, FilterUpdatesTheVisiblePageFirst) {
  ASSERT_EQ(window.workspace().open_blocking(file), QString());
  window.show_page(QStringLiteral("io"));
  auto& curves = unrefreshed_page<IoCurvePage>();
  const std::shared_ptr<const PointSet> all = curves.curves().points;
  window.show_page(QStringLiteral("table"));
  window.query().set_text(QStringLiteral("algo:fa2"));
  const auto rows = [&] { return unrefreshed_page<PointsPage>().table()->model()->rowCount(); };
  EXPECT_EQ(rows(), static_cast<int>(window.workspace().visible()->size()));
  EXPECT_EQ(curves.curves().points, all) << "not yet filtered";
  EXPECT_TRUE(curves.is_outdated());
  window.show_page(QStringLiteral("io"));
  EXPECT_EQ(curves.curves().points, window.workspace().visible());
  for (const Curve& curve : curves.curves().curves) {
    EXPECT_TRUE(curve.name.algorithm.empty() || curve.name.algorithm == "fa2") << curve.label;
  }
}

TEST_F(HiddenPagesTest, UpdatesEachPageWhenShown) {
  ASSERT_EQ(window.workspace().open_blocking(file), QString());
  for (const PageKind& kind : page_kinds()) {
    window.show_page(id_of(kind));
    EXPECT_FALSE(window.page(id_of(kind))->is_outdated()) << kind.id;
  }
  EXPECT_EQ(unrefreshed_page<LawPage>().replacement_text().isEmpty(), unrefreshed_page<LawPage>().has_plot());
  EXPECT_TRUE(unrefreshed_page<RooflinePage>().has_plot());
  EXPECT_TRUE(unrefreshed_page<TileHeatmapPage>().has_map());
  // Closing the file is a change, too, even while the window is hidden.
  window.hide();
  window.workspace().close(window.workspace().files().front());
  window.show_page(QStringLiteral("tiles"));
  EXPECT_FALSE(unrefreshed_page<TileHeatmapPage>().has_map());
}

}  // namespace
}  // namespace attnscope::ui
