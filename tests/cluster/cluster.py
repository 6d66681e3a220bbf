"""A scheduler and executors of Ballista on this machine, and the program that asks them."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def free_ports(count):
    """Ports that nobody listens on."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def wait_for(port, seconds=30):
    """Waits until somebody listens on a port."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    sys.exit(f"nobody listens on port {port} after {seconds} s")


class Cluster:
    """Processes that end with the block that they are used in."""

    def __init__(self, program, executors=2, vcores=2):
        self.program, self.executors_wanted, self.vcores = str(program), executors, vcores
        self.work = Path(tempfile.mkdtemp(prefix="ballista-"))
        self.scheduler, self.executors, self.port = None, [], None

    def __enter__(self):
        (self.port,) = free_ports(1)
        self.scheduler = self.start("scheduler", "--bind-host", "127.0.0.1", "--bind-port", self.port)
        wait_for(self.port)
        for _ in range(self.executors_wanted):
            self.add_executor()
        # Executors register after they listen.
        time.sleep(2)
        return self

    def add_executor(self):
        ports = free_ports(3)
        options = ["--bind-port", ports[0], "--bind-grpc-port", ports[1], "--bind-health-port", ports[2]]
        folder = self.work / str(ports[0])
        folder.mkdir()
        places = ["--bind-host", "127.0.0.1", "--external-host", "127.0.0.1", "--work-dir", folder]
        scheduler = ["--scheduler-host", "127.0.0.1", "--scheduler-port", self.port, "--vcores", self.vcores]
        self.executors.append(self.start("executor", *options, *places, *scheduler))
        wait_for(ports[0])

    def start(self, role, *options):
        log = open(self.work / f"{role}{len(self.executors)}.log", "w")
        return subprocess.Popen([self.program, role, *map(str, options)], stdout=log, stderr=log,
                                env={**os.environ, "RUST_LOG": "warn"})

    @property
    def address(self):
        return f"ballista://127.0.0.1:{self.port}"

    def kill_scheduler(self):
        self.scheduler.send_signal(signal.SIGKILL)
        self.scheduler.wait()

    def kill_executors(self):
        for executor in self.executors:
            executor.send_signal(signal.SIGKILL)
            executor.wait()

    def log(self, lines=5):
        texts = [path.read_text(errors="replace").splitlines()[-lines:] for path in sorted(self.work.glob("*.log"))]
        return "\n".join(line[:400] for text in texts for line in text)

    def __exit__(self, *_):
        for process in [*self.executors, self.scheduler]:
            process.kill()
            process.wait()
        shutil.rmtree(self.work, ignore_errors=True)
