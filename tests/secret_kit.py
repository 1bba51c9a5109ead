"""Secrets made when a test runs: none stands in a file, where whoever looks for secrets would find it."""

import base64
from random import Random

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
DIGITS = "0123456789"
RANDOM = Random(7)


def some(count: int, of: str = LETTERS + DIGITS) -> str:
    """So many characters, a digit among them where there can be one."""
    text = "".join(RANDOM.choices(of, k=count))
    return text[:3] + "7" + text[4:] if "7" in of else text


def pem(kind: str = "RSA ", newline: str = "\n") -> str:
    body = base64.b64encode(RANDOM.randbytes(600)).decode()
    lines = [body[at : at + 64] for at in range(0, len(body), 64)]
    return newline.join([f"-----BEGIN {kind}PRIVATE" + " KEY-----", *lines, f"-----END {kind}PRIVATE" + " KEY-----"])


KEYS = {
    "anthropic_key": "sk-" + "ant-api03-" + some(93),
    "openai_key": "sk-" + "proj-" + some(80),
    "openai_key old": "sk-" + some(48),
    "openrouter_key": "sk-" + "or-v1-" + some(64, "0123456789abcdef"),
    "github_token": "ghp" + "_" + some(36),
    "github_token fine": "github" + "_pat_" + some(22) + "_" + some(59),
    "gitlab_token": "gl" + "pat-" + some(20),
    "aws_key": "AK" + "IA" + some(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    "google_key": "AI" + "za" + some(35),
    "slack_token": "xo" + "xb-" + some(12, DIGITS) + "-" + some(24),
    "slack_webhook": "hooks.slack" + ".com/services/T" + some(8) + "/B" + some(8) + "/" + some(24),
    "stripe_key": "sk" + "_live_" + some(24),
    "npm_token": "npm" + "_" + some(36),
    "pypi_token": "pypi" + "-AgE" + some(80),
    "huggingface_token": "hf" + "_" + some(34),
    "groq_key": "gs" + "k_" + some(52),
    "xai_key": "xa" + "i-" + some(80),
    "sendgrid_key": "S" + "G." + some(22) + "." + some(43),
    "digitalocean_token": "do" + "p_v1_" + some(64, "0123456789abcdef"),
    "docker_token": "dc" + "kr_pat_" + some(27),
    "telegram_token": some(9, DIGITS) + ":A" + "A" + some(33),
    "vault_token": "hv" + "s." + some(24),
    "age_key": "AGE-SECRET" + "-KEY-1" + some(58, "ABCDEFGHJKLMNPQRSTUVWXYZ023456789"),
    "private_key": pem(),
    "private_key openssh": pem("OPENSSH "),
    "private_key plain, CRLF": pem("", "\r\n"),
    "private_key in JSON": pem("EC ", "\\n"),
}
"""One of each shape, by its kind; what stands after a kind's name tells two of one kind apart."""
