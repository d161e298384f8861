#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "takt/base/names.hpp"
#include "takt/base/near_names.hpp"
#include "takt/bridge/configuration.hpp"
#include "takt/bridge/plan.hpp"
#include "takt/bridge/wire.hpp"
#include "takt/link/chunking.hpp"
#include "takt/model/object_reader.hpp"
#include "takt/transport/connection.hpp"
#include "takt/yaml/quantities.hpp"
#include "takt/yaml/read_yaml.hpp"

namespace takt::bridge {

namespace {

using model::Findings;
using model::ObjectReader;
using nlohmann::json;

/// The longest name of a topic or a type, in characters.
constexpr std::size_t longest_name = 255;
constexpr std::size_t most_hosts = 64;
constexpr std::int64_t most_depth = 100'000;
constexpr std::int64_t most_urgent = 1'000'000'000;
/// Larger values need a privilege (CAP_NET_ADMIN).
constexpr std::int64_t most_socket_priority = 6;
constexpr double bytes_in_gigabyte = 1e9;

constexpr Names protocols{
    std::to_array<Name<Protocol>>({{Protocol::udp, "udp"}, {Protocol::rdma, "rdma"}})};
constexpr Names reliabilities{std::to_array<Name<Reliability>>(
    {{Reliability::best_effort, "best_effort"}, {Reliability::reliable, "reliable"}})};
constexpr Names durabilities{std::to_array<Name<Durability>>(
    {{Durability::volatile_, "volatile"}, {Durability::transient_local, "transient_local"}})};

bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// Whether the text has that many words with single slashes between them; 0: any number.
bool is_path(std::string_view text, std::size_t words = 0) {
  for (std::size_t found = 1;; ++found) {
    const std::size_t slash = text.find('/');
    if (!is_word(text.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return words == 0 || found == words;
    text.remove_prefix(slash + 1);
  }
}

bool is_address(const std::string& text) {
  in6_addr parsed{};
  return inet_pton(AF_INET, text.c_str(), &parsed) == 1 ||
         inet_pton(AF_INET6, text.c_str(), &parsed) == 1;
}

class Reader {
 public:
  explicit Reader(Findings& findings) : findings_(findings) {}

  Configuration read(const json& document) {
    ObjectReader object(document, "", findings_);
    configuration_.key = object.required_text(
        "key", "the file of the link's key, which `takt bridge --make-key FILE` makes");
    if (const json* hosts = object.required("hosts", "two or more, each with address and port")) {
      read_hosts(*hosts);
    }
    if (const json* link = object.optional("link")) {
      ObjectReader reader(*link, "link", findings_);
      if (!failed()) read_link(reader);
    }
    if (const json* topics = object.required("topics", "list what is carried")) {
      object.for_each(*topics, "topics", [&](const json& element, const std::string& path) {
        ObjectReader topic(element, path, findings_);
        if (!failed()) read_topic(topic);
      });
      if (topics->is_array() && topics->empty()) findings_.fail("topics: lists no topic");
    }
    refuse_unknown(object, {"key", "hosts", "link", "topics"});
    if (!failed()) check_whole();
    return std::move(configuration_);
  }

 private:
  [[nodiscard]] bool failed() const { return !findings_.fault.empty(); }

  void read_hosts(const json& hosts) {
    if (!hosts.is_object() || hosts.size() < 2) {
      findings_.fail("hosts: must name two hosts or more, each with its address and port");
      return;
    }
    if (hosts.size() > most_hosts) findings_.fail("hosts: at most {}", most_hosts);
    for (const auto& [name, value] : hosts.items()) {
      const std::string path = fmt::format("hosts.{}", name);
      if (!is_word(name)) findings_.fail("{}: a host's name has letters, digits and _ only", path);
      ObjectReader object(value, path, findings_);
      if (failed()) return;
      Host& host = configuration_.hosts.emplace_back();
      host.name = name;
      host.address = object.required_text("address", "the host's address in numbers");
      if (!failed() && !is_address(host.address)) {
        findings_.fail("{}: \"{}\" is no address in numbers, such as 192.168.1.2",
                       object.path_of("address"), host.address);
      }
      object.required("port", "a UDP port, such as 7500");
      host.port = static_cast<std::uint16_t>(whole(object, "port", 0, 1, 65'535));
      refuse_unknown(object, {"address", "port"});
    }
    const auto others = static_cast<int>(configuration_.hosts.size()) - 1;
    for (const Host& host : configuration_.hosts) {
      if (host.port + others - 1 > 65'535) {
        findings_.fail("hosts.{}.port: {} hosts need as many ports from this one on", host.name,
                       others);
      }
      for (const Host& other : configuration_.hosts) {
        if (&host != &other && host.address == other.address &&
            std::abs(host.port - other.port) < others) {
          findings_.fail("hosts.{}.port: {} has this port, too", host.name, other.name);
        }
      }
    }
  }

  void read_link(ObjectReader& object) {
    const auto bandwidth = quantity(object, "bandwidth", yaml::parse_bandwidth, "1Gbit/s");
    const auto overhead = time(object, "overhead");
    const auto blocking = time(object, "blocking");
    const auto chunk = quantity(object, "chunk", yaml::parse_bytes, "64kB");
    configuration_.link.socket_priority =
        static_cast<int>(whole(object, "socket_priority", 0, 0, most_socket_priority));
    configuration_.link.protocol = word(object, "protocol", protocols).value_or(Protocol::udp);
    refuse_unknown(object,
                   {"bandwidth", "overhead", "chunk", "blocking", "protocol", "socket_priority"});
    if (failed()) return;
    if (configuration_.link.protocol == Protocol::rdma && configuration_.link.socket_priority > 0) {
      findings_.fail("link.socket_priority: not with rdma, whose packets are no socket's");
    } else if (chunk && blocking) {
      findings_.fail("link: chunk and blocking say the same; leave one out");
    } else if ((blocking || overhead) && !bandwidth) {
      findings_.fail("link.bandwidth: missing; without it nobody knows how long a chunk takes");
    }
    if (failed()) return;
    if (chunk) configuration_.link.chunk_bytes = *chunk;
    link::LinkCosts costs;
    if (bandwidth) {
      costs = {.bits_per_second = static_cast<double>(*bandwidth),
               .per_chunk = overhead.value_or(Duration{0})};
    }
    if (blocking) {
      const auto choice = link::choose_chunk(costs, *blocking);
      if (!choice) return findings_.fail("link.blocking: {}", choice.error().message);
      configuration_.link.chunk_bytes = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(choice->bytes, transport::Connection::most_bytes));
    }
    if (configuration_.link.chunk_bytes > transport::Connection::most_bytes) {
      findings_.fail("link.chunk: at most {} bytes", transport::Connection::most_bytes);
    }
    if (bandwidth) {
      configuration_.link.blocking = link::blocking_bound(costs, configuration_.link.chunk_bytes);
    }
  }

  void read_topic(ObjectReader& object) {
    Topic topic;
    topic.name = object.required_text("topic", "its name, such as /image");
    if (!topic.name.starts_with('/')) topic.name.insert(topic.name.begin(), '/');
    if (!failed() && (topic.name.size() > longest_name || !is_path(topic.name.substr(1)))) {
      findings_.fail("{}: \"{}\" is no name of a topic", object.path_of("topic"), topic.name);
    }
    topic.type = object.optional_text("type");
    if (topic.type && (topic.type->size() > longest_name || !is_path(*topic.type, 3))) {
      findings_.fail("{}: \"{}\" is no message type, such as sensor_msgs/msg/Image",
                     object.path_of("type"), *topic.type);
    }
    const std::string from = object.required_text("from", "the host whose messages are carried");
    if (!failed()) topic.from = host(from, object.path_of("from"));
    const json* to = object.optional("to");
    if (!failed()) topic.to = receivers(object, to, topic.from);
    topic.priority = whole(object, "priority", 0, -most_urgent, most_urgent);
    topic.period = time(object, "period").value_or(Duration{0});
    topic.depth = static_cast<std::size_t>(whole(object, "depth", 10, 1, most_depth));
    if (const auto bytes = quantity(object, "largest_message", yaml::parse_bytes, "1MB")) {
      topic.largest_message = *bytes;
      if (*bytes > std::numeric_limits<std::uint32_t>::max() - header_bytes) {
        findings_.fail("{}: at most 4.29GB", object.path_of("largest_message"));
      }
    }
    topic.reliability = word(object, "reliability", reliabilities);
    topic.durability = word(object, "durability", durabilities);
    topic.latency = time(object, "latency");
    refuse_unknown(object, {"topic", "type", "from", "to", "priority", "period", "depth",
                            "largest_message", "reliability", "durability", "latency"});
    for (const std::size_t receiver : topic.to) {
      if (!routes_.emplace(topic.name, topic.from, receiver).second) {
        findings_.fail("{}: {} is carried from {} to {} already", object.path(), topic.name,
                       configuration_.hosts[topic.from].name, configuration_.hosts[receiver].name);
      }
    }
    if (!failed()) configuration_.topics.push_back(std::move(topic));
  }

  std::vector<std::size_t> receivers(ObjectReader& object, const json* to, std::size_t from) {
    const std::string path = object.path_of("to");
    std::vector<std::size_t> found;
    const auto add = [&](const std::string& name, const std::string& place) {
      const std::size_t receiver = host(name, place);
      if (failed()) return;
      if (receiver == from) findings_.fail("{}: the messages come from {}", place, name);
      if (std::ranges::count(found, receiver) > 0) findings_.fail("{}: {} twice", place, name);
      found.push_back(receiver);
    };
    if (to == nullptr) {
      for (std::size_t other = 0; other < configuration_.hosts.size(); ++other) {
        if (other != from) found.push_back(other);
      }
    } else if (to->is_array()) {
      object.for_each(*to, path, [&](const json& name, const std::string& place) {
        const std::string text = object.read_text(name, place);
        if (!failed()) add(text, place);
      });
      if (to->empty()) findings_.fail("{}: names no host", path);
    } else {
      const std::string text = object.read_text(*to, path);
      if (!failed()) add(text, path);
    }
    return found;
  }

  std::size_t host(const std::string& name, const std::string& path) {
    const auto found = std::ranges::find(configuration_.hosts, name, &Host::name);
    if (found != configuration_.hosts.end()) {
      return static_cast<std::size_t>(found - configuration_.hosts.begin());
    }
    std::vector<std::string> known;
    known.reserve(configuration_.hosts.size());
    for (const Host& one : configuration_.hosts) known.push_back(one.name);
    findings_.fail("{}: there is no host \"{}\"; hosts has {}", path, name, fmt::join(known, ", "));
    return 0;
  }

  template <typename Kind, std::size_t n>
  std::optional<Kind> word(ObjectReader& object, std::string_view name,
                           const Names<Kind, n>& known) {
    const auto text = object.optional_text(name);
    if (!text || failed()) return std::nullopt;
    const auto found = known.find(*text);
    if (!found) {
      findings_.fail("{}: \"{}\" is none of {}", object.path_of(name), *text, known.list());
    }
    return found;
  }

  std::int64_t whole(ObjectReader& object, std::string_view name, std::int64_t otherwise,
                     std::int64_t least, std::int64_t most) {
    const auto text = object.optional_text(name);
    if (!text || failed()) return otherwise;
    std::int64_t value = 0;
    const auto [end, fault] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (fault != std::errc{} || end != text->data() + text->size() || value < least ||
        value > most) {
      findings_.fail("{}: \"{}\" is no whole number from {} to {}", object.path_of(name), *text,
                     least, most);
      return otherwise;
    }
    return value;
  }

  template <typename Parse>
  auto quantity(ObjectReader& object, std::string_view name, Parse parse, std::string_view example)
      -> decltype(parse("")) {
    const auto text = object.optional_text(name);
    if (!text || failed()) return std::nullopt;
    const auto value = parse(*text);
    if (!value) {
      findings_.fail("{}: \"{}\" is not like {}", object.path_of(name), *text, example);
    }
    return value;
  }

  std::optional<Duration> time(ObjectReader& object, std::string_view name) {
    return quantity(object, name, yaml::parse_time, "20ms");
  }

  void refuse_unknown(ObjectReader& object, std::vector<std::string> known) {
    model::UnknownFields unknown;
    object.keep_unknown(unknown);
    findings_.warnings.clear();
    if (unknown.empty()) return;
    const std::string& name = unknown.begin()->first;
    const std::vector<std::string> near = near_names(known, name);
    findings_.fail("{}: unknown field; {} {}", object.path_of(name),
                   near.empty() ? "there are" : "is it",
                   fmt::join(near.empty() ? known : near, ", "));
  }

  void check_whole() {
    if (configuration_.topics.size() > most_offers) {
      return findings_.fail("topics: at most {}", most_offers);
    }
    std::map<std::uint32_t, std::string> streams;
    for (const Topic& topic : configuration_.topics) {
      const auto [stream, is_new] = streams.emplace(stream_of(topic.name), topic.name);
      if (!is_new && stream->second != topic.name) {
        findings_.fail("topics: {} and {} have the same number of a stream; remap one of them",
                       stream->second, topic.name);
      }
    }
    for (std::size_t host = 0; host < configuration_.hosts.size(); ++host) {
      const std::uint64_t bytes = memory_of(configuration_, host);
      if (bytes > most_memory) {
        findings_.fail(
            "topics: depth and largest_message ask for {:.1f} GB of memory on {}; at most {:.0f} "
            "GB are given",
            static_cast<double>(bytes) / bytes_in_gigabyte, configuration_.hosts[host].name,
            static_cast<double>(most_memory) / bytes_in_gigabyte);
      }
    }
  }

  Findings& findings_;
  Configuration configuration_;
  std::set<std::tuple<std::string, std::size_t, std::size_t>> routes_;
};

}  // namespace

Result<Configuration> parse(std::string_view text, std::string_view source) {
  const Result<json> document = yaml::read_yaml(text, "a list of topics");
  if (!document) return error("{}: {}", source, document.error().message);
  Findings findings;
  Configuration configuration = Reader(findings).read(*document);
  if (!findings.fault.empty()) return error("{}: {}", source, findings.fault);
  return configuration;
}

Result<std::size_t> find_host(const Configuration& configuration, std::string_view name,
                              std::string_view source) {
  const auto found = std::ranges::find(configuration.hosts, name, &Host::name);
  if (found != configuration.hosts.end()) {
    return static_cast<std::size_t>(found - configuration.hosts.begin());
  }
  std::vector<std::string_view> known;
  known.reserve(configuration.hosts.size());
  for (const Host& host : configuration.hosts) known.push_back(host.name);
  return error("{}: has no host \"{}\"; say with --host which of {} this is", source, name,
               fmt::join(known, ", "));
}

std::uint32_t stream_of(std::string_view topic) {
  // FNV-1a; 0 is the stream of states.
  std::uint32_t hash = 2'166'136'261U;
  for (const char c : topic) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619U;
  }
  return hash == state_stream ? 1 : hash;
}

}  // namespace takt::bridge
