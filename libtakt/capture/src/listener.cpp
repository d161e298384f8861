#include "takt/capture/listener.hpp"

#include "ring/listener.hpp"
#include "without_probes.hpp"
#ifdef TAKT_WITH_EBPF
#include "ebpf/listener.hpp"
#endif

namespace takt::capture {

namespace {

Result<std::unique_ptr<Listener>> start_probes([[maybe_unused]] bool only_started) {
#ifdef TAKT_WITH_EBPF
  return ebpf::Listener::start(only_started);
#else
  return error("{}", without_probes);
#endif
}

}  // namespace

Result<std::unique_ptr<Listener>> Listener::start(Tracer tracer, bool only_started) {
  switch (tracer) {
    case Tracer::ring:
      return ring::Listener::start(only_started);
    case Tracer::ebpf:
      return start_probes(only_started);
    case Tracer::lttng:
      break;
  }
  return error("LTTng's events are recorded, and not heard as they happen: use ring or ebpf");
}

}  // namespace takt::capture
