# One library a folder, one include root a library.
#
# A header of folder F is included as <troupe/F/name.hpp>, in the tree and once installed. The include root of F is
# ${build}/include/F, which holds nothing but a link to the folder, so a target sees only the headers of the folders
# that it links: an include against the direction of the layers does not compile.

set(TROUPE_INCLUDE_BASE "${CMAKE_CURRENT_BINARY_DIR}/include")

add_library(troupe_options INTERFACE)
target_compile_features(troupe_options INTERFACE cxx_std_20)
target_compile_options(troupe_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                       "-ffile-prefix-map=${CMAKE_CURRENT_SOURCE_DIR}/=")
# False alarms of g++ 12: overlaps in string concatenations (GCC bug 105651), and the inside of an empty optional.
target_compile_options(troupe_options INTERFACE
                       "$<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-maybe-uninitialized>")
if(TROUPE_WERROR)
  target_compile_options(troupe_options INTERFACE -Werror)
endif()
if(TROUPE_SANITIZE)
  target_compile_options(troupe_options INTERFACE -fsanitize=${TROUPE_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  target_link_options(troupe_options INTERFACE -fsanitize=${TROUPE_SANITIZE})
endif()
if(TROUPE_COVERAGE)
  target_compile_options(troupe_options INTERFACE --coverage)
  target_link_options(troupe_options INTERFACE --coverage)
endif()
if(TROUPE_FUZZ)
  target_compile_options(troupe_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# troupe_library(<folder> [PUBLIC targets...] [PRIVATE targets...])
function(troupe_library folder)
  cmake_parse_arguments(arg "" "" "PUBLIC;PRIVATE" ${ARGN})
  set(source "${CMAKE_CURRENT_SOURCE_DIR}/${folder}")
  set(root "${TROUPE_INCLUDE_BASE}/${folder}")
  file(MAKE_DIRECTORY "${root}/troupe")
  file(CREATE_LINK "${source}" "${root}/troupe/${folder}" SYMBOLIC)

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${source}/*.cpp")
  file(GLOB_RECURSE headers RELATIVE "${source}" CONFIGURE_DEPENDS "${source}/*.hpp")
  # What a folder keeps to itself lies in internal/ and is not installed; of actors/ only the handles are.
  list(FILTER headers EXCLUDE REGEX "(^|/)internal/")
  if(folder STREQUAL "actors")
    list(FILTER headers INCLUDE REGEX "^(interfaces|caf|engine)\\.hpp$")
  endif()
  list(TRANSFORM headers PREPEND "${root}/troupe/${folder}/")
  if(folder STREQUAL "embed" AND EXISTS "${source}/troupe.hpp")
    # No link: an installed link would lead back to the sources. REMOVE: a build folder may still hold one.
    if(IS_SYMLINK "${root}/troupe/troupe.hpp")
      file(REMOVE "${root}/troupe/troupe.hpp")
    endif()
    file(CONFIGURE OUTPUT "${root}/troupe/troupe.hpp" @ONLY CONTENT
"// The one header that a program includes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/embed/troupe.hpp> // IWYU pragma: export
")
    list(APPEND headers "${root}/troupe/troupe.hpp")
  endif()

  add_library(troupe_${folder} STATIC ${sources})
  target_sources(troupe_${folder} PUBLIC FILE_SET HEADERS BASE_DIRS "${root}" FILES ${headers})
  target_link_libraries(troupe_${folder} PUBLIC ${arg_PUBLIC} PRIVATE $<BUILD_INTERFACE:troupe_options> ${arg_PRIVATE})
  set(export_name ${folder})
  if(folder STREQUAL "embed")
    set(export_name troupe)
  endif()
  set_target_properties(troupe_${folder} PROPERTIES EXPORT_NAME ${export_name} VERIFY_INTERFACE_HEADER_SETS ON
                        POSITION_INDEPENDENT_CODE ON)
  target_compile_features(troupe_${folder} PUBLIC cxx_std_20)
  add_library(troupe::${export_name} ALIAS troupe_${folder})
endfunction()
