// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/lesson_text.h"

#include <cmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <utility>

#include "profiler/lesson/formula.h"
#include "profiler/lesson/front_matter_reader.h"
#include "profiler/plan/text.h"

namespace attnscope::analysis::lesson {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t first = std::min(text.find_first_not_of(blanks), text.size());
  text.remove_prefix(first);
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// An inline mark: $formula$, $$formula$$, {{value}} or [[term]].
struct Mark {
  std::string_view sign;  ///< opening delimiter
  std::size_t begin = 0;  ///< [begin, end) includes the delimiters
  std::size_t end = 0;    ///< npos if not closed
  std::string_view text{};
};

/// Finds all marks outside code that are not escaped.
std::vector<Mark> marks_of(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> signs{
      {{"$$", "$$"}, {"$", "$"}, {"{{", "}}"}, {"[[", "]]"}}};
  std::vector<Mark> marks;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const auto* const sign =
        std::ranges::find_if(signs, [&](const auto& each) { return rest.starts_with(each.first); });
    if (rest.front() == '`') {
      const std::string_view run = rest.substr(0, std::min(rest.find_first_not_of('`'), rest.size()));
      const std::size_t end = rest.find(run, run.size());
      at += end == std::string_view::npos ? run.size() : end + run.size();
    } else if (sign == signs.end()) {
      at += rest.front() == '\\' ? 2U : 1U;
    } else {
      const std::size_t begin = sign->first.size();
      const std::size_t end = rest.find(sign->second, begin);
      if (end == std::string_view::npos) {
        marks.push_back({sign->first, at, end});
        return marks;
      }
      marks.push_back({sign->first, at, at + end + sign->second.size(), trimmed(rest.substr(begin, end - begin))});
      at = marks.back().end;
    }
  }
  return marks;
}

std::pair<std::string_view, std::string_view> split_term(std::string_view text) {
  const std::size_t bar = text.find('|');
  if (bar == std::string_view::npos) return {text, text};
  return {text.substr(0, bar), text.substr(bar + 1)};
}

Message mark_problem(const Mark& mark, const KnownNames& known) {
  if (mark.end == std::string_view::npos) return make_message("unclosed '{}'", mark.sign);
  if (mark.sign == "{{") {
    return known.value(mark.text) ? Message() : make_message("unknown value '{}'", truncate_text(mark.text));
  }
  if (mark.sign == "[[") {
    const std::string_view term = split_term(mark.text).first;
    return known.term(term) ? Message()
                            : make_message("unknown term '{}' (add it to the glossary)", truncate_text(term));
  }
  const auto formula = mathml_of(mark.text, false);
  return formula.ok() ? Message() : formula.error();
}

class DocumentParser {
 public:
  DocumentParser(std::string file, std::string_view text, const KnownNames& known)
      : known_(known), lines_(lines_of(text)) {
    document_.file = std::move(file);
  }

  ParsedDocument parse() {
    front();
    while (at_ < lines_.size()) block();
    flush();
    std::ranges::stable_sort(problems_, {}, &TextProblem::line);
    return {std::move(document_), std::move(problems_)};
  }

 private:
  static int number(std::size_t line) { return static_cast<int>(line) + 1; }
  [[nodiscard]] std::string_view line() const { return at_ < lines_.size() ? trimmed(lines_[at_]) : ""; }
  void fail(std::size_t line, Message why) { problems_.push_back({document_.file, number(line), std::move(why)}); }

  void front() {
    if (line() != "---") {
      at_ = lines_.size();  // not a lesson text: report one problem only
      return fail(0, "missing front matter: the file must begin with '---'");
    }
    for (++at_; at_ < lines_.size(); ++at_) {
      const std::string_view line = trimmed(lines_[at_]);
      if (line == "---") {
        ++at_;
        return;
      }
      if (line.empty() || line.front() == '#') continue;
      const std::size_t colon = std::min(line.find(':'), line.size());
      const std::string key(trimmed(line.substr(0, colon)));
      if (key.empty() || colon == line.size()) {
        fail(at_, "invalid line in the front matter: expected 'key: value'");
      } else if (!document_.front.entries
                      .emplace(key, FrontMatter::Entry{std::string(trimmed(line.substr(colon + 1))), number(at_)})
                      .second) {
        fail(at_, make_message("duplicate key '{}' in the front matter", truncate_text(key)));
      }
    }
    fail(lines_.size() - 1, "unclosed front matter: missing '---'");
  }

  void block() {
    constexpr std::string_view picture = "::picture ";
    constexpr std::string_view asked = "::question ";
    if (!line().starts_with("::")) {
      if (text_.empty()) first_ = at_;
      text_.append(lines_[at_++]).append("\n");
      return;
    }
    flush();
    first_ = at_++;
    const std::string_view line = trimmed(lines_[first_]);
    if (line.starts_with(picture)) {
      document_.blocks.push_back({.kind = Block::Kind::picture,
                                  .line = number(first_),
                                  .text = std::string(trimmed(line.substr(picture.size())))});
    } else if (line.starts_with(asked)) {
      question(trimmed(line.substr(asked.size())));
    } else {
      fail(first_,
           make_message("unknown directive '{}' (available: ::picture, ::question, ::hint)", truncate_text(line)));
    }
  }

  void flush() {
    const std::string text = std::exchange(text_, {});
    if (trimmed(text).empty()) return;
    look_at(text, first_);
    document_.blocks.push_back({.line = number(first_), .text = text});
  }

  /// Reads up to an empty line, a choice or a directive.
  std::string paragraph() {
    std::string text;
    for (bool more = true; more && !line().empty(); more = !line().starts_with("- [") && !line().starts_with("::")) {
      text.append(line()).append("\n");
      ++at_;
    }
    return text;
  }

  void question(std::string_view id) {
    const std::size_t begin = first_;
    const std::size_t told = problems_.size();
    Question q{.id = std::string(id)};
    if (!is_name(id)) fail(begin, no_name(id));
    q.prompt = read_prefixed_text({});
    while (line().starts_with("- [")) q.choices.push_back(choice());
    if (line().starts_with("::hint ")) q.hint = read_prefixed_text("::hint ");
    while (!line().empty()) ++at_;
    if (problems_.size() > told) return;
    // The keys A to F select choices.
    const bool fits =
        q.choices.size() >= 2 && q.choices.size() <= 6 && std::ranges::count(q.choices, true, &Choice::right) == 1;
    if (q.prompt.empty() || !fits) {
      return fail(begin, "invalid question: expected a text and two to six choices, exactly one marked '- [x] '");
    }
    document_.blocks.push_back({.kind = Block::Kind::question, .line = number(begin), .question = std::move(q)});
  }

  std::string read_prefixed_text(std::string_view sign) {
    const std::size_t begin = at_;
    if (line().starts_with("- [")) return {};
    std::string text(trimmed(paragraph()).substr(sign.size()));
    look_at(text, begin);
    return text;
  }

  Choice choice() {
    const std::size_t begin = at_;
    std::string text(trimmed(paragraph()));
    const bool right = text.starts_with("- [x] ");
    const std::size_t explanation = text.find(" :: ");
    if ((!right && !text.starts_with("- [ ] ")) || explanation == std::string::npos) {
      fail(begin, "invalid choice: expected '- [ ] text :: consequence' or '- [x] text :: reason'");
      return {};
    }
    look_at(text, begin);
    return {.text = text.substr(6, explanation - 6), .right = right, .explanation = text.substr(explanation + 4)};
  }

  void look_at(std::string_view text, std::size_t line) {
    std::ranges::move(check_marks(document_.file, number(line), text, known_), std::back_inserter(problems_));
  }

  const KnownNames& known_;
  std::vector<std::string_view> lines_;
  std::size_t at_ = 0;
  std::size_t first_ = 0;  ///< line of text_
  std::string text_;       ///< Markdown not yet added as a block
  Document document_;
  std::vector<TextProblem> problems_;
};

/// Replaces HTML, links and images by plain text.
void remove_markup(cmark_node* root) {
  const std::unique_ptr<cmark_iter, decltype(&cmark_iter_free)> walk(cmark_iter_new(root), cmark_iter_free);
  std::vector<cmark_node*> gone;
  while (cmark_iter_next(walk.get()) != CMARK_EVENT_DONE) {
    cmark_node* node = cmark_iter_get_node(walk.get());
    const cmark_node_type type = cmark_node_get_type(node);
    if (type == CMARK_NODE_HEADING && cmark_iter_get_event_type(walk.get()) == CMARK_EVENT_ENTER) {
      cmark_node_set_heading_level(node,
                                   // <h1> is reserved for the page's title
                                   std::min(6, cmark_node_get_heading_level(node) + 1));
    }
    if (type == CMARK_NODE_CODE_BLOCK) cmark_node_set_fence_info(node, "");
    if (type == CMARK_NODE_HTML_BLOCK || type == CMARK_NODE_HTML_INLINE) {
      cmark_node* text = cmark_node_new(CMARK_NODE_TEXT);
      cmark_node_set_literal(text, cmark_node_get_literal(node));
      cmark_node* put = text;
      if (type == CMARK_NODE_HTML_BLOCK) {
        put = cmark_node_new(CMARK_NODE_PARAGRAPH);
        cmark_node_append_child(put, text);
      }
      cmark_node_insert_before(node, put);
      gone.push_back(node);
    }
    if ((type == CMARK_NODE_LINK || type == CMARK_NODE_IMAGE) &&
        cmark_iter_get_event_type(walk.get()) == CMARK_EVENT_EXIT) {
      while (cmark_node* child = cmark_node_first_child(node)) cmark_node_insert_before(node, child);
      gone.push_back(node);
    }
  }
  for (cmark_node* node : gone) cmark_node_free(node);
}

std::string render_mark(const Mark& mark, const MarkRenderer& of) {
  if (mark.sign == "{{") return of.value(mark.text);
  if (mark.sign == "[[") {
    const auto [term, said] = split_term(mark.text);
    return of.term(term, said);
  }
  const bool display = mark.sign == "$$";
  const std::string formula = mathml_of(mark.text, display).value();
  return display ? "<span class=\"formula\">" + formula + "</span>" : formula;
}

/// Placeholder delimiters in Markdown: private-use characters, which texts may not contain.
constexpr std::string_view placeholder_begin = "\uE000";
constexpr std::string_view placeholder_end = "\uE001";

}  // namespace

Message display_text(const TextProblem& problem) {
  if (problem.line == 0) return make_message("{}: {}", problem.file, problem.why);
  return make_message("{}:{}: {}", problem.file, problem.line, problem.why);
}

const std::string* FrontMatter::find(std::string_view key) const {
  const auto entry = entries.find(key);
  return entry == entries.end() ? nullptr : &entry->second.value;
}

std::string FrontMatter::text(std::string_view key) const {
  const std::string* found = find(key);
  return found == nullptr ? std::string() : *found;
}

std::optional<double> FrontMatter::number(std::string_view key) const {
  std::string_view text = find(key) == nullptr ? std::string_view() : std::string_view(*find(key));
  if (text.empty()) return std::nullopt;
  const double unit = text.back() == 'k' ? 1024 : text.back() == 'M' ? 1024.0 * 1024 : 1;
  if (unit != 1) text.remove_suffix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value * unit;
}

int FrontMatter::line_of(std::string_view key) const {
  const auto entry = entries.find(key);
  return entry == entries.end() ? 0 : entry->second.line;
}

ParsedDocument parse_document(std::string file, std::string_view text, const KnownNames& known) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // byte order mark
  const auto control = std::ranges::find_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r'; });
  const std::size_t bad = std::min(
      {first_invalid_utf8(text), static_cast<std::size_t>(control - text.begin()), text.find(placeholder_begin)});
  if (bad < text.size()) {
    const int line = static_cast<int>(1 + std::ranges::count(text.substr(0, bad), '\n'));
    return {.document{.file = file}, .problems{{file, line, "invalid UTF-8, control or private-use character"}}};
  }
  return DocumentParser(std::move(file), text, known).parse();
}

std::vector<TextProblem> check_marks(const std::string& file, int line, std::string_view text,
                                     const KnownNames& known) {
  std::vector<TextProblem> problems;
  for (const Mark& mark : marks_of(text)) {
    Message why = mark_problem(mark, known);
    if (why.empty()) continue;
    const auto lines = static_cast<int>(std::ranges::count(text.substr(0, mark.begin), '\n'));
    problems.push_back({file, line + lines, std::move(why)});
  }
  return problems;
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
  const std::unique_ptr<cmark_node, decltype(&cmark_node_free)> root(
      cmark_parse_document(markdown.data(), markdown.size(), CMARK_OPT_DEFAULT), cmark_node_free);
  remove_markup(root.get());
  const std::unique_ptr<char, decltype(&std::free)> rendered(cmark_render_html(root.get(), CMARK_OPT_DEFAULT),
                                                             std::free);
  const std::string_view all(rendered.get());
  std::string html;
  for (std::size_t from = 0;;) {
    const std::size_t begin = std::min(all.find(placeholder_begin, from), all.size());
    html += all.substr(from, begin - from);
    if (begin == all.size()) return html;
    std::size_t piece = 0;
    const char* const number = all.data() + begin + placeholder_begin.size();
    std::from_chars(number, all.data() + all.size(), piece);
    html += pieces.at(piece);
    from = all.find(placeholder_end, begin) + placeholder_end.size();
  }
}

std::string line_html(std::string_view text, const MarkRenderer& of) {
  const std::string html = markdown_html(text, of);
  std::string_view line = trimmed(html);
  constexpr std::string_view begin = "<p>";
  constexpr std::string_view end = "</p>";
  if (line.starts_with(begin) && line.ends_with(end)) {
    line.remove_prefix(begin.size());
    line.remove_suffix(end.size());
  }
  return std::string(line);
}

}  // namespace attnscope::analysis::lesson
