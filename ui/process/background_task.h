// SPDX-License-Identifier: GPL-3.0-or-later
// Runs work that takes longer than a frame in a background thread. The latest request wins: earlier ones are cancelled
// and their results dropped.
#pragma once

#include <QObject>
#include <QString>
#include <QThreadPool>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace attnscope::ui {

/// Largest number of points that is processed within a frame; more run in the background.
inline constexpr std::size_t max_synchronous_points = 10'000;
/// Number of points for work that always runs in the background.
inline constexpr std::size_t always_in_background = max_synchronous_points + 1;

/// Returns true if the result is no longer needed; work may then return early.
using StaleCheck = std::function<bool()>;

/// As std::make_shared(), but frees the object in a background thread: large point sets take longer than a frame.
template <class T, class... Arguments>
[[nodiscard]] std::shared_ptr<T> make_background_deleted(Arguments&&... arguments) {
  return {new T(std::forward<Arguments>(arguments)...),
          [](T* made) { QThreadPool::globalInstance()->start([made] { delete made; }); }};
}

class BackgroundWork : public QObject {
  Q_OBJECT
 public:
  BackgroundWork();
  /// Waits for running work; its result is dropped.
  ~BackgroundWork() override;

  void discard();
  /// Like discard(), and waits until running work has ended.
  void stop();
  [[nodiscard]] bool is_busy() const { return busy_; }
  void wait();
  /// Sets a handler for exceptions thrown in the background; default: they are rethrown in this thread.
  void on_failure(std::function<void(const QString&)> failed) { failed_ = std::move(failed); }

 signals:
  /// A request was made; if not busy(), its result follows at once.
  void requested();
  void finished();

 protected:
  /// Runs `job` in the background; it returns a function to call in this thread.
  void start(std::function<std::function<void()>(const StaleCheck&)> job);

 private:
  std::function<void(const QString&)> failed_;
  std::atomic<std::uint64_t> generation_{0};
  bool busy_ = false;
  QThreadPool pool_;
};

/// Computes an output from inputs: `work` runs in any thread, `show` in this one.
template <class Inputs, class Output>
class BackgroundTask : public BackgroundWork {
 public:
  using Work = std::function<Output(const Inputs&, const StaleCheck&)>;
  BackgroundTask(Work work, std::function<void(Output)> show) : work_(std::move(work)), show_(std::move(show)) {}

  /// `points`: amount of work; few points are processed at once. Data that the inputs point to must not change while
  /// work runs.
  void request(Inputs inputs, std::size_t points) {
    if (points <= max_synchronous_points) {
      discard();
      emit requested();
      return show_(work_(inputs, [] { return false; }));
    }
    start([this, work = work_, inputs = std::move(inputs)](const StaleCheck& outdated) -> std::function<void()> {
      auto output = std::make_shared<Output>(work(inputs, outdated));
      return [this, output] { show_(std::move(*output)); };
    });
  }

 private:
  Work work_;
  std::function<void(Output)> show_;
};

}  // namespace attnscope::ui
