// SPDX-License-Identifier: GPL-3.0-or-later
#include <QCommandLineParser>
#include <QElapsedTimer>
#include <QLocale>
#include <QRegularExpression>
#include <QTextStream>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "app/program.h"
#include "app/python/python_kernels.h"
#include "kernels/user/known_kernels.h"
#include "messages/embedded.h"
#include "messages/language.h"
#include "profiler/measure/device.h"
#include "ui/pages/page.h"
#include "ui/runs/samples.h"
#include "ui/runs/workspace.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"
#include "ui/window/application.h"
#include "ui/window/lesson.h"
#include "ui/window/main_window.h"
#include "ui/window/offscreen.h"
#include "ui/window/session.h"

namespace {

using namespace attnscope::ui;
namespace msg = attnscope::msg;

enum ExitCode { success = 0, runtime_error = 1, usage_error = 2, partial = 5 };

struct Options {
  QStringList files;
  QString plots;
  ExistingFile existing = ExistingFile::same_kind;
  bool take_screenshot = false;
  std::optional<LessonRequest> lesson;
  std::string explored;  ///< name of the kernel given with --kernel
  Screenshot screenshot;
  QString language;  ///< may be empty
};

QStringList page_ids() {
  QStringList ids;
  for (const PageKind& kind : page_kinds()) {
    ids << QString::fromUtf8(kind.id.data(), static_cast<qsizetype>(kind.id.size()));
  }
  return ids;
}

void print(std::FILE* stream, const QString& text) {
  QTextStream(stream) << text << Qt::endl;
}

void print_error(const QString& text) {
  print(stderr, QStringLiteral("error: %1").arg(text));
}

void warn(const QString& text) {
  print(stderr, QStringLiteral("warning: %1").arg(text));
}

/// Flushes stdout and returns the exit code.
int output_code() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return success;
  print_error(QStringLiteral("cannot write to stdout (check for a full disk or a closed pipe)"));
  return runtime_error;
}

bool is_lesson_page(const QString& word) {
  bool number = false;
  const int place = word.toInt(&number);
  const QStringList pages = lesson_page_ids();
  // the last page, the glossary, has no number
  return pages.contains(word) || (number && place >= 0 && place < pages.size() - 1);
}

/// QCommandLineParser has no optional values: gives `--lesson` without a page an empty one.
QStringList with_lesson_page(QStringList arguments) {
  const qsizetype place = arguments.indexOf(QStringLiteral("--lesson"));
  if (place < 0) return arguments;
  QString page;
  if (place + 1 < arguments.size() && is_lesson_page(arguments[place + 1])) page = arguments.takeAt(place + 1);
  arguments[place] = QStringLiteral("--lesson=") + page;
  return arguments;
}

struct Switches {
  // Not addHelpOption(), which would add --help-all with Qt's own options; this program does not pass them to Qt.
  QCommandLineOption help{{QStringLiteral("h"), QStringLiteral("help")}, QStringLiteral("Print this help and exit.")};
  QCommandLineOption plots{
      QStringLiteral("plots"),
      QStringLiteral(
          "Write the plots of each problem (bytes, time and TFLOP/s against N, tile maps) as PNG and SVG into "
          "<folder> and exit. Needs no display."),
      QStringLiteral("folder")};
  QCommandLineOption screenshot{QStringLiteral("screenshot"),
                                QStringLiteral("Write a screenshot of the window to <file> and exit."),
                                QStringLiteral("file")};
  QCommandLineOption page{QStringLiteral("page"),
                          QStringLiteral("Page of the screenshot: %1.").arg(page_ids().join(QStringLiteral(", "))),
                          QStringLiteral("page"), page_ids().constFirst()};
  QCommandLineOption size{QStringLiteral("size"), QStringLiteral("Size of the screenshot."), QStringLiteral("WxH"),
                          QStringLiteral("1280x800")};
  QCommandLineOption theme{QStringLiteral("theme"), QStringLiteral("Theme of the screenshot: light, dark or contrast."),
                           QStringLiteral("theme"), QStringLiteral("light")};
  QCommandLineOption filter{QStringLiteral("filter"),
                            QStringLiteral("Filter of the screenshot, such as \"d:128 N>=4096\"."),
                            QStringLiteral("filter")};
  QCommandLineOption lesson{QStringLiteral("lesson"),
                            QStringLiteral("Open the lesson in the browser at <step>: a number, or %1 (default: the "
                                           "last step). Shows the points of [FILE...] or of the recorded samples.")
                                .arg(lesson_page_ids().join(QStringLiteral(", "))),
                            QStringLiteral("step")};
  QCommandLineOption language{QStringLiteral("lang"),
                              QStringLiteral("Language of the window and the lesson: %1.")
                                  .arg(QString::fromStdString(attnscope::language_list())),
                              QStringLiteral("language")};
  QCommandLineOption kernel{
      QStringLiteral("kernel"),
      QStringLiteral("Manifest of a user-defined kernel, or FILE.py:NAME for a Python function; repeatable."),
      QStringLiteral("file")};
  QCommandLineOption force{QStringLiteral("force"),
                           QStringLiteral("Let --plots and --screenshot overwrite files of another kind.")};
};

/// Reads the options of --screenshot. Returns an error message or an empty string.
QString read_screenshot(const QCommandLineParser& parser, const Switches& known, Screenshot& screenshot) {
  screenshot.file = parser.value(known.screenshot);
  screenshot.page = parser.value(known.page);
  if (!page_ids().contains(screenshot.page)) {
    return qtext(attnscope::make_message("unknown value of --page; available: {}",
                                         page_ids().join(QStringLiteral(", ")).toStdString()));
  }
  const QStringList extents = parser.value(known.size).split(QLatin1Char('x'));
  screenshot.size = {extents.value(0).toInt(), extents.value(1).toInt()};
  if (screenshot.size.width() < 320 || screenshot.size.height() < 240) {
    return QStringLiteral("--size must be WIDTHxHEIGHT, at least 320x240");
  }
  const QString word = parser.value(known.theme);
  screenshot.theme = parse_theme(word);
  if (word.isEmpty() || screenshot.theme == ThemeChoice::system)
    return QStringLiteral("unknown value of --theme; available: light, dark, contrast");
  screenshot.filter = parser.value(known.filter);
  return {};
}

/// Reads the options of --lesson. Returns an error message or an empty string.
QString read_lesson(const QCommandLineParser& parser, const Switches& known, Options& options) {
  if (!parser.isSet(known.lesson)) return {};
  const QString page = parser.value(known.lesson);
  const QStringList pages = lesson_page_ids();
  if (!page.isEmpty() && !is_lesson_page(page)) {
    return qtext(attnscope::make_message("unknown lesson step; available: a number or {}",
                                         pages.join(QStringLiteral(", ")).toStdString()));
  }
  if (parser.isSet(known.plots) || parser.isSet(known.screenshot))
    return QStringLiteral("--lesson cannot be combined with --plots and --screenshot");
  options.lesson = LessonRequest{.page = page};
  if (!parser.isSet(known.language)) return {};
  options.lesson->language = parser.value(known.language);
  remember_lesson_language(options.lesson->language);
  return {};
}

/// Reads all options. Returns an error message or an empty string.
QString read_options(const QCommandLineParser& parser, const Switches& known, Options& options) {
  options.files = parser.positionalArguments();
  options.language = parser.value(known.language);
  if (parser.isSet(known.language) && attnscope::embedded_messages(options.language.toStdString()).empty())
    return QStringLiteral("unknown language; available: %1").arg(QString::fromStdString(attnscope::language_list()));
  options.plots = parser.value(known.plots);
  if (parser.isSet(known.plots) && options.plots.isEmpty()) return QStringLiteral("missing folder of --plots");
  options.take_screenshot = parser.isSet(known.screenshot);
  if (QString wrong = read_screenshot(parser, known, options.screenshot); !wrong.isEmpty()) return wrong;
  if (QString wrong = read_lesson(parser, known, options); !wrong.isEmpty()) return wrong;
  if (parser.isSet(known.force)) options.existing = options.screenshot.existing = ExistingFile::any;
  return {};
}

/// Selects the language: --lang, else the one saved by the window, else the system's.
void choose_language(const QString& asked, const QString& chosen) {
  const QStringList wanted{asked, chosen, QLocale::system().uiLanguages().value(0).section(QLatin1Char('-'), 0, 0)};
  for (const QString& language : wanted) {
    if (!language.isEmpty() && attnscope::use_language(language.toStdString())) return;
  }
}

/// Fills `options`. Returns an exit code if the program has nothing else to do.
std::optional<int> parse(const QStringList& arguments, Options& options) {
  QCommandLineParser parser;
  parser.setApplicationDescription(
      QStringLiteral("Measure the memory traffic of attention kernels on a GPU and compare it with theory."));
  const Switches known;
  const QCommandLineOption version = parser.addVersionOption();
  parser.addOptions({known.help, known.plots, known.screenshot, known.page, known.size, known.theme, known.filter,
                     known.lesson, known.language, known.kernel, known.force});
  parser.addPositionalArgument(QStringLiteral("files"),
                               QStringLiteral(".attnscope files to open (default: those of the last session, at first "
                                              "the recorded sample)."),
                               QStringLiteral("[FILE...]"));

  const auto fail_usage = [](const QString& message) {
    print_error(message);
    return usage_error;
  };
  if (!parser.parse(with_lesson_page(arguments))) return fail_usage(parser.errorText());
  if (parser.isSet(version)) {
    print(stdout, QStringLiteral("attnscope-gui %1").arg(QString::fromLatin1(attnscope::program_version())));
    return output_code();
  }
  if (parser.isSet(known.help)) {
    // Qt does not know the program's name before there is an application object.
    print(stdout,
          parser.helpText().trimmed().replace(QStringLiteral("<executable_name>"), QStringLiteral("attnscope-gui")));
    return output_code();
  }
  if (const QString wrong = read_options(parser, known, options); !wrong.isEmpty()) return fail_usage(wrong);
  attnscope::enable_python_kernels();
  attnscope::Message wrong = attnscope::user::load_inherited_kernels();
  for (const QString& file : parser.values(known.kernel)) {
    if (wrong.empty()) wrong = attnscope::user::load_known_kernel(file.toStdString());
  }
  if (!wrong.empty()) return fail_usage(qtext(wrong));
  if (parser.isSet(known.kernel)) {
    options.explored = options.screenshot.explored = attnscope::user::loaded_kernel_files().back().name;
  }
  return {};
}

bool has_display() {
  return !qEnvironmentVariableIsEmpty("DISPLAY") || !qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY") ||
         !qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM");
}

int write_pictures(const Options& options) {
  QStringList written;
  QStringList skipped;
  QString error;
  try {
    if (!options.plots.isEmpty()) {
      error = write_plots(options.files, options.plots, &written, options.existing, &skipped);
    }
    if (error.isEmpty() && options.take_screenshot) {
      error = write_screenshot(options.files, options.screenshot, &skipped);
    }
  } catch (const std::bad_alloc&) {
    const QString files = options.files.isEmpty() ? sample_path() : options.files.join(QStringLiteral(", "));
    error = qtext(attnscope::make_message("out of memory while loading {} (open fewer or smaller files)",
                                          one_line(files).toStdString()));
  }
  if (!error.isEmpty()) {
    print_error(error);
    return runtime_error;
  }
  skipped.removeDuplicates();  // plots and screenshots read the same files and report the same rows
  for (const QString& path : written) print(stdout, path);
  for (const QString& what : skipped) warn(what);
  const int code = output_code();
  return code == success && !skipped.isEmpty() ? int{partial} : code;
}

/// Writes the lesson and opens it in the browser, without a window.
int open_lesson(const Options& options) {
  Workspace workspace;
  bool whole = true;
  QObject::connect(&workspace, &Workspace::rows_skipped, &workspace, [&whole](const QString&, const QString& what) {
    whole = false;
    warn(what);
  });
  for (const QString& file : options.files.isEmpty() ? lesson_samples() : options.files) {
    if (const QString error = workspace.open_blocking(file); !error.isEmpty()) {
      print_error(error);
      return runtime_error;
    }
  }
  const LessonFile written = write_lesson_file(collect_lesson_data(workspace), *options.lesson);
  if (!written.error.isEmpty()) {
    print_error(written.error);
    return runtime_error;
  }
  for (const QString& problem : written.problems) warn(problem);
  print(stdout, written.path);
  if (!open_in_browser(written.path)) {
    print_error(qtext(
        attnscope::make_message("cannot start a browser (open {} yourself)", one_line(written.path).toStdString())));
    return runtime_error;
  }
  return output_code() != success ? runtime_error : whole && written.problems.isEmpty() ? success : partial;
}

/// Shows the window, with its points if they load fast, so that it can replace another one without flicker.
void show_loaded(MainWindow& window) {
  QElapsedTimer waited;
  waited.start();
  constexpr int patience_ms = 2000;
  while (window.workspace().is_loading() && waited.elapsed() < patience_ms) {
    QCoreApplication::processEvents(QEventLoop::ExcludeUserInputEvents | QEventLoop::WaitForMoreEvents, patience_ms);
  }
  window.show();
}

/// Selects a language for which there are fonts: English if none has the needed characters. Returns a note in that
/// case.
attnscope::Message write_language() {
  if (can_display_language()) return translate_qt(), attnscope::Message();
  const std::string language = attnscope::text(msg::language::code{});
  attnscope::set_catalog(attnscope::Catalog::english());
  return attnscope::make_message("no font for language {}, using English (install fonts-noto-cjk)", language);
}

/// Runs one window after another in one session: loading a user-defined kernel closes the window and opens a new one,
/// and another language replaces the window.
int run_windows(Application& application, const Options& options, attnscope::Message trouble) {
  using attnscope::user::loaded_kernel_files;
  SessionFile kept(SessionFile::SessionStart::most_recent);
  ViewDocument left = kept.read();
  if (!options.files.isEmpty()) left.view = remove_file_state(left.view);
  std::string explored = options.explored;
  bool active = true;
  std::unique_ptr<MainWindow> previous;  // stays on the screen until its translation is ready
  constexpr int other_language = -1;
  for (;;) {
    auto window = std::make_unique<MainWindow>(true);
    auto session = std::make_unique<Session>(*window, kept);
    application.on_error([&window](const QString& what) { window->banner().add(Banner::Topic::open, what); });
    QObject::connect(window.get(), &MainWindow::language_changed, [] { QCoreApplication::exit(other_language); });
    window->restore(left.view);
    if (!left.view.contains(QStringLiteral("files"))) window->open_files(options.files);
    if (!left.problem.isEmpty()) window->banner().add(Banner::Topic::open, left.problem);
    if (!explored.empty()) window->explore_algorithm(explored);
    if (!trouble.empty()) window->banner().add(Banner::Topic::open, qtext(trouble));
    window->setAttribute(Qt::WA_ShowWithoutActivating, !active);
    if (previous != nullptr) show_loaded(*window);
    window->show();
    previous.reset();
    const int code = QApplication::exec();
    left = {window->view(), {}};
    active = window->was_active();
    application.on_error({});
    session.reset();
    explored.clear();
    if (code == other_language) {
      window->setUpdatesEnabled(false);
      previous = std::move(window);
      choose_language({}, remembered_language());
      trouble = write_language();
      continue;
    }
    const QString kernel = window->pending_kernel();
    if (kernel.isEmpty()) return code;
    window.reset();
    const std::size_t known = loaded_kernel_files().size();
    trouble = attnscope::user::load_known_kernel(kernel.toStdString());
    for (std::size_t i = 0; i < known; ++i) {  // keeps the first error only
      attnscope::Message wrong = attnscope::user::load_known_kernel(loaded_kernel_files()[i].manifest);
      if (trouble.empty()) trouble = std::move(wrong);
    }
    // Only a newly loaded kernel changes the explored algorithm.
    if (loaded_kernel_files().size() > known) explored = loaded_kernel_files().back().name;
  }
}

/// Exits if a thread cannot be started, because Qt would wait for it forever.
void handle_qt_message(QtMsgType /*type*/, const QMessageLogContext& /*place*/, const QString& text) {
  if (!text.startsWith(QStringLiteral("QThread::start"))) return print(stderr, text);
  print_error(QStringLiteral("cannot start a thread: out of memory or process limits (raise ulimit -u)"));
  std::_Exit(runtime_error);
}

/// Drops warnings of the offscreen platform, which would mix with the printed paths.
void handle_offscreen_qt_message(QtMsgType type, const QMessageLogContext& place, const QString& text) {
  if (type == QtFatalMsg || type == QtCriticalMsg || text.startsWith(QStringLiteral("QThread::start")))
    handle_qt_message(type, place, text);
}

}  // namespace

int main(int argc, char** argv) {
  attnscope::reserve_standard_descriptors();
  // Makes a write beyond the file size limit an error instead of a fatal signal.
  std::signal(SIGXFSZ, SIG_IGN);
  QCoreApplication::setOrganizationName(QStringLiteral("attnscope"));
  QCoreApplication::setApplicationName(QStringLiteral("attnscope"));
  QCoreApplication::setApplicationVersion(QString::fromLatin1(attnscope::program_version()));

  // Parsed before QApplication, which fails without a display, even for --help.
  QStringList arguments;
  for (int i = 0; i < argc; ++i) arguments << QString::fromLocal8Bit(argv[i]);
  // Pictures must not depend on the window's settings.
  const bool writes_pictures = !arguments.filter(QRegularExpression(QStringLiteral("^--(plots|screenshot)"))).isEmpty();
  Options options;
  if (const auto code = parse(arguments, options)) return *code;
  choose_language(options.language, writes_pictures ? QString() : remembered_language());

  const bool pictures_only = !options.plots.isEmpty() || options.take_screenshot;
  if (!has_display() && !pictures_only && !options.lesson) {
    print_error(QStringLiteral("no display (use --plots FOLDER to write the plots without one)"));
    return runtime_error;
  }
  // The offscreen platform works even if DISPLAY names a server that does not answer.
  const bool off_screen = pictures_only || !has_display();
  if (off_screen) qputenv("QT_QPA_PLATFORM", "offscreen");
  qInstallMessageHandler(off_screen ? handle_offscreen_qt_message : handle_qt_message);
  // Passes only the program's name to Qt.
  int qt_argc = 1;
  Application application(qt_argc, argv);
  QGuiApplication::setDesktopFileName(QStringLiteral("org.attnscope.Attnscope"));
  initialize_style();

  if (options.lesson) return open_lesson(options);  // needs no font check: the browser has its own fonts
  const attnscope::Message no_font = write_language();
  if (!pictures_only) return run_windows(application, options, no_font);
  if (!no_font.empty()) warn(qtext(no_font));
  return write_pictures(options);
}
