#include "left_out.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "takt/capture/ring/selection_text.hpp"

namespace takt::tracetools {

namespace ring = capture::ring;

namespace {

/// A set of handles that threads look into while one of them, with the lock of the introductions,
/// changes it.
class Handles {
 public:
  [[nodiscard]] bool contains(const void* handle) const {
    const Table* const table = table_.load(std::memory_order_acquire);
    return table != nullptr && handle != nullptr && table->places[table->find(handle)] == handle;
  }

  void insert(const void* handle) {
    Table* table = table_.load(std::memory_order_relaxed);
    if (handle == nullptr || (table != nullptr && table->places[table->find(handle)] == handle)) {
      return;
    }
    if (table == nullptr || 2 * (table->used + 1) > table->places.size()) {
      table = grow(table);
    }
    table->places[table->find(handle)].store(handle, std::memory_order_release);
    ++table->used;
  }

  void erase(const void* handle) {
    Table* const table = table_.load(std::memory_order_relaxed);
    if (table == nullptr) return;
    auto& place = table->places[table->find(handle)];
    // Those that had to make way for it are still found behind it.
    if (place == handle) place.store(&was_erased_, std::memory_order_release);
  }

  /// Handles are found until this has returned.
  void clear() { table_.store(nullptr, std::memory_order_release); }

 private:
  struct Table {
    explicit Table(std::size_t size) : places(size) {}

    /// Where a handle is, or may be put.
    [[nodiscard]] std::size_t find(const void* handle) const {
      constexpr std::uint64_t spread = 0x9e3779b97f4a7c15;
      std::size_t at = reinterpret_cast<std::uintptr_t>(handle) * spread >> 20;
      for (;; ++at) {
        at &= places.size() - 1;
        const void* const there = places[at].load(std::memory_order_acquire);
        if (there == nullptr || there == handle) return at;
      }
    }

    std::vector<std::atomic<const void*>> places;  // a power of two, never more than half of them
    std::size_t used = 0;                          // those of erased handles included
  };

  Table* grow(const Table* old) {
    constexpr std::size_t least = 1024;
    std::size_t in_use = 0;
    for (std::size_t i = 0; old != nullptr && i < old->places.size(); ++i) {
      in_use += old->places[i] != nullptr && old->places[i] != &was_erased_ ? 1U : 0U;
    }
    std::size_t size = least;
    while (size < 4 * (in_use + 1)) size *= 2;
    // Threads may still look into the old ones, which are smaller, or were once full of erased
    // ones.
    tables_.push_back(std::make_unique<Table>(size));
    Table* const made = tables_.back().get();
    for (std::size_t i = 0; old != nullptr && i < old->places.size(); ++i) {
      const void* const handle = old->places[i];
      if (handle == nullptr || handle == &was_erased_) continue;
      made->places[made->find(handle)] = handle;
      ++made->used;
    }
    table_.store(made, std::memory_order_release);
    return made;
  }

  static constexpr char was_erased_ = 0;
  std::atomic<Table*> table_ = nullptr;
  std::vector<std::unique_ptr<Table>> tables_;
};

/// The fields of an entry of the object log, in order.
class Fields {
 public:
  explicit Fields(std::span<const std::byte> payload) : rest_(payload) {}

  const void* pointer() {
    const void* value = nullptr;
    if (rest_.size() < sizeof value) {
      rest_ = {};
      return nullptr;
    }
    std::memcpy(static_cast<void*>(&value), rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
    return value;
  }
  std::string_view text() {
    const std::string_view all(reinterpret_cast<const char*>(rest_.data()), rest_.size());
    const std::string_view value = all.substr(0, all.find('\0'));
    rest_ = rest_.subspan(std::min(value.size() + 1, rest_.size()));
    return value;
  }

 private:
  std::span<const std::byte> rest_;
};

/// Decides by patterns and by what the object log says of nodes and their entities.
class Decisions {
 public:
  /// Begins anew, by other patterns.
  void begin(std::string text) {
    text_ = std::move(text);
    selection_ = ring::selection_of(text_);
    position_ = 0;
    nodes_.clear();
    parents_.clear();
    children_.clear();
    decided_.clear();
    kept_ = 0;
    knows_any_ = false;
    left_out_.clear();
  }

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] bool is_everything() const { return selection_.is_everything(); }
  [[nodiscard]] bool has(const void* handle) const { return !left_out_.contains(handle); }
  /// Whether anything of the process is recorded, as far as it is known.
  [[nodiscard]] bool has_any() const { return kept_ != 0 || !knows_any_; }

  /// Reads on in the object log. `generation`: of the ring that it is in.
  void catch_up(const ring::Header& header, std::uint64_t slots, std::uint64_t generation) {
    if (generation_ != generation) position_ = 0;  // a forked child has a log of its own
    generation_ = generation;
    const auto* log = reinterpret_cast<const std::byte*>(&header) + ring::log_offset(slots);
    const std::uint64_t end = std::min<std::uint64_t>(
        header.log_size.load(std::memory_order_acquire), ring::log_capacity);
    while (position_ + sizeof(ring::LogEntry) <= end) {
      ring::LogEntry entry{};
      std::memcpy(&entry, log + position_, sizeof entry);
      const std::uint64_t following = position_ + ring::log_space(entry.size);
      if (following > end) return;
      read(static_cast<EventType>(entry.event),
           Fields({log + position_ + sizeof entry, entry.size}));
      position_ = following;
    }
  }

 private:
  void read(EventType event, Fields fields) {
    using enum EventType;
    const void* const first = fields.pointer();
    const void* const second = fields.pointer();
    switch (event) {
      case rcl_node_init: {
        const std::string_view name = fields.text();
        const std::string_view space = fields.text();
        nodes_[first] = std::string(space) + (space.ends_with('/') ? "" : "/") + std::string(name);
        decide(first, selection_.has(nodes_[first], ""));
        return;
      }
      case rcl_publisher_init:
      case rcl_subscription_init:
      case rcl_service_init:
      case rcl_client_init: {  // the handles of rcl, of the node and of rmw
        const void* const middleware = fields.pointer();
        const bool has = selection_.has(node(second), fields.text());
        decide(first, has);
        decide(middleware, has);
        return;
      }
      case rmw_publisher_init:
      case rmw_subscription_init:
      case rmw_client_init:
        // The middleware has some of its own, which have no node and that nobody can name.
        forget(first);
        if (!selection_.include.empty()) left_out_.insert(first);
        return;
      case rcl_timer_init:
        forget(first);
        return;
      case rclcpp_timer_link_node:
      case callback_init:
        decide(first, selection_.has(node(second), ""));
        return;
      case rclcpp_subscription_init:
      case rclcpp_subscription_callback_added:
      case rclcpp_service_callback_added:
      case rclcpp_timer_callback_added:
      case rcl_lifecycle_state_machine_init:
        relate(first, second);
        return;
      case rclcpp_ipb_to_subscription:
      case rclcpp_buffer_to_ipb:
        relate(second, first);
        return;
      default:
        return;
    }
  }

  [[nodiscard]] std::string_view node(const void* handle) const {
    const auto found = nodes_.find(handle);
    return found != nodes_.end() ? std::string_view(found->second) : std::string_view();
  }

  void forget(const void* handle) {
    parents_.erase(handle);
    const auto known = decided_.find(handle);
    if (known == decided_.end()) return;
    kept_ -= known->second ? 1 : 0;
    decided_.erase(known);
    left_out_.erase(handle);
  }

  /// An entity is made. Its address may be that of one that is gone.
  void decide(const void* handle, bool has) {
    forget(handle);
    decided_.emplace(handle, has);
    kept_ += has ? 1 : 0;
    knows_any_ = true;
    spread(handle, has, 0);
  }

  /// What is decided of `parent` is decided of `child`, now or when the parent is known.
  void relate(const void* parent, const void* child) {
    forget(child);  // whatever was at that address
    parents_[child] = parent;
    children_[parent].insert(child);
    if (const auto known = verdict(parent)) spread(child, *known, 0);
  }

  [[nodiscard]] const bool* verdict(const void* handle) const {
    for (int depth = 0; depth < deepest; ++depth) {
      if (const auto known = decided_.find(handle); known != decided_.end()) return &known->second;
      const auto parent = parents_.find(handle);
      if (parent == parents_.end()) return nullptr;
      handle = parent->second;
    }
    return nullptr;
  }

  void spread(const void* handle, bool has, int depth) {
    has ? left_out_.erase(handle) : left_out_.insert(handle);
    const auto children = children_.find(handle);
    if (children == children_.end() || depth == deepest) return;
    for (const void* const child : children->second) {
      const auto parent = parents_.find(child);
      const bool is_own = parent != parents_.end() && parent->second == handle;
      if (is_own && !decided_.contains(child)) spread(child, has, depth + 1);
    }
  }

  static constexpr int deepest = 8;  // a buffer's is 4

  std::string text_;
  Selection selection_;
  std::uint64_t generation_ = 0;
  std::uint64_t position_ = 0;  // in the object log
  std::unordered_map<const void*, std::string> nodes_;
  std::unordered_map<const void*, bool> decided_;  // of entities by their patterns
  std::atomic<std::uint64_t> kept_ = 0;            // of these
  std::atomic<bool> knows_any_ = false;
  std::unordered_map<const void*, const void*> parents_;
  std::unordered_map<const void*, std::unordered_set<const void*>> children_;
  Handles left_out_;
};

/// Never destroyed: threads may still trace when the process ends.
Decisions& decisions() {
  static auto* const made = new Decisions;
  return *made;
}

thread_local constinit const void* message_left_out = nullptr;
thread_local constinit const void* callback_left_out = nullptr;

}  // namespace

std::atomic<std::uint32_t> selection_in_force = 0;
std::atomic<bool> selects = false;

void update_selection_locked() {
  const ring::Header& header = ring_in_use();
  const std::uint32_t wanted = header.selection.load(std::memory_order_acquire);
  if (wanted != selection_in_force.load(std::memory_order_relaxed)) {
    decisions().begin(ring::selection_text(header));
  }
  if (!decisions().is_everything()) {
    decisions().catch_up(header, slots_of_ring(), ring_generation);
  }
  selects.store(!decisions().is_everything(), std::memory_order_release);
  selection_in_force.store(wanted, std::memory_order_release);
}

void hand_on_selection(ring::Header& ring) {
  if (selection_in_force == 0) return;
  ring::put_selection(ring, decisions().text());
  ring.selection = selection_in_force.load();
}

bool decide(Belongs how, const void* first, const void* second) {
  const Decisions& decided = decisions();
  switch (how) {
    case Belongs::to_nobody:
      return false;
    case Belongs::by_handle:
      return !decided.has(first);
    case Belongs::by_next:
      return first == nullptr || !decided.has(first);
    case Belongs::by_take:
      message_left_out = decided.has(first) ? nullptr : second;
      return message_left_out != nullptr;
    case Belongs::by_message:
      return first != nullptr && first == message_left_out;
    case Belongs::by_callback:
      return callback_left_out != nullptr;
    case Belongs::callback_start:
      callback_left_out = decided.has(first) ? nullptr : first;
      return callback_left_out != nullptr;
    case Belongs::callback_end:
      if (first != callback_left_out) return !decided.has(first);
      callback_left_out = nullptr;
      return true;
    case Belongs::by_process:
      return !decided.has_any();
  }
  return false;
}

bool runs_left_out_callback() { return callback_left_out != nullptr; }

}  // namespace takt::tracetools
