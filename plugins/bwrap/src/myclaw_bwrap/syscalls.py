"""Numbers of the system calls that the filter speaks about (Linux, `asm/unistd_64.h` and `asm-generic/unistd.h`)."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

__all__ = ["MACHINES", "Machine"]

_BOTH: Mapping[str, int] = {
    "pidfd_send_signal": 424,
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "pidfd_open": 434,
    "clone3": 435,
    "openat2": 437,
    "pidfd_getfd": 438,
    "mount_setattr": 442,
    "quotactl_fd": 443,
    "memfd_secret": 447,
    "fchmodat2": 452,
    "statmount": 457,
    "listmount": 458,
    "open_tree_attr": 467,
}

# name: (x86_64, aarch64)
_EACH: Mapping[str, tuple[int, int]] = {
    "accept": (43, 202),
    "accept4": (288, 242),
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bind": (49, 200),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "clone": (56, 220),
    "connect": (42, 203),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "finit_module": (313, 273),
    "getsockopt": (55, 209),
    "init_module": (175, 105),
    "inotify_init1": (294, 26),
    "ioctl": (16, 29),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "listen": (50, 201),
    "lookup_dcookie": (212, 18),
    "memfd_create": (319, 279),
    "mknodat": (259, 33),
    "mount": (165, 40),
    "mq_open": (240, 180),
    "msgctl": (71, 187),
    "msgget": (68, 186),
    "msgrcv": (70, 188),
    "msgsnd": (69, 189),
    "name_to_handle_at": (303, 264),
    "nfsservctl": (180, 42),
    "open_by_handle_at": (304, 265),
    "openat": (257, 56),
    "perf_event_open": (298, 241),
    "pivot_root": (155, 41),
    "prctl": (157, 167),
    "prlimit64": (302, 261),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "semctl": (66, 191),
    "semget": (64, 190),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "setrlimit": (160, 164),
    "settimeofday": (164, 170),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "shmdt": (67, 197),
    "shmget": (29, 194),
    "socket": (41, 198),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "sync": (162, 81),
    "syncfs": (306, 267),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
}

_X86_64_ONLY: Mapping[str, int] = {
    "chmod": 90,
    "creat": 85,
    "fork": 57,
    "inotify_init": 253,
    "ioperm": 173,
    "iopl": 172,
    "mknod": 133,
    "modify_ldt": 154,
    "open": 2,
    "uselib": 134,
    "vfork": 58,
}


@frozen(kw_only=True)
class Machine:
    """One kind of processor.

    Attributes:
        audit_arch: What the kernel calls it in a filter's data (`AUDIT_ARCH_*`).
        numbers: Number of each system call it has.
    """

    audit_arch: int
    numbers: Mapping[str, int]


MACHINES: Mapping[str, Machine] = {
    "x86_64": Machine(
        audit_arch=0xC000003E,
        numbers={**_BOTH, **_X86_64_ONLY, **{name: pair[0] for name, pair in _EACH.items()}},
    ),
    "aarch64": Machine(
        audit_arch=0xC00000B7,
        numbers={**_BOTH, **{name: pair[1] for name, pair in _EACH.items()}},
    ),
}
