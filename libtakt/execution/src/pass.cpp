#include "takt/execution/pass.hpp"

#include <chrono>

namespace takt::execution {

Pass run(events::Source& source, Interpreter& interpreter, const Progress& progress) {
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  Pass pass;
  events::Batch batch;
  bool any = false;
  while (true) {
    const auto begin = Clock::now();
    const bool more = source.read(batch);
    const auto read = Clock::now();
    pass.read_seconds += Seconds(read - begin).count();
    if (!more) {
      break;
    }
    interpreter.consume(batch);
    pass.interpret_seconds += Seconds(Clock::now() - read).count();
    if (!any) {
      pass.first = batch.events.front().time;
      any = true;
    }
    pass.last = batch.events.back().time;
    if (progress) {
      const auto position = source.position();
      progress(position.done, position.total);
    }
  }
  interpreter.finish();
  return pass;
}

}  // namespace takt::execution
