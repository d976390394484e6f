"""A pseudo-terminal with one program at it: pty.py ROWS COLS PROGRAM [ARGUMENT...]

Input comes in at descriptor 0, output leaves at descriptor 1. Each line "ROWS COLS" at descriptor 3 is a new size; its
end is the end of the terminal, which the program learns as a hang-up. Exits as the program did, with 128 and the
signal's number for one that was killed, once its last output has left.

Node has no call for a terminal, and the agent program carries no native code. Needs nothing beyond the interpreter
itself: the standard library of the image is not all there.
"""
import fcntl
import os
import select
import signal
import struct
import sys

# Of asm-generic/ioctls.h: the module that names it is not in the image.
TIOCSWINSZ = 0x5414
CHUNK = 65536
# How much of what is still on its way is passed on after the program has ended.
LAST_READS = 64
LAST_SECONDS = 0.05
control = 3


def set_size(fd, rows, cols):
    fcntl.ioctl(fd, TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))


def start(rows, cols, command):
    """The program's process and the terminal's other side."""
    os.set_inheritable(control, False)
    pid, master = os.forkpty()
    if pid != 0:
        return pid, master
    try:
        set_size(0, rows, cols)
        # The interpreter ignores it, and what is ignored stays so in a new program.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.execvp(command[0], command)
    except OSError as fault:
        os.write(2, f"{command[0]}: {fault.strerror}\r\n".encode())
    os._exit(127)


def read(fd):
    """None: nothing now. Empty: it is over."""
    try:
        return os.read(fd, CHUNK)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def write(fd, data):
    """What could not be taken; None: nobody is there any more."""
    try:
        return data[os.write(fd, data):]
    except BlockingIOError:
        return data
    except OSError:
        return None


def carry(pid, master, woken):
    """Carries both ways until the program or the terminal is over. The program's state; None while it runs on."""
    pending_in, pending_out, sizes = b"", b"", b""
    has_input, is_read_out, state, last = True, False, None, 0
    while True:
        if state is None:
            ended, found = os.waitpid(pid, os.WNOHANG)
            if ended:
                state = found
        if not pending_out and (is_read_out or last > LAST_READS):
            return state
        reads = [control, woken]
        if has_input and len(pending_in) < CHUNK:
            reads.append(0)
        if not pending_out and not is_read_out:
            reads.append(master)
        writes = ([1] if pending_out else []) + ([master] if pending_in and not is_read_out else [])
        # Of a program that has ended only what is there already is waited for.
        ready, free, _ = select.select(reads, writes, [], LAST_SECONDS if state is not None and not pending_out else None)
        if woken in ready:
            read(woken)
        if control in ready:
            said = read(control)
            if said == b"":
                return state
            *lines, sizes = (sizes + (said or b"")).split(b"\n")
            for line in lines:
                rows, cols = line.split()
                set_size(master, int(rows), int(cols))
        if 0 in ready:
            typed = read(0)
            has_input = typed != b""
            pending_in += typed or b""
        if master in free:
            pending_in = write(master, pending_in) or b""
        if 1 in free:
            left = write(1, pending_out)
            if left is None:
                return state
            pending_out = left
        if master in ready:
            said = read(master)
            is_read_out = said == b""
            pending_out = said or b""
            last += state is not None
        elif state is not None and not pending_out:
            # Something that it left behind may hold the terminal open, and is not waited for.
            is_read_out = True


def main():
    rows, cols, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    woken, wake = os.pipe()
    for fd in (woken, wake):
        os.set_blocking(fd, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    pid, master = start(rows, cols, command)
    for fd in (0, 1, control, master):
        os.set_blocking(fd, False)
    state = carry(pid, master, woken)
    os.close(master)
    if state is None:
        _, state = os.waitpid(pid, 0)
    sys.exit(128 + os.WTERMSIG(state) if os.WIFSIGNALED(state) else os.WEXITSTATUS(state))


main()
