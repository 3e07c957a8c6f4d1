// SPDX-License-Identifier: Apache-2.0
// Reports of made-up points, and what is found in them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/report/report.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::report::documents {

[[nodiscard]] Input input_of(const fixtures::Points& points);
[[nodiscard]] Document document_of(const fixtures::Points& points, const Request& request = {});
[[nodiscard]] Document document_of(const std::vector<PointRecord>& records, const Request& request = {});
/// Null when there is none.
[[nodiscard]] const Section* find(const Document& document, std::string_view key);
[[nodiscard]] std::string words_of(const Paragraph& paragraph);
/// Of all that is in it, tables among it.
[[nodiscard]] std::string words_of(const Section& section);
/// Of the summary.
[[nodiscard]] std::vector<std::string> sentences(const Document& document);
[[nodiscard]] std::vector<Figure> figures(const Document& document, std::string_view key);
[[nodiscard]] std::vector<Table> tables(const Document& document, std::string_view key);

}  // namespace attnscope::report::documents
