"""The XML protocol of Google Cloud Storage on loopback: moto's S3, of which it is a variety, with a signature in place of
the token that moto cannot read.

  gcs_server.py PORT
"""

import sys

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import run_simple

SERVER = DomainDispatcherApplication(create_backend_app)
SIGNED = "AWS4-HMAC-SHA256 Credential=testing/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=none"


def signed(environ, start_response):
    environ["HTTP_AUTHORIZATION"] = SIGNED
    return SERVER(environ, start_response)


if __name__ == "__main__":
    run_simple("127.0.0.1", int(sys.argv[1]), signed, threaded=True)
