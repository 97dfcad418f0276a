/* SPDX-License-Identifier: Apache-2.0 */
        .section .rodata
        .balign 16
        .global gpulse_demo_begin
        .hidden gpulse_demo_begin
gpulse_demo_begin:
        .incbin GPULSE_DEMO_FILE
        .global gpulse_demo_end
        .hidden gpulse_demo_end
gpulse_demo_end:
        .byte 0
        .section .note.GNU-stack, "", %progbits
