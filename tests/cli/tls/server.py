"""Servers with certificates on this machine, for the tests of --llm-ca and --llm-insecure.

    server.py DIRECTORY

makes an authority (ca.pem) in the directory, and prints the ports of two servers that it vouches for: one is 127.0.0.1 and
localhost, as it is; the other claims to be elsewhere. Both answer every POST with a chat completion, until the input ends.
"""

import http.server
import json
import pathlib
import ssl
import subprocess
import sys
import threading

KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
ANSWER = {"model": "tiny-1", "choices": [{"message": {"content": "Idle."}, "finish_reason": "stop"}]}


def openssl(directory, *arguments):
    subprocess.run(["openssl", *arguments], cwd=directory, check=True, capture_output=True)


def authority(directory):
    extensions = ["-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign"]
    openssl(directory, "req", "-x509", *KEY, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=tests", "-days", "2", *extensions)


def certificate(directory, name, hosts):
    openssl(directory, "req", *KEY, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
    extensions = f"basicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\nsubjectAltName={hosts}\n"
    (directory / f"{name}.ext").write_text(extensions)
    signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", f"{name}.ext"]
    openssl(directory, "x509", "-req", "-in", f"{name}.csr", "-out", f"{name}.pem", *signed)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers.get("content-length", 0)))
        body = json.dumps(ANSWER).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        # A client that does not trust the certificate goes away, which is what is tested.
        pass


def serve(directory, name):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / f"{name}.pem", directory / f"{name}.key")
    server = Server(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def main():
    directory = pathlib.Path(sys.argv[1])
    authority(directory)
    certificate(directory, "here", "DNS:localhost,IP:127.0.0.1")
    certificate(directory, "elsewhere", "DNS:elsewhere.example.org")
    print(serve(directory, "here"), serve(directory, "elsewhere"), flush=True)
    sys.stdin.read()


main()
