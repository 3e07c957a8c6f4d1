// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/formula.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "profiler/plan/text.h"

namespace attnscope::analysis::lesson {
namespace {

constexpr std::array symbols{
    std::pair{"alpha", "<mi>α</mi>"},       std::pair{"phi", "<mi>φ</mi>"},
    std::pair{"ell", "<mi>ℓ</mi>"},         std::pair{"Theta", "<mi>Θ</mi>"},
    std::pair{"infty", "<mi>∞</mi>"},       std::pair{"cdot", "<mo>·</mo>"},
    std::pair{"times", "<mo>×</mo>"},       std::pair{"approx", "<mo>≈</mo>"},
    std::pair{"le", "<mo>≤</mo>"},          std::pair{"ge", "<mo>≥</mo>"},
    std::pair{"sum", "<mo>∑</mo>"},         std::pair{"lceil", "<mo>⌈</mo>"},
    std::pair{"rceil", "<mo>⌉</mo>"},       std::pair{"max", "<mtext>max</mtext>"},
    std::pair{"min", "<mtext>min</mtext>"}, std::pair{"exp", "<mtext>exp</mtext>"},
    std::pair{"ln", "<mtext>ln</mtext>"},
};

constexpr int max_depth = 24;

std::string element(std::string_view name, std::string_view content) {
  return std::string("<").append(name).append(">").append(content).append("</").append(name).append(">");
}

class FormulaParser {
 public:
  explicit FormulaParser(std::string_view text) : text_(text) {}

  Result<std::string, Message> parse() {
    std::string all = row('\0', 0);
    if (!wrong_.empty()) return Failure{wrong_};
    return all;
  }

 private:
  [[nodiscard]] bool done() const { return at_ >= text_.size() || !wrong_.empty(); }
  [[nodiscard]] static bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
  [[nodiscard]] static bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

  /// Parses up to and including `end`, or to the end of the text.
  std::string row(char end, int depth) {
    std::string all;
    if (depth > max_depth) wrong_ = "formula: nested too deeply";
    while (!done() && text_[at_] != end) {
      if (text_[at_] == '}') wrong_ = "formula: unmatched brace";
      if (text_[at_] == ' ') {
        ++at_;
      } else {
        all += with_scripts(atom(depth), depth);
      }
    }
    if (end != '\0' && at_++ >= text_.size()) wrong_ = "formula: unmatched brace";
    return element("mrow", all);
  }

  std::string with_scripts(std::string base, int depth) {
    std::string below;
    std::string above;
    while (!done() && (text_[at_] == '^' || text_[at_] == '_')) {
      std::string& script = text_[at_++] == '^' ? above : below;
      script = argument(depth);
    }
    if (below.empty() && above.empty()) return base;
    const bool sum = base == "<mo>∑</mo>";
    const std::string name = std::string(sum ? "munder" : "msub");
    if (!below.empty() && !above.empty()) return element(sum ? "munderover" : "msubsup", base + below + above);
    return below.empty() ? element(sum ? "mover" : "msup", base + above) : element(name, base + below);
  }

  /// Parses {...} or a single atom.
  std::string argument(int depth) {
    while (!done() && text_[at_] == ' ') ++at_;
    if (!done()) return atom(depth + 1);
    wrong_ = "formula: missing argument at the end";
    return {};
  }

  std::string atom(int depth) {
    const std::size_t from = at_;
    const char c = text_[at_++];
    if (c == '{') return row('}', depth + 1);
    if (c == '\\') return command(depth);
    if (c == '^' || c == '_') wrong_ = "formula: missing base before ^ or _";
    if (is_letter(c)) return element("mi", std::string_view(&c, 1));
    if (is_digit(c)) {
      while (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.')) ++at_;
      return element("mn", text_.substr(from, at_ - from));
    }
    // UTF-8 continuation bytes
    while (at_ < text_.size() && (static_cast<unsigned char>(text_[at_]) & 0xC0U) == 0x80U) ++at_;
    // Parentheses do not stretch.
    if (std::string_view("()[]|").find(c) != std::string_view::npos) {
      return std::string("<mo stretchy=\"false\">") + c + "</mo>";
    }
    return element("mo", c == '-' ? "−" : markup(text_.substr(from, at_ - from)));
  }

  std::string command(int depth) {
    const std::size_t from = at_;
    while (at_ < text_.size() && is_letter(text_[at_])) ++at_;
    const std::string_view word = text_.substr(from, at_ - from);
    if (word == "frac") {
      const std::string above = argument(depth);
      return element("mfrac", above + argument(depth));
    }
    if (word == "sqrt") return element("msqrt", argument(depth));
    if (word == "text") {
      const std::size_t end = std::min(text_.find('}', at_), text_.size());
      if (end == text_.size() || text_[at_] != '{') {
        wrong_ = "formula: unmatched brace";
        return {};
      }
      const std::string_view words = text_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
      return element("mtext", markup(words));
    }
    const auto* const symbol = std::ranges::find_if(symbols, [&](const auto& each) { return word == each.first; });
    if (symbol != symbols.end()) return symbol->second;
    wrong_ = make_message("formula: unknown command '\\{}'", word);
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Message wrong_;
};

}  // namespace

Result<std::string, Message> mathml_of(std::string_view formula, bool display) {
  auto row = FormulaParser(formula).parse();
  if (!row.ok()) return row;
  return std::string("<math") + (display ? " display=\"block\"" : "") + ">" + *row + "</math>";
}

}  // namespace attnscope::analysis::lesson
