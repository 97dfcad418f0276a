# cmake -DSOURCE=web -DBUILD=build -DNODE=… -DNPM=… -P build_page.cmake: builds the page into BUILD/web, and writes
# BUILD/generated/page_data.S, which puts the files of BUILD/web_packed into the program. Where the page cannot be
# built, a short one that says so takes its place, and the rest of the build goes on.

set(page ${BUILD}/web)
set(packed ${BUILD}/web_packed)

function(run_npm)
  # Nothing is fetched again while the list of packages is the same.
  file(SHA256 ${SOURCE}/package-lock.json wanted)
  set(stamp ${SOURCE}/node_modules/.installed)
  if(EXISTS ${stamp})
    file(READ ${stamp} present)
    if(present STREQUAL wanted)
      return()
    endif()
  endif()
  execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --loglevel=error
    WORKING_DIRECTORY ${SOURCE} RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(failed)
    set(why "npm could not fetch its packages: ${said}" PARENT_SCOPE)
    return()
  endif()
  file(WRITE ${stamp} ${wanted})
endfunction()

set(why "")
if(NOT NODE OR NOT NPM)
  set(why "there is no Node.js with npm here")
else()
  run_npm()
endif()
file(REMOVE_RECURSE ${packed})
if(why STREQUAL "")
  execute_process(COMMAND ${NODE} ${SOURCE}/build.mjs ${page} ${packed} RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "the page has faults")
  endif()
else()
  message(NOTICE "The page is left out of gpulse: ${why}. Install nodejs and npm, then run make again; all else is built.")
  file(REMOVE_RECURSE ${page})
  file(MAKE_DIRECTORY ${page} ${packed})
  file(COPY_FILE ${SOURCE}/src/missing.html ${page}/index.html)
  file(COPY_FILE ${SOURCE}/src/missing.html ${packed}/index.html)
endif()

set(names "")
set(rows "")
set(data "")
file(GLOB_RECURSE files RELATIVE ${packed} ${packed}/*)
list(SORT files)
set(number 0)
foreach(file ${files})
  string(APPEND names "name_${number}: .asciz \"/${file}\"\n")
  string(APPEND rows "        .quad name_${number}, data_${number}, end_${number}\n")
  string(APPEND data "        .balign 16\ndata_${number}: .incbin \"${packed}/${file}\"\nend_${number}: .byte 0\n")
  math(EXPR number "${number} + 1")
endforeach()
set(text "/* Written by cmake/build_page.cmake. */
        .section .rodata
${names}${data}
        .section .data.rel.ro, \"aw\", %progbits
        .balign 16
        .global gpulse_page_begin
        .hidden gpulse_page_begin
gpulse_page_begin:
${rows}
        .global gpulse_page_end
        .hidden gpulse_page_end
gpulse_page_end:
        .section .note.GNU-stack, \"\", %progbits
")
file(WRITE ${BUILD}/generated/page_data.S "${text}")
