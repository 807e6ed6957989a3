// Certificates that a test makes: an authority of its own, and servers that it signs for.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include <unistd.h>

namespace troupe::test {

using key_ptr = std::shared_ptr<EVP_PKEY>;
using cert_ptr = std::shared_ptr<X509>;

struct identity {
  key_ptr key;
  cert_ptr cert;
};

constexpr long day = 24 * 3600;

inline void add_extension(X509* cert, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, cert, nullptr, nullptr, 0);
  auto* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  X509_add_ext(cert, extension, -1);
  X509_EXTENSION_free(extension);
}

// Signed by `issuer`, or by itself when there is none.
inline identity make_identity(const std::string& name, const std::string& alternatives,
                              const identity* issuer, long from, long until) {
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

inline std::shared_ptr<SSL_CTX> server_context(const identity& who) {
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

} // namespace troupe::test
