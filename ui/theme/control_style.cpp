// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/theme/control_style.h"

#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QPainter>
#include <QPainterPath>
#include <QProxyStyle>
#include <QStyleFactory>
#include <QStyleOption>
#include <algorithm>

#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

QColor mixed(const QColor& a, const QColor& b, double share_of_b) {
  return {style::mix(a.rgb() & RGB_MASK, b.rgb() & RGB_MASK, share_of_b)};
}

/// Scales fixed-size elements with the text.
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
  if ((option.state & (QStyle::State_Sunken | QStyle::State_On)) != 0) return mixed(base, ink, 0.16);
  return (option.state & QStyle::State_MouseOver) != 0 ? mixed(base, ink, 0.07) : base;
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

/// Field that accepts text.
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
      painter.fillRect(tab.rect, mixed(window, ink, 0.06));
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

}  // namespace

QStyle* make_control_style() {
  return new ControlStyle;
}

}  // namespace attnscope::ui
