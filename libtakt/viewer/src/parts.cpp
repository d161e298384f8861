#include "parts.hpp"

#include <algorithm>
#include <optional>
#include <ranges>

#include "takt/flow/part_splitter.hpp"

namespace takt::viewer {
namespace {

/// The recording as flow::PartSplitter reads it.
class Rows {
 public:
  using RunId = RunRow;

  Rows(const Recording& recording, const Timeline& timeline)
      : runs_(recording.runs()), timeline_(timeline) {}

  [[nodiscard]] auto overlapping(execution::ThreadIndex thread, Instant begin, Instant end) const {
    return timeline_.ending_after(thread, begin) |
           std::views::take_while(
               [this, end](std::uint32_t run) { return runs_[run].start < end; }) |
           std::views::transform([](std::uint32_t run) { return RunId(run); });
  }
  [[nodiscard]] Instant start(RunId run) const {
    return runs_[static_cast<std::size_t>(run)].start;
  }
  [[nodiscard]] Instant end(RunId run) const { return runs_[static_cast<std::size_t>(run)].end; }
  [[nodiscard]] std::vector<flow::Off> off(execution::ThreadIndex thread, Instant begin,
                                           Instant end) const {
    return timeline_.scheduling().off(thread, begin, end);
  }
  [[nodiscard]] flow::Idle idle(RunId run) const {
    return runs_[static_cast<std::size_t>(run)].idle;
  }
  [[nodiscard]] std::span<const execution::ThreadIndex> peers(execution::ThreadIndex thread) const {
    return timeline_.peers(thread);
  }

 private:
  const Array<Run>& runs_;
  const Timeline& timeline_;
};

}  // namespace

std::vector<Part> split(const Recording& recording, const Timeline& timeline, const Times& times,
                        std::span<const std::uint32_t> path) {
  using Splitter = flow::PartSplitter<Rows>;
  const Rows rows(recording, timeline);
  Splitter splitter(rows, times.since);
  splitter.until(times.activation, {flow::Stage::waiting_for_timer});
  for (std::size_t step = 0; step < path.size(); ++step) {
    const Run& run = recording.runs()[path[step]];
    if (step == 0) {
      splitter.wait(run.start, run.thread);
    } else {
      const Sent* const sent = recording.find(run.source);
      const auto sender = sent != nullptr ? recording.find(sent->instance) : std::nullopt;
      if (sender && *sender != path[step - 1]) {
        // What was stored waited for this message.
        splitter.until(std::min(sent->begin, run.start), {flow::Stage::waiting_for_input});
      }
      splitter.next_step();
      std::optional<Splitter::Sent> message;
      if (sent != nullptr) message = Splitter::Sent{sent->time, sent->intra_process};
      splitter.deliver(message, recording.arrival(run), run.start, run.thread);
    }
    Instant until = times.end;
    if (step + 1 < path.size()) {
      until = run.end;
      const Run& next = recording.runs()[path[step + 1]];
      if (const Sent* const sent = recording.find(next.source)) {
        until = std::min(until, sent->begin);
      }
    }
    splitter.run(until, run.thread, RunRow(path[step]));
  }
  return splitter.take();
}

}  // namespace takt::viewer
