#include "continuity.hpp"

namespace takt::capture::ebpf {

void Continuity::take(const takt_sched& event) {
  switch (event.event) {
    case TAKT_SCHED_SWITCH:
      switch_out(event.cpu, event.first, event.first_traced != 0, event.state != 0);
      switch_in(event.cpu, event.second, event.second_traced != 0);
      break;
    case TAKT_SCHED_WAKEUP:
    case TAKT_SCHED_WAKEUP_NEW:
      asleep_.erase(event.first.thread);
      break;
    default:
      break;
  }
}

void Continuity::switch_out(unsigned processor, const takt_task& thread, bool traced, bool asleep) {
  const auto known = running_.find(processor);
  // At the first event of a processor nothing is known of it yet.
  if (known != running_.end() && known->second != (traced ? thread.thread : 0)) {
    missing_ += known->second != 0;  // the switch by which that one left
    missing_ += traced;              // the switch by which this one came
  }
  if (traced && asleep) {
    asleep_.insert(thread.thread);
  }
}

void Continuity::switch_in(unsigned processor, const takt_task& thread, bool traced) {
  running_[processor] = traced ? thread.thread : 0;
  if (traced) {
    missing_ += asleep_.erase(thread.thread);  // its wake-up
  }
}

}  // namespace takt::capture::ebpf
