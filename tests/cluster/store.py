"""A store of S3's protocol on this machine: moto."""

import os
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

from cluster import free_ports, wait_for

# Installed next to the Python that runs this, as tests/requirements-deep.txt says.
SERVER = Path(sys.executable).parent / "moto_server"


class Store:
    """A server with one bucket; the environment of this process leads to it for the length of the block."""

    name = "traces"

    def __init__(self):
        self.log = tempfile.TemporaryFile("w+")
        self.before = dict(os.environ)

    def __enter__(self):
        (port,) = free_ports(1)
        command = [SERVER, "-H", "127.0.0.1", "-p", str(port)]
        self.server = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        wait_for(port)
        url = f"http://127.0.0.1:{port}"
        os.environ.update(AWS_ACCESS_KEY_ID="testing", AWS_SECRET_ACCESS_KEY="very-secret-key", AWS_REGION="us-east-1",
                          AWS_ENDPOINT_URL=url, AWS_ALLOW_HTTP="true")
        urllib.request.urlopen(urllib.request.Request(f"{url}/{self.name}", method="PUT")).close()
        return self

    def requests(self):
        """Lines of the server's log."""
        self.log.seek(0)
        return self.log.read().splitlines()

    def __exit__(self, *_):
        self.server.kill()
        self.server.wait()
        os.environ.clear()
        os.environ.update(self.before)
