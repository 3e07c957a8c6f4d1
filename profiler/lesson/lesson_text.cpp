// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/lesson_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <sstream>
#include <utility>

#include "profiler/lesson/formula.h"
#include "profiler/lesson/front_keys.h"
#include "profiler/plan/text.h"
#include "profiler/points/markup.h"

namespace attnscope::analysis::lesson {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

/// The first byte that no text has: of no UTF-8, or of what controls a terminal; npos for none.
std::size_t first_no_text(std::string_view text) {
  const auto control = std::ranges::find_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r'; });
  const std::size_t bad = first_invalid_utf8(text);
  return control == text.end() ? bad : std::min(bad, static_cast<std::size_t>(control - text.begin()));
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.push_back(line);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

/// Up to the next `mark` that no backslash stands before; npos for none.
std::size_t end_of(std::string_view text, std::size_t from, std::string_view mark) {
  for (std::size_t at = from; at + mark.size() <= text.size(); ++at) {
    if (text[at] == '\\' && mark != "$") {
      ++at;
      continue;
    }
    if (text.substr(at, mark.size()) == mark) return at;
  }
  return std::string_view::npos;
}

struct Mark {
  std::string_view begin;
  std::string_view end;
  Span::Kind kind;
};
constexpr std::array marks{Mark{"{{", "}}", Span::Kind::value},  Mark{"[[", "]]", Span::Kind::term},
                           Mark{"**", "**", Span::Kind::strong}, Mark{"*", "*", Span::Kind::em},
                           Mark{"`", "`", Span::Kind::code},     Mark{"$", "$", Span::Kind::formula}};

/// The spans, or where the text cannot be read.
Result<std::vector<Span>, Message> read_spans(std::string_view text) {
  std::vector<Span> spans;
  std::string plain;
  const auto flush = [&] {
    if (!plain.empty()) spans.push_back({Span::Kind::text, std::exchange(plain, {})});
  };
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\\' && at + 1 < text.size()) {
      plain += text[at + 1];
      at += 2;
      continue;
    }
    const auto* const mark =
        std::ranges::find_if(marks, [&](const Mark& each) { return text.substr(at).starts_with(each.begin); });
    if (mark == marks.end()) {
      plain += text[at++];
      continue;
    }
    const std::size_t begin = at + mark->begin.size();
    const std::size_t end = end_of(text, begin, mark->end);
    if (end == std::string_view::npos)
      return Failure{make_message("'{}' has no other one in its paragraph", mark->begin)};
    flush();
    spans.push_back({mark->kind, std::string(text.substr(begin, end - begin))});
    at = end + mark->end.size();
  }
  flush();
  return spans;
}

class DocumentParser {
 public:
  DocumentParser(std::string file, std::string_view text, const std::function<bool(std::string_view)>& known)
      : known_(known), lines_(lines_of(text)) {
    document_.file = std::move(file);
  }

  ParsedDocument parse() {
    front();
    while (at_ < lines_.size()) {
      const std::size_t before = at_;
      block();
      if (at_ == before) ++at_;  // of a line that nobody could take
    }
    if (revealed_) fail(lines_.size() - 1, "::revealed stands in the line before a paragraph");
    std::ranges::stable_sort(problems_, {}, &TextProblem::line);
    return {std::move(document_), std::move(problems_)};
  }

 private:
  void fail(std::size_t line, Message why) {
    // A line that is wrong twice is told once.
    if (!told_.insert(number(line)).second) return;
    problems_.push_back({document_.file, number(line), std::move(why)});
  }

  void front() {
    if (lines_.empty() || trimmed(lines_[0]) != "---") {
      at_ = lines_.size();  // of a file that is none of the lesson's there is one thing to say
      return fail(0, "the file does not begin with '---' and a front matter");
    }
    for (at_ = 1; at_ < lines_.size(); ++at_) {
      const std::string_view line = trimmed(lines_[at_]);
      if (line == "---") {
        ++at_;
        return;
      }
      if (line.empty() || line.front() == '#') continue;
      const std::size_t colon = line.find(':');
      if (colon == std::string_view::npos || colon == 0) {
        fail(at_, "no 'key: value' of a front matter");
        continue;
      }
      const std::string key(trimmed(line.substr(0, colon)));
      const auto [entry, fresh] = document_.front.entries.emplace(
          key, Front::Entry{std::string(trimmed(line.substr(colon + 1))), static_cast<int>(at_) + 1});
      if (!fresh) fail(at_, make_message("'{}' stands in the front matter twice", clipped(key)));
    }
    fail(lines_.size() - 1, "the front matter has no '---' at its end");
  }

  void block() {
    const std::string_view line = trimmed(lines_[at_]);
    const std::size_t begin = at_;
    if (revealed_ && breaks(begin)) {
      fail(begin, "::revealed stands in the line before a paragraph");
      revealed_ = false;
    }
    if (line.empty()) {
      ++at_;
    } else if (line.starts_with("```")) {
      code();
    } else if (line.starts_with('#')) {
      const std::size_t level = std::min(line.find_first_not_of('#'), line.size());
      add({.kind = Block::Kind::heading,
           .line = number(begin),
           .text = std::string(trimmed(line.substr(level))),
           .level = static_cast<int>(level)});
      if (level > 3) fail(begin, "headings have at most three levels");
      ++at_;
    } else if (line.starts_with("$$")) {
      formula();
    } else if (line.starts_with("::picture ")) {
      add({.kind = Block::Kind::picture, .line = number(begin), .text = std::string(trimmed(line.substr(10)))});
      ++at_;
    } else if (line == "::revealed") {
      revealed_ = true;
      ++at_;
    } else if (line.starts_with("::question")) {
      question();
    } else if (line.starts_with("::")) {
      fail(begin, make_message("'{}' is none of ::picture, ::question and ::hint", clipped(line)));
    } else if (line.starts_with("- ")) {
      Block list{.kind = Block::Kind::list, .line = number(begin), .items = items()};
      for (const std::string& item : list.items) look_at(item, begin);
      add(std::move(list));
    } else {
      Block paragraph{
          .kind = Block::Kind::paragraph, .line = number(begin), .revealed = std::exchange(revealed_, false)};
      paragraph.text = text_until_break();
      look_at(paragraph.text, begin);
      add(std::move(paragraph));
    }
  }

  static int number(std::size_t line) { return static_cast<int>(line) + 1; }
  void add(Block block) {
    if (block.kind == Block::Kind::heading) look_at(block.text, static_cast<std::size_t>(block.line) - 1);
    document_.blocks.push_back(std::move(block));
  }

  void code() {
    Block code{.kind = Block::Kind::code, .line = number(at_)};
    const std::size_t begin = at_++;
    for (; at_ < lines_.size(); ++at_) {
      if (trimmed(lines_[at_]).starts_with("```")) {
        ++at_;
        return add(std::move(code));
      }
      code.text.append(lines_[at_]).append("\n");
    }
    fail(begin, "the code has no ``` at its end");
  }

  void formula() {
    const std::string_view line = trimmed(lines_[at_]);
    if (line.size() < 4 || !line.ends_with("$$")) return fail(at_, "'$$' has no other one in its paragraph");
    const std::string text(trimmed(line.substr(2, line.size() - 4)));
    if (const auto parsed = parse_formula(text); !parsed.ok()) fail(at_, parsed.error());
    add({.kind = Block::Kind::formula, .line = number(at_), .text = text});
    ++at_;
  }

  [[nodiscard]] bool breaks(std::size_t line) const {
    const std::string_view text = trimmed(lines_[line]);
    return text.empty() || text.starts_with("::") || text.starts_with("- ") || text.starts_with('#') ||
           text.starts_with("$$") || text.starts_with("```");
  }

  std::string text_until_break() {
    std::string text(trimmed(lines_[at_++]));
    while (at_ < lines_.size() && !breaks(at_)) join(text, trimmed(lines_[at_++]));
    return text;
  }

  /// Lines of one paragraph: Chinese has no blank between them.
  static void join(std::string& text, std::string_view next) {
    const bool wide = !text.empty() && (static_cast<unsigned char>(text.back()) & 0x80U) != 0 && !next.empty() &&
                      (static_cast<unsigned char>(next.front()) & 0x80U) != 0;
    text.append(wide ? "" : " ").append(next);
  }

  std::vector<std::string> items() {
    std::vector<std::string> items;
    while (at_ < lines_.size() && trimmed(lines_[at_]).starts_with("- ")) {
      items.emplace_back(trimmed(trimmed(lines_[at_++]).substr(2)));
      while (at_ < lines_.size() && !breaks(at_)) join(items.back(), trimmed(lines_[at_++]));
    }
    return items;
  }

  /// What is left of a question that cannot be read is no text of its own.
  void refuse(std::size_t line, Message why) {
    fail(line, std::move(why));
    while (at_ < lines_.size() && !trimmed(lines_[at_]).empty()) ++at_;
  }

  void question() {
    const std::size_t begin = at_;
    Block block{.kind = Block::Kind::question, .line = number(at_)};
    Question& q = block.question;
    q.id = trimmed(trimmed(lines_[at_++]).substr(10));
    if (q.id.empty()) return refuse(begin, "the question has no name");
    if (!is_name(q.id))
      return refuse(
          begin,
          make_message("'{}' is no name: letters a to z, digits and hyphens, 60 at most, a letter or digit first",
                       clipped(q.id)));
    if (at_ < lines_.size() && !breaks(at_)) q.prompt = text_until_break();
    if (q.prompt.empty()) return refuse(begin, "the question has no text");
    look_at(q.prompt, begin);
    const std::size_t first = at_;
    const std::size_t told = problems_.size();
    for (const std::string& item : items()) q.choices.push_back(choice(item, first));
    if (at_ < lines_.size() && trimmed(lines_[at_]).starts_with("::hint ")) {
      q.hint = trimmed(trimmed(lines_[at_++]).substr(7));
      while (at_ < lines_.size() && !breaks(at_)) join(q.hint, trimmed(lines_[at_++]));
      look_at(q.hint, begin);
    }
    if (problems_.size() > told) return;
    if (q.choices.size() < 2) return refuse(begin, "a question needs two choices at least");
    // Letters A to F choose on the keyboard.
    constexpr std::size_t most = 6;
    if (q.choices.size() > most) return refuse(begin, make_message("a question has {} choices at most", most));
    if (std::ranges::count(q.choices, true, &Choice::right) != 1)
      return refuse(begin, "one choice of a question has to be right ('- [x] '), and no more");
    add(std::move(block));
  }

  Choice choice(const std::string& item, std::size_t line) {
    const bool right = item.starts_with("[x] ");
    const std::size_t because = item.find(" :: ");
    if ((!right && !item.starts_with("[ ] ")) || because == std::string::npos) {
      fail(line, "a choice is '- [ ] its text :: what it would imply', or '- [x] ' for the right one");
      return {};
    }
    Choice made{.text = item.substr(4, because - 4), .right = right, .because = item.substr(because + 4)};
    look_at(made.text, line);
    look_at(made.because, line);
    return made;
  }

  void look_at(std::string_view text, std::size_t line) {
    const auto spans = read_spans(text);
    if (!spans.ok()) return fail(line, spans.error());
    for (const Span& span : *spans) {
      if (span.kind == Span::Kind::value && !known_(span.text)) {
        return fail(line, make_message("there is no value '{}'", clipped(span.text)));
      }
      if (span.kind != Span::Kind::formula) continue;
      if (const auto parsed = parse_formula(span.text); !parsed.ok()) return fail(line, parsed.error());
    }
  }

  const std::function<bool(std::string_view)>& known_;
  std::vector<std::string_view> lines_;
  std::size_t at_ = 0;
  Document document_;
  bool revealed_ = false;
  std::vector<TextProblem> problems_;
  std::set<int> told_;  ///< lines with a problem
};

}  // namespace

Message words_of(const TextProblem& problem) {
  if (problem.line == 0) return make_message("{}: {}", problem.file, problem.why);
  return make_message("{}:{}: {}", problem.file, problem.line, problem.why);
}

const std::string* Front::find(std::string_view key) const {
  const auto entry = entries.find(key);
  return entry == entries.end() ? nullptr : &entry->second.value;
}

std::string Front::text(std::string_view key) const {
  const std::string* found = find(key);
  return found == nullptr ? std::string() : *found;
}

std::optional<double> Front::number(std::string_view key) const {
  const std::string* found = find(key);
  if (found == nullptr || found->empty()) return std::nullopt;
  std::string_view text = *found;
  double unit = 1;
  if (text.back() == 'k') unit = 1024;
  if (text.back() == 'M') unit = 1024.0 * 1024;
  if (unit != 1) text.remove_suffix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value * unit;
}

std::vector<std::string> Front::words(std::string_view key) const {
  std::istringstream text{this->text(key)};
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  return words;
}

int Front::line_of(std::string_view key) const {
  const auto entry = entries.find(key);
  return entry == entries.end() ? 0 : entry->second.line;
}

ParsedDocument parse_document(std::string file, std::string_view text,
                              const std::function<bool(std::string_view)>& known_value) {
  const auto unread = [&](int line, Message why) {
    return ParsedDocument{.document{.file = file}, .problems{{file, line, std::move(why)}}};
  };
  if (text.size() > largest_text)
    return unread(0, make_message("the file is larger than a text of a lesson, which has {} bytes at most",
                                  grouped(largest_text)));
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // as some editors begin a file
  if (const std::size_t bad = first_no_text(text); bad != std::string_view::npos) {
    return unread(static_cast<int>(1 + std::ranges::count(text.substr(0, bad), '\n')),
                  "the line is no UTF-8 text, or has control characters in it");
  }
  return DocumentParser(std::move(file), text, known_value).parse();
}

std::vector<Span> spans_of(std::string_view text) {
  auto spans = read_spans(text);
  return spans.ok() ? std::move(spans).value() : std::vector<Span>{{Span::Kind::text, std::string(text)}};
}

std::pair<std::string_view, std::string_view> term_of(std::string_view text) {
  const std::size_t bar = text.find('|');
  if (bar == std::string_view::npos) return {text, text};
  return {text.substr(0, bar), text.substr(bar + 1)};
}

std::string line_html(std::string_view text, const LineHtml& of) {
  std::string html;
  for (const Span& span : spans_of(text)) {
    switch (span.kind) {
      case Span::Kind::text:
        html += markup(span.text);
        break;
      case Span::Kind::em:
        html += "<em>" + markup(span.text) + "</em>";
        break;
      case Span::Kind::strong:
        html += "<strong>" + markup(span.text) + "</strong>";
        break;
      case Span::Kind::code:
        html += "<code>" + markup(span.text) + "</code>";
        break;
      case Span::Kind::formula:
        if (const auto parsed = parse_formula(span.text); parsed.ok()) html += to_mathml(*parsed, false);
        break;
      case Span::Kind::value:
        html += of.value(span.text);
        break;
      case Span::Kind::term: {
        const auto [term, said] = term_of(span.text);
        html += of.term(term, said);
        break;
      }
    }
  }
  return html;
}

}  // namespace attnscope::analysis::lesson
