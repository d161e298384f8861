// The events of service calls (ros2_services.def) in programs whose middleware has none: Jazzy's
// and older. This library is preloaded, so its functions of the same names stand before those of
// the middleware interface. Each calls the real function and then emits the event, unless the
// middleware has emitted it itself (Kilted and later).

#include <rmw/rmw.h>

#include <cstdint>
#include <string_view>

#include "next_function.hpp"
#include "service_events.hpp"

namespace takt::tracetools {

thread_local constinit std::uint64_t service_events_told
    __attribute__((tls_model("initial-exec"))) = 0;

}  // namespace takt::tracetools

namespace {

using takt::tracetools::next_function;
using takt::tracetools::service_events_told;

/// Turns the identifier of a client into the one that its requests carry. Over Fast DDS requests
/// carry the identifier of the reader of the responses. rmw_get_gid_for_client gives that of the
/// writer of the requests, which rmw_fastrtps makes right after that reader, as the next entity of
/// the participant. If another thread makes an entity in between, the requests are linked to no
/// client, which is counted.
void name_as_requests_do(rmw_gid_t& gid) {
  constexpr std::string_view fast_dds = "rmw_fastrtps";
  constexpr std::size_t entity = 12;  // three bytes of its number, big-endian, and one of its kind
  constexpr std::uint8_t writer = 0x03;
  constexpr std::uint8_t reader = 0x04;
  if (gid.implementation_identifier == nullptr ||
      !std::string_view(gid.implementation_identifier).starts_with(fast_dds) ||
      gid.data[entity + 3] != writer) {
    return;
  }
  for (std::size_t byte = entity + 3; byte-- > entity;) {
    if (gid.data[byte]-- != 0) break;  // else borrows from the byte before
  }
  gid.data[entity + 3] = reader;
}

/// Calls the real function. `tell` runs afterwards with its result, unless the middleware has
/// emitted an event itself.
template <typename Function, typename Failure, typename Tell, typename... Arguments>
auto forward(Function* real, Failure failure, const Tell& tell, Arguments... arguments)
    -> decltype(real(arguments...)) {
  if (real == nullptr) return failure;
  const std::uint64_t told = service_events_told;
  const auto result = real(arguments...);
  if (service_events_told == told) tell(result);
  return result;
}

}  // namespace

extern "C" {

rmw_client_t* rmw_create_client(const rmw_node_t* node,
                                const rosidl_service_type_support_t* type_support,
                                const char* service_name, const rmw_qos_profile_t* qos_policies) {
  TAKT_REAL(rmw_create_client);
  const auto tell = [](const rmw_client_t* client) {
    if (client == nullptr) return;
    static auto* const gid_of = reinterpret_cast<decltype(rmw_get_gid_for_client)*>(
        next_function("rmw_get_gid_for_client", nullptr));
    rmw_gid_t gid{};
    if (gid_of != nullptr && gid_of(client, &gid) == RMW_RET_OK) {
      name_as_requests_do(gid);
      takt::tracetools::tell_client_init(client, gid.data);
    }
  };
  rmw_client_t* const none = nullptr;
  return forward(real, none, tell, node, type_support, service_name, qos_policies);
}

rmw_ret_t rmw_send_request(const rmw_client_t* client, const void* ros_request,
                           int64_t* sequence_id) {
  TAKT_REAL(rmw_send_request);
  const auto tell = [=](rmw_ret_t result) {
    if (result == RMW_RET_OK) {
      takt::tracetools::tell_send_request(client, ros_request, *sequence_id);
    }
  };
  return forward(real, RMW_RET_ERROR, tell, client, ros_request, sequence_id);
}

rmw_ret_t rmw_take_request(const rmw_service_t* service, rmw_service_info_t* request_header,
                           void* ros_request, bool* taken) {
  TAKT_REAL(rmw_take_request);
  const auto tell = [=](rmw_ret_t result) {
    if (result == RMW_RET_OK) {
      takt::tracetools::tell_take_request(service, ros_request, request_header->request_id, *taken);
    }
  };
  return forward(real, RMW_RET_ERROR, tell, service, request_header, ros_request, taken);
}

rmw_ret_t rmw_send_response(const rmw_service_t* service, rmw_request_id_t* request_header,
                            void* ros_response) {
  TAKT_REAL(rmw_send_response);
  const auto tell = [=](rmw_ret_t result) {
    if (result == RMW_RET_OK) {
      takt::tracetools::tell_send_response(service, ros_response, *request_header);
    }
  };
  return forward(real, RMW_RET_ERROR, tell, service, request_header, ros_response);
}

rmw_ret_t rmw_take_response(const rmw_client_t* client, rmw_service_info_t* request_header,
                            void* ros_response, bool* taken) {
  TAKT_REAL(rmw_take_response);
  const auto tell = [=](rmw_ret_t result) {
    if (result == RMW_RET_OK) {
      takt::tracetools::tell_take_response(client, ros_response, *request_header, *taken);
    }
  };
  return forward(real, RMW_RET_ERROR, tell, client, request_header, ros_response, taken);
}

}  // extern "C"
