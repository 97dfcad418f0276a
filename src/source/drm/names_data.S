/* SPDX-License-Identifier: Apache-2.0 */
        .section .rodata
        .global gpulse_pci_names_begin
        .hidden gpulse_pci_names_begin
gpulse_pci_names_begin:
        .incbin GPULSE_PCI_NAMES
        .global gpulse_pci_names_end
        .hidden gpulse_pci_names_end
gpulse_pci_names_end:
        .global gpulse_amd_names_begin
        .hidden gpulse_amd_names_begin
gpulse_amd_names_begin:
        .incbin GPULSE_AMD_NAMES
        .global gpulse_amd_names_end
        .hidden gpulse_amd_names_end
gpulse_amd_names_end:
        .byte 0
        .section .note.GNU-stack, "", %progbits
