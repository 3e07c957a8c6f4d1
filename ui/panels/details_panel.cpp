// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/details_panel.h"

#include <QEvent>

#include "messages/details.h"
#include "ui/panels/point_html.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {

DetailsPanel::DetailsPanel(QWidget* parent) : QTextBrowser(parent) {
  setFrameShape(QFrame::NoFrame);
  setAccessibleName(qtext(say::details::name{}));
  document()->setDocumentMargin(10);
  setOpenLinks(false);  // a file's text has none, and ours is no page
  connect(this, &QTextBrowser::anchorClicked, this, &DetailsPanel::explore_wanted);
  render();
}

void DetailsPanel::show_point(const std::optional<ShownPoint>& point) {
  point_ = point;
  render();
}

void DetailsPanel::render() {
  if (point_) {
    const PointRecords::Read read = records_.read(*point_);
    const QString link =
        QStringLiteral("<p><a href='explore:'>%1</a></p>").arg(qtext(say::details::explore{}).toHtmlEscaped());
    setHtml(read.record != nullptr ? describe_point_html(*point_->run, *read.record, palette()) + link
                                   : describe_lost_point_html(*point_, read.error, palette()));
    if (read.replaced) emit file_replaced(point_->run);
  } else {
    setHtml(QStringLiteral("<p style='color:%1'>%2</p>")
                .arg(plot_colors(palette()).muted.name(), qtext(say::details::empty{})));
  }
}

void DetailsPanel::changeEvent(QEvent* event) {
  QTextBrowser::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) render();
}

}  // namespace attnscope::ui
