// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/address_rules.hpp>

#include <doctest/doctest.h>

using namespace troupe::net;

TEST_CASE("addresses of the public Internet are told from all others") {
  auto is_public = [](const char* text) { return is_public_address(boost::asio::ip::make_address(text)); };
  for (const char* text :
       {"8.8.8.8", "1.1.1.1", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0",
        "100.63.255.255", "100.128.0.0", "169.253.0.1", "198.17.255.255", "198.20.0.0", "223.255.255.255",
        "2606:4700::1111", "2a00:1450:4001::1", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"}) {
    INFO(text);
    CHECK(is_public(text));
  }
  for (const char* text : {"0.0.0.0",
                           "0.1.2.3",
                           "10.0.0.1",
                           "100.64.0.1",
                           "127.0.0.1",
                           "127.255.255.254",
                           "169.254.169.254",
                           "168.63.129.16",
                           "172.16.0.1",
                           "172.31.255.255",
                           "192.0.0.1",
                           "192.0.2.1",
                           "192.168.1.1",
                           "198.18.0.1",
                           "198.19.255.255",
                           "198.51.100.1",
                           "203.0.113.1",
                           "224.0.0.1",
                           "240.0.0.1",
                           "255.255.255.255",
                           "::",
                           "::1",
                           "fe80::1",
                           "fc00::1",
                           "fd00:ec2::254",
                           "ff02::1",
                           "2001:db8::1",
                           "2001::1",
                           "3fff::1",
                           "::ffff:127.0.0.1",
                           "::ffff:169.254.169.254",
                           "64:ff9b::7f00:1",
                           "2002:7f00:1::1",
                           "::127.0.0.1",
                           "100::1"}) {
    INFO(text);
    CHECK_FALSE(is_public(text));
  }
}

TEST_CASE("hosts are judged by their spelling where nobody here resolves them") {
  for (const char* host : {"localhost", "LOCALHOST", "localhost.", "a.localhost", "127.1", "2130706433",
                           "0x7f000001", "0177.1", "127.0.0.1", "127.0.0.1.", "::1", "10.0.0.1", ""}) {
    INFO(host);
    CHECK_FALSE(may_be_public(host));
  }
  for (const char* host : {"example.com", "8.8.8.8", "localhost.example.com", "2606:4700::1111"}) {
    INFO(host);
    CHECK(may_be_public(host));
  }
}
