// SPDX-License-Identifier: GPL-3.0-or-later
// What takes longer than a frame is worked out in a thread of its own. Of several requests the latest one wins; what
// was asked before it is broken off and never heard of.
#pragma once

#include <QObject>
#include <QString>
#include <QThreadPool>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <utility>

namespace attnscope::ui {

/// So many points are looked through within a frame; of more it is done aside.
inline constexpr std::size_t most_points_at_once = 10'000;
/// For what always takes longer, whatever it is of.
inline constexpr std::size_t always_aside = most_points_at_once + 1;

/// Whether nobody waits for it any more: work may end then, with whatever it has.
using Outdated = std::function<bool()>;

/// What all Lives have in common: the latest request, on its way.
class LiveWork : public QObject {
  Q_OBJECT
 public:
  LiveWork();
  /// Waits for what is under way, which has nobody to tell by then.
  ~LiveWork() override;

  /// Nothing is wanted any more.
  void drop();
  /// The same, and from now on nothing of it looks at anything.
  void stop();
  [[nodiscard]] bool busy() const { return busy_; }
  /// Until what was asked last has been told: for pictures, and whoever cannot go on without.
  void wait();
  /// What work throws aside goes there; else it is thrown in this thread.
  void on_failure(std::function<void(const QString&)> failed) { failed_ = std::move(failed); }

 signals:
  /// Something is asked for; where it is not busy(), the answer comes at once.
  void asked();
  /// Nothing is under way any more.
  void settled();

 protected:
  /// `job` ends with what is to be called in this thread.
  void start(std::function<std::function<void()>(const Outdated&)> job);

 private:
  std::function<void(const QString&)> failed_;
  std::atomic<std::uint64_t> generation_{0};
  bool busy_ = false;
  QThreadPool pool_;
};

/// An output that follows its inputs: `work` makes it of them alone, in any thread, and `show` takes it in this one.
template <class Inputs, class Output>
class Live : public LiveWork {
 public:
  using Work = std::function<Output(const Inputs&, const Outdated&)>;
  Live(Work work, std::function<void(Output)> show) : work_(std::move(work)), show_(std::move(show)) {}

  /// `points` is how many the work goes through: of few it is shown at once. What the inputs point to must not change
  /// meanwhile.
  void ask(Inputs inputs, std::size_t points) {
    if (points <= most_points_at_once) {
      drop();
      emit asked();
      return show_(work_(inputs, [] { return false; }));
    }
    start([this, work = work_, inputs = std::move(inputs)](const Outdated& outdated) -> std::function<void()> {
      auto output = std::make_shared<Output>(work(inputs, outdated));
      return [this, output] { show_(std::move(*output)); };
    });
  }

 private:
  Work work_;
  std::function<void(Output)> show_;
};

}  // namespace attnscope::ui
