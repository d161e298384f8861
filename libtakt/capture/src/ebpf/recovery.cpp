#include "recovery.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "process_memory.hpp"

namespace takt::capture::ebpf {

namespace {

using Gid = std::array<std::uint8_t, 16>;

// More than any process has. A hostile one must not make us look for ever.
constexpr std::size_t object_limit = 20'000;

constexpr std::int64_t second = 1'000'000'000;

// Of rmw_qos_profile_t (rmw/types.h), in bytes.
constexpr std::uint64_t quality_size = 88;

/// A node, publisher, subscription, service or client of the middleware interface: its identifier,
/// its data and its name (rmw/types.h).
struct RmwObject {
  std::uint64_t address = 0;
  std::uint64_t data = 0;
  std::string name;
  std::string space;  // of a node
};

/// A structure of rcl that points to an RmwObject: the address of that pointer, and the addresses
/// at which the structure may begin.
struct Implementation {
  std::uint64_t pointer = 0;
  std::vector<std::uint64_t> begins;
};

class Search {
 public:
  explicit Search(const ProcessMemory& memory) : memory_(memory) {}

  Objects run() {
    find_identifiers();
    find_rmw_objects();
    find_implementations();
    find_handles();
    make_nodes();
    find_timers();
    find_graph();
    make_endpoints();
    return std::move(objects_);
  }

 private:
  /// Every object of the middleware interface begins with a pointer to the middleware's name.
  void find_identifiers() {
    for (const auto& library : memory_.libraries("librmw_")) {
      const auto name = library.substr(3, library.find('.') - 3);
      for (const auto address : memory_.constants("librmw_", name)) {
        identifiers_.insert(address);
      }
    }
  }

  void find_rmw_objects() {
    memory_.search([&](std::uint64_t begin, std::span<const std::uint64_t> words, std::size_t own) {
      for (std::size_t i = 0; i < own && i + 4 < words.size(); ++i) {
        if (!identifiers_.contains(words[i]) || rmw_.size() > object_limit) {
          continue;
        }
        Gid gid;
        std::copy_n(reinterpret_cast<const std::uint8_t*>(&words[i + 1]), gid.size(), gid.begin());
        gids_[begin + i * 8] = gid;
        const auto name = memory_.text(words[i + 2]);
        if (!name || name->empty()) {
          continue;
        }
        const auto space = memory_.text(words[i + 3]);
        const bool node = name->front() != '/' && space && space->starts_with('/');
        if (node || (name->front() == '/' && words[i + 1] != 0)) {
          const auto address = begin + i * 8;
          rmw_[address] = {address, words[i + 1], *name, node ? *space : ""};
        }
      }
    });
  }

  void find_implementations() {
    memory_.search([&](std::uint64_t begin, std::span<const std::uint64_t> words, std::size_t own) {
      for (std::size_t i = 0; i < own; ++i) {
        if (!rmw_.contains(words[i])) {
          continue;
        }
        Implementation found{begin + i * 8, {}};
        // The C library puts the size of a piece of memory before it.
        const std::uint64_t last = found.pointer & ~std::uint64_t{15};
        for (std::uint64_t at = last; at + 1024 > last && at >= begin + 16; at -= 16) {
          const auto size = words[(at - begin) / 8 - 1] & ~std::uint64_t{7};
          if (size % 16 == 0 && size >= 32 && size <= 2048 && at + size - 8 > found.pointer) {
            found.begins.push_back(at);
            begins_.insert(at);
          }
        }
        implementations_[words[i]].push_back(std::move(found));
      }
    });
  }

  /// A handle is a structure with a pointer to its implementation.
  void find_handles() {
    memory_.search([&](std::uint64_t begin, std::span<const std::uint64_t> words, std::size_t own) {
      for (std::size_t i = 0; i < own; ++i) {
        if (begins_.contains(words[i])) {
          handles_[words[i]].push_back(begin + i * 8);
        }
      }
    });
  }

  void make_nodes() {
    for (const auto& [address, object] : rmw_) {
      if (object.space.empty()) {
        continue;
      }
      Objects::Node node{0, address, object.name, object.space};
      for_each_handle(address, [&](const Implementation&, std::uint64_t handle) {
        // rcl_node_t: context, implementation. rcl_context_t begins with a pointer, too.
        const auto context = memory_.word(handle - 8);
        if (node.handle == 0 && context && *context % 8 == 0 && memory_.word(*context)) {
          node.handle = handle - 8;
          contexts_.insert(*context);
        }
      });
      if (node.handle != 0) {
        objects_.nodes.push_back(std::move(node));
      }
    }
  }

  /// rcl_timer_impl_t: clock, context, guard condition (which begins with the context again, or
  /// nothing, and has one more word), callback, period, last and next call.
  void find_timers() {
    std::map<std::uint64_t, std::int64_t> periods;
    memory_.search([&](std::uint64_t begin, std::span<const std::uint64_t> words, std::size_t own) {
      for (std::size_t i = 1; i < own && i + 6 < words.size(); ++i) {
        if (!contexts_.contains(words[i]) || (words[i + 1] != words[i] && words[i + 1] != 0) ||
            words[i + 2] == 0 || periods.size() > object_limit) {
          continue;
        }
        const auto clock = memory_.word(words[i - 1]);  // begins with its kind
        const auto period = static_cast<std::int64_t>(words[i + 4]);
        const auto previous = static_cast<std::int64_t>(words[i + 5]);
        const auto next = static_cast<std::int64_t>(words[i + 6]);
        // At most two periods, which may be any number here, lie between the calls.
        const std::int64_t longest = std::max(period, second);
        if (clock && (*clock & 0xffffffff) >= 1 && (*clock & 0xffffffff) <= 3 && period >= 0 &&
            previous > 0 && next >= previous && next - previous - longest <= longest) {
          periods[begin + (i - 1) * 8] = period;
        }
      }
    });
    std::set<std::uint64_t> found;
    memory_.search([&](std::uint64_t begin, std::span<const std::uint64_t> words, std::size_t own) {
      for (std::size_t i = 0; i < own; ++i) {
        const auto timer = periods.find(words[i]);
        if (timer != periods.end() && found.insert(timer->first).second) {
          objects_.timers.push_back({begin + i * 8, only_node(), timer->second});
        }
      }
    });
  }

  /// rmw_dds_common/NodeEntitiesInfo: two strings, namespace and name, and two vectors of gids.
  void find_graph() {
    std::map<std::string, std::uint64_t> nodes;
    std::set<std::uint64_t> lengths;
    for (const auto& node : objects_.nodes) {
      nodes[node.space + '\n' + node.name] = node.handle;
      lengths.insert(node.name.size());
    }
    memory_.search([&](std::uint64_t begin, std::span<const std::uint64_t> words, std::size_t own) {
      for (std::size_t i = 0; i < own && i + 13 < words.size(); ++i) {
        const auto info = words.subspan(i, 14);
        if (!lengths.contains(info[5]) || info[1] == 0 || info[1] > 255) {
          continue;
        }
        const auto address = begin + i * 8;
        const auto plausible = [](std::uint64_t text, std::uint64_t own_place) {
          return text == own_place || (text > 4096 && text % 8 == 0);
        };
        if (!plausible(info[0], address + 16) || !plausible(info[4], address + 48)) {
          continue;
        }
        const auto space = memory_.text(info[0]);
        const auto name = memory_.text(info[4]);
        if (!space || !name) {
          continue;
        }
        const auto node = nodes.find(*space + '\n' + *name);
        if (node != nodes.end()) {
          link(info[8], info[9], node->second);
          link(info[11], info[12], node->second);
        }
      }
    });
  }

  void link(std::uint64_t begin, std::uint64_t end, std::uint64_t node) {
    if (end < begin || (end - begin) % sizeof(Gid) != 0 || end - begin > sizeof(Gid) * 4096) {
      return;
    }
    for (auto at = begin; at != end; at += sizeof(Gid)) {
      Gid gid;
      if (memory_.read(at, std::as_writable_bytes(std::span(gid)))) {
        node_of_[gid] = node;
      }
    }
  }

  void make_endpoints() {
    for (const auto& [address, object] : rmw_) {
      if (!object.space.empty()) {
        continue;
      }
      Objects::Endpoint endpoint{0, address, 0, object.name, 0, {}};
      std::vector<Objects::Endpoint>* kind = nullptr;
      for_each_handle(address, [&](const Implementation& implementation, std::uint64_t handle) {
        if (kind == nullptr) {
          kind = kind_of(implementation.pointer, object, endpoint);
          endpoint.handle = handle;
        }
      });
      if (kind == nullptr) {
        continue;
      }
      const auto node = node_of_.find(endpoint.gid);
      endpoint.node = node != node_of_.end() ? node->second : node_by_name(object.name);
      kind->push_back(std::move(endpoint));
    }
  }

  /// Finds out from rcl's structure around the pointer to an object of the middleware interface
  /// what kind of object it is. Null if there is no such structure.
  std::vector<Objects::Endpoint>* kind_of(std::uint64_t pointer, const RmwObject& object,
                                          Objects::Endpoint& endpoint) {
    // rcl keeps the name of a service behind the pointer; that of a client after its counter.
    if (is_text(pointer + 16, object.name)) {
      return &objects_.services;
    }
    if (is_text(pointer + 24, object.name)) {
      return &objects_.clients;
    }
    // The actual quality of service lies before the pointer: that of a publisher with the context
    // between them. Wait sets and the middleware point to the same object, with other things
    // before.
    endpoint.gid = gid_in(object.data);
    std::vector<Objects::Endpoint>* kind = nullptr;
    std::optional<std::uint64_t> depth;
    switch (endpoint.gid[15] & 0x0f) {  // the kind of the entity (DDSI-RTPS 9.3.1.2)
      case 0x2:
      case 0x3: {
        const auto context = memory_.word(pointer - 8);
        if (context && contexts_.contains(*context)) {
          depth = depth_in(pointer - 8 - quality_size);
        }
        kind = &objects_.publishers;
        break;
      }
      case 0x4:
      case 0x7:
        depth = depth_in(pointer - quality_size);
        kind = &objects_.subscriptions;
        break;
      default:
        break;
    }
    endpoint.depth = depth.value_or(0);
    return depth ? kind : nullptr;
  }

  template <typename Use>
  void for_each_handle(std::uint64_t rmw_object, const Use& use) const {
    const auto implementations = implementations_.find(rmw_object);
    if (implementations == implementations_.end()) {
      return;
    }
    for (const auto& implementation : implementations->second) {
      for (const auto begin : implementation.begins) {
        const auto handles = handles_.find(begin);
        if (handles != handles_.end()) {
          for (const auto handle : handles->second) {
            use(implementation, handle);
          }
        }
      }
    }
  }

  /// The identifier of an endpoint, which its data hold behind the middleware's name.
  [[nodiscard]] Gid gid_in(std::uint64_t data) const {
    const auto first = gids_.lower_bound(data);
    return first != gids_.end() && first->first < data + 1024 && !rmw_.contains(first->first)
               ? first->second
               : Gid{};
  }

  [[nodiscard]] std::uint64_t only_node() const {
    return objects_.nodes.size() == 1 ? objects_.nodes.front().handle : 0;
  }

  /// The node with whose full name the service's name begins; else the only node, if there is one.
  [[nodiscard]] std::uint64_t node_by_name(const std::string& name) const {
    for (const auto& node : objects_.nodes) {
      const auto full = (node.space == "/" ? "" : node.space) + "/" + node.name + "/";
      if (name.starts_with(full)) {
        return node.handle;
      }
    }
    return only_node();
  }

  /// The depth in the rmw_qos_profile_t at an address: history (an int), depth (a word),
  /// reliability and durability (ints). Nothing if that is no quality of service in use, in which
  /// each of these policies is one of two, or 3: unknown.
  [[nodiscard]] std::optional<std::uint64_t> depth_in(std::uint64_t address) const {
    std::array<std::uint64_t, 3> words{};
    if (!memory_.read(address, std::as_writable_bytes(std::span(words)))) {
      return std::nullopt;
    }
    const auto is_policy = [](std::uint64_t value) { return value >= 1 && value <= 3; };
    const auto low = [](std::uint64_t word) { return word & 0xffffffff; };
    if (!is_policy(low(words[0])) || !is_policy(low(words[2])) || !is_policy(words[2] >> 32)) {
      return std::nullopt;
    }
    return words[1] < 1'000'000 ? words[1] : 0;
  }

  [[nodiscard]] bool is_text(std::uint64_t pointer, const std::string& text) const {
    const auto address = memory_.word(pointer);
    return address && memory_.text(*address) == text;
  }

  const ProcessMemory& memory_;
  std::unordered_set<std::uint64_t> identifiers_;
  std::map<std::uint64_t, RmwObject> rmw_;
  std::map<std::uint64_t, Gid> gids_;  // what follows the middleware's name, wherever that stands
  std::unordered_map<std::uint64_t, std::vector<Implementation>> implementations_;
  std::unordered_set<std::uint64_t> begins_;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> handles_;
  std::unordered_set<std::uint64_t> contexts_;
  std::map<Gid, std::uint64_t> node_of_;
  Objects objects_;
};

}  // namespace

Objects recover_objects(const ProcessMemory& memory) {
  return memory ? Search(memory).run() : Objects{};
}

}  // namespace takt::capture::ebpf
