# Libraries, public headers, program, the CMake package and the pkg-config file.
#
# The libraries are static, so whoever links them needs their private dependencies as well: the package finds them
# again, and troupe.pc names them as private (pkg-config --static).
include(CMakePackageConfigHelpers)

set(troupe_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/troupe")

install(TARGETS troupe_messages troupe_runtime troupe_actors troupe_net troupe_web troupe_embed
        EXPORT troupeTargets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(TARGETS troupe_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(EXPORT troupeTargets NAMESPACE troupe:: DESTINATION "${troupe_package_dir}")

configure_package_config_file(cmake/troupeConfig.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/troupeConfig.cmake"
                              INSTALL_DESTINATION "${troupe_package_dir}")
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/troupeConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/troupeConfig.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/troupeConfigVersion.cmake" cmake/FindCAF.cmake
        DESTINATION "${troupe_package_dir}")

# Where the prefix is, from the place of the .pc file: an installed tree may be moved.
file(RELATIVE_PATH troupe_pc_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(cmake/troupe.pc.in "${CMAKE_CURRENT_BINARY_DIR}/troupe.pc" @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/troupe.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
