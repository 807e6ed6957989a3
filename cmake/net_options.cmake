# Asio and Beast are compiled once, in net/asio_impl.cpp: whoever includes them sets the same definitions.
add_library(troupe_boost_options INTERFACE)
target_compile_definitions(troupe_boost_options INTERFACE BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION
                           BOOST_ASIO_NO_DEPRECATED)
target_link_libraries(troupe_net PRIVATE $<BUILD_INTERFACE:troupe_boost_options>)
if(TROUPE_SANITIZE MATCHES "thread")
  # The thread sanitizer does not know fences; Asio's queues are ordered by their locks as well.
  target_compile_definitions(troupe_boost_options INTERFACE BOOST_ASIO_DISABLE_FENCED_BLOCK)
endif()
