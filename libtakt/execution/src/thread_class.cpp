#include "takt/execution/thread_class.hpp"

namespace takt::execution {

std::string_view to_string(ThreadClass thread_class) {
  switch (thread_class) {
    case ThreadClass::executor:
      return "executor";
    case ThreadClass::periodic:
      return "periodic";
    case ThreadClass::data_driven:
      return "data_driven";
    case ThreadClass::unclassifiable:
      return "unclassifiable";
    case ThreadClass::unknown:
      break;
  }
  return "unknown";
}

ThreadClass ThreadHistory::after(ThreadEvent event) const {
  using enum ThreadClass;
  switch (event) {
    case ThreadEvent::spin:
      return executor;
    case ThreadEvent::limited_spin:
      return unclassifiable;
    case ThreadEvent::rate_sleep:
      return class_ == executor || class_ == unclassifiable ? unclassifiable : periodic;
    case ThreadEvent::rate_stop:
      return class_ == periodic && !has_stopped_ ? unknown : class_;
    case ThreadEvent::publish:
      break;
  }
  return class_ == unknown ? data_driven : class_;
}

bool ThreadHistory::on(ThreadEvent event) {
  const ThreadClass next = after(event);
  if (next == class_) {
    return false;
  }
  has_stopped_ = has_stopped_ || event == ThreadEvent::rate_stop;
  class_ = next;
  last_ = event;
  ++changes_;
  return true;
}

std::string_view ThreadHistory::reason() const {
  if (class_ != ThreadClass::unclassifiable) {
    return {};
  }
  return last_ == ThreadEvent::rate_sleep
             ? "it sleeps by a rate although it spins an executor"
             : "it spins for limited times (spin_some, spin_once, spin_until_future_complete)";
}

}  // namespace takt::execution
