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

/// A number without a namespace means the first process of that number: a recorder that reports
/// objects older than the recording does not know their process's namespace.
ProcessIndex Threads::process(HostIndex host, ProcessId id) {
  const auto owner = static_cast<std::uint32_t>(host.value());
  const Key exact{owner, id.number, id.name_space};
  if (const auto known = process_of_.find(exact); known != process_of_.end()) {
    return known->second;
  }
  const auto [first, is_new] =
      process_of_.try_emplace(Key{owner, id.number, 0}, ProcessIndex(processes_.size()));
  const bool is_anothers = !is_new && has_name_space_[first->second.value()];
  const ProcessIndex found = is_anothers ? ProcessIndex(processes_.size()) : first->second;
  if (found.value() == processes_.size()) {
    processes_.push_back({host, id.number, {}});
    has_name_space_.push_back(false);
  }
  has_name_space_[found.value()] = id.name_space != 0;
  process_of_.try_emplace(exact, found);
  return found;
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

bool Threads::goes_on_after(ProcessIndex process, Instant time) const {
  if (!last_ && !find_last_) return true;
  if (!last_) last_ = find_last_();
  const Process& asked = processes_[process.value()];
  const auto owner = static_cast<std::uint32_t>(asked.host.value());
  auto next = last_->newest_.lower_bound({asked.host, asked.id, 0});
  for (; next != last_->newest_.end(); ++next) {
    const auto& [host, number, name_space] = next->first;
    if (host != asked.host || number != asked.id) break;
    // Where its namespace is not known, a number may be that of each of its processes.
    const auto known = process_of_.find({owner, number, name_space});
    const bool is_anothers =
        name_space != 0 && known != process_of_.end() && known->second != process;
    if (!is_anothers && next->second > time) return true;
  }
  return false;
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
