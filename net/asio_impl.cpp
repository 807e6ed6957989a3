// Asio and Beast are compiled here, once; see cmake/net_options.cmake.
//
// SPDX-License-Identifier: Apache-2.0
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>
