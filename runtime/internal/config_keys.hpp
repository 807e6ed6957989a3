// The tables of keys of troupe.yaml.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/config.hpp>
#include <troupe/runtime/internal/yaml_reader.hpp>

#include <span>
#include <string>
#include <vector>

namespace troupe::internal {

// A config while it is read: the lines of what is checked when all is known.
struct config_draft {
  config value;
  struct reference {
    std::string model;
    std::size_t line;
    std::string key;
  };
  std::vector<reference> models_used;
  struct named {
    std::string name;
    std::size_t line;
    std::string key;
  };
  std::vector<named> agents_named;
};

void read_config(yaml_reader& reader, const yaml_value& in, config_draft& draft);

// One key as the reference shows it.
struct key_row {
  std::string name, type, fallback, help;
};
struct key_section {
  std::string title;   // "models.<id>"
  std::string opening; // a sentence
  std::vector<key_row> rows;
};

[[nodiscard]] std::vector<key_section> config_sections();

} // namespace troupe::internal
