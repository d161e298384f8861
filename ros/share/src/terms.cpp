#include "terms.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <rosidl_runtime_c/type_hash.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <span>
#include <string_view>

#include "takt/memory/layout.hpp"

namespace takt::share {

namespace {

/// Every process has them with every other, and seldom sends anything over them. Shared only if
/// they are named.
constexpr std::array<std::string_view, 2> of_every_process{"/rosout", "/parameter_events"};

constexpr std::string_view name_characters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/";

const char* pattern() {
  static const char* const chosen = std::getenv(topics_variable);
  return chosen != nullptr && *chosen != '\0' ? chosen : "*";
}

bool is_unlimited(const rmw_time_t& time) {
  // Zero is the default. The middleware turns it into a time of centuries.
  constexpr std::uint64_t years = 60ULL * 60 * 24 * 365;
  return (time.sec == 0 && time.nsec == 0) || time.sec > years;
}

bool is_secured() {
  const char* const enabled = std::getenv("ROS_SECURITY_ENABLE");
  return enabled != nullptr && std::string_view(enabled) == "true";
}

class Hash {
 public:
  void add(std::span<const unsigned char> bytes) {
    for (const unsigned char byte : bytes) value_ = (value_ ^ byte) * 0x100000001b3U;
  }
  void add(std::string_view text) {
    add(std::span(reinterpret_cast<const unsigned char*>(text.data()), text.size()));
    add(std::array<unsigned char, 1>{0});
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;  // FNV-1a
};

std::optional<std::string> find_folder() {
  const char* const named = std::getenv(folder_variable);
  struct stat status {};
  // A folder that others can write to would let them stand in for a publisher.
  if (named == nullptr || stat(named, &status) != 0 || !S_ISDIR(status.st_mode) ||
      status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0 || is_secured()) {
    return std::nullopt;
  }
  return named;
}

}  // namespace

const std::optional<std::string>& folder() {
  static const std::optional<std::string> found = find_folder();
  return found;
}

std::vector<std::string> names_in_folder() {
  std::vector<std::string> found;
  if (DIR* const now = opendir(folder()->c_str())) {
    while (const dirent* const entry = readdir(now)) found.emplace_back(entry->d_name);
    closedir(now);
  }
  return found;
}

bool is_latched(const rmw_qos_profile_t& qualities) {
  return qualities.durability == RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL;
}

const char* refusal(const char* topic, const rmw_qos_profile_t& qualities,
                    const rosidl_message_type_support_t& type) {
  const std::string_view name = topic;
  const bool is_named = name == pattern();
  for (const std::string_view common : of_every_process) {
    if (name == common && !is_named) return "every process has this topic: name it to share it";
  }
  if (name.find_first_not_of(name_characters) != std::string_view::npos)
    return "its name is none of ROS 2";
  if (!is_named && fnmatch(pattern(), topic, 0) != 0) return "not among the topics to share";
  if (std::string_view(type.typesupport_identifier).find("dynamic") != std::string_view::npos) {
    return "its type is made while the program runs";
  }
  if (qualities.durability != RMW_QOS_POLICY_DURABILITY_VOLATILE && !is_latched(qualities)) {
    return "its durability is not known";
  }
  if (qualities.history != RMW_QOS_POLICY_HISTORY_KEEP_LAST) return "it keeps all messages";
  if (qualities.depth == 0 || qualities.depth > memory::most_depth)
    return "it keeps too many messages";
  if (!is_unlimited(qualities.deadline)) return "it has a deadline";
  if (!is_unlimited(qualities.lifespan)) return "its messages have a lifespan";
  if (qualities.liveliness != RMW_QOS_POLICY_LIVELINESS_AUTOMATIC ||
      !is_unlimited(qualities.liveliness_lease_duration)) {
    return "its liveliness is watched";
  }
  return nullptr;
}

std::string meeting_name(const char* topic, std::size_t domain,
                         const rosidl_message_type_support_t& type) {
  Hash hash;
  hash.add(topic);
  hash.add(fmt::format("{}", domain));
  if (type.get_type_hash_func != nullptr) {
    if (const rosidl_type_hash_t* const of_type = type.get_type_hash_func(&type)) {
      hash.add(std::span<const unsigned char>(of_type->value, sizeof of_type->value));
    }
  }
  return fmt::format("{:016x}", hash.value());
}

}  // namespace takt::share
