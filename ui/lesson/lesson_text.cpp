// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lesson/lesson_text.h"

#include <QBuffer>
#include <QFontDatabase>
#include <QPainter>
#include <QVBoxLayout>
#include <string>
#include <utility>

#include "ui/lesson/formula_picture.h"
#include "ui/text/format.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

QString image_html(const FormulaPicture& formula, const QWidget& on) {
  const double ratio = on.devicePixelRatioF();
  QByteArray png;
  QBuffer buffer(&png);
  buffer.open(QIODevice::WriteOnly);
  formula.image(plot_colors(on.palette()).text, ratio).save(&buffer, "PNG");
  const QSizeF size = formula.size();
  return QStringLiteral("<img src='data:image/png;base64,%1' width='%2' height='%3' style='vertical-align:middle'>")
      .arg(QString::fromLatin1(png.toBase64()))
      .arg(qRound(size.width()))
      .arg(qRound(size.height()));
}

QString formula_html(const std::string& text, const QWidget& on) {
  auto parsed = lesson::parse_formula(text);
  if (!parsed.ok()) return to_qstring(text).toHtmlEscaped();
  if (const auto flat = flat_formula(*parsed)) return *flat;
  return image_html(FormulaPicture(std::move(parsed).value(), on.font()), on);
}

QString value_html(const LessonData& about, const lesson::Setting& setting, std::string_view name, const QWidget& on) {
  const QString muted = plot_colors(on.palette()).muted.name();
  const lesson::ValueName* known = lesson::find_value(name);
  const auto value = known == nullptr ? std::nullopt : known->of(setting, about.evidence());
  if (!value) {
    return QStringLiteral("<span style='color:%1'>(%2)</span>").arg(muted, about.word("no_data").toHtmlEscaped());
  }
  QString html = QStringLiteral("<b>%1</b>").arg(QString::fromStdString(value->text).toHtmlEscaped());
  if (!value->origin.empty()) {
    html += QStringLiteral(" <small style='color:%1'>%2</small>").arg(muted, about.word(value->origin).toHtmlEscaped());
  }
  return html;
}

/// A formula on a line of its own.
class FormulaView : public QWidget {
 public:
  FormulaView(lesson::FormulaNode node, QWidget* parent)
      : QWidget(parent), formula_(std::move(node), scaled_font(*parent, 1.15)) {
    const QSizeF size = formula_.size();
    setFixedHeight(qRound(size.height()) + 16);
    setMinimumWidth(qRound(size.width()) + 28);
  }

 protected:
  void paintEvent(QPaintEvent* /*event*/) override {
    QPainter painter(this);
    formula_.paint(painter, {20, 8}, plot_colors(palette()).text);
  }

 private:
  FormulaPicture formula_;
};

QWidget* formula_block(const std::string& text, QWidget* parent) {
  auto parsed = lesson::parse_formula(text);
  if (!parsed.ok()) return nullptr;
  return new FormulaView(std::move(parsed).value(), parent);
}

}  // namespace

QFont scaled_font(const QWidget& widget, double scale) {
  QFont font = widget.font();
  font.setPointSizeF(font.pointSizeF() * scale);
  return font;
}

void mute(QLabel& label) {
  QPalette colors = label.palette();
  colors.setColor(QPalette::WindowText, plot_colors(colors).muted);
  label.setPalette(colors);
}

QString line_rich(const LessonData& about, const lesson::Setting& setting, std::string_view line, const QWidget& on) {
  QString html;
  for (const lesson::Span& span : lesson::spans_of(line)) {
    const QString text = QString::fromStdString(span.text);
    switch (span.kind) {
      case lesson::Span::Kind::text:
        html += text.toHtmlEscaped();
        break;
      case lesson::Span::Kind::em:
        html += QStringLiteral("<i>%1</i>").arg(text.toHtmlEscaped());
        break;
      case lesson::Span::Kind::strong:
        html += QStringLiteral("<b>%1</b>").arg(text.toHtmlEscaped());
        break;
      case lesson::Span::Kind::code:
        html += QStringLiteral("<code>%1</code>").arg(text.toHtmlEscaped());
        break;
      case lesson::Span::Kind::formula:
        html += formula_html(span.text, on);
        break;
      case lesson::Span::Kind::value:
        html += value_html(about, setting, span.text, on);
        break;
    }
  }
  return html;
}

LessonText::LessonText(const LessonData& about, const lesson::Setting& setting, std::string_view line, QWidget* parent,
                       double scale)
    : QLabel(parent) {
  setWordWrap(true);
  setTextFormat(Qt::RichText);
  setTextInteractionFlags(Qt::TextSelectableByMouse);
  setFocusPolicy(Qt::NoFocus);  // the arrow keys step
  if (scale != 1) setFont(scaled_font(*parent, scale));
  setText(line_rich(about, setting, line, *this));
}

QWidget* text_block(const LessonData& about, const lesson::Setting& setting, const lesson::Block& block,
                    QWidget* parent) {
  switch (block.kind) {
    case lesson::Block::Kind::paragraph:
      return new LessonText(about, setting, block.text, parent);
    case lesson::Block::Kind::heading:
      return new LessonText(about, setting, "**" + block.text + "**", parent, 1.9 - 0.25 * block.level);
    case lesson::Block::Kind::list: {
      auto* list = new LessonText(about, setting, {}, parent);
      QString items;
      for (const std::string& item : block.items) {
        items += QStringLiteral("<li>%1</li>").arg(line_rich(about, setting, item, *list));
      }
      list->setText(QStringLiteral("<ul>%1</ul>").arg(items));
      return list;
    }
    case lesson::Block::Kind::code: {
      auto* code = new QLabel(QString::fromStdString(block.text), parent);
      code->setTextFormat(Qt::PlainText);
      code->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
      return code;
    }
    case lesson::Block::Kind::formula:
      return formula_block(block.text, parent);
    case lesson::Block::Kind::picture:
    case lesson::Block::Kind::question:
      return nullptr;
  }
  return nullptr;
}

}  // namespace attnscope::ui
