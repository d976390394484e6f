"""Runs one program on a pseudo-terminal: pty.py ROWS COLS PROGRAM [ARGUMENT...]

Descriptor 0 is the input, descriptor 1 the output. Each line "ROWS COLS" on descriptor 3 sets the size. When
descriptor 3 ends, the terminal is closed and the program gets a hang-up. Exits with the program's code, or 128 plus the
signal number, after the last output was written.

Node cannot open a terminal, and the agent program has no native code. Uses only built-in modules, because the image
lacks parts of the standard library.
"""
import fcntl
import os
import select
import signal
import struct
import sys

# From asm-generic/ioctls.h; the image lacks the module `termios` that defines it.
TIOCSWINSZ = 0x5414
CHUNK = 65536
# Limits for reading remaining output after the program has ended.
LAST_READS = 64
LAST_SECONDS = 0.05
control = 3


def set_size(fd, rows, cols):
    fcntl.ioctl(fd, TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))


def start(rows, cols, command):
    """Returns the program's process id and the terminal's controlling end."""
    os.set_inheritable(control, False)
    pid, master = os.forkpty()
    if pid != 0:
        return pid, master
    try:
        set_size(0, rows, cols)
        # The interpreter ignores this signal, and a new program would inherit that.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.execvp(command[0], command)
    except OSError as fault:
        os.write(2, f"{command[0]}: {fault.strerror}\r\n".encode())
    os._exit(127)


def read(fd):
    """Returns None when nothing is available and empty bytes at the end."""
    try:
        return os.read(fd, CHUNK)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def write(fd, data):
    """Returns the bytes that were not accepted; None when the other end is closed."""
    try:
        return data[os.write(fd, data):]
    except BlockingIOError:
        return data
    except OSError:
        return None


def carry(pid, master, woken):
    """Copies both directions until the program or the terminal ends. Returns the exit state, or None if it still runs."""
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
        # After the program has ended, only output that is already available is read.
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
            # A descendant may keep the terminal open and is not awaited.
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
