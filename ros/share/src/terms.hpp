#pragma once

#include <rmw/rmw.h>
#include <rosidl_runtime_c/message_type_support_struct.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What is shared, and where those who share meet.
namespace takt::share {

/// Environment variables, set by `takt share`.
inline constexpr const char* folder_variable = "TAKT_SHARE";
inline constexpr const char* topics_variable = "TAKT_SHARE_TOPICS";

/// The folder with the sockets. Nothing: this process shares nothing.
const std::optional<std::string>& folder();
/// The names of the files in it, which must be there.
std::vector<std::string> names_in_folder();

/// Whether the middleware keeps messages for subscriptions that come later.
bool is_latched(const rmw_qos_profile_t& qualities);

/// Why a topic, or an end of it with these qualities, is not shared; null: it is.
const char* refusal(const char* topic, const rmw_qos_profile_t& qualities,
                    const rosidl_message_type_support_t& type);

/// The beginning of the sockets' names of all publishers on a topic of this domain and type.
std::string meeting_name(const char* topic, std::size_t domain,
                         const rosidl_message_type_support_t& type);

}  // namespace takt::share
