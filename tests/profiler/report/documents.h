// SPDX-License-Identifier: Apache-2.0
// Builds reports of synthetic points and extracts their parts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/report/report.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::report::documents {

[[nodiscard]] Input input_of(const fixtures::Points& points);
[[nodiscard]] Document document_of(const fixtures::Points& points, const Request& request = {});
[[nodiscard]] Document document_of(const std::vector<PointRecord>& records, const Request& request = {});
/// Returns the answer, what was measured, the texts of the sections, and the notes.
[[nodiscard]] std::vector<std::string> sentences(const Document& document);
[[nodiscard]] std::optional<Figure> figure(const Document& document, std::string_view id);
[[nodiscard]] const std::vector<Line>& lines_of(const Figure& figure, std::size_t panel = 0);
/// Returns a table of the appendix; empty if there is none.
[[nodiscard]] Table table(const Document& document, std::string_view key);
[[nodiscard]] std::vector<std::string> column(const Table& table, std::string_view key);

/// Sentences of the answer for MatchesMessage; "*" matches any text.
[[nodiscard]] Message fastest(const std::string& series = "*", const std::string& slowest = "*",
                              const std::string& ratio = "*");
[[nodiscard]] Message most_bytes(const std::string& ratio = "*");

}  // namespace attnscope::report::documents
