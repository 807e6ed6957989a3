// Boost.JSON, compiled once; Debian's package of headers is enough.
//
// SPDX-License-Identifier: Apache-2.0
#include <boost/json/src.hpp>
