// SPDX-License-Identifier: GPL-3.0-or-later
// Values of facets as the window says them.
#pragma once

#include <QString>

#include "profiler/points/facets.h"
#include "ui/models/curve_series.h"

namespace attnscope::ui {

/// As it is, but an algorithm by its short title, as everywhere in the window.
[[nodiscard]] inline QString value_words(const analysis::Facet& facet, const analysis::FacetValue& value) {
  return facet.key == "algorithm" ? short_title(value.text) : QString::fromStdString(analysis::shown_text(value));
}

}  // namespace attnscope::ui
