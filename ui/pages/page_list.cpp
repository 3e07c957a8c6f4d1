// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/page.h"

#include <array>

#include "messages/ceilings_page.h"
#include "messages/compare_page.h"
#include "messages/curve_page.h"
#include "messages/doctor_page.h"
#include "messages/explorer_page.h"
#include "messages/law_page.h"
#include "messages/points_table.h"
#include "messages/roofline_page.h"
#include "messages/tile_map.h"
#include "ui/pages/ceilings/ceilings_page.h"
#include "ui/pages/compare/compare_page.h"
#include "ui/pages/curves/io_curve_page.h"
#include "ui/pages/doctor/doctor_page.h"
#include "ui/pages/explorer/explorer_page.h"
#include "ui/pages/law/law_page.h"
#include "ui/pages/points/points_page.h"
#include "ui/pages/roofline/roofline_page.h"
#include "ui/pages/tiles/tile_heatmap_page.h"
#include "ui/text/format.h"

namespace attnscope::ui {
namespace {

template <class Kind, class Title>
constexpr PageKind page(std::string_view id) {
  return {id, [] { return Message(Title{}); },
          [](Workspace& workspace, QWidget* parent) -> Page* { return new Kind(workspace, parent); }};
}

constexpr std::array all_kinds{
    page<IoCurvePage, msg::curve_page::title>("io"),
    page<TileHeatmapPage, msg::tile_map::title>("tiles"),
    page<ExplorerPage, msg::explorer_page::title>("explorer"),
    page<RooflinePage, msg::roofline_page::title>("roofline"),
    page<LawPage, msg::law_page::title>("law"),
    page<PointsPage, msg::points_table::title>("table"),
    page<CeilingsPage, msg::ceilings_page::title>("ceilings"),
    page<ComparePage, msg::compare_page::title>("compare"),
    page<DoctorPage, msg::doctor_page::title>("doctor"),
};

}  // namespace

std::span<const PageKind> page_kinds() {
  return all_kinds;
}

QIcon icon_of(const PageKind& kind) {
  return QIcon(QStringLiteral(":/icons/page-%1.svg").arg(to_qstring(kind.id)));
}

}  // namespace attnscope::ui
