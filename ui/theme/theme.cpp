// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/theme/theme.h"

#include <QAbstractSpinBox>
#include <QApplication>
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
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "kernels/registry.h"

// Q_INIT_RESOURCE must not be in a namespace.
static void initialize_resources() {
  Q_INIT_RESOURCE(attnscope);
}

namespace attnscope::ui {
namespace {

struct Roles {
  QRgb window, base, alternate, text, muted, button, highlight, link, tooltip;
};
constexpr Roles light_roles{0xfff3f4f6, 0xffffffff, 0xfff7f8fa, 0xff1c2127, 0xff6b7480,
                            0xffe9ebee, 0xff0b63a5, 0xff0b63a5, 0xffffffff};
constexpr Roles dark_roles{0xff1f2329, 0xff16191d, 0xff1b1f24, 0xffe4e7eb, 0xff98a2ad,
                           0xff2b3037, 0xff2f7fc1, 0xff6db8f2, 0xff2b3037};
constexpr Roles contrast_roles{0xff000000, 0xff000000, 0xff1a1a1a, 0xffffffff, 0xffb8b8b8,
                               0xff202020, 0xffffd800, 0xff7fd4ff, 0xff000000};

/// Returns true for palettes with white on black, set by this program or the system. Black on white is a common default
/// and does not count.
bool is_high_contrast(const QPalette& palette) {
  const auto lightness = [&](QPalette::ColorRole role) { return palette.color(QPalette::Active, role).lightness(); };
  return lightness(QPalette::Text) - lightness(QPalette::Base) > 250;
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
  const auto channel = [&](int x, int y) { return static_cast<int>(std::lround(x + (y - x) * share_of_b)); };
  return {channel(a.red(), b.red()), channel(a.green(), b.green()), channel(a.blue(), b.blue())};
}

/// Interpolates in a color scale with evenly spaced stops; t in 0..1.
QColor along(std::span<const QRgb> stops, double t) {
  const double place = std::clamp(t, 0.0, 1.0) * static_cast<double>(stops.size() - 1);
  const auto low = std::min(static_cast<std::size_t>(place), stops.size() - 2);
  return mix(QColor(stops[low]), QColor(stops[low + 1]), place - static_cast<double>(low));
}

/// Fusion with check box frames that are visible in dark themes, and wider table columns.
class Style : public QProxyStyle {
 public:
  Style() : QProxyStyle(QStyleFactory::create(QStringLiteral("Fusion"))) {}

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
        return qRound(own * larger(widget));
      default:
        return own;
    }
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
    const QSize own = QProxyStyle::sizeFromContents(type, option, size, widget);
    return type == CT_SpinBox || type == CT_ComboBox ? own + QSize(room_for_arrows(widget), 0) : own;
  }

  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override {
    const auto* item =
        element == PE_PanelItemViewRow ? qstyleoption_cast<const QStyleOptionViewItem*>(option) : nullptr;
    if (item != nullptr && (item->state & State_Selected) == 0) {
      // Drawn behind every table cell: skips Fusion's costly color computation.
      if ((item->features & QStyleOptionViewItem::Alternate) != 0) {
        painter->fillRect(item->rect, item->palette.brush(QPalette::AlternateBase));
      }
      return;
    }
    if (element != PE_IndicatorCheckBox && element != PE_IndicatorItemViewItemCheck) {
      QProxyStyle::drawPrimitive(element, option, painter, widget);
      const bool framed = element == PE_PanelButtonCommand || element == PE_PanelLineEdit || element == PE_Frame;
      const bool inner = widget != nullptr && qobject_cast<const QAbstractSpinBox*>(widget->parentWidget()) != nullptr;
      if (framed && !inner) draw_contrast_frame(*option, *painter, option->rect);
      return;
    }
    const QPalette::ColorGroup group = (option->state & State_Enabled) != 0 ? QPalette::Active : QPalette::Disabled;
    const bool on = (option->state & State_On) != 0;
    const QColor accent = option->palette.color(group, QPalette::Highlight);
    const QColor frame = mix(option->palette.color(group, QPalette::Text), option->palette.color(QPalette::Base), 0.45);
    const QRectF box = QRectF(option->rect).adjusted(0.5, 0.5, -0.5, -0.5);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(QPen(on ? accent : frame, (option->state & State_HasFocus) != 0 ? 2.0 : 1.2));
    painter->setBrush(on ? accent : option->palette.color(QPalette::Base));
    painter->drawRoundedRect(box, 2.5, 2.5);
    if (on) {
      QPainterPath tick(box.topLeft() + QPointF(0.22 * box.width(), 0.52 * box.height()));
      tick.lineTo(box.topLeft() + QPointF(0.42 * box.width(), 0.73 * box.height()));
      tick.lineTo(box.topLeft() + QPointF(0.78 * box.width(), 0.28 * box.height()));
      painter->setPen(QPen(option->palette.color(QPalette::HighlightedText), 1.8, Qt::SolidLine, Qt::RoundCap));
      painter->setBrush(Qt::NoBrush);
      painter->drawPath(tick);
    }
    painter->restore();
  }

  void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                          const QWidget* widget) const override {
    QProxyStyle::drawComplexControl(control, option, painter, widget);
    if (control == CC_ComboBox || control == CC_SpinBox) draw_contrast_frame(*option, *painter, option->rect);
    if (larger(widget) > 1) {
      const auto arrow = [&](SubControl part, bool up) {
        if ((option->subControls & part) == 0) return;
        draw_arrow(*option, *painter, QProxyStyle::proxy()->subControlRect(control, option, part, widget), up,
                   larger(widget));
      };
      if (control == CC_ComboBox) arrow(SC_ComboBoxArrow, false);
      if (control == CC_SpinBox) arrow(SC_SpinBoxUp, true);
      if (control == CC_SpinBox) arrow(SC_SpinBoxDown, false);
    }
    if (control == CC_Slider) {
      draw_contrast_frame(*option, *painter, subControlRect(control, option, SC_SliderHandle, widget));
    }
  }

 private:
  /// Scales fixed-size elements with the text.
  static double larger(const QWidget* widget) {
    return font_scale(widget != nullptr ? widget->font() : QApplication::font());
  }
  static int room_for_arrows(const QWidget* widget) {
    constexpr int own = 14;
    return qRound(own * (larger(widget) - 1));
  }
  /// Draws over Fusion's arrow, which has a fixed size.
  static void draw_arrow(const QStyleOption& option, QPainter& painter, const QRect& in, bool up, double by) {
    const double half = std::min(4 * by, in.width() / 2.0 - 1);
    const double high = std::min(half, in.height() / 2.0) * (up ? -1 : 1);
    const QPointF middle = QRectF(in).center();
    const QPolygonF arrow{middle + QPointF(-half, -high / 2), middle + QPointF(half, -high / 2),
                          middle + QPointF(0, high / 2)};
    const QPalette::ColorGroup group = (option.state & State_Enabled) != 0 ? QPalette::Active : QPalette::Disabled;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(
        mix(option.palette.color(group, QPalette::ButtonText), option.palette.color(QPalette::Button), 0.3));
    painter.drawPolygon(arrow);
    painter.restore();
  }
  /// Fusion's outlines are a darker shade of the background, which is invisible on black.
  static void draw_contrast_frame(const QStyleOption& option, QPainter& painter, const QRect& frame) {
    if (!is_high_contrast(option.palette)) return;
    const bool focused = (option.state & State_HasFocus) != 0;
    const QPalette::ColorGroup group = (option.state & State_Enabled) != 0 ? QPalette::Active : QPalette::Disabled;
    painter.save();
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(option.palette.color(group, focused ? QPalette::Highlight : QPalette::Text), focused ? 2 : 1));
    painter.drawRect(QRectF(frame).adjusted(0.5, 0.5, -0.5, -0.5));
    painter.restore();
  }
};

constexpr std::array<QRgb, 6> other_colors_on_light{0xff72808e, 0xff7a4a1e, 0xffa88400,
                                                    0xff2b3138, 0xffb01e46, 0xff5f9300};
constexpr std::array<QRgb, 6> other_colors_on_dark{0xff8f9dab, 0xffc08a5a, 0xfff0d060,
                                                   0xffeef2f5, 0xffff7d9c, 0xffa6e05a};

/// Returns the color index of an algorithm outside of the registry: a hash of its name, which is stable between files,
/// or the next free index.
std::size_t other_color_index(std::string_view algorithm) {
  static std::map<std::string, std::size_t, std::less<>> places;
  if (const auto known = places.find(algorithm); known != places.end()) return known->second;
  std::size_t place = 0;
  for (const char letter : algorithm) place = place * 31 + static_cast<unsigned char>(letter);
  place %= other_colors_on_light.size();
  const auto taken = [&](std::size_t wanted) {
    return std::any_of(places.begin(), places.end(), [&](const auto& entry) { return entry.second == wanted; });
  };
  for (std::size_t step = 0; step < other_colors_on_light.size(); ++step) {
    const std::size_t candidate = (place + step) % other_colors_on_light.size();
    if (taken(candidate)) continue;
    place = candidate;
    break;
  }
  places.emplace(algorithm, place);
  return place;
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
  void paintEvent(QPaintEvent* /*event*/) override {
    constexpr double width = 2;
    QPainter painter(this);
    painter.setPen(QPen(palette().color(QPalette::Active, QPalette::Highlight), width));
    painter.drawRect(QRectF(rect()).adjusted(width / 2, width / 2, -width / 2, -width / 2));
  }
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
  QApplication::setStyle(new Style);  // owned by the application
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
  QApplication::setPalette(choice == ThemeChoice::light      ? make_palette(light_roles)
                           : choice == ThemeChoice::dark     ? make_palette(dark_roles)
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
  const bool sharp = is_high_contrast(palette);
  colors.muted = mix(colors.text, colors.background, sharp ? 0.25 : 0.38);
  colors.axis = mix(colors.text, colors.background, sharp ? 0.25 : 0.55);
  colors.grid = mix(colors.text, colors.background, sharp ? 0.6 : colors.dark ? 0.85 : 0.88);
  colors.hatch = mix(colors.text, colors.background, sharp ? 0.5 : 0.7);
  colors.panel = palette.color(QPalette::Active, QPalette::ToolTipBase);
  // Some system palettes have yellow tooltips on black; keep hover boxes readable.
  if ((colors.panel.lightness() < 128) != colors.dark) colors.panel = colors.background;
  colors.accent = palette.color(QPalette::Active, QPalette::Highlight);
  colors.wrong = colors.dark ? QColor(0xff8a80) : QColor(0xb00020);
  last = {palette.cacheKey(), colors};
  return colors;
}

QColor category_color(std::size_t place, bool dark) {
  constexpr std::size_t hues = 7;
  static constexpr std::array<QRgb, hues> on_light{0xffd55e00, 0xff0072b2, 0xff009e73, 0xffb8548f,
                                                   0xff6a3fb0, 0xff56b4e9, 0xff8a8200};
  static constexpr std::array<QRgb, hues> on_dark{0xfff07f3c, 0xff56b4e9, 0xff2fc79a, 0xffdd8fbb,
                                                  0xffb79af0, 0xff8fcdf5, 0xfff0e442};
  const QColor hue((dark ? on_dark : on_light)[place % hues]);
  const std::size_t shade = place / hues % (category_colors / hues);
  return shade == 0   ? hue
         : shade == 1 ? mix(hue, Qt::black, 0.42)
                      : mix(hue, dark ? Qt::white : QColor(0xd8d8d8), 0.45);
}

QColor algorithm_color(std::string_view algorithm, bool dark) {
  const auto all = known_algorithms().algorithms();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Algorithm* item) { return item->name() == algorithm; });
  if (found == all.end())
    return QColor((dark ? other_colors_on_dark : other_colors_on_light)[other_color_index(algorithm)]);
  return category_color(static_cast<std::size_t>(found - all.begin()), dark);
}

QColor disposition_color(Disposition disposition, bool dark) {
  struct Shades {
    QRgb on_light;
    QRgb on_dark;
  };
  const Shades shades = [&]() -> Shades {
    switch (disposition) {
      case Disposition::ok:
        return {0xff007a59, 0xff2fc79a};
      case Disposition::infeasible:
      case Disposition::cancelled:
        return {0xff6b7480, 0xff98a2ad};
      case Disposition::no_counters:
        return {0xff8f6200, 0xffe6b03a};
      case Disposition::out_of_memory:
        return {0xffb44f00, 0xfff07f3c};
      case Disposition::incorrect:
      case Disposition::compile_error:
      case Disposition::timeout:
      case Disposition::crashed:
        break;
    }
    return {0xffc02020, 0xffff7b72};
  }();
  return QColor(dark ? shades.on_dark : shades.on_light);
}

QColor viridis(double t) {
  static constexpr std::array<QRgb, 9> stops{0xff440154, 0xff472d7b, 0xff3b528b, 0xff2c728e, 0xff21918c,
                                             0xff28ae80, 0xff5ec962, 0xffaddc30, 0xfffde725};
  return along(stops, t);
}

QColor blue_to_orange(double t) {
  // Equal lightness on both sides of white, like ColorBrewer's diverging scales.
  static constexpr std::array<QRgb, 5> stops{0xff054e8a, 0xff6eadd5, 0xfff7f7f7, 0xfff4a560, 0xffb24f06};
  return along(stops, t);
}

QColor contrasting_color(const QColor& background) {
  const double luminance = 0.299 * background.red() + 0.587 * background.green() + 0.114 * background.blue();
  return luminance > 140 ? QColor(0xff101418) : QColor(0xffffffff);
}

}  // namespace attnscope::ui
