#include "takt/events/threads.hpp"

namespace takt::events {

HostIndex Threads::host(std::string_view name, std::string_view clock) {
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    if (hosts_[i].name == name && hosts_[i].clock == clock) {
      return HostIndex(i);
    }
  }
  hosts_.push_back({std::string(name), std::string(clock)});
  return HostIndex(hosts_.size() - 1);
}

ProcessIndex Threads::process(HostIndex host, ProcessId id) {
  const auto [entry, is_new] = process_of_.try_emplace(
      Key{static_cast<std::uint32_t>(host.value()), id.number, id.name_space},
      ProcessIndex(processes_.size()));
  if (is_new) {
    processes_.push_back({host, id.number, {}});
  }
  return entry->second;
}

ThreadIndex Threads::thread(HostIndex host, ProcessId process_id, std::int64_t thread_id,
                            std::string_view name) {
  const ProcessIndex owner = process(host, process_id);
  const auto [entry, is_new] = thread_of_.try_emplace(
      Key{static_cast<std::uint32_t>(owner.value()), thread_id}, ThreadIndex(threads_.size()));
  if (is_new) {
    threads_.push_back({owner, thread_id, {}});
  }
  rename(threads_[entry->second.value()], name);
  return entry->second;
}

void Threads::rename(Thread& thread, std::string_view name) {
  if (name.empty() || thread.name == name) {
    return;
  }
  thread.name = name;
  Process& process = processes_[thread.process.value()];
  if (thread.id == process.id || process.name.empty()) {
    process.name = name;
  }
}

}  // namespace takt::events
