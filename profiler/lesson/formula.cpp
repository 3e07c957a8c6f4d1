// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/formula.h"
#include "profiler/points/markup.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace attnscope::analysis::lesson {
namespace {

using Kind = FormulaNode::Kind;

struct Symbol {
  std::string_view word;
  std::string_view text;
  Kind kind;
};
constexpr std::array symbols{
    Symbol{"alpha", "α", Kind::word},    Symbol{"phi", "φ", Kind::word},      Symbol{"beta", "β", Kind::word},
    Symbol{"ell", "ℓ", Kind::word},      Symbol{"Theta", "Θ", Kind::word},    Symbol{"infty", "∞", Kind::word},
    Symbol{"cdot", "·", Kind::symbol},   Symbol{"times", "×", Kind::symbol},  Symbol{"circ", "∘", Kind::symbol},
    Symbol{"approx", "≈", Kind::symbol}, Symbol{"le", "≤", Kind::symbol},     Symbol{"ge", "≥", Kind::symbol},
    Symbol{"to", "→", Kind::symbol},     Symbol{"sum", "∑", Kind::symbol},    Symbol{"lceil", "⌈", Kind::symbol},
    Symbol{"rceil", "⌉", Kind::symbol},  Symbol{"lfloor", "⌊", Kind::symbol}, Symbol{"rfloor", "⌋", Kind::symbol},
    Symbol{"max", "max", Kind::plain},   Symbol{"min", "min", Kind::plain},   Symbol{"exp", "exp", Kind::plain},
    Symbol{"ln", "ln", Kind::plain},
};

/// Deeper ones are nobody's formula.
constexpr int deepest = 24;

class FormulaParser {
 public:
  explicit FormulaParser(std::string_view text) : text_(text) {}

  Result<FormulaNode, Message> parse() {
    FormulaNode all = row('\0', 0);
    if (!wrong_.empty()) return Failure{wrong_};
    return all;
  }

 private:
  [[nodiscard]] bool done() const { return at_ >= text_.size() || !wrong_.empty(); }

  FormulaNode row(char end, int depth) {
    FormulaNode row;
    if (depth > deepest) wrong_ = "the formula is nested too deeply";
    while (!done() && text_[at_] != end) {
      if (text_[at_] == ' ') {
        ++at_;
        continue;
      }
      if (text_[at_] == '}') {
        wrong_ = "a brace of the formula has no other one";
        break;
      }
      row.children.push_back(with_scripts(atom(depth), depth));
    }
    if (end != '\0') {
      if (at_ >= text_.size()) wrong_ = "a brace of the formula has no other one";
      ++at_;
    }
    return row;
  }

  FormulaNode with_scripts(FormulaNode base, int depth) {
    FormulaNode below;
    FormulaNode above;
    bool some = false;
    while (!done() && (text_[at_] == '^' || text_[at_] == '_')) {
      const bool up = text_[at_++] == '^';
      (up ? above : below) = argument(depth);
      some = true;
    }
    if (!some) return base;
    return {Kind::script, {}, {std::move(base), std::move(below), std::move(above)}};
  }

  /// {...}, or the next atom alone.
  FormulaNode argument(int depth) {
    while (!done() && text_[at_] == ' ') ++at_;
    if (done()) {
      wrong_ = "the formula ends where something has to follow";
      return {};
    }
    if (text_[at_] != '{') return atom(depth + 1);
    ++at_;
    return row('}', depth + 1);
  }

  FormulaNode atom(int depth) {
    const char c = text_[at_];
    if (c == '{') {
      ++at_;
      return row('}', depth + 1);
    }
    if (c == '\\') return command(depth);
    const auto byte = static_cast<unsigned char>(c);
    if (std::isdigit(byte) != 0) {
      const std::size_t from = at_;
      while (at_ < text_.size() && (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '.'))
        ++at_;
      return {Kind::number, std::string(text_.substr(from, at_ - from)), {}};
    }
    if (std::isalpha(byte) != 0) return {Kind::word, std::string(1, text_[at_++]), {}};
    if (c == '^' || c == '_') {
      wrong_ = "nothing stands before ^ or _ in the formula";
      return {};
    }
    std::size_t bytes = 1;  // of a character beyond ASCII
    while (at_ + bytes < text_.size() && (static_cast<unsigned char>(text_[at_ + bytes]) & 0xC0U) == 0x80U) ++bytes;
    at_ += bytes;
    const std::string_view own = text_.substr(at_ - bytes, bytes);
    return {Kind::symbol, own == "-" ? "−" : std::string(own), {}};
  }

  FormulaNode command(int depth) {
    std::size_t end = at_ + 1;
    while (end < text_.size() && std::isalpha(static_cast<unsigned char>(text_[end])) != 0) ++end;
    const std::string_view word = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end;
    if (word == "frac") {
      FormulaNode above = argument(depth);
      return {Kind::fraction, {}, {std::move(above), argument(depth)}};
    }
    if (word == "sqrt") return {Kind::root, {}, {argument(depth)}};
    if (word == "tilde") return {Kind::accent, "~", {argument(depth)}};
    if (word == "text") return words();
    const auto* const symbol = std::ranges::find(symbols, word, &Symbol::word);
    if (symbol == symbols.end()) {
      wrong_ = make_message("the formula has '\\{}', which is none of the subset's words", word);
      return {};
    }
    return {symbol->kind, std::string(symbol->text), {}};
  }

  FormulaNode words() {
    const std::size_t end = text_.find('}', at_);
    if (at_ >= text_.size() || text_[at_] != '{' || end == std::string_view::npos) {
      wrong_ = "a brace of the formula has no other one";
      return {};
    }
    FormulaNode node{Kind::plain, std::string(text_.substr(at_ + 1, end - at_ - 1)), {}};
    at_ = end + 1;
    return node;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Message wrong_;
};

bool blank(const FormulaNode& node) {
  return node.kind == Kind::row && node.children.empty();
}

std::string element(std::string_view name, std::string_view content) {
  return std::string("<").append(name).append(">").append(content).append("</").append(name).append(">");
}

std::string mathml(const FormulaNode& node) {
  switch (node.kind) {
    case Kind::row: {
      std::string all;
      for (const FormulaNode& child : node.children) all += mathml(child);
      return element("mrow", all);
    }
    case Kind::word:
      return element("mi", markup(node.text));
    case Kind::number:
      return element("mn", markup(node.text));
    case Kind::symbol:
      // Parentheses keep their size: they stand around letters.
      if (std::string_view("()[]|").find(node.text) != std::string_view::npos) {
        return "<mo stretchy=\"false\">" + markup(node.text) + "</mo>";
      }
      return element("mo", markup(node.text));
    case Kind::plain:
      return element("mtext", markup(node.text));
    case Kind::fraction:
      return element("mfrac", mathml(node.children[0]) + mathml(node.children[1]));
    case Kind::root:
      return element("msqrt", mathml(node.children[0]));
    case Kind::accent:
      return element("mover", mathml(node.children[0]) + element("mo", markup(node.text)));
    case Kind::script: {
      const bool below = !blank(node.children[1]);
      const bool above = !blank(node.children[2]);
      const bool sum = node.children[0].kind == Kind::symbol && node.children[0].text == "∑";
      const std::string name = std::string(sum ? "munder" : "msub");
      const std::string base = mathml(node.children[0]);
      if (below && above) {
        return element(sum ? "munderover" : "msubsup", base + mathml(node.children[1]) + mathml(node.children[2]));
      }
      if (below) return element(name, base + mathml(node.children[1]));
      return element(sum ? "mover" : "msup", base + mathml(node.children[2]));
    }
  }
  return {};
}

}  // namespace

Result<FormulaNode, Message> parse_formula(std::string_view text) {
  return FormulaParser(text).parse();
}

std::string to_mathml(const FormulaNode& node, bool display) {
  return std::string("<math") + (display ? " display=\"block\"" : "") + ">" + mathml(node) + "</math>";
}

}  // namespace attnscope::analysis::lesson
