"""What is taken out of a probe's output before anything else reads it: passwords, tokens, keys.

The probe asks for nothing secret, but variables of the server, unit files, log lines and repository addresses may hold
some. Facts are read from the cleaned text, so that no plan, report or recording can hold what it took out.
"""

import re

HIDDEN = b"***"
_SECRET = rb"(?:password|passwd|passphrase|secret|token|credential|api_?key|access_?key|sst_auth)"
# Settings of the server whose names sound like secrets and are none.
_HARMLESS = (
    rb"(?:old_passwords|strict_password_validation|disconnect_on_expired_password|default_password_lifetime"
    rb"|max_password_errors|simple_password_check_\w+|password_reuse_check_\w+|cracklib_\w+)"
)
_RULES = (
    # a row of SHOW VARIABLES, which has two columns
    (
        re.compile(rb"(?im)^(?!" + _HARMLESS + rb"\t)([\w.-]*" + _SECRET + rb"[\w.-]*)\t(?=\S)[^\t\n]*$"),
        rb"\1\t" + HIDDEN,
    ),
    # NAME=value, name: value, --name=value, in whatever quotes
    (
        re.compile(
            rb"(?i)([\w.-]*" + _SECRET + rb"[\w.-]*[ \t]*[=:][ \t]*)"
            rb"(?!(?:yes|no|on|off|true|false|\d+)\b)(\"[^\"\n]*\"|'[^'\n]*'|[^\s;,\"']+)"
        ),
        rb"\1" + HIDDEN,
    ),
    (re.compile(rb"(?i)(identified\s+(?:by|via|with)\b[^\n']*)'[^'\n]*'"), rb"\1'" + HIDDEN + b"'"),
    # user:password@ of an address, and the customer's token in the address of MariaDB Enterprise's repository
    (re.compile(rb"(://)[^/@\s]+@"), rb"\1" + HIDDEN + b"@"),
    (re.compile(rb"(dlm\.mariadb\.com/)[^/\s]+(?=/)"), rb"\1" + HIDDEN),
)


def without_secrets(raw: bytes) -> bytes:
    """Return the output of a probe with everything that looks like a secret hidden; the frame stays whole."""
    for pattern, replacement in _RULES:
        raw = pattern.sub(replacement, raw)
    return raw
