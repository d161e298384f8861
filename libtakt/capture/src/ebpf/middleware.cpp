#include "middleware.hpp"

namespace takt::capture::ebpf {
namespace {

using tracepoints::EventType;

constexpr std::array<Middleware, 2> known{{
    {"libfastrtps.so.2.14",
     108,
     {{{EventType::dds_write,
        "_ZN8eprosima8fastrtps4rtps14StatefulWriter30unsent_change_added_to_historyEPNS1_"
        "13CacheChange_tERKNSt6chrono10time_pointINS5_3_V212steady_clockENS5_8durationIlSt5ratioILl"
        "1ELl1000000000EEEEEE"},
       {EventType::dds_write,
        "_ZN8eprosima8fastrtps4rtps15StatelessWriter30unsent_change_added_to_historyEPNS1_"
        "13CacheChange_tERKNSt6chrono10time_pointINS5_3_V212steady_clockENS5_8durationIlSt5ratioILl"
        "1ELl1000000000EEEEEE"},
       {EventType::dds_receive,
        "_ZN8eprosima7fastdds3dds14DataReaderImpl25on_new_cache_change_addedEPKNS_"
        "8fastrtps4rtps13CacheChange_tE"}}}},
    {"libfastdds.so.3.2",
     124,
     {{{EventType::dds_write,
        "_ZN8eprosima7fastdds4rtps14StatefulWriter30unsent_change_added_to_historyEPNS1_"
        "13CacheChange_tERKNSt6chrono10time_pointINS5_3_V212steady_clockENS5_8durationIlSt5ratioILl"
        "1ELl1000000000EEEEEE"},
       {EventType::dds_write,
        "_ZN8eprosima7fastdds4rtps15StatelessWriter30unsent_change_added_to_historyEPNS1_"
        "13CacheChange_tERKNSt6chrono10time_pointINS5_3_V212steady_clockENS5_8durationIlSt5ratioILl"
        "1ELl1000000000EEEEEE"},
       {EventType::dds_receive,
        "_ZN8eprosima7fastdds3dds14DataReaderImpl25on_new_cache_change_addedEPKNS0_"
        "4rtps13CacheChange_tE"}}}},
}};

}  // namespace

std::span<const Middleware> middlewares() { return known; }

}  // namespace takt::capture::ebpf
