// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/http_client.hpp>
#include <troupe/net/io_pool.hpp>

#include <doctest/doctest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "net/recorded.hpp"
#include "support/test_server.hpp"
#include <unistd.h>

using namespace troupe;
using namespace troupe::net;
using namespace troupe::test;

namespace {

using key_ptr = std::shared_ptr<EVP_PKEY>;
using cert_ptr = std::shared_ptr<X509>;

struct identity {
  key_ptr key;
  cert_ptr cert;
};

constexpr long day = 24 * 3600;

void add_extension(X509* cert, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, cert, nullptr, nullptr, 0);
  auto* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  X509_add_ext(cert, extension, -1);
  X509_EXTENSION_free(extension);
}

// Signed by `issuer`, or by itself when there is none.
identity make_identity(const std::string& name, const std::string& alternatives, const identity* issuer,
                       long from, long until) {
  identity out;
  out.key = key_ptr(EVP_EC_gen("P-256"), EVP_PKEY_free);
  out.cert = cert_ptr(X509_new(), X509_free);
  auto* cert = out.cert.get();
  X509_set_version(cert, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(cert), issuer != nullptr ? 2 : 1);
  X509_gmtime_adj(X509_getm_notBefore(cert), from);
  X509_gmtime_adj(X509_getm_notAfter(cert), until);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  auto* signer = issuer != nullptr ? issuer->cert.get() : cert;
  X509_set_issuer_name(cert, X509_get_subject_name(signer));
  X509_set_pubkey(cert, out.key.get());
  if (issuer == nullptr)
    add_extension(cert, signer, NID_basic_constraints, "critical,CA:TRUE");
  else
    add_extension(cert, signer, NID_subject_alt_name, alternatives);
  X509_sign(cert, (issuer != nullptr ? issuer->key : out.key).get(), EVP_sha256());
  return out;
}

std::shared_ptr<SSL_CTX> server_context(const identity& who) {
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  SSL_CTX_use_certificate(context.get(), who.cert.get());
  SSL_CTX_use_PrivateKey(context.get(), who.key.get());
  return context;
}

// A directory with the authority's certificate, gone at the end.
struct authority {
  authority() {
    std::string form = (std::filesystem::temp_directory_path() / "troupe-tls-XXXXXX").string();
    directory = ::mkdtemp(form.data());
    file = directory / "ca.pem";
    auto* out = std::fopen(file.c_str(), "w");
    PEM_write_X509(out, self.cert.get());
    std::fclose(out);
  }
  ~authority() { std::filesystem::remove_all(directory); }

  identity self = make_identity("Test Authority", {}, nullptr, -day, day);
  std::filesystem::path directory;
  std::filesystem::path file;
};

http_record ask(const std::string& url, const std::string& ca_file, std::string body = "hello",
                int times = 1) {
  io_pool pool;
  http_client client(pool);
  auto origin = http_origin::parse(url, ca_file);
  REQUIRE(origin);
  http_record last;
  for (int i = 0; i < times; ++i) {
    http_request request;
    request.origin = *origin;
    for (std::size_t at = 0; at < body.size(); at += 7000)
      request.body.emplace_back(std::make_shared<const std::string>(body.substr(at, 7000)));
    auto handler = std::make_shared<recording_handler>();
    auto call = client.start(std::move(request), handler);
    last = handler->wait();
  }
  return last;
}

} // namespace

TEST_CASE("a server whose certificate is in order is talked to, by name and by address") {
  authority ca;
  test_server server([](const seen_request& r) { return answer(200, r.body); },
                     server_context(make_identity("x", "DNS:localhost,IP:127.0.0.1", &ca.self, -day, day)));
  CHECK(ask(server.url("localhost"), ca.file).body == "hello");
  CHECK(ask(server.url("127.0.0.1"), ca.file, "hello", 5).body == "hello");
  CHECK(server.connections() == 2);
  std::string large(1'000'000, 'x');
  CHECK(ask(server.url("127.0.0.1"), ca.file, large).body == large);
}

TEST_CASE("a certificate that is not in order is refused") {
  authority ca;
  authority other;
  auto script = [](const seen_request&) { return answer(200, "never"); };
  struct row {
    const char* reason;
    identity shown;
    std::string ca_file;
  };
  const row rows[] = {
      {"IP address mismatch", make_identity("x", "DNS:localhost", &ca.self, -day, day), ca.file},
      {"certificate has expired", make_identity("x", "IP:127.0.0.1", &ca.self, -2 * day, -day), ca.file},
      {"certificate is not yet valid", make_identity("x", "IP:127.0.0.1", &ca.self, day, 2 * day), ca.file},
      {"unable to get local issuer certificate", make_identity("x", "IP:127.0.0.1", &ca.self, -day, day), {}},
      {"", make_identity("x", "IP:127.0.0.1", &other.self, -day, day), ca.file},
  };
  for (const auto& [reason, shown, ca_file] : rows) {
    const auto& tried = reason;
    CAPTURE(tried);
    test_server server(script, server_context(shown));
    auto record = ask(server.url(), ca_file);
    REQUIRE(record.error);
    CHECK(record.error->kind == http_error_kind::tls);
    CHECK(record.error->message.find(reason) != std::string::npos);
    CHECK(server.requests().empty());
  }
  test_server named(script, server_context(make_identity("localhost", "DNS:elsewhere", &ca.self, -day, day)));
  auto record = ask(named.url("localhost"), ca.file);
  REQUIRE(record.error);
  CHECK(record.error->message.find("hostname mismatch") != std::string::npos);
}

TEST_CASE("a server that does not speak TLS fails the handshake in time") {
  authority ca;
  test_server plain([](const seen_request&) { return answer(200, "never"); });
  auto url = plain.url();
  url.replace(0, 4, "https");
  // It sees no request in what comes, so that only its own end can end the wait.
  io_pool pool;
  http_client client(pool);
  auto handler = std::make_shared<recording_handler>();
  http_request request;
  request.origin = *http_origin::parse(url, ca.file);
  request.timeouts.connect = std::chrono::milliseconds(60);
  auto call = client.start(std::move(request), handler);
  auto record = handler->wait();
  REQUIRE(record.error);
  CHECK(record.error->kind == http_error_kind::connect_timeout);
}
