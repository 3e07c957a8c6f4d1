// SPDX-License-Identifier: Apache-2.0
// A table of fields with one that came later, for tests of what is derived from the table.
#pragma once

#include <algorithm>
#include <vector>

#include "profiler/plan/fields.h"

namespace attnscope::test {

/// The table with `strip` in the place of `page`, whose member it takes: no code knows a field of that name.
inline const std::vector<Field>& fields_with_a_later_one() {
  static const std::vector<Field> fields = [] {
    std::vector<Field> all(point_fields().begin(), point_fields().end());
    const auto page = std::ranges::find(all, "page", &Field::name);
    Field strip = *page;
    strip.name = "strip";
    strip.label = [] { return Message::verbatim("Strip"); };
    strip.help = [] { return Message::verbatim("of the tests alone"); };
    strip.meaning = {};
    strip.stem = {};
    strip.brief = nullptr;
    strip.since = 7;
    all.erase(page);
    // Those of some builds are not in the way of this one.
    std::erase_if(all, [](const Field& field) { return field.name.starts_with("test_"); });
    all.push_back(strip);
    return all;
  }();
  return fields;
}

/// A real field of a range of its own: from 2 to below 40.
inline Field real_field_from_2_to_40() {
  return {.name = "rate",
          .label = [] { return Message::verbatim("Rate"); },
          .help = [] { return Message::verbatim("of the tests alone"); },
          .type = FieldType::real,
          .fallback = "2",
          .least = 2,
          .below = 40,
          .get = [](const PointSpec&) { return FieldValue(2.0); }};
}

}  // namespace attnscope::test
