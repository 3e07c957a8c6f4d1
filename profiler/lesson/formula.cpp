// SPDX-License-Identifier: Apache-2.0
#include <cctype>
#include <map>

#include "profiler/lesson/lesson_text.h"
#include "profiler/plan/text.h"

namespace attnscope::analysis::lesson {
namespace {

std::string element(std::string_view name, std::string_view content) {
  return std::string("<").append(name).append(">").append(content).append("</").append(name).append(">");
}

/// Throws Message if the formula is invalid.
class FormulaParser {
 public:
  explicit FormulaParser(std::string_view text) : text_(text) {}

  std::string parse() {
    std::string all = row();
    if (at_ < text_.size()) throw Message("formula: unmatched brace");
    return all;
  }

 private:
  static bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
  static bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
  [[nodiscard]] char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  std::string_view take_while(bool (*accepts)(char)) {
    const std::size_t from = at_;
    while (at_ < text_.size() && accepts(text_[at_])) ++at_;
    return text_.substr(from, at_ - from);
  }

  /// Parses up to an unmatched brace or the end.
  std::string row() {
    std::string all;
    while (at_ < text_.size() && next() != '}') {
      if (next() == ' ') {
        ++at_;
      } else {
        all += with_scripts(atom());
      }
    }
    return element("mrow", all);
  }

  std::string with_scripts(const std::string& base) {
    std::string below;
    std::string above;
    while (next() == '^' || next() == '_') {
      std::string& script = text_[at_++] == '^' ? above : below;
      script = atom();
    }
    if (below.empty() && above.empty()) return base;
    const bool sum = base == "<mo>∑</mo>";
    if (above.empty()) return element(sum ? "munder" : "msub", base + below);
    if (below.empty()) return element(sum ? "mover" : "msup", base + above);
    return element(sum ? "munderover" : "msubsup", base + below + above);
  }

  /// Parses a letter, number, operator, command or group in braces.
  std::string atom() {
    constexpr int max_depth = 40;
    take_while([](char c) { return c == ' '; });
    if (at_ == text_.size() || depth_ == max_depth) throw Message("formula: missing argument, or nested too deeply");
    ++depth_;
    std::string parsed = atom_of(next());
    --depth_;
    return parsed;
  }

  std::string atom_of(char c) {
    if (is_digit(c)) return element("mn", take_while([](char each) { return is_digit(each) || each == '.'; }));
    const std::size_t from = at_++;
    if (c == '\\') return command(take_while(is_letter));
    if (c == '{') return group();
    if (is_letter(c)) return element("mi", text_.substr(from, 1));
    if (c == '^' || c == '_' || c == '}') throw Message("formula: missing base, or unmatched brace");
    // Parentheses do not stretch.
    if (std::string_view("()[]|").find(c) != std::string_view::npos)
      return std::string("<mo stretchy=\"false\">") + c + "</mo>";
    take_while([](char each) { return (static_cast<unsigned char>(each) & 0xC0U) == 0x80U; });  // rest of a character
    return element("mo", c == '-' ? "−" : markup(text_.substr(from, at_ - from)));
  }

  std::string group() {
    std::string content = row();
    if (next() != '}') throw Message("formula: unmatched brace");
    ++at_;
    return content;
  }

  std::string command(std::string_view word) {
    // Greek letters are upright: the embedded font has no italic ones.
    static const std::map<std::string_view, std::string_view> symbols{
        {"alpha", "<mtext>α</mtext>"}, {"phi", "<mtext>φ</mtext>"},   {"ell", "<mi>ℓ</mi>"},
        {"Theta", "<mtext>Θ</mtext>"}, {"infty", "<mi>∞</mi>"},       {"cdot", "<mo>·</mo>"},
        {"times", "<mo>×</mo>"},       {"approx", "<mo>≈</mo>"},      {"le", "<mo>≤</mo>"},
        {"ge", "<mo>≥</mo>"},          {"sum", "<mo>∑</mo>"},         {"max", "<mtext>max</mtext>"},
        {"min", "<mtext>min</mtext>"}, {"exp", "<mtext>exp</mtext>"}, {"ln", "<mtext>ln</mtext>"}};
    if (word == "sqrt") return element("msqrt", atom());
    if (word == "frac") {
      const std::string above = atom();
      return element("mfrac", above + atom());
    }
    const auto symbol = symbols.find(word);
    if (symbol == symbols.end()) throw make_message("formula: unknown command '\\{}'", word);
    return std::string(symbol->second);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<std::string, Message> mathml_of(std::string_view formula, bool display) {
  try {
    return std::string("<math") + (display ? " display=\"block\"" : "") + ">" + FormulaParser(formula).parse() +
           "</math>";
  } catch (const Message& error) {
    return Failure{error};
  }
}

}  // namespace attnscope::analysis::lesson
