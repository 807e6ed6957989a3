// Gives the memory of a container back.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace troupe {

// Empties a standard container. clear() keeps its room, and so does `container = {}`, which assigns an empty list.
template <class Container>
void free_memory(Container& container) {
  Container().swap(container);
}

} // namespace troupe
