#include "continuity.hpp"

namespace takt::capture::ebpf {

void Continuity::take(const takt_sched& event) {
  switch (event.event) {
    case TAKT_SCHED_SWITCH:
      leave(event.cpu, event.first, event.first_traced != 0, event.state != 0);
      come(event.cpu, event.second, event.second_traced != 0);
      break;
    case TAKT_SCHED_WAKEUP:
    case TAKT_SCHED_WAKEUP_NEW:
      asleep_[event.first.thread] = false;
      break;
    case TAKT_SCHED_EXIT:
      asleep_.erase(event.first.thread);  // its last switch follows, which shows nothing new
      break;
    default:
      break;
  }
}

void Continuity::leave(unsigned processor, const takt_task& thread, bool traced, bool asleep) {
  const auto known = running_.find(processor);
  // At the first event of a processor nothing is known of it yet.
  if (known != running_.end() && known->second != (traced ? thread.thread : 0)) {
    missing_ += known->second != 0;  // the switch by which that one left
    missing_ += traced;              // the switch by which this one came
  }
  if (traced) {
    asleep_[thread.thread] = asleep;
  }
}

void Continuity::come(unsigned processor, const takt_task& thread, bool traced) {
  running_[processor] = traced ? thread.thread : 0;
  if (traced) {
    auto& asleep = asleep_[thread.thread];
    missing_ += asleep;  // its wake-up
    asleep = false;
  }
}

}  // namespace takt::capture::ebpf
