#include "parts.hpp"

#include <algorithm>

namespace takt::viewer {
namespace {

PartKind kind_of(Scheduling::State state) {
  switch (state) {
    case Scheduling::State::preempted:
      return PartKind::preempted;
    case Scheduling::State::blocked:
      return PartKind::blocked;
    case Scheduling::State::supply:
      break;
  }
  return PartKind::supply;
}

/// Goes through the time of an instance from its beginning. Clocks of hosts may differ: time never
/// goes back, so that the parts add up.
class Splitter {
 public:
  Splitter(const Recording& recording, const Timeline& timeline, Instant begin)
      : recording_(recording), timeline_(timeline), now_(begin) {}

  void until(Instant time, Part part) {
    if (time > now_) {
      part.duration = time - now_;
      parts_.push_back(part);
      now_ = time;
    }
  }

  /// Adds the wait in the executor for the start of a run, behind the runs of its thread meanwhile.
  void wait(std::size_t step, std::size_t run) {
    const Instant start = recording_.runs()[run].start;
    const Part idle{step, PartKind::executor, {}, {}, -1};
    for (const std::size_t other : timeline_.runs_between(run, now_, start)) {
      const Run& ahead = recording_.runs()[other];
      until(std::min(ahead.start, start), idle);
      until(std::min(ahead.end, start), {step, PartKind::executor, {}, other, -1});
    }
    until(start, idle);
  }

  /// Adds a run until a time, split by when its thread did not run.
  void run(std::size_t step, std::size_t run, Instant end) {
    const auto& segments =
        timeline_.scheduling().segments(recording_.runs()[run].thread, now_, end);
    for (const Scheduling::Segment& segment : segments) {
      until(segment.start, {step, PartKind::running, {}, run, -1});
      until(segment.end, {step, kind_of(segment.state), {}, run, -1, segment.actor});
    }
    until(end, {step, PartKind::running, {}, run, -1});
  }

  /// Adds the time of a message on its way to a run, and its wait until the run starts. Data that a
  /// timer reads waits until the timer is due.
  void deliver(std::size_t step, std::size_t run) {
    const Run& to = recording_.runs()[run];
    const std::int64_t message = timeline_.message_to(run);
    const Instant sent = now_;
    switch (to.before) {
      case Run::Before::due:
        until(std::min(*recording_.due(to), to.start), {step, PartKind::timer, {}, {}, -1});
        break;
      case Run::Before::sent:
        until(std::min(to.first, to.start), {step, PartKind::sending, {}, {}, message});
        until(std::min(to.second, to.start), {step, PartKind::transport, {}, {}, message});
        break;
      case Run::Before::waited:
        if (to.first < sent && sent <= to.second) {
          until(to.second, {step, PartKind::transport, {}, {}, message});
        }
        break;
      case Run::Before::nothing:
        break;
    }
    wait(step, run);
  }

  [[nodiscard]] std::vector<Part> take() { return std::move(parts_); }

 private:
  const Recording& recording_;
  const Timeline& timeline_;
  Instant now_;
  std::vector<Part> parts_;
};

}  // namespace

std::vector<Part> split(const Recording& recording, const Timeline& timeline, Instant activation,
                        std::span<const std::uint32_t> path) {
  Splitter splitter(recording, timeline, activation);
  for (std::size_t step = 0; step < path.size(); ++step) {
    const Run& run = recording.runs()[path[step]];
    if (step == 0) {
      splitter.wait(step, path[step]);
    } else {
      splitter.deliver(step, path[step]);
    }
    Instant until = run.end;
    if (step + 1 < path.size()) {
      const Run& next = recording.runs()[path[step + 1]];
      if (const Sent* const sent = recording.find(next.source)) {
        until = std::min(until, sent->time);
      }
    }
    splitter.run(step, path[step], until);
  }
  return splitter.take();
}

}  // namespace takt::viewer
