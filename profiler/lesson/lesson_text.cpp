// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/lesson_text.h"

#include <cmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <vector>

#include "profiler/lesson/lesson_values.h"
#include "profiler/plan/text.h"

namespace attnscope::analysis::lesson {
namespace {

/// A formula, value or term in a text.
struct Mark {
  std::string_view sign;  ///< opening delimiter
  std::size_t begin = 0;  ///< [begin, end) includes the delimiters
  std::size_t end = 0;    ///< npos if not closed
  std::string_view text;  ///< a term: without the displayed text
  std::string_view shown{};
};

/// Finds all marks that are not escaped.
std::vector<Mark> marks_of(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> signs{
      {{"$$", "$$"}, {"$", "$"}, {"{{", "}}"}, {"[[", "]]"}}};
  std::vector<Mark> marks;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const auto* const sign =
        std::ranges::find_if(signs, [&](const auto& each) { return rest.starts_with(each.first); });
    if (sign == signs.end()) {
      at += rest.front() == '\\' ? 2U : 1U;
      continue;
    }
    const std::size_t begin = sign->first.size();
    const std::size_t end = rest.find(sign->second, begin);
    if (end == std::string_view::npos) {
      marks.push_back({sign->first, at, end, rest});
      break;
    }
    Mark mark{sign->first, at, at + end + sign->second.size(), rest.substr(begin, end - begin)};
    const std::size_t bar = mark.text.find('|');
    mark.shown = mark.text.substr(bar == std::string_view::npos ? 0 : bar + 1);
    if (mark.sign == "[[") mark.text = mark.text.substr(0, bar);
    marks.push_back(mark);
    at = mark.end;
  }
  return marks;
}

std::string render_mark(const Mark& mark, const MarkRenderer& of) {
  if (mark.sign == "{{") return of.value(mark.text);
  if (mark.sign == "[[") {
    const auto found = of.terms == nullptr ? Glossary::const_iterator() : of.terms->find(mark.text);
    if (of.terms == nullptr || found == of.terms->end()) return markup(mark.shown);
    return fmt::format("<dfn tabindex=\"0\" title=\"{}\">{}</dfn>", markup(found->second), markup(mark.shown));
  }
  const bool display = mark.sign == "$$";
  const std::string formula = mathml_of(mark.text, display).value();
  return display ? "<span class=\"formula\">" + formula + "</span>" : formula;
}

/// Delimiters of a mark's number in Markdown: private-use characters.
constexpr std::string_view placeholder_begin = "\uE000";
constexpr std::string_view placeholder_end = "\uE001";

}  // namespace

Message marks_problem(std::string_view text, const Glossary& terms,
                      const std::set<std::string, std::less<>>& value_names) {
  for (const Mark& mark : marks_of(text)) {
    if (mark.end == std::string_view::npos) return make_message("unclosed '{}'", mark.sign);
    if (mark.sign == "{{") {
      if (find_value(mark.text) == nullptr && !value_names.contains(mark.text))
        return make_message("unknown value '{}'", shortened(mark.text));
    } else if (mark.sign == "[[") {
      if (!terms.contains(mark.text))
        return make_message("unknown term '{}' (add it to the glossary)", shortened(mark.text));
    } else if (const auto formula = mathml_of(mark.text, false); !formula.ok()) {
      return formula.error();
    }
  }
  return {};
}

std::vector<std::string_view> values_in(std::string_view text) {
  std::vector<std::string_view> names;
  for (const Mark& mark : marks_of(text)) {
    if (mark.sign == "{{") names.push_back(mark.text);
  }
  return names;
}

std::string markdown_html(std::string_view text, const MarkRenderer& of) {
  std::string markdown;
  std::vector<std::string> pieces;
  std::size_t at = 0;
  for (const Mark& mark : marks_of(text)) {
    markdown +=
        fmt::format("{}{}{}{}", text.substr(at, mark.begin - at), placeholder_begin, pieces.size(), placeholder_end);
    pieces.push_back(render_mark(mark, of));
    at = mark.end;
  }
  markdown += text.substr(at);
  // cmark leaves out HTML and scripts in links.
  const std::unique_ptr<char, decltype(&std::free)> rendered(
      cmark_markdown_to_html(markdown.data(), markdown.size(), CMARK_OPT_DEFAULT), std::free);
  std::string_view rest(rendered.get());
  std::string html;
  for (;;) {
    const std::size_t begin = std::min(rest.find(placeholder_begin), rest.size());
    html += rest.substr(0, begin);
    if (begin == rest.size()) return html;
    rest.remove_prefix(begin + placeholder_begin.size());
    std::size_t piece = pieces.size();
    std::from_chars(rest.data(), rest.data() + rest.size(), piece);
    const std::size_t tag = html.rfind('<');
    const bool in_attribute = tag != std::string::npos && html.find('>', tag) == std::string::npos;
    if (piece < pieces.size() && !in_attribute) html += pieces[piece];
    rest.remove_prefix(std::min(rest.size(), rest.find(placeholder_end) + placeholder_end.size()));
  }
}

std::string line_html(std::string_view text, const MarkRenderer& of) {
  const std::string html = markdown_html(text, of);
  std::string_view line = html;
  constexpr std::string_view begin = "<p>";
  constexpr std::string_view end = "</p>\n";
  if (line.starts_with(begin) && line.ends_with(end)) {
    line.remove_prefix(begin.size());
    line.remove_suffix(end.size());
  }
  return std::string(line);
}

}  // namespace attnscope::analysis::lesson
