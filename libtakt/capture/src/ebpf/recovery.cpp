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

#include "address_set.hpp"
#include "libraries.hpp"
#include "process_memory.hpp"

namespace takt::capture::ebpf {

namespace {

using Gid = std::array<std::uint8_t, 16>;

// More than any process has. A hostile one must not make us look for ever.
constexpr std::size_t object_limit = 20'000;

constexpr std::int64_t second = 1'000'000'000;

// Of rcl_clock_type_t (rcl/time.h).
constexpr std::uint64_t ros_time = 1;

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

/// A timer's structure, and what points to it.
struct FoundTimer {
  std::int64_t period = 0;
  bool uses_ros_time = false;
  std::vector<std::uint64_t> handles;
};

class Search {
 public:
  explicit Search(const ProcessMemory& memory) : memory_(memory) {}

  Objects run() {
    objects_.has_rclcpp = !memory_.libraries("librclcpp.so").empty();
    objects_.has_rclpy = !memory_.libraries(rclpy).empty();
    find_identifiers();
    find_rmw_objects();
    find_implementations();
    find_handles();
    make_nodes();
    find_timers();
    find_owners();
    find_graph();
    make_timers();
    make_endpoints();
    return std::move(objects_);
  }

 private:
  using Piece = ProcessMemory::Piece;

  /// Calls `use` with every word of the memory: the piece whose own it is, and its place there.
  template <typename Use>
  void for_each_word(const Use& use) {
    const bool whole = memory_.search([&](const Piece& piece) {
      for (std::size_t i = piece.first; i < piece.last; ++i) use(piece, i);
    });
    objects_.searched_whole = objects_.searched_whole && whole;
  }

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
    for_each_word([&](const Piece& piece, std::size_t i) {
      const auto words = piece.words.subspan(i);
      if (!identifiers_.contains(words[0]) || words.size() < 4) {
        return;
      }
      if (rmw_.size() > object_limit) {
        objects_.searched_whole = false;
        return;
      }
      Gid gid;
      std::copy_n(reinterpret_cast<const std::uint8_t*>(&words[1]), gid.size(), gid.begin());
      const auto address = piece.address(i);
      gids_[address] = gid;
      const auto name = memory_.text(words[2]);
      if (!name || name->empty()) {
        return;
      }
      const auto space = memory_.text(words[3]);
      const bool node = name->front() != '/' && space && space->starts_with('/');
      if (node || (name->front() == '/' && words[1] != 0)) {
        rmw_[address] = {address, words[1], *name, node ? *space : ""};
      }
    });
  }

  void find_implementations() {
    AddressSet rmw_objects;
    for (const auto& [address, object] : rmw_) rmw_objects.insert(address);
    for_each_word([&](const Piece& piece, std::size_t i) {
      const auto word = piece.words[i];
      if (!rmw_objects.contains(word)) {
        return;
      }
      Implementation found{piece.address(i), {}};
      // The C library puts the size of a piece of memory before it.
      const std::uint64_t last = found.pointer & ~std::uint64_t{15};
      for (std::uint64_t at = last; at + 1024 > last && at >= piece.begin + 8; at -= 16) {
        const auto size = piece.words[(at - piece.begin) / 8 - 1] & ~std::uint64_t{7};
        if (size % 16 == 0 && size >= 32 && size <= 2048 && at + size - 8 > found.pointer) {
          found.begins.push_back(at);
          begins_.insert(at);
        }
      }
      implementations_[word].push_back(std::move(found));
    });
  }

  /// A handle is a structure with a pointer to its implementation.
  void find_handles() {
    for_each_word([&](const Piece& piece, std::size_t i) {
      const auto word = piece.words[i];
      if (begins_.contains(word)) handles_[word].push_back(piece.address(i));
    });
  }

  void make_nodes() {
    for (const auto& [address, object] : rmw_) {
      if (object.space.empty()) {
        continue;
      }
      ++named_[full_name(object.space, object.name)];
      Objects::Node node{0, address, object.name, object.space};
      std::vector<std::uint64_t> handles;
      for_each_handle(address, [&](const Implementation&, std::uint64_t handle) {
        // rcl_node_t: context, implementation. rcl_context_t begins with a pointer, too.
        const auto context = memory_.word(handle - 8);
        if (context && *context % 8 == 0 && memory_.word(*context)) {
          handles.push_back(handle - 8);
          contexts_.insert(*context);
        }
      });
      // Other words than the handle may look like it; what has the node points to the handle.
      for (const auto handle : handles) nodes_[handle] = handles.front();
      node.handle = handles.empty() ? 0 : handles.front();
      if (node.handle != 0) {
        nodes_[address] = node.handle;
        objects_.nodes.push_back(std::move(node));
      }
    }
  }

  /// rcl_timer_impl_t: clock, context, guard condition (which begins with the context again, or
  /// nothing, and has one more word), callback, period, last and next call.
  void find_timers() {
    for_each_word([&](const Piece& piece, std::size_t i) {
      const auto words = piece.words.subspan(i);
      if (!contexts_.contains(words[0]) || i == 0 || words.size() < 7 ||
          (words[1] != words[0] && words[1] != 0) || words[2] == 0 ||
          timers_.size() > object_limit) {
        return;
      }
      const auto clock = memory_.word(piece.words[i - 1]);  // begins with its kind
      const auto period = static_cast<std::int64_t>(words[4]);
      const auto previous = static_cast<std::int64_t>(words[5]);
      const auto next = static_cast<std::int64_t>(words[6]);
      // At most two periods, which may be any number here, lie between the calls.
      const std::int64_t longest = std::max(period, second);
      if (clock && (*clock & 0xffffffff) >= 1 && (*clock & 0xffffffff) <= 3 && period >= 0 &&
          previous > 0 && next >= previous && next - previous - longest <= longest) {
        timers_[piece.address(i - 1)] = {period, (*clock & 0xffffffff) == ros_time, {}};
      }
    });
    AddressSet timers;
    for (const auto& [address, timer] : timers_) timers.insert(address);
    for_each_word([&](const Piece& piece, std::size_t i) {
      const auto word = piece.words[i];
      if (timers.contains(word)) timers_.at(word).handles.push_back(piece.address(i));
    });
  }

  /// Finds what keeps handles alive. rclcpp and rclpy hold each by a std::shared_ptr with a deleter
  /// that has the node, too, because rcl's functions need it; so the piece of memory with the
  /// counts of the shared_ptr has the handle and one node. In a timer's there is no node.
  void find_owners() {
    AddressSet handles;
    for (const auto& [address, object] : rmw_) {
      for_each_handle(address, [&](const Implementation&, std::uint64_t handle) {
        if (object.space.empty()) handles.insert(handle);
      });
    }
    for (const auto& [address, timer] : timers_) {
      for (const auto handle : timer.handles) handles.insert(handle);
    }
    note_owners(handles);
    if (objects_.nodes.size() > 1) find_outer_owners(handles);
  }

  void note_owners(const AddressSet& handles) {
    for_each_word([&](const Piece& piece, std::size_t i) {
      if (handles.contains(piece.words[i])) note_owner(piece.words[i], piece.address(i));
    });
  }

  /// The services, clients, publishers and subscriptions of an action lie within the structure of
  /// its server or client, at the beginning, and the handle of that one has an owner.
  void find_outer_owners(const AddressSet& handles) {
    constexpr std::uint64_t largest_offset = 48;
    std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> within;  // by structure
    AddressSet structures;
    for (const auto handle : handles) {
      if (owners_.contains(handle)) continue;
      const std::uint64_t last = handle & ~std::uint64_t{15};
      for (auto at = last; at + largest_offset > last; at -= 16) {
        if (at + size_of(at) <= handle) continue;
        within[at].push_back(handle);
        structures.insert(at);
      }
    }
    std::unordered_map<std::uint64_t, std::uint64_t> outer;  // handle → structure
    AddressSet outer_handles;
    for_each_word([&](const Piece& piece, std::size_t i) {
      if (!structures.contains(piece.words[i]) || outer.size() > object_limit) return;
      outer[piece.address(i)] = piece.words[i];
      outer_handles.insert(piece.address(i));
    });
    note_owners(outer_handles);
    for (const auto& [handle, structure] : outer) {
      const auto owner = owners_.find(handle);
      if (owner == owners_.end()) continue;
      const std::set<std::uint64_t> nodes = owner->second;
      for (const auto inner : within.at(structure)) {
        owners_[inner].insert(nodes.begin(), nodes.end());
      }
    }
  }

  /// Looks at the piece of memory around a pointer to a handle.
  void note_owner(std::uint64_t handle, std::uint64_t pointer) {
    constexpr std::uint64_t largest = 512;
    std::array<std::uint64_t, 2 * largest / 8> words{};
    const std::uint64_t first = (pointer & ~std::uint64_t{15}) - largest;
    if (!memory_.read(first - 8, std::as_writable_bytes(std::span(words)))) {
      return;
    }
    // words[0] is the size before the piece that would begin at `first`.
    for (std::size_t at = largest / 8; at + 2 < words.size(); at -= 2) {
      const std::uint64_t size = words[at] & ~std::uint64_t{7};
      if (is_owner(std::span(words).subspan(at)) && first + at * 8 + size - 8 > pointer) {
        const auto rest = std::span(words).subspan(at + 3);
        std::set<std::uint64_t>& nodes = owners_[handle];
        for (const auto word : rest.first(std::min(rest.size(), size / 8 - 3))) {
          if (const auto node = nodes_.find(word); node != nodes_.end()) nodes.insert(node->second);
        }
        return;
      }
      if (at < 2) return;
    }
  }

  /// Whether this is the size of a piece of memory in use and the beginning of a shared_ptr's
  /// counts: its functions, and two counts. A piece that was given back has lost its beginning.
  [[nodiscard]] bool is_owner(std::span<const std::uint64_t> words) const {
    constexpr std::uint64_t most = 1 << 20;
    const std::uint64_t size = words[0] & ~std::uint64_t{7};
    const std::uint64_t uses = words[2] & 0xffffffff;
    const std::uint64_t weak = words[2] >> 32;
    return size % 16 == 0 && size >= 32 && size <= 512 && uses >= 1 && uses < most && weak >= 1 &&
           weak < most && words[1] % 8 == 0 && memory_.is_constant(words[1]);
  }

  void make_timers() {
    for (const auto& [address, timer] : timers_) {
      if (timer.handles.empty()) continue;
      const auto owned = std::ranges::find_if(
          timer.handles, [&](std::uint64_t handle) { return owners_.contains(handle); });
      const auto handle = owned != timer.handles.end() ? *owned : timer.handles.front();
      // rclpy's executors have timers of their own for time limits; those of nodes use, unless the
      // program wants otherwise, the node's clock.
      const bool is_of_a_node = timer.uses_ros_time || !objects_.has_rclpy;
      objects_.timers.push_back({handle, is_of_a_node ? only_node() : 0, timer.period});
    }
  }

  /// rmw_dds_common/NodeEntitiesInfo: two strings, namespace and name, and two vectors of gids.
  void find_graph() {
    std::map<std::string, std::uint64_t> nodes;
    std::set<std::uint64_t> lengths;
    for (const auto& node : objects_.nodes) {
      const auto name = full_name(node.space, node.name);
      if (named_.at(name) != 1) continue;  // the graph does not tell them apart
      nodes[name] = node.handle;
      lengths.insert(node.name.size());
    }
    for_each_word([&](const Piece& piece, std::size_t i) {
      const auto info = piece.words.subspan(i);
      if (info.size() < 14 || !lengths.contains(info[5]) || info[1] == 0 || info[1] > 255) {
        return;
      }
      const auto address = piece.address(i);
      const auto plausible = [](std::uint64_t text, std::uint64_t own_place) {
        return text == own_place || (text > 4096 && text % 8 == 0);
      };
      if (!plausible(info[0], address + 16) || !plausible(info[4], address + 48)) {
        return;
      }
      const auto space = memory_.text(info[0]);
      const auto name = memory_.text(info[4]);
      if (!space || !name) {
        return;
      }
      const auto node = nodes.find(full_name(*space, *name));
      if (node != nodes.end()) {
        link(info[8], info[9], node->second);
        link(info[11], info[12], node->second);
      }
    });
  }

  /// Copies of the graph that nobody uses any more point to what is something else by now, so
  /// endpoints may seem to have several nodes.
  void link(std::uint64_t begin, std::uint64_t end, std::uint64_t node) {
    if (end < begin || (end - begin) % sizeof(Gid) != 0 || end - begin > sizeof(Gid) * 4096) {
      return;
    }
    for (auto at = begin; at != end; at += sizeof(Gid)) {
      Gid gid;
      if (memory_.read(at, std::as_writable_bytes(std::span(gid)))) {
        nodes_of_[gid].insert(node);
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
        // Other words than the handle may point to the structure: what a thread had on its stack.
        if (kind != nullptr && (owners_.contains(endpoint.handle) || !owners_.contains(handle))) {
          return;
        }
        if (auto* const found = kind_of(implementation.pointer, object, endpoint)) {
          kind = found;
          endpoint.handle = handle;
        }
      });
      if (kind == nullptr) {
        continue;
      }
      endpoint.node = node_of(endpoint, object);
      kind->push_back(std::move(endpoint));
    }
  }

  /// 0: nothing shows it, or it is shown to be several.
  [[nodiscard]] std::uint64_t node_of(const Objects::Endpoint& endpoint,
                                      const RmwObject& object) const {
    const auto owner = owners_.find(endpoint.handle);
    const auto graph = nodes_of_.find(endpoint.gid);
    const bool is_in_graph = graph != nodes_of_.end() && endpoint.gid != Gid{};
    for (const auto& nodes :
         {owner != owners_.end() ? owner->second : std::set<std::uint64_t>{}, nodes_in(object.data),
          is_in_graph ? graph->second : std::set<std::uint64_t>{}}) {
      if (!nodes.empty()) return nodes.size() == 1 ? *nodes.begin() : 0;
    }
    return only_node();
  }

  /// The nodes to which the data of an endpoint point. Those of a subscription of Fast DDS have its
  /// node (CustomSubscriberInfo).
  [[nodiscard]] std::set<std::uint64_t> nodes_in(std::uint64_t data) const {
    std::array<std::uint64_t, 128> words{};
    std::set<std::uint64_t> nodes;
    const std::size_t count = std::min<std::size_t>(size_of(data) / 8, words.size());
    if (memory_.read(data, std::as_writable_bytes(std::span(words).first(count)))) {
      for (const auto word : std::span(words).first(count)) {
        if (const auto node = nodes_.find(word); node != nodes_.end()) nodes.insert(node->second);
      }
    }
    return nodes;
  }

  /// Bytes of the piece of memory at an address, as the C library notes them before it; 0: it does
  /// not look like one.
  [[nodiscard]] std::uint64_t size_of(std::uint64_t address) const {
    const auto noted = memory_.word(address - 8);
    const std::uint64_t size = noted.value_or(0) & ~std::uint64_t{7};
    return address % 16 == 0 && size % 16 == 0 && size >= 32 && size <= (1 << 16) ? size - 8 : 0;
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
    const std::uint64_t size = size_of(data);
    const std::uint64_t end = data + (size != 0 ? std::min<std::uint64_t>(size, 1024) : 1024);
    return first != gids_.end() && first->first < end && !rmw_.contains(first->first)
               ? first->second
               : Gid{};
  }

  /// The node, if there is a single one, and no other can have been overlooked.
  [[nodiscard]] std::uint64_t only_node() const {
    return named_.size() == 1 && named_.begin()->second == 1 && objects_.nodes.size() == 1 &&
                   objects_.searched_whole
               ? objects_.nodes.front().handle
               : 0;
  }

  [[nodiscard]] static std::string full_name(const std::string& space, const std::string& name) {
    return space + '\n' + name;
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
  AddressSet identifiers_;
  std::map<std::uint64_t, RmwObject> rmw_;
  std::map<std::uint64_t, Gid> gids_;  // what follows the middleware's name, wherever that stands
  std::unordered_map<std::uint64_t, std::vector<Implementation>> implementations_;
  AddressSet begins_;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> handles_;
  AddressSet contexts_;
  std::map<std::string, std::size_t> named_;                // nodes of each name
  std::unordered_map<std::uint64_t, std::uint64_t> nodes_;  // rcl's and rmw's → rcl's
  std::map<std::uint64_t, FoundTimer> timers_;              // by their structures
  /// Handles that something owns → the nodes that it has, too.
  std::unordered_map<std::uint64_t, std::set<std::uint64_t>> owners_;
  std::map<Gid, std::set<std::uint64_t>> nodes_of_;  // by the graph
  Objects objects_;
};

}  // namespace

Objects recover_objects(const ProcessMemory& memory) { return Search(memory).run(); }

}  // namespace takt::capture::ebpf
