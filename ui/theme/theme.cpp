// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/theme/theme.h"

#include <QApplication>
#include <QEvent>
#include <QFocusEvent>
#include <QIcon>
#include <QLabel>
#include <QPainter>
#include <QPointer>
#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/theme/control_style.h"

// Q_INIT_RESOURCE must not be in a namespace.
static void initialize_resources() {
  Q_INIT_RESOURCE(attnscope);
}

namespace attnscope::ui {
namespace {

struct Roles {
  QRgb window, base, alternate, text, muted, button, highlight, link, tooltip;
};
constexpr Roles contrast_roles{0xff000000, 0xff000000, 0xff1a1a1a, 0xffffffff, 0xffb8b8b8,
                               0xff202020, 0xffffd800, 0xff7fd4ff, 0xff000000};

Roles token_roles(bool dark) {
  using style::Token;
  const auto token = [dark](Token each) { return style::color(each).in(dark); };
  const style::Rgb button = style::mix(token(Token::window), token(Token::ink), dark ? 0.07 : 0.05);
  return {.window = token(Token::window),
          .base = token(Token::surface),
          .alternate = style::mix(token(Token::surface), token(Token::window), 0.6),
          .text = token(Token::ink),
          .muted = token(Token::muted),
          .button = button,
          .highlight = token(Token::accent),
          .link = token(Token::accent),
          .tooltip = dark ? button : token(Token::surface)};
}

QPalette make_palette(const Roles& roles) {
  QPalette palette{QColor(roles.button), QColor(roles.window)};
  const QColor text(roles.text);
  const QColor muted(roles.muted);
  palette.setColor(QPalette::Window, QColor(roles.window));
  palette.setColor(QPalette::WindowText, text);
  palette.setColor(QPalette::Base, QColor(roles.base));
  palette.setColor(QPalette::AlternateBase, QColor(roles.alternate));
  palette.setColor(QPalette::Text, text);
  palette.setColor(QPalette::Button, QColor(roles.button));
  palette.setColor(QPalette::ButtonText, text);
  palette.setColor(QPalette::BrightText, Qt::white);
  palette.setColor(QPalette::Highlight, QColor(roles.highlight));
  palette.setColor(QPalette::HighlightedText, contrasting_color(QColor(roles.highlight)));
  palette.setColor(QPalette::Link, QColor(roles.link));
  palette.setColor(QPalette::ToolTipBase, QColor(roles.tooltip));
  palette.setColor(QPalette::ToolTipText, text);
  palette.setColor(QPalette::PlaceholderText, muted);
  for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
    palette.setColor(QPalette::Disabled, role, muted);
  }
  palette.setColor(QPalette::Disabled, QPalette::Highlight, muted);
  return palette;
}

QColor mix(const QColor& a, const QColor& b, double share_of_b) {
  return {style::mix(a.rgb() & RGB_MASK, b.rgb() & RGB_MASK, share_of_b)};
}

QPalette& system_palette() {
  static QPalette palette;
  return palette;
}

/// Makes labels and tooltips plain text unless set otherwise. Qt would render file content that looks like HTML,
/// including images.
class PlainLabels : public QObject {
 public:
  using QObject::QObject;

  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() == QEvent::Polish) {
      auto* label = qobject_cast<QLabel*>(watched);
      if (label != nullptr && label->textFormat() == Qt::AutoText) label->setTextFormat(Qt::PlainText);
    }
    return QObject::eventFilter(watched, event);
  }
};

class Ring : public QWidget {
 public:
  explicit Ring(QWidget* around) : QWidget(around) {
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setGeometry(around->rect());
    show();
    raise();
  }

 protected:
  void paintEvent(QPaintEvent* /*event*/) override { draw_focus_ring(*this, *this); }
};

/// Draws a ring around the widget with keyboard focus; Fusion shows none for lists without a current row, plots, texts
/// and default buttons.
class FocusRing : public QObject {
 public:
  using QObject::QObject;

  bool eventFilter(QObject* watched, QEvent* event) override {
    if ((event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut) && watched->isWidgetType()) {
      move_to(*static_cast<QWidget*>(watched), *static_cast<QFocusEvent*>(event));
    } else if (ring_ != nullptr && watched == ring_->parent() && event->type() == QEvent::Resize) {
      ring_->setGeometry(static_cast<QWidget*>(watched)->rect());
    }
    return QObject::eventFilter(watched, event);
  }

 private:
  void move_to(QWidget& watched, const QFocusEvent& event) {
    const Qt::FocusReason reason = event.reason();
    // Focus returns from another window or menu to the same widget.
    if (reason == Qt::ActiveWindowFocusReason || reason == Qt::PopupFocusReason) return;
    const bool by_key =
        reason == Qt::TabFocusReason || reason == Qt::BacktabFocusReason || reason == Qt::ShortcutFocusReason;
    if (event.gotFocus() ? by_key : ring_ != nullptr && &watched == ring_->parent()) delete ring_;
    if (event.gotFocus() && by_key) ring_ = new Ring(&watched);
  }

  QPointer<QWidget> ring_;
};

}  // namespace

bool is_high_contrast(const QPalette& palette) {
  const auto lightness = [&](QPalette::ColorRole role) { return palette.color(QPalette::Active, role).lightness(); };
  return lightness(QPalette::Text) - lightness(QPalette::Base) > 250;
}

void draw_focus_ring(QPaintDevice& on, const QWidget& around) {
  constexpr double width = 2;
  QPainter painter(&on);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(around.palette().color(QPalette::Active, QPalette::Highlight), width));
  painter.drawRoundedRect(QRectF(around.rect()).adjusted(width / 2, width / 2, -width / 2, -width / 2), corner_radius,
                          corner_radius);
}

QString to_string(ThemeChoice choice) {
  if (choice == ThemeChoice::light) return QStringLiteral("light");
  if (choice == ThemeChoice::dark) return QStringLiteral("dark");
  if (choice == ThemeChoice::contrast) return QStringLiteral("contrast");
  return QStringLiteral("system");
}

ThemeChoice parse_theme(const QString& word) {
  if (word == QLatin1String("light")) return ThemeChoice::light;
  if (word == QLatin1String("dark")) return ThemeChoice::dark;
  if (word == QLatin1String("contrast")) return ThemeChoice::contrast;
  return ThemeChoice::system;
}

void initialize_style() {
  initialize_resources();
  qApp->installEventFilter(new PlainLabels(qApp));
  qApp->installEventFilter(new FocusRing(qApp));
  QApplication::setStyle(make_control_style());  // owned by the application
  system_palette() = QApplication::palette();
  (void)system_text_size();  // stores the size before the font is enlarged
  QApplication::setWindowIcon(QIcon(QStringLiteral(":/icons/attnscope.svg")));
}

double system_text_size() {
  static const double points = QApplication::font().pointSizeF();
  return points;
}

double font_scale(const QFont& font) {
  return std::max(1.0, font.pointSizeF() / system_text_size());
}

void apply_theme(ThemeChoice choice) {
  QApplication::setPalette(choice == ThemeChoice::light      ? make_palette(token_roles(false))
                           : choice == ThemeChoice::dark     ? make_palette(token_roles(true))
                           : choice == ThemeChoice::contrast ? make_palette(contrast_roles)
                                                             : system_palette());
}

PlotColors plot_colors(const QPalette& palette) {
  // Called for each cell of a table or picture.
  thread_local std::pair<qint64, PlotColors> last{-1, {}};
  if (last.first == palette.cacheKey()) return last.second;
  PlotColors colors;
  colors.background = palette.color(QPalette::Active, QPalette::Base);
  colors.text = palette.color(QPalette::Active, QPalette::Text);
  colors.dark = colors.background.lightness() < 128;
  if (is_high_contrast(palette)) {
    colors.muted = mix(colors.text, colors.background, 0.25);
    colors.axis = colors.muted;
    colors.grid = mix(colors.text, colors.background, 0.6);
    colors.hatch = mix(colors.text, colors.background, 0.5);
  } else {
    colors.muted = token_color(style::Token::muted, colors.dark);
    colors.axis = token_color(style::Token::reference, colors.dark);
    colors.grid = token_color(style::Token::grid, colors.dark);
    colors.hatch = mix(colors.grid, colors.axis, 0.4);
  }
  colors.panel = palette.color(QPalette::Active, QPalette::ToolTipBase);
  // Some system palettes have yellow tooltips on black; keep hover boxes readable.
  if ((colors.panel.lightness() < 128) != colors.dark) colors.panel = colors.background;
  colors.accent = palette.color(QPalette::Active, QPalette::Highlight);
  colors.wrong = token_color(style::Token::error, colors.dark);
  last = {palette.cacheKey(), colors};
  return colors;
}

QColor token_color(style::Token token, bool dark) {
  return {style::color(token).in(dark)};
}

QColor identity_color(style::PlotIdentity identity, bool dark) {
  return {style::color(identity).in(dark)};
}

QColor algorithm_color(std::string_view algorithm, bool dark) {
  return identity_color(style::identity_of(algorithm), dark);
}

QColor disposition_color(Disposition disposition, bool dark) {
  const auto token = [disposition] {
    switch (disposition) {
      case Disposition::ok:
      case Disposition::infeasible:
      case Disposition::cancelled:
        return style::Token::muted;
      case Disposition::no_counters:
      case Disposition::out_of_memory:
        return style::Token::slower;
      case Disposition::incorrect:
      case Disposition::compile_error:
      case Disposition::timeout:
      case Disposition::crashed:
        break;
    }
    return style::Token::error;
  };
  return token_color(token(), dark);
}

QColor with_opacity(QColor color, double opacity) {
  color.setAlphaF(static_cast<float>(opacity));
  return color;
}

QColor contrasting_color(const QColor& background) {
  return {style::readable_on(background.rgb() & RGB_MASK)};
}

}  // namespace attnscope::ui
