// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/narrowed.h"

#include <utility>

namespace attnscope::ui {

void Narrowed::narrow(std::shared_ptr<const PointSet> of, std::vector<Row> rows) {
  if (of != points || candidates == nullptr || rows != *candidates || texts == nullptr ||
      texts->size() != filter.facets().size()) {
    points = std::move(of);
    candidates = std::make_shared<const std::vector<Row>>(std::move(rows));
    texts = std::make_shared<const FacetBar::Texts>(FacetBar::texts_of(filter, points->table(), *candidates));
  }
  filter.update(points->table(), *candidates);
}

}  // namespace attnscope::ui
