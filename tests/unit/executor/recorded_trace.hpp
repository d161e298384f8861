#pragma once

#include <map>
#include <string>
#include <vector>

namespace takt::executor {

/// The tracepoints that the calling thread passes, instead of the tracing library: this program
/// defines the same functions itself. Addresses are written as the names given to them, so that a
/// trace reads "callback_start(tick)".
class RecordedTrace {
 public:
  RecordedTrace();
  ~RecordedTrace();
  RecordedTrace(const RecordedTrace&) = delete;
  RecordedTrace& operator=(const RecordedTrace&) = delete;

  [[nodiscard]] const std::vector<std::string>& events() const { return events_; }
  void clear() { events_.clear(); }

  /// Called by the tracepoints.
  void add(const std::string& event) { events_.push_back(event); }
  /// The name of an address: the one given, else "?".
  [[nodiscard]] std::string name(const void* address) const;
  void give_name(const void* address, const std::string& name) { names_[address] = name; }

 private:
  std::vector<std::string> events_;
  std::map<const void*, std::string> names_;
};

}  // namespace takt::executor
