// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/theme/theme.h"

#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QEvent>
#include <QFocusEvent>
#include <QIcon>
#include <QLabel>
#include <QPainter>
#include <QPainterPath>
#include <QPointer>
#include <QProxyStyle>
#include <QStyleFactory>
#include <QStyleOption>
#include <algorithm>
#include <array>
#include <utility>

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
  const std::pair<QPalette::ColorRole, QRgb> colors[] = {
      {QPalette::Window, roles.window},    {QPalette::WindowText, roles.text},
      {QPalette::Base, roles.base},        {QPalette::AlternateBase, roles.alternate},
      {QPalette::Text, roles.text},        {QPalette::Button, roles.button},
      {QPalette::ButtonText, roles.text},  {QPalette::Highlight, roles.highlight},
      {QPalette::Link, roles.link},        {QPalette::ToolTipBase, roles.tooltip},
      {QPalette::ToolTipText, roles.text}, {QPalette::PlaceholderText, roles.muted}};
  for (const auto& [role, color] : colors) palette.setColor(role, QColor(color));
  palette.setColor(QPalette::BrightText, Qt::white);
  palette.setColor(QPalette::HighlightedText, contrasting_color(QColor(roles.highlight)));
  for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
    palette.setColor(QPalette::Disabled, role, QColor(roles.muted));
  }
  palette.setColor(QPalette::Disabled, QPalette::Highlight, QColor(roles.muted));
  return palette;
}

QColor mix(const QColor& a, const QColor& b, double share_of_b) {
  return {style::mix(a.rgb() & RGB_MASK, b.rgb() & RGB_MASK, share_of_b)};
}

double scale_of(const QWidget* widget) {
  return font_scale(widget != nullptr ? widget->font() : QApplication::font());
}

QPalette::ColorGroup group_of(const QStyleOption& option) {
  return (option.state & QStyle::State_Enabled) != 0 ? QPalette::Active : QPalette::Disabled;
}

/// Border of controls, 3:1 on the window.
QColor border_color(const QStyleOption& option) {
  const bool sharp = is_high_contrast(option.palette);
  if ((option.state & QStyle::State_Enabled) == 0) {
    return sharp ? option.palette.color(QPalette::Disabled, QPalette::Text) : plot_colors(option.palette).grid;
  }
  return sharp ? option.palette.color(QPalette::Active, QPalette::Text) : plot_colors(option.palette).axis;
}

QColor button_color(const QStyleOption& option) {
  const QColor base = option.palette.color(group_of(option), QPalette::Button);
  if ((option.state & QStyle::State_Enabled) == 0) return option.palette.color(QPalette::Disabled, QPalette::Window);
  const QColor ink = option.palette.color(QPalette::Active, QPalette::ButtonText);
  if ((option.state & (QStyle::State_Sunken | QStyle::State_On)) != 0) return mix(base, ink, 0.16);
  return (option.state & QStyle::State_MouseOver) != 0 ? mix(base, ink, 0.07) : base;
}

void draw_box(QPainter& painter, const QRect& rect, const QColor& fill, const QColor& border, double width = 1) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(border, width));
  painter.setBrush(fill);
  const double half = width / 2;
  painter.drawRoundedRect(QRectF(rect).adjusted(half, half, -half, -half), corner_radius, corner_radius);
  painter.restore();
}

void draw_field(QPainter& painter, const QStyleOption& option) {
  const bool focused = (option.state & QStyle::State_HasFocus) != 0;
  draw_box(painter, option.rect, option.palette.color(group_of(option), QPalette::Base),
           focused ? option.palette.color(QPalette::Active, QPalette::Highlight) : border_color(option),
           focused ? 2 : 1);
}

void draw_chevron(QPainter& painter, const QStyleOption& option, const QRect& in, bool up, double scale) {
  const double half = std::min(3.5 * scale, in.width() / 2.0 - 1);
  const double high = std::min(half, in.height() / 2.0 - 1) * (up ? -1 : 1);
  const QPointF middle = QRectF(in).center();
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(option.palette.color(group_of(option), QPalette::ButtonText), 1.4 * scale, Qt::SolidLine,
                      Qt::RoundCap, Qt::RoundJoin));
  painter.drawPolyline(
      QPolygonF{middle + QPointF(-half, -high / 2), middle + QPointF(0, high / 2), middle + QPointF(half, -high / 2)});
  painter.restore();
}

/// Style of all controls: Fusion with flat surfaces, rounded corners and sizes that scale with text.
class ControlStyle : public QProxyStyle {
 public:
  ControlStyle() : QProxyStyle(QStyleFactory::create(QStringLiteral("Fusion"))) {}

  int pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const override {
    if (metric == PM_FocusFrameHMargin) return 6;
    const int own = QProxyStyle::pixelMetric(metric, option, widget);
    switch (metric) {
      case PM_IndicatorWidth:
      case PM_IndicatorHeight:
      case PM_ExclusiveIndicatorWidth:
      case PM_ExclusiveIndicatorHeight:
      case PM_SliderThickness:
      case PM_SliderControlThickness:
      case PM_SliderLength:
      case PM_ScrollBarExtent:
      case PM_MenuButtonIndicator:
      case PM_HeaderMarkSize:
      case PM_TabBarIconSize:
      case PM_ButtonIconSize:
        return qRound(own * scale_of(widget));
      default:
        return own;
    }
  }

  int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                QStyleHintReturn* data) const override {
    // Controls are not animated, also without a reduced-motion setting.
    return hint == SH_Widget_Animation_Duration ? 0 : QProxyStyle::styleHint(hint, option, widget, data);
  }

  QRect subControlRect(ComplexControl control, const QStyleOptionComplex* option, SubControl part,
                       const QWidget* widget) const override {
    const QRect own = QProxyStyle::subControlRect(control, option, part, widget);
    if (control != CC_SpinBox && control != CC_ComboBox) return own;
    const int more = room_for_arrows(widget);
    const bool arrows =
        control == CC_SpinBox ? part == SC_SpinBoxUp || part == SC_SpinBoxDown : part == SC_ComboBoxArrow;
    const bool field = control == CC_SpinBox ? part == SC_SpinBoxEditField : part == SC_ComboBoxEditField;
    return own.adjusted(arrows ? -more : 0, 0, field ? -more : 0, 0);
  }

  QSize sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& size,
                         const QWidget* widget) const override {
    QSize own = QProxyStyle::sizeFromContents(type, option, size, widget);
    if (type == CT_SpinBox || type == CT_ComboBox) own += QSize(room_for_arrows(widget), 0);
    const bool inner = type == CT_LineEdit && is_inner(widget);
    const bool control = type == CT_SpinBox || type == CT_ComboBox || type == CT_PushButton || type == CT_LineEdit;
    return control && !inner ? own.expandedTo({0, qRound(control_height * scale_of(widget))}) : own;
  }

  QRect subElementRect(SubElement element, const QStyleOption* option, const QWidget* widget) const override {
    const QRect own = QProxyStyle::subElementRect(element, option, widget);
    return element == SE_LineEditContents && !is_inner(widget) ? own.adjusted(4, 0, -4, 0) : own;
  }

  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override {
    switch (element) {
      case PE_PanelItemViewRow: {
        const auto* item = qstyleoption_cast<const QStyleOptionViewItem*>(option);
        if (item == nullptr || (item->state & State_Selected) != 0) break;
        // Drawn behind every table cell: skips Fusion's costly color computation.
        if ((item->features & QStyleOptionViewItem::Alternate) != 0) {
          painter->fillRect(item->rect, item->palette.brush(QPalette::AlternateBase));
        }
        return;
      }
      case PE_PanelButtonCommand:
        return draw_button(*painter, *option);
      case PE_PanelButtonTool: {
        constexpr State acts = State_MouseOver | State_Sunken | State_On;
        if ((option->state & State_AutoRaise) != 0 && (option->state & acts) == 0) return;
        return draw_box(*painter, option->rect, button_color(*option), border_color(*option));
      }
      case PE_PanelLineEdit: {
        const auto* frame = qstyleoption_cast<const QStyleOptionFrame*>(option);
        if (frame == nullptr || frame->lineWidth == 0) break;  // Inside another control.
        return draw_field(*painter, *option);
      }
      case PE_FrameDefaultButton:
        return;
      case PE_IndicatorCheckBox:
      case PE_IndicatorItemViewItemCheck:
        return draw_check_box(*painter, *option);
      default:
        break;
    }
    QProxyStyle::drawPrimitive(element, option, painter, widget);
    if (element == PE_Frame && is_high_contrast(option->palette)) {
      draw_box(*painter, option->rect, Qt::transparent, border_color(*option));
    }
  }

  void drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
                   const QWidget* widget) const override {
    if (element == CE_TabBarTabShape) {
      if (const auto* tab = qstyleoption_cast<const QStyleOptionTab*>(option)) return draw_tab(*painter, *tab);
    }
    if (element == CE_HeaderSection) {
      painter->fillRect(option->rect, option->palette.color(QPalette::Window));
      painter->setPen(plot_colors(option->palette).grid);
      painter->drawLine(option->rect.bottomLeft(), option->rect.bottomRight());
      painter->drawLine(option->rect.topRight(), option->rect.bottomRight());
      return;
    }
    QProxyStyle::drawControl(element, option, painter, widget);
  }

  void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                          const QWidget* widget) const override {
    const auto part = [&](SubControl which) { return proxy()->subControlRect(control, option, which, widget); };
    if (control == CC_ComboBox) {
      const auto* combo = qstyleoption_cast<const QStyleOptionComboBox*>(option);
      if (combo != nullptr && combo->editable) {
        draw_field(*painter, *option);
      } else {
        draw_box(*painter, option->rect, button_color(*option), border_color(*option));
      }
      return draw_chevron(*painter, *option, part(SC_ComboBoxArrow), false, scale_of(widget));
    }
    if (control == CC_SpinBox) {
      draw_field(*painter, *option);
      const auto* box = qstyleoption_cast<const QStyleOptionSpinBox*>(option);
      if (box != nullptr && box->buttonSymbols == QAbstractSpinBox::NoButtons) return;
      draw_chevron(*painter, *option, part(SC_SpinBoxUp), true, scale_of(widget));
      return draw_chevron(*painter, *option, part(SC_SpinBoxDown), false, scale_of(widget));
    }
    const auto* slider = qstyleoption_cast<const QStyleOptionSlider*>(option);
    if (control == CC_Slider && slider != nullptr && slider->orientation == Qt::Horizontal) {
      return draw_slider(*painter, *option, part(SC_SliderGroove), part(SC_SliderHandle), slider->upsideDown);
    }
    QProxyStyle::drawComplexControl(control, option, painter, widget);
  }

 private:
  /// Returns whether a line edit is part of another control.
  static bool is_inner(const QWidget* widget) {
    const QWidget* parent = widget == nullptr ? nullptr : widget->parentWidget();
    return qobject_cast<const QAbstractSpinBox*>(parent) != nullptr ||
           qobject_cast<const QComboBox*>(parent) != nullptr;
  }
  static int room_for_arrows(const QWidget* widget) {
    constexpr int own = 14;
    return qRound(own * (scale_of(widget) - 1));
  }

  static void draw_button(QPainter& painter, const QStyleOption& option) {
    const auto* button = qstyleoption_cast<const QStyleOptionButton*>(&option);
    const bool flat = button != nullptr && (button->features & QStyleOptionButton::Flat) != 0;
    if (flat && (option.state & (State_MouseOver | State_Sunken | State_On)) == 0) return;
    const bool chosen = button != nullptr && (button->features & QStyleOptionButton::DefaultButton) != 0;
    const QColor border = chosen ? option.palette.color(QPalette::Active, QPalette::Highlight) : border_color(option);
    draw_box(painter, option.rect, button_color(option), border, chosen ? 2 : 1);
  }

  static void draw_check_box(QPainter& painter, const QStyleOption& option) {
    const bool on = (option.state & State_On) != 0;
    const QColor accent = option.palette.color(group_of(option), QPalette::Highlight);
    const QRectF box = QRectF(option.rect).adjusted(0.5, 0.5, -0.5, -0.5);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(on ? accent : border_color(option), (option.state & State_HasFocus) != 0 ? 2.0 : 1.2));
    painter.setBrush(on ? accent : option.palette.color(QPalette::Base));
    painter.drawRoundedRect(box, 2.5, 2.5);
    if (on) {
      QPainterPath tick(box.topLeft() + QPointF(0.22 * box.width(), 0.52 * box.height()));
      tick.lineTo(box.topLeft() + QPointF(0.42 * box.width(), 0.73 * box.height()));
      tick.lineTo(box.topLeft() + QPointF(0.78 * box.width(), 0.28 * box.height()));
      painter.setPen(QPen(option.palette.color(QPalette::HighlightedText), 1.8, Qt::SolidLine, Qt::RoundCap));
      painter.setBrush(Qt::NoBrush);
      painter.drawPath(tick);
    }
    painter.restore();
  }

  static void draw_tab(QPainter& painter, const QStyleOptionTab& tab) {
    const bool selected = (tab.state & State_Selected) != 0;
    const QColor window = tab.palette.color(QPalette::Active, QPalette::Window);
    const QColor ink = tab.palette.color(QPalette::Active, QPalette::WindowText);
    if (selected) {
      painter.fillRect(tab.rect, tab.palette.color(QPalette::Active, QPalette::Base));
      constexpr int underline = 3;
      painter.fillRect(QRect(tab.rect.left(), tab.rect.bottom() - underline + 1, tab.rect.width(), underline),
                       tab.palette.color(QPalette::Active, QPalette::Highlight));
    } else if ((tab.state & State_MouseOver) != 0) {
      painter.fillRect(tab.rect, mix(window, ink, 0.06));
    }
  }

  static void draw_slider(QPainter& painter, const QStyleOption& option, const QRect& groove, const QRect& handle,
                          bool from_right) {
    const bool enabled = (option.state & State_Enabled) != 0;
    const QColor accent = option.palette.color(group_of(option), QPalette::Highlight);
    const QPointF middle = QRectF(handle).center();
    constexpr double thickness = 4;
    const QRectF bar(groove.left(), middle.y() - thickness / 2, groove.width(), thickness);
    QRectF filled = bar;
    from_right ? filled.setLeft(middle.x()) : filled.setRight(middle.x());
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(plot_colors(option.palette).grid);
    painter.drawRoundedRect(bar, thickness / 2, thickness / 2);
    if (enabled) painter.setBrush(accent);
    painter.drawRoundedRect(filled, thickness / 2, thickness / 2);
    const double radius = std::min(handle.width(), handle.height()) / 2.0 - 1.5;
    painter.setPen(QPen(enabled ? accent : border_color(option), 2));
    painter.setBrush(option.palette.color(group_of(option), QPalette::Base));
    painter.drawEllipse(middle, radius, radius);
    painter.restore();
  }
};

/// In the order of ThemeChoice.
QStringList theme_names() {
  return {QStringLiteral("system"), QStringLiteral("light"), QStringLiteral("dark"), QStringLiteral("contrast")};
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
  return theme_names()[static_cast<qsizetype>(choice)];
}

ThemeChoice parse_theme(const QString& word) {
  return static_cast<ThemeChoice>(std::max<qsizetype>(0, theme_names().indexOf(word)));
}

void initialize_style() {
  initialize_resources();
  qApp->installEventFilter(new PlainLabels(qApp));
  qApp->installEventFilter(new FocusRing(qApp));
  QApplication::setStyle(new ControlStyle);  // owned by the application
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

double text_scale() {
  return QApplication::font().pointSizeF() / system_text_size();
}

void set_text_scale(double scale) {
  QFont font = QApplication::font();
  // Settings may contain any value.
  font.setPointSizeF(system_text_size() * (scale > 0 ? std::clamp(scale, min_text_scale, max_text_scale) : 1));
  if (font != QApplication::font()) QApplication::setFont(font);
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
  constexpr std::array muted{Disposition::ok, Disposition::infeasible, Disposition::cancelled};
  constexpr std::array limited{Disposition::no_counters, Disposition::out_of_memory};
  const auto is_in = [&](const auto& list) { return std::ranges::find(list, disposition) != list.end(); };
  return token_color(is_in(muted)     ? style::Token::muted
                     : is_in(limited) ? style::Token::slower
                                      : style::Token::error,
                     dark);
}

QColor with_opacity(QColor color, double opacity) {
  color.setAlphaF(static_cast<float>(opacity));
  return color;
}

QColor contrasting_color(const QColor& background) {
  return {style::readable_on(background.rgb() & RGB_MASK)};
}

}  // namespace attnscope::ui
