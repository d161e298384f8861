#include "takt/execution/pass.hpp"

#include <chrono>

namespace takt::execution {

bool advance(events::EventStream& source, Interpreter& interpreter, events::Batch& batch,
             Pass& pass) {
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  const auto begin = Clock::now();
  const bool more = source.read(batch);
  const auto read = Clock::now();
  pass.read_seconds += Seconds(read - begin).count();
  if (!more) {
    interpreter.finish();
    return false;
  }
  interpreter.set_epoch(source.epoch_offset());
  interpreter.consume(batch);
  pass.interpret_seconds += Seconds(Clock::now() - read).count();
  if (pass.events == 0) {
    pass.first = batch.events.front().time;
  }
  pass.events += batch.events.size();
  pass.last = batch.events.back().time;
  return true;
}

Pass run(events::EventStream& source, Interpreter& interpreter, const Progress& progress) {
  Pass pass;
  events::Batch batch;
  while (advance(source, interpreter, batch, pass)) {
    if (progress) {
      const auto position = source.position();
      progress(position.done, position.total);
    }
  }
  return pass;
}

}  // namespace takt::execution
