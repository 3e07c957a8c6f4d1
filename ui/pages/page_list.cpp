// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/page_list.h"

#include <array>

#include "ui/pages/ceilings_page.h"
#include "ui/pages/compare_page.h"
#include "ui/pages/explorer_page.h"
#include "ui/pages/io_curve_page.h"
#include "ui/pages/law_page.h"
#include "ui/pages/points_page.h"
#include "ui/pages/roofline_page.h"
#include "ui/pages/tile_heatmap_page.h"

namespace attnscope::ui {
namespace {

template <class Kind>
Page* make(Workspace& workspace, QWidget* parent) {
  return new Kind(workspace, parent);
}

constexpr std::array all_kinds{
    PageKind{"io", make<IoCurvePage>},        PageKind{"tiles", make<TileHeatmapPage>},
    PageKind{"explorer", make<ExplorerPage>}, PageKind{"roofline", make<RooflinePage>},
    PageKind{"law", make<LawPage>},           PageKind{"table", make<PointsPage>},
    PageKind{"ceilings", make<CeilingsPage>}, PageKind{"compare", make<ComparePage>},
};

}  // namespace

std::span<const PageKind> page_kinds() {
  return all_kinds;
}

}  // namespace attnscope::ui
