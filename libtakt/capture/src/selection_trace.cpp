#include "selection_trace.hpp"

#include <unistd.h>

#include <array>
#include <span>
#include <string>
#include <utility>

#include "process.hpp"
#include "process_trace.hpp"
#include "takt/base/try.hpp"
#include "takt/capture/ring/writer.hpp"
#include "takt/ctf/event_classes.hpp"

namespace takt::capture {

Result<void> SelectionTrace::write(ctf::Storage& storage) {
  if (selection_.is_everything() || trace_) return {};
  constexpr auto event = tracepoints::EventType::selection;
  trace_ =
      TAKT_TRY(ctf::Trace::create(storage, "selection",
                                  describe_process("takt-selection", getpid(), program_of(getpid()),
                                                   {ctf::event_class(event, 0)})));
  stream_ = trace_->open_stream("patterns", ctf::Kept::while_room);
  const auto tell = [&](const char* rule, const std::string& pattern) {
    std::string fields = rule;
    fields.append(1, '\0').append(pattern).append(1, '\0');
    // No process did it.
    stream_->append(ring::now(), static_cast<std::uint16_t>(event),
                    ctf::contexts(0, 0, std::array<char, 16>{}), std::as_bytes(std::span(fields)));
  };
  for (const auto& pattern : selection_.include) tell("include", pattern);
  for (const auto& pattern : selection_.exclude) tell("exclude", pattern);
  stream_->flush();
  return {};
}

}  // namespace takt::capture
