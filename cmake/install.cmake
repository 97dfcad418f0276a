# What `cmake --install` puts where: the command, the library, and what other builds find it by: find_package(gpulse)
# gives gpulse::gpulse, pkg-config knows it as gpulse.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS gpulse RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

# The program by the names of those that it can stand in for, out of everybody's way: a link to one of these still has
# the name when a program has resolved it. Hard links, so that they are always this very version.
install(CODE "
  set(prefix \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
  file(MAKE_DIRECTORY \"\${prefix}/lib/gpulse\")
  foreach(name nvidia-smi gpustat)
    file(CREATE_LINK \"\${prefix}/${CMAKE_INSTALL_BINDIR}/gpulse\" \"\${prefix}/lib/gpulse/\${name}\")
  endforeach()")

# For whoever runs a batch system: docs/cluster.md says where they go.
install(PROGRAMS packaging/slurm/prolog packaging/slurm/epilog DESTINATION ${CMAKE_INSTALL_DATADIR}/gpulse/slurm)

# Manual pages and completions, which the program writes itself from what it knows of its command line.
set(pages ${CMAKE_BINARY_DIR}/pages)
add_custom_command(OUTPUT ${pages}/man/man1/gpulse.1
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${pages}
  # The builder's own configuration is no part of the product.
  COMMAND ${CMAKE_COMMAND} -E env XDG_CONFIG_HOME=/nonexistent $<TARGET_FILE:gpulse> help --pages ${pages}
  DEPENDS gpulse VERBATIM)
add_custom_target(pages ALL DEPENDS ${pages}/man/man1/gpulse.1)
install(DIRECTORY ${pages}/ DESTINATION ${CMAKE_INSTALL_DATADIR})

# Everything that is handed to a user.
add_custom_target(products DEPENDS gpulse pages)

if(TARGET gpulse_shared)
  add_dependencies(products gpulse_shared)
  add_library(gpulse::gpulse ALIAS gpulse_shared)
  set_target_properties(gpulse_shared PROPERTIES EXPORT_NAME gpulse)
  install(TARGETS gpulse_shared EXPORT gpulse LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY include/gpulse DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

  # It needs no other package, so that its targets are all of its configuration.
  set(config ${CMAKE_INSTALL_LIBDIR}/cmake/gpulse)
  install(EXPORT gpulse NAMESPACE gpulse:: FILE gpulseConfig.cmake DESTINATION ${config})
  # Before 1.0 every minor version may change what it offers.
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/gpulseConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/gpulseConfigVersion.cmake DESTINATION ${config})

  # Relative to the file itself, so that the folder can be moved, and installed below any prefix.
  file(RELATIVE_PATH from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" from_pc ${from_pc})
  configure_file(packaging/gpulse.pc.in ${CMAKE_BINARY_DIR}/gpulse.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/gpulse.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
