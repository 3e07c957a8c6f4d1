// SPDX-License-Identifier: Apache-2.0
// Builds reports of synthetic points and extracts their parts.
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
[[nodiscard]] std::string words_of(const Paragraph& paragraph);
/// Returns the paragraphs of the answer.
[[nodiscard]] std::vector<std::string> sentences(const Document& document);
/// Returns the figures whose ID starts with `id`.
[[nodiscard]] std::vector<Figure> figures(const Document& document, std::string_view id);
/// Returns a table of the appendix; empty if there is none.
[[nodiscard]] Table table(const Document& document, std::string_view key);
[[nodiscard]] std::vector<std::string> column(const Table& table, std::string_view key);

/// Sentences of the answer for MatchesMessage; "*" matches any text.
[[nodiscard]] Message faster(const std::string& ratio = "*", const std::string& series = "*",
                             const std::string& origin = "*");
[[nodiscard]] Message fewer_bytes(const std::string& ratio = "*");

}  // namespace attnscope::report::documents
