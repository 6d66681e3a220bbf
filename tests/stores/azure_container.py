"""Makes a container in Azurite: azure_container.py URL NAME KEY. The request is signed with the key of its only account."""
import base64
import datetime
import hashlib
import hmac
import sys
import urllib.request

ACCOUNT = "devstoreaccount1"
VERSION = "2021-08-06"

url, name, key = sys.argv[1:]
date = datetime.datetime.now(datetime.timezone.utc).strftime("%a, %d %b %Y %H:%M:%S GMT")
# Eleven headers that this request does not have are empty lines; the path has the account twice, as it is part of the address.
text = "PUT" + 12 * "\n" + f"x-ms-date:{date}\nx-ms-version:{VERSION}\n/{ACCOUNT}/{ACCOUNT}/{name}\nrestype:container"
signature = base64.b64encode(hmac.new(base64.b64decode(key), text.encode(), hashlib.sha256).digest()).decode()
headers = {"x-ms-date": date, "x-ms-version": VERSION, "Authorization": f"SharedKey {ACCOUNT}:{signature}", "Content-Length": "0"}
request = urllib.request.Request(f"{url}/{ACCOUNT}/{name}?restype=container", method="PUT", headers=headers)
with urllib.request.urlopen(request) as answer:
    assert answer.status == 201, answer.status
