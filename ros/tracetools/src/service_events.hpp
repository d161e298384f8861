#pragma once

#include <rmw/types.h>

#include <cstdint>

/// The events of service calls, emitted on behalf of a middleware that does not emit them.
namespace takt::tracetools {

/// How many of these events the middleware has emitted itself on the calling thread.
extern thread_local constinit std::uint64_t service_events_told
    __attribute__((tls_model("initial-exec")));

void tell_client_init(const rmw_client_t* client, const std::uint8_t* gid);
void tell_send_request(const rmw_client_t* client, const void* request, std::int64_t sequence);
void tell_take_request(const rmw_service_t* service, const void* request,
                       const rmw_request_id_t& id, bool taken);
void tell_send_response(const rmw_service_t* service, const void* response,
                        const rmw_request_id_t& id);
void tell_take_response(const rmw_client_t* client, const void* response,
                        const rmw_service_info_t& info, bool taken);

}  // namespace takt::tracetools
