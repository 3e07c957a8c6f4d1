// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/remote/remote_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <utility>

#include "profiler/measure/remote/wire.h"
#include "profiler/plan/fields.h"

namespace attnscope::remote {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds between_looks{50};
/// A launch may take its time to end; who does not answer a cancel for so long is given up.
constexpr std::chrono::seconds patience_after_cancel{20};
/// A line of so many stays far below longest_line.
constexpr std::size_t points_of_a_line = 4096;
/// To connect, log in, open a GPU and its counters; and for what is answered from what is known.
constexpr std::chrono::seconds patience_for_words{90};
/// Between two steps of what takes long and tells of them: a kernel that compiles, a load of a ceiling.
constexpr std::chrono::minutes patience_for_steps{10};

/// A point there ends by its timeout, more than once: its set-up, its first run, its samples, what is judged and what
/// is counted each may take that long. The rest is what a kernel that is not there yet takes to compile.
std::chrono::milliseconds patience_for_points(const MeasureOptions& options, std::size_t points) {
  constexpr int parts = 5;
  constexpr std::chrono::seconds margin{30};
  return parts * options.timeout * static_cast<std::int64_t>(points) + margin;
}

std::string in_seconds(std::chrono::milliseconds time) {
  return fmt::format("{:g}", std::chrono::duration<double>(time).count());
}

class RemoteDevice : public Device {
 public:
  RemoteDevice(std::unique_ptr<Link> link, std::string host, Hello hello, bool any_version, const Registry& registry,
               const CancelToken& session, EndOf end_of)
      : link_(std::move(link)),
        end_of_(end_of),
        host_(std::move(host)),
        hello_(std::move(hello)),
        any_version_(any_version),
        registry_(registry),
        session_(session) {}

  [[nodiscard]] const DeviceInfo& info() const override { return hello_.device; }
  [[nodiscard]] const Registry& algorithms() const override { return registry_; }
  [[nodiscard]] Environment environment() const override { return hello_.environment; }
  [[nodiscard]] CounterAvailability counters() const override { return hello_.counters; }
  [[nodiscard]] bool usable() const override { return usable_; }

  [[nodiscard]] std::vector<UnknownMetric> unknown_metrics(std::span<const std::string> names) const override {
    Request request{.ask = std::string(ask::unknown_metrics)};
    request.names.assign(names.begin(), names.end());
    auto answered = ask_for(std::move(request), session_, patience_for_words);
    return answered ? std::move(answered->unknown) : std::vector<UnknownMetric>{};
  }

  [[nodiscard]] std::int64_t free_bytes() const override {
    const auto answered = ask_for({.ask = std::string(ask::free)}, session_, patience_for_words);
    return answered ? answered->bytes : 0;
  }

  void prepare(std::span<const PointSpec> points, const CancelToken& cancel, const BuildProgress& progress) override {
    for (std::size_t begin = 0; begin < points.size() && !lost_ && !cancel.cancelled(); begin += points_of_a_line) {
      const auto part = points.subspan(begin, std::min(points_of_a_line, points.size() - begin));
      Request request{.ask = std::string(ask::prepare)};
      request.points.assign(part.begin(), part.end());
      ask_for(std::move(request), cancel, patience_for_steps, [&](const Answer& answer) {
        if (progress && answer.build && answer.done >= 0 && answer.total >= answer.done) {
          progress(static_cast<std::size_t>(answer.done), static_cast<std::size_t>(answer.total), *answer.build);
        }
      });
    }
  }

  [[nodiscard]] PointRecord measure(const PointSpec& spec, const MeasureOptions& options,
                                    const CancelToken& cancel) override {
    PointRecord record = asked_for(spec, options, cancel, true).record;
    if (lost_ && !silent_) record.disposition = Disposition::crashed;  // who asks so expects a result
    return record;
  }

  /// Where the link is lost the point waits, which is to say that it is no result.
  [[nodiscard]] Uncounted measure_uncounted(const PointSpec& spec, const MeasureOptions& options,
                                            const CancelToken& cancel) override {
    return asked_for(spec, options, cancel, false);
  }

  /// Not asked there: a word to and fro at every point leaves a GPU idle.
  [[nodiscard]] bool counts_with(std::span<const PointSpec> waiting, const PointSpec& next) const override {
    return fit_in_session(waiting, next, info().limits, registry_);
  }

  [[nodiscard]] Counted count(std::span<PointRecord* const> records, const MeasureOptions& options,
                              const CancelToken& cancel) override {
    auto answered = ask_for({.ask = std::string(ask::count), .options = options}, cancel,
                            patience_for_points(options, records.size()));
    Counted counted{.whole = std::vector<bool>(records.size(), false)};
    if (!answered && end_of_ == EndOf::point && records.size() == 1) {  // of several nobody knows whose end it was
      records.front()->disposition = silent_ ? Disposition::timeout : Disposition::crashed;
      records.front()->reason = why_;
      return {.whole = {true}, .lost_to = 0};
    }
    if (!answered) return counted;
    if (answered->records.size() != records.size()) {
      lose(make_message("what {} answers cannot be read: {}.", host_, std::to_string(answered->records.size())));
      return counted;
    }
    counted.whole.assign(records.size(), true);
    for (const std::int64_t place : answered->left) {
      if (place >= 0 && static_cast<std::size_t>(place) < records.size()) {
        counted.whole[static_cast<std::size_t>(place)] = false;
      }
    }
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (answered->records[i].spec == records[i]->spec) {
        *records[i] = std::move(answered->records[i]);
      } else {
        counted.whole[i] = false;
        lose(make_message("{} answered with another point than {}.", host_, describe(records[i]->spec)));
      }
    }
    if (answered->lost_to && *answered->lost_to >= 0 && static_cast<std::size_t>(*answered->lost_to) < records.size()) {
      counted.lost_to = static_cast<std::size_t>(*answered->lost_to);
    }
    return counted;
  }

  [[nodiscard]] Result<CeilingSet, CeilingFailure> ceilings(const CeilingOptions& options, const CancelToken& cancel,
                                                            const CeilingProgress& progress) override {
    auto answered = ask_for(
        {.ask = std::string(ask::ceilings), .ceilings = options}, cancel, patience_for_steps,
        [&](const Answer& answer) {
          if (progress && answer.answer == answer::progress && answer.done >= 0 && answer.total >= answer.done) {
            progress(static_cast<std::size_t>(answer.done), static_cast<std::size_t>(answer.total));
          }
        });
    if (!answered) return Failure{CeilingFailure{cancel.cancelled(), why_}};
    if (answered->answer == answer::ceilings && answered->ceilings) return std::move(*answered->ceilings);
    return Failure{CeilingFailure{answered->cancelled, answered->reason}};
  }

 private:
  Uncounted asked_for(const PointSpec& spec, const MeasureOptions& options, const CancelToken& cancel, bool whole) {
    const auto patience = patience_for_points(options, 1);
    const bool lost_before = lost_;
    auto answered = ask_for({.ask = std::string(ask::measure), .points = {spec}, .options = options, .whole = whole},
                            cancel, patience);
    if (answered && answered->records.size() == 1 && answered->records.front().spec == spec) {
      return {std::move(answered->records.front()), !answered->left.empty()};
    }
    PointRecord none;
    none.spec = spec;
    const bool lacks = answered && answered->answer == answer::refused;  // where any version will do
    if (lacks) {
      none.disposition = Disposition::infeasible;
      none.reason = make_message("{} (version {}): {}", host_, hello_.app_version, answered->reason);
    } else {
      if (answered) lose(make_message("{} answered with another point than {}.", host_, describe(spec)));
      none.reason = why_;
    }
    none.provenance = info().simulated ? Provenance::simulated : Provenance::measured;
    none.kernels.emplace_back();
    if (end_of_ == EndOf::point && !lacks && !silent_ && !lost_before) {
      none.disposition = Disposition::crashed;
      return {std::move(none), false};
    }
    if (!silent_ || lost_before) return {std::move(none), !lacks};
    // As a launch that does not end: it is not measured again.
    none.disposition = Disposition::timeout;
    none.reason = make_message("{} gave no result of {} in {} s, and --timeout gives a point {} s.", host_,
                               describe(spec), in_seconds(patience), in_seconds(options.timeout));
    return {std::move(none), false};
  }

  /// The answer that ends the request; those before it go to `meanwhile`, and let it wait as long again. Nothing where
  /// the link is lost, or nothing comes for so long.
  std::optional<Answer> ask_for(Request request, const CancelToken& cancel, std::chrono::milliseconds patience,
                                const std::function<void(const Answer&)>& meanwhile = {}) const {
    if (lost_) return std::nullopt;
    request.number = ++number_;
    if (!link_->send(to_line(request))) return lost();
    bool told_to_stop = false;
    Clock::time_point given_up_at = link_->now() + patience;
    for (std::string line;;) {
      const Link::Got got = link_->receive(line, between_looks);
      if (got == Link::Got::end) return lost();
      if (got == Link::Got::line) {
        auto answer = parse_answer(line);
        if (!answer) return lose(make_message("what {} answers cannot be read: {}.", host_, answer.error()));
        const bool ours = answer->number == request.number;
        // One that could not be read there has no number: there is no other that it could be of.
        if (answer->answer == answer::refused && (ours || answer->number == 0)) {
          if (any_version_) return std::move(answer).value();
          return lose(make_message("what {} answers cannot be read: {}.", host_, answer->reason));
        }
        if (ours && !answer->usable) usable_ = false;
        const bool ends = answer->answer != answer::built && answer->answer != answer::progress;
        if (ours && ends) return std::move(answer).value();
        if (ours && meanwhile) {
          meanwhile(*answer);
          if (!told_to_stop) given_up_at = link_->now() + patience;
        }
      }
      if ((cancel.cancelled() || session_.cancelled()) && !told_to_stop) {
        told_to_stop = true;
        given_up_at = link_->now() + patience_after_cancel;
        if (!link_->send(to_line(Request{.ask = std::string(ask::cancel), .number = request.number}))) return lost();
      }
      if (link_->now() > given_up_at) {
        silent_ = !told_to_stop;
        return lose(make_message("{} does not answer any more.", host_));
      }
    }
  }

  std::optional<Answer> lost() const {
    const Link::End end = link_->end();
    const std::string words = last_line(end.last_words);
    if (end_of_ == EndOf::point) return lose(process_ended(end, words));
    return lose(words.empty() ? make_message("the connection to {} was lost.", host_)
                              : make_message("the connection to {} was lost: {}.", host_, words));
  }
  std::optional<Answer> lose(Message why) const {
    lost_ = true;
    usable_ = false;
    why_ = std::move(why);
    link_.reset();  // who goes on in a fresh process leaves nothing of it behind
    return std::nullopt;
  }

  static Message process_ended(const Link::End& end, const std::string& words) {
    if (end.signal != 0) {
      const char* const name = ::strsignal(end.signal);
      if (words.empty()) return make_message("The library's process was ended by signal {} ({}).", end.signal, name);
      return make_message("The library's process was ended by signal {} ({}). Its last words: {}.", end.signal, name,
                          words);
    }
    if (words.empty()) return make_message("The library's process ended with exit code {}.", end.exit_code);
    return make_message("The library's process ended with exit code {}. Its last words: {}.", end.exit_code, words);
  }

  // What is asked changes nothing of the device, but for whether it still answers.
  mutable std::unique_ptr<Link> link_;
  EndOf end_of_;
  std::string host_;
  Hello hello_;
  bool any_version_;
  const Registry& registry_;
  const CancelToken& session_;  ///< with which it was opened: of what is asked without a token
  mutable std::uint64_t number_ = 0;
  mutable bool usable_ = true;
  mutable bool lost_ = false;
  mutable bool silent_ = false;  ///< lost because nothing came in time
  mutable Message why_;
};

}  // namespace

Result<OpenedRemote, OpenFailure> open_remote(std::unique_ptr<Link> link, std::string host,
                                              std::string_view app_version, const Registry& registry,
                                              const CancelToken& cancel, EndOf end_of) {
  OpenFailure failure;
  const auto given_up_at = link->now() + patience_for_words;
  std::string line;
  // A login shell may greet before it runs what it is told to.
  while (!line.starts_with("{\"answer\"")) {
    const Link::Got got = link->receive(line, between_looks);
    if (got == Link::Got::end || cancel.cancelled() || link->now() > given_up_at) {
      failure.end = link->end();
      return Failure{failure};
    }
  }
  auto answer = parse_answer(line);
  if (answer && answer->answer == answer::failed) {
    failure.kind = OpenFailure::Kind::no_device;
    failure.reason = answer->reason;
    return Failure{failure};
  }
  const bool any_version = app_version.empty();
  const bool ours = answer && answer->hello && answer->hello->protocol == protocol;
  if (!ours || (!any_version && answer->hello->app_version != app_version)) {
    failure.kind = OpenFailure::Kind::other_version;
    if (answer && answer->hello) failure.words = answer->hello->app_version;
    if (any_version && answer && answer->hello) failure.words += fmt::format(", protocol {}", answer->hello->protocol);
    return Failure{failure};
  }
  OpenedRemote opened;
  opened.simulated_because = answer->hello->simulated_because;
  opened.device = std::make_unique<RemoteDevice>(std::move(link), std::move(host), std::move(*answer->hello),
                                                 any_version, registry, cancel, end_of);
  return opened;
}

}  // namespace attnscope::remote
